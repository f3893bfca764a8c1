//! A passkey signs a page in: it shows that the person whose it is sits there, and decides nothing (schedule.md 4).

use super::passkeys::Held;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::passkey_registry::PasskeyRecord;
use governance::Refusal;
use governance::approval::{COUNTER, verify_sign_in};
use model::Digest;
use model::body::{KeyPurpose, PasskeySignInRefused, PasskeySignedIn};
use model::event::Actor;
use model::fault::Point;
use model::principal::PrincipalType;

/// How often it is tried when something else was recorded in the store's own stream at the same moment.
const TRIES: usize = 8;

impl Kernel {
    /// The passkey that signed a page in at this origin: exactly the payload that was drawn for it.
    ///
    /// # Errors
    /// [`Error::Refused`] when anything about it does not hold; nobody is signed in then.
    pub fn sign_in_by_passkey(&self, signed: &[u8], payload: &[u8], origin: &str) -> Result<Digest, Error> {
        for _ in 1..TRIES {
            match self.sign_in_once(signed, payload, origin) {
                Err(Error::Ledger(ledger::Error::Moved { .. })) => {}
                other => return other,
            }
        }
        self.sign_in_once(signed, payload, origin)
    }

    fn sign_in_once(&self, signed: &[u8], payload: &[u8], origin: &str) -> Result<Digest, Error> {
        let Held { passkey, record, seen } = self.held_passkey(signed)?;
        if record.origin != origin {
            let why = format!("this passkey is for `{}` and signs nobody in here", record.origin);
            return Err(Error::Refused(Refusal::new("passkey_origin", why)));
        }
        let said = match verify_sign_in(signed, payload, (&passkey, record.counter)) {
            Err(refusal) => return Err(self.refused_sign_in(&record, refusal)),
            Ok(said) => said,
        };
        let actor = Actor { actor_type: PrincipalType::User, actor_id: record.enrolled_by };
        let mut w = self.store_writeup(Point::KeyRegister, actor, record.passkey.to_string(), None)?;
        let signed_in_at = w.now;
        w.push(PasskeySignedIn {
            passkey: record.passkey,
            origin: record.origin,
            counter: said.counter,
            backed_up: said.is_backed_up,
            signed_in_at,
        });
        // Neither a revocation nor another count is overtaken.
        w.batch.expect.push(seen);
        self.commit(w)?;
        Ok(record.passkey)
    }

    /// Whether a passkey may say yes and sign in now.
    pub fn passkey_holds(&self, passkey: Digest) -> bool {
        let store = lock(&self.store);
        let Some((keyid, _)) = store.keys.get(&KeyPurpose::Approval) else { return false };
        store.passkeys.in_force(*keyid).any(|one| one.passkey == passkey)
    }

    /// Whether a passkey that its authenticator calls so may say yes and sign in now.
    pub fn knows_passkey(&self, credential_id: &str) -> bool {
        let store = lock(&self.store);
        let Some((keyid, _)) = store.keys.get(&KeyPurpose::Approval) else { return false };
        store.passkeys.in_force(*keyid).any(|one| one.credential_id == credential_id)
    }

    /// The refusal, which is on record where it may mean a copy of the passkey.
    fn refused_sign_in(&self, record: &PasskeyRecord, refusal: Refusal) -> Error {
        if refusal.code != COUNTER {
            return Error::Refused(refusal);
        }
        let noted = self.actor(PrincipalType::System).and_then(|actor| {
            let mut w = self.store_writeup(Point::ApprovalDeny, actor, record.passkey.to_string(), None)?;
            w.push(PasskeySignInRefused { passkey: record.passkey, counter: record.counter });
            self.commit(w)
        });
        match noted {
            Ok(_) => Error::Refused(refusal),
            Err(error) => error,
        }
    }
}
