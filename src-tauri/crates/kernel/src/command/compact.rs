//! Compaction: a summary takes the place of the oldest turns of an attempt, made beside its loop (HV-3.2-4, memory.md 3).
//!
//! The loop never waits for it: what is needed is copied out of the task in one short look, read and summed up without a
//! lock, and recorded in one commit. A host that dies before that commit has recorded nothing, and whoever drives the task
//! next has it summed up again.

mod retell;

use crate::Error;
use crate::drive::{weakest_seen, words};
use crate::kernel::{Cell, Kernel};
use crate::state::{AttemptState, Compacted, ObservedRef, TaskState};
use crate::writeup::NewArtifact;
use knowledge::summary::{ClosedTurn, SeenText, extract, lowest};
use knowledge::{Summarised, count_tokens};
use model::artifact::{Artifact, ArtifactClass, ArtifactKind, ArtifactRef, Sensitivity, TrustTier};
use model::attempt::IterationRecord;
use model::body::{ArtifactCompacted, ContextCompacted};
use model::context::{ContextPack, ContextSummary, Section, SummaryLineKind};
use model::fault::Point;
use model::principal::PrincipalType;
use model::{AttemptId, Body, ClarificationId, EventId, IngressId, TaskId};
use std::collections::BTreeMap;

/// From this share of its budget on, in percent, a context is worth compacting.
const FULL_PERCENT: u64 = 60;
/// The share of the budget that the newest results keep for themselves, in percent.
const KEPT_PERCENT: u64 = 25;
/// Results that always stay as they are, the newest.
const KEPT_RESULTS: usize = 2;
/// Results that are folded at once, at least: each summary costs a model's server what it has read before.
const FOLDED_MIN: usize = 2;
/// The share of the budget that a summary may take, in percent, and its bounds in tokens.
const SUMMARY_PERCENT: u64 = 12;
const SUMMARY_TOKENS: std::ops::RangeInclusive<u32> = 256..=6_000;
/// Events read at once.
const STRIDE: usize = 500;

/// What is to be summed up, copied out of the task.
struct Job {
    attempt_id: AttemptId,
    /// The summary there is, which the new one goes on from.
    before: Option<Compacted>,
    /// Results that no summary stands for, oldest first, with what is known of each.
    seen: Vec<(ObservedRef, Option<Artifact>)>,
    pack: ArtifactRef,
    /// The weakest trust of all that the attempt has seen and heard.
    weakest: TrustTier,
    /// What the task is about.
    about: Vec<String>,
}

/// A summary that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Its artifact.
    pub summary: ArtifactRef,
    /// The last turn that it stands for.
    pub through: u32,
    /// Results it stands for now.
    pub results: u32,
    /// Its lines.
    pub lines: u32,
}

impl Kernel {
    /// Sums up the oldest turns of a task's attempt when its context has become full, or at once when it is `asked` for;
    /// none when there is nothing to sum up. The loop goes on meanwhile.
    ///
    /// # Errors
    /// When the log or content cannot be read, or the commit fails; nothing has changed then.
    pub fn compact(&self, task_id: TaskId, asked: bool) -> Result<Option<Made>, Error> {
        let cell = self.cell(task_id)?;
        let Some(job) = self.lock_task(&cell).map(|state| job(&state))? else { return Ok(None) };
        let pack: ContextPack = self.object_at(&job.pack)?;
        if !asked && !is_full(&pack) {
            return Ok(None);
        }
        let folded = self.folded(&job, &pack)?;
        let Some(through) = folded.last().map(|(seen, _)| seen.iteration) else { return Ok(None) };
        let summary = self.summed_up(task_id, &job, folded, &pack, through)?;
        self.keep_summary(&cell, &job, folded, &summary)
    }

