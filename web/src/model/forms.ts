// What forms are made of: the declarations that the server's palette has, the places of problems, and edits inside an element.

import {
  asList,
  type Columns,
  type ConnectionPoint,
  type ElementId,
  type Json,
  type NetworkDocument,
  producerOf,
  type Section,
  splitId,
} from "./document";
import type { InputShape, PortShape } from "./ports";

/** What stands in a parameter. `input` is the number of the input whose columns are meant, all of them without it. */
export type Form =
  | { form: "expression" | "made"; expect?: string; scope?: Scope; input?: number }
  | { form: "mapping"; key: "new column" | "column" | "port" | "name"; value: Form }
  | { form: "group"; fields: Parameter[] }
  | { form: "choice"; choices: string[] }
  | { form: "number"; whole: boolean; least?: number; most?: number; above?: number }
  | { form: "column" | "columns"; input?: number; also?: string[]; least?: number; most?: number }
  | { form: "code"; ports: Record<string, string[]> }
  | { form: PlainForm };

export type PlainForm =
  | "address"
  | "addresses"
  | "any"
  | "arc"
  | "arcs"
  | "boolean"
  | "boxes"
  | "distance"
  | "duration"
  | "format"
  | "markdown"
  | "output"
  | "port"
  | "qos"
  | "quantity"
  | "scalar"
  | "schema"
  | "size"
  | "sql"
  | "stream"
  | "text"
  | "texts"
  | "tuples"
  | "variable";

/** What an expression sees: a tuple, a window of tuples, a tuple of each side, or the number and time of one to be made. */
export type Scope = "tuple" | "aggregate" | "joined" | "generator";

export interface Parameter {
  name: string;
  form: Form;
  required: boolean;
  default: Json;
  means: string;
}

export interface Kind {
  section: Section;
  kind: string | null;
  title: string;
  summary: string;
  category: string;
  family: string;
  inputs: (InputShape & { static: boolean }) | null;
  ports: PortShape[];
  parameters: Parameter[];
  manual: string;
  start: Record<string, Json>;
}

export interface FunctionEntry {
  name: string;
  aliases: string[];
  group: string;
  scope: "scalar" | "aggregate" | "window";
  signatures: string[];
  meaning: string;
  example: string;
}

export interface Palette {
  categories: string[];
  kinds: Kind[];
  notes: Parameter[];
  functions: FunctionEntry[];
  types: string[];
  formats: string[];
  /** How a generator can make a column, with the names of the two numbers that a way takes. */
  ways: Record<string, string[]>;
}

export type Path = readonly (string | number)[];

/** Of a declared element: what it is made of. Names of kinds are those of the section. */
export function kindOf(palette: Palette | null, document: NetworkDocument, id: ElementId): Kind | undefined {
  const [section, name] = splitId(id);
  const found = (document[section] as Record<string, { kind?: string }> | undefined)?.[name];
  if (!palette || !found) return undefined;
  if (section === "connection_points") {
    const family = (found as ConnectionPoint).on === undefined && "schema" in found ? "static" : "point";
    return palette.kinds.find((one) => one.family === family);
  }
  const kind = section === "boxes" || section === "sources" || section === "sinks" ? found.kind : null;
  return palette.kinds.find((one) => one.section === section && one.kind === kind);
}

/** What a new element of a kind looks like, before it is connected to anything. */
export function startOf(kind: Kind): Record<string, Json> {
  const start: Record<string, Json> = kind.kind === null ? {} : { kind: kind.kind };
  for (const parameter of kind.parameters) {
    if (parameter.form.form === "arcs") start[parameter.name] = [];
    else if (parameter.required && ["arc", "stream", "output"].includes(parameter.form.form)) start[parameter.name] = "";
  }
  return { ...start, ...structuredClone(kind.start) };
}

/** A new element that reads from, or brings tuples to, what is selected, as far as it can. */
export function startConnected(
  kind: Kind,
  document: NetworkDocument,
  selection: readonly ElementId[],
  arc: string | null,
): Record<string, Json> {
  const start = startOf(kind);
  const arcs = arc === null ? selection.flatMap((id) => arcAt(document, id)) : [arc];
  const named = (section: Section) => selection.map(splitId).find(([own]) => own === section)?.[1];
  for (const { name, form } of kind.parameters) {
    if (form.form === "arcs") {
      const taken = arcs.slice(0, kind.inputs?.most ?? arcs.length);
      if (taken.length > 0) start[name] = taken.length === 1 ? (taken[0] ?? "") : taken;
    } else if (form.form === "arc" && kind.family !== "static" && arcs[0] !== undefined) start[name] = arcs[0];
    else if (form.form === "stream" || form.form === "output") start[name] = named(`${form.form}s`) ?? start[name] ?? "";
  }
  return start;
}

/** The arc that leaves an element by its bare name; none for what cannot be read. */
function arcAt(document: NetworkDocument, id: ElementId): string[] {
  const [section, name] = splitId(id);
  if (section === "streams" || section === "boxes") return [name];
  return section === "connection_points" && document.connection_points?.[name]?.on === undefined ? [name] : [];
}

