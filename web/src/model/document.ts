// The network document: what is drawn, exactly as YAML and the server have it.

export type Scalar = string | number | boolean | null;
export type Json = Scalar | Json[] | { [key: string]: Json };

export interface Described {
  description?: string;
  tags?: string[];
  manual?: string;
}

export type Columns = Record<string, string>;

export interface Stream extends Described {
  schema: Columns;
}

/** A box: `kind`, `in` and the parameters of its kind, which only forms know. */
export interface Box extends Described {
  kind: string;
  in: string | string[];
  [parameter: string]: Json | undefined;
}

/** A point of a QoS graph: where, and the utility there, 0 to 1. */
export type Point = [number | string, number];

export interface Qos {
  latency?: Point[];
  loss?: Point[];
  value?: { on: string; graph: Point[] };
}

export interface Output extends Described {
  from: string;
  qos?: Qos;
}

export interface Superbox extends Described {
  boxes: string | string[];
}

export interface ConnectionPoint extends Described {
  on?: string;
  [parameter: string]: Json | undefined;
}

export interface Connector extends Described {
  kind: string;
  [parameter: string]: Json | undefined;
}

export interface NetworkDocument extends Described {
  aurora: 1;
  network: string;
  streams?: Record<string, Stream>;
  boxes?: Record<string, Box>;
  outputs?: Record<string, Output>;
  superboxes?: Record<string, Superbox>;
  connection_points?: Record<string, ConnectionPoint>;
  sources?: Record<string, Connector>;
  sinks?: Record<string, Connector>;
}

export const SECTIONS = [
  "streams",
  "boxes",
  "outputs",
  "superboxes",
  "connection_points",
  "sources",
  "sinks",
] as const;
export type Section = (typeof SECTIONS)[number];

/** An element of the document: `boxes/late`. It is the id of nodes and selections, and the key of positions. */
export type ElementId = `${Section}/${string}`;

export function elementId(section: Section, name: string): ElementId {
  return `${section}/${name}`;
}

export function splitId(id: ElementId): [Section, string] {
  const at = id.indexOf("/");
  return [id.slice(0, at) as Section, id.slice(at + 1)];
}

export function emptyDocument(name: string): NetworkDocument {
  return { aurora: 1, network: name };
}

export function asList(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

/** The element that puts tuples on an arc: `by_exchange.nyse` is an arc of the box `by_exchange`. */
export function producerOf(arc: string): string {
  return arc.split(".", 1)[0] ?? arc;
}
