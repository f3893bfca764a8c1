//! What is near to what a context asks for: every vector of its project is read through, within a time.

use super::{Failure, is_held, key_of, opened};
use crate::kernel::Kernel;
use knowledge::meaning::{self, Vector};
use model::context::VectorsThere;
use model::{Digest, MemoryId, lasting};
use projections::rows::MemoryRow;
use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::time::Duration;

/// Records that one context may find by meaning.
const NEAR_MAX: usize = 24;
/// How long a context reads through vectors.
const SCAN_MS_MAX: u64 = 400;
/// Vectors that are read between two looks at the clock.
const SCANNED_AT_ONCE: u64 = 128;

/// What was read through of the vectors of a project.
#[derive(Default)]
struct Scanned {
    /// What is near, the nearest first.
    near: Vec<(Reverse<i64>, MemoryId)>,
    there: VectorsThere,
    common: i64,
    /// The place in the log up to which vectors were made.
    through: u64,
}

impl Kernel {
    pub(super) fn nearest(
        &self,
        model: &str,
        key: Digest,
        asked: &[Vector],
        project: Option<Digest>,
    ) -> Result<(Vec<MemoryRow>, VectorsThere), Failure> {
        let Scanned { near, mut there, common, through } = self.scanned(model, key, asked, project)?;
        let (query, now) = (self.query()?, self.ports.clock.now());
        there.records = there.records.saturating_add(query.count_memories_behind(through, project)?);
        let mut rows = Vec::new();
        for (Reverse(likeness), id) in near {
            if rows.len() == NEAR_MAX || !meaning::is_near(likeness, rows.len(), common) {
                break;
            }
            let row = query.memory(id)?;
            rows.extend(row.filter(|row| is_held(row) && row.expires_at.is_none_or(|at| at > now)));
        }
        Ok((rows, there))
    }

    /// Every vector that is near to what was asked for, read through within its time; a turn waits no longer for it.
    fn scanned(
        &self,
        model: &str,
        key: Digest,
        asked: &[Vector],
        project: Option<Digest>,
    ) -> Result<Scanned, Failure> {
        let (kept, of) = self.vectors_of(model)?;
        if key_of(model, &of) != Some(key) {
            return Err(Failure::of("the model was changed meanwhile".to_owned()));
        }
        let mut found = Scanned { common: of.common, through: of.through, ..Scanned::default() };
        let clock = &self.ports.clock;
        let until = clock.monotonic_ms().saturating_add(SCAN_MS_MAX);
        let read = opened(&kept)?.each(project, &mut |id, numbers| {
            if found.there.records.is_multiple_of(SCANNED_AT_ONCE) && clock.monotonic_ms() > until {
                return ControlFlow::Break(());
            }
            found.there.records += 1;
            let Some(own) = numbers.and_then(Vector::from_bytes) else { return ControlFlow::Continue(()) };
            found.there.made += 1;
            let likeness = asked.iter().map(|asked| asked.likeness(&own)).max().unwrap_or_default();
            if meaning::is_near(likeness, 0, of.common)
                && let Ok(id) = id.parse()
            {
                found.near.push((Reverse(likeness), id));
            }
            ControlFlow::Continue(())
        })?;
        drop(kept);
        if read.is_break() {
            let read = found.there.records;
            let slow = Failure::of(format!(
                "its vectors could not be read through within {}; {read} of them were",
                lasting(Duration::from_millis(SCAN_MS_MAX))
            ));
            // The next turns would wait as long for as little.
            self.let_rest(model, &slow);
            return Err(slow);
        }
        found.near.sort_unstable();
        Ok(found)
    }
}
