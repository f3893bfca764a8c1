//! Keys made known to the store. Their secret halves never come here.

use crate::Error;
use crate::kernel::{Kernel, lock};
use model::body::{KeyPurpose, KeyRegistered};
use model::fault::Point;
use model::principal::PrincipalType;
use seal::PublicKey;

impl Kernel {
    /// Registers public keys, one for each purpose that has none yet.
    ///
    /// # Errors
    /// [`Error::Conflict`] when a purpose has another key: keys are rotated, never replaced.
    pub fn register_keys(&self, keys: &[(KeyPurpose, PublicKey)], kept_in: &str) -> Result<(), Error> {
        let known = lock(&self.store).keys.clone();
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::KeyRegister, actor, self.session.clone(), None)?;
        for (purpose, public_key) in keys {
            let keyid = public_key.keyid();
            match known.get(purpose) {
                Some((there, _)) if *there == keyid => continue,
                Some(_) => {
                    return Err(Error::Conflict(format!("this store has another {purpose} key already")));
                }
                None => {}
            }
            w.push(KeyRegistered {
                keyid,
                purpose: *purpose,
                public_key: *public_key,
                kept_in: kept_in.to_owned(),
            });
        }
        if w.batch.drafts.is_empty() {
            return Ok(());
        }
        self.commit(w)?;
        self.vouch_for_keys();
        Ok(())
    }

    /// Signs the store's own stream, so that nobody exchanges in it what it says of keys. Without the key of the log
    /// the next checkpoint of it makes up for it.
    pub fn vouch_for_keys(&self) {
        let system = lock(&self.store).system_task_id;
        if let Some(system) = system {
            self.checkpoint_after(system);
        }
    }
}
