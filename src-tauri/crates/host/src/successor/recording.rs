//! What is known of an act that was done: enough for a clone to be told the same when it does the same again.

use acts::Action;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::action::{Reach, Staged};
use model::artifact::ArtifactKind;
use model::proposal::Answer;
use model::receipt::{Change, ItemOutcome, ResultCode, SandboxLevel};
use model::witness::{Fingerprint, Found};
use model::{Digest, RelPath, ResourceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Where arguments of a call stand that have no canonical form.
const ARGUMENTS_TEXT: &str = "arguments_text";

/// What came of an act: the `outcome` of a recorded act.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Recording {
    /// The turn that it was proposed in, from 1.
    pub turn: u32,
    /// How it went; none where it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_code: Option<ResultCode>,
    /// The sandbox around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_level: Option<SandboxLevel>,
    /// Item by item.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// What was produced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<RecordedOutput>,
    /// What was seen, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<String>,
    /// Why it is not a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Exit status of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What was at its places before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Fingerprint>,
    /// What the words of a command lead to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// What a staged run of it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staged: Option<Staged>,
    /// Why it was not staged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_staged: Option<String>,
    /// What a staged run printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<RecordedOutput>,
    /// What a staged run changed, as a person read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<RecordedOutput>,
    /// Bytes of files that it replaced, moved or made, by their digests, in base64.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bytes: BTreeMap<String, String>,
}

/// Something that an act produced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedOutput {
    /// What kind of artifact it is.
    pub kind: ArtifactKind,
    /// Its media type.
    pub media_type: String,
    /// What it is about.
    pub about: String,
    /// Its bytes, in base64.
    pub base64: String,
}

impl RecordedOutput {
    /// With these bytes.
    pub fn of(kind: ArtifactKind, media_type: &str, about: &str, bytes: &[u8]) -> Self {
        let (media_type, about) = (media_type.to_owned(), about.to_owned());
        Self { kind, media_type, about, base64: STANDARD.encode(bytes) }
    }

    /// As an executor gives it.
    pub fn output(&self) -> Option<effects::Output> {
        Some(effects::Output {
            kind: self.kind,
            media_type: self.media_type.clone(),
            bytes: STANDARD.decode(&self.base64).ok()?,
            about: self.about.clone(),
        })
    }
}

