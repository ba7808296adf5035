// The line of an arrow: it leaves to the right and arrives from the left.

import type { Position } from "../state/draft";

export type Curve = readonly [from: Position, towards: Position, back: Position, to: Position];

const LEAST_BEND = 24;
const MOST_BEND = 240;

export function curve(from: Position, to: Position): Curve {
  const across = to.x - from.x;
  // An arrow that goes back makes a wide turn at both ends.
  const forth = Math.max(across / 2, Math.min(LEAST_BEND, across));
  const bend = across >= 0 ? forth : Math.min(MOST_BEND, LEAST_BEND - across / 2);
  return [from, { x: from.x + bend, y: from.y }, { x: to.x - bend, y: to.y }, to];
}

export function pathOf([from, towards, back, to]: Curve): string {
  return `M${from.x},${from.y} C${towards.x},${towards.y} ${back.x},${back.y} ${to.x},${to.y}`;
}

/** Where one is on it after a share of the way, 0 to 1. */
export function pointOn([from, towards, back, to]: Curve, share: number): Position {
  const rest = 1 - share;
  const weights = [rest ** 3, 3 * rest ** 2 * share, 3 * rest * share ** 2, share ** 3] as const;
  const sum = (axis: "x" | "y") =>
    weights[0] * from[axis] + weights[1] * towards[axis] + weights[2] * back[axis] + weights[3] * to[axis];
  return { x: sum("x"), y: sum("y") };
}
