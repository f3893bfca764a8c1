//! What a look into a secret brought is found by no words, whoever repeats it: its values are taken out of what the task says
//! from then on, before that is indexed, and out of what its parts, its followers and those they come from say, and of what a
//! conversation holds of their beginning.

mod values;

use super::search::{self, CONTENT};
use super::{Seen, int, text};
use crate::Error;
use crate::rows::{ActionRow, ApprovalRow, ArtifactRow, BeliefRow, QuestionRow};
use model::artifact::{Artifact, ArtifactKind, Sensitivity};
use model::knowledge::MemoryRecord;
use model::limits::INLINE_ARTIFACT_BYTES_MAX;
use model::task::Task;
use model::{ApprovalId, ArtifactId, Body, ClarificationId, Digest, TaskId};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeSet;
use std::str::FromStr;
use values::values;

pub(crate) use values::{Values, is_telling};

/// Looks of the tasks of one root whose values are kept: each text of these tasks is searched for all of them. Behind one more, no
/// more of their words are indexed.
const LOOKS_MAX: i64 = 64;
/// Digits of an identifier.
const DIGITS: usize = 32;

/// Keeps the values of what an act brought that was allowed to look into a secret: one a line, in small letters, as the index
/// knows no others.
pub(super) fn keep(seen: &Seen<'_>, artifact: &Artifact) -> Result<(), Error> {
    if artifact.sensitivity_class != Sensitivity::Secret || !is_brought(artifact.kind) {
        return Ok(());
    }
    let root = root(seen.conn, seen.event.task_id)?;
    let statement = "SELECT count(*) FROM view_withheld WHERE root = ?1";
    let before: i64 = seen.conn.prepare_cached(statement)?.query_row([&root], |row| row.get(0))?;
    // What cannot be read is not known, so nothing can be taken out.
    let bytes = if before < LOOKS_MAX { content(seen, artifact)? } else { None };
    let found = bytes.and_then(|bytes| values(&bytes));
    let found = found.map(|values| values.into_iter().collect::<Vec<_>>().join("\n"));
    let statement = "INSERT INTO view_withheld (root, artifact_id, seq, found) VALUES (?1, ?2, ?3, ?4)";
    seen.run(statement, params![root, text(artifact.artifact_id), int(seen.seq), found])?;
    Ok(())
}

/// Forgets the values of what is no longer kept. No words of the tasks of its root behind it stay in the index, and none get there any
/// more: who folds the log anew does not know them.
pub(super) fn forget(seen: &Seen<'_>, artifact: ArtifactId) -> Result<(), Error> {
    let artifact = text(artifact);
    let statement = "SELECT root, seq FROM view_withheld WHERE artifact_id = ?1 AND found IS NOT NULL";
    let mut known = seen.conn.prepare_cached(statement)?;
    let known = known.query_row([&artifact], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)));
    let Some((root, seq)) = known.optional()? else { return Ok(()) };
    seen.run("UPDATE view_withheld SET found = NULL WHERE artifact_id = ?1", [&artifact])?;
    let statement = "SELECT count(*) FROM view_withheld WHERE root = ?1 AND seq < ?2 AND found IS NULL";
    let before: i64 = seen.conn.prepare_cached(statement)?.query_row(params![root, seq], |row| row.get(0))?;
    // Behind an earlier one that is not known either, there is nothing to take out.
    if before > 0 { Ok(()) } else { search::forget_behind(seen, &root, seq) }
}

/// Keeps which task a new one comes from at first: it is a part of another, or follows one that ended.
pub(super) fn descends(seen: &Seen<'_>, task: &Task) -> Result<(), Error> {
    let followed = task.continuation_anchor.as_ref().map(|anchor| anchor.anchor_task_id);
    let Some(from) = task.parent_task_id.or(followed) else { return Ok(()) };
    let statement = "INSERT OR IGNORE INTO view_descent (task_id, root) VALUES (?1, ?2)";
    seen.run(statement, params![text(task.task_id), root(seen.conn, from)?])?;
    Ok(())
}

/// Keeps which other tasks an act rests on: who proposes what was found there repeats it, such as whoever asks what of ended tasks is to
/// be remembered.
pub(super) fn is_told(seen: &Seen<'_>, artifact: &Artifact) -> Result<(), Error> {
    if artifact.kind != ArtifactKind::ActionRequest || artifact.inputs.is_empty() {
        return Ok(());
    }
    let own = root(seen.conn, seen.event.task_id)?;
    let mut of = BTreeSet::new();
    for input in &artifact.inputs {
        if let Some(task) = seen.change((*input,), |row: &mut ArtifactRow| row.task_id)? {
            of.insert(root(seen.conn, task)?);
        }
    }
    told(seen.conn, &mut of)?;
    for other in of.iter().filter(|other| **other != own) {
        let statement = "INSERT OR IGNORE INTO view_told (root, of_root, seq) VALUES (?1, ?2, ?3)";
        seen.run(statement, params![own, other, int(seen.seq)])?;
    }
    Ok(())
}

