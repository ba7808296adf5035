// Numbers as people read them: three digits, a unit, and always as wide, so that what changes every second stands still.

/** As wide as a digit, where there is none. */
const PAD = "\u2007";
/** Digits, point and the space in front: `1.23`, ` 123`. */
const WIDTH = 4;
/** What is not known. */
export const UNKNOWN = "–";

interface Step {
  from: number;
  factor: number;
  unit: string;
}

const SECONDS: readonly Step[] = [
  { from: 99.95 * 3600, factor: 1 / 86_400, unit: "d" },
  { from: 99.95 * 60, factor: 1 / 3600, unit: "h" },
  { from: 99.95, factor: 1 / 60, unit: "min" },
  { from: 0.9995, factor: 1, unit: "s" },
  { from: 0.9995e-3, factor: 1e3, unit: "ms" },
  { from: 0, factor: 1e6, unit: "µs" },
];

const COUNTS: readonly Step[] = [
  { from: 999.5e9, factor: 1e-12, unit: "T" },
  { from: 999.5e6, factor: 1e-9, unit: "G" },
  { from: 999.5e3, factor: 1e-6, unit: "M" },
  { from: 999.5, factor: 1e-3, unit: "k" },
  { from: 0, factor: 1, unit: "" },
];

const BYTES: readonly Step[] = [
  { from: 1023.5 * 2 ** 30, factor: 2 ** -40, unit: "TiB" },
  { from: 1023.5 * 2 ** 20, factor: 2 ** -30, unit: "GiB" },
  { from: 1023.5 * 2 ** 10, factor: 2 ** -20, unit: "MiB" },
  { from: 1023.5, factor: 2 ** -10, unit: "KiB" },
  { from: 0, factor: 1, unit: "B" },
];

/** Three digits: `0.12`, `1.23`, `12.3`, `123`, `1023`; what is too small to see is 0. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size < 0.005) return "0";
  if (size < 9.995) return value.toFixed(2);
  return size < 99.95 ? value.toFixed(1) : value.toFixed(0);
}

function scaled(value: number | null | undefined, steps: readonly Step[]): [string, string] {
  if (value === null || value === undefined || !Number.isFinite(value)) return [UNKNOWN, ""];
  const step = steps.find(({ from }) => Math.abs(value) >= from) ?? { factor: 1, unit: "" };
  // Tuples are whole, and so is what is exact.
  const whole = step.unit === "" && Number.isInteger(value);
  return [whole ? String(value) : digits(value * step.factor), step.unit];
}

function padded(number: string): string {
  return number.padStart(WIDTH, PAD);
}

/** `12.3 ms`; 0 is `0 s`. */
export function showTime(seconds: number | null | undefined): string {
  if (seconds === 0) return `${padded("0")} s`;
  const [number, unit] = scaled(seconds, SECONDS);
  return unit ? `${padded(number)} ${unit}` : padded(number);
}

/** `1.23 k`. */
export function showCount(count: number | null | undefined): string {
  const [number, unit] = scaled(count, COUNTS);
  return unit ? `${padded(number)} ${unit}` : padded(number);
}

/** Per second: `1.23 k/s`. */
export function showRate(perSecond: number | null | undefined): string {
  const [number, unit] = scaled(perSecond, COUNTS);
  if (number === UNKNOWN) return padded(number);
  const rounded = unit === "" && Math.abs(perSecond ?? 0) >= 99.95 ? String(Math.round(perSecond ?? 0)) : number;
  return `${padded(rounded)} ${unit}/s`;
}

export function showBytes(bytes: number | null | undefined): string {
  const [number, unit] = scaled(bytes, BYTES);
  return unit ? `${padded(number)} ${unit}` : padded(number);
}

/** A share of 1: `62%`; what is little but there is `<1%`. */
export function showShare(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return padded(UNKNOWN);
  if (share > 0 && share < 0.005) return padded("<1%");
  // All is said only of all.
  const percent = share < 1 && share > 0.99 ? 99 : Math.round(share * 100);
  return padded(`${percent}%`);
}

/** What is given in percent already. */
export function showPercent(percent: number | null | undefined): string {
  return showShare(percent === null || percent === undefined ? null : percent / 100);
}

/** Utility: `0.87`. */
export function showUtility(utility: number | null | undefined): string {
  if (utility === null || utility === undefined || !Number.isFinite(utility)) return padded(UNKNOWN);
  return utility.toFixed(2);
}

/** Selectivity, tuples out per tuple in: `×0.50`. */
export function showFactor(factor: number | null | undefined): string {
  const [number, unit] = scaled(factor, COUNTS);
  if (number === UNKNOWN) return padded(number);
  const [whole] = Number.isInteger(factor) && unit === "" ? [digits(factor ?? 0)] : [number];
  return `×${whole}${unit}`;
}

/** A time of day: `14:03:27`. */
export function showClock(seconds: number): string {
  const at = new Date(seconds * 1000);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** How long ago: `now`, `12 s ago`, `3 min ago`. */
export function showAgo(seconds: number): string {
  if (seconds < 1.5) return "now";
  if (seconds < 99.5) return `${Math.round(seconds)} s ago`;
  return `${Math.round(seconds / 60)} min ago`;
}

/** The numbers of a condition with so many digits as people can read. */
export function showCondition(condition: string): string {
  return condition.replaceAll('"', "").replace(/\d+\.\d{4,}/g, (number) => String(Number(Number(number).toPrecision(4))));
}
