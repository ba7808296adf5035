// The server, its networks, and the one that is open.

import type { StateCreator } from "zustand";
import { api, RefusedError, setToken } from "../api/client";
import type { Modified, NetworkBrief, NetworkDescription, ServerInfo, Statistics } from "../api/types";
import { equal } from "../model/diff";
import type { NetworkDocument } from "../model/document";
import type { Drawing } from "./draft";
import { keepApart, kept } from "./kept";
import type { State } from "./store";

/** `lost`: it was there and will be asked again; `refused`: it wants a token. */
export type Connection = "connecting" | "live" | "lost" | "refused";

export interface SessionSlice {
  connection: Connection;
  /** Whether the first answer is long in coming. */
  isLate: boolean;
  server: ServerInfo | null;
  networks: readonly NetworkBrief[];
  /** The name of the network that is open; null while a new one is drawn that no server runs. */
  network: string | null;
  /** What runs, as the server describes it. */
  running: NetworkDescription | null;
  /** What ran when the drawing was begun or last deployed; null if nothing did. */
  base: NetworkDocument | null;
  /** Whether a network is open or a new one is drawn; else there is nothing to show. */
  isOpen: boolean;
  stats: Statistics | null;

  setConnection: (connection: Connection) => void;
  setStats: (stats: Statistics | null) => void;
  /** Asks what the server is and runs, and opens a network if none is open. */
  greet: () => Promise<void>;
  /** Tries a token that somebody typed; whether the server takes it. */
  offerToken: (token: string) => Promise<boolean>;
  /** Opens a network: shows what runs, with the changes to it that were not deployed. */
  open: (network: string) => Promise<void>;
  /** Starts to draw a network that does not run yet, or goes on with one. */
  startNew: (name: string, drawing?: Drawing) => void;
  /** Asks again what runs, and leaves alone what is drawn. */
  refresh: () => Promise<void>;
  /** Has the server run what is drawn; what that changed, or null if the network is new. */
  deploy: (why: string) => Promise<Modified | null>;
  act: (action: "start" | "stop" | "pause" | "resume") => Promise<void>;
  /** The server hosts the network no more. What is drawn stays. */
  remove: () => Promise<void>;
}

const NOTHING_RUNS = { network: null, running: null, base: null, stats: null };
const FROM_THE_TOP = { scope: [], selection: [], arc: null, arrow: null };

export const makeSession: StateCreator<State, [], [], SessionSlice> = (set, get) => ({
  connection: "connecting",
  isLate: false,
  server: null,
  networks: [],
  network: null,
  running: null,
  base: null,
  isOpen: false,
  stats: null,

  setConnection: (connection) => set({ connection }),
  setStats: (stats) => set({ stats }),

  greet: async () => {
    try {
      const server = await api.server();
      set({ server, networks: server.networks });
      if (get().isOpen) await get().refresh();
      else await openFirst(get());
      set({ connection: "live" });
    } catch (error) {
      const refused = error instanceof RefusedError && error.status === 401;
      const unknown = get().server === null ? "connecting" : "lost";
      set({ connection: refused ? "refused" : unknown, isLate: true });
      throw error;
    }
  },

  offerToken: async (token) => {
    setToken(token);
    try {
      await get().greet();
      return true;
    } catch (error) {
      if (error instanceof RefusedError && error.status === 401) return false;
      throw error;
    }
  },

  open: async (network) => {
    const running = await api.describe(network);
    keepApart(get());
    set({ network, running, base: running.network, isOpen: true, stats: null, ...FROM_THE_TOP });
    get().draw({ document: running.network, positions: {} });
    setAddress(network);
    const found = kept(network);
    if (found === null || equal(found.drawing.document, running.network)) return;
    set({ base: found.base });
    get().edit("Changes kept from last time", () => found.drawing);
    get().say("plain", `Your changes to ${network} that were not deployed are here again.`, {
      label: "Discard",
      act: () => {
        get().draw({ document: running.network, positions: {} });
        set({ base: running.network });
      },
    });
  },

  startNew: (name, drawing) => {
    keepApart(get());
    set({ ...NOTHING_RUNS, isOpen: true, ...FROM_THE_TOP });
    get().draw(drawing ?? { document: { aurora: 1, network: name }, positions: {} });
    setAddress(name);
  },

  refresh: async () => {
    const networks = await api.networks();
    if (!equal(networks, get().networks)) set({ networks });
    const { network } = get();
    if (network === null) return;
    if (!networks.some((one) => one.name === network)) {
      set(NOTHING_RUNS);
      get().say("plain", `${network} is no longer on the server. The drawing is still here; deploy it to have it back.`);
      return;
    }
    const running = await api.describe(network);
    if (get().network === network) set((state) => withRunning(state, running));
  },

  deploy: async (why) => {
    const { drawing, running } = get();
    const { document } = drawing;
    const name = document.network;
    const modified = running?.name === name ? await api.modify(name, document, why, running.revision) : null;
    if (modified === null) await api.add(document, why);
    const now = await api.describe(name);
    set({ network: name, running: now, base: now.network });
    // The server writes a document in its own way; one that was drawn further meanwhile is left as it is.
    if (get().drawing.document === document) set({ drawing: { ...get().drawing, document: now.network } });
    setAddress(name);
    await get().refresh();
    return modified;
  },

  act: async (action) => {
    const { network } = get();
    if (network === null) return;
    const brief = await api.act(network, action);
    set((state) => ({ running: state.running && { ...state.running, ...brief } }));
    await get().refresh();
  },

  remove: async () => {
    const { network, running, base } = get();
    if (network === null) return;
    // First, so that nobody asks for what is about to go.
    set(NOTHING_RUNS);
    try {
      await api.remove(network);
    } catch (error) {
      set({ network, running, base });
      throw error;
    }
    await get().refresh();
  },
});

/** What runs now. A drawing without changes follows what others deploy; one with changes is left alone. */
function withRunning(state: State, found: NetworkDescription): Partial<State> {
  const before = state.running;
  if (before === null) return { running: found, base: found.network };
  // What has not changed stays the same object, so that nobody looks at it anew.
  const entries = Object.entries(found) as [keyof NetworkDescription, unknown][];
  const parts = entries.map(([key, value]) => [key, equal(value, before[key]) ? before[key] : value] as const);
  const running = Object.fromEntries(parts) as unknown as NetworkDescription;
  if (parts.every(([key, value]) => value === before[key])) return {};
  if (running.network === before.network || !equal(state.drawing.document, before.network)) return { running };
  return { running, base: running.network, drawing: { ...state.drawing, document: running.network } };
}

/** The network that the page's address names, or the drawing of one that does not run; else the first there is. */
async function openFirst({ networks, open, startNew }: State): Promise<void> {
  const wanted = address();
  const hosted = networks.find((one) => one.name === wanted) ?? networks[0];
  const found = wanted === null || hosted?.name === wanted ? null : kept(wanted);
  if (found !== null && wanted !== null) startNew(wanted, found.drawing);
  else if (hosted !== undefined) await open(hosted.name);
}

/** The name behind the # of the page's address. */
export function address(): string | null {
  try {
    return decodeURIComponent(location.hash.slice(1)) || null;
  } catch {
    return null;
  }
}

function setAddress(network: string): void {
  if (address() !== network) location.hash = encodeURIComponent(network);
}
