// Positions and bookmarks on the server: loaded when a network is opened, and saved a second after something was moved.

import { useEffect, useState } from "react";
import { api, RefusedError } from "../api/client";
import type { Layout } from "../api/types";
import type { ElementId, NetworkDocument } from "../model/document";
import { applied, changesOf } from "../model/layoutChanges";
import type { Positions } from "../state/draft";
import { type State, useStore } from "../state/store";

const SAVE_MS = 1_000;

/** Whether it is known where the elements of the network stand, so that the rest can be laid out. */
export function useKeptLayout(): boolean {
  const network = useStore((state) => state.network);
  const drawn = useStore((state) => state.drawn);
  const [loaded, setLoaded] = useState<string | null>(null);
  const wanted = `${network ?? ""} ${drawn}`;
  useEffect(() => follow(network, () => setLoaded(wanted)), [network, wanted]);
  return loaded === wanted;
}

function follow(network: string | null, whenLoaded: () => void): () => void {
  if (network === null) {
    useStore.getState().setBookmarks([]);
    whenLoaded();
    return () => undefined;
  }
  let ended = false;
  let stop = () => undefined as void;
  void load(network).then((saved) => {
    if (ended) return;
    whenLoaded();
    if (saved) stop = saveChanges(network, saved);
  });
  return () => {
    ended = true;
    stop();
  };
}

/** What the server has, which is given to the drawing; null if it does not say. */
async function load(network: string): Promise<Layout | null> {
  try {
    const [layout, bookmarks] = await Promise.all([api.layout(network), api.bookmarks(network)]);
    const { settle, setBookmarks } = useStore.getState();
    setBookmarks(bookmarks);
    settle(layout as Positions);
    return layout;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return null;
  }
}

/** Where everything stands, and which elements there are. */
interface Standing {
  positions: Positions;
  documents: readonly NetworkDocument[];
}

function saveChanges(network: string, first: Layout): () => void {
  const { drawn } = useStore.getState();
  let saved = first;
  let timer = 0;
  // Noted when something moves: when it is saved, another network may be open.
  let waiting: Standing | null = null;
  const save = async () => {
    window.clearTimeout(timer);
    const layout = waiting ? changesOf(saved, waiting.positions, waiting.documents) : {};
    waiting = null;
    if (Object.keys(layout).length === 0) return;
    const before = saved;
    saved = applied(saved, layout);
    try {
      await api.moveElements(network, layout);
    } catch (error) {
      saved = before;
      if (error instanceof RefusedError && error.status !== 0) useStore.getState().say("bad", error.message);
    }
  };
  const saveLater = (state: State) => {
    if (state.server?.access !== "full") return;
    waiting = { positions: state.drawing.positions, documents: documentsOf(state) };
    window.clearTimeout(timer);
    timer = window.setTimeout(() => void save(), SAVE_MS);
  };
  const stop = useStore.subscribe((state, before) => {
    if (state.network !== network || state.drawn !== drawn) return;
    // Where the layout put something is worth nothing until somebody has moved something; that is a step.
    if (state.past !== before.past && state.drawing.positions !== before.drawing.positions) saveLater(state);
  });
  // What was drawn before there was a network on the server.
  const now = useStore.getState();
  const isMoved = Object.entries(now.drawing.positions).some(([id, at]) => now.settled[id as ElementId] !== at);
  if (isMoved) saveLater(now);
  const leaving = () => void save();
  window.addEventListener("pagehide", leaving);
  return () => {
    stop();
    leaving();
    window.removeEventListener("pagehide", leaving);
  };
}

function documentsOf({ drawing, running }: State): NetworkDocument[] {
  return running ? [drawing.document, running.network] : [drawing.document];
}
