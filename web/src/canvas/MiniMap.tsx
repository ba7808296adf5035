// A map of the whole scope: where everything stands, what is in sight, and a way to look elsewhere.

import { useStoreApi } from "@xyflow/react";
import { type PointerEvent, useEffect, useRef } from "react";
import { bounds, type Rect } from "../model/geometry";
import { useStore } from "../state/store";
import { flow, inSight } from "./flow";
import { type Scene, standingNodes } from "./scene";

const WIDTH = 184;
const HEIGHT = 116;
const MARGIN = 8;

interface Frame {
  scale: number;
  left: number;
  top: number;
}

function frameOf(all: Rect): Frame {
  const scale = Math.min((WIDTH - 2 * MARGIN) / all.width, (HEIGHT - 2 * MARGIN) / all.height);
  return {
    scale,
    left: (WIDTH - all.width * scale) / 2 - all.x * scale,
    top: (HEIGHT - all.height * scale) / 2 - all.y * scale,
  };
}

function contains(outer: Rect, inner: Rect): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}

/** Painted, since a thousand elements of a document would cost more than the drawing itself. */
export function MiniMap({ scene }: { scene: Scene }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const sight = useRef<HTMLDivElement>(null);
  const root = useRef<HTMLDivElement>(null);
  const frame = useRef<Frame | null>(null);
  const whole = useRef<Rect | null>(null);
  const theme = useStore((state) => state.theme);
  const selection = useStore((state) => state.selection);
  const store = useStoreApi();

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    const all = bounds(standingNodes(scene.graph.byId.keys()));
    whole.current = all;
    frame.current = all && frameOf(all);
    if (!context || !canvas.current) return;
    const ratio = window.devicePixelRatio;
    canvas.current.width = WIDTH * ratio;
    canvas.current.height = HEIGHT * ratio;
    context.scale(ratio, ratio);
    if (!frame.current) return;
    const { scale, left, top } = frame.current;
    const style = getComputedStyle(canvas.current);
    const colours = new Map<string, string>();
    const colourOf = (name: string) => {
      const known = colours.get(name) ?? style.getPropertyValue(name);
      colours.set(name, known);
      return known;
    };
    const chosen = new Set<string>(selection);
    for (const node of scene.graph.nodes) {
      const place = scene.places.get(node.id);
      if (!place) continue;
      context.globalAlpha = node.shape === "ghost" ? 0.35 : 0.9;
      context.fillStyle = colourOf(chosen.has(node.id) ? "--accent" : `--family-${node.family}`);
      context.fillRect(
        left + place.x * scale,
        top + place.y * scale,
        Math.max(2, node.width * scale),
        Math.max(2, node.height * scale),
      );
    }
  }, [scene, theme, selection]);

  useEffect(() => {
    const show = () => {
      if (!sight.current || !root.current || !frame.current || !whole.current) return;
      const { scale, left, top } = frame.current;
      const seen = inSight();
      // Where everything is in sight there is nothing to find.
      root.current.hidden = contains(seen, whole.current);
      sight.current.style.transform = `translate(${left + seen.x * scale}px, ${top + seen.y * scale}px)`;
      sight.current.style.width = `${seen.width * scale}px`;
      sight.current.style.height = `${seen.height * scale}px`;
    };
    show();
    return store.subscribe(show);
  }, [store, scene]);

  const look = (event: PointerEvent<HTMLDivElement>) => {
    if (!frame.current || event.buttons === 0) return;
    const box = event.currentTarget.getBoundingClientRect();
    const { scale, left, top } = frame.current;
    const x = (event.clientX - box.left - left) / scale;
    const y = (event.clientY - box.top - top) / scale;
    void flow()?.setCenter(x, y, { zoom: flow()?.getZoom() ?? 1 });
  };

  return (
    <div
      aria-label="Map of what is drawn"
      className="minimap"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        look(event);
      }}
      onPointerMove={look}
      ref={root}
      role="img"
    >
      <canvas ref={canvas} style={{ width: WIDTH, height: HEIGHT }} />
      <div className="minimap-sight" ref={sight} />
    </div>
  );
}
