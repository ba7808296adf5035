// Series of what was measured: put together, cut, and drawn as lines; and what the names of drops mean.

/** What the server answers for the elements of one sort: values by name and metric, null where nothing is known. */
export interface History {
  of: Sort;
  step_s: number;
  times: number[];
  series: Record<string, Record<string, (number | null)[]>>;
  units: Record<string, string>;
  budget?: { memory_bytes: number; disk_bytes: number; workers: number; headroom: number };
}

export type Sort = "network" | "input" | "box" | "arc" | "output";
export type Values = readonly (number | null)[];

/** The older part and what came since as one, no longer than `seconds`. Both have the same steps. */
export function joined(before: History | null, since: History, seconds: number): History {
  if (before === null || before.step_s !== since.step_s || since.times.length === 0) return since;
  const first = since.times[0] ?? 0;
  const last = since.times.at(-1) ?? 0;
  const gap = first - (before.times.at(-1) ?? 0);
  // Too long ago to be put together: what lies between is not known.
  if (gap > since.step_s) return since;
  const from = last - seconds;
  const keep = before.times.findIndex((at) => at > from);
  const until = before.times.findIndex((at) => at >= first);
  const end = until < 0 ? before.times.length : until;
  const start = keep < 0 ? end : Math.min(keep, end);
  const times = [...before.times.slice(start, end), ...since.times];
  const series: History["series"] = {};
  for (const [name, metrics] of Object.entries(since.series)) {
    const known = before.series[name];
    series[name] = Object.fromEntries(
      Object.entries(metrics).map(([metric, values]) => {
        const earlier = known?.[metric]?.slice(start, end) ?? new Array<null>(end - start).fill(null);
        return [metric, [...earlier, ...values]];
      }),
    );
  }
  return { ...since, times, series };
}

/** How many tuples came and were lost at an output, since the start and, of less and less weight, lately. */
export interface Lately {
  readonly tuples: number;
  readonly lost: number;
  readonly came: number;
  readonly gone: number;
}

const FORGOTTEN_PER_S = 0.2;

/** What becomes of it when statistics have come after so many seconds. A network that was started anew counts anew. */
export function later(before: Lately | undefined, now: { tuples: number; lost: number }, seconds: number): Lately {
  const { tuples, lost } = now;
  if (!before) return { tuples, lost, came: 0, gone: 0 };
  const anew = tuples < before.tuples || lost < before.lost;
  const kept = (1 - FORGOTTEN_PER_S) ** Math.max(0, seconds);
  return {
    tuples,
    lost,
    came: before.came * kept + tuples - (anew ? 0 : before.tuples),
    gone: before.gone * kept + lost - (anew ? 0 : before.lost),
  };
}

/** The share that came, 0 to 1; null if nothing would have. */
export function cameLately({ came, gone }: Lately): number | null {
  return came + gone > 1e-3 ? came / (came + gone) : null;
}

/** The latest value that is known. */
export function latest(values: Values | undefined): number | null {
  return values?.findLast((value) => value !== null) ?? null;
}

/** The least and the most that is known; null if nothing is. */
export function extent(values: Values): [number, number] | null {
  let least = Infinity;
  let most = -Infinity;
  for (const value of values) {
    if (value === null) continue;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return most === -Infinity ? null : [least, most];
}

export interface Size {
  width: number;
  height: number;
}

/** So few values that each has room in a small picture: the means of neighbours, counted from the latest. */
export function thinned(values: Values, most: number): Values {
  const each = Math.ceil(values.length / most);
  if (each <= 1) return values;
  const found: (number | null)[] = [];
  for (let end = values.length; end > 0; end -= each) {
    let sum = 0;
    let count = 0;
    for (let at = Math.max(0, end - each); at < end; at += 1) {
      const value = values[at];
      if (value === null || value === undefined) continue;
      sum += value;
      count += 1;
    }
    found.push(count === 0 ? null : sum / count);
  }
  return found.reverse();
}

/**
 * A line as an SVG path, with gaps where nothing is known, and the same with the space below it filled. The values end at
 * the right edge; `slots` of them fill the width.
 */
export function sparkPaths(
  values: Values,
  [least, most]: readonly [number, number],
  { width, height }: Size,
  slots: number,
): { line: string; area: string } {
  const step = width / Math.max(1, slots - 1);
  const offset = width - (values.length - 1) * step;
  const scale = height / (most - least || 1);
  const tenths = (value: number) => Math.round(value * 10) / 10;
  let line = "";
  let area = "";
  let part = "";
  let start = 0;
  let last = 0;
  const close = () => {
    if (part === "") return;
    line += part;
    area += `${part}L${last} ${height}L${start} ${height}Z`;
    part = "";
  };
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (value === null || value === undefined) {
      close();
      continue;
    }
    last = tenths(offset + at * step);
    if (part === "") start = last;
    const y = tenths(height - (Math.min(Math.max(value, least), most) - least) * scale);
    part += `${part === "" ? "M" : "L"}${last} ${y}`;
  }
  close();
  return { line, area };
}

/** A step above the most for an axis that begins at 0 and does not jump with every value. */
export function niceTop(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  const factor = [1, 1.5, 2, 3, 5, 7.5, 10].find((one) => one * power >= most) ?? 10;
  return factor * power;
}

/** Where tuples are dropped: on an arc, for all who get its tuples or before one box; and why. */
export interface DropPlace {
  arc: string;
  before: string | null;
  reason: string;
}

/** Reads `ticks before late: random` of statistics, or a place without the reason. */
export function dropPlace(text: string): DropPlace {
  const at = text.lastIndexOf(": ");
  const place = at < 0 ? text : text.slice(0, at);
  const reason = at < 0 ? "" : text.slice(at + 2);
  const before = place.indexOf(" before ");
  return before < 0
    ? { arc: place, before: null, reason }
    : { arc: place.slice(0, before), before: place.slice(before + " before ".length), reason };
}

/** A drop as `describe` has it. */
export interface DropInForce {
  place: string;
  reason: string;
  keep?: number | null;
  where?: string;
  spared?: number;
  outputs: string[];
  since: string;
  shed: number;
}

/** What statistics tell every second of a drop. */
interface DropCount {
  shed: number;
  in_force: number;
  keep: number | null;
}

/** What is dropped by the latest statistics, with what only the description knows: conditions, outputs, since when. */
export function inForce(counts: Readonly<Record<string, DropCount>>, described: readonly DropInForce[]): DropInForce[] {
  return Object.entries(counts)
    .filter(([, count]) => count.in_force)
    .map(([name, { keep, shed }]) => {
      const { reason } = dropPlace(name);
      const place = name.slice(0, name.length - reason.length - 2);
      const known = described.find((drop) => drop.place === place && drop.reason === reason);
      const now = { outputs: [], since: "", ...known, place, reason, shed };
      return keep === null ? now : { ...now, keep };
    });
}

/** The drops that stand on an arrow from an arc to some boxes: those for all, and those before one of the boxes. */
export function dropsOn(drops: readonly DropInForce[], arc: string, boxes: readonly string[]): DropInForce[] {
  return drops.filter((drop) => {
    if (drop.reason === "tuples") return false;
    const place = dropPlace(drop.place);
    return place.arc === arc && (place.before === null || boxes.includes(place.before));
  });
}

/** The share of tuples that passes several drops; null where a condition decides. */
export function keptShare(drops: readonly DropInForce[]): number | null {
  const shares = drops.filter((drop) => drop.where === undefined).map((drop) => drop.keep ?? 1);
  return shares.length === 0 ? null : shares.reduce((product, share) => product * share, 1);
}
