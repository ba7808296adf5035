// What whoever looks at the page may do just now, and why not.

import type { State } from "../state/store";

export function mayChange(state: State): boolean {
  return state.connection === "live" && state.server?.access === "full";
}

/** Why not; empty if they may. */
export function whyNot(state: State): string {
  if (state.connection !== "live") return "The server does not answer";
  return state.server?.access === "read" ? "Your token allows looking only" : "";
}
