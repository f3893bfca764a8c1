//! C2SP signed notes and the checkpoints written in them (c2sp.org/signed-note, c2sp.org/tlog-checkpoint).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Digest, Error, PublicKey, Signature, Signer, encoding, merkle};

/// A note carries at most this many signatures.
pub const SIGNATURES_MAX: usize = 16;

/// A note has at most this many bytes.
pub const NOTE_BYTES_MAX: usize = 1_000_000;

const WHAT: &str = "note";
const CHECKPOINT: &str = "checkpoint";
const ED25519: u8 = 1;

/// A text with signatures. The text ends in a newline, which is signed too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What is signed, with its final newline.
    pub text: String,
    /// One to [`SIGNATURES_MAX`] signature lines.
    pub signatures: Vec<NoteSignature>,
}

/// One signature line: `— name base64(key id || signature)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteSignature {
    /// Name of the key: no spaces, no plus.
    pub name: String,
    /// First four bytes of SHA-256 over name, newline, algorithm, key.
    pub key_id: u32,
    /// The signature's bytes; 64 for Ed25519.
    pub bytes: Vec<u8>,
}

/// A key that verifies notes: `name+hash+base64(0x01 || key)`, a *vkey*.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VerifierKey {
    name: String,
    key: PublicKey,
}

impl VerifierKey {
    /// A key under the name that stands in its signature lines.
    ///
    /// # Errors
    /// [`Error::Malformed`] when the name is empty or holds a space, a plus or a control character.
    pub fn new(name: &str, key: PublicKey) -> Result<Self, Error> {
        check_name(name)?;
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

    /// The short id that stands in signature lines. It is no strong hash, only a hint.
    #[must_use]
    pub fn key_id(&self) -> u32 {
        key_id(&self.name, ED25519, &self.key)
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spelled(&self.name, ED25519, &self.key))
    }
}

impl FromStr for VerifierKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, key) = read_key("verifier key", (ED25519, "an Ed25519 key"), text)?;
        Ok(Self { name, key })
    }
}

/// The short id of a key under its name.
pub(crate) fn key_id(name: &str, algorithm: u8, key: &PublicKey) -> u32 {
    let preimage = [name.as_bytes(), b"\n", &[algorithm], key.as_bytes()].concat();
    match Digest::of(&preimage).0 {
        [a, b, c, d, ..] => u32::from_be_bytes([a, b, c, d]),
    }
}

/// A key as `name+hash+base64(algorithm || key)`.
pub(crate) fn spelled(name: &str, algorithm: u8, key: &PublicKey) -> String {
    let bytes = encoding::b64(&[&[algorithm], key.as_bytes().as_slice()].concat());
    format!("{name}+{:08x}+{bytes}", key_id(name, algorithm, key))
}

/// Reads what [`spelled`] writes, of one algorithm.
pub(crate) fn read_key(
    what: &'static str,
    (algorithm, of_it): (u8, &str),
    text: &str,
) -> Result<(String, PublicKey), Error> {
    let bad = |reason: &str| Error::malformed(what, reason);
    let mut parts = text.splitn(3, '+');
    let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(bad("it does not have the form `name+hash+key`"));
    };
    let key: [u8; 33] = encoding::b64_exact(what, key)?;
    let key = key.strip_prefix(&[algorithm]).and_then(|key| key.try_into().ok());
    let key = PublicKey::from_bytes(key.ok_or_else(|| bad(&format!("it is not {of_it}")))?)?;
    check_name(name)?;
    let id: [u8; 4] = encoding::hex_exact(what, id)?;
    if u32::from_be_bytes(id) != key_id(name, algorithm, &key) {
        return Err(bad("its hash belongs to another key or name"));
    }
    Ok((name.to_owned(), key))
}

impl Serialize for VerifierKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for VerifierKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        encoding::deserialize_str(deserializer, "name+hash+base64 key", |text| {
            text.parse().map_err(de::Error::custom)
        })
    }
}

/// Signs `text`, which ends in a newline, under the key name `name`.
///
/// # Errors
/// [`Error::Malformed`] for a text or name that no note may carry, or whatever the signer says.
pub fn sign_note(text: &str, name: &str, signer: &dyn Signer) -> Result<Note, Error> {
    check_text(text)?;
    let key = VerifierKey::new(name, signer.public())?;
    let bytes = signer.sign(text.as_bytes())?.0.to_vec();
    let signature = NoteSignature { name: name.to_owned(), key_id: key.key_id(), bytes };
    Ok(Note { text: text.to_owned(), signatures: vec![signature] })
}

