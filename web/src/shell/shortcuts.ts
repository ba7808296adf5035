// Keyboard shortcuts: whoever offers one registers it here, and the help dialog lists them all.

import { useEffect, useRef, useSyncExternalStore } from "react";

export interface ShortcutOptions {
  /** Under which heading the help lists it. */
  group?: string;
  /** Also while somebody types in a field; then the field does not get the keys. */
  typing?: boolean;
  /** Also while a dialog is open. */
  inDialogs?: boolean;
  /** Off for the moment: it stays in the list, and its keys do what they do without it. */
  disabled?: boolean;
}

export interface Shortcut extends ShortcutOptions {
  /** As `Mod+Shift+Z`; `Mod` is Ctrl, and ⌘ on a Mac. */
  keys: readonly string[];
  label: string;
  /** False says that it had nothing to do, and that the keys are for others. */
  action: (event: KeyboardEvent) => void | boolean;
}

const IS_MAC = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

let registered: readonly Shortcut[] = [];
const listeners = new Set<() => void>();

function change(after: readonly Shortcut[]): void {
  registered = after;
  for (const listener of listeners) listener();
}

/** Offers a shortcut as long as the component is there. Of two for the same keys the later one goes first. */
export function useShortcut(
  keys: string | readonly string[],
  label: string,
  action: Shortcut["action"],
  options: ShortcutOptions = {},
): void {
  const current = useRef(action);
  current.current = action;
  const { group = "General", typing = false, inDialogs = false, disabled = false } = options;
  const list = typeof keys === "string" ? keys : keys.join(" ");
  useEffect(() => {
    const one: Shortcut = {
      keys: list.split(" "),
      label,
      action: (event) => current.current(event),
      group,
      typing,
      inDialogs,
      disabled,
    };
    change([...registered, one]);
    return () => change(registered.filter((other) => other !== one));
  }, [list, label, group, typing, inDialogs, disabled]);
}

/** All that are offered now. */
export function useShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => registered,
  );
}

/** Listens for the keys of all shortcuts. Gives back what ends it. */
export function followKeys(): () => void {
  const pressed = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    const typing = isField(event.target);
    const inDialog = document.querySelector("dialog:modal") !== null;
    for (const one of registered.toReversed()) {
      if (one.disabled || (typing && !one.typing) || (inDialog && !one.inDialogs)) continue;
      if (!one.keys.some((keys) => fits(keys, event)) || isForButton(event)) continue;
      if (one.action(event) === false) continue;
      event.preventDefault();
      return;
    }
  };
  window.addEventListener("keydown", pressed);
  return () => window.removeEventListener("keydown", pressed);
}

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">;

/** Whether these are the keys that were pressed. */
export function fits(keys: string, event: Pressed, isMac: boolean = IS_MAC): boolean {
  const parts = partsOf(keys);
  const key = parts.pop() ?? "";
  const wanted = new Set(parts);
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const other = isMac ? event.ctrlKey : event.metaKey;
  if (mod !== wanted.has("Mod") || other || event.altKey !== wanted.has("Alt")) return false;
  // A sign such as ? has its own way of Shift on every keyboard.
  const isSign = key.length === 1 && key.toLowerCase() === key.toUpperCase() && !/\d/.test(key);
  if (!isSign && event.shiftKey !== wanted.has("Shift")) return false;
  const name = event.key === " " ? "Space" : event.key;
  return name.toLowerCase() === key.toLowerCase();
}

/** The key + is itself a part. */
function partsOf(keys: string): string[] {
  return keys.split(/(?<=.)\+/);
}

const SIGNS: Record<string, string> = {
  Shift: "⇧",
  Alt: "⌥",
  Mod: "⌘",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
};

/** The keys one by one as people know them: `Ctrl`, `Z`. */
export function keyCaps(keys: string, isMac: boolean = IS_MAC): string[] {
  return partsOf(keys).map((part) => {
    if (part === "Mod") return isMac ? "⌘" : "Ctrl";
    if (part.startsWith("Arrow") || isMac) return SIGNS[part] ?? part;
    return part === "Escape" ? "Esc" : part;
  });
}

/** For tooltips: `Undo (Ctrl+Z)`. */
export function withKeys(label: string, keys: string): string {
  return `${label} (${keyCaps(keys).join(IS_MAC ? "" : "+")})`;
}

const NO_TEXT = new Set(["button", "checkbox", "color", "file", "radio", "range", "reset", "submit"]);

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !NO_TEXT.has(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

/** Enter and Space on something that can be pressed are for that. */
function isForButton(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" && event.key !== " ") return false;
  const pressable = "button, a[href], summary, [role=tab], [role=option], [role^=menuitem]";
  return event.target instanceof Element && event.target.closest(pressable) !== null;
}