/// Adds the roots that these were told of.
pub(crate) fn told(conn: &Connection, roots: &mut BTreeSet<String>) -> Result<(), Error> {
    let mut found = conn.prepare_cached("SELECT of_root FROM view_told WHERE root = ?1")?;
    for root in roots.clone() {
        let mut rows = found.query([root])?;
        while let Some(row) = rows.next()? {
            roots.insert(row.get(0)?);
        }
    }
    Ok(())
}

/// The first task that a task comes from: itself, where it comes from none.
pub(crate) fn root(conn: &Connection, task: TaskId) -> Result<String, Error> {
    let task = text(task);
    let statement = "SELECT root FROM view_descent WHERE task_id = ?1";
    let found = conn.prepare_cached(statement)?.query_row([&task], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or(task))
}

/// What looks into secrets brought.
pub(crate) struct Looks {
    /// Whether there was any.
    pub(crate) has_looked: bool,
    /// None where not all of them are known.
    pub(crate) values: Option<Values>,
}

/// What tasks of these roots looked into before a place of the log.
pub(crate) fn looks(conn: &Connection, roots: &BTreeSet<String>, before: i64) -> Result<Looks, Error> {
    let mut found = conn.prepare_cached("SELECT found FROM view_withheld WHERE root = ?1 AND seq < ?2")?;
    let (mut values, mut has_looked, mut is_known) = (BTreeSet::new(), false, true);
    for root in roots {
        let mut rows = found.query(params![root, before])?;
        while let Some(row) = rows.next()? {
            has_looked = true;
            match row.get::<_, Option<String>>(0)? {
                Some(known) => values.extend(known.lines().map(str::to_owned)),
                None => is_known = false,
            }
        }
    }
    Ok(Looks { has_looked, values: is_known.then(|| Values::of(values)) })
}

/// The roots of the tasks whose looks the words of an event may repeat: its own, and those of what else its words come from.
/// Where they come from elsewhere, that is kept of its documents from `first` on.
fn roots(
    seen: &Seen<'_>,
    from: &[TaskId],
    (is_claim, first): (bool, i64),
) -> Result<BTreeSet<String>, Error> {
    let mut roots = BTreeSet::from([root(seen.conn, seen.event.task_id)?]);
    for task in from {
        roots.insert(root(seen.conn, *task)?);
    }
    told(seen.conn, &mut roots)?;
    if is_claim || !from.is_empty() {
        for root in &roots {
            let statement = "INSERT OR IGNORE INTO view_word_roots (seq, root, first) VALUES (?1, ?2, ?3)";
            seen.run(statement, params![int(seen.seq), root, first])?;
        }
    }
    Ok(roots)
}

/// The tasks that the words of an event come from, beside its own: those of what a claim of memory rests on; the one that proposes a change of
/// Hermit; and in a conversation the one that work is a part of or follows, whose goal may be an agent's, and the one that somebody speaks
/// to. None where nobody can tell any more.
fn comes_from(seen: &Seen<'_>, body: &Body) -> Result<Option<Vec<TaskId>>, Error> {
    let mut from: Vec<TaskId> = Vec::new();
    match body {
        Body::MemoryPromoted(promoted) => {
            let MemoryRecord { evidence_refs, promoted_from_belief_id, .. } = &promoted.record;
            for evidence in evidence_refs {
                from.extend(tasks_named(&evidence.capture_method));
                from.extend(seen.change((evidence.artifact_id,), |row: &mut ArtifactRow| row.task_id)?);
            }
            if let Some(belief) = promoted_from_belief_id {
                from.extend(seen.change((*belief,), |row: &mut BeliefRow| row.task_id)?);
            }
        }
        Body::IngressReceived(received) => {
            let record = &received.record;
            let named = [record.parent_task_id, record.chosen_task_id, record.explicit_task_ref];
            from.extend(named.into_iter().flatten());
            let mut is_known = true;
            for artifact in &record.referenced_artifact_refs {
                let kept = |row: &mut ArtifactRow| (row.kind, row.content_hash);
                if let Some((ArtifactKind::Message, kept)) = seen.change((*artifact,), kept)? {
                    let named = named_in(seen, kept)?;
                    is_known &= named.is_some();
                    from.extend(named.into_iter().flatten());
                    let statement =
                        "INSERT OR IGNORE INTO view_word_messages (artifact_id, seq) VALUES (?1, ?2)";
                    seen.run(statement, params![text(artifact), int(seen.seq)])?;
                }
            }
            if !is_known {
                return Ok(None);
            }
        }
        Body::SuccessorBegan(began) => {
            if let Some(act) = began.proposed_by {
                from.extend(seen.change((act,), |row: &mut ActionRow| row.task_id)?);
            }
        }
        Body::IngressBound(bound) => from.extend(bound.anchor.as_ref().map(|anchor| anchor.anchor_task_id)),
        _ => {}
    }
    Ok(Some(from))
}

