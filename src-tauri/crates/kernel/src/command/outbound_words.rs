//! What senders are told, in words: of a part of CommonMark that every adapter renders or strips.

use crate::Error;
use crate::gateway_registry::lines::{OVER, WORKING};
use crate::state::{ReceiptRecord, TaskState, Turn};
use acts::ApprovalPacket;
use model::answer::{AnswerCheck, AnswerSupport};
use model::gateway::SenderProfile;
use model::ingress::{Clarification, ClarificationStatus};
use model::receipt::{ReceiptClass, ResultCode};
use model::task::TaskStatus;
use seal::Digest;

/// Letters of a message: what every service takes in one. What is longer is cut, and sent whole as a file.
pub(super) const LETTERS_MAX: usize = 1_800;
/// Letters of one beside a file, as Telegram counts them, which takes the fewest: 1,024 units of UTF-16, of which some are kept
/// for what its rendering adds.
const BESIDE_FILE_MAX: usize = 960;
/// Messages in which one text goes at most.
const PARTS_MAX: usize = 8;
/// Letters of a title.
const TITLE_MAX: usize = 120;
/// Lines of a card that a message shows.
const LINES_MAX: usize = 24;
/// Letters of one of them.
const LINE_MAX: usize = 200;

/// The first words to a sender who was paired.
pub(super) fn greeting(profile: SenderProfile) -> String {
    let may = match profile {
        SenderProfile::Goals => "Send a goal, and Hermit works on it",
        SenderProfile::Ask => "Ask something, and Hermit looks for the answer",
    };
    format!(
        "You are paired with Hermit. {may}. `status` tells how your tasks stand, `stop` ends the one at work. Nothing is approved in \
         a chat."
    )
}

/// A text as the message shows it that comes with the whole of it.
pub(super) fn cut(text: &str) -> String {
    const MORE: &str = "\n\n… The whole text is in the file.";
    let mut room = BESIDE_FILE_MAX.saturating_sub(MORE.len());
    let fits = |letter: &char| {
        let fits = letter.len_utf16() <= room;
        room = room.saturating_sub(letter.len_utf16());
        fits
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{kept}{MORE}")
}

/// A text in messages, one after another, for a service that takes no file: each ends with a paragraph, a line or a word where
/// it can. Of what is longer than all of them the beginning is told.
pub(super) fn parts(text: &str) -> Vec<String> {
    const REST: &str = "\n\n… The rest is at the machine.";
    let (mut parts, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        let room = LETTERS_MAX.saturating_sub(REST.len());
        let end = rest.char_indices().nth(room).map_or(rest.len(), |(at, _)| at);
        let (head, _) = rest.split_at(end);
        if end == rest.len() || parts.len() + 1 == PARTS_MAX {
            let is_all = end == rest.len();
            parts.push(if is_all { head.to_owned() } else { format!("{head}{REST}") });
            break;
        }
        // A break that leaves half of the message empty is none.
        let mut breaks = ["\n\n", "\n", " "].iter().filter_map(|gap| head.rfind(*gap));
        let end = breaks.find(|at| *at > end / 2).unwrap_or(end);
        let (head, tail) = rest.split_at(end);
        parts.push(head.trim_end().to_owned());
        rest = tail.trim_start();
    }
    parts
}

fn clipped(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        None => line,
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
    }
}

fn title(state: &TaskState) -> String {
    let title = state.task.title.shown().cloned().unwrap_or_else(|| "(erased)".to_owned());
    clipped(&title, TITLE_MAX)
}

/// How a task stands: in short, so that two states can be told apart, and in words.
pub(super) struct Stand {
    pub(super) mark: String,
    pub(super) text: String,
    /// Whether it can be stopped.
    pub(super) may_stop: bool,
}

/// How a task stands by now. `origin`: where a yes can be given from elsewhere, if it can.
pub(super) fn stand(state: &TaskState, origin: Option<&str>) -> Stand {
    let title = title(state);
    let asks = state.clarifications.values().any(|one| one.status == ClarificationStatus::Pending);
    let done = |one: &&ReceiptRecord| {
        one.receipt_class == ReceiptClass::ToolExecution && one.result_code == ResultCode::Succeeded
    };
    let done = state.receipts.iter().filter(done).count();
    let (mark, text) = if state.task.status.is_terminal() {
        return Stand { mark: OVER.to_owned(), text: over(state), may_stop: false };
    } else if state.cancel_requested.is_some() {
        return Stand { mark: "stopping".to_owned(), text: format!("Stopping: {title}"), may_stop: false };
    } else if state.has_unknown_outcome() {
        ("unknown".to_owned(), format!("Waits for you to say what happened: {title}"))
    } else if state.pending_approvals().next().is_some() {
        let link = origin.map_or_else(String::new, |origin| format!(", or with a passkey at {origin}"));
        ("approval".to_owned(), format!("Waits for your yes: {title}\n\nIt is given at the machine{link}."))
    } else if asks {
        ("answer".to_owned(), format!("Waits for your answer: {title}"))
    } else if state.task.status == TaskStatus::Paused {
        ("paused".to_owned(), format!("Paused: {title}"))
    } else {
        let steps = match done {
            0 => String::new(),
            1 => ". 1 step done".to_owned(),
            more => format!(". {more} steps done"),
        };
        // One more of many is no news; twice as many are.
        let mark = format!("{WORKING}{}", done.checked_ilog2().map_or(0, |twos| twos + 1));
        (mark, format!("Working: {title}{steps}"))
    };
    Stand { mark, text, may_stop: true }
}

