// Superboxes: what is selected goes into one, or comes out of one.

import { create } from "zustand";
import { type ElementId, elementId, splitId } from "../model/document";
import { freshName, group, isMember, moveInto, ungroup } from "../model/edits";
import { bounds } from "../model/geometry";
import { makeGraph } from "../model/graph";
import { snapped } from "../model/arrange";
import { useStore } from "../state/store";
import { standing } from "../model/layout";
import { focusNode } from "./flow";
import { scene, standingNodes } from "./scene";
import { targetsOfCommands } from "./selecting";

/** The name that is asked for: which boxes shall go into a superbox. */
export const useGrouping = create<{ members: readonly ElementId[] | null }>()(() => ({ members: null }));

/** Asks for a name, and then puts what is selected into a superbox. */
export function groupSelection(): void {
  const members = targetsOfCommands().filter(isMember);
  const { say } = useStore.getState();
  if (members.length === 0) say("plain", "Select the boxes first that shall be a superbox.");
  else useGrouping.setState({ members });
}

export function suggestedName(): string {
  return freshName(useStore.getState().drawing.document, "superbox");
}

const WIDTH = 248;
const HEIGHT = 100;

export function groupAs(members: readonly ElementId[], name: string): void {
  const { edit, select, announce } = useStore.getState();
  const around = bounds(standingNodes(members));
  const centre = around && { x: around.x + around.width / 2 - WIDTH / 2, y: around.y + around.height / 2 - HEIGHT / 2 };
  edit(`Group into ${name}`, (drawing) => group(drawing, members, name, centre ? snapped(centre) : undefined));
  const id = elementId("superboxes", name);
  select([id]);
  announce(`Grouped ${members.length} into ${name}`);
  focusNode(id);
}

/** Takes the selected superboxes away and leaves what was in them, around where they stood. */
export function ungroupSelection(): void {
  const { drawing, scope, edit, select, announce, say } = useStore.getState();
  const names = targetsOfCommands()
    .filter((id) => id.startsWith("superboxes/"))
    .map((id) => splitId(id)[1]);
  if (names.length === 0) {
    say("plain", "Select a superbox first.");
    return;
  }
  const inside = names.flatMap((name) => {
    const graph = makeGraph({ document: drawing.document, scope: [...scope, name], kinds: scene().kinds });
    const places = standing(graph, drawing.positions);
    const own = graph.nodes.filter((node) => node.shape !== "ghost");
    const rects = own.flatMap((node) => {
      const place = places.get(node.id);
      return place ? [{ ...place, width: node.width, height: node.height }] : [];
    });
    const [superbox] = standingNodes([elementId("superboxes", name)]);
    const around = bounds(rects);
    const shift =
      superbox && around
        ? {
            x: superbox.x + WIDTH / 2 - around.x - around.width / 2,
            y: superbox.y + HEIGHT / 2 - around.y - around.height / 2,
          }
        : { x: 0, y: 0 };
    return [{ name, shift: snapped(shift), members: own.map((node) => node.element) }];
  });
  edit(`Ungroup ${names.join(", ")}`, (before) =>
    inside.reduce((after, { name, shift }) => ungroup(after, name, shift), before),
  );
  select(inside.flatMap(({ members }) => members).filter(isMember));
  announce(`Ungrouped ${names.join(", ")}`);
}

export function putInto(ids: readonly ElementId[], superbox: string | null): void {
  const members = ids.filter(isMember);
  const { edit, announce } = useStore.getState();
  const where = superbox ?? "the network";
  edit(`Move into ${where}`, (drawing) => {
    const moved = moveInto(drawing, members, superbox);
    // Where they stood outside says nothing about where they belong inside.
    if (moved === drawing) return drawing;
    const positions = { ...moved.positions };
    for (const id of members) delete positions[id];
    return { ...moved, positions };
  });
  announce(`Moved into ${where}`);
}
