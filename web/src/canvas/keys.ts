// Everything on the drawing by keyboard.

import type { ElementId } from "../model/document";
import { nudge } from "../model/arrange";
import { move } from "../model/edits";
import { GRID } from "../model/geometry";
import { useShortcut } from "../shell/shortcuts";
import { useStore } from "../state/store";
import { goToBookmark, useBookmarking } from "./bookmarking";
import { duplicate } from "./copying";
import { fit, flow, focusedNode, motion, panBy, zoomBy } from "./flow";
import { groupSelection, ungroupSelection } from "./grouping";
import { removeArrow, removeSelection } from "./removing";
import { isOwn, scene, standingNodes } from "./scene";
import { selectAll, step, stepThroughArrows, targetsOfCommands, theNode, toggle, type Way } from "./selecting";
import { leaveTo, openNode } from "./travelling";

export const ZOOM_STEP = 1.25;
const PAN = 64;
const FAR_STEPS = 5;
const GROUP = { group: "Drawing" };
const VIEW = { group: "View" };

const ARROWS: Record<string, { x: number; y: number; way: Way }> = {
  ArrowLeft: { x: -1, y: 0, way: "left" },
  ArrowRight: { x: 1, y: 0, way: "right" },
  ArrowUp: { x: 0, y: -1, way: "up" },
  ArrowDown: { x: 0, y: 1, way: "down" },
};
const KEYS = Object.keys(ARROWS);

function arrowKeys(held: string): string[] {
  return KEYS.map((key) => `${held}+${key}`);
}

/** Arrow keys and letters are for the drawing only while nothing else has the focus. */
function isHere(): boolean {
  const active = document.activeElement;
  return active === null || active === document.body || active.closest(".canvas") !== null;
}

export interface KeyActions {
  connect: () => void;
  add: () => void;
  moveInto: () => void;
  layOut: () => void;
}

export function useCanvasKeys({ connect, add, moveInto, layOut }: KeyActions): void {
  const here = (act: () => unknown) => () => (isHere() ? (act() as void | boolean) : false);

  useShortcut("C", "Connect the selected element with another", here(connect), GROUP);
  useShortcut("N", "Add an element", here(add), GROUP);
  useShortcut("Mod+A", "Select all", here(selectAll), GROUP);
  useShortcut("Mod+D", "Duplicate", here(duplicate), GROUP);
  // The browser's own, which reach the clipboard without being asked for leave; here they are only listed.
  useShortcut("Mod+C", "Copy", () => false, GROUP);
  useShortcut("Mod+X", "Cut", () => false, GROUP);
  useShortcut("Mod+V", "Paste", () => false, GROUP);
  useShortcut(["Delete", "Backspace"], "Delete", here(() => removeArrow() || removeSelection()), GROUP);
  useShortcut("Mod+G", "Group into a superbox", here(groupSelection), GROUP);
  useShortcut("Mod+Shift+G", "Ungroup", here(ungroupSelection), GROUP);
  useShortcut("I", "Move into a superbox", here(moveInto), GROUP);
  useShortcut("L", "Lay out", here(layOut), GROUP);
  useShortcut("E", "Choose the next arrow of the element", here(stepThroughArrows), GROUP);
  useShortcut("Enter", "Select; go into a superbox", here(openOrSelect), GROUP);
  useShortcut("Space", "Add to the selection, or take out of it", here(toggleFocused), GROUP);
  useShortcut("Escape", "Select nothing; go out of a superbox", here(backOut), GROUP);
  useShortcut(KEYS, "Move what is selected; else move the view", moved(1), GROUP);
  useShortcut(arrowKeys("Shift"), "The same, five times as far", moved(FAR_STEPS), GROUP);
  useShortcut(arrowKeys("Alt"), "Go along arrows, or to what stands above or below", stepped(false), GROUP);
  useShortcut(arrowKeys("Alt+Shift"), "The same, and keep what is selected", stepped(true), GROUP);

  useShortcut(["+", "="], "Zoom in", here(() => zoomBy(ZOOM_STEP)), VIEW);
  useShortcut("-", "Zoom out", here(() => zoomBy(1 / ZOOM_STEP)), VIEW);
  useShortcut("0", "Show at 100 %", here(() => void flow()?.zoomTo(1, { duration: motion() })), VIEW);
  useShortcut("F", "Show all", here(() => fit()), VIEW);
  useShortcut("Shift+F", "Show what is selected", here(fitSelected), VIEW);
  useShortcut("M", "Show or hide the map", here(toggleMap), VIEW);
  useShortcut("B", "Add a bookmark", here(() => useBookmarking.setState({ isNaming: true })), VIEW);
  const digits = Array.from({ length: 9 }, (_, at) => `${at + 1}`);
  useShortcut(digits, "Go to a bookmark", (event) => isHere() && goToBookmark(bookmark(event.key)), VIEW);
}

function bookmark(key: string) {
  return useStore.getState().bookmarks[Number(key) - 1];
}

function toggleMap(): void {
  const { hasMap, setMap } = useStore.getState();
  setMap(!hasMap);
}

function fitSelected(): void {
  const ids = targetsOfCommands();
  if (ids.length > 0) fit(ids);
}

function openOrSelect(): boolean {
  const node = theNode();
  if (!node) return false;
  if (openNode(node)) return true;
  const { select, showSide } = useStore.getState();
  select([node.element]);
  showSide("element");
  return true;
}

function toggleFocused(): boolean {
  const node = scene().graph.byId.get(focusedNode() ?? "");
  if (!node || !isOwn(node)) return false;
  toggle(node.element);
  return true;
}

function backOut(): boolean {
  const { selection, arc, arrow, scope, select } = useStore.getState();
  if (selection.length > 0 || arc !== null || arrow !== null) select([]);
  else if (scope.length > 0) leaveTo(scope.length - 1);
  else return false;
  return true;
}

function moved(steps: number) {
  return (event: KeyboardEvent): boolean => {
    const by = ARROWS[event.key];
    if (!by || !isHere()) return false;
    const ids = targetsOfCommands();
    if (ids.length === 0) {
      panBy({ x: by.x * PAN * steps, y: by.y * PAN * steps });
      return true;
    }
    const moves = nudge(standingNodes(ids), { x: by.x * GRID * steps, y: by.y * GRID * steps });
    const to = moves as Record<ElementId, { x: number; y: number }>;
    useStore.getState().edit("Move", (drawing) => move(drawing, to), `nudge ${ids.join(" ")}`);
    return true;
  };
}

function stepped(isExtending: boolean) {
  return (event: KeyboardEvent): boolean => {
    const by = ARROWS[event.key];
    return by !== undefined && isHere() && step(by.way, isExtending);
  };
}