/// How a task ended, after how long.
fn over(state: &TaskState) -> String {
    let how = match state.task.status {
        TaskStatus::Completed => "Done in",
        TaskStatus::Cancelled => "Stopped after",
        TaskStatus::RolledBack => "Undone after",
        _ => "Not done after",
    };
    let seconds = state.latest.0.saturating_sub(state.task.created_at.0).max(0) / 1000;
    let took = match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    };
    format!("{how} {took}{}: {}", reason(state), title(state))
}

/// Why a task failed, in brackets; nothing where it did not.
fn reason(state: &TaskState) -> String {
    match state.attempt().map(|attempt| &attempt.turn) {
        Some(Turn::Ended { reason, .. }) if state.task.status == TaskStatus::Failed => {
            format!(" ({})", reason.as_str().replace('_', " "))
        }
        _ => String::new(),
    }
}

/// How a task ended.
pub(super) fn ended(state: &TaskState, answer: Option<&str>) -> String {
    let how = match state.task.status {
        TaskStatus::Completed => "Done",
        TaskStatus::Cancelled => "Stopped",
        TaskStatus::RolledBack => "Undone",
        _ => "Not done",
    };
    let head = format!("{how}{}: {}", reason(state), title(state));
    answer.map_or_else(|| head.clone(), |answer| format!("{head}\n\n{answer}"))
}

/// An answer, with each sentence marked that nothing bears or that is told like the record, and without the marks by which its model
/// cites. The words to compare it with stay at the machine: nobody said yes to sending them.
pub(super) fn answer(text: &str, check: Option<&AnswerCheck>) -> String {
    let Some(check) = check else {
        return format!("The model says (UNVERIFIED):\n\n{text}");
    };
    let (mut told, mut at) = (String::new(), 0);
    for sentence in &check.sentences {
        let place = |byte: u32| usize::try_from(byte).unwrap_or(usize::MAX);
        let start = place(sentence.start);
        let end = start.saturating_add(place(sentence.length));
        told.push_str(text.get(at..start).unwrap_or_default());
        at = start;
        for cite in &sentence.cites {
            let mark = place(cite.start);
            told.push_str(text.get(at..mark).unwrap_or_default().trim_end());
            at = mark.saturating_add(place(cite.length));
        }
        told.push_str(text.get(at..end).unwrap_or_default());
        if sentence.support == AnswerSupport::Unverified {
            let is_near = sentence.near.is_some();
            told.push_str(if is_near { " [COMPARE, at the machine]" } else { " [UNVERIFIED]" });
        }
        at = end;
    }
    told.push_str(text.get(at..).unwrap_or_default());
    told
}

/// What a task asks. `may_answer`: whether the sender may.
pub(super) fn question(state: &TaskState, asked: &Clarification, may_answer: bool) -> String {
    let erased = || "(erased)".to_owned();
    let mut text =
        format!("{} asks:\n\n{}", title(state), asked.question.shown().cloned().unwrap_or_else(erased));
    for choice in &asked.choices {
        text.push_str(&format!("\n- {}", choice.shown().cloned().unwrap_or_else(erased)));
    }
    text.push_str(match may_answer {
        true => "\n\nYour next message is the answer.",
        false => "\n\nThis is answered at the machine.",
    });
    text
}

/// That an approval waits: the words of its card, as far as they fit, its digest, and how it is answered. `page`: where one of
/// this host can be reached from elsewhere, and whether a passkey says yes there.
pub(super) fn approval(
    state: &TaskState,
    packet: &[u8],
    (sha256, data): (Digest, &str),
    page: Option<(&str, bool)>,
) -> Result<String, Error> {
    let packet: ApprovalPacket = seal::canon::from_canonical(packet)?;
    let request = &packet.action_request;
    let lines = request.in_words();
    let shown: Vec<String> =
        lines.iter().take(LINES_MAX).map(|line| format!("- {}", clipped(line, LINE_MAX))).collect();
    let more = match lines.len().saturating_sub(LINES_MAX) {
        0 => String::new(),
        more => format!("\n- and {more} more lines, which the card shows"),
    };
    let link = match page {
        None => String::new(),
        Some((origin, true)) => format!(", or with a passkey at {origin}"),
        Some((origin, false)) => format!(", or on the page at {origin}"),
    };
    Ok(format!(
        "An act of \"{}\" waits for a yes: {}.\n\n{}{more}\n\nThe card has the digest `{sha256}`. A chat approves nothing: the yes is \
         given at the machine{link}. To refuse, press Deny or send `deny {data}`.",
        title(state),
        clipped(&request.action.as_tool().title(), LINE_MAX),
        shown.join("\n")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_beside_a_file_is_as_short_as_every_service_takes_it() {
        for text in ["word ".repeat(800), "\u{1F5C2}".repeat(2_000)] {
            let cut = cut(&text);
            assert!(cut.encode_utf16().count() <= 960, "{}", cut.encode_utf16().count());
            assert!(cut.encode_utf16().count() > 900 && cut.ends_with("in the file."));
        }
    }

    #[test]
    fn a_long_text_goes_in_parts_that_hold_all_of_it_up_to_a_bound() {
        assert_eq!(parts("short"), ["short"]);
        let text = (0..400).map(|n| format!("Line {n} of many.")).collect::<Vec<_>>().join("\n");
        let told = parts(&text);
        assert!(told.len() > 3 && told.iter().all(|part| part.chars().count() <= LETTERS_MAX));
        assert_eq!(told.join("\n"), text, "nothing is lost, and no line is broken");
        let endless = parts(&"x".repeat(1_000_000));
        assert_eq!(endless.len(), PARTS_MAX);
        assert!(endless.last().is_some_and(|last| last.ends_with("at the machine.")));
    }
}
