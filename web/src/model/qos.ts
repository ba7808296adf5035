// QoS graphs: from documents to points and back, the rules that points keep, and where they stand in a picture.

import type { Point } from "./document";

/** Utility against delay in seconds, against percent delivered, or against the values of a column. */
export type GraphKind = "latency" | "loss" | "value";

/** `x` grows from point to point; utility is 0 to 1. */
export interface GraphPoint {
  readonly x: number;
  readonly u: number;
}

export type Graph = readonly GraphPoint[];

// Durations

const UNITS_US = { us: 1, ms: 1_000, s: 1_000_000, m: 60_000_000, h: 3_600_000_000, d: 86_400_000_000 } as const;
const DURATION = /(\d+(?:\.\d+)?)\s*(us|ms|s|m|h|d)/g;

/** Seconds of `200ms`, `5s`, `1m30s` or a plain number of seconds; null for what is none. */
export function parseSeconds(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string") return null;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const parts = [...text.matchAll(DURATION)];
  if (parts.length === 0 || text.replace(DURATION, "").trim() !== "") return null;
  return parts.reduce((sum, [, number, unit]) => sum + Math.round(Number(number) * UNITS_US[unit as keyof typeof UNITS_US]), 0) / 1e6;
}

/** As documents write it: `2s`, `1500ms`. */
export function writeSeconds(seconds: number): string {
  const us = Math.round(seconds * 1e6);
  for (const unit of ["h", "m", "s", "ms"] as const) {
    if (us !== 0 && us % UNITS_US[unit] === 0) return `${us / UNITS_US[unit]}${unit}`;
  }
  return us === 0 ? "0s" : `${us}us`;
}

/** As people write it in a table: `5.6s`, `1.5m`; it reads back as the same. */
export function tellSeconds(seconds: number): string {
  const us = Math.round(seconds * 1e6);
  const unit = us >= 7_200e6 ? "h" : us >= 120e6 ? "m" : us >= 1e6 ? "s" : us >= 1_000 ? "ms" : "us";
  const amount = us / UNITS_US[unit];
  return us !== 0 && Number.isInteger(Number((amount * 1_000).toPrecision(12))) ? `${amount}${unit}` : writeSeconds(seconds);
}

/** As people read it on an axis: `1.5 s`, `200 ms`. */
export function showSeconds(seconds: number): string {
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  if (size < 0.001) return `${short(seconds * 1e6)} µs`;
  if (size < 1) return `${short(seconds * 1e3)} ms`;
  if (size < 120) return `${short(seconds)} s`;
  return size < 7_200 ? `${short(seconds / 60)} min` : `${short(seconds / 3_600)} h`;
}

function short(number: number): string {
  return String(Number(number.toPrecision(3)));
}

/** A value of the x axis with its unit. */
export function showX(kind: GraphKind, x: number): string {
  if (kind === "latency") return showSeconds(x);
  return kind === "loss" ? `${short(x)} %` : new Intl.NumberFormat("en", { maximumSignificantDigits: 4 }).format(x);
}

// Documents

/** The points of a document's graph, x growing; null where it cannot be read as one. */
export function readGraph(kind: GraphKind, points: unknown): Graph | null {
  if (!Array.isArray(points)) return null;
  const read = points.map((point: unknown) => {
    if (!Array.isArray(point)) return null;
    const x = kind === "latency" ? parseSeconds(point[0]) : point[0];
    const u = point[1];
    return typeof x === "number" && typeof u === "number" ? { x, u } : null;
  });
  if (read.some((point) => point === null) || read.length < 2) return null;
  return (read as GraphPoint[]).toSorted((a, b) => a.x - b.x);
}

/** As a document writes it: delays as durations, and what is delivered from 100 percent downwards. */
export function writeGraph(kind: GraphKind, graph: Graph): Point[] {
  const points = graph.map(({ x, u }): Point => [kind === "latency" ? writeSeconds(x) : tidy(x), tidy(u)]);
  return kind === "loss" ? points.reverse() : points;
}

