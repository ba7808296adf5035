// Into superboxes and out of them, to elements that stand elsewhere, and back to where one was.

import type { Viewport } from "@xyflow/react";
import { useEffect, useLayoutEffect, useRef } from "react";
import { type ElementId, elementId, splitId } from "../model/document";
import type { GraphNode } from "../model/graph";
import { existing, homeOf, type Scope } from "../model/scopes";
import { useStore } from "../state/store";
import { bringIntoSight, flow, focusNode, inSight, motion, viewAround, viewOf, wholeView } from "./flow";
import { standingNodes } from "./scene";

const ENTER_MS = 260;

/** Where one looked last, by network and scope. */
const views = new Map<string, Viewport>();

function keyOf(network: string, scope: Scope): string {
  return [network, ...scope].join("/");
}

export function keepView(view: Viewport): void {
  const { drawing, scope } = useStore.getState();
  views.set(keyOf(drawing.document.network, scope), view);
}

/** Goes into a superbox: first towards it, then it is all there is. */
export async function enter(superbox: string): Promise<void> {
  const [node] = standingNodes([elementId("superboxes", superbox)]);
  const duration = motion(ENTER_MS);
  const before = flow()?.getViewport();
  if (node && duration > 0) await flow()?.setViewport(viewOf(node, 4), { duration });
  // On the way out one comes back to where one was, not to where the motion ended.
  if (before) keepView(before);
  useStore.getState().enter(superbox);
  useStore.getState().announce(`Inside ${superbox}`);
}

export function leaveTo(depth: number): void {
  const { scope, leaveTo: leave, select, announce } = useStore.getState();
  const left = scope[depth];
  leave(depth);
  if (left === undefined) return;
  const id = elementId("superboxes", left);
  select([id]);
  announce(depth === 0 ? "In the network" : `Inside ${scope[depth - 1]}`);
  focusNode(id);
}

/** Goes to where an element stands, and selects it. */
export function visit(id: ElementId): void {
  const { drawing, goTo, select } = useStore.getState();
  goTo(homeOf(drawing.document, id));
  select([id]);
  focusNode(id);
}

/** Goes to a view of a scope. */
export function travelTo(scope: Scope, view: Viewport): void {
  const { drawing, scope: here, goTo } = useStore.getState();
  const key = keyOf(drawing.document.network, scope);
  views.set(key, view);
  if (key === keyOf(drawing.document.network, here)) void flow()?.setViewport(view, { duration: motion() });
  else goTo(scope);
}

/** What a double click or Enter does: a superbox is entered, a ghost leads to what it names. */
export function openNode(node: GraphNode): boolean {
  if (node.shape === "superbox") void enter(splitId(node.element)[1]);
  else if (node.shape === "ghost") visit(node.element);
  else return false;
  return true;
}

/**
 * Shows each scope where one looked last, or all of it; and what was selected elsewhere, such as by a search, in the
 * middle. `isReady` when everything has its place.
 */
export function useTravelling(isReady: boolean): void {
  const network = useStore((state) => state.drawing.document.network);
  const drawn = useStore((state) => state.drawn);
  const scope = useStore((state) => state.scope);
  const document = useStore((state) => state.drawing.document);
  const selection = useStore((state) => state.selection);
  const shown = useRef("");
  const depth = useRef(0);
  const followed = useRef(selection);
  const key = keyOf(network, scope);
  const wanted = `${drawn} ${key}`;

  useEffect(() => {
    const there = existing(document, scope);
    if (there !== scope) useStore.getState().goTo(there);
  }, [document, scope]);

  useLayoutEffect(() => {
    if (!isReady || shown.current === wanted) return;
    const isFirst = !shown.current.startsWith(`${drawn} `);
    const isDeeper = scope.length > depth.current;
    shown.current = wanted;
    depth.current = scope.length;
    const [only] = selection;
    const isSought = selection.length === 1 && followed.current !== selection && !selectedHere.has(only ?? "");
    followed.current = selection;
    const known = views.get(key) ?? wholeView();
    // Where nothing is drawn yet there is nothing to see either.
    const view = (isSought && known && viewAround(only ?? "", known.zoom)) || known || { x: 0, y: 0, zoom: 1 };
    arrive(view, isFirst || !known ? 1 : isDeeper ? 0.8 : 1.3);
  }, [isReady, wanted, key, drawn, scope, selection]);

  useEffect(() => {
    const [only] = selection;
    if (!isReady || followed.current === selection) return;
    followed.current = selection;
    if (only !== undefined && selection.length === 1 && !selectedHere.delete(only)) bringIntoSight(only);
  }, [isReady, selection]);
}

/** Elements that were selected on the drawing itself, where the view has no need to follow. */
const selectedHere = new Set<string>();

export function noteSelectedHere(ids: readonly string[]): void {
  selectedHere.clear();
  for (const id of ids) selectedHere.add(id);
}

/** Ends at a view, coming from one that is smaller or larger by a factor. */
function arrive(view: Viewport, factor: number): void {
  const duration = motion(ENTER_MS);
  if (duration === 0 || factor === 1) {
    void flow()?.setViewport(view);
    return;
  }
  const { width, height } = inSight();
  const zoom = flow()?.getZoom() ?? 1;
  const middle = { x: (width * zoom) / 2, y: (height * zoom) / 2 };
  void flow()?.setViewport({
    zoom: view.zoom * factor,
    x: middle.x - (middle.x - view.x) * factor,
    y: middle.y - (middle.y - view.y) * factor,
  });
  requestAnimationFrame(() => void flow()?.setViewport(view, { duration }));
}
