//! `hermit mesh pair`: a code that one machine shows and a person types at the other, and the wait until both know each other.

use super::Came;
use super::mesh::by_person;
use super::mesh_lists::named;
use crate::args::PersonArgs;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone};
use crate::text::{plain, time};
use crate::waiting::Waiting;
use host::{Interrupts, Session};
use std::time::Duration;
use wire::mesh::{Code as PairingCode, Invite, Join, Pairing, PairingState};
use wire::{Code, Error, exit};
use words::mesh::MeshPairingState;

/// How often it is looked whether the other machine has answered.
const TICK: Duration = Duration::from_millis(500);
/// How the address of a machine begins that is reached directly.
const DIRECT: &str = "hermit://";

/// `hermit mesh pair`.
pub(super) fn pair(context: &Context, code: Option<String>, at: Vec<String>, person: &PersonArgs) -> Came {
    let session = context.writing(Signs::No)?;
    let paired = match code {
        None => invited(context, &session, person),
        Some(code) => joined(context, &session, person, Join { code, at, signed: None }),
    };
    session.close();
    let paired = paired?;
    context.out.stream(&paired)?;
    let name = paired.name.as_deref().map_or_else(|| "the other machine".to_owned(), named);
    context.out.say(Tone::Good, format!("Paired with {name}."));
    if let Some(node) = &paired.node {
        context.out.line(format!("  its key: {}", plain(node)));
    }
    context.out.say(
        Tone::Faint,
        "`hermit mesh nodes` shows what it can do; `hermit mesh withdraw` ends that it is believed.",
    );
    Ok(exit::DONE)
}

/// Shows a code, and waits for whoever types it.
fn invited(context: &Context, session: &Session, person: &PersonArgs) -> Result<PairingState, Error> {
    let with = |_: Invite, signed| Invite { signed: Some(signed) };
    let shown = by_person(context, session, person, Invite::default(), with)?;
    context.out.stream(&shown)?;
    code_in_words(&context.out, &shown);
    waited_for(context, session, Some(shown.until))
}

fn joined(
    context: &Context,
    session: &Session,
    person: &PersonArgs,
    join: Join,
) -> Result<PairingState, Error> {
    let with = |join: Join, signed| Join { signed: Some(signed), ..join };
    let began = by_person(context, session, person, join, with)?;
    context.out.stream(&began)?;
    context.out.line("Looking for the machine that shows this code. Ctrl-C gives up.");
    waited_for(context, session, None)
}

fn code_in_words(out: &Output, shown: &PairingCode) {
    let code = plain(&shown.code);
    out.line("");
    out.whole(Tone::Bold, &format!("      {}", spaced(&code)));
    out.line("");
    out.line("Type it at the other machine:");
    out.line(format!("  hermit mesh pair {code}"));
    if !shown.at.is_empty() {
        let at: Vec<&str> = shown.at.iter().map(|at| at.strip_prefix(DIRECT).unwrap_or(at)).collect();
        out.line(format!(
            "Both meet at {}: where that machine does not read there, name one with --at.",
            plain(&at.join(", "))
        ));
    }
    out.say(
        Tone::Faint,
        format!(
            "It counts once, until {}. Give it to nobody but yourself. Ctrl-C gives up waiting.",
            time(shown.until)
        ),
    );
}

/// A code as it is read out: its two parts, with room between their letters.
fn spaced(code: &str) -> String {
    let part = |part: &str| part.chars().map(String::from).collect::<Vec<_>>().join(" ");
    code.split('-').map(part).collect::<Vec<_>>().join("  -  ")
}

/// Waits until both know each other; `shown`: until when the code counts that this machine shows, which no other has.
fn waited_for(context: &Context, session: &Session, shown: Option<i64>) -> Result<PairingState, Error> {
    let interrupts = Interrupts::watch();
    let mut line = Waiting::new(context, "waiting");
    let mut told = None;
    loop {
        let stands = session.call(&Pairing {})?;
        let news = news(&stands);
        if news != told {
            line.end();
            news.iter().for_each(|news| context.out.note(plain(news)));
            told = news;
        }
        if let Some(done) = came(stands, shown)? {
            line.end();
            return Ok(done);
        }
        if interrupts.pressed() {
            line.end();
            return Err(given_up(shown));
        }
        line.tell();
        std::thread::park_timeout(TICK);
    }
}

/// What is told while it is waited for: a code that was typed wrong, or that nobody answers.
fn news(stands: &PairingState) -> Option<String> {
    if stands.state != MeshPairingState::Waiting {
        return None;
    }
    let wrong = stands.tries_left.map(|left| {
        format!("The code was typed wrong at the other machine. It may be typed {} more.", times(left))
    });
    wrong.or_else(|| stands.says.clone())
}

