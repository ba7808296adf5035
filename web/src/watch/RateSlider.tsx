// How fast made-up tuples come: turned while the network runs, to see what it does with more than it can take.

import { useEffect, useRef, useState } from "react";
import { api } from "../api/client";
import type { Rates } from "../api/types";
import { commonFactor, factorAt, lastPosition, positionOf, rateAt, showTimes } from "../model/rates";
import { showRate } from "../model/units";
import { mayChange, whyNot } from "../shell/may";
import { useStore } from "../state/store";
import { usePolled } from "./polling";
import "./RateSlider.css";

const ASK_MS = 3_000;

/** Nothing, unless the network has sources whose rate can be changed. */
export function RateSlider() {
  const known = usePolled(api.rates, ASK_MS);
  const network = useStore((state) => state.network);
  if (known === null || known.sources.length === 0 || network === null) return null;
  return <Slider key={network} known={known} network={network} />;
}

function Slider({ network, known }: { network: string; known: Rates }) {
  const may = useStore(mayChange);
  const reason = useStore(whyNot);
  const [wanted, turn] = useTurning(network, known);
  const position = positionOf(wanted, known);
  const times = showTimes(wanted);
  const perSecond = showRate(rateAt(known.sources, wanted)).trim();
  const title = reason || `${known.sources.length} generators make ${times} of what they declare: ${perSecond}`;
  return (
    <div className="rate-slider" title={title}>
      <label className="rate-slider-label">
        Rate
        <input
          aria-valuetext={`${times}, ${perSecond}`}
          disabled={!may}
          max={lastPosition(known)}
          min={0}
          onChange={(event) => turn(factorAt(Number(event.target.value), known))}
          step={1}
          type="range"
          value={position}
        />
      </label>
      <div className="rate-slider-numbers">
        <button
          aria-label={`${times}; back to ×1`}
          className="quiet rate-slider-times"
          disabled={!may || wanted === 1}
          onClick={() => turn(1)}
          title="Back to ×1"
          type="button"
        >
          {times}
        </button>
        <output className="rate-slider-rate">{perSecond}</output>
      </div>
    </div>
  );
}

/** What is wanted, and how to want something else. While it is being turned, one request is under way at most. */
function useTurning(network: string, known: Rates): [number, (factor: number) => void] {
  const now = commonFactor(known.sources) ?? 1;
  const [wanted, setWanted] = useState(now);
  const next = useRef<number | null>(null);
  const isSending = useRef(false);
  // Others may turn it too, even back to what was known: so whenever it has been asked for.
  useEffect(() => {
    if (!isSending.current) setWanted(now);
  }, [known]);

  const send = async () => {
    isSending.current = true;
    try {
      while (next.current !== null) {
        const factor = next.current;
        next.current = null;
        await api.setRates(network, factor);
      }
    } catch (error) {
      next.current = null;
      useStore.getState().say("bad", (error as Error).message);
      setWanted(now);
    } finally {
      isSending.current = false;
    }
  };
  const turn = (factor: number) => {
    setWanted(factor);
    next.current = factor;
    if (!isSending.current) void send();
  };
  return [wanted, turn];
}
