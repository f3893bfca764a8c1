//! What is printed: wire's types as JSON, or lines for a person.

use serde::Serialize;
use std::io::{IsTerminal as _, Write as _};
use wire::Error;

/// How something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    Plain,
    /// A heading.
    Bold,
    /// Beside the point.
    Faint,
    /// It worked.
    Good,
    /// Look here.
    Warn,
    /// It destroys, or it failed.
    Bad,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "31",
        }
    }
}

/// A line in its tone.
pub type Row = (Tone, String);

/// Whether a line is shown as it is: one of a file, or of what a program printed.
pub fn is_verbatim(text: &str) -> bool {
    text.starts_with("      ")
}

/// Whether the person wants colours, and the terminal knows them.
pub fn coloured() -> bool {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    wanted && std::env::var("TERM").is_ok_and(|term| term != "dumb")
}

/// Where words go.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    json: bool,
    colour: bool,
}

impl Output {
    /// Output of this process.
    pub fn new(json: bool) -> Self {
        Self { json, colour: coloured() && !json && std::io::stdout().is_terminal() }
    }

    /// Whether wire's types are printed.
    pub const fn is_json(&self) -> bool {
        self.json
    }

    /// Text in a tone, where colours are shown; colour never says what the words do not.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        match tone.code() {
            code if self.colour && !code.is_empty() => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            _ => text.to_owned(),
        }
    }

    /// One line for a person; nothing with `--json`. As [`Self::say`].
    pub fn line(&self, text: impl AsRef<str>) {
        self.say(Tone::Plain, text);
    }

    /// One line in a tone, broken between words where the screen is narrower, unless it is verbatim.
    pub fn say(&self, tone: Tone, text: impl AsRef<str>) {
        let text = text.as_ref();
        match crate::terminal::columns().filter(|_| !is_verbatim(text)) {
            Some(columns) => text.split('\n').for_each(|line| {
                crate::text::wrap(line, columns).iter().for_each(|part| self.whole(tone, part));
            }),
            None => self.whole(tone, text),
        }
    }

    /// One line in a tone, as it is: what somebody copies or compares, such as a row of a table.
    pub fn whole(&self, tone: Tone, text: &str) {
        if !self.json {
            print(&self.paint(tone, text));
        }
    }

    /// Lines in their tones.
    pub fn rows(&self, rows: &[Row]) {
        rows.iter().for_each(|(tone, text)| self.say(*tone, text));
    }

    /// An answer: wire's type with `--json`, else what `show` prints.
    ///
    /// # Errors
    /// When it has no JSON form, which would be a fault of ours.
    pub fn answer<T: Serialize>(&self, answer: &T, show: impl FnOnce(&Self, &T)) -> Result<(), Error> {
        if self.json {
            let text = serde_json::to_string_pretty(answer)
                .map_err(|e| Error::new(wire::Code::Failed, e.to_string()))?;
            print(&text);
        } else {
            show(self, answer);
        }
        Ok(())
    }

    /// One JSON line of a stream; nothing without `--json`.
    ///
    /// # Errors
    /// As [`Self::answer`].
    pub fn stream<T: Serialize>(&self, item: &T) -> Result<(), Error> {
        if self.json {
            print(&serde_json::to_string(item).map_err(|e| Error::new(wire::Code::Failed, e.to_string()))?);
        }
        Ok(())
    }

    /// What went wrong, on standard error: `message`, then `hint`.
    pub fn error(&self, error: &Error) {
        if self.json {
            let text = serde_json::to_string(error).unwrap_or_else(|_| error.message.clone());
            let _ = writeln!(std::io::stderr(), "{text}");
            return;
        }
        let colour = self.colour && std::io::stderr().is_terminal();
        let head = if colour { "\u{1b}[31merror:\u{1b}[0m" } else { "error:" };
        aside(&format!("{head} {}", crate::text::paragraph(&error.message)));
        if !error.hint.is_empty() {
            aside(&format!(" hint: {}", crate::text::paragraph(&error.hint)));
        }
    }

    /// A word beside the point, on standard error, so that standard output stays what was asked for.
    pub fn note(&self, text: impl AsRef<str>) {
        if !self.json {
            aside(text.as_ref());
        }
    }
}

/// Words on standard error, broken between words where that is a screen.
fn aside(text: &str) {
    let columns = crate::terminal::columns().filter(|_| std::io::stderr().is_terminal());
    let mut err = std::io::stderr().lock();
    for line in text.split('\n') {
        match columns {
            Some(columns) => crate::text::wrap(line, columns).iter().for_each(|part| {
                let _ = writeln!(err, "{part}");
            }),
            None => {
                let _ = writeln!(err, "{line}");
            }
        }
    }
}

/// A line on standard output. Whoever closed the pipe has read enough.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
        std::process::exit(i32::from(wire::exit::DONE));
    }
}

/// Columns, each as wide as its widest cell.
pub fn table(out: &Output, head: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain(head.get(column).map(|h| h.chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let join = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let head: Vec<String> = head.iter().map(|h| (*h).to_owned()).collect();
    out.whole(Tone::Faint, &join(&head));
    rows.iter().for_each(|row| out.whole(Tone::Plain, &join(row)));
}
