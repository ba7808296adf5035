// A plot of series over time. It takes the colours of the theme, and shares its crosshair with the others of its group.

import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { type Brush, stretchOf } from "../model/brushing";
import type { Values } from "../model/series";
import { showClock } from "../model/units";
import { useStore } from "../state/store";
import "./Plot.css";

export interface Line {
  label: string;
  values: Values;
  /** The name of a colour of the theme, such as `--plot-1`. */
  colour: string;
  fill?: boolean;
  dashed?: boolean;
}

/** Part of the height that has a meaning, such as latencies that cost nothing. */
export interface Zone {
  from: number;
  to: number;
  colour: string;
}

/** A moment that has a meaning. */
export interface Mark {
  at: number;
  colour: string;
}

export interface PlotProps {
  /** For who cannot see it. */
  label: string;
  times: readonly number[];
  lines: readonly Line[];
  show: (value: number | null) => string;
  height: number;
  /** The part of time that is shown, in seconds. */
  from: number;
  to: number;
  /** The least that the top of the axis is; it grows with the values. */
  least?: number;
  /** The top of the axis, whatever the values are. */
  top?: number;
  /** The bottom of the axis; 0 without it. */
  bottom?: number;
  zones?: readonly Zone[];
  marks?: readonly Mark[];
  /** Plots of one group share the crosshair. */
  group?: string;
  /** Whether times are written below. */
  timeAxis?: boolean;
  /** Called with the part that somebody has brushed over. */
  onBrush?: (from: number, to: number) => void;
  /** What is chosen by keyboard, where a mouse would point and brush. */
  brush?: Brush | null;
}

/** What stands above a plot leaves as much room at its sides. */
const AXIS_WIDTH = 58;
const AXIS_END = 16;
const AXIS_HEIGHT = 22;
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600];

const colours = new Map<string, string>();

/** A colour of the theme as it is now. Plots ask for them at every stroke, so they are looked up once. */
function colour(name: string): string {
  const key = `${document.documentElement.dataset.theme} ${name}`;
  let found = colours.get(key);
  if (found === undefined) {
    found = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    colours.set(key, found);
  }
  return found;
}

function faint(name: string, share: number): string {
  return `color-mix(in srgb, ${colour(name)} ${share}%, transparent)`;
}

export default function Plot(props: PlotProps) {
  const { times, lines, height, from, to, label, group, timeAxis = false, brush = null } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const theme = useStore((state) => state.theme);
  const shape = JSON.stringify([lines.map((line) => [line.label, line.colour, line.fill, line.dashed]), timeAxis, group, height]);

  useEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const made = new uPlot(options(latest, box.clientWidth), data(latest.current), box);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: latest.current.height }));
    watch.observe(box);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape, theme]);

  useEffect(() => {
    const made = plot.current;
    if (!made) return;
    made.batch(() => {
      made.setData(data(latest.current), false);
      made.setScale("x", { min: from, max: to });
    });
  }, [times, lines, from, to]);

  const wasBrushed = useRef(false);
  useEffect(() => {
    // Where nothing is chosen by keyboard, the crosshair and the stretch are the mouse's.
    if (plot.current && (brush !== null || wasBrushed.current)) drawBrush(plot.current, brush);
    wasBrushed.current = brush !== null;
  }, [brush, times, lines, from, to, shape, theme]);

  return <div aria-label={label} className="plot" ref={place} role="img" style={{ height }} />;
}

function data({ times, lines }: PlotProps): uPlot.AlignedData {
  return [times as number[], ...lines.map((line) => line.values as (number | null)[])];
}

