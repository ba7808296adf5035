// A sign for each family of elements, the same as in drawings that are written as SVG; and signs of tools.

import type { ReactNode } from "react";
import "./icons.css";

const FAMILIES: Record<string, ReactNode> = {
  filter: <path d="M2 3h12l-4.6 5.4V13l-2.8 1.6V8.4z" />,
  map: (
    <>
      <path d="M2 8h8M7 4.5 10.5 8 7 11.5" />
      <circle cx="13" cy="8" r="1.6" />
    </>
  ),
  union: <path d="M2 3.5c4 0 4 4.5 7 4.5M2 12.5c4 0 4-4.5 7-4.5M9 8h5M11.5 5.5 14 8l-2.5 2.5" />,
  order: <path d="M2 3.5h12M2 8h8.5M2 12.5h5" />,
  window: <path d="M5 2.5H2.5v11H5M11 2.5h2.5v11H11M6 8h4" />,
  join: (
    <>
      <circle cx="6" cy="8" r="4" />
      <circle cx="10" cy="8" r="4" />
    </>
  ),
  table: <path d="M2.5 3h11v10h-11zM2.5 6.5h11M6.5 6.5V13" />,
  python: <path d="M5.5 4 2 8l3.5 4M10.5 4 14 8l-3.5 4" />,
  other: <rect height="10" rx="2" width="10" x="3" y="3" />,
  stream: <path d="M1.5 5.5c2-2.4 4-2.4 6.5 0s4.5 2.4 6.5 0M1.5 10.5c2-2.4 4-2.4 6.5 0s4.5 2.4 6.5 0" />,
  static: (
    <>
      <ellipse cx="8" cy="4" rx="5.5" ry="2.2" />
      <path d="M2.5 4v8c0 1.2 2.5 2.2 5.5 2.2s5.5-1 5.5-2.2V4" />
    </>
  ),
  point: (
    <>
      <circle cx="8" cy="8" r="3.2" />
      <path d="M1.5 8h3.3M11.2 8h3.3" />
    </>
  ),
  output: <path d="M3 8h8M8 4.5 11.5 8 8 11.5M14 3v10" />,
  superbox: <path d="M2.5 5.5h8v8h-8zM5.5 5.5v-3h8v8h-3" />,
  source: <path d="M2 5.5v5M5 3.5v9M5 8h5M8 5l3 3-3 3M14 3v10" />,
  sink: <path d="M2 3v10M4.5 8h6M8 5l3 3-3 3M13.5 4.5v7" />,
};

export function FamilyIcon({ family, size = 16 }: { family: string; size?: number }) {
  return (
    <svg aria-hidden="true" className="family-icon" height={size} viewBox="0 0 16 16" width={size}>
      {FAMILIES[family] ?? FAMILIES.other}
    </svg>
  );
}

const TOOLS = {
  layout: "M2 3h4v3H2zM2 10h4v3H2zM10 6.5h4v3h-4zM6 4.5h1.5c1 0 1 3.5 2.5 3.5M6 11.5h1.5c1 0 1-3.5 2.5-3.5",
  fit: "M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3",
  plus: "M8 3.5v9M3.5 8h9",
  minus: "M3.5 8h9",
  align: "M2.5 2v12M5 4h8v3H5zM5 9h5v3H5z",
  group: "M2 2.5h3M11 2.5h3M2 13.5h3M11 13.5h3M2.5 2v3M13.5 2v3M2.5 11v3M13.5 11v3M5.5 5.5h5v5h-5z",
  ungroup: "M2.5 2.5h6v6h-6zM9.5 11v2.5h4v-6h-3",
  bookmark: "M4 2.5h8v11l-4-3-4 3z",
  grid: "M2.5 5.5h11M2.5 10.5h11M5.5 2.5v11M10.5 2.5v11",
  map: "M2 4l4-1.5L10 4l4-1.5v9.5L10 13.5 6 12l-4 1.5zM6 2.5V12M10 4v9.5",
  away: "M6 3.5H3v9.5h9.5V10M9 2.5h4.5V7M13 3 7.5 8.5",
} as const;

export type ToolName = keyof typeof TOOLS;

export function ToolIcon({ name }: { name: ToolName }) {
  return (
    <svg
      aria-hidden="true"
      className="icon"
      fill="none"
      height="16"
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth={1.5}
      viewBox="0 0 16 16"
      width="16"
    >
      <path d={TOOLS[name]} />
    </svg>
  );
}
