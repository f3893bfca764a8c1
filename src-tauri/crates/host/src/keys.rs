//! Keys of a store: made once into the vault that was chosen, opened for a process, locked when it ends.

use crate::logs::OrLogged as _;
use crate::model_http::SecretSlot;
use crate::{Error, Home};
use kernel::ports::KeyRing;
use keychain::{ApprovalKey, Cost, FileVault, Keys, Marker, OsVault, Secrets, Vault, VaultKind};
use model::body::KeyPurpose;
use model::fault::{Faults, Point};
use seal::schnorr::SchnorrKey;
use seal::{Digest, PublicKey, SecretSource, Signer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;
use zeroize::Zeroizing;

/// The passphrase file's name in the store's folder.
pub(crate) const VAULT_FILE: &str = "vault.key";
/// How long a keychain may take to answer when it is only tried.
const KEYCHAIN_PROBE: Duration = Duration::from_secs(30);
/// The approval key's file there.
pub(crate) const APPROVAL_FILE: &str = "approval.key";

/// Which vault, always chosen in so many words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaultChoice {
    /// The operating system's keychain.
    Keychain,
    /// A file under a passphrase.
    File,
}

/// What new keys are made with.
pub struct NewKeys<'a> {
    /// The vault.
    pub vault: VaultChoice,
    /// Passphrase of the vault's file; needed for [`VaultChoice::File`].
    pub vault_passphrase: Option<&'a [u8]>,
    /// Passphrase of the approval key; without one, none is made and nothing can be approved yet.
    pub approval_passphrase: Option<&'a [u8]>,
}

/// How a vault's file may be opened without asking.
#[derive(Debug, Clone, Default)]
pub enum Unlock {
    /// By the file that `HERMIT_PASSPHRASE_FILE` names, or not at all.
    #[default]
    Environment,
    /// With these words.
    Words(Zeroizing<Vec<u8>>),
}

/// Keys that were made: what the ledger is told of them.
pub struct Made {
    /// Public halves by purpose.
    pub public: Vec<(KeyPurpose, PublicKey)>,
    /// `keychain` or `file`.
    pub kept_in: &'static str,
}

/// Whether the operating system's keychain can keep keys here; why not, in words.
///
/// # Errors
/// What it said.
pub fn try_keychain() -> Result<(), String> {
    OsVault::probe("hermit probe", KEYCHAIN_PROBE).map_err(|error| match error {
        keychain::Error::NoKeychain { why }
        | keychain::Error::Locked { why }
        | keychain::Error::Keychain { why } => why,
        other => other.to_string(),
    })
}

/// The keys of one process.
#[derive(Default)]
pub struct HostKeys {
    state: RwLock<State>,
    secrets: SecretSlot,
    /// Whose they are.
    home: Option<Home>,
}

/// Under one lock: whoever finds no keys finds the reason too.
#[derive(Default)]
struct State {
    open: Option<(Arc<Keys>, Arc<dyn Vault>)>,
    /// Why they are not open; empty while nobody said.
    why: String,
}

impl HostKeys {
    /// Those of a store, which are not open yet.
    pub fn of(home: &Home) -> Self {
        Self { home: Some(home.clone()), ..Self::default() }
    }

    /// Where the egress finds secrets.
    pub fn secrets(&self) -> SecretSlot {
        Arc::clone(&self.secrets)
    }

    /// The open keys.
    pub fn keys(&self) -> Option<Arc<Keys>> {
        self.state().open.as_ref().map(|(keys, _)| Arc::clone(keys))
    }

    /// Why they are not open.
    pub fn why_locked(&self) -> String {
        self.state().why.clone()
    }

