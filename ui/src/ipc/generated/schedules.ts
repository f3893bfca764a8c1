// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { PersonSigned, Text } from "./shared";
import type { Budget, Reasoner } from "./task";
import type { ApprovalStatus, CallRefused, CatchUpKind, Condition, FileChanges, MachineEvent, Overlap, PassedOver, PolicyVerdict, Profile, RunEnd, RunStatus, ScheduleState, SlotState, TriggerKind, Unseen } from "./words";

export type { Submitted } from "./task";

/** What bounds the runs of a schedule, beside the budget of each; what is absent is not bounded. */
export interface Limits {
  /** What becomes of a time while the run before is not over; it is skipped when absent. */
  overlap?: Overlap | null;
  /** Minutes that its runs may begin later than their time, at most 60. */
  jitter_minutes?: number | null;
  /** Runs that begin within any hour, at most 20. */
  per_hour_max?: number | null;
  /** Minutes after which a run has expired. */
  ends_after_minutes?: number | null;
  /** The hours in which a run begins, such as `8-18`, by the clock of the time zone. */
  hours?: string | null;
  /** Runs that begin in a day. */
  day_runs_max?: number | null;
  /** Turns of a model that the runs of a day use together. */
  day_iterations_max?: number | null;
  /** Tokens in and out, as well. */
  day_tokens_max?: number | null;
  /** Cost, in millionths of a US dollar, as well. */
  day_cost_micros_max?: number | null;
  /** Minutes of work, as well. */
  day_minutes_max?: number | null;
  /** What must be so for a run to begin, beside what the words say; what this machine cannot tell counts as so. */
  only?: Condition[];
  /** Per cent that the battery must have more than for a run to begin, 1 to 99, likewise. */
  battery_above?: number | null;
}

/** Nothing to say. */
export type List = Record<string, never>;

/** One schedule, with what it did and does next. */
export interface Show {
  name: string;
}

/** A time, or what else is waited for, as a person says it. */
export interface Preview {
  /** Plain English, such as `every weekday at 8:30`, a cron expression, or what else it waits for, such as `when a file lands here`, `when main moves`, `after morning`, `when the hook deploy is called`. */
  said: string;
  /** The time zone, by its name; that of the host when absent. */
  zone?: string | null;
}

