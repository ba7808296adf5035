// The kinds of elements that can be drawn: dragged into the drawing, or added with a click to what is selected.

import { type KeyboardEvent, useEffect, useMemo, useState } from "react";
import { type Offered, OFFERED_TYPE, place } from "../canvas/placing";
import { type Kind, plainWords, startConnected, startOf } from "../model/forms";
import { Icon } from "../shell/Icon";
import { useShortcut } from "../shell/shortcuts";
import { useStore } from "../state/store";
import { Sign } from "./Sign";
import "./Palette.css";

const OPEN_KEY = "aurora.palette";
const CLOSED_KEY = "aurora.palette.closed";
const CLOSED_AT_FIRST = ["Sources", "Sinks"];

export function Palette() {
  const palette = useStore((state) => state.palette);
  const connection = useStore((state) => state.connection);
  const { loadPalette, say } = useStore.getState();
  const [isOpen, setOpen] = useState(localStorage.getItem(OPEN_KEY) !== "no");
  const [closed, setClosed] = useState<readonly string[]>(keptClosed);
  const [asked, setAsked] = useState("");
  useEffect(() => {
    if (palette !== null || connection !== "live") return;
    loadPalette().catch((error: unknown) => say("bad", error instanceof Error ? error.message : String(error)));
  }, [palette, connection, loadPalette, say]);
  const found = useMemo(() => search(palette?.kinds ?? [], asked), [palette, asked]);
  const isSearching = asked.trim() !== "";

  const show = (open: boolean) => {
    localStorage.setItem(OPEN_KEY, open ? "yes" : "no");
    setOpen(open);
  };
  const toggle = (category: string) => {
    const after = closed.includes(category) ? closed.filter((one) => one !== category) : [...closed, category];
    localStorage.setItem(CLOSED_KEY, JSON.stringify(after));
    setClosed(after);
  };
  useShortcut("P", "Search the palette", () => {
    show(true);
    requestAnimationFrame(() => document.getElementById("palette-search")?.focus());
  }, { group: "Drawing" });

  return (
    <nav aria-label="Palette" className={isOpen ? "palette" : "palette is-narrow"} onKeyDown={walk}>
      <div className="palette-head">
        {isOpen && (
          <div className="palette-search" role="search">
            <Icon name="search" />
            <input
              aria-label="Search the palette"
              id="palette-search"
              onChange={(event) => setAsked(event.target.value)}
              onKeyDown={(event) => {
                if (event.key === "Escape") setAsked("");
                else if (event.key === "Enter" && found[0]) add(found[0]);
              }}
              placeholder="Search"
              type="search"
              value={asked}
            />
          </div>
        )}
        <button
          aria-expanded={isOpen}
          aria-label={isOpen ? "Make the palette narrow" : "Make the palette wide"}
          className="quiet palette-fold"
          onClick={() => show(!isOpen)}
          title={isOpen ? "Narrow" : "Wide"}
          type="button"
        >
          <span className={isOpen ? "palette-left" : "palette-right"}>
            <Icon name="down" />
          </span>
        </button>
      </div>
      <div className="palette-body">
        {(palette?.categories ?? []).map((category) => {
          const kinds = found.filter((kind) => kind.category === category);
          const isShown = isSearching || !closed.includes(category);
          if (kinds.length === 0 || (!isOpen && !isShown)) return null;
          return (
            <section aria-label={category} className="palette-group" key={category}>
              {isOpen && (
                <h3>
                  <button aria-expanded={isShown} className="palette-heading" disabled={isSearching} onClick={() => toggle(category)} type="button">
                    <span className={isShown ? "palette-down" : "palette-right"}>
                      <Icon name="down" />
                    </span>
                    {category}
                    <span className="palette-count">{kinds.length}</span>
                  </button>
                </h3>
              )}
              {isShown && (
                <ul>
                  {kinds.map((kind) => (
                    <Item key={`${kind.kind ?? ""} ${kind.title}`} kind={kind} wide={isOpen} />
                  ))}
                </ul>
              )}
            </section>
          );
        })}
        {isSearching && found.length === 0 && <p className="muted palette-none">Nothing is called that.</p>}
      </div>
    </nav>
  );
}

function Item({ kind, wide }: { kind: Kind; wide: boolean }) {
  const { openManual } = useStore.getState();
  const summary = plainWords(kind.summary);
  return (
    <li className="palette-item">
      <button
        className="palette-kind"
        draggable
        onClick={() => add(kind)}
        onDragStart={(event) => {
          const offered: Offered = { section: kind.section, kind: kind.kind, element: startOf(kind) };
          event.dataTransfer.setData(OFFERED_TYPE, JSON.stringify(offered));
          event.dataTransfer.effectAllowed = "copy";
        }}
        title={wide ? summary : `${kind.title}: ${summary}`}
        type="button"
      >
        <Sign family={kind.family} />
        <span className="palette-title">{kind.title}</span>
      </button>
      {wide && (
        <button
          aria-label={`Manual page of ${kind.title}`}
          className="quiet palette-help"
          onClick={() => openManual(kind.manual)}
          title="Manual"
          type="button"
        >
          <Icon name="help" />
        </button>
      )}
    </li>
  );
}

/** Adds an element that reads what is selected. */
function add(kind: Kind): void {
  const { drawing, selection, arc, showSide } = useStore.getState();
  const element = startConnected(kind, drawing.document, selection, arc);
  if (place({ section: kind.section, kind: kind.kind, element })) showSide("element");
}

function search(kinds: readonly Kind[], asked: string): Kind[] {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (kind: Kind) => {
    const text = `${kind.title} ${kind.kind ?? ""} ${kind.category} ${kind.summary}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const titled = (kind: Kind) => (words.some((word) => kind.title.toLowerCase().includes(word)) ? 0 : 1);
  const found = kinds.filter(fits);
  return words.length === 0 ? found : found.toSorted((one, other) => titled(one) - titled(other));
}

function keptClosed(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(CLOSED_KEY) ?? "null");
    return Array.isArray(kept) ? kept.map(String) : CLOSED_AT_FIRST;
  } catch {
    return CLOSED_AT_FIRST;
  }
}

/** Arrows go from one to the next, over headings too. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  if (!["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) return;
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("#palette-search, .palette-heading, .palette-kind")];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  const isSearch = document.activeElement?.id === "palette-search";
  if (at < 0 || (isSearch && event.key !== "ArrowDown")) return;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: stops.length - 1 }[event.key] ?? at;
  stops[Math.min(stops.length - 1, Math.max(0, to))]?.focus();
  event.preventDefault();
}
