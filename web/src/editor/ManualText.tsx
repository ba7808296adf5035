// A manual page of somebody's own: read as Markdown, and written.

import { useState } from "react";
import { Icon } from "../shell/Icon";
import { useMerge } from "./form";
import { Markdown } from "./Markdown";

interface Props {
  label: string;
  value: string;
  onChange: (text: string, merge: string) => void;
}

export function ManualText({ label, value, onChange }: Props) {
  const { onFocus, merge } = useMerge();
  const [isWriting, setWriting] = useState(false);
  return (
    <section aria-label={label} className="field manual-own">
      <div className="field-head">
        <span className="field-label">{label}</span>
        <span className="grow" />
        {value !== "" && (
          <button aria-pressed={isWriting} className="quiet field-tool" onClick={() => setWriting(!isWriting)} type="button">
            {isWriting ? "Read" : "Write"}
          </button>
        )}
      </div>
      {isWriting ? (
        <textarea
          aria-label={label}
          className="field-mono manual-text"
          onChange={(event) => onChange(event.target.value, merge())}
          onFocus={onFocus}
          placeholder="Markdown"
          rows={6}
          value={value}
        />
      ) : value === "" ? (
        <div className="form-chips">
          <button className="form-chip" onClick={() => setWriting(true)} type="button">
            <Icon name="plus" /> write one
          </button>
        </div>
      ) : (
        <Markdown below={2} text={value} />
      )}
    </section>
  );
}
