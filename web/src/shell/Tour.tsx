// A short tour of the page. Each step points at something that is there, and leaves it free to be tried out.

import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { beside } from "../model/beside";
import type { Rect } from "../model/geometry";
import { useStore } from "../state/store";
import { wantsTour } from "../state/touring";
import { Icon } from "./Icon";
import { useShortcut } from "./shortcuts";
import { type TourStep, tourSteps } from "./tourSteps";
import "./Tour.css";

/** How long the page may take to show what the tour points at. */
const SETTLED_MS = 800;

export function Tour() {
  const at = useStore((state) => state.tourStep);
  const isReady = useStore((state) => state.isOpen && state.connection === "live" && state.stats !== null);
  const { goOnTour } = useStore.getState();
  useEffect(() => {
    if (!isReady || !wantsTour()) return undefined;
    const timer = window.setTimeout(() => goOnTour(0), SETTLED_MS);
    return () => window.clearTimeout(timer);
  }, [isReady, goOnTour]);
  return at === null || !isReady ? null : <Steps at={at} />;
}

function Steps({ at }: { at: number }) {
  // They stay the same until the end of the tour, even if what is open changes on the way.
  const [steps] = useState(() => tourSteps(useStore.getState()));
  const { goOnTour, endTour } = useStore.getState();
  const came = useRef(document.activeElement);
  useEffect(() => {
    const before = came.current;
    return () => (before instanceof HTMLElement && before.isConnected ? before.focus({ preventScroll: true }) : undefined);
  }, []);
  useShortcut("Escape", "End the tour", endTour, { group: "General", typing: true });

  const step = steps[at];
  useEffect(() => step?.prepare(), [step]);
  if (step === undefined) return null;
  const isLast = at === steps.length - 1;
  const next = () => (isLast ? endTour() : goOnTour(at + 1));
  const back = () => goOnTour(Math.max(0, at - 1));
  return <Card at={at} count={steps.length} key={at} onBack={back} onNext={next} onSkip={endTour} step={step} />;
}

interface CardProps {
  step: TourStep;
  at: number;
  count: number;
  onNext: () => void;
  onBack: () => void;
  onSkip: () => void;
}

function Card({ step, at, count, onNext, onBack, onSkip }: CardProps) {
  const card = useRef<HTMLDivElement>(null);
  const [title, text] = [useId(), useId()];
  const target = useRect(step.find);
  const [place, setPlace] = useState({ x: 0, y: 0 });
  useLayoutEffect(() => {
    const size = card.current?.getBoundingClientRect();
    if (size) setPlace(beside(target, size, { width: window.innerWidth, height: window.innerHeight }, step.side));
  }, [target, step.side]);
  useEffect(() => card.current?.focus({ preventScroll: true }), []);

  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowRight") onNext();
    else if (event.key === "ArrowLeft") onBack();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isLast = at === count - 1;
  return (
    <>
      {target !== null && <div aria-hidden="true" className={step.bright ? "tour-light is-bright" : "tour-light"} style={around(target)} />}
      <div
        aria-describedby={text}
        aria-labelledby={title}
        className="tour-card"
        onKeyDown={pressed}
        ref={card}
        role="dialog"
        style={{ left: place.x, top: place.y }}
        tabIndex={-1}
      >
        <div className="row">
          <h2 className="grow" id={title}>
            {step.title}
          </h2>
          <span className="muted tour-count">
            <span className="visually-hidden">Step </span>
            {at + 1} of {count}
          </span>
          <button aria-label="End the tour" className="quiet tour-close" onClick={onSkip} title="End the tour (Esc)" type="button">
            <Icon name="close" />
          </button>
        </div>
        <p id={text}>{step.text}</p>
        <div className="row">
          <span aria-hidden="true" className="grow tour-dots">
            {Array.from({ length: count }, (_, one) => (
              <i className={one === at ? "tour-dot is-here" : "tour-dot"} key={one} />
            ))}
          </span>
          {!isLast && (
            <button className="quiet" onClick={onSkip} type="button">
              Skip
            </button>
          )}
          {at > 0 && (
            <button onClick={onBack} type="button">
              Back
            </button>
          )}
          <button className="primary" onClick={onNext} type="button">
            {isLast ? "Done" : "Next"}
          </button>
        </div>
      </div>
    </>
  );
}

const MARGIN = 5;

function around({ x, y, width, height }: Rect) {
  return { left: x - MARGIN, top: y - MARGIN, width: width + 2 * MARGIN, height: height + 2 * MARGIN };
}

/** Where something is in the window, as it moves; null as long as it is not there or out of sight. */
function useRect(find: () => Element | null): Rect | null {
  const [rect, setRect] = useState<Rect | null>(null);
  useEffect(() => {
    let frame = 0;
    const look = () => {
      const found = find()?.getBoundingClientRect();
      const now = found && isInSight(found) ? { x: found.x, y: found.y, width: found.width, height: found.height } : null;
      setRect((before) => (isSame(before, now) ? before : now));
      frame = requestAnimationFrame(look);
    };
    look();
    return () => cancelAnimationFrame(frame);
  }, [find]);
  return rect;
}

function isInSight({ left, right, top, bottom, width }: DOMRect): boolean {
  return width > 0 && right > 0 && bottom > 0 && left < window.innerWidth && top < window.innerHeight;
}

function isSame(one: Rect | null, other: Rect | null): boolean {
  if (one === null || other === null) return one === other;
  return one.x === other.x && one.y === other.y && one.width === other.width && one.height === other.height;
}