    /// Opens the keys of a store. A store without keys, or with locked ones, is none the less usable: what needs
    /// them waits. Returns whether they are open now.
    ///
    /// # Errors
    /// [`Error::Keys`] for a wrong passphrase or a damaged vault.
    ///
    /// `in_force` is the log key that the ledger names: a rotation that broke off is brought to the end the log has.
    pub fn unlock(
        &self,
        home: &Home,
        log_id: &str,
        in_force: Option<PublicKey>,
        unlock: &Unlock,
    ) -> Result<bool, Error> {
        let Some(marker) = Marker::read(home.dir())? else {
            self.locked("this store has no keys yet; make them with `hermit keys init`".to_owned());
            return Ok(false);
        };
        let vault: Arc<dyn Vault> = match marker.vault {
            VaultKind::Keychain => match OsVault::open(&service(log_id)) {
                Ok(vault) => Arc::new(vault),
                Err(error) => {
                    self.locked(error.to_string());
                    return Ok(false);
                }
            },
            VaultKind::File => {
                let words = match unlock {
                    Unlock::Words(words) => Some(words.clone()),
                    Unlock::Environment => from_environment()?,
                };
                let Some(words) = words else {
                    self.locked(
                        "its passphrase was not given; set `HERMIT_PASSPHRASE_FILE`, or use a terminal"
                            .to_owned(),
                    );
                    return Ok(false);
                };
                Arc::new(FileVault::open(&home.path(VAULT_FILE), &words)?)
            }
            VaultKind::Memory => {
                self.locked("its keys were a test's and are gone".to_owned());
                return Ok(false);
            }
        };
        let settled = match in_force {
            Some(key) => Keys::settle(home.dir(), &*vault, &key),
            None => Ok(false),
        };
        match settled.and_then(|_| Keys::open(home.dir(), &*vault)) {
            Ok(keys) => self.opened(keys, vault),
            Err(keychain::Error::Locked { why }) => {
                self.locked(why);
                return Ok(false);
            }
            Err(keychain::Error::OtherKeys { .. })
                if in_force.is_some() && marks_another(&marker, in_force) =>
            {
                self.locked(
                    "this log ends before the last rotation of its keys: it is an older copy; restore a newer one"
                        .to_owned(),
                );
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    /// The vault that was opened with the keys.
    pub(crate) fn vault(&self) -> Option<Arc<dyn Vault>> {
        self.state().open.as_ref().map(|(_, vault)| Arc::clone(vault))
    }

    /// Makes the keys of a store, once. Returns the public halves and where they are kept, for the ledger. Keys that an
    /// earlier try left and the ledger does not name are taken as they are, once their passphrases open them.
    ///
    /// Nothing is written before it is clear that it may be: `known` is what the ledger names.
    ///
    /// # Errors
    /// [`Error::Keys`] when there are keys already, a passphrase is too short, or the vault is not there;
    /// [`Error::KeysElsewhere`] when the ledger names keys that are not in this folder; [`Error::OnePassphrase`].
    pub fn create(
        &self,
        home: &Home,
        log_id: &str,
        known: &Known,
        new: &NewKeys<'_>,
        faults: &dyn Faults,
    ) -> Result<Made, Error> {
        check_words(new)?;
        if let Some(files) = missing(home, known)? {
            return Err(Error::KeysElsewhere { files });
        }
        let marker = Marker::read(home.dir())?;
        let named = known.contains_key(&KeyPurpose::Log);
        let approval = new.approval_passphrase.filter(|_| !known.contains_key(&KeyPurpose::Approval));
        match (&marker, named) {
            (Some(_), true) if approval.is_none() => {
                let what = home.path(keychain::MARKER_FILE).display().to_string();
                return Err(keychain::Error::Exists { what }.into());
            }
            // Who adds the key that says yes has to be who made the others.
            (Some(marker), true) => prove_owner(home, marker, new)?,
            (Some(marker), false) => self.take_up(home, log_id, marker, new)?,
            (None, _) => self.make(home, log_id, new, faults)?,
        }
        let mut made = Self::marked(home)?;
        if let Some(passphrase) = approval {
            made.public.push((KeyPurpose::Approval, approval_key(home, passphrase, faults)?));
        }
        Ok(made)
    }

    /// The three keys that `keys.json` names, for the ledger.
    ///
    /// # Errors
    /// [`Error::Keys`] when there are none.
    pub(crate) fn marked(home: &Home) -> Result<Made, Error> {
        let marker = Marker::read(home.dir())?.ok_or_else(|| keychain::Error::Missing {
            what: home.path(keychain::MARKER_FILE).display().to_string(),
        })?;
        let public = vec![
            (KeyPurpose::Log, marker.log.public_key),
            (KeyPurpose::Receipt, marker.receipt.public_key),
            (KeyPurpose::Manifest, marker.manifest.public_key),
        ];
        let kept_in = if marker.vault == VaultKind::Keychain { "keychain" } else { "file" };
        Ok(Made { public, kept_in })
    }

    /// New keys in a vault of their own.
    fn make(&self, home: &Home, log_id: &str, new: &NewKeys<'_>, faults: &dyn Faults) -> Result<(), Error> {
        let stopped = |e: std::io::Error| Error::io("make keys in", home.dir(), &e);
        faults.before(Point::KeyStage).map_err(stopped)?;
        let vault = new_vault(home, log_id, new)?;
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(seed.as_mut()).map_err(|e| keychain::Error::Randomness(e.to_string()))?;
        faults.after(Point::KeyStage).map_err(stopped)?;
        faults.before(Point::KeyMark).map_err(stopped)?;
        let keys = Keys::create(home.dir(), &*vault, *seed)?;
        faults.after(Point::KeyMark).map_err(stopped)?;
        self.opened(keys, vault);
        Ok(())
    }

    /// Opens keys that an earlier try made and the ledger was never told of.
    fn take_up(&self, home: &Home, log_id: &str, marker: &Marker, new: &NewKeys<'_>) -> Result<(), Error> {
        let given = match new.vault {
            VaultChoice::Keychain => VaultKind::Keychain,
            VaultChoice::File => VaultKind::File,
        };
        if marker.vault != given {
            return Err(keychain::Error::OtherVault { chosen: marker.vault, given }.into());
        }
        let unlock = match new.vault_passphrase {
            Some(words) => Unlock::Words(Zeroizing::new(words.to_vec())),
            None => Unlock::Environment,
        };
        match self.unlock(home, log_id, None, &unlock).map_err(of_left)? {
            true => Ok(()),
            false => Err(keychain::Error::Locked { why: self.why_locked() }.into()),
        }
    }

    /// Forgets the open keys: what they protect is locked again, for this reason.
    pub fn lock(&self, why: &str) {
        self.change(State { open: None, why: why.to_owned() }, None);
    }

    /// Purposes of the keys that are open here.
    pub fn purposes(&self) -> Vec<KeyPurpose> {
        match self.keys() {
            Some(_) => vec![KeyPurpose::Log, KeyPurpose::Receipt, KeyPurpose::Manifest],
            None => Vec::new(),
        }
    }

    pub(crate) fn opened(&self, keys: Keys, vault: Arc<dyn Vault>) {
        let secrets: Arc<dyn SecretSource> = Arc::new(Secrets::new(Arc::clone(&vault)));
        self.change(State { open: Some((Arc::new(keys), vault)), why: String::new() }, Some(secrets));
    }

    fn change(&self, next: State, secrets: Option<Arc<dyn SecretSource>>) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        *self.secrets.write().unwrap_or_else(PoisonError::into_inner) = secrets;
        *state = next;
    }

    fn locked(&self, why: String) {
        self.state.write().unwrap_or_else(PoisonError::into_inner).why = why;
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keys in force as the ledger names them, by purpose.
pub type Known = BTreeMap<KeyPurpose, (Digest, PublicKey)>;

/// Key files that the ledger says there are and this folder lacks, or holds others of: what a backup leaves out.
///
/// # Errors
/// [`Error::Keys`] when one of them cannot be read.
pub(crate) fn missing(home: &Home, known: &Known) -> Result<Option<Vec<&'static str>>, Error> {
    let marker = Marker::read(home.dir())?;
    let mut files = Vec::new();
    if let Some((_, log)) = known.get(&KeyPurpose::Log) {
        let ours = marker.as_ref().filter(|marker| marker.log.public_key == *log);
        if ours.is_none() {
            files.push(keychain::MARKER_FILE);
        }
        // Without `keys.json` nothing tells which vault it was.
        let in_file = ours.is_none_or(|marker| marker.vault == VaultKind::File);
        if in_file && (ours.is_none() || !home.path(VAULT_FILE).exists()) {
            files.push(VAULT_FILE);
        }
    }
    if let Some((_, approval)) = known.get(&KeyPurpose::Approval) {
        let path = home.path(APPROVAL_FILE);
        if !path.exists() || ApprovalKey::public(&path)? != *approval {
            files.push(APPROVAL_FILE);
        }
    }
    Ok(Some(files).filter(|files| !files.is_empty()))
}

/// Refuses passphrases that protect nothing, before anything is written.
fn check_words(new: &NewKeys<'_>) -> Result<(), Error> {
    let vault = new.vault_passphrase.filter(|_| new.vault == VaultChoice::File);
    for words in vault.into_iter().chain(new.approval_passphrase) {
        keychain::check_passphrase(words)?;
    }
    match (vault, new.approval_passphrase) {
        (Some(vault), Some(approval)) if vault == approval => Err(Error::OnePassphrase),
        _ => Ok(()),
    }
}

/// Opens the vault anew with what was typed now: keys that happen to be open in this process prove nobody.
fn prove_owner(home: &Home, marker: &Marker, new: &NewKeys<'_>) -> Result<(), Error> {
    if marker.vault != VaultKind::File {
        return Ok(());
    }
    let words = new.vault_passphrase.ok_or_else(|| keychain::Error::Locked {
        why: "the vault's passphrase is needed to add the approval key".to_owned(),
    })?;
    FileVault::open(&home.path(VAULT_FILE), words)?;
    Ok(())
}

/// The approval key: a new one, or the one that an earlier try left and the passphrase opens.
fn approval_key(home: &Home, passphrase: &[u8], faults: &dyn Faults) -> Result<PublicKey, Error> {
    let path = home.path(APPROVAL_FILE);
    if path.exists() {
        return Ok(ApprovalKey::open(&path, passphrase).map_err(Error::from).map_err(of_left)?.public());
    }
    let stopped = |e: std::io::Error| Error::io("make the approval key in", home.dir(), &e);
    faults.before(Point::KeyPromote).map_err(stopped)?;
    let signer = ApprovalKey::create(&path, passphrase, Cost::STRONG)?;
    faults.after(Point::KeyPromote).map_err(stopped)?;
    Ok(signer.public())
}

/// A wrong passphrase for a file that an earlier try left.
fn of_left(error: Error) -> Error {
    match error {
        Error::Keys(keychain::Error::WrongPassphrase { path }) => Error::LeftKey { path },
        other => other,
    }
}

/// The system's keychain, when this store's keys are in it and it answers.
pub(crate) fn keychain_of(home: &Home, log_id: &str) -> Option<OsVault> {
    let marker = Marker::read(home.dir()).or_logged("`keys.json` cannot be read").flatten()?;
    (marker.vault == VaultKind::Keychain).then(|| OsVault::open(&service(log_id)).ok()).flatten()
}

/// Whether `keys.json` names another log key than the ledger does.
fn marks_another(marker: &Marker, in_force: Option<PublicKey>) -> bool {
    in_force.is_some_and(|key| marker.log.public_key != key)
}

/// A vault without keys in it: a new one, or what a crash left before the marker was written.
fn new_vault(home: &Home, log_id: &str, new: &NewKeys<'_>) -> Result<Arc<dyn Vault>, Error> {
    match new.vault {
        VaultChoice::Keychain => Ok(Arc::new(OsVault::open(&service(log_id))?)),
        VaultChoice::File => {
            let words = new
                .vault_passphrase
                .ok_or(keychain::Error::WeakPassphrase { min: keychain::PASSPHRASE_CHARS_MIN, found: 0 })?;
            let path = home.path(VAULT_FILE);
            let vault = if path.exists() {
                FileVault::open(&path, words).map_err(Error::from).map_err(of_left)?
            } else {
                FileVault::create(&path, words, Cost::STRONG)?
            };
            Ok(Arc::new(vault))
        }
    }
}

fn service(log_id: &str) -> String {
    format!("hermit {log_id}")
}

/// The file that `HERMIT_PASSPHRASE_FILE` names.
pub(crate) fn passphrase_file() -> Option<PathBuf> {
    let said = || std::env::var_os("HERMIT_PASSPHRASE_FILE").map(PathBuf::from);
    NAMED.get().cloned().or_else(said).filter(|path| !path.as_os_str().is_empty())
}

/// The passphrase file that this process was told by its command line.
static NAMED: OnceLock<PathBuf> = OnceLock::new();

/// Names the file whose first line opens the vault, in place of `HERMIT_PASSPHRASE_FILE`; the first one that is named stays.
pub fn name_passphrase_file(path: PathBuf) {
    let _ = NAMED.set(path);
}

/// Refuses to work in a folder that holds that file: whatever is proposed there could read it.
pub(crate) fn refuse_above_passphrase(root: &Path) -> Result<(), wire::Error> {
    // That of the service opens the same vault, whichever process holds the store now.
    let of_service = crate::service::look().ok().and_then(|found| found.terms?.passphrase_file);
    let files = passphrase_file().into_iter().chain(of_service.map(PathBuf::from));
    let mut files = files.filter_map(|file| file.canonicalize().ok());
    let Some(file) = files.find(|file| file.starts_with(root)) else { return Ok(()) };
    let file = file.display();
    let why = format!("the vault's passphrase lies in this folder, in `{file}`, where a task could read it");
    Err(wire::Error::new(wire::Code::Refused, why)
        .hint("move that file somewhere else, and say so in `HERMIT_PASSPHRASE_FILE`"))
}

/// The first line of that file.
fn from_environment() -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
    let Some(path) = passphrase_file() else { return Ok(None) };
    let bytes = Zeroizing::new(std::fs::read(&path).map_err(|e| Error::io("read", &path, &e))?);
    Ok(Some(Zeroizing::new(first_line(&bytes).to_vec())))
}

/// The bytes before the first line break.
fn first_line(bytes: &[u8]) -> &[u8] {
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line)
}

impl KeyRing for HostKeys {
    fn receipt(&self) -> Option<Arc<dyn Signer>> {
        self.keys().map(|keys| keys.receipt() as Arc<dyn Signer>)
    }

    fn log(&self) -> Option<Arc<dyn Signer>> {
        self.keys().map(|keys| keys.log() as Arc<dyn Signer>)
    }

    fn cosign(&self) -> Option<Arc<dyn Signer>> {
        self.keys().map(|keys| keys.cosign() as Arc<dyn Signer>)
    }

    fn log_keys(&self) -> Vec<PublicKey> {
        self.home.as_ref().map(crate::older_store::log_keys).unwrap_or_default()
    }

    fn instance(&self, first_soul: &Digest) -> Option<SchnorrKey> {
        Keys::instance(&*self.vault()?, first_soul).or_logged("the key of this instance cannot be had")
    }

    fn former_instances(&self, first_soul: &Digest) -> Vec<SchnorrKey> {
        let Some(vault) = self.vault() else { return Vec::new() };
        let former = Keys::former_instances(&*vault, first_soul);
        former.or_logged("former keys of this instance cannot be had").unwrap_or_default()
    }
}
