//! An answer in hand: parsed, what is only said taken in, one act at a time passed on.

use super::Then;
use super::beliefs::Review;
use super::several::{Plan, with_rest};
use super::trial::{Known, Trial};
use crate::Error;
use crate::kernel::Kernel;
use crate::state::{RefusedBy, TaskState};
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use acts::Action;
use iteration::Proposal;
use model::artifact::{ArtifactClass, ArtifactKind, ArtifactRef};
use model::attempt::{AttemptStatus, IterationRecord, TerminationReason};
use model::body::{
    Boundary, ClarificationRequested, IterationCompleted, ModelOutputRejected, RunTerminated,
    TaskInputAbsorbed,
};
use model::fault::Point;
use model::ingress::{Clarification, ClarificationStatus};
use model::limits;
use model::principal::PrincipalType;
use model::proposal::{Answer, Stop};
use model::task::Proposer;
use model::{ClarificationId, Sensitive};
use seal::Digest;

/// Characters of what a model says when it refuses.
const DECLINED_CHARS_MAX: usize = 240;

impl Kernel {
    /// The stored answer, parsed again: the same bytes always give the same proposals.
    pub(super) fn stored_answer(
        &self,
        state: &TaskState,
    ) -> Result<(Answer, Result<Vec<Proposal>, String>), Error> {
        let at = state.attempt().and_then(|a| a.turn.answer().cloned());
        let at = at.ok_or_else(|| Error::Broken("there is no answer in hand".to_owned()))?;
        let answer: Answer = model::json::read_as(&self.artifacts.read(&at.sha256)?)
            .map_err(|e| Error::Broken(format!("a stored answer is malformed: {e}")))?;
        let proposals = match self.proposer(state)? {
            Proposer::Guest => self.guest_proposals(state, &answer)?,
            _ => iteration::parse(&answer).map_err(|e| e.reason),
        };
        Ok((answer, proposals))
    }

    /// Reads the answer in hand: what is only said is taken in, and one act of it becomes a request.
    pub(super) fn read_answer(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        tx.at(Point::ActionJudge);
        let (answer, proposals) = self.stored_answer(tx)?;
        if answer.is_cut() {
            return self.cut(tx, &answer);
        }
        if matches!(answer.stop, Stop::Refused | Stop::Filtered) && answer.calls.is_empty() {
            return self.declined(tx, &answer);
        }
        if answer.finish_reason == reasoning::guest::FAILED && self.proposer(tx)? == Proposer::Guest {
            self.push_end(tx, TerminationReason::FatalToolError, &super::guest::stopped(&answer.text))?;
            return Ok(Then::Commit);
        }
        let plan = match proposals {
            Err(reason) => return self.reject(tx, reason),
            Ok(proposals) => {
                if self.leaves_rest(tx, &answer, &proposals)? {
                    return Ok(Then::Commit);
                }
                Plan::of(&proposals, tx.attempt().map_or(0, |attempt| attempt.taken))
            }
        };
        let trial = match &plan.act {
            Some(Proposal::Act(command @ Action::Command(_))) => self.trial_of(tx, command)?,
            Some(Proposal::Call { name, arguments }) => self.trial_of_call(tx, name, arguments)?,
            _ => Trial::Not(None),
        };
        match trial {
            Trial::Not(known) => self.follow_answer(tx, &answer, plan, known),
            Trial::Started => Ok(Then::Commit),
        }
    }

    /// A malformed answer: nothing of it is used, and the next prompt says why (RX-8-2, -3).
    fn reject(&self, tx: &mut Tx<'_>, reason: String) -> Result<Then, Error> {
        tx.at(Point::OutputReject);
        let attempt = tx.attempt().ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
        let about_attempt_id = attempt.attempt.attempt_id;
        let (iteration, in_a_row) =
            (attempt.iteration, attempt.loop_state.malformed_in_a_row.saturating_add(1));
        tx.push(ModelOutputRejected {
            about_attempt_id,
            iteration,
            in_a_row,
            reason: Sensitive::from(reason),
        });
        tx.set_attempt(AttemptStatus::CompilingContext, "malformed answer")?;
        Ok(Then::Commit)
    }

    /// An answer that its limit of tokens has cut: nothing of it is used, and the model is told how long it may be.
    fn cut(&self, tx: &mut Tx<'_>, answer: &Answer) -> Result<Then, Error> {
        tx.at(Point::IterationComplete);
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
        self.close_said(tx, &[], &short, Some(why))
    }

