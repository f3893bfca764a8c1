//! `SHA256SUMS`: all files, no other file, in order, signed twice by the manifest key; and the keys it covers.

use super::Check;
use crate::container::{Stop, unread};
use crate::layout::{self as l, Named};
use crate::lines::Lines;
use crate::names::Names;
use crate::statement::{Predicate, Statement, is_subject};
use seal::note::VerifierKey;
use seal::{Digest, Hasher, PublicKey, Signature, dsse, sshsig};

/// What `SHA256SUMS` says of a file.
#[derive(Debug)]
pub(super) struct Sum {
    /// The digest, where the name does not say it.
    said: Option<Box<Digest>>,
    /// Whether the file's bytes were compared with it.
    pub(super) checked: bool,
}

impl Sum {
    /// The digest of the file of this name.
    pub(super) fn digest(&self, name: &str) -> Digest {
        match (&self.said, Named::parse(name)) {
            (Some(digest), _) => **digest,
            (None, Some(Named::Artifact(digest) | Named::Disclosure(digest))) => digest,
            // Only those two are kept without a digest.
            (None, _) => Digest::ZERO,
        }
    }
}

/// What a store with keys puts into every bundle.
const ALWAYS: [&str; 7] = [
    l::SUMS_ED25519,
    l::SUMS_SSHSIG,
    l::KEY_RECEIPT,
    l::KEY_MANIFEST,
    l::KEY_VKEYS,
    l::KEY_ALLOWED,
    l::TASK_CHECKPOINT_PROOF,
];

/// What it puts into every bundle but one receipt's alone, which carries them inside its proofs or not at all.
const LARGE: [&str; 4] = [l::KEY_LOG, l::LOG_CHECKPOINT, l::TASK_CHECKPOINT, l::STATEMENT];

/// What one receipt alone never has, beside those.
const NEVER_SINGLE: [&str; 9] = [
    l::STATEMENT_BARE,
    l::GATE_CHECKPOINT,
    l::GATE_CHECKPOINT_PROOF,
    l::TASK_EVENTS,
    l::PROV,
    l::STATE_ROOTED,
    l::STATE_ROOTED_PROOF,
    l::STATE_CHECKPOINT_PROOF,
    l::STATE_SUBJECTS,
];

/// What only a store with keys can have.
const NEVER_UNSIGNED: [&str; 12] = [
    l::IDENTITY_KEY,
    l::IDENTITY_LINKS,
    l::STATE_ROOTED,
    l::STATE_ROOTED_PROOF,
    l::STATE_CHECKPOINT_PROOF,
    l::STATE_SUBJECTS,
    l::GATE_CHECKPOINT,
    l::GATE_CHECKPOINT_PROOF,
    l::LOG_PREVIOUS,
    l::LOG_CONSISTENCY,
    l::LOG_POLICY,
    l::DISCLOSED,
];

