// A small network with everything that can be drawn, for tests.

import type { NetworkDocument } from "../src/model/document";
import { makeGraph, type Graph } from "../src/model/graph";
import type { Kinds } from "../src/model/ports";

const one = { least: 1, most: 1, names: [] };
const two = (names: string[]) => ({ least: 2, most: 2, names });
const many = { least: 1, most: null, names: [] };
const OUT = [{ name: "out" }];

export const KINDS: Kinds = new Map([
  [
    "filter",
    {
      title: "Filter",
      family: "filter",
      inputs: one,
      ports: [{ name: "out", when: "where" }, { each: "routes" }, { named_by: "else" }],
      code: {},
    },
  ],
  ["map", { title: "Map", family: "map", inputs: one, ports: OUT, code: {} }],
  ["union", { title: "Union", family: "union", inputs: many, ports: OUT, code: {} }],
  [
    "join",
    {
      title: "Join",
      family: "join",
      inputs: two(["left", "right"]),
      ports: [{ name: "out" }, { name: "late_left", when: "late" }, { name: "late_right", when: "late" }],
      code: {},
    },
  ],
  [
    "aggregate",
    {
      title: "Aggregate",
      family: "window",
      inputs: one,
      ports: [{ name: "out" }, { name: "late", when: "late" }],
      code: {},
    },
  ],
  [
    "python",
    {
      title: "Python",
      family: "python",
      inputs: many,
      ports: [{ of: "class" }],
      code: { Split: ["good", "bad"] },
    },
  ],
]);

export const NETWORK: NetworkDocument = {
  aurora: 1,
  network: "small",
  streams: { ticks: { schema: { ticker: "string", price: "double" } }, quotes: { schema: { ticker: "string" } } },
  boxes: {
    dear: { kind: "filter", in: "ticks", where: "price > 10", description: "what costs more", tags: ["night"] },
    by_exchange: { kind: "filter", in: "dear", routes: { nyse: "true", nasdaq: "false" }, else: "other" },
    pairs: { kind: "aggregate", in: "by_exchange.nyse", late: true, window: { size: "2 tuples" } },
    all: { kind: "union", in: ["pairs", "by_exchange.nasdaq"] },
    both: { kind: "join", in: ["all", "quotes"], on: "left.ticker = right.ticker" },
  },
  outputs: { alarms: { from: "both", qos: { latency: [["0s", 1]] } }, late: { from: "pairs.late" } },
  superboxes: {
    detect: { boxes: ["dear", "inner"], description: "finds them" },
    inner: { boxes: ["by_exchange", "pairs"] },
  },
  connection_points: { recent: { on: "pairs", keep: "2h" }, names: { schema: { ticker: "string" } } },
  sources: { feed: { kind: "tcp", into: "ticks" }, stray: { kind: "tcp", into: "nowhere" } },
  sinks: { file: { kind: "file", from: "alarms" } },
};

export function drawn(document: NetworkDocument = NETWORK, scope: string[] = [], watched = false): Graph {
  return makeGraph({ document, scope, kinds: KINDS, watched });
}

/** `source.port -> target.port` of every edge, which says most at a glance. */
export function arrows(graph: Graph): string[] {
  return graph.edges.map((edge) => `${edge.source} ${edge.sourceHandle} -> ${edge.target} ${edge.targetHandle}`);
}
