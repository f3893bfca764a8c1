// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { AnswerCheck } from "./answer";
import type { Page, PartOf, PersonSigned, Text } from "./shared";
import type { ActionClass, ActionState, AttemptStatus, Channel, ClarificationStatus, CriterionOutcome, IngressResolution, Origin, PolicyVerdict, Priority, Profile, Proposer, RefusedBy, ResultCode, RiskBand, RunStatus, SandboxLevel, Service, StepKind, StepStatus, TaskStatus, TerminationReason, UndoneExtent, WaitsFor, WordsBy } from "./words";

/** Who proposes. */
export type Reasoner =
  /** The model that the host is set up with. */
  | { kind: "standard" }
  /** An address as a person writes it, such as `openai:http://127.0.0.1:8080/v1#model`. */
  | { kind: "address"; address: string }
  /** A playbook: a shipped name, or the text of one. */
  | { kind: "playbook"; name: string; text?: string | null; parameters?: Record<string, string> }
  /** The agent of another program, which works as a guest in a staged view of the folder. */
  | { kind: "guest"; agent: string; hosts?: string[]; secrets?: Record<string, string>; reads?: string[]; environment?: Record<string, string> };

/** Limits of what a task may spend; what is absent takes the standard. */
export interface Budget {
  /** Model calls of one attempt. */
  iterations_max?: number | null;
  /** Tokens in and out. */
  tokens_max?: number | null;
  /** Milliseconds of work. */
  wall_ms_max?: number | null;
  /** Cost in micro-units of the provider's currency. */
  cost_micros_max?: number | null;
}

/** One step of a goal that is given in parts. */
export interface Part {
  /** Its name, by which later steps name it; its number when absent. */
  name?: string | null;
  /** What it is to reach; a playbook may leave it empty. */
  objective?: string;
  /** Earlier steps that must have succeeded first; the one before it when absent. */
  after?: string[] | null;
  /** Who proposes in this step, when not the task's own reasoner. */
  reasoner?: Reasoner | null;
  /** Classes of action it may request; empty allows those of its kind that the profile allows. */
  may?: string[];
  /** What it is for: `plan`, `search`, `inspect`, `edit`, `run_tests`, `prepare_patch`, `await_approval`, `publish_result`, `observe_remote`; `pursue` when absent. */
  kind?: string | null;
  /** What it is to leave, in words. */
  leaves?: string[];
  /** What must hold at its end, and is checked then, as for a task. */
  done_when?: string[];
  /** How to undo it, where that is not to undo each receipt. */
  undo?: string | null;
}

/** A goal, or a playbook, with everything it comes with. */
export interface Submit {
  /** What is to be done; a playbook may leave it empty. */
  goal?: string;
  /** The open message that it begins with, in the place of a goal: its words are the goal, and stay those of whoever sent them. */
  message?: string | null;
  /** The folder to work in, absolute. */
  workspace: string;
  /** Who proposes. */
  reasoner?: Reasoner;
  /** The goal in parts; empty is one step with the whole goal. */
  steps?: Part[];
  /** Policy profile: `readonly_analysis` and others; the careful standard when absent. */
  profile?: string | null;
  /** Paths of files to hand over, absolute. */
  attachments?: string[];
  budget?: Budget;
  /** What must not happen. */
  constraints?: string[];
  /** What must hold at the end, and is checked then: `file: PATH`, `no file: PATH`, `text: PATH: WORDS`, `command: WORDS`; anything else a person judges. */
  done_when?: string[];
  /** One line for lists. */
  title?: string | null;
  /** `low`, `normal`, `high`. */
  priority?: string | null;
  /** When it expires, ms. */
  deadline_at?: number | null;
  /** Whether a person is asked when it has used what it may, instead of ending there. */
  ask_at_limit?: boolean;
  /** Addresses of models that are asked when the one before does not answer, in order; 4 at most. */
  fallbacks?: string[];
  /** Whether a model on another machine may follow one on this machine. */
  fallback_remote?: boolean;
  /** Whether the goal was spoken and written down by a machine. */
  spoken?: boolean;
  /** The same key twice is the same task. */
  idempotency_key?: string | null;
  /** The surface: `cli`, `app`, ... */
  channel?: string | null;
}