/// The tasks that are named in the message of which these bytes are kept, and those of the artifacts, questions and approvals named there:
/// of which one work is a part, which one it follows, what it is to rest on, and what a message to a chat tells of. None where they are no
/// longer kept, or are so many that they lie in a file.
fn named_in(seen: &Seen<'_>, kept: Digest) -> Result<Option<Vec<TaskId>>, Error> {
    let Some(bytes) = search::kept(seen, kept)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    let mut named: Vec<TaskId> = identifiers(&text, TaskId::PREFIX);
    for artifact in identifiers::<ArtifactId>(&text, ArtifactId::PREFIX) {
        named.extend(seen.change((artifact,), |row: &mut ArtifactRow| row.task_id)?);
    }
    for question in identifiers::<ClarificationId>(&text, ClarificationId::PREFIX) {
        named.extend(seen.change((question,), |row: &mut QuestionRow| row.task_id)?);
    }
    for approval in identifiers::<ApprovalId>(&text, ApprovalId::PREFIX) {
        named.extend(seen.change((approval,), |row: &mut ApprovalRow| row.task_id)?);
    }
    Ok(Some(named))
}

/// The tasks that a text names: evidence of a claim says in which task it was found, also where another one asks about it.
pub(crate) fn tasks_named(text: &str) -> Vec<TaskId> {
    identifiers(text, TaskId::PREFIX)
}

/// The identifiers of a kind in a text, whatever is right in front of them: a line that is escaped ends in a letter, `\n`.
fn identifiers<T: FromStr>(text: &str, prefix: &str) -> Vec<T> {
    let begin = format!("{prefix}_");
    let whole = |at: usize| text.get(at..at.saturating_add(begin.len()).saturating_add(DIGITS));
    text.match_indices(begin.as_str()).filter_map(|(at, _)| whole(at)?.parse().ok()).collect()
}

/// What has to be taken out of the words of an event before they are indexed.
pub(super) struct Withheld {
    /// None where not all of them are known.
    values: Option<Values>,
}

impl Withheld {
    /// Nothing at all.
    pub(super) const NOTHING: Self = Self { values: Some(Values::NONE) };

    /// What the tasks looked into that these words come from.
    pub(super) fn of(seen: &Seen<'_>, body: &Body) -> Result<Self, Error> {
        let is_claim = matches!(body, Body::MemoryPromoted(_));
        match comes_from(seen, body)? {
            Some(from) => Self::found_by(seen, &roots(seen, &from, (is_claim, 0))?),
            None => Ok(Self { values: None }),
        }
    }

    /// The same for what is kept whole of a message.
    pub(super) fn of_message(seen: &Seen<'_>, message: &Artifact) -> Result<Self, Error> {
        let named = named_in(seen, message.content_hash)?.unwrap_or_default();
        Self::found_by(seen, &roots(seen, &named, (false, CONTENT))?)
    }

    fn found_by(seen: &Seen<'_>, roots: &BTreeSet<String>) -> Result<Self, Error> {
        Ok(Self { values: looks(seen.conn, roots, i64::MAX)?.values })
    }

    /// Whether words may be indexed as they are.
    pub(super) fn is_nothing(&self) -> bool {
        self.values.as_ref().is_some_and(Values::is_empty)
    }

    /// Words as they may be indexed; none where it is not known what has to be taken out.
    pub(super) fn out_of(&self, words: String) -> Option<String> {
        Some(self.values.as_ref()?.out_of(words))
    }
}

/// Kinds of artifact in which a model is told what an act brought.
const fn is_brought(kind: ArtifactKind) -> bool {
    matches!(
        kind,
        ArtifactKind::ActionResult
            | ArtifactKind::SearchBundle
            | ArtifactKind::CommandTranscript
            | ArtifactKind::WebSnapshot
    )
}

/// Its bytes, where they are committed together with the event that makes it and are still there.
fn content(seen: &Seen<'_>, artifact: &Artifact) -> Result<Option<Vec<u8>>, Error> {
    if usize::try_from(artifact.byte_size).is_ok_and(|bytes| bytes > INLINE_ARTIFACT_BYTES_MAX) {
        return Ok(None);
    }
    search::kept(seen, artifact.content_hash)
}
