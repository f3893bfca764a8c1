//! The file in which messages are carried where no network is: `hermit-mesh-carry/1`.
//!
//! A first line with the name of the format, then one event of Nostr a line, as a relay would have it. All of them are sealed, so
//! whoever finds the stick reads nothing.

use crate::Delivered;
use crate::frame::FRAME_BYTES_MAX;
use crate::sealed::WireEvent;
use std::collections::BTreeSet;

/// The first line of a file.
pub const CARRY_FORMAT: &str = "hermit-mesh-carry/1";
/// The largest file, in bytes.
pub const CARRY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Events in one file.
pub const CARRY_EVENTS_MAX: usize = 50_000;

/// Why a file is none that can be taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It is another file.
    #[error("the file does not begin with `hermit-mesh-carry/1`")]
    OtherFormat,
    /// It is too large.
    #[error("the file is larger than 64 MiB or holds more than 50,000 messages")]
    TooLarge,
}

/// A file that is ready to be carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// Its bytes.
    pub file: Vec<u8>,
    /// Messages in it.
    pub messages: usize,
    /// Messages that found no room in it.
    pub left_out: usize,
}

/// A file of these events, each with whether it is a message. What does not fit is left out.
pub fn pack<'e>(events: impl Iterator<Item = (&'e WireEvent, bool)>) -> Packed {
    let mut file = format!("{CARRY_FORMAT}\n").into_bytes();
    let (mut packed, mut messages, mut left_out) = (0, 0, 0);
    for (event, is_message) in events {
        let line = serde_json::to_vec(event).unwrap_or_default();
        let fits = !line.is_empty() && line.len() <= FRAME_BYTES_MAX && packed < CARRY_EVENTS_MAX;
        if fits && file.len() + line.len() < CARRY_BYTES_MAX {
            file.extend_from_slice(&line);
            file.push(b'\n');
            packed += 1;
            messages += usize::from(is_message);
        } else {
            left_out += usize::from(is_message);
        }
    }
    Packed { file, messages, left_out }
}

/// How many messages there are in what a file brought here: what came before is none, and a conversation that passed with its
/// message is one with it.
pub fn messages(brought: &[Delivered]) -> usize {
    let inputs = brought.iter().filter_map(|one| match one {
        Delivered::Input { input, .. } => Some(input.conversation.as_str()),
        _ => None,
    });
    let inputs: BTreeSet<&str> = inputs.collect();
    let is_message = |one: &&Delivered| match one {
        Delivered::Input { .. }
        | Delivered::Answer { .. }
        | Delivered::Question { .. }
        | Delivered::Decided { .. } => true,
        Delivered::Owns { conversation, .. } => !inputs.contains(conversation.as_str()),
        _ => false,
    };
    brought.iter().filter(is_message).count()
}

/// The events of a file. A line that is none is left out: the others are good without it.
///
/// # Errors
/// [`Unfit`].
pub fn unpack(file: &[u8]) -> Result<Vec<WireEvent>, Unfit> {
    if file.len() > CARRY_BYTES_MAX {
        return Err(Unfit::TooLarge);
    }
    let mut lines = file.split(|byte| *byte == b'\n');
    if lines.next() != Some(CARRY_FORMAT.as_bytes()) {
        return Err(Unfit::OtherFormat);
    }
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).take(CARRY_EVENTS_MAX + 1).collect();
    if lines.len() > CARRY_EVENTS_MAX {
        return Err(Unfit::TooLarge);
    }
    let fits = lines.into_iter().filter(|line| line.len() <= FRAME_BYTES_MAX);
    Ok(fits.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}
