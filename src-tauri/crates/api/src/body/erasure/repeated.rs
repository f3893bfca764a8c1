//! What an erasure of one artifact takes besides: whatever was made of it and repeats its words, such as the context that a model
//! was given, what it was asked and what it answered (decision 285).

use super::{HUNTED_CHARS_MIN, Search, is_record};
use crate::convert::every;
use crate::{Host, Wire as _, failed};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ledger::Reader;
use model::TaskId;
use model::artifact::ArtifactKind;
use projections::ArtifactState;
use projections::query::ArtifactFilter;
use std::collections::BTreeSet;
use wire::Error;

/// Letters of a piece by which content is hunted where it stands in parts.
const PIECE_CHARS: usize = 60;
/// Shorter pieces stand in too many places by chance.
const PIECE_CHARS_MIN: usize = 16;
/// Pieces of one content that are hunted.
const PIECES_MAX: usize = 20_000;
/// Letters of a long content by which the whole of it is hunted: of more than its beginning no finder fits into memory.
const WHOLE_CHARS_MAX: usize = 50_000;
/// Bytes of content that is no text, of which pieces are made as requests hold it.
const BYTES_MAX: usize = 48_000;

/// What is made of what a task was given, in whose bytes parts of that stand. Nothing is lost with it that is not told elsewhere.
const fn is_made_of_parts(kind: ArtifactKind) -> bool {
    matches!(
        kind,
        ArtifactKind::ContextPack
            | ArtifactKind::ContextSummary
            | ArtifactKind::AnswerCheck
            | ArtifactKind::ModelRequest
            | ArtifactKind::ModelResponse
            | ArtifactKind::ModelAnswer
            | ArtifactKind::WorkingState
            | ArtifactKind::SearchBundle
            | ArtifactKind::TestReport
            | ArtifactKind::Transcript
            | ArtifactKind::GuestReport
            | ArtifactKind::GuestSent
    )
}

/// What came from elsewhere, is a copy of a file, or is at work by a person's yes: it is erased by itself, or not at all.
const fn is_source(kind: ArtifactKind) -> bool {
    matches!(
        kind,
        ArtifactKind::FileSnapshot
            | ArtifactKind::WebSnapshot
            | ArtifactKind::WorkspaceSnapshot
            | ArtifactKind::Image
            | ArtifactKind::BinaryAttachment
            | ArtifactKind::CommandTranscript
            | ArtifactKind::Message
            | ArtifactKind::ToolManifest
            | ArtifactKind::Skill
            | ArtifactKind::SkillText
            | ArtifactKind::Skin
            | ArtifactKind::PolicyRules
            | ArtifactKind::Schedule
            | ArtifactKind::Gateway
            | ArtifactKind::Soul
            | ArtifactKind::IdentityLink
            | ArtifactKind::SuccessorPatch
            | ArtifactKind::TrainingDataset
            | ArtifactKind::TrainingSources
            | ArtifactKind::TrainingAdapter
            | ArtifactKind::MemoryPromotion
            | ArtifactKind::ReceiptBundle
    )
}

/// Words that go, as they are found in bytes.
struct Words {
    whole: AhoCorasick,
    parts: AhoCorasick,
}

impl Words {
    fn are_in(&self, bytes: &[u8], in_parts: bool) -> bool {
        if in_parts { self.parts.is_match(bytes) } else { self.whole.is_match(bytes) }
    }
}

impl Search {
    /// What repeats the content that goes, in its own task and in each that was given it.
    pub(super) fn repeated(&mut self, host: &dyn Host) -> Result<(), Error> {
        let (reader, query, store) = (host.reader()?, host.query()?, host.artifacts()?);
        let ids: Vec<String> = self.contents.keys().map(ToString::to_string).collect();
        let mut whole: BTreeSet<Vec<u8>> = BTreeSet::new();
        // Who names it in what it was made of tells its title, too.
        let mut parts: BTreeSet<Vec<u8>> = ids.iter().map(|id| id.clone().into_bytes()).collect();
        for row in self.contents.values() {
            if let Ok(bytes) = store.read(&row.content_hash) {
                pieces_of(&bytes, &mut whole, &mut parts);
            }
        }
        let words = Words { whole: finder(&whole)?, parts: finder(&parts)? };
        let own = self.tasks.clone();
        for task in own.iter().copied().chain(given(&reader, &ids)?).collect::<BTreeSet<_>>() {
            let filter = ArtifactFilter { task: Some(task), ..ArtifactFilter::default() };
            for row in every(|ask| query.artifacts(&filter, ask))? {
                let stays = is_record(row.kind) || is_source(row.kind) || row.state == ArtifactState::Expired;
                if stays || self.contents.contains_key(&row.artifact_id) {
                    continue;
                }
                let bytes = store.read(&row.content_hash);
                if bytes.is_ok_and(|bytes| words.are_in(&bytes, is_made_of_parts(row.kind))) {
                    self.contents.insert(row.artifact_id, row);
                    self.tasks.insert(task);
                }
            }
        }
        let known = std::mem::take(&mut self.values);
        for task in &own {
            self.leaves_of(&reader, *task, &|_| true)?;
        }
        let found = std::mem::replace(&mut self.values, known);
        let repeats = found.into_iter().filter(|(_, found)| words.are_in(found.text.as_bytes(), false));
        self.values.extend(repeats);
        Ok(())
    }
}