/** The parameters that a form shows, and those that can be added to it. Where one reads from is shown apart. */
export function fieldsOf(
  parameters: readonly Parameter[],
  given: Readonly<Record<string, Json | undefined>>,
): { shown: Parameter[]; addable: Parameter[] } {
  const own = parameters.filter((parameter) => parameter.form.form !== "arcs");
  const isShown = (parameter: Parameter) =>
    parameter.required || given[parameter.name] !== undefined || parameter.form.form === "qos";
  return { shown: own.filter(isShown), addable: own.filter((parameter) => !isShown(parameter)) };
}

/** What the document says although the kind has no such parameter. */
export function strangersOf(kind: Kind, notes: readonly Parameter[], given: Readonly<Record<string, unknown>>): string[] {
  const known = new Set(["kind", ...kind.parameters.map((one) => one.name), ...notes.map((one) => one.name)]);
  return Object.keys(given).filter((name) => !known.has(name));
}

/** What a parameter holds at first when it is added to a form. */
export function firstValue(parameter: Parameter): Json {
  const { form } = parameter;
  switch (form.form) {
    case "boolean":
      return parameter.default !== true;
    case "mapping":
    case "group":
    case "schema":
      return {};
    case "columns":
    case "texts":
    case "boxes":
      return [];
    case "choice":
      return form.choices.find((choice) => choice !== parameter.default) ?? form.choices[0] ?? "";
    case "number":
      return typeof parameter.default === "number" ? parameter.default : (form.least ?? (form.above ?? 0) + 1);
    case "duration":
      return typeof parameter.default === "string" ? parameter.default : "1s";
    case "tuples":
      return "1 tuple";
    default:
      return typeof parameter.default === "string" ? parameter.default : "";
  }
}

const SHORT: Record<string, string> = { qos: "QoS", tls: "TLS", url: "URL" };

/** A label for a parameter: `order_by` becomes `Order by`. */
export function labelOf(name: string): string {
  const words = name.replaceAll("_", " ").trim();
  return SHORT[words] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** Means without Markdown, for tooltips. */
export function plainWords(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
}

// Problems

export interface Placed {
  path: Path;
}

function startsWith(path: Path, prefix: Path): boolean {
  return prefix.every((step, at) => String(path[at]) === String(step));
}

export function problemsWithin<P extends Placed>(problems: readonly P[], prefix: Path): P[] {
  return problems.filter((problem) => startsWith(problem.path, prefix));
}

/**
 * The problems that are shown at a place: those of the place itself, and those deeper inside that no field has.
 * `fields` are the steps below the place that have fields of their own.
 */
export function problemsAt<P extends Placed>(
  problems: readonly P[],
  prefix: Path,
  fields: readonly (string | number)[] = [],
): P[] {
  const own = new Set(fields.map(String));
  return problemsWithin(problems, prefix).filter(
    (problem) => problem.path.length === prefix.length || !own.has(String(problem.path[prefix.length])),
  );
}

// Edits inside an element

/** The value with what stands at a path replaced; undefined takes it away. Nothing is changed in place, and keys keep their order. */
export function put(value: Json | undefined, path: Path, made: Json | undefined): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return made;
  if (typeof step === "number") {
    const list = Array.isArray(value) ? value : [];
    const after = put(list[step], rest, made);
    if (after === undefined) return list.filter((_, at) => at !== step);
    return step < list.length ? list.with(step, after) : [...list, after];
  }
  const record = isRecord(value) ? value : {};
  const after = put(record[step], rest, made);
  if (after === undefined) {
    const { [step]: _, ...without } = record;
    return without;
  }
  return { ...record, [step]: after };
}

export function at(value: Json | undefined, path: Path): Json | undefined {
  let found = value;
  for (const step of path) {
    if (Array.isArray(found)) found = found[Number(step)];
    else if (isRecord(found)) found = found[String(step)];
    else return undefined;
  }
  return found;
}

export function isRecord(value: unknown): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A mapping with a key under another name, in the same place. The old one stays if the new one is taken or empty. */
export function renameKey(record: Record<string, Json>, before: string, after: string): Record<string, Json> {
  if (before === after || after === "" || after in record) return record;
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key === before ? after : key, value]));
}

/** An entry of a mapping, or of a list, some places further up (negative) or down. */
export function moved<V>(list: readonly V[], from: number, by: number): V[] {
  const to = Math.min(list.length - 1, Math.max(0, from + by));
  const item = list[from];
  if (item === undefined || to === from) return [...list];
  const rest = list.filter((_, at) => at !== from);
  return [...rest.slice(0, to), item, ...rest.slice(to)];
}

export function freshKey(record: Readonly<Record<string, unknown>>, wanted: string): string {
  let key = wanted;
  for (let number = 2; key in record; number += 1) key = `${wanted}_${number}`;
  return key;
}

// Columns

