// An element of the network as it is drawn: its sign, name and kind, what it does, its ports, and what is measured.

import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";
import { memo } from "react";
import type { Problem } from "../api/types";
import { splitId } from "../model/document";
import type { GraphNode } from "../model/graph";
import { INTO_STREAM, namesOutputs, OUT_OF_OUTPUT } from "../model/graphNodes";
import { BoxWatch } from "../watch/BoxWatch";
import { OutputWatch } from "../watch/OutputWatch";
import { useDetail } from "./detail";
import { FamilyIcon, ToolIcon } from "./icons";
import { inWords, isError } from "./problems";
import { Sparks } from "./Sparks";

export interface ElementData extends Record<string, unknown> {
  node: GraphNode;
  problems: readonly Problem[];
  /** Whether something that is dragged would go into it. */
  isTarget: boolean;
}

export type FlowNode = Node<ElementData, "element">;

export const ElementNode = memo(function ElementNode({ data }: NodeProps<FlowNode>) {
  const { node, problems, isTarget } = data;
  const detail = useDetail();
  const classes = ["node", `node-${node.shape}`, `family-${node.family}`];
  if (detail !== "near") classes.push("node-far");
  if (isTarget) classes.push("node-target");
  if (problems.length > 0) classes.push(isError(problems) ? "node-wrong" : "node-doubtful");
  if (detail === "remote") return <div className={classes.join(" ")} />;
  return (
    <div className={classes.join(" ")} title={hint(node)}>
      <div className="node-head">
        <FamilyIcon family={node.family} />
        <div className="node-names">
          <div className="node-title">{detail === "near" ? node.title : breakable(node.title)}</div>
          <div className="node-caption">{node.caption}</div>
        </div>
        {node.shape === "ghost" && <ToolIcon name="away" />}
      </div>
      {detail === "near" && <Details node={node} />}
      {problems.length > 0 && (
        <div className="node-badge" title={inWords(problems)}>
          {isError(problems) ? "!" : "?"}
        </div>
      )}
      <Handles node={node} />
    </div>
  );
});

function Details({ node }: { node: GraphNode }) {
  const [, name] = splitId(node.element);
  return (
    <>
      {node.summary !== "" && <div className="node-summary">{node.summary}</div>}
      {node.qos && <Sparks name={name} />}
      <PortNames node={node} />
      {node.watched && (
        <div className="node-watch">
          {node.shape === "box" ? <BoxWatch name={name} /> : <OutputWatch name={name} />}
        </div>
      )}
    </>
  );
}

/** Ports at the same height share a row, and the room in it. */
function PortNames({ node }: { node: GraphNode }) {
  const outputs = namesOutputs(node) ? node.outputs : [];
  const inputs = node.inputs.filter((port) => port.label !== "");
  const heights = [...new Set([...inputs, ...outputs].map((port) => port.y))];
  return heights.map((y) => {
    const into = inputs.find((port) => port.y === y);
    const out = outputs.find((port) => port.y === y);
    return (
      <div className="node-ports" key={y} style={{ top: y }}>
        {into && <span className="node-port-in">{into.label}</span>}
        {out && (
          <span className={out.missing ? "node-port-out node-port-missing" : "node-port-out"}>{out.label}</span>
        )}
      </div>
    );
  });
}

function Handles({ node }: { node: GraphNode }) {
  return (
    <>
      {node.inputs.map((port) => (
        <Handle
          className={portClass(port.free && "free", port.handle === INTO_STREAM && "quiet")}
          id={port.handle}
          key={port.handle}
          position={Position.Left}
          style={{ top: port.y }}
          type="target"
        />
      ))}
      {node.outputs.map((port) => (
        <Handle
          className={portClass(port.missing && "missing", port.handle === OUT_OF_OUTPUT && "quiet")}
          id={port.handle}
          key={port.handle}
          position={Position.Right}
          style={{ top: port.y }}
          type="source"
        />
      ))}
    </>
  );
}

function portClass(...traits: (string | false)[]): string {
  return ["port", ...traits.filter((trait) => trait !== false).map((trait) => `port-${trait}`)].join(" ");
}

/** From far away names have two lines, and are best taken apart between words. */
function breakable(name: string): string {
  return name.replace(/[_.-]/g, "$&\u200b");
}

function hint(node: GraphNode): string {
  if (node.shape === "ghost") return `${node.title} stands outside; a double click goes there`;
  return [node.title, node.description, node.summary].filter(Boolean).join("\n");
}
