import { describe, expect, it } from "vitest";
import { type Asked, type Completion, completionsAt, proposed, spanIn, taken, tokens, type Vocabulary } from "../src/model/completion";
import type { FunctionEntry } from "../src/model/forms";

function fn(name: string, scope: FunctionEntry["scope"], ...signatures: string[]): FunctionEntry {
  return { name, aliases: [], group: "", scope, signatures, meaning: `What ${name} means.`, example: "" };
}

const WORDS: Vocabulary = {
  columns: [
    { name: "price", type: "double", of: "" },
    { name: "last_price", type: "double", of: "" },
    { name: "ticker", type: "string", of: "" },
    { name: '"odd name"', type: "int", of: "" },
  ],
  functions: [
    fn("round", "scalar", "round(x int) -> int"),
    fn("arrival_time", "scalar", "arrival_time() -> timestamp"),
    fn("+", "scalar", "a + b: (a int, b int) -> int"),
    { ...fn("avg", "aggregate", "avg(x number) -> double"), aliases: ["mean"] },
  ],
};
const JOINED: Vocabulary = {
  columns: [
    { name: "left.id", type: "int", of: "left" },
    { name: "amount", type: "double", of: "left" },
    { name: "right.id", type: "int", of: "right" },
    { name: "name", type: "string", of: "right" },
  ],
  functions: WORDS.functions,
};

function at(marked: string, vocabulary = WORDS, asked: Asked = { aggregates: true }) {
  const caret = marked.indexOf("|");
  return completionsAt(marked.replace("|", ""), caret, vocabulary, asked);
}

function labels(marked: string, vocabulary = WORDS, asked?: Asked): string[] {
  return at(marked, vocabulary, asked).items.map((item) => item.label);
}

/** The text after the first completion was taken, with the caret as |. */
function take(marked: string, vocabulary = WORDS): string {
  const text = marked.replace("|", "");
  const found = at(marked, vocabulary);
  const { insert, from, to, caret } = taken(text, found, found.items[0] as Completion);
  const after = text.slice(0, from) + insert + text.slice(to);
  return `${after.slice(0, caret)}|${after.slice(caret)}`;
}

describe("completion", () => {
  it("offers columns and functions that begin with what was typed, then those that have it in a word", () => {
    expect(labels("pr|")).toEqual(["price", "last_price"]);
    expect(labels("ro|")).toEqual(["round"]);
    expect(labels("x > 1 and tick|")).toEqual(["ticker"]);
  });

  it("says types and signatures", () => {
    expect(at("pri|").items[0]).toMatchObject({ kind: "column", detail: "double" });
    expect(at("roun|").items[0]).toMatchObject({ kind: "function", detail: "round(x int) -> int", description: "What round means." });
  });

  it("offers aggregates only where they may stand, by all their names", () => {
    expect(labels("mea|")).toEqual(["mean"]);
    expect(labels("mea|", WORDS, { aggregates: false })).toEqual([]);
    expect(labels("av|", WORDS, { aggregates: false })).toEqual([]);
  });

  it("is silent in texts, comments and numbers, and where nothing was typed", () => {
    expect(labels("ticker = 'pri|'")).toEqual([]);
    expect(labels("ticker = 'pri|")).toEqual([]);
    expect(labels("price -- pri|")).toEqual([]);
    expect(labels("price > 1|")).toEqual([]);
    expect(labels("price > |")).toEqual([]);
    expect(labels("price|", { ...WORDS, columns: WORDS.columns.slice(0, 1) })).toEqual([]);
  });

  it("offers everything when asked to", () => {
    const all = labels("price > |", WORDS, { aggregates: true, explicit: true });
    expect(all.slice(0, 4)).toEqual(["price", "last_price", "ticker", '"odd name"']);
    expect(all).toContain("avg");
    expect(all).not.toContain("+");
  });

  it("knows both sides of a join", () => {
    expect(labels("i|", JOINED).slice(0, 2)).toEqual(["left.id", "right.id"]);
    expect(labels("left.|", JOINED)).toEqual(["left.id", "left.amount"]);
    expect(labels("right.n|", JOINED)).toEqual(["right.name"]);
    expect(at("am|", JOINED).items[0]?.detail).toBe("double · left");
  });

  it("inserts parentheses and puts the caret between them", () => {
    expect(take("rou| > 1")).toBe("round(|) > 1");
    expect(take("arriv|")).toBe("arrival_time()|");
    expect(take("rou|(x)")).toBe("round(|x)");
    expect(take("pri| + 1")).toBe("price| + 1");
    expect(take("right.na|", JOINED)).toBe("right.name|");
  });

  it("replaces the whole word that the caret stands in", () => {
    expect(take("tick|ets = 'a'")).toBe("ticker| = 'a'");
  });
});

describe("words", () => {
  const kinds = (text: string, vocabulary = WORDS) =>
    tokens(text, vocabulary)
      .filter((token) => token.kind !== "space")
      .map((token) => `${text.slice(token.start, token.end)}:${token.kind}`);

  it("are told apart", () => {
    expect(kinds("price > 1.5e3 AND round(ticker) <> 'it''s' -- why")).toEqual([
      "price:column",
      ">:operator",
      "1.5e3:number",
      "AND:keyword",
      "round:function",
      "(:operator",
      "ticker:column",
      "):operator",
      "<:operator",
      ">:operator",
      "'it''s':string",
      "-- why:comment",
    ]);
    expect(kinds("prise")).toEqual(["prise:unknown"]);
    expect(kinds("left.id = right.id", JOINED)).toEqual([
      "left:column", ".:operator", "id:column", "=:operator", "right:column", ".:operator", "id:column",
    ]);
  });

  it("cover the text without gaps, even one that is not finished", () => {
    for (const text of ["a 'open", "", "/* open", "a\n\tb", "\u{1F642} x"]) {
      const found = tokens(text, WORDS);
      expect(found.map((token) => text.slice(token.start, token.end)).join("")).toBe(text);
    }
  });
});

describe("problems", () => {
  it("are placed in characters, of which some count twice", () => {
    const text = "'\u{1F642}' = tiker";
    const [from, to] = spanIn(text, [6, 11]);
    expect(text.slice(from, to)).toBe("tiker");
    expect(spanIn("abc", [1, 9])).toEqual([1, 3]);
  });

  it("propose a word", () => {
    expect(proposed("did you mean 'price'?")).toBe("price");
    expect(proposed("use one of the choices")).toBe(null);
  });
});
