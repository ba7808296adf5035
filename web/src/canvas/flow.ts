// The view of the drawing: where it looks, and how it gets elsewhere.

import type { ReactFlowInstance, Viewport } from "@xyflow/react";
import type { Position } from "../state/draft";
import { bounds, type Rect } from "../model/geometry";
import { scene, standingNodes } from "./scene";

export const LEAST_ZOOM = 0.02;
export const MOST_ZOOM = 2;
const FITTED_MOST = 1.1;
/** At which names can be made out, and at which everything can be read. */
const LEGIBLE = 0.4;
const READABLE = 0.8;
const SLOW_MS = 320;
/** Above there are tools. When an arrow is dragged close to the border the view moves, so nothing should be there. */
const MARGIN = { left: 48, right: 48, top: 60, bottom: 44 };

interface Size {
  width: number;
  height: number;
}

let instance: ReactFlowInstance<never, never> | null = null;
let pane: HTMLElement | null = null;
/** As React Flow knows it: to ask the document would have it laid out in the middle of a motion. */
let paneSize: () => Size = () => ({ width: 0, height: 0 });

export function setFlow(flow: unknown, element: HTMLElement | null, size: () => Size): void {
  instance = flow as typeof instance;
  pane = element;
  paneSize = size;
}

export function flow(): ReactFlowInstance<never, never> | null {
  return instance;
}

/** No motion for those who do not want any. */
export function motion(milliseconds: number = SLOW_MS): number {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : milliseconds;
}

/** The view that shows a part of the drawing as large as it fits. */
export function viewOf(rect: Rect, most = FITTED_MOST): Viewport {
  const { width, height } = paneSize();
  const room = {
    width: Math.max(1, width - MARGIN.left - MARGIN.right),
    height: Math.max(1, height - MARGIN.top - MARGIN.bottom),
  };
  const wanted = Math.min(room.width / Math.max(1, rect.width), room.height / Math.max(1, rect.height), most);
  const zoom = Math.max(LEAST_ZOOM, wanted);
  return {
    x: MARGIN.left + room.width / 2 - (rect.x + rect.width / 2) * zoom,
    y: MARGIN.top + room.height / 2 - (rect.y + rect.height / 2) * zoom,
    zoom,
  };
}

/** The view that shows everything; null while nothing stands anywhere. */
export function wholeView(): Viewport | null {
  const all = bounds(standingNodes(scene().graph.byId.keys()));
  return all ? viewOf(all) : null;
}

export function fit(ids?: readonly string[], milliseconds?: number): void {
  const all = bounds(standingNodes(ids ?? scene().graph.byId.keys()));
  if (all) void instance?.setViewport(viewOf(all), { duration: motion(milliseconds) });
}

export function zoomBy(factor: number): void {
  if (instance) void instance.zoomTo(instance.getZoom() * factor, { duration: motion(120) });
}

export function panBy(by: Position): void {
  const view = instance?.getViewport();
  if (view) void instance?.setViewport({ ...view, x: view.x - by.x, y: view.y - by.y });
}

/** The part of the drawing that is in sight. */
export function inSight(): Rect {
  const { width, height } = paneSize();
  const { x, y, zoom } = instance?.getViewport() ?? { x: 0, y: 0, zoom: 1 };
  return { x: -x / zoom, y: -y / zoom, width: width / zoom, height: height / zoom };
}

/** The view with a point of the drawing in the middle. */
export function viewAt(centre: Position, zoom: number): Viewport {
  const { width, height } = paneSize();
  return { x: width / 2 - centre.x * zoom, y: height / 2 - centre.y * zoom, zoom };
}

/** The view with a node in the middle, large enough to be read. */
export function viewAround(id: string, zoom: number): Viewport | null {
  const [node] = standingNodes([id]);
  return node ? viewAt({ x: node.x + node.width / 2, y: node.y + node.height / 2 }, Math.max(zoom, READABLE)) : null;
}

/** Moves the view so that a node is in the middle, unless it is well in sight already. */
export function bringIntoSight(id: string): void {
  const [node] = standingNodes([id]);
  if (!node || !instance) return;
  const sight = inSight();
  const isInside =
    node.x >= sight.x &&
    node.y >= sight.y &&
    node.x + node.width <= sight.x + sight.width &&
    node.y + node.height <= sight.y + sight.height;
  const zoom = instance.getZoom();
  const view = viewAround(id, zoom);
  if (view && !(isInside && zoom > LEGIBLE)) void instance.setViewport(view, { duration: motion() });
}

const TRIES = 30;

/** Gives a node the keyboard's focus, as soon as it is drawn. */
export function focusNode(id: string, tries = TRIES): void {
  const found = pane?.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
  if (found) found.focus({ preventScroll: true });
  else if (tries > 0) requestAnimationFrame(() => focusNode(id, tries - 1));
}

/** The node that has the focus. */
export function focusedNode(): string | null {
  const found = document.activeElement?.closest<HTMLElement>(".react-flow__node");
  return found && pane?.contains(found) ? (found.dataset.id ?? null) : null;
}
