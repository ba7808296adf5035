import { describe, expect, it } from "vitest";
import { copyText, paste, readText } from "../src/model/clipboard";
import { emptyDocument } from "../src/model/document";
import type { Drawing } from "../src/state/draft";
import { NETWORK } from "./drawn";

const drawing: Drawing = {
  document: NETWORK,
  positions: { "boxes/all": { x: 100, y: 50 }, "boxes/both": { x: 300, y: 80 }, "boxes/dear": { x: 7, y: 7 } },
};
const placeOf = () => undefined;
const copy = (...ids: Parameters<typeof copyText>[1]) => copyText(drawing, ids, placeOf);
const top = { scope: [], by: { x: 16, y: 16 } };

describe("pasting", () => {
  it("makes fresh names and keeps the arrows among what was copied", () => {
    const pasted = paste(drawing, copy("boxes/all", "boxes/both", "outputs/alarms"), top);
    const { boxes, outputs } = pasted?.drawing.document ?? {};
    expect(pasted?.ids).toEqual(["boxes/all_2", "boxes/both_2", "outputs/alarms_2"]);
    expect(boxes?.all_2?.in).toEqual(["pairs", "by_exchange.nasdaq"]);
    expect(boxes?.both_2?.in).toEqual(["all_2", "quotes"]);
    expect(outputs?.alarms_2).toEqual({ ...NETWORK.outputs?.alarms, from: "both_2" });
    expect(pasted?.drawing.positions["boxes/all_2"]).toEqual({ x: 116, y: 66 });
  });

  it("into another network leaves the arrows from outside behind", () => {
    const document = { ...emptyDocument("other"), streams: { quotes: { schema: {} } } };
    const other: Drawing = { document, positions: {} };
    const pasted = paste(other, copy("boxes/all", "boxes/both", "sources/feed"), { scope: [], at: { x: 0, y: 0 } });
    expect(pasted?.drawing.document.boxes).toEqual({
      all: { kind: "union", in: [] },
      both: { kind: "join", in: "all", on: "left.ticker = right.ticker" },
    });
    expect(pasted?.drawing.document.sources?.feed?.into).toBe("");
    expect(pasted?.drawing.positions).toEqual({ "boxes/all": { x: 0, y: 0 }, "boxes/both": { x: 200, y: 30 } });
  });

  it("a superbox brings along all that is in it", () => {
    const pasted = paste(drawing, copy("superboxes/detect", "connection_points/recent"), top);
    const { superboxes, boxes, connection_points } = pasted?.drawing.document ?? {};
    expect(superboxes?.detect_2).toEqual({ boxes: ["dear_2", "inner_2"], description: "finds them" });
    expect(superboxes?.inner_2).toEqual({ boxes: ["by_exchange_2", "pairs_2"] });
    expect(boxes?.pairs_2?.in).toBe("by_exchange_2.nyse");
    expect(boxes?.dear_2?.in).toBe("ticks");
    expect(connection_points?.recent_2?.on).toBe("pairs_2");
    expect(pasted?.ids).toEqual(["superboxes/detect_2"]);
    expect(pasted?.drawing.positions["boxes/dear_2"]).toEqual({ x: 7, y: 7 });
  });

  it("inside a superbox puts boxes there", () => {
    const pasted = paste(drawing, copy("boxes/all", "streams/ticks"), { ...top, scope: ["detect", "inner"] });
    expect(pasted?.drawing.document.superboxes?.inner?.boxes).toEqual(["by_exchange", "pairs", "all_2"]);
    expect(pasted?.ids).toEqual(["boxes/all_2"]);
    expect(pasted?.drawing.document.streams).toHaveProperty("ticks_2");
  });

  it("twice gives two copies", () => {
    const text = copy("boxes/dear");
    const once = paste(drawing, text, top);
    const twice = once && paste(once.drawing, text, top);
    const before = Object.keys(NETWORK.boxes ?? {});
    expect(Object.keys(twice?.drawing.document.boxes ?? {})).toEqual([...before, "dear_2", "dear_3"]);
  });

  it("takes nothing but what was copied here", () => {
    for (const text of ["", "hello", "[]", "null", "{}", '{"aurora_elements": 2, "elements": {}}']) {
      expect(paste(drawing, text, top)).toBeNull();
    }
    for (const elements of ['{"boxes": []}', '{"boxes": {"a": 1}}', '{"rubbish": {}}', "7"]) {
      expect(readText(`{"aurora_elements": 1, "elements": ${elements}}`)).toBeNull();
    }
  });
});
