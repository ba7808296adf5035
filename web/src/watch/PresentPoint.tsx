// Where an output stands just now on one of its QoS graphs: a point on the line, in the colour of what it is worth there.

import { toneOf } from "../model/heat";
import { axisOf, type Frame, type Graph, type GraphKind, placeOf, utilityAt } from "../model/qos";
import { deliveredOf, type Reading, useReading } from "./reading";
import "./PresentPoint.css";

interface PresentPointProps {
  name: string;
  kind: GraphKind;
  graph: Graph;
  frame: Frame;
}

export function PresentPoint({ name, kind, graph, frame }: PresentPointProps) {
  const x = useReading((reading) => present(reading, name, kind));
  if (x === null) return null;
  const axis = axisOf(kind, graph);
  const [least, most] = axis.from < axis.to ? [axis.from, axis.to] : [axis.to, axis.from];
  const shown = Math.min(Math.max(x, least), most);
  const u = utilityAt(graph, x);
  const { left, top } = placeOf({ x: shown, u }, axis, frame);
  return <circle className="present-point" cx={left} cy={top} data-tone={toneOf(u)} r={3} />;
}

/** So fine as a small graph shows it. */
function present(reading: Reading, name: string, kind: GraphKind): number | null {
  const output = reading.stats?.outputs[name];
  if (!output || kind === "value") return null;
  if (kind === "loss") return Math.round(100 * (deliveredOf(reading, name) ?? 1));
  return output.recent_latency_s === null ? null : Number(output.recent_latency_s.toPrecision(2));
}
