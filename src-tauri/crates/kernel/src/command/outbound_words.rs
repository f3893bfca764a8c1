//! What senders are told, in words: of a part of CommonMark that every adapter renders or strips.

use crate::Error;
use crate::state::{TaskState, Turn};
use acts::ApprovalPacket;
use model::answer::{AnswerCheck, AnswerSupport};
use model::gateway::SenderProfile;
use model::ingress::Clarification;
use model::task::TaskStatus;
use seal::Digest;

/// Letters of a message: what every service takes in one. What is longer is cut, and sent whole as a file.
pub(super) const LETTERS_MAX: usize = 1_800;
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
    let kept: String = text.chars().take(LETTERS_MAX.saturating_sub(MORE.len())).collect();
    format!("{kept}{MORE}")
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

/// How a task ended.
pub(super) fn ended(state: &TaskState, answer: Option<&str>) -> String {
    let how = match state.task.status {
        TaskStatus::Completed => "Done",
        TaskStatus::Cancelled => "Stopped",
        TaskStatus::RolledBack => "Undone",
        _ => "Not done",
    };
    let reason = match state.attempt().map(|attempt| &attempt.turn) {
        Some(Turn::Ended { reason, .. }) if state.task.status == TaskStatus::Failed => {
            format!(" ({})", reason.as_str().replace('_', " "))
        }
        _ => String::new(),
    };
    let head = format!("{how}{reason}: {}", title(state));
    answer.map_or_else(|| head.clone(), |answer| format!("{head}\n\n{answer}"))
}

/// An answer, with each sentence marked that nothing bears, and without the marks by which its model cites.
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
            told.push_str(" [UNVERIFIED]");
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
