// An expression as it is typed: its words in colours, what may come next, and mistakes underlined.

import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import { createPortal } from "react-dom";
import type { Problem } from "../../api/types";
import {
  type Completion,
  type Completions,
  completionsAt,
  proposed,
  spanIn,
  taken,
  type Token,
  tokens,
} from "../../model/completion";
import { columnsInScope, type Form } from "../../model/forms";
import { Sign } from "../Sign";
import { type FieldIds, Problems, useForm, useMerge } from "../form";
import "./ExpressionField.css";

interface Props {
  ids: FieldIds;
  label?: string;
  form: Form;
  value: string;
  problems: readonly Problem[];
  onChange: (text: string, merge: string) => void;
  placeholder?: string | undefined;
}

interface Open extends Completions {
  chosen: number;
}

const LIST_WIDTH = 340;
const LIST_HEIGHT = 280;

export function ExpressionField({ ids, label, form, value, problems, onChange, placeholder }: Props) {
  const { palette, inputs } = useForm();
  const { onFocus, merge } = useMerge();
  const area = useRef<HTMLTextAreaElement>(null);
  const shown = useRef<HTMLPreElement>(null);
  const list = useId();
  const [open, setOpen] = useState<Open | null>(null);
  const vocabulary = useMemo(
    () => ({ columns: columnsInScope(form, inputs), functions: palette.functions }),
    [form, inputs, palette],
  );
  const aggregates = "scope" in form && form.scope === "aggregate";
  const known = useCheckedText(value, problems);
  // A word that is being completed is not wrong yet.
  const underlined = open ? problems.filter((problem) => !isWithin(value, problem, open)) : problems;
  const wrong = known === value ? spansOf(value, underlined) : [];

  const complete = (text: string, caret: number, explicit: boolean) => {
    const found = completionsAt(text, caret, vocabulary, { aggregates, explicit });
    setOpen(found.items.length > 0 ? { ...found, chosen: 0 } : null);
  };

  const replace = (from: number, to: number, insert: string, caret: number) => {
    const field = area.current;
    if (!field) return;
    field.focus();
    field.setSelectionRange(from, to);
    // The browser's own way of inserting keeps its undo; it tells of the change like typing does.
    if (!document.execCommand("insertText", false, insert)) {
      field.setRangeText(insert, from, to, "end");
      onChange(field.value, merge());
    }
    field.setSelectionRange(caret, caret);
    setOpen(null);
  };

  const take = (chosen: Completion | undefined) => {
    if (!open || !chosen) return;
    const { insert, from, to, caret } = taken(value, open, chosen);
    replace(from, to, insert, caret);
  };

  const pressed = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === " " && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      complete(value, event.currentTarget.selectionStart, true);
      return;
    }
    if (open) {
      const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 6, PageUp: -6 };
      const move = moves[event.key];
      if (move !== undefined) {
        event.preventDefault();
        const count = open.items.length;
        const next = Math.abs(move) === 1 ? (open.chosen + move + count) % count : clamp(open.chosen + move, count);
        setOpen({ ...open, chosen: next });
      } else if (event.key === "Enter" || event.key === "Tab") {
        event.preventDefault();
        take(open.items[open.chosen]);
      } else if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        setOpen(null);
      } else if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) setOpen(null);
      return;
    }
    if (event.key === "Enter" && !event.shiftKey) event.preventDefault();
  };

  const active = open?.items[open.chosen];
  return (
    <div className="expression-field">
      <div className="expression">
        <pre aria-hidden="true" className="expression-shown" ref={shown}>
          {pieces(value, tokens(value, vocabulary), wrong).map(({ from, text, kind, isWrong }) => (
            <span className={isWrong ? `word-${kind} is-wrong` : `word-${kind}`} key={from}>
              {text}
            </span>
          ))}
          {"\n"}
        </pre>
        <textarea
          {...ids}
          aria-activedescendant={open ? `${list}-${open.chosen}` : undefined}
          aria-autocomplete="list"
          aria-controls={open ? list : undefined}
          aria-expanded={open !== null}
          aria-haspopup="listbox"
          aria-label={label}
          autoCapitalize="off"
          autoComplete="off"
          className="expression-text"
          onBlur={() => setOpen(null)}
          onChange={(event) => {
            onChange(event.target.value, merge());
            complete(event.target.value, event.target.selectionStart, false);
          }}
          onClick={() => setOpen(null)}
          onFocus={onFocus}
          onKeyDown={pressed}
          placeholder={placeholder}
          ref={area}
          role="combobox"
          rows={1}
          spellCheck={false}
          value={value}
        />
      </div>
      {open && <List chosen={open.chosen} from={open.from} id={list} items={open.items} take={take} under={shown.current} />}
      <span aria-live="polite" className="visually-hidden">
        {active ? `${active.label}, ${active.detail}` : ""}
      </span>
      <Problems
        id={`${ids.id}-problems`}
        mend={(problem) => {
          const word = proposed(problem.way_out);
          const span = problem.span && spanIn(value, problem.span);
          if (word === null || !span || known !== value) return null;
          return (
            <button className="field-mend" onClick={() => replace(span[0], span[1], word, span[0] + word.length)} type="button">
              Use {word}
            </button>
          );
        }}
        problems={problems}
      />
    </div>
  );
}

