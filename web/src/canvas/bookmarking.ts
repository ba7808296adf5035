// Places in the picture that people come back to.

import { create } from "zustand";
import { api, RefusedError } from "../api/client";
import type { Bookmark } from "../api/types";
import { useStore } from "../state/store";
import { existing } from "../model/scopes";
import { flow, inSight, viewAt } from "./flow";
import { travelTo } from "./travelling";

/** Whether a name is asked for. */
export const useBookmarking = create<{ isNaming: boolean }>()(() => ({ isNaming: false }));

export function suggestedBookmark(): string {
  const { bookmarks, scope } = useStore.getState();
  const wanted = scope.at(-1) ?? "View";
  const taken = new Set(bookmarks.map((mark) => mark.name));
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted} ${number}`;
  return name;
}

/** Keeps the middle of what is in sight, so that it is found again in a window of another size. */
export async function addBookmark(name: string): Promise<void> {
  const { network, scope, bookmarks, setBookmarks, announce, say } = useStore.getState();
  const sight = inSight();
  const place = {
    name,
    x: sight.x + sight.width / 2,
    y: sight.y + sight.height / 2,
    zoom: flow()?.getZoom() ?? 1,
    scope: scope.join("/"),
  };
  const kept: Bookmark = { ...place, note: "", author: "", at_us: 0 };
  try {
    if (network !== null) await api.setBookmark(network, place);
    setBookmarks(sorted([...bookmarks.filter((mark) => mark.name !== name), kept]));
    announce(`Bookmark ${name} added`);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    say("bad", error.message);
  }
}

function sorted(bookmarks: readonly Bookmark[]): Bookmark[] {
  return bookmarks.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

export function goToBookmark(mark: Bookmark | undefined): boolean {
  if (!mark) return false;
  const { drawing, announce } = useStore.getState();
  const wanted = mark.scope === "" ? [] : mark.scope.split("/");
  travelTo(existing(drawing.document, wanted), viewAt(mark, mark.zoom));
  announce(`At bookmark ${mark.name}`);
  return true;
}

export async function removeBookmark(name: string): Promise<void> {
  const { network, bookmarks, setBookmarks, announce, say } = useStore.getState();
  try {
    if (network !== null) await api.removeBookmark(network, name);
    setBookmarks(bookmarks.filter((mark) => mark.name !== name));
    announce(`Bookmark ${name} removed`);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    say("bad", error.message);
  }
}
