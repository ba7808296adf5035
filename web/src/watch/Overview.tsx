// How the whole is doing: what flows, how much can still be done, what answers are worth, and what is lost.

import { type ReactNode, useMemo } from "react";
import type { ConnectorStatus, Statistics } from "../api/types";
import { elementId } from "../model/document";
import { patienceOf, toneOf } from "../model/heat";
import { readGraph } from "../model/qos";
import { type DropInForce, dropPlace, type History, latest } from "../model/series";
import { showBytes, showCondition, showCount, showPercent, showRate, showShare, showTime, showUtility } from "../model/units";
import { useStore } from "../state/store";
import { Funnel } from "./Funnel";
import { Gauge } from "./Gauge";
import { LazyPlot } from "./LazyPlot";
import { FINE_S, useConnectors, useHistory } from "./polling";
import { useReadings } from "./reading";
import { Ring } from "./Ring";
import { Spark } from "./Spark";
import { StageNote } from "./Stage";
import "./Overview.css";

const MOST_OUTPUTS = 100;

export function Overview() {
  const isRunning = useStore((state) => state.running !== null);
  const { stats, drops } = useReadings();
  const whole = useHistory("network", null, FINE_S);
  // Of very many outputs the server tells only one by one.
  const outputs = useHistory("output", null, FINE_S, stats !== null && Object.keys(stats.outputs).length <= MOST_OUTPUTS);
  if (!isRunning) {
    return <p className="empty">Nothing runs yet. Deploy what is drawn, and see here how it is doing.</p>;
  }
  if (stats === null) return <p className="empty">Waiting for the first numbers…</p>;
  return (
    <div className="overview-frame">
      <div className="overview">
        <div className="overview-note">
          <StageNote />
        </div>
        <Flow history={whole} stats={stats} />
        <Room history={whole} stats={stats} />
        <Outputs history={outputs} stats={stats} />
        <Losses drops={drops} stats={stats} />
      </div>
    </div>
  );
}

function Flow({ stats, history }: { stats: Statistics; history: History | null }) {
  const series = history?.series[""];
  const incoming = total(Object.values(stats.inputs).map((input) => input.recent_rate_per_s));
  const outgoing = total(Object.values(stats.outputs).map((output) => output.recent_rate_per_s));
  const now = history?.times.at(-1) ?? 0;
  const lines = useMemo(
    () => [
      { label: "in", values: series?.in_per_s ?? [], colour: "--plot-1", fill: true },
      { label: "out", values: series?.out_per_s ?? [], colour: "--plot-4" },
    ],
    [series],
  );
  return (
    <section aria-label="Throughput" className="overview-part">
      <header className="row">
        <h3>Throughput</h3>
      </header>
      <div className="overview-big">
        <span>
          <i style={{ background: "var(--plot-1)" }} /> in <b>{showRate(incoming)}</b>
        </span>
        <span>
          <i style={{ background: "var(--plot-4)" }} /> out <b>{showRate(outgoing)}</b>
        </span>
      </div>
      {history && (
        <LazyPlot
          from={now - FINE_S}
          height={116}
          label={`Throughput of the last 5 minutes: in ${showRate(incoming)}, out ${showRate(outgoing)}`}
          least={1}
          lines={lines}
          show={showRate}
          timeAxis
          times={history.times}
          to={now}
        />
      )}
    </section>
  );
}

const SERVING = ["scheduler", "storage", "worker"];

