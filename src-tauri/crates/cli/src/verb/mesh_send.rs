//! `hermit mesh send`: a goal for another machine, and how far it comes.

use super::Came;
use super::mesh_lists::{named, quoted, state};
use crate::context::{Context, Signs};
use crate::output::{Output, Tone};
use crate::text::plain;
use crate::waiting::Waiting;
use host::{Interrupts, Session};
use std::time::Duration;
use wire::mesh::{Message, Messages, Send, Sent};
use wire::{Code, Error, PAGE_ROWS_MAX, exit};
use words::mesh::DeliveryState;

/// How often it is looked how far a message came.
const TICK: Duration = Duration::from_millis(700);

/// Sends a goal; with `wait` it stays until the answer comes.
pub(super) fn send(context: &Context, goal: &Send, wait: bool) -> Came {
    let session = context.writing(Signs::No)?;
    let done = sent(context, &session, goal, wait);
    session.close();
    done
}

fn sent(context: &Context, session: &Session, goal: &Send, wait: bool) -> Came {
    let sent = session.call(goal)?;
    if wait {
        context.out.stream(&sent)?;
        return followed(context, session, &sent);
    }
    context.out.answer(&sent, |out, sent| {
        out.line(match sent.state {
            DeliveryState::Queued => "It waits here until a relay has it or that machine is reached.",
            DeliveryState::Accepted => "A relay has it.",
            DeliveryState::Opened => "That machine has opened it.",
            DeliveryState::Never => "It will not come: `hermit mesh messages` says why.",
        });
        out.say(Tone::Faint, format!("conversation {}", plain(&sent.conversation)));
        out.say(Tone::Faint, "`hermit mesh messages` tells how far it came, and what was answered");
    })?;
    Ok(exit::DONE)
}

/// Tells each step of a message until there is an answer, or there will be none.
fn followed(context: &Context, session: &Session, sent: &Sent) -> Came {
    let interrupts = Interrupts::watch();
    let mut line =
        Waiting::new(context, "waiting for the answer (Ctrl-C leaves, and the message goes its way)");
    let mut told: Option<Message> = None;
    loop {
        let now = look(session, sent)?;
        if let Some(now) = now.filter(|now| told.as_ref() != Some(now)) {
            line.end();
            context.out.stream(&now)?;
            if told.as_ref().is_none_or(|before| state(before).1 != state(&now).1) {
                step(&context.out, &now);
            }
            if let Some(code) = end(&context.out, &now) {
                return Ok(code);
            }
            told = Some(now);
        }
        if interrupts.pressed() {
            line.end();
            return Err(Error::new(Code::Cancelled, "you stopped waiting; the message goes its way")
                .hint("`hermit mesh messages` tells how far it came, and what was answered"));
        }
        line.tell();
        std::thread::park_timeout(TICK);
    }
}

/// The message as it stands, while it is among the newest.
fn look(session: &Session, sent: &Sent) -> Result<Option<Message>, Error> {
    let newest = Messages { before: None, limit: Some(PAGE_ROWS_MAX) };
    Ok(session.call(&newest)?.messages.into_iter().find(|one| one.message == sent.message))
}

fn step(out: &Output, one: &Message) {
    let (tone, says) = state(one);
    let name = named(&one.name.to_string());
    out.say(tone, format!("to {name}: {says}"));
    if one.waits_since.is_some() {
        let asks = format!(
            "somebody has to answer at {name}, or here where {name} ran `hermit mesh approver`: `hermit mesh questions` lists it then"
        );
        out.say(Tone::Faint, format!("  {asks}"));
    } else if one.state == DeliveryState::Opened && one.answer.is_none() {
        let asks = format!(
            "what it asks meanwhile is answered at {name}, or here where {name} ran `hermit mesh approver`"
        );
        out.say(Tone::Faint, format!("  {asks}; `hermit mesh questions` lists it then"));
    }
}

/// The exit code of a message about which nothing more will be heard; its answer is told.
fn end(out: &Output, one: &Message) -> Option<u8> {
    if let Some(answer) = &one.answer {
        out.say(Tone::Bold, format!("{} answered:", named(&one.name.to_string())));
        quoted(out, &answer.to_string());
        return Some(if one.never.is_some() { exit::OTHER } else { exit::DONE });
    }
    // One that went another way is told of again, from there.
    let is_over = one.state == DeliveryState::Never && one.never != Some(words::mesh::NeverReason::Rerouted);
    is_over.then_some(exit::OTHER)
}

#[cfg(test)]
mod tests {
    use super::super::mesh_lists::made_up;
    use super::*;
    use wire::Text;
    use words::mesh::NeverReason;

    fn message(state: DeliveryState, never: Option<NeverReason>, answer: Option<&str>) -> Message {
        let answer = answer.map(|text| Text::Shown(text.to_owned()));
        Message { answer, ..made_up(state, never) }
    }

    #[test]
    fn a_message_is_followed_until_its_answer_or_until_there_will_be_none() {
        let out = Output::new(true);
        let code = |state, never, answer| end(&out, &message(state, never, answer));
        for state in [DeliveryState::Queued, DeliveryState::Accepted, DeliveryState::Opened] {
            assert_eq!(code(state, None, None), None, "{state}");
        }
        assert_eq!(code(DeliveryState::Opened, None, Some("done")), Some(exit::DONE));
        assert_eq!(
            code(DeliveryState::Never, Some(NeverReason::Refused), Some("no such folder")),
            Some(exit::OTHER)
        );
        assert_eq!(code(DeliveryState::Never, Some(NeverReason::Expired), None), Some(exit::OTHER));
        assert_eq!(code(DeliveryState::Never, Some(NeverReason::Rerouted), None), None);
    }
}
