//! Tasks: what a person asks for, and how it goes.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::answer::AnswerCheck;
use crate::table::{answers, params};
use crate::{Page, PartOf, PersonSigned, Text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use words::act::{ActionClass, ActionState, ResultCode, SandboxLevel};
use words::chat::Service;
use words::policy::{PolicyVerdict, Profile, RiskBand};
use words::step::StepKind;
use words::store::Channel;
use words::task::{
    AttemptStatus, ClarificationStatus, CriterionOutcome, IngressResolution, Origin, Priority, Proposer,
    RefusedBy, RunStatus, StepStatus, TaskStatus, TerminationReason, UndoneExtent, WaitsFor, WordsBy,
};

/// Who proposes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Reasoner {
    /// The model that the host is set up with.
    #[default]
    Standard,
    /// An address as a person writes it, such as `openai:http://127.0.0.1:8080/v1#model`.
    Address {
        /// The address.
        address: String,
    },
    /// A playbook: a shipped name, or the text of one.
    Playbook {
        /// Its name, or the name of its file.
        name: String,
        /// The text, when it is not a shipped one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Parameters by name.
        #[serde(default)]
        parameters: BTreeMap<String, String>,
    },
    /// The agent of another program, which works as a guest in a staged view of the folder.
    Guest {
        /// A preset's name, or a command line.
        agent: String,
        /// Hosts that it may reach, as `name:port`, beside those of its preset.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hosts: Vec<String>,
        /// Environment variables that hold the stand-in of a secret, by its handle.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        secrets: BTreeMap<String, String>,
        /// Folders beside the system's that it may read.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reads: Vec<String>,
        /// Other environment variables.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        environment: BTreeMap<String, String>,
    },
}

/// Limits of what a task may spend; what is absent takes the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Model calls of one attempt.
    pub iterations_max: Option<u32>,
    /// Tokens in and out.
    pub tokens_max: Option<u64>,
    /// Milliseconds of work.
    pub wall_ms_max: Option<i64>,
    /// Cost in micro-units of the provider's currency.
    pub cost_micros_max: Option<u64>,
}

/// One step of a goal that is given in parts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name, by which later steps name it; its number when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is to reach; a playbook may leave it empty.
    #[serde(default)]
    pub objective: String,
    /// Earlier steps that must have succeeded first; the one before it when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<String>>,
    /// Who proposes in this step, when not the task's own reasoner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoner: Option<Reasoner>,
    /// Classes of action it may request; empty allows those of its kind that the profile allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may: Vec<String>,
    /// What it is for: `plan`, `search`, `inspect`, `edit`, `run_tests`, `prepare_patch`, `await_approval`, `publish_result`, `observe_remote`; `pursue` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What it is to leave, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<String>,
    /// What must hold at its end, and is checked then, as for a task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done_when: Vec<String>,
    /// How to undo it, where that is not to undo each receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
}

