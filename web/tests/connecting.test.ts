import { describe, expect, it } from "vitest";
import type { Checked, Problem } from "../src/api/types";
import { connected, disconnected, newProblem, pathBetween, refusal, targets, wantedOf } from "../src/model/connecting";
import { curve, pathOf, pointOn } from "../src/model/curve";
import { remove } from "../src/model/edits";
import type { Graph } from "../src/model/graph";
import { drawn, KINDS, NETWORK } from "./drawn";

const flat = { ...NETWORK, superboxes: {} };
const keepsPlaces = (kind: string) => kind === "join";

function wanted(graph: Graph, source: string, sourceHandle: string, target: string, targetHandle: string) {
  const found = wantedOf(graph, { source, sourceHandle, target, targetHandle });
  if (!found) throw new Error(`no such ports: ${source} ${sourceHandle} ${target} ${targetHandle}`);
  return found;
}

function why(source: string, sourceHandle: string, target: string, targetHandle: string): string | null {
  return refusal(flat, KINDS, wanted(drawn(flat), source, sourceHandle, target, targetHandle));
}

describe("an arrow is refused", () => {
  it.each([
    ["boxes/both", "both", "boxes/dear", "in:0", /a filter box reads one input, and ticks is connected here/],
    ["boxes/both", "both", "boxes/all", "in:0", /^pairs is connected here/],
    ["boxes/dear", "dear", "outputs/late", "in:0", /late reads pairs.late already/],
    ["boxes/both", "both", "boxes/all", "in:2", /a cycle: all → both → all/],
    ["boxes/all", "all", "boxes/all", "in:2", /cannot read itself/],
    ["boxes/dear", "dear", "streams/quotes", "fed", /only a source feeds it/],
    ["sources/feed", "feeds", "outputs/late", "in:0", /a source feeds a stream/],
    ["sources/feed", "feeds", "streams/quotes", "fed", /feed feeds ticks already/],
    ["outputs/late", "delivered", "boxes/all", "in:2", /only a sink reads it/],
    ["boxes/dear", "dear", "sinks/file", "in:0", /takes from an output/],
  ])("from %s %s to %s %s", (source, port, target, into, reason) => {
    expect(why(source, port, target, into)).toMatch(reason);
  });
});

describe("an arrow is drawn", () => {
  it("to a free port", () => {
    const document = remove({ document: flat, positions: {} }, ["boxes/all"], keepsPlaces).document;
    const graph = drawn(document);
    const left = wanted(graph, "boxes/dear", "dear", "boxes/both", "in:0");
    expect(refusal(document, KINDS, left)).toBeNull();
    const after = connected({ document, positions: {} }, left, keepsPlaces);
    expect(after.document.boxes?.both?.in).toEqual(["dear", "quotes"]);
  });

  it("between a source and a stream, and an output and a sink", () => {
    const graph = drawn(flat);
    const fed = wanted(graph, "sources/stray", "feeds", "streams/quotes", "fed");
    expect(refusal(flat, KINDS, fed)).toBeNull();
    expect(connected({ document: flat, positions: {} }, fed, keepsPlaces).document.sources?.stray?.into).toBe("quotes");
    const [edge] = graph.edges.filter((one) => one.target === "sinks/file");
    const taken = wanted(graph, "outputs/late", "delivered", "sinks/file", "in:0");
    expect(refusal(flat, KINDS, taken)).toMatch(/reads alarms already/);
    expect(refusal(flat, KINDS, taken, edge)).toBeNull();
    const after = connected({ document: flat, positions: {} }, taken, keepsPlaces, edge);
    expect(after.document.sinks?.file?.from).toBe("late");
  });

  it("to all boxes of a superbox that read the same", () => {
    const boxes = { a: { kind: "map", in: "ticks" }, b: { kind: "union", in: ["ticks", "a"] } };
    const document = { ...flat, boxes, outputs: {}, connection_points: {}, superboxes: { two: { boxes: ["a", "b"] } } };
    const graph = drawn(document);
    const [edge] = graph.edges.filter((one) => one.target === "superboxes/two");
    const other = wanted(graph, "streams/quotes", "quotes", "superboxes/two", "arc:ticks");
    expect(refusal(document, KINDS, other)).toMatch(/connected here/);
    expect(refusal(document, KINDS, other, edge)).toBeNull();
    const after = connected({ document, positions: {} }, other, keepsPlaces, edge).document.boxes;
    expect([after?.a?.in, after?.b?.in]).toEqual(["quotes", ["quotes", "a"]]);
    if (!edge) throw new Error("there is an arrow");
    const without = disconnected({ document, positions: {} }, edge, keepsPlaces).document.boxes;
    expect([without?.a?.in, without?.b?.in]).toEqual([[], "a"]);
  });
});

