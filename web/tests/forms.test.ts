import { describe, expect, it } from "vitest";
import type { NetworkDocument } from "../src/model/document";
import {
  at,
  columnNames,
  columnsInScope,
  columnsOf,
  fieldsOf,
  firstValue,
  type Form,
  inputColumns,
  type Kind,
  kindOf,
  moved,
  type Palette,
  type Parameter,
  plainWords,
  problemsAt,
  put,
  readable,
  renameKey,
  startConnected,
  startOf,
  strangersOf,
  wrongName,
} from "../src/model/forms";

function parameter(name: string, form: Form, more: Partial<Parameter> = {}): Parameter {
  return { name, form, required: false, default: null, means: "", ...more };
}

function kind(section: Kind["section"], name: string | null, more: Partial<Kind> = {}): Kind {
  return {
    section, kind: name, title: "", summary: "", category: "", family: name ?? section, inputs: null, ports: [],
    parameters: [], manual: "", start: {}, ...more,
  };
}

const FILTER = kind("boxes", "filter", {
  parameters: [
    parameter("in", { form: "arcs" }, { required: true }),
    parameter("where", { form: "expression", expect: "bool" }),
    parameter("routes", { form: "mapping", key: "port", value: { form: "expression" } }),
  ],
  start: { where: "true" },
});
const PALETTE: Palette = {
  categories: [], notes: [parameter("tags", { form: "texts" })], functions: [], types: [], formats: [], ways: {},
  kinds: [
    FILTER,
    kind("outputs", null, { parameters: [parameter("from", { form: "arc" }, { required: true }), parameter("qos", { form: "qos" })] }),
    kind("connection_points", null, { family: "point" }),
    kind("connection_points", null, { family: "static" }),
    kind("sources", "file"),
    kind("sinks", "file"),
  ],
};
const DOCUMENT: NetworkDocument = {
  aurora: 1,
  network: "n",
  streams: { ticks: { schema: { ticker: "string", price: "double" } } },
  boxes: { high: { kind: "filter", in: "ticks", where: "true" }, both: { kind: "join", in: ["ticks", "names"] } },
  outputs: { out: { from: "high" } },
  connection_points: { names: { schema: { ticker: "string", company: "string" } }, recent: { on: "ticks" } },
  sinks: { kept: { kind: "file", from: "out" } },
};
const ARCS = {
  ticks: { ticker: "string", price: "double" },
  names: { ticker: "string", company: "string" },
  "by.nyse": { n: "int" },
  "by.nasdaq": { n: "int", x: "int" },
};

