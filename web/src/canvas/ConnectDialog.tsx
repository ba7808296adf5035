// Connecting without a mouse: which port, and where to.

import { useMemo, useState } from "react";
import { Sign } from "../editor/Sign";
import { targets } from "../model/connecting";
import type { GraphNode, OutPort } from "../model/graph";
import { useStore } from "../state/store";
import { tryToConnect } from "./attempt";
import { focusNode } from "./flow";
import { Picker } from "./Picker";
import { scene } from "./scene";

export function ConnectDialog({ from, onClose }: { from: GraphNode; onClose: () => void }) {
  const [port, setPort] = useState<OutPort | null>(from.outputs.length === 1 ? (from.outputs[0] ?? null) : null);
  const document = useStore((state) => state.drawing.document);
  const found = useMemo(() => {
    const { graph, kinds } = scene();
    return port ? targets(graph, document, kinds, from, port) : [];
  }, [document, from, port]);
  if (!port) {
    return (
      <Picker
        choices={from.outputs.map((one) => ({ key: one.handle, label: one.label, detail: one.arc }))}
        key="port"
        onChoose={(handle) => setPort(from.outputs.find((one) => one.handle === handle) ?? null)}
        onClose={onClose}
        placeholder="Which port?"
        title={`Connect ${from.title} from`}
      />
    );
  }
  const choices = found.map(({ node, port: to, refused }) => ({
    key: `${node.id} ${to.handle}`,
    label: to.label === "" ? node.title : `${node.title}, ${to.label}`,
    detail: node.caption,
    icon: <Sign family={node.family} />,
    refused,
  }));
  return (
    <Picker
      choices={choices}
      key="target"
      onChoose={(key) => {
        const target = found.find(({ node, port: to }) => `${node.id} ${to.handle}` === key);
        onClose();
        focusNode(from.id);
        if (target) void tryToConnect({ from, out: port, to: target.node, in: target.port });
      }}
      onClose={onClose}
      placeholder="Where to?"
      title={`Connect ${port.arc || from.title} to`}
    />
  );
}
