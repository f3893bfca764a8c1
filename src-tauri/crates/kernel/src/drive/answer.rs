//! An answer in hand: parsed, what is only said taken in, one act at most passed on.

use super::normalise::{self};
use super::stage::{Beforehand, Known};
use crate::Error;
use crate::kernel::{Cell, Kernel, lock};
use crate::state::TaskState;
use crate::track::Track;
use crate::writeup::{NewArtifact, Writeup};
use acts::Action;
use iteration::Proposal;
use model::artifact::{ArtifactClass, ArtifactKind, ArtifactRef};
use model::attempt::{AttemptStatus, IterationRecord, TerminationReason};
use model::body::{
    Boundary, ClarificationRequested, IterationCompleted, ModelOutputRejected, RunTerminated,
    TaskInputAbsorbed, WorkingStateUpdated,
};
use model::fault::Point;
use model::ingress::{Clarification, ClarificationStatus};
use model::knowledge::WorkingState;
use model::limits;
use model::principal::PrincipalType;
use model::proposal::Answer;
use model::{BeliefId, ClarificationId, Sensitive};
use seal::Digest;

impl Kernel {
    /// The stored answer, parsed again: the same bytes always give the same proposals.
    pub(super) fn stored_answer(
        &self,
        state: &TaskState,
    ) -> Result<(Answer, Result<Vec<Proposal>, String>), Error> {
        let at = state.attempt().and_then(|a| a.answer.clone());
        let at = at.ok_or_else(|| Error::Broken("there is no answer in hand".to_owned()))?;
        let answer: Answer = serde_json::from_slice(&self.artifacts.read(&at.sha256)?)
            .map_err(|e| Error::Broken(format!("a stored answer is malformed: {e}")))?;
        let proposals = iteration::parse(&answer).map_err(|e| e.reason);
        Ok((answer, proposals))
    }

    /// Handles the answer in hand.
    pub(super) fn handle(&self, cell: &Cell) -> Result<(), Error> {
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let (answer, proposals) = self.stored_answer(state)?;
        if answer.is_cut() {
            return self.cut(state, &answer);
        }
        match proposals {
            Err(reason) => self.reject(state, reason),
            Ok(proposals) => {
                let plan = Plan::of(proposals);
                let Some(Proposal::Act(act @ Action::Command(_))) = &plan.act else {
                    return self.carry_out(cell, guard, &answer, plan, None);
                };
                match self.beforehand(cell, state, act)? {
                    Beforehand::Known(known) => self.carry_out(cell, guard, &answer, plan, Some(known)),
                    Beforehand::Try(hands, key, action) => {
                        let attempt = self.attempt_id(state)?;
                        drop(guard);
                        self.try_out(cell, &*hands, key, attempt, &action)
                    }
                }
            }
        }
    }

