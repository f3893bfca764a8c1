//! What witnesses have signed, kept as events.

use crate::Error;
use crate::kernel::{Kernel, lock};
use model::body::CheckpointCosigned;
use model::fault::Point;
use model::principal::PrincipalType;
use model::{Body, Event};
use seal::Digest;

impl Kernel {
    /// Keeps the line by which a witness cosigned a head of the log. The caller has checked it.
    ///
    /// # Errors
    /// When it cannot be committed.
    pub fn keep_cosignature(
        &self,
        origin: &str,
        size: u64,
        root: Digest,
        witness: &str,
        line: &str,
    ) -> Result<(), Error> {
        let (origin, witness, line) = (origin.to_owned(), witness.to_owned(), line.to_owned());
        self.keep_cosigned(None, CheckpointCosigned { origin, size, root, witness, line })
    }

    /// As [`Kernel::keep_cosignature`]; under a key that was used before nothing is kept.
    pub(crate) fn keep_cosigned(
        &self,
        key: Option<String>,
        cosigned: CheckpointCosigned,
    ) -> Result<(), Error> {
        if let Some(key) = &key
            && self.reader.by_idempotency_key(key)?.is_some()
        {
            return Ok(());
        }
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::CheckpointCosign, actor, self.session.clone(), None)?;
        w.push_keyed(key, cosigned);
        match self.commit(w) {
            Ok(_) | Err(Error::Ledger(ledger::Error::Duplicate { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Everything witnesses have signed, in order.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn cosignatures(&self) -> Result<Vec<CheckpointCosigned>, Error> {
        const MARK: &[u8] = b"\"event_type\":\"checkpoint.cosigned\"";
        let system = lock(&self.store).system_task()?;
        let (mut found, mut after) = (Vec::new(), 0);
        loop {
            let page = self.reader.events(system, after, 1_000)?;
            let Some(last) = page.last() else { return Ok(found) };
            after = last.task_seq;
            for stored in page.iter().filter(|s| s.bytes.windows(MARK.len()).any(|w| w == MARK)) {
                if let Body::CheckpointCosigned(body) = self.body_of(&Event::from_bytes(&stored.bytes)?)? {
                    found.push(body);
                }
            }
        }
    }
}
