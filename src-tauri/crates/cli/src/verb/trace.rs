//! `hermit explain` and `hermit recall`: from a byte back to its goal, and from a source forward to what rests on it.

use super::Came;
use super::task::chain;
use crate::context::{Context, absolute};
use crate::output::{Output, Tone};
use crate::text::{local_times, plain};
use model::{ArtifactId, ReceiptId, TaskId};
use std::path::Path;
use wire::receipts::{Explanation, Link};
use wire::trace::{Explain, Explained, Recall, Recalled};
use wire::{Code, Error, exit};
use words::artifact::TraceScope;

/// Digits of a whole identifier.
const WHOLE_DIGITS: usize = 32;

/// `hermit explain`.
pub fn explain(context: &Context, subject: &str, ids: bool) -> Came {
    let (mut subject, line) = meant(subject)?;
    // A bare name is a file of this folder, also where it is gone.
    if !Path::new(&subject).is_absolute() && !is_spelled_as_identifier(&subject) {
        subject = absolute(Path::new(&subject))?;
    }
    let named = subject.clone();
    let found = context.reading()?.call(&Explain { subject, line }).map_err(|error| {
        // A name of digits may be a file that is gone.
        if error.code != Code::NotFound || !is_digits(named.trim()) {
            return error;
        }
        let hint = format!("for a file of that name, write `./{}`; {}", named.trim(), error.hint);
        error.hint(hint)
    })?;
    context.out.answer(&found, |out, found| show(out, found, ids))?;
    Ok(exit::DONE)
}

