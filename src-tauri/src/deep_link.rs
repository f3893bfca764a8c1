//! `hermit://approval/ID` and `hermit://task/ID`: words from anywhere, so they open a window and do nothing else.

use crate::window;
use tauri::AppHandle;
use tauri_plugin_deep_link::DeepLinkExt as _;

/// An identifier of ours is shorter.
const ID_CHARS_MAX: usize = 64;

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
pub enum Place<'l> {
    /// The card of an approval.
    Card(&'l str),
    /// A task.
    Task(&'l str),
    /// Just the app.
    App,
}

/// Listens for links of the system, and follows those this process was started with.
pub fn begin(app: &AppHandle, words: &[String]) {
    let handle = app.clone();
    app.deep_link().on_open_url(move |event| {
        let links: Vec<String> = event.urls().iter().map(ToString::to_string).collect();
        open_words(&handle, &links);
    });
    if words.iter().any(|word| place(word).is_some()) {
        open_words(app, words);
    }
}

/// Opens what the words name; without a link among them, the main window.
pub fn open_words(app: &AppHandle, words: &[String]) {
    match words.iter().find_map(|word| place(word)).unwrap_or(Place::App) {
        Place::Card(id) => window::card_from_outside(app, id),
        Place::Task(id) => window::main(app, Some(&format!("/task/{id}"))),
        Place::App => window::main(app, None),
    }
}

/// Reads a link. What is not exactly one of ours is none.
pub fn place(word: &str) -> Option<Place<'_>> {
    let rest = word.strip_prefix("hermit://")?;
    let mut parts = rest.trim_end_matches('/').splitn(2, '/');
    match (parts.next()?, parts.next()) {
        ("approval", Some(id)) if is_id(id, "apr_") => Some(Place::Card(id)),
        ("task", Some(id)) if is_id(id, "task_") => Some(Place::Task(id)),
        ("" | "open", None) => Some(Place::App),
        _ => None,
    }
}

fn is_id(text: &str, prefix: &str) -> bool {
    let rest = text.strip_prefix(prefix).unwrap_or_default();
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !rest.is_empty() && text.len() <= ID_CHARS_MAX && rest.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_names_a_card_a_task_or_the_app() {
        assert_eq!(place("hermit://approval/apr_0197-a"), Some(Place::Card("apr_0197-a")));
        assert_eq!(place("hermit://task/task_01/"), Some(Place::Task("task_01")));
        assert_eq!(place("hermit://open"), Some(Place::App));
    }

    #[test]
    fn a_link_that_says_more_is_no_link() {
        for word in [
            "hermit://approval/apr_1/allow",
            "hermit://approval/apr_1?choice=once",
            "hermit://approval/apr_1#x",
            "hermit://approval/apr_%2e",
            "hermit://approval/../task",
            "hermit://approval/task_1",
            "hermit://grant/apr_1",
            "hermit://approval/apr_",
            "https://approval/apr_1",
            "hermit:approval/apr_1",
            "--hidden",
        ] {
            assert_eq!(place(word), None, "{word}");
        }
        assert_eq!(place(&format!("hermit://approval/apr_{}", "a".repeat(100))), None);
    }
}
