//! What a look into a secret brought is found by no words, whoever repeats it: its values are taken out of what the task says
//! from then on, before that is indexed, and out of what its parts, its followers and those they come from say.

use super::{Seen, int, text};
use crate::Error;
use crate::rows::{ArtifactRow, BeliefRow};
use model::artifact::{Artifact, ArtifactKind, Sensitivity};
use model::knowledge::MemoryRecord;
use model::limits::INLINE_ARTIFACT_BYTES_MAX;
use model::task::Task;
use model::{ArtifactId, Body, TaskId};
use rusqlite::{OptionalExtension, params};
use serde_json::Value;
use std::collections::BTreeSet;
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
/// Signs that assign.
const SIGNS: [char; 2] = ['=', ':'];
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

/// The first task that a task comes from: itself, where it comes from none.
fn root(seen: &Seen<'_>, task: TaskId) -> Result<String, Error> {
    let task = text(task);
    let statement = "SELECT root FROM view_descent WHERE task_id = ?1";
    let found = seen.conn.prepare_cached(statement)?.query_row([&task], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or(task))
}

/// The roots of the tasks whose looks the words of an event may repeat: its own, and for a claim of memory those of what it rests on.
fn roots(seen: &Seen<'_>, body: &Body) -> Result<BTreeSet<String>, Error> {
    let mut roots = BTreeSet::from([root(seen, seen.event.task_id)?]);
    let Body::MemoryPromoted(promoted) = body else { return Ok(roots) };
    let MemoryRecord { evidence_refs, promoted_from_belief_id, .. } = &promoted.record;
    for evidence in evidence_refs {
        if let Some(task) = seen.change((evidence.artifact_id,), |row: &mut ArtifactRow| row.task_id)? {
            roots.insert(root(seen, task)?);
        }
    }
    if let Some(belief) = promoted_from_belief_id
        && let Some(task) = seen.change((*belief,), |row: &mut BeliefRow| row.task_id)?
    {
        roots.insert(root(seen, task)?);
    }
    for root in &roots {
        let statement = "INSERT OR IGNORE INTO view_memory_roots (root, seq) VALUES (?1, ?2)";
        seen.run(statement, params![root, int(seen.seq)])?;
    }
    Ok(roots)
}

/// What has to be taken out of the words of an event before they are indexed.
pub(super) struct Withheld {
    /// The longest first; none where not all of them are known.
    values: Option<Vec<String>>,
}

impl Withheld {
    /// Nothing at all.
    pub(super) const NOTHING: Self = Self { values: Some(Vec::new()) };

    /// What the tasks looked into that these words come from.
    pub(super) fn of(seen: &Seen<'_>, body: &Body) -> Result<Self, Error> {
        let mut found = seen.conn.prepare_cached("SELECT found FROM view_withheld WHERE root = ?1")?;
        let mut values = BTreeSet::new();
        for root in roots(seen, body)? {
            let mut rows = found.query([root])?;
            while let Some(row) = rows.next()? {
                let Some(known) = row.get::<_, Option<String>>(0)? else { return Ok(Self { values: None }) };
                values.extend(known.lines().map(str::to_owned));
            }
        }
        Ok(Self { values: Some(longest_first(values)) })
    }

    /// Whether words may be indexed as they are.
    pub(super) fn is_nothing(&self) -> bool {
        self.values.as_ref().is_some_and(Vec::is_empty)
    }

    /// Words as they may be indexed; none where it is not known what has to be taken out.
    pub(super) fn out_of(&self, words: String) -> Option<String> {
        let values = self.values.as_ref()?;
        Some(if values.is_empty() { words } else { taken_out(&words, values) })
    }
}

fn longest_first(values: BTreeSet<String>) -> Vec<String> {
    let mut values: Vec<String> = values.into_iter().collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values
}

/// Words without these values, whatever letters are capital in them, and without what holds one encoded.
fn taken_out(words: &str, values: &[String]) -> String {
    let holds = |says: &str| {
        let says = small(says);
        values.iter().any(|value| says.contains(value))
    };
    let mut plain = words.to_owned();
    for place in redact::encoded_places(words, holds).into_iter().rev() {
        plain.replace_range(place, " ");
    }
    let mut words = small(&plain);
    for value in values {
        if words.contains(value) {
            words = words.replace(value, " ");
        }
    }
    words
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
        Err(_) => found.of_whole(&String::from_utf8_lossy(bytes), true),
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
                None => self.of_whole(text, whole_lines),
            },
            Value::Array(items) => items.iter().for_each(|item| self.of_value(item, whole_lines, depth)),
            Value::Object(members) => {
                for (name, member) in members {
                    self.of_value(member, whole_lines || CONTENT.contains(&name.as_str()), depth);
                }
            }
        }
    }

    /// A text, and what stands encoded in it: settings of clusters hold their secrets so.
    fn of_whole(&mut self, text: &str, whole_lines: bool) {
        self.of_text(text, whole_lines);
        for line in redact::encoded_lines(text) {
            self.of_text(&line, true);
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
                self.take(behind.split_whitespace().next().unwrap_or_default());
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
            let left = taken_out(words, &longest_first(found.clone()));
            assert!(
                left.contains("say") && !left.contains("ab") && !left.contains("efgh"),
                "{words}: {left}"
            );
        }
    }

    #[test]
    fn a_value_is_taken_out_in_base64_hex_and_as_an_address_has_it() {
        let values = longest_first(values(b"PET=flamingo-bird\n").unwrap());
        let hex: String = b"PET=Flamingo-Bird".iter().map(|byte| format!("{byte:02x}")).collect();
        for encoded in
            ["RkxBTUlOR08tQklSRA==", "UEVUPWZsYW1pbmdvLWJpcmQK", &hex, "flamingo%2dbird", r"flamingo\x2dbird"]
        {
            let left = taken_out(&format!("an ostrich, {encoded} and a heron"), &values);
            assert!(left.contains("ostrich") && left.contains("heron"), "{encoded}: {left}");
            assert!(!left.contains(encoded.to_lowercase().trim_end_matches('=')), "{encoded}: {left}");
        }
        let other = "an ostrich, cGVsaWNhbiBhbmQgaGVyb24= and a%20heron";
        assert_eq!(taken_out(other, &values), small(other));
    }

    #[test]
    fn what_stands_encoded_in_a_secret_is_a_value_as_well() {
        let settings = b"data:\n  pet: cGVsaWNhbi00Mg==\n  bird: 6f7374726963682d3137\n";
        let found = of(settings);
        for value in ["pelican-42", "ostrich-17", "cgvsawnhbi00mg=="] {
            assert!(found.contains(&value.to_owned()), "{value} of {found:?}");
        }
        let read = br#"{"op":"read a thing","text":"key: cGVsaWNhbi00Mg==\n"}"#;
        assert!(of(read).contains(&"pelican-42".to_owned()));
    }

    #[test]
    fn where_not_all_values_are_known_none_is() {
        let many: Vec<String> = (0..=VALUES_MAX).map(|n| format!("KEY=value-number-{n}")).collect();
        assert_eq!(values(many.join("\n").as_bytes()), None);
        assert_eq!(values("a=b,".repeat(SIGNS_MAX + 1).as_bytes()), None);
        assert!(values("=".repeat(1_000).as_bytes()).is_some(), "a line of signs assigns nothing");
    }
}
