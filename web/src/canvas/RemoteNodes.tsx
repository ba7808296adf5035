// Nodes as patches of their colour, for when so many are in sight that each would cost more than it says.

import { memo, useMemo } from "react";
import type { GraphNode } from "../model/graph";
import type { Position } from "../state/draft";
import { useStore } from "../state/store";
import { type Scene, standingNodes } from "./scene";

/** From so many on, in a drawing that is seen from far away. */
export const MANY_NODES = 300;

export const RemoteNodes = memo(function RemoteNodes({ scene }: { scene: Scene }) {
  const selection = useStore((state) => state.selection);
  const patches = useMemo(() => patchesOf(scene), [scene]);
  const chosen = useMemo(() => standingNodes(selection).map(patch).join(""), [scene, selection]);
  return (
    <svg aria-hidden="true" className="remote-nodes" data-count={scene.places.size}>
      {[...patches].map(([family, line]) => (
        <path className={`family-${family}`} d={line} key={family} />
      ))}
      {chosen !== "" && <path className="remote-chosen" d={chosen} />}
    </svg>
  );
});

function patchesOf({ graph, places }: Scene): Map<string, string> {
  const patches = new Map<string, string>();
  for (const node of graph.nodes) {
    const place = places.get(node.id);
    if (place) patches.set(node.family, (patches.get(node.family) ?? "") + patch({ ...place, ...sizeOf(node) }));
  }
  return patches;
}

function sizeOf({ width, height }: GraphNode): { width: number; height: number } {
  return { width, height };
}

function patch({ x, y, width, height }: Position & { width: number; height: number }): string {
  return `M${x},${y}h${width}v${height}h${-width}z`;
}

/** The node at a point of the drawing. */
export function nodeAt({ graph }: Scene, { x, y }: Position): GraphNode | undefined {
  const found = standingNodes(graph.byId.keys()).find(
    (rect) => x >= rect.x && y >= rect.y && x <= rect.x + rect.width && y <= rect.y + rect.height,
  );
  return found && graph.byId.get(found.id);
}
