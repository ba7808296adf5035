// The rate of made-up tuples on a slider: equal steps are equal ratios, so that a tenth and a thousand times both fit.

/** From where to where a factor can be turned. */
export interface Span {
  readonly least: number;
  readonly most: number;
}

const STEPS_PER_DECADE = 20;

function decades({ least, most }: Span): number {
  return Math.log10(most / least);
}

/** The number of the last position; the first is 0. */
export function lastPosition(span: Span): number {
  return Math.max(1, Math.round(decades(span) * STEPS_PER_DECADE));
}

/** The factor at a position, with two digits; exact at both ends. */
export function factorAt(position: number, span: Span): number {
  if (position <= 0) return span.least;
  if (position >= lastPosition(span)) return span.most;
  return Number((span.least * 10 ** (position / STEPS_PER_DECADE)).toPrecision(2));
}

/** The position that is nearest to a factor. */
export function positionOf(factor: number, span: Span): number {
  const position = Math.round(Math.log10(factor / span.least) * STEPS_PER_DECADE);
  return Math.max(0, Math.min(position, lastPosition(span)));
}

/** `×0.1`, `×1`, `×2.5`, `×500`. */
export function showTimes(factor: number): string {
  return `×${Number(factor.toPrecision(3))}`;
}

interface Turnable {
  readonly factor: number;
  readonly tuples_per_s: number;
}

/** The factor that all sources have; null if somebody turned one of them alone. */
export function commonFactor(sources: readonly Turnable[]): number | null {
  const factors = new Set(sources.map((one) => one.factor));
  const [only] = factors;
  return factors.size === 1 && only !== undefined ? only : null;
}

/** Tuples per second of all of them together, if each is turned to the factor. */
export function rateAt(sources: readonly Turnable[], factor: number): number {
  return sources.reduce((sum, one) => sum + (one.tuples_per_s / one.factor) * factor, 0);
}