params! {
    /// A goal, or a playbook, with everything it comes with.
    Submit {
        /// What is to be done; a playbook may leave it empty.
        #[serde(default)]
        goal: String,
        /// The open message that it begins with, in the place of a goal: its words are the goal, and stay those of whoever sent them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The folder to work in, absolute.
        workspace: String,
        /// Who proposes.
        #[serde(default)]
        reasoner: Reasoner,
        /// The goal in parts; empty is one step with the whole goal.
        #[serde(default)]
        steps: Vec<Part>,
        /// Policy profile: `readonly_analysis` and others; the careful standard when absent.
        profile: Option<String>,
        /// Paths of files to hand over, absolute.
        #[serde(default)]
        attachments: Vec<String>,
        #[serde(default)]
        budget: Budget,
        /// What must not happen.
        #[serde(default)]
        constraints: Vec<String>,
        /// What must hold at the end, and is checked then: `file: PATH`, `no file: PATH`, `text: PATH: WORDS`, `command: WORDS`; anything else a person judges.
        #[serde(default)]
        done_when: Vec<String>,
        /// One line for lists.
        title: Option<String>,
        /// `low`, `normal`, `high`.
        priority: Option<String>,
        /// When it expires, ms.
        deadline_at: Option<i64>,
        /// Whether a person is asked when it has used what it may, instead of ending there.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ask_at_limit: bool,
        /// Addresses of models that are asked when the one before does not answer, in order; 4 at most.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fallbacks: Vec<String>,
        /// Whether a model on another machine may follow one on this machine.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fallback_remote: bool,
        /// Whether the goal was spoken and written down by a machine.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        spoken: bool,
        /// The same key twice is the same task.
        idempotency_key: Option<String>,
        /// The surface: `cli`, `app`, ...
        channel: Option<String>,
    }

    /// Which tasks.
    List {
        /// Of any of these statuses; empty is any.
        #[serde(default)]
        status: Vec<String>,
        /// How they stand: `waiting` for a person, `going` on, `done`, ended `otherwise`; `ended` is either of the last two.
        group: Option<String>,
        /// Only tasks in which these words stand.
        search: Option<String>,
        /// Only tasks in these folders, by the identifiers of `workspaces.list`; empty is any.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        workspaces: Vec<String>,
        /// Only tasks of this conversation.
        conversation: Option<String>,
        after: Option<String>,
        limit: Option<u32>,
    }

    /// How many tasks stand how.
    Count {}
    /// One task by identifier, or by its beginning or end.
    Show { task: String }
    /// See the table.
    Pause { task: String }
    /// See the table.
    Resume { task: String }
    /// See the table.
    Cancel { task: String, reason: Option<String> }
    /// See the table.
    Retry { task: String, idempotency_key: Option<String> }
    /// See the table.
    Note {
        task: String, text: String,
        /// `steer`, which is usual: heard at the next turn. `queue`: when the task would else be done. `stop_and_send`: what it is at ends, and it begins anew with the words.
        mode: Option<String>,
        /// The identifier of what it quotes: a message, question, approval, receipt, or the attempt whose last words are quoted.
        quotes: Option<String>,
        /// The passage of it, word for word; all of it when absent.
        passage: Option<String>,
        /// Files that come with it, which were taken in before, by their artifacts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        encloses: Vec<String>,
        /// Whether the words were spoken and written down by a machine.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        spoken: bool,
        idempotency_key: Option<String>, channel: Option<String>,
    }
    /// See the table.
    EditGoal {
        task: String, goal: String,
        /// Whether the goal was spoken and written down by a machine.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        spoken: bool,
        channel: Option<String>,
    }

    /// See the table.
    SetPriority {
        task: String,
        /// `low`, `normal`, `high`.
        priority: String,
    }

    /// Which steps, the newest first.
    Steps {
        task: Option<String>,
        /// `ready`, `running`, `blocked` and others; any when absent.
        status: Option<String>,
        after: Option<String>,
        limit: Option<u32>,
    }

    /// An answer; without `question` it is for the only open one.
    Answer {
        task: String, question: Option<String>, text: String,
        /// Whether the answer was spoken and written down by a machine.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        spoken: bool,
        channel: Option<String>,
    }

    /// Which questions.
    Questions {
        task: Option<String>,
        /// `pending` and others; any when absent.
        status: Option<String>,
        after: Option<String>,
        limit: Option<u32>,
    }

    /// What a person found: `succeeded`, `failed` or `partial`.
    Settle {
        task: String,
        result: String,
        note: String,
        /// What a person signed; not needed in the process that holds the store.
        #[serde(default)]
        signed: Option<PersonSigned>,
    }

    /// Of which task.
    WorkingState { task: String, after: Option<String>, limit: Option<u32> }
}

