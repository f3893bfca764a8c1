//! Bash breaks words also at `:` and `=`, gives them to the program in pieces, takes pieces back, and puts what it is
//! given into the line as it is.

use clap_complete::engine::complete;
use clap_complete::env::{Bash as Plain, EnvCompleter};
use std::ffi::OsString;
use std::io::{Result, Write};
use std::path::Path;

/// Bash, with words put together again before they are understood.
pub struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        Plain.name()
    }

    fn is(&self, name: &str) -> bool {
        Plain.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> Result<()> {
        let mut script = Vec::new();
        Plain.write_registration(var, name, bin, completer, &mut script)?;
        // Behind a `:` or `=` bash says that the word is empty, although it is the mark.
        let script = String::from_utf8_lossy(&script).replace(
            "words[COMP_CWORD]=\"$2\"",
            "[[ -z \"$2\" && \"${COMP_WORDS[COMP_CWORD]}\" == [:=]* ]] || words[COMP_CWORD]=\"$2\"",
        );
        out.write_all(script.as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut clap::Command,
        pieces: Vec<OsString>,
        here: Option<&Path>,
        out: &mut dyn Write,
    ) -> Result<()> {
        let variable = |name: &str| std::env::var(name).ok();
        let at = variable(super::INDEX).and_then(|at| at.parse().ok()).unwrap_or_default();
        let between = variable("_CLAP_IFS").unwrap_or_else(|| "\n".to_owned());
        let (words, at, before) = joined(&pieces, at);
        let found = complete(command, words, at, here)?;
        let mut found: Vec<_> = found.iter().map(|one| one.get_value().to_string_lossy()).collect();
        // Bash completes names of files itself where nothing is given, and writes them so that they stay names.
        if !found.iter().all(|value| is_plain(value)) {
            found.clear();
        }
        let found: Vec<&str> = found.iter().filter_map(|value| value.strip_prefix(before.as_str())).collect();
        out.write_all(found.join(&between).as_bytes())
    }
}

/// Whether a shell takes a text as it stands.
pub fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:#@%+=,".contains(c)) && !text.starts_with('#')
}

/// The words that were typed, which of them is completed, and the part of it that bash keeps by itself.
fn joined(pieces: &[OsString], at: usize) -> (Vec<OsString>, usize, String) {
    let is_mark = |piece: &OsString| {
        let text = piece.to_string_lossy();
        !text.is_empty() && text.chars().all(|c| matches!(c, ':' | '='))
    };
    let (mut words, mut word, mut before) = (Vec::<OsString>::new(), 0, String::new());
    let mut behind_mark = false;
    for (n, piece) in pieces.iter().enumerate() {
        let mark = is_mark(piece);
        match words.last_mut() {
            Some(last) if n > 1 && (mark || behind_mark) => {
                if n == at {
                    before = format!(
                        "{}{}",
                        last.to_string_lossy(),
                        if mark { piece.to_string_lossy() } else { "".into() }
                    );
                }
                last.push(piece);
            }
            _ => words.push(piece.clone()),
        }
        if n == at {
            word = words.len().saturating_sub(1);
        }
        behind_mark = mark;
    }
    (words, word, before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_word_are_put_together_and_what_bash_keeps_is_known() {
        let case = |pieces: &[&str], at: usize| {
            let pieces: Vec<OsString> = pieces.iter().map(OsString::from).collect();
            let (words, at, before) = joined(&pieces, at);
            (words[at].to_string_lossy().into_owned(), words.len(), before)
        };
        let text = |word: &str, many, before: &str| (word.to_owned(), many, before.to_owned());
        assert_eq!(case(&["hermit", "task", "show", ""], 3), text("", 4, ""));
        assert_eq!(
            case(&["hermit", "run", "--profile", "=", "lo"], 4),
            text("--profile=lo", 3, "--profile=")
        );
        assert_eq!(case(&["hermit", "run", "--profile", "="], 3), text("--profile=", 3, "--profile="));
        assert_eq!(
            case(&["hermit", "models", "use", "openai", ":", "http", ":", "//a"], 7),
            text("openai:http://a", 4, "openai:http:")
        );
        assert_eq!(case(&["hermit", "models", "use", "openai", ":"], 4), text("openai:", 4, "openai:"));
    }

    #[test]
    fn what_a_shell_would_run_or_expand_is_no_plain_text() {
        for plain in ["a1b2c3d4", "task_01", "openai:http://127.0.0.1:8080/v1#qwen", "readonly_analysis"] {
            assert!(is_plain(plain), "{plain}");
        }
        for other in ["$(id)", "a b", "`id`", "a;b", "*", "~/x", "a\u{202e}b", "#comment", "a'b", "a\nb"] {
            assert!(!is_plain(other), "{other}");
        }
    }
}
