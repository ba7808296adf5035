// Gives places to what has none, and moves everything to where the layout would have it.

import { useEffect } from "react";
import { between, type Moves, snapped } from "../model/arrange";
import type { ElementId } from "../model/document";
import { forgetPositions, move } from "../model/edits";
import { fillIn, hasUnplaced } from "../model/layout";
import type { Position, Positions } from "../state/draft";
import { useStore } from "../state/store";
import { layOut } from "./elk";
import { motion, viewOf, flow } from "./flow";
import { bounds } from "../model/geometry";
import { type Scene, scene } from "./scene";

/** Whether nodes are waiting for the layout. */
export function useSettling({ graph }: Scene, isReady: boolean): boolean {
  const positions = useStore((state) => state.drawing.positions);
  const isWaiting = isReady && hasUnplaced(graph, positions);
  useEffect(() => {
    if (!isWaiting) return;
    let overtaken = false;
    void layOut(graph, () => overtaken).then((laid) => {
      if (overtaken || !laid) return;
      const { settle, drawing } = useStore.getState();
      settle(asPositions(fillIn(graph, drawing.positions, laid)));
    });
    return () => {
      overtaken = true;
    };
  }, [graph, isWaiting]);
  return isWaiting;
}

function asPositions(places: ReadonlyMap<string, Position>): Positions {
  return Object.fromEntries([...places].map(([id, place]) => [id, snapped(place)]));
}

const MOVE_MS = 380;
/** Beyond it motion would stutter. */
const MOST_MOVING = 400;

/** Lays everything out anew in the scope, in one step. `show` gets where nodes are on their way, at the end null. */
export async function layOutAll(show: (moving: Moves | null) => void): Promise<void> {
  const { graph, places } = scene();
  const laid = asPositions((await layOut(graph)) ?? new Map());
  const from: Moves = Object.fromEntries([...places].filter(([id]) => id in laid));
  const to = laid as Moves;
  const all = bounds(
    graph.nodes.flatMap((node) => {
      const place = to[node.id];
      return place ? [{ ...place, width: node.width, height: node.height }] : [];
    }),
  );
  if (all) void flow()?.setViewport(viewOf(all), { duration: motion(MOVE_MS) });
  if (motion() > 0 && Object.keys(to).length <= MOST_MOVING) await glide(from, to, show);
  // What stands beside something does so again.
  const beside = graph.nodes.filter((node) => node.beside !== null).map((node) => node.element);
  const { edit, announce } = useStore.getState();
  edit("Lay out", (drawing) => move(forgetPositions(drawing, beside), to as Record<ElementId, Position>));
  show(null);
  announce("Laid out");
}

function glide(from: Moves, to: Moves, show: (moving: Moves) => void): Promise<void> {
  return new Promise((resolve) => {
    const start = performance.now();
    const step = (now: number) => {
      const done = Math.min(1, (now - start) / MOVE_MS);
      show(between(from, to, done));
      if (done < 1) requestAnimationFrame(step);
      else resolve();
    };
    requestAnimationFrame(step);
  });
}
