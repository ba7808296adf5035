import { expect, test } from "vitest";
import { asDocument } from "../src/model/importing";

test("what can be drawn stays as it is, mistakes and all", () => {
  const plain = {
    aurora: 1,
    network: "demo",
    streams: { ticks: { schema: { price: "duoble" } } },
    boxes: { high: { kind: "filtre", in: "nothing", where: "price >" } },
    outputs: { dear: { from: "high" } },
    colour: "red",
  };
  expect(asDocument(plain)).toEqual(plain);
});

test("what is left out is filled with nothing, so that it can be drawn", () => {
  const document = asDocument({
    streams: { ticks: null },
    boxes: { high: { where: "x" }, join: { kind: "join", in: ["a", 1, "b"] } },
    outputs: { dear: null },
    superboxes: { all: {} },
    sinks: null,
  });
  expect(document).toEqual({
    aurora: 1,
    network: "untitled",
    streams: { ticks: { schema: {} } },
    boxes: { high: { kind: "", in: [], where: "x" }, join: { kind: "join", in: ["a", "b"] } },
    outputs: { dear: { from: "" } },
    superboxes: { all: { boxes: [] } },
  });
});

test.each([[null], ["text"], [[1]], [{ boxes: [] }], [{ boxes: { high: 5 } }], [{ streams: "ticks" }]])(
  "%j is no document",
  (plain) => {
    expect(() => asDocument(plain)).toThrow("no network document");
  },
);
