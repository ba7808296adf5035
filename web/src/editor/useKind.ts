// The declaration of the one element that is selected.

import { type Kind, kindOf } from "../model/forms";
import { useStore } from "../state/store";

export function useKind(): Kind | undefined {
  return useStore((state) => {
    const id = state.selection.length === 1 ? state.selection[0] : undefined;
    return id === undefined ? undefined : kindOf(state.palette, state.drawing.document, id);
  });
}
