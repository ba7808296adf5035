// How a generator makes a column: an expression, or one of a few simple ways.

import type { Problem } from "../../api/types";
import type { Json } from "../../model/document";
import { type Form, isRecord } from "../../model/forms";
import { type FieldIds, useForm } from "../form";
import { JsonControl, NumberControl, WordsControl } from "./basic";
import { ExpressionField } from "./ExpressionField";
import "./MadeControl.css";

interface Props {
  ids: FieldIds;
  label: string;
  form: Form;
  value: Json;
  problems: readonly Problem[];
  onChange: (value: Json | undefined, merge?: string) => void;
}

const EXPRESSION = "expression";

export function MadeControl({ ids, label, form, value, problems, onChange }: Props) {
  const { palette } = useForm();
  const way = isRecord(value) ? (Object.keys(value)[0] ?? "") : EXPRESSION;
  const begin = (chosen: string) => {
    if (chosen === EXPRESSION) return onChange("n");
    const parts = palette.ways[chosen] ?? [];
    onChange({ [chosen]: parts.length > 0 ? [0, 1] : ["a", "b"] });
  };
  const given = isRecord(value) ? value[way] : undefined;
  const set = (after: Json | undefined, merge?: string) => onChange({ [way]: after ?? [] }, merge);
  return (
    <div className="made">
      <select aria-label={`Way: ${label}`} onChange={(event) => begin(event.target.value)} value={way}>
        {[EXPRESSION, ...Object.keys(palette.ways)].map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      {isRecord(value) ? (
        <Parts given={given} ids={ids} label={label} onChange={set} parts={palette.ways[way] ?? []} />
      ) : (
        <ExpressionField
          form={form}
          ids={ids}
          label={label}
          onChange={onChange}
          problems={problems}
          value={typeof value === "string" ? value : String(value ?? "")}
        />
      )}
    </div>
  );
}

interface PartsProps extends Pick<Props, "ids" | "label" | "onChange"> {
  parts: readonly string[];
  given: Json | undefined;
}

/** Two numbers, or what is chosen from; weights are written as a mapping. */
function Parts({ parts, given, ids, label, onChange }: PartsProps) {
  if (parts.length === 0) {
    const isPlain = Array.isArray(given) && given.every((one) => typeof one === "string");
    const Control = isPlain ? WordsControl : JsonControl;
    return <Control ids={ids} label={label} onChange={onChange} value={given} />;
  }
  const numbers = Array.isArray(given) ? given : [];
  return (
    <div className="made-parts">
      {parts.map((part, at) => (
        <label key={part}>
          <span>{part}</span>
          <NumberControl
            ids={{ ...ids, id: `${ids.id}-${at}` }}
            label={part}
            onChange={(after, merge) => onChange(parts.map((_, other) => (other === at ? (after ?? 0) : (numbers[other] ?? 0))), merge)}
            value={numbers[at]}
            whole={false}
          />
        </label>
      ))}
    </div>
  );
}
