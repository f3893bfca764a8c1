//! Events of Slack, and the messages among them.

use crate::{Attachment, BUTTON_BYTES_MAX, Incoming, clean};
use serde_json::Value;

/// Milliseconds of a time as Slack writes it, which is a message's id, too.
fn ms_of(ts: &str) -> Option<i64> {
    let (seconds, rest) = ts.split_once('.')?;
    let digits =
        |part: &str| !part.is_empty() && part.len() <= 12 && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(seconds) || !digits(rest) {
        return None;
    }
    let parts: i64 = rest.get(..3.min(rest.len()))?.parse().ok()?;
    seconds.parse::<i64>().ok()?.checked_mul(1000)?.checked_add(parts)
}

/// A time as Slack writes it.
pub(super) fn ts_of(ms: i64) -> String {
    let ms = ms.max(0);
    format!("{}.{:03}000", ms / 1000, ms % 1000)
}

/// The message that an event, or an entry of a history, is. Changed, deleted and automatic ones are none.
pub(super) fn of_message(event: &Value, conversation: &str) -> Option<Incoming> {
    let part = |name: &str| event.get(name).and_then(Value::as_str);
    if !matches!(part("subtype"), None | Some("file_share" | "thread_broadcast" | "me_message")) {
        return None;
    }
    if event.get("bot_id").is_some_and(|id| !id.is_null()) {
        return None;
    }
    let ts = part("ts")?;
    let files = event.get("files").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let attachments: Vec<Attachment> = files.iter().filter_map(file).take(clean::ATTACHMENTS_MAX).collect();
    let text = clean::text(&unmarked(part("text").unwrap_or_default()));
    if text.is_empty() && attachments.is_empty() {
        return None;
    }
    let chat = clean::id(conversation)?;
    Some(Incoming {
        message_id: clean::id(ts)?,
        is_group: !chat.starts_with('D'),
        chat,
        sender: clean::id(part("user")?)?,
        sender_name: String::new(),
        sent_at: ms_of(ts)?,
        text,
        reply_to: part("thread_ts").filter(|thread| *thread != ts).and_then(clean::id),
        button: None,
        attachments,
    })
}

fn file(file: &Value) -> Option<Attachment> {
    let part = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or_default();
    Some(Attachment {
        name: clean::file_name(part("name")),
        media_type: clean::media_type(part("mimetype")),
        bytes: file.get("size").and_then(Value::as_u64).unwrap_or_default(),
        handle: clean::id(part("id"))?,
    })
}

/// The press of a button.
pub(super) fn of_press(payload: &Value) -> Option<Incoming> {
    let part = |path: &str| payload.pointer(path).and_then(Value::as_str);
    if part("/type") != Some("block_actions") {
        return None;
    }
    let (user, at) = (clean::id(part("/user/id")?)?, part("/actions/0/action_ts")?);
    let data = part("/actions/0/value").filter(|data| data.len() <= BUTTON_BYTES_MAX)?;
    let chat = clean::id(part("/channel/id")?)?;
    Some(Incoming {
        message_id: clean::id(&format!("press:{user}:{at}"))?,
        is_group: !chat.starts_with('D'),
        chat,
        sender: user,
        sender_name: String::new(),
        sent_at: ms_of(at)?,
        text: String::new(),
        reply_to: part("/message/ts").and_then(clean::id),
        button: Some(data.to_owned()),
        attachments: Vec::new(),
    })
}

/// Words as a person reads them: what Slack puts in angle brackets is written out, what it escapes stands for itself.
fn unmarked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let Some((mark, behind)) = after.split_once('>') else {
            out.push('<');
            rest = after;
            continue;
        };
        let (to, label) = mark.split_once('|').unwrap_or((mark, ""));
        match (to.chars().next(), label) {
            (Some('@' | '#'), "") => out.push_str(to),
            (Some(sign @ ('@' | '#')), label) => {
                out.push(sign);
                out.push_str(label);
            }
            (Some('!'), "") => out.push_str(&to.replacen('!', "@", 1)),
            (Some('!'), label) => out.push_str(label),
            (_, label) if label.is_empty() || label == to => out.push_str(to),
            (_, label) => out.push_str(&format!("{label} ({to})")),
        }
        rest = behind;
    }
    out.push_str(rest);
    out.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::{ms_of, ts_of, unmarked};

    #[test]
    fn times_are_read_and_written() {
        assert_eq!(ms_of("1700000000.123456"), Some(1_700_000_000_123));
        assert_eq!(ts_of(1_700_000_000_123), "1700000000.123000");
        assert_eq!((ms_of("x.1"), ms_of("17"), ms_of("99999999999999999999.1")), (None, None, None));
    }

    #[test]
    fn words_are_what_a_person_reads() {
        assert_eq!(
            unmarked("<@U1> see <https://x.example|here> in <#C1|general>, <!here> &lt;b&gt; &amp;lt; < x"),
            "@U1 see here (https://x.example) in #general, @here <b> &lt; < x"
        );
    }
}
