// Adding by typing what is wanted; at the end of an arrow that was dropped on nothing, it is connected at once.

import { useMemo } from "react";
import { Sign } from "../editor/Sign";
import { startOf } from "../model/forms";
import type { Position } from "../state/draft";
import { useStore } from "../state/store";
import { wantedOf } from "../model/connecting";
import { makeGraph } from "../model/graph";
import { tryToConnect } from "./attempt";
import { Picker } from "./Picker";
import { place } from "./placing";
import { scene } from "./scene";

export interface Adding {
  at?: Position;
  /** The port that the new element is to be connected with. */
  from?: { source: string; sourceHandle: string };
}

export function AddDialog({ at, from, onClose }: Adding & { onClose: () => void }) {
  const palette = useStore((state) => state.palette);
  const kinds = useMemo(
    () =>
      (palette?.kinds ?? []).filter(
        ({ section }) => section !== "superboxes" && (!from || fits(section, from.source)),
      ),
    [palette, from],
  );
  const keyOf = (kind: (typeof kinds)[number]) => `${kind.section} ${kind.kind ?? kind.title}`;
  return (
    <Picker
      choices={kinds.map((kind) => ({
        key: keyOf(kind),
        label: kind.title,
        detail: kind.summary,
        icon: <Sign family={kind.family} />,
      }))}
      onChoose={(key) => {
        const kind = kinds.find((one) => keyOf(one) === key);
        onClose();
        if (!kind) return;
        const id = place({ section: kind.section, kind: kind.kind, element: startOf(kind) }, at);
        if (id && from) void connectWith(id, from);
      }}
      onClose={onClose}
      placeholder="What kind?"
      title={from ? "Add and connect" : "Add"}
    />
  );
}

/** What can stand at the end of an arrow. */
function fits(section: string, source: string): boolean {
  if (source.startsWith("sources/")) return section === "streams";
  if (source.startsWith("outputs/")) return section === "sinks";
  return section === "boxes" || section === "outputs" || section === "connection_points";
}

async function connectWith(id: string, from: { source: string; sourceHandle: string }): Promise<void> {
  const { drawing, scope } = useStore.getState();
  const graph = makeGraph({ document: drawing.document, scope, kinds: scene().kinds });
  const port = graph.byId.get(id)?.inputs[0];
  const wanted = port && wantedOf(graph, { ...from, target: id, targetHandle: port.handle });
  if (wanted) await tryToConnect(wanted);
}
