//! What a look into a secret brought is found by no words, whoever repeats it: its values are taken out of what the task says
//! from then on, before that is indexed, and out of what its parts, its followers and those they come from say, and of what a
//! conversation holds of their beginning.

use super::{Seen, int, text};
use crate::Error;
use crate::rows::{ArtifactRow, BeliefRow};
use model::artifact::{Artifact, ArtifactKind, Sensitivity};
use model::knowledge::MemoryRecord;
use model::limits::INLINE_ARTIFACT_BYTES_MAX;
use model::task::Task;
use model::{ArtifactId, Body, Digest, TaskId};
use rusqlite::{OptionalExtension, params};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

/// Bytes of a value. A shorter one could not be told from ordinary words.
const VALUE_BYTES: RangeInclusive<usize> = 8..=1024;
/// Values of one look. Where there are more, none is kept, and no more words of the tasks of its root are indexed.
const VALUES_MAX: usize = 512;
/// Looks of the tasks of one root whose values are kept: each text of these tasks is searched for all of them. Behind one more, no
/// more of their words are indexed.
const LOOKS_MAX: i64 = 64;
/// Signs of one line behind which a value may stand. Where there are more, not all values are known.
const SIGNS_MAX: usize = 64;
/// Signs that assign; the last one ends the name of an element.
const SIGNS: [char; 3] = ['=', ':', '>'];
/// Signs that end a value: of an element, of an address, of one of several.
const ENDS: [char; 6] = ['<', '@', '&', ';', ',', ')'];
/// JSON texts within JSON texts that are looked into, and times that a value may be escaped where it is repeated.
const DEPTH_MAX: usize = 4;
/// Members that hold what stood there, so that a whole line of them is a value too.
const CONTENT: [&str; 5] = ["text", "stdout", "stderr", "body", "answer"];

/// Keeps the values of what an act brought that was allowed to look into a secret: one a line, in small letters, as the index
/// knows no others.
pub(super) fn keep(seen: &Seen<'_>, artifact: &Artifact) -> Result<(), Error> {
    if artifact.sensitivity_class != Sensitivity::Secret || !is_brought(artifact.kind) {
        return Ok(());
    }
    let root = root(seen, seen.event.task_id)?;
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
    if before > 0 { Ok(()) } else { super::search::forget_behind(seen, &root, seq) }
}

/// Keeps which task a new one comes from at first: it is a part of another, or follows one that ended.
pub(super) fn descends(seen: &Seen<'_>, task: &Task) -> Result<(), Error> {
    let followed = task.continuation_anchor.as_ref().map(|anchor| anchor.anchor_task_id);
    let Some(from) = task.parent_task_id.or(followed) else { return Ok(()) };
    let statement = "INSERT OR IGNORE INTO view_descent (task_id, root) VALUES (?1, ?2)";
    seen.run(statement, params![text(task.task_id), root(seen, from)?])?;
    Ok(())
}

/// Keeps which other tasks an act rests on: who proposes what was found there repeats it, such as whoever asks what of ended tasks is to
/// be remembered.
pub(super) fn is_told(seen: &Seen<'_>, artifact: &Artifact) -> Result<(), Error> {
    if artifact.kind != ArtifactKind::ActionRequest || artifact.inputs.is_empty() {
        return Ok(());
    }
    let own = root(seen, seen.event.task_id)?;
    let mut of = BTreeSet::new();
    for input in &artifact.inputs {
        if let Some(task) = seen.change((*input,), |row: &mut ArtifactRow| row.task_id)? {
            of.insert(root(seen, task)?);
        }
    }
    told(seen, &mut of)?;
    for other in of.iter().filter(|other| **other != own) {
        let statement = "INSERT OR IGNORE INTO view_told (root, of_root, seq) VALUES (?1, ?2, ?3)";
        seen.run(statement, params![own, other, int(seen.seq)])?;
    }
    Ok(())
}

