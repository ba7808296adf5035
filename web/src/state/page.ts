// The frame of the page: which dialog is open, and what was said lately.

import type { StateCreator } from "zustand";
import type { State } from "./store";

export type DialogName = "new" | "import" | "deploy" | "stop" | "remove" | "search" | "help";
export type Tone = "good" | "bad" | "plain";

export interface Toast {
  id: number;
  tone: Tone;
  text: string;
  /** What can be done about it. */
  action?: { label: string; act: () => void };
}

export interface PageSlice {
  dialog: DialogName | null;
  toasts: readonly Toast[];

  showDialog: (dialog: DialogName | null) => void;
  /** Tells people what became of something, in a corner of the page. Errors stay until they are closed. */
  say: (tone: Tone, text: string, action?: Toast["action"]) => void;
  dismiss: (id: number) => void;
}

const SHOWN_MS = 6_000;
const MOST_SHOWN = 4;

export const makePage: StateCreator<State, [], [], PageSlice> = (set, get) => {
  let last = 0;
  return {
    dialog: null,
    toasts: [],

    showDialog: (dialog) => set({ dialog }),

    say: (tone, text, action) => {
      const id = (last += 1);
      // What went well is overtaken by what comes next; failures and offers stay.
      const others = get().toasts.filter((toast) => toast.text !== text && (toast.tone === "bad" || toast.action));
      set({ toasts: [...others, { id, tone, text, ...(action && { action }) }].slice(-MOST_SHOWN) });
      if (tone !== "bad") window.setTimeout(() => get().dismiss(id), SHOWN_MS);
    },

    dismiss: (id) => set((state) => ({ toasts: state.toasts.filter((toast) => toast.id !== id) })),
  };
};
