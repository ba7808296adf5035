// The field of a parameter, by the form that its declaration gives it.

import type { ReactNode } from "react";
import type { Problem } from "../../api/types";
import { elementId, type Json, splitId } from "../../model/document";
import {
  columnNames,
  fieldsOf,
  firstValue,
  isRecord,
  labelOf,
  type Parameter,
  type Path,
  problemsAt,
  readable,
} from "../../model/forms";
import { useStore } from "../../state/store";
import { AddChips, Field, type FieldIds, useForm } from "../form";
import { QosField } from "../qos/QosField";
import {
  BooleanControl,
  ChoiceControl,
  JsonControl,
  LinesControl,
  NumberControl,
  QuantityControl,
  ScalarControl,
  type SelectChoice,
  SelectControl,
  TextControl,
  WordsControl,
} from "./basic";
import { ExpressionField } from "./ExpressionField";
import { MadeControl } from "./MadeControl";
import { PairsField } from "./PairsField";
import { SchemaField } from "./SchemaField";

interface Props {
  parameter: Parameter;
  path: Path;
  value: Json | undefined;
}

export function ParameterField({ parameter, path, value }: Props) {
  const { change, problems, root } = useForm();
  const { form } = parameter;
  const label = labelOf(parameter.name);
  const set = (after: Json | undefined, merge?: string) => change(path, after, merge);
  const own = problemsAt(problems, [...root, ...path]);
  const isExpression = form.form === "expression";
  const parts =
    form.form === "mapping" || form.form === "schema"
      ? Object.keys(isRecord(value) ? value : {})
      : form.form === "group"
        ? form.fields.map((field) => field.name)
        : form.form === "qos"
          ? ["latency", "loss", "value"]
          : [];
  const props = { label, value, placeholder: placeholderOf(parameter), onChange: set };
  return (
    <Field
      inline={form.form === "boolean"}
      isGroup={form.form === "mapping" || form.form === "group" || form.form === "schema" || form.form === "qos"}
      label={label}
      means={parameter.means}
      onRemove={parameter.required || value === undefined || form.form === "qos" ? undefined : () => set(undefined)}
      parts={parts}
      path={path}
      required={parameter.required}
      {...(isExpression && { problems: NONE })}
    >
      {(ids) => {
        if (!isExpression) return <Control {...props} ids={ids} parameter={parameter} path={path} problems={own} />;
        // The editor shows its problems itself, since it can mend some.
        const isWrong = own.some((problem) => problem.severity === "error");
        const described = own.length > 0 ? { "aria-describedby": [ids["aria-describedby"], `${ids.id}-problems`].filter(Boolean).join(" ") } : {};
        return <Control {...props} ids={{ ...ids, ...described, "aria-invalid": isWrong || undefined }} parameter={parameter} path={path} problems={own} />;
      }}
    </Field>
  );
}

const NONE: readonly Problem[] = [];

function placeholderOf({ default: given, form }: Parameter): string | undefined {
  if (given !== null) return String(given);
  return form.form === "address" ? "host:port" : form.form === "variable" ? "NAME_OF_VARIABLE" : undefined;
}

interface ControlOf extends Props {
  ids: FieldIds;
  label: string;
  placeholder: string | undefined;
  problems: readonly Problem[];
  onChange: (value: Json | undefined, merge?: string) => void;
}