/// Adds the roots that these were told of.
fn told(seen: &Seen<'_>, roots: &mut BTreeSet<String>) -> Result<(), Error> {
    let mut found = seen.conn.prepare_cached("SELECT of_root FROM view_told WHERE root = ?1")?;
    for root in roots.clone() {
        let mut rows = found.query([root])?;
        while let Some(row) = rows.next()? {
            roots.insert(row.get(0)?);
        }
    }
    Ok(())
}

/// The first task that a task comes from: itself, where it comes from none.
fn root(seen: &Seen<'_>, task: TaskId) -> Result<String, Error> {
    let task = text(task);
    let statement = "SELECT root FROM view_descent WHERE task_id = ?1";
    let found = seen.conn.prepare_cached(statement)?.query_row([&task], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or(task))
}

/// The roots of the tasks whose looks the words of an event may repeat: its own, and those of what else its words come from.
fn roots(seen: &Seen<'_>, from: &[TaskId], is_claim: bool) -> Result<BTreeSet<String>, Error> {
    let mut roots = BTreeSet::from([root(seen, seen.event.task_id)?]);
    for task in from {
        roots.insert(root(seen, *task)?);
    }
    told(seen, &mut roots)?;
    if is_claim || !from.is_empty() {
        for root in &roots {
            let statement = "INSERT OR IGNORE INTO view_word_roots (seq, root) VALUES (?1, ?2)";
            seen.run(statement, params![int(seen.seq), root])?;
        }
    }
    Ok(roots)
}

/// The tasks that the words of an event come from, beside its own: those of what a claim of memory rests on; and in a conversation the one
/// that work is a part of or follows, whose goal may be an agent's, and the one that somebody speaks to. None where nobody can tell any more.
fn comes_from(seen: &Seen<'_>, body: &Body) -> Result<Option<Vec<TaskId>>, Error> {
    let mut from: Vec<TaskId> = Vec::new();
    match body {
        Body::MemoryPromoted(promoted) => {
            let MemoryRecord { evidence_refs, promoted_from_belief_id, .. } = &promoted.record;
            for evidence in evidence_refs {
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
            for artifact in &record.referenced_artifact_refs {
                let kept = |row: &mut ArtifactRow| (row.kind, (row.content_hash, row.byte_size));
                if let Some((ArtifactKind::Message, kept)) = seen.change((*artifact,), kept)? {
                    let Some(named) = named_in(seen, kept)? else { return Ok(None) };
                    from.extend(named);
                    let statement =
                        "INSERT OR IGNORE INTO view_word_messages (artifact_id, seq) VALUES (?1, ?2)";
                    seen.run(statement, params![text(artifact), int(seen.seq)])?;
                }
            }
        }
        Body::IngressBound(bound) => from.extend(bound.anchor.as_ref().map(|anchor| anchor.anchor_task_id)),
        _ => {}
    }
    Ok(Some(from))
}

/// The tasks that are named in the message of which these bytes are kept, and those of the artifacts named there: of which one work is a
/// part, which one it follows, and what it is to rest on. None where they are no longer kept.
fn named_in(seen: &Seen<'_>, (kept, byte_size): (Digest, u64)) -> Result<Option<Vec<TaskId>>, Error> {
    // It is nowhere in the index, and what it names was never known.
    if usize::try_from(byte_size).is_ok_and(|bytes| bytes > INLINE_ARTIFACT_BYTES_MAX) {
        return Ok(Some(Vec::new()));
    }
    let statement = "SELECT bytes FROM blobs WHERE digest = ?1";
    let mut found = seen.conn.prepare_cached(statement)?;
    let bytes: Option<Vec<u8>> = found.query_row([kept.0], |row| row.get(0)).optional()?;
    let Some(bytes) = bytes else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    let mut named = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        if let Some(task) = word.strip_prefix("task_").and_then(|_| word.parse::<TaskId>().ok()) {
            named.push(task);
        } else if let Some(artifact) = word.strip_prefix("art_").and_then(|_| word.parse::<ArtifactId>().ok())
        {
            named.extend(seen.change((artifact,), |row: &mut ArtifactRow| row.task_id)?);
        }
    }
    Ok(Some(named))
}

