// The points of a graph in numbers.

import { useEffect, useRef, useState } from "react";
import { addPoint, axisOf, type Graph, type GraphKind, isFixed, mended, parseSeconds, removePoint, snapOf, tellSeconds } from "../../model/qos";
import { Icon } from "../../shell/Icon";
import { useMerge } from "../form";

interface Props {
  kind: GraphKind;
  label: string;
  graph: Graph;
  onChange: (graph: Graph, merge?: string) => void;
}

const HEADS: Record<GraphKind, string> = { latency: "Delay", loss: "Delivered %", value: "Value" };

export function QosTable({ kind, label, graph, onChange }: Props) {
  // Documents write what is delivered from 100 percent downwards.
  const order = graph.map((_, at) => (kind === "loss" ? graph.length - 1 - at : at));
  const add = () => {
    const gap = snapOf(axisOf(kind, graph), true).x;
    const last = graph.at(-1)?.x ?? 0;
    const x = kind === "loss" ? ((graph.at(-2)?.x ?? 0) + last) / 2 : last + axisOf(kind, graph).step;
    const added = addPoint(kind, graph, x, gap);
    if (added) onChange(added.graph);
  };
  return (
    <table aria-label={`${label} in numbers`} className="qos-table">
      <thead>
        <tr>
          <th scope="col">{HEADS[kind]}</th>
          <th scope="col">Utility</th>
          <th>
            <button aria-label="Add a point" className="quiet field-tool" onClick={add} title="Add a point" type="button">
              <Icon name="plus" />
            </button>
          </th>
        </tr>
      </thead>
      <tbody>
        {order.map((index, row) => {
          const point = graph[index];
          if (!point) return null;
          const fixed = isFixed(kind, graph, index);
          const removed = removePoint(kind, graph, index);
          const set = (x: number, u: number, merge: string) => onChange(mended(kind, graph.with(index, { x, u })), merge);
          return (
            <tr key={index}>
              <td>
                <Cell
                  disabled={fixed}
                  label={`${HEADS[kind]} of point ${row + 1}`}
                  parse={(text) => (kind === "latency" ? parseSeconds(text) : numberOf(text))}
                  set={(x, merge) => set(x, point.u, merge)}
                  text={kind === "latency" ? tellSeconds(point.x) : String(point.x)}
                />
              </td>
              <td>
                <Cell
                  disabled={fixed || (kind === "latency" && index === 0)}
                  label={`Utility of point ${row + 1}`}
                  parse={numberOf}
                  set={(u, merge) => set(point.x, u, merge)}
                  text={String(point.u)}
                />
              </td>
              <td>
                <button
                  aria-label={`Remove point ${row + 1}`}
                  className="quiet field-tool"
                  disabled={!removed}
                  onClick={() => removed && onChange(removed)}
                  title="Remove"
                  type="button"
                >
                  <Icon name="close" />
                </button>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function numberOf(text: string): number | null {
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : null;
}

interface CellProps {
  label: string;
  text: string;
  disabled: boolean;
  parse: (text: string) => number | null;
  set: (value: number, merge: string) => void;
}

/** What is typed is taken when one leaves it or presses Enter, since half a number would move the point about. */
function Cell({ label, text, disabled, parse, set }: CellProps) {
  const { onFocus, merge } = useMerge();
  const [typed, setTyped] = useState(text);
  const isTyping = useRef(false);
  useEffect(() => {
    if (!isTyping.current) setTyped(text);
  }, [text]);
  const parsed = parse(typed);
  const finish = () => {
    isTyping.current = false;
    if (parsed !== null && typed !== text) set(parsed, merge());
    setTyped(text);
  };
  return (
    <input
      aria-invalid={parsed === null || undefined}
      aria-label={label}
      autoComplete="off"
      disabled={disabled}
      onBlur={finish}
      onChange={(event) => {
        isTyping.current = true;
        setTyped(event.target.value);
      }}
      onFocus={onFocus}
      onKeyDown={(event) => {
        if (event.key === "Enter") finish();
        else if (event.key === "Escape") setTyped(text);
      }}
      type="text"
      value={typed}
    />
  );
}
