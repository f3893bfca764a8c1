// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";
import type { ActionClass, ApprovalStatus, PolicyVerdict, Profile, RiskBand, RuleEffect, RuleScope } from "./words";

export type { Submitted } from "./task";

/** Rules on trial: the shipped ones with a change. They are in force nowhere. */
export interface Trial {
  /** Further Cedar rules; each `@id` begins with `trial.`. */
  rules?: string | null;
  /** Names of rules that are left out. */
  without?: string[];
}

/** An act that nobody proposed, for asking what policy would say to it. */
export type Act =
  /** Reads a file. */
  | { kind: "read"; path: string }
  /** Writes a file. */
  | { kind: "write"; path: string; replaces?: boolean }
  /** Deletes a file. */
  | { kind: "delete"; path: string }
  /** Moves a file. */
  | { kind: "move"; from: string; to: string }
  /** Runs a command. */
  | { kind: "command"; argv: string[]; network?: boolean }
  /** Asks a server. */
  | { kind: "fetch"; url: string; method?: string | null };

/** Nothing to say. */
export type Profiles = Record<string, never>;

/** Of which profile. */
export interface Rules {
  profile: string;
  trial?: Trial;
}

/** What would policy say to this act? */
export interface Test {
  /** `local_edit_allowed` and others; the careful standard when absent. */
  profile?: string | null;
  act: Act;
  /** Whether the proposer had read anything untrusted. */
  untrusted?: boolean;
  /** The walls a command would get: `namespaces_landlock` and others; full ones when absent. */
  walls?: string | null;
  trial?: Trial;
}

/** What would these rules have said to every act of the history? */
export interface Backtest {
  /** Another profile for all of it; each act's own when absent. */
  profile?: string | null;
  trial?: Trial;
  /** Only acts of so many days back. */
  days?: number | null;
  /** Rows of the answer at most; counts are of everything. */
  limit?: number | null;
}

/** Which standing grants would have given the answers that a person gave? */
export interface Suggest {
  /** Only answers of so many days back. */
  days?: number | null;
}

/** Are these permission rules? */
export interface Check {
  /** `user`, `project`, `task`. */
  scope?: string | null;
  text: string;
}

/** A denied act, and why it should be asked about after all. */
export interface DraftOverride {
  /** The action request, or an approval or receipt of it. */
  act: string;
  reason: string;
  /** For so many hours; one, when absent. */
  hours?: number | null;
  /** So often; once, when absent. */
  uses?: number | null;
}

/** An override as signed. */
export interface AllowOverride {
  act: string;
  /** The DSSE envelope, base64. */
  envelope: string;
}

/** A person's own rules. */
export interface OwnRules {
  /** Count what each decided of so many days back; without it nothing is counted. */
  days?: number | null;
}

/** What would a change of a person's own rules change? Nothing is asked and nothing changed by it. */
export interface DraftRules {
  /** The line at which the rule stands that is changed or removed; a new rule has none. */
  line?: number | null;
  /** The rule, with its examples and its reason; without it the one at `line` is removed. */
  rule?: string | null;
  /** The digest of the rules that the person saw. */
  was_sha256: string;
  /** Only acts of so many days back. */
  days?: number | null;
  /** Rows of the answer at most; counts are of everything. */
  limit?: number | null;
}

