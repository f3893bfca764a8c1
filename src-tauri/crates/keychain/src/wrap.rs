//! Bytes under a passphrase, in one file: argon2id makes the key, XChaCha20-Poly1305 wraps.

use crate::Error;
use argon2::{Algorithm, Argon2, Params, Version};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::io::Read as _;
use std::path::Path;
use zeroize::Zeroizing;

/// A new passphrase has at least this many characters.
pub const PASSPHRASE_CHARS_MIN: usize = 8;

/// A wrapped file is never larger: seeds and secrets, not documents.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What one guess at a passphrase costs. Stands in the file, so that old files stay readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over it.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
}

impl Cost {
    /// For real keys: 128 MiB and 3 passes, about 0.3 s on the machine it was measured on.
    pub const STRONG: Self = Self { memory_kib: 128 * 1024, passes: 3, lanes: 1 };

    /// For tests alone: a guess costs next to nothing.
    pub const TEST: Self = Self { memory_kib: 8, passes: 1, lanes: 1 };

    /// A file that asks for more is hostile: opening it would take the machine down.
    const MAX: Self = Self { memory_kib: 1024 * 1024, passes: 64, lanes: 16 };

    fn within(self) -> bool {
        self.memory_kib <= Self::MAX.memory_kib
            && self.passes <= Self::MAX.passes
            && self.lanes <= Self::MAX.lanes
    }
}

/// The part of a wrapped file that is readable, and bound to the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// What it is, such as `hermit-vault/1`.
    pub format: String,
    /// `argon2id`, version 0x13.
    pub kdf: String,
    /// What one guess costs.
    pub cost: Cost,
    /// 16 bytes, hexadecimal.
    pub salt: String,
    /// Tells a wrong passphrase from damage: 16 bytes derived from the key, hexadecimal.
    pub check: String,
    /// The public key, for a file that holds a signing key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<seal::PublicKey>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrapped {
    header: Header,
    /// 24 bytes, hexadecimal; another for every write.
    nonce: String,
    /// Base64.
    ciphertext: String,
}

/// A key that one passphrase made for one file, wiped when dropped.
pub(crate) struct Opened {
    pub header: Header,
    key: Zeroizing<[u8; 32]>,
}

/// Refuses a passphrase that protects nothing.
///
/// # Errors
/// [`Error::WeakPassphrase`].
pub fn check_passphrase(passphrase: &[u8]) -> Result<(), Error> {
    let found = std::str::from_utf8(passphrase).map_or(passphrase.len(), |text| text.chars().count());
    if found < PASSPHRASE_CHARS_MIN {
        return Err(Error::WeakPassphrase { min: PASSPHRASE_CHARS_MIN, found });
    }
    Ok(())
}

/// Random bytes of the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|e| Error::Randomness(e.to_string()))?;
    Ok(bytes)
}

impl Opened {
    /// A new key for a new file.
    pub(crate) fn create(
        format: &str,
        passphrase: &[u8],
        cost: Cost,
        public_key: Option<seal::PublicKey>,
    ) -> Result<Self, Error> {
        check_passphrase(passphrase)?;
        let salt: [u8; 16] = random()?;
        let place = Path::new(format);
        let key = stretch(place, passphrase, &salt, cost)?;
        let header = Header {
            format: format.to_owned(),
            kdf: "argon2id".to_owned(),
            cost,
            salt: hex::encode(salt),
            check: check_of(place, &key)?,
            public_key,
        };
        Ok(Self { header, key })
    }

    /// The key of an existing file, and what the file holds.
    pub(crate) fn open(
        path: &Path,
        format: &str,
        passphrase: &[u8],
    ) -> Result<(Self, Zeroizing<Vec<u8>>), Error> {
        let wrapped = read(path, format)?;
        let salt: [u8; 16] = fixed(path, "salt", &wrapped.header.salt)?;
        let key = stretch(path, passphrase, &salt, wrapped.header.cost)?;
        if check_of(path, &key)? != wrapped.header.check {
            return Err(Error::WrongPassphrase { path: path.display().to_string() });
        }
        let opened = Self { header: wrapped.header.clone(), key };
        let plain = opened.unwrap(path, &wrapped)?;
        Ok((opened, plain))
    }

    /// What the file holds now; another process may have written since.
    pub(crate) fn reread(&self, path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
        let wrapped = read(path, &self.header.format)?;
        if wrapped.header != self.header {
            return Err(Error::Locked { why: "its passphrase was changed meanwhile".to_owned() });
        }
        self.unwrap(path, &wrapped)
    }

