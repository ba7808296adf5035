import { describe, expect, it } from "vitest";
import {
  digits, showAgo, showBytes, showCondition, showCount, showFactor, showPercent, showRate, showShare, showTime, showUtility,
} from "../src/model/units";

const plain = (text: string) => text.replaceAll("\u2007", "").trim();

describe("numbers", () => {
  it("have three digits", () => {
    expect([0, 0.001, 0.123, 1.234, 9.996, 12.34, 99.96, 123.4, 1023].map(digits)).toEqual([
      "0", "0", "0.12", "1.23", "10.0", "12.3", "100", "123", "1023",
    ]);
  });

  it("are always as wide in front of the unit", () => {
    for (const show of [showTime, showCount, showRate, showBytes]) {
      for (const value of [0.0000012, 0.012, 1, 12.34, 999.4, 999.6, 1234, 98_765, 9.9e6]) {
        expect(show(value).split(" ")[0]).toHaveLength(4);
      }
    }
  });

  it("do not fall between two units", () => {
    expect([0.00099949, 0.0009996, 0.9994, 0.9996].map((value) => plain(showTime(value)))).toEqual(["999 µs", "1.00 ms", "999 ms", "1.00 s"]);
    expect([999.4, 999.6, 999_499, 999_600].map((value) => plain(showRate(value)))).toEqual(["999 /s", "1.00 k/s", "999 k/s", "1.00 M/s"]);
    expect(plain(showBytes(1023.9 * 1024))).toBe("1.00 MiB");
  });

  it("say what is not known", () => {
    for (const show of [showTime, showCount, showRate, showBytes, showShare, showPercent, showUtility, showFactor]) {
      expect(plain(show(null))).toBe("–");
      expect(plain(show(Number.NaN))).toBe("–");
    }
  });

  it("are whole where they count", () => {
    expect(plain(showCount(7))).toBe("7");
    expect(plain(showCount(12_345))).toBe("12.3 k");
    expect(plain(showRate(7))).toBe("7 /s");
  });
});

describe("shares", () => {
  it("say all only of all, and nothing only of nothing", () => {
    expect([0, 0.001, 0.01, 0.5, 0.995, 0.9999, 1].map((share) => plain(showShare(share)))).toEqual(["0%", "<1%", "1%", "50%", "99%", "99%", "100%"]);
    expect(plain(showPercent(37.2))).toBe("37%");
  });
});

describe("others", () => {
  it("show selectivity as a factor", () => {
    expect([0, 0.5, 1, 25, 12_000].map(showFactor)).toEqual(["×0", "×0.50", "×1.00", "×25.0", "×12.0k"]);
  });

  it("show how long ago", () => {
    expect([0, 5, 99, 100, 600].map(showAgo)).toEqual(["now", "5 s ago", "99 s ago", "2 min ago", "10 min ago"]);
  });

  it("shorten conditions", () => {
    expect(showCondition('"level" >= 0.07381983042147322 and "level" <= 61')).toBe("level >= 0.07382 and level <= 61");
  });
});
