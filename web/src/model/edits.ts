// Edits of a drawing. Each makes another drawing and leaves the one that it was given; ids and references stay true.

import type { Drawing, Position } from "../state/draft";
import {
  asList,
  type Box,
  type Connector,
  type ElementId,
  elementId,
  type NetworkDocument,
  producerOf,
  type Section,
  splitId,
} from "./document";
import { boxesWithin, homeOf, type Scope, superboxesWithin } from "./scopes";

type Element = NonNullable<NetworkDocument[Section]>[string];

export function elements(document: NetworkDocument, section: Section): Record<string, Element> {
  return (document[section] ?? {}) as Record<string, Element>;
}

export function element(document: NetworkDocument, id: ElementId): Element | undefined {
  const [section, name] = splitId(id);
  return elements(document, section)[name];
}

function withSection(document: NetworkDocument, section: Section, found: Record<string, Element>): NetworkDocument {
  const { [section]: _, ...rest } = document;
  return (Object.keys(found).length === 0 ? rest : { ...document, [section]: found }) as NetworkDocument;
}

/** A name that nothing in the document has: `filter`, `filter_2`, ... */
export function freshName(document: NetworkDocument, wanted: string): string {
  const taken = new Set(
    (["streams", "boxes", "outputs", "superboxes", "connection_points", "sources", "sinks"] as const).flatMap(
      (section) => Object.keys(elements(document, section)),
    ),
  );
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted}_${number}`;
  return name;
}

export function add(drawing: Drawing, id: ElementId, made: Element, position?: Position): Drawing {
  const [section, name] = splitId(id);
  const found = { ...elements(drawing.document, section), [name]: made };
  return {
    document: withSection(drawing.document, section, found),
    positions: position ? { ...drawing.positions, [id]: position } : drawing.positions,
  };
}

export function change<E extends Element>(drawing: Drawing, id: ElementId, made: (element: E) => E): Drawing {
  const before = element(drawing.document, id) as E | undefined;
  if (before === undefined) return drawing;
  const after = made(before);
  return after === before ? drawing : add(drawing, id, after);
}

/** Whether the inputs of a kind of box play different parts, so that one that is taken away leaves its place empty. */
export type KeepsPlaces = (kind: string) => boolean;

const never: KeepsPlaces = () => false;

/**
 * Removes elements and everything that refers to them: arrows into boxes, outputs of what is gone, members of
 * superboxes. A superbox goes with all that is in it, and one that nothing is left in goes too.
 */
export function remove(drawing: Drawing, ids: readonly ElementId[], keepsPlaces = never): Drawing {
  const all = new Set(ids.flatMap((id) => [id, ...contents(drawing.document, id)]));
  const named = (sections: RegExp) => new Set([...all].filter((id) => sections.test(id)).map((id) => splitId(id)[1]));
  let document = drawing.document;
  for (const id of all) {
    const [section, name] = splitId(id);
    const { [name]: _, ...rest } = elements(document, section);
    document = withSection(document, section, rest);
  }
  const gone = named(/^(streams|boxes|connection_points)\//);
  document = mapReferences(document, (arc) => (gone.has(producerOf(arc)) ? null : arc), keepsPlaces);
  const [streams, outputs] = [named(/^streams\//), named(/^outputs\//)];
  document = mapConnectors(document, "sources", "into", (stream) => (streams.has(stream) ? "" : stream));
  document = mapConnectors(document, "sinks", "from", (output) => (outputs.has(output) ? "" : output));
  const members = named(/^(boxes|superboxes)\//);
  document = withoutEmpty(mapMembers(document, (name) => (members.has(name) ? [] : [name])));
  const positions = { ...drawing.positions };
  for (const id of all) delete positions[id];
  return { document, positions };
}

/** What is in a superbox, at any depth; nothing is in other elements. */
export function contents(document: NetworkDocument, id: ElementId): ElementId[] {
  const [section, name] = splitId(id);
  if (section !== "superboxes") return [];
  return [
    ...boxesWithin(document, name).map((box) => elementId("boxes", box)),
    ...superboxesWithin(document, name).map((superbox) => elementId("superboxes", superbox)),
  ];
}

export function rename(drawing: Drawing, id: ElementId, name: string): Drawing {
  const [section, before] = splitId(id);
  if (name === before || element(drawing.document, id) === undefined) return drawing;
  const found = Object.fromEntries(
    Object.entries(elements(drawing.document, section)).map(([other, made]) => [other === before ? name : other, made]),
  );
  let document = withSection(drawing.document, section, found);
  if (isReadable(section)) {
    document = mapReferences(document, (arc) =>
      producerOf(arc) === before ? name + arc.slice(before.length) : arc,
    );
  }
  const renamed = (other: string) => (other === before ? name : other);
  if (section === "streams") document = mapConnectors(document, "sources", "into", renamed);
  if (section === "outputs") document = mapConnectors(document, "sinks", "from", renamed);
  if (section === "boxes" || section === "superboxes") {
    document = mapMembers(document, (other) => [renamed(other)]);
  }
  const { [id]: position, ...positions } = drawing.positions;
  return { document, positions: position ? { ...positions, [elementId(section, name)]: position } : positions };
}

/**
 * Draws an arrow: the arc becomes the input of a box (at the place `input`, or behind the others), or of an output or a
 * connection point. A source gets the stream that it feeds, a sink the output that it takes from.
 */
export function connect(drawing: Drawing, arc: string, to: ElementId, input?: number): Drawing {
  const [section] = splitId(to);
  if (section === "outputs" || section === "sinks") {
    return change<Connector>(drawing, to, (found) => ({ ...found, from: arc }));
  }
  if (section === "connection_points") return change(drawing, to, (point) => ({ ...point, on: arc }));
  if (section === "sources") return change<Connector>(drawing, to, (source) => ({ ...source, into: arc }));
  if (section !== "boxes") return drawing;
  return change<Box>(drawing, to, (box) => {
    const inputs = asList(box.in);
    const given = inputs.length === 1 && inputs[0] === "" ? [] : inputs;
    const at = input ?? given.length;
    const after = Array.from({ length: Math.max(given.length, at + 1) }, (_, place) => given[place] ?? "");
    return { ...box, in: unlist(after.with(at, arc)) };
  });
}

export function disconnect(drawing: Drawing, to: ElementId, input: number, keepsPlaces = never): Drawing {
  const [section] = splitId(to);
  if (section !== "boxes") return connect(drawing, "", to);
  return change<Box>(drawing, to, (box) => {
    const inputs: (string | null)[] = asList(box.in);
    return { ...box, in: unlist(withGaps(inputs.with(input, null), keepsPlaces(box.kind))) };
  });
}

/** Puts elements where they were moved to. */
export function move(drawing: Drawing, to: Readonly<Partial<Record<ElementId, Position>>>): Drawing {
  const moved = Object.entries(to).filter(([id, place]) => {
    const now = drawing.positions[id as ElementId];
    return place && (now?.x !== place.x || now.y !== place.y);
  });
  if (moved.length === 0) return drawing;
  return { ...drawing, positions: { ...drawing.positions, ...Object.fromEntries(moved) } };
}

/** Lets the elements stand where the layout puts them. */
export function forgetPositions(drawing: Drawing, ids: readonly ElementId[]): Drawing {
  const positions = { ...drawing.positions };
  for (const id of ids) delete positions[id];
  return { ...drawing, positions };
}

/** Puts boxes and superboxes into a superbox of their own, which takes their place; what else is named stays. */
export function group(drawing: Drawing, ids: readonly ElementId[], name: string, position?: Position): Drawing {
  const members = ids.filter(isMember).map((id) => splitId(id)[1]);
  if (members.length === 0) return drawing;
  let placed = false;
  const document = mapMembers(drawing.document, (member) => {
    if (!members.includes(member)) return [member];
    if (placed) return [];
    placed = true;
    return [name];
  });
  return add({ ...drawing, document }, elementId("superboxes", name), { boxes: members }, position);
}

/** Takes a superbox away and leaves what was in it, moved by `shift`. */
export function ungroup(drawing: Drawing, name: string, shift: Position = { x: 0, y: 0 }): Drawing {
  const members = asList(drawing.document.superboxes?.[name]?.boxes);
  const { [name]: _, ...rest } = drawing.document.superboxes ?? {};
  const document = mapMembers(withSection(drawing.document, "superboxes", rest), (member) =>
    member === name ? members : [member],
  );
  const ids = members.map((member) => elementId(member in (document.boxes ?? {}) ? "boxes" : "superboxes", member));
  const moved = ids.flatMap((id) => {
    const now = drawing.positions[id];
    return now ? [[id, { x: now.x + shift.x, y: now.y + shift.y }] as const] : [];
  });
  const { positions } = forgetPositions(drawing, [elementId("superboxes", name)]);
  return { document, positions: { ...positions, ...Object.fromEntries(moved) } };
}

/** Moves boxes and superboxes into a superbox, or out to the top of the network. A superbox does not go into itself. */
export function moveInto(drawing: Drawing, ids: readonly ElementId[], superbox: string | null): Drawing {
  const around = superbox === null ? [] : homeOf(drawing.document, elementId("superboxes", superbox));
  const scope: Scope = superbox === null ? [] : [...around, superbox];
  const movable = ids.filter((id) => {
    const [section, name] = splitId(id);
    return isMember(id) && !(section === "superboxes" && scope.includes(name));
  });
  const members = new Set(movable.map((id) => splitId(id)[1]));
  if (members.size === 0) return drawing;
  const taken = { ...drawing, document: mapMembers(drawing.document, (name) => (members.has(name) ? [] : [name])) };
  const moved = intoScope(taken, [...members], superbox ?? undefined);
  return { ...moved, document: withoutEmpty(moved.document) };
}

/** What was drawn inside a superbox belongs to it. */
export function intoScope(drawing: Drawing, members: readonly string[], superbox: string | undefined): Drawing {
  if (superbox === undefined || members.length === 0) return drawing;
  return change(drawing, elementId("superboxes", superbox), (found) => ({
    ...found,
    boxes: [...asList((found as { boxes: string | string[] }).boxes), ...members],
  }));
}

export function isMember(id: ElementId): boolean {
  const [section] = splitId(id);
  return section === "boxes" || section === "superboxes";
}

function isReadable(section: Section): boolean {
  return section === "streams" || section === "boxes" || section === "connection_points";
}

function unlist(names: string[]): string | string[] {
  return names.length === 1 ? (names[0] ?? "") : names;
}

/** Without what is gone; or with empty places for it, as far as something stands behind them. */
function withGaps(inputs: readonly (string | null)[], keep: boolean): string[] {
  if (!keep) return inputs.filter((arc) => arc !== null);
  const after = inputs.map((arc) => arc ?? "");
  while (after.at(-1) === "") after.pop();
  return after;
}

/** Passes every name of an arc that the document reads from through `map`; null takes it away. */
export function mapReferences(
  document: NetworkDocument,
  map: (arc: string) => string | null,
  keepsPlaces = never,
): NetworkDocument {
  const after: NetworkDocument = { ...document };
  if (document.boxes) {
    after.boxes = mapValues(document.boxes, (box) => {
      const inputs = asList(box.in);
      const mapped = inputs.map(map);
      return inputs.every((arc, at) => mapped[at] === arc)
        ? box
        : { ...box, in: unlist(withGaps(mapped, keepsPlaces(box.kind))) };
    });
  }
  if (document.outputs) {
    after.outputs = mapValues(document.outputs, (output) => {
      const from = map(output.from);
      return from === output.from ? output : { ...output, from: from ?? "" };
    });
  }
  if (document.connection_points) {
    after.connection_points = mapValues(document.connection_points, (point) => {
      const on = point.on === undefined ? undefined : map(point.on);
      return on === point.on || on === undefined ? point : { ...point, on: on ?? "" };
    });
  }
  return after;
}

/** Passes every member of superboxes through `map`, which may give several in its place, or none. */
export function mapMembers(document: NetworkDocument, map: (name: string) => readonly string[]): NetworkDocument {
  if (!document.superboxes) return document;
  const superboxes = mapValues(document.superboxes, (superbox) => {
    const names = asList(superbox.boxes);
    const kept = names.flatMap(map);
    return kept.length === names.length && kept.every((name, at) => name === names[at])
      ? superbox
      : { ...superbox, boxes: kept };
  });
  return { ...document, superboxes };
}

/** Takes superboxes away that nothing is in, and then those that held only these. */
function withoutEmpty(document: NetworkDocument): NetworkDocument {
  const empty = Object.entries(document.superboxes ?? {}).filter(([, superbox]) => asList(superbox.boxes).length === 0);
  if (empty.length === 0) return document;
  const names = new Set(empty.map(([name]) => name));
  const rest = Object.fromEntries(Object.entries(document.superboxes ?? {}).filter(([name]) => !names.has(name)));
  return withoutEmpty(mapMembers(withSection(document, "superboxes", rest), (name) => (names.has(name) ? [] : [name])));
}

export function mapConnectors(
  document: NetworkDocument,
  section: "sources" | "sinks",
  key: "into" | "from",
  map: (name: string) => string,
): NetworkDocument {
  const found = document[section];
  if (!found) return document;
  const after = mapValues(found, (connector) => {
    const name = String(connector[key] ?? "");
    return map(name) === name ? connector : { ...connector, [key]: map(name) };
  });
  return { ...document, [section]: after };
}

function mapValues<V>(record: Record<string, V>, map: (value: V) => V): Record<string, V> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
