// What a box reads, in the order of its inputs.

import type { Json } from "../../model/document";
import { asList } from "../../model/document";
import { inputLabel, type Kind, moved, type Parameter, problemsAt, readable } from "../../model/forms";
import { Icon } from "../../shell/Icon";
import { useStore } from "../../state/store";
import { Field, Problems, useForm } from "../form";
import { SelectControl } from "./basic";
import "./InputsField.css";

interface Props {
  kind: Kind;
  parameter: Parameter;
  name: string;
  value: Json | undefined;
}

export function InputsField({ kind, parameter, name, value }: Props) {
  const { change, problems, root } = useForm();
  const document = useStore((state) => state.drawing.document);
  const arcs = useStore((state) => state.checked?.arcs) ?? {};
  const given = asList(value as string | string[] | undefined);
  const { least = 1, most = 1 } = kind.inputs ?? {};
  // An input that the kind needs has its row even before something is connected.
  const rows = [...given, ...Array.from({ length: Math.max(0, least - given.length) }, () => "")];
  const choices = readable(document, arcs, name).map((arc) => ({ value: arc }));
  const set = (after: readonly string[]) => change([parameter.name], after.length === 1 ? (after[0] ?? "") : [...after]);
  const put = (at: number, arc: string) => {
    const filled = at < given.length ? given.with(at, arc) : [...rows.slice(0, at), arc].filter((one, index) => one !== "" || index === at);
    set(filled);
  };
  const hasMore = most === null || rows.length < most;
  return (
    <Field isGroup label="Reads from" means={parameter.means} parts={rows.map((_, at) => at)} path={[parameter.name]} required>
      {(ids) => (
        <div className="inputs">
          {rows.map((arc, at) => {
            const own = problemsAt(problems, [...root, parameter.name, at]);
            const id = `${ids.id}-${at}`;
            const label = inputLabel(kind, at, rows.length);
            return (
              <div className="inputs-row" key={at}>
                {rows.length > 1 && (
                  <label className="inputs-label" htmlFor={id}>
                    {label}
                  </label>
                )}
                <SelectControl
                  choices={choices}
                  empty="Nothing yet…"
                  ids={{ id, "aria-describedby": own.length > 0 ? `${id}-problems` : undefined, "aria-invalid": own.length > 0 || undefined }}
                  label={label}
                  onChange={(after) => put(at, String(after ?? ""))}
                  value={arc}
                />
                {given.length > 1 && (
                  <span className="inputs-tools">
                    <button
                      aria-label={`Move ${label} up`}
                      className="quiet field-tool"
                      disabled={at === 0}
                      onClick={() => set(moved(given, at, -1))}
                      type="button"
                    >
                      <Icon name="up" />
                    </button>
                    <button
                      aria-label={`Move ${label} down`}
                      className="quiet field-tool"
                      disabled={at >= given.length - 1}
                      onClick={() => set(moved(given, at, 1))}
                      type="button"
                    >
                      <Icon name="down" />
                    </button>
                  </span>
                )}
                {at < given.length && given.length > least && (
                  <button
                    aria-label={`Disconnect ${label}`}
                    className="quiet field-tool"
                    onClick={() => set(given.filter((_, other) => other !== at))}
                    title="Disconnect"
                    type="button"
                  >
                    <Icon name="close" />
                  </button>
                )}
                {own.length > 0 && <Problems id={`${id}-problems`} problems={own} />}
              </div>
            );
          })}
          {hasMore && given.length >= least && (
            <SelectControl
              choices={choices.filter((choice) => !given.includes(choice.value))}
              empty="+ another input…"
              ids={{ id: `${ids.id}-more`, "aria-describedby": undefined, "aria-invalid": undefined }}
              label="Another input"
              onChange={(arc) => arc && set([...given, String(arc)])}
              value=""
            />
          )}
        </div>
      )}
    </Field>
  );
}
