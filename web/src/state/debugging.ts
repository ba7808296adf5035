// Looking for a mistake in the network that runs: break-points, what it is paused for, steps, and the arcs that are tapped.

import type { StateCreator } from "zustand";
import { debugApi, live, networkPath } from "../api/client";
import type { Breakpoint, BoxStep, DebugState, Seen } from "../api/types";
import { elementId } from "../model/document";
import { element } from "../model/edits";
import { homeOf } from "../model/scopes";
import { parseTuples, type Tuple } from "../model/tuples";
import { type State, useStore } from "./store";

/** What the panel shows beside the break-points: an arc that is tapped, the last step, or tuples made by hand. */
export type DebugTab = `tap ${string}` | "step" | "inject";

/** What the form for tuples made by hand begins with. */
export interface InjectDraft {
  arc: string;
  tuple: Tuple;
}

export interface DebuggingSlice {
  /** Null until the server has told. */
  debug: DebugState | null;
  /** The arcs that are tapped, in the order in which they were. */
  taps: readonly string[];
  debugTab: DebugTab | null;
  /** The box that steps are of; null for the one that the scheduler chooses. */
  stepBox: string | null;
  injectDraft: InjectDraft | null;
  isStepping: boolean;

  setDebug: (debug: DebugState | null) => void;
  /** Shows the tuples of an arc as they come. */
  tap: (arc: string) => void;
  untap: (arc: string) => void;
  showDebug: (tab: DebugTab) => void;
  chooseStepBox: (box: string | null) => void;
  draftInject: (draft: InjectDraft | null) => void;

  /** Adds a break-point on an arc that has none; else takes it away, or disables it if it has a condition. */
  toggleBreakpoint: (arc: string) => Promise<void>;
  /** One step of a train, or of a tuple, of the chosen box. */
  stepOnce: (what: "train" | "tuple") => Promise<void>;
  goOn: () => Promise<void>;
}

export const makeDebugging: StateCreator<State, [], [], DebuggingSlice> = (set, get) => ({
  debug: null,
  taps: [],
  debugTab: null,
  stepBox: null,
  injectDraft: null,
  isStepping: false,

  setDebug: (debug) => {
    const before = get().debug;
    set({ debug });
    if (debug === null) return;
    const isNews = debug.hits.length > 0 && debug.hits[0]?.at_us !== before?.hits[0]?.at_us;
    const isStep = debug.step !== null && debug.step.number !== before?.step?.number;
    if (isNews && debug.step === null) {
      // Who is not looking would not know why nothing moves.
      get().showLower("tuples");
      const arc = debug.hits[0]?.arc;
      if (arc !== undefined) get().selectArc(arc);
    }
    if (isStep) showStep(debug, get());
    if (debug.stage !== get().running?.stage) void get().refresh().catch(() => undefined);
  },

  tap: (arc) =>
    set((state) => ({
      taps: state.taps.includes(arc) ? state.taps : [...state.taps, arc],
      debugTab: `tap ${arc}`,
      lowerTab: "tuples",
    })),
  untap: (arc) =>
    set((state) => {
      const at = state.taps.indexOf(arc);
      const taps = state.taps.filter((other) => other !== arc);
      const next = taps[Math.min(at, taps.length - 1)];
      const wasShown = state.debugTab === `tap ${arc}`;
      return { taps, debugTab: wasShown ? (next === undefined ? null : `tap ${next}`) : state.debugTab };
    }),
  showDebug: (debugTab) => set({ debugTab, lowerTab: "tuples" }),
  chooseStepBox: (stepBox) => set({ stepBox }),
  draftInject: (injectDraft) => set(injectDraft === null ? { injectDraft } : { injectDraft, debugTab: "inject", lowerTab: "tuples" }),

  toggleBreakpoint: async (arc) => {
    const { network, debug, say, announce } = get();
    if (network === null) return;
    const there = (debug?.breakpoints ?? []).filter((one) => one.arc === arc);
    try {
      if (there.length === 0) {
        await debugApi.add(network, arc, null);
        announce(`Break-point on ${arc}`);
        return;
      }
      const isOn = there.some((one) => one.enabled);
      for (const one of there) {
        if (one.condition === null) await debugApi.remove(network, one.number);
        else await debugApi.enable(network, one.number, !isOn);
      }
      announce(isOn ? `No break-point on ${arc}` : `Break-point on ${arc}`);
    } catch (error) {
      say("bad", (error as Error).message);
    }
  },

  stepOnce: async (what) => {
    const { network, stepBox, isStepping, say } = get();
    if (network === null || isStepping) return;
    set({ isStepping: true });
    try {
      const step = await debugApi.step(network, stepBox, what === "tuple" ? 1 : null);
      set({ debugTab: "step", lowerTab: "tuples" });
      if (!step.worked) say("plain", stepBox === null ? "Nothing waits: there is nothing to step through" : `Nothing waits before ${stepBox}`);
    } catch (error) {
      say("bad", (error as Error).message);
    } finally {
      set({ isStepping: false });
    }
  },

  goOn: async () => {
    try {
      await get().act("resume");
    } catch (error) {
      get().say("bad", (error as Error).message);
    }
  },
});

/** Selects the boxes that ran, where they stand. */
function showStep(debug: DebugState, state: State): void {
  const { document } = state.drawing;
  const ran = (debug.step?.boxes ?? []).map(({ box }) => elementId("boxes", box)).filter((id) => element(document, id) !== undefined);
  const last = ran.at(-1);
  state.announce((debug.step?.boxes ?? []).map(told).join("; ") || "Nothing waited");
  if (last === undefined) return;
  const home = homeOf(document, last);
  state.goTo(home);
  state.select(ran.filter((id) => homeOf(document, id).join("/") === home.join("/")));
}

/** For those who do not see the drawing. */
function told({ box, taken, made }: BoxStep): string {
  const count = (seen: readonly Seen[]) => seen.reduce((sum, { tuples }) => sum + tuples, 0);
  return `${box} took ${count(taken)} and made ${count(made)}`;
}

/** Hears of break-points, hits and steps of a network. Gives back what ends it. */
export function followDebugging(network: string): () => void {
  return live<DebugState>(networkPath(network, "debug", "live"), {
    message: (debug) => useStore.getState().setDebug(debug),
    parse: parseTuples,
  });
}

/** Another network is looked at. */
export function forgetDebugging(): void {
  useStore.setState({ debug: null, taps: [], debugTab: null, stepBox: null, injectDraft: null });
}

/** The break-points of an arc, in one word for those who draw it. */
export function signOf(debug: DebugState | null, arc: string): "none" | "on" | "off" | "hit" {
  const there = (debug?.breakpoints ?? []).filter((one: Breakpoint) => one.arc === arc);
  if (debug?.hits.some((hit) => hit.arc === arc)) return "hit";
  if (there.length === 0) return "none";
  return there.some((one) => one.enabled) ? "on" : "off";
}

export function isPaused(state: State): boolean {
  return (state.debug?.stage ?? state.running?.stage) === "paused";
}
