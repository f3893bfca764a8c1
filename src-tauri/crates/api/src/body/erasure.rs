//! What an erasure would take: values behind digests, and content that repeats them.

mod drafted;
mod meshed;
mod quoted;
mod repeated;

use crate::convert::{every, plain};
use crate::fold::walk;
use crate::ids::find;
use crate::{Host, Wire as _, not_found, usage};
use kernel::command::collect;
use ledger::Reader;
use model::artifact::ArtifactKind;
use model::ingress::IngressResolution;
use model::{ArtifactId, Body, Digest, Event, IngressId, TaskId};
use projections::query::ArtifactFilter;
use projections::{ArtifactState, rows};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use wire::erasure::{Content, Held, Plan, Planned, Value, Written};
use wire::{Error, Text};

/// Shorter words stand in too many places by chance to be hunted in content.
const HUNTED_CHARS_MIN: usize = 4;
/// Letters of its beginning by which a long value is hunted where it was cut.
const BEGINS_CHARS: usize = 60;

/// Records of authority and of the machine: they go where they repeat what goes. Everything else of a task is what was
/// said, seen or made there, and goes with it.
const fn is_record(kind: ArtifactKind) -> bool {
    matches!(
        kind,
        ArtifactKind::ApprovalDecision
            | ArtifactKind::CapabilityGrant
            | ArtifactKind::EnvironmentSnapshot
            | ArtifactKind::Playbook
    )
}

/// One value that can still be read.
#[derive(Clone)]
struct Found {
    task: TaskId,
    event_type: String,
    pointer: String,
    text: String,
}

#[derive(Default)]
struct Search {
    values: BTreeMap<Digest, Found>,
    tasks: BTreeSet<TaskId>,
    /// Messages of other streams that belong to what goes.
    messages: BTreeSet<ArtifactId>,
    /// What other tasks were given, too.
    shared: BTreeSet<ArtifactId>,
    contents: BTreeMap<ArtifactId, rows::ArtifactRow>,
    /// Bytes that only a request leads to, and how many.
    written: BTreeMap<Digest, u64>,
    /// Content that stays, and a task that has the same.
    kept: BTreeMap<Digest, TaskId>,
}

pub(crate) fn plan(host: &dyn Host, p: Plan) -> Result<Planned, Error> {
    let reader = host.reader()?;
    let mut search = Search::default();
    match (&p.value, &p.artifact, &p.task) {
        (Some(value), None, None) => {
            let digest = value.parse::<Digest>().wire()?;
            search.one(&reader, digest)?;
            if search.values.is_empty() {
                return Err(not_found("readable value", value));
            }
            search.contents(host, false)?;
            search.quoted(host)?;
        }
        (None, Some(artifact), None) => {
            let id: ArtifactId = find(host, artifact)?;
            let row = host.query()?.artifact(id).wire()?.ok_or_else(|| not_found("artifact", artifact))?;
            search.events(&reader, row.task_id, &|event| event.entity_id == id.to_string())?;
            search.same_bytes(host, row)?;
            search.repeated(host)?;
            search.quoted(host)?;
        }
        (None, None, Some(task)) => {
            let task: TaskId = find(host, task)?;
            search.events(&reader, task, &|_| true)?;
            search.handed(host, task)?;
            search.ingress(&reader, task)?;
            search.meshed(&reader, task)?;
            search.receipts(host, task)?;
            search.contents(host, true)?;
            search.drafted(host, task)?;
        }
        _ => return Err(usage("name one of `value`, `artifact`, `task`")),
    }
    search.elsewhere(host)?;
    Ok(search.told())
}

impl Search {
    /// Takes what can be read of the leaves of a document.
    fn leaves(
        &mut self,
        reader: &Reader,
        document: &Json,
        task: TaskId,
        event_type: &str,
    ) -> Result<(), Error> {
        let values = &mut self.values;
        let take = |shown: &dyn Fn(&Digest) -> Option<Vec<u8>>| {
            concealed(document, &mut |digest| {
                let Some(bytes) = shown(&digest) else { return };
                let Ok((_, pointer, value)) = seal::disclose::verify_disclosure(&bytes) else { return };
                let text = match plain(value) {
                    Json::String(text) => text,
                    other => other.to_string(),
                };
                // The address of content by its digest says nothing that the digest beside it does not.
                if text.starts_with("sha256:") {
                    return;
                }
                let event_type = event_type.to_owned();
                values.insert(digest, Found { task, event_type, pointer, text });
            });
        };
        reader.revealing(take).wire()
    }

