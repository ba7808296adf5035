// Expressions as they are typed: their words for highlighting, and what may come next.

import type { Column, FunctionEntry } from "./forms";

export type TokenKind = "keyword" | "function" | "column" | "string" | "number" | "operator" | "comment" | "unknown" | "space";

export interface Token {
  kind: TokenKind;
  start: number;
  end: number;
}

const KEYWORDS = new Set(
  ("and or not in is null true false case when then else end between like ilike rlike as cast try_cast interval timestamp " +
    "distinct from filter where escape microsecond microseconds millisecond milliseconds second seconds minute minutes " +
    "hour hours day days week weeks div")
    .split(" "),
);

const WORDS =
  /(?<space>\s+)|(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<string>'(?:[^']|'')*(?:'|$))|(?<quoted>"(?:[^"]|"")*(?:"|$))|(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?<word>[A-Za-z_]\w*)|(?<operator>[\s\S])/gy;

/** What highlighting and completion know: the columns in scope, and the functions by every name. */
export interface Vocabulary {
  columns: readonly Column[];
  functions: readonly FunctionEntry[];
}

/** The words of a text, one after the other without gaps. */
export function tokens(text: string, { columns, functions }: Vocabulary): Token[] {
  const names = new Set(columns.flatMap((column) => [column.name, column.name.replace(/^(left|right)\./, "")]));
  const sides = new Set(columns.map((column) => column.of).filter(Boolean));
  const calls = new Set(functions.flatMap((one) => [one.name, ...one.aliases]));
  const found: Token[] = [];
  for (const match of text.matchAll(WORDS)) {
    const start = match.index;
    const end = start + match[0].length;
    const groups = match.groups ?? {};
    let kind: TokenKind = "operator";
    if (groups.space !== undefined) kind = "space";
    else if (groups.comment !== undefined) kind = "comment";
    else if (groups.string !== undefined) kind = "string";
    else if (groups.number !== undefined) kind = "number";
    else if (groups.quoted !== undefined) kind = "column";
    else if (groups.word !== undefined) kind = wordKind(groups.word, text.slice(end), { names, sides, calls });
    found.push({ kind, start, end });
  }
  return found;
}

function wordKind(
  word: string,
  rest: string,
  known: { names: Set<string>; sides: Set<string>; calls: Set<string> },
): TokenKind {
  const isCall = /^\s*\(/.test(rest);
  if (known.names.has(word) && !isCall) return "column";
  if (known.sides.has(word) && rest.startsWith(".")) return "column";
  const lower = word.toLowerCase();
  if (isCall && known.calls.has(lower)) return "function";
  if (KEYWORDS.has(lower)) return "keyword";
  return isCall ? "function" : "unknown";
}

export type CompletionKind = "column" | "function" | "aggregate" | "keyword";

export interface Completion {
  label: string;
  kind: CompletionKind;
  /** A column's type, or how a function is called. */
  detail: string;
  /** What it means, for the one that is chosen. */
  description: string;
  insert: string;
  /** Where the caret stands afterwards, from the start of what is inserted. */
  caret: number;
}

export interface Completions {
  from: number;
  to: number;
  items: Completion[];
}

const MOST = 12;
const FOLLOWING = ["and", "or", "not", "is null", "is not null", "in", "between", "like", "case when", "then", "else", "end"];

export interface Asked {
  /** Whether aggregates may be called here. */
  aggregates: boolean;
  /** Asked for with keys: then everything is offered, even where nothing has been typed. */
  explicit?: boolean;
}

/** What may stand at the caret; no items where nothing can be completed. */
export function completionsAt(text: string, caret: number, vocabulary: Vocabulary, asked: Asked): Completions {
  const nothing: Completions = { from: caret, to: caret, items: [] };
  const inside = tokens(text, vocabulary).find((token) => token.start < caret && caret <= token.end);
  if (inside && (inside.kind === "string" || inside.kind === "comment")) {
    const closed = inside.end === caret && /^'(?:[^']|'')*'$|\*\/$/.test(text.slice(inside.start, inside.end));
    if (!closed) return nothing;
    return asked.explicit ? offered("", caret, caret, vocabulary, asked) : nothing;
  }
  const before = /(?:(?:left|right)\.)?(?:"[^"]*|[A-Za-z_]\w*)?$/.exec(text.slice(0, caret))?.[0] ?? "";
  if (before === "" && !asked.explicit) return nothing;
  if (/\d$/.test(text.slice(0, caret - before.length)) && before !== "") return nothing;
  const after = /^\w*/.exec(text.slice(caret))?.[0] ?? "";
  return offered(before, caret - before.length, caret + after.length, vocabulary, asked);
}

