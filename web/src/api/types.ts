// What the server answers, as docs/reference/http.md describes it.

import type { Columns, NetworkDocument } from "../model/document";
import type { Tuple } from "../model/tuples";
import type { DropInForce } from "../model/series";

export type Stage = "running" | "paused" | "stopped" | "failed";

export interface NetworkBrief {
  name: string;
  stage: Stage;
  why: string;
}

export interface ServerInfo {
  version: string;
  processor: "spark" | "local";
  flight: string | null;
  formats: string[];
  access: "read" | "full";
  /** Whether it keeps versions of networks. */
  catalog: boolean;
  networks: NetworkBrief[];
}

/** A drop that is in force: at which arc, in front of which box if not all, and how much stays or what goes. */
export type Drop = DropInForce;

export interface OutputState {
  columns: Columns;
  waiting: number;
  readers: number;
  dropped: number;
  let_go: number;
}

export interface NetworkDescription extends NetworkBrief {
  revision: string;
  processor: "spark" | "local";
  queued: Record<string, number>;
  drops: Drop[];
  network: NetworkDocument;
  streams: Record<string, Columns>;
  outputs: Record<string, OutputState>;
  arcs: Record<string, Columns>;
}

export interface Problem {
  id: string;
  found: string;
  way_out: string;
  element: string;
  path: (string | number)[];
  choices: string[];
  severity: "error" | "warning";
  text: string;
  /** The characters of an expression that are meant, where that is known. */
  span: [number, number] | null;
}

export interface Checked {
  valid: boolean;
  problems: Problem[];
  arcs: Record<string, Columns>;
}

/** An element of some network; `section` is stream, box, output, ... */
export interface Entity {
  network: string;
  section: string;
  name: string;
  kind: string;
  description: string;
  tags: string[];
  arcs: Record<string, Columns>;
}

/** A version of a network in the catalog. */
export interface Version {
  number: number;
  state: string;
  author: string;
  at_us: number;
  why: string;
}

/** Names of one kind of thing. */
export interface Changes {
  added: string[];
  removed: string[];
  changed: string[];
  kept: string[];
}

/** What changing a network did, or would do. A network that does not run has only `applied`. */
export interface Modified {
  applied?: string;
  boxes?: Changes;
  /** Boxes that start anew though they are declared as before: something in front of them changed. */
  restarted?: string[];
  renamed?: Record<string, string>;
  /** Boxes that take what waits for them first; streams that are held meanwhile. */
  drained?: string[];
  held?: string[];
  drain_s?: number;
  swap_s?: number;
  /** In the catalog, if there is one. */
  version?: number;
}

/** A place in the picture that people come back to; `scope` has the superboxes around it as `outer/inner`. */
export interface Bookmark {
  name: string;
  x: number;
  y: number;
  zoom: number;
  scope: string;
  note: string;
  author: string;
  at_us: number;
}

/** Where elements stand, by `boxes/late`; null forgets where one stood. */
export type Layout = Record<string, { x: number; y: number } | null>;

export interface InputReading {
  tuples: number;
  rejected: number;
  shed: number;
  rate_per_s: number;
  recent_rate_per_s: number;
}

export interface BoxReading {
  tuples_in: number;
  tuples_out: number;
  calls: number;
  cost_s: number;
  late: number;
  rejected: number;
  nulled: number;
  shed: number;
  tuple_cost_s: number | null;
  selectivity: number | null;
  recent_tuple_cost_s: number;
  recent_overhead_s: number;
  recent_selectivity: number;
  recent_load: number;
  queue_tuples: number;
  queue_bytes: number;
  age_s: number;
}

export interface ArcReading {
  tuples: number;
  shed: number;
  rate_per_s: number;
  recent_rate_per_s: number;
  queue_tuples: number;
}

export interface Utility {
  overall: number | null;
  latency: number | null;
  loss: number | null;
  value: number | null;
}

export interface OutputReading {
  tuples: number;
  latency_s: { p50: number | null; p99: number | null };
  mean_latency_s: number | null;
  recent_latency_s: number | null;
  rate_per_s: number;
  recent_rate_per_s: number;
  lost: number;
  delivered: number;
  error: number | null;
  utility: Record<"live" | "1s" | "10s" | "60s" | "run", Utility>;
}

