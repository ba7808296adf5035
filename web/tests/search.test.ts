import { expect, test } from "vitest";
import { type Findable, search } from "../src/model/search";

function one(name: string, more: Partial<Findable> = {}): Findable {
  return { network: "demo", section: "box", name, kind: "filter", description: "", tags: [], columns: [], ...more };
}

const ALL = [
  one("other", { description: "throws late ticks away" }),
  one("average", { columns: ["late_by"], kind: "aggregate" }),
  one("too_late"),
  one("late"),
  one("lateness", { tags: ["alarm"] }),
];

function names(text: string): string[] {
  return search(ALL, text).map(({ name }) => name);
}

test("names come before columns, and these before descriptions", () => {
  expect(names("late")).toEqual(["late", "lateness", "too_late", "average", "other"]);
});

test("every word must be found somewhere", () => {
  expect(names("late alarm")).toEqual(["lateness"]);
  expect(names("AGGREGATE late")).toEqual(["average"]);
  expect(names("late nothing")).toEqual([]);
});

test("without words everything is found, in its order", () => {
  expect(names(" ")).toEqual(ALL.map(({ name }) => name));
});
