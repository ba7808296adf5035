// Fields for plain values: text, numbers, choices, quantities with their unit, lists of words.

import { useEffect, useRef, useState } from "react";
import type { Json } from "../../model/document";
import { Icon } from "../../shell/Icon";
import { type FieldIds, useMerge } from "../form";

export interface ControlProps<V extends Json = Json> {
  ids: FieldIds;
  label: string;
  value: V | undefined;
  placeholder?: string | undefined;
  onChange: (value: Json | undefined, merge?: string) => void;
}

export function TextControl({ ids, value, placeholder, onChange, mono }: ControlProps & { mono?: boolean }) {
  const { onFocus, merge } = useMerge();
  return (
    <input
      {...ids}
      autoComplete="off"
      className={mono ? "field-mono" : undefined}
      onChange={(event) => onChange(event.target.value, merge())}
      onFocus={onFocus}
      placeholder={placeholder}
      spellCheck={!mono}
      type="text"
      value={value === undefined || value === null ? "" : String(value)}
    />
  );
}

/** Text of several lines, which grows with them. */
export function LinesControl({ ids, value, placeholder, onChange, mono }: ControlProps & { mono?: boolean }) {
  const { onFocus, merge } = useMerge();
  return (
    <textarea
      {...ids}
      className={mono ? "field-mono" : undefined}
      onChange={(event) => onChange(event.target.value, merge())}
      onFocus={onFocus}
      placeholder={placeholder}
      rows={1}
      spellCheck={!mono}
      value={typeof value === "string" ? value : ""}
    />
  );
}

/** A number, or text where a document may have either. */
export function ScalarControl({ value, onChange, ...props }: ControlProps) {
  const parse = (text: Json | undefined) => (typeof text === "string" && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);
  return <TextControl {...props} mono onChange={(text, merge) => onChange(parse(text), merge)} value={value} />;
}

interface NumberProps extends ControlProps {
  whole: boolean;
  least?: number | undefined;
  most?: number | undefined;
}

export function NumberControl({ ids, value, placeholder, onChange, whole, least, most }: NumberProps) {
  const { onFocus, merge } = useMerge();
  const given = value === undefined || value === null ? "" : String(value);
  const [text, setText] = useState(given);
  const own = useRef(given);
  // What others change is shown; what is being typed stays as it is typed.
  useEffect(() => {
    if (own.current !== given) setText(given);
    own.current = given;
  }, [given]);
  return (
    <input
      {...ids}
      inputMode={whole ? "numeric" : "decimal"}
      max={most}
      min={least}
      onChange={(event) => {
        const typed = event.target.value;
        setText(typed);
        const number = typed.trim() === "" ? undefined : Number(typed);
        if (number !== undefined && !Number.isFinite(number)) return;
        own.current = number === undefined ? "" : String(number);
        onChange(number, merge());
      }}
      onFocus={onFocus}
      placeholder={placeholder}
      step={whole ? 1 : "any"}
      type="number"
      value={text}
    />
  );
}

export function BooleanControl({ ids, value, onChange }: ControlProps) {
  return (
    <input {...ids} checked={value === true} className="switch" onChange={(event) => onChange(event.target.checked)} role="switch" type="checkbox" />
  );
}

const MOST_BESIDE = 3;

export function ChoiceControl({ ids, label, value, choices, onChange }: ControlProps & { choices: readonly string[] }) {
  if (choices.length > MOST_BESIDE || choices.join("").length > 24) {
    return <SelectControl choices={choices.map((choice) => ({ value: choice }))} ids={ids} label={label} onChange={onChange} value={value} />;
  }
  return (
    <div aria-describedby={ids["aria-describedby"]} aria-label={label} className="choice" id={ids.id} role="radiogroup">
      {choices.map((choice) => (
        <label key={choice}>
          <input checked={value === choice} name={ids.id} onChange={() => onChange(choice)} type="radio" value={choice} />
          {choice}
        </label>
      ))}
    </div>
  );
}

