// What is measured of the selected element or arc, in full: readings with what they mean, how they went, and why.

import { type ReactNode, useCallback } from "react";
import { api } from "../api/client";
import type { BoxScheduling, Statistics } from "../api/types";
import { asList, type ElementId, splitId } from "../model/document";
import { toneOf } from "../model/heat";
import {
  showAgo, showBytes, showCount, showFactor, showPercent, showRate, showShare, showTime, showUtility,
} from "../model/units";
import { useStore } from "../state/store";
import type { Subject } from "../state/watching";
import { PLOTS } from "./metrics";
import { FINE_S, useConnectors, useHistory, usePolled } from "./polling";
import { useReadings } from "./reading";
import { SeriesPlot } from "./SeriesPlot";
import "./ElementWatch.css";

export function ElementWatch() {
  const selected = useStore((state) => (state.selection.length === 1 ? (state.selection[0] ?? null) : null));
  const arc = useStore((state) => state.arc);
  const isRunning = useStore((state) => state.running !== null);
  const { stats } = useReadings();
  if (!isRunning || stats === null) return null;
  if (arc !== null) return arc in stats.arcs ? <ArcPart arc={arc} key={arc} stats={stats} /> : <NotYet />;
  return selected === null ? null : <Selected id={selected} key={selected} stats={stats} />;
}

function Selected({ id, stats }: { id: ElementId; stats: Statistics }) {
  const [section, name] = splitId(id);
  if (section === "boxes") return name in stats.boxes ? <BoxPart name={name} stats={stats} /> : <NotYet />;
  if (section === "outputs") return name in stats.outputs ? <OutputPart name={name} stats={stats} /> : <NotYet />;
  if (section === "streams") return name in stats.inputs ? <StreamPart name={name} stats={stats} /> : <NotYet />;
  if (section === "superboxes") return <SuperboxPart name={name} stats={stats} />;
  if (section === "sources" || section === "sinks") return <ConnectorPart name={name} role={section === "sources" ? "source" : "sink"} />;
  return null;
}

function NotYet() {
  return (
    <section className="element-watch">
      <p className="muted">Not running yet. Deploy the drawing to watch it.</p>
    </section>
  );
}

interface FactProps {
  label: string;
  value: string;
  meaning: string;
  tone?: string;
}

function Fact({ label, value, meaning, tone }: FactProps) {
  return (
    <div className="element-watch-fact" title={meaning}>
      <dt>{label}</dt>
      <dd data-tone={tone}>{value}</dd>
      <dd className="element-watch-meaning">{meaning}</dd>
    </div>
  );
}

function Part({ subject, facts, children }: { subject: Subject; facts: readonly FactProps[]; children?: ReactNode }) {
  return (
    <section aria-label="Measured" className="element-watch">
      <h3>Measured</h3>
      <dl className="element-watch-facts">
        {facts.map((fact) => (
          <Fact key={fact.label} {...fact} />
        ))}
      </dl>
      {children}
      <Plots subject={subject} />
    </section>
  );
}

/** The last minutes, with the way to the last hour. */
function Plots({ subject }: { subject: Subject }) {
  const history = useHistory(subject.of, subject.name || null, FINE_S);
  const showHistory = useStore((state) => state.showHistory);
  if (!history) return null;
  const now = history.times.at(-1) ?? 0;
  const plots = PLOTS[subject.of];
  return (
    <>
      <header className="row element-watch-head">
        <h3 className="grow">Last 5 minutes</h3>
        <button className="quiet element-watch-more" onClick={() => showHistory(subject)} type="button">
          Last hour
        </button>
      </header>
      {plots.map((plotted, at) => (
        <SeriesPlot
          from={now - FINE_S}
          group={`element-${subject.of}`}
          height={at === plots.length - 1 ? 84 : 62}
          history={history}
          key={plotted.id}
          plotted={plotted}
          subject={subject}
          timeAxis={at === plots.length - 1}
          to={now}
        />
      ))}
    </>
  );
}

