// Events as marks on the axis of time.

import type { EventKind, NetworkEvent } from "../api/types";

export interface Cluster {
  at: number;
  kind: EventKind;
  events: NetworkEvent[];
}

/** The worst of several events gives the colour. */
const WEIGHT: Record<EventKind, number> = {
  failed: 9,
  rejected: 8,
  connector: 7,
  shedding: 6,
  breakpoint: 5,
  modified: 4,
  stopped: 3,
  paused: 2,
  started: 1,
  resumed: 0,
};

export const COLOUR: Record<EventKind, string> = {
  failed: "--bad",
  rejected: "--bad",
  connector: "--bad",
  shedding: "--warn",
  breakpoint: "--kind-output",
  modified: "--accent",
  stopped: "--muted",
  paused: "--muted",
  started: "--good",
  resumed: "--good",
};

/** Events that would stand on top of each other become one mark: `slots` of them have room beside each other. */
export function clusters(events: readonly NetworkEvent[], from: number, to: number, slots: number): Cluster[] {
  const width = (to - from) / slots;
  const found: Cluster[] = [];
  for (const event of events) {
    const at = event.at_us / 1e6;
    if (at < from || at > to) continue;
    const last = found.at(-1);
    if (last && at - last.at < width) {
      last.events.push(event);
      if (WEIGHT[event.kind] > WEIGHT[last.kind]) last.kind = event.kind;
    } else found.push({ at, kind: event.kind, events: [event] });
  }
  return found;
}
