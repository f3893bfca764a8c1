//! New keys in the place of old ones, and keys that are not believed any more. Only in the process that owns the
//! store, and only while nothing is driven: no receipt is signed by a key that was followed a moment ago.
//!
//! Each step may be the last before a crash ([`keychain::Keys::settle`] goes on): the next seed is staged, the log
//! records the succession, the seed is promoted, `keys.json` names the new keys.

use crate::keys::APPROVAL_FILE;
use crate::{Error, Home, Local};
use kernel::command::rotate_keys::Rotation;
use keychain::{ApprovalKey, Cost, Keys};
use model::body::KeyPurpose;
use model::fault::Point;
use seal::{Digest, PublicKey, SeedSigner, Signer as _};
use zeroize::Zeroizing;

/// The approval key that is to follow.
const NEXT_FILE: &str = "approval.key.next";

/// What was put in the place of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    /// Purpose, old key id, new key id.
    pub keys: Vec<(KeyPurpose, Digest, Digest)>,
}

/// Brings a broken-off rotation of the approval key to the end the log has. Needs no passphrase.
pub(crate) fn settle_approval(home: &Home, in_force: Option<PublicKey>) -> Result<(), Error> {
    let (next, path) = (home.path(NEXT_FILE), home.path(APPROVAL_FILE));
    if !next.exists() {
        return Ok(());
    }
    let staged = ApprovalKey::public(&next)?;
    if in_force == Some(staged) {
        return Ok(ApprovalKey::promote(&next, &path)?);
    }
    std::fs::remove_file(&next).map_err(|e| Error::io("remove", &next, &e))
}

impl Local {
    /// Makes a new root seed and puts the three keys that come of it in the place of those in force. What was signed
    /// before is first covered by a checkpoint of the old key, and then the first checkpoint of the new one is made.
    ///
    /// # Errors
    /// [`Error::Kernel`] with a locked key, or in a process that only reads; [`Error::Keys`].
    pub fn rotate_keys(&self) -> Result<Rotated, Error> {
        self.rotate_all(None)
    }

    /// The same, because an adopted program with this digest is at work: the key of the instance that goes and the one that comes
    /// sign that.
    ///
    /// # Errors
    /// As [`Self::rotate_keys`].
    pub(crate) fn hand_over_to(&self, program: Digest) -> Result<Rotated, Error> {
        self.rotate_all(Some(program))
    }

    fn rotate_all(&self, successor: Option<Digest>) -> Result<Rotated, Error> {
        let kernel = self.owned_kernel()?;
        let locked = || Error::Kernel(kernel::Error::KeyLocked("log"));
        let (old, vault) = (self.keys().keys().ok_or_else(locked)?, self.keys().vault().ok_or_else(locked)?);
        let faults = &*kernel.ports().faults;
        let stopped = |e: std::io::Error| Error::io("rotate the keys in", self.home().dir(), &e);
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(seed.as_mut()).map_err(|e| keychain::Error::Randomness(e.to_string()))?;
        faults.before(Point::KeyStage).map_err(stopped)?;
        let new = Keys::stage(&*vault, *seed)?;
        faults.after(Point::KeyStage).map_err(stopped)?;
        kernel.checkpoint(&moved(kernel)?)?;
        let (a, b) = ((old.log(), old.receipt(), old.manifest()), (new.log(), new.receipt(), new.manifest()));
        let all = [
            Rotation { purpose: KeyPurpose::Log, old: &*a.0, new: &*b.0 },
            Rotation { purpose: KeyPurpose::Receipt, old: &*a.1, new: &*b.1 },
            Rotation { purpose: KeyPurpose::Manifest, old: &*a.2, new: &*b.2 },
        ];
        // The chain of the instance goes on under the key that comes of the new seed.
        let instance = match kernel.identity().first_soul() {
            Some(soul) => Some((Keys::instance(&*vault, &soul)?, Keys::staged_instance(&*vault, &soul)?)),
            None => None,
        };
        match (&instance, successor) {
            (Some((from, to)), Some(program)) => {
                kernel.rotate_keys_to_successor(&all, (from, to), program)?
            }
            (both, _) => kernel.rotate_keys(&all, both.as_ref().map(|(from, to)| (from, to)))?,
        }
        faults.before(Point::KeyPromote).map_err(stopped)?;
        Keys::promote(&*vault)?;
        faults.after(Point::KeyPromote).map_err(stopped)?;
        faults.before(Point::KeyMark).map_err(stopped)?;
        let opened = Keys::mark(self.home().dir(), &*vault)?;
        faults.after(Point::KeyMark).map_err(stopped)?;
        self.keys().opened(opened, vault);
        kernel.checkpoint(&moved(kernel)?)?;
        self.keep_pins();
        let pair = |r: &Rotation<'_>| (r.purpose, r.old.public().keyid(), r.new.public().keyid());
        Ok(Rotated { keys: all.iter().map(pair).collect() })
    }

