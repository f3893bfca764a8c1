// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { PersonSigned } from "./shared";
import type { LeftOutReason, TrainingState } from "./words";

/** What a dataset of the work so far would hold. */
export interface Preview {
  /** Whether time alone divides what is held out: for work in one project. */
  by_time?: boolean;
}

/** A dataset that is kept as it was shown. */
export interface Curate {
  by_time?: boolean;
  /** The digest of what was shown. */
  shown: string;
}

/** Datasets, runs and recalls. */
export type List = Record<string, never>;

/** A run to begin, or to go on with. */
export interface Run {
  /** The dataset; the newest when absent. */
  dataset?: string | null;
  /** A model in the box, such as `smollm2-135m`. */
  base?: string | null;
  /** Its licence by its SPDX identifier, where the box does not say it. */
  licence?: string | null;
  steps?: number | null;
  /** Rank of the adapter. */
  rank?: number | null;
  /** Examples of a step. */
  batch?: number | null;
  /** Tokens of an example. */
  tokens?: number | null;
  /** How far a step goes, such as `0.0005`. */
  rate?: string | null;
  /** Seconds that it may take, pauses left out. */
  seconds?: number | null;
  /** Millions of bytes of memory that it may use. */
  memory_mb?: number | null;
  threads?: number | null;
  /** What chance is made from. */
  seed?: number | null;
  /** How its model is stored: `F16`, `Q8_0` or `Q4_1`. */
  quant?: string | null;
  /** Whether it also works on battery, and while somebody is at the machine. */
  always?: boolean;
  /** The run to go on with; its settings are those that it was begun with. */
  resume?: string | null;
}

/** A run that machines of the mesh learn together; this one leads it. */
export interface Together {
  /** Its name. */
  name: string;
  /** The other machines, by name or key. */
  with: string[];
  rounds?: number | null;
  /** Places of a hundred that each machine sends in a round. */
  percent?: number | null;
  /** Seconds that a round waits for machines that sent nothing, once three did. */
  patience_s?: number | null;
  /** As for a run of this machine alone; its steps are those of a round. */
  run?: Run;
  signed?: PersonSigned | null;
}

/** An invitation of another machine to learn together, taken up. */
export interface Join {
  /** The run. */
  name: string;
  /** The machine that leads it, by name or key, where several are named so. */
  from?: string | null;
  /** What is this machine's own of the run: dataset, licence, threads, and when it works. */
  run?: Run;
  signed?: PersonSigned | null;
}

/** How the run in hand stands. */
export type Stands = Record<string, never>;

/** The run in hand does no further step for now. */
export type Pause = Record<string, never>;

/** The run in hand writes a checkpoint and ends. */
export type Stop = Record<string, never>;

/** What a run has learned is measured. */
export interface Prove {
  run: string;
}

/** A model with the adapter of a run. */
export interface Export {
  run: string;
  /** Its name among the models in the box. */
  name?: string | null;
}

/** What is not to be learned from any more. */
export interface Recall {
  /** A task, a receipt, an artifact, or a folder by its path. */
  source: string;
}

/** Whether work in a folder is left out. */
export interface Private {
  folder: string;
  private: boolean;
}

/** What a dataset would hold, and what is left out. */
export interface Curation {
  /** The digest of it, by which it is kept. */
  sha256: string;
  /** How many examples there are. */
  examples: number;
  /** How many of them are held out. */
  held_out: number;
  /** How many receipts are behind what is learned from. */
  receipts: number;
  receipts_root: string;
  projects: number;
  /** Whether what is held out is new in time alone. */
  by_time: boolean;
  left_out: LeftOut[];
  shown: ShownExample[];
  /** Folders whose work is left out. */
  private: string[];
  /** Those of them that are not there: work where one was moved to is not left out. */
  missing: string[];
  /** Why no dataset can be made, where that is so. */
  trouble: string | null;
}

/** Turns that are left out for one reason. */
export interface LeftOut {
  why: LeftOutReason;
  turns: number;
  /** Some of the tasks. */
  tasks: string[];
}

/** One example. */
export interface ShownExample {
  id: string;
  task_id: string;
  /** Turns that the model was shown. */
  turns: number;
  /** The beginning of the last of them. */
  asked: string;
  /** The beginning of the answer. */
  answer: string;
  receipts: string[];
  held_out: boolean;
  at: number;
}

