// The only place that talks to the server.

import type { ManualPage } from "../editor/markdown";
import type { NetworkDocument } from "../model/document";
import type { Palette } from "../model/forms";
import type { History, Sort } from "../model/series";
import type {
  Bookmark,
  Breakpoint,
  Checked,
  ConnectorStatus,
  Entity,
  Injected,
  Layout,
  Modified,
  NetworkBrief,
  NetworkDescription,
  NetworkEvent,
  Problem,
  Rates,
  Scheduling,
  ServerInfo,
  Statistics,
  StepTaken,
  Version,
} from "./types";

const API = "api/v1";
const TOKEN_KEY = "aurora.token";

/** A refusal: what is wrong and the way out, in the server's words. Status 0 is a server that does not answer. */
export class RefusedError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly problems: Problem[] = [],
  ) {
    super(message);
  }
}

export function token(): string | null {
  return sessionStorage.getItem(TOKEN_KEY);
}

export function setToken(value: string): void {
  sessionStorage.setItem(TOKEN_KEY, value);
}

/** The path of something of a network; names are written as in URLs. */
export function networkPath(network: string, ...rest: string[]): string {
  return ["networks", network, ...rest].map(encodeURIComponent).join("/");
}

interface Sent {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  body?: unknown;
  /** In place of a body: lines of JSON, as they are. */
  lines?: string;
  signal?: AbortSignal;
}

