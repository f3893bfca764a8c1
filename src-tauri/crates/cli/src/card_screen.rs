//! Where a person reads a card and answers it: line by line on a terminal, or on a screen of its own.
//!
//! A ceremony says what is read and what is asked; a front says how it looks. Whatever a front shows was made plain
//! before, or is made plain by it.

use crate::card::{Extent, printed};
use crate::output::{Output, Row};
use crate::terminal::{Echo, Silence, Terminal, Typed};
use crate::text::plain;
use wire::Error;

/// A person's place before a ceremony.
pub trait Front {
    /// How much of a card is shown at first.
    fn extent(&self) -> Extent;

    /// Shows a card, in the place of the one that was shown before.
    fn card(&mut self, rows: Vec<Row>, extent: Extent);

    /// Shows lines below what is read.
    fn show(&mut self, rows: Vec<Row>);

    /// A word about what was typed.
    fn remark(&mut self, words: &str);

    /// Whether the person wants to wait no longer, while something else than they is waited for. Where the terminal itself hears
    /// Ctrl-C there is nobody left to say so.
    fn has_left(&mut self) -> bool;

    /// Waits until the person has had time to see what is shown, and throws away what was typed before.
    fn arm(&mut self);

    /// Asks for a line; `above` stands directly above the question. What was typed before does not answer it.
    ///
    /// # Errors
    /// When the terminal refuses.
    fn ask(&mut self, above: Option<&Row>, question: &str, echo: Echo) -> Result<Typed, Error>;

    /// Shows nothing of what is typed until the guard goes, also while nothing is asked.
    ///
    /// # Errors
    /// When the terminal refuses.
    fn silence(&self) -> Result<Option<Silence>, Error>;

    /// The card was answered, or left.
    fn put_away(&mut self);
}

/// Lines on a terminal, one below the other.
pub struct Plain<'c> {
    out: Output,
    terminal: &'c Terminal,
}

impl<'c> Plain<'c> {
    /// On this terminal.
    pub const fn new(out: Output, terminal: &'c Terminal) -> Self {
        Self { out, terminal }
    }
}

impl Front for Plain<'_> {
    fn extent(&self) -> Extent {
        Extent::screen()
    }

    fn card(&mut self, rows: Vec<Row>, extent: Extent) {
        printed(&self.out, &rows, extent);
    }

    fn show(&mut self, rows: Vec<Row>) {
        self.out.rows(&rows);
    }

    fn remark(&mut self, words: &str) {
        self.terminal.print(&format!("{}\r\n", plain(words)));
    }

    fn has_left(&mut self) -> bool {
        false
    }

    fn arm(&mut self) {
        self.terminal.arm();
    }

    fn ask(&mut self, above: Option<&Row>, question: &str, echo: Echo) -> Result<Typed, Error> {
        let above = above.map(|(tone, text)| format!("{}\r\n", self.out.paint(*tone, text)));
        self.terminal.ask(&format!("{}{question}", above.unwrap_or_default()), echo)
    }

    fn silence(&self) -> Result<Option<Silence>, Error> {
        self.terminal.silence().map(Some)
    }

    fn put_away(&mut self) {}
}
