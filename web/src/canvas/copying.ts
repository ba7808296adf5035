// Copy, cut, paste and duplicate. What is copied is text on the clipboard, so that it can go to another network.

import { useEffect } from "react";
import { copyText, paste } from "../model/clipboard";
import type { ElementId } from "../model/document";
import { GRID } from "../model/geometry";
import type { Position } from "../state/draft";
import { useStore } from "../state/store";
import { focusNode, inSight } from "./flow";
import { removeSelection } from "./removing";
import { scene } from "./scene";
import { targetsOfCommands } from "./selecting";

const STEP: Position = { x: 4 * GRID, y: 4 * GRID };

function textOf(ids: readonly ElementId[]): string {
  const { drawing } = useStore.getState();
  return copyText(drawing, ids, (id) => scene().places.get(id));
}

function add(text: string, label: string, by?: Position): boolean {
  const { drawing, scope, edit, select, announce } = useStore.getState();
  const sight = inSight();
  const at = { x: sight.x + sight.width / 3, y: sight.y + sight.height / 3 };
  const pasted = paste(drawing, text, by ? { scope, by } : { scope, at });
  if (!pasted) return false;
  edit(label, () => pasted.drawing);
  select(pasted.ids);
  announce(`${label}: ${pasted.ids.length}`);
  const [first] = pasted.ids;
  if (first) focusNode(first);
  return true;
}

export function duplicate(): void {
  const ids = targetsOfCommands();
  if (ids.length > 0) add(textOf(ids), "Duplicate", STEP);
}

/** How often the same text was pasted, so that copies do not lie on each other. */
let last = { text: "", times: 0 };

function pasteText(text: string): boolean {
  last = { text, times: last.text === text ? last.times + 1 : 1 };
  const isVisible = fromHere(text);
  return add(text, "Paste", isVisible ? { x: STEP.x * last.times, y: STEP.y * last.times } : undefined);
}

/** Whether what was copied stands in sight, so that copies come beside it and not to the middle. */
function fromHere(text: string): boolean {
  try {
    const { network, positions } = JSON.parse(text) as { network?: string; positions?: Record<string, Position> };
    const sight = inSight();
    const isInSight = (place: Position) =>
      place.x > sight.x && place.y > sight.y && place.x < sight.x + sight.width && place.y < sight.y + sight.height;
    const own = Object.entries(positions ?? {}).filter(([id]) => scene().graph.byId.has(id));
    return network === useStore.getState().drawing.document.network && own.some(([, place]) => isInSight(place));
  } catch {
    return false;
  }
}

/** The browser's own copy, cut and paste, where they are not for a field or for text that is marked. */
export function useClipboard(): void {
  useEffect(() => {
    const isOurs = (event: ClipboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      if (target?.closest("input, textarea, select, [contenteditable], dialog")) return false;
      return document.querySelector("dialog:modal") === null;
    };
    const copied = (event: ClipboardEvent) => {
      const ids = targetsOfCommands();
      if (!isOurs(event) || ids.length === 0 || !(document.getSelection()?.isCollapsed ?? true)) return;
      event.clipboardData?.setData("text/plain", textOf(ids));
      event.preventDefault();
      if (event.type === "cut") removeSelection();
      else useStore.getState().announce(`Copied ${ids.length}`);
    };
    const pasted = (event: ClipboardEvent) => {
      if (!isOurs(event)) return;
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (pasteText(text)) event.preventDefault();
    };
    document.addEventListener("copy", copied);
    document.addEventListener("cut", copied);
    document.addEventListener("paste", pasted);
    return () => {
      document.removeEventListener("copy", copied);
      document.removeEventListener("cut", copied);
      document.removeEventListener("paste", pasted);
    };
  }, []);
}