/** The schedule that a person is asked about. */
export interface Keep {
  /** Its name; one that stands is changed. When absent, one is made that none has yet. */
  name?: string | null;
  /** The time, or what else it waits for, as in a preview. */
  said: string;
  zone?: string | null;
  /** Of what waits for files: which, as globs below the folder, beside those that the words name. */
  globs?: string[];
  /** Of what waits for files: seconds that one must have been left alone; 2 when absent. */
  quiet_seconds?: number | null;
  /** What is to be done each time; a playbook may leave it empty. */
  goal?: string;
  /** The folder to work in, absolute. */
  workspace: string;
  /** Who proposes: a model or a playbook. */
  reasoner?: Reasoner;
  /** What becomes of missed times; the newest is made up for when absent. */
  catch_up?: CatchUpKind | null;
  /** With `newer`: how many at most. */
  catch_up_most?: number | null;
  /** Minutes after which a time is too late in any case. */
  grace_minutes?: number | null;
  /** The policy profile of its tasks; `local_edit_allowed` when absent. */
  profile?: string | null;
  /** What each run may spend. */
  budget?: Budget;
  /** What bounds its runs beside that. */
  limits?: Limits;
  /** The conversation that its tasks report into. */
  conversation?: string | null;
  /** Whether a run is reported only where it changed something, asked, was denied something or failed. */
  quiet?: boolean;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** The schedule whose times pass from now on. */
export interface Pause {
  name: string;
  reason?: string | null;
}

/** The schedule that fires again. */
export interface Resume {
  name: string;
  /** What a person signed; not needed in the process that holds the store. */
  signed?: PersonSigned | null;
}

/** The schedule that is removed. */
export interface Remove {
  name: string;
  reason?: string | null;
}

/** The schedule whose task begins now. */
export interface Run {
  name: string;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** The schedule whose last runs are judged again. */
export interface Rehearse {
  name: string;
  /** How many of them, 1 to 20; 10 when absent. */
  runs?: number | null;
}

/** The times of a month, or of a span. */
export interface Calendar {
  /** A month such as `2026-11`; this month when absent, unless a span is named. */
  month?: string | null;
  /** Instead of a month: from when, ms. */
  from?: number | null;
  /** Until when, ms, without that instant; at most 62 days later. */
  to?: number | null;
  /** The time zone whose days are told, by its name; that of the host when absent. */
  zone?: string | null;
  /** One schedule alone, also one that is removed. */
  name?: string | null;
}

/** Every schedule that stands, by name. */
export interface Schedules {
  schedules: Schedule[];
}

/** A schedule as it stands. */
export interface Schedule {
  name: string;
  version: number;
  state: ScheduleState;
  /** Why, where it is paused or removed. */
  why: string | null;
  /** Whether it paused itself, where it is paused: it waits for a person. */
  by_itself: boolean;
  /** The time as it was said. */
  said: string;
  /** As it is read: a cron expression, a period, or what else it waits for. */
  rule: string;
  zone: string;
  /** What it waits for, where that is no time. */
  waits_for: ScheduleTrigger | null;
  /** Why that cannot be seen now, where it cannot. */
  unseen: Unseen | null;
  /** How its hook stands, where it waits for one. */
  hook: ScheduleHook | null;
  /** What is done each time. */
  goal: string;
  folder: string;
  /** The playbook, or the model with its address. */
  worker: string;
  /** The policy profile of its tasks. */
  profile: Profile;
  /** Its next times. */
  next: Due[];
  catch_up: CatchUpKind;
  catch_up_most: number | null;
  grace_minutes: number | null;
  /** What bounds its runs beside their budget. */
  limits: Limits;
  /** Whether a run is reported only where it changed something, asked, was denied something or failed. */
  quiet: boolean;
  since: number;
  /** Times that fired, and that were passed over. */
  fired: number;
  passed_over: number;
  /** The newest runs, the newest first. */
  runs: ScheduleRun[];
  /** The newest times that were passed over. */
  last_passed_over: PassedOverAt | null;
  artifact_id: string;
  /** Which machines may run it, and which one does, where the mesh holds it. */
  held_by?: ScheduleHolder | null;
}

/** Machines that may run a schedule, and the one that does. */
export interface ScheduleHolder {
  /** Those that may, by name, the first one first. */
  nodes: string[];
  /** The one that does; none where none took it yet. */
  holder: string | null;
  /** Which of them that is, from 1. */
  rank: number | null;
  /** Whether it is this machine. */
  is_here: boolean;
  /** Those that cannot run it now: their person did not approve the same schedule, it is paused there, or its folder is missing. */
  unready: string[];
  /** Whether it waits here: no way to another machine is open, so this one begins nothing of it until one is. */
  is_cut_off?: boolean;
}

/** What a schedule waits for that is no time. */
export interface ScheduleTrigger {
  kind: TriggerKind;
  /** Of files: which, as globs below the folder; all where there are none. */
  globs: string[];
  /** Of files: which changes. */
  changes: FileChanges | null;
  /** Of files: milliseconds that one must have been left alone. */
  quiet_ms: number | null;
  /** Of a ref: its whole name. */
  ref_name: string | null;
  /** Of an end: the schedule's name, or the task's identifier. */
  of: string | null;
  /** Of an end: which. */
  end: RunEnd | null;
  /** Of a hook: its name. */
  hook: string | null;
  /** Of a resource: the name of its server of tools. */
  server?: string | null;
  /** Of a resource: its address there. */
  resource?: string | null;
  /** Of a resource, and of events: minutes from one look to the next. */
  every_minutes?: number | null;
  /** Of events: which, in words. */
  events?: string | null;
  /** Of events: the relays that are asked. */
  relays?: string[] | null;
  /** Of a machine: its name. */
  machine?: string | null;
  /** Of a machine: what of it. */
  machine_event?: MachineEvent | null;
  /** Of a machine that is silent: for how many minutes. */
  silent_minutes?: number | null;
}

/** How a hook stands that a schedule waits for. */
export interface ScheduleHook {
  name: string;
  /** Where it is called, below the address of the host. */
  path: string;
  /** The handle of the secret that calls are signed with. */
  secret: string;
  /** Whether there is one: until then no call is taken. */
  has_secret: boolean;
  /** Calls that were taken. */
  called: number;
  /** Of these, how many wait for a run. */
  waiting: number;
  /** Calls that were refused, as far as that is on record: it is put there once an hour at most. */
  refused: number;
  /** Why the newest of those was. */
  last_refused: CallRefused | null;
}

/** A time at which something is due. */
export interface Due {
  /** When, ms. */
  at: number;
  /** By the clock of its zone, with what that clock does to it. */
  text: string;
}

/** A run that a schedule began. */
export interface ScheduleRun {
  /** The time that fired, or at which what it waited for was seen, ms. */
  slot_at: number;
  task_id: string;
  status: string | null;
  /** How it went, as lists of runs tell it: `expired` where its time was up. */
  run_status: RunStatus | null;
  /** The machine whose run of this time counts, where two began it and this one does not. */
  counts_instead?: string | null;
}

/** Times that were passed over. */
export interface PassedOverAt {
  /** Until when, ms. */
  until: number;
  why: PassedOver;
}

/** A time, or what else is waited for, as it is read. */
export interface Previewed {
  rule: string;
  zone: string;
  /** What is waited for, where that is no time. */
  waits_for: ScheduleTrigger | null;
  /** The next times; none where it is no time. */
  next: Due[];
  /** What the words say that must be so for a run to begin. */
  only: Condition[];
  /** Per cent that the words say the battery must have more than. */
  battery_above?: number | null;
}

/** What the last runs of a schedule would ask today. */
export interface Rehearsal {
  name: string;
  version: number;
  /** All of it in a sentence. */
  summary: string;
  /** Runs that were looked at; none where there was none yet. */
  runs: number;
  /** What they did or asked for, each judged by the policy of today. */
  acts: number;
  /** Of these, what policy allows by itself. */
  allowed: number;
  /** What a standing grant allows. */
  granted: number;
  /** What a person is asked about. */
  asked: number;
  /** What policy denies. */
  denied: number;
  /** What policy allows in a lesser form only. */
  lesser: number;
  /** Acts beside these that cannot be judged again: something of them is erased. */
  unreadable: number;
  /** Whether there were more acts than are judged at once. */
  is_cut: boolean;
  /** The standing grants that hold in its runs as it is now, the narrowest first. */
  grants: GrantOfRuns[];
  /** The acts, those of the newest run first. */
  rows: RehearsedAct[];
}

/** A standing grant that holds in the runs of a schedule. */
export interface GrantOfRuns {
  grant_id: string;
  /** What it allows, in a sentence. */
  words: string;
  /** How often it can still be used. */
  left: number;
  expires_at: number;
  /** The acts that it would allow. */
  acts: number;
}

/** An act of a run, judged again. */
export interface RehearsedAct {
  action_request_id: string;
  task_id: string;
  /** The time whose run it belongs to, ms. */
  slot_at: number;
  summary: Text;
  /** What policy says today. */
  verdict: PolicyVerdict;
  /** The standing grant by which it is allowed. */
  grant_id: string | null;
  /** The rules that decide. */
  rules: string[];
  /** Why, in words. */
  reason: string;
  /** What policy said then. */
  was: PolicyVerdict;
  /** What a person answered then. */
  answered: ApprovalStatus | null;
}

/** The times of a span, and what became of each. */
export interface Times {
  /** From when until when, ms. */
  from: number;
  to: number;
  /** The time zone whose days are told. */
  zone: string;
  /** The day of now there, such as `2026-11-28`. */
  today: string;
  /** In order. */
  entries: TimeEntry[];
  /** Schedules of which not every time is here, by name: ask for one alone, or for less. */
  cut: string[];
  /** Schedules that were not looked at, because there are so many. */
  left_out: number;
}

/** One time of a schedule; or several that were passed over together. */
export interface TimeEntry {
  schedule: string;
  /** When, ms; of several the first. */
  at: number;
  /** Its day, such as `2026-11-28`; of several that began before the span, the first day of it. */
  day: string;
  /** Its time of day, such as `08:30`. */
  time: string;
  state: SlotState;
  /** Why it was passed over. */
  why: PassedOver | null;
  /** How many there are, where they can be counted. */
  times: number | null;
  /** Of several the last, by the clock of the zone. */
  until: string | null;
  /** What it was that it waited for, in words, where that is no time. */
  because: string | null;
  /** The task of its run. */
  task_id: string | null;
  /** How that stands. */
  run_status: RunStatus | null;
}
