// What a network does: a dot with a word. The word says it too, for those who do not see colours.

import type { Stage as StageName } from "../api/types";
import "./Stage.css";

export type Shown = StageName | "drawn";

const WORDS: Record<Shown, string> = {
  running: "Running",
  paused: "Paused",
  stopped: "Stopped",
  failed: "Failed",
  drawn: "Not deployed",
};

export function Stage({ stage, quiet = false }: { stage: Shown; quiet?: boolean }) {
  return (
    <span className={`stage stage-${stage}${quiet ? " stage-quiet" : ""}`}>
      <span aria-hidden="true" className="stage-dot" />
      {WORDS[stage]}
    </span>
  );
}
