//! Help that fits the terminal: paragraphs are broken where the line ends, not where the source was.

use crate::args::Args;
use clap::{Command, CommandFactory as _};

/// How long a line of the source is at least, when it was broken for its length alone.
const SOURCE_COLUMNS: usize = 110;

/// The whole command with every text behind its options as paragraphs.
pub fn command() -> Command {
    flowing(Args::command())
}

fn flowing(mut command: Command) -> Command {
    if let Some(text) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(joined(&text));
    }
    command.mut_subcommands(flowing)
}

/// Lines that the source had to break become one; what is indented, and what was broken on purpose, stays.
fn joined(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    let mut before: Option<&str> = None;
    for line in text.lines() {
        let word = line.split(' ').next().unwrap_or_default();
        let flows = |before: &str| {
            let plain = |line: &str| !line.is_empty() && !line.starts_with(' ');
            let long = before.chars().count() + 1 + word.chars().count() > SOURCE_COLUMNS;
            plain(before) && plain(line) && (long || !before.ends_with(['.', ':']))
        };
        if let Some(before) = before {
            all.push(if flows(before) { ' ' } else { '\n' });
        }
        all.push_str(line);
        before = Some(line);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_joined_and_examples_and_lists_stay_as_they_are() {
        let long = "word ".repeat(23);
        let long = long.trim_end();
        let text = format!("{long}\nanother one.\nMeant.\n\nExamples:\n  {long}\n  more\nend");
        let wanted = format!("{long} another one.\nMeant.\n\nExamples:\n  {long}\n  more\nend");
        assert_eq!(joined(&text), wanted);
    }

    #[test]
    fn no_line_of_any_help_ends_in_the_middle_of_a_narrow_terminal() {
        fn walk(command: &mut Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            for columns in [72, 100] {
                let help =
                    command.clone().term_width(columns).max_term_width(columns).render_help().to_string();
                let lines: Vec<&str> = help.lines().collect();
                for pair in lines.windows(2) {
                    let [one, next] = pair else { continue };
                    let prose =
                        |line: &str| !line.is_empty() && !line.starts_with([' ', '-']) && line.contains(' ');
                    let word = next.split(' ').next().unwrap_or_default();
                    let short = one.chars().count() + 1 + word.chars().count() <= columns;
                    // A sentence may end early; a line that stops in the middle of one was broken twice.
                    let ended = one.ends_with(['.', ':', ';', ')', ',']) || one.starts_with("Usage");
                    assert!(
                        !(prose(one) && prose(next) && short && !ended),
                        "{path}, {columns} columns:\n{one}\n{next}"
                    );
                }
            }
            command.get_subcommands_mut().for_each(|inner| walk(inner, &path));
        }
        let mut whole = command();
        whole.build();
        walk(&mut whole, "");
    }
}
