//! The source that a program carries, as it says when it begins: this room does not need it, or each change of any file would
//! make it anew.

use std::io;
use std::sync::OnceLock;
use wire::{Code, Error};

/// What gives the archive of a program's source.
pub type OwnSource = fn() -> io::Result<&'static [u8]>;

static CARRIED: OnceLock<OwnSource> = OnceLock::new();

/// Says where this program carries its source. What was said first stays.
pub fn carry_source(source: OwnSource) {
    // A second program of one process would be the same one.
    let _ = CARRIED.set(source);
}

/// The archive of this program's source.
pub(crate) fn stream() -> Result<&'static [u8], Error> {
    let none = || Error::new(Code::Unavailable, "this program does not carry its source");
    let source = CARRIED.get().ok_or_else(none)?;
    source().map_err(|error| {
        Error::new(Code::Failed, format!("the source that this program carries is damaged: {error}"))
            .hint("install Hermit again")
    })
}