/** Datasets, runs and recalls, the newest first. */
export interface Trainings {
  datasets: DatasetRow[];
  runs: RunRow[];
  recalls: RecallRow[];
}

/** A dataset. */
export interface DatasetRow {
  dataset_id: string;
  sha256: string;
  examples: number;
  held_out: number;
  left_out: number;
  receipts_root: string;
  /** The one that it took the place of. */
  replaces: string | null;
  /** Whether its content was let go, by a recall or an erasure. */
  gone: boolean;
  at: number;
}

/** A run that ended with an adapter. */
export interface RunRow {
  run_id: string;
  dataset_id: string;
  base_sha256: string;
  adapter_id: string;
  /** Whether it may be used. */
  offered: boolean;
  /** Why, or why not. */
  words: string | null;
  before: MeasuresRow | null;
  after: MeasuresRow | null;
  /** Exact next acts of a thousand that the most frequent answer would have. */
  baseline_per_mille: number | null;
  /** On which devices and machines it was done, in words; none where nobody said. */
  ran_on: string[];
  exported: ExportRow | null;
  /** Since when something that it saw is recalled. */
  recalled: number | null;
  at: number;
}

/** What was measured on held-out examples. */
export interface MeasuresRow {
  examples: number;
  /** Exact next acts of a thousand. */
  next_act_per_mille: number;
  /** Acts with a valid form, of a thousand. */
  valid_per_mille: number;
  /** Perplexity of the true answers, with three digits. */
  perplexity: string;
}

/** A model with an adapter. */
export interface ExportRow {
  name: string;
  /** What to name it by in a task. */
  address: string;
  sha256: string;
  /** Its card. */
  card_id: string;
  at: number;
}

/** A recall. */
export interface RecallRow {
  /** What was named, unless that was erased. */
  source: string | null;
  /** Datasets that lost examples. */
  datasets: string[];
  /** Runs whose adapters saw some. */
  runs: string[];
  at: number;
}

/** What a recall came to. */
export interface Recalled {
  recall: RecallRow;
  /** What to know of the default model, where it learned from it. */
  standard: string | null;
}

/** How training stands in the process that holds the store. */
export interface RunStands {
  run: LiveRun | null;
  /** Runs that can be gone on with. */
  resumable: string[];
  /** Other machines that ask whether this one learns together with them. */
  invitations: InvitationRow[];
  /** Folders whose work is left out. */
  private: string[];
  /** Why no run can be begun here, where that is so. */
  trouble: string | null;
}

/** An invitation of another machine to learn together. */
export interface InvitationRow {
  name: string;
  /** The machine, by name. */
  from: string;
  /** Its key. */
  node: string;
  base_sha256: string;
  rounds: number;
  /** Steps of a round. */
  steps: number;
}

/** How a run stands that machines learn together. */
export interface TogetherRow {
  name: string;
  /** The machine that leads; none where it is this one. */
  lead: string | null;
  /** The other machines that are here, as far as this one knows. */
  machines: string[];
  /** The round that is learned, from 0. */
  round: number;
  rounds: number;
  /** Messages that were counted in the last round. */
  counted: number;
  /** Bytes that this machine sent to others. */
  sent_bytes: number;
  /** Bytes that plain averaging would have sent in the place of the messages among them. */
  plain_bytes: number;
}

/** The run in hand, or the last one. */
export interface LiveRun {
  run_id: string;
  state: TrainingState;
  dataset_id: string;
  base: string;
  step: number;
  steps: number;
  /** Losses by step, thinned where there are many. */
  losses: LossPoint[];
  /** Examples in a thousand seconds. */
  examples_per_ks: number;
  /** The most bytes of memory so far. */
  memory: number;
  /** On which devices and machines it was done so far, in words. */
  ran_on: string[];
  /** The step of the newest checkpoint. */
  checkpoint: number | null;
  /** What it waits for, why it ended, or what came of it. */
  words: string | null;
  /** How it stands with other machines, where it is learned together. */
  together: TogetherRow | null;
  begun_at: number;
}

/** The mean loss at one step. */
export interface LossPoint {
  step: number;
  /** In millionths. */
  micros: number;
}

/** Folders whose work is left out. */
export interface PrivateFolders {
  folders: string[];
  /** Those of them that are not there: work where one was moved to is not left out. */
  missing: string[];
  /** Datasets that are kept and hold work of the folder that was marked; a recall of the folder takes it out of them. */
  learned: string[];
}
