import { describe, expect, it } from "vitest";
import {
  cameLately, type DropInForce, dropPlace, dropsOn, extent, type History, inForce, joined, keptShare, later, latest, niceTop, sparkPaths, thinned,
} from "../src/model/series";

function history(from: number, values: (number | null)[], name = "a"): History {
  return { of: "box", step_s: 1, times: values.map((_, at) => from + at), series: { [name]: { load: values } }, units: {} };
}

describe("joining", () => {
  it("puts what came since behind what was known", () => {
    const found = joined(history(10, [1, 2, 3]), history(12, [30, 4, 5]), 100);
    expect(found.times).toEqual([10, 11, 12, 13, 14]);
    expect(found.series.a?.load).toEqual([1, 2, 30, 4, 5]);
  });

  it("keeps no more than was asked for", () => {
    const found = joined(history(10, [1, 2, 3, 4]), history(14, [5]), 3);
    expect(found.times).toEqual([12, 13, 14]);
    expect(found.series.a?.load).toEqual([3, 4, 5]);
  });

  it("leaves a gap for an element that was not there", () => {
    const found = joined(history(10, [1, 2]), history(11, [7, 8], "b"), 100);
    expect(found.series).toEqual({ b: { load: [null, 7, 8] } });
  });

  it("starts anew after a long time", () => {
    const since = history(50, [1]);
    expect(joined(history(10, [1, 2]), since, 100)).toBe(since);
    expect(joined(null, since, 100)).toBe(since);
  });
});

describe("lines", () => {
  const size = { width: 30, height: 10 };

  it("have gaps, and end at the right", () => {
    expect(sparkPaths([0, 1, null, 2], [0, 2], size, 4).line).toBe("M0 10L10 5M30 0");
    expect(sparkPaths([2], [0, 2], size, 4).line).toBe("M30 0");
    expect(sparkPaths([null], [0, 2], size, 4)).toEqual({ line: "", area: "" });
  });

  it("stay within their range", () => {
    expect(sparkPaths([9, -9], [0, 2], size, 2).line).toBe("M0 0L30 10");
  });

  it("are filled part by part", () => {
    expect(sparkPaths([1, 1, null, 1, 1], [0, 2], { width: 40, height: 10 }, 5).area).toBe(
      "M0 5L10 5L10 10L0 10ZM30 5L40 5L40 10L30 10Z",
    );
  });

  it("are thinned to means, from the latest backwards", () => {
    expect(thinned([1, 2, 3, 4, 5], 3)).toEqual([1, 2.5, 4.5]);
    expect(thinned([null, null, 3, null], 2)).toEqual([null, 3]);
    expect(thinned([1, 2], 2)).toEqual([1, 2]);
  });
});

describe("what came lately", () => {
  it("forgets what was lost long ago", () => {
    let now = later(undefined, { tuples: 100, lost: 100 }, 0);
    expect(cameLately(now)).toBeNull();
    now = later(now, { tuples: 150, lost: 150 }, 1);
    expect(cameLately(now)).toBe(0.5);
    for (let second = 1; second < 60; second += 1) now = later(now, { tuples: 150 + second * 50, lost: 150 }, 1);
    expect(cameLately(now)).toBeGreaterThan(0.999);
  });

  it("begins anew with the network", () => {
    const now = later(later(undefined, { tuples: 1000, lost: 0 }, 0), { tuples: 5, lost: 5 }, 1);
    expect(cameLately(now)).toBe(0.5);
  });
});

describe("values", () => {
  it("have a latest and an extent", () => {
    expect(latest([1, 2, null])).toBe(2);
    expect(latest([null])).toBeNull();
    expect(latest(undefined)).toBeNull();
    expect(extent([3, null, -1])).toEqual([-1, 3]);
    expect(extent([null])).toBeNull();
  });

  it("have an axis that does not jump", () => {
    expect([0, 0.9, 1.2, 4, 87, 1001].map(niceTop)).toEqual([1, 1, 1.5, 5, 100, 1500]);
  });
});

describe("drops", () => {
  const drop = (place: string, more: Partial<DropInForce> = {}): DropInForce => ({
    place, reason: "random", keep: 0.5, outputs: [], since: "", shed: 0, ...more,
  });

  it("say where they are", () => {
    expect(dropPlace("ticks before late: random")).toEqual({ arc: "ticks", before: "late", reason: "random" });
    expect(dropPlace("by.nyse")).toEqual({ arc: "by.nyse", before: null, reason: "" });
  });

  it("stand on the arrows that they thin", () => {
    const drops = [drop("ticks"), drop("ticks before late"), drop("ticks before other"), drop("late"), drop("ticks", { reason: "tuples" })];
    expect(dropsOn(drops, "ticks", ["late"]).map((one) => one.place)).toEqual(["ticks", "ticks before late"]);
    expect(dropsOn(drops, "ticks", []).map((one) => one.place)).toEqual(["ticks"]);
  });

  it("are known every second, and described less often", () => {
    const described = [drop("ticks before late", { reason: "semantic", where: "x < 5", outputs: ["alarms"], since: "then" })];
    const counts = {
      "ticks before late: semantic": { shed: 9, in_force: 1, keep: null },
      "ticks: random": { shed: 3, in_force: 1, keep: 0.25 },
      "ticks before other: random": { shed: 3, in_force: 0, keep: null },
    };
    expect(inForce(counts, described)).toEqual([
      { ...described[0], shed: 9 },
      { place: "ticks", reason: "random", keep: 0.25, shed: 3, outputs: [], since: "" },
    ]);
  });

  it("let a share through, one after the other", () => {
    expect(keptShare([drop("a"), drop("a")])).toBe(0.25);
    expect(keptShare([drop("a", { where: "x > 1" })])).toBeNull();
  });
});
