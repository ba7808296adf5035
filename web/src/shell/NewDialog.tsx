// A new network needs a name.

import { useState } from "react";
import { keptNames } from "../state/kept";
import { useStore } from "../state/store";
import { Dialog } from "./Dialog";

/** As the server has it. */
const NAME = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

export function NewDialog({ onClose }: { onClose: () => void }) {
  const networks = useStore((state) => state.networks);
  const { startNew } = useStore.getState();
  const [name, setName] = useState("");
  const taken = new Set([...networks.map((one) => one.name), ...keptNames()]);
  const wrong = taken.has(name)
    ? "There is a network of that name already."
    : name !== "" && !NAME.test(name)
      ? "Use letters, digits, _ and -, with a letter first."
      : "";
  const isGood = name !== "" && wrong === "";
  const start = () => {
    if (!isGood) return;
    onClose();
    startNew(name);
  };
  return (
    <Dialog
      footer={
        <>
          <button onClick={onClose} type="button">
            Cancel
          </button>
          <button className="primary" disabled={!isGood} type="submit">
            Start drawing
          </button>
        </>
      }
      onClose={onClose}
      onSubmit={start}
      title="New network"
    >
      <label className="stack">
        <strong>Name</strong>
        <input
          aria-describedby="new-said"
          aria-invalid={wrong !== ""}
          autoComplete="off"
          data-first
          onChange={(event) => setName(event.target.value.trim())}
          placeholder="sensors"
          spellCheck={false}
          value={name}
        />
      </label>
      <p aria-live="polite" className={wrong ? "bad" : "muted"} id="new-said">
        {wrong || "It runs once you deploy it."}
      </p>
    </Dialog>
  );
}
