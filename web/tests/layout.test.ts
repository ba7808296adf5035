import { describe, expect, it } from "vitest";
import { overlaps } from "../src/model/geometry";
import { fillIn, hasUnplaced, layoutInput, layoutPlaces, standing } from "../src/model/layout";
import { applied, changesOf } from "../src/model/layoutChanges";
import { quickLayout } from "../src/model/layoutQuick";
import type { Positions } from "../src/state/draft";
import { drawn, NETWORK } from "./drawn";

const flat = { ...NETWORK, superboxes: {} };
const graph = drawn(flat);
const input = layoutInput(graph);
/** As a layout engine would: one beside the other, in the order in which they are given. */
const laid = new Map((input.children ?? []).map((child, at) => [child.id, { x: at * 300, y: 0 }]));

describe("what the layout engine is given", () => {
  it("has no sources and sinks that stand beside something, but room for them", () => {
    const ids = (input.children ?? []).map((child) => child.id);
    expect(ids).toContain("sources/stray");
    expect(ids).not.toContain("sources/feed");
    expect(ids).not.toContain("sinks/file");
    const width = (id: string) => input.children?.find((child) => child.id === id)?.width ?? 0;
    expect(width("streams/ticks")).toBeGreaterThan(width("streams/quotes"));
    const places = layoutPlaces(graph, { id: "root", children: [{ id: "streams/ticks", x: 10, y: 20 }] });
    expect(places.get("streams/ticks")).toEqual({ x: 10 + width("streams/ticks") - width("streams/quotes"), y: 20 });
  });

  it("has every port where it is drawn, and arrows between them", () => {
    const split = input.children?.find((child) => child.id === "boxes/by_exchange");
    const node = graph.byId.get("boxes/by_exchange");
    const heights = [...(node?.inputs ?? []), ...(node?.outputs ?? [])].map((port) => port.y);
    expect(split?.ports?.map((port) => port.y)).toEqual(heights);
    const ports = new Set(input.children?.flatMap((child) => child.ports?.map((port) => port.id) ?? []));
    for (const edge of input.edges ?? []) {
      expect([...edge.sources, ...edge.targets].filter((port) => !ports.has(port))).toEqual([]);
    }
  });

  it("leaves room for what elements show when they run", () => {
    const grown = drawn(flat, [], true);
    const height = (id: string) => input.children?.find((child) => child.id === id)?.height ?? 0;
    const large = grown.nodes.filter((node) => node.watched);
    expect(large.length).toBeGreaterThan(3);
    for (const node of large) {
      expect(height(node.id)).toBeGreaterThanOrEqual(node.height);
      expect(graph.byId.get(node.id)?.height).toBeLessThan(node.height);
    }
  });

  it("has streams first and outputs last", () => {
    const layer = (id: string) =>
      input.children?.find((child) => child.id === id)?.layoutOptions?.["elk.layered.layering.layerConstraint"];
    expect([layer("streams/ticks"), layer("boxes/dear"), layer("outputs/late")]).toEqual(["FIRST", undefined, "LAST"]);
  });
});

describe("what has no place", () => {
  it("gets the layout's if nothing has one", () => {
    expect(hasUnplaced(graph, {})).toBe(true);
    expect(fillIn(graph, {}, laid)).toEqual(laid);
    expect(hasUnplaced(graph, Object.fromEntries(laid) as Positions)).toBe(false);
  });

  it("goes where the layout has it as seen from what it is connected with", () => {
    const known = Object.fromEntries([...laid].map(([id, at]) => [id, { x: at.x + 1000, y: at.y + 70 }])) as Positions;
    const { "boxes/pairs": wanted, ...rest } = known as Record<string, { x: number; y: number }>;
    expect(fillIn(graph, rest as Positions, laid)).toEqual(new Map([["boxes/pairs", wanted]]));
  });

  it("does not come to stand on something", () => {
    const everywhere = new Map([...laid.keys()].map((id) => [id, { x: 0, y: 0 }]));
    const made = fillIn(graph, { "boxes/dear": { x: 0, y: 0 } }, everywhere);
    const rects = [...made, ["boxes/dear", { x: 0, y: 0 }] as const].map(([id, at]) => {
      const node = graph.byId.get(id);
      return { ...at, width: node?.width ?? 0, height: node?.height ?? 0 };
    });
    expect(rects).toHaveLength(laid.size);
    rects.forEach((rect, at) => {
      expect(rects.slice(at + 1).some((other) => overlaps(rect, other))).toBe(false);
    });
  });
});

