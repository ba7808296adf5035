// The guided tour: whether one is on it, and how far.

import type { StateCreator } from "zustand";
import type { State } from "./store";

const SEEN_KEY = "aurora.tour";

export interface TouringSlice {
  /** The number of the step; null if nobody is on the tour. */
  tourStep: number | null;

  goOnTour: (step: number) => void;
  /** Ends it, at its end or before; it does not start by itself again. */
  endTour: () => void;
}

export const makeTouring: StateCreator<State, [], [], TouringSlice> = (set) => ({
  tourStep: null,

  goOnTour: (tourStep) => set({ tourStep }),
  endTour: () => {
    localStorage.setItem(SEEN_KEY, "seen");
    set({ tourStep: null });
  },
});

/** Whether the page was opened to be shown around, by somebody who has not been. */
export function wantsTour(): boolean {
  return new URLSearchParams(location.search).has("tour") && localStorage.getItem(SEEN_KEY) === null;
}
