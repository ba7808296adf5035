// What the sections of a document are called when one element of them is meant.

import type { Section } from "../model/document";

export const WORDS: Record<Section, string> = {
  streams: "stream",
  boxes: "box",
  outputs: "output",
  superboxes: "superbox",
  connection_points: "connection point",
  sources: "source",
  sinks: "sink",
};
