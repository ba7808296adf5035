// What components on the drawing show: each is told only when the numbers that it shows have changed as they are rounded.
//
// Statistics come every second, for thousands of elements. They are handed on apart from the store, so that a second's
// numbers cost each element one look, and everything else that happens in the store costs them nothing.

import { useSyncExternalStore } from "react";
import type { Statistics } from "../api/types";
import type { NetworkDocument } from "../model/document";
import { cameLately, type DropInForce, inForce, type Lately, later } from "../model/series";
import { type State, useStore } from "../state/store";

export interface Reading {
  /** Null while nothing runs, or before the first statistics. */
  readonly stats: Statistics | null;
  readonly drops: readonly DropInForce[];
  /** By output: what came of what would have, lately. */
  readonly lately: ReadonlyMap<string, Lately>;
  /** What runs, which need not be what is drawn. */
  readonly document: NetworkDocument | null;
  /** Whether boxes run, so that numbers are of now. */
  readonly live: boolean;
}

const listeners = new Set<() => void>();
let readAt = 0;
let reading = read(useStore.getState(), new Map());

function read({ stats, running }: State, lately: ReadonlyMap<string, Lately>): Reading {
  const described = running?.drops ?? [];
  // Where nothing runs nothing is dropped, whatever was said last.
  const runs = running?.stage === "running" || running?.stage === "paused";
  return {
    stats: running === null ? null : stats,
    drops: !runs ? [] : stats === null ? described : inForce(stats.drops, described),
    lately,
    document: running?.network ?? null,
    live: running?.stage === "running",
  };
}

useStore.subscribe((state, before) => {
  if (state.stats === before.stats && state.running === before.running) return;
  reading = read(state, state.stats === before.stats ? reading.lately : latelyAfter(state.stats));
  for (const tell of listeners) tell();
});

function latelyAfter(stats: Statistics | null): ReadonlyMap<string, Lately> {
  const now = performance.now() / 1000;
  const seconds = now - readAt;
  readAt = now;
  return new Map(Object.entries(stats?.outputs ?? {}).map(([name, output]) => [name, later(reading.lately.get(name), output, seconds)]));
}

/** The share of an output's tuples that came lately, 0 to 1; since the start, before more is known. */
export function deliveredOf({ stats, lately }: Reading, output: string): number | null {
  const recent = lately.get(output);
  const whole = stats?.outputs[output]?.delivered;
  return (recent && cameLately(recent)) ?? (whole === undefined ? null : whole / 100);
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

/** What `look` makes of the latest numbers. It must give a plain value: where that is the same, nothing is drawn anew. */
export function useReading<T extends string | number | boolean | null>(look: (reading: Reading) => T): T {
  return useSyncExternalStore(subscribe, () => look(reading));
}

/** All of them; for panels that show many numbers, and are few. */
export function useReadings(): Reading {
  return useSyncExternalStore(subscribe, () => reading);
}

const SEPARATOR = "\u0001";

/** Several texts as one plain value, and back. */
export function together(...parts: (string | number | null)[]): string {
  return parts.map((part) => part ?? "").join(SEPARATOR);
}

export function apart(value: string): string[] {
  return value.split(SEPARATOR);
}
