// Starts, pauses and stops what is open.

import { useState } from "react";
import { RefusedError } from "../api/client";
import { useStore } from "../state/store";
import { Icon } from "./Icon";
import { mayChange, whyNot } from "./may";
import { Stage } from "./Stage";

export function RunControls() {
  const isOpen = useStore((state) => state.isOpen);
  const stage = useStore((state) => state.running?.stage ?? "drawn");
  const why = useStore((state) => state.running?.why ?? "");
  const may = useStore(mayChange);
  const reason = useStore(whyNot);
  const { act, say, showDialog } = useStore.getState();
  const [isBusy, setBusy] = useState(false);
  if (!isOpen) return null;

  const run = async (action: "start" | "pause" | "resume") => {
    setBusy(true);
    try {
      await act(action);
    } catch (error) {
      say("bad", (error as RefusedError).message);
    } finally {
      setBusy(false);
    }
  };
  const off = !may || isBusy;
  const isUp = stage === "running" || stage === "paused";
  return (
    <div className="row" role="group" aria-label="Run">
      <Stage stage={stage} />
      {stage === "running" && (
        <button className="quiet" disabled={off} onClick={() => run("pause")} title={reason} type="button">
          <Icon name="pause" /> Pause
        </button>
      )}
      {stage === "paused" && (
        <button className="quiet" disabled={off} onClick={() => run("resume")} title={reason} type="button">
          <Icon name="play" /> Resume
        </button>
      )}
      {(stage === "stopped" || stage === "failed") && (
        <button className="quiet" disabled={off} onClick={() => run("start")} title={reason} type="button">
          <Icon name="play" /> Start
        </button>
      )}
      {isUp && (
        <button className="quiet" disabled={off} onClick={() => showDialog("stop")} title={reason} type="button">
          <Icon name="stop" /> Stop
        </button>
      )}
      {stage === "stopped" && why && (
        <span className="bar-why" title={why}>
          {why}
        </span>
      )}
    </div>
  );
}
