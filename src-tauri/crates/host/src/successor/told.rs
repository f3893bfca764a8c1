//! A recorded task as its events tell it: answers, acts, what was found before them and what came of them.

use super::reads::{Reads, Unplayable};
use super::recording::{RecordedOutput, Recording, action_digest, coded, effect_of, sealable};
use super::skins::{WornSkin, of_pack};
use ::successor::{RecordedAct, RecordedAnswer};
use acts::{Action, ActionRequest};
use kernel::Kernel;
use model::action::{ChangeItem, Prior};
use model::approval::ApprovalStatus;
use model::artifact::{Artifact, ArtifactKind, ArtifactRef};
use model::context::ContextPack;
use model::proposal::{Answer, ToolCall};
use model::witness::StateWitness;
use model::{ActionRequestId, ApprovalId, ArtifactId, Body, Digest};
use std::collections::{BTreeMap, BTreeSet};

/// What a task is ended with that is under way.
const ENDS_HERE: &str = "(the trial plays it up to here)";

/// A task as its events tell it.
#[derive(Default)]
pub(super) struct Told {
    /// Its artifacts.
    pub(super) artifacts: BTreeMap<ArtifactId, Artifact>,
    order: Vec<ActionRequestId>,
    acts: BTreeMap<ActionRequestId, ToldAct>,
    approvals: BTreeMap<ApprovalId, ActionRequestId>,
    /// What its model answered, in order.
    pub(super) answers: Vec<RecordedAnswer>,
    asked: Option<Digest>,
    /// The context that was answered first: of those before it only this one is read.
    context: Option<Digest>,
    /// Counts what is read of it.
    pub(super) reads: Reads,
}

/// An act, as far as it has been told.
struct ToldAct {
    request: ActionRequest,
    summary: String,
    verdict: String,
    answered: Option<String>,
    came: Recording,
    effect: Option<Digest>,
}

/// Whether a clone can be told again what came of it.
const fn is_playable(action: &Action) -> bool {
    matches!(
        action,
        Action::Observe(_)
            | Action::Change(_)
            | Action::Command(_)
            | Action::Fetch(_)
            | Action::Call(_)
            | Action::Remember(_)
            | Action::TryChange(_)
    )
}

