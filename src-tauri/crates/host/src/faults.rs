//! Crash hooks of debug builds: `HERMIT_FAULT=POINT:before|after:abort|error|full|wait[:N]`, such as
//! `effect.dispatch:after:abort` or `item.rename:before:error:3`. `N` is the pass at which it fires, 1 when absent.
//! `abort` ends the process as `kill -9` would; `error` makes the boundary report an input/output
//! error, `full` a full disk; at `wait` the work stands still for ever, so that whoever kills the process does it there for certain.
//!
//! A program built without debug assertions refuses to start with the variable set, rather than ignore it.

use crate::Error;
use model::fault::{Faults, NoFaults, Point};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable.
const NAME: &str = "HERMIT_FAULT";

/// The faults this process was started with.
///
/// # Errors
/// [`Error::Fault`] when the text is malformed, or this is not a debug build; [`Error::Pace`] likewise.
pub fn from_environment() -> Result<Arc<dyn Faults>, Error> {
    crate::chance::check_pace()?;
    match std::env::var(NAME) {
        Err(_) => Ok(Arc::new(NoFaults)),
        Ok(text) if text.is_empty() => Ok(Arc::new(NoFaults)),
        Ok(_) if !cfg!(debug_assertions) => Err(Error::Fault("only debug builds take it".to_owned())),
        Ok(text) => Ok(Arc::new(Planned::parse(&text)?)),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Abort,
    Error,
    Full,
    Wait,
}

#[derive(Debug)]
struct Planned {
    point: Point,
    after: bool,
    how: How,
    nth: u64,
    passed: AtomicU64,
}

impl Planned {
    fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |what: &str| {
            Error::Fault(format!("`{text}`: {what}; write POINT:before|after:abort|error|full|wait[:N]"))
        };
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let point =
            Point::ALL.iter().copied().find(|p| p.as_str() == name).ok_or_else(|| wrong("no such point"))?;
        let after = match parts.next() {
            Some("before") => false,
            Some("after") => true,
            _ => return Err(wrong("neither before nor after")),
        };
        let how = match parts.next() {
            Some("abort") => How::Abort,
            Some("error") => How::Error,
            Some("full") => How::Full,
            Some("wait") => How::Wait,
            _ => return Err(wrong("neither abort nor error nor full nor wait")),
        };
        let nth = match parts.next() {
            None => 1,
            Some(n) => {
                n.parse().ok().filter(|n| *n > 0).ok_or_else(|| wrong("the pass is no number from 1"))?
            }
        };
        Ok(Self { point, after, how, nth, passed: AtomicU64::new(0) })
    }

    fn pass(&self, point: Point, after: bool) -> io::Result<()> {
        if point != self.point || after != self.after {
            return Ok(());
        }
        if self.passed.fetch_add(1, Ordering::SeqCst) + 1 != self.nth {
            return Ok(());
        }
        match self.how {
            How::Abort => std::process::abort(),
            How::Error => Err(io::Error::other(format!("injected at {point}"))),
            How::Full => Err(io::Error::from(io::ErrorKind::StorageFull)),
            How::Wait => loop {
                std::thread::park();
            },
        }
    }
}

impl Faults for Planned {
    fn before(&self, point: Point) -> io::Result<()> {
        self.pass(point, false)
    }

    fn after(&self, point: Point) -> io::Result<()> {
        self.pass(point, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_a_point_a_side_and_what_happens() {
        let planned = Planned::parse("item.rename:before:error:2").unwrap();
        assert!(planned.before(Point::ItemRename).is_ok());
        assert!(planned.after(Point::ItemRename).is_ok());
        assert!(planned.before(Point::ItemRename).is_err());
        assert!(planned.before(Point::ItemRename).is_ok());
        for wrong in [
            "",
            "item.rename",
            "nothing:before:abort",
            "item.rename:now:abort",
            "item.rename:after:x",
            "item.rename:after:abort:0",
            "item.rename:after:waits",
        ] {
            assert!(Planned::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Planned::parse("item.move:before:wait:21").unwrap().how, How::Wait);
    }
}
