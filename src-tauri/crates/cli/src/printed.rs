//! What a command printed, as the last lines of it stand in the story of its task.

use crate::output::{Row, Tone};
use crate::text::{clip, plain};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use host::Session;
use model::receipt::SandboxLevel;
use serde_json::Value;
use wire::artifacts::{Bytes, Content};

/// Lines of each stream.
const LINES: usize = 12;
/// Characters of a line.
const CHARS: usize = 400;
/// Bytes of a stored result that are read for it: beyond that the story only says how much was printed.
const RESULT_BYTES_MAX: u64 = 1024 * 1024;

/// Why a stored result is not read for the story.
enum Unread {
    TooLarge(u64),
    Broken,
}

/// The end of what the command of an `effect.observed` printed, or why it is not shown; nothing for other acts, and for one
/// that printed nothing.
pub fn printed(session: &Session, body: &Value) -> Vec<Row> {
    let Some(artifact) = body.pointer("/result/artifact_id").and_then(Value::as_str) else {
        return Vec::new();
    };
    let unread = match whole(session, artifact) {
        Ok(told) => {
            // Only a command has a transcript.
            let Some(transcript) = told.get("transcript").and_then(Value::as_str) else { return Vec::new() };
            match serde_json::from_str(transcript) {
                Ok(transcript) => return rows(&transcript),
                Err(_) => Unread::Broken,
            }
        }
        Err(unread) => unread,
    };
    let level = body.get("sandbox_level").and_then(Value::as_str).and_then(|level| level.parse().ok());
    match level {
        // No command, so nothing was printed.
        None | Some(SandboxLevel::Beneath | SandboxLevel::NotApplicable) => Vec::new(),
        Some(_) => vec![(Tone::Faint, unread_in_words(&unread, artifact))],
    }
}

fn unread_in_words(unread: &Unread, artifact: &str) -> String {
    match unread {
        Unread::TooLarge(bytes) => {
            format!("  What it printed is in {artifact}, with {bytes} bytes too long to be shown here.")
        }
        Unread::Broken => {
            format!("  What it printed cannot be read: `hermit artifacts show {artifact}` says why.")
        }
    }
}

/// A stored result as JSON, when it is not too large to be read for a few lines.
fn whole(session: &Session, artifact: &str) -> Result<Value, Unread> {
    let mut all = Vec::new();
    let mut offset = 0;
    loop {
        let content = Content { artifact: artifact.to_owned(), offset, limit: None };
        let Bytes { bytes, byte_size, next_offset, .. } =
            session.call(&content).map_err(|_| Unread::Broken)?;
        if byte_size > RESULT_BYTES_MAX {
            return Err(Unread::TooLarge(byte_size));
        }
        all.extend(STANDARD.decode(&bytes).map_err(|_| Unread::Broken)?);
        match next_offset {
            Some(next) if next > offset => offset = next,
            _ => return serde_json::from_slice(&all).map_err(|_| Unread::Broken),
        }
    }
}

fn rows(transcript: &Value) -> Vec<Row> {
    let faint = |text: String| (Tone::Faint, text);
    let mut rows = Vec::new();
    for (key, name) in [("stdout", "It printed"), ("stderr", "It printed as errors")] {
        let text = transcript.get(key).and_then(Value::as_str).unwrap_or_default();
        let bytes = transcript.get(format!("{key}_bytes")).and_then(Value::as_u64).unwrap_or_default();
        if bytes == 0 {
            continue;
        }
        if transcript.get(format!("{key}_encoding")).and_then(Value::as_str) == Some("base64") {
            rows.push(faint(format!("  {name} {bytes} bytes that are not text.")));
            continue;
        }
        let lines: Vec<&str> = text.lines().collect();
        let left = lines.len().saturating_sub(LINES);
        let more =
            if left > 0 { format!(", the last {LINES} of {} lines", lines.len()) } else { String::new() };
        rows.push(faint(format!("  {name}{more}:")));
        rows.extend(
            lines.iter().skip(left).map(|line| faint(format!("      {}", clip(&plain(line), CHARS)))),
        );
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_end_of_what_was_printed_is_told_and_moves_no_cursor() {
        let many: String = (1..=30).map(|n| format!("line {n}\n")).collect();
        let transcript = json!({
            "stdout": many, "stdout_encoding": "utf-8", "stdout_bytes": many.len(),
            "stderr": "\u{1b}[31mred\n", "stderr_encoding": "utf-8", "stderr_bytes": 8,
        });
        let said: Vec<String> = rows(&transcript).into_iter().map(|(_, text)| text).collect();
        assert_eq!(said.first().map(String::as_str), Some("  It printed, the last 12 of 30 lines:"));
        assert_eq!(said.get(1).map(String::as_str), Some("      line 19"));
        assert_eq!(said.len(), 1 + LINES + 2);
        assert!(said.last().is_some_and(|line| line.contains("red") && !line.contains('\u{1b}')), "{said:?}");
    }

    #[test]
    fn bytes_that_are_no_text_are_counted_and_nothing_is_said_of_nothing() {
        let bytes =
            json!({ "stdout": "AAEC", "stdout_encoding": "base64", "stdout_bytes": 3, "stderr_bytes": 0 });
        assert_eq!(rows(&bytes), vec![(Tone::Faint, "  It printed 3 bytes that are not text.".to_owned())]);
        assert!(
            rows(&json!({ "stdout": "", "stdout_bytes": 0 })).is_empty() && rows(&Value::Null).is_empty()
        );
    }
}
