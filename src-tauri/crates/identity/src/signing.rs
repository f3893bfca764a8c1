//! What is signed of an identity: links, and the statement by which its first key and the log's key vouch for each other.

use crate::Error;
use model::Digest;
use model::identity::{InstanceKey, Link, LinkSignature, SIGNING_TAG, SignedLink};
use seal::canon;
use seal::schnorr::{self, SchnorrKey};
use serde::{Deserialize, Serialize};

/// The statement that binds the first key of an instance to the key of its log, signed by both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundKey {
    /// What both sign.
    pub statement: InstanceKey,
    /// Ed25519 over its canonical bytes, 64 bytes in hex.
    pub signature_by_log: String,
    /// BIP-340 over the tagged hash of its canonical bytes, 64 bytes in hex.
    pub signature_by_instance: String,
}

/// SHA-256 of the canonical bytes of a link: the name by which the next one calls it.
///
/// # Errors
/// [`Error::Seal`] when it has no canonical form.
pub fn link_sha256(link: &Link) -> Result<Digest, Error> {
    Ok(Digest::of(&canon::to_canonical(link)?))
}

/// Signs a link with exactly the keys that have to, in the order of [`Link::signers`].
///
/// # Errors
/// [`Error::Signers`] when these are other keys; [`Error::Seal`].
pub fn sign(link: Link, signers: &[&SchnorrKey]) -> Result<SignedLink, Error> {
    let have: Vec<String> = signers.iter().map(|key| key.public()).collect();
    if have != link.signers() {
        return Err(Error::Signers("the keys are not those that it names, in their order".to_owned()));
    }
    let bytes = canon::to_canonical(&link)?;
    let mut signatures = Vec::new();
    for (key, pubkey) in signers.iter().zip(have) {
        signatures.push(LinkSignature { pubkey, signature: key.sign(SIGNING_TAG, &bytes)? });
    }
    Ok(SignedLink { link, signatures })
}

/// The key of the log and the key of the instance vouch for each other.
///
/// # Errors
/// [`Error::Signers`] when the statement names other keys; [`Error::Seal`].
pub fn bind(
    statement: InstanceKey,
    log: &dyn seal::Signer,
    instance: &SchnorrKey,
) -> Result<BoundKey, Error> {
    if statement.log_pubkey != log.public().to_string() || statement.instance_pubkey != instance.public() {
        return Err(Error::Signers("the statement names other keys".to_owned()));
    }
    let bytes = canon::to_canonical(&statement)?;
    let signature_by_log = log.sign(&bytes)?.to_string();
    let signature_by_instance = instance.sign(SIGNING_TAG, &bytes)?;
    Ok(BoundKey { statement, signature_by_log, signature_by_instance })
}

impl BoundKey {
    /// Whether both signatures hold.
    ///
    /// # Errors
    /// [`Error::Seal`] with the first that does not.
    pub fn check(&self) -> Result<(), Error> {
        let bytes = canon::to_canonical(&self.statement)?;
        let log: seal::PublicKey = self.statement.log_pubkey.parse()?;
        let by_log: seal::Signature = self.signature_by_log.parse()?;
        log.verify(&bytes, &by_log)?;
        let pubkey = &self.statement.instance_pubkey;
        Ok(schnorr::verify(pubkey, SIGNING_TAG, &bytes, &self.signature_by_instance)?)
    }
}

/// How the line of a [`BoundKey`] begins in a file of links, where it stands before them.
const KEY_LINE: &[u8] = b"{\"signature_by_";

/// The lines of a file of signed links: that of the key where there is one, and those of links.
pub fn lines(file: &[u8]) -> (Option<&[u8]>, Vec<&[u8]>) {
    let file = file.strip_suffix(b"\n").unwrap_or(file);
    if file.is_empty() {
        return (None, Vec::new());
    }
    let mut all: Vec<&[u8]> = file.split(|byte| *byte == b'\n').collect();
    let has_key = all.first().is_some_and(|line| line.starts_with(KEY_LINE));
    let key = has_key.then(|| all.remove(0));
    (key, all)
}
