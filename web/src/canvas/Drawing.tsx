// Nodes and arrows on a plane that can be moved and enlarged, and everything one does to them with a mouse.

import {
  Background,
  BackgroundVariant,
  type Connection,
  type FinalConnectionState,
  type NodeChange,
  ReactFlow,
  SelectionMode,
  useReactFlow,
  useStoreApi,
  ViewportPortal,
} from "@xyflow/react";
import {
  type DragEvent,
  type MouseEvent as ReactMouseEvent,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Moves } from "../model/arrange";
import { wantedOf } from "../model/connecting";
import type { ElementId } from "../model/document";
import { isMember, move } from "../model/edits";
import { GRID } from "../model/geometry";
import type { GraphEdge, GraphNode } from "../model/graph";
import { useStore } from "../state/store";
import { ArcEdge, ArrowHeads, type FlowEdge, LabelLayer } from "./ArcEdge";
import { endAttempt, isPossible, tryToConnect, useAttempt } from "./attempt";
import { Breadcrumb } from "./Breadcrumb";
import type { Asking } from "./Canvas";
import { ConnectionHint } from "./ConnectionHint";
import { useClipboard } from "./copying";
import { DetailContext, useDetailOfZoom } from "./detail";
import { ElementNode, type FlowNode } from "./ElementNode";
import { bringIntoSight, LEAST_ZOOM, MOST_ZOOM, setFlow } from "./flow";
import { EdgeCache, NodeCache, type Shown } from "./flowElements";
import { putInto } from "./grouping";
import { useKeptLayout } from "./keptLayout";
import { useKnowsKinds } from "./kinds";
import { useCanvasKeys } from "./keys";
import { MiniMap } from "./MiniMap";
import { inDrawing, OFFERED_TYPE, place, readOffered } from "./placing";
import { type ProblemsById, problemsById, problemsOf } from "./problems";
import { RemoteArcs } from "./RemoteArcs";
import { MANY_NODES, nodeAt, RemoteNodes } from "./RemoteNodes";
import { isOwn, scene as currentScene, type Scene, standingNodes, useScene } from "./scene";
import { theNode } from "./selecting";
import { layOutAll, useSettling } from "./settling";
import { Tools, Zoom } from "./Tools";
import { keepView, noteSelectedHere, openNode, useTravelling } from "./travelling";

const NODE_TYPES = { element: ElementNode };
const EDGE_TYPES = { arc: ArcEdge };
const SNAP: [number, number] = [GRID, GRID];
const MULTI = ["Shift", "Control", "Meta"];

const noop = () => undefined;

/** React Flow promises an event of React's here, and gives the browser's. */
function nativeOf(event: ReactMouseEvent | MouseEvent): MouseEvent {
  return "nativeEvent" in event ? event.nativeEvent : event;
}

