//! Trials of changes of Hermit itself: what was changed, what was run, what differed, what it cost, and the verdict (successor.md).
//! Nothing here applies a change.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
use words::successor::{BudgetPart, MeasuredBy, PatchKind, TrialStage, TrialState, VerdictOutcome};

params! {
    /// Changes that are tried on the person's own past work; several of them race over the same tasks.
    Try {
        /// Each as JSON.
        patches: Vec<String>,
        /// What they are to do, in one line.
        about: String,
        /// Tasks that are played, whatever is drawn beside them.
        tasks: Vec<String>,
        /// How many tasks there are together, the others drawn; 10 when absent.
        draw: Option<u32>,
        /// What the draw begins with; one that nobody chose when absent.
        seed: Option<u64>,
        /// What each clone may use up; what is not said is the standard.
        wall_seconds: Option<u64>,
        cpu_seconds: Option<u64>,
        memory_mb: Option<u64>,
        disk_mb: Option<u64>,
        processes: Option<u32>,
        tokens: Option<u64>,
        /// The model on this machine that is asked again, in both arms, about words that a model reads; the one that did the tasks when absent.
        ask: Option<String>,
    }
    /// What changes are, and what each clone of a trial of them might use up: nothing is begun.
    Preview {
        /// Each as JSON.
        patches: Vec<String>,
        /// What each clone may use up; what is not said is the standard.
        wall_seconds: Option<u64>,
        cpu_seconds: Option<u64>,
        memory_mb: Option<u64>,
        disk_mb: Option<u64>,
        processes: Option<u32>,
        tokens: Option<u64>,
    }
    /// The newest first.
    List { cursor: Option<String>, limit: Option<u32> }
    /// One of them.
    Show { trial: String }
    /// A trial that is to end without a verdict.
    Stop { trial: String, reason: Option<String> }
}

answers! {
    /// Changes that could be tried.
    Previewed {
        /// In the order in which they were named.
        changes: Vec<PreviewedChange>,
        /// What each clone might use up.
        budget: TrialBudget,
    }
    /// A change that could be tried.
    PreviewedChange {
        kind: PatchKind,
        /// What it is for.
        says: String,
        /// Rooms of gate, policy, approval, successor or proof that it touches.
        constitutional: Vec<String>,
        /// Files with tests that it edits, moves or removes.
        edited_tests: Vec<String>,
    }
    /// Trials.
    TrialList { trials: Vec<TrialRow>, next: Option<String> }
    /// A trial, in a list.
    TrialRow {
        trial_id: String,
        /// The first trial of the tournament that it is part of.
        group: Option<String>,
        /// The task that proposed it; none where a person began it.
        proposed_by: Option<String>,
        kind: PatchKind,
        /// What the change is for, in the words of whoever made it; none once it was erased.
        says: Option<String>,
        /// What it was to do, in the words of whoever asked.
        about: Option<String>,
        state: TrialState,
        /// What it is at, while it runs; none where only the process that runs it knows.
        stage: Option<TrialStage>,
        outcome: Option<VerdictOutcome>,
        /// Why there is no verdict, or the change went again.
        why: Option<String>,
        tasks: u32,
        seed: u64,
        began_at: i64,
        ended_at: Option<i64>,
        /// What was counted in both arms; nothing yet.
        measures: Vec<TrialMeasure>,
        /// The model that was asked again in both arms, or is while it runs; none where answers were played again.
        asked: Option<TrialAsked>,
    }
    /// A model on this machine that is asked again in both arms of a trial of words.
    TrialAsked {
        model: String,
        /// How often it answered without the change.
        parent: u32,
        /// How often it answered with it.
        successor: u32,
    }
    /// Something that was counted in both arms.
    TrialMeasure {
        name: String,
        parent: u64,
        successor: u64,
        /// Who counted it with the change; none where nobody says.
        measured_by: Option<MeasuredBy>,
    }
    /// One trial.
    Trial {
        trial: TrialRow,
        patch_sha256: String,
        /// Where what is new in the change comes from.
        sources: Vec<String>,
        /// What it changes, piece by piece.
        changes: Vec<TrialChange>,
        /// Tasks that both arms play.
        tasks: Vec<String>,
        /// Tasks that were drawn and are not played, as they are too large.
        left_out: Vec<String>,
        budget: TrialBudget,
        verdict: Option<TrialVerdict>,
        /// Tests that it edits, moves or removes: a person looks at each before the change is adopted.
        edited_tests: Vec<TrialEdit>,
        /// Whether nothing but these keeps it from being the same: who has looked at them may adopt it.
        waits_for_look: bool,
        /// The others of its tournament.
        rivals: Vec<TrialRow>,
    }
    /// A file with tests that a change edits, moves or removes.
    TrialEdit {
        file: String,
        /// What a person has looked at is named by it.
        sha256: String,
        /// All that the change says of the file, as a unified diff.
        difference: String,
    }
    /// A piece of a change.
    TrialChange {
        /// What it is of, such as the name of a piece of words.
        what: String,
        /// As it would be; of source, the difference.
        text: String,
    }
    /// What a clone may use up, or what clones used.
    TrialBudget {
        wall_ms: u64,
        cpu_ms: u64,
        memory_bytes: u64,
        disk_bytes: u64,
        /// None where it was not counted.
        processes: Option<u32>,
        tokens: u64,
    }
    /// What a trial came to.
    TrialVerdict {
        /// The rules that led there, the gravest first.
        reasons: Vec<TrialReason>,
        tests: Option<TrialTests>,
        /// Bad changes that were tried in the same run.
        planted: Vec<TrialPlanted>,
        used: TrialBudget,
        /// What a clone was ended for.
        ended_for: Option<BudgetPart>,
        /// Rooms of gate, policy, approval, successor or proof that the change touches.
        constitutional: Vec<String>,
        /// What a model thought of it, which turns nothing.
        opinion: Option<String>,
        /// Acts that differ.
        differences: Vec<TrialDifference>,
        /// Differences beyond those.
        more_differences: u64,
        /// Whether the evidence is there to be compared.
        has_evidence: bool,
        verdict_sha256: String,
        evidence_sha256: Vec<String>,
        evaluator_sha256: String,
        /// Whether the signature of this store's log holds; none where the key is not known here.
        is_signed: Option<bool>,
    }
    /// A rule that led to a verdict.
    TrialReason { rule: String, says: String }
    /// A suite that ran.
    TrialTests {
        suite: String,
        passed: u64,
        failed: Vec<String>,
        /// Files of tests that the change edits or removes.
        edited: Vec<String>,
        /// The same suite with these as they were before; none where it edits none, or they did not run.
        parent: Option<TrialParentTests>,
    }
    /// A suite that ran over the change with tests as they were before.
    TrialParentTests {
        passed: u64,
        failed: Vec<String>,
        /// Files whose tests could not be put back.
        not_run: Vec<String>,
    }
    /// A bad change that was tried.
    TrialPlanted { name: String, refused: bool }
    /// An act that the arms did not do alike.
    TrialDifference {
        task_id: String,
        summary: String,
        class: String,
        /// What policy said in the parent's arm; none where it was not done there.
        before: Option<String>,
        /// What it said with the change.
        after: Option<String>,
        /// Whether it changed something else.
        effect_differs: bool,
    }
}
