//! Events of Discord, and the messages among them.

use crate::{Attachment, BUTTON_BYTES_MAX, Incoming, clean};
use serde_json::Value;

/// Where the clock of Discord's ids begins, in milliseconds.
const EPOCH_MS: u64 = 1_420_070_400_000;

/// An id as the number it is.
pub(super) fn number_of(id: &str) -> Option<u64> {
    id.bytes().all(|b| b.is_ascii_digit()).then(|| id.parse().ok()).flatten()
}

/// When something was made, which its id says.
fn ms_of(id: u64) -> i64 {
    i64::try_from((id >> 22).saturating_add(EPOCH_MS)).unwrap_or(i64::MAX)
}

fn name_of(user: &Value) -> String {
    let part = |name: &str| user.get(name).and_then(Value::as_str).filter(|name| !name.is_empty());
    clean::name(part("global_name").or_else(|| part("username")).unwrap_or_default())
}

/// Whether others than the sender read a channel: it is one of a server, or a conversation of several.
fn is_group(data: &Value) -> bool {
    let kind = data.get("channel_type").or_else(|| data.pointer("/channel/type")).and_then(Value::as_u64);
    data.get("guild_id").is_some_and(|guild| !guild.is_null()) || kind.is_some_and(|kind| kind != 1)
}

/// The message that an event, or an entry of a history, is. What bots and the service say is none.
pub(super) fn of_message(data: &Value) -> Option<Incoming> {
    let part = |path: &str| data.pointer(path).and_then(Value::as_str);
    // 0 is a message, 19 an answer.
    if !matches!(data.get("type").and_then(Value::as_i64), None | Some(0 | 19)) {
        return None;
    }
    if data.pointer("/author/bot") == Some(&Value::Bool(true))
        || data.get("webhook_id").is_some_and(|id| !id.is_null())
    {
        return None;
    }
    let (id, chat) = (part("/id")?, part("/channel_id")?);
    let (number, _) = (number_of(id)?, number_of(chat)?);
    let files = data.get("attachments").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let attachments = files.iter().take(clean::ATTACHMENTS_MAX).filter_map(|file| {
        let part = |name: &str| file.get(name).and_then(Value::as_str);
        let number = part("id").filter(|id| number_of(id).is_some())?;
        Some(Attachment {
            name: clean::file_name(part("filename").unwrap_or_default()),
            media_type: clean::media_type(part("content_type").unwrap_or_default()),
            bytes: file.get("size").and_then(Value::as_u64).unwrap_or_default(),
            handle: format!("{chat}/{id}/{number}"),
        })
    });
    let attachments: Vec<Attachment> = attachments.collect();
    let text = clean::text(part("/content").unwrap_or_default());
    if text.is_empty() && attachments.is_empty() {
        return None;
    }
    Some(Incoming {
        message_id: id.to_owned(),
        chat: chat.to_owned(),
        is_group: is_group(data),
        sender: clean::id(part("/author/id")?)?,
        sender_name: name_of(data.get("author")?),
        sent_at: ms_of(number),
        text,
        reply_to: part("/message_reference/message_id").and_then(clean::id),
        button: None,
        attachments,
    })
}

/// The press of a button.
pub(super) fn of_press(data: &Value) -> Option<Incoming> {
    let part = |path: &str| data.pointer(path).and_then(Value::as_str);
    // 3 is a component of a message, and 2 of those a button.
    let is = |path: &str, number: i64| data.pointer(path).and_then(Value::as_i64) == Some(number);
    if !is("/type", 3) || !is("/data/component_type", 2) {
        return None;
    }
    let user = data.get("user").or_else(|| data.pointer("/member/user"))?;
    let (id, chat) = (part("/id")?, part("/channel_id")?);
    let (number, _) = (number_of(id)?, number_of(chat)?);
    let pressed = part("/data/custom_id").filter(|data| data.len() <= BUTTON_BYTES_MAX)?;
    Some(Incoming {
        message_id: format!("press:{id}"),
        chat: chat.to_owned(),
        is_group: is_group(data),
        sender: clean::id(user.get("id")?.as_str()?)?,
        sender_name: name_of(user),
        sent_at: ms_of(number),
        text: String::new(),
        reply_to: part("/message/id").and_then(clean::id),
        button: Some(pressed.to_owned()),
        attachments: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::{ms_of, number_of};

    #[test]
    fn an_id_is_a_number_and_says_its_time() {
        assert_eq!(ms_of(175_928_847_299_117_063), 1_462_015_105_796);
        assert_eq!((number_of("12"), number_of("1/2"), number_of("")), (Some(12), None, None));
    }
}
