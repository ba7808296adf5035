// The tuples of arcs that are tapped, as they come: one socket for each arc, open as long as it is tapped.

import { useSyncExternalStore } from "react";
import { live, networkPath, type SocketState } from "../api/client";
import type { TapMessage } from "../api/types";
import type { Columns } from "../model/document";
import { parseTuples, type Row, withMore } from "../model/tuples";

/** What there is to be seen of an arc. `count` is all that came over it since it was tapped, `dropped` what is not shown. */
export interface Tapped {
  columns: Columns | null;
  rows: readonly Row[];
  count: number;
  dropped: number;
  state: SocketState;
  reason: string;
  /** Standing still: what comes is counted, and not shown. */
  isHeld: boolean;
}

/** In a message: about five come in a second, and nobody reads faster. */
const LATEST = 200;
const NOTHING: Tapped = { columns: null, rows: [], count: 0, dropped: 0, state: "connecting", reason: "", isHeld: false };

const known = new Map<string, Tapped>();
const listeners = new Set<() => void>();

function change(arc: string, made: Partial<Tapped>): void {
  known.set(arc, { ...(known.get(arc) ?? NOTHING), ...made });
  for (const listener of listeners) listener();
}

function now(): number {
  return Date.now() / 1000;
}

/** Taps an arc. Gives back what ends it. */
export function follow(network: string, arc: string): () => void {
  let [before, earlier, earlierDropped] = [now(), 0, 0];
  known.set(arc, NOTHING);
  const stop = live<TapMessage>(`${networkPath(network, "arcs", arc, "live")}?inside=true&latest=${LATEST}`, {
    parse: parseTuples,
    state: (state, reason) => change(arc, { state, reason }),
    message: (message) => {
      const { rows, count, dropped, isHeld } = known.get(arc) ?? NOTHING;
      if ("columns" in message) {
        // A socket that comes back counts from the beginning.
        [earlier, earlierDropped] = [count, dropped];
        change(arc, { columns: message.columns });
        return;
      }
      const at = now();
      const totals = { count: earlier + message.count, dropped: earlierDropped + message.dropped };
      change(arc, isHeld ? totals : { ...totals, rows: withMore(rows, message.tuples, Math.max(before, at - 1), at) });
      before = at;
    },
  });
  return () => {
    stop();
    known.delete(arc);
  };
}

export function hold(arc: string, isHeld: boolean): void {
  change(arc, { isHeld });
}

export function clear(arc: string): void {
  change(arc, { rows: [] });
}

export function useTapped(arc: string): Tapped {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => known.get(arc) ?? NOTHING,
  );
}