impl Check<'_> {
    /// Reads the list, holds it against the files that are there, and checks both signatures.
    pub(super) fn manifest(&mut self) -> Result<(), Stop> {
        let digest = self.read_sums()?;
        let added = self.container.find(&|name| l::is_summed(name) && self.sums.get(name).is_none());
        if let Some(name) = added {
            return Err(Stop::at(name, "SHA256SUMS does not list it: it was added"));
        }
        let removed = self.sums.iter().map(|(name, _)| name).find(|name| !self.has(name));
        if let Some(name) = removed {
            return Err(Stop::at(name, "SHA256SUMS lists it and it is missing: it was removed"));
        }
        self.signed = ALWAYS.iter().chain(&LARGE).any(|name| self.has(name));
        if !self.signed {
            let strange = NEVER_UNSIGNED.into_iter().find(|name| self.has(name)).map(str::to_owned);
            let anchor = || self.container.find(&|name| name.starts_with(l::ANCHORS));
            if let Some(name) = strange.or_else(anchor) {
                return Err(Stop::at(name, "the bundle of a store without keys has no such file"));
            }
            // A person's key is not one of the store's; there may be one where the store has none.
            self.keys.approval =
                if self.has(l::KEY_APPROVAL) { Some(self.key(l::KEY_APPROVAL)?) } else { None };
            return Ok(());
        }
        self.shape()?;
        self.read_keys()?;
        self.signatures(digest)
    }

    /// Whether the files are those of a task or a span, or those of one receipt alone.
    fn shape(&mut self) -> Result<(), Stop> {
        if let Some(name) = ALWAYS.into_iter().find(|name| !self.has(name)) {
            return Err(Stop::at(name, "it is missing: a signed bundle always has it"));
        }
        self.single = !LARGE.iter().any(|name| self.has(name));
        if !self.single {
            return match LARGE.into_iter().find(|name| !self.has(name)) {
                Some(name) => Err(Stop::at(name, "it is missing: the bundle of a task always has it")),
                None if self.has(l::DISCLOSED) => {
                    Err(Stop::at(l::DISCLOSED, "only one receipt alone has its disclosures in one file"))
                }
                None => Ok(()),
            };
        }
        let strange = NEVER_SINGLE.into_iter().find(|name| self.has(name)).map(str::to_owned);
        let folder = |folder: &str| self.container.find(&|name| name.starts_with(folder));
        match strange.or_else(|| folder("disclosures/")) {
            Some(name) => Err(Stop::at(name, "the bundle of one receipt alone has no such file")),
            None => Ok(()),
        }
    }

    /// Reads `SHA256SUMS` line by line; its digest.
    fn read_sums(&mut self) -> Result<Digest, Stop> {
        if !self.has(l::SUMS) {
            return Err(Stop::at(l::SUMS, "it is missing"));
        }
        let container = self.container;
        let mut lines = Lines::new(l::SUMS, container.reader(l::SUMS)?);
        let mut sums = Names::default();
        let mut last = String::new();
        while let Some((number, line)) = lines.next()? {
            let place = || format!("{} line {number}", l::SUMS);
            let text = std::str::from_utf8(line).map_err(|_| Stop::at(place(), "it is not UTF-8"))?;
            let (hex, name) =
                text.split_once("  ").ok_or_else(|| Stop::at(place(), "it is not `digest  name`"))?;
            let digest: Digest = hex.parse().map_err(|e| Stop::at(place(), e))?;
            if !l::is_known(name) || !l::is_summed(name) {
                return Err(Stop::at(place(), "it lists a file that no bundle has"));
            }
            if last.as_str() >= name {
                return Err(Stop::at(place(), "the names are not sorted, or one comes twice"));
            }
            if sums.len() == l::FILES_MAX {
                return Err(Stop::at(place(), "it lists more files than any bundle has"));
            }
            let said = match Named::parse(name) {
                Some(Named::Artifact(own) | Named::Disclosure(own)) if own == digest => None,
                Some(Named::Artifact(_) | Named::Disclosure(_)) => {
                    return Err(Stop::at(place(), "the file's digest is not the one that is its name"));
                }
                _ => Some(Box::new(digest)),
            };
            sums.add(name, Sum { said, checked: false });
            name.clone_into(&mut last);
        }
        if sums.len() == 0 {
            return Err(Stop::at(l::SUMS, "it is empty"));
        }
        sums.settle();
        self.sums = sums;
        Ok(lines.digest())
    }

    fn read_keys(&mut self) -> Result<(), Stop> {
        let log = if self.single { self.log_vkey()?.key().to_owned() } else { self.key(l::KEY_LOG)? };
        self.keys.log = Some(log);
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

    /// The log key under its own name: the first line of `keys/log.vkey`.
    fn log_vkey(&mut self) -> Result<VerifierKey, Stop> {
        let text = self.text(l::KEY_VKEYS)?;
        let line = text.lines().next().unwrap_or_default();
        line.parse().map_err(|e: seal::Error| Stop::at(l::KEY_VKEYS, e))
    }

    fn key(&mut self, name: &str) -> Result<PublicKey, Stop> {
        let pem = self.text(name)?;
        PublicKey::from_pem(&pem).map_err(|e| Stop::at(name, e))
    }

    /// Both signatures of `SHA256SUMS`, whose digest was `sums` when it was read.
    fn signatures(&mut self, sums: Digest) -> Result<(), Stop> {
        let key = self.keys.manifest.ok_or_else(|| Stop::at(l::KEY_MANIFEST, "it is missing"))?;
        let refused = || Stop::at(l::SUMS_ED25519, "it is not the manifest key's signature of SHA256SUMS");
        let raw = self.container.read(l::SUMS_ED25519, l::SMALL_BYTES_MAX)?;
        let signature = Signature::try_from(raw.as_slice()).map_err(|e| Stop::at(l::SUMS_ED25519, e))?;
        let (mut verifying, mut hasher) =
            (key.verify_pieces(&signature).map_err(|_| refused())?, Hasher::new());
        let mut reader = self.container.reader(l::SUMS)?;
        let mut piece = vec![0; 64 * 1024];
        loop {
            let read = std::io::Read::read(&mut reader, &mut piece).map_err(|e| unread(l::SUMS, &e))?;
            match piece.get(..read) {
                Some(bytes) if read > 0 => {
                    verifying.update(bytes);
                    hasher.update(bytes);
                }
                _ => break,
            }
        }
        verifying.finish().map_err(|_| refused())?;
        if hasher.finish() != sums {
            return Err(Stop::at(l::SUMS, "it changed while it was read"));
        }
        let armored = self.container.read(l::SUMS_SSHSIG, l::SMALL_BYTES_MAX)?;
        let armored =
            std::str::from_utf8(&armored).map_err(|_| Stop::at(l::SUMS_SSHSIG, "it is not UTF-8"))?;
        sshsig::verify_digest(armored, sums, sshsig::NAMESPACE, &key)
            .map_err(|e| Stop::at(l::SUMS_SSHSIG, e))?;
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
        let files = self.sums.iter().filter(|(name, _)| is_subject(name));
        let files = files.map(|(name, sum)| (sum.digest(&name), name));
        let subjects = statement.subject.iter().map(|s| (s.digest.sha256, s.name.as_str().into()));
        if !subjects.eq(files) {
            return Err(Stop::at(name, "its subjects are not the files of this bundle"));
        }
        let predicate = statement.predicate;
        if predicate.keys != crate::export::keyids(self.keys) {
            return Err(Stop::at(name, "it names other keys than those in keys/"));
        }
        if predicate.task_size == 0 {
            return Err(Stop::at(name, "the task has no events, and an empty log proves nothing"));
        }
        if predicate.receipt_id.is_some() && (self.signed || predicate.span.is_some()) {
            return Err(Stop::at(name, "one receipt alone has no statement beside its own, and no span"));
        }
        if let Some([first, last]) = predicate.span
            && (first == 0 || first > last || last > predicate.task_size)
        {
            return Err(Stop::at(name, "its span is none of the task's events"));
        }
        Ok(predicate)
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
