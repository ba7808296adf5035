// What commands act on, and how one moves from node to node without a mouse.

import type { ElementId } from "../model/document";
import { type GraphNode, neighbours } from "../model/graph";
import { useStore } from "../state/store";
import { bringIntoSight, focusedNode, focusNode } from "./flow";
import { isOwn, ownIds, scene, standingNodes } from "./scene";

/** The selection; or the node that has the focus, if it is not part of it. */
export function targetsOfCommands(): ElementId[] {
  const { selection } = useStore.getState();
  const focused = focusedNode();
  const node = focused === null ? undefined : scene().graph.byId.get(focused);
  if (node && isOwn(node) && !selection.includes(node.element)) return [node.element];
  return [...selection];
}

/** The one node that a command is about; ghosts too. */
export function theNode(): GraphNode | undefined {
  const { graph } = scene();
  const focused = focusedNode();
  const { selection } = useStore.getState();
  const only = selection.length === 1 ? selection[0] : undefined;
  return graph.byId.get(focused ?? "") ?? graph.byId.get(only ?? "");
}

export function selectAll(): void {
  const { select, announce } = useStore.getState();
  const all = ownIds();
  select(all);
  announce(`Selected ${all.length}`);
}

export function toggle(id: ElementId): void {
  const { selection, select } = useStore.getState();
  select(selection.includes(id) ? selection.filter((other) => other !== id) : [...selection, id]);
}

export type Way = "left" | "right" | "up" | "down";

/** Goes along arrows to the left and right, and to what stands above or below. `extends` keeps what is selected. */
export function step(way: Way, isExtending: boolean): boolean {
  const from = theNode();
  const to = from ? next(from, way) : scene().graph.nodes.find((node) => scene().places.has(node.id));
  if (!to) return false;
  const { select, selection } = useStore.getState();
  if (isOwn(to)) {
    const kept = isExtending ? selection.filter((id) => id !== to.element) : [];
    const started = isExtending && from && isOwn(from) && !kept.includes(from.element) ? [from.element] : [];
    select([...kept, ...started, to.element]);
  }
  bringIntoSight(to.id);
  focusNode(to.id);
  return true;
}

function next(from: GraphNode, way: Way): GraphNode | undefined {
  const { graph } = scene();
  const [here] = standingNodes([from.id]);
  if (!here) return undefined;
  const middle = here.y + here.height / 2;
  if (way === "left" || way === "right") {
    const along = neighbours(graph, from.id, way === "right" ? "on" : "back");
    const distance = (node: GraphNode) => {
      const [there] = standingNodes([node.id]);
      return there ? Math.abs(there.y + there.height / 2 - middle) : Number.POSITIVE_INFINITY;
    };
    return along.toSorted((one, other) => distance(one) - distance(other))[0];
  }
  const centre = here.x + here.width / 2;
  const candidates = standingNodes(graph.byId.keys()).filter((there) => {
    const below = there.y + there.height / 2 - middle;
    return there.id !== from.id && (way === "down" ? below > 0 : below < 0);
  });
  // What stands in the same column is nearer than what stands beside it.
  const cost = (there: (typeof candidates)[number]) => {
    const aside = Math.max(0, Math.abs(there.x + there.width / 2 - centre) - here.width / 2);
    return Math.abs(there.y + there.height / 2 - middle) + 3 * aside;
  };
  const [nearest] = candidates.toSorted((one, other) => cost(one) - cost(other));
  return nearest && graph.byId.get(nearest.id);
}

/** Chooses the next arrow of a node, those that leave it first. */
export function stepThroughArrows(): boolean {
  const node = theNode();
  const { graph } = scene();
  const { arrow, selectArrow, announce } = useStore.getState();
  const chosen = graph.edges.find((edge) => edge.id === arrow);
  const around = node?.id ?? chosen?.source;
  if (around === undefined) return false;
  const leaving = graph.edges.filter((edge) => edge.source === around);
  const own = [...leaving, ...graph.edges.filter((edge) => edge.target === around)];
  const after = own[(own.findIndex((edge) => edge.id === arrow) + 1) % Math.max(1, own.length)];
  if (!after) return false;
  selectArrow(after.id, after.arc);
  const title = (id: string) => graph.byId.get(id)?.title ?? id;
  announce(`Arrow from ${title(after.source)} to ${title(after.target)}`);
  return true;
}
