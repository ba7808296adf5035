// Putting what is selected in order: edges in line, equal gaps, on the grid.

import type { Position } from "../state/draft";
import { bounds, GRID, type Rect } from "./geometry";

export type Side = "left" | "centre" | "right" | "top" | "middle" | "bottom";
export type Axis = "x" | "y";

export interface Standing extends Rect {
  id: string;
}

export type Moves = Record<string, Position>;

export function snapped(position: Position): Position {
  return { x: Math.round(position.x / GRID) * GRID, y: Math.round(position.y / GRID) * GRID };
}

/** Moves everything so that these sides, or the middles, are in one line. */
export function align(nodes: readonly Standing[], side: Side): Moves {
  const around = bounds(nodes);
  if (!around || nodes.length < 2) return {};
  const at = (node: Standing): Position => {
    switch (side) {
      case "left":
        return { x: around.x, y: node.y };
      case "right":
        return { x: around.x + around.width - node.width, y: node.y };
      case "centre":
        return { x: around.x + (around.width - node.width) / 2, y: node.y };
      case "top":
        return { x: node.x, y: around.y };
      case "bottom":
        return { x: node.x, y: around.y + around.height - node.height };
      case "middle":
        return { x: node.x, y: around.y + (around.height - node.height) / 2 };
    }
  };
  return moves(nodes, at);
}

/** Leaves the first and the last where they are, and makes the gaps between all of them equal. */
export function distribute(nodes: readonly Standing[], axis: Axis): Moves {
  if (nodes.length < 3) return {};
  const size = axis === "x" ? "width" : "height";
  const order = nodes.toSorted((one, other) => one[axis] + one[size] / 2 - (other[axis] + other[size] / 2));
  const first = order[0];
  const last = order.at(-1);
  if (!first || !last) return {};
  const room = last[axis] + last[size] - first[axis];
  const gap = (room - order.reduce((sum, node) => sum + node[size], 0)) / (order.length - 1);
  const places = new Map<string, number>();
  let next = first[axis];
  for (const node of order) {
    places.set(node.id, next);
    next += node[size] + gap;
  }
  return moves(nodes, (node) => ({ x: node.x, y: node.y, [axis]: places.get(node.id) ?? node[axis] }));
}

export function nudge(nodes: readonly Standing[], by: Position): Moves {
  return moves(nodes, (node) => ({ x: node.x + by.x, y: node.y + by.y }));
}

function moves(nodes: readonly Standing[], at: (node: Standing) => Position): Moves {
  return Object.fromEntries(
    nodes.map((node) => [node.id, at(node)] as const).filter(([id, to]) => {
      const node = nodes.find((one) => one.id === id);
      return node && (node.x !== to.x || node.y !== to.y);
    }),
  );
}

/** Positions part of the way from one arrangement to another, for motion: `done` goes from 0 to 1. */
export function between(from: Moves, to: Moves, done: number): Moves {
  const eased = 1 - (1 - done) ** 3;
  return Object.fromEntries(
    Object.entries(to).map(([id, end]) => {
      const start = from[id] ?? end;
      return [id, { x: start.x + (end.x - start.x) * eased, y: start.y + (end.y - start.y) * eased }];
    }),
  );
}