/** The columns of an arc by whatever name it is read; a box's bare name means its first port. */
export function columnsOf(arcs: Readonly<Record<string, Columns>>, arc: string): Columns | undefined {
  const bare = arc.endsWith(".out") ? arc.slice(0, -4) : arc;
  if (arcs[arc] ?? arcs[bare]) return arcs[arc] ?? arcs[bare];
  if (arc.includes(".")) return undefined;
  const first = Object.keys(arcs).find((name) => producerOf(name) === arc);
  return first === undefined ? undefined : arcs[first];
}

export interface Column {
  name: string;
  type: string;
  /** Which side of a join it is of, or what else it is. */
  of: string;
}

/** The columns of every input of an element, by the number of the input: what its fields may name. */
export function inputColumns(
  document: NetworkDocument,
  id: ElementId,
  arcs: Readonly<Record<string, Columns>>,
): Columns[] {
  const [section, name] = splitId(id);
  if (section === "boxes") return asList(document.boxes?.[name]?.in).map((arc) => columnsOf(arcs, arc) ?? {});
  if (section === "outputs") return [columnsOf(arcs, document.outputs?.[name]?.from ?? "") ?? {}];
  if (section === "connection_points") {
    const point = document.connection_points?.[name];
    return [point?.on === undefined ? ((point?.schema as Columns | undefined) ?? {}) : (columnsOf(arcs, point.on) ?? {})];
  }
  if (section === "sources") {
    const into = document.sources?.[name]?.into;
    return [(typeof into === "string" && document.streams?.[into]?.schema) || {}];
  }
  if (section === "sinks") {
    const from = document.sinks?.[name]?.from;
    const output = typeof from === "string" ? document.outputs?.[from] : undefined;
    return [output ? (columnsOf(arcs, output.from) ?? {}) : {}];
  }
  return [];
}

export const SIDES = ["left", "right"] as const;

/** What an expression may name, in the order of the inputs. */
export function columnsInScope(form: Form, inputs: readonly Columns[]): Column[] {
  const scope = "scope" in form ? form.scope : undefined;
  if (scope === "joined") {
    const sides = SIDES.map((side, at) => [side, inputs[at] ?? {}] as const);
    const both = new Set(Object.keys(inputs[0] ?? {}).filter((name) => name in (inputs[1] ?? {})));
    return sides.flatMap(([side, columns]) =>
      Object.entries(columns).map(([name, type]) => ({
        name: both.has(name) ? `${side}.${written(name)}` : written(name),
        type,
        of: side,
      })),
    );
  }
  const made = scope === "generator" ? { n: "int", time: "timestamp", elapsed: "double" } : {};
  const chosen = "input" in form && form.input !== undefined ? [inputs[form.input] ?? {}] : inputs.slice(0, 1);
  const found: Columns = Object.assign({}, made, ...chosen);
  return Object.entries(found).map(([name, type]) => ({ name: written(name), type, of: "" }));
}

/** Names of columns that a field may choose from: of one input, or of all. */
export function columnNames(form: Form, inputs: readonly Columns[]): string[] {
  const chosen = "input" in form && form.input !== undefined ? [inputs[form.input] ?? {}] : inputs;
  return [...new Set(chosen.flatMap((columns) => Object.keys(columns)))];
}

/** As an expression writes a column: in double quotes where the name is no plain word. */
export function written(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Everything that can be read: streams, static data, and the ports of boxes as the server knows or the document tells. */
export function readable(document: NetworkDocument, arcs: Readonly<Record<string, Columns>>, besides?: string): string[] {
  const boxes = Object.keys(document.boxes ?? {}).filter((name) => name !== besides);
  const points = Object.entries(document.connection_points ?? {}).filter(([, point]) => point.on === undefined);
  return [
    ...Object.keys(document.streams ?? {}),
    ...points.map(([name]) => name),
    ...boxes.flatMap((name) => {
      const ports = Object.keys(arcs).filter((arc) => arc === name || arc.startsWith(`${name}.`));
      return ports.length > 0 ? ports : [name];
    }),
  ];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const SHARED: Record<Section, readonly Section[]> = {
  streams: ["streams", "boxes", "connection_points"],
  boxes: ["streams", "boxes", "connection_points", "superboxes"],
  outputs: ["outputs"],
  superboxes: ["boxes", "superboxes"],
  connection_points: ["streams", "boxes", "connection_points"],
  sources: ["sources"],
  sinks: ["sinks"],
};

/** Why an element cannot be called that; null if it can. */
export function wrongName(document: NetworkDocument, id: ElementId, name: string): string | null {
  const [section, before] = splitId(id);
  if (name === before) return null;
  if (!NAME.test(name)) return "Names begin with a letter and go on with letters, digits, _ and -";
  const taken = SHARED[section].some((other) => name in (document[other] ?? {}));
  return taken ? "Something else has this name" : null;
}

/** The label of an input: what its kind calls it, or its number. */
export function inputLabel(kind: Kind | undefined, at: number, count: number): string {
  return kind?.inputs?.names[at] ?? (count > 1 ? `Input ${at + 1}` : "Input");
}
