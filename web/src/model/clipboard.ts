// Elements as text, so that they can be taken to another network, or to another window.

import type { Drawing, Position } from "../state/draft";
import {
  type ElementId,
  elementId,
  type NetworkDocument,
  producerOf,
  type Section,
  SECTIONS,
  splitId,
} from "./document";
import {
  add,
  contents,
  element,
  freshName,
  intoScope,
  isMember,
  mapConnectors,
  mapMembers,
  mapReferences,
} from "./edits";
import { homeOf, type Scope } from "./scopes";

const FORM = 1;

type Copied = Pick<NetworkDocument, Section>;

interface Clipboard {
  aurora_elements: typeof FORM;
  network: string;
  elements: Copied;
  positions: Record<string, Position>;
}

/** The elements, and all that is in superboxes among them, as text. */
export function copyText(
  drawing: Drawing,
  ids: readonly ElementId[],
  placeOf: (id: ElementId) => Position | undefined,
): string {
  const all = [...new Set(ids.flatMap((id) => [id, ...contents(drawing.document, id)]))];
  const elements: Record<string, Record<string, unknown>> = {};
  const positions: Record<string, Position> = {};
  for (const section of SECTIONS) {
    for (const id of all) {
      const [own, name] = splitId(id);
      const found = own === section ? element(drawing.document, id) : undefined;
      if (found === undefined) continue;
      elements[section] = { ...elements[section], [name]: found };
      const place = placeOf(id) ?? drawing.positions[id];
      if (place) positions[id] = place;
    }
  }
  const text: Clipboard = { aurora_elements: FORM, network: drawing.document.network, elements, positions };
  return JSON.stringify(text, null, 1);
}

export function readText(text: string): Clipboard | null {
  try {
    const read = JSON.parse(text) as Partial<Clipboard> | null;
    if (read?.aurora_elements !== FORM || typeof read.elements !== "object" || read.elements === null) return null;
    const sections = Object.entries(read.elements);
    const isRecord = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
    const good = sections.every(
      ([section, found]) =>
        (SECTIONS as readonly string[]).includes(section) && isRecord(found) && Object.values(found).every(isRecord),
    );
    return good ? { aurora_elements: FORM, network: "", positions: {}, ...read, elements: read.elements } : null;
  } catch {
    return null;
  }
}

export interface Pasted {
  drawing: Drawing;
  /** What stands for itself in the scope that it was pasted into. */
  ids: ElementId[];
}

export interface Where {
  scope: Scope;
  /** Where the upper left corner comes; without it everything is moved by `by`. */
  at?: Position;
  by?: Position;
}

/**
 * Adds what a text holds under names that nothing has yet. Arrows among what is pasted are kept; those from outside
 * only if it comes from this network and what they come from is still there.
 */
export function paste(drawing: Drawing, text: string, where: Where): Pasted | null {
  const read = readText(text);
  if (!read) return null;
  const names = new Map<string, string>();
  const renames = (sections: readonly Section[], name: string) =>
    sections.map((section) => names.get(elementId(section, name))).find((found) => found !== undefined);
  let taken = drawing.document;
  const originals: ElementId[] = [];
  const ids: ElementId[] = [];
  for (const section of SECTIONS) {
    for (const name of Object.keys(read.elements[section] ?? {})) {
      const fresh = freshName(taken, name);
      originals.push(elementId(section, name));
      names.set(elementId(section, name), fresh);
      const id = elementId(section, fresh);
      ids.push(id);
      taken = add({ document: taken, positions: {} }, id, {} as never).document;
    }
  }
  if (ids.length === 0) return null;
  const here = read.network === drawing.document.network;
  const { streams, boxes, connection_points: points } = drawing.document;
  const exists = (name: string) => [streams, boxes, points].some((found) => found && name in found);
  let pasted: NetworkDocument = { aurora: 1, network: "", ...read.elements };
  pasted = mapReferences(pasted, (arc) => {
    const producer = producerOf(arc);
    const renamed = renames(["streams", "boxes", "connection_points"], producer);
    if (renamed !== undefined) return renamed + arc.slice(producer.length);
    return here && exists(producer) ? arc : null;
  });
  const tops = new Set<string>(ids.filter((_, at) => homeOf(pasted, originals[at] as ElementId).length === 0));
  pasted = mapMembers(pasted, (name) => [renames(["boxes", "superboxes"], name) ?? []].flat());
  const known = (section: "streams" | "outputs", name: string) =>
    renames([section], name) ?? (here && name in (drawing.document[section] ?? {}) ? name : "");
  pasted = mapConnectors(pasted, "sources", "into", (stream) => known("streams", stream));
  pasted = mapConnectors(pasted, "sinks", "from", (output) => known("outputs", output));

  const shift = shiftOf(
    originals.filter((_, at) => tops.has(ids[at] ?? "")).flatMap((id) => read.positions[id] ?? []),
    where,
  );
  let after = drawing;
  for (const section of SECTIONS) {
    for (const [name, made] of Object.entries(pasted[section] ?? {})) {
      const fresh = names.get(elementId(section, name));
      if (fresh === undefined) continue;
      const id = elementId(section, fresh);
      const stood = read.positions[elementId(section, name)];
      after = add(after, id, made, stood && tops.has(id) ? { x: stood.x + shift.x, y: stood.y + shift.y } : stood);
    }
  }
  const members = ids.filter((id) => tops.has(id) && isMember(id)).map((id) => splitId(id)[1]);
  after = intoScope(after, members, where.scope.at(-1));
  return { drawing: after, ids: ids.filter((id) => sameScope(homeOf(after.document, id), where.scope)) };
}

function sameScope(one: Scope, other: Scope): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at]);
}

function shiftOf(positions: readonly Position[], { at, by }: Where): Position {
  if (!at || positions.length === 0) return by ?? { x: 0, y: 0 };
  const left = Math.min(...positions.map((place) => place.x));
  const top = Math.min(...positions.map((place) => place.y));
  return { x: at.x - left, y: at.y - top };
}

