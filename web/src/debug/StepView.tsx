// What the last step did: which boxes ran, what went in, and what came out.

import type { BoxStep, Hit, Seen, StepTaken } from "../api/types";
import { elementId } from "../model/document";
import { shown, shownAs } from "../model/tuples";
import { showTime } from "../model/units";
import { Icon } from "../shell/Icon";
import { reveal } from "../shell/reveal";
import { useStore } from "../state/store";
import { SmallTable, useColumns } from "./SmallTable";

const NO_HITS: readonly Hit[] = [];

export function StepView() {
  const step = useStore((state) => state.debug?.step ?? null);
  const hits = useStore((state) => state.debug?.hits) ?? NO_HITS;
  if (step === null && hits.length === 0) {
    return <p className="empty">Pause the network and step through it: every box shows here what it took and what it made.</p>;
  }
  return (
    <div className="step">
      {hits.map((hit, at) => (
        <section aria-label={`Stopped at ${hit.arc}`} className="step-hit" key={at}>
          <p className="box-ran-arc">
            {hit.arc} <code>{hit.condition ?? "any tuple"}</code>
          </p>
          <SmallTable arc={hit.arc} count={hit.count} label={`Tuples that stopped at ${hit.arc}`} tuples={hit.tuples} />
        </section>
      ))}
      {step !== null && <Done step={step} />}
    </div>
  );
}

function Done({ step }: { step: StepTaken }) {
  return (
    <>
      {step.whole && (
        <p className="muted">
          <Icon name="info" /> On Spark a step is of the whole network.
        </p>
      )}
      {step.entered.length > 0 && (
        <p className="step-entered">
          <Icon name="into" />
          {step.entered.map((seen) => `${seen.tuples.toLocaleString()} from ${seen.arc}`).join(", ")} came in
        </p>
      )}
      {step.boxes.map((box, at) => (
        <BoxRan key={at} ran={box} />
      ))}
      {!step.worked && step.boxes.length === 0 && <p className="muted">Nothing waited; time passed.</p>}
    </>
  );
}

function BoxRan({ ran }: { ran: BoxStep }) {
  const kept = Object.entries(ran.state ?? {}).filter(([, { before, after }]) => before > 0 || after > 0);
  return (
    <section aria-label={`Box ${ran.box}`} className="box-ran">
      <Side label="in" seen={ran.taken} />
      <div className="box-ran-middle">
        <Icon name="arrow" />
        <button className="box-ran-name" onClick={() => reveal(elementId("boxes", ran.box))} title="Show the box" type="button">
          {ran.box}
        </button>
        <span className="muted">{showTime(ran.cost_s).trim()}</span>
        {ran.late > 0 && <span className="warn">{ran.late.toLocaleString()} late</span>}
        {ran.rejected > 0 && <span className="bad">{ran.rejected.toLocaleString()} rejected</span>}
        {kept.map(([part, { before, after }]) => (
          <span className="box-ran-state" key={part} title="Rows of its state before and after">
            {part} {before === after ? after : `${before} → ${after}`}
          </span>
        ))}
      </div>
      <Side label="out" seen={ran.made} />
    </section>
  );
}

function Side({ label, seen }: { label: "in" | "out"; seen: readonly Seen[] }) {
  return (
    <div aria-label={label === "in" ? "What it took" : "What it made"} className="box-ran-side" role="group" tabIndex={0}>
      {seen.length === 0 && <p className="muted">{label === "in" ? "word of the time" : "nothing came out"}</p>}
      {seen.map((one) => (
        <div key={one.arc}>
          <p className="box-ran-arc">
            {one.arc}
            <span className="muted">
              {one.tuples.toLocaleString()} {one.tuples === 1 ? "tuple" : "tuples"}
            </span>
          </p>
          <FewTuples label={`${one.arc}, ${label}`} seen={one} />
        </div>
      ))}
    </div>
  );
}

/** One tuple is easier to read from top to bottom. */
function FewTuples({ label, seen }: { label: string; seen: Seen }) {
  const columns = useColumns(seen.arc);
  const [only, ...others] = seen.first;
  if (only === undefined || others.length > 0) {
    return <SmallTable arc={seen.arc} count={seen.tuples} label={label} tuples={seen.first} />;
  }
  return (
    <>
      <dl aria-label={label} className="one-tuple">
        {Object.entries(only).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className={value === null ? "is-null" : undefined}>{shownAs(shown(value), columns[name])}</dd>
          </div>
        ))}
      </dl>
      {seen.tuples > 1 && <p className="small-table-more">{(seen.tuples - 1).toLocaleString()} more</p>}
    </>
  );
}
