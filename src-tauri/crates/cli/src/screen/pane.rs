//! Lines that are read: made plain, broken at the edge, bounded, and scrolled.

use super::keys::Scroll;
use crate::output::{Row, is_verbatim};
use crate::text::{plain, wrap};
use ratatui::text::Span;
use std::collections::VecDeque;

/// Lines that are kept of a story; a card is kept whole.
pub const STORY: usize = 10_000;
/// Columns between the stops of a tab.
const TAB: usize = 8;
/// What stands before the rest of a line of a file: no such line can begin like it.
const GOES_ON: &str = "      ↳ ";

/// A list of lines with a place in it.
pub struct Pane {
    lines: VecDeque<Row>,
    /// The same lines, broken at the width.
    rows: VecDeque<Row>,
    /// A line that has not ended, broken as well.
    tail: Vec<Row>,
    most: usize,
    width: usize,
    top: usize,
    /// It stays at its end.
    follows: bool,
    height: usize,
}

impl Pane {
    /// A story of at most so many lines, which is followed.
    pub fn story(most: usize) -> Self {
        let (lines, rows) = (VecDeque::new(), VecDeque::new());
        Self { lines, rows, tail: Vec::new(), most, width: 0, top: 0, follows: true, height: 0 }
    }

    /// A text that is read from its beginning.
    pub fn text(rows: Vec<Row>) -> Self {
        Self { lines: rows.into(), follows: false, ..Self::story(usize::MAX) }
    }

    /// One more line; the oldest goes where there are too many.
    pub fn push(&mut self, line: Row) {
        if self.width > 0 {
            self.rows.extend(broken(&line, self.width));
        }
        self.lines.push_back(line);
        while self.lines.len() > self.most {
            let Some(first) = self.lines.pop_front() else { break };
            let gone = if self.width > 0 { broken(&first, self.width).len() } else { 0 };
            self.rows.drain(..gone.min(self.rows.len()));
            self.top = self.top.saturating_sub(gone);
        }
    }

    /// More lines, and the first of them is where it is read.
    pub fn show(&mut self, lines: Vec<Row>) {
        let at = self.rows.len();
        lines.into_iter().for_each(|line| self.push(line));
        if !self.follows {
            self.top = at;
        }
    }

    /// The line that has not ended.
    pub fn tail(&mut self, line: Option<Row>) {
        self.tail = line.map(|line| broken(&line, self.width.max(1))).unwrap_or_default();
    }

    /// Breaks everything at another width.
    pub fn fit(&mut self, width: usize, height: usize) {
        let (before, was) = (self.rows.len(), self.width);
        if width != was {
            self.width = width;
            self.rows = self.lines.iter().flat_map(|line| broken(line, width.max(1))).collect();
            // About the same place.
            self.top = if was > 0 { self.top * self.rows.len() / before.max(1) } else { self.top };
        }
        self.height = height;
        if self.follows {
            self.top = self.last();
        }
        self.top = self.top.min(self.last());
    }

    pub fn scroll(&mut self, to: Scroll) {
        let page = self.height.saturating_sub(1).max(1);
        let top = match to {
            Scroll::Up => self.top.saturating_sub(1),
            Scroll::Down => self.top.saturating_add(1),
            Scroll::PageUp => self.top.saturating_sub(page),
            Scroll::PageDown => self.top.saturating_add(page),
            Scroll::First => 0,
            Scroll::Last => usize::MAX,
        };
        self.top = top.min(self.last());
        if self.most != usize::MAX {
            self.follows = self.top == self.last();
        }
    }

    /// The rows in sight.
    pub fn shown(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().chain(&self.tail).skip(self.top).take(self.height)
    }

    /// First and last row in sight, and how many there are; none where all are in sight.
    pub fn place(&self) -> Option<(usize, usize, usize)> {
        let all = self.all();
        (all > self.height).then(|| (self.top + 1, (self.top + self.height).min(all), all))
    }

    fn all(&self) -> usize {
        self.rows.len() + self.tail.len()
    }

    /// The row at the top when the last one is at the foot.
    fn last(&self) -> usize {
        self.all().saturating_sub(self.height)
    }
}