    /// A malformed answer: nothing of it is used, and the next prompt says why (RX-8-2, -3).
    fn reject(&self, state: &mut TaskState, reason: String) -> Result<(), Error> {
        let attempt = state.attempt().ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
        let about_attempt_id = attempt.attempt.attempt_id;
        let (iteration, in_a_row) =
            (attempt.iteration, attempt.loop_state.malformed_in_a_row.saturating_add(1));
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::OutputReject, state, actor);
        let mut track = Track::of(state);
        w.push(ModelOutputRejected {
            about_attempt_id,
            iteration,
            in_a_row,
            reason: Sensitive::from(reason),
        });
        track.attempt(&mut w, AttemptStatus::CompilingContext, "malformed answer")?;
        self.commit(w, Some(state))?;
        Ok(())
    }

    /// An answer that its limit of tokens has cut: nothing of it is used, and the model is told how long it may be.
    fn cut(&self, state: &mut TaskState, answer: &Answer) -> Result<(), Error> {
        let actor = self.actor(PrincipalType::System)?;
        let w = self.writeup(Point::IterationComplete, state, actor);
        let tokens = match answer.usage.tokens_out {
            0 => "its limit of tokens".to_owned(),
            tokens => format!("{tokens} tokens"),
        };
        let why = format!(
            "the answer was cut at {tokens} and nothing of it was done; write less at once: a long file in parts, the first \
             with `write`, each further part with `edit`, and change a file that is there with small edits"
        );
        // What was said before the cut would only lead the next answer to the same length.
        let short = Answer { text: String::new(), calls: Vec::new(), ..answer.clone() };
        self.close_said(state, w, &[], &short, Some(why))
    }

    fn carry_out(
        &self,
        cell: &Cell,
        mut guard: std::sync::MutexGuard<'_, TaskState>,
        answer: &Answer,
        plan: Plan,
        known: Option<Known>,
    ) -> Result<(), Error> {
        let state = &mut *guard;
        let actor = self.actor(PrincipalType::Agent)?;
        let mut w = self.writeup(Point::ActionJudge, state, actor);
        let mut remarks = self.take_in(state, &mut w, &plan.said)?;
        if plan.dropped > 0 {
            remarks
                .push(format!("{} further calls were not looked at: one act in each answer", plan.dropped));
        }
        match plan.act {
            None => {
                let error = (!remarks.is_empty()).then(|| remarks.join("; "));
                self.close_said(state, w, &plan.said, answer, error)
            }
            Some(Proposal::Done { summary }) => self.done(state, w, &summary, answer),
            Some(Proposal::Ask { question, choices }) => {
                self.put_question(state, w, question, choices, answer)
            }
            Some(act) => {
                let hands = self.hands(state)?;
                let said = reasoning::prose::of(&answer.text);
                let reason = if said.trim().is_empty() { state.goal_text() } else { said };
                let (staged, unfit) = match known {
                    Some(Known::Staged(staging)) => (Some(Ok(staging)), None),
                    Some(Known::NotStaged(why)) => (Some(Err(why)), None),
                    Some(Known::Failed(why)) => (None, Some(why)),
                    Some(Known::Refused) | None => (None, None),
                };
                if let Some(why) = unfit {
                    return self.close_said(state, w, &[act], answer, Some(why));
                }
                match self.normalise(state, &mut w, &*hands, &act, &reason, staged.as_ref())? {
                    Err(unfit) => self.close_said(state, w, &[act], answer, Some(unfit.0)),
                    Ok(normalised) => {
                        let judged = self.judge(state, &mut w, normalised)?;
                        let track = Track::of(&guard);
                        self.proceed(cell, guard, w, track, &*hands, judged)
                    }
                }
            }
        }
    }

    /// What is only said: working state and beliefs. Refusals become remarks for the model.
    fn take_in(
        &self,
        state: &TaskState,
        w: &mut Writeup<'_>,
        said: &[Proposal],
    ) -> Result<Vec<String>, Error> {
        let mut remarks = Vec::new();
        let mut held: Vec<model::knowledge::Belief> = state.beliefs.values().cloned().collect();
        let mut revision = state.working_state.as_ref().map_or(0, |(_, r)| *r);
        let mut working: WorkingState = match &state.working_state {
            Some((at, _)) => self.read_object(state, at.artifact_id)?,
            None => WorkingState::default(),
        };
        for one in said {
            match one {
                Proposal::Note(note) => match knowledge::working_state::merge(&working, note) {
                    Ok(merged) => {
                        revision = revision.saturating_add(1);
                        let kind =
                            NewArtifact::audit(ArtifactKind::WorkingState).class(ArtifactClass::Working);
                        let at = w.object(&merged, kind)?;
                        let byte_size = seal::canon::to_canonical(&merged)?.len() as u64;
                        w.push(WorkingStateUpdated { state: at, byte_size, revision });
                        working = merged;
                    }
                    Err(error) => remarks.push(error.to_string()),
                },
                Proposal::Believe { claim, scope, confidence, evidence } => {
                    let evidence = match normalise::evidence_refs(self, state, evidence)? {
                        Ok(evidence) => evidence,
                        Err(unfit) => {
                            remarks.push(unfit.0);
                            continue;
                        }
                    };
                    let claim = knowledge::belief::Claim {
                        claim: claim.clone(),
                        scope: scope.clone(),
                        confidence: *confidence,
                        evidence,
                        expires_at: None,
                    };
                    let holding = knowledge::belief::Holding {
                        belief_id: BeliefId::fresh(&*self.ports.clock, &*self.ports.entropy),
                        task_id: state.task.task_id,
                        step_id: state.step().map(|s| s.step_id),
                        attempt_id: state.current,
                        asserted_by: w.actor.actor_id,
                        now: w.now,
                    };
                    match knowledge::belief::assert(&claim, &holding, &held) {
                        Ok(body) => {
                            if let model::Body::BeliefAsserted(b) = &body {
                                held.push(b.belief.clone());
                            }
                            w.push(body);
                        }
                        Err(refusal) => remarks.push(refusal.reason),
                    }
                }
                _ => {}
            }
        }
        Ok(remarks)
    }

    /// A turn without an act is complete.
    fn close_said(
        &self,
        state: &mut TaskState,
        mut w: Writeup<'_>,
        said: &[Proposal],
        answer: &Answer,
        error: Option<String>,
    ) -> Result<(), Error> {
        let mut track = Track::of(state);
        let record = self.record(state, said, answer, None, error)?;
        w.push(IterationCompleted { about_attempt_id: self.attempt_id(state)?, record });
        track.attempt(&mut w, AttemptStatus::CompilingContext, "turn complete")?;
        self.commit(w, Some(state))?;
        Ok(())
    }

    /// The loop would be done, and a person has said something since that it has not heard: it goes on with that.
    /// What was queued is taken up one at a time, in order.
    fn goes_on(
        &self,
        state: &mut TaskState,
        mut w: Writeup<'_>,
        summary: &str,
        answer: &Answer,
    ) -> Result<(), Error> {
        let said = [Proposal::Done { summary: summary.to_owned() }];
        let mut record = self.record(state, &said, answer, None, None)?;
        let next = if state.inputs.is_empty() { state.queued.first() } else { None };
        // It did not end, so the turn is no end; and what was said to it is news, whatever it answered.
        record.tool_invocation = None;
        record.model_decision =
            Sensitive::from(format!("said it was done: {summary}; a person has said more"));
        let news = state.inputs.iter().chain(next).map(|(id, _)| Digest::of(id.to_string().as_bytes()));
        record.progress_mark = iteration::progress_mark(&said, &news.collect::<Vec<_>>());
        w.push(IterationCompleted { about_attempt_id: self.attempt_id(state)?, record });
        if let Some((ingress_id, _)) = next {
            w.push(TaskInputAbsorbed {
                about_task_id: state.task.task_id,
                ingress_id: *ingress_id,
                boundary: Boundary::PreCompilation,
            });
        }
        let mut track = Track::of(state);
        track.attempt(&mut w, AttemptStatus::CompilingContext, "goes on with what was said since")?;
        self.commit(w, Some(state))?;
        Ok(())
    }

    /// The loop says it is done; whether the task is, is decided by [`Kernel::finish`].
    fn done(
        &self,
        state: &mut TaskState,
        mut w: Writeup<'_>,
        summary: &str,
        answer: &Answer,
    ) -> Result<(), Error> {
        let is_last = state.step_after(state.step().map(|step| step.step_id)).is_none();
        if is_last && state.has_unheard() {
            return self.goes_on(state, w, summary, answer);
        }
        let about_attempt_id = self.attempt_id(state)?;
        let attempt = state.attempt().ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
        let reason =
            if attempt.last_refused { TerminationReason::ApprovalDenied } else { TerminationReason::Done };
        let inputs: Vec<_> = attempt.observed.iter().map(|o| o.artifact.artifact_id).collect();
        let iterations = attempt.loop_state.iteration.saturating_add(1);
        let done = [Proposal::Done { summary: summary.to_owned() }];
        let record = self.record(state, &done, answer, None, None)?;
        w.push(IterationCompleted { about_attempt_id, record });
        let new = NewArtifact::audit(ArtifactKind::Answer)
            .class(ArtifactClass::Deliverable)
            .media("text/plain; charset=utf-8")
            .trust(model::artifact::TrustTier::Untrusted)
            .from(inputs);
        let answer = Some(w.artifact(summary.as_bytes(), new)?);
        w.push(RunTerminated {
            about_attempt_id,
            reason,
            iterations,
            summary: Sensitive::from(summary.to_owned()),
            answer,
        });
        self.commit(w, Some(state))?;
        Ok(())
    }

    fn put_question(
        &self,
        state: &mut TaskState,
        mut w: Writeup<'_>,
        question: String,
        choices: Vec<String>,
        answer: &Answer,
    ) -> Result<(), Error> {
        w.batch.point = Point::ClarificationAsk;
        let mut track = Track::of(state);
        let asked = [Proposal::Ask { question: question.clone(), choices: choices.clone() }];
        let record = self.record(state, &asked, answer, None, None)?;
        let about_attempt_id = self.attempt_id(state)?;
        w.push(IterationCompleted { about_attempt_id, record });
        let clarification = Clarification {
            clarification_id: ClarificationId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: state.task.task_id,
            attempt_id: about_attempt_id,
            question: Sensitive::from(question),
            choices: choices.into_iter().map(Sensitive::from).collect(),
            status: ClarificationStatus::Pending,
            requested_at: w.now,
            expires_at: w.now.plus_ms(limits::APPROVAL_MS_MAX),
            answered_by: None,
        };
        w.push(ClarificationRequested { clarification });
        track.attempt(&mut w, AttemptStatus::AwaitingInput, "asked a person")?;
        track.block(&mut w, "waits for an answer")?;
        self.commit(w, Some(state))?;
        Ok(())
    }

    pub(super) fn attempt_id(&self, state: &TaskState) -> Result<model::AttemptId, Error> {
        state.current.ok_or_else(|| Error::Broken("no attempt is at work".to_owned()))
    }

    /// The record of a turn (RX-4-1).
    pub(super) fn record(
        &self,
        state: &TaskState,
        proposals: &[Proposal],
        answer: &Answer,
        output: Option<&ArtifactRef>,
        error: Option<String>,
    ) -> Result<IterationRecord, Error> {
        let attempt = state.attempt().ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
        let outputs: Vec<Digest> = output.iter().map(|o| o.sha256).collect();
        let said: String = reasoning::prose::of(&answer.text).chars().take(400).collect();
        let decision = if said.trim().is_empty() {
            proposals.iter().map(Proposal::tool).collect::<Vec<_>>().join(", ")
        } else {
            said
        };
        Ok(IterationRecord {
            step_number: attempt.loop_state.iteration.saturating_add(1),
            model_decision: Sensitive::from(decision),
            tool_invocation: proposals.last().map(|p| p.tool().to_owned()),
            tool_input: attempt.act.as_ref().map(|act| act.request.artifact_id),
            tool_output: output.map(|o| o.artifact_id),
            error: error.map(Sensitive::from),
            state_summary: Sensitive::from(attempt.loop_state.summary()),
            progress_mark: iteration::progress_mark(proposals, &outputs),
        })
    }
}