    fn events(
        &mut self,
        reader: &Reader,
        task: TaskId,
        wanted: &dyn Fn(&Event) -> bool,
    ) -> Result<(), Error> {
        self.tasks.insert(task);
        self.leaves_of(reader, task, wanted)
    }

    fn leaves_of(
        &mut self,
        reader: &Reader,
        task: TaskId,
        wanted: &dyn Fn(&Event) -> bool,
    ) -> Result<(), Error> {
        walk(reader, task, &mut |_, event, _| {
            if wanted(event) {
                self.leaves(reader, &event.payload, task, &event.event_type)?;
            }
            Ok(())
        })
    }

    /// One value, wherever it stands.
    fn one(&mut self, reader: &Reader, digest: Digest) -> Result<(), Error> {
        let hex = digest.to_string();
        let mut after = 0;
        loop {
            let page = reader.log(after, 1_000).wire()?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.log_seq;
            for stored in page.iter().filter(|s| contains(&s.bytes, hex.as_bytes())) {
                let event = stored.event().wire()?;
                self.leaves(reader, &event.payload, event.task_id, &event.event_type)?;
                self.values.retain(|found, _| *found == digest);
                if !self.values.is_empty() {
                    // A stream of messages is of many tasks: only what came with this one repeats it.
                    match named_messages(&event) {
                        Some(messages) => self.messages.extend(messages),
                        None => drop(self.tasks.insert(event.task_id)),
                    }
                    return Ok(());
                }
            }
        }
    }

    /// The messages a task was made of and told, which stand in the inbox.
    fn ingress(&mut self, reader: &Reader, task: TaskId) -> Result<(), Error> {
        let mut ids: BTreeSet<IngressId> = BTreeSet::new();
        walk(reader, task, &mut |_, _, body| {
            match body {
                Body::TaskCreated(b) => drop(ids.insert(b.ingress_id)),
                Body::TaskInputAdded(b) => drop(ids.insert(b.ingress_id)),
                Body::TaskInputQueued(b) => drop(ids.insert(b.ingress_id)),
                Body::ClarificationAnswered(b) => drop(ids.insert(b.ingress_id)),
                _ => {}
            }
            Ok(())
        })?;
        let mut names: BTreeSet<String> = ids.iter().map(ToString::to_string).collect();
        let chosen = task.to_string();
        let mut after = 0;
        let mut open: Vec<Event> = Vec::new();
        loop {
            let page = reader.log(after, 1_000).wire()?;
            let Some(last) = page.last() else { break };
            after = last.log_seq;
            for stored in page.iter().filter(|s| contains(&s.bytes, b"\"event_type\":\"ingress.")) {
                let event = stored.event().wire()?;
                if event.payload.get("chosen_task_id").and_then(Json::as_str) == Some(&chosen) {
                    names.insert(event.entity_id.clone());
                }
                open.push(event);
            }
        }
        let handed = self.messages.clone();
        // That a file was taken in goes with it; words that another file comes with stay, and are their own task's.
        let is_taking = |event: &Event| {
            event.payload.pointer("/record/resolution").and_then(Json::as_str)
                == Some(IngressResolution::Control.as_str())
        };
        let with = |event: &Event| {
            is_taking(event) && named_messages(event).into_iter().flatten().any(|id| handed.contains(&id))
        };
        let mut streams = BTreeSet::new();
        for event in open.iter().filter(|event| names.contains(&event.entity_id) || with(event)) {
            self.leaves(reader, &event.payload, event.task_id, &event.event_type)?;
            let named = named_messages(event).into_iter().flatten();
            self.messages.extend(named.filter(|id| !self.shared.contains(id)));
            streams.insert(event.task_id);
        }
        let messages: BTreeSet<String> = self.messages.iter().map(ToString::to_string).collect();
        for stream in streams {
            self.leaves_of(reader, stream, &|event| messages.contains(&event.entity_id))?;
        }
        Ok(())
    }

    /// Files and quotations that came with words to the task and that no other task has: they stand in the inbox, too.
    fn handed(&mut self, host: &dyn Host, task: TaskId) -> Result<(), Error> {
        let query = host.query()?;
        let given = |kind| ArtifactFilter { task: Some(task), kind: Some(kind), ..ArtifactFilter::default() };
        let mut rows = every(|ask| query.artifacts(&given(ArtifactKind::BinaryAttachment), ask))?;
        rows.extend(every(|ask| query.artifacts(&given(ArtifactKind::Quote), ask))?);
        for row in rows {
            let same = ArtifactFilter { content_hash: Some(row.content_hash), ..ArtifactFilter::default() };
            let mut taken_in = Vec::new();
            let mut of_others = false;
            for other in every(|ask| query.artifacts(&same, ask))? {
                if other.task_id == task || other.state == ArtifactState::Expired {
                    continue;
                }
                // Streams of messages are no tasks.
                of_others |= query.task(other.task_id).wire()?.is_some();
                taken_in.push(other.artifact_id);
            }
            match of_others {
                true => self.shared.extend(taken_in),
                false => self.messages.extend(taken_in),
            }
        }
        Ok(())
    }

