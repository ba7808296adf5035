// The arrows of a graph: from where an arc is made to where it is read, as far as both are seen.

import { elementId, type ElementId, type NetworkDocument, producerOf, splitId } from "./document";
import type { GraphEdge, Reader } from "./graph";
import { type GraphNodes, INTO_STREAM, OUT_OF_OUTPUT, OUT_OF_SOURCE } from "./graphNodes";
import { homeOf, type Scope, startsWith } from "./scopes";

/** Somebody reads an arc. */
export interface Arrow {
  arc: string;
  reader: Reader;
}

/** A node and one of its ports. */
type End = readonly [node: string, handle: string];

export class GraphArrows {
  private readonly found = new Map<string, GraphEdge>();

  constructor(
    private readonly document: NetworkDocument,
    private readonly scope: Scope,
    private readonly made: GraphNodes,
  ) {}

  edges(arrows: readonly Arrow[]): GraphEdge[] {
    for (const arrow of arrows) this.add(arrow);
    if (this.scope.length === 0) this.addFeeds();
    return [...this.found.values()];
  }

  private add({ arc, reader }: Arrow): void {
    const from = this.shownAs(this.producer(arc));
    const to = this.shownAs(reader.to);
    if (from === null && to === null) return;
    const [source, sourceHandle]: End = from === null ? this.ghostOf(arc) : [from, arc];
    const [target, targetHandle] = to === null ? this.ghostFor(reader.to) : this.inputOf(to, arc, reader);
    if (source === target) return;
    const id = `${arc}>${target}>${targetHandle}`;
    const readers = [...(this.found.get(id)?.readers ?? []), reader];
    this.found.set(id, { id, arc, source, sourceHandle, target, targetHandle, readers });
  }

  private inputOf(node: string, arc: string, { input }: Reader): End {
    return [node, node.startsWith("superboxes/") ? `arc:${arc}` : `in:${input}`];
  }

  private producer(arc: string): ElementId {
    const name = producerOf(arc);
    if (name in (this.document.boxes ?? {})) return elementId("boxes", name);
    return elementId(name in (this.document.streams ?? {}) ? "streams" : "connection_points", name);
  }

  /** The node that shows an element here: itself, or the superbox that it is in; null if it stands outside. */
  private shownAs(id: ElementId): string | null {
    const home = homeOf(this.document, id);
    if (!startsWith(home, this.scope)) return null;
    const around = home[this.scope.length];
    return around === undefined ? id : elementId("superboxes", around);
  }

  private ghostOf(arc: string): End {
    const id = `from:${arc}`;
    const outputs = [{ handle: arc, label: "", arc, missing: false }];
    this.made.addGhost(id, this.producer(arc), { title: arc, outputs });
    return [id, arc];
  }

  private ghostFor(to: ElementId): End {
    const id = `to:${to}`;
    const inputs = [{ handle: "in:0", label: "", readers: [], free: false }];
    this.made.addGhost(id, to, { title: splitId(to)[1], inputs });
    return [id, "in:0"];
  }

  private addFeeds(): void {
    for (const [name, source] of Object.entries(this.document.sources ?? {})) {
      const id = elementId("sources", name);
      this.addFeed([id, OUT_OF_SOURCE], [elementId("streams", String(source.into)), INTO_STREAM], id);
    }
    for (const [name, sink] of Object.entries(this.document.sinks ?? {})) {
      const id = elementId("sinks", name);
      this.addFeed([elementId("outputs", String(sink.from)), OUT_OF_OUTPUT], [id, "in:0"], id);
    }
  }

  private addFeed([source, sourceHandle]: End, [target, targetHandle]: End, reader: ElementId): void {
    if (!this.made.nodes.has(source) || !this.made.nodes.has(target)) return;
    const readers = [{ to: reader, input: 0 }];
    const id = `${source}>${target}`;
    this.found.set(id, { id, arc: null, source, sourceHandle, target, targetHandle, readers });
  }
}
