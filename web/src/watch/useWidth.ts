// How wide an element is, also when that changes.

import { type RefCallback, useCallback, useRef, useState } from "react";

export function useWidth(): [RefCallback<HTMLElement>, number] {
  const [width, setWidth] = useState(0);
  const watch = useRef<ResizeObserver | null>(null);
  const place = useCallback((element: HTMLElement | null) => {
    watch.current?.disconnect();
    if (!element) return;
    watch.current = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.current.observe(element);
  }, []);
  return [place, width];
}
