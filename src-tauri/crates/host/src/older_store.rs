//! A store that is not consistent with the head that was kept outside it: named as such, read and not written, and
//! taken up again only when a person says so.

use crate::head_pin::{self, Pin};
use crate::{Config, Error, Home, Local, SystemClock, Unlock};
use kernel::command::person::{Matter, Signed};
use ledger::{PinState, Reader};
use model::{Body, Clock as _};
use seal::{Digest, PublicKey};

/// Why a store is not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Older {
    /// The head that was kept, and where.
    pub pin: Pin,
    /// `behind` or `forked`.
    pub standing: &'static str,
    /// Notes that were signed for.
    pub pinned: u64,
    /// Notes that are here.
    pub found: u64,
}

impl Older {
    /// In words, for people.
    pub fn told(&self) -> String {
        let Self { pin, pinned, found, .. } = self;
        match self.standing {
            "behind" => format!(
                "this store is older than the head kept in {}: {pinned} notes were signed, and {found} are here; it was set back, or restored from an older copy",
                pin.place
            ),
            _ => format!(
                "this store tells another history than the head kept in {}: its first {pinned} notes are not those that were signed",
                pin.place
            ),
        }
    }
}

/// The log keys that `keys.json` names, now and before: what a kept head may be signed with.
pub(crate) fn log_keys(home: &Home) -> Vec<PublicKey> {
    let Ok(Some(marker)) = keychain::Marker::read(home.dir()) else { return Vec::new() };
    let before = marker.earlier.iter().rev().map(|earlier| earlier.log.public_key);
    std::iter::once(marker.log.public_key).chain(before).collect()
}

/// Whether the store may not be written, as it stands to the heads kept of it. A person's word counts for the very
/// head it was given about.
///
/// # Errors
/// When store or pins cannot be read.
pub fn older(home: &Home, config: &Config) -> Result<Option<Older>, wire::Error> {
    if !home.has_store() {
        return Ok(None);
    }
    let reader = match Reader::open(home.dir()) {
        Ok(reader) => reader,
        // An empty or newer file: opening it for writing says what is to be said.
        Err(_) => return Ok(None),
    };
    let keychain = crate::keys::keychain_of(home, reader.log_id());
    let pins = head_pin::read(home, config, keychain.as_ref().map(|vault| vault as &dyn keychain::Vault))?;
    let Some((pin, state)) = head_pin::standing(&reader, &pins, &log_keys(home)).map_err(api::of_ledger)?
    else {
        return Ok(None);
    };
    let (standing, pinned, found) = match state {
        PinState::Behind { pinned, found } => ("behind", pinned, found),
        PinState::Forked { pinned } => ("forked", pinned, pinned),
        PinState::Consistent | PinState::Unusable { .. } => return Ok(None),
    };
    if was_accepted(&reader, pin.sha256()).map_err(api::of_ledger)? {
        return Ok(None);
    }
    Ok(Some(Older { pin, standing, pinned, found }))
}

/// Whether a person has accepted the store in spite of this head.
fn was_accepted(reader: &Reader, pin_sha256: Digest) -> Result<bool, ledger::Error> {
    let Some(first) = reader.log(0, 1)?.into_iter().next() else { return Ok(false) };
    let mut after = 0;
    loop {
        let page = reader.events(first.task_id, after, 1_000)?;
        let Some(last) = page.last() else { return Ok(false) };
        after = last.task_seq;
        for stored in &page {
            let event = stored.event()?;
            if event.event_type == "pin.accepted"
                && let Ok(Body::PinAccepted(body)) = event.body(&|_| None)
                && body.pin_sha256 == pin_sha256
            {
                return Ok(true);
            }
        }
    }
}

/// The refusal of whoever wants to write.
pub(crate) fn refused(older: &Older) -> wire::Error {
    wire::Error::new(wire::Code::Refused, older.told())
        .hint("everything can still be read; put the newer store back, or, if this one is what is left, say so with `hermit checkpoint accept`")
        .details(serde_json::json!({
            "code": "behind_pin", "standing": older.standing, "pinned": older.pinned, "found": older.found,
        }))
}

impl Local {
    /// Takes up a store that is behind its pin, because a person signed for it. The head that was kept is set aside and
    /// stays to be looked at.
    ///
    /// # Errors
    /// [`Error::Keys`] for a wrong passphrase; [`Error::Kernel`] as the kernel says.
    pub fn accept_older(home: Home, unlock: &Unlock, older: &Older, approval: &[u8]) -> Result<Self, Error> {
        let local = Self::in_spite_of_pins(home, unlock)?;
        let done = (|| {
            let kernel = local.owned_kernel()?;
            let key = local.approval_key(approval)?;
            let log_id = kernel.reader().log_id();
            let signed = Signed::of(log_id, Matter::AcceptPin, older.pin.sha256(), SystemClock.now(), &key)?;
            kernel.accept_pin(older.standing, older.pinned, older.found, older.pin.sha256(), &signed)?;
            local.say_restored(true)?;
            head_pin::set_aside(local.home(), older.pinned);
            match kernel.checkpoint(&[]) {
                Ok(_) | Err(kernel::Error::KeyLocked(_)) => Ok(()),
                Err(error) => Err(error.into()),
            }
        })();
        match done {
            Ok(()) => Ok(local),
            Err(error) => {
                local.close_quietly();
                Err(error)
            }
        }
    }
}
