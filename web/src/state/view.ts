// What of the drawing is looked at.

import type { StateCreator } from "zustand";
import type { Bookmark } from "../api/types";
import type { ElementId } from "../model/document";
import type { State } from "./store";

/** The tabs of the side panel, and of the panel below. */
export type SideTab = "element" | "network" | "manual";
export type LowerTab = "overview" | "problems" | "tuples" | "history";
export type Theme = "light" | "dark";

export interface ViewSlice {
  selection: readonly ElementId[];
  /** An arc that is selected, by name: `ticks`, `late`, `by_exchange.nyse`. */
  arc: string | null;
  /** Which of the arrows that show the arc was chosen; null if none was in particular. */
  arrow: string | null;
  /** The superboxes that one has gone into, outermost first. */
  scope: readonly string[];
  sideTab: SideTab;
  lowerTab: LowerTab | null;
  theme: Theme;
  /** Whether what is moved stays on the grid, and whether the map of the whole is shown. */
  isSnapping: boolean;
  hasMap: boolean;
  bookmarks: readonly Bookmark[];
  /** The last thing that was said to those who do not see the drawing. */
  announced: string;

  select: (ids: readonly ElementId[]) => void;
  selectArc: (arc: string | null) => void;
  selectArrow: (arrow: string, arc: string | null) => void;
  goTo: (scope: readonly string[]) => void;
  enter: (superbox: string) => void;
  /** Goes back out until so many superboxes are left. */
  leaveTo: (depth: number) => void;
  showSide: (tab: SideTab) => void;
  showLower: (tab: LowerTab | null) => void;
  setTheme: (theme: Theme) => void;
  setSnapping: (isSnapping: boolean) => void;
  setMap: (hasMap: boolean) => void;
  setBookmarks: (bookmarks: readonly Bookmark[]) => void;
  announce: (text: string) => void;
}

const THEME_KEY = "aurora.theme";
const SNAP_KEY = "aurora.snap";
const MAP_KEY = "aurora.map";
const NOTHING = { selection: [], arc: null, arrow: null };

function firstTheme(): Theme {
  const kept = localStorage.getItem(THEME_KEY);
  if (kept === "light" || kept === "dark") return kept;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export const makeView: StateCreator<State, [], [], ViewSlice> = (set) => ({
  selection: [],
  arc: null,
  arrow: null,
  scope: [],
  sideTab: "element",
  lowerTab: "overview",
  theme: firstTheme(),
  isSnapping: localStorage.getItem(SNAP_KEY) !== "no",
  hasMap: localStorage.getItem(MAP_KEY) !== "no",
  bookmarks: [],
  announced: "",

  select: (selection) => set({ ...NOTHING, selection }),
  selectArc: (arc) => set({ ...NOTHING, arc }),
  selectArrow: (arrow, arc) => set({ ...NOTHING, arc, arrow }),
  goTo: (scope) => set({ ...NOTHING, scope }),
  enter: (superbox) => set((state) => ({ ...NOTHING, scope: [...state.scope, superbox] })),
  leaveTo: (depth) => set((state) => ({ ...NOTHING, scope: state.scope.slice(0, depth) })),
  showSide: (sideTab) => set({ sideTab }),
  showLower: (lowerTab) => set({ lowerTab }),
  setTheme: (theme) => {
    localStorage.setItem(THEME_KEY, theme);
    set({ theme });
  },
  setSnapping: (isSnapping) => {
    localStorage.setItem(SNAP_KEY, isSnapping ? "yes" : "no");
    set({ isSnapping });
  },
  setMap: (hasMap) => {
    localStorage.setItem(MAP_KEY, hasMap ? "yes" : "no");
    set({ hasMap });
  },
  setBookmarks: (bookmarks) => set({ bookmarks }),
  // Said twice it would not be heard again; a space at the end makes it something new.
  announce: (text) => set((state) => ({ announced: state.announced === text ? `${text} ` : text })),
});