    /// The results that a new summary stands for, from the first: all but the newest, which fill a share of the budget.
    fn folded<'j>(
        &self,
        job: &'j Job,
        pack: &ContextPack,
    ) -> Result<&'j [(ObservedRef, Option<Artifact>)], Error> {
        let room = u64::from(pack.tokens_max).saturating_mul(KEPT_PERCENT) / 100;
        let mut taken = 0_u64;
        let mut kept = 0;
        for (seen, artifact) in job.seen.iter().rev() {
            taken = taken.saturating_add(u64::from(count_tokens(&self.text_of(seen, artifact.as_ref())?)));
            if taken > room && kept >= KEPT_RESULTS {
                break;
            }
            kept += 1;
        }
        let mut count = job.seen.len().saturating_sub(kept.max(KEPT_RESULTS));
        // A turn is folded whole or not at all.
        let iteration = |at: usize| job.seen.get(at).map(|(seen, _)| seen.iteration);
        while count > 0 && iteration(count - 1) == iteration(count) {
            count -= 1;
        }
        Ok(job.seen.get(..count).filter(|folded| folded.len() >= FOLDED_MIN).unwrap_or_default())
    }

    /// A result as a model was shown it; nothing where it was erased.
    fn text_of(&self, seen: &ObservedRef, artifact: Option<&Artifact>) -> Result<String, Error> {
        Ok(self.texts_of(seen, artifact)?.into_iter().map(|(_, text)| text).collect())
    }

    /// The texts of a result with their titles.
    pub(crate) fn texts_of(
        &self,
        seen: &ObservedRef,
        artifact: Option<&Artifact>,
    ) -> Result<Vec<(String, String)>, Error> {
        let Some(artifact) = artifact else { return Ok(Vec::new()) };
        let bytes = match self.artifacts.read(&artifact.content_hash) {
            Ok(bytes) => bytes,
            Err(artifacts::Error::Missing { digest }) if self.reader.is_content_erased(&digest)? => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error.into()),
        };
        let told = reasoning::result_text::told(&seen.tool, &seen.about, &String::from_utf8_lossy(&bytes));
        Ok(told.into_iter().map(|told| (told.title, told.text)).collect())
    }

    /// The new summary: the lines of the one before, and those of the turns closed since.
    fn summed_up(
        &self,
        task_id: TaskId,
        job: &Job,
        folded: &[(ObservedRef, Option<Artifact>)],
        pack: &ContextPack,
        through: u32,
    ) -> Result<ContextSummary, Error> {
        let before: Option<ContextSummary> =
            job.before.as_ref().map(|before| self.object_at(&before.summary)).transpose()?;
        let from = before.as_ref().map_or((0, 0), |before| (before.through, before.through_seq));
        let (mut turns, through_seq) = self.closed_turns(task_id, job.attempt_id, from, through)?;
        for (seen, artifact) in folded {
            let Some(artifact) = artifact else { continue };
            let texts = self.texts_of(seen, Some(artifact))?;
            let Some(turn) = turns.iter_mut().find(|turn| turn.iteration == seen.iteration) else { continue };
            turn.seen.extend(texts.into_iter().map(|(title, text)| SeenText {
                artifact_id: artifact.artifact_id,
                title,
                text,
                // What a change came to is told by the line of its receipt.
                may_be_quoted: artifact.sensitivity_class != Sensitivity::Secret && seen.tool != "change",
            }));
        }
        let (old, left_before, retold) =
            before.map_or((Vec::new(), 0, None), |before| (before.lines, before.left_out, before.retold));
        let about: Vec<&str> = job.about.iter().map(String::as_str).collect();
        let share = u64::from(pack.tokens_max).saturating_mul(SUMMARY_PERCENT) / 100;
        let tokens =
            u32::try_from(share).unwrap_or(u32::MAX).clamp(*SUMMARY_TOKENS.start(), *SUMMARY_TOKENS.end());
        let (lines, left_out) = extract(&old, &turns, &about, tokens, &self.ports.redactor.now());
        let tiers = folded.iter().filter_map(|(_, artifact)| artifact.as_ref()).map(|a| a.trust_tier);
        let results = job.before.as_ref().map_or(0, |before| before.results).saturating_add(folded.len());
        let has_retold = lines.iter().any(|line| line.kind == SummaryLineKind::Retold);
        Ok(ContextSummary {
            attempt_id: job.attempt_id,
            through,
            through_seq,
            results: u32::try_from(results).unwrap_or(u32::MAX),
            trust_tier: lowest(tiers.chain([job.weakest])),
            lines,
            left_out: left_out.saturating_add(left_before),
            before: job.before.as_ref().map(|before| before.summary.clone()),
            retold: retold.filter(|_| has_retold),
        })
    }

    /// The turns of an attempt that were closed after turn `since`, whose last event is at `from`, up to `through`, and the
    /// place of their last event.
    fn closed_turns(
        &self,
        task_id: TaskId,
        attempt: AttemptId,
        (since, from): (u32, u64),
        through: u32,
    ) -> Result<(Vec<ClosedTurn>, u64), Error> {
        let mut told = Turns { iteration: since, ..Turns::default() };
        let mut after = from;
        // Where the last of them was closed, unless its answer went on.
        let mut closed_at = None;
        loop {
            let page = self.reader.events(task_id, after, STRIDE)?;
            let Some(last) = page.last() else { return Ok((told.closed, closed_at.unwrap_or(after))) };
            let end = last.task_seq;
            for stored in page {
                let event = stored.event()?;
                if event.attempt_id.is_some_and(|of| of != attempt) {
                    continue;
                }
                let body = self.body_of(&event)?;
                match (closed_at, &body) {
                    (Some(at), Body::ContextCompiled(_) | Body::RunTerminated(_)) => {
                        return Ok((told.closed, at));
                    }
                    (Some(_), Body::AnswerContinued(_)) => closed_at = None,
                    (Some(_), _) => {}
                    (None, body) => {
                        let closed = told.take(event.event_id, body, through);
                        closed_at = closed.then_some(stored.task_seq);
                    }
                }
            }
            after = end;
        }
    }

    /// The summary is on record, unless the attempt ended or another was faster.
    fn keep_summary(
        &self,
        cell: &Cell,
        job: &Job,
        folded: &[(ObservedRef, Option<Artifact>)],
        summary: &ContextSummary,
    ) -> Result<Option<Made>, Error> {
        let mut tx = self.begin_tx(cell, Point::KnowledgeChange, PrincipalType::System)?;
        let same = |state: &TaskState| {
            let attempt = state.attempt().filter(|attempt| attempt.attempt.attempt_id == job.attempt_id)?;
            let before = attempt.compacted.as_ref().map(|compacted| compacted.through);
            (attempt.ended().is_none() && before == job.before.as_ref().map(|b| b.through)).then_some(())
        };
        if same(&tx).is_none() || summary.lines.is_empty() {
            return Ok(None);
        }
        let before = summary.before.iter().map(|before| before.artifact_id);
        let inputs = folded.iter().filter_map(|(_, artifact)| artifact.as_ref()).map(|a| a.artifact_id);
        let new = NewArtifact::audit(ArtifactKind::ContextSummary)
            .class(ArtifactClass::Derived)
            .trust(summary.trust_tier)
            .from(inputs.chain(before));
        let at = tx.object(summary, new)?;
        let lines = u32::try_from(summary.lines.len()).unwrap_or(u32::MAX);
        tx.push_keyed(
            Some(format!("compact:{}:{}", job.attempt_id, summary.through)),
            ContextCompacted {
                about_attempt_id: job.attempt_id,
                summary: at.clone(),
                through: summary.through,
                results: summary.results,
                lines,
            },
        );
        for artifact in folded.iter().filter_map(|(_, artifact)| artifact.as_ref()) {
            tx.push(ArtifactCompacted { artifact_id: artifact.artifact_id, into: at.artifact_id });
        }
        tx.commit()?;
        Ok(Some(Made { summary: at, through: summary.through, results: summary.results, lines }))
    }

    /// The summary that stands in the place of the oldest turns of an attempt, as a context takes it.
    pub(crate) fn summary_of(
        &self,
        state: &TaskState,
        attempt: &AttemptState,
    ) -> Result<Option<Summarised>, Error> {
        let Some(compacted) = &attempt.compacted else { return Ok(None) };
        let artifact_id = compacted.summary.artifact_id;
        let summary: ContextSummary = self.read_object(state, artifact_id)?;
        let text = knowledge::summary::text(&summary.lines, summary.left_out);
        let ContextSummary { through, trust_tier, .. } = summary;
        let unseen = self.summed_up_pictures(state, attempt)?;
        Ok(Some(Summarised { artifact_id, through, text, trust_tier, unseen }))
    }
}

