//! The statement of sources that a change carries: what it was written from, what was looked at, and that nothing is copied.

/// Bytes of one statement.
const STATEMENT_BYTES_MAX: usize = 64 * 1024;
/// What stands where there is nothing.
const NOTHING: &str = "nothing";

/// A statement of sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The requirements and contracts that it was written from.
    pub written_from: Vec<String>,
    /// Names of study material that its author, person or model, was given to read.
    pub studied: Vec<String>,
    /// Third-party packages that it adds to those that are depended on.
    pub adds: Vec<String>,
}

impl Statement {
    /// Reads the lines `Written-from:`, `Studied:`, `Copied:` and `Adds:` of a text; each holds names, or `nothing`.
    ///
    /// # Errors
    /// In words, when a line is missing or stands twice, it was written from nothing, or something is copied.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.len() > STATEMENT_BYTES_MAX {
            return Err(format!("the statement has more than {STATEMENT_BYTES_MAX} bytes"));
        }
        let written_from = names(text, "Written-from")?;
        if written_from.is_empty() {
            return Err(
                "the statement names no requirement and no contract that the change was written from"
                    .to_owned(),
            );
        }
        let copied = names(text, "Copied")?;
        if let Some(first) = copied.first() {
            return Err(format!(
                "`{first}` is copied: code is written from the specification, or depended on as a package"
            ));
        }
        Ok(Self { written_from, studied: names(text, "Studied")?, adds: names(text, "Adds")? })
    }
}

fn names(text: &str, word: &str) -> Result<Vec<String>, String> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix(word)?.strip_prefix(':'));
    let lines: Vec<&str> = lines.map(str::trim).collect();
    match lines.as_slice() {
        [] | [""] => Err(format!("the statement lacks a line `{word}:`; `{NOTHING}` is an answer")),
        [NOTHING] => Ok(Vec::new()),
        [line] => {
            Ok(line.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect())
        }
        _ => Err(format!("the statement has more than one line `{word}:`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str =
        "Written-from: HV-1-4, successor.md 5\nStudied: lamp\nCopied: nothing\nAdds: nothing\n";

    #[test]
    fn a_statement_says_what_a_change_was_written_from_and_that_nothing_is_copied() {
        let said = Statement::read(WHOLE).expect("it is whole");
        assert_eq!(said.written_from, ["HV-1-4", "successor.md 5"]);
        assert_eq!((said.studied, said.adds), (vec!["lamp".to_owned()], Vec::new()));
    }

    #[test]
    fn a_statement_that_is_silent_or_names_a_copy_is_refused() {
        for (from, to, says) in [
            ("Copied: nothing", "Copied: lamp/fold.c", "`lamp/fold.c` is copied"),
            ("Written-from: HV-1-4, successor.md 5", "Written-from: nothing", "no requirement"),
            ("Studied: lamp\n", "", "lacks a line `Studied:`"),
            ("Adds: nothing", "Adds:", "lacks a line `Adds:`"),
            ("Adds: nothing", "Adds: nothing\nCopied: nothing", "more than one line `Copied:`"),
        ] {
            let why = Statement::read(&WHOLE.replace(from, to)).expect_err(says);
            assert!(why.contains(says), "{why}");
        }
    }
}