describe("declarations", () => {
  it("are found by section and kind", () => {
    expect(kindOf(PALETTE, DOCUMENT, "boxes/high")).toBe(FILTER);
    expect(kindOf(PALETTE, DOCUMENT, "sinks/kept")?.section).toBe("sinks");
    expect(kindOf(PALETTE, DOCUMENT, "connection_points/names")?.family).toBe("static");
    expect(kindOf(PALETTE, DOCUMENT, "connection_points/recent")?.family).toBe("point");
    expect(kindOf(PALETTE, DOCUMENT, "boxes/both")).toBe(undefined);
    expect(kindOf(null, DOCUMENT, "boxes/high")).toBe(undefined);
  });

  it("say what a new element is made of", () => {
    expect(startOf(FILTER)).toEqual({ kind: "filter", in: [], where: "true" });
    expect(startOf(PALETTE.kinds[1] as Kind)).toEqual({ from: "" });
  });

  it("connect a new element with what is selected", () => {
    expect(startConnected(FILTER, DOCUMENT, ["streams/ticks"], null)).toEqual({ kind: "filter", in: "ticks", where: "true" });
    expect(startConnected(FILTER, DOCUMENT, [], "by.nyse")).toMatchObject({ in: "by.nyse" });
    expect(startConnected(FILTER, DOCUMENT, ["outputs/out", "connection_points/recent"], null)).toMatchObject({ in: [] });
    const union = { ...FILTER, inputs: { least: 1, most: null, names: [], static: false } };
    expect(startConnected(union, DOCUMENT, ["streams/ticks", "boxes/high"], null)).toMatchObject({ in: ["ticks", "high"] });
    const one = { ...FILTER, inputs: { least: 1, most: 1, names: [], static: false } };
    expect(startConnected(one, DOCUMENT, ["streams/ticks", "boxes/high"], null)).toMatchObject({ in: "ticks" });
    expect(startConnected(PALETTE.kinds[1] as Kind, DOCUMENT, ["boxes/high"], null)).toEqual({ from: "high" });
    const sink = kind("sinks", "file", { parameters: [parameter("from", { form: "output" }, { required: true })] });
    expect(startConnected(sink, DOCUMENT, ["outputs/out"], null)).toEqual({ kind: "file", from: "out" });
    expect(startConnected(sink, DOCUMENT, ["boxes/high"], null)).toEqual({ kind: "file", from: "" });
  });

  it("divide parameters into those that are shown and those that can be added", () => {
    const { shown, addable } = fieldsOf(FILTER.parameters, { where: "x" });
    expect(shown.map((one) => one.name)).toEqual(["where"]);
    expect(addable.map((one) => one.name)).toEqual(["routes"]);
    expect(fieldsOf((PALETTE.kinds[1] as Kind).parameters, {}).shown.map((one) => one.name)).toEqual(["from", "qos"]);
    expect(strangersOf(FILTER, PALETTE.notes, { kind: "filter", in: "a", tags: [], wehre: "x" })).toEqual(["wehre"]);
  });

  it("say what a field begins with", () => {
    expect(firstValue(parameter("late", { form: "boolean" }, { default: false }))).toBe(true);
    expect(firstValue(parameter("shed", { form: "choice", choices: ["windows", "tuples"] }, { default: "windows" }))).toBe("tuples");
    expect(firstValue(parameter("gap", { form: "number", whole: true, least: 1 }))).toBe(1);
    expect(firstValue(parameter("slack", { form: "quantity" }, { default: "0 tuples" }))).toBe("0 tuples");
    expect(firstValue(parameter("where", { form: "expression" }))).toBe("");
  });

  it("are explained without marks in tooltips", () => {
    expect(plainWords("see [Windows](#windows), `5 tuples`")).toBe("see Windows, 5 tuples");
  });
});

describe("problems", () => {
  const problems = [
    { path: ["boxes", "a"], id: "whole" },
    { path: ["boxes", "a", "compute"], id: "mapping" },
    { path: ["boxes", "a", "compute", "x"], id: "entry" },
    { path: ["boxes", "a", "in", 0], id: "input" },
    { path: ["boxes", "b", "where"], id: "other" },
  ];
  const ids = (found: { id: string }[]) => found.map((one) => one.id);

  it("stand at their field, or at what is around it where there is none", () => {
    expect(ids(problemsAt(problems, ["boxes", "a"], ["compute", "in"]))).toEqual(["whole"]);
    expect(ids(problemsAt(problems, ["boxes", "a"], ["compute"]))).toEqual(["whole", "input"]);
    expect(ids(problemsAt(problems, ["boxes", "a", "compute"], ["x"]))).toEqual(["mapping"]);
    expect(ids(problemsAt(problems, ["boxes", "a", "compute", "x"]))).toEqual(["entry"]);
    expect(ids(problemsAt(problems, ["boxes", "a", "in", "0"]))).toEqual(["input"]);
  });
});

