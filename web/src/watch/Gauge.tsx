// How much of something is used: parts in a row, against what there is, with a line at what should not be passed.

import "./Gauge.css";

export interface GaugePart {
  label: string;
  value: number;
  colour: string;
}

interface GaugeProps {
  label: string;
  parts: readonly GaugePart[];
  /** What fills the gauge. */
  whole: number;
  /** Where the line stands. */
  limit?: number;
  limitLabel?: string;
}

export function Gauge({ label, parts, whole, limit, limitLabel }: GaugeProps) {
  const used = parts.reduce((sum, part) => sum + part.value, 0);
  const scale = Math.max(whole, used) || 1;
  const percent = (value: number) => `${Math.min(100, (100 * value) / scale).toFixed(1)}%`;
  return (
    <div aria-label={label} className="gauge" role="img">
      <div className="gauge-track">
        {parts.map((part) => (
          <span
            className="gauge-part"
            key={part.label}
            style={{ background: `var(${part.colour})`, width: percent(part.value) }}
            title={part.label}
          />
        ))}
        {limit !== undefined && limit < scale && <span className="gauge-beyond" style={{ left: percent(limit) }} />}
      </div>
      {limit !== undefined && <span className="gauge-limit" style={{ left: percent(limit) }} title={limitLabel} />}
    </div>
  );
}
