// The last hour: of the whole or of one element, with what happened as marks. Brushing over a plot looks closer.

import { type KeyboardEvent, useMemo, useState } from "react";
import type { NetworkEvent } from "../api/types";
import { type Brush, moved, nearest, stretchOf } from "../model/brushing";
import { elementId } from "../model/document";
import type { History, Sort } from "../model/series";
import { showClock } from "../model/units";
import { Icon } from "../shell/Icon";
import { useStore } from "../state/store";
import { type Subject, WHOLE } from "../state/watching";
import { clusters, COLOUR } from "./marks";
import { type Plotted, PLOTS } from "./metrics";
import { FINE_S, HOUR_S, useEvents, useHistory } from "./polling";
import { useReadings } from "./reading";
import { SeriesPlot } from "./SeriesPlot";
import { StageNote } from "./Stage";
import { useWidth } from "./useWidth";
import "./HistoryPanel.css";

const WINDOWS = [
  { seconds: FINE_S, label: "5 min" },
  { seconds: 900, label: "15 min" },
  { seconds: HOUR_S, label: "1 h" },
] as const;

const PLOT_HEIGHT = 74;
const GROUP = "history";
const HINT = "history-panel-hint";
const MARK_PX = 12;
const MOST_MARKS = 60;

export function HistoryPanel() {
  const subject = useStore((state) => state.subject);
  const isRunning = useStore((state) => state.running !== null);
  const events = useStore((state) => state.events);
  const announce = useStore((state) => state.announce);
  const [seconds, setSeconds] = useState<number>(FINE_S);
  const [zoom, setZoom] = useState<readonly [number, number] | null>(null);
  const [brush, setBrush] = useState<Brush | null>(null);
  const [chosen, setChosen] = useState<Partial<Record<Sort, readonly string[]>>>({});
  useEvents();

  // What lies in the last minutes is known by the second, however it was come by.
  const fine = zoom === null ? seconds <= FINE_S : zoom[0] > Date.now() / 1000 - FINE_S;
  const history = useHistory(subject.of, subject.name || null, fine ? FINE_S : HOUR_S);
  const now = history?.times.at(-1) ?? Date.now() / 1000;
  const [from, to] = zoom ?? [now - seconds, now];

  if (!isRunning) {
    return <p className="empty">Nothing runs yet. Once the network is deployed, its last hour is kept here.</p>;
  }
  const plots = PLOTS[subject.of];
  const ids = chosen[subject.of] ?? plots.slice(0, 3).map((plot) => plot.id);
  const shown = plots.filter((plot) => ids.includes(plot.id));
  const toggle = (id: string) => {
    const after = ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id];
    setChosen({ ...chosen, [subject.of]: after });
  };
  const look = (stretch: readonly [number, number] | null) => {
    setZoom(stretch);
    setBrush(null);
    announce(stretch ? `Shown: ${showClock(stretch[0])} to ${showClock(stretch[1])}` : "Shown: up to now");
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const stretch = stretchOf(brush);
    const after = moved(brush, event.key, event.shiftKey, from, to);
    if (after) {
      setBrush(after);
      announce(told(after, shown, history, subject));
    } else if (event.key === "Enter" && stretch) look(stretch);
    else if (event.key === "Escape" && brush) setBrush(null);
    else if (event.key === "Escape" && zoom) look(null);
    else return;
    event.preventDefault();
  };
  const marks = clusters(events, from, to, MOST_MARKS).map(({ at, kind }) => ({ at, colour: COLOUR[kind] }));

  return (
    <div className="history-panel-frame">
      <div className="history-panel">
        <div className="history-panel-choice">
          <SubjectChoice />
          <div aria-label="What is shown" className="history-panel-metrics" role="group">
            {plots.map((plot) => (
              <label key={plot.id} title={plot.meaning}>
                <input checked={ids.includes(plot.id)} onChange={() => toggle(plot.id)} type="checkbox" />
                {plot.title}
              </label>
            ))}
          </div>
        </div>
        <div className="history-panel-plots">
          <div className="history-panel-bar">
            <div aria-label="How far back" className="history-panel-windows" role="group">
              {WINDOWS.map((one) => (
                <button
                  aria-pressed={zoom === null && seconds === one.seconds}
                  key={one.seconds}
                  onClick={() => {
                    setSeconds(one.seconds);
                    setZoom(null);
                    setBrush(null);
                  }}
                  type="button"
                >
                  {one.label}
                </button>
              ))}
            </div>
            {zoom ? (
              <>
                <span className="muted">
                  {showClock(from)} – {showClock(to)}
                </span>
                <button onClick={() => look(null)} type="button">
                  <Icon name="arrow" />
                  Now
                </button>
              </>
            ) : (
              <span className="history-panel-hint muted" id={HINT}>
                drag over a plot to look closer, or press ⇧ ← → and ↵ on it
              </span>
            )}
          </div>
          <StageNote />
          <EventStrip events={events} from={from} to={to} />
          <div
            aria-describedby={HINT}
            aria-label="Plots"
            className="history-panel-stack"
            onBlur={() => setBrush(null)}
            onKeyDown={press}
            onPointerDown={() => setBrush(null)}
            role="group"
            tabIndex={0}
          >
            {history === null || shown.length === 0 ? (
              <p className="empty">{shown.length === 0 ? "Choose what to show." : "Asking the server…"}</p>
            ) : (
              shown.map((plotted, at) => (
                <SeriesPlot
                  brush={brush}
                  from={from}
                  group={GROUP}
                  height={PLOT_HEIGHT + (at === shown.length - 1 ? 22 : 0)}
                  history={history}
                  key={`${subject.of}/${subject.name}/${plotted.id}`}
                  marks={marks}
                  onBrush={(start, end) => look([start, end])}
                  plotted={plotted}
                  subject={subject}
                  timeAxis={at === shown.length - 1}
                  to={to}
                />
              ))
            )}
          </div>
        </div>
        <EventList events={events} onLook={(at) => look([at - 60, at + 60])} />
      </div>
    </div>
  );
}