/// What an answer comes to: things said, then one act at most.
struct Plan {
    said: Vec<Proposal>,
    act: Option<Proposal>,
    dropped: usize,
}

impl Plan {
    fn of(proposals: Vec<Proposal>) -> Self {
        let mut plan = Self { said: Vec::new(), act: None, dropped: 0 };
        for proposal in proposals {
            match (plan.act.as_mut(), proposal) {
                // Looks that follow each other are one request: they have no effect, and a folder has many files.
                (Some(Proposal::Observe(items)), Proposal::Observe(more)) => items.extend(more),
                (Some(_), _) => plan.dropped += 1,
                (None, proposal) => plan.take(proposal),
            }
        }
        plan
    }

    fn take(&mut self, proposal: Proposal) {
        match proposal {
            Proposal::Note(_) | Proposal::Believe { .. } => self.said.push(proposal),
            Proposal::Observe(_)
            | Proposal::Change(_)
            | Proposal::Act(_)
            | Proposal::Commit { .. }
            | Proposal::Branch { .. }
            | Proposal::Tag { .. }
            | Proposal::MoveRef { .. }
            | Proposal::DeleteRef { .. }
            | Proposal::Remember { .. }
            | Proposal::Ask { .. }
            | Proposal::Done { .. } => self.act = Some(proposal),
        }
    }
}

pub(super) fn empty_answer() -> Answer {
    Answer {
        text: String::new(),
        calls: Vec::new(),
        usage: model::proposal::Usage::default(),
        finish_reason: "kernel".to_owned(),
    }
}
