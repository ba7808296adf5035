// Before something runs: what differs from what runs now, what that means for it, and why it is done.

import { useEffect, useMemo, useState } from "react";
import { api, RefusedError } from "../api/client";
import type { Modified, Problem } from "../api/types";
import { type Change, diff, equal } from "../model/diff";
import { useStore } from "../state/store";
import { ChangeList } from "./ChangeList";
import { Dialog } from "./Dialog";
import { Icon } from "./Icon";
import { ProblemList } from "./ProblemList";
import "./DeployDialog.css";

export function DeployDialog({ onClose }: { onClose: () => void }) {
  const document = useStore((state) => state.drawing.document);
  const runs = useStore((state) => (state.running?.name === document.network ? state.running.network : null));
  const base = useStore((state) => state.base);
  const checked = useStore((state) => state.checked);
  const { deploy, say } = useStore.getState();
  const changes = useMemo(() => diff(runs, document), [runs, document]);
  const [why, setWhy] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<RefusedError | null>(null);
  const errors = checked?.problems.filter((problem) => problem.severity === "error") ?? [];
  const foreseen = useForeseen(errors.length === 0, setRefusal);

  const problems: readonly Problem[] = errors.length > 0 ? errors : (refusal?.problems ?? []);
  const theirs = useMemo(() => (runs && base && !equal(runs, base) ? diff(base, runs) : []), [runs, base]);

  const go = async () => {
    setBusy(true);
    setRefusal(null);
    try {
      const modified = await deploy(why.trim());
      onClose();
      say("good", deployed(document.network, changes.length, modified));
    } catch (error) {
      setRefusal(error instanceof RefusedError ? error : new RefusedError(0, String(error)));
      setBusy(false);
    }
  };

  return (
    <Dialog
      footer={
        <>
          <input
            aria-label="Reason, optional"
            className="grow"
            maxLength={500}
            onChange={(event) => setWhy(event.target.value)}
            placeholder="Why? (optional, kept with the version)"
            value={why}
          />
          <button onClick={onClose} type="button">
            Cancel
          </button>
          <button className="primary" data-first disabled={isBusy || errors.length > 0 || changes.length === 0} type="submit">
            <Icon name="deploy" /> {isBusy ? "Deploying …" : "Deploy"}
          </button>
        </>
      }
      onClose={onClose}
      onSubmit={() => void go()}
      title={runs ? `Deploy changes to ${document.network}` : `Deploy ${document.network} as a new network`}
      wide
    >
      <div aria-live="polite" className="deploy-refused">
        {problems.length > 0 && (
          <section aria-label="Problems" className="deploy-box deploy-bad">
            <p className="deploy-said">
              <strong>{errors.length > 0 ? "This cannot run yet." : "The server refuses."}</strong> Follow a problem to its
              element.
            </p>
            <ProblemList onFollow={onClose} problems={problems} />
          </section>
        )}
        {refusal && refusal.problems.length === 0 && (
          <p className="deploy-box deploy-bad deploy-said">
            <strong>The server refuses.</strong> {refusal.message}
          </p>
        )}
      </div>
      {theirs.length > 0 && (
        <section aria-label="Changes by others" className="deploy-box deploy-warn">
          <p className="deploy-said">
            <strong>Somebody else changed this network since you began.</strong> Deploying puts your drawing in the place of
            theirs. They changed:
          </p>
          <ChangeList changes={theirs} />
        </section>
      )}
      <Counts changes={changes} />
      <ChangeList changes={changes} />
      {foreseen && problems.length === 0 && <Foreseen foreseen={foreseen} />}
    </Dialog>
  );
}

/** Asks the server what would happen, once for each drawing that could run. */
function useForeseen(isValid: boolean, refused: (error: RefusedError | null) => void): Modified | null {
  const document = useStore((state) => state.drawing.document);
  const network = useStore((state) => (state.running?.name === document.network ? state.network : null));
  const [foreseen, setForeseen] = useState<Modified | null>(null);
  useEffect(() => {
    let isWanted = true;
    setForeseen(null);
    refused(null);
    if (network === null || !isValid) return;
    api.foresee(network, document).then(
      (found) => isWanted && setForeseen(found),
      (error: unknown) => isWanted && error instanceof RefusedError && error.status === 422 && refused(error),
    );
    return () => {
      isWanted = false;
    };
  }, [document, network, isValid, refused]);
  return foreseen;
}

function Counts({ changes }: { changes: readonly Change[] }) {
  const counts = (["added", "changed", "renamed", "removed"] as const)
    .map((kind) => ({ kind, count: changes.filter((change) => change.kind === kind).length }))
    .filter(({ count }) => count > 0);
  return (
    <p className="deploy-counts">
      {counts.map(({ kind, count }) => (
        <span className={`change-chip change-${kind}`} key={kind}>
          {count} {kind}
        </span>
      ))}
    </p>
  );
}

function Foreseen({ foreseen }: { foreseen: Modified }) {
  const { applied, boxes, restarted = [], drained = [], held = [] } = foreseen;
  if (applied) return <p className="muted">The network does not run; the change counts from its next start.</p>;
  const anew = [...(boxes?.changed ?? []), ...restarted];
  const goOn = (boxes?.kept.length ?? 0) - restarted.length;
  const rows: [string, string, string][] = [
    ["Start anew", anew.join(", "), "They begin with empty windows."],
    ["Drained first", drained.join(", "), "They take what waits for them before the change."],
    ["Held meanwhile", held.join(", "), "Tuples of these streams wait, none is lost."],
    ["Go on", goOn > 0 ? `${goOn} ${goOn === 1 ? "box" : "boxes"}` : "", "They keep their state."],
  ];
  return (
    <section aria-label="What happens" className="deploy-box">
      <dl className="deploy-what">
        {rows
          .filter(([, names]) => names !== "")
          .map(([title, names, said]) => (
            <div className="deploy-row" key={title}>
              <dt>{title}</dt>
              <dd>
                {names} <span className="muted">{said}</span>
              </dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

function deployed(name: string, changes: number, modified: Modified | null): string {
  if (modified === null) return `${name} runs`;
  const count = changes === 1 ? "1 change" : `${changes} changes`;
  if (modified.applied) return `${name}: ${count} kept for the next start`;
  const took = (modified.drain_s ?? 0) + (modified.swap_s ?? 0);
  return `${name}: ${count} deployed in ${took < 1 ? `${Math.ceil(took * 1000)} ms` : `${took.toFixed(1)} s`}`;
}
