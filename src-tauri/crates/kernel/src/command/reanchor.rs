//! Anchoring broken chains anew: a person's word, as events that name what was severed. Never a reset (proof.md 2).

use super::person::{Matter, Signed};
use crate::kernel::{Kernel, Ports, lock};
use crate::{Error, open};
use ledger::severed::subject;
use ledger::verify::{Break, breaks};
use model::Sensitive;
use model::body::ChainReanchored;
use model::fault::Point;
use model::principal::PrincipalType;
use seal::Digest;
use std::path::Path;

/// What one signature is about: the store's log, and the digest of what is severed.
pub type Sign<'a> = &'a dyn Fn(&str, Digest) -> Result<Signed, Error>;

/// Takes a store whose chains are broken and severs each from its first break on. `shown` is what a person was shown;
/// when the store says otherwise by now, nothing is done. The store is let go of again, for a host to open.
///
/// # Errors
/// [`Error::Conflict`] when nothing is broken or something else than was shown; [`Error::Refused`] when no person
/// decided it; [`Error::Ledger`] when another host holds the store.
pub fn reanchor(
    dir: &Path,
    ports: Ports,
    shown: &[Break],
    reason: &str,
    sign: Sign<'_>,
) -> Result<(), Error> {
    let kernel = open::open_broken(dir, ports)?;
    let mut found = breaks(&kernel.reader)?;
    if found.is_empty() || found != shown {
        return Err(Error::Conflict("what is broken is not what was shown; look again".to_owned()));
    }
    let system = lock(&kernel.store).system_task()?;
    // What stands in this very commit is severed by none of it.
    found.sort_by_key(|one| one.task != system);
    kernel.sever(&found, reason, sign)
}

impl Kernel {
    fn sever(&self, found: &[Break], reason: &str, sign: Sign<'_>) -> Result<(), Error> {
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::ChainReanchor, actor, self.session.clone(), None)?;
        for Break { task, from_seq, .. } in found {
            let extent = self.reader.severable(*task, *from_seq, self.writer.epoch())?;
            let about = subject(*task, *from_seq, extent.digest)?;
            let decided = self.decided(Matter::Reanchor, about, &sign(self.reader.log_id(), about)?)?;
            w.push(ChainReanchored {
                about_task_id: *task,
                from_seq: *from_seq,
                severed_sha256: extent.digest,
                reason: Sensitive::from(reason.to_owned()),
            });
            w.push(decided);
        }
        self.commit(w)?;
        Ok(())
    }
}
