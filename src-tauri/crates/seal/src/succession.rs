//! How one key follows another: both sign the same note, so that whoever trusts the old one can come to the new one
//! with nothing but the notes (proof.md 3). A note of this kind is a C2SP signed note, and Go's `sumdb/note` reads it.

use crate::note::{Note, NoteSignature, VerifierKey, verify_note};
use crate::{Error, PublicKey, Signature, Signer};
use std::collections::BTreeSet;

const SUCCESSION: &str = "succession of keys";
const REVOCATION: &str = "revocation of a key";

/// One key takes the place of another, for one purpose in one log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Succession {
    /// The `<log-id>` of the store.
    pub log_id: String,
    /// What both keys are for: `log`, `receipt`, `manifest`, `approval`.
    pub purpose: String,
    /// The key that goes.
    pub old: PublicKey,
    /// The key that comes.
    pub new: PublicKey,
}

/// A key that must not be believed any more, as the key that followed it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revocation {
    /// The `<log-id>` of the store.
    pub log_id: String,
    /// What the key was for.
    pub purpose: String,
    /// The key that is not to be believed.
    pub key: PublicKey,
    /// The key that says so.
    pub by: PublicKey,
}

/// The name under which keys of a purpose sign notes about keys.
fn name(log_id: &str, purpose: &str) -> String {
    format!("hermit.local/{log_id}/keys/{purpose}")
}

fn line(name: &str, key: PublicKey, signature: &Signature) -> Result<NoteSignature, Error> {
    let key_id = VerifierKey::new(name, key)?.key_id();
    Ok(NoteSignature { name: name.to_owned(), key_id, bytes: signature.0.to_vec() })
}

/// The note's lines behind a name of ours: log, purpose, and the two keys under the two words.
fn read(
    bytes: &[u8],
    what: &'static str,
    words: [&str; 2],
) -> Result<(String, String, PublicKey, PublicKey), Error> {
    let bad = |reason: &str| Error::malformed(what, reason);
    let note = Note::parse(bytes)?;
    let lines: Vec<&str> = note.text.strip_suffix('\n').unwrap_or(&note.text).split('\n').collect();
    let [name, first, second] = lines.as_slice() else {
        return Err(bad("it does not have three lines"));
    };
    let rest = name.strip_prefix("hermit.local/").ok_or_else(|| bad("it belongs to no log of ours"))?;
    let (log_id, purpose) = rest.split_once("/keys/").ok_or_else(|| bad("it is not about keys"))?;
    if log_id.is_empty() || purpose.is_empty() || rest.matches('/').count() != 2 {
        return Err(bad("its log or purpose cannot be read"));
    }
    let [one, two] = words;
    let key = |line: &str, word: &str| -> Result<PublicKey, Error> {
        let hex = line.strip_prefix(word).and_then(|rest| rest.strip_prefix(' '));
        hex.ok_or_else(|| bad("a line does not name its key"))?.parse()
    };
    Ok((log_id.to_owned(), purpose.to_owned(), key(first, one)?, key(second, two)?))
}

impl Succession {
    /// What both keys sign.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}\nold {}\nnew {}\n", name(&self.log_id, &self.purpose), self.old, self.new)
    }

    /// Both signatures: by the old key, by the new one.
    ///
    /// # Errors
    /// [`Error::Malformed`] when a signer is not the key that is named, or whatever a signer says.
    pub fn sign(&self, old: &dyn Signer, new: &dyn Signer) -> Result<(Signature, Signature), Error> {
        if (old.public(), new.public()) != (self.old, self.new) || self.old == self.new {
            return Err(Error::malformed(SUCCESSION, "these are not two signers for the two keys it names"));
        }
        let text = self.text();
        Ok((old.sign(text.as_bytes())?, new.sign(text.as_bytes())?))
    }

    /// The note of two signatures that hold.
    ///
    /// # Errors
    /// [`Error::Signature`] when one of them does not hold.
    pub fn note(&self, by_old: &Signature, by_new: &Signature) -> Result<Note, Error> {
        let name = name(&self.log_id, &self.purpose);
        let signatures = vec![line(&name, self.old, by_old)?, line(&name, self.new, by_new)?];
        let note = Note { text: self.text(), signatures };
        Self::open(&note.to_bytes())?;
        Ok(note)
    }

    /// Reads a note that both keys have signed, and nobody else.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Signature`], [`Error::Untrusted`].
    pub fn open(bytes: &[u8]) -> Result<Self, Error> {
        let (log_id, purpose, old, new) = read(bytes, SUCCESSION, ["old", "new"])?;
        if old == new {
            return Err(Error::malformed(SUCCESSION, "a key cannot follow itself"));
        }
        let name = name(&log_id, &purpose);
        let keys = [VerifierKey::new(&name, old)?, VerifierKey::new(&name, new)?];
        let note = verify_note(bytes, &keys)?;
        let here = note.signatures.iter().map(|s| s.key_id);
        if !here.eq(keys.iter().map(VerifierKey::key_id)) || note.to_bytes() != bytes {
            return Err(Error::malformed(SUCCESSION, "not exactly the two keys it names have signed it"));
        }
        Ok(Self { log_id, purpose, old, new })
    }
}

impl Revocation {
    /// What the key in force signs.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}\nrevoked {}\nby {}\n", name(&self.log_id, &self.purpose), self.key, self.by)
    }

    /// The signature of the key that says so.
    ///
    /// # Errors
    /// [`Error::Malformed`] when the signer is another key or revokes itself, or whatever the signer says.
    pub fn sign(&self, by: &dyn Signer) -> Result<Signature, Error> {
        if by.public() != self.by || self.key == self.by {
            return Err(Error::malformed(REVOCATION, "a key is revoked by the one that followed it"));
        }
        by.sign(self.text().as_bytes())
    }

    /// The note of a signature that holds.
    ///
    /// # Errors
    /// [`Error::Signature`] when it does not.
    pub fn note(&self, signature: &Signature) -> Result<Note, Error> {
        let name = name(&self.log_id, &self.purpose);
        let note = Note { text: self.text(), signatures: vec![line(&name, self.by, signature)?] };
        Self::open(&note.to_bytes())?;
        Ok(note)
    }

    /// Reads a note that the naming key has signed, and nobody else.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Signature`], [`Error::Untrusted`].
    pub fn open(bytes: &[u8]) -> Result<Self, Error> {
        let (log_id, purpose, key, by) = read(bytes, REVOCATION, ["revoked", "by"])?;
        if key == by {
            return Err(Error::malformed(REVOCATION, "a key cannot revoke itself"));
        }
        let note = verify_note(bytes, &[VerifierKey::new(&name(&log_id, &purpose), by)?])?;
        if note.to_bytes() != bytes {
            return Err(Error::malformed(REVOCATION, "others than the key it names have signed it"));
        }
        Ok(Self { log_id, purpose, key, by })
    }
}

/// The keys of a purpose that came before `last`, the nearest first: those from which a chain of successions leads
/// to it. A ring of successions ends where it closes.
#[must_use]
pub fn before(last: &PublicKey, purpose: &str, all: &[Succession]) -> Vec<PublicKey> {
    let mut seen = BTreeSet::from([*last]);
    let (mut found, mut at) = (Vec::new(), *last);
    while let Some(step) = all.iter().find(|s| s.purpose == purpose && s.new == at && !seen.contains(&s.old))
    {
        seen.insert(step.old);
        found.push(step.old);
        at = step.old;
    }
    found
}
