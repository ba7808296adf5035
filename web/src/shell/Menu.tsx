// A button that opens a list of things to do.

import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Icon, type IconName } from "./Icon";
import "./Menu.css";

export interface MenuItem {
  label: string;
  /** Further to the right, smaller: a stage, the keys. */
  detail?: ReactNode;
  icon?: IconName;
  /** One of several, and whether it is the one. */
  checked?: boolean;
  disabled?: boolean;
  danger?: boolean;
  act: () => void;
}

export interface MenuGroup {
  heading?: string;
  items: readonly MenuItem[];
}

interface MenuProps {
  /** What the button is called; it may show something else. */
  label: string;
  title?: string;
  className?: string;
  align?: "left" | "right";
  groups: readonly MenuGroup[];
  children: ReactNode;
}

export function Menu({ label, title, className = "quiet", align = "left", groups, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!isOpen) return;
    focusItem(root.current, (items) => items.findIndex((item) => item.getAttribute("aria-checked") === "true"));
    const outside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    window.addEventListener("pointerdown", outside);
    return () => window.removeEventListener("pointerdown", outside);
  }, [isOpen]);

  const close = () => {
    setOpen(false);
    button.current?.focus();
  };

  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Tab") {
      setOpen(false);
      return;
    }
    const at = (items: HTMLElement[]) => items.indexOf(document.activeElement as HTMLElement);
    const moves: Record<string, (items: HTMLElement[]) => number> = {
      ArrowDown: (items) => (at(items) + 1) % items.length,
      ArrowUp: (items) => (at(items) + items.length - 1) % items.length,
      Home: () => 0,
      End: (items) => items.length - 1,
    };
    const move = moves[event.key];
    if (move) focusItem(root.current, move);
    else if (event.key === "Escape") close();
    else if (/^\S$/.test(event.key) && !event.ctrlKey && !event.metaKey) {
      focusItem(root.current, (items) => {
        const behind = [...items.slice(at(items) + 1), ...items.slice(0, at(items) + 1)];
        const found = behind.find((item) => item.innerText.toLowerCase().startsWith(event.key.toLowerCase()));
        return found ? items.indexOf(found) : at(items);
      });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className="menu" ref={root}>
      <button
        aria-controls={isOpen ? id : undefined}
        aria-expanded={isOpen}
        aria-haspopup="menu"
        aria-label={label}
        className={className}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" || isOpen) return;
          event.preventDefault();
          setOpen(true);
        }}
        ref={button}
        title={title}
        type="button"
      >
        {children}
      </button>
      {isOpen && (
        <div aria-label={label} className={`menu-list menu-${align}`} id={id} onKeyDown={pressed} role="menu" tabIndex={-1}>
          {groups
            .filter((group) => group.items.length > 0)
            .map((group, at) => (
              <div aria-label={group.heading} className="menu-group" key={group.heading ?? at} role="group">
                {group.heading && (
                  <h3 aria-hidden="true" className="menu-heading">
                    {group.heading}
                  </h3>
                )}
                {group.items.map((item) => (
                  <button
                    aria-checked={item.checked}
                    aria-disabled={item.disabled || undefined}
                    className={item.danger ? "menu-item danger" : "menu-item"}
                    key={item.label}
                    onClick={() => {
                      if (item.disabled) return;
                      close();
                      item.act();
                    }}
                    role={item.checked === undefined ? "menuitem" : "menuitemradio"}
                    tabIndex={-1}
                    type="button"
                  >
                    <span className="menu-icon">
                      {item.checked ? <Icon name="check" /> : item.icon && <Icon name={item.icon} />}
                    </span>
                    <span className="grow menu-label">{item.label}</span>
                    {item.detail !== undefined && <span className="menu-detail">{item.detail}</span>}
                  </button>
                ))}
              </div>
            ))}
        </div>
      )}
    </div>
  );
}

function focusItem(root: HTMLElement | null, which: (items: HTMLElement[]) => number): void {
  const items = [...(root?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
  items[Math.max(0, which(items))]?.focus();
}
