//! Every vector: good bundles of every kind, and one for each thing that a verifier has to see, most of them signed anew by
//! whoever holds the keys, so that nothing but the one check can tell.

use super::{mended, records, shapes};
use crate::world::tools::{Bench, Files, zip_of};
use crate::world::{Persons, World};
use proof::{Options, Report, Scope, Trust, Verdict, export};
use seal::{PublicKey, Signer as _};
use std::collections::BTreeSet;

/// A bundle with what is right to say of it.
pub struct Vector {
    pub name: String,
    pub class: &'static str,
    pub about: String,
    pub zip: Vec<u8>,
    /// What our verifier says.
    pub report: Report,
}

impl Vector {
    /// The verdict as the kit spells it.
    pub fn verdict(&self) -> &'static str {
        match &self.report.verdict {
            Verdict::Valid => "valid",
            Verdict::Invalid { .. } if self.class == "version" => "unsupported",
            Verdict::Invalid { .. } => "invalid",
            Verdict::Incomplete { .. } => "incomplete",
            Verdict::Unverifiable { .. } => "unverifiable",
        }
    }

    pub fn place(&self) -> Option<&str> {
        match &self.report.verdict {
            Verdict::Invalid { place, .. } => Some(place),
            _ => None,
        }
    }
}

/// The requirement behind each class of checks.
pub const CLASSES: [(&str, &str, &str); 23] = [
    ("honest", "HK-25.3-5", "whole bundles of every scope and with everything that may go along"),
    ("container", "HK-25.3-5", "the zip has one spelling; names lead nowhere else"),
    ("version", "HK-25.3-5", "a format that a verifier does not know is not called valid"),
    ("list", "HK-25.3-2", "SHA256SUMS lists every file, and each has its digest"),
    ("keys", "HK-25.3-4", "four purposes, four keys; the files that name a key name the same one"),
    ("signature", "HK-25.3-4", "each signature is by the key of its purpose; all else in these holds"),
    ("inclusion", "HK-25.3-4", "each place in a tree is proven; all else in these holds"),
    ("head", "HK-25.3-4", "heads are signed over what is here, and places lead to them"),
    ("consistency", "HK-25.3-4", "the log has grown from the older head"),
    ("statement", "HK-25.3-2", "the statement is about exactly what is here"),
    ("events", "HK-25.3-1", "events are one chain, canonical, as many as were signed"),
    ("gate", "KS-7.1-1", "entries hash to what they say, are linked, and let pass what was dispatched"),
    ("receipt", "HK-25.3-3", "receipts are recorded, signed and about what they name"),
    ("authority", "HK-18.2-1", "decisions, grants and packets are about the act, by the key that may"),
    ("passkey", "HK-18.2-1", "a passkey says yes once, as it was enrolled"),
    ("dual", "HK-18.2-1", "two different keys where two have to say yes"),
    ("standing", "HK-18.2-1", "a lasting yes is used within what it says"),
    ("content", "HK-25.3-2", "disclosures open, artifacts are named"),
    ("rotation", "HK-25.3-4", "keys that followed others"),
    ("state", "HV-3.6-1", "roots of conversations and memory"),
    ("identity", "HV-3.9-4", "who the instance is"),
    ("anchor", "HV-3.6-3", "heads that clocks elsewhere stamped"),
    ("trust", "HK-25.3-2", "what no trusted key vouches for, and what is missing, is not valid"),
];

/// Takes vectors, and sees that each is judged as its maker says.
pub struct Maker {
    pub all: Vec<Vector>,
    names: BTreeSet<String>,
    bench: Bench,
    trust: Trust,
}

/// The exit codes that a maker may expect.
pub const VALID: &[u8] = &[0];
pub const INVALID: &[u8] = &[5];
pub const REFUSED: &[u8] = &[5, 7];