describe("standing", () => {
  it("lets sources and sinks follow what they belong to, until somebody moves them", () => {
    const positions: Positions = { "streams/ticks": { x: 500, y: 100 }, "outputs/alarms": { x: 900, y: 40 } };
    const places = standing(graph, positions);
    expect(places.get("sources/feed")?.x).toBeLessThan(500);
    expect(places.get("sinks/file")?.x).toBeGreaterThan(900);
    const moved = standing(graph, { ...positions, "sources/feed": { x: 1, y: 2 } });
    expect(moved.get("sources/feed")).toEqual({ x: 1, y: 2 });
    expect(places.has("sources/stray")).toBe(false);
  });

  it("puts ghosts at the border, at the height of what they are connected with, one below the other", () => {
    const inside = drawn(NETWORK, ["detect", "inner"]);
    const positions: Positions = { "boxes/by_exchange": { x: 0, y: 0 }, "boxes/pairs": { x: 400, y: 300 } };
    const places = standing(inside, positions);
    expect(places.get("from:dear")?.x).toBeLessThan(0);
    const ends = [places.get("to:boxes/all"), places.get("to:outputs/late")];
    for (const end of ends) expect(end?.x).toBeGreaterThan(400);
    expect(Math.abs((ends[0]?.y ?? 0) - (ends[1]?.y ?? 0))).toBeGreaterThan(30);
  });
});

describe("what is sent to the server", () => {
  it("is what was moved, and what is neither drawn nor runs any more", () => {
    const saved = { "boxes/dear": { x: 1, y: 1 }, "boxes/all": { x: 2, y: 2 }, "boxes/gone": { x: 3, y: 3 } };
    const positions: Positions = {
      "boxes/dear": { x: 1, y: 1 },
      "boxes/all": { x: 9, y: 2 },
      "boxes/pairs": { x: 4, y: 4 },
      "boxes/other": { x: 5, y: 5 },
    };
    const changes = changesOf(saved, positions, [NETWORK]);
    expect(changes).toEqual({ "boxes/all": { x: 9, y: 2 }, "boxes/pairs": { x: 4, y: 4 }, "boxes/gone": null });
    expect(changesOf(applied(saved, changes), positions, [NETWORK])).toEqual({});
    const running = { ...NETWORK, boxes: { gone: { kind: "map", in: "ticks" } } };
    expect(changesOf(saved, positions, [NETWORK, running])).not.toHaveProperty("boxes/gone");
  });
});

describe("the quick layout", () => {
  const places = quickLayout(graph);
  const x = (id: string) => places.get(id)?.x ?? Number.NaN;

  it("has each node right of what it reads, and outputs at the right", () => {
    expect([...places.keys()].sort()).toEqual([...laid.keys()].sort());
    for (const edge of graph.edges) {
      if (places.has(edge.source) && places.has(edge.target)) expect(x(edge.source)).toBeLessThan(x(edge.target));
    }
    expect(x("outputs/late")).toBe(x("outputs/alarms"));
  });

  it("has nobody on somebody else, and survives a cycle", () => {
    const rects = [...places].map(([id, at]) => {
      const node = graph.byId.get(id);
      return { ...at, width: node?.width ?? 0, height: node?.height ?? 0 };
    });
    rects.forEach((rect, at) => {
      expect(rects.slice(at + 1).some((other) => overlaps(rect, other))).toBe(false);
    });
    const boxes = { a: { kind: "map", in: "b" }, b: { kind: "map", in: "a" } };
    expect(quickLayout(drawn({ aurora: 1, network: "x", boxes })).size).toBe(2);
  });
});
