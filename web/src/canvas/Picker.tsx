// A list to choose from by typing: where an arrow shall lead, into which superbox something goes, what is added.

import { type KeyboardEvent, type ReactNode, useId, useMemo, useRef, useState } from "react";
import { Dialog } from "../shell/Dialog";

export interface Choice {
  key: string;
  label: string;
  /** Further to the right, smaller. */
  detail?: string;
  icon?: ReactNode;
  /** Why it cannot be chosen; null if it can. */
  refused?: string | null;
}

interface PickerProps {
  title: string;
  placeholder: string;
  choices: readonly Choice[];
  onChoose: (key: string) => void;
  onClose: () => void;
}

export function Picker({ title, placeholder, choices, onChoose, onClose }: PickerProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const found = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return choices.filter((choice) => {
      const all = `${choice.label} ${choice.detail ?? ""}`.toLowerCase();
      return words.every((word) => all.includes(word));
    });
  }, [choices, text]);
  const current = Math.min(at, Math.max(0, found.length - 1));
  const choose = (choice: Choice | undefined) => {
    if (choice && !choice.refused) onChoose(choice.key);
  };
  const go = (to: number) => {
    const next = Math.max(0, Math.min(found.length - 1, to));
    setAt(next);
    list.current?.children[next]?.scrollIntoView({ block: "nearest" });
  };
  const pressed = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    const move = moves[event.key];
    if (move !== undefined) go(current + move);
    else if (event.key === "Enter") choose(found[current]);
    else return;
    event.preventDefault();
  };
  const refused = found[current]?.refused;
  const help = refused ? `Not possible: ${refused}` : "Enter chooses, arrows move, Esc closes.";
  return (
    <Dialog onClose={onClose} title={title}>
      <input
        aria-activedescendant={found.length > 0 ? `${id}-${current}` : undefined}
        aria-autocomplete="list"
        aria-controls={`${id}-list`}
        aria-expanded="true"
        aria-label={placeholder}
        data-first
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={pressed}
        placeholder={placeholder}
        role="combobox"
        type="text"
        value={text}
      />
      <ul aria-label={title} className="picker-list" id={`${id}-list`} ref={list} role="listbox">
        {found.map((choice, index) => (
          <li
            aria-disabled={choice.refused ? true : undefined}
            aria-selected={index === current}
            className="picker-choice"
            id={`${id}-${index}`}
            key={choice.key}
            onClick={() => choose(choice)}
            onMouseMove={() => setAt(index)}
            role="option"
            title={choice.refused ?? undefined}
          >
            {choice.icon}
            <span className="picker-label">{choice.label}</span>
            <span className="picker-detail">{choice.refused ?? choice.detail}</span>
          </li>
        ))}
      </ul>
      <p aria-live="polite" className={refused ? "picker-said bad" : "picker-said muted"}>
        {found.length === 0 ? "Nothing fits." : help}
      </p>
    </Dialog>
  );
}
