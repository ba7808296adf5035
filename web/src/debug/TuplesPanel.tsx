// The tuples of arcs: taps, break-points, steps, and tuples made by hand.

import { type Tab, tabId, Tabs } from "../shell/Tabs";
import type { DebugTab } from "../state/debugging";
import { useStore } from "../state/store";
import { ArcChoice } from "./ArcChoice";
import { Breakpoints } from "./Breakpoints";
import { InjectForm } from "./InjectForm";
import { PauseBar } from "./PauseBar";
import { StepView } from "./StepView";
import { TapCount, TapView } from "./TapView";
import "./TuplesPanel.css";

const PANEL = "tuples-panel";

export function TuplesPanel() {
  const isRunning = useStore((state) => state.running !== null);
  const taps = useStore((state) => state.taps);
  const tab = useStore((state) => state.debugTab);
  const { showDebug } = useStore.getState();
  if (!isRunning) {
    return <p className="empty">Nothing runs yet. Deploy what is drawn, and look at the tuples of every arrow.</p>;
  }
  const tabs: Tab<DebugTab>[] = [
    ...taps.map((arc) => ({ id: `tap ${arc}` as const, label: arc })),
    { id: "step", label: "Step" },
    { id: "inject", label: "Inject" },
  ];
  const tapped = tab?.startsWith("tap ") ? tab.slice(4) : null;
  return (
    <div className="tuples">
      <PauseBar />
      <div className="tuples-body">
        <Breakpoints />
        <div className="tuples-main">
          <div className="tuples-tabs">
            <Tabs label="Tapped arrows, steps and injection" onSelect={showDebug} panel={PANEL} selected={tab} tabs={tabs} />
            <span className="grow" />
            {tapped !== null && <TapCount arc={tapped} />}
            <TapChoice />
          </div>
          <div aria-labelledby={tab === null ? undefined : tabId(PANEL, tab)} className="tuples-shown" id={PANEL} role="tabpanel" tabIndex={0}>
            {tapped !== null && <TapView arc={tapped} key={tapped} />}
            {tab === "step" && <StepView />}
            {tab === "inject" && <InjectForm />}
            {tab === null && <Nothing />}
          </div>
        </div>
      </div>
    </div>
  );
}

function TapChoice() {
  const { tap } = useStore.getState();
  return <ArcChoice label="Look at an arrow" onChoose={tap} placeholder="Look at…" value={null} />;
}

function Nothing() {
  const selected = useStore((state) => state.arc);
  const arcs = useStore((state) => state.running?.arcs);
  const { tap } = useStore.getState();
  const canTap = selected !== null && arcs !== undefined && selected in arcs;
  return (
    <div className="empty">
      <p>Choose an arrow to see its tuples as they come.</p>
      {canTap && (
        <button className="primary tuples-look" onClick={() => tap(selected)} type="button">
          Look at {selected}
        </button>
      )}
    </div>
  );
}
