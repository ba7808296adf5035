// One plot of an element's history: its title, what its lines stand for with their latest values, and the lines.

import { useMemo } from "react";
import type { Brush } from "../model/brushing";
import { patienceOf } from "../model/heat";
import { readGraph } from "../model/qos";
import { type History, latest } from "../model/series";
import { useStore } from "../state/store";
import type { Subject } from "../state/watching";
import { LazyPlot } from "./LazyPlot";
import type { Plotted } from "./metrics";
import type { Mark, Zone } from "./Plot";
import "./SeriesPlot.css";

interface SeriesPlotProps {
  subject: Subject;
  plotted: Plotted;
  history: History;
  from: number;
  to: number;
  height: number;
  group: string;
  marks?: readonly Mark[];
  timeAxis?: boolean;
  onBrush?: (from: number, to: number) => void;
  brush?: Brush | null;
}

export function SeriesPlot({ subject, plotted, history, ...rest }: SeriesPlotProps) {
  const points = useStore((state) => state.running?.network.outputs?.[subject.name]?.qos?.latency);
  const known = history.series[subject.name];
  // The same as long as the history is, so that a plot is drawn anew only when there is something new.
  const lines = useMemo(
    () =>
      plotted.lines
        .map((line) => ({ ...line, values: known?.[line.metric] ?? [] }))
        // A graph that an output does not have has no utility.
        .filter((line, at) => at === 0 || line.values.some((value) => value !== null)),
    [plotted, known],
  );
  const patience = subject.of === "output" && plotted.id === "latency" ? patienceOf(readGraph("latency", points)) : null;
  const zones: Zone[] = patience ? [{ from: 0, to: patience.good, colour: "--good" }] : [];
  const told = lines.map((line) => `${line.label} ${plotted.show(latest(line.values)).trim()}`);
  return (
    <section aria-label={plotted.title} className="series-plot">
      <header className="series-plot-head" title={plotted.meaning}>
        <h3>{plotted.title}</h3>
        {lines.map((line) => (
          <span className="series-plot-line" key={line.metric}>
            <i data-dashed={line.dashed || undefined} style={{ background: `var(${line.colour})` }} />
            {lines.length > 1 && line.label}
            <b>{plotted.show(latest(line.values)).trim()}</b>
          </span>
        ))}
      </header>
      <LazyPlot
        {...rest}
        {...(plotted.top !== undefined && { top: plotted.top })}
        label={`${plotted.title}: ${told.join(", ")}`}
        least={Math.max(plotted.least ?? 0, patience ? patience.good * 1.25 : 0)}
        lines={lines}
        show={plotted.show}
        times={history.times}
        zones={zones}
      />
    </section>
  );
}
