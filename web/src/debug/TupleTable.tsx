// A table of the latest tuples of an arc. Only the rows that are in sight are made.

import { useLayoutEffect, useRef, useState } from "react";
import type { Columns } from "../model/document";
import { type Row, widthsOf } from "../model/tuples";
import { Icon } from "../shell/Icon";
import { Cell, isNumber } from "./SmallTable";

const ROW = 24;
const HEAD = 26;
const SPARE = 6;
/** A character of the table's type, and what is around a cell, in pixels. */
const [CHARACTER, AROUND] = [7.3, 18];

interface TupleTableProps {
  label: string;
  columns: Columns;
  /** Oldest first. */
  rows: readonly Row[];
  isNewestFirst: boolean;
  onUse: (row: Row) => void;
}

export function TupleTable({ label, columns, rows, isNewestFirst, onUse }: TupleTableProps) {
  const place = useRef<HTMLDivElement>(null);
  const widths = useRef<Record<string, number>>({});
  const [view, setView] = useState({ top: 0, height: 200 });
  const names = Object.keys(columns);
  const ordered = isNewestFirst ? rows.toReversed() : rows;
  const first = Math.max(0, Math.floor(view.top / ROW) - SPARE);
  const last = Math.min(ordered.length, Math.ceil((view.top + view.height) / ROW) + SPARE);
  const visible = ordered.slice(first, last);
  widths.current = widthsOf(columns, visible, widths.current);
  const latest = rows.at(-1)?.id ?? 0;
  const seen = useRef(latest);

  const look = () => {
    const box = place.current;
    if (box) setView({ top: box.scrollTop, height: box.clientHeight });
  };
  useLayoutEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const watch = new ResizeObserver(look);
    watch.observe(box);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    const box = place.current;
    const more = latest - seen.current;
    seen.current = latest;
    if (!box || more <= 0) return;
    // What somebody reads stands still; who is at the new end stays there.
    if (isNewestFirst && box.scrollTop > 0) box.scrollTop += more * ROW;
    const wasAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight <= more * ROW + ROW;
    if (!isNewestFirst && wasAtEnd) box.scrollTop = box.scrollHeight;
    look();
  }, [latest, isNewestFirst]);

  return (
    <div aria-label={label} className="tuple-table-place" onScroll={look} ref={place} role="region" tabIndex={0}>
      <table aria-label={label} aria-rowcount={rows.length + 1} className="tuple-table">
        <colgroup>
          {names.map((name) => (
            <col key={name} style={{ width: (widths.current[name] ?? 8) * CHARACTER + AROUND }} />
          ))}
          <col style={{ width: 40 }} />
        </colgroup>
        <thead>
          <tr style={{ height: HEAD }}>
            {names.map((name) => (
              <th className={isNumber(columns[name]) ? "number" : undefined} key={name} scope="col" title={columns[name]}>
                {name}
              </th>
            ))}
            <th scope="col">
              <span className="visually-hidden">Use</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true" style={{ height: first * ROW }} />}
          {visible.map((row, at) => (
            <tr aria-rowindex={first + at + 2} key={row.id} style={{ height: ROW }}>
              {names.map((name) => (
                <Cell key={name} type={columns[name]} value={row.tuple[name]} />
              ))}
              <td>
                <button
                  aria-label="Put into the form for tuples made by hand"
                  className="quiet tuple-table-use"
                  onClick={() => onUse(row)}
                  title="Inject a copy"
                  type="button"
                >
                  <Icon name="copy" />
                </button>
              </td>
            </tr>
          ))}
          {last < ordered.length && <tr aria-hidden="true" style={{ height: (ordered.length - last) * ROW }} />}
        </tbody>
      </table>
    </div>
  );
}
