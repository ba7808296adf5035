// A few tuples, all of them shown.

import type { Columns } from "../model/document";
import { shown, shownAs, type Tuple } from "../model/tuples";
import { useStore } from "../state/store";

interface SmallTableProps {
  label: string;
  arc: string;
  tuples: readonly Tuple[];
  /** How many there are, if not all are here. */
  count?: number;
}

export function SmallTable({ label, arc, tuples, count = tuples.length }: SmallTableProps) {
  const columns = useColumns(arc);
  const names = Object.keys(tuples[0] ?? {});
  return (
    <>
      <table aria-label={label} className="small-table">
        <thead>
          <tr>
            {names.map((name) => (
              <th className={isNumber(columns[name]) ? "number" : undefined} key={name} scope="col" title={columns[name]}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tuples.map((tuple, at) => (
            <tr key={at}>
              {names.map((name) => (
                <Cell key={name} type={columns[name]} value={tuple[name]} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {count > tuples.length && <p className="small-table-more">{(count - tuples.length).toLocaleString()} more</p>}
    </>
  );
}

export function Cell({ value, type }: { value: Tuple[string] | undefined; type: string | undefined }) {
  const text = shown(value);
  const isNull = value === null || value === undefined;
  return (
    <td className={`${isNumber(type) ? "number " : ""}${isNull ? "is-null" : ""}`} title={text.length > 30 ? text : undefined}>
      {shownAs(text, type)}
    </td>
  );
}

export function isNumber(type: string | undefined): boolean {
  return type === "int" || type === "double";
}

const NONE: Columns = {};

/** The columns of an arc of what runs. */
export function useColumns(arc: string): Columns {
  return useStore((state) => state.running?.arcs[arc]) ?? NONE;
}
