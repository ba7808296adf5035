// The sign of a kind of element in its colour.

import { FamilyIcon } from "../canvas/icons";
import "./Sign.css";

export function Sign({ family }: { family: string }) {
  return (
    <span className={`sign family-${family}`}>
      <FamilyIcon family={family} />
    </span>
  );
}
