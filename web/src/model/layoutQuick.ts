// A layout that is there at once, for networks that are too large to wait for a better one: in layers, each in the
// order of what it is connected with.

import type { Position } from "../state/draft";
import type { Graph, GraphNode } from "./graph";
import { isLaidOut } from "./layout";

const BETWEEN_LAYERS = 116;
const BETWEEN_NODES = 22;
const SWEEPS = 6;

export function quickLayout(graph: Graph): Map<string, Position> {
  const nodes = graph.nodes.filter(isLaidOut);
  const { reads, readers } = arrows(graph);
  const layers = inLayers(nodes, reads, readers);
  sortLayers(layers, reads, readers);
  return placed(layers);
}

type Links = ReadonlyMap<string, readonly string[]>;

function arrows(graph: Graph): { reads: Links; readers: Links } {
  const reads = new Map<string, string[]>();
  const readers = new Map<string, string[]>();
  const note = (map: Map<string, string[]>, key: string, value: string) => {
    const list = map.get(key);
    if (list) list.push(value);
    else map.set(key, [value]);
  };
  for (const { source, target } of graph.edges) {
    if (![source, target].every((id) => isLaidOut(graph.byId.get(id)))) continue;
    note(reads, target, source);
    note(readers, source, target);
  }
  return { reads, readers };
}

/** Each node right of all that it reads; outputs in the last layer. What is on a cycle stands where it was met. */
function inLayers(nodes: readonly GraphNode[], reads: Links, readers: Links): GraphNode[][] {
  const missing = new Map(nodes.map((node) => [node.id, reads.get(node.id)?.length ?? 0]));
  const layer = new Map<string, number>();
  const free = nodes.filter((node) => missing.get(node.id) === 0).map((node) => node.id);
  for (const id of free) layer.set(id, 0);
  for (let at = 0; at < free.length; at += 1) {
    const id = free[at] ?? "";
    for (const reader of readers.get(id) ?? []) {
      layer.set(reader, Math.max(layer.get(reader) ?? 0, (layer.get(id) ?? 0) + 1));
      const left = (missing.get(reader) ?? 0) - 1;
      missing.set(reader, left);
      if (left === 0) free.push(reader);
    }
  }
  const last = Math.max(0, ...layer.values());
  const layers: GraphNode[][] = [];
  for (const node of nodes) {
    const at = node.shape === "output" ? Math.max(last, layer.get(node.id) ?? 0) : (layer.get(node.id) ?? 0);
    layers[at] = [...(layers[at] ?? []), node];
  }
  return Array.from(layers, (found) => found ?? []);
}

/** Sorts each layer by the middle of what its nodes are connected with in the layers around it, forth and back. */
function sortLayers(layers: GraphNode[][], reads: Links, readers: Links): void {
  const rank = new Map<string, number>();
  const note = (layer: readonly GraphNode[]) => {
    layer.forEach((node, at) => rank.set(node.id, (at + 0.5) / layer.length));
  };
  for (const layer of layers) note(layer);
  const middle = (node: GraphNode, links: Links) => {
    const ranks = (links.get(node.id) ?? []).map((id) => rank.get(id) ?? 0);
    return ranks.length === 0 ? (rank.get(node.id) ?? 0) : ranks.reduce((sum, one) => sum + one, 0) / ranks.length;
  };
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForth = sweep % 2 === 0;
    for (const layer of isForth ? layers : layers.toReversed()) {
      const links = isForth ? reads : readers;
      const keys = new Map(layer.map((node) => [node.id, middle(node, links)]));
      layer.sort((one, other) => (keys.get(one.id) ?? 0) - (keys.get(other.id) ?? 0));
      note(layer);
    }
  }
}

function placed(layers: readonly GraphNode[][]): Map<string, Position> {
  const places = new Map<string, Position>();
  const heightOf = (layer: readonly GraphNode[]) =>
    layer.reduce((sum, node) => sum + node.room + BETWEEN_NODES, -BETWEEN_NODES);
  const tallest = Math.max(0, ...layers.map(heightOf));
  let x = 0;
  for (const layer of layers) {
    let y = (tallest - heightOf(layer)) / 2;
    for (const node of layer) {
      places.set(node.id, { x, y });
      y += node.room + BETWEEN_NODES;
    }
    x += Math.max(0, ...layer.map((node) => node.width)) + BETWEEN_LAYERS;
  }
  return places;
}
