// The columns of a stream with their types.

import type { Json } from "../../model/document";
import type { Path } from "../../model/forms";
import { type FieldIds, useForm } from "../form";
import { PairsField } from "./PairsField";

interface Props {
  ids: FieldIds;
  path: Path;
  value: Json | undefined;
  onChange: (value: Json | undefined, merge?: string) => void;
}

export function SchemaField({ ids, path, value, onChange }: Props) {
  const { palette } = useForm();
  const types = [...palette.types, ...palette.types.map((type) => `list<${type}>`)];
  return (
    <PairsField addLabel="column" first="double" fresh="column" ids={ids} label="Type" onChange={onChange} path={path} value={value} what="column">
      {(entry) => {
        const type = String(entry.value);
        return (
          <select
            {...entry.ids}
            aria-label={entry.label.replace("Type: ", "Type of ")}
            onChange={(event) => entry.onChange(event.target.value)}
            value={type}
          >
            {!types.includes(type) && <option value={type}>{type} (no type)</option>}
            {types.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        );
      }}
    </PairsField>
  );
}
