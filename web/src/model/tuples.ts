// Tuples as people look at them: the latest of an arc, filtered, exported, plotted, and made by hand.

import type { Columns } from "./document";

export type Value = string | number | bigint | boolean | null | Value[] | { [key: string]: Value };
export type Tuple = Record<string, Value>;

/** A tuple that was seen: its number among those that the page got, and when that was, in seconds. */
export interface Row {
  id: number;
  at: number;
  tuple: Tuple;
}

export const MOST_ROWS = 1_000;

const STRING_OR_WHOLE = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Marks a number that was put into quotes; hardly a text begins like this. */
const EXACT = "\u0000";

/** JSON with whole numbers as they are: a double holds no more than 53 bits of them. */
export function parseTuples<T>(text: string): T {
  if (!/(?<![\d.])(?:9\d{15}|\d{17,})(?![\d.eE])/.test(text)) return JSON.parse(text) as T;
  const marked = text.replace(STRING_OR_WHOLE, (found) =>
    /^-?\d{16,}$/.test(found) && !Number.isSafeInteger(Number(found)) ? `"\\u0000${found}"` : found,
  );
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === "string" && value.startsWith(EXACT) && /^-?\d+$/.test(value.slice(1)) ? BigInt(value.slice(1)) : value,
  ) as T;
}

export function toJson(value: Value): string {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(toJson).join(",")}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${toJson(one)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** What a cell shows. */
export function shown(value: Value | undefined): string {
  if (value === null || value === undefined) return "NULL";
  return typeof value === "object" ? toJson(value) : String(value);
}

/** The same by its type: a time without zeros that nobody needs. */
export function shownAs(text: string, type: string | undefined): string {
  return type === "timestamp" ? text.replace(/(\.\d*?)0+Z$/, "$1Z").replace(".Z", "Z") : text;
}

/** The latest rows with some more, which came between two moments. */
export function withMore(rows: readonly Row[], tuples: readonly Tuple[], from: number, to: number): Row[] {
  const first = (rows.at(-1)?.id ?? 0) + 1;
  const more = tuples.map((tuple, at) => ({
    id: first + at,
    at: from + ((to - from) * (at + 1)) / tuples.length,
    tuple,
  }));
  return [...rows, ...more].slice(-MOST_ROWS);
}

// Filters

export type Filter = (tuple: Tuple) => boolean;

const COMPARISON = /^\s*(?:"([^"]+)"|([A-Za-z_]\w*))\s*(<=|>=|!=|<>|=|<|>|~)\s*(.*?)\s*$/s;

/**
 * A filter as it is typed: `price > 10`, `ticker = IBM`, `note ~ late`, several of them with `and` between; or just
 * words that some column has. Nothing of it is run: it is read here.
 */
export function parseFilter(text: string, columns: Columns): Filter {
  const terms = text
    .split(/\s+and\s+/i)
    .map((term) => term.trim())
    .filter((term) => term !== "")
    .map((term) => termOf(term, columns));
  return (tuple) => terms.every((fits) => fits(tuple));
}

function termOf(term: string, columns: Columns): Filter {
  const match = COMPARISON.exec(term);
  const column = match?.[1] ?? match?.[2] ?? "";
  const type = columns[column];
  if (!match || type === undefined) {
    const words = term.toLowerCase();
    return (tuple) => Object.values(tuple).some((value) => shown(value).toLowerCase().includes(words));
  }
  return comparison(column, type, match[3] ?? "=", match[4] ?? "");
}

function comparison(column: string, type: string, operator: string, given: string): Filter {
  const wanted = /^'.*'$|^".*"$/.test(given) ? given.slice(1, -1) : given;
  const isNull = given.toLowerCase() === "null";
  if (operator === "~") {
    const part = wanted.toLowerCase();
    return (tuple) => shown(tuple[column]).toLowerCase().includes(part);
  }
  const compare = comparing(type, wanted);
  return (tuple) => {
    const value = tuple[column] ?? null;
    if (isNull || value === null) {
      const same = isNull && value === null;
      return operator === "=" ? same : (operator === "!=" || operator === "<>") && isNull && !same;
    }
    const order = compare(value);
    if (Number.isNaN(order)) return false;
    switch (operator) {
      case "=":
        return order === 0;
      case "<":
        return order < 0;
      case "<=":
        return order <= 0;
      case ">":
        return order > 0;
      case ">=":
        return order >= 0;
      default:
        return order !== 0;
    }
  };
}