    /// An answer that the model, or its provider's filter, did not give: asked again the same, it would not give it again.
    fn declined(&self, tx: &mut Tx<'_>, answer: &Answer) -> Result<Then, Error> {
        tx.at(Point::OutputReject);
        let words: String =
            reasoning::answer_text::of(&answer.text).trim().chars().take(DECLINED_CHARS_MAX).collect();
        let who = match answer.stop {
            Stop::Filtered => "the provider's filter held back the model's answer",
            Stop::Ended | Stop::Cut | Stop::Refused => "the model refused to answer",
        };
        let words = if words.is_empty() { String::new() } else { format!(": \u{201c}{words}\u{201d}") };
        let said = format!(
            "Stopped: {who}{words}. Say the goal in other words, or choose another model, and run it again."
        );
        self.push_end(tx, TerminationReason::ModelUnavailable, &said)?;
        Ok(Then::Commit)
    }

    /// Does what an answer comes to; `known` is what is known of its command, if it has one.
    pub(super) fn follow_answer(
        &self,
        tx: &mut Tx<'_>,
        answer: &Answer,
        plan: Plan,
        known: Option<Known>,
    ) -> Result<Then, Error> {
        tx.act_as(PrincipalType::Agent)?;
        let (remarks, review) = self.take_in(tx, &plan.said)?;
        if let Some(review) = review {
            return self.ask_for_review(tx, &plan, remarks, review, answer);
        }
        match plan.act {
            None => {
                let error = (!remarks.is_empty()).then(|| remarks.join("; "));
                self.close_said(tx, &plan.said, answer, error)
            }
            Some(Proposal::Done { summary }) => self.done(tx, &summary, answer),
            Some(Proposal::Ask { question, choices }) => self.put_question(tx, question, choices, answer),
            Some(Proposal::Delegate { tasks }) => self.delegate(tx, tasks, answer),
            Some(Proposal::FindTools { query }) => self.find_tools(tx, query, answer),
            Some(Proposal::UseSkill { name, file }) => self.use_skill(tx, name, file, answer),
            Some(act) => {
                if let Some(Known::Failed(why)) = known {
                    return self.close_said(tx, &[act], answer, Some(why));
                }
                let executors = self.executors(tx)?;
                let reason = self.reason_of(tx, answer);
                match self.normalise(tx, &*executors, &act, &reason, known.as_ref())? {
                    Err(unfit) => {
                        let why = match &act {
                            Proposal::Remember(memory) if self.is_unsupported(tx, memory)? => {
                                self.keep_unsupported(tx, memory, &unfit.0)?
                            }
                            _ => unfit.0,
                        };
                        self.close_said(tx, &[act], answer, Some(why))
                    }
                    Ok(normalised) => {
                        self.request(tx, normalised)?;
                        Ok(Then::GoOn)
                    }
                }
            }
        }
    }

    /// Why an answer asks for what it asks for, in its own words, else in the goal's.
    pub(super) fn reason_of(&self, state: &TaskState, answer: &Answer) -> String {
        let said = reasoning::answer_text::of(&answer.text);
        if said.trim().is_empty() { state.goal_text() } else { said }
    }

    /// What is only said: working state and beliefs. Refusals become remarks for the model; the first contradiction that a
    /// person has to look at is handed back.
    fn take_in(&self, tx: &mut Tx<'_>, said: &[Proposal]) -> Result<(Vec<String>, Option<Review>), Error> {
        let (mut remarks, mut review) = (Vec::new(), None);
        for one in said {
            match one {
                Proposal::Note(note) => remarks.extend(self.note(tx, note)?.err()),
                Proposal::Believe { .. } | Proposal::Retract { .. } => match self.take_in_belief(tx, one)? {
                    Ok(found) => review = review.or(found),
                    Err(why) => remarks.push(why),
                },
                _ => {}
            }
        }
        Ok((remarks, review))
    }

