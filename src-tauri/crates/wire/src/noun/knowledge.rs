//! What is held true, and why; and the search through everything.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

pub use crate::task::Submitted;

use crate::table::{answers, params};
use crate::{Page, Text};
use words::knowledge::{
    BeliefStatus, DecisionClass, InvalidationPolicy, MemoryRetention, MemoryStatus, MemoryType, RootStanding,
    TrustTier,
};
use words::policy::RiskBand;
use words::store::EntityType;

params! {
    /// Which decisions.
    Decisions { task: Option<String>, after: Option<String>, limit: Option<u32> }
    /// Which beliefs.
    Beliefs { task: Option<String>, status: Option<String>, after: Option<String>, limit: Option<u32> }
    /// Which memory records; without a status those that are held.
    Memories {
        /// `active`, `invalidated`, `revoked`, `expired`, or `any`.
        status: Option<String>,
        /// Only this one, whatever its status: by identifier, or by its beginning or end.
        memory: Option<String>,
        /// Only of this kind: `decision`, `pattern`, `correction`, `architecture`, `preference`.
        memory_type: Option<String>,
        /// Only what holds in the project of this folder; what holds everywhere is among it.
        folder: Option<String>,
        /// Only what is held there and says something of this, the most relevant first; a folder has to be named with it.
        about: Option<String>,
        after: Option<String>,
        limit: Option<u32>,
    }
    /// What was remembered at a point of the past: one of checkpoint, number and time, else the newest point.
    MemoryThen {
        /// A checkpoint of the log: the number of its notes, or the signed note itself as text.
        #[serde(default)]
        checkpoint: Option<String>,
        /// The number of a point of the list.
        #[serde(default)]
        number: Option<u64>,
        /// The newest point until this instant.
        #[serde(default)]
        at: Option<i64>,
        #[serde(default)]
        memory_type: Option<String>,
        #[serde(default)]
        folder: Option<String>,
        #[serde(default)]
        after: Option<String>,
        #[serde(default)]
        limit: Option<u32>,
    }
    /// Points of the past at which a root of memory was stated, the newest first.
    MemoryPoints {
        after: Option<String>,
        limit: Option<u32>,
    }
    /// The contexts that one record was sent in: by identifier, or by its beginning or end.
    MemoryContexts { memory: String }
    /// What a person wants remembered.
    Remember {
        /// The claim.
        claim: String,
        /// The part of the project it is about, such as `src/api`; all of it when left out.
        scope: Option<String>,
        /// Whether it holds in every project.
        #[serde(default)]
        everywhere: bool,
        /// Why it deserves to last.
        reason: Option<String>,
        memory_type: Option<MemoryType>,
        /// Whether every task of the project is told of it.
        #[serde(default)]
        pinned: bool,
        /// For how many days it holds; for good when left out.
        days: Option<u32>,
        /// The record whose place it takes, by identifier, or by its beginning or end.
        replaces: Option<String>,
        /// A folder of the project.
        workspace: String,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// Which proposals of the historian; all that wait for a person.
    Suggestions {}
    /// The historian looks now at what ended, in projects where nothing is at work.
    Review {}
    /// One record by identifier, or by its beginning or end, that should never have been kept.
    Forget { memory: String, reason: String }
    /// One record by identifier, or by its beginning or end.
    Invalidate { memory: String, reason: String }
    /// One belief by identifier, or by its beginning or end.
    Revoke { belief: String, reason: String }
    /// What a person says of a belief: one of confidence, instead, against and over.
    Correct {
        /// By identifier, or by its beginning or end.
        belief: String,
        /// How sure one may be of it, from 0 to 1000; never more than its evidence carries.
        confidence: Option<u16>,
        /// What holds in its place.
        instead: Option<String>,
        /// What holds against it; neither is dropped.
        against: Option<String>,
        /// Whether its time is over.
        #[serde(default)]
        over: bool,
        reason: String,
        channel: Option<String>,
    }
    /// One belief by identifier, or by its beginning or end.
    History { belief: String, after: Option<String>, limit: Option<u32> }
    /// Words that must all be there; each also finds longer ones that begin with it.
    Search { text: String, after: Option<String>, limit: Option<u32> }
}

answers! {
    /// One decision.
    Decision {
        decision_id: String,
        task_id: String,
        class: DecisionClass,
        summary: Text,
        rationale: Text,
        risk: RiskBand,
        decided_by: String,
        reversible: bool,
        evidence: Vec<Evidence>,
        alternatives: Vec<Text>,
        created_at: i64,
    }
    /// One belief, its latest revision.
    Belief {
        belief_id: String,
        task_id: String,
        claim: Text,
        scope: Text,
        /// From 0 to 1000.
        confidence: u16,
        trust: TrustTier,
        status: BeliefStatus,
        revision: u32,
        evidence: Vec<Evidence>,
        created_at: i64,
        updated_at: i64,
        superseded_by: Option<String>,
        contradicts: Vec<String>,
        reason: Option<Text>,
    }
    /// It is taken back.
    Revoked { belief_id: String, task_id: String }
    /// It is corrected.
    Corrected {
        belief_id: String,
        task_id: String,
        /// The belief that holds what the person said.
        by: Option<String>,
    }
    /// One change of a belief.
    Revision {
        revision: u32,
        /// From 0 to 1000.
        confidence: u16,
        trust: TrustTier,
        /// Why, where anybody said so.
        reason: Option<Text>,
        at: i64,
    }
    /// One memory record.
    Memory {
        memory_id: String,
        task_id: String,
        /// The conversation it comes from, in lists of what is remembered now.
        conversation_id: Option<String>,
        claim: Text,
        scope: Text,
        reason: Text,
        trust: TrustTier,
        status: MemoryStatus,
        evidence: Vec<Evidence>,
        promoted_by: String,
        /// What kind of knowledge it is, where anybody said so.
        memory_type: Option<MemoryType>,
        /// The project it holds in; everywhere when absent.
        project: Option<Project>,
        retention: Option<MemoryRetention>,
        invalidation: Option<InvalidationPolicy>,
        from_belief: Option<String>,
        supersedes: Option<String>,
        /// How many context packs held it.
        uses: u32,
        last_used_at: Option<i64>,
        /// In how many tasks an act or the closing answer followed it.
        helped: u32,
        /// The last of them.
        helped_in: Option<String>,
        /// How often a person, or what was seen, said otherwise.
        contradicted: u32,
        /// The last task in which that was.
        contradicted_in: Option<String>,
        /// Whether no task is told of it although it is in force: it holds, or may hold, a value of a secret that a task looked into.
        withheld: bool,
        expires_at: Option<i64>,
        created_at: i64,
        ended_at: Option<i64>,
        end_reason: Option<Text>,
        superseded_by: Option<String>,
        /// How much it holds of what was asked `about`, in thousandths: made for each question and kept nowhere.
        relevance: Option<u32>,
    }
    /// Where models were told of a memory record.
    MemoryContextList {
        memory_id: String,
        /// The task that was told of it last first; at most 50.
        tasks: Vec<TaskContexts>,
        /// How many tasks were told of it before these.
        more: u64,
    }
    /// The contexts of one task that held a memory record.
    TaskContexts {
        task_id: String,
        /// The task's title; none of a task that this store does not list.
        title: Option<Text>,
        /// How many context packs of it held the record.
        contexts: u32,
        /// The turns whose context did, in their order; of very many stretches the last 50.
        turns: Vec<TurnRange>,
        first_at: i64,
        last_at: i64,
        /// Whether an act or the closing answer of the task followed it.
        helped: bool,
        /// Whether a person, or what was seen in the task, said otherwise.
        contradicted: bool,
    }
    /// Turns of one attempt that follow each other.
    TurnRange {
        /// Attempt number, from 1.
        attempt: u32,
        first: u32,
        last: u32,
    }
    /// One line of a card on which the historian asks what to remember.
    Suggestion {
        approval_id: String,
        task_id: String,
        /// Its number on the card, from 1.
        number: u32,
        /// How many lines the card has.
        of: u32,
        claim: Text,
        /// Why it is proposed, and the rule that found it.
        reason: Text,
        memory_type: Option<MemoryType>,
        /// The lowest trust of all that it rests on.
        trust: TrustTier,
        project: Option<Project>,
        grounds: Vec<Ground>,
        requested_at: i64,
    }
    /// What shows a suggestion.
    Ground {
        task_id: String,
        event_id: String,
        receipt_id: Option<String>,
        /// What happened, such as `a person answered`.
        what: String,
        quote: Text,
    }
    /// Every line that waits.
    SuggestionList { rows: Vec<Suggestion> }
    /// What a review came to.
    Reviewed {
        /// The task that asks, where something is proposed.
        task_id: Option<String>,
        /// Lines that are proposed.
        lines: u32,
        /// Ended tasks that were read.
        tasks: u32,
        /// Ended tasks that wait, for their project to come to rest or for the answer to what is proposed there.
        waiting: u32,
        /// Whether more is left that ended and was not read: another look goes on with it.
        more: bool,
        /// Playbooks that were drafted from what recurs.
        drafts: u32,
    }
    /// A point of the past at which a root of memory was stated.
    MemoryPoint {
        /// Its number, from 0.
        number: u64,
        /// When it was stated.
        at: i64,
        /// The root over all conversations and all memory.
        state_root: String,
        /// The oldest checkpoint of the log that covers it: the number of its notes.
        checkpoint: Option<u64>,
    }
    /// A part of the list.
    MemoryPointList { rows: Vec<MemoryPoint>, next: Option<String> }
    /// The root of a project's memory.
    MemoryRoot {
        /// The project; none for the memory that holds in every one.
        project: Option<Project>,
        /// Records in force.
        size: u64,
        root: String,
        /// Whether it follows from the records as they stand here.
        matches: bool,
    }
    /// Memory as it was. The rows say of themselves what became of them since.
    MemoryThenList {
        point: MemoryPoint,
        standing: RootStanding,
        roots: Vec<MemoryRoot>,
        rows: Vec<Memory>,
        next: Option<String>,
        /// What was added since, the newest first.
        added: Vec<Memory>,
        /// Whether more than these were.
        added_more: bool,
    }
    /// A project.
    Project {
        hash: String,
        /// The name of its folder, where this store knows one.
        name: Option<Text>,
    }
    /// What a claim rests on.
    Evidence {
        artifact_id: String,
        /// Which part, in words.
        part: String,
        excerpt_sha256: String,
        trust: TrustTier,
        confidence: u16,
    }
    /// It is taken back.
    Forgotten { memory_id: String, task_id: String }
    /// It is marked as wrong.
    Invalidated { memory_id: String, task_id: String }
    /// One place where the words were found.
    Hit {
        /// What it is about.
        kind: EntityType,
        id: String,
        task_id: String,
        /// The task's title; none of what belongs to no task, such as a message.
        title: Option<Text>,
        /// What it is, in words a person knows: of content its kind, with its name where it has one.
        what: String,
        /// A JSON pointer into the event, or `/content` of an artifact.
        part: String,
        at: i64,
        excerpt: Text,
    }
}

/// A part of the list.
pub type DecisionList = Page<Decision>;
/// A part of the list.
pub type BeliefList = Page<Belief>;
/// See the table.
pub type RevisionList = Page<Revision>;
/// A part of the list.
pub type MemoryList = Page<Memory>;
/// A part of the list.
pub type Hits = Page<Hit>;
