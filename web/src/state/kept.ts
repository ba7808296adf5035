// Drawings that were not deployed yet, kept in this browser: closing the page or opening another network loses nothing.

import { equal } from "../model/diff";
import type { NetworkDocument } from "../model/document";
import type { Drawing } from "./draft";
import { type State, useStore } from "./store";

export interface Kept {
  drawing: Drawing;
  /** What ran when it was begun; null for a network that did not. */
  base: NetworkDocument | null;
}

const PREFIX = "aurora.drawing/";
const MOMENT_MS = 250;

export function kept(network: string): Kept | null {
  try {
    const text = localStorage.getItem(PREFIX + network);
    return text === null ? null : (JSON.parse(text) as Kept);
  } catch {
    return null;
  }
}

/** The networks of which there is one. */
export function keptNames(): string[] {
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => key.slice(PREFIX.length))
    .sort();
}

export function forget(network: string): void {
  localStorage.removeItem(PREFIX + network);
}

function keep(network: string, drawn: Kept): void {
  try {
    localStorage.setItem(PREFIX + network, JSON.stringify(drawn));
  } catch {
    // The browser has no room, or keeps nothing: then the drawing lasts as long as the page.
  }
}

/** The name under which the present drawing is kept: it may get another one while it is drawn. */
let keptAs: string | null = null;

/** Keeps what is drawn now, or forgets it if it runs. */
export function keepNow(state: State): void {
  if (!state.isOpen) return;
  const name = state.drawing.document.network;
  if (keptAs !== null && keptAs !== name) forget(keptAs);
  keptAs = isWorthKeeping(state) ? name : null;
  if (keptAs === null) forget(name);
  else keep(name, { drawing: state.drawing, base: state.base });
}

/** Another drawing begins: what is kept of the last one stays. */
export function keepApart(state: State): void {
  keepNow(state);
  keptAs = null;
}

/** Keeps what is drawn a moment after each edit. Gives back what ends it. */
export function followDrawing(): () => void {
  let timer = 0;
  const keepIt = () => {
    window.clearTimeout(timer);
    keepNow(useStore.getState());
  };
  const stop = useStore.subscribe((state, before) => {
    if (state.drawing === before.drawing && state.running === before.running) return;
    window.clearTimeout(timer);
    timer = window.setTimeout(keepIt, MOMENT_MS);
  });
  window.addEventListener("pagehide", keepIt);
  return () => {
    stop();
    window.clearTimeout(timer);
    window.removeEventListener("pagehide", keepIt);
  };
}

function isWorthKeeping({ running, drawing }: State): boolean {
  if (running !== null && running.name === drawing.document.network) return !equal(drawing.document, running.network);
  const { aurora, network, ...rest } = drawing.document;
  return Object.keys(rest).length > 0;
}
