//! Events of a Matrix room, and the messages among them.

use crate::{Attachment, Incoming, clean};
use serde::Deserialize;
use serde_json::Value;

/// An event of a room.
#[derive(Deserialize)]
pub(super) struct Event {
    pub(super) event_id: String,
    pub(super) sender: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) origin_server_ts: i64,
    #[serde(default)]
    content: Value,
}

/// Whether an event is of a kind.
pub(super) fn is_kind(event: &Value, kind: &str) -> bool {
    event.get("type").is_some_and(|is| is == kind)
}

/// Whether an event is somebody's coming into the room, and no change of their name.
pub(super) fn joins(event: &Value, user: &str) -> bool {
    is_kind(event, "m.room.member")
        && event.get("state_key").is_some_and(|key| key == user)
        && event.pointer("/content/membership").is_some_and(|is| is == "join")
        && event.pointer("/unsigned/prev_content/membership").is_none_or(|was| was != "join")
}

/// The message that an event is. A changed message is none: what was said stays said.
pub(super) fn of_event(event: Event, room: &str, is_group: bool) -> Option<Incoming> {
    let part = |path: &str| event.content.pointer(path).and_then(Value::as_str);
    if part("/m.relates_to/rel_type") == Some("m.replace") {
        return None;
    }
    let body = part("/body").unwrap_or_default();
    let named = part("/filename");
    let (words, file) = match part("/msgtype")? {
        "m.text" | "m.emote" => (body, None),
        "m.file" | "m.image" | "m.audio" | "m.video" => {
            // The body is the file's name, or its words where a name stands beside.
            let words = if named.is_some_and(|name| name != body) { body } else { "" };
            (words, Some(named.unwrap_or(body)))
        }
        // What a bot tells is no message.
        _ => return None,
    };
    let attachment = file.and_then(|name| {
        let handle = part("/url").filter(|at| at.starts_with("mxc://")).and_then(clean::id)?;
        Some(Attachment {
            name: clean::file_name(name),
            media_type: clean::media_type(part("/info/mimetype").unwrap_or_default()),
            bytes: event.content.pointer("/info/size").and_then(Value::as_u64).unwrap_or_default(),
            handle,
        })
    });
    let reply_to = part("/m.relates_to/m.in_reply_to/event_id").and_then(clean::id);
    let text = clean::text(if reply_to.is_some() { without_fallback(words) } else { words });
    if text.is_empty() && attachment.is_none() {
        return None;
    }
    let sender = clean::id(&event.sender)?;
    Some(Incoming {
        message_id: clean::id(&event.event_id)?,
        chat: room.to_owned(),
        is_group,
        sender_name: clean::name(&sender),
        sender,
        sent_at: event.origin_server_ts,
        text,
        reply_to,
        button: None,
        attachments: attachment.into_iter().collect(),
    })
}

/// The words of an answer without the words it answers, which older clients put before them.
fn without_fallback(words: &str) -> &str {
    let mut rest = words;
    while rest.starts_with("> ") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    if rest.len() == words.len() { words } else { rest.trim_start_matches('\n') }
}

#[cfg(test)]
mod tests {
    use super::without_fallback;

    #[test]
    fn an_answer_is_what_its_sender_wrote() {
        assert_eq!(without_fallback("> <@a:x> hi\n> there\n\nyes"), "yes");
        assert_eq!(without_fallback("yes > no"), "yes > no");
    }
}
