// Where boxes and superboxes stand: the superboxes around each, outermost first.

import { asList, type ElementId, type NetworkDocument, splitId } from "./document";

export type Scope = readonly string[];

export interface Scopes {
  /** The superboxes around a box, or around a superbox, without itself. */
  readonly boxes: ReadonlyMap<string, Scope>;
  readonly superboxes: ReadonlyMap<string, Scope>;
}

const known = new WeakMap<object, Scopes>();
const TOP: Scope = [];

/** What two superboxes claim belongs to the first. Superboxes in a circle stand in none, and hold nothing. */
export function scopesOf(document: NetworkDocument): Scopes {
  const found = known.get(document);
  if (found) return found;
  const made = find(document);
  known.set(document, made);
  return made;
}

function find(document: NetworkDocument): Scopes {
  const given = document.superboxes ?? {};
  const all = document.boxes ?? {};
  const boxes = new Map<string, Scope>();
  const superboxes = new Map<string, Scope>();
  const visit = (name: string, around: Scope) => {
    superboxes.set(name, around);
    const within = [...around, name];
    for (const member of asList(given[name]?.boxes)) {
      if (member in all) {
        if (!boxes.has(member)) boxes.set(member, within);
      } else if (member in given && !superboxes.has(member)) visit(member, within);
    }
  };
  const held = new Set(Object.values(given).flatMap((superbox) => asList(superbox.boxes)));
  for (const name of Object.keys(given)) if (!held.has(name) || name in all) visit(name, TOP);
  for (const name of Object.keys(given)) if (!superboxes.has(name)) superboxes.set(name, TOP);
  for (const name of Object.keys(all)) if (!boxes.has(name)) boxes.set(name, TOP);
  return { boxes, superboxes };
}

export function startsWith(scope: Scope, around: Scope): boolean {
  return around.every((name, at) => scope[at] === name);
}

/** As much of a scope as there is: superboxes may have gone since somebody went into them. */
export function existing(document: NetworkDocument, scope: Scope): Scope {
  const { superboxes } = scopesOf(document);
  let depth = 0;
  while (depth < scope.length) {
    const around = superboxes.get(scope[depth] ?? "");
    if (!around || around.length !== depth || !startsWith(around, scope.slice(0, depth))) break;
    depth += 1;
  }
  return depth === scope.length ? scope : scope.slice(0, depth);
}

/** Where an element is drawn. A live connection point stands where the arc does that it is on. */
export function homeOf(document: NetworkDocument, id: ElementId): Scope {
  const [section, name] = splitId(id);
  const scopes = scopesOf(document);
  if (section === "boxes") return scopes.boxes.get(name) ?? TOP;
  if (section === "superboxes") return scopes.superboxes.get(name) ?? TOP;
  const on = section === "connection_points" ? document.connection_points?.[name]?.on : undefined;
  return (on && scopes.boxes.get(on.split(".", 1)[0] ?? "")) || TOP;
}

/** A superbox's boxes, those of the superboxes within it too. */
export function boxesWithin(document: NetworkDocument, superbox: string): string[] {
  const { boxes, superboxes } = scopesOf(document);
  const around = superboxes.get(superbox);
  if (!around) return [];
  const within = [...around, superbox];
  return [...boxes].filter(([, scope]) => startsWith(scope, within)).map(([name]) => name);
}

export function superboxesWithin(document: NetworkDocument, superbox: string): string[] {
  const { superboxes } = scopesOf(document);
  const around = superboxes.get(superbox);
  if (!around) return [];
  const within = [...around, superbox];
  return [...superboxes].filter(([, scope]) => startsWith(scope, within)).map(([name]) => name);
}
