// The page: a bar above, the palette, the drawing and the side panel beside each other, and a panel below.

import { useEffect } from "react";
import { Canvas } from "./canvas/Canvas";
import { Debugger } from "./debug/Debugger";
import { Palette } from "./editor/Palette";
import { Banners } from "./shell/Banners";
import { Boundary } from "./shell/Boundary";
import { Dialogs } from "./shell/Dialogs";
import { LowerPanel } from "./shell/LowerPanel";
import { followKeys } from "./shell/shortcuts";
import { SidePanel } from "./shell/SidePanel";
import { Toasts } from "./shell/Toasts";
import { TopBar } from "./shell/TopBar";
import { Tour } from "./shell/Tour";
import { Welcome } from "./shell/Welcome";
import { followAddress, followDraft, followServer, followStatistics } from "./state/following";
import { followDrawing } from "./state/kept";
import { useStore } from "./state/store";
import "./shell/shell.css";

export function App() {
  const theme = useStore((state) => state.theme);
  const network = useStore((state) => state.network);
  const isOpen = useStore((state) => state.isOpen);
  const connection = useStore((state) => state.connection);
  const isLive = connection === "live";
  useEffect(followServer, []);
  useEffect(followDraft, []);
  useEffect(followDrawing, []);
  useEffect(followAddress, []);
  useEffect(followKeys, []);
  useEffect(() => (network === null || !isLive ? undefined : followStatistics(network)), [network, isLive]);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);

  return (
    <div className="page">
      <TopBar />
      <Banners />
      {isOpen && (isLive || connection === "lost") ? (
        <main aria-label="Network" className="work">
          <Boundary part="The palette">
            <Palette />
          </Boundary>
          <div className="middle">
            <Boundary part="The drawing">
              <Canvas />
            </Boundary>
            <LowerPanel />
          </div>
          <SidePanel />
        </main>
      ) : (
        <Welcome />
      )}
      <Debugger />
      <Toasts />
      <Dialogs />
      <Tour />
    </div>
  );
}
