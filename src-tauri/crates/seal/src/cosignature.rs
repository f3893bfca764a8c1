//! C2SP cosignatures: a witness says when it saw a log and that it had only grown (c2sp.org/tlog-cosignature), and the
//! policy that says how many of them are asked for (c2sp.org/tlog-policy).

use crate::note::{self, Checkpoint, Note, NoteSignature, SIGNATURES_MAX};
use crate::{Digest, Error, PublicKey, Signature, Signer, encoding};
use std::collections::{BTreeMap, BTreeSet};
use std::{fmt, str::FromStr};

const WHAT: &str = "cosignature";
const POLICY: &str = "witness policy";
/// The algorithm byte of `cosignature/v1` with Ed25519.
const COSIGNATURE_V1: u8 = 4;
/// A policy has at most this many lines.
const POLICY_LINES_MAX: usize = 256;

/// A key that verifies cosignatures: `name+hash+base64(0x04 || key)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WitnessKey {
    name: String,
    key: PublicKey,
}

impl WitnessKey {
    /// A witness's key under its name.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a name that no key may have.
    pub fn new(name: &str, key: PublicKey) -> Result<Self, Error> {
        crate::note::VerifierKey::new(name, key)?;
        Ok(Self { name: name.to_owned(), key })
    }

    /// Name in signature lines.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The Ed25519 key.
    #[must_use]
    pub const fn key(&self) -> &PublicKey {
        &self.key
    }

    /// The short id that stands in signature lines.
    #[must_use]
    pub fn key_id(&self) -> u32 {
        note::key_id(&self.name, COSIGNATURE_V1, &self.key)
    }

    /// Signs that at `time` (seconds since 1970) the log was seen as this checkpoint says, grown from what was seen
    /// before. The caller has made sure of that.
    ///
    /// # Errors
    /// Whatever the signer says.
    pub fn cosign(&self, text: &str, time: u64, signer: &dyn Signer) -> Result<NoteSignature, Error> {
        if signer.public() != self.key {
            return Err(Error::malformed(WHAT, "the signer is not the witness's"));
        }
        let signature = signer.sign(message(text, time).as_bytes())?;
        let bytes = [time.to_be_bytes().as_slice(), &signature.0].concat();
        Ok(NoteSignature { name: self.name.clone(), key_id: self.key_id(), bytes })
    }

    /// When this witness cosigned the note; `None` when it did not.
    ///
    /// # Errors
    /// [`Error::Signature`] when a line carries its name and id and does not hold.
    pub fn cosigned(&self, note: &Note) -> Result<Option<u64>, Error> {
        let id = self.key_id();
        let Some(line) = note.signatures.iter().find(|s| s.name == self.name && s.key_id == id) else {
            return Ok(None);
        };
        let bad = || Error::Signature { what: WHAT };
        let (time, signature) = line.bytes.split_first_chunk::<8>().ok_or_else(bad)?;
        let time = u64::from_be_bytes(*time);
        let signature = Signature::try_from(signature).map_err(|_| bad())?;
        self.key.verify(message(&note.text, time).as_bytes(), &signature).map_err(|_| bad())?;
        Ok(Some(time))
    }
}

fn message(text: &str, time: u64) -> String {
    format!("cosignature/v1\ntime {time}\n{text}")
}

impl fmt::Display for WitnessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&note::spelled(&self.name, COSIGNATURE_V1, &self.key))
    }
}

impl FromStr for WitnessKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, key) =
            note::read_key("witness key", (COSIGNATURE_V1, "a key for `cosignature/v1`"), text)?;
        Ok(Self { name, key })
    }
}

/// Adds lines of cosignatures to a signed checkpoint, as far as it has room; one that is there already stays.
///
/// # Errors
/// [`Error::Malformed`] when note or lines are none.
pub fn add_lines(note: &[u8], lines: &[String]) -> Result<Vec<u8>, Error> {
    let mut both = Note::parse(note)?;
    for line in lines {
        let one = Note::parse(format!("{}\n{line}\n", both.text).as_bytes())?;
        for signature in one.signatures {
            let same = |s: &NoteSignature| s.name == signature.name && s.key_id == signature.key_id;
            if both.signatures.len() < SIGNATURES_MAX && !both.signatures.iter().any(same) {
                both.signatures.push(signature);
            }
        }
    }
    Ok(both.to_bytes())
}

