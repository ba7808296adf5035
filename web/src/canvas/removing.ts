// Takes away what is selected: elements, or an arrow.

import { disconnected } from "../model/connecting";
import { remove } from "../model/edits";
import { useStore } from "../state/store";
import { keepsPlaces, scene } from "./scene";
import { targetsOfCommands } from "./selecting";

/** Whether there was something to take away. */
export function removeSelection(): boolean {
  const { edit, select, announce } = useStore.getState();
  const ids = targetsOfCommands();
  if (ids.length === 0) return false;
  const what = ids.length === 1 ? (ids[0] ?? "").replace(/^.*\//, "") : `${ids.length} elements`;
  edit(`Delete ${what}`, (drawing) => remove(drawing, ids, keepsPlaces));
  select([]);
  announce(`Deleted ${what}`);
  return true;
}

/** The arrow that is chosen. An arc that several arrows show is not taken away as a whole. */
export function removeArrow(): boolean {
  const { arrow, arc, edit, selectArc, announce } = useStore.getState();
  if (arrow === null && arc === null) return false;
  const edges = scene().graph.edges.filter((edge) => (arrow === null ? edge.arc === arc : edge.id === arrow));
  const [edge] = edges;
  if (!edge || edges.length > 1) return false;
  edit(`Delete the arrow of ${edge.arc ?? "a source or sink"}`, (drawing) => disconnected(drawing, edge, keepsPlaces));
  selectArc(null);
  announce("Arrow deleted");
  return true;
}