impl Maker {
    /// Adds a zip: what is right to say of it, and a word of the reason.
    pub fn zip(&mut self, class: &'static str, what: &str, codes: &[u8], word: &str, zip: Vec<u8>) {
        let report = self.bench.verify(&zip, std::slice::from_ref(&self.trust));
        assert!(codes.contains(&report.exit_code()), "{class}, {what}: {report}");
        assert!(report.headline().contains(word), "{class}, {what}: not `{word}` but {report}");
        let name = format!("{class}-{}", slug(what));
        assert!(self.names.insert(name.clone()), "two vectors are called `{name}`");
        self.all.push(Vector { name, class, about: what.to_owned(), zip, report });
    }

    /// Adds the zip of these files.
    pub fn files(&mut self, class: &'static str, what: &str, codes: &[u8], word: &str, files: &Files) {
        let zip = zip_of(files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
        self.zip(class, what, codes, word, zip);
    }
}

fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// The files of a bundle of a store, by way of its zip: nothing of it waits for a disk.
pub fn exported(world: &World, options: &Options) -> Files {
    let mut zip = Vec::new();
    export(world, world.signers(), world.task, options, &mut zip).unwrap();
    let (mut files, mut rest) = (Files::new(), zip.as_slice());
    while rest.starts_with(b"PK\x03\x04") {
        let size = u32::from_le_bytes(rest[18..22].try_into().unwrap());
        let begin = 30 + usize::from(u16::from_le_bytes(rest[26..28].try_into().unwrap()));
        let end = begin + usize::try_from(size).unwrap();
        let name = String::from_utf8(rest[30..begin].to_vec()).unwrap();
        files.insert(name, rest[begin..end].to_vec());
        rest = &rest[end..];
    }
    files
}

/// The manifest key of every store here: the one that whoever grades trusts.
pub fn key() -> PublicKey {
    Persons::new(10).manifest.public()
}

/// What makes vectors, in the order in which the kit lists them.
pub const MAKERS: [fn(&mut Maker); 24] = [
    honest,
    mended::container,
    mended::list,
    mended::keys,
    mended::signature,
    mended::inclusion,
    mended::consistency,
    shapes::heads,
    shapes::spans,
    shapes::gates,
    shapes::receipts,
    shapes::alone,
    shapes::revoked,
    shapes::keyless,
    shapes::roots,
    records::said,
    records::lines,
    records::cases,
    records::content,
    records::rotation,
    records::state,
    records::clocks_and_links,
    records::clocks_and_links_left_out,
    trusted,
];

/// The vectors that these make.
pub fn made(makers: &[fn(&mut Maker)]) -> Vec<Vector> {
    let trust = Trust::from(key());
    let mut maker = Maker { all: Vec::new(), names: BTreeSet::new(), bench: Bench::new(), trust };
    makers.iter().for_each(|make| make(&mut maker));
    maker.all
}

fn honest(maker: &mut Maker) {
    let mut add = |what: &str, world: &World, options: &Options| {
        maker.files("honest", what, VALID, "", &exported(world, options));
    };
    let world = World::new(2, 2);
    let scoped = |scope| Options { scope, ..Options::default() };
    add("a whole task with all content", &world, &World::everything());
    add("a whole task with the records of authority", &world, &Options::default());
    add("a span of a task", &world, &scoped(Scope::Span { first: 3, last: 9 }));
    add("one receipt alone", &world, &scoped(Scope::Receipt(world.receipts[0])));
    let redact = proof::Redact::All;
    let closed = Options { redact, artifacts: proof::Include::None, ..Options::default() };
    add("a task of which everything is withheld", &world, &closed);
    let standing = World::under_a_standing_grant();
    add("under a standing grant, alone", &standing, &scoped(Scope::Receipt(standing.receipts[0])));
    let two = World::allowed_by_two();
    add("allowed by two keys, alone", &two, &scoped(Scope::Receipt(two.receipts[0])));
}

fn trusted(maker: &mut Maker) {
    let other = World::of(Persons::new(90), 1, 1);
    let files = exported(&other, &World::everything());
    maker.files("trust", "a whole bundle of a store that nobody trusts", &[6], "unverifiable", &files);
    let keyless = exported(&World::without_keys(1), &World::everything());
    maker.files("trust", "a bundle that nobody signed", &[6], "signed by nobody", &keyless);
}
