// The layout engine. It is large, so it is fetched when it is first needed, and it works beside the page.

import type { ELK } from "elkjs/lib/elk-api";
import type { Graph } from "../model/graph";
import { layoutInput, layoutPlaces, type Places } from "../model/layout";
import { quickLayout } from "../model/layoutQuick";

let engine: Promise<ELK> | null = null;

async function load(): Promise<ELK> {
  const [{ default: Engine }, { default: url }] = await Promise.all([
    import("elkjs/lib/elk-api"),
    import("elkjs/lib/elk-worker.min.js?url"),
  ]);
  return new Engine({ workerUrl: url, workerFactory: (script) => new Worker(script ?? url) });
}

let last: Promise<unknown> = Promise.resolve();

/**
 * One after the other. Who has been overtaken while waiting for the one before is not begun; null then. What takes too
 * long is given up, and a layout that is less good taken.
 */
export async function layOut(graph: Graph, isOvertaken: () => boolean = () => false): Promise<Places | null> {
  const before = last;
  const mine = before.then(() => (isOvertaken() ? null : run(graph)));
  last = mine.catch(() => undefined);
  return mine;
}

const PATIENCE_MS = 12_000;

async function run(graph: Graph): Promise<Places> {
  engine ??= load();
  let elk: ELK | null = null;
  try {
    elk = await engine;
    const laid = await Promise.race([elk.layout(layoutInput(graph)), patience()]);
    return layoutPlaces(graph, laid);
  } catch {
    // The next one has it fetched anew; what it was at ends with it.
    elk?.terminateWorker();
    engine = null;
    return quickLayout(graph);
  }
}

function patience(): Promise<never> {
  return new Promise((_, reject) => {
    window.setTimeout(() => reject(new Error("it takes too long")), PATIENCE_MS);
  });
}
