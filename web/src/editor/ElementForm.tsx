// The form of one element, made from its declaration.

import { useEffect, useMemo, useRef, useState } from "react";
import type { Problem } from "../api/types";
import { type ElementId, elementId, type Json, splitId } from "../model/document";
import { change as changed, element as elementOf, rename } from "../model/edits";
import {
  fieldsOf,
  firstValue,
  inputColumns,
  isRecord,
  type Kind,
  kindOf,
  labelOf,
  type Palette,
  type Parameter,
  type Path,
  problemsAt,
  problemsWithin,
  put,
  strangersOf,
  wrongName,
} from "../model/forms";
import { Icon } from "../shell/Icon";
import { useStore } from "../state/store";
import { LinesControl, WordsControl } from "./fields/basic";
import { InputsField } from "./fields/InputsField";
import { ParameterField } from "./fields/ParameterField";
import { AddChips, Field, FormProvider, type FormState, Problems, useForm } from "./form";
import { Sign } from "./Sign";

const NONE: readonly Problem[] = [];
const NO_ARCS = {};

export function ElementForm({ id }: { id: ElementId }) {
  const palette = useStore((state) => state.palette);
  const document = useStore((state) => state.drawing.document);
  const problems = useStore((state) => state.checked?.problems) ?? NONE;
  const arcs = useStore((state) => state.checked?.arcs) ?? NO_ARCS;
  const found = elementOf(document, id) as unknown as Record<string, Json> | undefined;
  const inputs = useSame(inputColumns(document, id, arcs));
  const form = useMemo<FormState | null>(() => {
    if (!palette) return null;
    const [section, name] = splitId(id);
    const root: Path = [section, name];
    const change = (path: Path, value: Json | undefined, merge?: string) => {
      const what = path.length === 0 ? name : `${labelOf(String(path[0])).toLowerCase()} of ${name}`;
      useStore.getState().edit(
        `Change ${what}`,
        (drawing) => changed(drawing, id, (before) => put(before as unknown as Json, path, value) as never),
        merge,
      );
    };
    return { id, palette, inputs, problems: problemsWithin(problems, root), root, change };
  }, [id, palette, inputs, problems]);
  const kind = kindOf(palette, document, id);
  if (!palette || !form || !found) return null;
  return (
    <FormProvider value={form}>
      <div className="form">
        <Head id={id} kind={kind} />
        {kind ? <Parameters found={found} kind={kind} palette={palette} /> : <UnknownKind found={found} palette={palette} />}
        <Notes found={found} />
      </div>
    </FormProvider>
  );
}

/** The same value as long as it says the same, so that what depends on it is not made anew. */
function useSame<V>(value: V): V {
  const kept = useRef(value);
  if (JSON.stringify(kept.current) !== JSON.stringify(value)) kept.current = value;
  return kept.current;
}

function Head({ id, kind }: { id: ElementId; kind: Kind | undefined }) {
  const [section, name] = splitId(id);
  const { openManual } = useStore.getState();
  return (
    <header className="panel-head">
      <div className="panel-kind">
        <Sign family={kind?.family ?? "other"} />
        <span>{kind?.title ?? "Unknown kind"}</span>
        {(section === "sources" || section === "sinks") && <span className="muted">{section.slice(0, -1)}</span>}
        <span className="grow" />
        {kind && (
          <button
            aria-label={`Manual page of ${kind.title}`}
            className="quiet field-tool"
            onClick={() => openManual(kind.manual)}
            title="Manual"
            type="button"
          >
            <Icon name="help" />
          </button>
        )}
      </div>
      <NameField id={id} name={name} />
    </header>
  );
}

/** The name is taken when one leaves the field or presses Enter: half a name would be the name of another element. */
function NameField({ id, name }: { id: ElementId; name: string }) {
  const { problems, root } = useForm();
  const document = useStore((state) => state.drawing.document);
  const [typed, setTyped] = useState(name);
  useEffect(() => setTyped(name), [name]);
  const wrong = wrongName(document, id, typed);
  const finish = () => {
    if (wrong !== null || typed === name) return setTyped(name);
    const [section] = splitId(id);
    const { edit, select } = useStore.getState();
    edit(`Rename ${name}`, (drawing) => rename(drawing, id, typed));
    select([elementId(section, typed)]);
  };
  const parts = useKnownParts();
  return (
    <div className="field">
      <input
        aria-describedby={wrong === null ? undefined : "element-name-wrong"}
        aria-invalid={wrong !== null || undefined}
        aria-label="Name"
        autoComplete="off"
        className="panel-name"
        onBlur={finish}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") finish();
          else if (event.key === "Escape") setTyped(name);
        }}
        spellCheck={false}
        type="text"
        value={typed}
      />
      {wrong !== null && (
        <p className="field-problem bad" id="element-name-wrong" role="alert">
          {wrong}
        </p>
      )}
      <Problems problems={problemsAt(problems, root, parts)} />
    </div>
  );
}