function BoxPart({ name, stats }: { name: string; stats: Statistics }) {
  const box = stats.boxes[name];
  if (!box) return null;
  const reached = box.tuples_in > 0;
  const capacity = stats.engine.capacity || 1;
  const facts: FactProps[] = [
    { label: "Cost", value: showTime(reached ? box.recent_tuple_cost_s : null), meaning: "per tuple, lately" },
    { label: "Call", value: showTime(reached ? box.recent_overhead_s : null), meaning: "costs whatever it takes" },
    { label: "Selectivity", value: showFactor(reached ? box.recent_selectivity : null), meaning: "out for one in, lately" },
    { label: "Load", value: showShare(box.recent_load / capacity), meaning: "of what can be done" },
    { label: "Waiting", value: showCount(box.queue_tuples), meaning: `tuples, ${showBytes(box.queue_bytes).trim()}` },
    { label: "Oldest", value: showTime(box.age_s), meaning: "has waited so long" },
    { label: "Taken", value: showCount(box.tuples_in), meaning: `tuples in ${showCount(box.calls).trim()} calls` },
    { label: "Made", value: showCount(box.tuples_out), meaning: "tuples" },
    ...counted("Late", box.late, "discarded: out of order"),
    ...counted("Rejected", box.rejected, "its code failed on them"),
    ...counted("NULL", box.nulled, "values: division by zero, overflow"),
    ...counted("Dropped", box.shed, "for windows left out"),
  ];
  return (
    <Part facts={facts} subject={{ of: "box", name }}>
      <Scheduling name={name} />
    </Part>
  );
}

function counted(label: string, count: number, meaning: string): FactProps[] {
  return count > 0 ? [{ label, value: showCount(count), meaning, tone: "warn" }] : [];
}

const STATES: Record<BoxScheduling["state"], { label: string; tone: string }> = {
  running: { label: "runs", tone: "good" },
  keeping_up: { label: "keeps up", tone: "good" },
  waiting: { label: "waits its turn", tone: "warn" },
  held: { label: "waits for an input", tone: "warn" },
  starved: { label: "gets nothing", tone: "warn" },
  worthless: { label: "too late", tone: "bad" },
  idle: { label: "idle", tone: "none" },
  paused: { label: "paused", tone: "none" },
  superbox: { label: "part of one superbox", tone: "none" },
};

const ASK_MS = 2_000;

/** Why it was scheduled lately, or was not. */
function Scheduling({ name }: { name: string }) {
  const running = useStore((state) => state.running?.stage === "running" || state.running?.stage === "paused");
  return running ? <Reason name={name} /> : null;
}