    /// The leaves of a task's receipts.
    fn receipts(&mut self, host: &dyn Host, task: TaskId) -> Result<(), Error> {
        let (query, reader) = (host.query()?, host.reader()?);
        for row in every(|ask| query.receipts(Some(task), None, ask))? {
            let Some(envelope) = query.artifact(row.envelope_ref).wire()? else { continue };
            let Ok(bytes) = host.artifacts()?.read(&envelope.content_hash) else { continue };
            let payload = kernel::command::rollback::payload_of(&bytes).wire()?;
            let statement = seal::canon::parse_canonical(&payload).wire()?;
            self.leaves(&reader, &statement, task, "receipt.issued")?;
        }
        Ok(())
    }

    /// Content of the tasks concerned: all of it but records, or only what repeats what goes.
    fn contents(&mut self, host: &dyn Host, all: bool) -> Result<(), Error> {
        let words: Vec<Vec<u8>> = self.values.values().flat_map(|found| spellings(&found.text)).collect();
        let query = host.query()?;
        let mut rows = Vec::new();
        for task in &self.tasks {
            let filter = ArtifactFilter { task: Some(*task), ..ArtifactFilter::default() };
            rows.extend(every(|ask| query.artifacts(&filter, ask))?);
        }
        for message in &self.messages {
            rows.extend(query.artifact(*message).wire()?);
        }
        for row in rows {
            // A receipt conceals its leaves and opens with what is erased beside it.
            if row.kind == ArtifactKind::ReceiptBundle || row.state == ArtifactState::Expired {
                continue;
            }
            // A summary holds words of what was said cut and in one line; it is derived, and nothing is lost with it.
            let is_summary = row.kind == ArtifactKind::ContextSummary && !self.values.is_empty();
            let goes = (all && !is_record(row.kind))
                || is_summary
                || host
                    .artifacts()?
                    .read(&row.content_hash)
                    .is_ok_and(|bytes| words.iter().any(|word| contains(&bytes, word)));
            if goes {
                self.contents.insert(row.artifact_id, row);
            }
        }
        Ok(())
    }

    /// An artifact, and every other one of its task with the same bytes.
    fn same_bytes(&mut self, host: &dyn Host, row: rows::ArtifactRow) -> Result<(), Error> {
        let filter = ArtifactFilter {
            task: Some(row.task_id),
            content_hash: Some(row.content_hash),
            ..ArtifactFilter::default()
        };
        let query = host.query()?;
        for row in every(|ask| query.artifacts(&filter, ask))? {
            if row.state != ArtifactState::Expired {
                self.contents.insert(row.artifact_id, row);
            }
        }
        Ok(())
    }

    /// Bytes that only requests of what goes lead to; and content that stays because something else leads to it.
    fn elsewhere(&mut self, host: &dyn Host) -> Result<(), Error> {
        let (reader, artifacts) = (host.reader()?, host.artifacts()?);
        let own: BTreeSet<ArtifactId> = self.contents.keys().copied().collect();
        let others = collect::live_without(&reader, artifacts, &own).wire()?;
        let holder = |digest: &Digest| others.kept.get(digest).or_else(|| others.staged.get(digest)).copied();
        let requests = self.contents.values().filter(|row| row.kind == ArtifactKind::ActionRequest);
        let requests: Vec<Digest> = requests.map(|row| row.content_hash).collect();
        let hashes: BTreeSet<Digest> = self.contents.values().map(|row| row.content_hash).collect();
        for digest in collect::written_by(artifacts, &requests).difference(&hashes) {
            match holder(digest) {
                Some(task) => drop(self.kept.insert(*digest, task)),
                None if artifacts.contains(digest).wire()? => {
                    let byte_size = artifacts.content(digest).map_or(0, |content| content.byte_size());
                    self.written.insert(*digest, byte_size);
                }
                None => {}
            }
        }
        self.kept.extend(hashes.iter().filter_map(|digest| Some((*digest, holder(digest)?))));
        Ok(())
    }

