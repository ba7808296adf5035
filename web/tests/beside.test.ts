import { describe, expect, it } from "vitest";
import { beside } from "../src/model/beside";

const WINDOW = { width: 1280, height: 720 };
const CARD = { width: 320, height: 180 };

function at(x: number, y: number, width: number, height: number) {
  return { target: { x, y, width, height }, place: beside({ x, y, width, height }, CARD, WINDOW) };
}

function hides({ target, place }: ReturnType<typeof at>): boolean {
  const across = place.x < target.x + target.width && target.x < place.x + CARD.width;
  const down = place.y < target.y + target.height && target.y < place.y + CARD.height;
  return across && down;
}

describe("a card beside what it explains", () => {
  it("stands to the right of it", () => {
    expect(at(100, 300, 200, 80).place).toEqual({ x: 314, y: 250 });
  });

  it("stands where it is liked, if there is room", () => {
    const target = { x: 600, y: 300, width: 200, height: 80 };
    expect(beside(target, CARD, WINDOW, "left")).toEqual({ x: 266, y: 250 });
    expect(beside({ ...target, x: 100 }, CARD, WINDOW, "left")).toEqual({ x: 314, y: 250 });
  });

  it("stands wherever there is room", () => {
    for (const one of [at(1100, 300, 160, 80), at(10, 0, 1260, 44), at(10, 500, 1260, 200), at(0, 0, 40, 40), at(1240, 680, 40, 40)]) {
      expect(hides(one)).toBe(false);
    }
  });

  it("never leaves the window", () => {
    for (const target of [at(-50, -50, 20, 20), at(1275, 2, 30, 30), at(0, 0, 1280, 720), at(600, 715, 80, 5)]) {
      const { x, y } = target.place;
      expect(x).toBeGreaterThanOrEqual(12);
      expect(y).toBeGreaterThanOrEqual(12);
      expect(x + CARD.width).toBeLessThanOrEqual(1280 - 12);
      expect(y + CARD.height).toBeLessThanOrEqual(720 - 12);
    }
  });

  it("stands in the middle if there is nothing to point at", () => {
    expect(beside(null, CARD, WINDOW)).toEqual({ x: 480, y: 270 });
  });
});
