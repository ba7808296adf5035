// Goes to an element: into the superbox that it is in, selects it, and shows its form.

import type { Problem } from "../api/types";
import { type ElementId, elementId, SECTIONS, type Section } from "../model/document";
import { element } from "../model/edits";
import { homeOf } from "../model/scopes";
import { useStore } from "../state/store";

export function reveal(id: ElementId): void {
  const { drawing, goTo, select, showSide } = useStore.getState();
  if (element(drawing.document, id) === undefined) return;
  goTo(homeOf(drawing.document, id));
  select([id]);
  showSide("element");
}

/** The element that a problem is about; null if it is the network itself. */
export function elementOf(problem: Problem): ElementId | null {
  const [section, name] = problem.path;
  const sections: readonly unknown[] = SECTIONS;
  if (!sections.includes(section) || typeof name !== "string") return null;
  return elementId(section as Section, name);
}
