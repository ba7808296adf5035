import "./style/tokens.css";
import "./style/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { useStore } from "./state/store";

// Before anything is drawn, so that nothing flashes in the other colours.
document.documentElement.dataset.theme = useStore.getState().theme;

const root = document.getElementById("root");
if (root) createRoot(root).render(<StrictMode><App /></StrictMode>);
