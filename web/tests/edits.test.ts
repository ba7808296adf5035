import { describe, expect, it } from "vitest";
import {
  connect,
  contents,
  disconnect,
  forgetPositions,
  freshName,
  group,
  intoScope,
  move,
  moveInto,
  remove,
  rename,
  ungroup,
} from "../src/model/edits";
import type { Drawing } from "../src/state/draft";
import { NETWORK } from "./drawn";

const drawing: Drawing = {
  document: NETWORK,
  positions: {
    "boxes/dear": { x: 1, y: 2 },
    "superboxes/detect": { x: 10, y: 20 },
    "boxes/by_exchange": { x: 5, y: 6 },
  },
};
const both = (kind: string) => kind === "join";

describe("removing", () => {
  it("takes arrows, members and positions along", () => {
    const { document, positions } = remove(drawing, ["boxes/dear"]);
    expect(document.boxes?.by_exchange?.in).toEqual([]);
    expect(document.superboxes?.detect?.boxes).toEqual(["inner"]);
    expect(positions["boxes/dear"]).toBeUndefined();
    expect(drawing.document).toBe(NETWORK);
  });

  it("takes what is in a superbox along, and superboxes that nothing is left in", () => {
    expect(contents(NETWORK, "superboxes/detect").sort()).toEqual([
      "boxes/by_exchange",
      "boxes/dear",
      "boxes/pairs",
      "superboxes/inner",
    ]);
    const gone = remove(drawing, ["superboxes/inner"]).document;
    expect(Object.keys(gone.boxes ?? {})).toEqual(["dear", "all", "both"]);
    expect(gone.superboxes).toEqual({ detect: { boxes: ["dear"], description: "finds them" } });
    expect(remove(drawing, ["boxes/dear", "boxes/pairs", "boxes/by_exchange"]).document.superboxes).toBeUndefined();
  });

  it("leaves the right side of a join at the right", () => {
    expect(remove(drawing, ["boxes/all"], both).document.boxes?.both?.in).toEqual(["", "quotes"]);
    expect(remove(drawing, ["streams/quotes"], both).document.boxes?.both?.in).toBe("all");
    expect(remove(drawing, ["boxes/all"]).document.boxes?.both?.in).toBe("quotes");
  });

  it("leaves sources and sinks, which then feed nothing", () => {
    const { document } = remove(drawing, ["streams/ticks", "outputs/alarms"]);
    expect(document.sources?.feed?.into).toBe("");
    expect(document.sinks?.file?.from).toBe("");
  });
});

describe("renaming", () => {
  it("follows arrows, ports, members and positions", () => {
    const { document, positions } = rename(drawing, "boxes/by_exchange", "split");
    expect(document.boxes?.pairs?.in).toBe("split.nyse");
    expect(document.superboxes?.inner?.boxes).toEqual(["split", "pairs"]);
    expect(positions).toMatchObject({ "boxes/split": { x: 5, y: 6 } });
    expect(Object.keys(document.boxes ?? {})[1]).toBe("split");
  });

  it("follows sources and sinks", () => {
    expect(rename(drawing, "streams/ticks", "trades").document.sources?.feed?.into).toBe("trades");
    expect(rename(drawing, "outputs/alarms", "bells").document.sinks?.file?.from).toBe("bells");
  });
});

