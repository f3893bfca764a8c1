//! A line on a terminal that says for how long something is waited for already.

use crate::context::Context;
use jiff::Timestamp;
use std::io::{IsTerminal as _, Write as _};

/// A line that is drawn anew at each look, and is gone when the wait ends; nothing where nobody sits at a terminal.
#[derive(Debug)]
pub struct Waiting {
    what: &'static str,
    since: Timestamp,
    is_shown: bool,
}

impl Waiting {
    /// From now on; `what` goes on, such as `waiting`.
    pub fn new(context: &Context, what: &'static str) -> Self {
        let is_shown =
            context.terminal.is_some() && !context.out.is_json() && std::io::stderr().is_terminal();
        Self { what, since: Timestamp::now(), is_shown }
    }

    /// Draws it.
    pub fn tell(&self) {
        if self.is_shown {
            let waited = Timestamp::now().as_second().saturating_sub(self.since.as_second()).max(0);
            let mut err = std::io::stderr();
            let text = format!("\r\x1b[K  {}, {}:{:02} min", self.what, waited / 60, waited % 60);
            let _ = write!(err, "{text}").and_then(|()| err.flush());
        }
    }

    /// Takes it away, before something else is told.
    pub fn end(&self) {
        if self.is_shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
