// What is drawn, apart from what runs: the document, where its elements stand, and the way back to how both were.

import type { StateCreator } from "zustand";
import type { Checked } from "../api/types";
import { emptyDocument, type ElementId, type NetworkDocument } from "../model/document";
import type { State } from "./store";

export interface Position {
  x: number;
  y: number;
}

export type Positions = Readonly<Partial<Record<ElementId, Position>>>;

/** Never changed in place: every edit makes another one. */
export interface Drawing {
  readonly document: NetworkDocument;
  readonly positions: Positions;
}

interface Remembered {
  readonly drawing: Drawing;
  readonly label: string;
}

const MOST_REMEMBERED = 200;

export interface DraftSlice {
  drawing: Drawing;
  past: readonly Remembered[];
  future: readonly Remembered[];
  /** Counts drawings that have nothing to do with the one before. */
  drawn: number;
  /** Where elements stand that nobody has put anywhere. No step of its own, so that undoing one leaves them there. */
  settled: Positions;
  /** What the server says of the document as drawn; null until it has said something. */
  checked: Checked | null;

  /** One step that can be undone. Steps with the same `merge` that follow each other are undone as one. */
  edit: (label: string, change: (drawing: Drawing) => Drawing, merge?: string) => void;
  undo: () => void;
  redo: () => void;
  /** Another drawing altogether: nothing of the last one can be undone. */
  draw: (drawing: Drawing) => void;
  /** Gives elements a place that have none. */
  settle: (places: Positions) => void;
  setChecked: (checked: Checked | null) => void;
}

export const makeDraft: StateCreator<State, [], [], DraftSlice> = (set) => {
  let merging: string | undefined;
  return {
    drawing: { document: emptyDocument("untitled"), positions: {} },
    past: [],
    future: [],
    drawn: 0,
    settled: {},
    checked: null,

    edit: (label, change, merge) =>
      set((state) => {
        const drawing = change(state.drawing);
        if (drawing === state.drawing) return state;
        const together = merge !== undefined && merge === merging && state.past.length > 0;
        merging = merge;
        const past = together
          ? state.past
          : [...state.past, { drawing: state.drawing, label }].slice(-MOST_REMEMBERED);
        return { drawing, past, future: [] };
      }),

    undo: () =>
      set((state) => {
        const last = state.past.at(-1);
        if (!last) return state;
        merging = undefined;
        return {
          drawing: withPlaces(last.drawing, state.settled),
          past: state.past.slice(0, -1),
          future: [...state.future, { drawing: state.drawing, label: last.label }],
        };
      }),

    redo: () =>
      set((state) => {
        const next = state.future.at(-1);
        if (!next) return state;
        merging = undefined;
        return {
          drawing: withPlaces(next.drawing, state.settled),
          future: state.future.slice(0, -1),
          past: [...state.past, { drawing: state.drawing, label: next.label }],
        };
      }),

    draw: (drawing) => {
      merging = undefined;
      set((state) => ({ drawing, past: [], future: [], drawn: state.drawn + 1, settled: {}, checked: null }));
    },

    settle: (places) =>
      set((state) => ({
        settled: { ...state.settled, ...places },
        drawing: withPlaces(state.drawing, places),
      })),

    setChecked: (checked) => set({ checked }),
  };
};

function withPlaces(drawing: Drawing, places: Positions): Drawing {
  const missing = Object.keys(places).some((id) => !(id in drawing.positions));
  return missing ? { ...drawing, positions: { ...places, ...drawing.positions } } : drawing;
}
