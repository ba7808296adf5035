// What the tour shows: where each thing is on the page, and what there is to say about it.

import { bringIntoSight, fit } from "../canvas/flow";
import type { Side } from "../model/beside";
import { elementId, type NetworkDocument } from "../model/document";
import { homeOf } from "../model/scopes";
import { type State, useStore } from "../state/store";

export interface TourStep {
  title: string;
  text: string;
  /** Where it is just now; null if it cannot be seen. */
  find: () => Element | null;
  /** Brings it into sight. */
  prepare: () => void;
  /** Where the text stands if it can; else to the right. */
  side?: Side;
  /** The rest of the page is not in the dark: there is something to watch on it. */
  bright?: boolean;
}

/** The steps that make sense for what is open: a network without an output, say, has none to show. */
export function tourSteps({ drawing, running }: State): TourStep[] {
  const { document } = drawing;
  return [
    DRAWING,
    ...arrow(document),
    ...output(document),
    ...tuples(document, Object.keys(running?.arcs ?? {})),
    ...slider(running?.network ?? document),
    ...superbox(document),
    SEARCH,
    DEPLOY,
  ];
}

const toTheTop = () => useStore.getState().goTo([]);

function toTheStreams(drawn: NetworkDocument): void {
  const [stream] = Object.keys(drawn.streams ?? {});
  toTheTop();
  if (stream !== undefined) requestAnimationFrame(() => bringIntoSight(elementId("streams", stream)));
}

const DRAWING: TourStep = {
  title: "The network",
  text: "Tuples flow from left to right: from streams through boxes to outputs. Drag to move around, scroll to zoom; F shows all of it.",
  find: () => document.querySelector(".canvas"),
  prepare: () => {
    toTheTop();
    requestAnimationFrame(() => fit());
  },
};

function arrow(drawn: NetworkDocument): TourStep[] {
  const [stream] = Object.keys(drawn.streams ?? {});
  if (stream === undefined) return [];
  return [
    {
      title: "What flows",
      text: "Every arrow tells how many tuples pass each second. It gets warmer when they wait, and a funnel on it means that some are dropped.",
      find: () => document.querySelector(`[data-testid="arc-watch-${CSS.escape(stream)}"]`) ?? node("streams", stream),
      prepare: () => toTheStreams(drawn),
    },
  ];
}

function output(drawn: NetworkDocument): TourStep[] {
  const found = Object.entries(drawn.outputs ?? {}).findLast(([, one]) => one.qos !== undefined);
  if (found === undefined) return [];
  const [name] = found;
  return [
    {
      title: "What it is worth",
      text: "Graphs say how late an output may come, and how much of it may be missing. The ring shows what is left of its worth just now. At the side you can drag the graphs.",
      find: () => node("outputs", name),
      prepare: () => show("outputs", name),
      // To the right of it are the graphs.
      side: "left",
    },
  ];
}

/** Where a demonstration has something to see; else what an output gets. */
const WORTH_A_LOOK = "alarms_reuters";

function tuples(drawn: NetworkDocument, arcs: readonly string[]): TourStep[] {
  const first = Object.values(drawn.outputs ?? {})[0]?.from;
  const arc = arcs.includes(WORTH_A_LOOK) ? WORTH_A_LOOK : first;
  if (arc === undefined || !arcs.includes(arc)) return [];
  return [
    {
      title: arc === WORTH_A_LOOK ? "The alarms" : "The tuples themselves",
      text: `Any arrow can be tapped: here is ${arc}, tuple by tuple as they come. Break-points and single steps are here too.`,
      find: () => document.querySelector(".lower"),
      prepare: () => useStore.getState().tap(arc),
    },
  ];
}

function slider(drawn: NetworkDocument): TourStep[] {
  if (!Object.values(drawn.sources ?? {}).some(({ kind }) => kind === "generator")) return [];
  return [
    {
      title: "Too much",
      text: "Pull the rate up until the machine cannot follow. Tuples are then dropped where the graphs say that it hurts least, and nowhere else. Pull it back, and all of them come again.",
      find: () => document.querySelector(".rate-slider"),
      prepare: () => {
        useStore.getState().showLower("overview");
        toTheStreams(drawn);
      },
      bright: true,
    },
  ];
}

function superbox(drawn: NetworkDocument): TourStep[] {
  const name = Object.keys(drawn.superboxes ?? {}).find((one) => homeOf(drawn, elementId("superboxes", one)).length === 0);
  if (name === undefined) return [];
  return [
    {
      title: "A box of boxes",
      text: "A superbox hides a part of the network. Double-click it, or press Enter, to go inside; Esc leads out again.",
      find: () => node("superboxes", name),
      prepare: () => show("superboxes", name),
    },
  ];
}

const SEARCH: TourStep = {
  title: "Find anything",
  text: "Boxes, streams and outputs of all networks, by name, kind, tag or what is written about them.",
  find: () => document.querySelector(".bar-search"),
  prepare: () => undefined,
};

const DEPLOY: TourStep = {
  title: "Change it while it runs",
  text: "Draw from the palette at the left, change a condition, move an arrow. Nothing happens until you deploy; then the network changes without stopping, and no tuple is lost.",
  find: () => document.querySelector(".bar-deploy"),
  prepare: () => undefined,
};

function node(section: "streams" | "outputs" | "superboxes", name: string): Element | null {
  return document.querySelector(`.react-flow__node[data-id="${CSS.escape(elementId(section, name))}"]`);
}

function show(section: "outputs" | "superboxes", name: string): void {
  const { drawing, goTo, select, showSide } = useStore.getState();
  const id = elementId(section, name);
  goTo(homeOf(drawing.document, id));
  select([id]);
  showSide("element");
  requestAnimationFrame(() => bringIntoSight(id));
}