function Control({ parameter, path, problems, ...props }: ControlOf): ReactNode {
  const { palette, inputs, id } = useForm();
  const { form } = parameter;
  const { ids, value, onChange } = props;
  switch (form.form) {
    case "expression":
      return <ExpressionField {...props} form={form} problems={problems} value={typeof value === "string" ? value : value === undefined || value === null ? "" : String(value)} />;
    case "mapping":
      return <Mapping ids={ids} onChange={onChange} parameter={parameter} path={path} value={value} />;
    case "group":
      return <Group parameters={form.fields} path={path} value={value} />;
    case "schema":
      return <SchemaField ids={ids} onChange={onChange} path={path} value={value} />;
    case "qos":
      return <QosField onChange={onChange} output={splitId(id)[1]} path={path} value={value} />;
    case "boolean":
      return <BooleanControl {...props} />;
    case "choice":
      return <ChoiceControl {...props} choices={form.choices} value={value ?? parameter.default} />;
    case "number":
      return <NumberControl {...props} least={form.least} most={form.most} whole={form.whole} />;
    case "duration":
    case "quantity":
    case "distance":
    case "tuples":
    case "size":
      return <QuantityControl {...props} form={form.form} />;
    case "column": {
      const choices = withTypes(columnNames(form, inputs), inputs);
      const also = (form.also ?? []).map((word) => ({ value: word, detail: "order of arrival" }));
      if (choices.length === 0 && also.length === 0) return <TextControl {...props} mono />;
      return <SelectControl {...props} choices={[...also, ...choices]} value={value ?? parameter.default} />;
    }
    case "columns":
      return <WordsControl {...props} choices={withTypes(columnNames(form, inputs), inputs)} most={form.most} />;
    case "texts":
    case "addresses":
      return <WordsControl {...props} />;
    case "format":
      return <SelectControl {...props} choices={palette.formats.map((name) => ({ value: name }))} />;
    case "code": {
      const known = Object.keys(form.ports);
      if (known.length === 0) return <TextControl {...props} mono placeholder="A name that the operator registered" />;
      return <SelectControl {...props} choices={known.map((name) => ({ value: name }))} />;
    }
    case "arc":
    case "stream":
    case "output":
    case "boxes":
      return <References {...props} what={form.form} />;
    case "sql":
    case "markdown":
      return <LinesControl {...props} mono />;
    case "scalar":
      return <ScalarControl {...props} />;
    case "any":
    case "made":
    case "arcs":
      return <JsonControl {...props} />;
    default:
      return <TextControl {...props} mono={form.form !== "text"} />;
  }
}

function withTypes(names: readonly string[], inputs: readonly Record<string, string>[]): SelectChoice[] {
  return names.map((name) => ({ value: name, detail: inputs.find((columns) => name in columns)?.[name] ?? "" }));
}

/** Something else in the network. */
function References({ what, ...props }: Omit<ControlOf, "parameter" | "path" | "problems"> & { what: "arc" | "stream" | "output" | "boxes" }) {
  const { id } = useForm();
  const document = useStore((state) => state.drawing.document);
  const arcs = useStore((state) => state.checked?.arcs);
  const [section, name] = splitId(id);
  if (what === "boxes") {
    const others = Object.keys(document.superboxes ?? {}).filter((other) => elementId("superboxes", other) !== id);
    return <WordsControl {...props} choices={[...Object.keys(document.boxes ?? {}), ...others].map((one) => ({ value: one }))} />;
  }
  const names =
    what === "arc"
      ? readable(document, arcs ?? {}, section === "boxes" ? name : undefined)
      : Object.keys(document[what === "stream" ? "streams" : "outputs"] ?? {});
  return <SelectControl {...props} choices={names.map((one) => ({ value: one }))} />;
}

function Mapping({ parameter, ids, path, value, onChange }: Props & Pick<ControlOf, "ids" | "onChange">) {
  const { inputs, problems, root } = useForm();
  const { form } = parameter;
  if (form.form !== "mapping") return null;
  const columns = form.key === "column" ? columnNames({ form: "columns", input: 0 }, inputs) : undefined;
  const what = form.key === "new column" || form.key === "column" ? "column" : form.key;
  const isExpression = form.value.form === "expression" || form.value.form === "made";
  return (
    <PairsField
      first={form.value.form === "any" ? "" : form.value.form === "made" ? "n" : ""}
      fresh={what}
      ids={ids}
      label={labelOf(parameter.name)}
      onChange={onChange}
      path={path}
      showsProblems={isExpression}
      value={value}
      what={what}
      {...(columns && columns.length > 0 && { names: columns })}
    >
      {(entry) => {
        const own = problemsAt(problems, [...root, ...entry.path]);
        if (form.value.form === "made") return <MadeControl {...entry} form={form.value} problems={own} />;
        if (form.value.form === "expression") {
          return <ExpressionField {...entry} form={form.value} problems={own} value={typeof entry.value === "string" ? entry.value : String(entry.value ?? "")} />;
        }
        if (form.value.form === "any") return <JsonControl {...entry} />;
        return <TextControl {...entry} mono />;
      }}
    </PairsField>
  );
}

/** Parameters within a parameter: a window, bursts. */
function Group({ parameters, path, value }: { parameters: readonly Parameter[]; path: Path; value: Json | undefined }) {
  const { change } = useForm();
  const given = isRecord(value) ? value : {};
  const { shown, addable } = fieldsOf(parameters, given);
  return (
    <div className="group">
      {shown.map((parameter) => (
        <ParameterField key={parameter.name} parameter={parameter} path={[...path, parameter.name]} value={given[parameter.name]} />
      ))}
      <AddChips add={(parameter) => change([...path, parameter.name], firstValue(parameter))} parameters={addable} />
    </div>
  );
}