    /// A person is asked which of two claims holds before anything else of this answer is done: what it asks for may rest on
    /// the one that does not (HK-15.4-5).
    fn ask_for_review(
        &self,
        tx: &mut Tx<'_>,
        plan: &Plan,
        mut remarks: Vec<String>,
        review: Review,
        answer: &Answer,
    ) -> Result<Then, Error> {
        tx.at(Point::ClarificationAsk);
        if let Some(act) = &plan.act {
            remarks.push(format!(
                "`{}` was not done: a person is asked first which of two claims holds",
                act.tool()
            ));
        }
        let error = (!remarks.is_empty()).then(|| remarks.join("; "));
        let record = self.record(tx, &plan.said, answer, None, error)?;
        let about_attempt_id = self.attempt_id(tx)?;
        tx.push(IterationCompleted { about_attempt_id, record });
        let clarification_id = ClarificationId::fresh(&*self.ports.clock, &*self.ports.entropy);
        self.wait_for_answer(tx, clarification_id, review.question, review.choices)
    }

    /// The turn is complete, and the next one begins.
    pub(super) fn turn_is_over(
        &self,
        tx: &mut Tx<'_>,
        record: IterationRecord,
        why: &str,
    ) -> Result<(), Error> {
        let about_attempt_id = self.attempt_id(tx)?;
        tx.push(IterationCompleted { about_attempt_id, record });
        tx.set_attempt(AttemptStatus::CompilingContext, why)
    }

    /// A turn without an act is complete.
    pub(super) fn close_said(
        &self,
        tx: &mut Tx<'_>,
        said: &[Proposal],
        answer: &Answer,
        error: Option<String>,
    ) -> Result<Then, Error> {
        let record = self.record(tx, said, answer, None, error)?;
        self.turn_is_over(tx, record, "turn complete")?;
        Ok(Then::Commit)
    }

    /// The loop would be done, and a person has said something since that it has not heard: it goes on with that.
    /// What was queued is taken up one at a time, in order.
    fn goes_on(&self, tx: &mut Tx<'_>, summary: &str, answer: &Answer) -> Result<Then, Error> {
        let said = [Proposal::Done { summary: summary.to_owned() }];
        let mut record = self.record(tx, &said, answer, None, None)?;
        let next = if tx.inputs.is_empty() { tx.queued.first().map(|input| input.ingress_id) } else { None };
        // It did not end, so the turn is no end; and what was said to it is news, whatever it answered.
        record.tool_invocation = None;
        record.model_decision =
            Sensitive::from(format!("said it was done: {summary}; a person has said more"));
        let news = tx.inputs.iter().map(|input| input.ingress_id).chain(next);
        let news: Vec<Digest> = news.map(|id| Digest::of(id.to_string().as_bytes())).collect();
        record.progress_mark = iteration::progress_mark(&said, &news);
        let about_attempt_id = self.attempt_id(tx)?;
        tx.push(IterationCompleted { about_attempt_id, record });
        if let Some(ingress_id) = next {
            let (about_task_id, boundary) = (tx.task.task_id, Boundary::PreCompilation);
            tx.push(TaskInputAbsorbed { about_task_id, ingress_id, boundary });
        }
        tx.set_attempt(AttemptStatus::CompilingContext, "continues with what was said since")?;
        Ok(Then::Commit)
    }

    /// The loop says it is done; whether the task is, is decided by [`Kernel::finish`].
    fn done(&self, tx: &mut Tx<'_>, summary: &str, answer: &Answer) -> Result<Then, Error> {
        let is_last = tx.step_after(tx.step().map(|step| step.step_id)).is_none();
        if is_last && tx.has_unheard() {
            return self.goes_on(tx, summary, answer);
        }
        let about_attempt_id = self.attempt_id(tx)?;
        let attempt = tx.attempt().ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
        let inputs: Vec<_> = attempt.observed.iter().map(|o| o.artifact.artifact_id).collect();
        let iterations = attempt.loop_state.iteration.saturating_add(1);
        let reason = match attempt.refused_by {
            Some(RefusedBy::Person) => TerminationReason::ApprovalDenied,
            _ => TerminationReason::Done,
        };
        if reason == TerminationReason::Done
            && let Some(then) = self.awaited(tx, summary, answer)?
        {
            return Ok(then);
        }
        if reason == TerminationReason::Done
            && let Some(unmet) = self.check_criteria(tx)?
        {
            return self.not_done(tx, summary, answer, &unmet);
        }
        let done = [Proposal::Done { summary: summary.to_owned() }];
        let record = self.record(tx, &done, answer, None, None)?;
        tx.push(IterationCompleted { about_attempt_id, record });
        let new = NewArtifact::audit(ArtifactKind::Answer)
            .class(ArtifactClass::Deliverable)
            .media("text/plain; charset=utf-8")
            .trust(model::artifact::TrustTier::Untrusted)
            .from(inputs);
        let answer = tx.artifact(summary.as_bytes(), new)?;
        let goes_on = reason == TerminationReason::Done && !is_last;
        let (helped, contradicted) = match goes_on {
            true => (None, None),
            false => self.memories_judged(tx, Some(summary))?,
        };
        tx.push(RunTerminated {
            about_attempt_id,
            reason,
            iterations,
            summary: Sensitive::from(summary.to_owned()),
            answer: Some(answer.clone()),
            helped,
            contradicted,
        });
        if self.proposer(tx)?.reads_context() {
            self.check_answer(tx, summary, &answer)?;
        }
        Ok(Then::Commit)
    }

