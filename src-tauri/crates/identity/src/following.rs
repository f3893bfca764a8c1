//! Following a chain: each line is read, put in its place, and believed as far as the key in force signed it.

use crate::{BoundKey, link_sha256};
use model::Digest;
use model::UnixMs;
use model::identity::{
    Attestation, INSTANCE_KEY_FORMAT, LINK_BYTES_MAX, LINK_FORMAT, LINKS_MAX, Link, SIGNING_TAG, SignedLink,
    TrustFinding,
};
use seal::{canon, schnorr};
use std::collections::{BTreeMap, BTreeSet};

/// What follows a chain back to genesis found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// The instance: that of the key, else that of the first link.
    pub instance_id: Option<String>,
    /// Whether there is a chain and nothing is wrong with it.
    pub unbroken: bool,
    /// The key in force at the end of what is unbroken.
    pub key_in_force: Option<String>,
    /// The log's key, where it and the first key vouch for each other.
    pub log_key: Option<String>,
    /// Every link that could be read, in the order of the lines.
    pub links: Vec<Followed>,
    /// What is wrong, in the order of the lines.
    pub findings: Vec<Finding>,
}

/// One link of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// Its line, from 1.
    pub number: u64,
    /// SHA-256 of its canonical bytes.
    pub link_sha256: Digest,
    /// The link.
    pub link: Link,
    /// Whose signatures are on it, whether they hold or not.
    pub signed_by: Vec<String>,
}

/// Something that is wrong with a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which kind.
    pub what: TrustFinding,
    /// The line, from 1; none where it is about the key.
    pub number: Option<u64>,
    /// In words.
    pub says: String,
}

/// Follows canonical lines of signed links, in order from genesis, with the canonical statement of the first key where there is
/// one. It never fails: what is wrong is a finding.
pub fn follow(key: Option<&[u8]>, links: &[&[u8]]) -> Graph {
    let mut graph = Graph::default();
    let first = key.and_then(|bytes| bound(bytes, &mut graph));
    let mut read: Vec<(u64, SignedLink, Digest)> = Vec::new();
    for (number, line) in (1..).zip(links.iter().take(LINKS_MAX)) {
        match read_line(line) {
            Ok((signed, sha256)) => read.push((number, signed, sha256)),
            Err(why) => graph.find(TrustFinding::Malformed, number, why),
        }
    }
    if links.len() > LINKS_MAX {
        let beyond = u64::try_from(LINKS_MAX).unwrap_or(u64::MAX).saturating_add(1);
        graph.find(TrustFinding::Malformed, beyond, format!("more than {LINKS_MAX} links are not followed"));
    }
    let mut chain = Chain::of(&read, first);
    // A statement that does not hold is wrong from before the first line on.
    let mut wrong_from = graph.findings.iter().map(|one| one.number.unwrap_or(0)).min().unwrap_or(u64::MAX);
    for (number, signed, sha256) in read {
        for (what, says) in chain.take(number, &signed, sha256) {
            wrong_from = wrong_from.min(number);
            graph.find(what, number, says);
        }
        if number < wrong_from {
            graph.key_in_force.clone_from(&chain.in_force);
        }
        let signed_by = signed.signatures.into_iter().map(|one| one.pubkey).collect();
        graph.links.push(Followed { number, link_sha256: sha256, link: signed.link, signed_by });
    }
    graph.instance_id = chain.instance_id;
    graph.findings.sort_by_key(|finding| finding.number);
    graph.unbroken = graph.findings.is_empty() && !graph.links.is_empty();
    graph
}

impl Graph {
    fn find(&mut self, what: TrustFinding, number: u64, says: String) {
        self.findings.push(Finding { what, number: Some(number), says });
    }
}

/// The statement of the first key, where both keys signed it.
fn bound(bytes: &[u8], graph: &mut Graph) -> Option<BoundKey> {
    let read = || -> Result<BoundKey, String> {
        if bytes.len() > LINK_BYTES_MAX {
            return Err(format!("it has more than {LINK_BYTES_MAX} bytes"));
        }
        let key: BoundKey = canon::from_canonical(bytes).map_err(|e| e.to_string())?;
        if key.statement.format != INSTANCE_KEY_FORMAT {
            return Err(format!("its format is not `{INSTANCE_KEY_FORMAT}`"));
        }
        key.check().map_err(|e| e.to_string())?;
        Ok(key)
    };
    match read() {
        Ok(key) => {
            graph.log_key = Some(key.statement.log_pubkey.clone());
            Some(key)
        }
        Err(why) => {
            let says = format!("the statement of the first key does not hold: {why}");
            graph.findings.push(Finding { what: TrustFinding::NoLogKey, number: None, says });
            None
        }
    }
}