interface ListProps {
  id: string;
  items: readonly Completion[];
  chosen: number;
  /** Where the word begins that is completed. */
  from: number;
  under: HTMLElement | null;
  take: (item: Completion) => void;
}

function List({ id, items, chosen, from, under, take }: ListProps) {
  const [place, setPlace] = useState<{ left: number; top?: number; bottom?: number } | null>(null);
  const options = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    const word = under && placeOfCharacter(under, from);
    if (!word) return;
    const left = Math.max(8, Math.min(word.left - 8, window.innerWidth - LIST_WIDTH - 8));
    const fits = word.bottom + LIST_HEIGHT < window.innerHeight;
    setPlace(fits ? { left, top: word.bottom + 4 } : { left, bottom: window.innerHeight - word.top + 4 });
  }, [under, from]);
  useEffect(() => {
    options.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const active = items[chosen];
  return createPortal(
    <div className="completions" style={place ?? { visibility: "hidden" }}>
      <ul aria-label="Completions" className="completions-list" id={id} ref={options} role="listbox">
        {items.map((item, at) => (
          <li
            aria-selected={at === chosen}
            className="completions-one"
            id={`${id}-${at}`}
            key={`${item.kind} ${item.label}`}
            onClick={() => take(item)}
            // The text keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            role="option"
          >
            <span aria-hidden="true" className={`completions-kind completions-${item.kind}`}>
              {item.kind === "column" ? <Sign family="table" /> : SIGNS[item.kind]}
            </span>
            <span className="completions-label">{item.label}</span>
            <span className="completions-detail">{item.detail.replace(item.label, "")}</span>
          </li>
        ))}
      </ul>
      {active?.description && <p className="completions-about">{active.description}</p>}
    </div>,
    document.body,
  );
}

const SIGNS: Record<string, string> = { function: "ƒ", aggregate: "Σ", keyword: "·" };

/** Where a character of the shown text stands on the screen. */
function placeOfCharacter(root: HTMLElement, at: number): DOMRect | null {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let before = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = node.textContent?.length ?? 0;
    if (before + length > at) {
      const range = document.createRange();
      range.setStart(node, at - before);
      range.setEnd(node, at - before);
      return range.getBoundingClientRect();
    }
    before += length;
  }
  return null;
}

/** The text that problems are about: what it was when the server said them. */
function useCheckedText(value: string, problems: readonly Problem[]): string {
  const latest = useRef(value);
  latest.current = value;
  const [checked, setChecked] = useState(value);
  useEffect(() => setChecked(latest.current), [problems]);
  return checked;
}

/** What is to be underlined: the places of problems, or everything where the place is not known. */
function spansOf(text: string, problems: readonly Problem[]): [number, number][] {
  return problems
    .filter((problem) => problem.severity === "error")
    .map((problem) => (problem.span ? spanIn(text, problem.span) : [0, text.length]));
}

function isWithin(text: string, { span }: Problem, { from, to }: Completions): boolean {
  if (!span) return false;
  const [start, end] = spanIn(text, span);
  return start >= from && end <= to;
}

interface Piece {
  from: number;
  text: string;
  kind: Token["kind"];
  isWrong: boolean;
}

/** Words cut where underlining begins and ends. */
function pieces(text: string, words: readonly Token[], wrong: readonly [number, number][]): Piece[] {
  const edges = wrong.flat();
  return words.flatMap(({ kind, start, end }) => {
    const cuts = [start, ...edges.filter((edge) => edge > start && edge < end).toSorted((a, b) => a - b), end];
    return cuts.slice(0, -1).flatMap((from, at) => {
      const to = cuts[at + 1] ?? end;
      const isWrong = wrong.some(([first, last]) => first <= from && to <= last);
      return from === to ? [] : [{ from, text: text.slice(from, to), kind, isWrong }];
    });
  });
}

function clamp(at: number, count: number): number {
  return Math.min(count - 1, Math.max(0, at));
}