/// What there is to sum up in a task, copied; none while it has no attempt whose model reads a context.
fn job(state: &TaskState) -> Option<Job> {
    let attempt =
        state.attempt().filter(|attempt| attempt.ended().is_none() && !attempt.loop_state.is_led)?;
    if attempt.attempt.proposer.is_some_and(|proposer| !proposer.reads_context()) {
        return None;
    }
    let before = attempt.compacted.clone();
    let skip = before.as_ref().map_or(0, |before| before.results);
    let since = attempt.observed.get(skip..).filter(|since| since.len() >= KEPT_RESULTS + FOLDED_MIN)?;
    let known = |seen: &ObservedRef| state.artifacts.get(&seen.artifact.artifact_id).cloned();
    let mut about = vec![state.goal_text()];
    about.extend(state.absorbed.iter().map(|input| input.text.clone()));
    Some(Job {
        attempt_id: attempt.attempt.attempt_id,
        before,
        seen: since.iter().map(|seen| (seen.clone(), known(seen))).collect(),
        pack: attempt.pack.clone()?,
        weakest: weakest_seen(state, attempt),
        about,
    })
}

/// Whether a context has become full: by its share of the budget, or because something of what was seen found no room.
fn is_full(pack: &ContextPack) -> bool {
    let by_share =
        u64::from(pack.tokens).saturating_mul(100) >= u64::from(pack.tokens_max).saturating_mul(FULL_PERCENT);
    let squeezed = |reason: &str| reason.starts_with("does not fit") || reason.starts_with("shown in part");
    by_share || pack.omissions.iter().any(|one| one.section == Section::Artifacts && squeezed(&one.reason))
}

