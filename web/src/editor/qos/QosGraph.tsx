// One graph: points are dragged, double clicks add them, and keys move and remove the one that has the focus.

import { type KeyboardEvent, type PointerEvent, useEffect, useId, useRef, useState } from "react";
import {
  addPoint,
  type Axis,
  axisOf,
  type Frame,
  type Graph,
  type GraphKind,
  type GraphPoint,
  isFixed,
  linePath,
  movePoint,
  placeOf,
  pointAt,
  removePoint,
  roomOf,
  showX,
  snap,
  snapOf,
  ticks,
} from "../../model/qos";
import { useMerge } from "../form";

/** Something measured, shown on the line. */
export interface Marker {
  name: string;
  x: number;
  u: number;
  text: string;
}

interface Props {
  kind: GraphKind;
  label: string;
  graph: Graph;
  markers: readonly Marker[];
  onChange: (graph: Graph, merge?: string) => void;
}

const WIDTH = 310;
const HEIGHT = 160;
const FRAME: Frame = { left: 34, top: 18, width: 262, height: 112 };
const UNITS: Record<GraphKind, string> = { latency: "delay", loss: "delivered", value: "value" };
const FAR = 10;

export function QosGraph({ kind, label, graph, markers, onChange }: Props) {
  const { onFocus, merge } = useMerge();
  const svg = useRef<SVGSVGElement>(null);
  const clip = useId();
  // While a point is dragged the axis stays, or it would run away under the hand.
  const [held, setHeld] = useState<{ index: number; axis: Axis } | null>(null);
  const [focus, setFocus] = useState<number | null>(null);
  const [active, setActive] = useState<number | null>(null);
  const measured = markers.map((marker) => marker.x);
  const axis = held?.axis ?? axisOf(kind, graph, measured);
  const gap = snapOf(axis, true).x;

  useEffect(() => {
    if (focus === null) return;
    svg.current?.querySelector<SVGGElement>(`[data-point="${focus}"]`)?.focus();
    setFocus(null);
  }, [focus]);

  const under = (event: { clientX: number; clientY: number }): GraphPoint => {
    const matrix = svg.current?.getScreenCTM();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix?.inverse());
    return pointAt(point.x, point.y, axis, FRAME);
  };
  const snapped = ({ x, u }: GraphPoint, fine: boolean): GraphPoint => {
    const step = snapOf(axis, fine);
    const [least, most] = axis.from < axis.to ? [axis.from, axis.to] : [axis.to, axis.from];
    return { x: Math.min(most, Math.max(least, snap(x, step.x))), u: snap(u, step.u) };
  };

  const drag = (event: PointerEvent) => {
    if (held) onChange(movePoint(kind, graph, held.index, snapped(under(event), event.altKey), gap), merge());
  };
  const add = (x: number) => {
    const added = addPoint(kind, graph, x, gap);
    if (!added) return;
    onChange(added.graph);
    setFocus(added.index);
  };
  const remove = (index: number) => {
    const after = removePoint(kind, graph, index);
    if (!after) return;
    onChange(after);
    setFocus(Math.min(index, after.length - 1));
  };

  const pressed = (event: KeyboardEvent, index: number) => {
    const point = graph[index];
    if (!point) return;
    const step = snapOf(axis, event.altKey);
    const times = event.shiftKey ? FAR : 1;
    // Right is where the axis runs.
    const ahead = (axis.from < axis.to ? 1 : -1) * step.x * times;
    const moves: Record<string, GraphPoint> = {
      ArrowRight: { x: point.x + ahead, u: point.u },
      ArrowLeft: { x: point.x - ahead, u: point.u },
      ArrowUp: { x: point.x, u: point.u + step.u * times },
      ArrowDown: { x: point.x, u: point.u - step.u * times },
    };
    const to = moves[event.key];
    if (to) {
      const moved = { x: snap(to.x, step.x), u: snap(to.u, step.u) };
      onChange(movePoint(kind, graph, index, moved, gap), merge());
    } else if (event.key === "Delete" || event.key === "Backspace") remove(index);
    else if (event.key === "Insert" || event.key === "+") add(betweenAt(graph, index, axis));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const line = linePath(graph, axis, FRAME);
  const right = FRAME.left + FRAME.width;
  const bottom = FRAME.top + FRAME.height;
  const told = active === null ? undefined : graph[active];
  return (
    <svg
      aria-label={`${label}: utility by ${UNITS[kind]}. Arrow keys move a point, Delete removes it, Insert adds one.`}
      className="qos-graph"
      onDoubleClick={(event) => add(snapped(under(event), event.altKey).x)}
      onPointerMove={drag}
      onPointerUp={() => setHeld(null)}
      ref={svg}
      role="group"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
    >
      <clipPath id={clip}>
        <rect height={FRAME.height + 2} width={FRAME.width} x={FRAME.left} y={FRAME.top - 1} />
      </clipPath>
      <g aria-hidden="true" className="qos-axes">
        {[0, 0.5, 1].map((u) => {
          const { top } = placeOf({ x: axis.from, u }, axis, FRAME);
          return (
            <g key={u}>
              <line className="qos-grid" x1={FRAME.left} x2={right} y1={top} y2={top} />
              <text textAnchor="end" x={FRAME.left - 6} y={top + 3.5}>
                {u}
              </text>
            </g>
          );
        })}
        {ticks(axis).map((x) => {
          const { left } = placeOf({ x, u: 0 }, axis, FRAME);
          return (
            <g key={x}>
              <line className="qos-grid" x1={left} x2={left} y1={FRAME.top} y2={bottom} />
              <text textAnchor="middle" x={left} y={bottom + 14}>
                {showX(kind, x)}
              </text>
            </g>
          );
        })}
        <text className="qos-name" textAnchor="end" x={right} y={bottom + 27}>
          {UNITS[kind]} →
        </text>
        <text className="qos-name" x={2} y={9}>
          utility
        </text>
      </g>
      <rect className="qos-ground" height={FRAME.height} width={FRAME.width} x={FRAME.left} y={FRAME.top} />
      <g aria-hidden="true" clipPath={`url(#${clip})`}>
        <path className="qos-area" d={`${line}L${right} ${bottom}L${FRAME.left} ${bottom}Z`} />
        <path className="qos-line" d={line} />
      </g>
      {markers.map((marker, at) => (
        <MarkerLine at={at} axis={axis} key={marker.name} marker={marker} />
      ))}
      {graph.map((point, index) => {
        const { left, top } = placeOf(point, axis, FRAME);
        const fixed = isFixed(kind, graph, index);
        const { u } = roomOf(kind, graph, index, gap);
        return (
          <g
            aria-disabled={fixed || undefined}
            aria-label={`Point ${index + 1} of ${graph.length}`}
            aria-valuemax={u[1]}
            aria-valuemin={u[0]}
            aria-valuenow={point.u}
            aria-valuetext={`${showX(kind, point.x)}, utility ${round(point.u)}`}
            className={fixed ? "qos-point is-fixed" : "qos-point"}
            data-point={index}
            key={index}
            onBlur={() => setActive(null)}
            onDoubleClick={(event) => event.stopPropagation()}
            onFocus={() => {
              onFocus();
              setActive(index);
            }}
            onKeyDown={(event) => pressed(event, index)}
            onPointerDown={(event) => {
              event.currentTarget.focus();
              if (fixed || event.button !== 0) return;
              onFocus();
              svg.current?.setPointerCapture(event.pointerId);
              setHeld({ index, axis });
            }}
            role="slider"
            tabIndex={0}
          >
            <circle className="qos-reach" cx={left} cy={top} r="11" />
            <circle className="qos-dot" cx={left} cy={top} r="4.5" />
          </g>
        );
      })}
      {told && <Label axis={axis} kind={kind} point={told} />}
    </svg>
  );
}

