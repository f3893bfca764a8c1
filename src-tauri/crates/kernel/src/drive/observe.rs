//! What an act came to: outputs kept, the outcome and its receipt recorded, the turn closed.

use super::judge::{Came, Judged};
use super::several::{acted, rest_of};
use super::{DriveOutcome, Then};
use crate::command::partial_approval::is_part;
use crate::kernel::{Cell, Kernel};
use crate::state::TaskState;
use crate::tx::{After, Tx};
use crate::writeup::NewArtifact;
use crate::{Error, redaction};
use acts::{Action, ActionRequest};
use effects::Outcome;
use model::action::{ChangeItem, ReadItem};
use model::artifact::{ArtifactClass, ArtifactKind, ArtifactRef, TrustTier};
use model::attempt::{AttemptStatus, TerminationReason};
use model::body::{EffectObserved, EffectUncertain, IterationCompleted};
use model::fault::Point;
use model::principal::PrincipalType;
use model::receipt::{ItemOutcome, Ran, ResultCode, SandboxLevel};
use model::{ActionRequestId, RelPath, ResourceId, Sensitive};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl Kernel {
    /// What the act came to is on record; receipt and end of the turn follow in the same commit.
    pub(super) fn observed(
        &self,
        cell: &Cell,
        request: ActionRequest,
        outcome: Outcome,
        recovered: bool,
    ) -> Result<Option<DriveOutcome>, Error> {
        let mut outcome = redaction::outcome(&self.ports.redactor.now(), outcome);
        self.name_checkpoint(cell, request.action_request_id, &mut outcome)?;
        let mut tx = self.begin_tx(cell, Point::EffectObserve, PrincipalType::Executor)?;
        tx.set_attempt(AttemptStatus::Observing, "the executor came back")?;
        super::sampled::close_sampled(&mut tx);
        outcome.observed.extend(super::sampled::in_words(&tx, request.action_request_id));
        for asked in super::asked::close_questions_of(&mut tx, cell, request.action_request_id) {
            let said = format!("nobody had answered when it ended: {asked}");
            outcome.error = outcome.error.map(|error| format!("{error}; {said}"));
            outcome.observed.push(said);
        }
        if outcome.result_code == ResultCode::UnknownOutcome {
            let then = self.uncertain(&mut tx, &request, &outcome)?;
            return self.go_through(cell, tx, then);
        }
        let outputs = self.keep_outputs(&mut tx, &request, &outcome)?;
        for output in outcome.outputs.iter().filter(|output| output.kind == ArtifactKind::ToolManifest) {
            self.note_changed(&mut tx, &request.action, &output.bytes)?;
        }
        if let Action::Publish(publish) = &request.action {
            self.push_published(&mut tx, publish, &request, &outcome)?;
        }
        let result = self.result_of(&mut tx, &request, &outcome, &outputs)?;
        tx.push_keyed(
            Some(format!("observe:{}", request.action_request_id)),
            EffectObserved {
                action_request_id: request.action_request_id,
                result: result.clone(),
                result_code: outcome.result_code,
                sandbox_level: outcome.sandbox_level,
                recovered,
            },
        );
        if request.leaves_receipt() {
            tx.set_attempt(AttemptStatus::ReceiptPending, "observed")?;
        }
        tx.then(After::Forget(request.action_request_id));
        tx.hand.came = Some(Came { request, outcome, outputs, result });
        self.go_through(cell, tx, Then::GoOn)
    }

    /// An act whose executor is the kernel itself is over, in the commit of its dispatch; `error` says why it came to
    /// nothing. Its result is kept as `new`, with the members of `more`.
    pub(crate) fn performed_here(
        &self,
        tx: &mut Tx<'_>,
        judged: Judged,
        error: Option<String>,
        new: NewArtifact,
        more: Map<String, Value>,
    ) -> Result<Then, Error> {
        let code = if error.is_none() { ResultCode::Succeeded } else { ResultCode::Failed };
        let now = tx.now();
        let ran = Ran {
            executor: judged.request.action.executor(),
            request_sha256: judged.request_ref.sha256,
            argv: None,
            executable_sha256: None,
            exit_code: None,
            started_at: now,
            finished_at: now,
        };
        let outcome = Outcome {
            result_code: code,
            changes: Vec::new(),
            outputs: Vec::new(),
            ran,
            sandbox_level: SandboxLevel::NotApplicable,
            observed: Vec::new(),
            error,
            kept: Vec::new(),
        };
        let mut told = more;
        told.insert("result_code".to_owned(), json!(code.as_str()));
        told.insert("summary".to_owned(), json!(summary_of(&judged.request, &outcome)));
        let result = tx.object(&Value::Object(told), new)?;
        tx.push_keyed(
            Some(format!("observe:{}", judged.request.action_request_id)),
            EffectObserved {
                action_request_id: judged.request.action_request_id,
                result: result.clone(),
                result_code: code,
                sandbox_level: SandboxLevel::NotApplicable,
                recovered: false,
            },
        );
        tx.set_attempt(AttemptStatus::ReceiptPending, "observed")?;
        tx.hand.came = Some(Came { request: judged.request, outcome, outputs: Vec::new(), result });
        Ok(Then::GoOn)
    }

    /// How it went is on record: what was kept to settle it by is dropped. What stays behind harms nobody.
    pub(crate) fn forget_act(&self, state: &TaskState, request: ActionRequestId) {
        if let Some(attempt) = state.current {
            self.unstage(state, attempt);
        }
        if let Err(error) =
            self.executors(state).and_then(|executors| executors.forget(request).map_err(Error::Input))
        {
            tracing::warn!(%request, %error, "what was kept to settle an act by is still there");
        }
    }

    /// It may have happened: a receipt says so, and nothing goes on before it is settled (HK-19.4).
    fn uncertain(&self, tx: &mut Tx<'_>, request: &ActionRequest, outcome: &Outcome) -> Result<Then, Error> {
        tx.at(Point::EffectUncertain);
        let reason =
            outcome.error.clone().unwrap_or_else(|| "the outcome could not be established".to_owned());
        tx.push_keyed(
            Some(format!("uncertain:{}", request.action_request_id)),
            EffectUncertain { action_request_id: request.action_request_id, reason: Sensitive::from(reason) },
        );
        let outputs = self.keep_outputs(tx, request, outcome)?;
        let result = self.result_of(tx, request, outcome, &outputs)?;
        let receipt = self.effect_receipt(tx, request, outcome, &outputs, &result)?;
        if !self.issue(tx, receipt, Some(request.action_request_id))? {
            // Nothing of this is recorded: whoever drives next, with the key open, looks again and says the same.
            return Err(Error::KeyLocked("receipt"));
        }
        tx.block("the outcome of an effect is not known")?;
        Ok(Then::Commit)
    }

    /// What was produced, as artifacts.
    fn keep_outputs(
        &self,
        tx: &mut Tx<'_>,
        request: &ActionRequest,
        outcome: &Outcome,
    ) -> Result<Vec<ArtifactRef>, Error> {
        let mut kept = Vec::new();
        for output in &outcome.outputs {
            let mut new = NewArtifact::audit(output.kind)
                .class(ArtifactClass::Evidence)
                .of_act(request)
                .from(request.evidence_refs.clone());
            new.trust_tier = trust_of(&request.action, &output.bytes);
            new.alias = Some(match &request.action {
                Action::Observe(acts::Observe { items }) => what_was_seen(items),
                _ => output.about.clone(),
            });
            new.media_type = crate::writeup::media_type(&output.media_type);
            kept.push(tx.artifact(&output.bytes, new)?);
        }
        for image in &outcome.kept {
            let mut new =
                NewArtifact::audit(ArtifactKind::FileSnapshot).class(ArtifactClass::Evidence).of_act(request);
            new.media_type = "application/octet-stream";
            new.trust_tier = TrustTier::Untrusted;
            new.alias = Some(format!("before {}", image.resource));
            tx.artifact_of(image.sha256, image.byte_size, new);
        }
        Ok(kept)
    }

    /// What the reasoner is shown of it.
    fn result_of(
        &self,
        tx: &mut Tx<'_>,
        request: &ActionRequest,
        outcome: &Outcome,
        outputs: &[ArtifactRef],
    ) -> Result<ArtifactRef, Error> {
        let part = request.instead_of.as_ref().filter(|_| is_part(request));
        if let (Some(instead), None) = (&request.instead_of, part) {
            return self.told_instead(tx, (request, instead), outcome, outputs);
        }
        if let Some(seen) = outputs.first().filter(|_| is_told_as_it_is(request)) {
            return Ok(seen.clone());
        }
        let denied = part.map(|part| self.words_with(part)).transpose()?;
        let left_out = part.map(|part| self.hunks_left(part)).transpose()?.flatten();
        let items: Vec<serde_json::Value> = items_of(request, outcome)
            .into_iter()
            .zip(request.items())
            .map(|((op, path, outcome), item)| {
                let mut told = json!({ "op": op, "path": path.to_string(), "outcome": outcome.as_str() });
                let Some(members) = told.as_object_mut() else { return told };
                match item {
                    ChangeItem::Move { to, .. } => members.insert("to".to_owned(), json!(to.to_string())),
                    // What its proposer wrote it knows: it need not read it again before it changes it (pain 8).
                    ChangeItem::Write { content_sha256, .. } if left_out.is_none() => {
                        members.insert("sha256".to_owned(), json!(content_sha256.to_string()))
                    }
                    _ => None,
                };
                told
            })
            .collect();
        let text = |kind: ArtifactKind| {
            let output = outcome.outputs.iter().find(|o| o.kind == kind)?;
            let clean = redaction::clean(tx.redactor(), &output.bytes, true).ok()?;
            Some(String::from_utf8_lossy(&clean.rest).into_owned())
        };
        let summary = summary_of(request, outcome);
        let mut told = json!({
            "result_code": outcome.result_code.as_str(),
            "summary": match part {
                Some(part) => format!("a person approved a part of `{}`, and denied the rest: {summary}", part.asked),
                None => summary,
            },
            "feedback": denied,
            "not_done": left_out,
            "items": items,
            "observed": outcome.observed,
            "exit_code": outcome.ran.exit_code,
            "transcript": text(ArtifactKind::CommandTranscript),
            "error": outcome.error,
        });
        if let (Action::Call(_), Some(answer), Some(told)) =
            (&request.action, text(ArtifactKind::ActionResult), told.as_object_mut())
        {
            let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
            told.insert("answer".to_owned(), answer.get("answer").cloned().unwrap_or_default());
        }
        let new = NewArtifact::audit(ArtifactKind::ActionResult)
            .class(ArtifactClass::Evidence)
            .of_act(request)
            .trust(trust_of(&request.action, &[]))
            .from(outputs.iter().map(|o| o.artifact_id));
        tx.object(&told, new)
    }

    /// The turn is complete; a rollback, which has only one, is over.
    pub(super) fn end_turn(
        &self,
        tx: &mut Tx<'_>,
        result: &ArtifactRef,
        error: Option<String>,
    ) -> Result<(), Error> {
        if self.proposer(tx)?.plans_once() {
            let (reason, said) = match error {
                None => match self.check_criteria(tx)? {
                    None => (TerminationReason::Done, self.undone_words(tx)?),
                    Some(unmet) => (TerminationReason::CriteriaUnmet, super::stopped::unmet(&unmet)),
                },
                Some(error) => (TerminationReason::FatalToolError, error),
            };
            return self.push_end(tx, reason, &said);
        }
        let (answer, proposals) = self.stored_answer(tx)?;
        let proposals = proposals.unwrap_or_default();
        // Only what was acted on belongs to the record; what is behind it comes next.
        let rest = rest_of(tx, &proposals);
        let mut record = self.record(tx, &acted(tx, proposals), &answer, Some(result), error)?;
        let rest = self.goes_on_with(tx, rest, &mut record);
        tx.push(IterationCompleted { about_attempt_id: self.attempt_id(tx)?, record });
        self.renew_lease(tx);
        tx.set_attempt(AttemptStatus::CompilingContext, "turn complete")?;
        self.take_next(tx, rest)
    }
}

