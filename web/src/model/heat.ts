// How urgent what waits is: its age against the delay at which an output behind it begins to lose, and at which all is lost.

import { asList, type NetworkDocument, producerOf } from "./document";
import { type Graph, readGraph } from "./qos";

/** Seconds of delay up to which nothing is lost, and from which on nothing is left. */
export interface Patience {
  readonly good: number;
  readonly end: number;
}

export type Heat = "calm" | "warm" | "hot" | "burnt";

/** For what leads to no output with a latency graph. */
export const USUAL: Patience = { good: 1, end: 10 };

/** The patience that a latency graph has; null where it never loses. */
export function patienceOf(graph: Graph | null): Patience | null {
  const best = graph?.[0]?.u;
  if (!graph || best === undefined) return null;
  const good = graph.findLast((point) => point.u === best)?.x ?? 0;
  const least = Math.min(...graph.map((point) => point.u));
  const end = graph.find((point) => point.u === least)?.x ?? good;
  return least === best ? null : { good, end };
}

const known = new WeakMap<NetworkDocument, ReadonlyMap<string, Patience>>();

/** For every stream, box and connection point the least patience among the outputs that it leads to. */
export function patiences(document: NetworkDocument): ReadonlyMap<string, Patience> {
  const before = known.get(document);
  if (before) return before;
  const found = new Map<string, Patience>();
  const boxes = document.boxes ?? {};
  const upwards: [string, Patience][] = [];
  for (const output of Object.values(document.outputs ?? {})) {
    const patience = patienceOf(readGraph("latency", output.qos?.latency));
    if (patience && output.from) upwards.push([producerOf(output.from), patience]);
  }
  while (upwards.length > 0) {
    const [name, patience] = upwards.pop() ?? ["", USUAL];
    const least = found.get(name);
    if (least && least.good <= patience.good) continue;
    found.set(name, patience);
    for (const arc of asList(boxes[name]?.in)) upwards.push([producerOf(arc), patience]);
  }
  known.set(document, found);
  return found;
}

/** How full the time is: 0 when nothing waits, a half at the end of the good zone, 1 where nothing is left of the worth. */
export function fullness(age: number, { good, end }: Patience): number {
  if (age <= 0) return 0;
  if (age < good) return (0.5 * age) / good;
  return end <= good ? 1 : Math.min(1, 0.5 + (0.5 * (age - good)) / (end - good));
}

export function heatOf(full: number): Heat {
  if (full < 0.25) return "calm";
  if (full < 0.5) return "warm";
  return full < 1 ? "hot" : "burnt";
}

/** How well something does that has a utility. */
export function toneOf(utility: number | null | undefined): "good" | "warn" | "bad" | "none" {
  if (utility === null || utility === undefined) return "none";
  if (utility >= 0.9) return "good";
  return utility >= 0.5 ? "warn" : "bad";
}
