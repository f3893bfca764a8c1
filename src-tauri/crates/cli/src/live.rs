//! How a task's progress is shown: a line that changes, a screen of its own, a quiet log, or a notice a line.

use crate::card_screen::{Front, Plain};
use crate::context::Context;
use crate::output::{Output, Tone};
use crate::progress::{Progress, Results, Told};
use crate::screen::Screen;
use crate::terminal::Terminal;
use crate::text::clip;
use host::{Interrupts, Session};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal as _;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use wire::{Code, Error, Notice};

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(120);
/// How often the task is looked at while it works.
const LOOK: Duration = Duration::from_millis(100);
/// The same under a screen, which moves when a key is pressed.
const LOOK_AND_LISTEN: Duration = Duration::from_millis(30);
/// How long one thing lasts before it is said how to interrupt it.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of one line of the log.
const LOG_CHARS: usize = 200;

/// What is shown while a task works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Show {
    /// A line that changes where a person watches, else a log.
    #[default]
    Usual,
    /// A log, also on a terminal.
    Log,
    /// The whole screen of the terminal.
    Screen,
    /// Nothing.
    Quiet,
}

/// Progress; with `--json` every notice is a line of its own on standard error.
pub struct Live<'c> {
    heard: Option<Receiver<Notice>>,
    out: Output,
    way: Way,
    progress: Progress,
    /// Where a person is asked, unless the screen is.
    plain: Option<Plain<'c>>,
    /// Where a bell rings when a person is waited for.
    bell: Option<&'c Terminal>,
}

enum Way {
    Json,
    Line(Option<ProgressBar>),
    Log,
    Screen(Box<Screen>),
    Quiet,
}

impl<'c> Live<'c> {
    /// Begins to show a task.
    ///
    /// # Errors
    /// When the screen cannot be taken, or the task cannot be read for it.
    pub fn new(
        context: &'c Context,
        session: &Session,
        task: &str,
        heard: Option<Receiver<Notice>>,
    ) -> Result<Self, Error> {
        let watched = context.terminal.is_some() && std::io::stderr().is_terminal();
        let way = match (context.show, &context.terminal) {
            _ if context.out.is_json() => Way::Json,
            (Show::Quiet, _) => Way::Quiet,
            (Show::Screen, Some(terminal)) => Way::Screen(Box::new(Screen::open(terminal, session, task)?)),
            (Show::Usual, _) if watched => Way::Line(None),
            _ => Way::Log,
        };
        let results = if matches!(way, Way::Screen(_)) { Results::Told } else { Results::Not };
        let plain = context.terminal.as_ref().map(|terminal| Plain::new(context.out, terminal));
        let bell = context.terminal.as_ref().filter(|_| context.bell);
        Ok(Self { heard, out: context.out, way, progress: Progress::new(results), plain, bell })
    }

    /// Hears Ctrl-C for as long as this is shown.
    pub fn interrupts(&self) -> Interrupts {
        match self.way {
            Way::Screen(_) => Interrupts::watch_leaving(crate::screen::leave),
            _ => Interrupts::watch(),
        }
    }

    /// How often the task is looked at while it works.
    pub const fn look(&self) -> Duration {
        match self.way {
            Way::Screen(_) => LOOK_AND_LISTEN,
            _ => LOOK,
        }
    }

    /// Tells what came since; whether a key asked for an interrupt.
    ///
    /// # Errors
    /// When a notice has no JSON form, which would be a fault of ours, or the screen is gone.
    pub fn tell(&mut self, session: &Session, task: &str) -> Result<bool, Error> {
        if let Some(heard) = self.heard.take() {
            for notice in heard.try_iter() {
                match self.way {
                    Way::Quiet => {}
                    Way::Json => {
                        let line = serde_json::to_string(&notice);
                        eprintln!("{}", line.map_err(|e| Error::new(Code::Failed, e.to_string()))?);
                    }
                    _ => {
                        let told = self.progress.hear(session, task, &notice);
                        told.into_iter().for_each(|told| self.told(told));
                    }
                }
            }
            self.heard = Some(heard);
        }
        if let Way::Line(Some(_)) = self.way {
            // Time goes on while nothing is told.
            self.draw();
        }
        match &mut self.way {
            Way::Screen(screen) => screen.turn(&self.progress),
            _ => Ok(false),
        }
    }

    fn told(&mut self, told: Told) {
        if let Way::Screen(screen) = &mut self.way {
            return match told {
                Told::Doing { kept: true } => screen.add((Tone::Plain, self.progress.doing().to_owned())),
                Told::Said(line) => screen.add((Tone::Faint, format!("  {line}"))),
                Told::Came(row) => screen.add(row),
                Told::Doing { kept: false } | Told::More => {}
            };
        }
        match (told, &self.way) {
            (Told::Doing { kept: true }, Way::Log) => {
                eprintln!("{}", clip(self.progress.doing(), LOG_CHARS));
            }
            (Told::Said(line), Way::Log) => eprintln!("{}", clip(&format!("  {line}"), LOG_CHARS)),
            (Told::Said(line), Way::Line(bar)) => {
                let line = self.out.paint(Tone::Faint, &format!("  {line}"));
                match bar {
                    Some(bar) => bar.println(line),
                    None => self.out.note(line),
                }
            }
            (Told::Came(_), _) => {}
            _ => self.draw(),
        }
    }

    fn draw(&mut self) {
        let Way::Line(bar) = &mut self.way else { return };
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(TICK);
            bar
        });
        let doing = self.progress.saying().unwrap_or_else(|| self.progress.doing().to_owned());
        let spent = self.out.paint(Tone::Faint, &self.progress.spent().to_string());
        let pause = match self.progress.for_how_long() >= PATIENCE {
            true => self.out.paint(Tone::Faint, "  (Ctrl-C pauses)"),
            false => String::new(),
        };
        bar.set_message(format!("{spent}  {doing}{pause}"));
    }

    /// Where a person is asked, with nothing moving in between; none where nobody is. The terminal's bell calls them.
    pub fn front(&mut self) -> Option<&mut dyn Front> {
        self.clear();
        if let Some(terminal) = self.bell {
            terminal.print("\u{7}");
        }
        match &mut self.way {
            Way::Screen(screen) => Some(&mut **screen),
            _ => self.plain.as_mut().map(|plain| plain as &mut dyn Front),
        }
    }

    /// A word beside the point.
    pub fn note(&mut self, words: &str) {
        self.clear();
        match &mut self.way {
            Way::Screen(screen) => screen.note(words),
            _ => self.out.note(words),
        }
    }

    /// Takes the line away, for what a person is to read.
    fn clear(&mut self) {
        if let Some(told) = self.progress.flush() {
            self.told(told);
        }
        if let Way::Line(bar) = &mut self.way
            && let Some(bar) = bar.take()
        {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}
