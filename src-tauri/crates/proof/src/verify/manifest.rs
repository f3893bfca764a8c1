//! `SHA256SUMS`: all files, no other file, in order, signed twice by the manifest key; and the keys it covers.

use super::Check;
use crate::container::Stop;
use crate::layout as l;
use crate::statement::{Predicate, Statement, is_subject};
use seal::{Digest, PublicKey, Signature, dsse, sshsig};
use std::collections::BTreeMap;

/// What a store with keys always puts into a bundle.
const SIGNED_FILES: [&str; 11] = [
    l::SUMS_ED25519,
    l::SUMS_SSHSIG,
    l::KEY_RECEIPT,
    l::KEY_MANIFEST,
    l::KEY_LOG,
    l::KEY_VKEYS,
    l::KEY_ALLOWED,
    l::LOG_CHECKPOINT,
    l::TASK_CHECKPOINT,
    l::TASK_CHECKPOINT_PROOF,
    l::STATEMENT,
];

impl Check<'_> {
    /// Reads the list, holds it against the files that are there, and checks both signatures.
    pub(super) fn manifest(&mut self) -> Result<(), Stop> {
        let bytes = self.container.read(l::SUMS, l::WHOLE_BYTES_MAX)?;
        self.sums = parse(&bytes)?;
        let there = self.container.sizes();
        if let Some(name) = there.keys().find(|name| l::is_summed(name) && !self.sums.contains_key(**name)) {
            return Err(Stop::at(*name, "SHA256SUMS does not list it: it was added"));
        }
        if let Some(name) = self.sums.keys().find(|name| !there.contains_key(name.as_str())) {
            return Err(Stop::at(name, "SHA256SUMS lists it and it is missing: it was removed"));
        }
        let found: Vec<&str> = SIGNED_FILES.into_iter().filter(|name| there.contains_key(name)).collect();
        self.signed = !found.is_empty();
        if !self.signed {
            let stray = [l::GATE_CHECKPOINT, l::GATE_CHECKPOINT_PROOF];
            if let Some(name) = stray.into_iter().find(|name| self.has(name)) {
                return Err(Stop::at(name, "the bundle of a store without keys has no such file"));
            }
            // A person's key is not one of the store's; there may be one where the store has none.
            self.keys.approval =
                if self.has(l::KEY_APPROVAL) { Some(self.key(l::KEY_APPROVAL)?) } else { None };
            return Ok(());
        }
        if let Some(name) = SIGNED_FILES.into_iter().find(|name| !found.contains(name)) {
            return Err(Stop::at(name, "it is missing: a signed bundle always has it"));
        }
        self.read_keys()?;
        self.signatures(&bytes)
    }

    fn read_keys(&mut self) -> Result<(), Stop> {
        self.keys.log = Some(self.key(l::KEY_LOG)?);
        self.keys.receipt = Some(self.key(l::KEY_RECEIPT)?);
        self.keys.manifest = Some(self.key(l::KEY_MANIFEST)?);
        self.keys.approval = if self.has(l::KEY_APPROVAL) { Some(self.key(l::KEY_APPROVAL)?) } else { None };
        let mut all: Vec<PublicKey> =
            [self.keys.log, self.keys.receipt, self.keys.manifest, self.keys.approval]
                .into_iter()
                .flatten()
                .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        if all.len() != count {
            return Err(Stop::at("keys", "one key serves two purposes"));
        }
        Ok(())
    }

    fn key(&mut self, name: &str) -> Result<PublicKey, Stop> {
        let pem = self.text(name)?;
        PublicKey::from_pem(&pem).map_err(|e| Stop::at(name, e))
    }

    fn signatures(&mut self, sums: &[u8]) -> Result<(), Stop> {
        let key = self.keys.manifest.ok_or_else(|| Stop::at(l::KEY_MANIFEST, "it is missing"))?;
        let raw = self.container.read(l::SUMS_ED25519, l::SMALL_BYTES_MAX)?;
        let signature = Signature::try_from(raw.as_slice()).map_err(|e| Stop::at(l::SUMS_ED25519, e))?;
        key.verify(sums, &signature)
            .map_err(|_| Stop::at(l::SUMS_ED25519, "it is not the manifest key's signature of SHA256SUMS"))?;
        let armored = self.container.read(l::SUMS_SSHSIG, l::SMALL_BYTES_MAX)?;
        let armored =
            std::str::from_utf8(&armored).map_err(|_| Stop::at(l::SUMS_SSHSIG, "it is not UTF-8"))?;
        sshsig::verify(armored, sums, sshsig::NAMESPACE, &key).map_err(|e| Stop::at(l::SUMS_SSHSIG, e))?;
        let line = sshsig::allowed_signers_line(l::MANIFEST_PRINCIPAL, sshsig::NAMESPACE, &key);
        if self.text(l::KEY_ALLOWED)? != line.map_err(|e| Stop::at(l::KEY_ALLOWED, e))? {
            return Err(Stop::at(l::KEY_ALLOWED, "it names another key than keys/manifest.pub.pem"));
        }
        Ok(())
    }

    /// The bundle's statement: signed by the receipt key, about exactly these files and keys.
    pub(super) fn statement(&mut self) -> Result<Predicate, Stop> {
        let name = if self.signed { l::STATEMENT } else { l::STATEMENT_BARE };
        if self.signed && self.has(l::STATEMENT_BARE) {
            return Err(Stop::at(l::STATEMENT_BARE, "a signed bundle has no statement that nobody signed"));
        }
        let bytes = self.whole(name, l::WHOLE_BYTES_MAX)?;
        let payload = match self.keys.receipt {
            Some(key) => envelope_of(name, &bytes, dsse::IN_TOTO, &key)?,
            None => bytes,
        };
        let statement: Statement = seal::canon::from_canonical(&payload).map_err(|e| Stop::at(name, e))?;
        if !statement.is_ours() {
            return Err(Stop::at(name, "it is not the statement of a hermit-proof/1 bundle"));
        }
        let subjects: Vec<(&str, Digest)> =
            statement.subject.iter().map(|s| (s.name.as_str(), s.digest.sha256)).collect();
        let single = statement.predicate.receipt_id.is_some();
        let files: Vec<(&str, Digest)> =
            self.sums.iter().filter(|(n, _)| is_subject(n, single)).map(|(n, d)| (n.as_str(), *d)).collect();
        if subjects != files {
            return Err(Stop::at(name, "its subjects are not the files of this bundle"));
        }
        if statement.predicate.keys != crate::export::keyids(self.keys) {
            return Err(Stop::at(name, "it names other keys than those in keys/"));
        }
        if statement.predicate.task_size == 0 {
            return Err(Stop::at(name, "the task has no events, and an empty log proves nothing"));
        }
        Ok(statement.predicate)
    }
}

