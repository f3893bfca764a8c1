//! What the stored bytes are worth: every chain, every copy, every tree, every signature (proof.md 2).
//!
//! Verification reads the rows once and never changes anything. Threads read and hash ranges of rows; what they found
//! is taken up in order. Its memory is bounded by the number of tasks, checkpoints and grants, not of events.

mod about;
mod breaks;
mod chunks;
mod consistency;
mod disclosed;
mod events;
mod fields;
mod gate;
mod notes;
mod report;
pub(crate) mod stands;
mod trees;

pub use breaks::{Break, breaks};
pub use notes::{PinState, check_pin};
pub use report::{Place, Progress, Report, Verdict};
pub use stands::{Changed, changed};

use crate::Error;
use crate::reader::Reader;
use report::Stop;
use rusqlite::Connection;
use seal::PublicKey;

/// Asked now and then; `false` stops the verification with [`Error::Cancelled`].
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress) -> bool;

/// Verifies a store. `keys` are those trusted to sign checkpoints (K_log, old ones too after a rotation); `pin` is
/// the last global checkpoint kept outside the store, when there is one.
///
/// # Errors
/// [`Error::Cancelled`] and [`Error::Io`]. Whatever is wrong with the store itself is in the report.
pub fn verify(
    reader: &Reader,
    keys: &[PublicKey],
    pin: Option<&[u8]>,
    progress: OnProgress<'_>,
) -> Result<Report, Error> {
    reader.with(|conn| {
        // One snapshot: a host may go on writing.
        let tx = conn.unchecked_transaction().map_err(|e| Error::sql("verifying", &e))?;
        let mut run =
            Run { conn: &tx, reader, log_id: reader.log_id(), keys, progress, report: Report::default() };
        match run.all(pin) {
            Ok(()) => run.report.conclude(),
            Err(Stop::At(place, why)) => run.report.invalid(place, why),
            Err(Stop::Missing(why)) => run.report.incomplete(why),
            Err(Stop::Error(Error::Corrupt { why, .. })) => run.report.invalid(Place::File, why),
            Err(Stop::Error(error)) => return Err(error),
        }
        Ok(run.report)
    })
}

struct Run<'a> {
    conn: &'a Connection,
    reader: &'a Reader,
    log_id: &'a str,
    keys: &'a [PublicKey],
    progress: OnProgress<'a>,
    report: Report,
}

impl Run<'_> {
    fn all(&mut self, pin: Option<&[u8]>) -> Result<(), Stop> {
        consistency::schema(self.conn)?;
        let epochs = consistency::epochs(self.conn)?;
        self.report.severed = crate::severed::all(self.conn)?;
        let heads = notes::Heads::load(self.conn, &self.report.severed)?;
        // Notes first: what they sign for is what events and entries are held against.
        let notes = notes::check(self)?;
        self.severed()?;
        let beside = events::check(self, &heads, &notes, epochs)?;
        gate::check(self, &heads)?;
        disclosed::check(self, &beside)?;
        consistency::blobs(self)?;
        consistency::grant_uses(self)?;
        if let Some(pin) = pin {
            notes::against_pin(self, pin)?;
        }
        Ok(())
    }

    /// Whether each severing is a person's, of exactly what stands there.
    fn severed(&self) -> Result<(), Stop> {
        for one in &self.report.severed {
            if let Err(why) = crate::severed::holds(self.conn, self.log_id, one)? {
                let place = Place::Event { log_seq: one.log_seq, task: one.by.0, task_seq: one.by.1 };
                return Err(Stop::At(place, why));
            }
        }
        Ok(())
    }

    /// Tells how far it is; stops when asked to.
    fn tell(&mut self, stage: &'static str, done: u64, of: u64) -> Result<(), Stop> {
        if (self.progress)(Progress { stage, done, of }) {
            Ok(())
        } else {
            Err(Stop::Error(Error::Cancelled))
        }
    }
}
