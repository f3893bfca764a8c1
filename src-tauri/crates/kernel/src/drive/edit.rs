//! An edit: pieces of a text that stand there exactly once, replaced by others.

use super::normalise::{Unfit, would_lose};
use crate::ports::Executors;
use iteration::{Edit, ProposedChange};
use model::RelPath;
use model::action::Prior;
use std::borrow::Cow;

/// Places that a refusal names.
const PLACES_MAX: usize = 8;
/// Characters of a line that a refusal shows.
const SHOWN_CHARS_MAX: usize = 200;

/// The same changes, with edits of one file that follow each other as one: each of them is of what the earlier left.
pub(super) fn joined(proposed: &[ProposedChange]) -> Vec<ProposedChange> {
    let mut all: Vec<ProposedChange> = Vec::with_capacity(proposed.len());
    for change in proposed {
        match (all.last_mut(), change) {
            (
                Some(ProposedChange::Edit { path, edits }),
                ProposedChange::Edit { path: same, edits: more },
            ) if path == same => edits.extend(more.iter().cloned()),
            _ => all.push(change.clone()),
        }
    }
    all
}

/// The text with its pieces replaced.
///
/// # Errors
/// Words for the model: which piece does not stand there once, how often it does and where.
pub(super) fn applied(path: &RelPath, text: &str, edits: &[Edit]) -> Result<String, String> {
    let mut text = text.to_owned();
    let many = edits.len() > 1;
    for (number, edit) in (1..).zip(edits) {
        let name = if many { format!("edit {number}: its `old`") } else { "`old`".to_owned() };
        let (old, new) = as_the_file_ends_its_lines(&text, edit);
        let places: Vec<usize> = text.match_indices(old.as_str()).map(|(at, _)| at).collect();
        match places.as_slice() {
            [at] => text.replace_range(*at..at.saturating_add(old.len()), &new),
            [] => {
                return Err(format!(
                    "nothing was changed: {name} does not stand in `{path}`{}",
                    near(&text, &old)
                ));
            }
            several => {
                let lines: Vec<String> =
                    several.iter().take(PLACES_MAX).map(|at| line_of(&text, *at).to_string()).collect();
                let more = if several.len() > PLACES_MAX { " and further" } else { "" };
                return Err(format!(
                    "nothing was changed: {name} stands {} times in `{path}`, at lines {}{more}; take more of the lines \
                     around it, so that it stands there once",
                    several.len(),
                    lines.join(", ")
                ));
            }
        }
    }
    Ok(text)
}

/// A model writes line feeds; where every line of the file ends otherwise, its pieces do too.
fn as_the_file_ends_its_lines(text: &str, edit: &Edit) -> (String, String) {
    let windows = text.contains("\r\n") && !edit.old.contains('\r');
    if !windows || text.contains(&edit.old) && !edit.new.contains('\n') {
        return (edit.old.clone(), edit.new.clone());
    }
    let ends = |piece: &str| piece.replace("\r\n", "\n").replace('\n', "\r\n");
    (ends(&edit.old), ends(&edit.new))
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.matches('\n').count()).saturating_add(1)
}

/// Where something like it stands, when its first words do with other white space around them.
fn near(text: &str, old: &str) -> String {
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = old.lines().map(squeezed).find(|line| !line.is_empty());
    let again = "; read it again and copy the text as it stands there, white space too";
    let Some(first) = first else { return again.to_owned() };
    let found = (1_usize..).zip(text.lines()).find(|(_, line)| squeezed(line).contains(&first));
    match found {
        Some((number, line)) => {
            let line: String = line.chars().take(SHOWN_CHARS_MAX).collect();
            format!("; something like it stands at line {number}, word for word: {line:?}")
        }
        None => again.to_owned(),
    }
}

/// The text that a write or an edit leaves in a file.
pub(super) fn content_of<'c>(
    redactor: &redact::Redactor,
    executors: &dyn Executors,
    item: &'c ProposedChange,
    prior: &Prior,
) -> Result<Cow<'c, str>, Unfit> {
    match (item, prior) {
        (ProposedChange::Write { path, content }, _) => match would_lose(executors, path, content, prior) {
            Some(why) => Err(why),
            None => Ok(Cow::Borrowed(content)),
        },
        (ProposedChange::Edit { path, edits }, Prior::Sha256(digest)) => {
            let Some(bytes) = executors.texts(std::slice::from_ref(path)).remove(digest) else {
                return Err(Unfit(format!("`{path}` is too long to be edited; change it with a command")));
            };
            let held = redactor.holds(&bytes);
            if !held.is_empty() {
                return Err(Unfit(format!(
                    "`{path}` holds the value of {}: leave this file to the person",
                    crate::redaction::named(held)
                )));
            }
            let text = String::from_utf8(bytes)
                .map_err(|_| Unfit(format!("`{path}` is not text in UTF-8; change it with a command")))?;
            applied(path, &text, edits).map(Cow::Owned).map_err(Unfit)
        }
        (ProposedChange::Edit { path, .. }, _) => {
            Err(Unfit(format!("there is no file `{path}` to edit; create it with `write`")))
        }
        (ProposedChange::Delete { .. } | ProposedChange::Move { .. }, _) => {
            Err(Unfit("this change has no text".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    fn edit(old: &str, new: &str) -> Edit {
        Edit { old: old.to_owned(), new: new.to_owned() }
    }

    fn run(text: &str, edits: &[Edit]) -> Result<String, String> {
        applied(&"a.txt".parse().expect("a path"), text, edits)
    }

    #[test]
    fn a_piece_that_stands_there_once_is_replaced_and_the_rest_stays() {
        assert_eq!(run("one\ntwo\nthree\n", &[edit("two", "2"), edit("2\nthree", "3")]).unwrap(), "one\n3\n");
        assert_eq!(run("a\r\nb\r\nc\r\n", &[edit("a\nb", "x\ny")]).unwrap(), "x\r\ny\r\nc\r\n");
        assert_eq!(run("a\r\nb\r\n", &[edit("b", "p\nq")]).unwrap(), "a\r\np\r\nq\r\n");
        assert_eq!(run("größe\n", &[edit("ö", "oe")]).unwrap(), "groeße\n");
    }

    #[test]
    fn a_piece_that_does_not_says_how_often_it_stands_there_and_where() {
        let twice = run("x = 1\ny\nx = 1\n", &[edit("x = 1", "x = 2")]).unwrap_err();
        assert!(twice.contains("stands 2 times") && twice.contains("lines 1, 3"), "{twice}");
        let near = run("if a {\n\tb();\n}\n", &[edit("  b();", "c();")]).unwrap_err();
        assert!(near.contains("line 2") && near.contains("\\tb();"), "{near}");
        let none = run("a\n", &[edit("a", "b"), edit("a", "c")]).unwrap_err();
        assert!(none.contains("edit 2") && none.contains("read it again"), "{none}");
    }
}
