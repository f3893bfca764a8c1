//! The second choice, always chosen in so many words: one file under a passphrase.

use crate::vault::check_name;
use crate::wrap::{Opened, check_passphrase, header};
use crate::{Cost, Error, Vault, VaultKind};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use zeroize::{Zeroize as _, Zeroizing};

const FORMAT: &str = "hermit-vault/1";

/// A vault in one file: argon2id, XChaCha20-Poly1305, mode 0600. While it is open, the key that the passphrase
/// made is in memory; the passphrase is not.
pub struct FileVault {
    path: PathBuf,
    opened: Mutex<Opened>,
}

/// Names and values while they are in hand; wiped afterwards.
#[derive(Default)]
struct Entries(BTreeMap<String, Zeroizing<Vec<u8>>>);

impl FileVault {
    /// A new, empty vault.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::WeakPassphrase`], [`Error::Io`].
    pub fn create(path: &Path, passphrase: &[u8], cost: Cost) -> Result<Self, Error> {
        if std::fs::symlink_metadata(path).is_ok() {
            return Err(Error::Exists { what: path.display().to_string() });
        }
        let opened = Opened::create(FORMAT, passphrase, cost, None)?;
        opened.write(path, &Entries::default().to_bytes(path)?)?;
        Ok(Self { path: path.to_owned(), opened: Mutex::new(opened) })
    }

    /// An existing vault.
    ///
    /// # Errors
    /// [`Error::WrongPassphrase`], [`Error::Missing`], [`Error::Exposed`], [`Error::Damaged`], [`Error::Io`].
    pub fn open(path: &Path, passphrase: &[u8]) -> Result<Self, Error> {
        let (opened, plain) = Opened::open(path, FORMAT, passphrase)?;
        Entries::parse(path, &plain)?;
        Ok(Self { path: path.to_owned(), opened: Mutex::new(opened) })
    }

    /// Whether the file has the form of a vault, for which no passphrase is needed.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Exposed`], [`Error::Damaged`], [`Error::Io`].
    pub fn look(path: &Path) -> Result<(), Error> {
        header(path, FORMAT, None).map(drop)
    }

    /// Wraps the vault under another passphrase. Whoever has it open with the old one must open it again.
    ///
    /// # Errors
    /// As [`Self::open`], and [`Error::WeakPassphrase`].
    pub fn change_passphrase(path: &Path, old: &[u8], new: &[u8], cost: Cost) -> Result<(), Error> {
        rewrapped(path, old, new, cost).map(drop)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entries(&self, opened: &Opened) -> Result<Entries, Error> {
        Entries::parse(&self.path, &opened.reread(&self.path)?)
    }
}

impl fmt::Debug for FileVault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileVault({})", self.path.display())
    }
}

impl Vault for FileVault {
    fn kind(&self) -> VaultKind {
        VaultKind::File
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        check_name(name)?;
        let opened = self.opened();
        let mut entries = self.entries(&opened)?;
        entries.0.insert(name.to_owned(), Zeroizing::new(bytes.to_vec()));
        opened.write(&self.path, &entries.to_bytes(&self.path)?)
    }

    fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        check_name(name)?;
        Ok(self.entries(&self.opened())?.0.remove(name))
    }

    fn delete(&self, name: &str) -> Result<bool, Error> {
        check_name(name)?;
        let opened = self.opened();
        let mut entries = self.entries(&opened)?;
        if entries.0.remove(name).is_none() {
            return Ok(false);
        }
        opened.write(&self.path, &entries.to_bytes(&self.path)?)?;
        Ok(true)
    }

    fn rewrap(&self, old: &[u8], new: &[u8], cost: Cost) -> Result<(), Error> {
        // Nobody puts anything into it meanwhile.
        let mut opened = self.opened();
        *opened = rewrapped(&self.path, old, new, cost)?;
        Ok(())
    }
}

/// The same content under another passphrase: the file is the old one until it is the new one.
fn rewrapped(path: &Path, old: &[u8], new: &[u8], cost: Cost) -> Result<Opened, Error> {
    check_passphrase(new)?;
    let (_, plain) = Opened::open(path, FORMAT, old)?;
    Entries::parse(path, &plain)?;
    let opened = Opened::create(FORMAT, new, cost, None)?;
    opened.write(path, &plain)?;
    Ok(opened)
}

impl Entries {
    fn to_bytes(&self, path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut text: BTreeMap<&str, String> =
            self.0.iter().map(|(name, bytes)| (name.as_str(), STANDARD.encode(bytes))).collect();
        let bytes = seal::canon::to_canonical(&text).map_err(|e| Error::damaged(path, e.to_string()));
        text.values_mut().for_each(|value| value.zeroize());
        bytes.map(Zeroizing::new)
    }

    fn parse(path: &Path, plain: &[u8]) -> Result<Self, Error> {
        let damaged = |why: String| Error::damaged(path, why);
        let mut text: BTreeMap<String, String> =
            seal::canon::from_canonical(plain).map_err(|e| damaged(e.to_string()))?;
        let mut entries = BTreeMap::new();
        for (name, value) in &mut text {
            let bytes = STANDARD.decode(&*value).map_err(|_| damaged(format!("`{name}` is not base64")))?;
            entries.insert(name.clone(), Zeroizing::new(bytes));
            value.zeroize();
        }
        Ok(Self(entries))
    }
}