/// Whether what an act produced first is shown as it is.
const fn is_told_as_it_is(request: &ActionRequest) -> bool {
    matches!(
        request.action,
        Action::Observe(_)
            | Action::Fetch(_)
            | Action::Vcs(_)
            | Action::Call(_)
            | Action::Guest(_)
            | Action::TryChange(_)
    ) && request.staged.is_none()
}

/// What is looked at comes from outside and is not to be believed: contents, and names as well, because whoever packed
/// an archive chose them. What became of our own changes was seen by our own executors, at places that a proposer named, and
/// so was the digest of a file that it named.
fn trust_of(action: &Action, seen: &[u8]) -> TrustTier {
    match action {
        Action::Observe(acts::Observe { items }) if tells_no_name(items, seen) => TrustTier::Observed,
        other => other.as_tool().trust(),
    }
}

/// Whether a look answered with digests of the very files that were asked for, and told no other name.
fn tells_no_name(items: &[ReadItem], seen: &[u8]) -> bool {
    let value: Value = serde_json::from_slice(seen).unwrap_or_default();
    let Some(results) = value.get("results").and_then(|results| results.as_array()) else { return false };
    let none = |result: &Value, key: &str| {
        result.get(key).and_then(|list| list.as_array()).is_none_or(Vec::is_empty)
    };
    results.len() == items.len()
        && items.iter().zip(results).all(|(item, result)| {
            let (ReadItem::Hash { path } | ReadItem::HashFolder { path }) = item else { return false };
            let own = path.to_string();
            let entries = result.get("entries").and_then(|entries| entries.as_array());
            let is_own = |entry: &Value| entry.get("path").and_then(|p| p.as_str()) == Some(own.as_str());
            none(result, "unreadable")
                && none(result, "not_files")
                && entries.is_none_or(|entries| entries.iter().all(is_own))
        })
}

