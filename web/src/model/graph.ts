// What is drawn of a network: nodes with ports, and arrows between them, as they are seen from inside one superbox or
// from none.

import { asList, type ElementId, elementId, type NetworkDocument, producerOf } from "./document";
import type { Shape, Size } from "./geometry";
import { type Arrow, GraphArrows } from "./graphArrows";
import { GraphNodes } from "./graphNodes";
import { Arcs, type Kinds } from "./ports";
import { homeOf, type Scope, scopesOf, startsWith } from "./scopes";

/** Somebody who reads an arc: a box at one of its inputs, an output, a connection point, or a sink its output. */
export interface Reader {
  to: ElementId;
  input: number;
}

export interface InPort {
  handle: string;
  label: string;
  y: number;
  /** Who reads what is connected here. A superbox's port may stand for several boxes. */
  readers: readonly Reader[];
  /** Whether nothing is connected yet. */
  free: boolean;
}

export interface OutPort {
  handle: string;
  label: string;
  y: number;
  arc: string;
  /** Whether it is read, but the box has it no more. */
  missing: boolean;
}

export interface GraphNode extends Size {
  /** The element's id; ghosts have ids of their own. */
  id: string;
  element: ElementId;
  shape: Shape;
  title: string;
  caption: string;
  summary: string;
  description: string;
  family: string;
  inputs: readonly InPort[];
  outputs: readonly OutPort[];
  watched: boolean;
  /** The height that it has when it runs; the layout leaves so much. */
  room: number;
  qos: boolean;
  /** The node beside which it stands, unless somebody has put it elsewhere. */
  beside: string | null;
}

export interface GraphEdge {
  id: string;
  /** The arc that it shows; null between a stream and its source, or an output and its sink. */
  arc: string | null;
  source: string;
  sourceHandle: string;
  target: string;
  targetHandle: string;
  readers: readonly Reader[];
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly byId: ReadonlyMap<string, GraphNode>;
}

export interface Seen {
  document: NetworkDocument;
  scope: Scope;
  kinds: Kinds;
  /** Names of arcs that the server knows, for boxes whose ports the document does not tell. */
  known?: readonly string[];
  /** Whether the network is on a server, so that nodes have a row for what is measured. */
  watched?: boolean;
}

export const EMPTY_GRAPH: Graph = { nodes: [], edges: [], byId: new Map() };

export function makeGraph({ document, scope, kinds, known = [], watched = false }: Seen): Graph {
  const arcs = new Arcs(document, kinds, known);
  const arrows = resolved(document, arcs);
  const made = new GraphNodes({ document, kinds, watched, arcs, arrows });
  const isOutside = scope.length === 0;
  if (isOutside) {
    for (const name of Object.keys(document.sources ?? {})) made.addSource(name);
    for (const name of Object.keys(document.streams ?? {})) made.addStream(name);
  }
  for (const name of pointsIn(document, scope)) made.addPoint(name);
  const superboxes = superboxesIn(document, scope);
  for (const name of boxesInOrder(document)) {
    const chain = scopesOf(document).boxes.get(name) ?? [];
    if (!startsWith(chain, scope)) continue;
    const around = chain[scope.length];
    if (around === undefined) made.addBox(name);
    else if (superboxes.delete(around)) made.addSuperbox(around);
  }
  for (const name of superboxes) made.addSuperbox(name);
  if (isOutside) {
    for (const name of Object.keys(document.outputs ?? {})) made.addOutput(name);
    for (const name of Object.keys(document.sinks ?? {})) made.addSink(name);
  }
  const edges = new GraphArrows(document, scope, made).edges(arrows);
  return { nodes: [...made.nodes.values()], edges, byId: made.nodes };
}

function resolved(document: NetworkDocument, arcs: Arcs): Arrow[] {
  const found: Arrow[] = [];
  const note = (reference: string | undefined, to: ElementId, input: number) => {
    const arc = reference ? arcs.resolve(reference) : null;
    if (arc !== null) found.push({ arc, reader: { to, input } });
  };
  for (const [name, box] of Object.entries(document.boxes ?? {})) {
    asList(box.in).forEach((reference, input) => note(reference, elementId("boxes", name), input));
  }
  for (const [name, point] of Object.entries(document.connection_points ?? {})) {
    note(point.on, elementId("connection_points", name), 0);
  }
  for (const [name, output] of Object.entries(document.outputs ?? {})) {
    note(output.from, elementId("outputs", name), 0);
  }
  return found;
}

/** Boxes so that each comes after what it reads, which is also the order in which one goes through them by keyboard. */
function boxesInOrder(document: NetworkDocument): string[] {
  const boxes = document.boxes ?? {};
  const done = new Set<string>();
  const order: string[] = [];
  for (const first of Object.keys(boxes)) {
    const stack: [string, boolean][] = [[first, false]];
    while (stack.length > 0) {
      const [name, ready] = stack.pop() ?? ["", true];
      if (ready) order.push(name);
      else if (!done.has(name)) {
        done.add(name);
        stack.push([name, true]);
        for (const arc of asList(boxes[name]?.in).toReversed()) {
          const producer = producerOf(arc);
          if (producer in boxes) stack.push([producer, false]);
        }
      }
    }
  }
  return order;
}

function superboxesIn(document: NetworkDocument, scope: Scope): Set<string> {
  const found = [...scopesOf(document).superboxes].filter(
    ([, around]) => around.length === scope.length && startsWith(around, scope),
  );
  return new Set(found.map(([name]) => name));
}

function pointsIn(document: NetworkDocument, scope: Scope): string[] {
  return Object.keys(document.connection_points ?? {}).filter((name) => {
    const home = homeOf(document, elementId("connection_points", name));
    return home.length === scope.length && startsWith(home, scope);
  });
}

/**
 * The new graph with every node and edge of the old one that has not changed, so that only what has is drawn anew; the
 * old one itself if nothing has.
 */
export function keepUnchanged(before: Graph, after: Graph): Graph {
  const old = new Map(before.edges.map((edge) => [edge.id, edge]));
  const kept = <T>(one: T | undefined, other: T): T =>
    one && JSON.stringify(one) === JSON.stringify(other) ? one : other;
  const nodes = after.nodes.map((node) => kept(before.byId.get(node.id), node));
  const edges = after.edges.map((edge) => kept(old.get(edge.id), edge));
  const isSame = <T>(one: readonly T[], other: readonly T[]) =>
    one.length === other.length && one.every((item, at) => item === other[at]);
  if (isSame(nodes, before.nodes) && isSame(edges, before.edges)) return before;
  return { nodes, edges, byId: new Map(nodes.map((node) => [node.id, node])) };
}

/** The nodes that one node's arrows lead to, or come from. */
export function neighbours(graph: Graph, id: string, way: "on" | "back"): GraphNode[] {
  const [here, there] = way === "on" ? (["source", "target"] as const) : (["target", "source"] as const);
  const found = graph.edges.filter((edge) => edge[here] === id).map((edge) => edge[there]);
  return [...new Set(found)].flatMap((other) => graph.byId.get(other) ?? []);
}
