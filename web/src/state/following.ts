// What keeps the store true: the server's statistics and stage as they change, and its opinion of what is drawn.

import { api, live, networkPath, RefusedError } from "../api/client";
import type { Statistics } from "../api/types";
import { kept } from "./kept";
import { address } from "./session";
import { useStore } from "./store";

const AGAIN_MS = 2_000;
const ANSWER_MS = 10_000;
const TYPING_MS = 150;

/** Asks until the server answers, then what runs, and again when it has been lost. Gives back what ends it. */
export function followServer(): () => void {
  let timer = 0;
  let ended = false;
  const ask = async () => {
    const { connection, greet, refresh } = useStore.getState();
    try {
      // Without a token there is no use in asking.
      if (connection !== "refused") await inTime(connection === "live" ? refresh() : greet());
    } catch (error) {
      noteFailure(error);
    }
    if (!ended) timer = window.setTimeout(ask, AGAIN_MS);
  };
  void ask();
  return () => {
    ended = true;
    window.clearTimeout(timer);
  };
}

function noteFailure(error: unknown): void {
  const { connection, setConnection } = useStore.getState();
  const status = error instanceof RefusedError ? error.status : 0;
  if (status === 401) setConnection("refused");
  else if (status === 0 && connection === "live") setConnection("lost");
}

/** A server that takes a connection and says nothing is lost too. */
function inTime(asked: Promise<void>): Promise<void> {
  const late = new Promise<void>((_, reject) => {
    window.setTimeout(() => reject(new RefusedError(0, "the server does not answer")), ANSWER_MS);
  });
  return Promise.race([asked, late]);
}

/** Opens what the page's address names when people go back and forth. */
export function followAddress(): () => void {
  const changed = () => {
    const { drawing, networks, open, startNew, isOpen } = useStore.getState();
    const name = address();
    if (name === null || (isOpen && name === drawing.document.network)) return;
    const found = kept(name);
    if (networks.some((one) => one.name === name)) void open(name).catch(noteFailure);
    else if (found !== null) startNew(name, found.drawing);
  };
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
}

/** The statistics of the open network, every second. */
export function followStatistics(network: string): () => void {
  return live<Statistics>(`${networkPath(network, "stats", "live")}?every_s=1`, {
    message: (stats) => useStore.getState().setStats(stats),
  });
}

/** Has the document checked a moment after each edit; an answer that has been overtaken is dropped. */
export function followDraft(): () => void {
  let timer = 0;
  let asking: AbortController | null = null;
  const check = async () => {
    asking?.abort();
    asking = new AbortController();
    try {
      const { document } = useStore.getState().drawing;
      useStore.getState().setChecked(await api.typecheck(document, asking.signal));
    } catch {
      // It is asked again with the next edit; that the server is gone is seen elsewhere.
    }
  };
  const stop = useStore.subscribe((state, before) => {
    const isSame = state.drawing.document === before.drawing.document && state.connection === before.connection;
    if (isSame || !state.isOpen || state.connection !== "live") return;
    window.clearTimeout(timer);
    timer = window.setTimeout(check, TYPING_MS);
  });
  return () => {
    stop();
    window.clearTimeout(timer);
    asking?.abort();
  };
}