export interface SelectChoice {
  value: string;
  detail?: string;
}

/** One of a list. What is no choice any more stays, and is shown as what it is. */
export function SelectControl({
  ids,
  label,
  value,
  choices,
  onChange,
  empty = "Choose…",
}: ControlProps & { choices: readonly SelectChoice[]; empty?: string }) {
  const chosen = typeof value === "string" ? value : "";
  // Where nothing can be chosen, nothing is known.
  const isKnown = chosen === "" || choices.some((choice) => choice.value === chosen);
  const isMissing = !isKnown && choices.length > 0;
  return (
    <select {...ids} aria-label={label} onChange={(event) => onChange(event.target.value)} title={chosen || undefined} value={chosen}>
      {chosen === "" && <option value="">{empty}</option>}
      {!isKnown && <option value={chosen}>{isMissing ? `${chosen} (not there)` : chosen}</option>}
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.detail ? `${choice.value} — ${choice.detail}` : choice.value}
        </option>
      ))}
    </select>
  );
}

const DURATIONS = ["us", "ms", "s", "m", "h", "d"];
const UNITS: Record<string, readonly string[]> = {
  duration: DURATIONS,
  distance: [...DURATIONS, ""],
  quantity: ["tuples", ...DURATIONS, ""],
  tuples: ["tuples"],
  size: ["B", "kB", "MB", "GB", "KiB", "MiB", "GiB"],
};
const UNIT_NAMES: Record<string, string> = {
  "": "number",
  us: "µs",
  m: "min",
  h: "hours",
  d: "days",
  s: "seconds",
};

/** A quantity in parts: `60s` is 60 and s. Null for what has several, such as `1m30s`. */
export function parseQuantity(value: Json | undefined, units: readonly string[]): { amount: string; unit: string } | null {
  if (typeof value === "number") return units.includes("B") ? sizeOf(value) : { amount: String(value), unit: "" };
  if (typeof value !== "string") return { amount: "", unit: "" };
  const match = /^\s*(-?\d*\.?\d*)\s*([A-Za-z]*)\s*$/.exec(value);
  if (!match) return null;
  const unit = match[2] === "tuple" ? "tuples" : (match[2] ?? "");
  return { amount: match[1] ?? "", unit };
}

const BYTES: Record<string, number> = { GiB: 2 ** 30, MiB: 2 ** 20, KiB: 2 ** 10, GB: 1e9, MB: 1e6, kB: 1e3 };

/** Bytes in the largest unit of which they are so many. */
function sizeOf(bytes: number): { amount: string; unit: string } {
  const unit = Object.keys(BYTES).find((name) => bytes > 0 && bytes % (BYTES[name] ?? 1) === 0) ?? "B";
  return { amount: String(bytes / (BYTES[unit] ?? 1)), unit };
}

export function writeQuantity(amount: string, unit: string): Json {
  if (unit === "" || unit === "B") return amount.trim() === "" ? "" : Number.isFinite(Number(amount)) ? Number(amount) : amount;
  if (unit === "tuples") return `${amount} ${amount === "1" ? "tuple" : "tuples"}`;
  return `${amount}${unit}`;
}

