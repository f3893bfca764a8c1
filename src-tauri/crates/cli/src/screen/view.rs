//! What stands on the screen: above the task, in the middle its story or a card, at the foot a question or a hint.

use super::keys::Key;
use super::pane::{Pane, STORY, broken, clipped};
use crate::output::{Row, Tone};
use crate::progress::{Progress, Spent};
use crate::terminal::{Echo, LINE_BYTES_MAX, Typed};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use zeroize::Zeroizing;

/// Rows from which on the task stands above in full.
const ROWS_FULL: usize = 14;
/// Rows from which on a line of it does.
const ROWS_SOME: usize = 8;
/// Rows of the middle at least, whatever is asked.
const MIDDLE: usize = 2;
const CRAMPED: &str = "Make this terminal larger to see the question.";
const HINT: &str = "Esc or Ctrl-C pauses · ↑ ↓ PgUp PgDn scroll";

/// What the task is.
pub struct Head {
    pub title: String,
    pub folder: String,
    pub model: String,
}

/// What a key came to.
pub enum Pressed {
    /// The task is to pause.
    Interrupt,
    /// The question is answered.
    Answer(Typed),
}

/// A question that is asked now.
struct Asked {
    question: String,
    echo: Echo,
    typed: Zeroizing<String>,
}

/// Everything on the screen.
pub struct View {
    head: Head,
    spent: Spent,
    doing: String,
    story: Pane,
    card: Option<Pane>,
    asked: Option<Asked>,
    /// What is at stake, above every question about the card.
    stakes: Option<Row>,
    /// Words about what was typed.
    remarks: Vec<Row>,
    note: Option<String>,
    /// The question does not fit, so nothing answers it.
    cramped: bool,
    colour: bool,
}

impl View {
    pub fn new(head: Head, colour: bool) -> Self {
        let story = Pane::story(STORY);
        let (spent, doing) = (Spent::new(), String::new());
        let (remarks, cramped) = (Vec::new(), false);
        Self {
            head,
            spent,
            doing,
            story,
            card: None,
            asked: None,
            stakes: None,
            remarks,
            note: None,
            cramped,
            colour,
        }
    }

    /// A line of the story.
    pub fn add(&mut self, row: Row) {
        self.story.push(row);
    }

    pub fn note(&mut self, words: &str) {
        self.note = Some(words.to_owned());
    }

    pub fn progress(&mut self, progress: &Progress) {
        self.spent = progress.spent();
        progress.doing().clone_into(&mut self.doing);
        self.story.tail(progress.saying().map(|line| (Tone::Faint, format!("  {line}"))));
    }

    pub fn card(&mut self, rows: Vec<Row>) {
        self.card = Some(Pane::text(rows));
    }

    pub fn put_away(&mut self) {
        self.card = None;
        self.stakes = None;
        self.remarks.clear();
    }

    /// Lines below what is read.
    pub fn show(&mut self, rows: Vec<Row>) {
        self.middle().show(rows);
    }

    pub fn remark(&mut self, row: Row) {
        self.remarks.push(row);
    }

    pub fn ask(&mut self, above: Option<Row>, question: &str, echo: Echo) {
        let typed = Zeroizing::new(String::with_capacity(LINE_BYTES_MAX));
        self.stakes = above.or_else(|| self.stakes.take());
        self.asked = Some(Asked { question: question.to_owned(), echo, typed });
    }

    /// The question was answered. Words that were shown while they were typed stay in sight: in the story, or beside
    /// the next question about the same card.
    pub fn asked(&mut self, answer: Option<&Typed>, echo: Echo) {
        self.asked = None;
        let said = match (answer, echo) {
            (Some(Typed::Line(words)), Echo::Shown) if !words.trim().is_empty() => {
                Some((Tone::Plain, format!("  > {}", words.as_str())))
            }
            _ => None,
        };
        match (said, &self.card) {
            (Some(said), Some(_)) => self.remarks.push(said),
            (Some(said), None) => {
                self.remarks.clear();
                self.story.push(said);
            }
            (None, _) => self.remarks.clear(),
        }
    }

    pub fn press(&mut self, key: Key) -> Option<Pressed> {
        if let Key::Scroll(to) = key {
            self.middle().scroll(to);
            return None;
        }
        let Some(asked) = &mut self.asked else {
            return (key == Key::Interrupt).then_some(Pressed::Interrupt);
        };
        match key {
            Key::Char(c) if asked.typed.len() + c.len_utf8() <= LINE_BYTES_MAX => asked.typed.push(c),
            Key::Back => drop(asked.typed.pop()),
            Key::Clear => asked.typed.clear(),
            Key::Enter if self.cramped => {}
            Key::Enter => return Some(Pressed::Answer(Typed::Line(std::mem::take(&mut asked.typed)))),
            Key::Interrupt | Key::End => return Some(Pressed::Answer(Typed::Nothing)),
            Key::Char(_) | Key::Scroll(_) => {}
        }
        None
    }

