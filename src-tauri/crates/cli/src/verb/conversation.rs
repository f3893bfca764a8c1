//! `hermit conversation`: saying something, and saying what it is about.

use super::Came;
use super::approvals::more;
use crate::args::ConversationVerb;
use crate::context::{Context, Signs, absolute};
use crate::output::{Output, Tone, table};
use crate::text::{capital, plain, short, time};
use host::Session;
use std::path::PathBuf;
use std::time::Duration;
use wire::artifacts::Ingest;
use wire::conversations::{
    AttachedFile, Bind, Candidate, Files, Focus, Line, Lines, List, Open, Said, Say, Undecided,
};
use wire::exit;
use words::knowledge::TrustTier;
use words::store::Channel;
use words::task::{IngressResolution, MessageKind, Role, WordsBy};

/// What was said has this long to be taken up before this process leaves it to the host or the next one.
const LOOK: Duration = Duration::from_millis(200);

/// `hermit conversation`.
pub fn conversation(context: &Context, verb: ConversationVerb) -> Came {
    match verb {
        ConversationVerb::List(args) => {
            let found = context.reading()?.call(&List { after: args.after, limit: args.limit })?;
            context.out.answer(&found, |out, found| {
                let rows = found.rows.iter().map(|row| {
                    let focus = row.focus_task_id.clone().unwrap_or_else(|| "no task in focus".to_owned());
                    vec![
                        row.conversation_id.clone(),
                        focus,
                        row.open_tasks.to_string(),
                        plain(&row.title.to_string()),
                    ]
                });
                table(out, &["conversation", "focus", "open", "title"], &rows.collect::<Vec<_>>());
                more(out, found.next.as_deref());
            })?;
            Ok(exit::DONE)
        }
        ConversationVerb::Show { conversation, list } => thread(context, conversation, list),
        ConversationVerb::Open { title, workspace } => {
            writing(context, &Open { title, folder: place(workspace)? }, |out, opened| {
                out.line(opened.conversation_id.clone());
                out.note(format!(
                    "to speak in it: hermit conversation say \"…\" --in {}",
                    opened.conversation_id
                ));
            })
        }
        ConversationVerb::Say { text, conversation, task, reply_to, new, workspace, with } => {
            let (channel, about) = (Some("cli".to_owned()), new.then(|| "new".to_owned()));
            let (workspace, quotes, passage, spoken) =
                (place(workspace)?, with.quote, with.passage, with.spoken);
            let say = Say { conversation, text, task, reply_to, about, workspace, channel, ..Say::default() };
            said(context, &with.attach, |encloses| Say { quotes, passage, encloses, spoken, ..say })
        }
        ConversationVerb::Files { conversation, list } => files(context, conversation, list),
        ConversationVerb::Undecided(args) => {
            let found = context.reading()?.call(&Undecided { after: args.after, limit: args.limit })?;
            context.out.answer(&found, |out, found| {
                if found.rows.is_empty() {
                    out.line("Every message belongs to a task.");
                }
                for message in &found.rows {
                    out.say(Tone::Bold, plain(&message.text.to_string()));
                    out.line(format!("  {}  {}", message.message_id, time(message.said_at)));
                    ways(out, &message.message_id, &message.candidates);
                }
                more(out, found.next.as_deref());
            })?;
            Ok(exit::DONE)
        }
        ConversationVerb::Bind { message, about, task } => {
            said(context, &[], |_| Bind { message, about, task })
        }
        ConversationVerb::Focus { task } => {
            writing(context, &Focus { conversation: None, task }, |out, focused| {
                let at = focused.focus_task_id.as_deref().unwrap_or("no task");
                out.line(format!("Conversation {}, in focus: {at}", focused.conversation_id));
            })
        }
    }
}

/// What was said and done, the newest last, as one reads.
fn thread(context: &Context, named: Option<String>, args: crate::args::ListArgs) -> Came {
    let session = context.reading()?;
    let asked = Lines { conversation: named, task: None, after: args.after, limit: args.limit };
    context.out.answer(&session.call(&asked)?, |out, found| {
        if found.rows.is_empty() {
            out.line("Nothing was said here yet.");
        }
        let mut of = None;
        for line in found.rows.iter().rev() {
            let task = line.task.as_ref().map(|task| task.task_id.as_str());
            if task != of {
                of = task;
                if let Some(task) = &line.task {
                    out.say(
                        Tone::Bold,
                        format!(
                            "{}  {} ({})",
                            plain(&task.title.to_string()),
                            short(&task.task_id),
                            task.status
                        ),
                    );
                }
            }
            out.line(format!("  {}  {}", time(line.at), words(line)));
            for with in with_it(line) {
                out.line(format!("      {with}"));
            }
        }
        more(out, found.next.as_deref());
    })?;
    Ok(exit::DONE)
}

