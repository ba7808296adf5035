// What numbers mean when they are not of now: the network is paused, stopped or has failed, or nothing has come yet.

import type { Stage as StageName } from "../api/types";
import { Icon } from "../shell/Icon";
import { useStore } from "../state/store";
import { useReading } from "./reading";
import "./Stage.css";

const SAID: Record<Exclude<StageName, "running" | "failed">, string> = {
  paused: "Paused. Tuples wait until the network goes on.",
  stopped: "Stopped. These are the last numbers of the run.",
};

export function StageNote() {
  const stage = useStore((state) => state.running?.stage ?? null);
  const why = useStore((state) => state.running?.why ?? "");
  const lost = useStore((state) => state.connection === "lost");
  const quiet = useReading(({ stats }) => stats !== null && Object.values(stats.inputs).every((input) => input.tuples === 0 && input.shed === 0));
  if (lost) return <Note icon="warning" text="The server does not answer. These are the last numbers it told." tone="warn" />;
  if (stage === "failed") return <Note icon="error" text={`Failed: ${why}`} tone="bad" />;
  if (stage === "paused" || stage === "stopped") return <Note icon={stage === "paused" ? "pause" : "stop"} text={SAID[stage]} tone="plain" />;
  if (stage === "running" && quiet) return <Note icon="info" text="Nothing has come in yet." tone="plain" />;
  return null;
}

function Note({ icon, text, tone }: { icon: "pause" | "stop" | "error" | "info" | "warning"; text: string; tone: string }) {
  return (
    <p className="stage-note" data-tone={tone} role="status">
      <Icon name={icon} />
      {text}
    </p>
  );
}
