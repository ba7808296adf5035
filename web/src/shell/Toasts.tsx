// What was said lately, in a corner.

import { useStore } from "../state/store";
import type { Tone } from "../state/page";
import { Icon, type IconName } from "./Icon";
import "./Toasts.css";

const ICONS: Record<Tone, IconName> = { good: "check", bad: "error", plain: "info" };

export function Toasts() {
  const toasts = useStore((state) => state.toasts);
  const { dismiss } = useStore.getState();
  return (
    <div aria-label="Messages" className="toasts" role="status">
      {toasts.map(({ id, tone, text, action }) => (
        <div className={`toast toast-${tone}`} key={id}>
          <span className={tone === "plain" ? "muted" : tone}>
            <Icon name={ICONS[tone]} />
          </span>
          <span className="grow toast-text">{text}</span>
          {action && (
            <button
              onClick={() => {
                dismiss(id);
                action.act();
              }}
              type="button"
            >
              {action.label}
            </button>
          )}
          <button aria-label="Close" className="quiet toast-close" onClick={() => dismiss(id)} type="button">
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