function options(latest: { current: PlotProps }, width: number): uPlot.Options {
  const { lines, height, group, timeAxis = false, onBrush } = latest.current;
  const axis = { stroke: () => colour("--muted"), font: "10px system-ui, sans-serif", ticks: { show: false } } as const;
  return {
    width,
    height,
    legend: { show: false },
    padding: [6, AXIS_END, timeAxis ? 0 : 4, 0],
    cursor: {
      points: { size: 6, width: 1.5 },
      drag: { x: onBrush !== undefined, y: false, setScale: false },
      ...(group && { sync: { key: group, setSeries: false } }),
    },
    select: { show: onBrush !== undefined, left: 0, top: 0, width: 0, height: 0 },
    scales: {
      x: { time: true, auto: false, min: latest.current.from, max: latest.current.to },
      y: { range: (_, __, most) => [latest.current.bottom ?? 0, topOf(latest.current, most)] },
    },
    axes: [
      {
        ...axis,
        show: timeAxis,
        size: AXIS_HEIGHT,
        gap: 2,
        space: 56,
        incrs: [...TIME_STEPS],
        grid: { stroke: () => faint("--line", 60), width: 1 },
        values: (_, at) => at.map((time) => ((at[0] ?? 0) % 60 === 0 && ((at[1] ?? 0) - (at[0] ?? 0)) % 60 === 0 ? showClock(time).slice(0, 5) : showClock(time))),
      },
      {
        ...axis,
        size: AXIS_WIDTH,
        gap: 4,
        space: 26,
        grid: { stroke: () => faint("--line", 60), width: 1 },
        values: (_, at) => at.map((value) => latest.current.show(value).trim()),
      },
    ],
    series: [
      {},
      ...lines.map(
        (line): uPlot.Series => ({
          label: line.label,
          stroke: () => colour(line.colour),
          width: 1.5,
          spanGaps: false,
          points: { show: false },
          ...(line.fill && { fill: () => faint(line.colour, 16) }),
          ...(line.dashed && { dash: [4, 3] }),
        }),
      ),
    ],
    hooks: {
      drawAxes: [(made) => drawZones(made, latest.current.zones ?? [])],
      draw: [(made) => drawMarks(made, latest.current.marks ?? [])],
      setSelect: [
        (made) => {
          // A plot that is given another size tells of the keyboard's stretch too.
          if (latest.current.brush) return;
          const { left, width: wide } = made.select;
          if (wide > 4) latest.current.onBrush?.(made.posToVal(left, "x"), made.posToVal(left + wide, "x"));
          made.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      setCursor: [(made) => tell(made, latest.current)],
    },
  };
}

function topOf({ top, least = 0, lines }: PlotProps, most: number | null): number {
  if (top !== undefined) return top;
  const needed = Math.max(least, most ?? 0, ...(lines.length === 0 ? [1] : []));
  return needed > 0 ? needed * 1.08 : 1;
}

function drawZones(made: uPlot, zones: readonly Zone[]): void {
  const { ctx, bbox } = made;
  for (const zone of zones) {
    const high = Math.max(made.valToPos(zone.to, "y", true), bbox.top);
    const low = Math.min(made.valToPos(zone.from, "y", true), bbox.top + bbox.height);
    if (low <= high) continue;
    ctx.save();
    ctx.fillStyle = faint(zone.colour, 12);
    ctx.fillRect(bbox.left, high, bbox.width, low - high);
    ctx.restore();
  }
}

function drawMarks(made: uPlot, marks: readonly Mark[]): void {
  const { ctx, bbox } = made;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 2 * devicePixelRatio]);
  for (const mark of marks) {
    const left = Math.round(made.valToPos(mark.at, "x", true));
    if (left < bbox.left || left > bbox.left + bbox.width) continue;
    ctx.strokeStyle = faint(mark.colour, 70);
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** Puts the crosshair and the stretch where the keyboard has them. */
function drawBrush(made: uPlot, brush: Brush | null): void {
  const [start, end] = stretchOf(brush) ?? [0, 0];
  const left = start === end ? 0 : made.valToPos(start, "x");
  const width = start === end ? 0 : made.valToPos(end, "x") - left;
  made.setSelect({ left, top: 0, width, height: width === 0 ? 0 : made.over.clientHeight }, false);
  made.setCursor({ left: brush === null ? -10 : made.valToPos(brush.at, "x"), top: brush === null ? -10 : 0 }, true);
}

/** Writes what is under the crosshair beside it. */
function tell(made: uPlot, { lines, times, show }: PlotProps): void {
  const at = made.cursor.idx;
  let shown = made.over.querySelector<HTMLDivElement>(".plot-told");
  const left = made.cursor.left ?? -1;
  if (at === null || at === undefined || left < 0) {
    shown?.remove();
    return;
  }
  if (!shown) {
    shown = document.createElement("div");
    shown.className = "plot-told";
    made.over.append(shown);
  }
  const rows = lines.map((line) => {
    const row = document.createElement("div");
    const dot = document.createElement("i");
    dot.style.background = `var(${line.colour})`;
    row.append(dot, `${line.label} ${show(line.values[at] ?? null).trim()}`);
    return row;
  });
  const head = document.createElement("b");
  head.textContent = showClock(times[at] ?? 0);
  shown.replaceChildren(head, ...rows);
  const right = left > made.over.clientWidth / 2;
  shown.style.left = right ? "" : `${left + 10}px`;
  shown.style.right = right ? `${made.over.clientWidth - left + 10}px` : "";
}
