// What differs between two documents, for people who decide whether to deploy.

import type { Drawing } from "../state/draft";
import { type ElementId, elementId, type Json, type NetworkDocument, SECTIONS } from "./document";
import { elements, rename } from "./edits";

export interface ParameterChange {
  /** Where in the element: `where`, `compute.price`; `order of schema` if only the order has changed. */
  path: string;
  before?: Json;
  after?: Json;
}

export interface Change {
  kind: "added" | "removed" | "renamed" | "changed";
  /** Null is the network itself. */
  id: ElementId | null;
  /** What it was called, if it was renamed. */
  was?: string;
  parameters: ParameterChange[];
}

/** Mappings whose order means something: columns stand in it, and the first route that fits is taken. */
const ORDERED = new Set(["schema", "compute", "routes", "columns"]);

/** All changes, by section; without `before` everything is new. */
export function diff(before: NetworkDocument | null, after: NetworkDocument): Change[] {
  const { document: old, renamed } = withNewNames(before ?? { aurora: 1, network: after.network }, after);
  const found: Change[] = [];
  const header = parameterChanges(withoutSections(old), withoutSections(after));
  if (header.length > 0) found.push({ kind: "changed", id: null, parameters: header });
  for (const section of SECTIONS) {
    const was = elements(old, section) as Record<string, Json>;
    const is = elements(after, section) as Record<string, Json>;
    for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
      const id = elementId(section, name);
      const parameters = parameterChanges(was[name] ?? {}, is[name] ?? {});
      const called = renamed.get(id);
      if (was[name] === undefined) found.push({ kind: "added", id, parameters });
      else if (is[name] === undefined) found.push({ kind: "removed", id, parameters: [] });
      else if (called !== undefined) found.push({ kind: "renamed", id, was: called, parameters });
      else if (parameters.length > 0) found.push({ kind: "changed", id, parameters });
    }
  }
  return found;
}

/** Whether two values say the same. The order of keys counts only where it means something. */
export function equal(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, at) => equal(value, other[at]));
  }
  if (!isMapping(one) || !isMapping(other)) return false;
  const keys = keysOf(one);
  return (
    keys.length === keysOf(other).length &&
    keys.every((key) => equal(one[key], other[key]) && (!ORDERED.has(key) || sameOrder(one[key], other[key])))
  );
}

/** A value in one line: text as it is, everything else as JSON with room to breathe. */
export function shown(value: Json | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (isMapping(value)) return `{${keysOf(value).map((key) => `${key}: ${shown(value[key])}`).join(", ")}}`;
  return String(value);
}

function parameterChanges(before: Json, after: Json, path: string[] = []): ParameterChange[] {
  if (!isMapping(before) || !isMapping(after)) {
    return equal(before, after) ? [] : [{ path: path.join("."), before, after }];
  }
  const found: ParameterChange[] = [];
  for (const key of new Set([...keysOf(before), ...keysOf(after)])) {
    const here = [...path, key];
    const [was, is] = [before[key], after[key]];
    if (was === undefined) found.push({ path: here.join("."), after: is as Json });
    else if (is === undefined) found.push({ path: here.join("."), before: was });
    else found.push(...parameterChanges(was, is, here));
  }
  const key = path.at(-1);
  if (found.length === 0 && key !== undefined && ORDERED.has(key) && !sameOrder(before, after)) {
    found.push({ path: `order of ${path.join(".")}`, before: keysOf(before), after: keysOf(after) });
  }
  return found;
}

/** An element that is gone and one that is new and says the same are one that was renamed, if it is clear which. */
function withNewNames(
  before: NetworkDocument,
  after: NetworkDocument,
): { document: NetworkDocument; renamed: Map<ElementId, string> } {
  let drawing: Drawing = { document: before, positions: {} };
  const renamed = new Map<ElementId, string>();
  for (let found = true; found; ) {
    found = false;
    for (const section of SECTIONS) {
      const was = elements(drawing.document, section);
      const is = elements(after, section);
      const gone = Object.keys(was).filter((name) => is[name] === undefined);
      const fresh = Object.keys(is).filter((name) => was[name] === undefined);
      for (const name of gone) {
        const alike = fresh.filter((other) => equal(was[name], is[other]));
        const rivals = gone.filter((other) => equal(was[name], was[other]));
        const [now] = alike;
        if (now === undefined || alike.length > 1 || rivals.length > 1) continue;
        drawing = rename(drawing, elementId(section, name), now);
        renamed.set(elementId(section, now), name);
        found = true;
        break;
      }
      if (found) break;
    }
  }
  return { document: drawing.document, renamed };
}

function withoutSections(document: NetworkDocument): Json {
  const sections: readonly string[] = SECTIONS;
  return Object.fromEntries(Object.entries(document).filter(([key]) => !sections.includes(key))) as Json;
}

function isMapping(value: unknown): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A key without a value is as good as none. */
function keysOf(mapping: Record<string, Json | undefined>): string[] {
  return Object.keys(mapping).filter((key) => mapping[key] !== undefined);
}

function sameOrder(one: unknown, other: unknown): boolean {
  if (!isMapping(one) || !isMapping(other)) return true;
  const [first, second] = [keysOf(one), keysOf(other)];
  return first.every((key, at) => key === second[at]);
}