    fn told(self) -> Planned {
        let kinds = |kind: ArtifactKind| self.contents.values().filter(|row| row.kind == kind).count();
        let mut warnings = Vec::new();
        let images = kinds(ArtifactKind::FileSnapshot);
        if images > 0 {
            warnings.push(format!(
                "{images} of the contents are copies of files; what was changed there cannot be undone any more"
            ));
        }
        if kinds(ArtifactKind::PlaybookDraft) > 0 {
            let adopted = kinds(ArtifactKind::Playbook);
            warnings.push(format!(
                "playbooks were drafted from the task; the drafts go with it, and {adopted} adopted texts, which run no more"
            ));
        }
        if self.contents.values().any(|row| row.sealed_by.is_some()) {
            warnings.push(
                "some contents stand behind receipts and decisions: proofs still verify, and show only digests".to_owned(),
            );
        }
        warnings.push(
            "copies outside this store, backups and proofs that were given away, keep what they have"
                .to_owned(),
        );
        if !self.kept.is_empty() {
            let tasks: BTreeSet<&TaskId> = self.kept.values().collect();
            warnings.push(format!(
                "{} contents stay, because {} other tasks have the same bytes; erase those as well and they go",
                self.kept.len(),
                tasks.len()
            ));
        }
        let kept = self
            .kept
            .iter()
            .map(|(digest, task)| Held { sha256: digest.to_string(), task_id: task.to_string() });
        let kept = kept.collect();
        let values = self.values.into_iter().map(|(digest, found)| Value {
            digest: digest.to_string(),
            task_id: found.task.to_string(),
            event_type: found.event_type,
            pointer: found.pointer,
            text: Text::Shown(found.text),
        });
        let contents = self.contents.into_values().map(|row| Content {
            artifact_id: row.artifact_id.to_string(),
            sha256: row.content_hash.to_string(),
            task_id: row.task_id.to_string(),
            kind: row.kind,
            byte_size: row.byte_size,
        });
        let written = self
            .written
            .into_iter()
            .map(|(digest, byte_size)| Written { sha256: digest.to_string(), byte_size });
        Planned {
            values: values.collect(),
            contents: contents.collect(),
            written: written.collect(),
            kept,
            tasks: self.tasks.iter().map(ToString::to_string).collect(),
            warnings,
        }
    }
}

/// A text as it stands in plain bytes, as JSON spells it, and the beginning of a long one in one line, as summaries and what
/// was made of them hold it.
fn spellings(text: &str) -> Vec<Vec<u8>> {
    if text.chars().count() < HUNTED_CHARS_MIN {
        return Vec::new();
    }
    let line = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    let begins: String = line.take(BEGINS_CHARS).collect();
    let mut all = Vec::new();
    let hunted = |words: &&str| words.chars().count() >= HUNTED_CHARS_MIN;
    for words in [text, begins.as_str()].into_iter().filter(hunted) {
        let json = serde_json::to_string(words).unwrap_or_default();
        all.push(words.as_bytes().to_vec());
        all.push(json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or_default().into());
    }
    all.sort();
    all.dedup();
    all
}

/// The artifacts of messages that a message's own event names; `None` for other events.
fn named_messages(event: &Event) -> Option<Vec<ArtifactId>> {
    if !event.event_type.starts_with("ingress.") {
        return None;
    }
    let named = event.payload.pointer("/record/referenced_artifact_refs").and_then(Json::as_array);
    Some(named.into_iter().flatten().filter_map(|id| id.as_str()?.parse().ok()).collect())
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    !word.is_empty() && bytes.windows(word.len()).any(|window| window == word)
}

/// Every concealed leaf below a value.
fn concealed(value: &Json, found: &mut dyn FnMut(Digest)) {
    match value {
        Json::Object(members) => {
            let single = if members.len() == 1 { members.get("$sd") } else { None };
            if let Some(digest) = single.and_then(Json::as_str).and_then(|hex| hex.parse().ok()) {
                return found(digest);
            }
            members.values().for_each(|member| concealed(member, found));
        }
        Json::Array(items) => items.iter().for_each(|item| concealed(item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{contains, spellings};

    #[test]
    fn a_long_value_is_found_where_its_beginning_stands_in_one_line() {
        let said = format!("use the \"attic\"\nand then {}", "go on and on ".repeat(40));
        let cut = format!(
            "asked: where? The answer: {}…",
            said.replace('\n', " ").chars().take(200).collect::<String>()
        );
        let stored = serde_json::to_vec(&serde_json::json!({ "text": cut })).expect("JSON");
        let found = |bytes: &[u8]| spellings(&said).iter().any(|word| contains(bytes, word));
        assert!(found(&stored) && found(said.as_bytes()));
        assert!(!found(b"use the attic"));
        assert!(spellings("ok").is_empty(), "what is short stands everywhere");
    }
}
