// The nodes of a graph: for every kind of element how it looks, and which ports it has.

import {
  asList,
  type Box,
  type ElementId,
  elementId,
  type NetworkDocument,
  producerOf,
  type Section,
  splitId,
} from "./document";
import { element } from "./edits";
import { measure, type Shape, WATCH_ROW } from "./geometry";
import type { GraphNode, InPort, OutPort, Reader } from "./graph";
import type { Arrow } from "./graphArrows";
import { arcOf, type Arcs, inputsOf, type Kinds } from "./ports";
import { boxesWithin, homeOf } from "./scopes";
import { columnsOf, summarise } from "./summary";

export const OUT_OF_OUTPUT = "delivered";
export const OUT_OF_SOURCE = "feeds";
export const INTO_STREAM = "fed";

type Input = Omit<InPort, "y">;
type Output = Omit<OutPort, "y">;

interface Draft {
  id: string;
  element: ElementId;
  shape: Shape;
  title: string;
  caption: string;
  summary?: string;
  family: string;
  inputs?: Input[];
  outputs?: Output[];
  qos?: boolean;
  beside?: string | null;
}

interface Given {
  document: NetworkDocument;
  kinds: Kinds;
  watched: boolean;
  arcs: Arcs;
  arrows: readonly Arrow[];
}

/** What an element of each section is called. */
const SAID: Record<Section, string> = {
  streams: "stream",
  boxes: "box",
  outputs: "output",
  superboxes: "superbox",
  connection_points: "connection point",
  sources: "source",
  sinks: "sink",
};

/** Whether the names of a node's outputs are shown: where there are several, or they say which box they are of. */
export function namesOutputs({ shape, outputs }: { shape: Shape; outputs: readonly unknown[] }): boolean {
  return outputs.length > 1 || (shape === "superbox" && outputs.length > 0);
}

export class GraphNodes {
  readonly nodes = new Map<string, GraphNode>();

  constructor(private readonly given: Given) {}

  addStream(name: string): void {
    const id = elementId("streams", name);
    const stream = this.given.document.streams?.[name];
    this.add({
      id,
      element: id,
      shape: "stream",
      title: name,
      caption: (stream && columnsOf(stream)) || "stream",
      family: "stream",
      inputs: [{ handle: INTO_STREAM, label: "", readers: [{ to: id, input: 0 }], free: true }],
      outputs: [plainOutput(name)],
    });
  }

  addPoint(name: string): void {
    const id = elementId("connection_points", name);
    const point = this.given.document.connection_points?.[name] ?? {};
    const common = { id, element: id, title: name };
    if (point.on === undefined && point.schema !== undefined) {
      const caption = columnsOf(point) || "static data";
      this.add({ ...common, shape: "static", caption, family: "static", outputs: [plainOutput(name)] });
      return;
    }
    const caption = point.keep ? `keeps ${String(point.keep)}` : "connection point";
    this.add({ ...common, shape: "point", caption, family: "point", inputs: [this.onlyInput(id, point.on)] });
  }

  addBox(name: string): void {
    const id = elementId("boxes", name);
    const box = this.given.document.boxes?.[name];
    if (!box) return;
    const kind = this.given.kinds.get(box.kind);
    this.add({
      id,
      element: id,
      shape: "box",
      title: name,
      caption: kind?.title ?? box.kind,
      summary: summarise(box),
      family: kind?.family ?? "other",
      inputs: this.boxInputs(id, box),
      outputs: this.boxOutputs(name),
    });
  }

  /** One place for each input that the kind takes; if it takes any number, one that is free. */
  private boxInputs(id: ElementId, box: Box): Input[] {
    const { most, names } = inputsOf(box, this.given.kinds);
    const read = asList(box.in).map((reference) => reference !== "" && this.given.arcs.resolve(reference) !== null);
    const oneMore = read.every(Boolean) ? read.length + 1 : read.length;
    const count = Math.max(read.length, most ?? oneMore);
    return Array.from({ length: count }, (_, input) => ({
      handle: `in:${input}`,
      label: count === names.length ? (names[input] ?? "") : "",
      readers: [{ to: id, input }],
      free: !read[input],
    }));
  }

  private boxOutputs(name: string): Output[] {
    const port = (label: string, missing: boolean) => {
      const arc = arcOf(name, label);
      return { handle: arc, label, arc, missing };
    };
    const there = (this.given.arcs.ports.get(name) ?? []).map((label) => port(label, false));
    return [...there, ...(this.given.arcs.missing.get(name) ?? []).map((label) => port(label, true))];
  }

  addSuperbox(name: string): void {
    const id = elementId("superboxes", name);
    const within = new Set(boxesWithin(this.given.document, name));
    const { inputs, outputs } = this.crossing(name, within);
    this.add({
      id,
      element: id,
      shape: "superbox",
      title: name,
      caption: within.size === 1 ? "1 box" : `${within.size} boxes`,
      summary: this.given.document.superboxes?.[name]?.description ?? "",
      family: "superbox",
      inputs,
      outputs,
    });
  }

