//! Keys out of the bytes of a terminal. What is no key of ours, and no character, is nothing.

use crate::terminal_modes::{Modes, Tty, forget_typed};
use std::io::Read as _;
use std::time::{Duration, Instant};
use wire::{Code, Error};
use zeroize::Zeroizing;

/// An escape that nothing follows for so long is the key; before that it may begin another.
const ESCAPE: Duration = Duration::from_millis(60);
/// Bytes that are read at once.
const BYTES: usize = 256;
/// Bytes of a sequence that are kept; none of ours is longer.
const SEQUENCE: usize = 8;

/// What was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A character that can be seen.
    Char(char),
    Enter,
    Back,
    /// Ctrl-U.
    Clear,
    /// Esc or Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    End,
    Scroll(Scroll),
}

/// Where to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scroll {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

/// The keys of a terminal whose modes are raw.
pub struct Keys {
    file: Tty,
    parser: Parser,
}

impl Keys {
    pub const fn new(file: Tty) -> Self {
        Self { file, parser: Parser { state: State::Ground, since: None } }
    }

    /// What was pressed since, without waiting.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn pressed(&mut self) -> Result<Vec<Key>, Error> {
        let gone = || {
            Error::new(Code::Cancelled, "the terminal is gone")
                .hint("the task waits; look with `hermit task list`")
        };
        let mut bytes = Zeroizing::new([0; BYTES]);
        let mut keys = Vec::with_capacity(BYTES);
        match self.file.read(&mut *bytes) {
            Ok(0) => {
                // Nothing was pressed, or nobody is there any more.
                Modes::of(&self.file).map_err(|_| gone())?;
                keys.extend(self.parser.idle(Instant::now()));
            }
            Ok(read) => {
                let now = Instant::now();
                keys.extend(bytes.iter().take(read).filter_map(|byte| self.parser.push(*byte, now)));
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Err(gone()),
        }
        Ok(keys)
    }

    /// Throws away what was pressed and not yet heard.
    pub fn forget(&mut self) {
        forget_typed(&self.file);
        self.parser.state = State::Ground;
    }
}

struct Parser {
    state: State,
    /// When the last byte came.
    since: Option<Instant>,
}

enum State {
    Ground,
    /// After an escape.
    Escape,
    /// After an escape and an `O`.
    Single,
    /// After an escape and a `[`, with what came since.
    Sequence(Vec<u8>),
    /// Within a character of several bytes, which are so many.
    Wide(Vec<u8>, usize),
}

impl Parser {
    fn push(&mut self, byte: u8, now: Instant) -> Option<Key> {
        self.since = Some(now);
        let (next, key) = match std::mem::replace(&mut self.state, State::Ground) {
            State::Ground => ground(byte),
            State::Escape => match byte {
                b'[' => (State::Sequence(Vec::new()), None),
                b'O' => (State::Single, None),
                0x1b => (State::Escape, Some(Key::Interrupt)),
                0x03 => (State::Ground, Some(Key::Interrupt)),
                // A character with Alt.
                _ => (State::Ground, None),
            },
            State::Single => (State::Ground, named(&[], byte)),
            State::Sequence(mut bytes) => match byte {
                0x20..=0x3f => {
                    if bytes.len() < SEQUENCE {
                        bytes.push(byte);
                    }
                    (State::Sequence(bytes), None)
                }
                0x40..=0x7e => (State::Ground, named(&bytes, byte)),
                byte => ground(byte),
            },
            State::Wide(mut bytes, length) => {
                if byte & 0xc0 != 0x80 {
                    self.state = State::Ground;
                    return self.push(byte, now);
                }
                bytes.push(byte);
                match bytes.len() == length {
                    true => (State::Ground, std::str::from_utf8(&bytes).ok().and_then(seen)),
                    false => (State::Wide(bytes, length), None),
                }
            }
        };
        self.state = next;
        key
    }

