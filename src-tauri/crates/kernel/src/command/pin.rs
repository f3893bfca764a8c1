//! Going on with a store that is not consistent with the head kept outside it: a person's word, as an event.

use super::person::{Matter, Signed};
use crate::Error;
use crate::kernel::Kernel;
use model::body::PinAccepted;
use model::fault::Point;
use model::principal::PrincipalType;
use seal::Digest;

impl Kernel {
    /// Records that a person accepts the store as it is, in spite of the head `pin_sha256`.
    ///
    /// # Errors
    /// [`Error::Refused`] when no person decided it.
    pub fn accept_pin(
        &self,
        standing: &str,
        pinned: u64,
        found: u64,
        pin_sha256: Digest,
        signed: &Signed,
    ) -> Result<(), Error> {
        let decided = self.decided(Matter::AcceptPin, pin_sha256, signed)?;
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::PinAccept, actor, self.session.clone(), None)?;
        w.push(decided);
        w.push(PinAccepted { standing: standing.to_owned(), pinned, found, pin_sha256 });
        self.commit(w)?;
        Ok(())
    }
}