describe("the end of an arrow is moved", () => {
  const graph = drawn(flat);
  const edge = graph.edges.find((one) => one.arc === "pairs" && one.target === "boxes/all");

  it("to another arc", () => {
    const to = wanted(graph, "boxes/dear", "dear", "boxes/all", "in:0");
    expect(refusal(flat, KINDS, to, edge)).toBeNull();
    const after = connected({ document: flat, positions: {} }, to, keepsPlaces, edge);
    expect(after.document.boxes?.all?.in).toEqual(["dear", "by_exchange.nasdaq"]);
  });

  it("to another reader, and the first reads it no more", () => {
    const boxes = { ...flat.boxes, free: { kind: "map", in: "" } };
    const document = { ...flat, boxes };
    const to = wanted(drawn(document), "boxes/pairs", "pairs", "boxes/free", "in:0");
    const after = connected({ document, positions: {} }, to, keepsPlaces, edge).document.boxes;
    expect([after?.all?.in, after?.free?.in]).toEqual(["by_exchange.nasdaq", "pairs"]);
  });
});

describe("targets", () => {
  it("have what can be chosen first, and say why the others cannot", () => {
    const graph = drawn(flat);
    const from = graph.byId.get("boxes/dear");
    const [out] = from?.outputs ?? [];
    if (!from || !out) throw new Error("there is a port");
    const found = targets(graph, flat, KINDS, from, out);
    expect(found[0]?.node.title).toBe("all");
    expect(found[0]?.refused).toBeNull();
    expect(found.slice(1).every(({ refused }) => refused !== null)).toBe(true);
    expect(found.some(({ node }) => node.shape === "stream" || node.shape === "sink")).toBe(false);
  });
});

describe("what the server says", () => {
  const problem = (id: string, path: (string | number)[], severity: "error" | "warning" = "error"): Problem => ({
    id,
    found: "f",
    way_out: "w",
    element: "",
    path,
    choices: [],
    severity,
    text: "",
    span: null,
  });
  const checked = (...problems: Problem[]): Checked => ({ valid: false, problems, arcs: {} });
  const readers = [{ to: "boxes/a" as const, input: 0 }];
  const column = problem("unknown-column", ["boxes", "a", "where"]);

  it("refuses an arrow if it brings a problem with columns to who reads it", () => {
    expect(newProblem(checked(), checked(column), readers)).toBe(column);
  });

  it("does not, if the problem was there, is another's, or has nothing to do with columns", () => {
    expect(newProblem(checked(column), checked(column), readers)).toBeNull();
    expect(newProblem(null, checked(problem("unknown-column", ["boxes", "b", "where"])), readers)).toBeNull();
    expect(newProblem(null, checked(problem("missing-parameter", ["boxes", "a"])), readers)).toBeNull();
    expect(newProblem(null, checked(problem("type-mismatch", ["boxes", "a"], "warning")), readers)).toBeNull();
  });
});

it("finds ways along arrows", () => {
  expect(pathBetween(flat, "dear", "both")).toEqual(["dear", "by_exchange", "all", "both"]);
  expect(pathBetween(flat, "both", "dear")).toBeNull();
});

it("draws lines that leave to the right and arrive from the left, back too", () => {
  for (const to of [{ x: 200, y: 80 }, { x: -200, y: 80 }, { x: 5, y: 0 }]) {
    const line = curve({ x: 0, y: 0 }, to);
    expect(line[1].x).toBeGreaterThan(0);
    expect(line[2].x).toBeLessThan(to.x);
    expect(pointOn(line, 0)).toEqual({ x: 0, y: 0 });
    expect(pointOn(line, 1)).toEqual(to);
    expect(pathOf(line)).toMatch(/^M0,0 C/);
  }
});
