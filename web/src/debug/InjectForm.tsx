// Tuples made by hand: by columns, or as lines of JSON.

import { type FormEvent, useEffect, useId, useState } from "react";
import { debugApi, RefusedError } from "../api/client";
import type { Columns } from "../model/document";
import { lineOf, type Typed, typedOf, wrongWith } from "../model/tuples";
import { mayChange, whyNot } from "../shell/may";
import { useStore } from "../state/store";
import { ArcChoice } from "./ArcChoice";
import { useColumns } from "./SmallTable";

const ON_SPARK = "on Spark only streams";

export function InjectForm() {
  const network = useStore((state) => state.network);
  const draft = useStore((state) => state.injectDraft);
  const selected = useStore((state) => state.arc);
  const running = useStore((state) => state.running);
  const may = useStore(mayChange);
  const reason = useStore(whyNot);
  const { say } = useStore.getState();
  const isSpark = running?.processor === "spark";
  const [chosen, setChosen] = useState<string | null>(draft?.arc ?? null);
  const [mode, setMode] = useState<"columns" | "lines">("columns");
  const [typed, setTyped] = useState<Typed>({});
  const [lines, setLines] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState("");
  const streams = Object.keys(running?.streams ?? {});
  const canBe = (arc: string | null) => arc !== null && (isSpark ? streams.includes(arc) : arc in (running?.arcs ?? {}));
  const arc = canBe(chosen) ? chosen : canBe(selected) ? selected : (streams[0] ?? null);
  const columns = useColumns(arc ?? "");
  useEffect(() => {
    if (draft === null) return;
    setChosen(draft.arc);
    setMode("columns");
    setTyped(typedOf(draft.tuple, running?.arcs[draft.arc] ?? {}));
    setRefused("");
  }, [draft]);

  const known = Object.fromEntries(Object.keys(columns).map((name) => [name, typed[name] === undefined ? "" : typed[name]])) as Typed;
  const isWrong = Object.entries(columns).some(([name, type]) => wrongWith(known[name] ?? null, type) !== "");
  const content = mode === "columns" ? `${lineOf(known, columns)}\n` : lines;

  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (network === null || arc === null) return;
    setBusy(true);
    setRefused("");
    try {
      const { tuples } = await debugApi.inject(network, arc, content);
      say("good", `${tuples.toLocaleString()} ${tuples === 1 ? "tuple was" : "tuples were"} put on ${arc}`);
    } catch (error) {
      const found = error instanceof RefusedError ? error.problems[0]?.found : undefined;
      setRefused([(error as Error).message, found].filter(Boolean).join(": "));
    } finally {
      setBusy(false);
    }
  };

  if (arc === null) return <p className="empty">Nothing runs that tuples could be given to.</p>;
  return (
    <form className="inject" onSubmit={send}>
      <div className="inject-head">
        <span>Put on</span>
        <ArcChoice insideRefused={isSpark ? ON_SPARK : ""} label="Arrow to put tuples on" onChoose={setChosen} value={arc} />
        <div aria-label="How to write them" className="row inject-modes" role="radiogroup">
          {(["columns", "lines"] as const).map((one) => (
            <label key={one}>
              <input checked={mode === one} name="inject-mode" onChange={() => setMode(one)} type="radio" />
              {one === "columns" ? "By columns" : "Lines of JSON"}
            </label>
          ))}
        </div>
        <span className="grow" />
        <button className="primary" disabled={!may || isBusy || (mode === "columns" ? isWrong : lines.trim() === "")} title={reason} type="submit">
          Inject
        </button>
      </div>
      {mode === "columns" ? (
        <div className="inject-fields">
          {Object.entries(columns).map(([name, type]) => (
            <ColumnField
              change={(text) => setTyped({ ...known, [name]: text })}
              key={`${arc} ${name}`}
              name={name}
              text={known[name] ?? null}
              type={type}
            />
          ))}
        </div>
      ) : (
        <textarea
          aria-label="Lines of JSON"
          className="inject-lines mono"
          onChange={(event) => setLines(event.target.value)}
          placeholder={example(columns)}
          spellCheck={false}
          value={lines}
        />
      )}
      {refused !== "" && (
        <p className="bad inject-refused" role="alert">
          {refused}
        </p>
      )}
    </form>
  );
}

interface ColumnFieldProps {
  name: string;
  type: string;
  text: string | null;
  change: (text: string | null) => void;
}

function ColumnField({ name, type, text, change }: ColumnFieldProps) {
  const id = useId();
  const [wasLeft, setLeft] = useState(false);
  const wrong = wasLeft ? wrongWith(text, type) : "";
  const common = {
    id,
    "aria-describedby": wrong ? `${id}-wrong` : undefined,
    "aria-invalid": wrong !== "" || undefined,
    disabled: text === null,
    onBlur: () => setLeft(true),
  };
  return (
    <div className="inject-field">
      <label className="inject-label" htmlFor={id}>
        {name} <span className="muted">{type}</span>
      </label>
      <div className="row">
        {type === "bool" ? (
          <select {...common} onChange={(event) => change(event.target.value)} value={text ?? ""}>
            <option value="">…</option>
            <option>true</option>
            <option>false</option>
          </select>
        ) : (
          <input
            {...common}
            inputMode={type === "int" ? "numeric" : type === "double" ? "decimal" : "text"}
            onChange={(event) => change(event.target.value)}
            placeholder={text === null ? "NULL" : PLACEHOLDERS[type] ?? ""}
            value={text ?? ""}
          />
        )}
        <label className="inject-null">
          <input checked={text === null} onChange={(event) => change(event.target.checked ? null : "")} type="checkbox" />
          <span>NULL</span>
          <span className="visually-hidden"> for {name}</span>
        </label>
      </div>
      {wrong !== "" && (
        <p className="bad inject-wrong" id={`${id}-wrong`}>
          {wrong}
        </p>
      )}
    </div>
  );
}

const PLACEHOLDERS: Record<string, string> = { timestamp: "2024-05-01T12:00:00Z", duration: "1.5s" };
const EXAMPLES: Record<string, string> = { int: "1", double: "1.5", bool: "true", timestamp: '"2024-05-01T12:00:00Z"', duration: '"1.5s"' };

function example(columns: Columns): string {
  const fields = Object.entries(columns).map(([name, type]) => `${JSON.stringify(name)}: ${EXAMPLES[type] ?? (type.startsWith("list") ? "[]" : '"…"')}`);
  return `{${fields.join(", ")}}`;
}
