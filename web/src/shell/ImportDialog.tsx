// A document from a file or the clipboard becomes a drawing.

import { useRef, useState } from "react";
import { RefusedError } from "../api/client";
import type { Problem } from "../api/types";
import { Dialog } from "./Dialog";
import { Icon } from "./Icon";
import { importText } from "./importing";
import "./ImportDialog.css";

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [said, setSaid] = useState("");
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [isBusy, setBusy] = useState(false);
  const file = useRef<HTMLInputElement>(null);

  const bring = async (brought: string) => {
    setBusy(true);
    try {
      await importText(brought);
      onClose();
    } catch (error) {
      setSaid((error as Error).message);
      setProblems(error instanceof RefusedError ? error.problems : []);
      setBusy(false);
    }
  };
  const read = async (files: FileList | null) => {
    const content = await files?.[0]?.text();
    if (content === undefined) return;
    setText(content);
    await bring(content);
  };

  return (
    <Dialog
      footer={
        <>
          <button onClick={() => file.current?.click()} type="button">
            <Icon name="into" /> Choose a file …
          </button>
          <span className="grow" />
          <button onClick={onClose} type="button">
            Cancel
          </button>
          <button className="primary" disabled={isBusy || text.trim() === ""} type="submit">
            Draw it
          </button>
        </>
      }
      onClose={onClose}
      onSubmit={() => void bring(text)}
      title="Import a network"
      wide
    >
      <input
        accept=".yaml,.yml,.json"
        aria-label="File"
        hidden
        onChange={(event) => void read(event.target.files)}
        ref={file}
        type="file"
      />
      <label className="stack">
        <strong>Document, YAML or JSON</strong>
        <textarea
          aria-describedby="import-said"
          aria-invalid={said !== ""}
          className="mono import-text"
          data-first
          onChange={(event) => {
            setText(event.target.value);
            setSaid("");
            setProblems([]);
          }}
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            if (event.dataTransfer.files.length === 0) return;
            event.preventDefault();
            void read(event.dataTransfer.files);
          }}
          placeholder={"Paste a document here, or drop a file.\n\naurora: 1\nnetwork: sensors"}
          rows={14}
          spellCheck={false}
          value={text}
        />
      </label>
      <div aria-live="polite" id="import-said">
        {said && problems.length === 0 && <p className="bad">{said}</p>}
        {problems.map((problem) => (
          <p key={problem.text}>
            <span className="bad">{problem.found}</span> <span className="muted">→ {problem.way_out}</span>
          </p>
        ))}
      </div>
    </Dialog>
  );
}