    /// Nothing more came: an escape alone was the key.
    fn idle(&mut self, now: Instant) -> Option<Key> {
        let waited = now.saturating_duration_since(self.since?);
        if waited < ESCAPE || matches!(self.state, State::Ground) {
            return None;
        }
        let state = std::mem::replace(&mut self.state, State::Ground);
        matches!(state, State::Escape).then_some(Key::Interrupt)
    }
}

fn ground(byte: u8) -> (State, Option<Key>) {
    let key = match byte {
        0x1b => return (State::Escape, None),
        b'\r' | b'\n' => Some(Key::Enter),
        0x08 | 0x7f => Some(Key::Back),
        0x15 => Some(Key::Clear),
        0x03 => Some(Key::Interrupt),
        0x04 => Some(Key::End),
        0x20..=0x7e => Some(Key::Char(char::from(byte))),
        0xc2..=0xdf => return (State::Wide(vec![byte], 2), None),
        0xe0..=0xef => return (State::Wide(vec![byte], 3), None),
        0xf0..=0xf4 => return (State::Wide(vec![byte], 4), None),
        _ => None,
    };
    (State::Ground, key)
}

fn seen(text: &str) -> Option<Key> {
    text.chars().next().filter(|c| !c.is_control()).map(Key::Char)
}

/// The key of a sequence: its numbers, and the letter that ends it.
fn named(numbers: &[u8], letter: u8) -> Option<Key> {
    // `1;5A` is an arrow with Ctrl.
    let number = numbers.split(|byte| *byte == b';').next().unwrap_or_default();
    let scroll = match (number, letter) {
        (_, b'A') => Scroll::Up,
        (_, b'B') => Scroll::Down,
        (_, b'H') | (b"1" | b"7", b'~') => Scroll::First,
        (_, b'F') | (b"4" | b"8", b'~') => Scroll::Last,
        (b"5", b'~') => Scroll::PageUp,
        (b"6", b'~') => Scroll::PageDown,
        _ => return None,
    };
    Some(Key::Scroll(scroll))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut parser = Parser { state: State::Ground, since: None };
        let now = Instant::now();
        let mut keys: Vec<Key> = bytes.iter().filter_map(|byte| parser.push(*byte, now)).collect();
        assert_eq!(parser.idle(now), None, "it may be going on");
        keys.extend(parser.idle(now + ESCAPE));
        keys
    }

    #[test]
    fn bytes_are_keys_and_what_is_no_key_of_ours_is_nothing() {
        use Key::*;
        for (bytes, expected) in [
            (&b"y\r"[..], &[Char('y'), Enter][..]),
            (b"\x1b", &[Interrupt]),
            (b"\x1b\x1b", &[Interrupt, Interrupt]),
            (b"\x03", &[Interrupt]),
            (b"\x1b[A\x1bOB", &[Scroll(super::Scroll::Up), Scroll(super::Scroll::Down)]),
            (b"\x1b[5~\x1b[6~", &[Scroll(super::Scroll::PageUp), Scroll(super::Scroll::PageDown)]),
            (b"\x1b[H\x1b[4~", &[Scroll(super::Scroll::First), Scroll(super::Scroll::Last)]),
            (b"\x1b[1;5A", &[Scroll(super::Scroll::Up)]),
            // Pasted, from a mouse, or an answer of the terminal: no character of it is typed.
            (b"\x1b[200~\x1b[<0;3;4M\x1b[12;40R\x1b[99999999999999999999u", &[]),
            (b"\x1bx", &[]),
            ("é合😀".as_bytes(), &[Char('é'), Char('合'), Char('😀')]),
            (b"\xe5\x90y", &[Char('y')]),
            (b"\xff\xc3\x1b[B\x7f\x15\x04", &[Scroll(super::Scroll::Down), Back, Clear, End]),
            ("a\u{9b}b\u{85}".as_bytes(), &[Char('a'), Char('b')]),
        ] {
            assert_eq!(keys(bytes), expected, "{bytes:?}");
        }
    }
}