function tidy(number: number): number {
  return Number(number.toPrecision(9));
}

/** A graph to begin with. */
export function startGraph(kind: GraphKind): Graph {
  if (kind === "latency") return [{ x: 0, u: 1 }, { x: 1, u: 1 }, { x: 5, u: 0 }];
  if (kind === "loss") return [{ x: 0, u: 0 }, { x: 50, u: 0.5 }, { x: 100, u: 1 }];
  return [{ x: 0, u: 0.1 }, { x: 100, u: 1 }];
}

// Rules

/** Utility at x: straight between points, level beyond the first and the last. */
export function utilityAt(graph: Graph, x: number): number {
  const after = graph.findIndex((point) => point.x > x);
  const right = graph[after];
  const left = graph[after - 1];
  if (after === 0) return graph[0]?.u ?? 0;
  if (!right || !left) return graph.at(-1)?.u ?? 0;
  return left.u + ((right.u - left.u) * (x - left.x)) / (right.x - left.x);
}

export interface Room {
  readonly x: readonly [number, number];
  readonly u: readonly [number, number];
}

const FIXED_LOSS: GraphPoint = { x: 100, u: 1 };

/**
 * Where a point may stand among the others. Points do not pass each other and stay a `gap` apart; more delay or fewer
 * tuples are never worth more. A delay's graph begins at utility 1, and all tuples are worth 1.
 */
export function roomOf(kind: GraphKind, graph: Graph, index: number, gap: number): Room {
  const before = graph[index - 1];
  const after = graph[index + 1];
  const least = kind === "value" ? -1e9 : 0;
  const most = kind === "loss" ? 100 : 1e9;
  const x: [number, number] = [before ? before.x + gap : least, after ? after.x - gap : most];
  if (kind === "loss" && !after) return { x: [100, 100], u: [1, 1] };
  if (kind === "latency") return { x, u: before ? [after?.u ?? 0, before.u] : [1, 1] };
  return { x, u: kind === "loss" ? [before?.u ?? 0, after?.u ?? 1] : [0, 1] };
}

export function isFixed(kind: GraphKind, graph: Graph, index: number): boolean {
  const { x, u } = roomOf(kind, graph, index, 0);
  return x[0] === x[1] && u[0] === u[1];
}

/** The graph with a point moved as far as it may. */
export function movePoint(kind: GraphKind, graph: Graph, index: number, to: GraphPoint, gap: number): Graph {
  const room = roomOf(kind, graph, index, gap);
  return graph.with(index, { x: clamp(to.x, room.x), u: clamp(to.u, room.u) });
}

/** The graph with a point on its line at x, and the point's number; null where there is no room for one. */
export function addPoint(kind: GraphKind, graph: Graph, x: number, gap: number): { graph: Graph; index: number } | null {
  const outside = kind !== "value" && (x < 0 || (kind === "loss" && x > 100));
  if (outside || graph.some((point) => Math.abs(point.x - x) < gap)) return null;
  const index = graph.filter((point) => point.x < x).length;
  // Nothing stands in front of what a graph of delays begins with but utility 1.
  const u = kind === "latency" && index === 0 ? 1 : Math.round(utilityAt(graph, x) * 1_000) / 1_000;
  return { graph: [...graph.slice(0, index), { x, u }, ...graph.slice(index)], index };
}

/** The graph without a point; null if it must stay. */
export function removePoint(kind: GraphKind, graph: Graph, index: number): Graph | null {
  if (graph.length <= 2 || isFixed(kind, graph, index) || (kind === "latency" && index === 0)) return null;
  return graph.filter((_, at) => at !== index);
}

