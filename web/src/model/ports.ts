// The ports of boxes, and what arcs are called: `late`, `by_exchange.nyse`.

import { asList, type Box, type NetworkDocument } from "./document";

/** One output port of a kind, or several, as its parameters have it; the server's palette says so of every kind. */
export interface PortShape {
  name?: string;
  when?: string;
  each?: string;
  named_by?: string;
  of?: string;
}

export interface InputShape {
  least: number;
  most: number | null;
  names: readonly string[];
}

/** What the drawing has to know of a kind of box. */
export interface KindShape {
  title: string;
  family: string;
  inputs: InputShape;
  ports: readonly PortShape[];
  /** Of kinds that run registered code: the ports of each piece of code. */
  code: Readonly<Record<string, readonly string[]>>;
}

/** By kind of box. Empty until the server has told; then everything that cannot be known is allowed. */
export type Kinds = ReadonlyMap<string, KindShape>;

export const OUT = "out";
const ANY: InputShape = { least: 1, most: null, names: [] };
const PLAIN: readonly PortShape[] = [{ name: OUT }];

export function inputsOf(box: Box, kinds: Kinds): InputShape {
  return kinds.get(box.kind)?.inputs ?? ANY;
}

export function arcOf(name: string, port: string): string {
  return port === OUT ? name : `${name}.${port}`;
}

/** The ports that a box has by its parameters. The first is the one that the bare name means. */
export function portsOf(name: string, box: Box, kinds: Kinds, known: readonly string[] = []): string[] {
  const shape = kinds.get(box.kind);
  const ports = (shape?.ports ?? PLAIN).flatMap((port) => names(port, box, shape));
  const untold = !shape || shape.ports.some((port) => port.of && !(String(box[port.of]) in shape.code));
  if (untold) {
    for (const arc of known) {
      if (arc === name) ports.push(OUT);
      else if (arc.startsWith(`${name}.`)) ports.push(arc.slice(name.length + 1));
    }
  }
  const found = [...new Set(ports)];
  return found.length > 0 ? found : [OUT];
}

function names(port: PortShape, box: Box, shape: KindShape | undefined): readonly string[] {
  if (port.of) return shape?.code[String(box[port.of])] ?? [];
  if (port.each) {
    const each = box[port.each];
    return each && typeof each === "object" && !Array.isArray(each) ? Object.keys(each) : [];
  }
  if (port.named_by) {
    const named = box[port.named_by];
    return typeof named === "string" && named ? [named] : [];
  }
  const asked = port.when === undefined || ![undefined, null, false].includes(box[port.when] as null);
  return asked && port.name ? [port.name] : [];
}

/** Everything that the document reads, as it is written. */
export function referencesOf(document: NetworkDocument): string[] {
  return [
    ...Object.values(document.boxes ?? {}).flatMap((box) => asList(box.in)),
    ...Object.values(document.outputs ?? {}).map((output) => output.from),
    ...Object.values(document.connection_points ?? {}).flatMap((point) => point.on ?? []),
  ];
}

/** The ports of every box by its parameters, and those that somebody reads although the box has them no more. */
export class Arcs {
  readonly ports = new Map<string, readonly string[]>();
  readonly missing = new Map<string, readonly string[]>();

  constructor(
    readonly document: NetworkDocument,
    kinds: Kinds,
    known: readonly string[],
  ) {
    for (const [name, box] of Object.entries(document.boxes ?? {})) {
      this.ports.set(name, portsOf(name, box, kinds, known));
    }
    for (const reference of referencesOf(document)) {
      const [name = "", port] = split(reference);
      const ports = this.ports.get(name);
      const missing = this.missing.get(name) ?? [];
      if (ports && port && !ports.includes(port) && !missing.includes(port)) this.missing.set(name, [...missing, port]);
    }
  }

  /** The one name of an arc; null if nothing puts tuples on it. */
  resolve(reference: string): string | null {
    const [name = "", port] = split(reference);
    const ports = this.ports.get(name);
    if (ports) {
      const meant = port ?? ports[0] ?? OUT;
      return ports.includes(meant) || this.missing.get(name)?.includes(meant) ? arcOf(name, meant) : null;
    }
    const point = this.document.connection_points?.[name];
    const there = name in (this.document.streams ?? {}) || (point !== undefined && point.on === undefined);
    return there && port === undefined ? name : null;
  }
}

function split(reference: string): [string, string | undefined] {
  const at = reference.indexOf(".");
  return at < 0 ? [reference, undefined] : [reference.slice(0, at), reference.slice(at + 1)];
}
