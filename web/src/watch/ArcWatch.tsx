// What is measured of an arc, shown on it: how much flows, what waits and for how long, and what is dropped on the way.

import { producerOf, splitId } from "../model/document";
import type { Reader } from "../model/graph";
import { fullness, heatOf, patiences, USUAL } from "../model/heat";
import { dropsOn, keptShare } from "../model/series";
import { showCondition, showCount, showRate, showShare, showTime } from "../model/units";
import { Funnel } from "./Funnel";
import { apart, type Reading, together, useReading } from "./reading";
import "./ArcWatch.css";

const STEPS = 20;
const FELT = 0.05;

interface ArcWatchProps {
  arc: string;
  /** To what this arrow leads; without it what waits and is dropped is that of the whole arc. */
  readers?: readonly Reader[] | undefined;
}

export function ArcWatch({ arc, readers }: ArcWatchProps) {
  const shown = useReading((reading) => look(reading, arc, readers));
  if (shown === "") return null;
  const [rate = "", queue = "", age = "", heat = "", full = "", kept = "", why = "", live = ""] = apart(shown);
  return (
    <div className="arc-watch" data-heat={heat} data-idle={live === "" || undefined} data-testid={`arc-watch-${arc}`}>
      <span className="arc-watch-flow">
        {why && (
          <span aria-label={why} className="arc-watch-drop" role="img" title={why}>
            <Funnel />
            {kept}
          </span>
        )}
        <span className="arc-watch-rate">{rate}</span>
      </span>
      {queue && (
        <span
          aria-label={`${queue} tuples wait, the oldest for ${age}`}
          className="arc-watch-queue"
          role="img"
          title={`${queue.trim()} tuples wait; the oldest came ${age.trim()} ago`}
        >
          <span className="arc-watch-gauge">
            <span className="arc-watch-fill" style={{ height: `${(Number(full) / STEPS) * 100}%` }} />
          </span>
          {queue} <span className="arc-watch-age">{age}</span>
        </span>
      )}
    </div>
  );
}

function look({ stats, drops, document, live }: Reading, arc: string, readers: readonly Reader[] | undefined): string {
  const flow = stats?.arcs[arc];
  if (!stats || !flow) return "";
  const boxes = readers?.filter(({ to }) => to.startsWith("boxes/")).map(({ to }) => splitId(to)[1]) ?? readersOf(document?.boxes ?? {}, arc);
  const waiting = boxes.flatMap((name) => stats.boxes[name] ?? []);
  const queue = Math.min(flow.queue_tuples, Math.max(0, ...waiting.map((box) => box.queue_tuples)));
  const age = Math.max(0, ...waiting.map((box) => box.age_s));
  const full = fullness(queue > 0 ? age : 0, (document && patiences(document).get(producerOf(arc))) ?? USUAL);
  // What is on its way comes and goes; it waits if that can be felt.
  const waits = full >= FELT;
  const dropped = dropsOn(drops, arc, boxes);
  const kept = keptShare(dropped);
  return together(
    showRate(flow.recent_rate_per_s),
    waits ? showCount(queue) : "",
    waits ? showTime(age) : "",
    heatOf(full),
    Math.round(full * STEPS),
    dropped.length === 0 ? "" : kept === null ? "by value" : showShare(kept).trim(),
    dropped.map(reasonOf).join("\n"),
    live ? "live" : "",
  );
}

/** Why tuples go, for who points at a funnel. */
function reasonOf(drop: { reason: string; where?: string; spared?: number; keep?: number | null; outputs: string[] }): string {
  const hurt = drop.outputs.length > 0 ? `, which ${drop.outputs.join(", ")} can best do without` : "";
  if (drop.where !== undefined) return `Overload: tuples with ${showCondition(drop.where)} are dropped${hurt}`;
  if (drop.reason === "windows") return `Overload: ${showShare(drop.keep).trim()} of the windows are kept whole${hurt}`;
  if (drop.reason === "semantic") return `Overload: tuples that matter least are dropped${hurt}`;
  return `Overload: ${showShare(drop.keep).trim()} of the tuples stay, chosen by chance${hurt}`;
}

function readersOf(boxes: Readonly<Record<string, { in: string | string[] }>>, arc: string): string[] {
  return Object.entries(boxes)
    .filter(([, box]) => (Array.isArray(box.in) ? box.in.includes(arc) : box.in === arc))
    .map(([name]) => name);
}