/// A line as rows that fit: nothing of it is left out, and nothing in it is a command to the terminal.
pub fn broken((tone, text): &Row, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in text.split('\n') {
        let line = plain(&tabs(line));
        if is_verbatim(&line) {
            let lead = if width > GOES_ON.len() * 2 { GOES_ON } else { "" };
            cut(&line, width, lead, |row| rows.push((*tone, row)));
        } else {
            for part in wrap(&line, width) {
                cut(&part, width, "", |row| rows.push((*tone, row)));
            }
        }
    }
    rows
}

/// As much of a line as fits in one row.
pub fn clipped(text: &str, width: usize) -> String {
    let text = plain(&tabs(text));
    if Span::raw(&*text).width() <= width {
        return text;
    }
    let mut first = None;
    cut(&text, width.saturating_sub(1).max(1), "", |row| {
        first.get_or_insert(row);
    });
    first.map(|row| format!("{row}…")).unwrap_or_default()
}

fn tabs(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut column = 0;
    for c in line.chars() {
        let wide = if c == '\t' { TAB - column % TAB } else { 1 };
        match c {
            '\t' => out.extend(std::iter::repeat_n(' ', wide)),
            c => out.push(c),
        }
        column += wide;
    }
    out
}

/// Cuts a line where it is wider; `lead` stands before what goes on.
fn cut(line: &str, width: usize, lead: &str, mut row: impl FnMut(String)) {
    if line.len() <= width {
        return row(line.to_owned());
    }
    let (mut part, mut columns) = (String::new(), 0);
    for grapheme in Span::raw(line).styled_graphemes(ratatui::style::Style::default()) {
        let wide = Span::raw(grapheme.symbol).width();
        if columns + wide > width && columns > 0 {
            row(std::mem::replace(&mut part, lead.to_owned()));
            columns = Span::raw(lead).width();
        }
        part.push_str(grapheme.symbol);
        columns += wide;
    }
    row(part);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Tone;

    fn rows(text: &str, width: usize) -> Vec<String> {
        broken(&(Tone::Plain, text.to_owned()), width).into_iter().map(|(_, row)| row).collect()
    }

    #[test]
    fn a_line_is_broken_and_nothing_of_it_is_left_out() {
        assert_eq!(rows("one two three", 9), ["one two", "  three"]);
        assert_eq!(rows("abcdefghijkl", 5), ["abcde", "fghij", "kl"]);
        assert_eq!(rows("合合合", 5), ["合合", "合"]);
        assert_eq!(rows("a\nb", 5), ["a", "b"]);
        assert_eq!(rows("", 5), [""]);
        let verbatim = rows(&format!("      +{}-{}", "x".repeat(20), "y".repeat(20)), 30);
        assert_eq!(verbatim[0], format!("      +{}-yy", "x".repeat(20)));
        assert_eq!(verbatim[1], format!("      ↳ {}", "y".repeat(18)));
        assert_eq!(rows("      +a\tb", 40), ["      +a        b"]);
    }

    #[test]
    fn no_text_is_a_command_to_the_terminal() {
        let hostile = "      +\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{9b}31m\u{202e}\r\u{8}x\u{200b}y";
        for width in [1, 8, 40, 200] {
            for row in rows(hostile, width) {
                assert!(!row.chars().any(|c| c.is_control() || model::visible::is_hidden(c)), "{row:?}");
            }
        }
        assert!(!clipped(hostile, 12).chars().any(char::is_control));
        assert_eq!(clipped("abcdef", 4), "abc…");
    }

    #[test]
    fn a_story_is_bounded_and_followed_until_it_is_scrolled() {
        let mut pane = Pane::story(5);
        pane.fit(10, 2);
        (0..9).for_each(|n| pane.push((Tone::Plain, format!("line {n}"))));
        pane.fit(10, 2);
        let shown = |pane: &Pane| pane.shown().map(|(_, row)| row.clone()).collect::<Vec<_>>();
        assert_eq!(shown(&pane), ["line 7", "line 8"]);
        assert_eq!(pane.place(), Some((4, 5, 5)));
        pane.scroll(Scroll::First);
        pane.push((Tone::Plain, "line 9".to_owned()));
        pane.fit(10, 2);
        assert_eq!(shown(&pane), ["line 5", "line 6"]);
        pane.scroll(Scroll::Last);
        pane.push((Tone::Plain, "line 10".to_owned()));
        pane.fit(10, 2);
        assert_eq!(shown(&pane), ["line 9", "line 10"]);
        // Narrower, and wide again.
        pane.fit(4, 2);
        assert_eq!(shown(&pane), ["line", "  10"]);
    }
}