export function Drawing({ onAsk }: { onAsk: (asking: Asking) => void }) {
  const [moving, setMoving] = useState<Moves | null>(null);
  const [target, setTarget] = useState<string | null>(null);
  const scene = useScene(moving);
  const knowsKinds = useKnowsKinds();
  const isLoaded = useKeptLayout() && knowsKinds;
  const isWaiting = useSettling(scene, isLoaded);
  const isReady = isLoaded && !isWaiting;
  const detail = useDetailOfZoom();
  const isSnapping = useStore((state) => state.isSnapping);
  const hasMap = useStore((state) => state.hasMap);
  const isPainted = detail === "remote" && scene.graph.nodes.length > MANY_NODES;
  const nodes = useFlowNodes(scene, { isShown: isReady && !isPainted, target, hasPorts: detail !== "remote" });
  const edges = useFlowEdges(scene, isReady && detail !== "remote");
  const pane = useRef<HTMLDivElement>(null);
  const instance = useReactFlow<FlowNode, FlowEdge>();
  const store = useStoreApi();
  const [labels, setLabels] = useState<HTMLElement | null>(null);
  const reconnecting = useRef<GraphEdge | undefined>(undefined);

  useEffect(() => {
    const size = () => store.getState();
    setFlow(instance, pane.current, size);
    return () => setFlow(null, null, size);
  }, [instance, store]);
  useTravelling(isReady);
  useClipboard();

  const layOut = useCallback(() => {
    useStore.getState().announce("Laying out");
    void layOutAll(setMoving);
  }, []);
  useCanvasKeys({
    connect: () => {
      const from = theNode();
      if (from && from.outputs.length > 0) onAsk({ what: "connect", from });
      else useStore.getState().say("plain", "Select an element first that has an output.");
    },
    add: () => onAsk({ what: "add" }),
    moveInto: () => onAsk({ what: "into" }),
    layOut,
  });

  const nodesChanged = useCallback((changes: NodeChange<FlowNode>[]) => {
    const positions = changes.flatMap((change) =>
      change.type === "position" && change.position ? [[change.id, change.position] as const] : [],
    );
    if (positions.length > 0) setMoving((before) => ({ ...before, ...Object.fromEntries(positions) }));
    const selects = changes.filter((change) => change.type === "select");
    if (selects.length === 0) return;
    const { selection, select, arc, arrow } = useStore.getState();
    const after = new Set<string>(selection);
    for (const { id, selected } of selects) {
      if (selected) after.add(id);
      else after.delete(id);
    }
    if (after.size === 0 && selection.length === 0 && (arc !== null || arrow !== null)) return;
    noteSelectedHere([...after]);
    select([...after] as ElementId[]);
  }, []);

  const dragged = useCallback((event: MouseEvent | TouchEvent, dragging: readonly FlowNode[]) => {
    setTarget(superboxUnder(event, dragging.map((node) => node.id)));
  }, []);

  const dropped = useCallback((event: MouseEvent | TouchEvent, dragging: readonly FlowNode[]) => {
    const ids = dragging.map((node) => node.id as ElementId);
    const into = superboxUnder(event, ids);
    if (into) putInto(ids, into.slice("superboxes/".length));
    else {
      const moves = Object.fromEntries(dragging.map(({ id, position }) => [id, position]));
      const label = ids.length === 1 ? `Move ${(ids[0] ?? "").replace(/^.*\//, "")}` : `Move ${ids.length} elements`;
      useStore.getState().edit(label, (drawing) => move(drawing, moves as Record<ElementId, { x: number; y: number }>));
    }
    setMoving(null);
    setTarget(null);
  }, []);

  const isValid = useCallback((ends: Connection | FlowEdge) => {
    const wanted = wantedOf(currentScene().graph, {
      ...ends,
      sourceHandle: ends.sourceHandle ?? null,
      targetHandle: ends.targetHandle ?? null,
    });
    return wanted !== null && isPossible(wanted, reconnecting.current);
  }, []);

  const connected = useCallback((ends: Connection) => {
    const wanted = wantedOf(currentScene().graph, ends);
    if (wanted) void tryToConnect(wanted, reconnecting.current);
  }, []);

  const connectionEnded = useCallback(
    (event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
      const { refused } = useAttempt.getState();
      if (state.toHandle && state.isValid === false && refused) {
        useStore.getState().say("plain", `Not connected: ${refused}`);
      }
      const onNothing = event.target instanceof Element && event.target.closest(".react-flow__pane") !== null;
      const { fromHandle, fromNode } = state;
      const isNew = !state.toHandle && !reconnecting.current && fromHandle?.type === "source";
      if (isNew && onNothing && fromNode && "clientX" in event) {
        const at = inDrawing(event);
        const from = { source: fromNode.id, sourceHandle: fromHandle.id ?? "" };
        onAsk({ what: "add", from, ...(at && { at: { x: at.x + 104, y: at.y } }) });
      }
      endAttempt();
    },
    [onAsk],
  );

  const droppedFromPalette = useCallback((event: DragEvent) => {
    const offered = readOffered(event.dataTransfer);
    if (!offered) return;
    event.preventDefault();
    const under = document.elementsFromPoint(event.clientX, event.clientY);
    const arrow = under.map((one) => one.closest<SVGElement>(".react-flow__edge")).find((found) => found !== null);
    place(offered, inDrawing(event), arrow?.dataset.id);
  }, []);

  return (
    <DetailContext value={detail}>
      <LabelLayer value={labels}>
        <div className={`drawing drawing-${detail}`} ref={pane}>
          <ReactFlow<FlowNode, FlowEdge>
            connectionRadius={28}
            deleteKeyCode={null}
            disableKeyboardA11y
            edgeTypes={EDGE_TYPES}
            edges={edges}
            edgesFocusable={false}
            elevateNodesOnSelect
            isValidConnection={isValid}
            maxZoom={MOST_ZOOM}
            minZoom={LEAST_ZOOM}
            multiSelectionKeyCode={MULTI}
            nodeDragThreshold={2}
            nodeTypes={NODE_TYPES}
            nodes={nodes}
            // Where nodes are specks, one wants to move the view.
            nodesDraggable={detail !== "remote"}
            onConnect={connected}
            onConnectEnd={connectionEnded}
            onDragOver={(event) => {
              if (!event.dataTransfer.types.includes(OFFERED_TYPE)) return;
              event.preventDefault();
              event.dataTransfer.dropEffect = "copy";
            }}
            onDrop={droppedFromPalette}
            onEdgeClick={(_, edge) => useStore.getState().selectArrow(edge.id, edge.data?.edge.arc ?? null)}
            onMoveEnd={(_, view) => keepView(view)}
            // Ghosts cannot be selected or dragged, but take clicks all the same.
            onNodeClick={noop}
            onNodeDoubleClick={(_, node) => void openNode(node.data.node)}
            onNodeDrag={(event, _, dragging) => dragged(event, dragging)}
            onNodeDragStop={(event, _, dragging) => dropped(event, dragging)}
            onNodesChange={nodesChanged}
            onDoubleClick={(event) => {
              const found = isPainted ? paintedAt(event) : undefined;
              if (found && !openNode(found)) bringIntoSight(found.id);
            }}
            onPaneClick={(event) => {
              const found = isPainted ? paintedAt(event) : undefined;
              if (found) noteSelectedHere([found.id]);
              useStore.getState().select(found && isOwn(found) ? [found.element] : []);
            }}
            onReconnect={(_, ends) => connected(ends)}
            onReconnectEnd={() => {
              reconnecting.current = undefined;
            }}
            onReconnectStart={(_, edge) => {
              reconnecting.current = edge.data?.edge;
            }}
            onSelectionDrag={(event, dragging) => dragged(nativeOf(event), dragging)}
            onSelectionDragStop={(event, dragging) => dropped(nativeOf(event), dragging)}
            onlyRenderVisibleElements
            reconnectRadius={12}
            selectionKeyCode="Shift"
            selectionMode={SelectionMode.Partial}
            snapGrid={SNAP}
            snapToGrid={isSnapping}
            zoomOnDoubleClick={false}
          >
            <Background gap={3 * GRID} size={1.2} variant={BackgroundVariant.Dots} />
            <ViewportPortal>
              <div className="arc-labels" ref={setLabels} />
              {isReady && detail === "remote" && <RemoteArcs scene={scene} />}
              {isReady && isPainted && <RemoteNodes scene={scene} />}
            </ViewportPortal>
          </ReactFlow>
          <ArrowHeads />
          <ConnectionHint />
          <Breadcrumb />
          <Tools onLayOut={layOut} />
          <Zoom />
          {hasMap && scene.graph.nodes.length > 0 && <MiniMap scene={scene} />}
          {!isReady && scene.graph.nodes.length > 0 && (
            <p className="drawing-waiting" role="status">
              Laying out …
            </p>
          )}
          {isReady && scene.graph.nodes.length === 0 && <Empty />}
        </div>
      </LabelLayer>
    </DetailContext>
  );
}

