// The panel at the side: what is selected, the network, and manual pages.

import { ElementPanel } from "../editor/ElementPanel";
import { ManualPanel } from "../editor/ManualPanel";
import { NetworkPanel } from "../editor/NetworkPanel";
import type { SideTab } from "../state/view";
import { useStore } from "../state/store";
import { Boundary } from "./Boundary";
import { type Tab, tabId, Tabs } from "./Tabs";

const TABS: readonly Tab<SideTab>[] = [
  { id: "element", label: "Element" },
  { id: "network", label: "Network" },
  { id: "manual", label: "Manual" },
];
const PANEL = "side-panel";

export function SidePanel() {
  const tab = useStore((state) => state.sideTab);
  const { showSide } = useStore.getState();
  return (
    <aside aria-label="Details" className="side">
      <div className="side-head">
        <Tabs label="Details" onSelect={showSide} panel={PANEL} selected={tab} tabs={TABS} />
      </div>
      <div aria-labelledby={tabId(PANEL, tab)} className="side-body" id={PANEL} role="tabpanel" tabIndex={0}>
        <Boundary key={tab} part="This panel">
          {tab === "element" && <ElementPanel />}
          {tab === "network" && <NetworkPanel />}
          {tab === "manual" && <ManualPanel />}
        </Boundary>
      </div>
    </aside>
  );
}