/// What has to be taken out of the words of an event before they are indexed.
pub(super) struct Withheld {
    /// None where not all of them are known.
    values: Option<Values>,
}

impl Withheld {
    /// Nothing at all.
    pub(super) const NOTHING: Self = Self { values: Some(Values { by_head: None }) };

    /// What the tasks looked into that these words come from.
    pub(super) fn of(seen: &Seen<'_>, body: &Body) -> Result<Self, Error> {
        let is_claim = matches!(body, Body::MemoryPromoted(_));
        match comes_from(seen, body)? {
            Some(from) => Self::found_by(seen, roots(seen, &from, is_claim)?),
            None => Ok(Self { values: None }),
        }
    }

    /// The same for what is kept whole of a message.
    pub(super) fn of_message(seen: &Seen<'_>, message: &Artifact) -> Result<Self, Error> {
        let named = named_in(seen, (message.content_hash, message.byte_size))?.unwrap_or_default();
        Self::found_by(seen, roots(seen, &named, false)?)
    }

    fn found_by(seen: &Seen<'_>, roots: BTreeSet<String>) -> Result<Self, Error> {
        let mut found = seen.conn.prepare_cached("SELECT found FROM view_withheld WHERE root = ?1")?;
        let mut values = BTreeSet::new();
        for root in roots {
            let mut rows = found.query([root])?;
            while let Some(row) = rows.next()? {
                let Some(known) = row.get::<_, Option<String>>(0)? else { return Ok(Self { values: None }) };
                values.extend(known.lines().map(str::to_owned));
            }
        }
        Ok(Self { values: Some(Values::of(values)) })
    }

    /// Whether words may be indexed as they are.
    pub(super) fn is_nothing(&self) -> bool {
        self.values.as_ref().is_some_and(|values| values.by_head.is_none())
    }

    /// Words as they may be indexed; none where it is not known what has to be taken out.
    pub(super) fn out_of(&self, words: String) -> Option<String> {
        Some(match &self.values.as_ref()?.by_head {
            Some(values) => taken_out(&words, values),
            None => words,
        })
    }
}

/// Bytes that every value has at least.
const HEAD: usize = *VALUE_BYTES.start();

/// Values by how they begin, the longest first: a text is gone through once, however many there are.
type ByHead = HashMap<[u8; HEAD], Vec<String>>;

struct Values {
    by_head: Option<ByHead>,
}

impl Values {
    fn of(values: BTreeSet<String>) -> Self {
        let mut by_head = ByHead::new();
        // In the order of their letters, each comes before those that go on.
        for value in values.into_iter().rev() {
            if let Some(head) = value.as_bytes().first_chunk::<HEAD>() {
                by_head.entry(*head).or_default().push(value);
            }
        }
        Self { by_head: Some(by_head).filter(|by_head| !by_head.is_empty()) }
    }
}

/// Words without these values, whatever letters are capital in them. Where several lie over each other, no part of any stays.
fn taken_out(words: &str, values: &ByHead) -> String {
    let words = small(words);
    let mut left = String::with_capacity(words.len());
    // Behind what was taken out last.
    let mut behind = 0;
    for (at, head) in words.as_bytes().windows(HEAD).enumerate() {
        let Some(begin_so) = values.get(head) else { continue };
        let rest = words.as_bytes().get(at..).unwrap_or_default();
        let Some(value) = begin_so.iter().find(|value| rest.starts_with(value.as_bytes())) else { continue };
        if at >= behind {
            left.push_str(words.get(behind..at).unwrap_or_default());
            left.push(' ');
        }
        behind = behind.max(at.saturating_add(value.len()));
    }
    left.push_str(words.get(behind..).unwrap_or_default());
    left
}

