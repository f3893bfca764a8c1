//! Checks a bundle with nothing but itself and the keys the caller trusts.
//!
//! Order: what files there are, what `SHA256SUMS` says of them and who signed it; the statement; the signed heads;
//! the events; then everything that must follow from them. The first thing that does not fit ends it.

mod anchors;
mod authority;
mod dual;
mod events;
mod gate;
mod heads;
mod instance;
mod manifest;
mod passkeys;
mod receipts;
mod rotations;
mod state;
mod version;
mod words;

use crate::container::{Container, Stop};
use crate::facts::{Facts, concealed};
use crate::given::Clocks;
use crate::layout::{self, Named};
use crate::names::Names;
use crate::report::{Counts, Report, Verdict};
use crate::statement::Predicate;
use crate::{Error, Given, PublicKeys, Trust};
use heads::{Heads, Past};
use manifest::Sum;
use seal::Digest;
use seal::succession::{Revocation, Succession};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Checks a bundle, zip file or directory.
///
/// `trust` names keys the caller has from elsewhere. For [`Verdict::Valid`] one of three must be among them. The
/// manifest key has signed every file; the receipt key has signed the statement, which names the other keys and
/// the heads; the log key has signed the heads, and through each receipt in the log it vouches for the receipt key.
/// In a task without a signed receipt the log key vouches for no other key, so there it is not enough alone. One
/// receipt alone has no statement: there the log key vouches for the manifest key only if the receipt names it, and
/// else [`Report::unvouched`] lists the files that nobody vouches for.
///
/// # Errors
/// [`Error::Io`] when it cannot be read. What is wrong with the bundle is a verdict.
pub fn verify(path: &Path, trust: &[Trust]) -> Result<Report, Error> {
    verify_since(path, trust, None)
}

/// [`verify`], and whether the log has only grown since the checkpoint `held` (a signed note of the global log)
/// that the caller has from before: another history is [`Verdict::Invalid`], one that is not shown
/// [`Verdict::Incomplete`].
///
/// # Errors
/// As [`verify`].
pub fn verify_since(path: &Path, trust: &[Trust], held: Option<&[u8]>) -> Result<Report, Error> {
    verify_given(path, trust, &Given { held, ..Given::default() })
}

