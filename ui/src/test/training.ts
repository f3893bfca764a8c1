// Training as a host tells it: one adapter that was worse, and no run in hand.
import type { Curation, DatasetRow, LiveRun, RunRow, RunStands, Trainings } from "~/ipc/generated/training";

export const DATASET: DatasetRow = { dataset_id: "art_1", sha256: "ab".repeat(32), examples: 40, held_out: 8, left_out: 11, receipts_root: "cd".repeat(32), replaces: null, gone: false, at: 1_700_000_000_000 };

export const runRow = (more: Partial<RunRow> = {}): RunRow => ({
  run_id: "run_0a", dataset_id: "art_1", base_sha256: "ef".repeat(32), adapter_id: "art_2", offered: false, words: "true answers are less likely to it",
  before: { examples: 8, next_act_per_mille: 125, valid_per_mille: 500, perplexity: "9.125" }, after: { examples: 8, next_act_per_mille: 250, valid_per_mille: 750, perplexity: "4.500" },
  baseline_per_mille: 100, ran_on: ["cpu, 2 threads, x86_64 linux"], exported: null, recalled: null, at: 1_700_000_100_000, ...more,
});

export const liveRun = (more: Partial<LiveRun> = {}): LiveRun => ({
  run_id: "run_0b", state: "learning", dataset_id: "art_1", base: "smollm2-135m", step: 3, steps: 200, losses: [{ step: 1, micros: 4_000_000 }, { step: 2, micros: 3_000_000 }, { step: 3, micros: 2_500_000 }],
  examples_per_ks: 1_500, memory: 900_000_000, ran_on: ["cpu, 2 threads, x86_64 linux"], checkpoint: 2, words: null, together: null, begun_at: 1_700_000_000_000, ...more,
});

export const TRAININGS: Trainings = { datasets: [DATASET], runs: [runRow()], recalls: [] };
export const NO_RUN: RunStands = { run: null, resumable: [], invitations: [], private: [], trouble: null };

export const CURATION: Curation = {
  sha256: "12".repeat(32), examples: 10, held_out: 2, receipts: 9, receipts_root: "34".repeat(32), projects: 2, by_time: false,
  left_out: [{ why: "denied", turns: 1, tasks: ["task_1"] }, { why: "secret", turns: 3, tasks: ["task_2"] }],
  shown: [{ id: "56".repeat(32), task_id: "task_1", turns: 2, asked: "Name the notes \u202e by date", answer: "{\"tool\":\"done\"}", receipts: ["rcp_1"], held_out: false, at: 1_700_000_000_000 }],
  private: ["/home/me/letters"], missing: [], trouble: null,
};
