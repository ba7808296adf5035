import { describe, expect, it } from "vitest";
import { moved, nearest, stretchOf } from "../src/model/brushing";

describe("a stretch of time chosen by keyboard", () => {
  it("begins at the newest and moves by sixtieths of what is shown", () => {
    expect(moved(null, "ArrowLeft", false, 0, 300)).toEqual({ at: 295, anchor: null });
    expect(moved({ at: 100, anchor: null }, "ArrowRight", false, 0, 300)).toEqual({ at: 105, anchor: null });
    expect(moved({ at: 100, anchor: null }, "PageUp", false, 0, 300)).toEqual({ at: 50, anchor: null });
    expect(moved({ at: 100, anchor: null }, "Home", false, 0, 300)).toEqual({ at: 0, anchor: null });
  });

  it("is stretched from where the crosshair stood, to either side", () => {
    const first = moved({ at: 100, anchor: null }, "ArrowLeft", true, 0, 300);
    expect(first).toEqual({ at: 95, anchor: 100 });
    const second = moved(first ?? null, "End", true, 0, 300);
    expect(second).toEqual({ at: 300, anchor: 100 });
    expect(stretchOf(first ?? null)).toEqual([95, 100]);
    expect(stretchOf(second ?? null)).toEqual([100, 300]);
    expect(moved(second ?? null, "ArrowLeft", false, 0, 300)).toEqual({ at: 295, anchor: null });
  });

  it("stays within what is shown, which moves on meanwhile", () => {
    expect(moved({ at: 5, anchor: 2 }, "ArrowLeft", true, 10, 310)).toEqual({ at: 10, anchor: 10 });
    expect(stretchOf({ at: 10, anchor: 10 })).toBeNull();
    expect(stretchOf(null)).toBeNull();
  });

  it("leaves other keys alone", () => {
    expect(moved(null, "a", false, 0, 300)).toBeUndefined();
    expect(moved(null, "toString", false, 0, 300)).toBeUndefined();
  });

  it("knows the moment nearest to it", () => {
    expect(nearest([], 3)).toBe(-1);
    expect([0, 4, 6, 10, 99].map((at) => nearest([1, 5, 9], at))).toEqual([0, 1, 1, 2, 2]);
  });
});
