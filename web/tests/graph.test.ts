import { describe, expect, it } from "vitest";
import { change } from "../src/model/edits";
import { keepUnchanged, makeGraph, neighbours } from "../src/model/graph";
import { existing, scopesOf } from "../src/model/scopes";
import { arrows, drawn, KINDS, NETWORK } from "./drawn";

const ids = (graph: ReturnType<typeof drawn>) => graph.nodes.map((node) => node.id);
const flat = { ...NETWORK, superboxes: {} };
const bare = { ...flat, outputs: {}, connection_points: {} };

describe("a network without superboxes", () => {
  it("has a node for every element, those that are read first", () => {
    expect(ids(drawn(flat))).toEqual([
      "sources/feed",
      "sources/stray",
      "streams/ticks",
      "streams/quotes",
      "connection_points/recent",
      "connection_points/names",
      "boxes/dear",
      "boxes/by_exchange",
      "boxes/pairs",
      "boxes/all",
      "boxes/both",
      "outputs/alarms",
      "outputs/late",
      "sinks/file",
    ]);
  });

  it("has an arrow for everything that is read", () => {
    expect(arrows(drawn(flat))).toEqual([
      "streams/ticks ticks -> boxes/dear in:0",
      "boxes/dear dear -> boxes/by_exchange in:0",
      "boxes/by_exchange by_exchange.nyse -> boxes/pairs in:0",
      "boxes/pairs pairs -> boxes/all in:0",
      "boxes/by_exchange by_exchange.nasdaq -> boxes/all in:1",
      "boxes/all all -> boxes/both in:0",
      "streams/quotes quotes -> boxes/both in:1",
      "boxes/pairs pairs -> connection_points/recent in:0",
      "boxes/both both -> outputs/alarms in:0",
      "boxes/pairs pairs.late -> outputs/late in:0",
      "sources/feed feeds -> streams/ticks fed",
      "outputs/alarms delivered -> sinks/file in:0",
    ]);
  });

  it("has the ports that parameters make", () => {
    const ports = (id: string) => drawn(flat).byId.get(id)?.outputs.map((port) => port.arc);
    expect(ports("boxes/dear")).toEqual(["dear"]);
    expect(ports("boxes/by_exchange")).toEqual(["by_exchange.nyse", "by_exchange.nasdaq", "by_exchange.other"]);
    expect(ports("boxes/pairs")).toEqual(["pairs", "pairs.late"]);
    const labels = drawn(flat).byId.get("boxes/both")?.inputs.map((port) => port.label);
    expect(labels).toEqual(["left", "right"]);
  });

  it("keeps a place for one more input where a kind takes any number", () => {
    const free = (id: string) => drawn(flat).byId.get(id)?.inputs.map((port) => port.free);
    expect(free("boxes/all")).toEqual([false, false, true]);
    expect(free("boxes/dear")).toEqual([false]);
  });

  it("leads a bare name to the first port, and `.out` to the box", () => {
    const boxes = { ...flat.boxes, a: { kind: "map", in: "by_exchange" }, b: { kind: "map", in: "dear.out" } };
    const found = arrows(drawn({ ...flat, boxes }));
    expect(found).toContain("boxes/by_exchange by_exchange.nyse -> boxes/a in:0");
    expect(found).toContain("boxes/dear dear -> boxes/b in:0");
  });

  it("shows a port that is read and gone, and no arrow from what was never there", () => {
    const boxes = { ...flat.boxes, a: { kind: "map", in: "by_exchange.amex" }, b: { kind: "map", in: "nothing" } };
    const graph = drawn({ ...flat, boxes });
    expect(graph.byId.get("boxes/by_exchange")?.outputs.at(-1)).toMatchObject({ label: "amex", missing: true });
    expect(arrows(graph)).toContain("boxes/by_exchange by_exchange.amex -> boxes/a in:0");
    expect(arrows(graph).some((arrow) => arrow.includes("boxes/b in:0"))).toBe(false);
    expect(graph.byId.get("boxes/b")?.inputs).toMatchObject([{ free: true }]);
  });

  it("takes ports from what the server knows only where the document does not tell", () => {
    const box = { kind: "python", in: "ticks" };
    const boxes = { code: { ...box, class: "Unknown" }, known: { ...box, class: "Split" } };
    const seen = { document: { ...flat, boxes }, scope: [], kinds: KINDS };
    const graph = makeGraph({ ...seen, known: ["code.left", "code.right", "known.stale"] });
    const ports = (id: string) => graph.byId.get(id)?.outputs.map((port) => port.arc);
    expect(ports("boxes/code")).toEqual(["code.left", "code.right"]);
    expect(ports("boxes/known")).toEqual(["known.good", "known.bad"]);
  });

  it("survives a cycle", () => {
    const boxes = { a: { kind: "map", in: "b" }, b: { kind: "map", in: "a" } };
    expect(arrows(drawn({ aurora: 1, network: "x", boxes }))).toHaveLength(2);
  });
});

