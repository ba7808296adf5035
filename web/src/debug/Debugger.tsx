// What goes on whichever panel is open: it hears of break-points, keeps taps open, and offers the keys.

import { useEffect } from "react";
import { mayChange } from "../shell/may";
import { useShortcut } from "../shell/shortcuts";
import { followDebugging, forgetDebugging, isPaused } from "../state/debugging";
import { useStore } from "../state/store";
import { follow } from "./tapping";

const GROUP = { group: "Debugging" };

export function Debugger() {
  const network = useStore((state) => state.network);
  const isLive = useStore((state) => state.connection === "live");
  const taps = useStore((state) => state.taps);
  const arcs = useStore((state) => state.running?.arcs);
  useEffect(() => (network === null || !isLive ? undefined : followDebugging(network)), [network, isLive]);
  useEffect(() => forgetDebugging, [network]);
  useEffect(() => {
    // Arcs come and go with what is deployed.
    for (const arc of taps) if (arcs && !(arc in arcs)) useStore.getState().untap(arc);
  }, [arcs, taps]);

  const { toggleBreakpoint, stepOnce, goOn } = useStore.getState();
  const may = () => mayChange(useStore.getState());
  const whilePaused = (act: () => Promise<void>) => () => {
    if (!may() || !isPaused(useStore.getState())) return false;
    void act();
    return true;
  };
  useShortcut(
    "F9",
    "Set or remove a break-point on the selected arrow",
    () => {
      const { arc, running } = useStore.getState();
      if (arc === null || !may() || !running || !(arc in running.arcs)) return false;
      void toggleBreakpoint(arc);
      return true;
    },
    { ...GROUP, typing: true },
  );
  useShortcut(["F8", "F5"], "Go on", whilePaused(goOn), { ...GROUP, typing: true });
  useShortcut("F10", "Step one train", whilePaused(() => stepOnce("train")), { ...GROUP, typing: true });
  useShortcut("F11", "Step one tuple", whilePaused(() => stepOnce("tuple")), { ...GROUP, typing: true });

  return network === null ? null : taps.map((arc) => <OpenTap arc={arc} key={arc} network={network} />);
}

function OpenTap({ network, arc }: { network: string; arc: string }) {
  useEffect(() => follow(network, arc), [network, arc]);
  return null;
}
