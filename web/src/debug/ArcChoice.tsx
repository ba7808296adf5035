// One of the arcs of what runs: those that come in, and those that boxes make.

import { useMemo } from "react";
import { useStore } from "../state/store";

interface ArcChoiceProps {
  label: string;
  value: string | null;
  onChoose: (arc: string) => void;
  placeholder?: string;
  /** Why arcs of boxes cannot be chosen; empty if they can. */
  insideRefused?: string;
}

export function ArcChoice({ label, value, onChoose, placeholder = "Arrow…", insideRefused = "" }: ArcChoiceProps) {
  const running = useStore((state) => state.running);
  const [streams, others] = useMemo(() => {
    const streams = Object.keys(running?.streams ?? {});
    return [streams, Object.keys(running?.arcs ?? {}).filter((arc) => !streams.includes(arc))];
  }, [running]);
  return (
    <select aria-label={label} className="arc-choice" onChange={(event) => onChoose(event.target.value)} value={value ?? ""}>
      <option disabled value="">
        {placeholder}
      </option>
      <optgroup label="Streams">
        {streams.map((arc) => (
          <option key={arc}>{arc}</option>
        ))}
      </optgroup>
      <optgroup disabled={insideRefused !== ""} label={insideRefused === "" ? "Inside" : `Inside: ${insideRefused}`}>
        {others.map((arc) => (
          <option key={arc}>{arc}</option>
        ))}
      </optgroup>
    </select>
  );
}