    /// Makes a new approval key with a seed and a passphrase of its own, in the place of the one in force.
    ///
    /// # Errors
    /// [`Error::Keys`], among them a wrong passphrase; [`Error::Kernel`].
    pub fn rotate_approval(&self, old: &[u8], new: &[u8]) -> Result<Rotated, Error> {
        let kernel = self.owned_kernel()?;
        let (path, next) = (self.home().path(APPROVAL_FILE), self.home().path(NEXT_FILE));
        let old = ApprovalKey::open(&path, old)?;
        let faults = &*kernel.ports().faults;
        let stopped = |e: std::io::Error| Error::io("rotate the approval key in", self.home().dir(), &e);
        settle_approval(self.home(), Some(old.public()))?;
        faults.before(Point::KeyStage).map_err(stopped)?;
        let made = ApprovalKey::create(&next, new, Cost::STRONG)?;
        faults.after(Point::KeyStage).map_err(stopped)?;
        kernel.rotate_keys(&[Rotation { purpose: KeyPurpose::Approval, old: &old, new: &made }], None)?;
        faults.before(Point::KeyPromote).map_err(stopped)?;
        ApprovalKey::promote(&next, &path)?;
        faults.after(Point::KeyPromote).map_err(stopped)?;
        kernel.vouch_for_keys();
        crate::approval_key::made(kernel, self.keys());
        Ok(Rotated { keys: vec![(KeyPurpose::Approval, old.public().keyid(), made.public().keyid())] })
    }

    /// Says of a key that was followed by another that it must not be believed any more. For an approval key its
    /// successor's passphrase is needed, for the others the open vault.
    ///
    /// # Errors
    /// [`Error::Kernel`] as the kernel says; [`Error::Keys`].
    pub fn revoke_key(&self, keyid: Digest, reason: &str, approval: Option<&[u8]>) -> Result<(), Error> {
        let kernel = self.owned_kernel()?;
        let locked = || Error::Kernel(kernel::Error::KeyLocked("log"));
        let history = kernel.key_history()?;
        let purpose = history.records.iter().find(|r| r.keyid == keyid).map(|r| r.purpose);
        let keys = || self.keys().keys().ok_or_else(locked);
        match purpose {
            Some(KeyPurpose::Approval) => {
                let words = approval.ok_or(Error::Kernel(kernel::Error::KeyLocked("approval")))?;
                let signer: SeedSigner = ApprovalKey::open(&self.home().path(APPROVAL_FILE), words)?;
                kernel.revoke_key(keyid, &signer, reason)?;
            }
            Some(KeyPurpose::Receipt) => kernel.revoke_key(keyid, &*keys()?.receipt(), reason)?,
            Some(KeyPurpose::Manifest) => kernel.revoke_key(keyid, &*keys()?.manifest(), reason)?,
            _ => kernel.revoke_key(keyid, &*keys()?.log(), reason)?,
        }
        Ok(())
    }
}

/// Every task with events behind its last checkpoint.
fn moved(kernel: &kernel::Kernel) -> Result<Vec<model::TaskId>, Error> {
    let reader = kernel.reader();
    let of = |e: ledger::Error| Error::Kernel(e.into());
    let mut moved = Vec::new();
    for task in reader.task_ids().map_err(of)? {
        let size = reader.task_head(task).map_err(of)?.map_or(0, |(seq, _)| seq);
        let signed = reader.last_checkpoint(ledger::CheckpointKind::Task, Some(task)).map_err(of)?;
        if signed.map_or(0, |c| c.size) < size {
            moved.push(task);
        }
    }
    Ok(moved)
}
