// What the server finds wrong with the drawing.

import { useStore } from "../state/store";
import { Icon } from "./Icon";
import { ProblemList } from "./ProblemList";

export function ProblemsPanel() {
  const checked = useStore((state) => state.checked);
  if (checked === null) return <p className="empty">Checking the drawing …</p>;
  if (checked.problems.length === 0) {
    return (
      <p className="empty">
        <span className="good">
          <Icon name="check" />
        </span>{" "}
        No problems: this can be deployed.
      </p>
    );
  }
  return <ProblemList problems={checked.problems} />;
}