    /// The loop says it is done, and what must hold at its end does not: a model is sent back to it, then the task fails.
    fn not_done(&self, tx: &mut Tx<'_>, summary: &str, answer: &Answer, unmet: &str) -> Result<Then, Error> {
        let said = [Proposal::Done { summary: summary.to_owned() }];
        let mut record = self.record(tx, &said, answer, None, Some(format!("not done yet: {unmet}")))?;
        if self.is_sent_back(tx)? {
            // It did not end, so the turn is no end.
            record.tool_invocation = None;
            record.model_decision = Sensitive::from(format!("said it was done: {summary}"));
            record.progress_mark = iteration::progress_mark(&said, &[Digest::of(unmet.as_bytes())]);
            self.turn_is_over(tx, record, "what must hold at its end does not")?;
            return Ok(Then::Commit);
        }
        let about_attempt_id = self.attempt_id(tx)?;
        tx.push(IterationCompleted { about_attempt_id, record });
        self.push_end(tx, TerminationReason::CriteriaUnmet, &super::stopped::unmet(unmet))?;
        Ok(Then::Commit)
    }

    pub(super) fn put_question(
        &self,
        tx: &mut Tx<'_>,
        question: String,
        choices: Vec<String>,
        answer: &Answer,
    ) -> Result<Then, Error> {
        tx.at(Point::ClarificationAsk);
        let asked = [Proposal::Ask { question: question.clone(), choices: choices.clone() }];
        let record = self.record(tx, &asked, answer, None, None)?;
        let about_attempt_id = self.attempt_id(tx)?;
        tx.push(IterationCompleted { about_attempt_id, record });
        let clarification_id = ClarificationId::fresh(&*self.ports.clock, &*self.ports.entropy);
        self.wait_for_answer(tx, clarification_id, question, choices)
    }

    /// The attempt at work waits until a person has answered.
    pub(super) fn wait_for_answer(
        &self,
        tx: &mut Tx<'_>,
        clarification_id: ClarificationId,
        question: String,
        choices: Vec<String>,
    ) -> Result<Then, Error> {
        let clarification = Clarification {
            clarification_id,
            task_id: tx.task.task_id,
            attempt_id: self.attempt_id(tx)?,
            question: Sensitive::from(question),
            choices: choices.into_iter().map(Sensitive::from).collect(),
            status: ClarificationStatus::Pending,
            requested_at: tx.now(),
            expires_at: tx.now().plus_ms(limits::APPROVAL_MS_MAX),
            answered_by: None,
        };
        tx.push(ClarificationRequested { clarification });
        tx.set_attempt(AttemptStatus::AwaitingInput, "asked a person")?;
        tx.block("waits for an answer")?;
        Ok(Then::Commit)
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
        let said: String = reasoning::answer_text::of(&answer.text).chars().take(400).collect();
        let decision = if said.trim().is_empty() {
            proposals.iter().map(Proposal::tool).collect::<Vec<_>>().join(", ")
        } else {
            said
        };
        let error = error.map(|error| with_rest(state, answer, error));
        Ok(IterationRecord {
            step_number: attempt.loop_state.iteration.saturating_add(1),
            model_decision: Sensitive::from(decision),
            tool_invocation: proposals.last().map(|p| p.tool().to_owned()),
            tool_input: attempt.act().map(|act| act.request.artifact_id),
            tool_output: output.map(|o| o.artifact_id),
            error: error.map(Sensitive::from),
            state_summary: Sensitive::from(attempt.loop_state.summary()),
            progress_mark: iteration::progress_mark(proposals, &outputs),
        })
    }
}

pub(super) fn empty_answer() -> Answer {
    Answer { finish_reason: "kernel".to_owned(), ..Answer::default() }
}