  /** The ports of a superbox: what crosses its border, inputs that boxes in it still need, and what nobody reads. */
  private crossing(name: string, within: ReadonlySet<string>): { inputs: Input[]; outputs: Output[] } {
    const { document, arrows, kinds } = this.given;
    const inputs = new Map<string, Reader[]>();
    const crossing = new Set<string>();
    const read = new Set<string>();
    for (const { arc, reader } of arrows) {
      const isReaderInside = homeOf(document, reader.to).includes(name);
      const isProducerInside = within.has(producerOf(arc));
      if (isProducerInside) read.add(arc);
      if (isProducerInside && !isReaderInside) crossing.add(arc);
      if (!isProducerInside && isReaderInside) inputs.set(arc, [...(inputs.get(arc) ?? []), reader]);
    }
    const needed = [...within].flatMap((box): Input[] => {
      const made = document.boxes?.[box];
      const input = asList(made?.in).filter((reference) => reference !== "").length;
      if (!made || input >= inputsOf(made, kinds).least) return [];
      return [{ handle: `free:${box}`, label: box, readers: [{ to: elementId("boxes", box), input }], free: true }];
    });
    const outputs = [...within]
      .flatMap((box) => this.boxOutputs(box))
      .filter(({ arc }) => crossing.has(arc) || !read.has(arc))
      .map((port) => ({ ...port, label: port.arc }));
    const fed = [...inputs].map(([arc, readers]) => ({ handle: `arc:${arc}`, label: arc, readers, free: false }));
    return { inputs: [...fed, ...needed], outputs };
  }

  addOutput(name: string): void {
    const id = elementId("outputs", name);
    const output = this.given.document.outputs?.[name];
    this.add({
      id,
      element: id,
      shape: "output",
      title: name,
      caption: output?.from || "output",
      family: "output",
      inputs: [this.onlyInput(id, output?.from)],
      outputs: [{ handle: OUT_OF_OUTPUT, label: "", arc: "", missing: false }],
      qos: Object.keys(output?.qos ?? {}).length > 0,
    });
  }

  addSource(name: string): void {
    const id = elementId("sources", name);
    const source = this.given.document.sources?.[name];
    const stream = String(source?.into ?? "");
    this.add({
      id,
      element: id,
      shape: "source",
      title: name,
      caption: source?.kind ?? "",
      family: "source",
      outputs: [{ handle: OUT_OF_SOURCE, label: "", arc: "", missing: false }],
      beside: stream in (this.given.document.streams ?? {}) ? elementId("streams", stream) : null,
    });
  }

  addSink(name: string): void {
    const id = elementId("sinks", name);
    const sink = this.given.document.sinks?.[name];
    const output = String(sink?.from ?? "");
    const isThere = output in (this.given.document.outputs ?? {});
    this.add({
      id,
      element: id,
      shape: "sink",
      title: name,
      caption: sink?.kind ?? "",
      family: "sink",
      inputs: [{ handle: "in:0", label: "", readers: [{ to: id, input: 0 }], free: !isThere }],
      beside: isThere ? elementId("outputs", output) : null,
    });
  }

  /** What stands outside of the scope: what an arc comes from that is read here, or who reads what is made here. */
  addGhost(id: string, names: ElementId, ports: Pick<Draft, "title" | "inputs" | "outputs">): void {
    if (this.nodes.has(id)) return;
    const [section] = splitId(names);
    const home = homeOf(this.given.document, names);
    const caption = home.length > 0 ? home.join(" › ") : SAID[section];
    const family = section === "streams" ? "stream" : section === "outputs" ? "output" : "other";
    this.add({ id, element: names, shape: "ghost", caption, family, ...ports });
  }

  private onlyInput(id: ElementId, reference: string | undefined): Input {
    const free = !reference || this.given.arcs.resolve(reference) === null;
    return { handle: "in:0", label: "", readers: [{ to: id, input: 0 }], free };
  }

  private add({ inputs = [], outputs = [], summary = "", qos = false, beside = null, ...rest }: Draft): void {
    const isWatched = rest.shape === "box" || rest.shape === "output";
    const watched = this.given.watched && isWatched;
    const placed = measure({
      shape: rest.shape,
      summary: summary !== "",
      qos,
      watched,
      inputs: inputs.length,
      outputs: outputs.length,
      namedInputs: inputs.some((port) => port.label !== ""),
      namedOutputs: namesOutputs({ shape: rest.shape, outputs }),
    });
    this.nodes.set(rest.id, {
      ...rest,
      width: placed.width,
      height: placed.height,
      room: placed.height + (isWatched && !watched ? WATCH_ROW : 0),
      summary,
      description: element(this.given.document, rest.element)?.description ?? "",
      inputs: inputs.map((port, at) => ({ ...port, y: placed.inputs[at] ?? 0 })),
      outputs: outputs.map((port, at) => ({ ...port, y: placed.outputs[at] ?? 0 })),
      watched,
      qos,
      beside,
    });
  }
}

function plainOutput(name: string): Output {
  return { handle: name, label: name, arc: name, missing: false };
}
