// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Error, Text } from "./shared";
import type { DriveState, HostRole } from "./words";

/** Nothing to say. */
export type Status = Record<string, never>;

/** Nothing to say. */
export type Doctor = Record<string, never>;

/** Nothing to say. */
export type Resume = Record<string, never>;

/** A task, and how long to wait at most. */
export interface Wait {
  task: string;
  /** Milliseconds; a host waits for a second at most. */
  patience_ms?: number;
}

/** Who, and how it stands. */
export interface HostStatus {
  /** What this process is to the store. */
  role: HostRole;
  /** The process that holds it, when one does. */
  held_by: Holder | null;
  store_id: string;
  dir: string;
  version: string;
  epoch: number;
  halted: boolean;
  halt_reason: Text | null;
  waiting: Waiting;
}

/** A process that holds the store. */
export interface Holder {
  pid: number;
  since: number;
  address: string | null;
}

/** How much waits. */
export interface Waiting {
  approvals: number;
  questions: number;
  unknown_effects: number;
  undecided_messages: number;
  /** Schedules that paused themselves. */
  paused_schedules: number;
  /** Gateways that paused themselves. */
  paused_gateways: number;
  running: number;
  /** Of the approvals and questions those of work that Hermit began by itself: they interrupt nobody. */
  quiet: number;
}

/** What was found. */
export interface Facts {
  facts: Fact[];
  /** The service of the system that keeps work going; none where there can be none. */
  service: ServiceStands | null;
  /** To whom telemetry is sent; none while it is off. */
  telemetry: TelemetryStands | null;
  /** How updates of Hermit stand with this store; none where that cannot be read. */
  update: UpdateStands | null;
}

/** How the service of the system stands with this store. Only a terminal installs and removes it. */
export interface ServiceStands {
  state: ServiceState;
  /** The same in words. */
  says: string;
  /** What is typed at a terminal to have it run; to take it away, where it runs; to look, where neither helps. */
  command: string;
}

/** What a collector of telemetry was told, without contents. Only `config.json` names one. */
export interface TelemetryStands {
  /** The collector's address. */
  otlp: string;
  /** Spans that it took. */
  sent: number;
  /** Spans that it refuses. */
  refused: number;
  /** Requests that failed. */
  failures: number;
  /** What went wrong last, where nothing went well since. */
  failing: string | null;
}

/** How updates of Hermit stand with this store. Only a person at a terminal updates it. */
export interface UpdateStands {
  /** Version of the program that is started for this store. */
  at_work: string;
  /** When a person updated to it; none where it is the installed one. */
  since: number | null;
  /** The newest update, where it is not started any more, and why. */
  left: string | null;
  /** How the app of that version stands, in words; none where no update brought one. */
  app: string | null;
  /** Version of the release that was checked last, where it is newer and still there. */
  at_hand: string | null;
  /** What is typed at a terminal: to update to that release, else to look. */
  command: string;
}

/** One fact. */
export interface Fact {
  name: string;
  /** `fine`, `note`, `trouble`. */
  level: Level;
  value: string;
  /** What to do about it; empty when nothing is to be done. */
  advice: string;
}

/** Tasks that go on. */
export interface Resumed {
  tasks: string[];
}

/** A host that others attach to, as `hermit serve` tells it. */
export interface Serving {
  pid: number;
  /** `127.0.0.1:PORT`. */
  address: string;
  /** A link for a browser, which works once and for ten minutes. */
  url: string;
  /** Whether it is the process that says so. */
  here: boolean;
  /** Interrupted tasks that go on. */
  tasks: string[];
}

/** How a task stands with the process that drives it. */
export interface Stood {
  task_id: string;
  stands: DriveState;
  /** Why it broke off. */
  error: Error | null;
}

/** How much a fact matters. */
export type Level =
  /** As it should be. */
  | "fine"
  /** Worth knowing. */
  | "note"
  /** Something does not work. */
  | "trouble";

/** How the service of the system stands. */
export type ServiceState =
  /** It is not installed. */
  | "absent"
  /** Something is there under its name that Hermit did not write. */
  | "foreign"
  /** It is installed for another store. */
  | "elsewhere"
  /** It runs. */
  | "runs"
  /** It is installed and does not run. */
  | "ended"
  /** What it starts with is not there any more. */
  | "broken"
  /** The system cannot be asked. */
  | "unknown";
