// Where a card stands that explains something: beside it, without hiding it, and never out of the window.

import type { Rect } from "./geometry";

interface Size {
  readonly width: number;
  readonly height: number;
}

export type Side = "right" | "left" | "below" | "above";

const GAP = 14;
const EDGE = 12;

/** The upper left corner of a card for what is at `target`; without a target in the middle of the window. */
export function beside(target: Rect | null, card: Size, window: Size, liked: Side = "right"): { x: number; y: number } {
  const middle = { x: (window.width - card.width) / 2, y: (window.height - card.height) / 2 };
  if (target === null) return middle;
  const right = target.x + target.width;
  const bottom = target.y + target.height;
  const along = { x: target.x + (target.width - card.width) / 2, y: target.y + (target.height - card.height) / 2 };
  const places = {
    right: { room: window.width - right - card.width, x: right + GAP, y: along.y },
    left: { room: target.x - card.width, x: target.x - card.width - GAP, y: along.y },
    below: { room: window.height - bottom - card.height, x: along.x, y: bottom + GAP },
    above: { room: target.y - card.height, x: along.x, y: target.y - card.height - GAP },
  };
  const inOrder = [places[liked], ...Object.values(places)];
  // What fills the window has no room beside it; then the card stands over its lower end.
  const chosen = inOrder.find(({ room }) => room >= GAP + EDGE) ?? { x: along.x, y: bottom - card.height - 2 * GAP };
  return {
    x: within(chosen.x, window.width - card.width),
    y: within(chosen.y, window.height - card.height),
  };
}

function within(value: number, most: number): number {
  return Math.max(EDGE, Math.min(value, most - EDGE));
}
