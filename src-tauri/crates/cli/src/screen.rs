//! The whole screen of a terminal for one task: what it is doing and has used, its story, and the card with its
//! question.
//!
//! Keys are read from the controlling terminal by this room itself and never by a library, so that an answer and a
//! passphrase come from nowhere else and stay nowhere else. What is shown stands on the alternate screen; the
//! terminal's own comes back with [`leave`], however this process ends.

mod hold;
mod keys;
mod pane;
#[cfg(test)]
mod tests;
mod view;

use crate::card::Extent;
use crate::card_screen::Front;
use crate::output::{Row, Tone, coloured};
use crate::progress::Progress;
use crate::terminal::{ARMING, Echo, Silence, Terminal, Typed};
use crate::terminal_modes::Tty;
use crate::text::paragraph;
use hold::Hold;
use host::Session;
use keys::{Key, Keys};
use ratatui::backend::CrosstermBackend;
use std::io::BufWriter;
use std::time::Duration;
use view::{Head, Pressed, View};
use wire::task::{Show, Task};
use wire::{Code, Error};

pub use hold::leave;

/// How often keys are looked for while something is asked.
const TICK: Duration = Duration::from_millis(20);
/// Lines of a card before it is folded: it can be scrolled.
const CARD_LINES: usize = 1_000;

/// Whether a terminal can be drawn on, as far as it says.
pub fn can_draw(terminal: &Terminal) -> bool {
    terminal.is_sized() && std::env::var("TERM").map_or(true, |term| term != "dumb")
}

/// A task's screen.
pub struct Screen {
    canvas: ratatui::Terminal<CrosstermBackend<BufWriter<Tty>>>,
    keys: Keys,
    view: View,
    hold: Hold,
}

impl Screen {
    /// Takes the terminal's screen for a task.
    ///
    /// # Errors
    /// When the task cannot be read, or the terminal refuses.
    pub fn open(terminal: &Terminal, session: &Session, task: &str) -> Result<Self, Error> {
        let found = session.call(&Show { task: task.to_owned() })?;
        let to = CrosstermBackend::new(BufWriter::new(terminal.copy()?));
        let canvas = ratatui::Terminal::new(to).map_err(refused)?;
        let keys = Keys::new(terminal.copy()?);
        let hold = Hold::take(terminal)?;
        let mut screen = Self { canvas, keys, view: View::new(head(&found), coloured()), hold };
        introduce(&mut screen.view, &found);
        screen.draw()?;
        Ok(screen)
    }

    /// A line of the story.
    pub fn add(&mut self, row: Row) {
        self.view.add(row);
    }

    /// A word beside the point, which stays at the foot.
    pub fn note(&mut self, words: &str) {
        self.view.note(words);
        // What cannot be drawn now is drawn at the next turn, or that one says why not.
        let _ = self.draw();
    }

    /// Draws what is new and hears what was pressed; whether that was an interrupt.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn turn(&mut self, progress: &Progress) -> Result<bool, Error> {
        self.view.progress(progress);
        let mut interrupt = false;
        for key in self.keys.pressed()? {
            interrupt |= matches!(self.view.press(key), Some(Pressed::Interrupt));
        }
        self.draw()?;
        Ok(interrupt)
    }

    fn draw(&mut self) -> Result<(), Error> {
        if self.hold.retake()? {
            self.canvas.clear().map_err(refused)?;
        }
        self.canvas.draw(|frame| self.view.draw(frame)).map_err(refused)?;
        Ok(())
    }

    fn answered(&mut self) -> Result<Typed, Error> {
        loop {
            for key in self.keys.pressed()? {
                if let Some(Pressed::Answer(typed)) = self.view.press(key) {
                    return Ok(typed);
                }
            }
            self.draw()?;
            std::thread::sleep(TICK);
        }
    }
}

impl Front for Screen {
    fn extent(&self) -> Extent {
        Extent::Folded(CARD_LINES)
    }

    fn card(&mut self, rows: Vec<Row>, _: Extent) {
        self.view.card(rows);
    }

    fn show(&mut self, rows: Vec<Row>) {
        self.view.show(rows);
    }

    fn remark(&mut self, words: &str) {
        self.view.remark((Tone::Warn, words.to_owned()));
        // What is waited for next may be no answer of the person, and nothing else draws meanwhile.
        let _ = self.draw();
    }

    fn has_left(&mut self) -> bool {
        // A terminal that is gone left, too.
        self.keys.pressed().map_or(true, |pressed| pressed.contains(&Key::Interrupt))
    }

    fn arm(&mut self) {
        // A screen that cannot be drawn is told by the question.
        let _ = self.draw();
        std::thread::sleep(ARMING);
        self.keys.forget();
    }

    fn ask(&mut self, above: Option<&Row>, question: &str, echo: Echo) -> Result<Typed, Error> {
        self.keys.forget();
        self.view.ask(above.cloned(), question, echo);
        self.draw()?;
        let typed = self.answered();
        self.view.asked(typed.as_ref().ok(), echo);
        self.draw()?;
        typed
    }

    fn silence(&self) -> Result<Option<Silence>, Error> {
        // Nothing that is typed shows on this screen by itself.
        Ok(None)
    }

    fn put_away(&mut self) {
        self.view.put_away();
    }
}

fn refused(error: std::io::Error) -> Error {
    Error::new(Code::Failed, format!("the terminal refuses: {error}"))
}

fn head(task: &Task) -> Head {
    let folder = task.workspace.as_ref().map(ToString::to_string).unwrap_or_default();
    Head { title: task.row.title.to_string(), folder, model: task.reasoner.clone() }
}

/// The goal, where the title is not all of it, and what came before.
fn introduce(view: &mut View, task: &Task) {
    let goal = task.goal.to_string();
    if goal.trim() != task.row.title.to_string().trim() {
        let goal = format!("Goal: {}", paragraph(&goal));
        goal.lines().for_each(|line| view.add((Tone::Faint, line.to_owned())));
    }
}