fn times(left: u32) -> String {
    if left == 1 { "once".to_owned() } else { format!("{left} times") }
}

/// What a pairing came to: nothing while the other machine is waited for.
fn came(stands: PairingState, shown: Option<i64>) -> Result<Option<PairingState>, Error> {
    let again = match shown {
        Some(_) => "`hermit mesh pair` shows a new code",
        None => "have the other machine show a new code with `hermit mesh pair`, and type that one",
    };
    let failed = |says: &str| Err(Error::new(Code::Failed, says).hint(again));
    match stands.state {
        MeshPairingState::Paired => Ok(Some(stands)),
        MeshPairingState::Waiting if shown.is_none() || stands.until == shown => Ok(None),
        MeshPairingState::Waiting => failed("another code is shown since, so this one counts no more"),
        MeshPairingState::WrongCode => match stands.tries_left {
            Some(left) if left > 0 && shown.is_none() => {
                let says = format!(
                    "the code that was typed is wrong: it is not the one that is shown, which may be typed {} more",
                    times(left)
                );
                Err(Error::new(Code::Failed, says)
                    .hint("read the code again, and run `hermit mesh pair CODE` with it"))
            }
            _ => failed("the code was typed wrong three times: the one that was shown counts no more now"),
        },
        MeshPairingState::Refused => {
            let says = stands.says.as_deref().map_or_else(|| "no machine was paired".to_owned(), plain);
            failed(says.trim_end_matches('.'))
        }
        MeshPairingState::Expired => failed("the code has expired, and no machine was paired"),
        MeshPairingState::None => {
            failed("no pairing is under way: Hermit was started again, or one of both machines was withdrawn")
        }
    }
}

fn given_up(shown: Option<i64>) -> Error {
    let hint = match shown {
        Some(_) => "the code still counts until it expires; `hermit mesh nodes` shows whether it was used",
        None => "`hermit mesh nodes` shows whether the machines found each other",
    };
    Error::new(Code::Cancelled, "you stopped waiting for the other machine").hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands(state: MeshPairingState, until: Option<i64>) -> PairingState {
        PairingState { state, code: None, until, node: None, name: None, tries_left: None, says: None }
    }

    #[test]
    fn a_code_is_shown_in_two_parts_whose_letters_can_be_read_out() {
        assert_eq!(spaced("ABCD-EFGHJK"), "A B C D  -  E F G H J K");
        assert_eq!(spaced(""), "");
    }

    #[test]
    fn a_pairing_is_waited_for_until_it_came_to_something() {
        let code = Some(600_000);
        assert_eq!(came(stands(MeshPairingState::Waiting, code), code).unwrap(), None);
        assert_eq!(came(stands(MeshPairingState::Waiting, None), None).unwrap(), None);
        assert!(came(stands(MeshPairingState::Paired, None), code).unwrap().is_some());
        for (state, of, says) in [
            (MeshPairingState::Waiting, Some(600_001), "another code"),
            (MeshPairingState::WrongCode, code, "wrong"),
            (MeshPairingState::Expired, code, "expired"),
            (MeshPairingState::None, None, "started again"),
        ] {
            for shown in [code, None] {
                if state == MeshPairingState::Waiting && shown.is_none() {
                    continue;
                }
                let error = came(stands(state, of), shown).unwrap_err();
                assert_eq!(error.code, Code::Failed);
                assert!(error.message.contains(says) && error.hint.contains("hermit mesh pair"), "{error:?}");
            }
        }
        let slip = PairingState { tries_left: Some(2), ..stands(MeshPairingState::WrongCode, None) };
        let error = came(slip, None).unwrap_err();
        assert!(error.message.contains("may be typed 2 times more"), "{error:?}");
        let says = Some("This machine refused laptop: why.".to_owned());
        let refused = PairingState { says, ..stands(MeshPairingState::Refused, None) };
        let error = came(refused, code).unwrap_err();
        assert!(error.message.ends_with("refused laptop: why"), "{error:?}");
        let waits = |left| PairingState { tries_left: left, ..stands(MeshPairingState::Waiting, code) };
        assert!(news(&waits(Some(1))).is_some_and(|says| says.contains("typed once more")));
        assert_eq!(news(&waits(None)), None);
        assert!(
            given_up(code).hint.contains("still counts") && !given_up(None).hint.contains("still counts")
        );
    }
}