function MarkerLine({ marker, axis, at }: { marker: Marker; axis: Axis; at: number }) {
  const { left, top } = placeOf(marker, axis, FRAME);
  const isNearEnd = left > FRAME.left + FRAME.width - 70;
  return (
    <g className="qos-marker">
      <title>{`${marker.name}: ${marker.text}, utility ${round(marker.u)}`}</title>
      <line x1={left} x2={left} y1={FRAME.top} y2={FRAME.top + FRAME.height} />
      <circle cx={left} cy={top} r="3" />
      <text textAnchor={isNearEnd ? "end" : "start"} x={left + (isNearEnd ? -4 : 4)} y={FRAME.top + FRAME.height - 6 - at * 12}>
        {marker.name} {marker.text}
      </text>
    </g>
  );
}

/** What the point is that one is at. */
function Label({ point, axis, kind }: { point: GraphPoint; axis: Axis; kind: GraphKind }) {
  const { left, top } = placeOf(point, axis, FRAME);
  const text = `${showX(kind, point.x)} · ${round(point.u)}`;
  const width = text.length * 6 + 10;
  const x = Math.min(WIDTH - width - 2, Math.max(2, left - width / 2));
  const y = top < FRAME.top + 26 ? top + 12 : top - 30;
  return (
    <g aria-hidden="true" className="qos-label">
      <rect height="18" rx="4" width={width} x={x} y={y} />
      <text textAnchor="middle" x={x + width / 2} y={y + 12.5}>
        {text}
      </text>
    </g>
  );
}

function round(u: number): number {
  return Math.round(u * 100) / 100;
}

/** Halfway to the next point, or a step beyond the last. */
function betweenAt(graph: Graph, index: number, axis: Axis): number {
  const here = graph[index]?.x ?? 0;
  const next = graph[index + 1]?.x;
  if (next !== undefined) return (here + next) / 2;
  return here + (axis.to > axis.from ? axis.step : -axis.step);
}
