// What is measured of a box, shown on it: what a tuple costs, how many come out for one, and its share of what can be done.

import { showFactor, showShare, showTime } from "../model/units";
import { apart, type Reading, together, useReading } from "./reading";
import "./BoxWatch.css";

/** As wide as the bar is, no finer difference can be seen. */
const STEPS = 100;

export function BoxWatch({ name }: { name: string }) {
  const shown = useReading((reading) => look(reading, name));
  if (shown === "") return null;
  const [cost = "", factor = "", load = "", steps = "0", live = ""] = apart(shown);
  return (
    <div className="box-watch" data-idle={live === "" || undefined}>
      <span aria-label={`${cost} per tuple`} className="box-watch-number" role="img" title={`A tuple costs ${cost} here`}>
        {cost}
      </span>
      <span aria-label={`selectivity ${factor}`} className="box-watch-number" role="img" title={`Tuples that come out for one that goes in: ${factor}`}>
        {factor}
      </span>
      <span aria-label={`${load} of the capacity`} className="box-watch-number" role="img" title={`Takes ${load.trim()} of what the workers can do for long`}>
        {load}
      </span>
      <span aria-hidden="true" className="box-watch-bar">
        <span className="box-watch-fill" style={{ width: `${(Number(steps) / STEPS) * 100}%` }} />
      </span>
    </div>
  );
}

function look({ stats, live }: Reading, name: string): string {
  const box = stats?.boxes[name];
  if (!stats || !box) return "";
  const reached = box.tuples_in > 0;
  const share = box.recent_load / (stats.engine.capacity || 1);
  return together(
    showTime(reached ? box.recent_tuple_cost_s : null),
    showFactor(reached ? box.recent_selectivity : null),
    showShare(share),
    Math.min(STEPS, Math.ceil(share * STEPS - 0.5)),
    live ? "live" : "",
  );
}
