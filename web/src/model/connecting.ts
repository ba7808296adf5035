// Whether an arrow may be drawn, and if not, why. What only the server can tell, it is asked.

import type { Checked, Problem } from "../api/types";
import type { Drawing } from "../state/draft";
import { asList, type ElementId, type NetworkDocument, producerOf, type Section, splitId } from "./document";
import { connect, disconnect, element, type KeepsPlaces } from "./edits";
import type { Graph, GraphEdge, GraphNode, InPort, OutPort, Reader } from "./graph";
import { inputsOf, type Kinds } from "./ports";

/** An arrow that somebody wants to draw, from one port to another. */
export interface Wanted {
  from: GraphNode;
  out: OutPort;
  to: GraphNode;
  in: InPort;
}

const STARTS: ReadonlySet<Section> = new Set(["streams", "boxes", "superboxes", "connection_points"]);

export function wantedOf(
  graph: Graph,
  ends: { source: string; sourceHandle?: string | null; target: string; targetHandle?: string | null },
): Wanted | null {
  const from = graph.byId.get(ends.source);
  const to = graph.byId.get(ends.target);
  const out = from?.outputs.find((port) => port.handle === ends.sourceHandle);
  const into = to?.inputs.find((port) => port.handle === ends.targetHandle);
  return from && to && out && into ? { from, out, to, in: into } : null;
}

/** Why an arrow cannot be drawn; null if it can. `instead` is an arrow whose end is moved, and which is then gone. */
export function refusal(document: NetworkDocument, kinds: Kinds, wanted: Wanted, instead?: GraphEdge): string | null {
  const { from, to } = wanted;
  const [fromSection, fromName] = splitId(from.element);
  const [toSection, toName] = splitId(to.element);
  if (from.shape === "ghost" && to.shape === "ghost") return "both ends are outside; go out to connect them";
  if (from.id === to.id) return `${fromName} cannot read itself`;
  if (fromSection === "sources") {
    const fed = String(document.sources?.[fromName]?.into ?? "");
    if (toSection !== "streams") return "a source feeds a stream, and nothing else";
    const isTaken = fed in (document.streams ?? {}) && instead?.source !== from.id;
    return isTaken ? `${fromName} feeds ${fed} already; move the end of its arrow` : null;
  }
  if (toSection === "streams") return `${toName} is an input of the network; only a source feeds it`;
  if (fromSection === "outputs" && toSection !== "sinks") {
    return "an output is where tuples leave; only a sink reads it";
  }
  if (toSection === "sinks" && fromSection !== "outputs") return "a sink takes from an output; connect it with one";
  if (to.shape === "ghost") return `${toName} stands outside; go out to connect it`;
  for (const reader of wanted.in.readers) {
    const why = refusedBy(document, kinds, wanted, reader, instead);
    if (why) return why;
  }
  return null;
}

function refusedBy(
  document: NetworkDocument,
  kinds: Kinds,
  { out, in: { free } }: Wanted,
  reader: Reader,
  instead?: GraphEdge,
): string | null {
  const [section, name] = splitId(reader.to);
  const moved = instead?.readers.some((one) => one.to === reader.to && one.input === reader.input) ?? false;
  if (!free && !moved) {
    const read = readAt(document, reader);
    if (section !== "boxes") return `${name} reads ${read} already; delete that arrow first, or move its end`;
    const box = document.boxes?.[name];
    const most = box ? inputsOf(box, kinds).most : null;
    const count = most === 1 ? "one input" : `${most} inputs`;
    const limit = most === null ? "" : `a ${box?.kind} box reads ${count}, and `;
    return `${limit}${read} is connected here; delete that arrow first, or move its end`;
  }
  if (section === "boxes") {
    const cycle = pathBetween(document, name, producerOf(out.arc));
    if (cycle) return `that would be a cycle: ${[...cycle, name].join(" → ")}`;
  }
  return null;
}

function readAt(document: NetworkDocument, { to, input }: Reader): string {
  const [section, name] = splitId(to);
  if (section === "boxes") return asList(document.boxes?.[name]?.in)[input] ?? "";
  if (section === "outputs") return document.outputs?.[name]?.from ?? "";
  if (section === "sinks") return String(document.sinks?.[name]?.from ?? "");
  if (section === "connection_points") return document.connection_points?.[name]?.on ?? "";
  return "";
}

