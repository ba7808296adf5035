// How large elements are drawn, and where their ports are. Known without a browser, so that what is not in sight need
// not be drawn.

import type { Position } from "../state/draft";

export type Shape = "stream" | "static" | "point" | "box" | "superbox" | "output" | "source" | "sink" | "ghost";

export interface Size {
  width: number;
  height: number;
}

export const GRID = 8;
export const HEAD = 46;
export const HANDLE = 10;
const SUMMARY_ROW = 18;
const PORT_ROW = 18;
export const WATCH_ROW = 22;
const QOS_ROW = 36;
const MANY_STEP = 16;
const SMALL = 30;

const WIDTHS: Record<Shape, number> = {
  stream: 184,
  static: 184,
  point: 152,
  box: 208,
  superbox: 248,
  output: 192,
  source: 136,
  sink: 136,
  ghost: 168,
};

/** What decides how a node looks: which rows it has, and how many ports. */
export interface Rows {
  shape: Shape;
  summary: boolean;
  qos: boolean;
  watched: boolean;
  inputs: number;
  outputs: number;
  /** Whether ports have names, and so rows of their own below the head. */
  namedInputs: boolean;
  namedOutputs: boolean;
}

export interface Placed extends Size {
  inputs: number[];
  outputs: number[];
}

export function isSmall(shape: Shape): boolean {
  return shape === "source" || shape === "sink" || shape === "ghost" || shape === "point";
}

/** The size of a node, and how far below its top each port is. */
export function measure(rows: Rows): Placed {
  const width = WIDTHS[rows.shape];
  if (isSmall(rows.shape)) {
    const middle = SMALL / 2;
    const at = (count: number) => Array.from({ length: count }, () => middle);
    return { width, height: SMALL, inputs: at(rows.inputs), outputs: at(rows.outputs) };
  }
  const above = HEAD + (rows.summary ? SUMMARY_ROW : 0) + (rows.qos ? QOS_ROW : 0);
  const named = Math.max(rows.namedInputs ? rows.inputs : 0, rows.namedOutputs ? rows.outputs : 0);
  const many = Math.max(rows.namedInputs ? 0 : rows.inputs, rows.namedOutputs ? 0 : rows.outputs);
  const needed = HEAD / 2 + (many - 1) * MANY_STEP + HEAD / 2;
  const body = Math.max(above + (named > 0 ? named * PORT_ROW + 6 : 0), needed);
  const at = (count: number, isNamed: boolean) =>
    Array.from({ length: count }, (_, row) => (isNamed ? above + (row + 0.5) * PORT_ROW : HEAD / 2 + row * MANY_STEP));
  return {
    width,
    height: body + (rows.watched ? WATCH_ROW : 0),
    inputs: at(rows.inputs, rows.namedInputs),
    outputs: at(rows.outputs, rows.namedOutputs),
  };
}

export interface Rect extends Position, Size {}

export function bounds(rects: readonly Rect[]): Rect | null {
  if (rects.length === 0) return null;
  const x = Math.min(...rects.map((rect) => rect.x));
  const y = Math.min(...rects.map((rect) => rect.y));
  return {
    x,
    y,
    width: Math.max(...rects.map((rect) => rect.x + rect.width)) - x,
    height: Math.max(...rects.map((rect) => rect.y + rect.height)) - y,
  };
}

export function overlaps(one: Rect, other: Rect, gap = 0): boolean {
  return (
    one.x < other.x + other.width + gap &&
    other.x < one.x + one.width + gap &&
    one.y < other.y + other.height + gap &&
    other.y < one.y + one.height + gap
  );
}