/** What is under the crosshair, or how far it has been stretched, for those who do not see it. */
function told(brush: Brush, plots: readonly Plotted[], history: History | null, { name }: Subject): string {
  const stretch = stretchOf(brush);
  if (stretch) return `Chosen: ${showClock(stretch[0])} to ${showClock(stretch[1])}`;
  const at = history ? nearest(history.times, brush.at) : -1;
  const values = plots.flatMap(({ title, lines, show }) =>
    lines.slice(0, 1).map(({ metric }) => `${title} ${show(history?.series[name]?.[metric]?.[at] ?? null).trim()}`),
  );
  return [showClock(brush.at), ...values].join(", ");
}

const SORTS: readonly { of: Sort; label: string }[] = [
  { of: "output", label: "Outputs" },
  { of: "input", label: "Streams" },
  { of: "box", label: "Boxes" },
  { of: "arc", label: "Arcs" },
];

function SubjectChoice() {
  const subject = useStore((state) => state.subject);
  const setSubject = useStore((state) => state.setSubject);
  const { stats } = useReadings();
  const names: Record<Sort, string[]> = {
    network: [],
    output: Object.keys(stats?.outputs ?? {}),
    input: Object.keys(stats?.inputs ?? {}),
    box: Object.keys(stats?.boxes ?? {}),
    arc: Object.keys(stats?.arcs ?? {}),
  };
  return (
    <label className="history-panel-subject">
      <span className="visually-hidden">Whose history</span>
      <select onChange={(event) => setSubject(JSON.parse(event.target.value) as Subject)} value={valueOf(subject)}>
        <option value={valueOf(WHOLE)}>Whole network</option>
        {subject.of !== "network" && !names[subject.of].includes(subject.name) && (
          <option value={valueOf(subject)}>{subject.name} (gone)</option>
        )}
        {SORTS.filter(({ of }) => names[of].length > 0).map(({ of, label }) => (
          <optgroup key={of} label={label}>
            {names[of].map((name) => (
              <option key={name} value={valueOf({ of, name })}>
                {name}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

function valueOf({ of, name }: Subject): string {
  return JSON.stringify({ of, name });
}

/** The events above the plots, where they happened. */
function EventStrip({ events, from, to }: { events: readonly NetworkEvent[]; from: number; to: number }) {
  const [place, width] = useWidth();
  const [pointed, setPointed] = useState<number | null>(null);
  const marks = useMemo(() => clusters(events, from, to, Math.max(1, width / MARK_PX)), [events, from, to, width]);
  return (
    <div aria-label="What happened" className="history-panel-strip" ref={place} role="group">
      {marks.map((mark, index) => {
        const share = (mark.at - from) / (to - from);
        const told = mark.events.map((event) => `${showClock(event.at_us / 1e6)} ${event.text}`);
        return (
          <button
            aria-label={told.join("; ")}
            className="history-panel-mark"
            key={mark.at}
            onBlur={() => setPointed(null)}
            onFocus={() => setPointed(index)}
            onMouseEnter={() => setPointed(index)}
            onMouseLeave={() => setPointed(null)}
            style={{ color: `var(${COLOUR[mark.kind]})`, left: `${share * 100}%` }}
            type="button"
          >
            {mark.events.length > 1 ? mark.events.length : ""}
            {pointed === index && (
              <span className="history-panel-told" data-side={share > 0.5 ? "left" : "right"}>
                {told.slice(-6).map((line) => (
                  <span key={line}>{line}</span>
                ))}
              </span>
            )}
          </button>
        );
      })}
    </div>
  );
}

function EventList({ events, onLook }: { events: readonly NetworkEvent[]; onLook: (at: number) => void }) {
  const select = useStore((state) => state.select);
  const selectArc = useStore((state) => state.selectArc);
  const show = (event: NetworkEvent) => {
    onLook(event.at_us / 1e6);
    if (event.of === "arc") selectArc(event.name);
    if (event.of === "box") select([elementId("boxes", event.name)]);
    if (event.of === "source") select([elementId("sources", event.name)]);
    if (event.of === "sink") select([elementId("sinks", event.name)]);
  };
  return (
    <section aria-label="Events" className="history-panel-events">
      <h3>Events</h3>
      {events.length === 0 && <p className="muted">Nothing happened in the last hour.</p>}
      <ol>
        {events.toReversed().map((event) => (
          <li key={`${event.at_us}${event.text}`}>
            <button className="quiet" onClick={() => show(event)} type="button">
              <i style={{ background: `var(${COLOUR[event.kind]})` }} />
              <time>{showClock(event.at_us / 1e6)}</time>
              <span>{event.text}</span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
