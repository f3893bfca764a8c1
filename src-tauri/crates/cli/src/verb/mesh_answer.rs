//! `hermit mesh questions`, `answer` and `approver`: what other machines ask a person here, and whose keys may answer for this one.

use super::Came;
use super::keyring::approval_passphrase;
use super::mesh_lists::named;
use crate::approve::second_words;
use crate::args::PersonArgs;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone};
use crate::terminal::{Echo, Terminal, Typed};
use crate::text::{capital, card_line, clip, paragraph, plain, short, time};
use acts::ApprovalPacket;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use host::Session;
use wire::mesh::{Approver, NodeList, Question, QuestionList, Questions};
use wire::{Code, Error, exit};

/// Fewer letters of an identifier or a key name too much by accident.
const LETTERS_MIN: usize = 4;
/// Characters of a line of a card in the list; `answer` shows all of it.
const LINE_CHARS: usize = 160;
/// Lines of a card in the list.
const LINES: usize = 6;

/// `hermit mesh questions`.
pub(super) fn questions(context: &Context) -> Came {
    let found = context.reading()?.call(&Questions {})?;
    context.out.answer(&found, listed)?;
    Ok(exit::DONE)
}

fn listed(out: &Output, found: &QuestionList) {
    if found.questions.is_empty() {
        return out.say(Tone::Faint, "no other machine asks you anything");
    }
    for one in &found.questions {
        head(out, one);
        for line in one.lines.iter().take(LINES) {
            out.line(format!("  {}", plain(&clip(&card_line(&line.to_string()), LINE_CHARS))));
        }
        if one.lines.len() > LINES {
            out.say(
                Tone::Faint,
                format!("  and {} more lines, which an answer shows", one.lines.len() - LINES),
            );
        }
        let id = short(&one.approval);
        out.say(
            Tone::Faint,
            format!("  hermit mesh answer {id} allow, or deny; until {}", time(one.expires_at)),
        );
    }
}

fn head(out: &Output, one: &Question) {
    out.say(Tone::Bold, format!("{} asks: {}", named(&one.name.to_string()), plain(&one.title.to_string())));
}

/// Every line that is signed.
fn card(out: &Output, one: &Question) {
    head(out, one);
    for line in one.lines.iter().map(ToString::to_string) {
        paragraph(&card_line(&line)).lines().for_each(|part| out.line(format!("  {part}")));
    }
    out.say(
        Tone::Faint,
        format!("  files and programs are those of {}, not of this machine", named(&one.name.to_string())),
    );
}

/// `hermit mesh answer`: the card, half a second, and then what only the person knows, typed at the terminal.
pub(super) fn answer(context: &Context, approval: &str, allow: bool) -> Came {
    let Some(terminal) = &context.terminal else {
        return Err(Error::new(
            Code::Forbidden,
            "only a person at a terminal answers what another machine asks",
        )
        .hint("run `hermit mesh answer` in a terminal of your own, or answer on a page"));
    };
    let session = context.writing(Signs::No)?;
    let done = session.call(&Questions {}).and_then(|found| {
        let one = meant(&found, approval)?;
        card(&context.out, one);
        context.out.line(match allow {
            true => "Your approval passphrase signs your yes to exactly this.",
            false => "Your approval passphrase signs your no.",
        });
        terminal.arm();
        let word = if allow { confirmed(terminal, one)? } else { None };
        let words = approval_passphrase(context, None)?;
        let left = session.answer_machine_by(one, (allow, word), &words)?;
        Ok((named(&one.name.to_string()), left))
    });
    session.close();
    let (name, left) = done?;
    context.out.line(format!("Your {} goes to {name}.", if allow { "yes" } else { "no" }));
    if !left.questions.is_empty() {
        context.out.say(Tone::Faint, format!("{} more: hermit mesh questions", left.questions.len()));
    }
    Ok(exit::DONE)
}

