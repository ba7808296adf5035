// What all fields of a form share: the element that it is of, how it is changed, and what is wrong with it.

import { createContext, type ReactNode, useContext, useId, useRef } from "react";
import type { Problem } from "../api/types";
import type { Columns, ElementId, Json } from "../model/document";
import { type Palette, type Parameter, type Path, problemsAt } from "../model/forms";
import { Icon } from "../shell/Icon";
import { Means } from "./Means";
import "./form.css";

export interface FormState {
  id: ElementId;
  palette: Palette;
  /** The columns of each input: what fields may name. */
  inputs: readonly Columns[];
  /** All problems of the element, with the path from the document's root. */
  problems: readonly Problem[];
  /** Where the element stands in the document: problems below it have this path before their own. */
  root: Path;
  /** Puts a value at a path of the element; undefined takes it away. Changes with the same `merge` are undone as one. */
  change: (path: Path, value: Json | undefined, merge?: string) => void;
}

const Context = createContext<FormState | null>(null);

export const FormProvider = Context.Provider;

export function useForm(): FormState {
  const form = useContext(Context);
  if (!form) throw new Error("a field stands outside a form");
  return form;
}

let focuses = 0;

/** One step of undo for as long as a field has the focus. Give `onFocus` to whatever takes the focus. */
export function useMerge(): { onFocus: () => void; merge: () => string } {
  const stamp = useRef("");
  const onFocus = () => {
    focuses += 1;
    stamp.current = `field ${focuses}`;
  };
  return {
    onFocus,
    merge: () => {
      if (stamp.current === "") onFocus();
      return stamp.current;
    },
  };
}

/** What a control needs to be known by its label, its help and its problems. */
export interface FieldIds {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

interface FieldProps {
  label: string;
  /** Where the value stands in the element. */
  path: Path;
  means?: string;
  /** Steps below the path that have fields, and so problems, of their own. */
  parts?: readonly (string | number)[];
  required?: boolean;
  onRemove?: (() => void) | undefined;
  /** Beside the label, at the right. */
  beside?: ReactNode;
  /** For groups of controls: a caption rather than the label of one control. */
  isGroup?: boolean;
  /** The label and the control in one line. */
  inline?: boolean;
  problems?: readonly Problem[];
  children: (ids: FieldIds) => ReactNode;
}

export function Field({ label, path, means, parts, required, onRemove, beside, isGroup, inline, problems, children }: FieldProps) {
  const form = useForm();
  const id = useId();
  const found = problems ?? problemsAt(form.problems, [...form.root, ...path], parts);
  const isWrong = found.some((problem) => problem.severity === "error");
  const described = [means && `${id}-means`, found.length > 0 && `${id}-problems`].filter(Boolean).join(" ");
  const ids: FieldIds = { id, "aria-describedby": described || undefined, "aria-invalid": isWrong || undefined };
  const Caption = isGroup ? "span" : "label";
  return (
    <div
      aria-labelledby={isGroup ? `${id}-label` : undefined}
      className={inline ? "field field-inline" : "field"}
      data-path={path.join(".")}
      role={isGroup ? "group" : undefined}
    >
      <div className="field-head">
        <Caption className="field-label" htmlFor={isGroup ? undefined : id} id={`${id}-label`}>
          {label}
          {required && (
            <span aria-hidden="true" className="field-required" title="Required">
              {" *"}
            </span>
          )}
        </Caption>
        <span className="grow" />
        {beside}
        {onRemove && (
          <button aria-label={`Remove ${label}`} className="quiet field-remove" onClick={onRemove} title="Remove" type="button">
            <Icon name="close" />
          </button>
        )}
      </div>
      {children(ids)}
      {means && (
        <p className="field-means" id={`${id}-means`}>
          <Means text={means} />
        </p>
      )}
      <Problems id={`${id}-problems`} problems={found} />
    </div>
  );
}

/** What is wrong, and the way out. */
export function Problems({ id, problems, mend }: { id?: string; problems: readonly Problem[]; mend?: (problem: Problem) => ReactNode }) {
  return (
    <ul className="field-problems" id={id} aria-live="polite">
      {problems.map((problem, at) => (
        <li className={problem.severity === "error" ? "field-problem bad" : "field-problem warn"} key={at}>
          <Icon name={problem.severity === "error" ? "error" : "warning"} />
          <span>
            {problem.found}
            {problem.way_out && <span className="field-way-out"> → {problem.way_out}</span>}
            {mend?.(problem)}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Optional parameters that are not there yet, as chips to press. */
export function AddChips({ parameters, add }: { parameters: readonly Parameter[]; add: (parameter: Parameter) => void }) {
  if (parameters.length === 0) return null;
  return (
    <div aria-label="Add a parameter" className="form-chips" role="group">
      {parameters.map((parameter) => (
        <button className="form-chip" key={parameter.name} onClick={() => add(parameter)} type="button">
          <Icon name="plus" />
          <ChipLabel parameter={parameter} />
        </button>
      ))}
    </div>
  );
}

function ChipLabel({ parameter }: { parameter: Parameter }) {
  return <span title={parameter.means.replaceAll("`", "")}>{parameter.name.replaceAll("_", " ")}</span>;
}
