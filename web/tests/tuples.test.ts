import { describe, expect, it } from "vitest";
import {
  lineOf,
  MOST_ROWS,
  parseFilter,
  parseTuples,
  pointsOf,
  type Row,
  shownAs,
  toCsv,
  toJson,
  toJsonLines,
  type Tuple,
  typedOf,
  widthsOf,
  withMore,
  wrongWith,
} from "../src/model/tuples";

const COLUMNS = { ticker: "string", price: "double", n: "int", at: "timestamp", late: "bool" };

function rows(...tuples: Tuple[]): Row[] {
  return tuples.map((tuple, at) => ({ id: at + 1, at: 100 + at, tuple }));
}

describe("rows", () => {
  it("keeps the latest and spreads them over the time in which they came", () => {
    const some = withMore([], [{ n: 1 }, { n: 2 }], 10, 20);
    expect(some.map(({ id, at }) => [id, at])).toEqual([
      [1, 15],
      [2, 20],
    ]);
    const many = withMore(some, Array.from({ length: MOST_ROWS }, (_, n) => ({ n })), 20, 30);
    expect(many).toHaveLength(MOST_ROWS);
    expect(many.at(-1)).toEqual({ id: MOST_ROWS + 2, at: 30, tuple: { n: MOST_ROWS - 1 } });
  });

  it("reads large whole numbers without losing a digit, and writes them so", () => {
    const text = '{"tuples":[{"n":9007199254740993,"x":0.1,"l":[12345678901234567890]}]}';
    const { tuples } = parseTuples<{ tuples: Tuple[] }>(text);
    expect(tuples[0]?.n).toBe(9007199254740993n);
    expect(toJson({ tuples })).toBe(text);
    expect(parseTuples<Tuple>('{"n":12}').n).toBe(12);
  });
});

describe("filters", () => {
  const tuple: Tuple = { ticker: "IBM", price: 12.5, n: 3, at: "2024-05-01T12:00:00Z", late: true };
  const fits = (text: string, one: Tuple = tuple) => parseFilter(text, COLUMNS)(one);

  it.each([
    ["", true],
    ["ibm", true],
    ["12.5", true],
    ["msft", false],
    ["price > 12", true],
    ["price > 12.5", false],
    ["price >= 12.5", true],
    ["n = 3", true],
    ["n != 3", false],
    ["n<4", true],
    ["ticker = IBM", true],
    ["ticker = 'IBM'", true],
    ['"ticker" = "ibm"', false],
    ["ticker ~ b", true],
    ["late = true", true],
    ["at > 2024-05-01T11:00:00Z", true],
    ["at < 2024-05-01", false],
    ["price > 12 and ticker = IBM", true],
    ["price > 12 and ticker = MSFT", false],
    ["price > dear", false],
    ["other = 3", false],
  ])("%s", (text, wanted) => {
    expect(fits(text)).toBe(wanted);
  });

  it("takes nothing for NULL but NULL", () => {
    const empty: Tuple = { ...tuple, price: null };
    expect(fits("price = null", empty)).toBe(true);
    expect(fits("price != null", empty)).toBe(false);
    expect(fits("price != null")).toBe(true);
    expect(fits("price < 5", empty)).toBe(false);
    expect(fits("price != 5", empty)).toBe(false);
  });

  it("compares whole numbers that no double holds", () => {
    const large: Tuple = { n: 9007199254740993n };
    expect(fits("n > 9007199254740992", large)).toBe(true);
    expect(fits("n = 9007199254740992", large)).toBe(false);
  });

  it("runs nothing of what is typed", () => {
    (globalThis as Record<string, unknown>).ran = false;
    fits("price > (globalThis.ran = true)");
    fits("${globalThis.ran = true}");
    expect((globalThis as Record<string, unknown>).ran).toBe(false);
  });
});

describe("exports", () => {
  it("quotes what needs it", () => {
    const some = rows({ a: 'say "x", then', b: null }, { a: "two\nlines", b: 2n });
    expect(toCsv(some, ["a", "b"])).toBe('a,b\r\n"say ""x"", then",\r\n"two\nlines",2\r\n');
    expect(toJsonLines(some)).toBe('{"a":"say \\"x\\", then","b":null}\n{"a":"two\\nlines","b":2}\n');
  });
});

describe("plots", () => {
  it("goes by when tuples came, or by a time of theirs", () => {
    const some = rows({ n: 1, at: "1970-01-01T00:00:09Z" }, { n: null, at: "1970-01-01T00:00:03Z" });
    expect(pointsOf(some, "n", null)).toEqual({ times: [100, 101], values: [1, null] });
    expect(pointsOf(some, "n", "at")).toEqual({ times: [3, 9], values: [null, 1] });
  });
});

describe("widths", () => {
  it("only grows, up to a limit", () => {
    const columns = { a: "string", long_name: "int" };
    const first = widthsOf(columns, rows({ a: "x".repeat(99), long_name: 1 }), {});
    expect(first).toEqual({ a: 36, long_name: 9 });
    expect(widthsOf(columns, [], first)).toEqual(first);
  });
});

describe("times", () => {
  it.each([
    ["2024-05-01T12:00:00.000000Z", "2024-05-01T12:00:00Z"],
    ["2024-05-01T12:00:00.120000Z", "2024-05-01T12:00:00.12Z"],
    ["2024-05-01T12:00:00.000001Z", "2024-05-01T12:00:00.000001Z"],
  ])("%s", (text, wanted) => {
    expect(shownAs(text, "timestamp")).toBe(wanted);
    expect(shownAs(text, "string")).toBe(text);
  });
});

describe("tuples made by hand", () => {
  it.each([
    ["12", "int", ""],
    ["1.5", "int", "A whole number"],
    ["1.5", "double", ""],
    ["dear", "double", "A number"],
    ["", "double", "Give a value, or NULL"],
    ["", "string", ""],
    [null, "int", ""],
    ["yes", "bool", "true or false"],
    ["yesterday", "timestamp", "A time such as 2024-05-01T12:00:00Z"],
    ["[1, 2]", "list<int>", ""],
    ["1, 2", "list<int>", "A list in brackets"],
    ["3s", "duration", ""],
  ])("%s as %s", (text, type, wanted) => {
    expect(wrongWith(text, type)).toBe(wanted);
  });

  it("become a line of JSON with every digit", () => {
    const typed = { ticker: 'a"b', price: "1.50", n: "9007199254740993", at: "2024-05-01T12:00:00Z", late: "TRUE" };
    const line = lineOf(typed, COLUMNS);
    expect(line).toBe('{"ticker":"a\\"b","price":1.50,"n":9007199254740993,"at":"2024-05-01T12:00:00Z","late":true}');
    expect(typedOf(parseTuples<Tuple>(line), COLUMNS)).toEqual({ ...typed, price: "1.5", late: "true" });
    expect(lineOf({ ticker: null }, { ticker: "string", n: "int" })).toBe('{"ticker":null,"n":null}');
  });
});