function Empty() {
  return (
    <div className="drawing-empty">
      <p>Nothing is drawn yet.</p>
      <p className="muted">
        Drag elements here from the palette, or press <kbd>N</kbd>. Connect them by dragging from port to port, or
        with <kbd>C</kbd>.
      </p>
    </div>
  );
}

interface Looks {
  isShown: boolean;
  /** The superbox that something would be dropped into. */
  target: string | null;
  hasPorts: boolean;
}

function useFlowNodes({ graph, places }: Scene, { isShown, target, hasPorts }: Looks): FlowNode[] {
  const selection = useStore((state) => state.selection);
  const checked = useStore((state) => state.checked);
  const document = useStore((state) => state.drawing.document);
  const cache = useRef(new NodeCache());
  const known = useRef<ProblemsById>(new Map());
  const problems = useMemo(() => {
    const byId = problemsById(checked, known.current);
    known.current = byId;
    return new Map(graph.nodes.map((node) => [node.id, problemsOf(node, byId, document)]));
  }, [graph, checked, document]);
  return useMemo(() => {
    const chosen = new Set<string>(selection);
    const shown = graph.nodes.flatMap((node): Shown[] => {
      const at = places.get(node.id);
      if (!at || !isShown) return [];
      const isTarget = node.id === target;
      const selected = chosen.has(node.id);
      return [{ node, ...at, selected, problems: problems.get(node.id) ?? [], isTarget, hasPorts }];
    });
    return cache.current.nodes(shown);
  }, [graph, places, isShown, target, hasPorts, selection, problems]);
}

function useFlowEdges({ graph }: Scene, isShown: boolean): FlowEdge[] {
  const arc = useStore((state) => state.arc);
  const arrow = useStore((state) => state.arrow);
  const cache = useRef(new EdgeCache());
  return useMemo(() => {
    const all = isShown ? graph.edges : [];
    return cache.current.edges(
      all.map((edge) => {
        const chosen = edge.id === arrow ? "arrow" : arc !== null && edge.arc === arc ? "arc" : "no";
        return { edge, chosen } as const;
      }),
    );
  }, [graph, isShown, arc, arrow]);
}

/** The node under the pointer where nodes are only painted. */
function paintedAt(event: ReactMouseEvent): GraphNode | undefined {
  const at = inDrawing(event);
  return at && nodeAt(currentScene(), at);
}

/** The superbox under the pointer that what is dragged could go into. */
function superboxUnder(event: MouseEvent | TouchEvent, ids: readonly string[]): string | null {
  const point = "clientX" in event ? event : event.changedTouches[0];
  const at = point && inDrawing(point);
  if (!at || !ids.some((id) => isMember(id as ElementId))) return null;
  const { graph } = currentScene();
  const superboxes = graph.nodes.filter((node) => node.shape === "superbox" && !ids.includes(node.id));
  const under = standingNodes(superboxes.map((node) => node.id)).find(
    (rect) => at.x > rect.x && at.y > rect.y && at.x < rect.x + rect.width && at.y < rect.y + rect.height,
  );
  return under?.id ?? null;
}