/// A line as a link, in its one spelling.
fn read_line(line: &[u8]) -> Result<(SignedLink, Digest), String> {
    if line.len() > LINK_BYTES_MAX {
        return Err(format!("it has more than {LINK_BYTES_MAX} bytes"));
    }
    let signed: SignedLink = canon::from_canonical(line).map_err(|e| e.to_string())?;
    let again = canon::to_canonical(&signed).map_err(|e| e.to_string())?;
    if again != line {
        return Err("it says what is left out where there is nothing to say".to_owned());
    }
    let link = &signed.link;
    let (format, keys) = match link {
        Link::Attestation(one) => (&one.format, vec![&one.instance_pubkey]),
        Link::Handover(one) => (&one.format, vec![&one.from_pubkey, &one.to_pubkey]),
        Link::Revocation(one) => (&one.format, vec![&one.revoked_pubkey, &one.by_pubkey]),
    };
    if format != LINK_FORMAT {
        return Err(format!("its format is not `{LINK_FORMAT}`"));
    }
    if keys.iter().any(|key| !schnorr::is_key(key)) {
        return Err("a key that it names is none".to_owned());
    }
    if matches!(keys.as_slice(), [one, other] if one == other) {
        return Err("both keys that it names are one".to_owned());
    }
    if matches!(link, Link::Attestation(one) if one.version == 0) {
        return Err("versions are counted from 1".to_owned());
    }
    let sha256 = link_sha256(link).map_err(|e| e.to_string())?;
    Ok((signed, sha256))
}

/// A chain as far as it was followed.
struct Chain {
    instance_id: Option<String>,
    first: Option<BoundKey>,
    /// On which line each link stands first.
    places: BTreeMap<Digest, u64>,
    /// Links that have their place in the chain.
    followed: BTreeSet<Digest>,
    head: Option<Digest>,
    in_force: Option<String>,
    /// Keys that handed over or were revoked.
    gone: BTreeSet<String>,
    attested: Option<(u32, Digest)>,
    made_at: Option<UnixMs>,
    /// The newest head of the log that was named, by log.
    heads: BTreeMap<String, u64>,
}

type Found = Vec<(TrustFinding, String)>;

impl Chain {
    fn of(read: &[(u64, SignedLink, Digest)], first: Option<BoundKey>) -> Self {
        let mut places = BTreeMap::new();
        for (number, _, sha256) in read {
            places.entry(*sha256).or_insert(*number);
        }
        let of_key = first.as_ref().map(|key| key.statement.instance_id.clone());
        let of_link = || read.first().map(|(_, signed, _)| signed.link.instance_id().to_owned());
        Self {
            instance_id: of_key.or_else(of_link),
            first,
            places,
            followed: BTreeSet::new(),
            head: None,
            in_force: None,
            gone: BTreeSet::new(),
            attested: None,
            made_at: None,
            heads: BTreeMap::new(),
        }
    }

    /// What is wrong with one link. One that belongs elsewhere, or that nobody in force signed, moves nothing.
    fn take(&mut self, number: u64, signed: &SignedLink, sha256: Digest) -> Found {
        let link = &signed.link;
        if let Some(first) = self.places.get(&sha256).filter(|first| **first != number) {
            return vec![(TrustFinding::OutOfOrder, format!("it is the link of line {first} once more"))];
        }
        if self.instance_id.as_deref() != Some(link.instance_id()) {
            return vec![(TrustFinding::OtherInstance, "it belongs to another instance".to_owned())];
        }
        let place = self.place_of(link, number);
        if let Some(wrong @ (TrustFinding::Fork | TrustFinding::SecondGenesis, _)) = place {
            return vec![wrong];
        }
        let mut found = Vec::from_iter(place);
        if let Some(wrong) = self.stranger(link) {
            found.push(wrong);
            return found;
        }
        found.extend(unsigned(signed));
        found.extend(self.backwards(link));
        found.extend(self.otherwise(link));
        self.step(link, sha256);
        found
    }

    /// What is wrong with the place of a link.
    fn place_of(&self, link: &Link, number: u64) -> Option<(TrustFinding, String)> {
        let says = |what, says: &str| Some((what, says.to_owned()));
        let Some(previous) = link.previous() else {
            return match self.head {
                None => None,
                Some(_) => {
                    says(TrustFinding::SecondGenesis, "it names no link before it, and is not the first")
                }
            };
        };
        if self.head == Some(previous) {
            return None;
        }
        match self.places.get(&previous) {
            Some(at) if self.followed.contains(&previous) => {
                Some((TrustFinding::Fork, format!("another link follows that of line {at} already")))
            }
            Some(at) if *at > number => {
                Some((TrustFinding::OutOfOrder, format!("the link before it stands behind it, on line {at}")))
            }
            Some(at) => Some((
                TrustFinding::Gap,
                format!("the link before it, on line {at}, is not part of the chain"),
            )),
            None => says(TrustFinding::Gap, "it names a link before it that is not here"),
        }
    }

