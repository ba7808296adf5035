// A column of an arc over time.

import { useMemo, useState } from "react";
import type { Columns } from "../model/document";
import { pointsOf, type Row } from "../model/tuples";
import { LazyPlot } from "../watch/LazyPlot";

const HEIGHT = 110;

interface TapPlotProps {
  arc: string;
  column: string;
  columns: Columns;
  rows: readonly Row[];
}

export function TapPlot({ arc, column, columns, rows }: TapPlotProps) {
  const [over, setOver] = useState("");
  const times = Object.keys(columns).filter((name) => columns[name] === "timestamp");
  const { times: at, values } = useMemo(() => pointsOf(rows, column, over || null), [rows, column, over]);
  const numbers = values.filter((value) => value !== null);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const around = numbers.length === 0 ? 1 : (most - least) * 0.08 || Math.abs(most) * 0.1 || 1;
  const bounds = numbers.length === 0 ? { bottom: 0, top: 1 } : { bottom: least - around, top: most + around };
  const [from, to] = [at[0] ?? 0, Math.max(at.at(-1) ?? 1, (at[0] ?? 0) + 1)];
  const lines = useMemo(() => [{ label: column, values, colour: "--plot-1" }], [column, values]);
  return (
    <div className="tap-plot">
      <LazyPlot
        {...bounds}
        from={from}
        height={HEIGHT}
        label={`${column} of ${arc} over time`}
        lines={lines}
        show={(value) => (value === null ? "–" : Number(value.toPrecision(5)).toLocaleString())}
        timeAxis
        times={at}
        to={to}
      />
      {times.length > 0 && (
        <label className="tap-plot-over">
          over
          <select onChange={(event) => setOver(event.target.value)} value={over}>
            <option value="">when it came</option>
            {times.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}
