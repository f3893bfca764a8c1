//! The seam to the task scheduler of Windows: where Hermit keeps the task's definition, and what `schtasks` is asked.

use super::asked::{Asked, ask, ask_soon};
use super::definition::TASK;
use super::{Stands, folder_of};
use std::path::{Path, PathBuf};

/// The definition's path; none where the folder for data is not known.
pub(super) fn file() -> Option<PathBuf> {
    folder_of("LOCALAPPDATA").map(|data| data.join("Hermit").join("service.xml"))
}

/// The person that the task belongs to, as Windows names them.
pub(super) fn user() -> String {
    let word = |name: &str| std::env::var(name).unwrap_or_default();
    match (word("USERDOMAIN"), word("USERNAME")) {
        (domain, user) if domain.is_empty() => user,
        (domain, user) => format!("{domain}\\{user}"),
    }
}

/// The text as the scheduler reads it: UTF-16 with its mark.
pub(super) fn encoded(text: &str) -> Vec<u8> {
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// The text of such a file; none for any other.
pub(super) fn decoded(bytes: &[u8]) -> Option<String> {
    let mut units =
        bytes.chunks_exact(2).filter_map(|pair| <[u8; 2]>::try_from(pair).ok()).map(u16::from_le_bytes);
    if !bytes.len().is_multiple_of(2) || units.next() != Some(0xFEFF) {
        return None;
    }
    String::from_utf16(&units.collect::<Vec<u16>>()).ok()
}

/// Starts the task now and with each login; one that runs is started again where its definition is another.
pub(super) fn begin(file: &Path, is_new: bool) -> Asked {
    let path = file.display().to_string();
    if is_new {
        let _ = ask("schtasks", &["/End", "/TN", TASK]);
    }
    match ask("schtasks", &["/Create", "/F", "/TN", TASK, "/XML", &path]) {
        Asked::Done(_) => ask("schtasks", &["/Run", "/TN", TASK]),
        asked => asked,
    }
}

/// Ends the task, and starts it with no login any more.
pub(super) fn end() -> Asked {
    if matches!(ask("schtasks", &["/Query", "/TN", TASK]), Asked::Failed(_)) {
        return Asked::Done(String::new());
    }
    let _ = ask("schtasks", &["/End", "/TN", TASK]);
    ask("schtasks", &["/Delete", "/F", "/TN", TASK])
}

/// Whether it runs. The words of the scheduler are those of the person's language, so a number is read.
pub(super) fn stands() -> Stands {
    let script = format!("(Get-ScheduledTask -TaskName '{TASK}' -ErrorAction Stop).State.value__");
    match ask_soon("powershell", &["-NoProfile", "-NonInteractive", "-Command", &script]) {
        Asked::Done(state) if state == "4" => Stands::Runs,
        Asked::Done(_) | Asked::Failed(_) => Stands::Ended("does not run".to_owned()),
        Asked::NotHere(why) => Stands::Unknown(why),
    }
}

/// How long it runs, in words.
pub(super) fn lasts() -> String {
    "It starts when you log in and ends when you log out.".to_owned()
}

/// What a person does where nobody could be asked.
pub(super) fn by_hand(file: &Path) -> String {
    format!("Start it with `schtasks /Create /F /TN {TASK} /XML \"{}\"`.", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_read_as_it_was_written_and_nothing_else_is() {
        for text in ["", "<Task>\n", "\u{e4}\u{1f642}"] {
            assert_eq!(decoded(&encoded(text)).as_deref(), Some(text));
        }
        for bytes in [&b"<Task>"[..], &[0xFF, 0xFE, 0x20], &[]] {
            assert_eq!(decoded(bytes), None);
        }
    }
}
