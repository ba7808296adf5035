import { describe, expect, it } from "vitest";
import {
  addPoint,
  axisOf,
  type Graph,
  isFixed,
  linePath,
  mended,
  movePoint,
  niceStep,
  parseSeconds,
  placeOf,
  pointAt,
  readGraph,
  removePoint,
  showSeconds,
  snap,
  snapOf,
  startGraph,
  tellSeconds,
  ticks,
  utilityAt,
  writeGraph,
  writeSeconds,
} from "../src/model/qos";

const LATENCY: Graph = [{ x: 0, u: 1 }, { x: 2, u: 1 }, { x: 5, u: 0 }];
const LOSS: Graph = [{ x: 0, u: 0 }, { x: 50, u: 0.5 }, { x: 100, u: 1 }];
const VALUE: Graph = [{ x: 0, u: 0.1 }, { x: 90, u: 0.1 }, { x: 100, u: 1 }];

describe("durations", () => {
  it("are read and written as documents do", () => {
    expect(["200ms", "5s", "1m30s", "2h", "1.5s", 3, "3"].map(parseSeconds)).toEqual([0.2, 5, 90, 7200, 1.5, 3, 3]);
    expect(["", "fast", "5 parsecs", null, "5s later"].map(parseSeconds)).toEqual([null, null, null, null, null]);
    expect([0, 2, 1.5, 0.0000005, 90, 7200].map(writeSeconds)).toEqual(["0s", "2s", "1500ms", "1us", "90s", "2h"]);
    expect([0, 5.6, 0.25, 90, 150, 1 / 3].map(tellSeconds)).toEqual(["0s", "5.6s", "250ms", "90s", "2.5m", "333.333ms"]);
    for (const seconds of [0, 5.6, 0.25, 90, 150, 7_201, 0.000_04]) expect(parseSeconds(tellSeconds(seconds))).toBeCloseTo(seconds, 6);
    expect([0, 0.2, 1.5, 300, 0.00002].map(showSeconds)).toEqual(["0 s", "200 ms", "1.5 s", "5 min", "20 µs"]);
  });
});

describe("documents", () => {
  it("come back as they were", () => {
    const cases = [
      ["latency", [["0s", 1], ["2s", 1], ["5s", 0]]],
      ["loss", [[100, 1], [50, 0.5], [0, 0]]],
      ["value", [[0, 0.1], [90, 0.1], [100, 1]]],
    ] as const;
    for (const [kind, points] of cases) expect(writeGraph(kind, readGraph(kind, points) ?? [])).toEqual(points);
  });

  it("that are no graphs are not read", () => {
    expect(readGraph("latency", [["soon", 1], ["2s", 0]])).toBe(null);
    expect(readGraph("loss", [[100, 1]])).toBe(null);
    expect(readGraph("value", "nothing")).toBe(null);
  });

  it("start with graphs that keep the rules", () => {
    for (const kind of ["latency", "loss", "value"] as const) expect(mended(kind, startGraph(kind))).toEqual(startGraph(kind));
  });
});

