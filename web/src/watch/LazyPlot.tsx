// A plot whose code is fetched when the first one is shown.

import { lazy, Suspense } from "react";
import type { PlotProps } from "./Plot";

const Plot = lazy(() => import("./Plot"));

export function LazyPlot(props: PlotProps) {
  return (
    <Suspense fallback={<div aria-hidden="true" style={{ height: props.height }} />}>
      <Plot {...props} />
    </Suspense>
  );
}
