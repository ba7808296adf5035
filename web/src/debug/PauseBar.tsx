// Whether the network runs or why it is paused, and the way on.

import type { Hit } from "../api/types";
import { showClock } from "../model/units";
import { Icon } from "../shell/Icon";
import { mayChange, whyNot } from "../shell/may";
import { withKeys } from "../shell/shortcuts";
import { isPaused } from "../state/debugging";
import { useStore } from "../state/store";
import { SmallTable } from "./SmallTable";

const NO_HITS: readonly Hit[] = [];

export function PauseBar() {
  const stage = useStore((state) => state.debug?.stage ?? state.running?.stage);
  const hits = useStore((state) => state.debug?.hits) ?? NO_HITS;
  const paused = useStore(isPaused);
  return (
    <div className="pause-bar" data-hit={hits.length > 0 || undefined}>
      <div className="pause-bar-line">
        <div className="pause-bar-told grow" role={hits.length > 0 ? "alert" : "status"}>
          {hits.length > 0 ? (
            hits.map((hit, at) => <HitTold hit={hit} key={at} />)
          ) : (
            <span>{paused ? "Paused" : stage === "running" ? "Running" : "It does not run"}</span>
          )}
        </div>
        <Controls />
      </div>
      {hits[0] && <FirstTuple hit={hits[0]} />}
    </div>
  );
}

function HitTold({ hit }: { hit: Hit }) {
  const { selectArc } = useStore.getState();
  return (
    <p className="hit">
      <i aria-hidden="true" className="hit-dot" />
      <button className="quiet hit-arc" onClick={() => selectArc(hit.arc)} title="Show the arrow" type="button">
        {hit.arc}
      </button>
      <code>{hit.condition ?? "any tuple"}</code>
      <span className="visually-hidden">
        stopped {hit.count.toLocaleString()} {hit.count === 1 ? "tuple" : "tuples"}
      </span>
    </p>
  );
}

function FirstTuple({ hit }: { hit: Hit }) {
  const { showDebug } = useStore.getState();
  return (
    <div aria-label="The first tuple" className="hit-first" role="group" tabIndex={0}>
      <SmallTable arc={hit.arc} label={`Tuple that stopped at ${hit.arc}`} tuples={hit.tuples.slice(0, 1)} />
      <span className="hit-at">at {showClock(hit.at_us / 1e6)}</span>
      {hit.count > 1 && (
        <button className="quiet" onClick={() => showDebug("step")} type="button">
          {(hit.count - 1).toLocaleString()} more
        </button>
      )}
    </div>
  );
}

function Controls() {
  const paused = useStore(isPaused);
  const isUp = useStore((state) => state.running?.stage === "running" || state.running?.stage === "paused");
  const isStepping = useStore((state) => state.isStepping);
  const may = useStore(mayChange);
  const reason = useStore(whyNot);
  const { goOn, stepOnce, act, say } = useStore.getState();
  if (!isUp) return null;
  if (!paused) {
    const pause = () => act("pause").catch((error: Error) => say("bad", error.message));
    return (
      <button disabled={!may} onClick={() => void pause()} title={reason || "Let nothing run, to step through it"} type="button">
        <Icon name="pause" /> Pause
      </button>
    );
  }
  return (
    <div aria-label="Way on" className="row" role="group">
      <button className="primary" disabled={!may} onClick={() => void goOn()} title={reason || withKeys("Go on", "F8")} type="button">
        <Icon name="play" /> Go on
      </button>
      <button disabled={!may || isStepping} onClick={() => void stepOnce("train")} title={reason || withKeys("All that waits before the next boxes", "F10")} type="button">
        Step train
      </button>
      <button disabled={!may || isStepping} onClick={() => void stepOnce("tuple")} title={reason || withKeys("One tuple of one box", "F11")} type="button">
        Step tuple
      </button>
      <StepBox />
    </div>
  );
}

/** Which box steps are of. */
function StepBox() {
  const box = useStore((state) => state.stepBox);
  const boxes = useStore((state) => state.running?.network.boxes);
  const isSpark = useStore((state) => state.running?.processor === "spark");
  const stats = useStore((state) => state.stats);
  const { chooseStepBox } = useStore.getState();
  if (isSpark) return <span className="muted" title="On Spark a step is of the whole network">all boxes at once</span>;
  return (
    <select aria-label="Box to step" className="step-box" title="Which box runs: the one that the scheduler chooses, or another" onChange={(event) => chooseStepBox(event.target.value || null)} value={box ?? ""}>
      <option value="">next box</option>
      {Object.keys(boxes ?? {}).map((name) => {
        const waiting = stats?.boxes[name]?.queue_tuples ?? 0;
        return (
          <option key={name} value={name}>
            {waiting > 0 ? `${name} (${waiting.toLocaleString()} wait)` : name}
          </option>
        );
      })}
    </select>
  );
}