function Room({ stats, history }: { stats: Statistics; history: History | null }) {
  const { capacity, memory_bytes, disk_bytes } = stats.engine;
  const budget = history?.budget;
  const boxes = stats.parts.boxes?.recent_share ?? 0;
  const drops = stats.parts.drops?.recent_share ?? 0;
  const serving = total(SERVING.map((name) => stats.parts[name]?.recent_share ?? 0));
  const busy = boxes + drops + serving;
  const full = busy / (capacity || 1);
  const waiting = total(Object.values(stats.boxes).map((box) => box.queue_tuples));
  return (
    <section aria-label="Load" className="overview-part">
      <header className="row">
        <h3>Load</h3>
      </header>
      <div className="overview-big">
        <span>
          <b data-tone={full > 1 ? "bad" : full > 0.85 ? "warn" : "good"}>{showShare(full).trim()}</b> of capacity
        </span>
      </div>
      <Gauge
        label={`Load ${showShare(full)} of the capacity`}
        limit={capacity}
        limitLabel={`Capacity: ${showShare(capacity).trim()} of a worker's time; the rest is headroom`}
        parts={[
          { label: `boxes ${showShare(boxes).trim()}`, value: boxes, colour: "--plot-1" },
          { label: `serving them ${showShare(serving).trim()}`, value: serving, colour: "--plot-4" },
          { label: `drops ${showShare(drops).trim()}`, value: drops, colour: "--plot-2" },
        ]}
        whole={budget?.workers ?? Math.ceil(capacity)}
      />
      <Spark
        colour="--plot-1"
        goodUntil={capacity}
        height={34}
        label="Load of the last 5 minutes"
        least={Math.max(1, capacity)}
        slots={FINE_S}
        values={history?.series[""]?.busy}
      />
      <dl className="overview-facts">
        <dt>Waiting</dt>
        <dd>{showCount(waiting)}</dd>
        <Held budget={budget?.memory_bytes} label="Memory" used={memory_bytes} />
        <Held budget={budget?.disk_bytes} label="Disk" used={disk_bytes} />
      </dl>
    </section>
  );
}

function Held({ label, used, budget }: { label: string; used: number; budget: number | undefined }) {
  const said = budget === undefined ? showBytes(used) : `${showBytes(used).trim()} of ${showBytes(budget).trim()}`;
  return (
    <>
      <dt>{label}</dt>
      <dd title={said}>{showBytes(used)}</dd>
      {budget !== undefined && (
        <dd className="overview-held">
          <Gauge label={`${label}: ${said}`} parts={[{ label: said, value: used, colour: used > budget * 0.8 ? "--bad" : "--plot-1" }]} whole={budget} />
        </dd>
      )}
    </>
  );
}

function Outputs({ stats, history }: { stats: Statistics; history: History | null }) {
  const declared = useStore((state) => state.running?.network.outputs);
  const select = useStore((state) => state.select);
  const names = shownOutputs(stats);
  return (
    <section aria-label="Outputs" className="overview-part overview-outputs">
      <header className="overview-output overview-output-head">
        <h3>Outputs</h3>
        <h3>Latency</h3>
        <h3>Delivered</h3>
        <h3>Utility</h3>
      </header>
      <div className="overview-scroll">
        {names.map((name) => {
          const output = stats.outputs[name];
          if (!output) return null;
          const series = history?.series[name] ?? {};
          const patience = patienceOf(readGraph("latency", declared?.[name]?.qos?.latency));
          const worth = output.utility.live.overall;
          const delivered = latest(series.delivered);
          return (
            <div className="overview-output" key={name}>
              <button className="quiet overview-name" onClick={() => select([elementId("outputs", name)])} title={name} type="button">
                <span className="overview-worth" data-tone={toneOf(worth)}>
                  <Ring share={worth ?? 0} size={16} />
                </span>
                <span className="overview-name-text">{name}</span>
              </button>
              <Small number={showTime(output.recent_latency_s)}>
                <Spark
                  colour="--plot-1"
                  goodUntil={patience?.good ?? null}
                  label={`Latency of ${name}: ${showTime(output.recent_latency_s).trim()}`}
                  least={patience ? patience.good * 1.25 : 0.01}
                  slots={FINE_S}
                  values={series.latency_s}
                />
              </Small>
              <Small number={showPercent(delivered)}>
                <Spark colour="--plot-4" label={`Delivered of ${name}: ${showPercent(delivered).trim()}`} slots={FINE_S} top={100} values={series.delivered} />
              </Small>
              <Small number={showUtility(worth)}>
                <Spark colour="--plot-3" label={`Utility of ${name}: ${showUtility(worth)}`} slots={FINE_S} top={1} values={series.utility} />
              </Small>
            </div>
          );
        })}
      </div>
    </section>
  );
}

