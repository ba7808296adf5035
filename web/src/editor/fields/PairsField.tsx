// Names with something each: computed columns, routes, the columns of a schema, headers.

import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import type { Json } from "../../model/document";
import { freshKey, isRecord, moved, type Path, problemsAt, renameKey } from "../../model/forms";
import { Icon } from "../../shell/Icon";
import { type FieldIds, Problems, useForm, useMerge } from "../form";

interface Props {
  /** Where the mapping stands in the element. */
  path: Path;
  label: string;
  ids: FieldIds;
  value: Json | undefined;
  onChange: (value: Json | undefined, merge?: string) => void;
  /** What a new name looks like, and what stands at it at first. */
  fresh: string;
  first: Json;
  /** What a name is called: column, port. */
  what: string;
  /** Names to choose from; others can be typed. */
  names?: readonly string[];
  /** The control of what stands at a name. It shows the problems of its place itself where it says so. */
  children: (entry: { ids: FieldIds; label: string; value: Json; path: Path; onChange: (value: Json | undefined, merge?: string) => void }) => ReactNode;
  /** Whether the controls show the problems of their entries. */
  showsProblems?: boolean;
  addLabel?: string;
}

export function PairsField({ path, label, ids, value, onChange, fresh, first, what, names, children, showsProblems, addLabel }: Props) {
  const { problems, root } = useForm();
  const list = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<number | null>(null);
  const [dragged, setDragged] = useState<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const record = isRecord(value) ? value : {};
  const entries = Object.entries(record);

  useEffect(() => {
    if (focused === null) return;
    const input = list.current?.querySelectorAll<HTMLElement>(":scope > .pair > .pair-name")[focused];
    input?.focus();
    if (input instanceof HTMLInputElement) input.select();
    setFocused(null);
  }, [focused]);

  const add = () => {
    const free = names?.find((name) => !(name in record));
    onChange({ ...record, [free ?? freshKey(record, fresh)]: structuredClone(first) });
    setFocused(entries.length);
  };
  const remove = (key: string, at: number) => {
    const { [key]: _, ...rest } = record;
    onChange(rest);
    if (entries.length > 1) setFocused(Math.max(0, at - 1));
  };
  const shift = (at: number, by: number) => {
    onChange(Object.fromEntries(moved(entries, at, by)));
    setFocused(Math.min(entries.length - 1, Math.max(0, at + by)));
  };

  const drop = (at: number) => {
    if (dragged !== null && dragged !== at) onChange(Object.fromEntries(moved(entries, dragged, at - dragged)));
    setDragged(null);
    setOver(null);
  };

  return (
    <div className="pairs" id={ids.id} ref={list}>
      {entries.map(([key, entry], at) => {
        const own = problemsAt(problems, [...root, ...path, key]);
        const isWrong = own.some((problem) => problem.severity === "error");
        const id = `${ids.id}-${at}`;
        const entryIds: FieldIds = {
          id,
          "aria-describedby": own.length > 0 ? `${id}-problems` : undefined,
          "aria-invalid": isWrong || undefined,
        };
        return (
          <div
            className={over === at && dragged !== null && dragged !== at ? (dragged < at ? "pair is-below" : "pair is-above") : "pair"}
            key={at}
            onDragOver={(event) => {
              if (dragged === null) return;
              event.preventDefault();
              setOver(at);
            }}
            onDrop={(event) => {
              event.preventDefault();
              drop(at);
            }}
            onKeyDown={(event) => reorder(event, (by) => shift(at, by))}
          >
            {entries.length > 1 && (
              <span
                aria-hidden="true"
                className="pair-grip"
                draggable
                onDragEnd={() => setDragged(null)}
                onDragStart={(event) => {
                  event.dataTransfer.effectAllowed = "move";
                  // Some browsers drag nothing without data.
                  event.dataTransfer.setData("text/x-aurora-row", key);
                  setDragged(at);
                }}
                title="Drag to reorder"
              />
            )}
            <NameInput
              label={`Name of ${what} ${at + 1}`}
              listed={names}
              name={key}
              rename={(after, merge) => onChange(renameKey(record, key, after), merge)}
              taken={(name) => name !== key && name in record}
            />
            {children({
              ids: entryIds,
              label: `${label}: ${key}`,
              value: entry,
              path: [...path, key],
              onChange: (after, merge) => onChange({ ...record, [key]: after ?? "" }, merge),
            })}
            <button
              aria-label={`Remove ${key}`}
              className="quiet field-tool"
              onClick={() => remove(key, at)}
              title="Remove; Alt+↑ and Alt+↓ move it"
              type="button"
            >
              <Icon name="close" />
            </button>
            {!showsProblems && own.length > 0 && <Problems id={`${id}-problems`} problems={own} />}
          </div>
        );
      })}
      <div className="form-chips">
        <button className="form-chip" onClick={add} type="button">
          <Icon name="plus" />
          {addLabel ?? what}
        </button>
      </div>
    </div>
  );
}

function reorder(event: KeyboardEvent, shift: (by: number) => void): void {
  if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
  event.preventDefault();
  event.stopPropagation();
  shift(event.key === "ArrowUp" ? -1 : 1);
}

interface NameInputProps {
  label: string;
  name: string;
  listed: readonly string[] | undefined;
  taken: (name: string) => boolean;
  rename: (name: string, merge: string) => void;
}

/** A name that is not finished, or that another has, stays in the field until it can be taken. */
function NameInput({ label, name, listed, taken, rename }: NameInputProps) {
  const { onFocus, merge } = useMerge();
  const [typed, setTyped] = useState(name);
  useEffect(() => setTyped(name), [name]);
  const isWrong = typed === "" || taken(typed);
  if (listed && (listed.includes(name) || name === "")) {
    return (
      <select aria-label={label} className="pair-name" onChange={(event) => rename(event.target.value, merge())} onFocus={onFocus} value={name}>
        {listed.map((one) => (
          <option disabled={taken(one)} key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    );
  }
  return (
    <input
      aria-invalid={isWrong || undefined}
      aria-label={label}
      autoComplete="off"
      className="pair-name"
      onBlur={() => setTyped(name)}
      onChange={(event) => {
        const after = event.target.value.trim();
        setTyped(after);
        if (after !== "" && !taken(after)) rename(after, merge());
      }}
      onFocus={onFocus}
      spellCheck={false}
      title={isWrong ? "There is one of that name already" : undefined}
      type="text"
      value={typed}
    />
  );
}