function Reason({ name }: { name: string }) {
  const select = useStore((state) => state.select);
  const ask = useCallback((network: string) => api.scheduling(network, name), [name]);
  const answer = usePolled(ask, ASK_MS);
  const box = answer?.boxes[name];
  if (!box) return null;
  const state = STATES[box.state];
  // Who waits and loses nothing by it waits well.
  const tone = box.state === "waiting" && !box.utility_per_s ? "none" : state.tone;
  const behind = box.behind;
  return (
    <div className="element-watch-why">
      <header className="row">
        <h3 className="grow">Scheduling</h3>
        <span className="element-watch-state" data-tone={tone}>
          {state.label}
        </span>
      </header>
      <p>{box.why}</p>
      <p className="muted element-watch-small">
        {[
          box.last_ran_s != null && `ran ${box.last_ran_s < 1.5 ? "just now" : showAgo(box.last_ran_s)}`,
          `${showShare(box.share).trim()} of all work`,
          !!box.utility_per_s && `waiting costs ${box.utility_per_s.toPrecision(2)} per second`,
          box.slack_s != null && `${showTime(box.slack_s).trim()} of slack`,
          answer?.policy && `policy ${answer.policy}`,
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      {behind && (
        <button className="quiet element-watch-more" onClick={() => select([`boxes/${behind}`])} type="button">
          Go to {behind}
        </button>
      )}
    </div>
  );
}

function ArcPart({ arc, stats }: { arc: string; stats: Statistics }) {
  const tap = useStore((state) => state.tap);
  const reading = stats.arcs[arc];
  if (!reading) return null;
  const facts: FactProps[] = [
    { label: "Rate", value: showRate(reading.recent_rate_per_s), meaning: "tuples, lately" },
    { label: "Waiting", value: showCount(reading.queue_tuples), meaning: "tuples, for the last reader" },
    { label: "Carried", value: showCount(reading.tuples), meaning: "tuples so far" },
    { label: "Dropped", value: showCount(reading.shed), meaning: "tuples so far", ...(reading.shed > 0 && { tone: "warn" }) },
  ];
  return (
    <Part facts={facts} subject={{ of: "arc", name: arc }}>
      <button className="quiet element-watch-more element-watch-tap" onClick={() => tap(arc)} type="button">
        See the tuples on it
      </button>
    </Part>
  );
}

function OutputPart({ name, stats }: { name: string; stats: Statistics }) {
  const state = useStore((store) => store.running?.outputs[name]);
  const output = stats.outputs[name];
  if (!output) return null;
  const { live } = output.utility;
  const by = (["latency", "loss", "value"] as const).filter((graph) => live[graph] !== null);
  const facts: FactProps[] = [
    ...(live.overall === null
      ? []
      : [{ label: "Utility", value: showUtility(live.overall), meaning: by.map((graph) => `${graph} ${showUtility(live[graph])}`).join(" × "), tone: toneOf(live.overall) }]),
    { label: "Latency", value: showTime(output.recent_latency_s), meaning: "mean, lately" },
    { label: "Median", value: showTime(output.latency_s.p50), meaning: "latency since the start" },
    { label: "99%", value: showTime(output.latency_s.p99), meaning: "were quicker" },
    { label: "Delivered", value: showPercent(output.delivered), meaning: "of all, since the start", ...(output.delivered < 99.5 && { tone: "warn" }) },
    { label: "Lost", value: showCount(Math.round(output.lost)), meaning: "by drops on the way" },
    { label: "Rate", value: showRate(output.recent_rate_per_s), meaning: "tuples, lately" },
    { label: "Tuples", value: showCount(output.tuples), meaning: "so far" },
    ...(output.error === null ? [] : [{ label: "Error", value: showShare(output.error), meaning: "of estimated windows" }]),
    ...(state ? [{ label: "Readers", value: showCount(state.readers), meaning: `${showCount(state.waiting).trim()} tuples wait` }] : []),
  ];
  return <Part facts={facts} subject={{ of: "output", name }} />;
}

function StreamPart({ name, stats }: { name: string; stats: Statistics }) {
  const queued = useStore((state) => state.running?.queued[name] ?? 0);
  const connectors = useConnectors();
  const select = useStore((state) => state.select);
  const input = stats.inputs[name];
  if (!input) return null;
  const sources = (connectors ?? []).filter((one) => one.role === "source" && one.stream === name);
  const rejected = input.rejected + sources.reduce((sum, one) => sum + one.rejected, 0);
  const facts: FactProps[] = [
    { label: "Arrivals", value: showRate(input.recent_rate_per_s), meaning: "tuples, lately" },
    { label: "Taken", value: showCount(input.tuples), meaning: "tuples so far" },
    { label: "Dropped", value: showCount(input.shed), meaning: "because of overload", ...(input.shed > 0 && { tone: "warn" }) },
    { label: "Rejected", value: showCount(rejected), meaning: "were no tuples", ...(rejected > 0 && { tone: "warn" }) },
    { label: "Queued", value: showCount(queued), meaning: "not taken yet" },
  ];
  return (
    <Part facts={facts} subject={{ of: "input", name }}>
      {sources.length > 0 && (
        <>
          <h3>Sources</h3>
          <ul className="element-watch-columns">
            {sources.map((one) => (
              <li key={one.name}>
                <button className="quiet element-watch-more" onClick={() => select([`sources/${one.name}`])} type="button">
                  {one.name}
                </button>
                <span className="muted">
                  {one.kind}, {one.state}
                </span>
                {one.last_error && one.state !== "connected" && <p className="bad">{one.last_error}</p>}
              </li>
            ))}
          </ul>
        </>
      )}
    </Part>
  );
}

const SHOWN_MEMBERS = 12;

function SuperboxPart({ name, stats }: { name: string; stats: Statistics }) {
  const document = useStore((state) => state.running?.network);
  const select = useStore((state) => state.select);
  const members = boxesOf(name, document?.superboxes ?? {}, new Set()).flatMap((box) => {
    const reading = stats.boxes[box];
    return reading ? [{ box, reading }] : [];
  });
  if (members.length === 0) return <NotYet />;
  const capacity = stats.engine.capacity || 1;
  const load = members.reduce((sum, { reading }) => sum + reading.recent_load, 0);
  const sorted = members.toSorted((a, b) => b.reading.recent_load - a.reading.recent_load);
  return (
    <section aria-label="Measured" className="element-watch">
      <h3>Measured</h3>
      <dl className="element-watch-facts">
        <Fact label="Load" meaning="of what can be done" value={showShare(load / capacity)} />
        <Fact label="Waiting" meaning="tuples at its boxes" value={showCount(members.reduce((sum, { reading }) => sum + reading.queue_tuples, 0))} />
      </dl>
      <h3>Its boxes by load</h3>
      <ul className="element-watch-members">
        {sorted.slice(0, SHOWN_MEMBERS).map(({ box, reading }) => (
          <li key={box}>
            <button className="quiet element-watch-more" onClick={() => select([`boxes/${box}`])} type="button">
              {box}
            </button>
            <span className="element-watch-bar">
              <span style={{ width: `${Math.min(100, (100 * reading.recent_load) / (sorted[0]?.reading.recent_load || 1))}%` }} />
            </span>
            <span>{showShare(reading.recent_load / capacity)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function boxesOf(name: string, superboxes: Readonly<Record<string, { boxes: string | string[] }>>, seen: Set<string>): string[] {
  if (seen.has(name)) return [];
  seen.add(name);
  return asList(superboxes[name]?.boxes).flatMap((member) => (member in superboxes ? boxesOf(member, superboxes, seen) : [member]));
}

function ConnectorPart({ name, role }: { name: string; role: "source" | "sink" }) {
  const connectors = useConnectors();
  const one = connectors?.find((status) => status.name === name && status.role === role);
  if (connectors === null) return null;
  if (!one) return <NotYet />;
  const tone = { connected: "good", retrying: "warn", failed: "bad", starting: "none", ended: "none", stopped: "none" }[one.state];
  return (
    <section aria-label="Measured" className="element-watch">
      <header className="row">
        <h3 className="grow">Measured</h3>
        <span className="element-watch-state" data-tone={tone}>
          {one.state}
        </span>
      </header>
      {one.last_error && (
        <p className={one.state === "connected" ? "muted" : "bad"}>
          {one.state === "connected" && "Last error: "}
          {one.last_error}
        </p>
      )}
      <dl className="element-watch-facts">
        <Fact label="Tuples" meaning={role === "source" ? "brought in" : "sent out"} value={showCount(one.tuples)} />
        <Fact label="Bytes" meaning={role === "source" ? "read" : "written"} value={showBytes(one.bytes)} />
        <Fact label="Rejected" meaning="were no tuples" value={showCount(one.rejected)} {...(one.rejected > 0 && { tone: "warn" })} />
        <Fact label="Dropped" meaning="no room, or nobody" value={showCount(one.dropped)} {...(one.dropped > 0 && { tone: "warn" })} />
        {role === "sink" && <Fact label="Waiting" meaning="to be sent" value={showCount(one.waiting)} />}
        <Fact label="Retries" meaning={`${showCount(one.connects).trim()} connections made`} value={showCount(one.retries)} />
      </dl>
    </section>
  );
}

