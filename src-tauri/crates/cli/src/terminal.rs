//! The controlling terminal, opened by us: standard input may be a pipe, a file or a program.

use crate::terminal_modes::{self, Modes, Tty, When};
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::time::Duration;
use wire::{Code, Error};
use zeroize::Zeroizing;

/// Keys pressed within this time after a card was shown are thrown away (governance.md 2).
pub const ARMING: Duration = Duration::from_millis(500);
/// Longer answers are nonsense.
pub const LINE_BYTES_MAX: usize = 4_096;

/// What a person typed.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    /// A line, without its end.
    Line(Zeroizing<String>),
    /// Ctrl-C, Ctrl-D, or the terminal is gone: nothing was answered.
    Nothing,
}

/// What is shown of what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// Everything.
    Shown,
    /// Nothing.
    Hidden,
    /// What may still become one of these words; a passphrase that is typed here by mistake shows as dots.
    Words(&'static [&'static str]),
}

impl Echo {
    /// What is shown of one more key, when this much has been typed with it.
    fn of(self, typed: &[u8], key: u8) -> Option<char> {
        match self {
            Self::Hidden => None,
            Self::Shown => Some(char::from(key)),
            Self::Words(words) => {
                let begun = typed.to_ascii_lowercase();
                let fits = words.iter().any(|word| word.as_bytes().starts_with(&begun));
                Some(if fits { char::from(key) } else { '•' })
            }
        }
    }

    /// What is shown of all that was typed.
    pub fn shown(self, typed: &str) -> String {
        let bytes = typed.as_bytes();
        let ends = typed.char_indices().map(|(at, c)| (at + c.len_utf8(), c));
        ends.filter_map(|(end, c)| {
            let (until, key) = (bytes.get(..end)?, *bytes.get(end.checked_sub(1)?)?);
            self.of(until, key).map(|shown| if shown == '•' { shown } else { c })
        })
        .collect()
    }
}

