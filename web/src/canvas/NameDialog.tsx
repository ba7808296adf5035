// Asks for a name.

import { useState } from "react";
import { Dialog } from "../shell/Dialog";

interface NameDialogProps {
  title: string;
  label: string;
  verb: string;
  suggested: string;
  /** Why a name cannot be given; empty if it can. */
  check: (name: string) => string;
  onName: (name: string) => void;
  onClose: () => void;
}

export function NameDialog({ title, label, verb, suggested, check, onName, onClose }: NameDialogProps) {
  const [name, setName] = useState(suggested);
  const wrong = check(name.trim());
  return (
    <Dialog
      footer={
        <>
          <button onClick={onClose} type="button">
            Cancel
          </button>
          <button className="primary" disabled={wrong !== ""} type="submit">
            {verb}
          </button>
        </>
      }
      onClose={onClose}
      onSubmit={() => {
        if (wrong === "") onName(name.trim());
      }}
      title={title}
    >
      <label className="stack">
        {label}
        <input
          aria-describedby="name-said"
          aria-invalid={wrong !== ""}
          data-first
          onChange={(event) => setName(event.target.value)}
          onFocus={(event) => event.target.select()}
          type="text"
          value={name}
        />
      </label>
      <p className="bad" id="name-said" role="status">
        {wrong}
      </p>
    </Dialog>
  );
}

const NAME = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

/** Why an element cannot have a name. */
export function checkElementName(name: string, taken: (name: string) => boolean): string {
  if (name === "") return "Give it a name.";
  if (!NAME.test(name)) return "Begin with a letter or _, go on with letters, digits, _ and -.";
  return taken(name) ? `There is something called ${name} already.` : "";
}
