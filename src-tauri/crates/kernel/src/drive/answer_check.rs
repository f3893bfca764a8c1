//! What bears a closing answer: each sentence of it is compared with what is on record when it is given (product.md,
//! moonshot 9).

use crate::Error;
use crate::kernel::Kernel;
use crate::state::{AttemptState, ObservedRef, ReceiptRecord, TaskState};
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use acts::ActionRequest;
use knowledge::answer::{Deed, Left, METHOD, Record, Reference, Source, check};
use model::action::ActionClass;
use model::answer::{AnswerCheck, AnswerSupport};
use model::artifact::{ArtifactClass, ArtifactKind, ArtifactRef};
use model::body::AnswerChecked;
use model::receipt::{Change, ItemOutcome, Receipt, ReceiptClass, ResultCode};
use model::resource::ResourceId;
use model::witness::Found;
use model::{ArtifactId, ReceiptId, Slot, TaskId};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of texts that are looked at in all, the newest first.
const TEXTS_MAX: usize = 8 << 20;
/// Bytes of the words of one act.
const WORDS_MAX: usize = 16 << 10;
/// Tasks of a tree that are looked at.
const TASKS_MAX: usize = 32;

impl Kernel {
    /// Records what bears the closing answer. Where the record cannot be read there is none, and all of the answer stays
    /// unverified: the task ends all the same.
    pub(super) fn check_answer(
        &self,
        tx: &mut Tx<'_>,
        said: &str,
        answer: &ArtifactRef,
    ) -> Result<(), Error> {
        let attempt_id = self.attempt_id(tx)?;
        let record = match self.record_of(tx) {
            Ok(record) => record,
            Err(Error::Artifacts(error)) => {
                tracing::warn!(task = %tx.task.task_id, %error, "an answer cannot be compared with what is on record");
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let sentences = check(said, &record);
        let check = AnswerCheck { attempt_id, answer: answer.clone(), method: METHOD.to_owned(), sentences };
        let new = NewArtifact::audit(ArtifactKind::AnswerCheck)
            .class(ArtifactClass::Derived)
            .from(std::iter::once(answer.artifact_id).chain(quoted(&check, &record)));
        let at = tx.object(&check, new)?;
        tx.push(AnswerChecked {
            about_attempt_id: attempt_id,
            answer: answer.clone(),
            check: at,
            method: METHOD.to_owned(),
            by_receipt: check.count(AnswerSupport::Receipt),
            by_evidence: check.count(AnswerSupport::Evidence),
            by_absence: check.count(AnswerSupport::Absence),
            claimless: check.count(AnswerSupport::Claimless),
            unverified: check.count(AnswerSupport::Unverified),
            by_citation: Some(check.cited()).filter(|cited| *cited > 0),
            near: Some(check.near()).filter(|near| *near > 0),
        });
        Ok(())
    }

    /// What a task and its parts have done and seen.
    fn record_of(&self, state: &TaskState) -> Result<Record, Error> {
        let mut told = Told { record: Record::default(), left: TEXTS_MAX, order: 0, orders: BTreeMap::new() };
        told.record.said.push(state.goal_text());
        told.record.said.extend(state.inputs.iter().chain(&state.absorbed).map(|input| input.text.clone()));
        for part in self.tasks_below(state)? {
            self.add_task(&part, &mut told)?;
        }
        self.add_task(state, &mut told)?;
        told.record.references = references(state, &told.orders);
        Ok(told.record)
    }

    /// The parts that a task gave away, and theirs, as far as they are looked at.
    pub(super) fn tasks_below(&self, state: &TaskState) -> Result<Vec<TaskState>, Error> {
        let mut open: Vec<TaskId> = state.children.clone();
        let mut known: BTreeSet<TaskId> = BTreeSet::new();
        let mut parts = Vec::new();
        while let Some(part) = open.pop() {
            if known.len() < TASKS_MAX && known.insert(part) {
                // A part that has ended is read from its log: whoever is at it now only reads.
                let part = self.load(part)?;
                open.extend(&part.children);
                parts.push(part);
            }
        }
        Ok(parts)
    }

    /// Adds what one task has done and seen, in its order.
    fn add_task(&self, state: &TaskState, told: &mut Told) -> Result<(), Error> {
        let undone: BTreeSet<ReceiptId> =
            state.receipts.iter().flat_map(|r| r.undoes.iter().copied()).collect();
        let mut deeds: BTreeMap<String, Vec<Deed>> = BTreeMap::new();
        let acts = state.receipts.iter().filter(|r| r.receipt_class != ReceiptClass::ApprovalResolution);
        for receipt in acts.filter(|r| !undone.contains(&r.receipt_id)) {
            if let Some((result, deed)) = self.deed(state, receipt, told)? {
                deeds.entry(result).or_default().push(deed);
            }
        }
        let sources = state.artifacts.values().filter(|a| a.class == ArtifactClass::Source);
        for artifact in sources {
            let Some(title) = artifact.task_local_alias.as_ref().and_then(|alias| alias.shown().cloned())
            else {
                continue;
            };
            let text = match told.takes(artifact.byte_size) {
                true => self.text(&artifact.content_hash)?,
                false => String::new(),
            };
            told.record.sources.push(Source {
                artifact_id: artifact.artifact_id,
                title,
                text,
                order: told.order,
            });
        }
        let seen = state.attempts.values().flat_map(|attempt: &AttemptState| &attempt.observed);
        for seen in seen {
            told.order = told.order.saturating_add(1);
            told.orders.insert(seen.artifact.artifact_id, told.order);
            for mut deed in deeds.remove(&seen.artifact.artifact_id.to_string()).unwrap_or_default() {
                deed.order = told.order;
                told.record.deeds.push(deed);
            }
            self.see(state, seen, told)?;
        }
        // What nothing was told of: an outcome that a person settled.
        for mut deed in deeds.into_values().flatten() {
            told.order = told.order.saturating_add(1);
            deed.order = told.order;
            told.record.deeds.push(deed);
        }
        Ok(())
    }

    /// What was seen in one result. What a change or a part of the task came to is told by its receipts.
    fn see(&self, state: &TaskState, seen: &ObservedRef, told: &mut Told) -> Result<(), Error> {
        let Some(artifact) = state.artifacts.get(&seen.artifact.artifact_id) else { return Ok(()) };
        if matches!(seen.tool.as_str(), "change" | "delegate") || !told.takes(artifact.byte_size) {
            return Ok(());
        }
        for (title, text) in self.texts_of(seen, Some(artifact))? {
            let title = if title.contains(&seen.about) { title } else { format!("{title} {}", seen.about) };
            told.record.sources.push(Source {
                artifact_id: artifact.artifact_id,
                title,
                text,
                order: told.order,
            });
        }
        Ok(())
    }

    /// An act by its receipt, with the artifact of its result; none for what is no act of the task's own.
    fn deed(
        &self,
        state: &TaskState,
        record: &ReceiptRecord,
        told: &mut Told,
    ) -> Result<Option<(String, Deed)>, Error> {
        let (_, receipt) = self.receipt(record.receipt_id)?;
        let Slot::Value(request) = &receipt.action_request_ref else { return Ok(None) };
        let mut deed = Deed {
            receipt_id: receipt.receipt_id,
            class: receipt.action_class,
            succeeded: receipt.result_code == ResultCode::Succeeded,
            order: 0,
            made: Vec::new(),
            changed: Vec::new(),
            removed: Vec::new(),
            moved: Vec::new(),
            argv: Vec::new(),
            exit_code: None,
            words: receipt.result_summary.shown().cloned().unwrap_or_default(),
        };
        for change in receipt.changes.iter().filter(|change| change.outcome == ItemOutcome::Done) {
            self.changed(change, &mut deed, told)?;
        }
        moves(&receipt, &mut deed);
        if let Slot::Value(ran) = &receipt.ran {
            deed.argv = ran.argv.as_ref().and_then(|argv| argv.shown().cloned()).unwrap_or_default();
            deed.exit_code = ran.exit_code;
        }
        if !matches!(receipt.action_class, ActionClass::WriteLocal | ActionClass::DeleteLocal)
            && deed.argv.is_empty()
        {
            let request: ActionRequest = self.read_object(state, request.artifact_id)?;
            let words = serde_json::to_string(&request.action).map_err(|e| Error::Broken(e.to_string()))?;
            deed.words = format!("{}\n{}", deed.words, words.chars().take(WORDS_MAX).collect::<String>());
        }
        let result =
            receipt.output_refs.last().map(|output| output.artifact_id.to_string()).unwrap_or_default();
        Ok(Some((result, deed)))
    }

    fn changed(&self, change: &Change, deed: &mut Deed, told: &mut Told) -> Result<(), Error> {
        let Some(path) = path_of(change) else { return Ok(()) };
        let text = match &change.after {
            Found::File { sha256, byte_size, .. } if told.takes(*byte_size) => match self.text(sha256) {
                Ok(text) => text,
                // What was written is kept with what was asked for, not always by its own digest.
                Err(Error::Artifacts(artifacts::Error::Missing { .. })) => String::new(),
                Err(error) => return Err(error),
            },
            _ => String::new(),
        };
        match (&change.before, &change.after) {
            (_, Found::Absent) => deed.removed.push(path),
            (Found::Absent, _) => deed.made.push(Left { path, text }),
            _ => deed.changed.push(Left { path, text }),
        }
        Ok(())
    }

    /// A text by its digest; nothing where it is none, or was erased.
    fn text(&self, digest: &seal::Digest) -> Result<String, Error> {
        match self.artifacts.read(digest) {
            Ok(bytes) => Ok(String::from_utf8(bytes).unwrap_or_default()),
            Err(artifacts::Error::Missing { digest }) if self.reader.is_content_erased(&digest)? => {
                Ok(String::new())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What is told so far.
struct Told {
    record: Record,
    /// Bytes of texts that may still be read.
    left: usize,
    order: u32,
    /// The place of each result.
    orders: BTreeMap<ArtifactId, u32>,
}

impl Told {
    /// Whether a text of that size is read.
    fn takes(&mut self, byte_size: u64) -> bool {
        let size = usize::try_from(byte_size).unwrap_or(usize::MAX);
        let fits = size <= self.left;
        self.left = if fits { self.left - size } else { self.left };
        fits
    }
}

/// What the model that answers had been shown, by the numbers that its contexts name: results but for those of this answer, and what
/// came with words. What earlier steps ended with has none: an agent's own words bear nothing.
fn references(state: &TaskState, orders: &BTreeMap<ArtifactId, u32>) -> Vec<Reference> {
    let Some(attempt) = state.attempt() else { return Vec::new() };
    let numbered = (1..).zip(&attempt.observed).filter(|(_, seen)| seen.iteration < attempt.iteration);
    let named = numbered.filter_map(|(number, seen)| {
        let artifact_id = seen.artifact.artifact_id;
        orders.get(&artifact_id).map(|order| Reference { number, artifact_id, order: *order })
    });
    // Nothing was done before the first result.
    let given = super::seen::told_once(state).into_iter();
    let given = given.map(|(number, a, _)| Reference { number, artifact_id: a.artifact_id, order: 0 });
    named.chain(given).collect()
}

/// The results whose own words stand in a comparison: what is erased of them is erased of it.
fn quoted<'r>(check: &'r AnswerCheck, record: &'r Record) -> impl Iterator<Item = ArtifactId> + 'r {
    let is_quoted = move |number: u32| {
        let mut cites = check.sentences.iter().flat_map(|sentence| &sentence.cites);
        cites.any(|cite| cite.number == number && cite.quote.is_some())
    };
    let quoted = record.references.iter().filter(move |reference| is_quoted(reference.number));
    quoted.map(|reference| reference.artifact_id).chain(told_near(check, record))
}

/// The results whose words a sentence is to be compared with, and those of the acts that it is.
fn told_near<'r>(check: &'r AnswerCheck, record: &'r Record) -> impl Iterator<Item = ArtifactId> + 'r {
    let is_told = move |artifact_id: ArtifactId, order: u32| {
        let mut near = check.sentences.iter().filter(|sentence| sentence.near.is_some());
        near.any(|sentence| {
            let mut deeds = record.deeds.iter().filter(|deed| sentence.receipts.contains(&deed.receipt_id));
            sentence.sources.iter().any(|named| named.artifact_id == artifact_id)
                || deeds.any(|deed| deed.order == order)
        })
    };
    let sources = record.sources.iter().map(|source| (source.artifact_id, source.order));
    let shown = record.references.iter().map(|reference| (reference.artifact_id, reference.order));
    sources.chain(shown).filter(move |(artifact_id, order)| is_told(*artifact_id, *order)).map(|(id, _)| id)
}

/// The path of what changed, where it is a file or folder.
fn path_of(change: &Change) -> Option<String> {
    match change.resource.shown()?.parse().ok()? {
        ResourceId::File(_, path) => Some(path.display_lossy()),
        _ => None,
    }
}

/// What was removed and stands elsewhere by the same act, by its bytes.
fn moves(receipt: &Receipt, deed: &mut Deed) {
    let digest = |found: &Found| match found {
        Found::File { sha256, .. } => Some(*sha256),
        _ => None,
    };
    let done = || receipt.changes.iter().filter(|change| change.outcome == ItemOutcome::Done);
    let mut made: Vec<_> = done().filter(|change| change.before == Found::Absent).collect();
    for gone in done().filter(|change| change.after == Found::Absent) {
        let same = made
            .iter()
            .position(|new| digest(&new.after).is_some() && digest(&new.after) == digest(&gone.before));
        let Some(new) = same.map(|at| made.remove(at)) else { continue };
        deed.moved.extend(path_of(gone).zip(path_of(new)));
    }
}