export interface DropReading {
  shed: number;
  in_force: number;
  keep: number | null;
}

export interface PartReading {
  calls: number;
  seconds: number;
  share: number;
  recent_share: number;
}

export interface EngineReading {
  wall_s: number;
  recent_load: number;
  capacity: number;
  memory_bytes: number;
  disk_bytes: number;
  utility: number | null;
  shed: Record<string, number>;
}

export interface Statistics {
  processor: string;
  train: number;
  wall_s: number;
  inputs: Record<string, InputReading>;
  boxes: Record<string, BoxReading>;
  arcs: Record<string, ArcReading>;
  outputs: Record<string, OutputReading>;
  drops: Record<string, DropReading>;
  parts: Record<string, PartReading>;
  engine: EngineReading;
}

/** A source or a sink as it is doing. */
export interface ConnectorStatus {
  name: string;
  role: "source" | "sink";
  kind: string;
  stream: string;
  state: "starting" | "connected" | "retrying" | "ended" | "failed" | "stopped";
  since_us: number;
  last_error: string;
  last_error_us: number | null;
  connects: number;
  retries: number;
  tuples: number;
  bytes: number;
  rejected: number;
  dropped: number;
  dead: number;
  waiting: number;
}

/** A generator, and how many times as fast as declared it is. */
export interface Rate {
  source: string;
  stream: string;
  factor: number;
  tuples_per_s: number;
}

/** Of all generators; from `least` to `most` it makes sense to turn them. */
export interface Rates {
  least: number;
  most: number;
  sources: Rate[];
}

export type EventKind =
  | "started"
  | "stopped"
  | "paused"
  | "resumed"
  | "modified"
  | "failed"
  | "shedding"
  | "connector"
  | "rejected"
  | "breakpoint";

/** Something that happened; `of` and `name` say to what, where that is one thing. */
export interface NetworkEvent {
  at_us: number;
  kind: EventKind;
  text: string;
  of: string;
  name: string;
}

/** Why a box runs or does not. What does not apply is null; where all boxes are one superbox only that is said. */
export interface BoxScheduling {
  state:
    | "running"
    | "waiting"
    | "held"
    | "keeping_up"
    | "starved"
    | "idle"
    | "paused"
    | "worthless"
    | "superbox";
  why: string;
  ready?: number;
  queued?: number;
  utility_per_s?: number | null;
  slack_s?: number | null;
  expected_latency_s?: number | null;
  behind?: string | null;
  last_ran_s?: number | null;
  load: number;
  share: number;
}

export interface Scheduling {
  policy: string | null;
  note: string;
  boxes: Record<string, BoxScheduling>;
}

// Debugging

/** Messages of a tap: the first has the columns. `count` is all that came, `dropped` what was left out of it. */
export type TapMessage = { columns: Columns } | { tuples: Tuple[]; count: number; dropped: number };

export interface Breakpoint {
  number: number;
  arc: string;
  condition: string | null;
  enabled: boolean;
  /** How often it paused the network, and for how many tuples. */
  hits: number;
  tuples: number;
  /** Why it was disabled: its condition could not be told. */
  fault: string;
}

export interface Hit {
  breakpoint: number;
  arc: string;
  condition: string | null;
  at_us: number;
  /** Of so many tuples these are the first, with the numbers of the tuples that made them come out. */
  count: number;
  tuples: Tuple[];
  numbers: number[];
}

/** What went over an arc: how many tuples, and the first of them. */
export interface Seen {
  arc: string;
  tuples: number;
  first: Tuple[];
}

export interface BoxStep {
  box: string;
  taken: Seen[];
  made: Seen[];
  cost_s: number;
  late: number;
  rejected: number;
  /** The rows of each part of its state; null on Spark. */
  state: Record<string, { before: number; after: number }> | null;
}

export interface StepTaken {
  /** Counts the steps, to tell one from the next. */
  number: number;
  worked: boolean;
  /** All boxes ran as one, as they do on Spark. */
  whole: boolean;
  entered: Seen[];
  boxes: BoxStep[];
  hits: Hit[];
}

export interface DebugState {
  stage: Stage;
  breakpoints: Breakpoint[];
  hits: Hit[];
  step: StepTaken | null;
}

export interface Injected {
  tuples: number;
}