/** A change of a person's own rules, which a task asks them about. */
export interface ChangeRules {
  /** The line at which the rule stands that is changed or removed; a new rule has none. */
  line?: number | null;
  /** The rule, with its examples and its reason; without it the one at `line` is removed. */
  rule?: string | null;
  /** The digest of the rules that the person saw. */
  was_sha256: string;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** Why did policy say what it said? */
export interface Explain {
  /** An approval or a receipt, or the beginning or end of its identifier; or an action request. */
  about: string;
}

/** Profiles. */
export interface ProfileList {
  rows: ProfileRow[];
}

/** A profile. */
export interface ProfileRow {
  profile: Profile;
  /** What it allows, in a sentence. */
  about: string;
  rules: number;
  /** Digest of its rules: its version. */
  policy_set_sha256: string;
}

/** Rules of a profile. */
export interface RuleList {
  profile: Profile;
  rows: RuleRow[];
}

/** A rule. */
export interface RuleRow {
  name: string;
  /** `permit`, `forbid`, `ask`, `downgrade`. */
  effect: RuleEffect;
  reason: string;
  /** Cedar. */
  text: string;
}

/** What policy says. */
export interface Judged {
  profile: Profile;
  /** `allow`, `require_approval`, `deny`, `downgrade`. */
  verdict: PolicyVerdict;
  /** The lesser form, with a downgrade, as its rule names it. */
  downgrade: string | null;
  /** With an act that is done instead of another: that other one, in a line, and by which rules. */
  instead_of: string | null;
  risk: RiskBand;
  classes: ActionClass[];
  summary: string;
  risk_summary: string;
  reasons: string;
  /** The rules that decided. */
  rules: RuleRow[];
  /** How many different keys have to say yes, where one is not enough. */
  need?: number | null;
}

/** Standing grants that would have given a person's answers, those that spare most questions first. */
export interface Suggestions {
  /** Questions that a person answered with yes. */
  allowed: number;
  /** Of these, those that no narrow grant covers without covering what was refused or never answered. */
  left: number;
  rows: Suggestion[];
}

/** One of them. */
export interface Suggestion {
  /** What it would allow, in a sentence. */
  words: string;
  /** What a person would sign, but for its identifier, its time, the surface and who signs. */
  draft: unknown;
  /** Questions it would have answered as the person did. */
  answers: number;
}

/** Rules that are accepted. */
export interface Checked {
  scope: RuleScope;
  rules: number;
  /** What they compile to. */
  cedar: string;
}

/** A person's own rules. */
export interface OwnRuleList {
  /** The digest of those that were approved on cards, all of them. */
  sha256: string;
  /** These as they are written, all of them. */
  text: string;
  rows: OwnRule[];
  /** Acts that were judged again to count what each decided; 0 when nothing was to be counted. */
  judged: number;
}

/** A rule of a person. */
export interface OwnRule {
  /** `signed` when it was approved on a card, `user` when it stands in the file of rules. */
  scope: string;
  /** The line at which it begins. */
  line: number;
  /** The rule with its examples and its reason, as it is written. */
  text: string;
  /** What it means. */
  words: string;
  /** Acts of which it decided; 0 when nothing was to be counted. */
  decided: number;
}

/** What a change of a person's own rules would change. */
export interface RulesDraft {
  /** What the rule meant; none for a new one. */
  before: string | null;
  /** What it would mean; none for one that is removed. */
  after: string | null;
  /** What of the last acts would have been answered differently. */
  told: Backtested;
}

/** An override in the making. */
export interface OverrideDraft {
  task_id: string;
  action_request_id: string;
  /** What would be overridden, in a sentence. */
  words: string;
  /** What a person would sign, but for its identifier, its time, the surface and who signs. */
  draft: unknown;
  /** What policy said. */
  denied: Judged;
}

/** From now on a person is asked instead. */
export interface OverrideAllowed {
  grant_id: string;
  task_id: string;
}

/** What other rules would have said. */
export interface Backtested {
  /** Acts judged again. */
  judged: number;
  /** Those that would have been answered differently. */
  changed: number;
  /** Those that could not be judged again, because what they were is gone. */
  unreadable: number;
  /** How often each answer would have become which. */
  counts: Turn[];
  /** Acts answered differently, the newest first. */
  rows: Changed[];
}

/** An answer and what it would have become. */
export interface Turn {
  was: PolicyVerdict;
  would: PolicyVerdict;
  acts: number;
  /** Of these, those that a person had allowed. */
  allowed: number;
  /** Of these, those that a person had refused. */
  refused: number;
}

/** An act that would have been answered differently. */
export interface Changed {
  action_request_id: string;
  task_id: string;
  at: number;
  class: ActionClass | null;
  summary: Text;
  was: PolicyVerdict;
  would: PolicyVerdict;
  /** The rules that would have decided. */
  rules: string[];
  /** `granted` or `denied`, when a person answered. */
  answered: ApprovalStatus | null;
}
