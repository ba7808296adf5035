// What is watched: the element whose last hour is shown, and what happened.

import type { StateCreator } from "zustand";
import type { NetworkEvent } from "../api/types";
import type { Sort } from "../model/series";
import type { State } from "./store";

/** An element with a history; the whole network has no name. */
export interface Subject {
  readonly of: Sort;
  readonly name: string;
}

export const WHOLE: Subject = { of: "network", name: "" };

export interface WatchingSlice {
  subject: Subject;
  /** Of the open network, the latest last. */
  events: readonly NetworkEvent[];

  setEvents: (events: readonly NetworkEvent[]) => void;
  /** Chooses what the panel of the last hour shows. */
  setSubject: (subject: Subject) => void;
  /** Opens that panel. */
  showHistory: (subject: Subject) => void;
}

export const makeWatching: StateCreator<State, [], [], WatchingSlice> = (set, get) => ({
  subject: WHOLE,
  events: [],

  setEvents: (events) => set({ events }),
  setSubject: (subject) => set({ subject }),
  showHistory: (subject) => {
    set({ subject });
    get().showLower("history");
  },
});