describe("connecting", () => {
  it("puts an arc behind the others, at a place, or into the empty one", () => {
    const inputs = (after: Drawing, box: string) => after.document.boxes?.[box]?.in;
    expect(inputs(connect(drawing, "ticks", "boxes/all"), "all")).toEqual(["pairs", "by_exchange.nasdaq", "ticks"]);
    expect(inputs(connect(drawing, "ticks", "boxes/both", 1), "both")).toEqual(["all", "ticks"]);
    const empty = remove(drawing, ["streams/ticks"]);
    expect(inputs(connect(empty, "quotes", "boxes/dear"), "dear")).toBe("quotes");
    const gap = remove(drawing, ["boxes/all"], both);
    expect(inputs(connect(gap, "dear", "boxes/both", 0), "both")).toEqual(["dear", "quotes"]);
  });

  it("joins sources with streams and sinks with outputs", () => {
    expect(connect(drawing, "quotes", "sources/stray").document.sources?.stray?.into).toBe("quotes");
    expect(connect(drawing, "late", "sinks/file").document.sinks?.file?.from).toBe("late");
  });

  it("can be taken back", () => {
    expect(disconnect(drawing, "boxes/all", 0).document.boxes?.all?.in).toBe("by_exchange.nasdaq");
    expect(disconnect(drawing, "boxes/both", 0, both).document.boxes?.both?.in).toEqual(["", "quotes"]);
    expect(disconnect(drawing, "boxes/both", 1, both).document.boxes?.both?.in).toBe("all");
    expect(disconnect(drawing, "outputs/late", 0).document.outputs?.late?.from).toBe("");
    expect(disconnect(drawing, "sources/feed", 0).document.sources?.feed?.into).toBe("");
  });
});

describe("superboxes", () => {
  it("are made of what is selected, where it stands", () => {
    const { document, positions } = group(drawing, ["boxes/all", "boxes/both", "streams/ticks"], "end", { x: 3, y: 4 });
    expect(document.superboxes?.end).toEqual({ boxes: ["all", "both"] });
    expect(positions["superboxes/end"]).toEqual({ x: 3, y: 4 });
    expect(group(drawing, ["streams/ticks"], "none")).toBe(drawing);
  });

  it("nest where their members were", () => {
    const { document } = group(drawing, ["boxes/dear", "superboxes/inner"], "whole");
    expect(document.superboxes?.detect?.boxes).toEqual(["whole"]);
    expect(document.superboxes?.whole?.boxes).toEqual(["dear", "inner"]);
  });

  it("can be undone, and leave their members to the superbox around them", () => {
    const { document, positions } = ungroup(drawing, "inner", { x: 100, y: 0 });
    const detect = { boxes: ["dear", "by_exchange", "pairs"], description: "finds them" };
    expect(document.superboxes).toEqual({ detect });
    expect(positions["boxes/by_exchange"]).toEqual({ x: 105, y: 6 });
    expect(ungroup(ungroup(drawing, "detect"), "inner").document.superboxes).toBeUndefined();
  });

  it("take boxes in, and let them out", () => {
    const inner = moveInto(drawing, ["boxes/all", "boxes/dear"], "inner").document;
    expect(inner.superboxes?.inner?.boxes).toEqual(["by_exchange", "pairs", "all", "dear"]);
    expect(inner.superboxes?.detect?.boxes).toEqual(["inner"]);
    const out = moveInto(drawing, ["superboxes/inner", "boxes/dear"], null).document;
    expect(out.superboxes).toEqual({ inner: { boxes: ["by_exchange", "pairs"] } });
  });

  it("do not go into themselves", () => {
    expect(moveInto(drawing, ["superboxes/detect"], "inner")).toBe(drawing);
    expect(moveInto(drawing, ["superboxes/inner"], "inner")).toBe(drawing);
  });

  it("hold what is drawn inside them", () => {
    const { superboxes } = intoScope(drawing, ["all"], "inner").document;
    expect(superboxes?.inner?.boxes).toEqual(["by_exchange", "pairs", "all"]);
    expect(intoScope(drawing, ["all"], undefined)).toBe(drawing);
  });
});

describe("positions", () => {
  it("change only where something moved", () => {
    expect(move(drawing, { "boxes/dear": { x: 1, y: 2 } })).toBe(drawing);
    const moved = move(drawing, { "boxes/dear": { x: 7, y: 2 }, "boxes/all": { x: 0, y: 0 } });
    expect(moved.positions).toMatchObject({ "boxes/dear": { x: 7, y: 2 }, "boxes/all": { x: 0, y: 0 } });
    expect(moved.document).toBe(NETWORK);
    expect(forgetPositions(moved, ["boxes/dear"]).positions["boxes/dear"]).toBeUndefined();
  });
});

it("finds names that nothing has", () => {
  expect(freshName(NETWORK, "filter")).toBe("filter");
  expect(freshName(NETWORK, "detect")).toBe("detect_2");
});
