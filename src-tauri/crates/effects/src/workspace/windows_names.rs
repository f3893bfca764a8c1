//! Names that Windows cannot hold, or takes for another name. A change set may come from a machine that holds them: a project of
//! Linux, a bundle, a model that knows no better.

use model::RelPath;
use std::collections::BTreeMap;

/// The longest name, in units of UTF-16.
const UNITS_MAX: usize = 255;

/// Names of devices, which each folder has, with any ending.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// Beginnings of names of devices that a digit follows.
const NUMBERED: [&str; 2] = ["COM", "LPT"];

/// Why Windows cannot hold a name of one part, as the rest of a sentence about it; none where it can.
pub(crate) fn unheld(name: &str) -> Option<&'static str> {
    let is_sign = |c: char| c < ' ' || matches!(c, '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*');
    if name.contains(is_sign) {
        return Some(
            "holds a sign that no name may have there: one of `< > : \" / \\ | ? *`, or one that is not seen",
        );
    }
    if name.ends_with(['.', ' ']) {
        return Some("ends with a dot or a space, which is dropped there");
    }
    if name.encode_utf16().count() > UNITS_MAX {
        return Some("is longer than 255 signs");
    }
    is_device(name).then_some("is what a device is called there, with whatever ending")
}

fn is_device(name: &str) -> bool {
    let begin = name.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_uppercase();
    let numbered = |device: &&str| {
        let number = begin.strip_prefix(*device).map(|rest| rest.chars().collect::<Vec<char>>());
        matches!(number.as_deref(), Some(['1'..='9' | '¹' | '²' | '³']))
    };
    DEVICES.contains(&begin.as_str()) || NUMBERED.iter().any(numbered)
}

/// Whether a name may be the short one that Windows gives to what has a longer one: eight letters at most, a number behind `~` at
/// their end, and an ending of three at most.
pub(crate) fn looks_short(name: &str) -> bool {
    let (begin, ending) = name.split_once('.').unwrap_or((name, ""));
    let number = begin.rsplit_once('~').map(|(_, number)| number).unwrap_or_default();
    let is_numbered = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    is_numbered && begin.chars().count() <= 8 && ending.chars().count() <= 3 && !ending.contains('.')
}

/// Why a set of paths cannot all be made on Windows: a name that it cannot hold, or two that it takes for one. None where they can.
pub(crate) fn refusal<'a>(paths: impl Iterator<Item = &'a RelPath>) -> Option<String> {
    let mut seen: BTreeMap<String, RelPath> = BTreeMap::new();
    for path in paths {
        let mut at = path.clone();
        while !at.is_root() {
            let Ok(name) = std::str::from_utf8(at.file_name()) else {
                return Some(format!(
                    "`{at}` is not UTF-8, which a name is on Windows; give it another name"
                ));
            };
            if let Some(why) = unheld(name) {
                return Some(format!("Windows cannot hold `{at}`: `{name}` {why}; give it another name"));
            }
            let other = seen.entry(folded(&at.display_lossy())).or_insert_with(|| at.clone());
            if *other != at {
                return Some(format!(
                    "`{other}` and `{at}` differ in case alone, and Windows takes them for one; give one of them another name"
                ));
            }
            at = at.parent();
        }
    }
    None
}

/// A path as Windows compares it: letter by letter in capitals, where a letter has one.
fn folded(path: &str) -> String {
    let capital = |letter: char| {
        let mut capitals = letter.to_uppercase();
        match (capitals.next(), capitals.next()) {
            (Some(one), None) => one,
            _ => letter,
        }
    };
    path.chars().map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(paths: &[&str]) -> Option<String> {
        let paths: Vec<RelPath> =
            paths.iter().filter_map(|path| RelPath::from_bytes(path.as_bytes()).ok()).collect();
        refusal(paths.iter())
    }

    #[test]
    fn names_that_windows_cannot_hold_are_refused_in_every_part_of_a_path() {
        for name in [
            "con",
            "NUL",
            "Aux.txt",
            "prn.tar.gz",
            "com1",
            "LPT9.log",
            "COM¹",
            "conin$",
            "nul .txt",
            "a:b",
            "a?",
            "*",
            "a\\b",
            "tab\there",
            "a<b",
            "a|b",
            "quote\"",
            "dot.",
            "space ",
            "...",
        ] {
            assert!(unheld(name).is_some(), "{name}");
            let inside = refused(&[&format!("src/{name}/main.rs")]);
            assert!(inside.is_some_and(|why| why.contains("give it another name")), "{name}");
        }
        for name in [
            "console", "com", "com10", "com0", "nul_", "aux-1", ".git", "a.b.c", "COMMON", "ä", "com1x",
            "null",
        ] {
            assert_eq!(unheld(name), None, "{name}");
        }
        assert_eq!((unheld(&"x".repeat(255)), unheld(&"𝄞".repeat(127))), (None, None));
        assert!(unheld(&"x".repeat(256)).is_some() && unheld(&"𝄞".repeat(128)).is_some());
        let raw = RelPath::from_bytes(b"a/\xff");
        assert!(raw.is_ok_and(|raw| refusal([&raw].into_iter()).is_some_and(|why| why.contains("UTF-8"))));
    }

    #[test]
    fn a_short_name_is_known_by_its_number() {
        for name in ["SECRET~1", "git~1", "CREDEN~2.TXT", "A~123456", "AB12CD~1.C", "~1", "Ä~1.x"] {
            assert!(looks_short(name), "{name}");
        }
        for name in
            ["~$doc.doc", "a~", "a~b", "a~1b", "secrets~1", "a~1.html", "a~1.b.c", "notes.txt", "a.b~1"]
        {
            assert!(!looks_short(name), "{name}");
        }
    }

    #[test]
    fn paths_that_differ_in_case_alone_are_refused_together_and_held_alone() {
        for pair in [["README.md", "readme.md"], ["src/a", "Src/b"], ["Ärger", "ärger"], ["x/Y/z", "x/y"]] {
            let why = refused(&pair);
            assert!(why.is_some_and(|why| why.contains("differ in case alone")), "{pair:?}");
            assert_eq!((refused(&pair[..1]), refused(&pair[1..])), (None, None));
        }
        assert_eq!(refused(&["src/a", "src/b", "src/a", "src", "lib/a"]), None);
        assert_eq!(refused(&["straße", "STRASSE"]), None, "a letter stays one letter");
    }
}
