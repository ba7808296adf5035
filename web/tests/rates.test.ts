import { describe, expect, it } from "vitest";
import { commonFactor, factorAt, lastPosition, positionOf, rateAt, showTimes } from "../src/model/rates";

const SPAN = { least: 0.1, most: 500 };

describe("a slider for the rate", () => {
  it("goes from end to end in steps of the same ratio", () => {
    const last = lastPosition(SPAN);
    const factors = Array.from({ length: last + 1 }, (_, position) => factorAt(position, SPAN));
    expect(factors[0]).toBe(0.1);
    expect(factors.at(-1)).toBe(500);
    for (let at = 1; at < factors.length; at += 1) {
      const ratio = (factors[at] ?? 0) / (factors[at - 1] ?? 1);
      expect(ratio).toBeGreaterThan(1.04);
      expect(ratio).toBeLessThan(1.2);
    }
  });

  it("has a place for what people look for", () => {
    for (const factor of [0.1, 1, 10, 100, 500]) expect(factorAt(positionOf(factor, SPAN), SPAN)).toBe(factor);
  });

  it("shows what others turned as near as it can", () => {
    expect(positionOf(1e6, SPAN)).toBe(lastPosition(SPAN));
    expect(positionOf(0.001, SPAN)).toBe(0);
    expect(positionOf(factorAt(17, SPAN), SPAN)).toBe(17);
  });

  it("works for the smallest span there is", () => {
    const span = { least: 0.1, most: 10 };
    expect(factorAt(lastPosition(span), span)).toBe(10);
  });
});

describe("sources", () => {
  const sources = [
    { factor: 2, tuples_per_s: 4_000 },
    { factor: 2, tuples_per_s: 2_460 },
  ];
  it("are turned together", () => {
    expect(commonFactor(sources)).toBe(2);
    expect(rateAt(sources, 2)).toBe(6_460);
    expect(rateAt(sources, 100)).toBe(323_000);
  });
  it("may have been turned apart", () => {
    expect(commonFactor([{ factor: 1, tuples_per_s: 1 }, { factor: 2, tuples_per_s: 1 }])).toBeNull();
    expect(commonFactor([])).toBeNull();
  });
  it("are told in short", () => {
    expect([0.1, 1, 2.5, 500, 1 / 3].map(showTimes)).toEqual(["×0.1", "×1", "×2.5", "×500", "×0.333"]);
  });
});
