//! Checks a bundle with nothing but itself and the keys the caller trusts.
//!
//! Order: what files there are, what `SHA256SUMS` says of them and who signed it; the statement; the signed heads;
//! the events; then everything that must follow from them. The first thing that does not fit ends it.

mod authority;
mod events;
mod gate;
mod heads;
mod manifest;
mod receipts;
mod words;

use crate::container::{Container, Stop};
use crate::facts::{Facts, concealed};
use crate::layout::{self, Named};
use crate::report::{Counts, Report, Verdict};
use crate::statement::Predicate;
use crate::{Error, PublicKeys, Trust};
use heads::Heads;
use seal::{Digest, Hasher};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

/// Checks a bundle, zip file or directory.
///
/// `trust` names keys the caller has from elsewhere. For [`Verdict::Valid`] one of three must be among them. The
/// manifest key has signed every file; the receipt key has signed the statement, which names the other keys and
/// the heads; the log key has signed the heads, and through each receipt in the log it vouches for the receipt key.
/// In a task without a signed receipt the log key vouches for no other key, so there it is not enough alone.
///
/// # Errors
/// [`Error::Io`] when it cannot be read. What is wrong with the bundle is a verdict.
pub fn verify(path: &Path, trust: &[Trust]) -> Result<Report, Error> {
    let container = match Container::open(path) {
        Ok(container) => container,
        Err(Stop::Failed(error)) => return Err(error),
        Err(Stop::Invalid { place, why }) => return Ok(blank(Verdict::Invalid { place, why })),
    };
    let mut check = Check::new(&container);
    match check.run() {
        Ok(()) => Ok(check.conclude(trust)),
        Err(Stop::Failed(error)) => Err(error),
        Err(Stop::Invalid { place, why }) => {
            let mut report = blank(Verdict::Invalid { place, why });
            report.counts = check.counts;
            check.facts_known(&mut report);
            Ok(report)
        }
    }
}

/// A check under way.
struct Check<'a> {
    container: &'a Container,
    /// What `SHA256SUMS` says.
    sums: BTreeMap<String, Digest>,
    /// Files whose bytes were compared with it.
    checked: BTreeSet<String>,
    keys: PublicKeys,
    signed: bool,
    predicate: Option<Predicate>,
    heads: Option<Heads>,
    facts: Facts,
    /// Disclosures that open a leaf.
    opened: BTreeSet<Digest>,
    /// Hashes of the gate's entries that are here, with whether the entry lets something pass.
    entries: BTreeMap<Digest, bool>,
    /// Receipts whose signature holds: they bind the receipt key to the log.
    signed_receipts: u64,
    /// Objects of authority that were read once; many receipts may name one of them.
    objects: authority::Objects,
    /// Artifacts that receipts name.
    named: BTreeSet<Digest>,
    counts: Counts,
    missing: Vec<String>,
    not_shown: Vec<String>,
}

