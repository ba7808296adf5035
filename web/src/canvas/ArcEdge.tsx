// An arrow: the arc that it shows, with what is measured and tapped on it at its middle.

import { BaseEdge, type Edge, type EdgeProps } from "@xyflow/react";
import { createContext, memo, useContext } from "react";
import { createPortal } from "react-dom";
import { ArcDebug } from "../debug/ArcDebug";
import { curve, pathOf, pointOn } from "../model/curve";
import type { GraphEdge } from "../model/graph";
import { ArcWatch } from "../watch/ArcWatch";
import { useDetail } from "./detail";

export interface ArcData extends Record<string, unknown> {
  edge: GraphEdge;
  /** Whether its arc is selected, or just this arrow. */
  chosen: "no" | "arc" | "arrow";
}

export type FlowEdge = Edge<ArcData, "arc">;

/** Where labels are drawn, above all arrows. React Flow's own layer is looked for anew with every motion. */
export const LabelLayer = createContext<HTMLElement | null>(null);

/** How far along its arrow the label is: towards where it comes from, since there arrows that cross are still apart. */
const LABEL_AT = 0.42;

export const ArcEdge = memo(function ArcEdge({ id, data, sourceX, sourceY, targetX, targetY }: EdgeProps<FlowEdge>) {
  const detail = useDetail();
  const layer = useContext(LabelLayer);
  const line = curve({ x: sourceX, y: sourceY }, { x: targetX, y: targetY });
  const label = pointOn(line, LABEL_AT);
  const arc = data?.edge.arc ?? null;
  const chosen = data?.chosen ?? "no";
  const head = chosen === "no" ? "url(#arc-head)" : "url(#arc-head-chosen)";
  return (
    <>
      <BaseEdge
        className={`arc arc-chosen-${chosen}${arc === null ? " arc-feed" : ""}`}
        id={id}
        interactionWidth={18}
        markerEnd={head}
        path={pathOf(line)}
      />
      {arc !== null &&
        layer &&
        detail === "near" &&
        createPortal(
          <div
            className="arc-label nodrag nopan"
            style={{ transform: `translate(-50%, -50%) translate(${label.x}px, ${label.y}px)` }}
          >
            <ArcWatch arc={arc} readers={data?.edge.readers} />
            <ArcDebug arc={arc} />
          </div>,
          layer,
        )}
    </>
  );
});

/** The heads of arrows, which all arrows share. */
export function ArrowHeads() {
  return (
    <svg aria-hidden="true" className="arc-heads">
      <defs>
        {["arc-head", "arc-head-chosen"].map((id) => (
          <marker
            className={id}
            id={id}
            key={id}
            markerHeight="8"
            markerUnits="userSpaceOnUse"
            markerWidth="9"
            orient="auto"
            refX="8"
            refY="4"
            viewBox="0 0 9 8"
          >
            <path d="M0 0 9 4 0 8Z" />
          </marker>
        ))}
      </defs>
    </svg>
  );
}