impl Told {
    /// One event.
    pub(super) fn take(&mut self, kernel: &Kernel, body: &Body) -> Result<(), Unplayable> {
        match body {
            Body::ArtifactCreated(b) => {
                self.artifacts.insert(b.artifact.artifact_id, b.artifact.clone());
            }
            Body::ContextCompiled(b) if self.answers.is_empty() => self.context = Some(b.pack.sha256),
            Body::ModelRequested(b) => self.asked = Some(b.request.sha256),
            Body::ModelResponded(b) => {
                let bytes = self.reads.bytes(kernel, &b.answer.sha256)?;
                let answer = model::json::read(&bytes);
                let answer = sealable(answer.map_err(|e| format!("a stored answer cannot be read: {e}"))?);
                let request_sha256 = self.asked.take().unwrap_or(Digest::ZERO);
                let tokens = b.tokens_in.saturating_add(b.tokens_out);
                self.answers.push(RecordedAnswer { request_sha256, answer, tokens });
            }
            Body::ActionRequested(b) => {
                self.requested(kernel, b.action_request_id, &b.request, b.summary.shown())?
            }
            Body::PolicyEvaluated(b) => {
                self.with(b.action_request_id, |act| act.verdict = b.verdict.to_string());
            }
            Body::ApprovalRequested(b) => {
                self.approvals.insert(b.approval.approval_id, b.action_request_id);
            }
            Body::ApprovalGranted(b) => self.answered(b.approval_id, ApprovalStatus::Granted),
            Body::ApprovalDenied(b) => self.answered(b.approval_id, ApprovalStatus::Denied),
            Body::WitnessCaptured(b) => self.witnessed(kernel, b.action_request_id, &b.witness)?,
            Body::WitnessValidated(b) => self.witnessed(kernel, b.action_request_id, &b.observed)?,
            Body::EffectObserved(b) => {
                let output = self.output(kernel, &b.result)?;
                self.with(b.action_request_id, |act| {
                    act.came.result_code = Some(b.result_code);
                    act.came.sandbox_level = Some(b.sandbox_level);
                    if is_answer(&act.request) {
                        act.came.outputs.insert(0, output);
                    }
                });
            }
            Body::ReceiptIssued(b) => {
                if let Some(id) = b.action_request_id.filter(|id| self.acts.contains_key(id)) {
                    self.receipted(kernel, id, &b.envelope.sha256)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The skin that its first context had. Of one that was erased nobody knows what it had.
    pub(super) fn skin(&mut self, kernel: &Kernel) -> Result<Option<WornSkin>, Unplayable> {
        let Some(digest) = self.context else { return Ok(None) };
        match self.reads.object::<ContextPack>(kernel, &digest) {
            Ok(pack) => Ok(of_pack(&pack)),
            Err(large @ Unplayable::TooLarge { .. }) => Err(large),
            Err(Unplayable::Other(_)) => Ok(None),
        }
    }

    /// Leaves out the last answer and what was asked for by it, and ends the task in its place: it is under way.
    pub(super) fn end_before_the_last_answer(&mut self) -> Result<(), Unplayable> {
        let last = u32::try_from(self.answers.len()).unwrap_or(u32::MAX);
        self.answers.pop().ok_or("its model has answered nothing")?;
        let acts = &self.acts;
        self.order.retain(|id| acts.get(id).is_some_and(|act| act.came.turn < last));
        let arguments = serde_json::json!({ "summary": ENDS_HERE });
        let done = Answer {
            calls: vec![ToolCall { name: "done".to_owned(), arguments }],
            finish_reason: "stop".to_owned(),
            ..Answer::default()
        };
        let answer = serde_json::to_value(&done).map_err(|e| e.to_string())?;
        self.answers.push(RecordedAnswer { request_sha256: Digest::ZERO, answer, tokens: 0 });
        Ok(())
    }

    fn with(&mut self, id: ActionRequestId, change: impl FnOnce(&mut ToldAct)) {
        if let Some(act) = self.acts.get_mut(&id) {
            change(act);
        }
    }

    fn answered(&mut self, approval: ApprovalId, how: ApprovalStatus) {
        if let Some(id) = self.approvals.get(&approval).copied() {
            self.with(id, |act| act.answered = Some(how.to_string()));
        }
    }

    fn requested(
        &mut self,
        kernel: &Kernel,
        id: ActionRequestId,
        at: &ArtifactRef,
        summary: Option<&String>,
    ) -> Result<(), Unplayable> {
        let request: ActionRequest = self.reads.object(kernel, &at.sha256)?;
        if !is_playable(&request.action) {
            let act = request.action.as_tool().one_line();
            return Err(Unplayable::Other(format!("what came of `{act}` cannot be told again")));
        }
        let turn = u32::try_from(self.answers.len()).unwrap_or(u32::MAX);
        let came = Recording {
            turn,
            reach: request.reach.clone(),
            staged: request.staged.clone(),
            not_staged: request.not_staged.clone(),
            ..Recording::default()
        };
        let summary = summary.cloned().unwrap_or_else(|| request.action.as_tool().one_line());
        let (verdict, answered, effect) = (String::new(), None, None);
        let act = ToldAct { request, summary, verdict, answered, came, effect };
        if self.acts.insert(id, act).is_none() {
            self.order.push(id);
        }
        Ok(())
    }

    fn witnessed(
        &mut self,
        kernel: &Kernel,
        id: ActionRequestId,
        at: &ArtifactRef,
    ) -> Result<(), Unplayable> {
        let witness: StateWitness = self.reads.object(kernel, &at.sha256)?;
        self.with(id, |act| act.came.found = witness.fingerprints);
        Ok(())
    }

    /// An artifact that an act produced.
    fn output(&mut self, kernel: &Kernel, at: &ArtifactRef) -> Result<RecordedOutput, Unplayable> {
        let bytes = self.bytes_of(kernel, &at.sha256)?;
        let (kind, media_type, about) = match self.artifacts.get(&at.artifact_id) {
            Some(made) => {
                let about = made.task_local_alias.as_ref().and_then(|alias| alias.shown().cloned());
                (made.kind, made.media_type.clone(), about.unwrap_or_default())
            }
            None => (ArtifactKind::ActionResult, "application/json".to_owned(), String::new()),
        };
        Ok(RecordedOutput::of(kind, &media_type, &about, &bytes))
    }

    /// Bytes out of the store, and none that hold the value of a secret.
    fn bytes_of(&mut self, kernel: &Kernel, digest: &Digest) -> Result<Vec<u8>, Unplayable> {
        let bytes = self.reads.bytes(kernel, digest)?;
        match kernel.ports().redactor.now().holds(&bytes).is_empty() {
            true => Ok(bytes),
            false => Err("what it saw or did holds the value of a secret".into()),
        }
    }

    /// What the receipt of an act tells: item by item, and what else it produced.
    fn receipted(
        &mut self,
        kernel: &Kernel,
        id: ActionRequestId,
        envelope: &Digest,
    ) -> Result<(), Unplayable> {
        let envelope = self.reads.bytes(kernel, envelope)?;
        let receipt = kernel.receipt_in(&envelope).map_err(|e| e.to_string())?;
        let Some(act) = self.acts.get(&id) else { return Ok(()) };
        let answers = is_answer(&act.request);
        // Of an answer the first output stands already; the last of the others is what the model was shown, made from the rest.
        let refs = match (answers, receipt.output_refs.as_slice()) {
            (true, [_, rest @ ..]) | (false, [rest @ .., _]) => rest.to_vec(),
            (_, []) => Vec::new(),
        };
        let mut outputs = Vec::new();
        for at in &refs {
            outputs.push(self.output(kernel, at)?);
        }
        self.with(id, |act| {
            act.effect = effect_of(&receipt.changes);
            act.came.outputs.extend(outputs);
            act.came.observed = receipt.observed.iter().filter_map(|said| said.shown().cloned()).collect();
            act.came.exit_code = receipt.ran.value().and_then(|ran| ran.exit_code);
            act.came.changes = receipt.changes;
        });
        Ok(())
    }

    /// The acts in order, with the bytes that playing them needs.
    pub(super) fn acts(&mut self, kernel: &Kernel) -> Result<Vec<RecordedAct>, Unplayable> {
        let mut recorded = Vec::new();
        for id in std::mem::take(&mut self.order) {
            let Some(mut act) = self.acts.remove(&id) else { continue };
            self.with_bytes(kernel, &mut act)?;
            let failed = |e: &dyn std::fmt::Display| format!("`{}` has no canonical form: {e}", act.summary);
            recorded.push(RecordedAct {
                action_sha256: action_digest(&act.request.action).map_err(|e| failed(&e))?,
                action: serde_json::to_value(&act.request.action).map_err(|e| failed(&e))?,
                class: act.request.gravest().to_string(),
                outcome: serde_json::to_value(&act.came).map_err(|e| failed(&e))?,
                summary: act.summary,
                verdict: act.verdict,
                answered: act.answered,
                effect_sha256: act.effect,
            });
        }
        Ok(recorded)
    }

    /// Bytes of files that an act replaces or a staged run left, and what that run printed and changed.
    fn with_bytes(&mut self, kernel: &Kernel, act: &mut ToldAct) -> Result<(), Unplayable> {
        let is_staged = act.request.staged.is_some();
        let mut wanted = BTreeSet::new();
        for item in act.request.items() {
            match item {
                ChangeItem::Write { prior: Prior::Sha256(was), content_sha256, .. } => {
                    wanted.insert(*was);
                    wanted.extend(Some(*content_sha256).filter(|_| is_staged));
                }
                ChangeItem::Write { content_sha256, .. } if is_staged => {
                    wanted.insert(*content_sha256);
                }
                ChangeItem::Delete { prior: Prior::Sha256(was), .. } => {
                    wanted.insert(*was);
                }
                _ => {}
            }
        }
        // What was never done left nothing that would be there to keep.
        let ran = act.came.result_code.is_some();
        for digest in wanted.into_iter().filter(|_| ran) {
            let bytes = self.bytes_of(kernel, &digest)?;
            act.came.bytes.insert(digest.to_string(), coded(&bytes));
        }
        if let Some(staged) = &act.request.staged {
            let kind = match act.request.action {
                Action::Call(_) => ArtifactKind::ActionResult,
                _ => ArtifactKind::CommandTranscript,
            };
            let transcript = self.bytes_of(kernel, &staged.transcript_sha256)?;
            let diff = self.bytes_of(kernel, &staged.diff_sha256)?;
            let json = "application/json";
            act.came.transcript = Some(RecordedOutput::of(kind, json, "what it printed", &transcript));
            act.came.diff = Some(RecordedOutput::of(ArtifactKind::Diff, json, "what it changed", &diff));
        }
        Ok(())
    }
}

/// Whether the model was shown what the act produced as it is.
fn is_answer(request: &ActionRequest) -> bool {
    matches!(request.action, Action::Observe(_) | Action::Fetch(_) | Action::Call(_) | Action::TryChange(_))
        && request.staged.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::successor::limits::TASK_BYTES_MAX;
    use model::artifact::TrustTier;
    use model::body::{ContextCompiled, ModelResponded};
    use model::context::{ContextItem, Section};
    use model::{AttemptId, TaskId};
    use testkit::World;
    use uuid::Uuid;

    /// A context of a skin, with so many letters in it.
    fn compiled(kernel: &Kernel, skin: &str, letters: usize) -> Body {
        let item = |source: String, text: String| ContextItem {
            section: Section::Artifacts,
            source,
            title: "one".to_owned(),
            text,
            trust_tier: TrustTier::Untrusted,
            tokens: 1,
            cut: false,
            act: None,
            found_by: None,
            pictures: Vec::new(),
            number: None,
        };
        let attempt_id = AttemptId::new(Uuid::from_u128(2));
        let pack = ContextPack {
            task_id: TaskId::new(Uuid::from_u128(1)),
            attempt_id,
            iteration: 1,
            tokens_max: 1_000,
            tokens: 1,
            items: vec![
                item(format!("skin:{skin}@{}", Digest::of(skin.as_bytes())), String::new()),
                item("art_1".to_owned(), "x".repeat(letters)),
            ],
            omissions: Vec::new(),
            inputs: Vec::new(),
            input_sha256: Digest::ZERO,
            meaning: None,
        };
        let sha256 = kernel.artifacts().put_file(&serde_json::to_vec(&pack).unwrap()).unwrap();
        Body::ContextCompiled(ContextCompiled {
            about_attempt_id: attempt_id,
            iteration: 1,
            pack: ArtifactRef { artifact_id: ArtifactId::new(Uuid::from_u128(3)), sha256 },
            tokens: 1,
            items: 2,
            omissions: 0,
            memories: None,
            pinned: None,
        })
    }

    /// A model that does not answer is asked with one context after the other.
    #[test]
    fn of_the_contexts_before_an_answer_one_is_read_and_counted() {
        let world = World::new(1);
        let kernel = world.kernel();
        let most = usize::try_from(TASK_BYTES_MAX).unwrap();
        let mut told = Told::default();
        for skin in ["quay", "pier", "harbour"] {
            told.take(kernel, &compiled(kernel, skin, most / 2)).unwrap();
        }
        let worn = told.skin(kernel).unwrap().expect("the last one had a skin");
        assert_eq!((worn.name.as_str(), worn.sha256), ("harbour", Digest::of(b"harbour")));
        let more = kernel.artifacts().put_file(&vec![b'x'; most / 2]).unwrap();
        assert!(told.reads.bytes(kernel, &more).is_err(), "it is counted");

        let mut large = Told::default();
        large.take(kernel, &compiled(kernel, "harbour", most)).unwrap();
        let why = large.skin(kernel).expect_err("it is larger than a task may be").to_string();
        assert!(why.contains(&format!("more than {TASK_BYTES_MAX} bytes")), "{why}");
        assert_eq!(Told::default().skin(kernel), Ok(None));
    }

    /// Each of these is read as it is told, and was not counted once.
    #[test]
    fn an_answer_a_request_and_a_witness_that_are_too_large_are_refused_before_they_are_read() {
        let world = World::new(1);
        let kernel = world.kernel();
        let most = usize::try_from(TASK_BYTES_MAX).unwrap();
        // It is no JSON: whoever read it would complain of that.
        let sha256 = kernel.artifacts().put_file(&vec![b'x'; most + 1]).unwrap();
        let at = ArtifactRef { artifact_id: ArtifactId::new(Uuid::from_u128(3)), sha256 };
        let id = ActionRequestId::new(Uuid::from_u128(4));
        let answered = ModelResponded {
            about_attempt_id: AttemptId::new(Uuid::from_u128(2)),
            iteration: 1,
            response: at.clone(),
            answer: at.clone(),
            tokens_in: 1,
            tokens_out: 1,
            cost_micros: 0,
            finish_reason: "stop".to_owned(),
        };
        let large = Err(Unplayable::TooLarge { what: "what it saw and did has", most: TASK_BYTES_MAX });
        assert_eq!(Told::default().take(kernel, &Body::from(answered)), large);
        assert_eq!(Told::default().requested(kernel, id, &at, None), large);
        assert_eq!(Told::default().witnessed(kernel, id, &at), large);
        assert_eq!(Told::default().receipted(kernel, id, &at.sha256), large);
    }
}
