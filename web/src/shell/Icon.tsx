// The signs on buttons, drawn as lines of the text's colour.

const PATHS = {
  play: "M5 3.2 12.5 8 5 12.8Z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  stop: "M4 4h8v8H4Z",
  undo: "M5.5 3 2.5 6l3 3M2.5 6H9a4 4 0 0 1 0 8H6",
  redo: "M10.5 3l3 3-3 3M13.5 6H7a4 4 0 0 0 0 8h3",
  deploy: "M8 10.5V2.5M4.8 5.5 8 2.3l3.2 3.2M2.5 10v3.5h11V10",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3l3.2 3.2",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M12.8 3.2l-1.1 1.1M4.3 11.7l-1.1 1.1",
  moon: "M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1Z",
  help: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM6.2 6.3a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.6-.8 1.2M8 11.4h.01",
  plus: "M8 3v10M3 8h10",
  down: "M4 6.2 8 10.2l4-4",
  up: "M4 9.8 8 5.8l4 4",
  into: "M8 2.5v7M5 6.8l3 3 3-3M2.5 11v2.5h11V11",
  out: "M8 9.8V2.8M5 5.5l3-3 3 3M2.5 11v2.5h11V11",
  copy: "M5.5 5.5h8v8h-8ZM10.5 5.5v-3h-8v8h3",
  check: "M3 8.4 6.4 11.8 13 4.6",
  warning: "M8 2.2 14.3 13.2H1.7ZM8 6.4v3M8 11.4h.01",
  error: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 4.8v3.8M8 11h.01",
  info: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 7.4v3.8M8 5h.01",
  close: "M4 4l8 8M12 4l-8 8",
  bin: "M3 4.5h10M6.3 4.5V2.8h3.4v1.7M4.3 4.5l.6 9h6.2l.6-9",
  arrow: "M2.5 8h10M9.3 4.8 12.5 8l-3.2 3.2",
  plug: "M5.5 2v3.5M10.5 2v3.5M3.5 5.5h9V8a4.5 4.5 0 0 1-9 0ZM8 12.5V15",
} as const;

export type IconName = keyof typeof PATHS;

const FILLED: readonly IconName[] = ["play", "stop"];
const BOLD: readonly IconName[] = ["more", "pause"];

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      aria-hidden="true"
      className="icon"
      fill={FILLED.includes(name) ? "currentColor" : "none"}
      height="16"
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth={BOLD.includes(name) ? 2.4 : 1.5}
      viewBox="0 0 16 16"
      width="16"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
