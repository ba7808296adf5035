// All arrows as one line, for when so many are in sight that none can be told from the others.

import { memo, useMemo } from "react";
import { curve, pathOf } from "../model/curve";
import type { GraphEdge } from "../model/graph";
import { useStore } from "../state/store";
import type { Scene } from "./scene";

export const RemoteArcs = memo(function RemoteArcs({ scene }: { scene: Scene }) {
  const arc = useStore((state) => state.arc);
  const all = useMemo(() => lineOf(scene, scene.graph.edges), [scene]);
  const chosen = useMemo(
    () => (arc === null ? "" : lineOf(scene, scene.graph.edges.filter((edge) => edge.arc === arc))),
    [scene, arc],
  );
  return (
    <svg aria-hidden="true" className="remote-arcs">
      <path d={all} />
      {chosen !== "" && <path className="remote-chosen" d={chosen} />}
    </svg>
  );
});

function lineOf({ graph, places }: Scene, edges: readonly GraphEdge[]): string {
  return edges
    .map(({ source, sourceHandle, target, targetHandle }) => {
      const [from, to] = [graph.byId.get(source), graph.byId.get(target)];
      const [start, end] = [places.get(source), places.get(target)];
      const out = from?.outputs.find((port) => port.handle === sourceHandle);
      const into = to?.inputs.find((port) => port.handle === targetHandle);
      if (!from || !start || !end || !out || !into) return "";
      return pathOf(curve({ x: start.x + from.width, y: start.y + out.y }, { x: end.x, y: end.y + into.y }));
    })
    .join("");
}