    /// Why whoever has to sign a link may not, if they may not.
    fn stranger(&self, link: &Link) -> Option<(TrustFinding, String)> {
        let signer = match link {
            Link::Attestation(one) => &one.instance_pubkey,
            Link::Handover(one) => &one.from_pubkey,
            Link::Revocation(one) => &one.by_pubkey,
        };
        let unlike = |key: &String, what: &str| match self.gone.contains(key) {
            true => (TrustFinding::RevokedKey, format!("{what} had handed over, or was revoked, before")),
            false => (TrustFinding::UnknownKey, format!("nobody handed over to {what}")),
        };
        match (&self.in_force, link) {
            // Whoever signs genesis is in force by it, and by nothing else.
            (None, Link::Attestation(_)) => {}
            (None, _) => return Some(unlike(signer, "the key that signs it")),
            (Some(key), _) if key != signer => return Some(unlike(signer, "the key that signs it")),
            (Some(_), _) => {}
        }
        match link {
            Link::Handover(one) if self.gone.contains(&one.to_pubkey) => {
                Some(unlike(&one.to_pubkey, "the key that comes"))
            }
            Link::Revocation(one) if !self.gone.contains(&one.revoked_pubkey) => {
                Some(unlike(&one.revoked_pubkey, "the key that it revokes"))
            }
            _ => None,
        }
    }

    /// Whether version, time or head of the log go back.
    fn backwards(&self, link: &Link) -> Found {
        let mut found = Vec::new();
        let mut find = |says: &str| found.push((TrustFinding::OutOfOrder, says.to_owned()));
        if let (Link::Attestation(one), Some((version, soul))) = (link, self.attested) {
            if one.version < version {
                find("its version is below that of the attestation before it");
            } else if one.version == version && one.soul_sha256 != soul {
                find("this version was attested with another SOUL.md before");
            }
        }
        if self.made_at.is_some_and(|before| link.made_at() < before) {
            find("it is older, as it says, than the link before it");
        }
        let head = head_of(link);
        if head.is_some_and(|(origin, size)| self.heads.get(origin).is_some_and(|before| size < *before)) {
            find("the head of the log that it names is older than one that was named before");
        }
        found
    }

    /// Whether genesis is not of the key that the log's key vouches for.
    fn otherwise(&self, link: &Link) -> Found {
        let (Some(first), Link::Attestation(one), None) = (&self.first, link, &self.in_force) else {
            return Vec::new();
        };
        let Attestation { instance_pubkey, soul_sha256, version, .. } = one;
        let says = |says: &str| vec![(TrustFinding::NoLogKey, says.to_owned())];
        if *instance_pubkey != first.statement.instance_pubkey {
            return says("the log's key signed for another first key");
        }
        if *version == 1 && *soul_sha256 != first.statement.soul_sha256 {
            return says("the first key derives from another SOUL.md");
        }
        Vec::new()
    }

    fn step(&mut self, link: &Link, sha256: Digest) {
        self.followed.insert(sha256);
        self.head = Some(sha256);
        self.made_at = self.made_at.max(Some(link.made_at()));
        if let Some((origin, size)) = head_of(link) {
            let known = self.heads.entry(origin.to_owned()).or_default();
            *known = size.max(*known);
        }
        match link {
            Link::Attestation(one) => {
                self.in_force = Some(one.instance_pubkey.clone());
                let now = (one.version, one.soul_sha256);
                self.attested = Some(self.attested.filter(|before| before.0 > now.0).unwrap_or(now));
            }
            Link::Handover(one) => {
                self.gone.insert(one.from_pubkey.clone());
                self.in_force = Some(one.to_pubkey.clone());
            }
            // What it says of a key that is gone already is for those who hold what that key signed.
            Link::Revocation(_) => {}
        }
    }
}

fn head_of(link: &Link) -> Option<(&str, u64)> {
    match link {
        Link::Attestation(one) => Some((&one.log_head.origin, one.log_head.size)),
        Link::Handover(one) => Some((&one.log_head.origin, one.log_head.size)),
        Link::Revocation(_) => None,
    }
}

/// Whether exactly those signed a link who have to, and their signatures hold.
fn unsigned(signed: &SignedLink) -> Option<(TrustFinding, String)> {
    let bad = |says: String| Some((TrustFinding::BadSignature, says));
    let here: Vec<&str> = signed.signatures.iter().map(|one| one.pubkey.as_str()).collect();
    if here != signed.link.signers() {
        return bad("it is not signed by exactly those who have to".to_owned());
    }
    let Ok(bytes) = canon::to_canonical(&signed.link) else {
        return bad("it has no canonical form".to_owned());
    };
    let wrong = signed
        .signatures
        .iter()
        .find(|one| schnorr::verify(&one.pubkey, SIGNING_TAG, &bytes, &one.signature).is_err());
    bad(format!("the signature by {} does not hold", wrong?.pubkey))
}
