// Break-points and taps of an arc, shown on it; where it is selected, with buttons for both.

import { withKeys } from "../shell/shortcuts";
import { mayChange } from "../shell/may";
import { signOf } from "../state/debugging";
import { useStore } from "../state/store";
import { useFirst } from "./onlyOne";
import "./ArcDebug.css";

const MEANINGS = { on: "Break-point", off: "Break-point, disabled", hit: "Paused here", none: "" };

export function ArcDebug({ arc }: { arc: string }) {
  const sign = useStore((state) => signOf(state.debug, arc));
  const isTapped = useStore((state) => state.taps.includes(arc));
  const isOffered = useStore((state) => state.arc === arc && state.running !== null && arc in state.running.arcs);
  const may = useStore(mayChange);
  const { tap, untap, toggleBreakpoint, showLower } = useStore.getState();
  const isFirst = useFirst(arc, isOffered || sign !== "none" || isTapped);
  if (!isFirst) return null;
  return (
    <span className="arc-debug">
      {(sign !== "none" || isOffered) && (
        <button
          aria-label={sign === "none" ? `Set a break-point on ${arc}` : `${MEANINGS[sign]} on ${arc}`}
          aria-pressed={sign !== "none" && sign !== "off"}
          className="arc-debug-button"
          data-sign={sign}
          disabled={!may}
          onClick={(event) => {
            event.stopPropagation();
            if (sign === "hit") showLower("tuples");
            else void toggleBreakpoint(arc);
          }}
          title={sign === "none" ? withKeys("Set a break-point", "F9") : MEANINGS[sign]}
          type="button"
        >
          <i aria-hidden="true" className="arc-debug-dot" />
        </button>
      )}
      {(isTapped || isOffered) && (
        <button
          aria-label={isTapped ? `Stop looking at ${arc}` : `Look at the tuples of ${arc}`}
          aria-pressed={isTapped}
          className="arc-debug-button arc-debug-tap"
          onClick={(event) => {
            event.stopPropagation();
            if (isTapped) untap(arc);
            else tap(arc);
          }}
          title={isTapped ? "Tapped; click to stop looking" : "Look at its tuples"}
          type="button"
        >
          <svg aria-hidden="true" fill="none" height="12" stroke="currentColor" strokeLinecap="round" strokeWidth="1.6" viewBox="0 0 16 16" width="12">
            <path d="M1.5 8C4 4 6 3.2 8 3.2S12 4 14.5 8C12 12 10 12.8 8 12.8S4 12 1.5 8Z" />
            <circle cx="8" cy="8" fill="currentColor" r="2" />
          </svg>
        </button>
      )}
    </span>
  );
}
