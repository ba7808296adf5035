// How much is shown: from far away nodes have only their sign and name, from further away only their colour; what is
// measured is not shown then.

import { useStoreApi } from "@xyflow/react";
import { createContext, useContext, useEffect, useState, useTransition } from "react";

export type Detail = "near" | "far" | "remote";

const FAR = 0.42;
const REMOTE = 0.17;

export const DetailContext = createContext<Detail>("near");

export function useDetail(): Detail {
  return useContext(DetailContext);
}

function detailAt(zoom: number): Detail {
  return zoom < REMOTE ? "remote" : zoom < FAR ? "far" : "near";
}

/** Follows the zoom. All nodes change at once, so it is done when there is time for it, and no gesture is held up. */
export function useDetailOfZoom(): Detail {
  const store = useStoreApi();
  const [detail, setDetail] = useState(() => detailAt(store.getState().transform[2]));
  const [, startTransition] = useTransition();
  useEffect(
    () =>
      store.subscribe((state, before) => {
        const now = detailAt(state.transform[2]);
        if (now !== detailAt(before.transform[2])) startTransition(() => setDetail(now));
      }),
    [store],
  );
  return detail;
}
