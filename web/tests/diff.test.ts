import { describe, expect, test } from "vitest";
import { diff, equal, shown } from "../src/model/diff";
import type { NetworkDocument } from "../src/model/document";

const BASE: NetworkDocument = {
  aurora: 1,
  network: "demo",
  streams: { ticks: { schema: { ticker: "string", price: "double" } } },
  boxes: {
    high: { kind: "filter", in: "ticks", where: "price > 10" },
    double: { kind: "map", in: "high", compute: { ticker: "ticker", price: "price * 2" } },
  },
  outputs: { dear: { from: "double" } },
};

function changed(change: (document: NetworkDocument) => void): NetworkDocument {
  const copy = structuredClone(BASE);
  change(copy);
  return copy;
}

describe("diff", () => {
  test("nothing differs from itself, whatever the order of parameters", () => {
    const other = changed((document) => {
      document.boxes = { double: document.boxes!.double!, high: { where: "price > 10", in: "ticks", kind: "filter" } };
    });
    expect(diff(BASE, other)).toEqual([]);
    expect(equal(BASE, other)).toBe(true);
  });

  test("a parameter that changed is told with both values", () => {
    const other = changed((document) => {
      document.boxes!.high!.where = "price > 12";
    });
    expect(diff(BASE, other)).toEqual([
      {
        kind: "changed",
        id: "boxes/high",
        parameters: [{ path: "where", before: "price > 10", after: "price > 12" }],
      },
    ]);
  });

  test("inside a parameter only what differs is told", () => {
    const other = changed((document) => {
      document.boxes!.double!.compute = { ticker: "ticker", price: "price * 3", at: "now" };
    });
    expect(diff(BASE, other)[0]?.parameters).toEqual([
      { path: "compute.price", before: "price * 2", after: "price * 3" },
      { path: "compute.at", after: "now" },
    ]);
  });

  test("what is added comes with its parameters, what is removed without", () => {
    const other = changed((document) => {
      document.outputs!.all = { from: "ticks" };
      delete document.boxes!.double;
    });
    expect(diff(BASE, other)).toEqual([
      { kind: "removed", id: "boxes/double", parameters: [] },
      { kind: "added", id: "outputs/all", parameters: [{ path: "from", after: "ticks" }] },
    ]);
  });

  test("without anything before, everything is new and the network itself is no change", () => {
    expect(diff(null, BASE).map((change) => [change.kind, change.id])).toEqual([
      ["added", "streams/ticks"],
      ["added", "boxes/high"],
      ["added", "boxes/double"],
      ["added", "outputs/dear"],
    ]);
  });

  test("an element that says the same under another name was renamed, and who reads it has not changed", () => {
    const other = changed((document) => {
      const { high, double } = document.boxes!;
      document.boxes = { loud: high!, double: { ...double!, in: "loud" } };
    });
    expect(diff(BASE, other)).toEqual([{ kind: "renamed", id: "boxes/loud", was: "high", parameters: [] }]);
  });

  test("two renamed in a row are found, since the first makes the second clear", () => {
    const other = changed((document) => {
      const { high, double } = document.boxes!;
      document.boxes = { loud: high!, twice: { ...double!, in: "loud" } };
      document.outputs = { dear: { from: "twice" } };
    });
    expect(diff(BASE, other).map((change) => [change.kind, change.id, change.was])).toEqual([
      ["renamed", "boxes/loud", "high"],
      ["renamed", "boxes/twice", "double"],
    ]);
  });

  test("where it is not clear which one was renamed, none was", () => {
    const twins = changed((document) => {
      document.boxes!.also = { ...document.boxes!.high! };
    });
    const other = changed((document) => {
      document.boxes!.left = { ...document.boxes!.high! };
      document.boxes!.right = { ...document.boxes!.high! };
      delete document.boxes!.high;
      document.boxes!.double!.in = "left";
    });
    expect(diff(twins, other).map((change) => change.kind).sort()).toEqual([
      "added",
      "added",
      "changed",
      "removed",
      "removed",
    ]);
  });

  test("the order of columns is a change, since they come out in it", () => {
    const other = changed((document) => {
      document.streams!.ticks!.schema = { price: "double", ticker: "string" };
    });
    expect(equal(BASE, other)).toBe(false);
    expect(diff(BASE, other)).toEqual([
      {
        kind: "changed",
        id: "streams/ticks",
        parameters: [{ path: "order of schema", before: ["ticker", "price"], after: ["price", "ticker"] }],
      },
    ]);
  });

  test("what the network says of itself is a change without an element", () => {
    expect(diff(BASE, { ...BASE, description: "Prices" })).toEqual([
      { kind: "changed", id: null, parameters: [{ path: "description", after: "Prices" }] },
    ]);
  });
});

test("a key without a value is as good as none", () => {
  expect(equal({ a: 1, b: undefined }, { a: 1 })).toBe(true);
  expect(equal({ a: 1, b: undefined }, { b: 1 })).toBe(false);
});

test("values are shown in one line", () => {
  expect(shown({ size: "2 tuples", by: ["a", "b"], on: null })).toBe("{size: 2 tuples, by: [a, b], on: null}");
  expect(shown("price > 3")).toBe("price > 3");
});
