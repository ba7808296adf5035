// An arc may have many arrows; what is shown of it once stands on the first of them that is in sight.

import { useId, useLayoutEffect, useSyncExternalStore } from "react";

const shown = new Map<string, readonly string[]>();
const listeners = new Set<() => void>();

function change(key: string, ids: readonly string[]): void {
  if (ids.length > 0) shown.set(key, ids);
  else shown.delete(key);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether this component is the first of those that ask for the key, of which only those `wanted` count. */
export function useFirst(key: string, wanted: boolean): boolean {
  const id = useId();
  useLayoutEffect(() => {
    if (!wanted) return undefined;
    change(key, [...(shown.get(key) ?? []), id]);
    return () => change(key, (shown.get(key) ?? []).filter((other) => other !== id));
  }, [key, id, wanted]);
  return useSyncExternalStore(subscribe, () => shown.get(key)?.[0] === id);
}