/** All of them; of very many those that do worst. */
function shownOutputs({ outputs }: Statistics): string[] {
  const names = Object.keys(outputs);
  const worth = (name: string) => outputs[name]?.utility.live.overall ?? 1;
  return names.length <= MOST_OUTPUTS ? names : names.toSorted((a, b) => worth(a) - worth(b)).slice(0, MOST_OUTPUTS);
}

function Small({ number, children }: { number: string; children: ReactNode }) {
  return (
    <div className="overview-small">
      {children}
      <span className="overview-number">{number.trim()}</span>
    </div>
  );
}

function Losses({ stats, drops }: { stats: Statistics; drops: readonly DropInForce[] }) {
  const selectArc = useStore((state) => state.selectArc);
  const connectors = useConnectors();
  const shed = total(Object.values(stats.engine.shed));
  const shown = drops.filter((drop) => drop.reason !== "tuples");
  return (
    <section aria-label="What is dropped" className="overview-part">
      <header className="row">
        <h3>Dropped</h3>
      </header>
      <div className="overview-big">
        <span title="Tuples dropped since the network was started">
          <b>{showCount(shed).trim()}</b> so far
        </span>
      </div>
      <div className="overview-scroll">
        {shown.length === 0 && <p className="overview-calm">Nothing just now</p>}
        <ul className="overview-list">
          {shown.map((drop) => {
            const place = dropPlace(drop.place);
            return (
              <li key={`${drop.place}${drop.reason}`}>
                <button className="quiet" onClick={() => selectArc(place.arc)} title={describe(drop)} type="button">
                  <span className="warn overview-funnel">
                    <Funnel />
                  </span>
                  <span className="overview-name-text">
                    {place.before === null ? place.arc : `→ ${place.before}`}
                  </span>
                  <b className="warn">{drop.where === undefined && drop.reason !== "semantic" ? showShare(drop.keep).trim() : "by value"}</b>
                </button>
              </li>
            );
          })}
        </ul>
        {connectors !== null && connectors.length > 0 && <Connectors connectors={connectors} />}
      </div>
    </section>
  );
}

function describe(drop: DropInForce): string {
  const what = drop.where === undefined ? `${showShare(drop.keep).trim()} of the ${drop.reason === "windows" ? "windows" : "tuples"} stay` : `those with ${showCondition(drop.where)} go`;
  return `At ${drop.place}: ${what}; ${showCount(drop.shed).trim()} dropped so far`;
}

const STATE_TONE: Record<ConnectorStatus["state"], string> = {
  starting: "none",
  connected: "good",
  retrying: "warn",
  ended: "none",
  failed: "bad",
  stopped: "none",
};

function Connectors({ connectors }: { connectors: readonly ConnectorStatus[] }) {
  const select = useStore((state) => state.select);
  return (
    <>
      <h3 className="overview-second">Sources and sinks</h3>
      <ul className="overview-list">
        {connectors.map((one) => (
          <li key={`${one.role}/${one.name}`}>
            <button
              className="quiet"
              onClick={() => select([elementId(one.role === "source" ? "sources" : "sinks", one.name)])}
              title={one.last_error ? `${one.state}: ${one.last_error}` : `${one.kind}, ${one.state}`}
              type="button"
            >
              <i className="overview-dot" data-tone={STATE_TONE[one.state]} />
              <span className="overview-name-text">{one.name}</span>
              <span className="muted">{one.state === "connected" ? showCount(one.tuples).trim() : one.state}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
