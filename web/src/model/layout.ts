// Where nodes stand that nobody has put anywhere: in layers from left to right, beside what they belong to, or at the
// border.

import type { ElkNode, ElkPort, LayoutOptions } from "elkjs/lib/elk-api";
import type { Position, Positions } from "../state/draft";
import type { ElementId } from "./document";
import { bounds, HEAD, overlaps, type Rect } from "./geometry";
import { type Graph, type GraphNode, neighbours } from "./graph";

export type Places = ReadonlyMap<string, Position>;

const BETWEEN_LAYERS = 116;
const BETWEEN_NODES = 22;
const BESIDE_GAP = 40;
const BESIDE_STEP = 38;
const BORDER_GAP = 108;
const GHOST_STEP = 38;

const OPTIONS: LayoutOptions = {
  "elk.algorithm": "layered",
  "elk.direction": "RIGHT",
  "elk.edgeRouting": "POLYLINE",
  "elk.spacing.nodeNode": `${BETWEEN_NODES}`,
  "elk.spacing.componentComponent": "48",
  "elk.layered.spacing.nodeNodeBetweenLayers": `${BETWEEN_LAYERS}`,
  "elk.layered.spacing.edgeNodeBetweenLayers": "24",
  "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
  "elk.layered.considerModelOrder.strategy": "PREFER_EDGES",
  "elk.padding": "[top=0,left=0,bottom=0,right=0]",
};
/** What is best takes too long for large networks. */
const MANY = 250;
const QUICKER: LayoutOptions = {
  "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF",
  "elk.layered.thoroughness": "3",
};

/** Nodes that the layout places itself. The others stand beside one of these, or at the border. */
export function isLaidOut(node: GraphNode | undefined): boolean {
  return node !== undefined && node.shape !== "ghost" && node.beside === null;
}

/** The room that a node takes with what stands beside it: the extra width at each side, and the whole height. */
function roomOf(graph: Graph, node: GraphNode): { left: number; right: number; height: number } {
  const beside = graph.nodes.filter((other) => other.beside === node.id);
  const width = (shape: string) =>
    Math.max(0, ...beside.filter((one) => one.shape === shape).map((one) => one.width + BESIDE_GAP));
  return { left: width("source"), right: width("sink"), height: Math.max(node.room, beside.length * BESIDE_STEP) };
}

const portId = (node: string, handle: string, way: "in" | "out") => `${node} ${way} ${handle}`;

/** The graph as the layout engine takes it, with every port where it will be drawn. */
export function layoutInput(graph: Graph): ElkNode {
  const laidOut = graph.nodes.filter(isLaidOut);
  const there = new Set(laidOut.map((node) => node.id));
  const hasBeside = new Set(graph.nodes.map((node) => node.beside));
  const children = laidOut.map((node): ElkNode => {
    const room = hasBeside.has(node.id) ? roomOf(graph, node) : { left: 0, right: 0, height: node.room };
    const width = room.left + node.width + room.right;
    return {
      id: node.id,
      width,
      height: room.height,
      ports: [
        ...node.inputs.map((port) => layoutPort(portId(node.id, port.handle, "in"), 0, port.y)),
        ...node.outputs.map((port) => layoutPort(portId(node.id, port.handle, "out"), width, port.y)),
      ],
      layoutOptions: { "elk.portConstraints": "FIXED_POS", ...layerOf(node) },
    };
  });
  const edges = graph.edges
    .filter((edge) => there.has(edge.source) && there.has(edge.target))
    .map((edge) => ({
      id: edge.id,
      sources: [portId(edge.source, edge.sourceHandle, "out")],
      targets: [portId(edge.target, edge.targetHandle, "in")],
    }));
  return { id: "root", layoutOptions: laidOut.length > MANY ? { ...OPTIONS, ...QUICKER } : OPTIONS, children, edges };
}

function layoutPort(id: string, x: number, y: number): ElkPort {
  return { id, x, y, width: 0, height: 0 };
}

function layerOf(node: GraphNode): LayoutOptions {
  const layer = { stream: "FIRST", static: "FIRST", output: "LAST" }[node.shape as string];
  return layer ? { "elk.layered.layering.layerConstraint": layer } : {};
}

/** Where the layout engine put the nodes. */
export function layoutPlaces(graph: Graph, laid: ElkNode): Map<string, Position> {
  const places = new Map<string, Position>();
  const hasBeside = new Set(graph.nodes.map((node) => node.beside));
  for (const child of laid.children ?? []) {
    const node = graph.byId.get(child.id);
    const left = node && hasBeside.has(node.id) ? roomOf(graph, node).left : 0;
    places.set(child.id, { x: Math.round((child.x ?? 0) + left), y: Math.round(child.y ?? 0) });
  }
  return places;
}

/** Whether the layout has something to do: some node has no place. */
export function hasUnplaced(graph: Graph, positions: Positions): boolean {
  return graph.nodes.some((node) => isLaidOut(node) && !positions[node.id as ElementId]);
}