    /// Writes `plain` to the file: temporary file, sync, rename, sync of the folder.
    pub(crate) fn write(&self, path: &Path, plain: &[u8]) -> Result<(), Error> {
        let nonce: [u8; 24] = random()?;
        let aad = self.aad(path)?;
        let sealed = self
            .cipher()
            .encrypt(&XNonce::from(nonce), Payload { msg: plain, aad: &aad })
            .map_err(|_| Error::damaged(path, "it cannot be wrapped"))?;
        let wrapped = Wrapped {
            header: self.header.clone(),
            nonce: hex::encode(nonce),
            ciphertext: STANDARD.encode(sealed),
        };
        let mut bytes =
            seal::canon::to_canonical(&wrapped).map_err(|e| Error::damaged(path, e.to_string()))?;
        bytes.push(b'\n');
        write_private(path, &bytes)
    }

    fn unwrap(&self, path: &Path, wrapped: &Wrapped) -> Result<Zeroizing<Vec<u8>>, Error> {
        let nonce: [u8; 24] = fixed(path, "nonce", &wrapped.nonce)?;
        let sealed = STANDARD
            .decode(&wrapped.ciphertext)
            .map_err(|_| Error::damaged(path, "its ciphertext is not base64"))?;
        let aad = self.aad(path)?;
        self.cipher()
            .decrypt(&XNonce::from(nonce), Payload { msg: &sealed, aad: &aad })
            .map(Zeroizing::new)
            .map_err(|_| Error::damaged(path, "its bytes were changed"))
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&Key::from(*self.key))
    }

    fn aad(&self, path: &Path) -> Result<Vec<u8>, Error> {
        seal::canon::to_canonical(&self.header).map_err(|e| Error::damaged(path, e.to_string()))
    }
}

/// Bytes that the cipher adds to what it wraps.
const TAG_BYTES: usize = 16;

/// The readable part of a wrapped file of the right form, for which no passphrase is needed. `plain` is how many bytes
/// it wraps, where that is known.
pub(crate) fn header(path: &Path, format: &str, plain: Option<usize>) -> Result<Header, Error> {
    let wrapped = read(path, format)?;
    fixed::<16>(path, "salt", &wrapped.header.salt)?;
    fixed::<16>(path, "check", &wrapped.header.check)?;
    fixed::<24>(path, "nonce", &wrapped.nonce)?;
    let sealed = STANDARD.decode(&wrapped.ciphertext).map(|sealed| sealed.len()).unwrap_or_default();
    if sealed < TAG_BYTES || plain.is_some_and(|plain| sealed != plain + TAG_BYTES) {
        return Err(Error::damaged(path, "its ciphertext is cut or not base64"));
    }
    Ok(wrapped.header)
}

fn read(path: &Path, format: &str) -> Result<Wrapped, Error> {
    let bytes = read_private(path)?;
    let text =
        bytes.strip_suffix(b"\n").ok_or_else(|| Error::damaged(path, "its final newline is missing"))?;
    let wrapped: Wrapped =
        seal::canon::from_canonical(text).map_err(|e| Error::damaged(path, e.to_string()))?;
    if wrapped.header.format != format || wrapped.header.kdf != "argon2id" {
        return Err(Error::damaged(path, format!("it is a `{}`, not a `{format}`", wrapped.header.format)));
    }
    if !wrapped.header.cost.within() {
        return Err(Error::damaged(path, "it asks for more memory or time than any file of ours"));
    }
    Ok(wrapped)
}

fn stretch(
    path: &Path,
    passphrase: &[u8],
    salt: &[u8; 16],
    cost: Cost,
) -> Result<Zeroizing<[u8; 32]>, Error> {
    let bad = |e: argon2::Error| Error::damaged(path, format!("its argon2 parameters are refused: {e}"));
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(32)).map_err(bad)?;
    let mut key = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase, salt, key.as_mut())
        .map_err(bad)?;
    Ok(key)
}

fn check_of(path: &Path, key: &[u8; 32]) -> Result<String, Error> {
    let mut check = [0; 16];
    Hkdf::<Sha256>::new(None, key)
        .expand(b"hermit/passphrase-check/1", &mut check)
        .map_err(|e| Error::damaged(path, e.to_string()))?;
    Ok(hex::encode(check))
}

fn fixed<const N: usize>(path: &Path, what: &str, text: &str) -> Result<[u8; N], Error> {
    let bytes = hex::decode(text).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| Error::damaged(path, format!("its {what} is not {N} bytes in hexadecimal")))
}

/// A file that only its owner may read, bounded.
pub(crate) fn read_private(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    let file = match std::fs::File::open(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::Missing { what: path.display().to_string() });
        }
        other => other.map_err(|e| Error::io("read", path, &e))?,
    };
    check_closed(path, &file)?;
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|e| Error::io("read", path, &e))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Error::damaged(path, "it is far larger than any file of this kind"));
    }
    Ok(bytes)
}

fn check_closed(path: &Path, file: &std::fs::File) -> Result<(), Error> {
    match disk::owner_only::open_to_others(file).map_err(|e| Error::io("look at", path, &e))? {
        Some(others) => Err(Error::Exposed { path: path.display().to_string(), others }),
        None => Ok(()),
    }
}

/// Writes a file whole or not at all, readable by its owner alone.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    disk::replace(path, bytes).map_err(|e| Error::io("write", path, &e))
}