function offered(typed: string, from: number, to: number, vocabulary: Vocabulary, asked: Asked): Completions {
  const wanted = typed.replace(/^"/, "").toLowerCase();
  const side = /^(left|right)\./.exec(wanted)?.[1];
  const columns: Completion[] = vocabulary.columns.flatMap((column) => {
    const bare = column.name.replace(/^(left|right)\./, "");
    if (side !== undefined && column.of !== side) return [];
    const name = side === undefined ? column.name : `${side}.${bare}`;
    return [item(name, "column", column.of ? `${column.type} · ${column.of}` : column.type, "", name)];
  });
  const functions = side === undefined ? vocabulary.functions.flatMap((one) => called(one, asked)) : [];
  const words = side === undefined && wanted !== "" ? FOLLOWING.map((word) => item(word, "keyword", "", "", `${word} `)) : [];
  const ranked = [...columns, ...functions, ...words]
    .map((one, order) => ({ one, order, score: score(one.label.toLowerCase(), wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.order - b.order);
  const items = ranked.slice(0, asked.explicit && wanted === "" ? ranked.length : MOST).map(({ one }) => one);
  // What has been typed in full needs no list.
  const done = items.length === 1 && items[0]?.kind !== "function" && items[0]?.insert.trim().toLowerCase() === typed.toLowerCase();
  return { from, to, items: done && !asked.explicit ? [] : items };
}

/** A function under its name and its other ones, unless it is an operator, or an aggregate where none may stand. */
function called(one: FunctionEntry, asked: Asked): Completion[] {
  if (one.scope !== "scalar" && !asked.aggregates) return [];
  const kind: CompletionKind = one.scope === "scalar" ? "function" : "aggregate";
  return [one.name, ...one.aliases].flatMap((name) => {
    const signature = one.signatures.find((text) => text.startsWith(`${one.name}(`));
    if (!signature || !/^\w+$/.test(name)) return [];
    const takesNothing = /^\w+\(\)/.test(signature);
    const insert = `${name}()`;
    return [item(name, kind, signature.replace(one.name, name), one.meaning, insert, takesNothing ? insert.length : insert.length - 1)];
  });
}

function item(label: string, kind: CompletionKind, detail: string, description: string, insert: string, caret = insert.length) {
  return { label, kind, detail, description, insert, caret };
}

/** 0 for what does not fit; what begins with what was typed goes before what has it at the start of a word, then anywhere. */
function score(label: string, wanted: string): number {
  if (wanted === "") return 1;
  const bare = label.replace(/^(left|right)\./, "").replaceAll('"', "");
  if (label === wanted || bare === wanted) return 5;
  if (label.startsWith(wanted) || bare.startsWith(wanted)) return 4;
  if (bare.split(/[_ ]/).some((part) => part.startsWith(wanted))) return 3;
  return wanted.length > 1 && bare.includes(wanted) ? 2 : 0;
}

/** The text with a completion taken, and where the caret stands then. Parentheses that are there already are not doubled. */
export function taken(text: string, { from, to }: { from: number; to: number }, chosen: Completion): { insert: string; from: number; to: number; caret: number } {
  const rest = text.slice(to);
  const opened = chosen.insert.endsWith("()") && /^\s*\(/.test(rest);
  const insert = opened ? chosen.insert.slice(0, -2) : chosen.kind === "keyword" && rest.startsWith(" ") ? chosen.insert.trimEnd() : chosen.insert;
  return { insert, from, to, caret: from + (opened ? insert.length + 1 : Math.min(chosen.caret, insert.length)) };
}

/** Places that Python counted in characters, as this language counts them: some characters count twice here. */
export function spanIn(text: string, span: readonly [number, number]): [number, number] {
  const units = (count: number) => {
    let at = 0;
    let seen = 0;
    for (const character of text) {
      if (seen === count) break;
      at += character.length;
      seen += 1;
    }
    return at;
  };
  return [units(span[0]), units(span[1])];
}

/** The word that a way out proposes: `did you mean 'price'?` */
export function proposed(wayOut: string): string | null {
  return /did you mean '([^']+)'\?/.exec(wayOut)?.[1] ?? null;
}