/**
 * Places for the nodes that have none. If no node has one, those of the layout; else each goes where the layout has it
 * as seen from a node that it is connected with, and further down if somebody stands there.
 */
export function fillIn(graph: Graph, positions: Positions, laid: Places): Map<string, Position> {
  const made = new Map<string, Position>();
  const nodes = graph.nodes.filter(isLaidOut);
  const placeOf = (node: GraphNode) => positions[node.id as ElementId] ?? made.get(node.id);
  const rectOf = (node: GraphNode): Rect | null => {
    const place = placeOf(node);
    return place ? { ...place, width: node.width, height: node.room } : null;
  };
  const taken = nodes.flatMap((node) => rectOf(node) ?? []);
  if (taken.length === 0) return new Map(nodes.flatMap((node) => entry(node.id, laid.get(node.id))));
  const put = (node: GraphNode, wanted: Position) => {
    const rect: Rect = { ...wanted, width: node.width, height: node.room };
    while (taken.some((other) => overlaps(rect, other, BETWEEN_NODES / 2))) rect.y += BETWEEN_NODES;
    taken.push(rect);
    made.set(node.id, { x: rect.x, y: rect.y });
  };
  let waiting = nodes.filter((node) => !placeOf(node));
  while (waiting.length > 0) {
    const later: GraphNode[] = [];
    for (const node of waiting) {
      const around = [...neighbours(graph, node.id, "back"), ...neighbours(graph, node.id, "on")];
      const anchor = around.find((other) => placeOf(other) && laid.has(other.id));
      const from = anchor && laid.get(anchor.id);
      const to = laid.get(node.id);
      const stands = anchor && placeOf(anchor);
      if (from && to && stands) put(node, { x: stands.x + to.x - from.x, y: stands.y + to.y - from.y });
      else later.push(node);
    }
    if (later.length === waiting.length) {
      const all = bounds(taken);
      const [first, ...rest] = later;
      if (!first || !all) break;
      put(first, { x: all.x, y: all.y + all.height + 2 * BETWEEN_NODES });
      waiting = rest;
    } else waiting = later;
  }
  return made;
}

/** Where every node stands: where it was put, else beside what it belongs to, else at the border. */
export function standing(graph: Graph, positions: Positions): Map<string, Position> {
  const places = new Map<string, Position>();
  for (const node of graph.nodes) {
    const place = node.shape === "ghost" ? undefined : positions[node.id as ElementId];
    if (place) places.set(node.id, place);
  }
  const counts = new Map<string, number>();
  for (const node of graph.nodes) {
    const owner = node.beside === null || places.has(node.id) ? undefined : graph.byId.get(node.beside);
    const at = owner && places.get(owner.id);
    if (!owner || !at) continue;
    const key = `${owner.id} ${node.shape}`;
    const row = counts.get(key) ?? 0;
    counts.set(key, row + 1);
    const x = node.shape === "source" ? at.x - BESIDE_GAP - node.width : at.x + owner.width + BESIDE_GAP;
    places.set(node.id, { x, y: at.y + (HEAD - node.height) / 2 + row * BESIDE_STEP });
  }
  placeGhosts(graph, places);
  return places;
}

function placeGhosts(graph: Graph, places: Map<string, Position>): void {
  const ghosts = graph.nodes.filter((node) => node.shape === "ghost");
  if (ghosts.length === 0) return;
  const around = bounds(
    graph.nodes.flatMap((node) => {
      const place = places.get(node.id);
      return place ? [{ ...place, width: node.width, height: node.height }] : [];
    }),
  );
  if (!around) return;
  for (const way of ["from", "to"] as const) {
    const column = ghosts
      .filter((node) => (way === "from") === node.outputs.length > 0)
      .map((node) => ({ node, y: wantedHeight(graph, places, node) - node.height / 2 }))
      .toSorted((one, other) => one.y - other.y);
    let next = Number.NEGATIVE_INFINITY;
    for (const { node, y } of column) {
      const x = way === "from" ? around.x - BORDER_GAP - node.width : around.x + around.width + BORDER_GAP;
      const place = { x, y: Math.max(y, next) };
      places.set(node.id, place);
      next = place.y + GHOST_STEP;
    }
  }
}

/** The middle height of the ports at the other ends of a ghost's arrows. */
function wantedHeight(graph: Graph, places: Places, ghost: GraphNode): number {
  const heights = graph.edges.flatMap((edge) => {
    if (edge.source !== ghost.id && edge.target !== ghost.id) return [];
    const isFrom = edge.source === ghost.id;
    const [other, handle] = isFrom ? [edge.target, edge.targetHandle] : [edge.source, edge.sourceHandle];
    const node = graph.byId.get(other);
    const place = node && places.get(node.id);
    const port = node && [...node.inputs, ...node.outputs].find((one) => one.handle === handle);
    return place && port ? [place.y + port.y] : [];
  });
  return heights.length === 0 ? 0 : heights.reduce((sum, height) => sum + height, 0) / heights.length;
}

function entry<V>(key: string, value: V | undefined): [string, V][] {
  return value === undefined ? [] : [[key, value]];
}
