// What is asked for again and again while a component shows it. Components that show the same share the answers.

import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { api } from "../api/client";
import { type History, joined, type Sort } from "../model/series";
import { useStore } from "../state/store";

export const FINE_S = 300;
/** So long every second is known; beyond that only every tenth. */
export const HOUR_S = 3600;

/** Whether it makes sense to ask: somebody looks, the server answers, and the network is still open. */
function isThere(network: string): boolean {
  const { connection, running } = useStore.getState();
  return !document.hidden && connection === "live" && running?.name === network;
}

class Followed {
  history: History | null = null;
  private readonly listeners = new Set<() => void>();
  private timer = 0;
  private ended = true;

  constructor(
    private readonly network: string,
    private readonly of: Sort,
    private readonly name: string | null,
    private readonly seconds: number,
  ) {}

  subscribe = (tell: () => void): (() => void) => {
    this.listeners.add(tell);
    if (this.ended) {
      this.ended = false;
      void this.ask();
    }
    return () => {
      this.listeners.delete(tell);
      // A component that is only moved comes back at once, and finds what there was.
      window.setTimeout(() => this.listeners.size === 0 && this.end(), 1_000);
    };
  };

  private end(): void {
    this.ended = true;
    window.clearTimeout(this.timer);
  }

  private async ask(): Promise<void> {
    window.clearTimeout(this.timer);
    if (this.ended) return;
    if (this.listeners.size > 0 && isThere(this.network)) {
      try {
        await this.catchUp();
      } catch {
        // That the server or the network is gone is seen elsewhere; what is known stays.
      }
    }
    const step = this.history?.step_s ?? 1;
    this.timer = window.setTimeout(() => void this.ask(), Math.min(Math.max(step, 1), 5) * 1_000);
  }

  /** Asks for what is missing; of an hour for all of it, since tens of seconds are told only to who asks for more than minutes. */
  private async catchUp(): Promise<void> {
    const last = this.history?.times.at(-1) ?? 0;
    const missing = Math.ceil(Date.now() / 1000 - last + 3 * (this.history?.step_s ?? 1));
    const whole = this.seconds > FINE_S || missing > this.seconds / 2 || missing < 1;
    const since = await api.history(this.network, this.of, this.name, whole ? this.seconds : missing);
    this.history = joined(whole ? null : this.history, since, this.seconds);
    for (const tell of this.listeners) tell();
  }
}

const followed = new Map<string, Followed>();
const MOST_FOLLOWED = 50;

function follow(network: string, of: Sort, name: string | null, seconds: number): Followed {
  const key = JSON.stringify([network, of, name, seconds]);
  let found = followed.get(key);
  if (!found) {
    found = new Followed(network, of, name, seconds);
    followed.set(key, found);
    const oldest = followed.keys().next().value;
    if (followed.size > MOST_FOLLOWED && oldest !== undefined) followed.delete(oldest);
  }
  return found;
}

const nothing = () => () => undefined;

/** The last seconds of an element, or of all of a sort; null until the server has told, or if no network is open. */
export function useHistory(of: Sort, name: string | null, seconds: number, wanted = true): History | null {
  const network = useStore((state) => (state.running === null ? null : state.network));
  const one = network === null || !wanted ? null : follow(network, of, name, seconds);
  return useSyncExternalStore(one?.subscribe ?? nothing, () => one?.history ?? null);
}

/** An answer of the server about the open network, asked for anew every so often; null until there is one. */
export function usePolled<T>(ask: (network: string) => Promise<T>, everyMs: number): T | null {
  const network = useStore((state) => (state.running === null ? null : state.network));
  const [answer, setAnswer] = useState<T | null>(null);
  useEffect(() => {
    setAnswer(null);
    if (network === null) return undefined;
    let timer = 0;
    let ended = false;
    const again = async () => {
      if (isThere(network)) {
        try {
          const found = await ask(network);
          if (!ended) setAnswer(found);
        } catch {
          // It is asked again; that the network does not run is seen elsewhere.
        }
      }
      if (!ended) timer = window.setTimeout(() => void again(), everyMs);
    };
    void again();
    return () => {
      ended = true;
      window.clearTimeout(timer);
    };
  }, [network, ask, everyMs]);
  return answer;
}

const EVENTS_MS = 2_000;

/** Keeps the events in the store true while somebody shows them. */
export function useEvents(): void {
  const setEvents = useStore((state) => state.setEvents);
  const ask = useCallback((network: string) => api.events(network), []);
  const events = usePolled(ask, EVENTS_MS);
  useEffect(() => setEvents(events ?? []), [events, setEvents]);
}

export function useConnectors() {
  return usePolled(api.connectors, EVENTS_MS);
}