/// Columns of the terminal, where it says how many.
pub fn columns() -> Option<usize> {
    let (columns, _) = terminal_modes::stdout_size()?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

/// Rows of the terminal; what is usual where it does not say.
pub fn rows() -> usize {
    const USUAL: usize = 24;
    let size = terminal_modes::stdout_size();
    size.map(|(_, rows)| usize::from(rows)).filter(|rows| *rows > 0).unwrap_or(USUAL)
}

/// The terminal this process is controlled by.
pub struct Terminal {
    file: Tty,
}

/// The terminal, until it is put back as it was.
pub struct Silence {
    file: Tty,
    before: Modes,
}

impl Drop for Silence {
    fn drop(&mut self) {
        let _ = self.before.give_to(&self.file, When::Drain);
    }
}

fn refused(error: impl std::fmt::Display) -> Error {
    Error::new(Code::Failed, format!("the terminal refuses: {error}"))
}

impl Terminal {
    /// The controlling terminal, when there is one and a person sees what this process prints.
    pub fn open() -> Option<Self> {
        let seen = std::io::stdout().is_terminal() || std::io::stderr().is_terminal();
        let file = terminal_modes::controlling()?;
        (seen && file.is_terminal()).then_some(Self { file })
    }

    /// The same terminal for another holder of it.
    ///
    /// # Errors
    /// As [`Self::copy`].
    pub fn again(&self) -> Result<Self, Error> {
        self.copy().map(|file| Self { file })
    }

    /// A terminal of a test.
    #[cfg(test)]
    pub const fn of(file: Tty) -> Self {
        Self { file }
    }

    /// Whether it says how many columns and rows it has.
    pub fn is_sized(&self) -> bool {
        terminal_modes::size(&self.file).is_some_and(|(columns, rows)| columns > 0 && rows > 0)
    }

    /// Prints to the terminal itself.
    pub fn print(&self, text: &str) {
        let _ = (&self.file).write_all(text.as_bytes());
    }

    /// Waits until whoever sees the card has had time to see it, and throws away what was typed before.
    pub fn arm(&self) {
        std::thread::sleep(ARMING);
        terminal_modes::forget_typed(&self.file);
    }

    /// Shows nothing of what is typed until the guard goes: while a key is opened somebody may still be typing its
    /// passphrase. Ctrl-C is not heard meanwhile, because a process that ends here would leave the terminal mute.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn silence(&self) -> Result<Silence, Error> {
        let before = Modes::of(&self.file).map_err(refused)?;
        self.set(When::Now, &before.silent(), before)
    }

    /// Every key by itself and none of them shown, none waited for, until the guard goes; for a screen of its own.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn raw(&self) -> Result<Silence, Error> {
        let before = Modes::of(&self.file).map_err(refused)?;
        self.set(When::Flush, &before.raw(), before)
    }

    fn set(&self, when: When, modes: &Modes, before: Modes) -> Result<Silence, Error> {
        let file = self.copy()?;
        modes.give_to(&file, when).map_err(refused)?;
        Ok(Silence { file, before })
    }

    /// The same terminal once more.
    ///
    /// # Errors
    /// When no more files can be opened.
    pub fn copy(&self) -> Result<Tty, Error> {
        self.file.try_clone().map_err(refused)
    }

    /// Asks for a line. What was typed before the question does not answer it.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn ask(&self, question: &str, echo: Echo) -> Result<Typed, Error> {
        let before = Modes::of(&self.file).map_err(refused)?;
        // `Flush` drops what was typed and not yet read.
        let _restore = self.set(When::Flush, &before.by_key(), before)?;
        self.print(question);
        let typed = self.read(echo);
        self.print("\r\n");
        Ok(typed)
    }

    fn read(&self, echo: Echo) -> Typed {
        let mut bytes: Zeroizing<Vec<u8>> = Zeroizing::new(Vec::with_capacity(LINE_BYTES_MAX));
        let mut byte = [0];
        loop {
            match (&self.file).read(&mut byte) {
                Ok(1) => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                _ => return Typed::Nothing,
            }
            let [key] = byte;
            match key {
                b'\r' | b'\n' => {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    return Typed::Line(Zeroizing::new(text));
                }
                0x03 | 0x04 => return Typed::Nothing,
                0x08 | 0x7f => {
                    // Back over one character, which may be several bytes.
                    let any = !bytes.is_empty();
                    while bytes.pop().is_some_and(|b| b & 0xc0 == 0x80) {}
                    if any && echo != Echo::Hidden {
                        self.print("\u{8} \u{8}");
                    }
                }
                0x15 => {
                    let shown = String::from_utf8_lossy(&bytes).chars().count();
                    bytes.clear();
                    if echo != Echo::Hidden {
                        self.print(&"\u{8} \u{8}".repeat(shown));
                    }
                }
                key if key >= 0x20 && bytes.len() < LINE_BYTES_MAX => {
                    bytes.push(key);
                    match echo.of(&bytes, key) {
                        Some('•') if key & 0xc0 == 0x80 => {}
                        Some('•') => self.print("•"),
                        Some(_) => {
                            let _ = (&self.file).write_all(&[key]);
                        }
                        None => {}
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passphrase_typed_where_a_word_is_asked_for_is_not_shown() {
        let echo = Echo::Words(&["yes", "high"]);
        let shown: String =
            (1..=9).filter_map(|n| echo.of(&b"hunter two"[..n], b"hunter two"[n - 1])).collect();
        assert_eq!(shown, "h••••••••");
        assert_eq!(echo.of(b"HIG", b'G'), Some('G'));
        assert_eq!(Echo::Hidden.of(b"x", b'x'), None);
        assert_eq!(echo.shown("hunter two"), format!("{shown}•"));
        assert_eq!((echo.shown("hühner"), Echo::Shown.shown("hühner")), ("h•••••".into(), "hühner".into()));
        assert_eq!(Echo::Hidden.shown("hunter two"), "");
    }
}