/** Which tasks. */
export interface List {
  /** Of any of these statuses; empty is any. */
  status?: string[];
  /** How they stand: `waiting` for a person, `going` on, `done`, ended `otherwise`; `ended` is either of the last two. */
  group?: string | null;
  /** Only tasks in which these words stand. */
  search?: string | null;
  /** Only tasks in these folders, by the identifiers of `workspaces.list`; empty is any. */
  workspaces?: string[];
  /** Only tasks of this conversation. */
  conversation?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** How many tasks stand how. */
export type Count = Record<string, never>;

/** One task by identifier, or by its beginning or end. */
export interface Show {
  task: string;
}

/** See the table. */
export interface Pause {
  task: string;
}

/** See the table. */
export interface Resume {
  task: string;
}

/** See the table. */
export interface Cancel {
  task: string;
  reason?: string | null;
}

/** See the table. */
export interface Retry {
  task: string;
  idempotency_key?: string | null;
}

/** See the table. */
export interface Note {
  task: string;
  text: string;
  /** `steer`, which is usual: heard at the next turn. `queue`: when the task would else be done. `stop_and_send`: what it is at ends, and it begins anew with the words. */
  mode?: string | null;
  /** The identifier of what it quotes: a message, question, approval, receipt, or the attempt whose last words are quoted. */
  quotes?: string | null;
  /** The passage of it, word for word; all of it when absent. */
  passage?: string | null;
  /** Files that come with it, which were taken in before, by their artifacts. */
  encloses?: string[];
  /** Whether the words were spoken and written down by a machine. */
  spoken?: boolean;
  idempotency_key?: string | null;
  channel?: string | null;
}

/** See the table. */
export interface EditGoal {
  task: string;
  goal: string;
  /** Whether the goal was spoken and written down by a machine. */
  spoken?: boolean;
  channel?: string | null;
}

/** See the table. */
export interface SetPriority {
  task: string;
  /** `low`, `normal`, `high`. */
  priority: string;
}

/** Which steps, the newest first. */
export interface Steps {
  task?: string | null;
  /** `ready`, `running`, `blocked` and others; any when absent. */
  status?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** An answer; without `question` it is for the only open one. */
export interface Answer {
  task: string;
  question?: string | null;
  text: string;
  /** Whether the answer was spoken and written down by a machine. */
  spoken?: boolean;
  channel?: string | null;
}

/** Which questions. */
export interface Questions {
  task?: string | null;
  /** `pending` and others; any when absent. */
  status?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** What a person found: `succeeded`, `failed` or `partial`. */
export interface Settle {
  task: string;
  result: string;
  note: string;
  /** What a person signed; not needed in the process that holds the store. */
  signed?: PersonSigned | null;
}

/** Of which task. */
export interface WorkingState {
  task: string;
  after?: string | null;
  limit?: number | null;
}

/** What became of a submission. */
export interface Submitted {
  task_id: string;
  ingress_id: string;
  /** It had come in before; this is the first result. */
  duplicate: boolean;
}

/** Done; the task and where it stands now. */
export interface Done {
  task_id: string;
  status: TaskStatus;
}

/** A note was recorded. */
export interface Noted {
  task_id: string;
  ingress_id: string;
  /** What the words were, where they were a command. */
  resolution: IngressResolution | null;
  /** What a command did, and what it tells whoever gave it. */
  told: string[] | null;
  /** The task that a command made. */
  made: string | null;
}

/** One line of the list. */
export interface TaskRow {
  task_id: string;
  title: Text;
  status: TaskStatus;
  /** As the run API names it: `queued`, `running`, `awaiting_approval`, ... */
  run_status: RunStatus;
  reason: string;
  priority: Priority;
  profile: Profile;
  /** Who began it. */
  origin: Origin;
  /** The sender who began it in a chat, as the process that holds the store knows it; absent where none did. */
  from_chat: ChatSender | null;
  /** Who proposes in it; absent before it begins. */
  proposer: Proposer | null;
  created_at: number;
  updated_at: number;
  ended_at: number | null;
  /** Approvals that wait. */
  open_approvals: number;
  /** Questions that wait. */
  open_questions: number;
  /** Effects whose outcome nobody knows. */
  unknown_effects: number;
  /** Receipts of what was done; those of approvals do not count. */
  receipts: number;
  iterations: number;
  tokens_used: number;
  cost_micros: number;
  parent_task_id: string | null;
  /** Who refused it, when it ended and nothing but reading came of it: `policy`, `person`. */
  refused_by: RefusedBy | null;
  /** How much of what it did was undone since; absent where nothing was. */
  undone: UndoneExtent | null;
  /** It should be at work, and nobody works on it; absent where that cannot be known. */
  interrupted: boolean | null;
  /** The folder it works in, unless it was erased. */
  workspace: Text | null;
  /** Why it stopped, paused or broke off, in a sentence with what to do next; nothing while it works and when it succeeded. */
  because: Text | null;
}

/** A sender who began a task in a chat. */
export interface ChatSender {
  /** As they call themselves there; nobody has checked it. */
  sender_name: Text;
  service: Service;
  /** The gateway. */
  gateway: string;
}

/** How many tasks stand how. */
export interface TaskCounts {
  all: number;
  /** A person is waited for: an approval, a question, an outcome that nobody knows. */
  waiting: number;
  /** Not ended, and nobody is waited for. */
  going: number;
  ended: number;
}

/** What must hold at the end of a task. */
export interface Criterion {
  /** As it was given. */
  criterion: Text;
  /** What became of it; absent before the task would have ended. */
  outcome: CriterionOutcome | null;
  /** What was found, in a line. */
  found: Text | null;
  /** The receipt that bears it. */
  receipt_id: string | null;
}

/** One task. */
export interface Task {
  row: TaskRow;
  /** The conversation it belongs to. */
  conversation_id: string;
  goal: Text;
  channel: Channel;
  /** The folder, unless it was erased. */
  workspace: Text | null;
  /** Who proposes, in a line. */
  reasoner: string;
  constraints: string[];
  /** What must hold at the end, and what was found when that was checked last. */
  criteria: Criterion[];
  tokens_max: number;
  cost_micros_max: number;
  wall_ms: number;
  wall_ms_max: number;
  deadline_at: number | null;
  /** Why its loop ended. */
  termination: TerminationReason | null;
  /** Its last words. */
  summary: Text | null;
  /** Whose words those are. */
  summary_by: WordsBy | null;
  /** Receipts of what was done in this task: what its last words claim beyond them, nobody has verified. */
  verified_by: string[];
  /** The artifact with its answer. */
  answer_ref: string | null;
  /** What bears each sentence of its last words; absent where those are not a model's. */
  answer_check?: AnswerCheck | null;
  /** What it waits for, if it waits. */
  waits_for: Waits | null;
  /** It should be at work, and its host does not work on it; absent where that cannot be known. */
  interrupted: boolean | null;
  /** What its proposer has said of an answer that is not recorded yet, or in whose middle the run was ended, out of the run stream; never truth. */
  writing: string | null;
  /** What it has reasoned before, of the same answer; never truth, and no part of it. */
  thinking?: string | null;
  /** The asking that both answer; absent where nothing is told of one. */
  asking?: Asking | null;
  /** The last event's place. */
  last_seq: number;
  attempts: Attempt[];
  actions: Action[];
  /** The ended task that it follows, whose outcome it was told. */
  follows: string | null;
  /** Tasks derived from it. */
  children: string[];
}

/** One asking of a proposer, as its notices name it, and where in its answer the words that are told begin. */
export interface Asking {
  number: number;
  writing_from: number;
  thinking_from: number;
}

/** What a task waits for. */
export interface Waits {
  kind: WaitsFor;
  /** The approval or question. */
  id: string | null;
}

/** One attempt. */
export interface Attempt {
  attempt_id: string;
  number: number;
  status: AttemptStatus;
  reason: string;
  started_at: number;
  finished_at: number | null;
  iterations: number;
  termination: TerminationReason | null;
}

/** One proposed action and what became of it. */
export interface Action {
  action_request_id: string;
  class: ActionClass;
  tool: string;
  summary: Text;
  /** `requested`, `allowed`, `awaiting_approval`, ..., `observed`, `uncertain`. */
  state: ActionState;
  /** What policy said. */
  verdict: PolicyVerdict | null;
  risk: RiskBand | null;
  approval_id: string | null;
  grant_id: string | null;
  receipt_id: string | null;
  result: ResultCode | null;
  sandbox: SandboxLevel | null;
  requested_at: number;
  observed_at: number | null;
  trouble: Text | null;
  /** The action that was asked, when this was done instead because policy allowed no more. */
  instead_of: string | null;
  /** The rules by which it did. */
  instead_rules: string | null;
  /** Of a result in part: whether a person chose the part, and all of it was done. */
  as_chosen?: boolean;
}

/** Something that a step counts on: what came with the goal, or what an earlier step ends with. */
export interface StepInput {
  /** The artifact, where it came with the goal. */
  artifact_id: string | null;
  /** The earlier step, where it is what that one ends with. */
  step_id: string | null;
  /** The name of what came, or the title of the step. */
  title: Text;
  /** What that step is to leave, in words. */
  leaves: string[];
}

/** What a step promises (HK-8.2-5). */
export interface StepContract {
  objective: string;
  inputs: StepInput[];
  /** What it is to leave, in words. */
  leaves: string[];
  done_when: string[];
  /** Classes of action that it may request; empty is all that the profile allows. */
  may: ActionClass[];
  undo: string | null;
}

/** One step of a task. */
export interface StepRow {
  step_id: string;
  kind: StepKind;
  title: Text;
  status: StepStatus;
  reason: string;
  /** Steps of the same task that must have succeeded first. */
  depends_on: string[];
  attempts: number;
  max_attempts: number;
  created_at: number;
  updated_at: number;
  task_id: string;
  task_title: Text;
  /** How its task stands. */
  run_status: RunStatus;
  priority: Priority;
  workspace: Text | null;
  /** What it promises; absent where that was erased. */
  contract?: StepContract | null;
}

/** One question put to a person. */
export interface Question {
  question_id: string;
  task_id: string;
  question: Text;
  choices: Text[];
  status: ClarificationStatus;
  requested_at: number;
  expires_at: number;
  /** The task whose agent gave this one away, where one did. */
  part_of?: PartOf | null;
  /** The model or the agent of another program that asks; absent where it is none, such as a playbook. */
  agent?: string | null;
}

/** The latest working state of one attempt. */
export interface WorkingStateRow {
  holder: string;
  artifact_id: string;
  sha256: string;
  revision: number;
  updated_at: number;
  /** The state itself; `null` when its bytes are gone. */
  state: unknown;
}

/** A part of the list of tasks. */
export type Tasks = Page<TaskRow>;

/** A part of the list of steps. */
export type StepList = Page<StepRow>;

/** A part of the list of questions. */
export type QuestionList = Page<Question>;

/** A part of the list of working states. */
export type WorkingStates = Page<WorkingStateRow>;
