import { describe, expect, it } from "vitest";
import type { NetworkDocument } from "../src/model/document";
import { fullness, heatOf, patienceOf, patiences, toneOf } from "../src/model/heat";

describe("patience", () => {
  it("ends where a graph begins to fall, and where it ends to", () => {
    expect(patienceOf([{ x: 0, u: 1 }, { x: 2, u: 1 }, { x: 5, u: 0 }, { x: 9, u: 0 }])).toEqual({ good: 2, end: 5 });
    expect(patienceOf([{ x: 0, u: 1 }, { x: 2, u: 1 }])).toBeNull();
    expect(patienceOf(null)).toBeNull();
  });

  it("of an arc is that of the most impatient output behind it", () => {
    const document: NetworkDocument = {
      aurora: 1,
      network: "n",
      streams: { s: { schema: { x: "int" } } },
      boxes: {
        clean: { kind: "filter", in: "s" },
        late: { kind: "filter", in: "clean.out" },
        both: { kind: "union", in: ["clean", "late"] },
        aside: { kind: "filter", in: "s" },
      },
      outputs: {
        slow: { from: "both", qos: { latency: [["0s", 1], ["10s", 1], ["20s", 0]] } },
        quick: { from: "late", qos: { latency: [["0s", 1], ["500ms", 1], ["2s", 0]] } },
        log: { from: "aside" },
      },
    };
    const found = patiences(document);
    expect(found.get("both")?.good).toBe(10);
    expect(found.get("late")?.good).toBe(0.5);
    expect(found.get("clean")?.good).toBe(0.5);
    expect(found.get("s")).toEqual({ good: 0.5, end: 2 });
    expect(found.has("aside")).toBe(false);
    expect(patiences(document)).toBe(found);
  });
});

describe("heat", () => {
  it("grows with age from calm to burnt", () => {
    const patience = { good: 1, end: 3 };
    expect([0, 0.2, 0.6, 1, 2, 3, 9].map((age) => fullness(age, patience))).toEqual([0, 0.1, 0.3, 0.5, 0.75, 1, 1]);
    expect([0, 0.2, 0.6, 1, 2, 3].map((age) => heatOf(fullness(age, patience)))).toEqual(["calm", "calm", "warm", "hot", "hot", "burnt"]);
    expect(fullness(2, { good: 1, end: 1 })).toBe(1);
  });

  it("has a tone for utilities", () => {
    expect([1, 0.7, 0.1, null].map(toneOf)).toEqual(["good", "warn", "bad", "none"]);
  });
});
