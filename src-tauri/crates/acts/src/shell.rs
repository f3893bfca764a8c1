//! Which commands a command is: one, or all those that a shell would be told to run.
//!
//! A reader of a part of the POSIX grammar, on purpose: what it does not know for sure (substitutions, redirections,
//! assignments, compound commands, here-documents, functions) it refuses, and nothing covers what it refuses.

use crate::programs;

/// Words that begin something else than a simple command.
const RESERVED: [&str; 20] = [
    "!", "{", "}", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time",
];
/// More of them.
const LOOPS: [&str; 2] = ["until", "while"];

/// One program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// Program and arguments. A word that the shell would still expand (a glob, a tilde, braces) is `None`: what it
    /// becomes is not known.
    pub words: Vec<Option<String>>,
}

/// The simple commands that a command consists of.
///
/// # Errors
/// Why it cannot be read for sure.
pub fn simple_commands(argv: &[String]) -> Result<Vec<Simple>, String> {
    let plain = || vec![Simple { words: argv.iter().cloned().map(Some).collect() }];
    let Some(program) = argv.first() else { return Err("it names no program".to_owned()) };
    if !programs::is_read_shell(program) {
        return Ok(plain());
    }
    match argv {
        [_, flag, script] if flag == "-c" || flag == "-ec" => read(script),
        // A script by its file name is a program like another: what it does is not in the words.
        [_, file] if !file.starts_with('-') => Ok(plain()),
        _ => Err(format!("what `{program}` would do with these words cannot be read for sure")),
    }
}

/// A word in the making.
#[derive(Default)]
struct Word {
    text: String,
    /// It was begun, also when it is empty (`''`).
    begun: bool,
    expands: bool,
    quoted: bool,
}

/// What is read so far.
#[derive(Default)]
struct Reader {
    commands: Vec<Simple>,
    words: Vec<Option<String>>,
    /// Something must follow: `&&`, `||` or `|` stood last.
    wants_more: bool,
}

impl Reader {
    fn end_word(&mut self, word: &mut Word) -> Result<(), String> {
        let Word { text, begun, expands, quoted } = std::mem::take(word);
        if !begun {
            return Ok(());
        }
        if self.words.is_empty() {
            if !quoted && (RESERVED.contains(&text.as_str()) || LOOPS.contains(&text.as_str())) {
                return Err(format!("`{text}` begins a compound command"));
            }
            if is_assignment(&text) {
                return Err("it sets a variable first".to_owned());
            }
        }
        self.words.push((!expands).then_some(text));
        self.wants_more = false;
        Ok(())
    }

    fn end_command(&mut self, binds: bool) -> Result<(), String> {
        if self.words.is_empty() {
            // `;` or a line end after `&&` is fine only as a line end, and that is not worth the doubt.
            return if binds || self.wants_more { Err("a command is missing".to_owned()) } else { Ok(()) };
        }
        self.commands.push(Simple { words: std::mem::take(&mut self.words) });
        self.wants_more = binds;
        Ok(())
    }
}

fn read(script: &str) -> Result<Vec<Simple>, String> {
    let mut reader = Reader::default();
    let mut word = Word::default();
    let mut rest = script.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' => reader.end_word(&mut word)?,
            '\n' | ';' => {
                if c == ';' && rest.peek() == Some(&';') {
                    return Err("`;;` belongs to a compound command".to_owned());
                }
                reader.end_word(&mut word)?;
                if c == ';' && reader.words.is_empty() {
                    return Err("a command is missing".to_owned());
                }
                reader.end_command(false)?;
            }
            '&' | '|' => {
                reader.end_word(&mut word)?;
                let twice = rest.next_if_eq(&c).is_some();
                if c == '|' && rest.peek() == Some(&'&') || c == '&' && !twice && rest.peek() == Some(&'>') {
                    return Err("a redirection".to_owned());
                }
                if reader.words.is_empty() {
                    return Err("a command is missing".to_owned());
                }
                reader.end_command(c == '|' || twice)?;
            }
            '\'' => single(&mut rest, &mut word)?,
            '"' => double(&mut rest, &mut word)?,
            '\\' => escaped(&mut rest, &mut word)?,
            '$' | '`' => return Err("a substitution".to_owned()),
            '<' | '>' => return Err("a redirection".to_owned()),
            '(' | ')' => return Err("a subshell or a function".to_owned()),
            '#' if !word.begun => return Err("a comment".to_owned()),
            '*' | '?' | '[' | ']' | '{' | '}' | '~' | '=' | '!' | '^' => special(c, &mut word),
            c if c.is_control() => return Err("a control character".to_owned()),
            c => plain(c, &mut word),
        }
    }
    reader.end_word(&mut word)?;
    reader.end_command(false)?;
    if reader.wants_more || reader.commands.is_empty() {
        return Err("a command is missing".to_owned());
    }
    Ok(reader.commands)
}

fn plain(c: char, word: &mut Word) {
    word.begun = true;
    word.text.push(c);
}

/// What some shell somewhere expands: taken as not known, but for `=` and `!` inside a word.
fn special(c: char, word: &mut Word) {
    word.expands |= !matches!(c, '=' | '!') || (!word.begun && c == '=');
    plain(c, word);
}

fn single(rest: &mut impl Iterator<Item = char>, word: &mut Word) -> Result<(), String> {
    (word.begun, word.quoted) = (true, true);
    loop {
        match rest.next() {
            Some('\'') => return Ok(()),
            Some(c) if c.is_control() => return Err("a control character".to_owned()),
            Some(c) => word.text.push(c),
            None => return Err("a quote is not closed".to_owned()),
        }
    }
}

fn double(rest: &mut impl Iterator<Item = char>, word: &mut Word) -> Result<(), String> {
    (word.begun, word.quoted) = (true, true);
    loop {
        match rest.next() {
            Some('"') => return Ok(()),
            Some('$' | '`') => return Err("a substitution".to_owned()),
            Some('!') => return Err("what some shells take for history".to_owned()),
            Some('\\') => match rest.next() {
                Some(c @ ('"' | '\\' | '$' | '`')) => word.text.push(c),
                Some('\n') | None => return Err("a line that goes on".to_owned()),
                Some(c) => word.text.extend(['\\', c]),
            },
            Some(c) if c.is_control() => return Err("a control character".to_owned()),
            Some(c) => word.text.push(c),
            None => return Err("a quote is not closed".to_owned()),
        }
    }
}

fn escaped(rest: &mut impl Iterator<Item = char>, word: &mut Word) -> Result<(), String> {
    word.quoted = true;
    match rest.next() {
        Some(c) if !c.is_control() => {
            plain(c, word);
            Ok(())
        }
        _ => Err("a line that goes on".to_owned()),
    }
}

/// `NAME=…`, also `NAME+=…` and `NAME[…]=…`.
fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.split('[').next().unwrap_or(name).trim_end_matches('+');
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