describe("edits", () => {
  it("replace what stands at a path, and nothing in place", () => {
    const before = { window: { size: "2 tuples" }, drop: ["a", "b"] };
    expect(put(before, ["window", "advance"], "1 tuple")).toEqual({ window: { size: "2 tuples", advance: "1 tuple" }, drop: ["a", "b"] });
    expect(put(before, ["drop", 0], undefined)).toEqual({ window: { size: "2 tuples" }, drop: ["b"] });
    expect(put(before, ["window", "size"], undefined)).toEqual({ window: {}, drop: ["a", "b"] });
    expect(put(undefined, ["a", "b"], 1)).toEqual({ a: { b: 1 } });
    expect(before).toEqual({ window: { size: "2 tuples" }, drop: ["a", "b"] });
    expect(at(before, ["drop", 1])).toBe("b");
    expect(at(before, ["drop", "x", 1])).toBe(undefined);
  });

  it("keep the order of a mapping", () => {
    expect(Object.keys(renameKey({ a: 1, b: 2, c: 3 }, "b", "z"))).toEqual(["a", "z", "c"]);
    expect(renameKey({ a: 1, b: 2 }, "a", "b")).toEqual({ a: 1, b: 2 });
    expect(moved(["a", "b", "c"], 2, -1)).toEqual(["a", "c", "b"]);
    expect(moved(["a", "b"], 0, -1)).toEqual(["a", "b"]);
  });

  it("know names that cannot be", () => {
    expect(wrongName(DOCUMENT, "boxes/high", "low")).toBe(null);
    expect(wrongName(DOCUMENT, "boxes/high", "ticks")).not.toBe(null);
    expect(wrongName(DOCUMENT, "outputs/out", "ticks")).toBe(null);
    expect(wrongName(DOCUMENT, "boxes/high", "1st")).not.toBe(null);
    expect(wrongName(DOCUMENT, "boxes/high", "high")).toBe(null);
  });
});

describe("columns", () => {
  it("of an arc are found by whatever name it is read", () => {
    expect(columnsOf(ARCS, "by.nasdaq")).toEqual({ n: "int", x: "int" });
    expect(columnsOf(ARCS, "by")).toEqual({ n: "int" });
    expect(columnsOf(ARCS, "ticks.out")).toEqual(ARCS.ticks);
    expect(columnsOf(ARCS, "by.lost")).toBe(undefined);
  });

  it("of every element's inputs are known", () => {
    expect(inputColumns(DOCUMENT, "boxes/both", ARCS)).toEqual([ARCS.ticks, ARCS.names]);
    expect(inputColumns(DOCUMENT, "connection_points/recent", ARCS)).toEqual([ARCS.ticks]);
    expect(inputColumns(DOCUMENT, "sinks/kept", { ...ARCS, high: { a: "int" } })).toEqual([{ a: "int" }]);
    expect(inputColumns(DOCUMENT, "boxes/high", {})).toEqual([{}]);
  });

  it("of both sides of a join have prefixes where they need one", () => {
    const scope = columnsInScope({ form: "expression", scope: "joined" }, [ARCS.ticks, ARCS.names]);
    expect(scope.map((one) => one.name)).toEqual(["left.ticker", "price", "right.ticker", "company"]);
    expect(scope[3]).toEqual({ name: "company", type: "string", of: "right" });
  });

  it("of one input only where that is meant", () => {
    const form: Form = { form: "columns", input: 1 };
    expect(columnNames(form, [ARCS.ticks, ARCS.names])).toEqual(["ticker", "company"]);
    expect(columnsInScope({ form: "expression", input: 1 }, [ARCS.ticks, ARCS.names]).map((one) => one.name)).toEqual(["ticker", "company"]);
    expect(columnsInScope({ form: "made", scope: "generator" }, [{ "odd name": "int" }]).map((one) => one.name)).toEqual(["n", "time", "elapsed", '"odd name"']);
  });

  it("come from everything that can be read", () => {
    expect(readable(DOCUMENT, ARCS, "high")).toEqual(["ticks", "names", "both"]);
    expect(readable({ ...DOCUMENT, boxes: { by: { kind: "filter", in: "ticks" } } }, ARCS)).toEqual(["ticks", "names", "by.nyse", "by.nasdaq"]);
  });
});