/// Reads a note and returns it with the signatures that hold, dropping those of keys not given.
///
/// # Errors
/// [`Error::Malformed`] for bytes that are no note, [`Error::Signature`] when a signature by a given key does not
/// hold, [`Error::Untrusted`] when none of the given keys signed.
pub fn verify_note(bytes: &[u8], keys: &[VerifierKey]) -> Result<Note, Error> {
    let mut note = Note::parse(bytes)?;
    note.verify(keys)?;
    Ok(note)
}

impl Note {
    /// Reads a note without verifying anything. What it says must not be believed yet.
    ///
    /// # Errors
    /// [`Error::Malformed`] for bytes that are not UTF-8, hold a control character other than the newline (CR
    /// too), lack the final newline or the blank line, or carry no signature, more than [`SIGNATURES_MAX`], or
    /// one key twice.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let bad = |reason: &str| Error::malformed(WHAT, reason);
        if bytes.len() > NOTE_BYTES_MAX {
            return Err(bad("it is longer than a million bytes"));
        }
        let all = std::str::from_utf8(bytes).map_err(|_| bad("it is not UTF-8"))?;
        let (text, lines) = all.rsplit_once("\n\n").ok_or_else(|| bad("it has no blank line"))?;
        let text = format!("{text}\n");
        check_text(&text)?;
        let lines = lines.strip_suffix('\n').ok_or_else(|| bad("its final newline is missing"))?;
        let mut signatures: Vec<NoteSignature> = Vec::new();
        for line in lines.split('\n') {
            let signature = NoteSignature::parse(line)?;
            let same =
                |other: &NoteSignature| other.name == signature.name && other.key_id == signature.key_id;
            if signatures.iter().any(same) {
                return Err(Error::malformed(WHAT, format!("the key `{}` signs twice", signature.name)));
            }
            if signatures.len() == SIGNATURES_MAX {
                return Err(Error::malformed(
                    WHAT,
                    format!("it carries more than {SIGNATURES_MAX} signatures"),
                ));
            }
            signatures.push(signature);
        }
        Ok(Self { text, signatures })
    }

    /// Keeps the signatures that hold, dropping those of keys not given.
    ///
    /// # Errors
    /// [`Error::Signature`] when a signature by a given key does not hold, [`Error::Untrusted`] when none of the given
    /// keys signed. The note is then as it was.
    pub fn verify(&mut self, keys: &[VerifierKey]) -> Result<(), Error> {
        let mut verified = Vec::new();
        for signature in &self.signatures {
            let known = |key: &&VerifierKey| key.name == signature.name && key.key_id() == signature.key_id;
            let mut candidates = keys.iter().filter(known).peekable();
            if candidates.peek().is_none() {
                continue;
            }
            let bad = Error::Signature { what: WHAT };
            let made = Signature::try_from(signature.bytes.as_slice()).map_err(|_| bad.clone())?;
            if !candidates.any(|key| key.key.verify(self.text.as_bytes(), &made).is_ok()) {
                return Err(bad);
            }
            verified.push(signature.clone());
        }
        if verified.is_empty() {
            return Err(Error::Untrusted { what: WHAT });
        }
        self.signatures = verified;
        Ok(())
    }

    /// The note as it is stored and passed on.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_string().into_bytes()
    }

    /// Adds the signature of another key over the same text.
    ///
    /// # Errors
    /// [`Error::Malformed`] when it already signed or the note is full, or whatever the signer says.
    pub fn cosign(&mut self, name: &str, signer: &dyn Signer) -> Result<(), Error> {
        let signed = sign_note(&self.text, name, signer)?;
        let mut both = self.clone();
        both.signatures.extend(signed.signatures);
        *self = Self::parse(&both.to_bytes())?;
        Ok(())
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|signature| writeln!(f, "{signature}"))
    }
}

