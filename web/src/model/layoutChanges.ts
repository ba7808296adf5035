// What of a layout the server does not have yet.

import type { Layout } from "../api/types";
import type { Positions } from "../state/draft";
import type { ElementId, NetworkDocument } from "./document";
import { element } from "./edits";

/** What must be sent so that the server has these positions. What is neither drawn nor runs is forgotten. */
export function changesOf(saved: Layout, positions: Positions, documents: readonly NetworkDocument[]): Layout {
  const changes: Layout = {};
  for (const [id, place] of Object.entries(positions)) {
    const before = saved[id];
    const exists = documents.some((document) => element(document, id as ElementId) !== undefined);
    if (place && exists && (before?.x !== place.x || before.y !== place.y)) changes[id] = { x: place.x, y: place.y };
  }
  for (const id of Object.keys(saved)) {
    if (!documents.some((document) => element(document, id as ElementId) !== undefined)) changes[id] = null;
  }
  return changes;
}

export function applied(saved: Layout, changes: Layout): Layout {
  return Object.fromEntries(Object.entries({ ...saved, ...changes }).filter(([, place]) => place !== null));
}
