// The panel below: how the whole is doing, problems, tuples, and the last hour.

import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { TuplesPanel } from "../debug/TuplesPanel";
import { useStore } from "../state/store";
import type { LowerTab } from "../state/view";
import { HistoryPanel } from "../watch/HistoryPanel";
import { Overview } from "../watch/Overview";
import { Boundary } from "./Boundary";
import { Icon } from "./Icon";
import { ProblemsPanel } from "./ProblemsPanel";
import { useShortcut, withKeys } from "./shortcuts";
import { type Tab, tabId, Tabs } from "./Tabs";

const PANEL = "lower-panel";
const HEIGHT_KEY = "aurora.lower";
const [LEAST, USUAL, STEP] = [120, 240, 24];

/** At least a third of the window is left for the drawing. */
function within(height: number): number {
  return Math.round(Math.max(LEAST, Math.min(height, window.innerHeight * 0.6)));
}

function firstHeight(): number {
  const kept = Number(localStorage.getItem(HEIGHT_KEY));
  return within(Number.isFinite(kept) && kept > 0 ? kept : USUAL);
}

export function LowerPanel() {
  const tab = useStore((state) => state.lowerTab);
  const { showLower } = useStore.getState();
  const [last, setLast] = useState<LowerTab>(tab ?? "overview");
  const [height, setHeight] = useState(firstHeight);
  const isOpen = tab !== null;

  const toggle = () => showLower(isOpen ? null : last);
  useShortcut("Mod+J", "Show or hide the panel below", toggle, { group: "View", typing: true });
  const show = (wanted: LowerTab) => {
    setLast(wanted);
    showLower(wanted);
  };
  const resize = (wanted: number) => {
    setHeight(within(wanted));
    localStorage.setItem(HEIGHT_KEY, String(within(wanted)));
  };

  const grip = {
    onPointerDown: (event: PointerEvent<HTMLElement>) => event.currentTarget.setPointerCapture(event.pointerId),
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
      resize((event.currentTarget.parentElement?.getBoundingClientRect().bottom ?? 0) - event.clientY);
    },
    onDoubleClick: () => resize(USUAL),
    onKeyDown: (event: KeyboardEvent) => {
      const change = { ArrowUp: STEP, ArrowDown: -STEP }[event.key];
      if (change === undefined) return;
      event.preventDefault();
      resize(height + change);
    },
  };

  return (
    <section aria-label="Panel below" className="lower">
      {isOpen && (
        <div
          aria-label="Height of the panel below"
          aria-orientation="horizontal"
          aria-valuemax={within(Number.POSITIVE_INFINITY)}
          aria-valuemin={LEAST}
          aria-valuenow={height}
          className="lower-grip"
          role="separator"
          tabIndex={0}
          {...grip}
        />
      )}
      <div className="lower-head">
        <Tabs label="Panel below" onSelect={show} panel={PANEL} selected={tab} tabs={useTabs()} />
        <button
          aria-expanded={isOpen}
          aria-label="Panel below"
          className="quiet bar-icon"
          onClick={toggle}
          title={withKeys(isOpen ? "Hide" : "Show", "Mod+J")}
          type="button"
        >
          <Icon name={isOpen ? "down" : "up"} />
        </button>
      </div>
      {isOpen && (
        <div
          aria-labelledby={tabId(PANEL, tab)}
          className="lower-body"
          id={PANEL}
          role="tabpanel"
          style={{ height }}
          tabIndex={0}
        >
          <Boundary key={tab} part="This panel">
            {tab === "overview" && <Overview />}
            {tab === "problems" && <ProblemsPanel />}
            {tab === "tuples" && <TuplesPanel />}
            {tab === "history" && <HistoryPanel />}
          </Boundary>
        </div>
      )}
    </section>
  );
}

function useTabs(): Tab<LowerTab>[] {
  const problems = useStore((state) => state.checked?.problems.length ?? 0);
  const isError = useStore((state) => state.checked?.problems.some((one) => one.severity === "error") ?? false);
  const badge = problems > 0 && <span className={`tabs-badge ${isError ? "bad" : "warn"}`}>{problems}</span>;
  return [
    { id: "overview", label: "Overview" },
    { id: "problems", label: "Problems", badge },
    { id: "tuples", label: "Tuples" },
    { id: "history", label: "History" },
  ];
}
