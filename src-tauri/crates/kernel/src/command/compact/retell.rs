//! A second summary by a model, made while nobody needs it: words are left out of what the first one quotes and names
//! (memory.md 3).
//!
//! Asked is the model of the task itself, where it runs on this machine and costs nothing: it has read all of it before. It is asked
//! while no task of this host is at work, and left off from as soon as one is.

use super::Made;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::state::{Compacted, TaskState};
use crate::writeup::NewArtifact;
use knowledge::count_tokens;
use knowledge::summary::retold::{ASKED, Retelling, numbered, retold};
use model::artifact::{ArtifactClass, ArtifactKind, TrustTier};
use model::body::ContextCompacted;
use model::context::{ContextSummary, RetoldBy};
use model::fault::Point;
use model::principal::PrincipalType;
use model::task::Proposer;
use model::{AttemptId, TaskId};
use reasoning::{Question, Reasoner, Reply};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Tokens of an answer, at least.
const ANSWER_TOKENS_MIN: u32 = 256;

/// What a model was asked and answered.
struct Asked {
    model: String,
    request: Vec<u8>,
    reply: Reply,
}

impl Kernel {
    /// Has the model of a task put lines of its summary in fewer words, as long as it `goes_on` and nothing is at work; none
    /// where there is no summary, no such model, or nothing in its answer that its lines bear out. The summary before stays.
    ///
    /// # Errors
    /// When the log or content cannot be read, or the commit fails; nothing has changed then.
    pub fn retell(&self, task_id: TaskId, goes_on: &dyn Fn() -> bool) -> Result<Option<Made>, Error> {
        let is_idle = || goes_on() && !self.winding.load(Ordering::SeqCst) && self.is_idle();
        if self.halted().is_some() || !is_idle() {
            return Ok(None);
        }
        let cell = self.cell(task_id)?;
        let state = self.lock_task(&cell)?.clone();
        let Some((attempt_id, before)) = in_force(&state) else { return Ok(None) };
        let Some(reasoner) = self.at_hand(&state) else { return Ok(None) };
        let mut summary: ContextSummary = self.object_at(&before.summary)?;
        let Some(asked) = self.asked_to_retell(&summary, &*reasoner, &|| !is_idle()) else { return Ok(None) };
        let said = &asked.reply.answer;
        let Retelling { lines, taken, refused } =
            retold(&summary.lines, &said.text, &self.ports.redactor.now());
        if !refused.is_empty() {
            tracing::debug!(%task_id, taken, refused = refused.len(), "lines of a model are not taken into a summary");
        }
        if taken == 0 {
            return Ok(None);
        }
        let mut tx = self.begin_tx(&cell, Point::KnowledgeChange, PrincipalType::System)?;
        // Another summary may have come meanwhile, or the end.
        if in_force(&tx).is_none_or(|(attempt, now)| attempt != attempt_id || now.summary != before.summary) {
            return Ok(None);
        }
        let audit = |kind| NewArtifact::audit(kind).trust(TrustTier::Untrusted);
        let from = [before.summary.artifact_id];
        let request = tx.artifact(&asked.request, audit(ArtifactKind::ModelRequest).from(from))?;
        let answer =
            serde_json::to_vec(&said.without_reasoning()).map_err(|e| Error::Broken(e.to_string()))?;
        let answer = tx.artifact(&answer, audit(ArtifactKind::ModelAnswer).from([request.artifact_id]))?;
        summary.lines = lines;
        summary.before = Some(before.summary.clone());
        summary.retold = Some(RetoldBy { model: asked.model, answer });
        // Each word stands in the summary before: what it is trusted is what that one is.
        let new = NewArtifact::audit(ArtifactKind::ContextSummary).class(ArtifactClass::Derived);
        let at = tx.object(&summary, new.trust(summary.trust_tier).from(from))?;
        let lines = u32::try_from(summary.lines.len()).unwrap_or(u32::MAX);
        tx.push_keyed(
            Some(format!("retell:{attempt_id}:{}", before.summary.artifact_id)),
            ContextCompacted {
                about_attempt_id: attempt_id,
                summary: at.clone(),
                through: summary.through,
                results: summary.results,
                lines,
            },
        );
        tx.commit()?;
        Ok(Some(Made { summary: at, through: summary.through, results: summary.results, lines }))
    }

    /// Whether no task is driven just now.
    pub fn is_idle(&self) -> bool {
        !lock(&self.tasks).values().any(|cell| cell.driving.load(Ordering::SeqCst))
    }

    /// The model of a task, where it runs on this machine and asking it costs nothing.
    pub(in crate::command) fn at_hand(&self, state: &TaskState) -> Option<Arc<dyn Reasoner>> {
        let contract = self.contract(state).ok()?;
        let reasoner = self.reasoner(state, &contract).ok()?;
        let is = reasoner.descriptor();
        let is_free = is.cost_in_micros == 0 && is.cost_out_micros == 0;
        Some(reasoner).filter(|_| is.provider == Proposer::Model && !is.remote && is_free)
    }

    /// What the model answers; none where it is not asked, or does not answer.
    fn asked_to_retell(
        &self,
        summary: &ContextSummary,
        reasoner: &dyn Reasoner,
        stopped: &dyn Fn() -> bool,
    ) -> Option<Asked> {
        let descriptor = reasoner.descriptor();
        // Lines and answer are of one size, and rules come before them.
        let lines = numbered(&summary.lines, descriptor.takes().saturating_sub(count_tokens(ASKED)) / 2)?;
        let (request, reply) = self.asked_at_hand(reasoner, (ASKED, &lines), stopped)?;
        Some(Asked { model: descriptor.model, request, reply })
    }

    /// What a model answers to words, and the bytes that it was sent; none where it does not answer.
    pub(in crate::command) fn asked_at_hand(
        &self,
        reasoner: &dyn Reasoner,
        (system, words): (&str, &str),
        stopped: &dyn Fn() -> bool,
    ) -> Option<(Vec<u8>, Reply)> {
        // What became secret since is told to nobody.
        let words = self.ports.redactor.now().text(words).rest.into_owned();
        let answer_tokens = count_tokens(&words).max(ANSWER_TOKENS_MIN).min(reasoner.descriptor().answers());
        let turns = [(false, words)];
        let question = Question { system, turns: &turns, answer_tokens };
        let asked = reasoner.encode_question(&question).and_then(|request| {
            let reply = reasoner.answer(&request, &mut |_| {}, stopped)?;
            Ok((request, reply))
        });
        asked.inspect_err(|error| tracing::debug!(%error, "a model of this machine was not heard")).ok()
    }
}

/// The attempt at work and the summary that stands in its context; none where there is none, or it has ended.
fn in_force(state: &TaskState) -> Option<(AttemptId, Compacted)> {
    let attempt = state.attempt().filter(|attempt| attempt.ended().is_none())?;
    Some((attempt.attempt.attempt_id, attempt.compacted.clone()?))
}
