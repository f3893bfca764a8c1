//! What is made of the evidence: a verdict, and the rules that led to it.

use crate::edited::edited_tests;
use crate::{Change, Patch, Used};
use model::Digest;
use model::adoption::EditedTest;
use serde::{Deserialize, Serialize};
use words::successor::{MeasuredBy, PatchKind, VerdictOutcome};

/// What the key of the log signs a verdict as, so that no signature of it is one of anything else.
pub const VERDICT_PAYLOAD_TYPE: &str = "application/vnd.hermit.successor-verdict+json";

/// The verdict on a change, canonical JSON, signed by the parent (successor.md 4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// The trial.
    pub trial_id: String,
    /// Digest of the change.
    pub patch_sha256: Digest,
    /// Its kind.
    pub kind: PatchKind,
    /// What it came to.
    pub outcome: VerdictOutcome,
    /// The rules that led there, the gravest first.
    pub reasons: Vec<Reason>,
    /// What was measured on both arms.
    pub measures: Vec<Measure>,
    /// The suite that ran, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestsRun>,
    /// The program that was built of the changed source, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<Built>,
    /// Bad changes that were tried in the same run, and what came of each.
    pub planted: Vec<Planted>,
    /// What the clones used, all of them.
    pub used: Used,
    /// Digest of the program that judged.
    pub evaluator_sha256: Digest,
    /// What the draw of tasks began with.
    pub seed: u64,
    /// Digests of the evidence that was compared: of the parent's arm, then of the successor's, then of the arm that a model was asked in
    /// once more, where one was.
    pub evidence_sha256: Vec<Digest>,
    /// The model that was asked again in both arms, where the change is one of words that a model reads and one could be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// What a model thought of it. It never turns the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opinion: Option<String>,
    /// Rooms of gate, policy, approval, successor or proof that it touches: then it is constitutional (successor.md 5).
    pub constitutional: Vec<String>,
}

/// Rules that a person's look at the edited tests answers.
const ANSWERED_BY_A_LOOK: [&str; 2] = ["edits_tests", "parents_tests_not_run"];
/// Rules that are told, and turn nothing.
const TURN_NOTHING: [&str; 12] = [
    "told_by_the_change",
    "told_by_nobody",
    "costs_less_by_its_own_word",
    "costs_less_by_shorter_words",
    "a_model_was_asked",
    "no_model_was_asked",
    "costs_less_unasked",
    "costs_less_where_nothing_changes",
    "costs_about_the_same",
    "proposes_no_more_what_was_denied",
    "did_the_same_again",
    "still_asked",
];

impl Verdict {
    /// Files with tests that a change of the source edits, moves or removes, each with its difference: those that its diff tells, and
    /// those that the run of its tests found beside. None for any other change.
    ///
    /// # Errors
    /// In words, when its diff is none, touches nothing, or says nothing of a file that the run found.
    pub fn edited_tests(&self, patch: &Patch) -> Result<Vec<EditedTest>, String> {
        let Change::Code { diff, .. } = &patch.change else { return Ok(Vec::new()) };
        let found = self.tests.as_ref().map(|run| run.edited.as_slice()).unwrap_or_default();
        edited_tests(diff, found)
    }

    /// Whether a person may be asked to adopt it: it is better or the same, or would be once they have looked at the tests that it edits.
    pub fn may_be_adopted(&self) -> bool {
        matches!(self.outcome, VerdictOutcome::Better | VerdictOutcome::Same) || self.waits_for_a_look()
    }

    /// Whether tests that the change edits, moves or removes ran as its parent has them, those of one file at least. A look at
    /// what changed in them stands beside that run, and never in its place.
    pub fn parents_tests_ran(&self) -> bool {
        let Some(run) = &self.tests else { return false };
        run.parent.as_ref().is_some_and(|parent| {
            let is_put_back = |file: &String| !parent.not_run.contains(file);
            let some_are = parent.not_run.is_empty() || run.edited.iter().any(is_put_back);
            some_are && (parent.passed > 0 || !parent.failed.is_empty())
        })
    }

    /// Whether nothing but the tests that the change edits, moves or removes keeps it from being the same as its parent: then a person
    /// who has looked at these may adopt it.
    pub fn waits_for_a_look(&self) -> bool {
        self.asks_for_a_look() && self.parents_tests_ran()
    }

    /// The same, whether the parent's versions of these tests ran or not.
    pub fn asks_for_a_look(&self) -> bool {
        let is = |reason: &Reason, rules: &[&str]| rules.contains(&reason.rule.as_str());
        self.outcome == VerdictOutcome::Inconclusive
            && self.reasons.iter().any(|reason| is(reason, &ANSWERED_BY_A_LOOK))
            && self.reasons.iter().all(|one| is(one, &ANSWERED_BY_A_LOOK) || is(one, &TURN_NOTHING))
    }
}

/// A rule that led to a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Its name, such as `allows_what_was_denied`.
    pub rule: String,
    /// In words, with the act or file that it is about.
    pub says: String,
}

/// A model on this machine that was asked again in both arms, with the same settings, and the same seed where its server takes one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Its address.
    pub model: String,
    /// How often it answered without the change, the first time.
    pub parent: u32,
    /// How often it answered with it.
    pub successor: u32,
}

/// A measure of both arms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Its name: `questions`, `tokens`, `turns`, `denials`, or one of the evaluation task.
    pub name: String,
    /// Of the parent.
    pub parent: u64,
    /// Of the successor.
    pub successor: u64,
    /// Who counted it for the successor; for the parent it is the parent's program, or the host. None where nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_by: Option<MeasuredBy>,
}

/// A run of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestsRun {
    /// Which suite.
    pub suite: String,
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, by name.
    pub failed: Vec<String>,
    /// Tests that the change edits or removes, by file: they count against it until a person has looked.
    pub edited: Vec<String>,
    /// The same suite with the parent's versions of these; none where it edits none, or they did not come to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentTests>,
}

/// A run of a suite over the change, with the parent's versions of the tests that it edits or removes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParentTests {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, by name.
    pub failed: Vec<String>,
    /// Files whose tests could not be put back, so that they did not run.
    pub not_run: Vec<String>,
}

/// A program that was built of a changed source, as its parent saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Built {
    /// SHA-256 of its file.
    pub program_sha256: Digest,
    /// Bytes of its file.
    pub bytes: u64,
    /// The newest format of a store that it writes, as the changed source says.
    pub store_format: u32,
}

/// A planted bad change and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planted {
    /// Which.
    pub name: String,
    /// Whether it was refused.
    pub refused: bool,
}