/// Which witnesses there are, and which of them are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Names, keys and addresses, in the order of the file.
    pub witnesses: Vec<(String, WitnessKey, Option<String>)>,
    groups: BTreeMap<String, (usize, Vec<String>)>,
    quorum: Option<String>,
}

impl Policy {
    /// A policy that asks for `threshold` of these witnesses.
    #[must_use]
    pub fn of(witnesses: Vec<(String, WitnessKey, Option<String>)>, threshold: usize) -> Self {
        let names: Vec<String> = witnesses.iter().map(|(name, ..)| name.clone()).collect();
        if names.is_empty() {
            return Self::default();
        }
        let threshold = threshold.clamp(1, names.len());
        let groups = BTreeMap::from([("all-mine".to_owned(), (threshold, names))]);
        Self { witnesses, groups, quorum: Some("all-mine".to_owned()) }
    }

    /// Reads a policy file. Lines of logs are read over: which log is meant is known otherwise.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let bad = |reason: &str| Error::malformed(POLICY, reason);
        let (mut policy, mut quorum) = (Self::default(), false);
        let mut names: BTreeSet<String> = BTreeSet::from(["none".to_owned()]);
        let mut grouped: BTreeSet<String> = BTreeSet::new();
        if text.lines().count() > POLICY_LINES_MAX
            || text.chars().any(|c| c.is_control() && c != '\n' && c != '\t')
        {
            return Err(bad("it has too many lines, or control characters"));
        }
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            match words.as_slice() {
                ["log", _] | ["log", _, _] => {}
                ["witness", name, key, rest @ ..] if rest.len() <= 1 => {
                    let key: WitnessKey = key.parse()?;
                    let twice = policy.witnesses.iter().any(|(_, known, _)| known.key == key.key);
                    if twice || !names.insert((*name).to_owned()) {
                        return Err(bad("a witness or a name comes twice"));
                    }
                    policy.witnesses.push((
                        (*name).to_owned(),
                        key,
                        rest.first().map(|url| (*url).to_owned()),
                    ));
                }
                ["group", name, count, members @ ..] if !members.is_empty() => {
                    let threshold = match *count {
                        "all" => members.len(),
                        "any" => 1,
                        k => k.parse().map_err(|_| bad("a group's number cannot be read"))?,
                    };
                    let known = |m: &str| m != "none" && names.contains(m) && !grouped.contains(m);
                    if threshold < 1 || threshold > members.len() || !members.iter().all(|m| known(m)) {
                        return Err(bad("a group asks for more than it has, or for a name it may not"));
                    }
                    // One voice is one voice: a member that is named twice would count twice.
                    let once = members.iter().all(|m| grouped.insert((*m).to_owned()));
                    if !once || !names.insert((*name).to_owned()) {
                        return Err(bad("a name comes twice"));
                    }
                    let members = members.iter().map(|m| (*m).to_owned()).collect();
                    policy.groups.insert((*name).to_owned(), (threshold, members));
                }
                ["quorum", name] if !quorum && names.contains(*name) => {
                    quorum = true;
                    policy.quorum = (*name != "none").then(|| (*name).to_owned());
                }
                _ => return Err(bad("a line cannot be read")),
            }
        }
        if quorum { Ok(policy) } else { Err(bad("it does not say what it asks for")) }
    }

    /// The file, with the log it is about.
    #[must_use]
    pub fn to_text(&self, log: &str) -> String {
        let mut text = if log.is_empty() { String::new() } else { format!("log {log}\n") };
        for (name, key, url) in &self.witnesses {
            let url = url.as_ref().map(|url| format!(" {url}")).unwrap_or_default();
            text.push_str(&format!("witness {name} {key}{url}\n"));
        }
        for (name, (threshold, members)) in &self.groups {
            text.push_str(&format!("group {name} {threshold} {}\n", members.join(" ")));
        }
        text.push_str(&format!("quorum {}\n", self.quorum.as_deref().unwrap_or("none")));
        text
    }

    /// Who of the witnesses cosigned the note, and when.
    ///
    /// # Errors
    /// [`Error::Signature`] when one of their lines does not hold.
    pub fn cosigned(&self, note: &Note) -> Result<Vec<(String, u64)>, Error> {
        let mut found = Vec::new();
        for (name, key, _) in &self.witnesses {
            if let Some(time) = key.cosigned(note)? {
                found.push((name.clone(), time));
            }
        }
        Ok(found)
    }

    /// Whether these witnesses are enough.
    #[must_use]
    pub fn is_met(&self, cosigned: &[(String, u64)]) -> bool {
        let names: BTreeSet<&str> = cosigned.iter().map(|(name, _)| name.as_str()).collect();
        self.quorum.as_deref().is_none_or(|quorum| self.witnessed(quorum, &names, 0))
    }

    fn witnessed(&self, name: &str, cosigned: &BTreeSet<&str>, depth: usize) -> bool {
        match self.groups.get(name) {
            None => cosigned.contains(name),
            Some((threshold, members)) if depth < POLICY_LINES_MAX => {
                members.iter().filter(|m| self.witnessed(m, cosigned, depth + 1)).count() >= *threshold
            }
            Some(_) => false,
        }
    }
}

