// A small line without axes: how something went in the last minutes.

import { memo, useMemo } from "react";
import { extent, niceTop, sparkPaths, thinned, type Values } from "../model/series";
import "./Spark.css";

interface SparkProps {
  label: string;
  values: Values | undefined;
  /** How many values fill the width. */
  slots: number;
  colour: string;
  /** The top of the axis; without it that grows with the values. */
  top?: number;
  least?: number;
  /** Values up to this one are good, and the part of the picture below is shaded. */
  goodUntil?: number | null;
  height?: number;
}

const WIDTH = 120;
const MOST_POINTS = 100;
const NONE: Values = [];

export const Spark = memo(function Spark({ label, values = NONE, slots, colour, top, least = 0, goodUntil = null, height = 28 }: SparkProps) {
  const high = height - 2;
  const drawn = useMemo(() => {
    const each = Math.ceil(slots / MOST_POINTS);
    const few = thinned(values, Math.ceil(values.length / each));
    const most = top ?? niceTop(Math.max(extent(few)?.[1] ?? 0, least));
    return { most, ...sparkPaths(few, [0, most], { width: WIDTH, height: high }, Math.ceil(slots / each)) };
  }, [values, slots, top, least, high]);
  const good = goodUntil === null ? 0 : Math.min(1, goodUntil / drawn.most) * high;
  return (
    <svg aria-label={label} className="spark" preserveAspectRatio="none" role="img" style={{ color: `var(${colour})`, height }} viewBox={`0 -1 ${WIDTH} ${height}`}>
      {good > 0 && <rect className="spark-good" height={good} width={WIDTH} y={high - good} />}
      <path className="spark-area" d={drawn.area} />
      <path className="spark-line" d={drawn.line} vectorEffect="non-scaling-stroke" />
      <line className="spark-ground" vectorEffect="non-scaling-stroke" x1={0} x2={WIDTH} y1={high} y2={high} />
    </svg>
  );
});
