// What an output is worth: graphs of utility against delay, share delivered and values, drawn with the mouse.

import type { Json } from "../../model/document";
import { isRecord, type Path, problemsAt } from "../../model/forms";
import { type Graph, type GraphKind, readGraph, showX, startGraph, utilityAt, writeGraph } from "../../model/qos";
import { Icon } from "../../shell/Icon";
import { useStore } from "../../state/store";
import { Problems, useForm } from "../form";
import { SelectControl } from "../fields/basic";
import { type Marker, QosGraph } from "./QosGraph";
import { QosTable } from "./QosTable";
import "./qos.css";

interface Props {
  output: string;
  path: Path;
  value: Json | undefined;
  onChange: (value: Json | undefined, merge?: string) => void;
}

const KINDS: readonly GraphKind[] = ["latency", "loss", "value"];
const TITLES: Record<GraphKind, string> = { latency: "Latency", loss: "Loss", value: "Value" };
const ABOUT: Record<GraphKind, string> = {
  latency: "utility by delay",
  loss: "utility by share delivered",
  value: "utility by value",
};

export function QosField({ output, path, value, onChange }: Props) {
  const { inputs } = useForm();
  const given = isRecord(value) ? value : {};
  const numbers = Object.entries(inputs[0] ?? {}).filter(([, type]) => type === "int" || type === "double");
  const set = (kind: GraphKind, after: Json | undefined, merge?: string) => {
    const { [kind]: _, ...rest } = given;
    const made = after === undefined ? rest : { ...given, [kind]: after };
    // In one order, whichever was drawn first.
    const ordered = Object.fromEntries(KINDS.flatMap((one) => (made[one] === undefined ? [] : [[one, made[one]]])));
    onChange(Object.keys(ordered).length === 0 ? undefined : ordered, merge);
  };
  const start = (kind: GraphKind) => {
    const graph = writeGraph(kind, startGraph(kind)) as Json;
    set(kind, kind === "value" ? { on: numbers[0]?.[0] ?? "", graph } : graph);
  };
  const missing = KINDS.filter((kind) => given[kind] === undefined);
  return (
    <div className="qos">
      {KINDS.filter((kind) => given[kind] !== undefined).map((kind) => (
        <Section key={kind} kind={kind} numbers={numbers} output={output} path={path} set={set} value={given[kind] ?? null} />
      ))}
      {missing.length > 0 && (
        <div aria-label="Add a graph" className="form-chips" role="group">
          {missing.map((kind) => (
            <button className="form-chip" key={kind} onClick={() => start(kind)} title={ABOUT[kind]} type="button">
              <Icon name="plus" />
              {kind}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

interface SectionProps {
  kind: GraphKind;
  output: string;
  path: Path;
  value: Json;
  numbers: readonly [string, string][];
  set: (kind: GraphKind, value: Json | undefined, merge?: string) => void;
}

function Section({ kind, output, path, value, numbers, set }: SectionProps) {
  const { problems, root } = useForm();
  const own = problemsAt(problems, [...root, ...path, kind]);
  const inner = isRecord(value) ? value : {};
  const graph = readGraph(kind, kind === "value" ? inner.graph : value);
  const markers = useMarkers(kind, output, graph);
  const change = (after: Graph, merge?: string) => {
    const points = writeGraph(kind, after) as Json;
    set(kind, kind === "value" ? { ...inner, graph: points } : points, merge);
  };
  const title = TITLES[kind];
  return (
    <section aria-label={`${title} graph`} className="qos-one">
      <div className="field-head">
        <h4 className="qos-title">{title}</h4>
        <span className="muted qos-about">{ABOUT[kind]}</span>
        <span className="grow" />
        <button aria-label={`Remove ${title}`} className="quiet field-tool" onClick={() => set(kind, undefined)} title="Remove" type="button">
          <Icon name="close" />
        </button>
      </div>
      {kind === "value" && (
        <div className="qos-on">
          <label htmlFor={`qos-on-${output}`}>by the column</label>
          <SelectControl
            choices={numbers.map(([name, type]) => ({ value: name, detail: type }))}
            ids={{ id: `qos-on-${output}`, "aria-describedby": undefined, "aria-invalid": undefined }}
            label="Column"
            onChange={(on) => set(kind, { ...inner, on: on ?? "" })}
            value={inner.on}
          />
        </div>
      )}
      {graph ? (
        <div className="qos-parts">
          <QosGraph graph={graph} kind={kind} label={title} markers={markers} onChange={change} />
          <QosTable graph={graph} kind={kind} label={title} onChange={change} />
        </div>
      ) : (
        <button onClick={() => change(startGraph(kind))} type="button">
          Start anew
        </button>
      )}
      <Problems problems={own} />
    </section>
  );
}

/** What is measured now, where the output runs. */
function useMarkers(kind: GraphKind, output: string, graph: Graph | null): Marker[] {
  const reading = useStore((state) => state.stats?.outputs[output]);
  if (!reading || !graph || kind === "value") return [];
  const found: [string, number | null][] =
    kind === "latency"
      ? [
          ["p50", reading.latency_s.p50],
          ["p99", reading.latency_s.p99],
        ]
      : [["now", reading.tuples === 0 && reading.lost === 0 ? null : reading.delivered]];
  return found.flatMap(([name, x]) => (x === null ? [] : [{ name, x, u: utilityAt(graph, x), text: showX(kind, x) }]));
}