describe("superboxes", () => {
  it("are one node each, with the ports of what crosses their border", () => {
    const graph = drawn();
    const boxes = ids(graph).filter((id) => /^(boxes|superboxes)/.test(id));
    expect(boxes).toEqual(["superboxes/detect", "boxes/all", "boxes/both"]);
    const detect = graph.byId.get("superboxes/detect");
    expect(detect?.inputs.map((port) => port.label)).toEqual(["ticks"]);
    // Who reads `pairs` outside is `all`; nobody reads `by_exchange.other`, so it can still be connected.
    expect(detect?.outputs.map((port) => port.arc)).toEqual([
      "by_exchange.nasdaq",
      "by_exchange.other",
      "pairs",
      "pairs.late",
    ]);
    expect(arrows(graph)).toContain("superboxes/detect pairs -> boxes/all in:0");
    expect(arrows(graph)).toContain("streams/ticks ticks -> superboxes/detect arc:ticks");
  });

  it("show inside what is outside as ghosts", () => {
    const graph = drawn(NETWORK, ["detect"]);
    expect(arrows(graph)).toEqual([
      "from:ticks ticks -> boxes/dear in:0",
      "boxes/dear dear -> superboxes/inner arc:dear",
      "superboxes/inner pairs -> to:boxes/all in:0",
      "superboxes/inner by_exchange.nasdaq -> to:boxes/all in:0",
      "superboxes/inner pairs.late -> to:outputs/late in:0",
    ]);
    expect(graph.byId.get("from:ticks")).toMatchObject({ element: "streams/ticks", caption: "stream", shape: "ghost" });
  });

  it("nest, and say where a ghost stands", () => {
    const graph = drawn(NETWORK, ["detect", "inner"]);
    expect(ids(graph)).toEqual([
      "connection_points/recent",
      "boxes/by_exchange",
      "boxes/pairs",
      "from:dear",
      "to:boxes/all",
      "to:outputs/late",
    ]);
    expect(graph.byId.get("from:dear")).toMatchObject({ element: "boxes/dear", caption: "detect" });
  });

  it("have one arrow for several readers of an arc, which names them all", () => {
    const boxes = { a: { kind: "map", in: "ticks" }, b: { kind: "union", in: ["ticks", "a"] } };
    const document = { ...bare, boxes, superboxes: { both: { boxes: ["a", "b"] } } };
    const [edge, ...others] = drawn(document).edges.filter((one) => one.target === "superboxes/both");
    expect(others).toEqual([]);
    expect(edge?.readers).toEqual([
      { to: "boxes/a", input: 0 },
      { to: "boxes/b", input: 0 },
    ]);
  });

  it("offer the inputs that boxes in them still need", () => {
    const boxes = { a: { kind: "join", in: "ticks" }, b: { kind: "map", in: "" } };
    const document = { ...bare, boxes, superboxes: { both: { boxes: ["a", "b"] } } };
    const ports = drawn(document).byId.get("superboxes/both")?.inputs;
    expect(ports?.map((port) => [port.label, port.free, port.readers[0]])).toEqual([
      ["ticks", false, { to: "boxes/a", input: 0 }],
      ["a", true, { to: "boxes/a", input: 1 }],
      ["b", true, { to: "boxes/b", input: 0 }],
    ]);
  });

  it("that hold each other in a circle hold nothing", () => {
    const document = { ...NETWORK, superboxes: { a: { boxes: ["b", "dear"] }, b: { boxes: ["a"] } } };
    expect(scopesOf(document).boxes.get("dear")).toEqual([]);
    expect(ids(drawn(document))).toContain("boxes/dear");
  });

  it("that are gone are left", () => {
    expect(existing(NETWORK, ["detect", "inner"])).toEqual(["detect", "inner"]);
    expect(existing(NETWORK, ["inner"])).toEqual([]);
    const without = { ...NETWORK, superboxes: { detect: { boxes: ["dear"] } } };
    expect(existing(without, ["detect", "inner"])).toEqual(["detect"]);
  });
});

describe("an edit", () => {
  it("leaves the nodes and edges that it does not concern as they are", () => {
    const before = drawn(flat);
    const edited = change({ document: flat, positions: {} }, "boxes/dear", (box) => ({ ...box, where: "price > 20" }));
    const after = keepUnchanged(before, drawn(edited.document));
    expect(after.nodes.filter((node, at) => node !== before.nodes[at]).map((node) => node.id)).toEqual(["boxes/dear"]);
    expect(after.edges.every((edge, at) => edge === before.edges[at])).toBe(true);
  });
});

describe("neighbours", () => {
  it("are found along arrows, both ways", () => {
    const names = (way: "on" | "back") => neighbours(drawn(flat), "boxes/by_exchange", way).map((node) => node.title);
    expect(names("on")).toEqual(["pairs", "all"]);
    expect(names("back")).toEqual(["dear"]);
  });
});

describe("nodes", () => {
  it("are as large as their rows, and have ports inside", () => {
    for (const watched of [true, false]) {
      for (const node of makeGraph({ document: flat, scope: [], kinds: KINDS, watched }).nodes) {
        for (const port of [...node.inputs, ...node.outputs]) {
          expect(port.y).toBeGreaterThan(0);
          expect(port.y).toBeLessThan(node.height);
        }
      }
    }
  });
});