/** The parameters that have fields, and so show their own problems. */
function useKnownParts(): string[] {
  const { palette, id } = useForm();
  const document = useStore((state) => state.drawing.document);
  const kind = kindOf(palette, document, id);
  const found = elementOf(document, id) as unknown as Record<string, Json>;
  if (!kind) return ["kind"];
  const { shown } = fieldsOf(kind.parameters, found);
  const inputs = kind.parameters.filter((parameter) => parameter.form.form === "arcs");
  const names = [...shown, ...inputs, ...palette.notes].map((parameter) => parameter.name);
  return [...names, ...strangersOf(kind, palette.notes, found)];
}

function Parameters({ kind, found, palette }: { kind: Kind; found: Record<string, Json>; palette: Palette }) {
  const { id, change } = useForm();
  const { shown, addable } = fieldsOf(kind.parameters, found);
  const inputs = kind.parameters.find((parameter) => parameter.form.form === "arcs");
  const form = useRef<HTMLDivElement>(null);
  const [added, setAdded] = useState<string | null>(null);
  useEffect(() => {
    if (added === null) return;
    const field = form.current?.querySelector<HTMLElement>(`[data-path="${added}"]`);
    field?.querySelector<HTMLElement>("textarea, input, select, button.form-chip")?.focus();
    field?.scrollIntoView({ block: "nearest" });
    setAdded(null);
  }, [added]);
  const add = (parameter: Parameter) => {
    change([parameter.name], firstValue(parameter));
    setAdded(parameter.name);
  };
  return (
    <div className="form" ref={form}>
      {inputs && <InputsField kind={kind} name={splitId(id)[1]} parameter={inputs} value={found[inputs.name]} />}
      {shown.map((parameter) => (
        <ParameterField key={parameter.name} parameter={parameter} path={[parameter.name]} value={found[parameter.name]} />
      ))}
      {strangersOf(kind, palette.notes, found).map((name) => (
        <Field key={name} label={name} onRemove={() => change([name], undefined)} path={[name]}>
          {(ids) => <input {...ids} disabled value={JSON.stringify(found[name])} />}
        </Field>
      ))}
      <AddChips add={add} parameters={addable} />
    </div>
  );
}

/** Of a kind that this server does not have: the kind can be changed, the rest is kept as it is. */
function UnknownKind({ found, palette }: { found: Record<string, Json>; palette: Palette }) {
  const { id, change } = useForm();
  const [section] = splitId(id);
  const kinds = palette.kinds.filter((kind) => kind.section === section && kind.kind !== null);
  return (
    <Field label="Kind" path={["kind"]} required>
      {(ids) => (
        <select {...ids} onChange={(event) => change(["kind"], event.target.value)} value={String(found.kind ?? "")}>
          <option value={String(found.kind ?? "")}>{String(found.kind ?? "none")}</option>
          {kinds.map((kind) => (
            <option key={kind.kind} value={kind.kind ?? ""}>
              {kind.title}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** What people note about an element. Its manual is written where manuals are read. */
function Notes({ found }: { found: Record<string, Json> }) {
  const { palette, change } = useForm();
  const means = (name: string) => palette.notes.find((note) => note.name === name)?.means ?? "";
  const { showSide, openManual } = useStore.getState();
  const empty = (value: Json | undefined) => value === "" || (Array.isArray(value) && value.length === 0);
  const set = (name: string) => (value: Json | undefined, merge?: string) => change([name], empty(value) ? undefined : value, merge);
  const description = isRecord(found) ? found.description : undefined;
  return (
    <div className="form panel-notes">
      <Field label="Description" means={means("description")} path={["description"]}>
        {(ids) => <LinesControl ids={ids} label="Description" onChange={set("description")} value={description} />}
      </Field>
      <Field label="Tags" means={means("tags")} path={["tags"]}>
        {(ids) => <WordsControl ids={ids} label="Tags" onChange={set("tags")} value={found.tags} />}
      </Field>
      <button
        className="quiet panel-manual"
        onClick={() => {
          openManual(null);
          showSide("manual");
        }}
        type="button"
      >
        {typeof found.manual === "string" && found.manual !== "" ? "Its own manual page…" : "Write a manual page…"}
      </button>
    </div>
  );
}
