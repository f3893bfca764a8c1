//! Taking a terminal's screen, and giving it back however this process ends: by its end, an error, a panic or a
//! signal.

use crate::terminal::{Silence, Terminal};
use crate::terminal_modes::Tty;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::style::ResetColor;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use std::sync::{Mutex, Once, PoisonError, TryLockError};
use wire::{Code, Error};

/// The terminal that is held, if one is.
static HELD: Mutex<Option<Held>> = Mutex::new(None);
/// A panic gives the terminal back before it says what it says.
static PANICS: Once = Once::new();

struct Held {
    file: Tty,
    /// Puts its modes back when it goes.
    _modes: Silence,
}

/// A terminal's screen, until it is dropped.
pub struct Hold {
    terminal: Terminal,
}

impl Hold {
    /// Takes it.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn take(terminal: &Terminal) -> Result<Self, Error> {
        PANICS.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                leave();
                usual(panic);
            }));
        });
        let hold = Self { terminal: terminal.again()? };
        hold.retake()?;
        Ok(hold)
    }

    /// Takes it again where a panic of another thread gave it back; whether that was so.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn retake(&self) -> Result<bool, Error> {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_some() {
            return Ok(false);
        }
        let mut file = self.terminal.copy()?;
        let modes = self.terminal.raw()?;
        let entered = execute!(file, EnterAlternateScreen);
        *held = Some(Held { file, _modes: modes });
        entered.map_err(|e| Error::new(Code::Failed, format!("the terminal refuses: {e}")))?;
        Ok(true)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        leave();
    }
}

/// Gives the terminal back as it was; nothing happens when none is held.
pub fn leave() {
    let held = match HELD.try_lock() {
        Ok(mut held) => held.take(),
        Err(TryLockError::Poisoned(held)) => held.into_inner().take(),
        // It is being taken or given back at this very moment, by a thread that is about to end as well.
        Err(TryLockError::WouldBlock) => None,
    };
    if let Some(mut held) = held {
        let _ = execute!(held.file, ResetColor, Show, LeaveAlternateScreen);
    }
}