/// [`verify_since`], and what the clocks prove that stamped the log's heads: by certificates of time-stamp authorities, and by
/// headers of Bitcoin, that the caller has from elsewhere. An anchor whose proof is wrong by itself is [`Verdict::Invalid`]; one
/// that is pending, or that what was given does not prove or contradicts, proves nothing and changes no verdict.
///
/// # Errors
/// As [`verify`], and [`Error::Given`].
pub fn verify_given(path: &Path, trust: &[Trust], given: &Given<'_>) -> Result<Report, Error> {
    let clocks = Clocks::of(given)?;
    let opened = version::refused(path).and_then(|()| Container::open(path));
    let container = match opened {
        Ok(container) => container,
        Err(Stop::Failed(error)) => return Err(error),
        Err(Stop::Invalid { place, why }) => return Ok(blank(Verdict::Invalid { place, why })),
    };
    let mut check = Check::new(&container, &clocks);
    match check.run(given.held) {
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
    /// What clocks are believed by.
    clocks: &'a Clocks,
    /// What `SHA256SUMS` says.
    sums: Names<Sum>,
    keys: PublicKeys,
    signed: bool,
    /// Whether it is one receipt of a store with keys: its heads stand inside its proofs.
    single: bool,
    /// How keys followed others, and which are revoked.
    successions: Vec<Succession>,
    revocations: Vec<Revocation>,
    predicate: Option<Predicate>,
    heads: Option<Heads>,
    facts: Facts,
    /// Disclosures of one receipt alone, and whether they opened something.
    disclosed: BTreeMap<Digest, (Vec<u8>, bool)>,
    /// An older checkpoint that leads here.
    past: Option<Past>,
    /// Hashes of the gate's entries that are here, with whether the entry lets something pass.
    entries: BTreeMap<Digest, bool>,
    /// Passkeys that said yes, with how far each has counted.
    passkeys: BTreeMap<Digest, passkeys::Seen>,
    /// Receipts whose signature holds: they bind the receipt key to the log.
    signed_receipts: u64,
    /// Whether a receipt names the manifest key, or one that it followed: that binds the manifest key to the log.
    has_named_manifest: bool,
    /// Objects of authority that were read once; many receipts may name one of them.
    objects: authority::Objects,
    /// Artifacts that receipts name.
    named: BTreeSet<Digest>,
    /// Events of this bundle that may be leaves of a root of state, and the roots that were checked.
    leaves: BTreeSet<Digest>,
    /// Of these, those that are messages of the task whatever they say, in order.
    messages: Vec<Digest>,
    roots: Vec<state::Rooted>,
    /// The chain of the instance, once it was followed, and what clocks say.
    graph: Option<identity::Graph>,
    anchored: Vec<anchors::Anchored>,
    counts: Counts,
    missing: Vec<String>,
    not_shown: Vec<String>,
}

impl<'a> Check<'a> {
    fn new(container: &'a Container, clocks: &'a Clocks) -> Self {
        Self {
            container,
            clocks,
            sums: Names::default(),
            keys: PublicKeys::default(),
            signed: false,
            single: false,
            successions: Vec::new(),
            revocations: Vec::new(),
            predicate: None,
            heads: None,
            facts: Facts::default(),
            disclosed: BTreeMap::new(),
            past: None,
            entries: BTreeMap::new(),
            passkeys: BTreeMap::new(),
            signed_receipts: 0,
            has_named_manifest: false,
            objects: authority::Objects::default(),
            named: BTreeSet::new(),
            leaves: BTreeSet::new(),
            messages: Vec::new(),
            roots: Vec::new(),
            graph: None,
            anchored: Vec::new(),
            counts: Counts::default(),
            missing: Vec::new(),
            not_shown: Vec::new(),
        }
    }

    fn run(&mut self, held: Option<&[u8]>) -> Result<(), Stop> {
        (self.counts.files, self.counts.bytes) = self.container.totals();
        self.manifest()?;
        let predicate = if self.single {
            let (predicate, heads) = self.one_receipt()?;
            self.heads = Some(heads);
            predicate
        } else {
            let predicate = self.statement()?;
            self.heads = if self.signed { Some(self.heads(&predicate)?) } else { None };
            predicate
        };
        self.predicate = Some(predicate.clone());
        self.rotations(&predicate)?;
        self.history(held)?;
        self.events(&predicate)?;
        self.gate(&predicate)?;
        self.state()?;
        self.instance(&predicate)?;
        self.anchors()?;
        self.disclosed_lines()?;
        self.receipts(&predicate)?;
        self.decisions()?;
        self.dual_control()?;
        self.leftovers()
    }

    /// Adds to what is missing; a hostile bundle cannot make the list long.
    fn lacks(&mut self, what: String) {
        add(&mut self.missing, what);
    }

    fn not_shown(&mut self, what: String) {
        add(&mut self.not_shown, what);
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
        match self.sums.get_mut(name) {
            Some(sum) if sum.digest(name) == found => {
                sum.checked = true;
                Ok(())
            }
            Some(_) => Err(Stop::at(name, CHANGED)),
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
        let bytes = self.whole(&name, layout::RECORD_BYTES_MAX)?;
        if Digest::of(&bytes) != *digest {
            return Err(Stop::at(name, "its bytes do not give the digest that is its name"));
        }
        Ok(Some(bytes))
    }

    /// Opens what can be opened below `value`: each disclosure must fit its digest and its place.
    fn open_leaves(&mut self, value: &Value, base: &str) -> Result<(), Stop> {
        concealed(value, &mut base.to_owned(), &mut |digest, pointer| {
            let Some((place, bytes)) = self.disclosure(&digest)? else {
                self.counts.redacted += 1;
                return Ok(());
            };
            let (found, made_for, _) =
                seal::disclose::verify_disclosure(&bytes).map_err(|e| Stop::at(&place, e))?;
            if found != digest || made_for != pointer {
                return Err(Stop::at(place, format!("it does not open `{pointer}`")));
            }
            self.counts.disclosed += 1;
            Ok(())
        })
    }

    /// Where a disclosure stands, and its bytes.
    fn disclosure(&mut self, digest: &Digest) -> Result<Option<(String, Vec<u8>)>, Stop> {
        if self.single {
            let line = self.disclosed.get_mut(digest);
            return Ok(line.map(|(bytes, opened)| {
                *opened = true;
                (layout::DISCLOSED.to_owned(), bytes.clone())
            }));
        }
        let name = Named::Disclosure(*digest).path();
        if !self.has(&name) {
            return Ok(None);
        }
        let bytes = self.whole(&name, layout::LINE_BYTES_MAX as u64)?;
        Ok(Some((name, bytes)))
    }

    /// The disclosures of one receipt alone: lines in the order of their digests.
    fn disclosed_lines(&mut self) -> Result<(), Stop> {
        if !self.has(layout::DISCLOSED) {
            return Ok(());
        }
        let bytes = self.whole(layout::DISCLOSED, layout::WHOLE_BYTES_MAX)?;
        let body = bytes.strip_suffix(b"\n");
        let body = body.ok_or_else(|| Stop::at(layout::DISCLOSED, "its final newline is missing"))?;
        for (at, line) in body.split(|byte| *byte == b'\n').enumerate() {
            let digest = Digest::of(line);
            if self.disclosed.last_key_value().is_some_and(|(last, _)| *last >= digest) {
                let place = format!("{} line {}", layout::DISCLOSED, at + 1);
                return Err(Stop::at(
                    place,
                    "the lines are not in the order of their digests, or one comes twice",
                ));
            }
            self.disclosed.insert(digest, (line.to_vec(), false));
        }
        Ok(())
    }

    /// What no event asked for must still be known, and have the bytes it should.
    fn leftovers(&mut self) -> Result<(), Stop> {
        if let Some((digest, _)) = self.disclosed.iter().find(|(_, (_, opened))| !opened) {
            return Err(Stop::at(layout::DISCLOSED, format!("the line with digest {digest} opens nothing")));
        }
        let mut artifacts = 0;
        for (name, sum) in self.sums.iter() {
            match Named::parse(&name) {
                Some(Named::Disclosure(_)) if !sum.checked => {
                    return Err(Stop::at(name, "it opens nothing in this bundle"));
                }
                Some(Named::Artifact(digest)) => {
                    if !self.facts.artifacts.contains_key(&digest) && !self.named.contains(&digest) {
                        return Err(Stop::at(name, "no event and no receipt of this bundle names it"));
                    }
                    artifacts += 1;
                }
                _ => {}
            }
            // What nobody reads by program is short; only artifacts and the lineage of a long task are not.
            let long = name == layout::README && self.container.size(&name) > Some(layout::SMALL_BYTES_MAX);
            if long || !sum.checked && self.hash(&name)? != sum.digest(&name) {
                return Err(Stop::at(name, CHANGED));
            }
        }
        self.counts.artifacts = artifacts;
        let others = self.named.iter().filter(|digest| !self.facts.artifacts.contains_key(*digest)).count();
        let known = (self.facts.artifacts.len() + others) as u64;
        self.counts.artifacts_left_out = known.saturating_sub(artifacts);
        Ok(())
    }

    /// Digest of a file of any size, read in pieces.
    fn hash(&self, name: &str) -> Result<Digest, Stop> {
        let read = disk::digest(self.container.reader(name)?);
        read.map(|(digest, _)| digest).map_err(|e| crate::container::unread(name, &e))
    }
}

const CHANGED: &str = "its bytes do not give the digest in SHA256SUMS: it was changed";

/// Most sentences of one kind in a report.
const SENTENCES_MAX: usize = 50;

fn add(sentences: &mut Vec<String>, what: String) {
    match sentences.len() {
        SENTENCES_MAX => sentences.push("and more".to_owned()),
        n if n > SENTENCES_MAX => {}
        _ => sentences.push(what),
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
        vouching: Vec::new(),
        counts: Counts::default(),
        identity: None,
        anchors: Vec::new(),
        proven_not_after: None,
        proven: Vec::new(),
        asserted: Vec::new(),
        not_shown: Vec::new(),
        unvouched: Vec::new(),
    }
}