/// What was looked at, by name: `notes/meeting 1.md, as read`.
fn what_was_seen(items: &[ReadItem]) -> String {
    let name = |path: &RelPath| match path.is_root() {
        true => "the folder".to_owned(),
        false => acts::visible_path(path),
    };
    let seen = |item: &ReadItem| match item {
        ReadItem::Read { path } => format!("{}, as read", name(path)),
        ReadItem::List { path, .. } => format!("{}, as listed", name(path)),
        ReadItem::Search { path, pattern, .. } => format!("{}, searched for {pattern}", name(path)),
        ReadItem::Lines { path, from, to } => format!("{}, lines {from} to {to}, as read", name(path)),
        ReadItem::Hash { path } | ReadItem::HashFolder { path } => format!("{}, as hashed", name(path)),
    };
    match items {
        [] => "nothing".to_owned(),
        [one] => seen(one),
        [first, rest @ ..] => format!("{}; and {} more", seen(first), rest.len()),
    }
}

/// How each item of the request went: the act's own count, whatever else it had to touch on the way.
fn items_of<'r>(
    request: &'r ActionRequest,
    outcome: &Outcome,
) -> Vec<(&'static str, &'r RelPath, ItemOutcome)> {
    let places: BTreeMap<RelPath, ItemOutcome> = outcome
        .changes
        .iter()
        .filter_map(|change| match change.resource.shown()?.parse().ok()? {
            ResourceId::File(_, path) => Some((path, change.outcome)),
            _ => None,
        })
        .collect();
    let went = |path: &RelPath| places.get(path).copied().unwrap_or(ItemOutcome::NotDone);
    let one = |item: &'r ChangeItem| match item {
        ChangeItem::Write { path, .. } => ("write", path, went(path)),
        ChangeItem::Delete { path, .. } => ("delete", path, went(path)),
        ChangeItem::Move { from, .. } => ("move", from, went(from)),
        ChangeItem::Folder { path, .. } => ("folder", path, went(path)),
        ChangeItem::Link { path, .. } => ("link", path, went(path)),
    };
    request.items().iter().map(one).collect()
}