impl NoteSignature {
    fn parse(line: &str) -> Result<Self, Error> {
        let bad = |reason: &str| Error::malformed(WHAT, reason);
        let rest =
            line.strip_prefix("\u{2014} ").ok_or_else(|| bad("a signature line has another beginning"))?;
        let (name, signature) =
            rest.split_once(' ').ok_or_else(|| bad("a signature line lacks its signature"))?;
        check_name(name)?;
        let signature = encoding::b64_decode(WHAT, signature)?;
        match signature.split_first_chunk::<4>() {
            Some((id, bytes)) if !bytes.is_empty() => {
                Ok(Self { name: name.to_owned(), key_id: u32::from_be_bytes(*id), bytes: bytes.to_vec() })
            }
            _ => Err(bad("a signature is too short")),
        }
    }
}

impl fmt::Display for NoteSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signature = [self.key_id.to_be_bytes().as_slice(), &self.bytes].concat();
        write!(f, "\u{2014} {} {}", self.name, encoding::b64(&signature))
    }
}

fn check_text(text: &str) -> Result<(), Error> {
    if !text.ends_with('\n') {
        return Err(Error::malformed(WHAT, "its text does not end in a newline"));
    }
    match text.chars().find(|c| *c < ' ' && *c != '\n') {
        Some(control) => Err(Error::malformed(WHAT, format!("it holds the control character {control:?}"))),
        None => Ok(()),
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    let odd = |c: char| c.is_whitespace() || c == '+' || c < ' ';
    if name.is_empty() || name.contains(odd) {
        return Err(Error::malformed(
            WHAT,
            format!("`{name}` is no key name: no spaces, no plus, not empty"),
        ));
    }
    Ok(())
}

/// A signed tree head: which log, how many leaves, which root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Name of the log, one line.
    pub origin: String,
    /// Number of leaves.
    pub size: u64,
    /// RFC 6962 root at that size.
    pub root: Digest,
    /// Further lines, opaque, not empty each. We write none.
    pub extension: Vec<String>,
}

impl Checkpoint {
    /// A checkpoint without extension lines.
    #[must_use]
    pub fn new(origin: &str, size: u64, root: Digest) -> Self {
        Self { origin: origin.to_owned(), size, root, extension: Vec::new() }
    }

    /// The note text: origin, size, root in base64, extension lines, each ending in a newline.
    ///
    /// # Errors
    /// [`Error::Malformed`] when a line would be empty, break in two, or hold a control character, or an empty
    /// tree would have a root that is not its own.
    pub fn to_text(&self) -> Result<String, Error> {
        let mut text = format!("{}\n{}\n{}\n", self.origin, self.size, encoding::b64(&self.root.0));
        for line in &self.extension {
            text.push_str(line);
            text.push('\n');
        }
        if Self::from_text(&text)? != *self {
            return Err(Error::malformed(CHECKPOINT, "one of its lines breaks in two"));
        }
        Ok(text)
    }

    /// Reads a note text.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_text(text: &str) -> Result<Self, Error> {
        let bad = |reason: &str| Error::malformed(CHECKPOINT, reason);
        check_text(text)?;
        let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
        let [origin, size, root, extension @ ..] = lines.as_slice() else {
            return Err(bad("it has fewer than three lines"));
        };
        if origin.is_empty() || extension.iter().any(|line| line.is_empty()) {
            return Err(bad("one of its lines is empty"));
        }
        let read = Self {
            origin: (*origin).to_owned(),
            size: encoding::decimal(CHECKPOINT, size)?,
            root: Digest(encoding::b64_exact(CHECKPOINT, root)?),
            extension: extension.iter().map(|line| (*line).to_owned()).collect(),
        };
        if read.size == 0 && read.root != merkle::empty_root() {
            return Err(bad("an empty tree has another root"));
        }
        Ok(read)
    }

    /// Signs the checkpoint under its own origin as the key name.
    ///
    /// # Errors
    /// As [`Self::to_text`] and [`sign_note`].
    pub fn sign(&self, signer: &dyn Signer) -> Result<Note, Error> {
        sign_note(&self.to_text()?, &self.origin, signer)
    }

    /// Reads a signed checkpoint of the log `origin`, once a signature by one of `keys` holds.
    ///
    /// # Errors
    /// As [`verify_note`], and [`Error::Malformed`] for another origin.
    pub fn open(bytes: &[u8], origin: &str, keys: &[VerifierKey]) -> Result<Self, Error> {
        let read = Self::from_text(&verify_note(bytes, keys)?.text)?;
        if read.origin != origin {
            let reason = format!("it belongs to the log `{}`, not to `{origin}`", read.origin);
            return Err(Error::malformed(CHECKPOINT, reason));
        }
        Ok(read)
    }
}
