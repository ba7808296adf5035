// What is wrong, by element.

import type { Checked, Problem } from "../api/types";
import type { GraphNode } from "../model/graph";
import { boxesWithin } from "../model/scopes";
import type { NetworkDocument } from "../model/document";
import { splitId } from "../model/document";

export type ProblemsById = ReadonlyMap<string, readonly Problem[]>;

const NONE: readonly Problem[] = [];

/** The same lists as before where nothing has changed, so that only nodes are drawn anew whose problems have. */
export function problemsById(checked: Checked | null, before: ProblemsById): ProblemsById {
  const found = new Map<string, Problem[]>();
  for (const problem of checked?.problems ?? []) {
    const id = `${problem.path[0]}/${problem.path[1]}`;
    const list = found.get(id);
    if (list) list.push(problem);
    else found.set(id, [problem]);
  }
  return new Map(
    [...found].map(([id, list]) => {
      const old = before.get(id);
      return [id, old && JSON.stringify(old) === JSON.stringify(list) ? old : list];
    }),
  );
}

/** A superbox has its own problems and those of all that is in it. */
export function problemsOf(node: GraphNode, byId: ProblemsById, document: NetworkDocument): readonly Problem[] {
  if (byId.size === 0 || node.shape === "ghost") return NONE;
  const own = byId.get(node.element) ?? NONE;
  if (node.shape !== "superbox") return own;
  const within = boxesWithin(document, splitId(node.element)[1]).flatMap((box) => byId.get(`boxes/${box}`) ?? []);
  return within.length === 0 ? own : [...own, ...within];
}

export function isError(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === "error");
}

export function inWords(problems: readonly Problem[]): string {
  return problems.map(wordsOf).join("\n");
}

const NOT_CONNECTED = new Set(["unknown-arc", "unknown-stream", "unknown-output"]);

function wordsOf({ id, found, way_out }: Problem): string {
  // In a drawing an end that leads nowhere has no name.
  return NOT_CONNECTED.has(id) && found.endsWith("''") ? "Not connected: draw an arrow" : `${found}: ${way_out}`;
}
