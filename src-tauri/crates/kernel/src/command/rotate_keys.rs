//! Keys that follow others, and keys that are not believed any more (proof.md 3).

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::keyring::KeyHistory;
use model::body::{KeyPurpose, KeyRevoked, KeyRotated};
use model::fault::Point;
use model::principal::PrincipalType;
use model::{Event, Sensitive};
use seal::schnorr::SchnorrKey;
use seal::succession::{Revocation, Succession};
use seal::{Digest, Signature, Signer};

/// One key of a rotation.
pub struct Rotation<'a> {
    /// What both keys are for.
    pub purpose: KeyPurpose,
    /// Signs with the key in force.
    pub old: &'a dyn Signer,
    /// Signs with the key that follows.
    pub new: &'a dyn Signer,
}

impl Kernel {
    /// Every key this store ever made known.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn key_history(&self) -> Result<KeyHistory, Error> {
        let system = lock(&self.store).system_task()?;
        let mut history = KeyHistory::new(self.reader.log_id());
        let mut after = 0;
        loop {
            let page = self.reader.events(system, after, 1_000)?;
            let Some(last) = page.last() else { return Ok(history) };
            after = last.task_seq;
            for stored in page.iter().filter(|s| is_about_keys(&s.bytes)) {
                let event = Event::from_bytes(&stored.bytes)?;
                history.take(event.occurred_at, &self.body_of(&event)?);
            }
        }
    }

    /// Records, in one commit, that keys follow others; from then on the new ones are in force. With the key of the instance
    /// before and after, that one hands over to the other in the same commit, so that its chain stays unbroken.
    ///
    /// # Errors
    /// [`Error::Conflict`] when an old key is not in force or a new one was known before; [`Error::Seal`] when a
    /// signer refuses.
    pub fn rotate_keys(
        &self,
        rotations: &[Rotation<'_>],
        instance: Option<(&SchnorrKey, &SchnorrKey)>,
    ) -> Result<(), Error> {
        self.rotate(rotations, instance, None)
    }

    /// The same, because the program with this digest was adopted and is at work: the hand-over names it (mesh.md 2).
    ///
    /// # Errors
    /// As [`Self::rotate_keys`].
    pub fn rotate_keys_to_successor(
        &self,
        rotations: &[Rotation<'_>],
        instance: (&SchnorrKey, &SchnorrKey),
        program: Digest,
    ) -> Result<(), Error> {
        self.rotate(rotations, Some(instance), Some(program))
    }

    fn rotate(
        &self,
        rotations: &[Rotation<'_>],
        instance: Option<(&SchnorrKey, &SchnorrKey)>,
        successor: Option<Digest>,
    ) -> Result<(), Error> {
        let history = self.key_history()?;
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::KeyRotate, actor, self.session.clone(), None)?;
        for Rotation { purpose, old, new } in rotations {
            let (from, to) = (old.public(), new.public());
            if history.in_force(*purpose).is_none_or(|r| r.public_key != from) {
                return Err(Error::Conflict(format!(
                    "the {purpose} key that is open here is not the one in force; see `hermit keys list`"
                )));
            }
            if history.records.iter().any(|r| r.public_key == to) {
                return Err(Error::Conflict(format!("the new {purpose} key is not new to this store")));
            }
            let step = Succession {
                log_id: self.reader.log_id().to_owned(),
                purpose: purpose.to_string(),
                old: from,
                new: to,
            };
            let (by_old, by_new) = step.sign(*old, *new)?;
            step.note(&by_old, &by_new)?;
            w.push(KeyRotated {
                purpose: *purpose,
                old_keyid: from.keyid(),
                new_keyid: to.keyid(),
                public_key: to,
                signature_by_old: by_old.to_string(),
                signature_by_new: by_new.to_string(),
            });
        }
        if let Some(instance) = instance {
            self.push_handover(&mut w, instance, successor)?;
        }
        self.commit(w)?;
        Ok(())
    }

    /// Records that a key must not be believed any more. `by` is the key in force for the same purpose.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a key this store never had; [`Error::Conflict`] for the one in force, which is rotated
    /// first, and for one that is revoked already.
    pub fn revoke_key(&self, keyid: Digest, by: &dyn Signer, reason: &str) -> Result<(), Error> {
        let history = self.key_history()?;
        let record = history.records.iter().find(|r| r.keyid == keyid);
        let record = record.ok_or_else(|| Error::NotFound { kind: "key", id: keyid.to_string() })?;
        if record.until.is_none() {
            return Err(Error::Conflict(format!(
                "this is the {} key in force; put another in its place first, with `hermit keys rotate`",
                record.purpose
            )));
        }
        if record.revoked.is_some() {
            return Err(Error::Conflict("this key is revoked already".to_owned()));
        }
        if history.in_force(record.purpose).is_none_or(|r| r.public_key != by.public()) {
            return Err(Error::Conflict(format!("only the {} key in force can revoke it", record.purpose)));
        }
        let said = Revocation {
            log_id: self.reader.log_id().to_owned(),
            purpose: record.purpose.to_string(),
            key: record.public_key,
            by: by.public(),
        };
        let signature: Signature = said.sign(by)?;
        said.note(&signature)?;
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::KeyRevoke, actor, self.session.clone(), None)?;
        w.push(KeyRevoked {
            purpose: record.purpose,
            keyid,
            public_key: record.public_key,
            revoked_by: by.public().keyid(),
            signature: signature.to_string(),
            reason: Sensitive::from(reason.to_owned()),
        });
        if let (KeyPurpose::Log, Some(until)) = (record.purpose, record.until)
            && let Err(error) = self.push_revocation(&mut w, until)
        {
            // A key that must not be believed waits for nothing.
            tracing::warn!(%error, "the key of the instance from the same root is not revoked");
        }
        self.commit(w)?;
        self.vouch_for_keys();
        Ok(())
    }
}

/// Whether it is worth reading: the store's stream is mostly about other things.
fn is_about_keys(bytes: &[u8]) -> bool {
    const MARK: &[u8] = b"\"event_type\":\"key.";
    bytes.windows(MARK.len()).any(|w| w == MARK)
}
