// All keyboard shortcuts that are offered now, and where to read more.

import { Fragment } from "react";
import { useStore } from "../state/store";
import { Dialog } from "./Dialog";
import { keyCaps, type Shortcut, useShortcuts } from "./shortcuts";
import "./HelpDialog.css";

export function HelpDialog({ onClose }: { onClose: () => void }) {
  const version = useStore((state) => state.server?.version);
  const groups = grouped(useShortcuts());
  return (
    <Dialog onClose={onClose} title="Help" wide>
      <div className="help">
        {[...groups].map(([group, shortcuts]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl className="help-keys">
              {shortcuts.map((one) => (
                <div className="help-row" key={one.label + one.keys.join()}>
                  <dt>{one.label}</dt>
                  <dd>
                    {one.keys.map((keys, at) => (
                      <Fragment key={keys}>
                        {at > 0 && <span className="muted">{one.keys.length > 2 ? " " : " or "}</span>}
                        {keyCaps(keys).map((cap) => (
                          <kbd key={cap}>{cap}</kbd>
                        ))}
                      </Fragment>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className="muted">
        <TourButton onClose={onClose} />
        Aurora {version} · <a href="api/v1/docs">the server's interface for programs</a>
      </p>
    </Dialog>
  );
}

function TourButton({ onClose }: { onClose: () => void }) {
  const isOpen = useStore((state) => state.isOpen);
  const { goOnTour } = useStore.getState();
  const start = () => {
    onClose();
    goOnTour(0);
  };
  return (
    <button className="help-tour" disabled={!isOpen} onClick={start} type="button">
      Take the tour
    </button>
  );
}

function grouped(shortcuts: readonly Shortcut[]): Map<string, Shortcut[]> {
  const groups = new Map<string, Shortcut[]>();
  const seen = new Set<string>();
  for (const one of shortcuts) {
    const id = `${one.label}\0${one.keys.join()}`;
    if (seen.has(id)) continue;
    seen.add(id);
    const group = one.group ?? "General";
    groups.set(group, [...(groups.get(group) ?? []), one]);
  }
  return groups;
}