export function QuantityControl({ ids, label, value, placeholder, onChange, form }: ControlProps & { form: string }) {
  const { onFocus, merge } = useMerge();
  const units = UNITS[form] ?? DURATIONS;
  const parts = parseQuantity(value, units);
  const first = parts?.unit !== undefined && units.includes(parts.unit) ? parts.unit : (units[0] ?? "");
  if (!parts || (parts.unit !== "" && !units.includes(parts.unit))) {
    return <TextControl ids={ids} label={label} mono onChange={onChange} placeholder={placeholder} value={value} />;
  }
  // An amount without a unit is one where that has a meaning; else it is about to get one.
  const unit = value === undefined || value === "" ? (parseQuantity(placeholder, units)?.unit ?? first) : parts.unit;
  const shownUnit = units.includes(unit) ? unit : first;
  return (
    <div className="quantity">
      <input
        {...ids}
        autoComplete="off"
        inputMode="decimal"
        onChange={(event) => {
          const text = event.target.value;
          // Whoever types the unit too, types all of it.
          const isWhole = /[a-zA-Z]/.test(text);
          onChange(isWhole ? text : writeQuantity(text, shownUnit), merge());
        }}
        onFocus={onFocus}
        placeholder={placeholder ? (parseQuantity(placeholder, units)?.amount ?? placeholder) : undefined}
        type="text"
        value={parts.amount}
      />
      <select
        aria-label={`Unit of ${label}`}
        onChange={(event) => onChange(writeQuantity(parts.amount || "1", event.target.value))}
        value={shownUnit}
      >
        {units.map((one) => (
          <option key={one} value={one}>
            {UNIT_NAMES[one] ?? one}
          </option>
        ))}
      </select>
    </div>
  );
}

interface WordsProps extends ControlProps {
  /** To choose from; without it words are typed. */
  choices?: readonly SelectChoice[];
  most?: number | undefined;
}

/** A list of words. Documents may write one word for a list of one. */
export function WordsControl({ ids, label, value, placeholder, onChange, choices, most }: WordsProps) {
  const [typed, setTyped] = useState("");
  const words = asWords(value);
  const set = (after: readonly string[]) => onChange([...after]);
  const add = (text: string) => {
    const fresh = text
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== "" && !words.includes(word));
    if (fresh.length > 0) set([...words, ...fresh]);
    setTyped("");
  };
  const rest = choices?.filter((choice) => !words.includes(choice.value)) ?? [];
  const isFull = most !== undefined && words.length >= most;
  return (
    <div className="chips">
      {words.map((word, at) => (
        <span className={choices && choices.length > 0 && !choices.some((choice) => choice.value === word) ? "chips-one is-unknown" : "chips-one"} key={word}>
          <span>{word}</span>
          <button aria-label={`Remove ${word}`} onClick={() => set(words.filter((_, other) => other !== at))} type="button">
            <Icon name="close" />
          </button>
        </span>
      ))}
      {choices && choices.length > 0 ? (
        <select
          {...ids}
          disabled={isFull || rest.length === 0}
          onChange={(event) => event.target.value && add(event.target.value)}
          value=""
        >
          <option value="">{words.length === 0 ? (placeholder ?? "Add…") : rest.length === 0 || isFull ? "" : "Add…"}</option>
          {rest.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.detail ? `${choice.value} — ${choice.detail}` : choice.value}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...ids}
          aria-label={label}
          autoComplete="off"
          onBlur={() => add(typed)}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" || event.key === ",") {
              event.preventDefault();
              add(typed);
            } else if (event.key === "Backspace" && typed === "" && words.length > 0) set(words.slice(0, -1));
          }}
          placeholder={words.length === 0 ? (placeholder ?? "Add…") : ""}
          type="text"
          value={typed}
        />
      )}
    </div>
  );
}

export function asWords(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === "string" && value !== "" ? [value] : [];
}

/** Anything that JSON can say, as it is typed; what is not finished is not taken. */
export function JsonControl({ ids, value, onChange }: ControlProps) {
  const { onFocus, merge } = useMerge();
  const given = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  const [text, setText] = useState(given);
  const own = useRef(given);
  useEffect(() => {
    if (own.current !== given) setText(given);
    own.current = given;
  }, [given]);
  return (
    <input
      {...ids}
      autoComplete="off"
      className="field-mono"
      onChange={(event) => {
        setText(event.target.value);
        const read = parseJson(event.target.value);
        own.current = typeof read === "string" ? read : JSON.stringify(read);
        onChange(read, merge());
      }}
      onFocus={onFocus}
      spellCheck={false}
      type="text"
      value={text}
    />
  );
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
