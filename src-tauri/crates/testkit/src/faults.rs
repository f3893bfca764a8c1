//! Stops the world at a named boundary.

use model::fault::{Faults, Point};
use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;

/// Which side of a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// Nothing of it is on disk.
    Before,
    /// All of it is.
    After,
}

/// What happens there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The thread unwinds with [`Crash`]: no further line of the kernel runs.
    Abort,
    /// The boundary reports an input/output error.
    Error,
    /// The boundary reports a full disk.
    Full,
}

/// What an aborted thread unwinds with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crash(pub Point, pub Edge);

#[derive(Debug, Default)]
struct Plan {
    at: Option<(Point, Edge, Mode, u32)>,
    fired: bool,
    hits: BTreeMap<(Point, Edge), u32>,
}

/// Faults by script: one at most, and every boundary that was passed is counted.
#[derive(Debug, Default)]
pub struct Script(Mutex<Plan>);

impl Script {
    /// Fires at the `nth` pass (from 1) of a boundary from now on.
    pub fn plan(&self, point: Point, edge: Edge, mode: Mode, nth: u32) {
        let mut plan = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        plan.at = Some((point, edge, mode, nth));
        plan.fired = false;
        plan.hits.clear();
    }

    /// Fires no more.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).at = None;
    }

    /// Forgets how often boundaries were passed.
    pub fn forget_hits(&self) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).hits.clear();
    }

    /// Whether the plan fired.
    pub fn fired(&self) -> bool {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).fired
    }

    /// How often each boundary was passed since the last plan.
    pub fn hits(&self) -> BTreeMap<(Point, Edge), u32> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).hits.clone()
    }

    fn pass(&self, point: Point, edge: Edge) -> io::Result<()> {
        let mode = {
            let mut plan = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let count = plan.hits.entry((point, edge)).or_insert(0);
            *count += 1;
            let count = *count;
            match plan.at {
                Some((p, e, mode, nth)) if p == point && e == edge && nth == count && !plan.fired => {
                    plan.fired = true;
                    Some(mode)
                }
                _ => None,
            }
        };
        match mode {
            None => Ok(()),
            Some(Mode::Abort) => std::panic::panic_any(Crash(point, edge)),
            Some(Mode::Error) => Err(io::Error::other("injected")),
            Some(Mode::Full) => Err(io::Error::from(io::ErrorKind::StorageFull)),
        }
    }
}

impl Faults for Script {
    fn before(&self, point: Point) -> io::Result<()> {
        self.pass(point, Edge::Before)
    }

    fn after(&self, point: Point) -> io::Result<()> {
        self.pass(point, Edge::After)
    }
}
