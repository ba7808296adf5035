// Problems as the server tells them: what was found and the way out, each a way to its element.

import type { Problem } from "../api/types";
import { useStore } from "../state/store";
import { Icon } from "./Icon";
import { elementOf, reveal } from "./reveal";
import "./ProblemList.css";

interface ProblemListProps {
  problems: readonly Problem[];
  /** Called before the element is shown, such as to close a dialog. */
  onFollow?: () => void;
}

export function ProblemList({ problems, onFollow }: ProblemListProps) {
  const { showSide } = useStore.getState();
  const rank = (problem: Problem) => (problem.severity === "error" ? 0 : 1);
  const follow = (problem: Problem) => {
    onFollow?.();
    const id = elementOf(problem);
    if (id === null) showSide("network");
    else reveal(id);
  };
  return (
    <ul className="problems">
      {problems.toSorted((one, other) => rank(one) - rank(other)).map((problem, at) => (
        <li key={`${at} ${problem.text}`}>
          <button className="problems-one" onClick={() => follow(problem)} type="button">
            <span className={problem.severity === "error" ? "bad" : "warn"}>
              <Icon name={problem.severity === "error" ? "error" : "warning"} />
              <span className="visually-hidden">{problem.severity === "error" ? "Error" : "Warning"}</span>
            </span>
            <span className="problems-where">{whereOf(problem)}</span>
            <span className="problems-what">
              {problem.found} <span className="muted">{wayOut(problem)}</span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function whereOf(problem: Problem): string {
  const [, name, ...rest] = problem.path;
  if (elementOf(problem) === null) return problem.element;
  return [name, ...rest].join(" · ");
}

function wayOut(problem: Problem): string {
  return problem.way_out === "" ? "" : `→ ${problem.way_out}`;
}
