//! A line on a terminal that says for how long something is waited for already.

use crate::context::Context;
use crate::terminal::columns;
use jiff::Timestamp;
use std::borrow::Cow;
use std::io::{IsTerminal as _, Write as _};

/// Columns of a terminal that does not say how many it has.
const USUAL: usize = 80;

/// A line that is drawn anew at each look, and is gone when the wait ends, however it ends; nothing where nobody sits at a terminal.
#[derive(Debug)]
pub struct Waiting {
    what: Cow<'static, str>,
    since: Timestamp,
    is_shown: bool,
    /// It stands on the screen now.
    is_drawn: bool,
}

impl Waiting {
    /// From now on; `what` goes on, such as `waiting`.
    pub fn new(context: &Context, what: &'static str) -> Self {
        let is_shown = context.terminal.is_some()
            && !context.out.is_json()
            && std::io::stderr().is_terminal()
            && std::env::var("TERM").map_or(true, |term| term != "dumb");
        Self { what: Cow::Borrowed(what), since: Timestamp::now(), is_shown, is_drawn: false }
    }

    /// From here on it says this; how long it is waited already goes on.
    pub fn says(&mut self, what: String) {
        self.what = Cow::Owned(what);
    }

    /// Draws it.
    pub fn tell(&mut self) {
        if self.is_shown {
            let waited = Timestamp::now().as_second().saturating_sub(self.since.as_second()).max(0);
            let text = fitted(&self.what, waited, columns().unwrap_or(USUAL));
            let mut err = std::io::stderr();
            let _ = write!(err, "\r\x1b[K{text}").and_then(|()| err.flush());
            self.is_drawn = true;
        }
    }

    /// Takes it away, before something else is told.
    pub fn end(&mut self) {
        if self.is_drawn {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
            self.is_drawn = false;
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.end();
    }
}

/// The line for a wait of so many seconds, shorter than the screen is wide: a second row of it could not be taken away. Where it does
/// not fit, the end of `what` is left out.
fn fitted(what: &str, seconds: i64, columns: usize) -> String {
    let time = format!("{}:{:02} min", seconds / 60, seconds % 60);
    let whole = format!("  {what}, {time}");
    if whole.chars().count() < columns {
        return whole;
    }
    let room = columns.saturating_sub(time.len() + 6);
    let head: String = what.chars().take(room).collect();
    format!("  {}…, {time}", head.trim_end()).chars().take(columns.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_shorter_than_the_screen_and_says_how_long_it_is_waited() {
        let what = "waiting for the answer (Ctrl-C leaves, and the message goes its way)";
        assert_eq!(fitted("waiting", 65, 80), "  waiting, 1:05 min");
        assert_eq!(fitted(what, 0, 200), format!("  {what}, 0:00 min"));
        for columns in 1..120 {
            for seconds in [0, 59, 600, 86_400] {
                let line = fitted(what, seconds, columns);
                assert!(line.chars().count() < columns, "{columns}: {line}");
                assert!(
                    columns < 20 || line.ends_with(&format!("{:02} min", seconds % 60)),
                    "{columns}: {line}"
                );
            }
        }
    }
}
