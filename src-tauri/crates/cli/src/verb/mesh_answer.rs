//! `hermit mesh questions`, `answer` and `approver`: what other machines ask a person here, and whose keys may answer for this one.

use super::Came;
use super::keyring::approval_passphrase;
use super::mesh_lists::named;
use crate::args::PersonArgs;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone};
use crate::text::{clip, paragraph, plain, short, time};
use host::Session;
use wire::mesh::{Approver, Node, NodeList, Nodes, Question, QuestionList, Questions};
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
            out.line(format!("  {}", plain(&clip(&line.to_string(), LINE_CHARS))));
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
        paragraph(&line).lines().for_each(|part| out.line(format!("  {part}")));
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
        let words = approval_passphrase(context, None)?;
        let left = session.answer_machine_by(one, allow, &words)?;
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
    let found = session.call(&Nodes {})?;
    let one = machine(&found, &wanted.node)?;
    let name = named(&one.name.to_string());
    let none = || {
        Error::new(Code::Conflict, format!("{name} showed no approval key when it was paired"))
            .hint("run `hermit keys init` there, and pair it again")
    };
    let key = one.approval_key.as_ref().ok_or_else(none)?;
    context.out.line(format!("The approval key of {name}: {}", plain(key)));
    context.out.say(Tone::Faint, "`hermit keys list` shows it there: compare both before you go on.");
    let words = approval_passphrase(context, person.approval_passphrase_fd)?;
    // The machine whose key was shown, and no other that the same word could mean elsewhere.
    session.allow_machine_by(&one.node, &words)
}

/// The machine that is meant: by its key or its name, or by the beginning of its key.
fn machine<'n>(found: &'n NodeList, named: &str) -> Result<&'n Node, Error> {
    let text = named.trim().to_lowercase();
    let is_named = |one: &&Node| one.node == text || one.name.to_string().to_lowercase() == text;
    let begins = |one: &&Node| text.len() >= LETTERS_MIN && one.node.starts_with(&text);
    let open = || found.nodes.iter().filter(|one| !one.is_withdrawn);
    let mut like: Vec<&Node> = open().filter(is_named).collect();
    if like.is_empty() {
        like = open().filter(begins).collect();
    }
    match like.as_slice() {
        [one] => Ok(*one),
        [] => Err(Error::new(Code::NotFound, format!("no paired machine is called `{}`", plain(named)))
            .hint("`hermit mesh nodes` lists them, each with its key")),
        _ => Err(Error::new(Code::Ambiguous, format!("`{}` fits more than one machine", plain(named)))
            .hint("give more of the key, as `hermit mesh nodes` shows it")),
    }
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
    fn the_machine_whose_key_is_shown_is_found_by_its_name_before_any_key_that_begins_so() {
        let node = |node: &str, name: &str| {
            serde_json::json!({
                "node": format!("{node:0<64}"), "name": name, "relays": [], "here_until": null, "tools": [], "models": [],
                "folders": [], "load": null, "queued": 0, "accepted": 0, "approval_key": null, "is_approver": false,
                "cosign_key": null, "is_withdrawn": name == "old",
            })
        };
        let all = [node("dead1", "laptop"), node("dead2", "Dead"), node("beef1", "old")];
        let found: NodeList = serde_json::from_value(serde_json::json!({ "nodes": all })).unwrap();
        let name = |named: &str| machine(&found, named).map(|one| one.name.to_string());
        assert_eq!(name("dead").unwrap(), "Dead", "and not the key that begins so");
        assert_eq!(name(" DEAD1 ").unwrap(), "laptop");
        for (wrong, code) in [
            ("dea", Code::NotFound),
            ("", Code::NotFound),
            ("old", Code::NotFound),
            ("dead0", Code::NotFound),
        ] {
            assert_eq!(name(wrong).unwrap_err().code, code, "{wrong:?}");
        }
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
