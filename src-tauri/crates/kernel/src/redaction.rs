//! What is taken out of which content before it is kept (governance.md 5, HK-17.3-4).
//!
//! Three rules. What was observed or said loses values, and where it only informs also what looks like a key. What a
//! person approves, signs or may want back is kept byte for byte or not at all: such bytes with a value in them are
//! refused. Nothing is ever kept first and redacted later.

use crate::Error;
use crate::writeup::NewArtifact;
use effects::Outcome;
use model::artifact::ArtifactKind;
use model::receipt::Change;
use redact::{Clean, Found, Redactor};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What may happen to content on its way into the store.
enum Rule {
    /// Nothing: its digest is what was approved, signed or will be put back.
    Exact,
    /// Values are taken out.
    Values,
    /// Values, and what looks like a key.
    Shapes,
}

const fn rule(kind: ArtifactKind) -> Rule {
    use ArtifactKind as K;
    match kind {
        K::ActionRequest
        | K::PolicyResult
        | K::ApprovalPacket
        | K::ApprovalDecision
        | K::StateWitness
        | K::FileSnapshot
        | K::ReceiptBundle
        | K::ToolManifest
        | K::GuestLaunch
        | K::PolicyRules
        | K::Skill
        | K::Schedule
        | K::Skin
        | K::Gateway
        | K::Soul
        | K::IdentityLink
        | K::SuccessorPatch
        | K::SuccessorEvidence
        | K::SuccessorVerdict
        | K::TrainingDataset
        | K::TrainingSources
        | K::TrainingAdapter
        | K::CapabilityGrant => Rule::Exact,
        K::GuestSent
        | K::ChatMessage
        | K::ActionResult
        | K::CommandTranscript
        | K::SearchBundle
        | K::WebSnapshot
        | K::TestReport => Rule::Shapes,
        K::ContextPack
        | K::ContextSummary
        | K::AnswerCheck
        | K::EnvironmentSnapshot
        | K::WorkspaceSnapshot
        | K::Diff
        | K::Patch
        | K::GuestReport
        | K::Image
        | K::BinaryAttachment
        | K::BeliefExtract
        | K::MemoryPromotion
        | K::TaskContract
        | K::StepContract
        | K::WorkingState
        | K::ModelRequest
        | K::ModelResponse
        | K::ModelAnswer
        | K::Playbook
        | K::PlaybookDraft
        | K::SkillText
        | K::Transcript
        | K::Answer
        | K::Quote
        | K::TrainingMeasures
        | K::ModelCard
        | K::Message => Rule::Values,
    }
}

/// Content as it may be kept.
pub(crate) fn of<'b>(
    redactor: &Redactor,
    bytes: &'b [u8],
    new: &NewArtifact,
) -> Result<Clean<Cow<'b, [u8]>>, Error> {
    match rule(new.kind) {
        Rule::Exact => {
            exact(redactor, bytes)?;
            Ok(Clean { rest: Cow::Borrowed(bytes), found: Found::new() })
        }
        Rule::Values => clean(redactor, bytes, false),
        Rule::Shapes => clean(redactor, bytes, true),
    }
}

/// JSON stays JSON, text stays text, and other bytes lose values alone.
pub(crate) fn clean<'b>(
    redactor: &Redactor,
    bytes: &'b [u8],
    shapes: bool,
) -> Result<Clean<Cow<'b, [u8]>>, Error> {
    if redactor.is_empty() && !shapes {
        return Ok(Clean { rest: Cow::Borrowed(bytes), found: Found::new() });
    }
    if matches!(bytes.first(), Some(b'{' | b'[' | b'"'))
        && let Some(clean) = redactor.json_bytes(bytes, shapes)
    {
        // A number such as 0.5 has no canonical form; then it stands as it is written.
        let rest = seal::canon::canonical_value(&clean.rest)
            .or_else(|_| serde_json::to_vec(&clean.rest))
            .map_err(|e| Error::Broken(format!("JSON that was redacted cannot be written: {e}")))?;
        return Ok(Clean { rest: Cow::Owned(rest), found: clean.found });
    }
    // Bytes that look like JSON and are none are searched as they are; so is JSON, for what lies across its strings.
    match std::str::from_utf8(bytes) {
        Ok(text) if shapes && !matches!(bytes.first(), Some(b'{' | b'[')) => {
            let clean = redactor.text(text);
            let rest = match clean.rest {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            };
            Ok(Clean { rest, found: clean.found })
        }
        _ => Ok(redactor.bytes(bytes)),
    }
}

/// Refuses bytes that must stay as they are and hold a value.
pub(crate) fn exact(redactor: &Redactor, bytes: &[u8]) -> Result<(), Error> {
    let held = redactor.holds(bytes);
    if held.is_empty() { Ok(()) } else { Err(Error::Secret(named(held))) }
}

/// A caller's key of an act as it may be kept: one that holds a value stands as its digest, the same each time.
pub(crate) fn key(redactor: &Redactor, key: &str) -> String {
    if redactor.holds(key.as_bytes()).is_empty() {
        return key.to_owned();
    }
    format!("sha256:{}", seal::Digest::of(key.as_bytes()))
}

/// Handles as a sentence names them.
pub(crate) fn named(handles: impl IntoIterator<Item = String>) -> String {
    let all: BTreeSet<String> = handles.into_iter().collect();
    all.iter().map(|handle| format!("`secret:{handle}`")).collect::<Vec<_>>().join(", ")
}

/// An outcome as it may be told: words and names without values, and a line that says what the outputs lost.
pub(crate) fn outcome(redactor: &Redactor, mut outcome: Outcome) -> Outcome {
    let mut lost = Found::new();
    // What is kept exactly loses nothing.
    for output in outcome.outputs.iter().filter(|output| !matches!(rule(output.kind), Rule::Exact)) {
        if let Ok(clean) = clean(redactor, &output.bytes, true) {
            for (kind, times) in clean.found {
                *lost.entry(kind).or_default() += times;
            }
        }
    }
    let words = |text: &mut String| {
        let clean = redactor.values(text);
        if !clean.found.is_empty() {
            *text = clean.rest.into_owned();
        }
    };
    outcome.observed.iter_mut().for_each(words);
    outcome.error.iter_mut().for_each(words);
    outcome.changes.iter_mut().for_each(|change| name(redactor, change));
    outcome.observed.extend(Clean { rest: (), found: lost }.summary());
    outcome
}

/// A place whose name holds a value is told without it; it cannot be found again, so its change cannot be undone.
fn name(redactor: &Redactor, change: &mut Change) {
    if let Some(resource) = change.resource.shown() {
        let clean = redactor.values(resource);
        if !clean.found.is_empty() {
            change.resource = clean.rest.into_owned().into();
        }
    }
}
