// Nodes and edges as React Flow takes them. One that has not changed stays the same object, and is not drawn anew.

import { Position } from "@xyflow/react";
import type { Problem } from "../api/types";
import { HANDLE } from "../model/geometry";
import type { GraphEdge, GraphNode } from "../model/graph";
import type { FlowEdge } from "./ArcEdge";
import type { FlowNode } from "./ElementNode";
import { inWords } from "./problems";

const SAID: Record<GraphNode["shape"], string> = {
  stream: "stream",
  static: "static data",
  point: "connection point",
  box: "box",
  superbox: "superbox",
  output: "output",
  source: "source",
  sink: "sink",
  ghost: "outside",
};

export interface Shown {
  node: GraphNode;
  x: number;
  y: number;
  selected: boolean;
  problems: readonly Problem[];
  isTarget: boolean;
  /** Whether ports are drawn. Where they are not React Flow finds none, and must be told anew when they are. */
  hasPorts: boolean;
}

export class NodeCache {
  private known = new Map<string, { shown: Shown; made: FlowNode }>();

  nodes(all: readonly Shown[]): FlowNode[] {
    const next: typeof this.known = new Map();
    const nodes = all.map((shown) => {
      const before = this.known.get(shown.node.id);
      const kept = before && isSame(before.shown, shown) ? before : { shown, made: flowNode(shown) };
      next.set(shown.node.id, kept);
      return kept.made;
    });
    this.known = next;
    return nodes;
  }
}

function isSame(one: Shown, other: Shown): boolean {
  return (
    one.node === other.node &&
    one.x === other.x &&
    one.y === other.y &&
    one.selected === other.selected &&
    one.isTarget === other.isTarget &&
    one.hasPorts === other.hasPorts &&
    (one.problems === other.problems || (one.problems.length === 0 && other.problems.length === 0))
  );
}

function flowNode({ node, x, y, selected, problems, isTarget }: Shown): FlowNode {
  const { width, height } = node;
  const wrong = problems.length > 0 ? `, ${problems.length === 1 ? "1 problem" : `${problems.length} problems`}` : "";
  const said = [node.summary, inWords(problems)].filter(Boolean).join(". ");
  const isGhost = node.shape === "ghost";
  return {
    id: node.id,
    type: "element",
    position: { x, y },
    data: { node, problems, isTarget },
    width,
    height,
    // Known beforehand, so that nothing has to be drawn to be measured.
    measured: { width, height },
    handles: [
      ...node.inputs.map((port) => handle(port.handle, "target", Position.Left, -HANDLE / 2, port.y)),
      ...node.outputs.map((port) => handle(port.handle, "source", Position.Right, width - HANDLE / 2, port.y)),
    ],
    selected,
    ...(isGhost && { draggable: false, selectable: false }),
    deletable: false,
    ariaLabel: `${node.title}, ${SAID[node.shape]}${node.shape === "box" ? `, ${node.caption}` : ""}${wrong}`,
    domAttributes: { "aria-description": said, "aria-roledescription": SAID[node.shape] },
  };
}

function handle(id: string, type: "source" | "target", position: Position, x: number, y: number) {
  return { id, type, position, x, y: y - HANDLE / 2, width: HANDLE, height: HANDLE };
}

export class EdgeCache {
  private known = new Map<string, FlowEdge>();

  edges(all: readonly { edge: GraphEdge; chosen: "no" | "arc" | "arrow" }[]): FlowEdge[] {
    const next = new Map<string, FlowEdge>();
    const edges = all.map(({ edge, chosen }) => {
      const before = this.known.get(edge.id);
      const kept = before?.data?.edge === edge && before.data.chosen === chosen ? before : flowEdge(edge, chosen);
      next.set(edge.id, kept);
      return kept;
    });
    this.known = next;
    return edges;
  }
}

function flowEdge(edge: GraphEdge, chosen: "no" | "arc" | "arrow"): FlowEdge {
  const { id, source, sourceHandle, target, targetHandle } = edge;
  return {
    id,
    type: "arc",
    source,
    sourceHandle,
    target,
    targetHandle,
    data: { edge, chosen },
    // It is chosen with its arc, by a click or by keys.
    selectable: false,
    focusable: false,
    deletable: false,
    zIndex: chosen === "no" ? 0 : 1,
    ariaLabel: edge.arc === null ? `arrow from ${source} to ${target}` : `arrow of ${edge.arc}`,
  };
}
