// What is measured of an output, shown on it: how much comes and how late, what share of it, and what it is worth.

import { toneOf } from "../model/heat";
import { showRate, showShare, showTime, showUtility } from "../model/units";
import { apart, deliveredOf, type Reading, together, useReading } from "./reading";
import { Ring } from "./Ring";
import "./OutputWatch.css";

export function OutputWatch({ name }: { name: string }) {
  const shown = useReading((reading) => look(reading, name));
  if (shown === "") return null;
  const [rate = "", latency = "", delivered = "", utility = "", live = ""] = apart(shown);
  const worth = utility === "" ? null : Number(utility);
  return (
    <div className="output-watch" data-idle={live === "" || undefined}>
      <span aria-label={`latency ${latency}`} className="output-watch-number" role="img" title={`From arrival to delivery, recently: ${latency.trim()}`}>
        {latency}
      </span>
      {delivered === "" ? (
        <span aria-label={`rate ${rate}`} className="output-watch-number" role="img" title={`Delivered: ${rate.trim()}`}>
          {rate}
        </span>
      ) : (
        <span
          aria-label={`${delivered} delivered`}
          className="output-watch-number"
          data-tone="warn"
          role="img"
          title={`${delivered.trim()} of all that would have come was delivered lately`}
        >
          {delivered}
        </span>
      )}
      {worth !== null && (
        <span
          aria-label={`utility ${showUtility(worth)}`}
          className="output-watch-worth"
          data-tone={toneOf(worth)}
          role="img"
          title={`Worth ${showUtility(worth)} of 1 by its QoS graphs, just now`}
        >
          <Ring share={worth} />
          {showUtility(worth)}
        </span>
      )}
    </div>
  );
}

function look(reading: Reading, name: string): string {
  const output = reading.stats?.outputs[name];
  if (!output) return "";
  const delivered = deliveredOf(reading, name);
  const overall = output.utility.live.overall;
  return together(
    showRate(output.recent_rate_per_s),
    showTime(output.recent_latency_s),
    // That everything comes need not be said.
    delivered !== null && delivered < 0.995 ? showShare(delivered) : "",
    overall === null ? null : Math.round(overall * 100) / 100,
    reading.live ? "live" : "",
  );
}
