// The break-points of the network, and a line to add one.

import { type FormEvent, type KeyboardEvent, useId, useState } from "react";
import { debugApi, RefusedError } from "../api/client";
import type { Breakpoint, Problem } from "../api/types";
import { type FieldIds, FormProvider, type FormState } from "../editor/form";
import { ExpressionField } from "../editor/fields/ExpressionField";
import { elementId } from "../model/document";
import { Icon } from "../shell/Icon";
import { mayChange, whyNot } from "../shell/may";
import { signOf } from "../state/debugging";
import { useStore } from "../state/store";
import { ArcChoice } from "./ArcChoice";
import { useColumns } from "./SmallTable";

const NO_BREAKPOINTS: readonly Breakpoint[] = [];

export function Breakpoints() {
  const found = useStore((state) => state.debug?.breakpoints) ?? NO_BREAKPOINTS;
  return (
    <section aria-label="Break-points" className="breakpoints">
      <h3>Break-points</h3>
      {found.length === 0 && <p className="muted breakpoints-none">The network pauses where a tuple fulfils a condition.</p>}
      <ul className="breakpoints-list">
        {found.map((one) => (
          <One key={one.number} known={one} />
        ))}
      </ul>
      <Adding />
    </section>
  );
}

function One({ known }: { known: Breakpoint }) {
  const network = useStore((state) => state.network);
  const isHit = useStore((state) => signOf(state.debug, known.arc) === "hit" && (state.debug?.hits ?? []).some((hit) => hit.breakpoint === known.number));
  const may = useStore(mayChange);
  const reason = useStore(whyNot);
  const { selectArc, say } = useStore.getState();
  if (network === null) return null;
  const told = known.condition === null ? `on ${known.arc}` : `on ${known.arc} where ${known.condition}`;
  const attempt = async (act: () => Promise<unknown>) => {
    try {
      await act();
    } catch (error) {
      say("bad", (error as Error).message);
    }
  };
  return (
    <li className="breakpoint" data-hit={isHit || undefined}>
      <input
        aria-label={`Break-point ${told}`}
        checked={known.enabled}
        disabled={!may}
        onChange={(event) => void attempt(() => debugApi.enable(network, known.number, event.target.checked))}
        title={reason || (known.enabled ? "Disable" : "Enable")}
        type="checkbox"
      />
      <button className="quiet breakpoint-arc" onClick={() => selectArc(known.arc)} title="Show the arrow" type="button">
        {known.arc}
      </button>
      <code className="breakpoint-condition" title={known.condition ?? "Any tuple"}>
        {known.condition ?? "any tuple"}
      </code>
      {known.hits > 0 && (
        <span className="breakpoint-hits" title={`Hit ${known.hits.toLocaleString()} times, by ${known.tuples.toLocaleString()} tuples`}>
          {known.hits.toLocaleString()}×
        </span>
      )}
      <button
        aria-label={`Remove the break-point ${told}`}
        className="quiet breakpoint-remove"
        disabled={!may}
        onClick={() => void attempt(() => debugApi.remove(network, known.number))}
        title={reason || "Remove"}
        type="button"
      >
        <Icon name="close" />
      </button>
      {known.fault !== "" && <p className="warn breakpoint-fault">{known.fault}</p>}
    </li>
  );
}

function Adding() {
  const network = useStore((state) => state.network);
  const selected = useStore((state) => state.arc);
  const may = useStore(mayChange);
  const reason = useStore(whyNot);
  const [chosen, setChosen] = useState<string | null>(null);
  const [condition, setCondition] = useState("");
  const [refused, setRefused] = useState<readonly Problem[]>([]);
  const { say } = useStore.getState();
  const arcs = useStore((state) => state.running?.arcs);
  const arc = chosen ?? (selected !== null && arcs && selected in arcs ? selected : null);

  const add = async (event?: FormEvent) => {
    event?.preventDefault();
    if (network === null || arc === null || !may) return;
    try {
      await debugApi.add(network, arc, condition.trim() || null);
      setCondition("");
      setRefused([]);
    } catch (error) {
      const problems = error instanceof RefusedError ? error.problems : [];
      setRefused(problems);
      if (problems.length === 0) say("bad", (error as Error).message);
    }
  };

  return (
    <form className="breakpoints-add" onSubmit={add}>
      <ArcChoice label="Arrow of the break-point" onChoose={setChosen} value={arc} />
      <button disabled={arc === null || !may} title={reason || "Add the break-point"} type="submit">
        <Icon name="plus" /> Add
      </button>
      <ConditionField
        arc={arc ?? ""}
        change={(text) => {
          setCondition(text);
          setRefused([]);
        }}
        problems={refused}
        submit={() => void add()}
        value={condition}
      />
    </form>
  );
}

interface ConditionProps {
  arc: string;
  value: string;
  problems: readonly Problem[];
  change: (text: string) => void;
  submit: () => void;
}

/** A condition over the columns of an arc, with what may come next as soon as the server has told what there is. */
function ConditionField({ arc, value, problems, change, submit }: ConditionProps) {
  const palette = useStore((state) => state.palette);
  const columns = useColumns(arc);
  const id = useId();
  const ids: FieldIds = {
    id,
    "aria-describedby": problems.length > 0 ? `${id}-problems` : undefined,
    "aria-invalid": problems.length > 0 || undefined,
  };
  const placeholder = "any tuple, or a condition";
  if (palette === null) {
    return <input {...ids} aria-label="Condition" onChange={(event) => change(event.target.value)} placeholder={placeholder} value={value} />;
  }
  const form: FormState = { id: elementId("boxes", arc), palette, inputs: [columns], problems, root: [], change: () => undefined };
  const pressed = (event: KeyboardEvent) => {
    const isChoosing = (event.target as HTMLElement).getAttribute("aria-expanded") === "true";
    if (event.key === "Enter" && !isChoosing) submit();
  };
  return (
    <div className="breakpoints-condition" onKeyDown={pressed}>
      <FormProvider value={form}>
        <ExpressionField
          form={{ form: "expression", expect: "bool" }}
          ids={ids}
          label="Condition"
          onChange={change}
          placeholder={placeholder}
          problems={problems}
          value={value}
        />
      </FormProvider>
    </div>
  );
}