/// Bytes as they stand in a recording.
pub fn coded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The same back.
pub fn decoded(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// An answer of a model as a recording holds it. Numbers that have no canonical form (0.5, 1e3, -0, what is beyond 2^53)
/// may stand in the arguments of a call and nowhere else: such arguments stand there as their text.
pub fn sealable(mut answer: Value) -> Value {
    for call in calls_of(&mut answer) {
        let Some(arguments) = call.get("arguments") else { continue };
        if seal::canon::canonical_value(arguments).is_err() {
            let text = arguments.to_string();
            call.remove("arguments");
            call.insert(ARGUMENTS_TEXT.to_owned(), text.into());
        }
    }
    answer
}

/// The answer that a recording holds, as the model gave it.
///
/// # Errors
/// When it is none.
pub fn answer_of(recorded: &Value) -> Result<Answer, serde_json::Error> {
    let mut answer = recorded.clone();
    for call in calls_of(&mut answer) {
        if let Some(Value::String(text)) = call.remove(ARGUMENTS_TEXT) {
            call.insert("arguments".to_owned(), model::json::read(text.as_bytes())?);
        }
    }
    serde_json::from_value(answer)
}

fn calls_of(answer: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let calls = answer.get_mut("calls").and_then(Value::as_array_mut);
    calls.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// The digest by which equal actions are recognised.
///
/// # Errors
/// When it has no canonical form.
pub fn action_digest(action: &Action) -> Result<Digest, seal::Error> {
    Ok(Digest::of(&seal::canon::to_canonical(action)?))
}

/// A resource without the folder that it is in, which is another one in every clone.
pub fn place_of(resource: &ResourceId) -> String {
    match resource {
        ResourceId::File(_, path) => format!("file:{path}"),
        ResourceId::Ref(_, name) => format!("ref:{name}"),
        other => other.to_string(),
    }
}

/// Whether a change is at a place, below it, or above it. One whose place cannot be read is taken for one that is.
pub fn is_within(change: &Change, place: &RelPath) -> bool {
    let Some(Ok(resource)) = change.resource.shown().map(|text| text.parse::<ResourceId>()) else {
        return true;
    };
    let ResourceId::File(_, path) = resource else { return false };
    let below = |inner: &RelPath, outer: &RelPath| {
        let rest = inner.as_bytes().strip_prefix(outer.as_bytes());
        rest.is_some_and(|rest| outer.is_root() || rest.is_empty() || rest.starts_with(b"/"))
    };
    below(&path, place) || below(place, &path)
}

/// The digest over what an act changed, item by item; none where it changed nothing.
pub fn effect_of(changes: &[Change]) -> Option<Digest> {
    let lines: Vec<String> =
        changes.iter().filter(|change| change.outcome != ItemOutcome::NotDone).map(line).collect();
    if lines.is_empty() {
        return None;
    }
    Some(Digest::of(lines.join("\n").as_bytes()))
}

fn line(change: &Change) -> String {
    let resource = change.resource.shown().map_or("", String::as_str);
    let place = resource.parse::<ResourceId>().map_or_else(|_| resource.to_owned(), |of| place_of(&of));
    format!("{place} {} {} {}", found_line(&change.before), found_line(&change.after), change.outcome)
}

/// What was found, without permission bits, which differ from one machine to the next.
fn found_line(found: &Found) -> String {
    match found {
        Found::Absent => "absent".to_owned(),
        Found::File { sha256, .. } => format!("file={sha256}"),
        Found::Folder { .. } => "folder".to_owned(),
        Found::Symlink { target_sha256 } => format!("link={target_sha256}"),
        Found::Special => "special".to_owned(),
        Found::Version { value } => format!("version={value}"),
        Found::Unreadable { .. } => "unreadable".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Sensitive, WorkspaceId};
    use uuid::Uuid;

    fn change(workspace: u128, content: &[u8], outcome: ItemOutcome) -> Change {
        let workspace = WorkspaceId::new(Uuid::from_u128(workspace));
        Change {
            resource: Sensitive::from(format!("file:{workspace}/a.md")),
            before: Found::Absent,
            after: Found::File { sha256: Digest::of(content), byte_size: 1, mode: Some(0o644) },
            before_image: None,
            outcome,
        }
    }

    #[test]
    fn an_answer_with_any_number_in_its_arguments_has_a_canonical_form_and_is_read_back_as_it_was() {
        let deep = "[".repeat(70) + &"]".repeat(70);
        let numbers = [
            "0.5",
            "-0.0",
            "-0",
            "1e3",
            "2.5e-7",
            "1e300",
            "51.248178375505404",
            "-93.31137037688033",
            "9007199254740993",
            "18446744073709551615",
            "7",
            "\"0.5\"",
            deep.as_str(),
        ];
        for number in numbers {
            let arguments = format!(r#"{{"amount":{number},"notes":["x",{number}]}}"#);
            let calls = format!(
                r#"[{{"name":"pay","arguments":{arguments}}},{{"name":"read","arguments":{{"path":"a"}}}}]"#
            );
            let usage = r#"{"tokens_in":1,"tokens_out":2,"cost_micros":0}"#;
            let text = format!(r#"{{"text":"","calls":{calls},"usage":{usage},"finish_reason":"stop"}}"#);
            let given = model::json::read(text.as_bytes()).unwrap();
            let kept = sealable(given.clone());
            let bytes = seal::canon::to_canonical(&kept).unwrap_or_else(|error| panic!("{number}: {error}"));
            let again = answer_of(&seal::canon::parse_strict(&bytes).unwrap()).unwrap();
            assert_eq!(again, serde_json::from_value::<Answer>(given.clone()).unwrap(), "{number}");
            // An act is recognised by these very letters.
            assert_eq!(again.calls[0].arguments.to_string(), given["calls"][0]["arguments"].to_string());
            assert_eq!(
                kept["calls"][1]["arguments"]["path"], "a",
                "what has a canonical form stands as it is"
            );
        }
        assert!(
            answer_of(&serde_json::json!({ "calls": [{ "name": "pay", "arguments_text": "{" }] })).is_err()
        );
    }

    #[test]
    fn an_effect_is_the_same_in_another_folder_and_another_with_other_bytes() {
        let one = effect_of(&[change(1, b"x", ItemOutcome::Done)]);
        assert_eq!(one, effect_of(&[change(2, b"x", ItemOutcome::Done)]));
        assert_ne!(one, effect_of(&[change(1, b"y", ItemOutcome::Done)]));
        assert_eq!(effect_of(&[change(1, b"x", ItemOutcome::NotDone)]), None);
    }
}
