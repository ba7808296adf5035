// Boxes and an arrow under an arc of light.

import { useId } from "react";
import "./Logo.css";

export function Logo({ size = 26 }: { size?: number }) {
  const light = useId();
  return (
    <svg aria-hidden="true" className="logo" height={size} viewBox="0 0 32 32" width={size}>
      <defs>
        <linearGradient id={light} x1="0" x2="1" y1="0" y2="0">
          <stop className="logo-dawn" offset="0" />
          <stop className="logo-noon" offset="0.5" />
          <stop className="logo-dusk" offset="1" />
        </linearGradient>
      </defs>
      <path className="logo-arc" d="M3 18a13 13 0 0 1 26 0" stroke={`url(#${light})`} />
      <path className="logo-arc logo-glow" d="M8 18a8 8 0 0 1 16 0" stroke={`url(#${light})`} />
      <rect className="logo-box" height="8" rx="2" width="8" x="3.5" y="19.5" />
      <rect className="logo-box" height="8" rx="2" width="8" x="20.5" y="19.5" />
      <path className="logo-arrow" d="M12.5 23.5h5.4M15.6 21.2l2.4 2.3-2.4 2.3" />
    </svg>
  );
}
