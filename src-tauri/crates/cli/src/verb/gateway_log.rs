//! `hermit gateway senders` and `hermit gateway messages`: who is paired, and what came in and went out. What they hold was
//! written by whoever wrote it.

use super::Came;
use crate::context::Context;
use crate::output::{Output, Tone, table};
use crate::text::{capital, clip, plain, short, time};
use std::collections::BTreeMap;
use wire::exit;
use wire::gateways::{Message, MessageList, Messages, PairedSender, SenderList, Senders};
use words::chat::{MessageAbout, MessageRefusal, MessageState, MessageUse, SenderProfile};

/// Messages of one list, unless a person says otherwise.
const MESSAGES: u32 = 30;
/// Characters of a message that are shown; its task holds all of them.
const TEXT_CHARS: usize = 400;
/// Characters of a name that a stranger chose.
const NAME_CHARS: usize = 60;

/// Who is or was paired.
pub(super) fn senders(out: &Output, found: &SenderList) {
    if found.senders.is_empty() {
        let name = plain(&found.name);
        return out.say(Tone::Faint, format!("nobody is paired; `hermit gateway pair {name}` tells a code"));
    }
    let (paired, others): (Vec<&PairedSender>, Vec<&PairedSender>) =
        found.senders.iter().partition(|one| one.unpaired.is_none());
    let row = |one: &&PairedSender| {
        vec![plain(&one.sender), name(one), allowed(one.profile).to_owned(), time(one.since)]
    };
    if !paired.is_empty() {
        let rows: Vec<Vec<String>> = paired.iter().map(row).collect();
        table(out, &["sender", "name", "may", "since"], &rows);
        out.say(Tone::Faint, "a name is what they call themselves there; nobody has checked it");
    }
    for one in others {
        let why = one.unpaired.as_deref().map(plain).unwrap_or_default();
        let why = if why.is_empty() { why } else { format!(": {why}") };
        out.say(Tone::Faint, format!("{} ({}) is not paired any more{why}", plain(&one.sender), name(one)));
    }
}

/// The name that a sender goes by, cut where it is long.
fn name(one: &PairedSender) -> String {
    plain(&clip(&one.sender_name.to_string(), NAME_CHARS))
}

/// What a sender may do, in a word or two.
const fn allowed(profile: SenderProfile) -> &'static str {
    match profile {
        SenderProfile::Goals => "give goals",
        SenderProfile::Ask => "ask",
    }
}

/// `hermit gateway messages`.
pub(super) fn messages(context: &Context, gateway: String, limit: Option<u32>, before: Option<u64>) -> Came {
    let session = context.reading()?;
    let ask = Messages { name: gateway.clone(), before, limit: Some(limit.unwrap_or(MESSAGES)) };
    let found = session.call(&ask)?;
    let names = match context.out.is_json() {
        true => BTreeMap::new(),
        false => {
            let all = session.call(&Senders { name: gateway })?.senders;
            all.into_iter().map(|one| (one.sender.clone(), name(&one))).collect()
        }
    };
    context.out.answer(&found, |out, found| listed(out, found, &names))?;
    Ok(exit::DONE)
}

fn listed(out: &Output, found: &MessageList, names: &BTreeMap<String, String>) {
    if found.messages.is_empty() {
        return out.say(Tone::Faint, "no messages");
    }
    for one in &found.messages {
        let (tone, head) = head(one, names);
        out.say(tone, format!("{}  {head}", time(one.at)));
        let text = one.text.as_ref().map(|text| clip(&text.to_string(), TEXT_CHARS));
        for line in text.iter().flat_map(|text| text.lines()) {
            out.line(format!("  | {}", plain(line)));
        }
        if let Some(why) = one.why.as_ref().filter(|why| !why.is_empty()) {
            out.say(Tone::Faint, format!("  {}", plain(&capital(why))));
        }
        ways(one).into_iter().for_each(|line| out.say(Tone::Faint, format!("  {line}")));
    }
    if let Some(before) = found.before {
        let name = plain(&found.name);
        out.say(Tone::Faint, format!("older: hermit gateway messages {name} --before {before}"));
    }
}

