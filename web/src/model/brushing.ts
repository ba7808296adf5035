// A stretch of time that is chosen by keyboard: where the crosshair stands, and from where it has been stretched.

export interface Brush {
  readonly at: number;
  /** The other end of the stretch; null while there is only the crosshair. */
  readonly anchor: number | null;
}

const STEPS = 60;
/** A long step is so many. */
const LONG = 10;

/**
 * The brush after a key, within the time that is shown. It begins at the newest; undefined says that the key is not for it.
 *
 * What is shown moves on while a network runs, so both ends are kept within it.
 */
export function moved(brush: Brush | null, key: string, isStretching: boolean, from: number, to: number): Brush | undefined {
  const within = (time: number) => Math.min(to, Math.max(from, time));
  const before = within(brush?.at ?? to);
  const step = (to - from) / STEPS;
  const places = new Map([
    ["ArrowLeft", before - step],
    ["ArrowRight", before + step],
    ["PageUp", before - LONG * step],
    ["PageDown", before + LONG * step],
    ["Home", from],
    ["End", to],
  ]);
  const place = places.get(key);
  if (place === undefined) return undefined;
  return { at: within(place), anchor: isStretching ? within(brush?.anchor ?? before) : null };
}

/** The stretch in the order of time; null for a crosshair alone. */
export function stretchOf(brush: Brush | null): readonly [number, number] | null {
  if (brush === null || brush.anchor === null || brush.anchor === brush.at) return null;
  return brush.anchor < brush.at ? [brush.anchor, brush.at] : [brush.at, brush.anchor];
}

/** The place of the moment nearest to a time, among moments in order; -1 if there are none. */
export function nearest(times: readonly number[], at: number): number {
  const after = times.findIndex((time) => time >= at);
  if (after < 0) return times.length - 1;
  const before = after - 1;
  return before >= 0 && at - (times[before] ?? 0) < (times[after] ?? 0) - at ? before : after;
}
