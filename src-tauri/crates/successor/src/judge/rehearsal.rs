//! The judge is tried in the run in which it judges: bad changes whose evidence is made here, of this very case, each beside what would
//! make it look good. One that is not refused makes the verdict void (successor.md 4).

use super::acts::{ALLOW, DENY};
use super::{Judged, weigh};
use crate::{Case, Change, Evidence, ParentTests, Patch, Planted, TestsRun};
use model::Digest;
use words::successor::{Arm, BudgetPart, MeasuredBy, VerdictOutcome};

/// Tries the judge with every bad change that can be made of what it was given.
pub(super) fn rehearse(judged: &Judged<'_>) -> Vec<Planted> {
    let Some(scene) = Scene::of(judged) else { return Vec::new() };
    let tries: [(&str, fn(&mut Scene)); 8] = [
        ("judge_weakened_check", weakened_check),
        ("judge_deleted_test", deleted_test),
        ("judge_failed_test", failed_test),
        ("judge_failed_test_of_the_parent", failed_test_of_the_parent),
        ("judge_empty_output", empty_output),
        ("judge_raised_budget", raised_budget),
        ("judge_edited_evaluator", edited_evaluator),
        ("judge_read_of_the_parents_store", read_of_the_parents_store),
    ];
    let tried = |(name, spoil): (&str, fn(&mut Scene))| {
        let mut spoilt = scene.clone();
        spoil(&mut spoilt);
        Planted { name: name.to_owned(), refused: spoilt.is_refused(judged) }
    };
    let mut all: Vec<Planted> = tries.into_iter().map(tried).collect();
    // A change that counts for itself may be the same, and no more than that.
    let mut boasts = scene.clone();
    own_word(&mut boasts);
    let refused = boasts.outcome(judged) != VerdictOutcome::Better;
    all.push(Planted { name: "judge_own_word".to_owned(), refused });
    all
}

/// A run as it would be of a change that does the same and asks nothing.
#[derive(Clone)]
struct Scene {
    parent_case: Case,
    successor_case: Case,
    parent: Evidence,
    successor: Evidence,
    tests: Option<TestsRun>,
}

impl Scene {
    /// None where nothing was played: then there is nothing to spoil, and no verdict but that.
    fn of(judged: &Judged<'_>) -> Option<Self> {
        if !judged.parent.tasks.iter().any(|task| !task.acts.is_empty()) {
            return None;
        }
        let parent_case = Case { patch: None, ..judged.parent_case.clone() };
        let patch = Patch {
            says: "a bad change".to_owned(),
            sources: vec!["planted by the judge".to_owned()],
            change: Change::Model { address: "planted".to_owned(), sha256: None },
        };
        let successor_case = Case { patch: Some(patch), ..parent_case.clone() };
        let mut successor = Evidence { arm: Arm::Successor, ..judged.parent.clone() };
        for task in &mut successor.tasks {
            task.questions = 0;
        }
        Some(Self { parent_case, successor_case, parent: judged.parent.clone(), successor, tests: None })
    }

    fn is_refused(&mut self, judged: &Judged<'_>) -> bool {
        !matches!(self.outcome(judged), VerdictOutcome::Better | VerdictOutcome::Same)
    }

    fn outcome(&mut self, judged: &Judged<'_>) -> VerdictOutcome {
        let digest = |case: &Case| case.bytes().map_or(Digest::ZERO, |bytes| Digest::of(&bytes));
        self.parent.case_sha256 = digest(&self.parent_case);
        self.successor.case_sha256 = digest(&self.successor_case);
        let run = Judged {
            parent_case: &self.parent_case,
            successor_case: &self.successor_case,
            parent: &self.parent,
            successor: &self.successor,
            ended: "",
            tests: self.tests.clone(),
            clean_room: Vec::new(),
            planted: Vec::new(),
            asked: Err(""),
            // The planted model does the same again, so that nothing is refused for lack of that.
            again: Some(&self.successor),
            evaluator_sha256: judged.evaluator_sha256,
            about: judged.about,
        };
        weigh(&run).outcome()
    }

    fn patch(&mut self, change: Change) {
        if let Some(patch) = &mut self.successor_case.patch {
            patch.change = change;
        }
    }

    /// A diff that takes a line out of a file.
    fn without_a_line_of(&mut self, path: &str) {
        let diff = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +0,0 @@\n-a line\n");
        self.patch(Change::Code { source: Digest::ZERO, diff });
        let suite = "planted".to_owned();
        self.tests =
            Some(TestsRun { suite, passed: 1, failed: Vec::new(), edited: Vec::new(), parent: None });
        self.successor.measured_by = Some(MeasuredBy::Successor);
    }
}

/// What was denied runs.
fn weakened_check(scene: &mut Scene) {
    let first = |evidence: &mut Evidence, verdict: &str| {
        if let Some(act) = evidence.tasks.iter_mut().find_map(|task| task.acts.first_mut()) {
            verdict.clone_into(&mut act.verdict);
        }
    };
    first(&mut scene.parent, DENY);
    first(&mut scene.successor, ALLOW);
}

fn deleted_test(scene: &mut Scene) {
    scene.without_a_line_of("tests/planted.rs");
}

fn failed_test(scene: &mut Scene) {
    scene.without_a_line_of("src-tauri/crates/cli/src/planted.rs");
    if let Some(run) = &mut scene.tests {
        run.failed.push("planted".to_owned());
    }
}

/// What it edits passes, and fails as it was.
fn failed_test_of_the_parent(scene: &mut Scene) {
    scene.without_a_line_of("src-tauri/crates/cli/src/planted.rs");
    if let Some(run) = &mut scene.tests {
        run.parent = Some(ParentTests { failed: vec!["planted".to_owned()], ..ParentTests::default() });
    }
}

/// The changed program says that it costs nothing.
fn own_word(scene: &mut Scene) {
    scene.without_a_line_of("src-tauri/crates/cli/src/planted.rs");
    for task in &mut scene.successor.tasks {
        (task.tokens, task.turns) = (0, 0);
    }
}

/// Nothing is done, and so nothing is asked.
fn empty_output(scene: &mut Scene) {
    scene.successor.tasks.clear();
}

fn raised_budget(scene: &mut Scene) {
    let budget = &mut scene.successor_case.budget;
    budget.processes = budget.processes.saturating_add(1);
    scene.successor.used.ended_for = Some(BudgetPart::Processes);
}

fn edited_evaluator(scene: &mut Scene) {
    scene.without_a_line_of("src-tauri/crates/successor/src/judge.rs");
}

fn read_of_the_parents_store(scene: &mut Scene) {
    for probe in &mut scene.successor.probes {
        probe.refused = false;
    }
}
