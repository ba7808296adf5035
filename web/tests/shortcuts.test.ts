import { expect, test } from "vitest";
import { fits, keyCaps } from "../src/shell/shortcuts";

function pressed(key: string, held: Partial<Record<"ctrlKey" | "metaKey" | "shiftKey" | "altKey", boolean>> = {}) {
  return { key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...held };
}

test("Mod is Ctrl, and ⌘ on a Mac", () => {
  expect(fits("Mod+Z", pressed("z", { ctrlKey: true }), false)).toBe(true);
  expect(fits("Mod+Z", pressed("z", { metaKey: true }), false)).toBe(false);
  expect(fits("Mod+Z", pressed("z", { metaKey: true }), true)).toBe(true);
  expect(fits("Mod+Z", pressed("z"), false)).toBe(false);
});

test("what is held beside the key counts", () => {
  expect(fits("Mod+Z", pressed("Z", { ctrlKey: true, shiftKey: true }), false)).toBe(false);
  expect(fits("Mod+Shift+Z", pressed("Z", { ctrlKey: true, shiftKey: true }), false)).toBe(true);
  expect(fits("Delete", pressed("Delete", { altKey: true }), false)).toBe(false);
});

test("signs are found with whatever Shift they need", () => {
  expect(fits("?", pressed("?", { shiftKey: true }), false)).toBe(true);
  expect(fits("/", pressed("/"), false)).toBe(true);
  expect(fits("1", pressed("1", { shiftKey: true }), false)).toBe(false);
});

test("keys are shown as they stand on the keyboard", () => {
  expect(keyCaps("Mod+Shift+Z", false)).toEqual(["Ctrl", "Shift", "Z"]);
  expect(keyCaps("Mod+Shift+Z", true)).toEqual(["⌘", "⇧", "Z"]);
  expect(keyCaps("ArrowLeft", false)).toEqual(["←"]);
  expect(keyCaps("Escape", false)).toEqual(["Esc"]);
});