/// Tasks in whose streams one of these artifacts is named.
fn given(reader: &Reader, ids: &[String]) -> Result<BTreeSet<TaskId>, Error> {
    let named = AhoCorasick::new(ids).map_err(failed)?;
    let (mut after, mut tasks) = (0, BTreeSet::new());
    loop {
        let page = reader.log(after, 1_000).wire()?;
        let Some(last) = page.last() else { return Ok(tasks) };
        after = last.log_seq;
        tasks.extend(page.iter().filter(|stored| named.is_match(&stored.bytes)).map(|stored| stored.task_id));
    }
}

fn finder(words: &BTreeSet<Vec<u8>>) -> Result<AhoCorasick, Error> {
    // The fast kind that few words would get takes a kibibyte for each of their bytes.
    AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(words).map_err(failed)
}

/// The whole of a content as it may stand in other bytes, and pieces of it.
fn pieces_of(bytes: &[u8], whole: &mut BTreeSet<Vec<u8>>, parts: &mut BTreeSet<Vec<u8>>) {
    let Ok(text) = str::from_utf8(bytes) else {
        // A picture stands in a request in this form.
        let encoded = STANDARD.encode(bytes.get(..bytes.len().min(BYTES_MAX)).unwrap_or_default());
        parts.extend(chunks(&encoded).map(String::into_bytes));
        return;
    };
    let text = text.trim();
    let letters = text.chars().take(PIECE_CHARS_MIN).count();
    let beginning: String = text.chars().take(WHOLE_CHARS_MAX).collect();
    if letters >= HUNTED_CHARS_MIN {
        parts.extend(spelled(&beginning));
    }
    if letters >= PIECE_CHARS_MIN {
        whole.extend(spelled(&beginning));
    }
    for piece in text.lines().flat_map(|line| chunks(line.trim())).take(PIECES_MAX) {
        parts.extend(spelled(&piece));
    }
}

/// Pieces of a line, one behind the other; what is too short is none.
fn chunks(line: &str) -> impl Iterator<Item = String> + '_ {
    let mut letters = line.chars();
    std::iter::from_fn(move || {
        let piece: String = letters.by_ref().take(PIECE_CHARS).collect();
        Some(piece).filter(|piece| !piece.is_empty())
    })
    .filter(|piece| piece.chars().count() >= PIECE_CHARS_MIN)
}

/// Words in plain bytes, as JSON spells them, and as JSON spells them within a text of another JSON.
fn spelled(words: &str) -> BTreeSet<Vec<u8>> {
    let json = |text: &str| {
        let quoted = serde_json::to_string(text).unwrap_or_default();
        let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        inner.unwrap_or_default().to_owned()
    };
    let once = json(words);
    let twice = json(&once);
    [words.to_owned(), once, twice]
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(String::into_bytes)
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn parts_of_a_text_are_found_as_they_are_and_in_json_and_a_picture_in_a_request() {
        let text = "first line of it, which is long\n\tsecond \"line\" of it, which is longer by far than sixty letters are\n";
        let (mut whole, mut parts) = (BTreeSet::new(), BTreeSet::new());
        pieces_of(text.as_bytes(), &mut whole, &mut parts);
        pieces_of(&[0xff; 300], &mut whole, &mut parts);
        let words = Words { whole: finder(&whole).unwrap(), parts: finder(&parts).unwrap() };
        let once = serde_json::to_string(text).unwrap();
        let twice = serde_json::json!({ "content": format!("12 {once}") }).to_string();
        for bytes in [text, once.as_str(), twice.as_str()] {
            assert!(words.are_in(bytes.as_bytes(), true) && words.are_in(bytes.as_bytes(), false), "{bytes}");
        }
        assert!(words.are_in(b"7: second \"line\" of it, which is longer by far than sixty letters", true));
        assert!(!words.are_in(b"7: second \"line\" of it, which is longer by far than sixty letters", false));
        let picture = format!("data:image/png;base64,{}", STANDARD.encode([0xff; 300]));
        assert!(words.are_in(picture.as_bytes(), true));
        assert!(!words.are_in(b"first line of another, which is long", true));
        let (mut whole, mut parts) = (BTreeSet::new(), BTreeSet::new());
        pieces_of(b"kiwi\n", &mut whole, &mut parts);
        assert!(whole.is_empty() && finder(&parts).unwrap().is_match("a kiwi fell"));
        assert!(!finder(&whole).unwrap().is_match("anything"));
        let (mut whole, mut parts) = (BTreeSet::new(), BTreeSet::new());
        let long = "so it goes on \n".repeat(WHOLE_CHARS_MAX);
        pieces_of(long.as_bytes(), &mut whole, &mut parts);
        let bytes: usize = whole.iter().chain(&parts).map(Vec::len).sum();
        assert!(bytes < 16 * WHOLE_CHARS_MAX, "it is hunted by its beginning: {bytes}");
        assert!(finder(&whole).unwrap().is_match(&long));
    }
}
