//! Broken chains anchored anew by a person at this machine; and a store that was put back, said so in its own log.

use crate::{Error, Home, Local, SystemClock, Unlock};
use kernel::command::person::{Matter, Signed};
use ledger::Reader;
use ledger::verify::Break;
use model::Clock as _;
use seal::Signer as _;

/// Where each chain of the store breaks first, for a person to look at; empty when none does.
///
/// # Errors
/// When the store cannot be read at all: then there is nothing to anchor, and a backup has to be restored.
pub fn broken(home: &Home) -> Result<Vec<Break>, wire::Error> {
    let reader = Reader::open(home.dir()).map_err(api::of_ledger)?;
    ledger::verify::breaks(&reader).map_err(api::of_ledger)
}

/// Whether the store's own stream is among what is severed.
fn severs_own(home: &Home, shown: &[Break]) -> Result<bool, ledger::Error> {
    let first = Reader::open(home.dir())?.log(0, 1)?.into_iter().next();
    Ok(first.is_some_and(|first| shown.iter().any(|one| one.task == first.task_id)))
}

impl Local {
    /// Severs what a person was shown, signed with the approval key. The store is free again afterwards.
    ///
    /// # Errors
    /// [`Error::Keys`] for a wrong passphrase; [`Error::ApprovalExchanged`]; [`Error::Kernel`] as the kernel says.
    pub fn reanchor(
        home: Home,
        unlock: &Unlock,
        shown: &[Break],
        reason: &str,
        approval: &[u8],
    ) -> Result<(), Error> {
        let (local, ports) = Self::prepared(home, false)?;
        let key = local.approval_key(approval)?;
        if severs_own(local.home(), shown).map_err(kernel::Error::from)? {
            // What says which key counts is itself severed: only the vault can tell whether this one does.
            let log_id = Reader::open(local.home().dir()).map_err(kernel::Error::from)?.log_id().to_owned();
            local.keys().unlock(local.home(), &log_id, None, unlock)?;
            crate::approval_key::is_remembered(local.keys(), &key.public())?;
        }
        let sign = |log_id: &str, about| Signed::of(log_id, Matter::Reanchor, about, SystemClock.now(), &key);
        Ok(kernel::command::reanchor::reanchor(local.home().dir(), ports, shown, reason, &sign)?)
    }

    /// Writes into the log that this store was put back from a copy, once, when it was. `behind_pin`: a person has just
    /// accepted that it is older than the head kept outside it.
    pub(crate) fn say_restored(&self, behind_pin: bool) -> Result<(), Error> {
        let Some(came) = api::PutBack::read(self.home().dir()).map_err(Error::Said)? else { return Ok(()) };
        self.owned_kernel()?.restored(came.manifest_sha256, came.behind_pin || behind_pin)?;
        // Left over by a crash, it is found to be said already.
        api::PutBack::forget(self.home().dir()).map_err(Error::Said)
    }
}