/// Whether it is spelled as an identifier of Hermit's, as some digits of one, or in the short form of pages: `R-1a2b`,
/// `rcp_…1a2b3c`. Files may have such an end, too: `my_face`.
fn is_spelled_as_identifier(text: &str) -> bool {
    let text = text.trim();
    let Some((kind, digits)) = text.split_once('_') else {
        let shown = text.strip_prefix("R-").or_else(|| text.strip_prefix("r-"));
        return is_digits(shown.unwrap_or(text));
    };
    let (kind, digits) = (kind.to_ascii_lowercase(), digits.trim_start_matches('…'));
    let is_explained = [ReceiptId::PREFIX, ArtifactId::PREFIX, TaskId::PREFIX].contains(&kind.as_str());
    is_digits(digits) && (is_explained || digits.len() == WHOLE_DIGITS)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether the text names something on this disk, with or without a line.
pub(super) fn is_file(text: &str) -> bool {
    Path::new(text).exists() || text.rsplit_once(':').is_some_and(|(path, _)| Path::new(path).exists())
}

/// What a person means: an identifier as it is, a file as a full path, a number behind a colon as its line.
pub(super) fn meant(text: &str) -> Result<(String, Option<u32>), Error> {
    if Path::new(text).exists() {
        return Ok((absolute(Path::new(text))?, None));
    }
    if let Some((path, line)) = text.rsplit_once(':')
        && let Ok(line) = line.parse::<u32>()
        && (Path::new(path).exists() || path.contains('/') || !is_spelled_as_identifier(path))
    {
        return Ok((absolute(Path::new(path))?, Some(line)));
    }
    if text.contains('/') {
        return Ok((absolute(Path::new(text))?, None));
    }
    Ok((text.to_owned(), None))
}

fn show(out: &Output, found: &Explained, ids: bool) {
    if let Some(line) = &found.line {
        out.say(Tone::Bold, format!("{}:{}", plain(&found.subject), line.number));
        out.line(format!("  {}", plain(&line.text)));
        match (&line.written_by, line.number_then) {
            (Some(receipt), Some(then)) => {
                out.say(Tone::Good, format!("written by {receipt}, as its line {then}"))
            }
            (Some(receipt), None) => out.say(Tone::Good, format!("written by {receipt}")),
            (None, _) => out.say(Tone::Warn, "no change of Hermit's wrote this line"),
        }
    }
    found.told.iter().for_each(|sentence| out.line(format!("  {}", plain(&local_times(sentence)))));
    match ids {
        true => found.chains.iter().for_each(|told| why(out, told)),
        false if found.chains.is_empty() => {}
        false => out.say(Tone::Faint, "every link behind it: add `--ids`"),
    }
}

/// The chain behind one receipt.
fn why(out: &Output, found: &Explanation) {
    out.say(Tone::Bold, format!("why {}", found.receipt_id));
    let action: Vec<Link> = found.action.iter().cloned().collect();
    let effect: Vec<Link> = found.effect.iter().cloned().collect();
    let parts: [(&str, &[Link]); 12] = [
        ("goal", &found.goal),
        ("seen", &found.context),
        ("evidence", &found.evidence),
        ("asked", &action),
        ("policy", &found.policy),
        ("decisions", &found.decisions),
        ("approvals", &found.approvals),
        ("witnesses", &found.witnesses),
        ("grants", &found.grants),
        ("done", &effect),
        ("changed", &found.changes),
        ("undone by", &found.undone_by),
    ];
    for (name, links) in parts {
        chain(out, name, links);
    }
    if let Some(trust) = &found.trust {
        out.line(format!("  weakest trust behind it: {trust}"));
    }
    chain(out, "untrusted", &found.untrusted);
}

/// `hermit recall`.
pub fn recall(context: &Context, source: &str) -> Came {
    let source = if source.contains('/') || Path::new(source).exists() {
        absolute(Path::new(source))?
    } else {
        source.to_owned()
    };
    let found = context.reading()?.call(&Recall { source })?;
    context.out.answer(&found, show_recall)?;
    Ok(exit::DONE)
}

fn is_unnamed(link: &Link) -> bool {
    link.label.as_ref().and_then(|label| label.shown()).is_some_and(|label| label.starts_with("sha256:"))
}

fn show_recall(out: &Output, found: &Recalled) {
    out.say(Tone::Bold, "from");
    chain(out, "source", &found.sources);
    let lists = [
        ("artifacts", &found.artifacts),
        ("beliefs", &found.beliefs),
        ("memory", &found.memories),
        ("decisions", &found.decisions),
        ("effects", &found.effects),
        ("receipts", &found.receipts),
    ];
    if lists.iter().all(|(_, links)| links.is_empty()) {
        out.line("nothing derives from it");
    } else {
        out.say(Tone::Bold, "derives from it");
        for (name, links) in lists {
            // What Hermit wrote down in between has a digest for a name; what a person can tell apart comes whole.
            let named: Vec<Link> = links.iter().filter(|link| !is_unnamed(link)).cloned().collect();
            chain(out, name, &named);
            let rest = links.len() - named.len();
            if rest > 0 {
                out.say(Tone::Faint, format!("  {name:<10} {rest} records in between; `--json` lists them"));
            }
        }
    }
    if found.scope != TraceScope::Store {
        out.say(
            Tone::Warn,
            "only the tasks of one family were looked through: the log is too long to fold whole",
        );
    }
    out.say(Tone::Bold, "to take it back, leaf first; nothing of this has been run");
    for (at, step) in found.plan.iter().enumerate() {
        match &step.command {
            Some(command) => out.line(format!("  {}. {}", at + 1, plain(command))),
            None => out.line(format!("  {}. {} {}", at + 1, step.subject.kind, step.subject.id)),
        }
        out.say(Tone::Faint, format!("     {}", plain(&step.why)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spelled_as_an_identifier_is_no_file() {
        for id in [
            "rcp_01a2000000007000800000000000000b",
            "art_01a2",
            "01A2",
            " cafe ",
            "R-1a2b",
            "r-1A2B",
            "task_…1a2b3c",
            "TASK_1a2b",
            "apr_01a2000000007000800000000000000b",
        ] {
            assert!(is_spelled_as_identifier(id), "{id}");
        }
        for name in [
            "notes.txt",
            "notes_1.txt",
            "Makefile",
            "my_face",
            "test_bed",
            "rcp_",
            "",
            "R-",
            "R-notes",
            "x-1a2b",
            "…1a2b",
        ] {
            assert!(!is_spelled_as_identifier(name), "{name}");
        }
    }
}
