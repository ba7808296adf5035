// Everything the page knows, in one store of slices. Components read with `useStore(state => state.x)`.

import { create } from "zustand";
import { equal } from "../model/diff";
import { type DebuggingSlice, makeDebugging } from "./debugging";
import { type DraftSlice, makeDraft } from "./draft";
import { makePage, type PageSlice } from "./page";
import { makePalette, type PaletteSlice } from "./palette";
import { makeSession, type SessionSlice } from "./session";
import { makeTouring, type TouringSlice } from "./touring";
import { makeView, type ViewSlice } from "./view";
import { makeWatching, type WatchingSlice } from "./watching";

export type State = SessionSlice & DraftSlice & ViewSlice & PageSlice & WatchingSlice & PaletteSlice & DebuggingSlice & TouringSlice;

export const useStore = create<State>()((...args) => ({
  ...makeSession(...args),
  ...makeDraft(...args),
  ...makeView(...args),
  ...makeWatching(...args),
  ...makePage(...args),
  ...makePalette(...args),
  ...makeDebugging(...args),
  ...makeTouring(...args),
}));

/** Whether what is drawn is not what runs. */
export function isChanged(state: State): boolean {
  return state.running !== null && !equal(state.drawing.document, state.running.network);
}