/// An outcome in one line.
pub(crate) fn summary_of(request: &ActionRequest, outcome: &Outcome) -> String {
    let items = items_of(request, outcome);
    let done = items.iter().filter(|(_, _, outcome)| *outcome == ItemOutcome::Done).count();
    let all = items.len();
    let hidden = request.reach.as_ref().map_or(0, |reach| reach.hidden.len());
    let unseen = match hidden {
        0 => String::new(),
        1 => "; 1 place that looks like a key was hidden from it, name it in the command to ask for it"
            .to_owned(),
        many => format!(
            "; {many} places that look like keys were hidden from it, name one in the command to ask for it"
        ),
    };
    if let (Action::Guest(_), Some(said)) = (&request.action, outcome.observed.first()) {
        return said.clone();
    }
    let head = match (outcome.ran.exit_code, all) {
        (_, 0) if matches!(request.action, Action::Vcs(_)) => outcome
            .observed
            .iter()
            .find(|said| said.starts_with('`'))
            .cloned()
            .unwrap_or_else(|| outcome.result_code.to_string()),
        (Some(code), 0) if request.staged.is_some() => {
            format!(
                "the command ended with status {code}; it changed nothing, so nothing was to be committed"
            )
        }
        (Some(code), 0) => format!("the command ended with status {code}"),
        (Some(code), _) => {
            format!("the command ended with status {code}; {done} of {all} changes carried over")
        }
        (None, 0) if request.staged.is_some() => {
            "it changed nothing, so nothing was to be committed".to_owned()
        }
        (None, 0) if matches!(request.action, Action::Fetch(_)) => {
            // The second line says what came back; without one nothing did.
            outcome.observed.get(1).unwrap_or(&outcome.result_code.to_string()).clone()
        }
        (None, 0)
            if matches!(
                request.action,
                Action::Message(_) | Action::Anchor(_) | Action::Publish(_) | Action::TryChange(_)
            ) =>
        {
            outcome.observed.first().unwrap_or(&outcome.result_code.to_string()).clone()
        }
        (None, 0) => outcome.result_code.to_string(),
        (None, _) if done == all => acts::done(&request.action.as_tool().one_line()),
        (None, _) => format!("{done} of {all} changes done"),
    };
    match &outcome.error {
        Some(error) => format!("{head}: {error}{unseen}"),
        None => format!("{head}{unseen}"),
    }
}