/** The graph as the rules have it, whatever was typed: sorted, within bounds, monotonic. */
export function mended(kind: GraphKind, graph: Graph): Graph {
  const sorted = graph
    .map(({ x, u }) => ({ x: kind === "value" ? x : clamp(x, [0, kind === "loss" ? 100 : 1e9]), u: clamp(u, [0, 1]) }))
    .toSorted((a, b) => a.x - b.x)
    .filter((point, at, all) => at === 0 || point.x > (all[at - 1]?.x ?? 0));
  if (kind === "value") return sorted;
  if (kind === "latency") {
    let most = 1;
    return sorted.map(({ x, u }, at) => {
      most = at === 0 ? 1 : Math.min(most, u);
      return { x, u: most };
    });
  }
  const below = sorted.filter((point) => point.x < 100);
  let least = 1;
  const falling = below.toReversed().map(({ x, u }) => {
    least = Math.min(least, u);
    return { x, u: least };
  });
  return [...falling.reverse(), FIXED_LOSS];
}

// Pictures

/** The part of the x axis that is shown, and which way it runs: less delivered lies to the right, as more delay does. */
export interface Axis {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** An axis on which the graph and what is measured can be seen. */
export function axisOf(kind: GraphKind, graph: Graph, readings: readonly number[] = []): Axis {
  if (kind === "loss") return { from: 100, to: 0, step: 25 };
  const all = [...graph.map((point) => point.x), ...readings.filter((x) => Number.isFinite(x))];
  const least = kind === "latency" ? 0 : Math.min(...all);
  const most = Math.max(...all);
  const width = most - least || Math.abs(most) || 1;
  const step = niceStep(width * 1.2, 4);
  const from = kind === "latency" ? 0 : Math.floor(least / step) * step;
  return { from: tidy(from), to: tidy(Math.ceil((most + width * 0.1) / step) * step), step };
}

export function ticks({ from, to, step }: Axis): number[] {
  const [least, most] = from < to ? [from, to] : [to, from];
  const count = Math.floor((most - least) / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, at) => tidy(least + at * step));
}

/** A step of 1, 2 or 5 times a power of ten that cuts a width into about so many parts. */
export function niceStep(width: number, parts: number): number {
  const rough = width / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough * 0.999) ?? 10;
  return tidy(factor * power);
}

/** To what points snap on an axis: about a hundredth of it, and a tenth of that where one wants it fine. */
export function snapOf(axis: Axis, fine: boolean): { x: number; u: number } {
  const step = niceStep(Math.abs(axis.to - axis.from), 100);
  return fine ? { x: step / 10, u: 0.01 } : { x: step, u: 0.05 };
}

export function snap(value: number, step: number): number {
  return tidy(Math.round(value / step) * step);
}

export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export function placeOf({ x, u }: GraphPoint, axis: Axis, frame: Frame): { left: number; top: number } {
  return {
    left: frame.left + ((x - axis.from) / (axis.to - axis.from)) * frame.width,
    top: frame.top + (1 - u) * frame.height,
  };
}

export function pointAt(left: number, top: number, axis: Axis, frame: Frame): GraphPoint {
  return {
    x: axis.from + ((left - frame.left) / frame.width) * (axis.to - axis.from),
    u: 1 - (top - frame.top) / frame.height,
  };
}

/** The graph's line from one end of the axis to the other, as an SVG path. */
export function linePath(graph: Graph, axis: Axis, frame: Frame): string {
  const [least, most] = axis.from < axis.to ? [axis.from, axis.to] : [axis.to, axis.from];
  const inside = graph.filter((point) => point.x > least && point.x < most);
  const ends = [least, most].map((x) => ({ x, u: utilityAt(graph, x) }));
  const all = [ends[0], ...inside, ends[1]].filter((point) => point !== undefined);
  const ordered = axis.from < axis.to ? all : all.toReversed();
  return ordered
    .map((point, at) => {
      const { left, top } = placeOf(point, axis, frame);
      return `${at === 0 ? "M" : "L"}${left.toFixed(1)} ${top.toFixed(1)}`;
    })
    .join("");
}

function clamp(value: number, [least, most]: readonly [number, number]): number {
  // Where neighbours leave no room, the point stays between them.
  return least > most ? (least + most) / 2 : Math.min(most, Math.max(least, value));
}
