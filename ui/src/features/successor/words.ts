// What the page says of changes of Hermit, and of what trials of them came to.
import type { TrialRow } from "~/ipc/generated/successor";
import type { BudgetPart, PatchKind, TrialStage, TrialState, VerdictOutcome } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import { bytes } from "~/primitives/Diff";
import { many } from "~/primitives/number";
import { type Look, capital, plain } from "~/screen/words";

const KIND: Readonly<Record<PatchKind, string>> = { policy: "Rules of policy", words: "Words", model: "Standard model", code: "Source of Hermit" };

export function kindName(kind: PatchKind): string {
  return lookUp(KIND, kind, capital(plain(kind)));
}

const OUTCOME: Readonly<Record<VerdictOutcome, Look>> = {
  better: { tone: "done", mark: "done", word: "Better" },
  same: { tone: "mute", mark: "idle", word: "The same" },
  worse: { tone: "failed", mark: "failed", word: "Worse" },
  unsafe: { tone: "failed", mark: "failed", word: "Unsafe" },
  inconclusive: { tone: "unknown", mark: "unknown", word: "Inconclusive" },
};

const STATE: Readonly<Record<TrialState, Look>> = {
  running: { tone: "running", mark: "running", word: "Running" },
  judged: { tone: "unknown", mark: "unknown", word: "Judged" },
  stopped: { tone: "mute", mark: "idle", word: "Stopped" },
  failed: { tone: "failed", mark: "failed", word: "Could not be tried" },
  adopted: { tone: "done", mark: "done", word: "Adopted" },
  returned: { tone: "mute", mark: "idle", word: "Taken back" },
};

/** How a trial stands: its verdict once there is one. */
export function standing(row: Pick<TrialRow, "state" | "outcome">): Look {
  const other: Look = { tone: "unknown", mark: "unknown", word: "Not known" };
  return row.outcome !== null ? lookUp(OUTCOME, row.outcome, other) : lookUp(STATE, row.state, other);
}

const STAGE: Readonly<Record<TrialStage, string>> = {
  waiting: "Waiting until another change is built",
  building_base: "Building Hermit without the change first, once for this version",
  building: "Building Hermit with the change",
  testing: "Running its tests",
  playing: "Doing your work again",
};

/** What became of a change after its verdict, or what a trial of the source is at; nothing while it is only judged. */
export function after(row: Pick<TrialRow, "state" | "outcome" | "kind" | "stage">): string | null {
  if (row.state === "running") return row.kind === "code" && row.stage !== null ? lookUp(STAGE, row.stage, capital(plain(row.stage))) : null;
  return row.outcome === null || row.state === "judged" ? null : lookUp(STATE, row.state, { tone: "unknown", mark: "unknown", word: "Not known" }).word;
}

const MEASURE: Readonly<Record<string, string>> = {
  questions: "Questions to you", tokens: "Tokens", turns: "Turns", denials: "Denials", wall_ms: "Time", cpu_ms: "Processor time", memory_bytes: "Memory",
};

export function measureName(name: string): string {
  return lookUp(MEASURE, name, capital(plain(name)));
}

const PART: Readonly<Record<BudgetPart, string>> = {
  wall_time: "time", cpu_time: "processor time", memory: "memory", disk: "disk space", processes: "processes", tokens: "tokens",
};

/** A part of a budget, within a sentence. */
export function partName(part: BudgetPart): string {
  return lookUp(PART, part, plain(part));
}

/** A measured number with its unit. */
export function measured(name: string, number: number): string {
  if (name === "wall_ms" || name === "cpu_ms") return number < 100 ? `${number} ms` : `${(Math.floor(number / 100) / 10).toFixed(1)} s`;
  return name === "memory_bytes" ? bytes(number) : many(number);
}

const SAID: Readonly<Record<string, string>> = { allow: "allowed", require_approval: "asked you", deny: "denied", downgrade: "did less" };

/** What policy said of an act in one arm. */
export function saidOf(verdict: string | null): string {
  return verdict === null ? "not done" : lookUp(SAID, verdict, plain(verdict));
}
