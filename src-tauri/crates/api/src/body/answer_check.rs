//! What bears a closing answer, sentence by sentence, for whoever shows it.

use crate::Host;
use crate::convert::every;
use crate::error::if_kept;
use model::artifact::ArtifactKind;
use model::{AttemptId, TaskId};
use projections::Query;
use projections::query::ArtifactFilter;
use wire::Error;
use wire::answer::{AnswerCheck, AnswerCite, AnswerSentence, AnswerSource};

/// What bears the answer of an attempt; none where it gave none, where nobody compared it (an older version), or where its
/// words or the comparison were erased.
pub(crate) fn of(
    host: &dyn Host,
    query: &Query,
    task: TaskId,
    attempt: AttemptId,
) -> Result<Option<AnswerCheck>, Error> {
    let filter = ArtifactFilter {
        task: Some(task),
        kind: Some(ArtifactKind::AnswerCheck),
        ..ArtifactFilter::default()
    };
    let made = every(|ask| query.artifacts(&filter, ask))?;
    let Some(row) = made.into_iter().rfind(|row| row.produced_by == Some(attempt)) else { return Ok(None) };
    let store = host.artifacts()?;
    let Some(bytes) = if_kept(store.read(&row.content_hash))? else { return Ok(None) };
    let check: model::answer::AnswerCheck = serde_json::from_slice(&bytes).map_err(|e| {
        Error::new(wire::Code::Damaged, format!("artifact `{}` is malformed: {e}", row.artifact_id))
    })?;
    let Some(answer) = if_kept(store.read(&check.answer.sha256))? else { return Ok(None) };
    Ok(Some(told(check, &String::from_utf8_lossy(&answer))))
}

fn told(check: model::answer::AnswerCheck, answer: &str) -> AnswerCheck {
    let mut at = 0;
    let mut sentences = Vec::with_capacity(check.sentences.len());
    for sentence in check.sentences {
        let start = place(sentence.start);
        let end = start.saturating_add(place(sentence.length));
        sentences.push(AnswerSentence {
            gap: answer.get(at..start).unwrap_or_default().to_owned(),
            text: answer.get(start..end).unwrap_or_default().to_owned(),
            plain: plain(answer, start, end, &sentence.cites),
            support: sentence.support,
            receipts: sentence.receipts.iter().map(ToString::to_string).collect(),
            sources: sentence.sources.into_iter().map(source).collect(),
            because: sentence.because,
            near: sentence.near,
            cited: sentence.cited,
            cites: sentence.cites.into_iter().map(cite).collect(),
        });
        at = end;
    }
    AnswerCheck { method: check.method, sentences }
}

fn place(byte: u32) -> usize {
    usize::try_from(byte).unwrap_or(usize::MAX)
}

fn source(source: model::answer::AnswerSource) -> AnswerSource {
    AnswerSource { artifact_id: source.artifact_id.to_string(), title: source.title }
}

fn cite(cite: model::answer::AnswerCite) -> AnswerCite {
    AnswerCite {
        number: cite.number,
        bears: cite.bears,
        source: cite.source.map(source),
        receipts: cite.receipts.iter().map(ToString::to_string).collect(),
        quote: cite.quote,
    }
}

/// A sentence without its marks, and without the space before each; none where it has no marks.
fn plain(answer: &str, start: usize, end: usize, cites: &[model::answer::AnswerCite]) -> Option<String> {
    cites.first()?;
    let mut plain = String::new();
    let mut at = start;
    for cite in cites {
        let from = place(cite.start);
        plain.push_str(answer.get(at..from.max(at)).unwrap_or_default().trim_end());
        at = from.saturating_add(place(cite.length)).max(at);
    }
    plain.push_str(answer.get(at..end.max(at)).unwrap_or_default());
    Some(plain.trim().to_owned())
}