answers! {
    /// What became of a submission.
    Submitted {
        task_id: String,
        ingress_id: String,
        /// It had come in before; this is the first result.
        duplicate: bool,
    }

    /// Done; the task and where it stands now.
    Done { task_id: String, status: TaskStatus }

    /// A note was recorded.
    Noted {
        task_id: String,
        ingress_id: String,
        /// What the words were, where they were a command.
        resolution: Option<IngressResolution>,
        /// What a command did, and what it tells whoever gave it.
        told: Option<Vec<String>>,
        /// The task that a command made.
        made: Option<String>,
    }

    /// One line of the list.
    TaskRow {
        task_id: String, title: Text, status: TaskStatus,
        /// As the run API names it: `queued`, `running`, `awaiting_approval`, ...
        run_status: RunStatus,
        reason: String, priority: Priority, profile: Profile,
        /// Who began it.
        origin: Origin,
        /// The sender who began it in a chat, as the process that holds the store knows it; absent where none did.
        from_chat: Option<ChatSender>,
        /// Who proposes in it; absent before it begins.
        proposer: Option<Proposer>,
        created_at: i64, updated_at: i64, ended_at: Option<i64>,
        /// Approvals that wait.
        open_approvals: u32,
        /// Questions that wait.
        open_questions: u32,
        /// Effects whose outcome nobody knows.
        unknown_effects: u32,
        /// Receipts of what was done; those of approvals do not count.
        receipts: u32, iterations: u32, tokens_used: u64, cost_micros: u64, parent_task_id: Option<String>,
        /// Who refused it, when it ended and nothing but reading came of it: `policy`, `person`.
        refused_by: Option<RefusedBy>,
        /// How much of what it did was undone since; absent where nothing was.
        undone: Option<UndoneExtent>,
        /// It should be at work, and nobody works on it; absent where that cannot be known.
        interrupted: Option<bool>,
        /// The folder it works in, unless it was erased.
        workspace: Option<Text>,
        /// Why it stopped, paused or broke off, in a sentence with what to do next; nothing while it works and when it succeeded.
        because: Option<Text>,
    }

    /// A sender who began a task in a chat.
    ChatSender {
        /// As they call themselves there; nobody has checked it.
        sender_name: Text,
        service: Service,
        /// The gateway.
        gateway: String,
    }

    /// How many tasks stand how.
    TaskCounts {
        all: u64,
        /// A person is waited for: an approval, a question, an outcome that nobody knows.
        waiting: u64,
        /// Not ended, and nobody is waited for.
        going: u64,
        ended: u64,
    }

    /// What must hold at the end of a task.
    Criterion {
        /// As it was given.
        criterion: Text,
        /// What became of it; absent before the task would have ended.
        outcome: Option<CriterionOutcome>,
        /// What was found, in a line.
        found: Option<Text>,
        /// The receipt that bears it.
        receipt_id: Option<String>,
    }

    /// One task.
    Task {
        row: TaskRow,
        /// The conversation it belongs to.
        conversation_id: String,
        goal: Text,
        channel: Channel,
        /// The folder, unless it was erased.
        workspace: Option<Text>,
        /// Who proposes, in a line.
        reasoner: String,
        constraints: Vec<String>,
        /// What must hold at the end, and what was found when that was checked last.
        criteria: Vec<Criterion>,
        tokens_max: u64, cost_micros_max: u64, wall_ms: i64, wall_ms_max: i64,
        deadline_at: Option<i64>,
        /// Why its loop ended.
        termination: Option<TerminationReason>,
        /// Its last words.
        summary: Option<Text>,
        /// Whose words those are.
        summary_by: Option<WordsBy>,
        /// Receipts of what was done in this task: what its last words claim beyond them, nobody has verified.
        verified_by: Vec<String>,
        /// The artifact with its answer.
        answer_ref: Option<String>,
        /// What bears each sentence of its last words; absent where those are not a model's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer_check: Option<AnswerCheck>,
        /// What it waits for, if it waits.
        waits_for: Option<Waits>,
        /// It should be at work, and its host does not work on it; absent where that cannot be known.
        interrupted: Option<bool>,
        /// What its proposer has said of an answer that is not recorded yet, or in whose middle the run was ended, out of the run stream; never truth.
        writing: Option<String>,
        /// What it has reasoned before, of the same answer; never truth, and no part of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking: Option<String>,
        /// The asking that both answer; absent where nothing is told of one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asking: Option<Asking>,
        /// The last event's place.
        last_seq: u64,
        attempts: Vec<Attempt>, actions: Vec<Action>,
        /// The ended task that it follows, whose outcome it was told.
        follows: Option<String>,
        /// Tasks derived from it.
        children: Vec<String>,
    }

    /// One asking of a proposer, as its notices name it, and where in its answer the words that are told begin.
    Asking { number: u64, writing_from: u64, thinking_from: u64 }

    /// What a task waits for.
    Waits { kind: WaitsFor, /// The approval or question.
        id: Option<String> }

    /// One attempt.
    Attempt {
        attempt_id: String, number: u32, status: AttemptStatus, reason: String,
        started_at: i64, finished_at: Option<i64>, iterations: u32, termination: Option<TerminationReason>,
    }

    /// One proposed action and what became of it.
    Action {
        action_request_id: String, class: ActionClass, tool: String, summary: Text,
        /// `requested`, `allowed`, `awaiting_approval`, ..., `observed`, `uncertain`.
        state: ActionState,
        /// What policy said.
        verdict: Option<PolicyVerdict>, risk: Option<RiskBand>, approval_id: Option<String>, grant_id: Option<String>,
        receipt_id: Option<String>, result: Option<ResultCode>, sandbox: Option<SandboxLevel>, requested_at: i64,
        observed_at: Option<i64>, trouble: Option<Text>,
        /// The action that was asked, when this was done instead because policy allowed no more.
        instead_of: Option<String>,
        /// The rules by which it did.
        instead_rules: Option<String>,
        /// Of a result in part: whether a person chose the part, and all of it was done.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")] as_chosen: bool,
    }

    /// Something that a step counts on: what came with the goal, or what an earlier step ends with.
    StepInput {
        /// The artifact, where it came with the goal.
        artifact_id: Option<String>,
        /// The earlier step, where it is what that one ends with.
        step_id: Option<String>,
        /// The name of what came, or the title of the step.
        title: Text,
        /// What that step is to leave, in words.
        leaves: Vec<String>,
    }

    /// What a step promises (HK-8.2-5).
    StepContract {
        objective: String,
        inputs: Vec<StepInput>,
        /// What it is to leave, in words.
        leaves: Vec<String>,
        done_when: Vec<String>,
        /// Classes of action that it may request; empty is all that the profile allows.
        may: Vec<ActionClass>, undo: Option<String>,
    }

    /// One step of a task.
    StepRow {
        step_id: String, kind: StepKind, title: Text, status: StepStatus, reason: String,
        /// Steps of the same task that must have succeeded first.
        depends_on: Vec<String>,
        attempts: u32, max_attempts: u32, created_at: i64, updated_at: i64,
        task_id: String, task_title: Text,
        /// How its task stands.
        run_status: RunStatus,
        priority: Priority,
        workspace: Option<Text>,
        /// What it promises; absent where that was erased.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contract: Option<StepContract>,
    }

    /// One question put to a person.
    Question {
        question_id: String, task_id: String, question: Text, choices: Vec<Text>,
        status: ClarificationStatus, requested_at: i64, expires_at: i64,
        /// The task whose agent gave this one away, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part_of: Option<PartOf>,
        /// The model or the agent of another program that asks; absent where it is none, such as a playbook.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    }

    /// The latest working state of one attempt.
    WorkingStateRow {
        holder: String, artifact_id: String, sha256: String, revision: u32, updated_at: i64,
        /// The state itself; `null` when its bytes are gone.
        state: serde_json::Value,
    }
}

/// A part of the list of tasks.
pub type Tasks = Page<TaskRow>;
/// A part of the list of steps.
pub type StepList = Page<StepRow>;
/// A part of the list of questions.
pub type QuestionList = Page<Question>;
/// A part of the list of working states.
pub type WorkingStates = Page<WorkingStateRow>;
