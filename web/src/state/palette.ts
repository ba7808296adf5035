// What can be drawn, as the server tells it once, and the manual.

import type { StateCreator } from "zustand";
import { api } from "../api/client";
import type { ManualPage } from "../editor/markdown";
import type { Palette } from "../model/forms";
import type { State } from "./store";

export interface PaletteSlice {
  /** Null until the server has told. */
  palette: Palette | null;
  manual: readonly ManualPage[] | null;
  /** The page that was opened, with a heading: `reference/boxes/join.md#ports`. Null follows what is selected. */
  manualPage: string | null;

  loadPalette: () => Promise<void>;
  loadManual: () => Promise<void>;
  /** Shows a page of the manual at the side; null the one of what is selected. */
  openManual: (page: string | null) => void;
}

export const makePalette: StateCreator<State, [], [], PaletteSlice> = (set) => ({
  palette: null,
  manual: null,
  manualPage: null,

  loadPalette: async () => set({ palette: await api.palette() }),
  loadManual: async () => set({ manual: await api.manual() }),
  openManual: (manualPage) => set({ manualPage, sideTab: "manual" }),
});
