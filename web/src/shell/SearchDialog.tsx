// Finds elements of the drawing, and of all networks on the server.

import { type KeyboardEvent, useEffect, useId, useMemo, useState } from "react";
import { api } from "../api/client";
import type { Entity } from "../api/types";
import { type ElementId, elementId, type NetworkDocument, SECTIONS } from "../model/document";
import { elements } from "../model/edits";
import { type Findable, search } from "../model/search";
import { useStore } from "../state/store";
import { Dialog } from "./Dialog";
import { reveal } from "./reveal";
import { WORDS } from "./words";
import "./SearchDialog.css";

const MOST_SHOWN = 50;

interface Found extends Findable {
  id: ElementId;
}

export function SearchDialog({ onClose }: { onClose: () => void }) {
  const document = useStore((state) => state.drawing.document);
  const arcs = useStore((state) => state.checked?.arcs);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [others, setOthers] = useState<readonly Found[]>([]);
  const list = useId();

  useEffect(() => {
    api.entities().then((all) => setOthers(all.map(ofEntity)), () => setOthers([]));
  }, []);

  const all = useMemo(
    () => [...drawn(document, arcs ?? {}), ...others.filter((one) => one.network !== document.network)],
    [document, arcs, others],
  );
  const found = useMemo(() => search(all, text), [all, text]);
  const shown = found.slice(0, MOST_SHOWN);

  const go = async (one: Found | undefined) => {
    if (one === undefined) return;
    onClose();
    const { open, say } = useStore.getState();
    try {
      if (one.network !== document.network) await open(one.network);
      reveal(one.id);
    } catch (error) {
      say("bad", (error as Error).message);
    }
  };
  const pressed = (event: KeyboardEvent) => {
    const last = shown.length - 1;
    const next = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setAt(next);
    globalThis.document.getElementById(`${list}-${next}`)?.scrollIntoView({ block: "nearest" });
  };

  return (
    <Dialog onClose={onClose} onSubmit={() => void go(shown[at])} title="Search" wide>
      <input
        aria-activedescendant={shown.length > 0 ? `${list}-${at}` : undefined}
        aria-autocomplete="list"
        aria-controls={list}
        aria-expanded={shown.length > 0}
        aria-label="Search all elements"
        autoComplete="off"
        data-first
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={pressed}
        placeholder="Name, kind, tag, column or words of the description"
        role="combobox"
        spellCheck={false}
        value={text}
      />
      <div aria-label="Found" className="search-list" id={list} role="listbox">
        {shown.map((one, index) => (
          <div
            aria-selected={index === at}
            className="search-one"
            id={`${list}-${index}`}
            key={`${one.network}/${one.id}`}
            onClick={() => void go(one)}
            onMouseMove={() => setAt(index)}
            role="option"
            tabIndex={-1}
          >
            <span className={`search-kind search-${one.id.split("/", 1)[0]}`}>{one.kind}</span>
            <strong>{one.name}</strong>
            <span className="muted grow search-said">{one.description || one.columns.join(", ")}</span>
            {one.network !== document.network && <span className="search-network">{one.network}</span>}
          </div>
        ))}
      </div>
      <p aria-live="polite" className={found.length > 0 ? "visually-hidden" : "empty"}>
        {found.length > 0 ? `${found.length} found` : text ? "Nothing of that kind, on the server or in the drawing." : "Nothing is drawn yet."}
      </p>
    </Dialog>
  );
}

function drawn(document: NetworkDocument, arcs: Record<string, Record<string, string>>): Found[] {
  return SECTIONS.flatMap((section) =>
    Object.entries(elements(document, section)).map(([name, element]) => ({
      id: elementId(section, name),
      network: document.network,
      section: WORDS[section],
      name,
      kind: "kind" in element && typeof element.kind === "string" ? element.kind : WORDS[section],
      description: element.description ?? "",
      tags: element.tags ?? [],
      columns: Object.keys(arcs[name] ?? {}),
    })),
  );
}

function ofEntity(entity: Entity): Found {
  const section = SECTIONS.find((one) => WORDS[one].replace(" ", "_") === entity.section) ?? "boxes";
  const columns = [...new Set(Object.values(entity.arcs).flatMap((arc) => Object.keys(arc)))];
  return { ...entity, id: elementId(section, entity.name), kind: entity.kind.replace("_", " "), columns };
}