/// At high and critical risk a second word, as at a card of this machine; what was typed.
fn confirmed(terminal: &Terminal, one: &Question) -> Result<Option<String>, Error> {
    let damaged = |why: String| Error::new(Code::Damaged, why);
    let packet = STANDARD.decode(&one.packet).map_err(|e| damaged(e.to_string()))?;
    let packet: ApprovalPacket = serde_json::from_slice(&packet).map_err(|e| damaged(e.to_string()))?;
    let Some(words) = second_words(packet.risk_band) else { return Ok(None) };
    let risk = packet.risk_band.as_str();
    let question = format!("{} risk. Type `{risk}` to confirm, or `no`: ", capital(risk));
    loop {
        match terminal.ask(&question, Echo::Words(words))? {
            Typed::Line(word) if word.trim().eq_ignore_ascii_case(risk) => {
                return Ok(Some(risk.to_owned()));
            }
            Typed::Line(word) if !matches!(word.trim(), "n" | "no") => {}
            _ => return Err(Error::new(Code::Cancelled, "nothing was answered")),
        }
    }
}

/// The question that is meant: by the identifier of its approval, or the beginning or end of it.
fn meant<'q>(found: &'q QuestionList, named: &str) -> Result<&'q Question, Error> {
    let text = named.trim();
    let is_like = |one: &&Question| {
        one.approval == text
            || text.len() >= LETTERS_MIN && (one.approval.starts_with(text) || one.approval.ends_with(text))
    };
    let like: Vec<&Question> = found.questions.iter().filter(is_like).collect();
    match like.as_slice() {
        [one] => Ok(one),
        [] => Err(Error::new(Code::NotFound, format!("no other machine asks `{text}`"))
            .hint("`hermit mesh questions` lists what they ask")),
        several => {
            let all: Vec<&str> = several.iter().map(|one| one.approval.as_str()).collect();
            Err(Error::new(Code::Ambiguous, format!("`{text}` fits more than one question"))
                .hint(format!("give more of it; there are `{}`", all.join("`, `"))))
        }
    }
}

/// Lets the approval key of another machine say yes here, which this machine's approval key signs, or no more.
pub(super) fn set_approver(
    context: &Context,
    session: &Session,
    person: &PersonArgs,
    wanted: Approver,
) -> Result<NodeList, Error> {
    if !wanted.allow {
        return session.call(&wanted);
    }
    // By its whole key from here on: what is compared is what is signed.
    let (node, key) = session.machine_meant(&wanted.node)?;
    context.out.line(format!("The machine {}", plain(&node)));
    context.out.line(format!("Its approval key: {}", plain(&key)));
    context.out.say(Tone::Faint, "`hermit keys list` shows it there: compare both before you go on.");
    let words = approval_passphrase(context, person.approval_passphrase_fd)?;
    session.allow_machine_by(&node, &words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Text;

    fn question(approval: &str) -> Question {
        let text = |text: &str| Text::Shown(text.to_owned());
        let rest = serde_json::json!({
            "approval": approval, "node": "ab".repeat(32), "name": "desk", "expires_at": 0, "packet": "",
            "packet_sha256": "00".repeat(32), "title": "delete a.txt", "lines": ["a.txt"], "to_sign": "",
        });
        let question: Question = serde_json::from_value(rest).unwrap();
        assert_eq!(question.title, text("delete a.txt"));
        question
    }

    #[test]
    fn a_question_is_named_by_a_part_of_its_approval_that_fits_no_other() {
        let found =
            QuestionList { questions: vec![question("apr_0000aaaa1111"), question("apr_0000bbbb2222")] };
        for named in ["apr_0000aaaa1111", "aaaa1111", "apr_0000aaaa", " 1111 "] {
            assert_eq!(meant(&found, named).unwrap().approval, "apr_0000aaaa1111", "{named}");
        }
        assert_eq!(meant(&found, "apr_0000").unwrap_err().code, Code::Ambiguous);
        for wrong in ["cccc", "111", ""] {
            assert_eq!(meant(&found, wrong).unwrap_err().code, Code::NotFound, "{wrong:?}");
        }
    }
}