/// What a log sends to a witness (c2sp.org/tlog-witness): an older size, the path from it, and the new checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddCheckpoint {
    /// Size that the witness saw last, as the log believes.
    pub old_size: u64,
    /// From that tree to the new one.
    pub proof: Vec<Digest>,
    /// The signed checkpoint, exact bytes.
    pub note: Vec<u8>,
}

/// The protocol allows no more lines of a proof.
pub const PROOF_LINES_MAX: usize = 63;

impl AddCheckpoint {
    /// The body of the request.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("old {}\n", self.old_size);
        for hash in &self.proof {
            text.push_str(&encoding::b64(&hash.0));
            text.push('\n');
        }
        text.push('\n');
        [text.as_bytes(), &self.note].concat()
    }

    /// Reads the body of a request; nothing of it is believed yet.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let bad = |reason: &str| Error::malformed("request", reason);
        let text = std::str::from_utf8(bytes).map_err(|_| bad("it is not UTF-8"))?;
        let (head, note) = text.split_once("\n\n").ok_or_else(|| bad("it has no checkpoint"))?;
        let mut lines = head.split('\n');
        let old = lines.next().and_then(|line| line.strip_prefix("old "));
        let old_size = encoding::decimal("request", old.ok_or_else(|| bad("it names no old size"))?)?;
        let mut proof = Vec::new();
        for line in lines {
            if proof.len() == PROOF_LINES_MAX {
                return Err(bad("its proof has more than 63 lines"));
            }
            proof.push(Digest(encoding::b64_exact("request", line)?));
        }
        Note::parse(note.as_bytes())?;
        Ok(Self { old_size, proof, note: note.as_bytes().to_vec() })
    }
}

/// What a witness does with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judged {
    /// It may cosign this checkpoint, once it has remembered it.
    Cosign(Checkpoint),
    /// It knows another size (409), which it tells.
    Conflict(u64),
    /// It knows no such log (404).
    UnknownLog,
    /// No key it knows for the log has signed (403).
    Forbidden,
    /// The request contradicts itself (400).
    Bad(&'static str),
    /// The path does not lead from what it saw to this (422).
    Unprocessable,
}

/// Judges a request: `keys` are those known for the checkpoint's origin, `seen` the size and root cosigned last.
#[must_use]
pub fn judge(
    request: &AddCheckpoint,
    keys: impl Fn(&str) -> Vec<crate::note::VerifierKey>,
    seen: impl Fn(&str) -> Option<(u64, Digest)>,
) -> Judged {
    let parsed = Note::parse(&request.note).and_then(|note| Checkpoint::from_text(&note.text));
    let Ok(new) = parsed else { return Judged::Bad("it is no checkpoint") };
    let keys = keys(&new.origin);
    if keys.is_empty() {
        return Judged::UnknownLog;
    }
    if crate::note::verify_note(&request.note, &keys).is_err() {
        return Judged::Forbidden;
    }
    if request.old_size > new.size {
        return Judged::Bad("the old size is larger than the checkpoint's");
    }
    let (size, root) = seen(&new.origin).unwrap_or((0, crate::merkle::empty_root()));
    if request.old_size != size {
        return Judged::Conflict(size);
    }
    if size == new.size && root != new.root {
        return Judged::Conflict(size);
    }
    match crate::merkle::verify_consistency(size, new.size, &root, &new.root, &request.proof) {
        Ok(()) => Judged::Cosign(new),
        Err(_) => Judged::Unprocessable,
    }
}
