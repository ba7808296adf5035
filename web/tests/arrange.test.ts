import { describe, expect, it } from "vitest";
import { align, between, distribute, nudge, snapped } from "../src/model/arrange";

const nodes = [
  { id: "a", x: 0, y: 0, width: 100, height: 40 },
  { id: "b", x: 150, y: 90, width: 50, height: 20 },
  { id: "c", x: 400, y: 30, width: 100, height: 60 },
];

describe("aligning", () => {
  it("brings each side into line and moves only what must move", () => {
    expect(align(nodes, "left")).toEqual({ b: { x: 0, y: 90 }, c: { x: 0, y: 30 } });
    expect(align(nodes, "right")).toEqual({ a: { x: 400, y: 0 }, b: { x: 450, y: 90 } });
    expect(align(nodes, "centre")).toEqual({ a: { x: 200, y: 0 }, b: { x: 225, y: 90 }, c: { x: 200, y: 30 } });
    expect(align(nodes, "top")).toEqual({ b: { x: 150, y: 0 }, c: { x: 400, y: 0 } });
    expect(align(nodes, "bottom")).toEqual({ a: { x: 0, y: 70 }, c: { x: 400, y: 50 } });
    expect(align(nodes, "middle")).toEqual({ a: { x: 0, y: 35 }, b: { x: 150, y: 45 }, c: { x: 400, y: 25 } });
  });

  it("takes two at least", () => {
    expect(align(nodes.slice(0, 1), "left")).toEqual({});
    expect(align([], "left")).toEqual({});
  });
});

describe("distributing", () => {
  it("makes gaps equal between the outermost, in the order in which they stand", () => {
    expect(distribute(nodes, "x")).toEqual({ b: { x: 225, y: 90 } });
    // By their middles it goes a, c, b; there are 110 for 120 of height, so they overlap by the same amount.
    expect(distribute(nodes, "y")).toEqual({ c: { x: 400, y: 35 } });
  });

  it("takes three at least", () => {
    expect(distribute(nodes.slice(0, 2), "x")).toEqual({});
  });
});

it("nudges, and snaps to the grid", () => {
  expect(nudge(nodes.slice(0, 1), { x: 8, y: 0 })).toEqual({ a: { x: 8, y: 0 } });
  expect(snapped({ x: 13, y: -3 })).toEqual({ x: 16, y: -0 });
});

it("moves from one arrangement to another, and arrives", () => {
  const from = { a: { x: 0, y: 0 } };
  const to = { a: { x: 100, y: 0 }, b: { x: 5, y: 5 } };
  expect(between(from, to, 0)).toEqual({ a: { x: 0, y: 0 }, b: { x: 5, y: 5 } });
  expect(between(from, to, 0.5).a?.x).toBeGreaterThan(50);
  expect(between(from, to, 1)).toEqual(to);
});
