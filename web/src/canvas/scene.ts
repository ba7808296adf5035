// What is drawn just now: the graph of the scope that one is in, and where everything stands.

import { useMemo, useRef } from "react";
import type { Moves, Standing } from "../model/arrange";
import type { ElementId } from "../model/document";
import type { KeepsPlaces } from "../model/edits";
import { EMPTY_GRAPH, type Graph, type GraphNode, keepUnchanged, makeGraph } from "../model/graph";
import { type Places, standing } from "../model/layout";
import type { Kinds } from "../model/ports";
import type { Positions } from "../state/draft";
import { useStore } from "../state/store";
import { useKinds } from "./kinds";

export interface Scene {
  readonly graph: Graph;
  /** Where nodes stand; one that is missing waits for the layout. */
  readonly places: Places;
  readonly kinds: Kinds;
}

let current: Scene = { graph: EMPTY_GRAPH, places: new Map(), kinds: new Map() };

/** For what is done by keys, menus and the palette, which act on what is drawn. */
export function scene(): Scene {
  return current;
}

/** `moving` has where nodes are dragged to, or how far they have come on their way. */
export function useScene(moving: Moves | null): Scene {
  const document = useStore((state) => state.drawing.document);
  const positions = useStore((state) => state.drawing.positions);
  const scope = useStore((state) => state.scope);
  const watched = useStore((state) => state.network !== null);
  const arcs = useStore((state) => state.checked?.arcs ?? state.running?.arcs);
  const kinds = useKinds();
  const names = useMemo(() => Object.keys(arcs ?? {}).join(" "), [arcs]);
  const before = useRef(EMPTY_GRAPH);
  const graph = useMemo(() => {
    const known = names === "" ? [] : names.split(" ");
    const made = keepUnchanged(before.current, makeGraph({ document, scope, kinds, known, watched }));
    before.current = made;
    return made;
  }, [document, scope, kinds, names, watched]);
  const places = useMemo(
    () => standing(graph, moving ? ({ ...positions, ...moving } as Positions) : positions),
    [graph, positions, moving],
  );
  const made = useMemo(() => ({ graph, places, kinds }), [graph, places, kinds]);
  current = made;
  return made;
}

/** Whether the inputs of a kind play different parts: left and right. */
export const keepsPlaces: KeepsPlaces = (kind) => (current.kinds.get(kind)?.inputs.names.length ?? 0) > 1;

/** The nodes of these ids that stand somewhere, with where and how large they are. */
export function standingNodes(ids: Iterable<string>): Standing[] {
  return [...ids].flatMap((id) => {
    const node = current.graph.byId.get(id);
    const place = current.places.get(id);
    return node && place ? [{ id, ...place, width: node.width, height: node.height }] : [];
  });
}

/** Elements stand for themselves; a ghost only names what stands elsewhere. */
export function isOwn(node: GraphNode): boolean {
  return node.shape !== "ghost";
}

export function ownIds(): ElementId[] {
  return current.graph.nodes.filter(isOwn).map((node) => node.element);
}
