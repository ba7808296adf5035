// What is kept of each sort of element, as plots: which numbers belong together, their names, units and meanings.

import type { Sort } from "../model/series";
import { showBytes, showCount, showFactor, showPercent, showRate, showShare, showTime, showUtility } from "../model/units";

export interface PlottedLine {
  metric: string;
  label: string;
  colour: string;
  fill?: boolean;
  dashed?: boolean;
}

export interface Plotted {
  id: string;
  title: string;
  /** What it means, for who wonders. */
  meaning: string;
  lines: readonly PlottedLine[];
  show: (value: number | null) => string;
  top?: number;
  least?: number;
}

const ONE = "--plot-1";
const TWO = "--plot-2";
const THREE = "--plot-3";
const FOUR = "--plot-4";

const QUEUE: Plotted = {
  id: "queue",
  title: "Waiting",
  meaning: "Tuples in its queues",
  lines: [{ metric: "queue_tuples", label: "tuples", colour: TWO, fill: true }],
  show: showCount,
  least: 10,
};

export const PLOTS: Readonly<Record<Sort, readonly Plotted[]>> = {
  network: [
    {
      id: "flow",
      title: "Throughput",
      meaning: "Tuples taken at all inputs, and delivered at all outputs",
      lines: [
        { metric: "in_per_s", label: "in", colour: ONE, fill: true },
        { metric: "out_per_s", label: "out", colour: FOUR },
      ],
      show: showRate,
      least: 1,
    },
    {
      id: "load",
      title: "Load",
      meaning: "Work of boxes and of what serves them, against what the workers can do for long",
      lines: [
        { metric: "busy", label: "busy", colour: TWO, fill: true },
        { metric: "load", label: "boxes", colour: ONE },
        { metric: "capacity", label: "capacity", colour: "--line-strong", dashed: true },
      ],
      show: showShare,
      least: 1,
    },
    {
      id: "utility",
      title: "Utility",
      meaning: "The mean of all outputs, by their QoS graphs",
      lines: [{ metric: "utility", label: "utility", colour: THREE, fill: true }],
      show: showUtility,
      top: 1.05,
    },
    {
      id: "shed",
      title: "Dropped",
      meaning: "Tuples dropped anywhere because of overload",
      lines: [{ metric: "shed_per_s", label: "dropped", colour: TWO, fill: true }],
      show: showRate,
      least: 1,
    },
    { ...QUEUE, meaning: "Tuples in the queues of all boxes" },
    {
      id: "room",
      title: "Memory and disk",
      meaning: "What the queues take",
      lines: [
        { metric: "memory_bytes", label: "memory", colour: ONE, fill: true },
        { metric: "disk_bytes", label: "disk", colour: FOUR },
      ],
      show: showBytes,
      least: 1024,
    },
  ],
  input: [
    {
      id: "rate",
      title: "Arrivals",
      meaning: "Tuples taken, and tuples dropped on entry",
      lines: [
        { metric: "rate_per_s", label: "taken", colour: ONE, fill: true },
        { metric: "shed_per_s", label: "dropped", colour: TWO },
      ],
      show: showRate,
      least: 1,
    },
  ],
  box: [
    {
      id: "load",
      title: "Load",
      meaning: "Seconds of work per second; 100% keeps one worker busy",
      lines: [{ metric: "load", label: "load", colour: ONE, fill: true }],
      show: showShare,
      least: 0.01,
    },
    {
      id: "cost",
      title: "Cost of a tuple",
      meaning: "Time for each tuple taken, without what a call costs",
      lines: [{ metric: "tuple_cost_s", label: "cost", colour: FOUR, fill: true }],
      show: showTime,
    },
    {
      id: "selectivity",
      title: "Selectivity",
      meaning: "Tuples that come out for one that goes in",
      lines: [{ metric: "selectivity", label: "selectivity", colour: THREE, fill: true }],
      show: showFactor,
      least: 1,
    },
    QUEUE,
    {
      id: "age",
      title: "Age of what waits",
      meaning: "Since the oldest of the waiting tuples arrived",
      lines: [{ metric: "age_s", label: "age", colour: TWO, fill: true }],
      show: showTime,
      least: 0.01,
    },
  ],
  arc: [
    {
      id: "rate",
      title: "Rate",
      meaning: "Tuples put on it",
      lines: [{ metric: "rate_per_s", label: "rate", colour: ONE, fill: true }],
      show: showRate,
      least: 1,
    },
    { ...QUEUE, meaning: "Tuples waiting on it for the box that is furthest behind" },
  ],
  output: [
    {
      id: "latency",
      title: "Latency",
      meaning: "From arrival to delivery; up to the shaded height the latency graph loses nothing",
      lines: [
        { metric: "p99_s", label: "99%", colour: TWO },
        { metric: "p50_s", label: "median", colour: ONE, fill: true },
      ],
      show: showTime,
    },
    {
      id: "utility",
      title: "Utility",
      meaning: "Overall, and by each of its graphs; overall is their product",
      lines: [
        { metric: "utility", label: "overall", colour: THREE, fill: true },
        { metric: "utility_latency", label: "latency", colour: ONE },
        { metric: "utility_loss", label: "loss", colour: TWO },
        { metric: "utility_value", label: "value", colour: FOUR },
      ],
      show: showUtility,
      top: 1.05,
    },
    {
      id: "delivered",
      title: "Delivered",
      meaning: "Of all that would have come, recently",
      lines: [{ metric: "delivered", label: "delivered", colour: FOUR, fill: true }],
      show: showPercent,
      top: 105,
    },
    {
      id: "rate",
      title: "Rate",
      meaning: "Tuples delivered",
      lines: [{ metric: "rate_per_s", label: "rate", colour: ONE, fill: true }],
      show: showRate,
      least: 1,
    },
  ],
};
