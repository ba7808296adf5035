// Tabs: one is in the order of Tab, arrows go from one to the next.

import type { KeyboardEvent, ReactNode } from "react";
import "./Tabs.css";

export interface Tab<T extends string> {
  id: T;
  label: string;
  /** Behind the label, such as a count. */
  badge?: ReactNode;
}

interface TabsProps<T extends string> {
  label: string;
  /** The id of the panel that they switch. */
  panel: string;
  tabs: readonly Tab<T>[];
  /** Null if none is open. */
  selected: T | null;
  onSelect: (tab: T) => void;
}

export function Tabs<T extends string>({ label, panel, tabs, selected, onSelect }: TabsProps<T>) {
  const pressed = (event: KeyboardEvent<HTMLDivElement>) => {
    const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const moves: Record<string, number> = {
      ArrowRight: (at + 1) % tabs.length,
      ArrowLeft: (at + tabs.length - 1) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    };
    const next = moves[event.key];
    const tab = next === undefined ? undefined : tabs[next];
    if (next === undefined || tab === undefined) return;
    event.preventDefault();
    buttons[next]?.focus();
    onSelect(tab.id);
  };

  return (
    <div aria-label={label} className="tabs" onKeyDown={pressed} role="tablist">
      {tabs.map((tab, at) => (
        <button
          aria-controls={tab.id === selected ? panel : undefined}
          aria-selected={tab.id === selected}
          className="tabs-tab"
          id={tabId(panel, tab.id)}
          key={tab.id}
          onClick={() => onSelect(tab.id)}
          role="tab"
          tabIndex={tab.id === selected || (selected === null && at === 0) ? 0 : -1}
          type="button"
        >
          {tab.label}
          {tab.badge}
        </button>
      ))}
    </div>
  );
}

/** For `aria-labelledby` of the panel. */
export function tabId(panel: string, tab: string): string {
  return `${panel}-${tab}`;
}