/** The boxes on a way from one to another along arrows; null if there is none. */
export function pathBetween(document: NetworkDocument, from: string, to: string): string[] | null {
  const boxes = document.boxes ?? {};
  const cameFrom = new Map<string, string | null>([[to, null]]);
  const front = [to];
  while (front.length > 0) {
    const name = front.shift() ?? "";
    if (name === from) {
      const path: string[] = [];
      for (let at: string | null = name; at !== null; at = cameFrom.get(at) ?? null) path.push(at);
      return path;
    }
    for (const arc of asList(boxes[name]?.in)) {
      const producer = producerOf(arc);
      if (!cameFrom.has(producer)) {
        cameFrom.set(producer, name);
        front.push(producer);
      }
    }
  }
  return null;
}

/** The drawing with the arrow. */
export function connected(drawing: Drawing, wanted: Wanted, keepsPlaces: KeepsPlaces, instead?: GraphEdge): Drawing {
  let after = drawing;
  const { from, out, to } = wanted;
  const stays = (reader: Reader) => wanted.in.readers.some((one) => one.to === reader.to && one.input === reader.input);
  for (const reader of (instead?.readers ?? []).toReversed()) {
    if (!stays(reader)) after = disconnect(after, reader.to, reader.input, keepsPlaces);
  }
  if (from.shape === "source") return connect(after, splitId(to.element)[1], from.element);
  if (from.shape === "output") return connect(after, splitId(from.element)[1], to.element);
  for (const reader of wanted.in.readers) {
    const box = element(after.document, reader.to);
    const count = box && "in" in box ? asList(box.in as string | string[]).filter(Boolean).length : 0;
    const keeps = box && "kind" in box ? keepsPlaces(String(box.kind)) : false;
    after = connect(after, out.arc, reader.to, keeps ? reader.input : Math.min(reader.input, count));
  }
  return after;
}

/** The drawing without an arrow. */
export function disconnected(drawing: Drawing, edge: GraphEdge, keepsPlaces: KeepsPlaces): Drawing {
  const readers = edge.readers.toReversed();
  return readers.reduce((after, { to, input }) => disconnect(after, to, input, keepsPlaces), drawing);
}

/** What is about columns and their types, so that it is the arrow's fault and not that of an unfinished box. */
const ABOUT_COLUMNS: ReadonlySet<string> = new Set([
  "schema-mismatch",
  "static-input",
  "two-static-sides",
  "live-connection-point",
  "not-ordered",
  "not-groupable",
  "wrong-unit",
  "unknown-column",
  "ambiguous-column",
  "duplicate-column",
  "type-mismatch",
  "not-boolean",
  "not-numeric",
]);

/** The problem with columns or types that an arrow brings to who reads it; null if there is none. */
export function newProblem(before: Checked | null, after: Checked, readers: readonly Reader[]): Problem | null {
  const ids = new Set<string>(readers.map((reader) => reader.to));
  const key = (problem: Problem) => `${problem.id} ${problem.path.join("/")} ${problem.found}`;
  const known = new Set((before?.problems ?? []).map(key));
  const found = after.problems.find(
    (problem) =>
      problem.severity === "error" &&
      ABOUT_COLUMNS.has(problem.id) &&
      ids.has(`${problem.path[0]}/${problem.path[1]}`) &&
      !known.has(key(problem)),
  );
  return found ?? null;
}

export interface Target {
  id: ElementId;
  node: GraphNode;
  port: InPort;
  /** Why it cannot be chosen; null if it can. */
  refused: string | null;
}

/** Where an arrow from a port could lead, those that can be chosen first. */
export function targets(
  graph: Graph,
  document: NetworkDocument,
  kinds: Kinds,
  from: GraphNode,
  out: OutPort,
): Target[] {
  const found = graph.nodes
    .filter((node) => node.id !== from.id && node.shape !== "ghost")
    .flatMap((node) =>
      node.inputs
        .filter((port) => port.free || node.inputs.length === 1)
        .map((port): Target => {
          const refused = refusal(document, kinds, { from, out, to: node, in: port });
          return { id: node.element, node, port, refused };
        }),
    );
  const isStart = STARTS.has(splitId(from.element)[0]);
  const sensible = found.filter(({ node }) => !isStart || (node.shape !== "stream" && node.shape !== "sink"));
  return sensible.toSorted((one, other) => Number(one.refused !== null) - Number(other.refused !== null));
}