/// The turns of an attempt, as its events come.
#[derive(Default)]
struct Turns {
    /// The turn that is told just now, by the context it was thought in.
    iteration: u32,
    open: Open,
    closed: Vec<ClosedTurn>,
    /// Questions to a person that wait.
    asked: BTreeMap<ClarificationId, (EventId, String)>,
    said: BTreeMap<IngressId, String>,
}

/// What is known of the turn that is told just now.
#[derive(Default)]
struct Open {
    events: Vec<EventId>,
    did: Option<String>,
    has_receipt: bool,
    came_to: String,
    denied: Option<String>,
    limited: Option<String>,
}

impl Turns {
    /// Takes an event; whether the turn `through` is closed with it, and so all that was asked for.
    fn take(&mut self, at: EventId, body: &Body, through: u32) -> bool {
        match body {
            Body::ContextCompiled(b) => {
                (self.iteration, self.open) = (b.iteration, Open::default());
                return false;
            }
            Body::ActionRequested(b) => self.open.did = Some(words(&b.summary)),
            Body::ApprovalDenied(b) => {
                let said = b.feedback.as_ref().map(words);
                self.open.denied = Some(said.unwrap_or_else(|| "a person said no".to_owned()));
            }
            // A part of it was chosen: what is allowed behind a no, in the same turn.
            Body::ApprovalGranted(_) => {
                self.open.limited = self.open.denied.take().or(self.open.limited.take())
            }
            Body::EffectObserved(b) => self.open.came_to = b.result_code.as_str().replace('_', " "),
            Body::ReceiptIssued(b) => {
                self.open.has_receipt |= b.action_class.is_important() && b.action_request_id.is_some();
            }
            Body::IterationCompleted(b) => {
                self.open.events.push(at);
                self.close(&b.record);
                return self.iteration >= through;
            }
            _ => {
                self.talk(at, body);
                return false;
            }
        }
        self.open.events.push(at);
        false
    }

    /// A question to a person, and the answer.
    fn talk(&mut self, at: EventId, body: &Body) {
        match body {
            Body::ClarificationRequested(b) => {
                let question = words(&b.clarification.question);
                self.asked.insert(b.clarification.clarification_id, (at, question));
            }
            Body::TaskInputAdded(b) => drop(self.said.insert(b.ingress_id, words(&b.text))),
            Body::ClarificationAnswered(b) => {
                let Some((asked_at, question)) = self.asked.remove(&b.clarification_id) else { return };
                // What is said to a server is not said to the model.
                let Some(answer) = self.said.get(&b.ingress_id).cloned() else { return };
                let events = vec![asked_at, at];
                self.closed.push(ClosedTurn {
                    iteration: self.iteration,
                    asked: Some((question, answer)),
                    events,
                    ..ClosedTurn::default()
                });
            }
            _ => {}
        }
    }

    fn close(&mut self, record: &IterationRecord) {
        let open = std::mem::take(&mut self.open);
        let decision = words(&record.model_decision);
        let tools = record.tool_invocation.as_deref().unwrap_or_default();
        let said = (!decision.is_empty() && !decision.split(", ").all(|word| word == tools))
            .then(|| decision.clone());
        self.closed.push(ClosedTurn {
            iteration: self.iteration,
            tool: record.tool_invocation.clone().unwrap_or_default(),
            did: open.did.unwrap_or(decision),
            said,
            has_receipt: open.has_receipt,
            came_to: open.came_to,
            error: record.error.as_ref().map(words),
            denied: open.denied,
            limited: open.limited,
            events: open.events,
            ..ClosedTurn::default()
        });
    }
}
