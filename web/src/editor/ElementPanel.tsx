// The form of what is selected: of an element, of an arc, or of several at once.

import { useStore } from "../state/store";
import { ElementWatch } from "../watch/ElementWatch";
import { ArcForm } from "./ArcForm";
import { ElementForm } from "./ElementForm";
import { SeveralForm } from "./SeveralForm";
import "./panels.css";

export function ElementPanel() {
  const selection = useStore((state) => state.selection);
  const arc = useStore((state) => state.arc);
  const [only] = selection;
  if (only === undefined && arc === null) {
    return <p className="empty">Select something in the drawing to see and change what it does.</p>;
  }
  return (
    <div className="panel">
      {only === undefined ? <ArcForm arc={arc ?? ""} /> : selection.length === 1 ? <ElementForm id={only} key={only} /> : <SeveralForm ids={selection} />}
      <ElementWatch />
    </div>
  );
}