describe("rules", () => {
  it("points do not pass their neighbours", () => {
    expect(movePoint("latency", LATENCY, 1, { x: 9, u: 1 }, 0.1)[1]).toEqual({ x: 4.9, u: 1 });
    expect(movePoint("value", VALUE, 1, { x: -4, u: 0.5 }, 1)[1]).toEqual({ x: 1, u: 0.5 });
  });

  it("more delay and fewer tuples are never worth more, and utility stays between 0 and 1", () => {
    expect(movePoint("latency", LATENCY, 2, { x: 5, u: 3 }, 0.1)[2]?.u).toBe(1);
    expect(movePoint("latency", LATENCY, 1, { x: 2, u: -1 }, 0.1)[1]?.u).toBe(0);
    expect(movePoint("loss", LOSS, 0, { x: 0, u: 0.9 }, 1)[0]?.u).toBe(0.5);
    expect(movePoint("loss", LOSS, 1, { x: 40, u: 0.2 }, 1)[1]).toEqual({ x: 40, u: 0.2 });
    expect(movePoint("value", VALUE, 2, { x: 120, u: 2 }, 1)[2]).toEqual({ x: 120, u: 1 });
  });

  it("all tuples are worth 1, and so is no delay", () => {
    expect(isFixed("loss", LOSS, 2)).toBe(true);
    expect(movePoint("loss", LOSS, 2, { x: 60, u: 0 }, 1)).toEqual(LOSS);
    expect(movePoint("latency", LATENCY, 0, { x: 1, u: 0.2 }, 0.1)[0]).toEqual({ x: 1, u: 1 });
    expect(movePoint("latency", LATENCY, 0, { x: -1, u: 1 }, 0.1)[0]?.x).toBe(0);
  });

  it("a point is added on the line", () => {
    expect(addPoint("latency", LATENCY, 3.5, 0.1)).toEqual({ graph: [LATENCY[0], LATENCY[1], { x: 3.5, u: 0.5 }, LATENCY[2]], index: 2 });
    expect(addPoint("latency", LATENCY, 8, 0.1)?.index).toBe(3);
    expect(addPoint("latency", LATENCY, 2.05, 0.1)).toBe(null);
    expect(addPoint("latency", LATENCY, -1, 0.1)).toBe(null);
    expect(addPoint("loss", LOSS, 101, 0.1)).toBe(null);
    expect(addPoint("latency", [{ x: 1, u: 1 }, { x: 2, u: 0 }], 0.5, 0.1)?.graph[0]).toEqual({ x: 0.5, u: 1 });
  });

  it("two points stay, and the one that the rules ask for", () => {
    expect(removePoint("latency", LATENCY, 1)).toEqual([LATENCY[0], LATENCY[2]]);
    expect(removePoint("latency", LATENCY, 0)).toBe(null);
    expect(removePoint("loss", LOSS, 2)).toBe(null);
    expect(removePoint("loss", LOSS.slice(1), 0)).toBe(null);
  });

  it("what was typed is brought to the rules", () => {
    expect(mended("latency", [{ x: 5, u: 0.5 }, { x: 0, u: 0.3 }, { x: 9, u: 0.8 }])).toEqual([
      { x: 0, u: 1 }, { x: 5, u: 0.5 }, { x: 9, u: 0.5 },
    ]);
    expect(mended("loss", [{ x: 120, u: 0 }, { x: 40, u: 0.2 }, { x: 10, u: 0.7 }])).toEqual([
      { x: 10, u: 0.2 }, { x: 40, u: 0.2 }, { x: 100, u: 1 },
    ]);
    expect(mended("value", [{ x: 3, u: 2 }, { x: -1, u: 0.5 }])).toEqual([{ x: -1, u: 0.5 }, { x: 3, u: 1 }]);
  });

  it("utility is straight between points and level beyond them", () => {
    expect([-1, 0, 3.5, 5, 99].map((x) => utilityAt(LATENCY, x))).toEqual([1, 1, 0.5, 0, 0]);
  });
});

describe("pictures", () => {
  const frame = { left: 30, top: 10, width: 200, height: 100 };

  it("axes show the whole graph and what is measured, on round numbers", () => {
    expect(axisOf("latency", LATENCY)).toEqual({ from: 0, to: 6, step: 2 });
    expect(axisOf("latency", LATENCY, [11])).toEqual({ from: 0, to: 15, step: 5 });
    expect(axisOf("loss", LOSS)).toEqual({ from: 100, to: 0, step: 25 });
    expect(ticks(axisOf("loss", LOSS))).toEqual([0, 25, 50, 75, 100]);
    const { from, to } = axisOf("value", [{ x: -3, u: 0 }, { x: 7, u: 1 }]);
    expect([from <= -3, to >= 7]).toEqual([true, true]);
    expect(axisOf("value", [{ x: 4, u: 0 }, { x: 4, u: 1 }]).to).toBeGreaterThan(4);
    expect([1, 3, 45, 0.07].map((width) => niceStep(width, 4))).toEqual([0.5, 1, 20, 0.02]);
  });

  it("places and points are each other's inverse, whichever way the axis runs", () => {
    for (const axis of [axisOf("latency", LATENCY), axisOf("loss", LOSS)]) {
      const { left, top } = placeOf({ x: 2, u: 0.25 }, axis, frame);
      const point = pointAt(left, top, axis, frame);
      expect(point.x).toBeCloseTo(2);
      expect(point.u).toBeCloseTo(0.25);
    }
    expect(placeOf({ x: 100, u: 1 }, axisOf("loss", LOSS), frame)).toEqual({ left: 30, top: 10 });
  });

  it("the line runs over the whole axis", () => {
    expect(linePath(LATENCY, { from: 0, to: 10, step: 2 }, frame)).toBe("M30.0 10.0L70.0 10.0L130.0 110.0L230.0 110.0");
    expect(linePath(LOSS, { from: 100, to: 0, step: 25 }, frame)).toBe("M30.0 10.0L130.0 60.0L230.0 110.0");
  });

  it("points snap to about a hundredth of the axis", () => {
    expect(snapOf({ from: 0, to: 6, step: 2 }, false)).toEqual({ x: 0.1, u: 0.05 });
    expect(snap(1.2345, 0.1)).toBe(1.2);
    expect(snap(0.30000000000000004, 0.05)).toBe(0.3);
  });
});
