//! A security key at the terminal: which one, its PIN, and that it wants to be touched.

use crate::card_screen::Front;
use crate::output::Tone;
use crate::terminal::{Echo, Typed};
use crate::text::plain;
use host::security_key::{Found, Moment, Pin, Watch, pin, plugged_in, tries_left};
use wire::{Code, Error};

/// Wrong PINs before the question is asked again; a key pauses after as many.
const TRIES: u32 = 3;
/// With so few tries left it is said before the PIN is typed.
const FEW: u32 = 3;
const NONE: &str = "No security key is plugged in. Plug it in and press Enter (Ctrl-C goes back): ";
const WHICH: &str = "Which one? Type its number (Ctrl-C goes back): ";

/// The key that is plugged in, or the one that the person names; `None` when they went back.
///
/// # Errors
/// Where keys cannot be looked for, and when the terminal refuses.
pub fn chosen(front: &mut dyn Front) -> Result<Option<Found>, Error> {
    loop {
        let mut found = plugged_in()?;
        let question = match found.as_slice() {
            [] => NONE,
            [only] => {
                // Whatever is plugged in is told the PIN, so it is said what that is.
                front.remark(&format!("Security key: {} ({})", plain(&only.name), only.place.display()));
                return Ok(found.pop());
            }
            several => {
                let row = |(number, one): (usize, &Found)| {
                    (Tone::Plain, format!("  {number}  {} ({})", plain(&one.name), one.place.display()))
                };
                front.show((1..).zip(several).map(row).collect());
                WHICH
            }
        };
        let Typed::Line(typed) = front.ask(None, question, Echo::Shown)? else { return Ok(None) };
        let number = typed.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        if let Some(at) = number.filter(|at| *at < found.len() && found.len() > 1) {
            return Ok(Some(found.swap_remove(at)));
        }
    }
}

/// Asks for the PIN, unseen, and uses the key with it; `None` when the person went back, or the key did not do it, which is
/// said then.
///
/// # Errors
/// When the terminal refuses.
pub fn used<T>(
    front: &mut dyn Front,
    found: &Found,
    act: impl Fn(&Pin, Watch<'_>) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    let left = match tries_left(found) {
        Ok(left) => left,
        Err(error) => return Ok(refused(front, &error)),
    };
    if left <= FEW {
        front.remark(&format!("The key takes {left} more wrong PINs before it blocks itself."));
    }
    for _ in 0..TRIES {
        // Nobody sees what is typed until the key blinks: by then the PIN was right.
        let mut silence = front.silence()?;
        let Typed::Line(typed) = front.ask(None, "PIN of the security key: ", Echo::Hidden)? else {
            return Ok(None);
        };
        if typed.is_empty() {
            return Ok(None);
        }
        let mut is_told = false;
        let mut watch = |moment: Moment| {
            if moment == Moment::Touch && !is_told {
                is_told = true;
                drop(silence.take());
                front.remark("Touch your security key now.");
            }
            !front.has_left()
        };
        match pin(&typed).and_then(|pin| act(&pin, &mut watch)) {
            Ok(came) => return Ok(Some(came)),
            Err(error) if matches!(error.code, Code::KeyLocked | Code::Usage) => {
                front.remark(&error.message);
            }
            Err(error) => return Ok(refused(front, &error)),
        }
    }
    Ok(None)
}

/// Says what the key did not do.
fn refused<T>(front: &mut dyn Front, error: &Error) -> Option<T> {
    front.remark(&error.message);
    if !error.hint.is_empty() {
        front.remark(&error.hint);
    }
    None
}