/// What a message is, in a line, and how loud that is said.
fn head(one: &Message, names: &BTreeMap<String, String>) -> (Tone, String) {
    let who = who(one, names);
    if let Some(refusal) = one.refused {
        let times = match one.times {
            Some(times) if times > 1 => format!(", {times} times at least"),
            _ => String::new(),
        };
        return (Tone::Warn, format!("refused{who}{times}: {}", refused(refusal)));
    }
    if one.is_outgoing {
        let about = one.about.map_or("a message", told);
        let (tone, state) = one.state.map_or((Tone::Plain, "is not known"), stands);
        return (tone, format!("out{who}: {about}, {state}"));
    }
    (Tone::Plain, format!("in{who}: {}", one.used_as.map_or("heard", used)))
}

/// From whom, or to where.
fn who(one: &Message, names: &BTreeMap<String, String>) -> String {
    let known = one.sender.as_ref().map(|sender| match names.get(sender) {
        Some(name) => format!("{name} ({})", plain(&clip(sender, NAME_CHARS))),
        None => plain(&clip(sender, NAME_CHARS)),
    });
    match (known, &one.chat) {
        (Some(known), _) if one.is_outgoing => format!(" to {known}"),
        (Some(known), _) => format!(" from {known}"),
        (None, Some(chat)) if one.is_outgoing => format!(" to the chat {}", plain(&clip(chat, NAME_CHARS))),
        (None, Some(chat)) => format!(" in the chat {}", plain(&clip(chat, NAME_CHARS))),
        (None, None) => String::new(),
    }
}

/// The task that a message is about, and the one that sends it.
fn ways(one: &Message) -> Vec<String> {
    let task = one.task_id.as_deref().map(|id| {
        let status = one.task_status.map(|status| format!(" ({status})")).unwrap_or_default();
        format!("task {}{}", short(id), status.replace('_', " "))
    });
    let sent = one.sent_by.as_deref().map(|id| {
        let id = short(id);
        format!("sent by task {id}; its receipt: hermit receipts list --task {id}")
    });
    task.into_iter().chain(sent).collect()
}

/// Why a message was refused.
const fn refused(why: MessageRefusal) -> &'static str {
    match why {
        MessageRefusal::Unreadable => "it cannot be read",
        MessageRefusal::TooLarge => "it is larger than a message may be",
        MessageRefusal::Elsewhere => "it was made by another node, or for another conversation",
        MessageRefusal::Unsigned => "nobody who may sign it has signed it",
        MessageRefusal::Stale => "it is too old, or its time is still to come",
        MessageRefusal::Repeated => "it came before",
        MessageRefusal::OutOfOrder => "it is not the next one of its chat",
        MessageRefusal::NotPaired => "its sender is not paired",
        MessageRefusal::WrongCode => "its code is wrong, or has expired",
        MessageRefusal::Silenced => "its sender sent wrong codes and is not heard for a while",
        MessageRefusal::WrongButton => "its button belongs to another sender or chat, or was used",
        MessageRefusal::NotActive => "the gateway is paused or removed",
    }
}

/// What a message was used as.
const fn used(as_what: MessageUse) -> &'static str {
    match as_what {
        MessageUse::Words => "words",
        MessageUse::Pairing => "pairs its sender",
        MessageUse::Status => "asks how tasks stand",
        MessageUse::Stop => "stops a task",
        MessageUse::Deny => "denies an approval",
        MessageUse::Unusable => "cannot be used; its sender is told why",
    }
}

/// What a message tells that goes out.
const fn told(about: MessageAbout) -> &'static str {
    match about {
        MessageAbout::Outcome => "how a task ended",
        MessageAbout::Question => "a question of a task",
        MessageAbout::Approval => "an approval waits",
        MessageAbout::Reply => "a reply",
        MessageAbout::State => "how a task stands",
    }
}

/// How a message stands that goes out.
const fn stands(state: MessageState) -> (Tone, &'static str) {
    match state {
        MessageState::Queued => (Tone::Plain, "waits to be sent"),
        MessageState::Sending => (Tone::Plain, "is being sent, or waits for your approval"),
        MessageState::Sent => (Tone::Plain, "sent"),
        MessageState::Unknown => (Tone::Warn, "may have been sent"),
        MessageState::Unsent => (Tone::Warn, "was not sent"),
    }
}