impl<'a> Check<'a> {
    fn new(container: &'a Container) -> Self {
        Self {
            container,
            sums: BTreeMap::new(),
            checked: BTreeSet::new(),
            keys: PublicKeys::default(),
            signed: false,
            predicate: None,
            heads: None,
            facts: Facts::default(),
            opened: BTreeSet::new(),
            entries: BTreeMap::new(),
            signed_receipts: 0,
            objects: authority::Objects::default(),
            named: BTreeSet::new(),
            counts: Counts::default(),
            missing: Vec::new(),
            not_shown: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), Stop> {
        let sizes = self.container.sizes();
        (self.counts.files, self.counts.bytes) = (sizes.len() as u64, sizes.values().sum());
        self.manifest()?;
        let predicate = self.statement()?;
        self.predicate = Some(predicate.clone());
        if self.signed {
            self.heads = Some(self.heads(&predicate)?);
        }
        self.events(&predicate)?;
        self.gate(&predicate)?;
        self.receipts(&predicate)?;
        self.decisions()?;
        self.leftovers()
    }

    /// A file's whole bytes, once they are what `SHA256SUMS` says.
    fn whole(&mut self, name: &str, max: u64) -> Result<Vec<u8>, Stop> {
        let bytes = self.container.read(name, max)?;
        self.summed(name, Digest::of(&bytes))?;
        Ok(bytes)
    }

    /// [`Self::whole`] for text.
    fn text(&mut self, name: &str) -> Result<String, Stop> {
        let bytes = self.whole(name, layout::SMALL_BYTES_MAX)?;
        String::from_utf8(bytes).map_err(|_| Stop::at(name, "it is not UTF-8"))
    }

    /// Compares a digest with what `SHA256SUMS` says of the file.
    fn summed(&mut self, name: &str, found: Digest) -> Result<(), Stop> {
        match self.sums.get(name) {
            Some(expected) if *expected == found => {
                self.checked.insert(name.to_owned());
                Ok(())
            }
            Some(_) => Err(Stop::at(name, "its bytes do not give the digest in SHA256SUMS: it was changed")),
            None => Err(Stop::at(name, "SHA256SUMS does not list it")),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.container.size(name).is_some()
    }

    /// The content of an artifact, when it goes along.
    fn artifact(&mut self, digest: &Digest) -> Result<Option<Vec<u8>>, Stop> {
        let name = Named::Artifact(*digest).path();
        if !self.has(&name) {
            return Ok(None);
        }
        let bytes = self.whole(&name, model::limits::ARTIFACT_BYTES_MAX)?;
        if Digest::of(&bytes) != *digest {
            return Err(Stop::at(name, "its bytes do not give the digest that is its name"));
        }
        Ok(Some(bytes))
    }

    /// Opens what can be opened below `value`: each disclosure must fit its digest and its place.
    fn open_leaves(&mut self, value: &Value, base: &str) -> Result<(), Stop> {
        concealed(value, &mut base.to_owned(), &mut |digest, pointer| {
            let name = Named::Disclosure(digest).path();
            if !self.has(&name) {
                self.counts.redacted += 1;
                return Ok(());
            }
            let bytes = self.whole(&name, layout::LINE_BYTES_MAX as u64)?;
            let (found, place, _) =
                seal::disclose::verify_disclosure(&bytes).map_err(|e| Stop::at(&name, e))?;
            if found != digest || place != pointer {
                return Err(Stop::at(name, format!("it does not open `{pointer}`")));
            }
            self.opened.insert(digest);
            self.counts.disclosed += 1;
            Ok(())
        })
    }

    /// What no event asked for must still be known, and have the bytes it should.
    fn leftovers(&mut self) -> Result<(), Stop> {
        let names: Vec<String> = self.sums.keys().cloned().collect();
        for name in names {
            match Named::parse(&name) {
                Some(Named::Disclosure(digest)) if !self.opened.contains(&digest) => {
                    return Err(Stop::at(name, "it opens nothing in this bundle"));
                }
                Some(Named::Artifact(digest)) => {
                    if !self.facts.artifacts.contains_key(&digest) && !self.named.contains(&digest) {
                        return Err(Stop::at(name, "no event and no receipt of this bundle names it"));
                    }
                    if self.sums.get(&name) != Some(&digest) {
                        return Err(Stop::at(
                            name,
                            "its digest in SHA256SUMS is not the one that is its name",
                        ));
                    }
                    self.counts.artifacts += 1;
                }
                _ => {}
            }
            if !self.checked.contains(&name) {
                let found = self.hash(&name)?;
                self.summed(&name, found)?;
            }
        }
        let known: BTreeSet<&Digest> = self.facts.artifacts.keys().chain(&self.named).collect();
        self.counts.artifacts_left_out = (known.len() as u64).saturating_sub(self.counts.artifacts);
        Ok(())
    }

    /// Digest of a file of any size, read in pieces.
    fn hash(&self, name: &str) -> Result<Digest, Stop> {
        let mut reader = self.container.reader(name)?;
        let mut hasher = Hasher::new();
        let mut piece = vec![0; 64 * 1024];
        loop {
            let read = reader.read(&mut piece).map_err(|e| crate::container::unread(name, &e))?;
            match piece.get(..read) {
                Some(bytes) if read > 0 => hasher.update(bytes),
                _ => return Ok(hasher.finish()),
            }
        }
    }
}

pub(crate) fn blank(verdict: Verdict) -> Report {
    Report {
        verdict,
        task_id: None,
        log_id: None,
        task_size: None,
        task_root: None,
        exported_at_ms: None,
        keys: BTreeMap::new(),
        trusted: Vec::new(),
        counts: Counts::default(),
        proven: Vec::new(),
        asserted: Vec::new(),
        not_shown: Vec::new(),
    }
}
