//! What happened in a task that may be worth remembering, as its events come.

use super::second::Left;
use super::{Found, Rule, saying};
use crate::trust::weaker;
use model::action::ActionClass;
use model::approval::Surface;
use model::artifact::{ArtifactClass, TrustTier};
use model::knowledge::Ground;
use model::receipt::{ReceiptClass, ResultCode};
use model::task::Origin;
use model::{
    ActionRequestId, ApprovalId, ArtifactId, Body, ClarificationId, Digest, EventId, IngressId, ReceiptId,
    TaskId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Letters of a quote that a line keeps.
const QUOTE: usize = 300;
/// Changes that are named between a failure and a success.
const NAMED_MAX: usize = 3;
/// Things of one task; further ones are left where they are, in its history.
const FOUND_MAX: usize = 32;
/// Things that a person said to one task in which no rule finds anything, and that are kept for a second look.
const LEFT_MAX: usize = 16;
/// Commands of one task that failed and are waited for to pass.
const FAILED_MAX: usize = 64;

/// An act, as far as it is known.
struct Act {
    /// Which it is, as it was worded.
    key: Digest,
    /// Its description, without quotation marks.
    summary: String,
    is_command: bool,
    changes: bool,
}

/// The receipt of an act.
#[derive(Clone, Copy)]
struct Proof {
    at: EventId,
    receipt: ReceiptId,
    envelope: ArtifactId,
}

/// A question of a model to a person.
struct Asked {
    at: EventId,
    question: String,
    /// The lowest trust of all that the task had seen by then.
    seen: TrustTier,
    /// What the model had been told.
    thought: Vec<ArtifactId>,
}

/// A command that failed.
struct Failure {
    proof: Proof,
    /// The last of what was changed since.
    since: Vec<(String, Proof)>,
}

/// One task, read event by event.
pub struct Reading {
    task: TaskId,
    /// The lowest trust of all that the task has seen so far.
    lowest: TrustTier,
    /// The context that was thought in last, and what the model answered.
    thought: Vec<ArtifactId>,
    asked: BTreeMap<ClarificationId, Asked>,
    answers: BTreeMap<IngressId, ClarificationId>,
    said: BTreeSet<IngressId>,
    acts: BTreeMap<ActionRequestId, Act>,
    asks: BTreeMap<ApprovalId, String>,
    in_hand: Option<ActionRequestId>,
    failed: BTreeMap<Digest, Failure>,
    /// A refusal whose receipt comes behind it, in the same commit.
    refused: Option<usize>,
    found: Vec<Found>,
    left: Vec<Left>,
}

impl Reading {
    /// Nothing is read yet.
    pub const fn new(task: TaskId) -> Self {
        Self {
            task,
            lowest: TrustTier::PolicyAsserted,
            thought: Vec::new(),
            asked: BTreeMap::new(),
            answers: BTreeMap::new(),
            said: BTreeSet::new(),
            acts: BTreeMap::new(),
            asks: BTreeMap::new(),
            in_hand: None,
            failed: BTreeMap::new(),
            refused: None,
            found: Vec::new(),
            left: Vec::new(),
        }
    }

    /// What a person said and no rule understood.
    pub fn left(&self) -> Vec<Left> {
        self.left.clone()
    }

    /// All that was found. `seen` is the weakest trust of what its last attempt had before it: no line that rests on a
    /// model's words has more.
    pub fn found(mut self, seen: TrustTier) -> Vec<Found> {
        for one in self.found.iter_mut().filter(|one| matches!(one.rule, Rule::Answer | Rule::Mended)) {
            one.tier = weaker(one.tier, seen);
        }
        self.found
    }

    /// Takes the next event. `is_typed`: the words in it are those that a person typed, as far as its channel shows; what anybody
    /// else worded is nobody's correction, goal or answer.
    pub fn take(&mut self, at: EventId, body: &Body, is_typed: bool) {
        match body {
            Body::ArtifactCreated(b) if b.artifact.class != ArtifactClass::Audit => {
                self.lowest = weaker(self.lowest, b.artifact.trust_tier);
            }
            Body::ContextCompiled(b) => self.thought = vec![b.pack.artifact_id],
            Body::ModelResponded(b) => self.thought.push(b.answer.artifact_id),
            Body::TaskCreated(b) if is_typed && b.task.origin() == Origin::Person => {
                if let Some(claim) = b.task.goal.shown().and_then(|goal| saying::for_later(goal)) {
                    self.corrected(at, claim, "a person wrote in the goal of a task");
                }
            }
            Body::TaskGoalChanged(b) if is_typed => {
                if let Some(claim) = b.goal.shown().and_then(|goal| saying::for_later(goal)) {
                    self.corrected(at, claim, "a person changed the goal of a task at work");
                }
            }
            Body::TaskInputAdded(b) => {
                let tier = b.trust_tier.unwrap_or(TrustTier::UserAsserted);
                self.lowest = weaker(self.lowest, tier);
                let own = b.text.shown().filter(|_| is_typed && tier == TrustTier::UserAsserted);
                if let Some(text) = own.filter(|_| self.said.insert(b.ingress_id)) {
                    self.input(at, b.ingress_id, text);
                }
            }
            Body::ClarificationRequested(b) => {
                if let Some(question) = b.clarification.question.shown() {
                    let (question, thought) = (embedded(question), self.thought.clone());
                    let asked = Asked { at, question, seen: self.lowest, thought };
                    self.asked.insert(b.clarification.clarification_id, asked);
                }
            }
            Body::ClarificationAnswered(b) => drop(self.answers.insert(b.ingress_id, b.clarification_id)),
            _ => self.act(at, body),
        }
    }

    fn act(&mut self, at: EventId, body: &Body) {
        match body {
            Body::ActionRequested(b) => {
                let summary = b.summary.shown().cloned().unwrap_or_default();
                let key = Digest::of(summary.as_bytes());
                let changes = matches!(
                    b.action_class,
                    ActionClass::WriteLocal | ActionClass::DeleteLocal | ActionClass::VcsMutation
                );
                self.in_hand = Some(b.action_request_id);
                let is_command = b.tool == "command";
                let act = Act { key, summary: embedded(&summary), is_command, changes };
                self.acts.insert(b.action_request_id, act);
            }
            Body::ApprovalRequested(b) => {
                let what = self.in_hand.and_then(|act| self.acts.get(&act)).map(|act| act.summary.clone());
                self.asks.insert(b.approval.approval_id, what.unwrap_or_default());
            }
            Body::ApprovalDenied(b) if is_a_persons(b.surface) => {
                let words = b.feedback.as_ref().and_then(|words| words.shown());
                if let Some(own) = words.and_then(|words| saying::reason(words)) {
                    let what = self.asks.get(&b.approval_id).cloned().unwrap_or_default();
                    self.refused_with(at, own, &what);
                }
            }
            Body::ReceiptIssued(b) if b.receipt_class == ReceiptClass::ApprovalResolution => {
                if let Some(one) = self.refused.take().and_then(|at| self.found.get_mut(at)) {
                    one.grounds.iter_mut().for_each(|ground| ground.receipt_id = Some(b.receipt_id));
                    one.sources.push(b.envelope.artifact_id);
                }
            }
            Body::ReceiptIssued(b) => {
                let Some(act) = b.action_request_id.and_then(|act| self.acts.remove(&act)) else { return };
                let proof = Proof { at, receipt: b.receipt_id, envelope: b.envelope.artifact_id };
                self.came(act, b.result_code, proof);
            }
            _ => {}
        }
    }

    /// A person's words for the task.
    fn input(&mut self, at: EventId, ingress: IngressId, text: &str) {
        match self.answers.get(&ingress).and_then(|question| self.asked.remove(question)) {
            Some(asked) => self.answered(at, asked, text),
            None => match (saying::correction(text), saying::plain(text)) {
                (Some(claim), _) => self.corrected(at, claim, "a person said to a task at work"),
                (None, Some(text)) if self.left.len() < LEFT_MAX => {
                    self.left.push(Left { event_id: at, text })
                }
                (None, _) => {}
            },
        }
    }

    fn corrected(&mut self, at: EventId, claim: String, what: &str) {
        let grounds = vec![self.ground(at, what, &claim)];
        self.keep(Found {
            rule: Rule::Correction,
            reason: "you said so to a task".to_owned(),
            tier: TrustTier::UserAsserted,
            grounds,
            sources: Vec::new(),
            suffices: true,
            claim,
        });
    }

    fn answered(&mut self, at: EventId, asked: Asked, text: &str) {
        let Some(answer) = saying::answer(text) else { return };
        let Asked { at: asked_at, question, seen, thought } = asked;
        let grounds = vec![
            self.ground(asked_at, "a model asked", &question),
            self.ground(at, "a person answered", &answer),
        ];
        self.keep(Found {
            rule: Rule::Answer,
            reason: "you answered a question of a task".to_owned(),
            tier: weaker(seen, TrustTier::Observed),
            grounds,
            sources: thought,
            suffices: super::says_something(&answer),
            claim: format!("Asked \"{question}\", a person answered: \"{answer}\""),
        });
    }

    fn refused_with(&mut self, at: EventId, claim: String, what: &str) {
        let grounds = vec![self.ground(at, "a person refused, and said why", &claim)];
        self.refused = Some(self.found.len());
        self.keep(Found {
            rule: Rule::Refusal,
            reason: format!("you said so when you refused to \"{what}\""),
            tier: TrustTier::UserAsserted,
            grounds,
            sources: Vec::new(),
            suffices: true,
            claim,
        });
    }

    /// An act is over.
    fn came(&mut self, act: Act, code: ResultCode, proof: Proof) {
        let Act { key, summary, is_command, changes } = act;
        let has_room = self.failed.len() < FAILED_MAX || self.failed.contains_key(&key);
        match code {
            ResultCode::Failed if is_command && has_room => {
                self.failed.insert(key, Failure { proof, since: Vec::new() });
            }
            ResultCode::Failed if is_command => {}
            ResultCode::Succeeded if is_command && self.failed.contains_key(&key) => {
                if let Some(failure) = self.failed.remove(&key).filter(|one| !one.since.is_empty()) {
                    self.mended(&summary, failure, proof);
                }
            }
            ResultCode::Succeeded if changes => {
                for failure in self.failed.values_mut() {
                    if failure.since.len() >= NAMED_MAX {
                        failure.since.remove(0);
                    }
                    failure.since.push((summary.clone(), proof));
                }
            }
            _ => {}
        }
    }

    fn mended(&mut self, command: &str, failure: Failure, passed: Proof) {
        let mut sources: Vec<ArtifactId> = vec![failure.proof.envelope, passed.envelope];
        sources.extend(self.thought.iter().copied());
        let proven = |what: &str, quote: &str, proof: Proof| Ground {
            receipt_id: Some(proof.receipt),
            ..self.ground(proof.at, what, quote)
        };
        let mut grounds = vec![proven("it failed", command, failure.proof)];
        let mut changes = Vec::new();
        for (what, proof) in &failure.since {
            grounds.push(proven("this was changed", what, *proof));
            sources.push(proof.envelope);
            changes.push(format!("\"{what}\""));
        }
        grounds.push(proven("it passed", command, passed));
        let found = Found {
            rule: Rule::Mended,
            claim: format!("\"{command}\" failed, and passed after {}", changes.join(", ")),
            reason: "an agent mended it, as its receipts show".to_owned(),
            tier: weaker(self.lowest, TrustTier::Observed),
            grounds,
            sources,
            suffices: true,
        };
        self.keep(found);
    }

    fn keep(&mut self, one: Found) {
        if self.found.len() < FOUND_MAX {
            self.found.push(one);
        }
    }

    fn ground(&self, event_id: EventId, what: &str, quote: &str) -> Ground {
        Ground { task_id: self.task, event_id, receipt_id: None, what: what.to_owned(), quote: cut(quote) }
    }
}

/// Whether a person said no there, and not a program in their name.
const fn is_a_persons(surface: Surface) -> bool {
    match surface {
        Surface::Terminal
        | Surface::ApprovalWindow
        | Surface::Browser
        | Surface::MainWindow
        | Surface::Notification
        | Surface::Mesh
        | Surface::Test => true,
        Surface::RunApi | Surface::Mcp | Surface::Script | Surface::Chat => false,
    }
}

/// Words of a model or a program as they stand between quotation marks: on one line, cut, and without a quotation mark of
/// their own, so that nothing in them can look like the words behind them.
pub(super) fn embedded(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&line.chars().map(|c| if saying::is_mark(c) { '\'' } else { c }).collect::<String>())
}

/// The beginning of a text.
pub(super) fn cut(text: &str) -> String {
    let mut short: String = text.chars().take(QUOTE).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
