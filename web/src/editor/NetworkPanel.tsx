// The network's own name, description and tags, what it is made of, and its versions.

import { useEffect, useState } from "react";
import { api, RefusedError } from "../api/client";
import type { Problem, Version } from "../api/types";
import type { Json, NetworkDocument } from "../model/document";
import { Icon } from "../shell/Icon";
import { useStore } from "../state/store";
import { LinesControl, WordsControl } from "./fields/basic";
import { type FieldIds, Problems, useMerge } from "./form";
import { ManualText } from "./ManualText";
import "./panels.css";

const COUNTED = [
  ["streams", "streams"],
  ["boxes", "boxes"],
  ["outputs", "outputs"],
  ["superboxes", "superboxes"],
  ["connection_points", "connection points"],
  ["sources", "sources"],
  ["sinks", "sinks"],
] as const;

const NONE: readonly Problem[] = [];

export function NetworkPanel() {
  const document = useStore((state) => state.drawing.document);
  const network = useStore((state) => state.network);
  const hasCatalog = useStore((state) => state.server?.catalog ?? false);
  const problems = useStore((state) => state.checked?.problems) ?? NONE;
  const { edit } = useStore.getState();
  const own = problems.filter((problem) => !COUNTED.some(([section]) => section === problem.path[0]));
  const set = (key: "description" | "tags" | "manual" | "network") => (value: Json | undefined, merge?: string) =>
    edit(
      `Change ${key === "network" ? "the name" : key} of the network`,
      (drawing) => {
        const { [key]: _, ...rest } = drawing.document;
        const isEmpty = value === "" || value === undefined || (Array.isArray(value) && value.length === 0);
        const after = (isEmpty && key !== "network" ? rest : { ...drawing.document, [key]: value }) as NetworkDocument;
        return { ...drawing, document: after };
      },
      merge,
    );
  return (
    <div className="panel">
      <div className="form">
        <header className="panel-head">
          <div className="panel-kind">
            <span>Network</span>
          </div>
          {network === null ? <NameInput onChange={set("network")} value={document.network} /> : <h2 className="panel-title">{document.network}</h2>}
        </header>
        <Problems problems={own} />
        <dl className="panel-counts">
          {COUNTED.filter(([section]) => Object.keys(document[section] ?? {}).length > 0).map(([section, label]) => (
            <div key={section}>
              <dt>{label}</dt>
              <dd>{Object.keys(document[section] ?? {}).length}</dd>
            </div>
          ))}
        </dl>
        <div className="field">
          <label className="field-label" htmlFor="network-description">
            Description
          </label>
          <LinesControl ids={ids("network-description")} label="Description" onChange={set("description")} value={document.description} />
        </div>
        <div className="field">
          <label className="field-label" htmlFor="network-tags">
            Tags
          </label>
          <WordsControl ids={ids("network-tags")} label="Tags" onChange={set("tags")} value={document.tags} />
        </div>
        <ManualText label="Manual of the network" onChange={set("manual")} value={document.manual ?? ""} />
        {network !== null && hasCatalog && <Versions network={network} />}
      </div>
    </div>
  );
}

function ids(id: string): FieldIds {
  return { id, "aria-describedby": undefined, "aria-invalid": undefined };
}

function NameInput({ value, onChange }: { value: string; onChange: (value: string, merge: string) => void }) {
  const { onFocus, merge } = useMerge();
  return (
    <input
      aria-label="Name"
      autoComplete="off"
      className="panel-name"
      onChange={(event) => onChange(event.target.value, merge())}
      onFocus={onFocus}
      spellCheck={false}
      value={value}
    />
  );
}

const MOST_SHOWN = 8;

/** What the catalog keeps, if the server has one. */
function Versions({ network }: { network: string }) {
  const running = useStore((state) => state.running);
  const [versions, setVersions] = useState<readonly Version[] | null>(null);
  const [all, setAll] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    api
      .versions(network)
      .then((found) => isCurrent && setVersions(found.toSorted((one, other) => other.number - one.number)))
      // A network that is not in the catalog has none.
      .catch((error: unknown) => isCurrent && error instanceof RefusedError && setVersions(null));
    return () => {
      isCurrent = false;
    };
  }, [network, running?.network]);
  if (!versions || versions.length === 0) return null;
  const shown = all ? versions : versions.slice(0, MOST_SHOWN);
  return (
    <section aria-label="Versions" className="panel-versions">
      <h3>Versions</h3>
      <ol>
        {shown.map((version) => (
          <li key={version.number}>
            <span className="panel-number">{version.number}</span>
            <span className="grow">
              {version.why || <span className="muted">no reason given</span>}
              <span className="panel-when">
                {new Date(version.at_us / 1_000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}
                {version.author && ` · ${version.author}`}
              </span>
            </span>
            <span className={version.state === "refused" ? "bad" : "muted"}>{version.state}</span>
          </li>
        ))}
      </ol>
      {!all && versions.length > MOST_SHOWN && (
        <button className="quiet" onClick={() => setAll(true)} type="button">
          <Icon name="down" /> {versions.length - MOST_SHOWN} earlier
        </button>
      )}
    </section>
  );
}
