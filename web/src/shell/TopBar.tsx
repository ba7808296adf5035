// The bar above: which network, how it is doing, and what can be done with it.

import { useMemo } from "react";
import { diff } from "../model/diff";
import { useStore } from "../state/store";
import { RateSlider } from "../watch/RateSlider";
import { copyYaml, downloadYaml } from "./exporting";
import { Icon } from "./Icon";
import { Logo } from "./Logo";
import { mayChange, whyNot } from "./may";
import { Menu } from "./Menu";
import { NetworkPicker } from "./NetworkPicker";
import { RunControls } from "./RunControls";
import { keyCaps, useShortcut, withKeys } from "./shortcuts";
import "./TopBar.css";

export function TopBar() {
  return (
    <header className="bar">
      <div className="bar-part">
        <span className="bar-brand">
          <Logo />
          <h1>Aurora</h1>
        </span>
        <NetworkPicker />
        <NewNetwork />
        <RunControls />
        <RateSlider />
      </div>
      <div className="bar-part bar-right">
        <ReadOnly />
        <Steps />
        <Deploy />
        <More />
      </div>
    </header>
  );
}

function NewNetwork() {
  const isOpen = useStore((state) => state.isOpen);
  const { showDialog } = useStore.getState();
  if (!isOpen) return null;
  return (
    <button
      aria-label="New network"
      className="quiet bar-icon bar-new"
      onClick={() => showDialog("new")}
      title="New network"
      type="button"
    >
      <Icon name="plus" />
    </button>
  );
}

function ReadOnly() {
  const isReadOnly = useStore((state) => state.server?.access === "read");
  if (!isReadOnly) return null;
  return (
    <span className="bar-chip" title="Your token allows looking only: nothing can be deployed, started or stopped">
      <Icon name="info" /> Looking only
    </span>
  );
}

function Steps() {
  const isOpen = useStore((state) => state.isOpen);
  const back = useStore((state) => state.past.at(-1)?.label);
  const forth = useStore((state) => state.future.at(-1)?.label);
  const { undo, redo } = useStore.getState();
  useShortcut("Mod+Z", "Undo", undo, { group: "Drawing", disabled: back === undefined });
  useShortcut(["Mod+Shift+Z", "Mod+Y"], "Redo", redo, { group: "Drawing", disabled: forth === undefined });
  if (!isOpen) return null;
  const [undoing, redoing] = [back ? `Undo: ${back}` : "Undo", forth ? `Redo: ${forth}` : "Redo"];
  return (
    <div aria-label="Steps" className="bar-group" role="group">
      <button
        aria-label={undoing}
        className="quiet bar-icon"
        disabled={back === undefined}
        onClick={undo}
        title={withKeys(undoing, "Mod+Z")}
        type="button"
      >
        <Icon name="undo" />
      </button>
      <button
        aria-label={redoing}
        className="quiet bar-icon"
        disabled={forth === undefined}
        onClick={redo}
        title={withKeys(redoing, "Mod+Shift+Z")}
        type="button"
      >
        <Icon name="redo" />
      </button>
    </div>
  );
}

function Deploy() {
  const isOpen = useStore((state) => state.isOpen);
  const document = useStore((state) => state.drawing.document);
  const runs = useStore((state) => (state.running?.name === document.network ? state.running.network : null));
  const may = useStore(mayChange);
  const reason = useStore(whyNot);
  const { showDialog } = useStore.getState();
  const changes = useMemo(() => diff(runs, document).length, [runs, document]);
  const isPossible = isOpen && may && changes > 0;
  useShortcut("Mod+S", "Deploy", () => (isPossible ? showDialog("deploy") : undefined), { group: "Network", typing: true });
  if (!isOpen) return null;
  const count = changes === 1 ? "1 change" : `${changes} changes`;
  const said = reason || (changes === 0 ? "What is drawn is what runs" : withKeys(`Deploy ${count}`, "Mod+S"));
  return (
    <button
      className="primary bar-deploy"
      disabled={!isPossible}
      onClick={() => showDialog("deploy")}
      title={said}
      type="button"
    >
      <Icon name="deploy" /> Deploy
      {changes > 0 && (
        <>
          {" "}
          <span className="bar-count">{changes}</span>
          <span className="visually-hidden"> {changes === 1 ? "change" : "changes"}</span>
        </>
      )}
    </button>
  );
}

function More() {
  const isOpen = useStore((state) => state.isOpen);
  const theme = useStore((state) => state.theme);
  const isLive = useStore((state) => state.connection === "live");
  const { setTheme, showDialog } = useStore.getState();
  useShortcut(["Mod+K", "/"], "Search", () => showDialog("search"), { group: "General", disabled: !isLive });
  useShortcut("?", "Help", () => showDialog("help"), { group: "General" });
  const other = theme === "light" ? "dark" : "light";
  return (
    <div aria-label="Page" className="bar-group" role="group">
      {isOpen && (
        <>
          <button
            className="bar-search"
            disabled={!isLive}
            onClick={() => showDialog("search")}
            title={withKeys("Search all elements", "Mod+K")}
            type="button"
          >
            <Icon name="search" /> Search
            <span aria-hidden="true" className="bar-search-keys">
              {keyCaps("Mod+K").join(" ")}
            </span>
          </button>
          <Menu
            align="right"
            className="quiet bar-icon"
            groups={[
              { items: [{ label: "Import…", icon: "into", act: () => showDialog("import") }] },
              {
                items: [
                  { label: "Download as YAML", icon: "out", disabled: !isLive, act: () => void downloadYaml() },
                  { label: "Copy as YAML", icon: "copy", disabled: !isLive, act: () => void copyYaml() },
                ],
              },
            ]}
            label="Import and export"
            title="Import and export"
          >
            <Icon name="more" />
          </Menu>
        </>
      )}
      <button
        aria-label={`Switch to ${other} colours`}
        className="quiet bar-icon"
        onClick={() => setTheme(other)}
        title={`Switch to ${other} colours`}
        type="button"
      >
        <Icon name={theme === "light" ? "moon" : "sun"} />
      </button>
      <button
        aria-label="Help"
        className="quiet bar-icon"
        onClick={() => showDialog("help")}
        title={withKeys("Help", "?")}
        type="button"
      >
        <Icon name="help" />
      </button>
    </div>
  );
}