/** How a value stands to the wanted one: before, at, or behind it; NaN where that cannot be told. */
function comparing(type: string, wanted: string): (value: Value) => number {
  if (type === "int" && /^-?\d+$/.test(wanted)) {
    const number = BigInt(wanted);
    return (value) => {
      if (typeof value !== "number" && typeof value !== "bigint") return Number.NaN;
      const other = BigInt(value);
      return other < number ? -1 : other > number ? 1 : 0;
    };
  }
  if (type === "int" || type === "double") {
    const number = wanted === "" ? Number.NaN : Number(wanted);
    return (value) => Number(value) - number;
  }
  if (type === "timestamp") {
    const time = Date.parse(wanted);
    return (value) => Date.parse(String(value)) - time;
  }
  return (value) => {
    const text = shown(value);
    return text < wanted ? -1 : text > wanted ? 1 : 0;
  };
}

// Exports

export function toCsv(rows: readonly Row[], columns: readonly string[]): string {
  const cell = (value: Value | undefined) => {
    const text = value === null || value === undefined ? "" : shown(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map(({ tuple }) => columns.map((name) => cell(tuple[name])).join(","));
  return [columns.map((name) => cell(name)).join(","), ...lines, ""].join("\r\n");
}

export function toJsonLines(rows: readonly Row[]): string {
  return rows.map(({ tuple }) => `${toJson(tuple)}\n`).join("");
}

// Plots

export interface Points {
  times: number[];
  values: (number | null)[];
}

/** A column over time: over that of another column, or over when tuples came here. */
export function pointsOf(rows: readonly Row[], column: string, over: string | null): Points {
  const found = rows.flatMap(({ at, tuple }) => {
    const time = over === null ? at : Date.parse(String(tuple[over])) / 1000;
    const value = tuple[column];
    const number = typeof value === "boolean" ? Number(value) : value === null || value === undefined ? null : Number(value);
    return Number.isFinite(time) && (number === null || Number.isFinite(number)) ? [{ time, number }] : [];
  });
  if (over !== null) found.sort((one, other) => one.time - other.time);
  return { times: found.map(({ time }) => time), values: found.map(({ number }) => number) };
}

export function isPlottable(type: string): boolean {
  return type === "int" || type === "double" || type === "bool";
}

// Tables

const [LEAST_WIDTH, MOST_WIDTH] = [6, 36];

/** How many characters each column needs, never fewer than before, so that columns stand still. */
export function widthsOf(columns: Columns, rows: readonly Row[], before: Readonly<Record<string, number>>): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [name, type] of Object.entries(columns)) {
    let width = Math.max(LEAST_WIDTH, name.length, before[name] ?? 0);
    for (const { tuple } of rows) width = Math.max(width, shownAs(shown(tuple[name]), type).length);
    found[name] = Math.min(width, MOST_WIDTH);
  }
  return found;
}

// Made by hand

/** The fields of a form: what was typed for each column, and null for NULL. */
export type Typed = Readonly<Record<string, string | null>>;

export function typedOf(tuple: Tuple, columns: Columns): Typed {
  return Object.fromEntries(
    Object.keys(columns).map((name) => {
      const value = tuple[name] ?? null;
      return [name, value === null ? null : shown(value)];
    }),
  );
}

/** What is wrong with what was typed for a column; empty if nothing is. */
export function wrongWith(text: string | null, type: string): string {
  if (text === null || type === "string") return "";
  const typed = text.trim();
  if (typed === "") return "Give a value, or NULL";
  if (type === "int") return /^-?\d+$/.test(typed) ? "" : "A whole number";
  if (type === "double") return Number.isFinite(Number(typed)) || /^(nan|-?inf(inity)?)$/i.test(typed) ? "" : "A number";
  if (type === "bool") return /^(true|false)$/i.test(typed) ? "" : "true or false";
  if (type === "timestamp") return Number.isNaN(Date.parse(typed)) ? "A time such as 2024-05-01T12:00:00Z" : "";
  if (type.startsWith("list")) return isList(typed) ? "" : "A list in brackets";
  return "";
}

function isList(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

/** The line of JSON that a filled form is. Numbers go as they were typed, so that none loses a digit. */
export function lineOf(typed: Typed, columns: Columns): string {
  const field = (name: string, type: string): string => {
    const text = typed[name] ?? null;
    if (text === null) return "null";
    const plain = text.trim();
    const isNumber = (type === "int" || type === "double") && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(plain);
    if (isNumber || type.startsWith("list")) return plain;
    if (type === "bool") return plain.toLowerCase();
    return JSON.stringify(type === "string" ? text : plain);
  };
  return `{${Object.entries(columns).map(([name, type]) => `${JSON.stringify(name)}:${field(name, type)}`).join(",")}}`;
}