/// Files that came with messages, the newest first.
fn files(context: &Context, conversation: Option<String>, args: crate::args::ListArgs) -> Came {
    let asked = Files { conversation, after: args.after, limit: args.limit };
    context.out.answer(&context.reading()?.call(&asked)?, |out, found| {
        if found.rows.is_empty() {
            out.line("No file came with a message here.");
        }
        for file in &found.rows {
            out.line(format!("{}  {}  {}", time(file.at), file.artifact_id, file_line(file)));
        }
        more(out, found.next.as_deref());
    })?;
    Ok(exit::DONE)
}

/// A file in a line.
fn file_line(file: &AttachedFile) -> String {
    let name = file.name.as_ref().map(|name| plain(&name.to_string())).unwrap_or_default();
    let gone = if file.is_erased { ", erased" } else { "" };
    format!("{name} ({} bytes, {}{gone})", file.byte_size, file.media_type)
}

/// What came with a message, a line each.
fn with_it(line: &Line) -> Vec<String> {
    let Some(heard) = &line.heard else { return Vec::new() };
    let flat = |text: &str| plain(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let quoted = heard.quoted.iter().map(|quoted| {
        let text = quoted.text.as_ref().map_or_else(|| "(erased)".to_owned(), |text| flat(&text.to_string()));
        format!("> {text}  (quoted from {})", quoted.of)
    });
    let files = heard.attached.iter().map(|file| format!("+ {}  {}", file_line(file), file.artifact_id));
    quoted.chain(files).collect()
}

/// Whose message it is, by the channel that it came over, and whether anybody confirms who sent it.
fn sender(line: &Line) -> String {
    let Some(heard) = line.heard.as_ref().filter(|_| line.role == Role::User) else {
        return if line.role == Role::User { "You" } else { "Hermit" }.to_owned();
    };
    let name = match heard.channel {
        Channel::App | Channel::Cli => "You".to_owned(),
        Channel::Chat => "A paired sender, in a chat".to_owned(),
        Channel::Mesh => "You, at another machine".to_owned(),
        other => capital(&spaced(other.as_str())),
    };
    let unconfirmed = heard.trust == Some(TrustTier::Untrusted);
    let name = if heard.spoken { format!("{name}, spoken") } else { name };
    if unconfirmed { format!("{name} (sent by a sender that nobody confirms)") } else { name }
}

/// One line: who, and what.
fn words(line: &Line) -> String {
    // A line of the list is one line, whatever was written.
    let flat = |text: &str| plain(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let said = line.text.as_ref().map(|text| flat(&text.to_string())).unwrap_or_default();
    match line.kind {
        MessageKind::Message => {
            let open = line.heard.as_ref().is_some_and(|heard| heard.is_open);
            format!("{}: {said}{}", sender(line), if open { "  (it is open what this is about)" } else { "" })
        }
        MessageKind::Question => format!("Asks: {said}"),
        MessageKind::Approval => {
            let stands = line.approval.map_or_else(String::new, |status| format!(", {status}"));
            format!("Asks to allow: {said}  (approval {}{stands})", short(&line.ref_id))
        }
        MessageKind::Receipt => {
            let came = line.result.map_or_else(String::new, |code| format!(", {}", spaced(code.as_str())));
            format!("Did: {said}  (receipt {}{came})", short(&line.ref_id))
        }
        MessageKind::Answer if line.said_by == Some(WordsBy::Model) => match &line.answer_check {
            Some(check) => format!("Agent: {}", flat(&crate::answer::text(check))),
            None => format!("Agent (not verified): {said}"),
        },
        MessageKind::Answer => format!("Hermit: {said}"),
        MessageKind::Ended => {
            let ended = line.ended.map(|status| spaced(status.as_str())).unwrap_or_default();
            format!("Ended: {ended} {said}").trim_end().to_owned()
        }
    }
}

/// A word of a list as a person reads it.
fn spaced(word: &str) -> String {
    word.replace('_', " ")
}

/// A folder that a person named, absolute, for whichever process holds the store.
fn place(named: Option<PathBuf>) -> Result<Option<String>, wire::Error> {
    named.map(|folder| absolute(&folder)).transpose()
}

fn writing<C: wire::Command>(context: &Context, asked: &C, show: impl FnOnce(&Output, &C::Answer)) -> Came {
    let session = context.writing(Signs::No)?;
    let answer = session.call(asked);
    session.close();
    context.out.answer(&answer?, show)?;
    Ok(exit::DONE)
}

/// Takes files in that come with words; their artifacts, in order.
pub(super) fn taken_in(session: &Session, files: &[PathBuf]) -> Result<Vec<String>, wire::Error> {
    let take = |file: &PathBuf| {
        let (path, channel) = (Some(absolute(file)?), Some("cli".to_owned()));
        session.call(&Ingest { path, channel, ..Ingest::default() }).map(|taken| taken.artifact_id)
    };
    files.iter().map(take).collect()
}

fn said<C: wire::Command<Answer = Said>>(
    context: &Context,
    files: &[PathBuf],
    asked: impl FnOnce(Vec<String>) -> C,
) -> Came {
    let session = context.writing(Signs::No)?;
    let answer = taken_in(&session, files).and_then(|taken| session.call(&asked(taken)));
    let answer = answer.inspect(|said| {
        if let Some(task) = &said.task_id {
            drop(session.stands(task, LOOK));
        }
    });
    session.close();
    context.out.answer(&answer?, |out, said| {
        for line in &said.told {
            out.line(plain(line));
        }
        came(out, said);
    })?;
    Ok(exit::DONE)
}

/// What became of what was said.
fn came(out: &Output, said: &Said) {
    match &said.task_id {
        Some(task) => {
            out.line(format!("{task}: {}", plain(&said.rationale)));
            out.note(format!(
                "what is said and done there: hermit conversation show {}",
                said.conversation_id
            ));
        }
        None if said.resolution == IngressResolution::PendingDisambiguation => {
            out.line(format!("Saved. Which task is it about? {}", plain(&said.rationale)));
            ways(out, &said.message_id, &said.candidates);
        }
        None => out.line(plain(&said.rationale)),
    }
}

/// The commands that settle an open message.
fn ways(out: &Output, message: &str, candidates: &[Candidate]) {
    for candidate in candidates {
        let title = plain(&candidate.title.to_string());
        out.line(format!(
            "  hermit conversation bind {message} task {}   {} ({})",
            candidate.task_id, title, candidate.status
        ));
    }
    if candidates.is_empty() {
        out.line("  hermit conversation say \"…\" --new --workspace FOLDER   to have it done, as a task in a folder");
    }
    out.line(format!("  hermit conversation bind {message} talk   just a remark"));
}

#[cfg(test)]
mod tests {
    use super::words;
    use serde_json::{Value, json};

    /// A line as a host tells it, with these fields otherwise.
    fn told(more: &Value) -> String {
        let mut line = json!({
            "seq": 1, "kind": "message", "role": "user", "at": 0, "text": "hurry", "ref_id": "ing_1", "task": null, "heard": null,
            "question": null, "choices": [], "approval": null, "result": null, "said_by": null, "termination": null, "ended": null,
        });
        for (name, value) in more.as_object().unwrap() {
            line[name] = value.clone();
        }
        words(&serde_json::from_value(line).unwrap())
    }

    fn heard(channel: &str, trust: &str) -> Value {
        json!({ "heard": {
            "channel": channel, "trust": trust, "resolution": "append_note", "is_open": false, "is_waiting": false, "candidates": [],
            "confidence": null, "margin": null, "rationale": null, "answers": null, "reply_to": null, "quotes": null,
        } })
    }

    #[test]
    fn a_message_is_told_by_its_channel_and_one_that_nobody_confirms_says_so() {
        assert_eq!(told(&heard("cli", "user_asserted")), "You: hurry");
        assert_eq!(told(&heard("app", "user_asserted")), "You: hurry");
        assert_eq!(told(&heard("run_api", "user_asserted")), "Run api: hurry");
        assert_eq!(told(&heard("chat", "verified")), "A paired sender, in a chat: hurry");
        assert_eq!(told(&heard("mesh", "user_asserted")), "You, at another machine: hurry");
        let webhook = "Webhook (sent by a sender that nobody confirms): hurry";
        assert_eq!(told(&heard("webhook", "untrusted")), webhook);
    }

    #[test]
    fn what_waits_and_what_was_done_are_told_by_their_short_references() {
        let waits = told(&json!({
            "kind": "approval", "role": "agent", "approval": "pending", "ref_id": "apr_00000000000000000badcafe",
        }));
        assert_eq!(waits, "Asks to allow: hurry  (approval 0badcafe, pending)");
        let done = told(&json!({
            "kind": "receipt", "role": "agent", "result": "succeeded", "ref_id": "rcp_000000000000000000c0ffee",
        }));
        assert_eq!(done, "Did: hurry  (receipt 00c0ffee, succeeded)");
    }

    #[test]
    fn last_words_of_a_model_are_not_verified_and_hermits_own_are_its_own() {
        let answer = |by: Value| told(&json!({ "kind": "answer", "role": "agent", "said_by": by }));
        assert_eq!(answer(json!("model")), "Agent (not verified): hurry");
        assert_eq!(answer(json!("hermit")), "Hermit: hurry");
        assert_eq!(answer(Value::Null), "Hermit: hurry");
    }
}