export async function request<T>(path: string, { method = "GET", body, lines, signal }: Sent = {}): Promise<T> {
  const headers: Record<string, string> = {};
  const known = token();
  if (known) headers.authorization = `Bearer ${known}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  if (lines !== undefined) headers["content-type"] = "application/x-ndjson";
  let response: Response;
  let answer: unknown;
  try {
    response = await fetch(`${API}/${path}`, {
      method,
      headers,
      body: lines ?? (body === undefined ? null : JSON.stringify(body)),
      signal: signal ?? null,
    });
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    answer = isJson ? await response.json() : await response.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new RefusedError(0, "the server does not answer");
  }
  if (!response.ok) {
    const said = answer as { error?: string; problems?: Problem[] };
    throw new RefusedError(response.status, said.error ?? response.statusText, said.problems ?? []);
  }
  return answer as T;
}

export const api = {
  server: () => request<ServerInfo>("server"),
  networks: () => request<NetworkBrief[]>("networks"),
  describe: (network: string) => request<NetworkDescription>(networkPath(network)),
  stats: (network: string) => request<Statistics>(networkPath(network, "stats")),
  yaml: (network: string) => request<string>(networkPath(network, "document")),
  typecheck: (document: NetworkDocument | string, signal?: AbortSignal) =>
    request<Checked>("typecheck", { method: "POST", body: { document }, ...(signal && { signal }) }),
  add: (document: NetworkDocument | string, why = "") =>
    request<NetworkDescription>("networks", { method: "POST", body: { document, why } }),
  /** Refused if the network is no longer of this revision. */
  modify: (network: string, document: NetworkDocument, why: string, revision: string) =>
    request<Modified>(`${networkPath(network)}?revision=${encodeURIComponent(revision)}`, { method: "PUT", body: { document, why } }),
  remove: (network: string) => request<unknown>(networkPath(network), { method: "DELETE" }),
  /** Every element of every network. */
  entities: () => request<Entity[]>("entities"),
  /** What deploying a document would do to the network that runs. */
  foresee: (network: string, document: NetworkDocument) =>
    request<Modified>(networkPath(network, "foresee"), { method: "POST", body: { document } }),
  /** A document, or its text, in one form: as plain data and as YAML, with whatever is wrong with it. */
  format: (document: NetworkDocument | string) =>
    request<{ yaml: string; document: NetworkDocument }>("format", { method: "POST", body: { document } }),
  /** What can be drawn, and the manual. */
  palette: () => request<Palette>("palette"),
  manual: () => request<ManualPage[]>("manual"),
  versions: (network: string) => request<Version[]>(networkPath(network, "versions")),
  layout: (network: string) => request<Layout>(networkPath(network, "layout")),
  moveElements: (network: string, layout: Layout) =>
    request<unknown>(networkPath(network, "layout"), { method: "PUT", body: layout }),
  bookmarks: (network: string) => request<Bookmark[]>(networkPath(network, "bookmarks")),
  setBookmark: (network: string, { name, ...place }: Pick<Bookmark, "name" | "x" | "y" | "zoom" | "scope">) =>
    request<Bookmark>(networkPath(network, "bookmarks", name), { method: "PUT", body: place }),
  removeBookmark: (network: string, name: string) =>
    request<unknown>(networkPath(network, "bookmarks", name), { method: "DELETE" }),
  history: (network: string, of: Sort, name: string | null, seconds: number) =>
    request<History>(
      `${networkPath(network, "history")}?of=${of}&seconds=${seconds}${name ? `&name=${encodeURIComponent(name)}` : ""}`,
    ),
  events: (network: string, seconds = 3600) =>
    request<NetworkEvent[]>(`${networkPath(network, "events")}?seconds=${seconds}`),
  connectors: (network: string) => request<ConnectorStatus[]>(networkPath(network, "connectors")),
  /** How fast generators are, and to have all of them make so many times what they declare. */
  rates: (network: string) => request<Rates>(networkPath(network, "rates")),
  setRates: (network: string, factor: number) =>
    request<Rates>(`${networkPath(network, "rates")}?factor=${factor}`, { method: "PUT" }),
  scheduling: (network: string, box: string) =>
    request<Scheduling>(`${networkPath(network, "scheduling")}?box=${encodeURIComponent(box)}`),
  act: (network: string, action: "start" | "stop" | "pause" | "resume" | "drain") =>
    request<NetworkBrief>(networkPath(network, action), { method: "POST" }),
};

/** To look for a mistake in a network that runs. */
export const debugApi = {
  add: (network: string, arc: string, condition: string | null) =>
    request<Breakpoint>(networkPath(network, "debug", "breakpoints"), { method: "POST", body: { arc, condition } }),
  enable: (network: string, number: number, enabled: boolean) =>
    request<Breakpoint>(networkPath(network, "debug", "breakpoints", String(number)), { method: "PUT", body: { enabled } }),
  remove: (network: string, number: number) =>
    request<unknown>(networkPath(network, "debug", "breakpoints", String(number)), { method: "DELETE" }),
  step: (network: string, box: string | null, tuples: number | null) =>
    request<StepTaken>(networkPath(network, "debug", "step"), { method: "POST", body: { box, tuples } }),
  inject: (network: string, arc: string, lines: string) =>
    request<Injected>(`${networkPath(network, "debug", "inject")}?arc=${encodeURIComponent(arc)}`, { method: "POST", lines }),
};

export type SocketState = "connecting" | "open" | "lost";

export interface LiveOptions<T> {
  message: (value: T) => void;
  state?: (state: SocketState, reason: string) => void;
  /** Instead of plain JSON. */
  parse?: (text: string) => unknown;
}

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 5_000;

/** A WebSocket that comes back by itself, waiting longer each time, until it is closed by the function given back. */
export function live<T>(path: string, { message, state, parse = JSON.parse }: LiveOptions<T>): () => void {
  let socket: WebSocket | null = null;
  let timer = 0;
  let wait = FIRST_WAIT_MS;
  let closed = false;
  const open = () => {
    state?.("connecting", "");
    const url = new URL(`${API}/${path}`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const known = token();
    socket = new WebSocket(url, known ? ["aurora", `bearer.${known}`] : []);
    socket.onopen = () => {
      wait = FIRST_WAIT_MS;
      state?.("open", "");
    };
    socket.onmessage = (event) => message(parse(event.data as string) as T);
    socket.onclose = (event) => {
      if (closed) return;
      state?.("lost", event.reason);
      timer = window.setTimeout(open, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    };
  };
  open();
  return () => {
    closed = true;
    window.clearTimeout(timer);
    socket?.close();
  };
}