    fn middle(&mut self) -> &mut Pane {
        self.card.as_mut().unwrap_or(&mut self.story)
    }

    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        if width == 0 || height == 0 {
            return;
        }
        let above = self.above(width, height);
        let foot = self.foot(width, height.saturating_sub(MIDDLE + above.len()).max(1));
        let middle = height.saturating_sub(above.len() + foot.len() + 1);
        self.middle().fit(width, middle);
        let line = self.line(width);
        let colour = self.colour;
        let pane = self.card.as_ref().unwrap_or(&self.story);
        let blank = (Tone::Plain, String::new());
        let filled = pane.shown().chain(std::iter::repeat(&blank)).take(middle);
        let rows = above.iter().chain(filled).chain(std::iter::once(&line)).chain(&foot);
        let buffer = frame.buffer_mut();
        for (y, row) in (area.y..area.bottom()).zip(rows) {
            put(buffer, Rect { y, height: 1, ..area }, row, colour);
        }
        if self.asked.is_some()
            && let Some((_, last)) = foot.last()
        {
            let x = Span::raw(last).width().min(width - 1);
            let x = u16::try_from(x).unwrap_or(area.width.saturating_sub(1));
            frame.set_cursor_position(Position { x: area.x + x, y: area.bottom().saturating_sub(1) });
        }
    }

    fn above(&self, width: usize, height: usize) -> Vec<Row> {
        let head = &self.head;
        let now = format!("{}   {}", self.spent, self.doing);
        let now = (Tone::Plain, clipped(now.trim_end(), width));
        match height {
            ROWS_FULL.. => vec![
                (Tone::Bold, clipped(&head.title, width)),
                (Tone::Faint, clipped(&format!("{} · {}", head.folder, head.model), width)),
                now,
                (Tone::Faint, "─".repeat(width)),
            ],
            ROWS_SOME.. => vec![now],
            _ => Vec::new(),
        }
    }

    /// The line below the middle, which says how much of it is in sight.
    fn line(&self, width: usize) -> Row {
        let pane = self.card.as_ref().unwrap_or(&self.story);
        let words = match pane.place() {
            None => String::new(),
            Some((first, last, all)) if last < all => {
                format!("── lines {first} to {last} of {all}, PgDn shows more ")
            }
            Some((first, last, all)) => format!("── lines {first} to {last} of {all} "),
        };
        let rest = width.saturating_sub(words.chars().count());
        (Tone::Faint, clipped(&format!("{words}{}", "─".repeat(rest)), width))
    }

    /// What stands below: a hint, or a question with what is at stake in full. Where that does not fit, nothing is
    /// answered.
    fn foot(&mut self, width: usize, room: usize) -> Vec<Row> {
        self.cramped = false;
        let Some(asked) = &self.asked else {
            let row = match &self.note {
                Some(note) => (Tone::Warn, note.clone()),
                None => (Tone::Faint, HINT.to_owned()),
            };
            return ends(broken(&row, width), room);
        };
        let stakes: Vec<Row> = self.stakes.iter().flat_map(|row| broken(row, width)).collect();
        let asks = |typed: &str| broken(&(Tone::Bold, format!("{}{typed}", asked.question)), width);
        if stakes.len() + asks("").len() > room {
            self.cramped = true;
            return ends(broken(&(Tone::Warn, CRAMPED.to_owned()), width), room);
        }
        let typed = Zeroizing::new(asked.echo.shown(&asked.typed));
        let mut question = asks(&typed);
        // A space at the end is where the next key comes to stand.
        if let Some((_, last)) = question.last_mut()
            && (typed.ends_with(' ') || typed.is_empty() && asked.question.ends_with(' '))
            && Span::raw(&*last).width() + 1 < width
        {
            last.push(' ');
        }
        let question = ends(question, room - stakes.len());
        let remarks = self.remarks.iter().flat_map(|row| broken(row, width)).collect();
        let mut rows = ends(remarks, room - stakes.len() - question.len());
        rows.extend(stakes);
        rows.extend(question);
        rows
    }
}

/// The last rows, so many at most.
fn ends(mut rows: Vec<Row>, most: usize) -> Vec<Row> {
    rows.drain(..rows.len().saturating_sub(most));
    rows
}

fn put(buffer: &mut Buffer, area: Rect, (tone, text): &Row, colour: bool) {
    let style = if colour { style(*tone) } else { Style::default() };
    buffer.set_stringn(area.x, area.y, text, usize::from(area.width), style);
}

const fn style(tone: Tone) -> Style {
    let style = Style::new();
    match tone {
        Tone::Plain => style,
        Tone::Bold => style.add_modifier(Modifier::BOLD),
        Tone::Faint => style.add_modifier(Modifier::DIM),
        Tone::Good => style.fg(Color::Green),
        Tone::Warn => style.fg(Color::Yellow),
        Tone::Bad => style.fg(Color::Red),
    }
}
