// An arrow that somebody is about to draw: whether it may be drawn, which the server is asked, and if not, why.

import { create } from "zustand";
import { api } from "../api/client";
import type { Checked } from "../api/types";
import type { NetworkDocument } from "../model/document";
import { connected, newProblem, refusal, type Wanted } from "../model/connecting";
import type { GraphEdge } from "../model/graph";
import { useStore } from "../state/store";
import { keepsPlaces, scene } from "./scene";

interface Attempt {
  /** Why the arrow under the pointer cannot be drawn; null if it can, or there is none. */
  refused: string | null;
  isAsking: boolean;
}

export const useAttempt = create<Attempt>()(() => ({ refused: null, isAsking: false }));

export function endAttempt(): void {
  useAttempt.setState({ refused: null, isAsking: false });
}

/** Answers of the server about arrows from and to the same ports, as long as nothing else is drawn. */
let asked = new Map<string, Promise<string | null>>();
let answers = new Map<string, string | null>();
let askedOf: NetworkDocument | null = null;
let shown = "";

function keyOf({ from, out, to, in: into }: Wanted, instead?: GraphEdge): string {
  return `${from.id} ${out.handle} ${to.id} ${into.handle} ${instead?.id ?? ""}`;
}

/** Whether an arrow could be drawn as far as is known now. The server is asked as well, and what it says is shown. */
export function isPossible(wanted: Wanted, instead?: GraphEdge): boolean {
  const key = keyOf(wanted, instead);
  shown = key;
  const refused = knownRefusal(wanted, instead);
  if (refused !== undefined) {
    note(refused, false);
    return refused === null;
  }
  note(null, true);
  void mayConnect(wanted, instead).then((why) => {
    if (shown === key && useAttempt.getState().isAsking) note(why, false);
  });
  return true;
}

/** The pointer has left the port. */
export function leave(): void {
  if (shown === "") return;
  shown = "";
  endAttempt();
}

function note(refused: string | null, isAsking: boolean): void {
  const before = useAttempt.getState();
  if (before.refused === refused && before.isAsking === isAsking) return;
  useAttempt.setState({ refused, isAsking });
  if (refused && refused !== before.refused) useStore.getState().announce(`Not possible: ${refused}`);
}

function knownRefusal(wanted: Wanted, instead?: GraphEdge): string | null | undefined {
  const { document } = useStore.getState().drawing;
  const why = refusal(document, scene().kinds, wanted, instead);
  if (why !== null) return why;
  return askedOf === document ? answers.get(keyOf(wanted, instead)) : undefined;
}

/** Why an arrow may not be drawn; null if it may. A server that does not answer forbids nothing. */
export async function mayConnect(wanted: Wanted, instead?: GraphEdge): Promise<string | null> {
  const known = knownRefusal(wanted, instead);
  if (known !== undefined) return known;
  const { drawing, checked } = useStore.getState();
  if (askedOf !== drawing.document) {
    asked = new Map();
    answers = new Map();
    askedOf = drawing.document;
  }
  const key = keyOf(wanted, instead);
  const found = asked.get(key);
  if (found) return found;
  const now = answers;
  const after = connected(drawing, wanted, keepsPlaces, instead).document;
  const asking = ask(after, checked, wanted).then((why) => {
    now.set(key, why);
    return why;
  });
  asked.set(key, asking);
  return asking;
}

async function ask(document: NetworkDocument, before: Checked | null, wanted: Wanted): Promise<string | null> {
  try {
    const readers = wanted.from.shape === "source" ? [{ to: wanted.from.element, input: 0 }] : wanted.in.readers;
    const problem = newProblem(before, await api.typecheck(document), readers);
    return problem && `${problem.found}; ${problem.way_out}`;
  } catch {
    return null;
  }
}

/** Draws an arrow if it may be drawn, and says what became of it. */
export async function tryToConnect(wanted: Wanted, instead?: GraphEdge): Promise<boolean> {
  const why = await mayConnect(wanted, instead);
  const { edit, announce, say } = useStore.getState();
  const what = `${wanted.out.arc || wanted.from.title} to ${wanted.to.title}`;
  if (why !== null) {
    announce(`Not connected: ${why}`);
    say("plain", `Not connected: ${why}`);
    return false;
  }
  const label = instead ? `Reconnect ${what}` : `Connect ${what}`;
  edit(label, (drawing) => connected(drawing, wanted, keepsPlaces, instead));
  announce(`Connected ${what}`);
  return true;
}