/// In small letters, each by itself.
fn small(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
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
    let statement = "SELECT bytes FROM blobs WHERE digest = ?1";
    let mut found = seen.conn.prepare_cached(statement)?;
    Ok(found.query_row([artifact.content_hash.0], |row| row.get(0)).optional()?)
}

/// What stands behind a sign that assigns, and what is a line of its own; none where these are too many.
fn values(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let mut found = Found::default();
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => found.of_value(&value, false, DEPTH_MAX),
        Err(_) => found.of_text(&String::from_utf8_lossy(bytes), true),
    }
    (!found.more).then_some(found.values)
}

/// Values as they are found.
#[derive(Default)]
struct Found {
    values: BTreeSet<String>,
    /// Whether there are more than were looked at.
    more: bool,
}

impl Found {
    fn of_value(&mut self, value: &Value, whole_lines: bool, depth: usize) {
        match value {
            Value::Number(number) if whole_lines => self.take(&number.to_string()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => match within(text, depth) {
                Some((inside, depth)) => self.of_value(&inside, whole_lines, depth),
                None => self.of_text(text, whole_lines),
            },
            Value::Array(items) => items.iter().for_each(|item| self.of_value(item, whole_lines, depth)),
            Value::Object(members) => {
                for (name, member) in members {
                    self.of_value(member, whole_lines || CONTENT.contains(&name.as_str()), depth);
                }
            }
        }
    }

    fn of_text(&mut self, text: &str, whole_lines: bool) {
        for line in text.lines() {
            if whole_lines {
                self.take(line);
                let is_no_word = |part: &&str| part.contains(|c: char| c.is_ascii_digit());
                line.split_whitespace().filter(is_no_word).for_each(|part| self.take(part));
            }
            // Of several signs in a row the last one assigns.
            let behind =
                line.match_indices(SIGNS).filter_map(|(at, sign)| line.get(at.saturating_add(sign.len())..));
            for (at, behind) in behind.filter(|behind| !behind.starts_with(SIGNS)).enumerate() {
                self.more |= at >= SIGNS_MAX;
                if self.more {
                    return;
                }
                self.take(behind);
                self.take(behind.split(ENDS).next().unwrap_or_default());
                let word = behind.split_whitespace().next().unwrap_or_default();
                self.take(word);
                self.take(word.split(ENDS).next().unwrap_or_default());
                self.take(quoted(behind).unwrap_or_default());
            }
        }
    }

    /// Takes a value, and how it stands in a JSON text, in one within that, and so on.
    fn take(&mut self, part: &str) {
        let value = part.trim().trim_matches(['"', '\'', ',', ';']);
        if !VALUE_BYTES.contains(&value.len()) {
            return;
        }
        let mut value = small(value);
        // Small letters may be shorter.
        if value.len() < HEAD {
            return;
        }
        for _ in 0..DEPTH_MAX {
            let escaped = value.replace('\\', r"\\").replace('"', r#"\""#).replace('\t', r"\t");
            let is_escaped = escaped != value;
            self.values.insert(std::mem::replace(&mut value, escaped));
            if !is_escaped {
                break;
            }
        }
        self.more |= self.values.len() > VALUES_MAX;
    }
}

/// What a text holds in quotation marks that it begins with.
fn quoted(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let mark = text.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
    text.get(1..)?.split(mark).next()
}

/// The JSON that a text of JSON is, and how many texts more are looked into.
fn within(text: &str, depth: usize) -> Option<(Value, usize)> {
    let text = text.trim_start();
    let left = depth.checked_sub(1).filter(|_| text.starts_with(['{', '[']))?;
    Some((serde_json::from_str(text).ok()?, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Vec<String> {
        values(bytes).unwrap().into_iter().collect()
    }

    fn without(words: &str, found: BTreeSet<String>) -> String {
        let withheld = Withheld { values: Some(Values::of(found)) };
        withheld.out_of(words.to_owned()).unwrap()
    }

    #[test]
    fn a_value_is_found_in_an_address_and_in_an_element() {
        let at =
            concat!("DB=postgres://me:pel", "ican42@host/db?key=flamingo-7&x=1\n<word>blue kestrel</word>");
        let found = of(at.as_bytes());
        for value in [concat!("pel", "ican42"), "flamingo-7", "blue kestrel"] {
            assert!(found.contains(&value.to_owned()), "{value}: {found:?}");
        }
    }

    #[test]
    fn of_values_that_lie_over_each_other_no_part_stays() {
        let found = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        let over = || found(&["flamingo-one", "one-and-pelican", "pelican-blue", "pelican-blue-kestrel"]);
        assert_eq!(without("a Flamingo-one-and-pelican-blue-kestrel é.", over()), "a   é.");
        assert_eq!(without("pelican-blue-kestrel", over()), " ");
        assert_eq!(without("flamingo-on, pelicans", over()), "flamingo-on, pelicans", "none of them");
        assert_eq!(without("short", over()), "short");
        let twice = without("flamingo-one flamingo-oneflamingo-one", over());
        assert_eq!(twice.trim(), "");
        assert_eq!(without("Ö", BTreeSet::new()), "Ö", "without any, words stay as they are");
    }

    #[test]
    fn a_value_stands_behind_a_sign_or_alone_in_a_line_of_what_was_read() {
        let read = br#"{"op":"read a thing","result_code":"succeeded","text":"PET=flamingo # a bird\nA='quoted bird'\n"}"#;
        assert_eq!(
            of(read),
            ["a='quoted bird", "flamingo", "flamingo # a bird", "pet=flamingo # a bird", "quoted bird"]
        );
        let hit = br#"{"matches":[{"line":1,"text":"key: kestrel-42"}],"op":"a search"}"#;
        assert_eq!(of(hit), ["kestrel-42", "key: kestrel-42"]);
        let transcript =
            br#"{"transcript":"{\"argv\":[\"cat\",\"a long name\"],\"stdout\":\"MIIEvQIBADAN\\n\"}"}"#;
        assert_eq!(of(transcript), ["miievqibadan"]);
        assert_eq!(of(b"no JSON here\n"), ["no json here"]);
        assert_eq!(of(br#"{"text":"a=short\n"}"#), Vec::<String>::new());
    }

    #[test]
    fn values_are_found_in_json_in_quotation_marks_and_without_a_sign() {
        let json = br#"{"op":"read a thing","text":"{\"name\":\"x\",\"password\":\"flamingo-bird\",\"pin\":12345678}"}"#;
        assert_eq!(of(json), ["12345678", "flamingo-bird"]);
        let cut = concat!(r#"{"a":"x","pass"#, r#"word":"flamingo-bird","#);
        assert!(of(cut.as_bytes()).contains(&"flamingo-bird".to_owned()), "a part of a file is no JSON");
        let netrc = concat!("machine x login y pass", "word pelican42\n");
        assert!(of(netrc.as_bytes()).contains(&"pelican42".to_owned()));
    }

    #[test]
    fn a_value_is_taken_out_in_capitals_and_as_json_writes_it() {
        let found = values(br#"PASS=ab"cd\Efgh"#).unwrap();
        let json = serde_json::to_string(r#"say AB"CD\EFGH"#).unwrap();
        let again = serde_json::to_string(&json).unwrap();
        for words in [r#"say AB"CD\EFGH"#, &json, &again] {
            let left = without(words, found.clone());
            assert!(
                left.contains("say") && !left.contains("ab") && !left.contains("efgh"),
                "{words}: {left}"
            );
        }
    }

    #[test]
    fn where_not_all_values_are_known_none_is() {
        let many: Vec<String> = (0..=VALUES_MAX).map(|n| format!("KEY=value-number-{n}")).collect();
        assert_eq!(values(many.join("\n").as_bytes()), None);
        assert_eq!(values("a=b,".repeat(SIGNS_MAX + 1).as_bytes()), None);
        assert!(values("=".repeat(1_000).as_bytes()).is_some(), "a line of signs assigns nothing");
    }
}
