// Puts new elements into the drawing: from the palette, by keys, or at the end of an arrow.

import { type Box, type ElementId, elementId, type NetworkDocument, type Section } from "../model/document";
import { add, connect, freshName, intoScope } from "../model/edits";
import { GRID, HEAD, overlaps } from "../model/geometry";
import { makeGraph } from "../model/graph";
import { snapped } from "../model/arrange";
import { connected } from "../model/connecting";
import type { Position } from "../state/draft";
import { useStore } from "../state/store";
import { bringIntoSight, flow, focusNode, inSight } from "./flow";
import { groupSelection } from "./grouping";
import { keepsPlaces, scene, standingNodes } from "./scene";

/** What the palette offers; it travels as text of this type when it is dragged. */
export interface Offered {
  section: Section;
  kind: string | null;
  element: Record<string, unknown>;
}

export const OFFERED_TYPE = "application/aurora-element";

const NAMES: Record<Section, string> = {
  streams: "stream",
  boxes: "box",
  outputs: "output",
  superboxes: "superbox",
  connection_points: "point",
  sources: "source",
  sinks: "sink",
};

/**
 * Adds an element, selects it and gives it the focus. Without a position it comes to a free place in sight. On an arrow
 * (its id) a box goes in between.
 */
export function place(what: Offered, position?: Position, onArrow?: string): ElementId | null {
  const { drawing, scope, edit, select, goTo, announce } = useStore.getState();
  if (what.section === "superboxes") {
    groupSelection();
    return null;
  }
  const name = freshName(drawing.document, nameFor(what));
  const id = elementId(what.section, name);
  const isBox = what.section === "boxes";
  const leaves = !isBox && scope.length > 0;
  const size = sizeOf(drawing.document, id, what);
  const at = snapped(position ? { x: position.x - size.width / 2, y: position.y - HEAD / 2 } : freePlace(size, what));
  edit(`Add ${name}`, (before) => {
    const made = add(before, id, what.element as never, leaves ? undefined : at);
    const placed = isBox ? intoScope(made, [name], scope.at(-1)) : made;
    return onArrow && isBox ? between(placed, id, onArrow) : placed;
  });
  if (leaves) {
    // Only boxes stand inside superboxes.
    goTo([]);
    useStore.getState().say("plain", `${name} stands outside of superboxes, where you are now.`);
  }
  select([id]);
  announce(`Added ${name}`);
  focusNode(id);
  if (!position) requestAnimationFrame(() => bringIntoSight(id));
  return id;
}

function nameFor({ section, kind }: Offered): string {
  return kind ?? NAMES[section];
}

function sizeOf(document: NetworkDocument, id: ElementId, what: Offered): { width: number; height: number } {
  const alone = add({ document: { aurora: 1, network: document.network }, positions: {} }, id, what.element as never);
  const [node] = makeGraph({ document: alone.document, scope: [], kinds: scene().kinds, watched: true }).nodes;
  return node ?? { width: 0, height: 0 };
}

/** Beside what it reads, else the middle of what is in sight; or the next free place below that. */
function freePlace(size: { width: number; height: number }, what: Offered): Position {
  const sight = inSight();
  const taken = standingNodes(scene().graph.byId.keys());
  const middle = { x: sight.x + (sight.width - size.width) / 2, y: sight.y + (sight.height - size.height) / 2 };
  const rect = { ...(besideRead(size, what) ?? middle), ...size };
  const isTaken = () => taken.some((other) => overlaps(rect, other, 2 * GRID));
  for (let tries = 0; tries < 200 && isTaken(); tries += 1) {
    rect.y += 4 * GRID;
    if (rect.y > sight.y + sight.height - size.height) {
      rect.y = sight.y + 2 * GRID;
      rect.x += 8 * GRID;
    }
  }
  return rect;
}

const APART = 14 * GRID;

/** Right of what a new element reads, or left of the stream that a source feeds. */
function besideRead(size: { width: number }, { section, element }: Offered): Position | null {
  const { graph } = scene();
  const named = [element.in, element.from, element.on, element.into].flat().filter((name) => typeof name === "string");
  const [arc] = named;
  if (!arc) return null;
  const other = { sources: "streams", sinks: "outputs" }[section as string] as Section | undefined;
  const node = other
    ? graph.byId.get(elementId(other, arc))
    : graph.nodes.find((one) => one.outputs.some((port) => port.arc === arc || port.arc.startsWith(`${arc}.`)));
  const [stands] = node ? standingNodes([node.id]) : [];
  if (!stands) return null;
  return { x: section === "sources" ? stands.x - APART - size.width : stands.x + stands.width + APART, y: stands.y };
}

/** The box reads what the arrow carries, and who read it reads the box. */
function between(drawing: Parameters<typeof connect>[0], id: ElementId, arrow: string): typeof drawing {
  const edge = scene().graph.edges.find((one) => one.id === arrow);
  const box = drawing.document.boxes?.[id.slice("boxes/".length)] as Box | undefined;
  if (!edge || edge.arc === null || !box) return drawing;
  const seen = { document: drawing.document, scope: useStore.getState().scope, kinds: scene().kinds };
  const graph = makeGraph(seen);
  const node = graph.byId.get(id);
  const [from, to] = [graph.byId.get(edge.source), graph.byId.get(edge.target)];
  const out = from?.outputs.find((port) => port.handle === edge.sourceHandle);
  const [into] = node?.inputs ?? [];
  const [own] = node?.outputs ?? [];
  if (!node || !from || !to || !out || !into || !own) return drawing;
  const first = connected(drawing, { from, out, to: node, in: into }, keepsPlaces);
  return edge.readers.reduce((after, reader) => connect(after, own.arc, reader.to, reader.input), first);
}

/** What was dropped, if the palette offered it; null if it was something else. */
export function readOffered(data: DataTransfer): Offered | null {
  const text = data.getData(OFFERED_TYPE);
  if (!text) return null;
  try {
    return JSON.parse(text) as Offered;
  } catch {
    return null;
  }
}

/** Where a point of the screen is in the drawing. */
export function inDrawing(event: { clientX: number; clientY: number }): Position | undefined {
  return flow()?.screenToFlowPosition({ x: event.clientX, y: event.clientY }, { snapToGrid: false });
}
