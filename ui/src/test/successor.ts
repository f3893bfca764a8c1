// A trial of a change of Hermit as a host tells it.
import type { Trial, TrialRow, TrialVerdict } from "~/ipc/generated/successor";

const HASH = "c0ffee00".repeat(8);
const TASK = "task_01a2000000007000800000000000000b";

export function trialRow(more: Partial<TrialRow> = {}): TrialRow {
  return {
    trial_id: "trial_01a20000000070008000000000000001", group: null, proposed_by: null, kind: "policy", says: "Documents may be edited unasked", about: "it asks less and breaks nothing",
    state: "judged", stage: null, outcome: "better", why: null, tasks: 1, seed: 7, began_at: Date.UTC(2026, 10, 22, 1, 0), ended_at: Date.UTC(2026, 10, 22, 1, 2),
    measures: [{ name: "questions", parent: 12, successor: 4, measured_by: "parent" }, { name: "tokens", parent: 1_000, successor: 1_000, measured_by: "parent" }], asked: null, ...more,
  };
}

export function trialVerdict(more: Partial<TrialVerdict> = {}): TrialVerdict {
  return {
    reasons: [{ rule: "costs_less", says: "questions: 4 instead of 12" }], tests: null, planted: [{ name: "planted_widest_profile", refused: true }, { name: "judge_empty_output", refused: true }],
    used: { wall_ms: 900, cpu_ms: 700, memory_bytes: 1_000, disk_bytes: 1_000, processes: null, tokens: 0 }, ended_for: null, constitutional: [], opinion: null,
    differences: [{ task_id: TASK, summary: "Edit docs/plan.md", class: "write_local", before: "require_approval", after: "allow", effect_differs: false }],
    more_differences: 0, has_evidence: true, verdict_sha256: HASH, evidence_sha256: [HASH, HASH], evaluator_sha256: HASH, is_signed: true, ...more,
  };
}

export function trial(more: Partial<Trial> = {}): Trial {
  return {
    trial: trialRow(), patch_sha256: HASH, sources: ["my own idea"], changes: [{ what: "rules", text: "deny FileDelete(**)\nallow FileEdit(docs/**)" }], tasks: [TASK], left_out: [],
    budget: { wall_ms: 600_000, cpu_ms: 1_200_000, memory_bytes: 1_000, disk_bytes: 1_000, processes: 64, tokens: 1_000_000 }, verdict: trialVerdict(), edited_tests: [], waits_for_look: false, rivals: [], ...more,
  };
}
