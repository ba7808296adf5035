// What an output is worth, as small graphs: utility against delay, percent delivered and values.

import { memo } from "react";
import { axisOf, type GraphKind, linePath, readGraph } from "../model/qos";
import { useStore } from "../state/store";
import { PresentPoint } from "../watch/PresentPoint";

const FRAME = { left: 1, top: 2, width: 40, height: 18 };
const KINDS: readonly GraphKind[] = ["latency", "loss", "value"];

export const Sparks = memo(function Sparks({ name }: { name: string }) {
  const qos = useStore((state) => state.drawing.document.outputs?.[name]?.qos);
  return (
    <div className="node-sparks">
      {KINDS.map((kind) => {
        const points = kind === "value" ? qos?.value?.graph : qos?.[kind];
        const graph = points ? readGraph(kind, points) : null;
        if (!graph) return null;
        const by = kind === "value" ? `value of ${qos?.value?.on}` : kind;
        return (
          <figure className="node-spark" key={kind} title={`Utility by ${by}`}>
            <svg aria-hidden="true" height="22" viewBox="0 0 42 22" width="42">
              <path className="node-spark-axis" d="M1 2v18h40" />
              <path className="node-spark-line" d={linePath(graph, axisOf(kind, graph), FRAME)} />
              <PresentPoint frame={FRAME} graph={graph} kind={kind} name={name} />
            </svg>
            <figcaption>{kind}</figcaption>
          </figure>
        );
      })}
    </div>
  );
});