/// The payload of an envelope that `key` alone signed, of the expected type.
pub(super) fn envelope_of(
    name: &str,
    bytes: &[u8],
    payload_type: &str,
    key: &PublicKey,
) -> Result<Vec<u8>, Stop> {
    let envelope = dsse::Envelope::parse(bytes).map_err(|e| Stop::at(name, e))?;
    if envelope.payload_type != payload_type {
        return Err(Stop::at(
            name,
            format!("its payload is `{}`, not `{payload_type}`", envelope.payload_type),
        ));
    }
    dsse::verify(&envelope, key).map_err(|e| Stop::at(name, e))
}

fn parse(bytes: &[u8]) -> Result<BTreeMap<String, Digest>, Stop> {
    let text = std::str::from_utf8(bytes).map_err(|_| Stop::at(l::SUMS, "it is not UTF-8"))?;
    let body = text.strip_suffix('\n').ok_or_else(|| Stop::at(l::SUMS, "its final newline is missing"))?;
    let mut sums: BTreeMap<String, Digest> = BTreeMap::new();
    for (at, line) in body.split('\n').enumerate() {
        let place = || format!("{} line {}", l::SUMS, at + 1);
        let (hex, name) =
            line.split_once("  ").ok_or_else(|| Stop::at(place(), "it is not `digest  name`"))?;
        let digest: Digest = hex.parse().map_err(|e| Stop::at(place(), e))?;
        if !l::is_known(name) || !l::is_summed(name) {
            return Err(Stop::at(place(), "it lists a file that no bundle has"));
        }
        if sums.last_key_value().is_some_and(|(last, _)| last.as_str() >= name) {
            return Err(Stop::at(place(), "the names are not sorted, or one comes twice"));
        }
        sums.insert(name.to_owned(), digest);
    }
    Ok(sums)
}
