//! A store in this process: with the kernel when it owns the store, without when it only reads.

mod folders;
mod logins;
mod mesh;
mod playbooks;
mod serving;
mod trainer;
mod work;

use crate::days::{LocalDays, keep_ceiling};
use crate::logs::OrLogged as _;
use crate::model_box::WithBox;
use crate::reasoners::{LocalReasoners, chosen, playbooks, read_playbook};
use crate::{
    Config, Error, Home, HostKeys, NewKeys, OsEntropy, Outbound, SystemClock, Unlock,
    embeddings::LocalEmbedder, executors::LocalExecutors, faults, head_pin, logins::Logins, logs,
    model_box::Fetches, notices::Notices, older_store::older, run_stream_thread::RunStream,
    secrets::SecretBook, small_artifacts::Blobs,
};
use api::{BundleSigners, Flow, Stands};
use governance::PolicyEngine;
use kernel::command::mesh::approvals::MeshQuestion;
use kernel::command::person::{Matter, Signed};
use kernel::ports::Days as _;
use kernel::{Kernel, Ports, command::submit::Reasoning};
use ledger::Reader;
use model::passkey::PasskeyEnrolment;
use model::standing::StandingGrant;
use model::{Clock as _, Entropy as _, TaskId, UnixMs, body::KeyPurpose, fault::NoFaults};
use projections::Query;
use seal::{Digest, PublicKey};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;

/// Whoever watches long work: told what, how much, of how much; answers whether it goes on.
pub type Watch = Box<dyn Fn(&str, u64, u64) -> bool + Send + Sync>;

/// A store in this process.
pub struct Local {
    home: Home,
    config: Config,
    keys: Arc<HostKeys>,
    executors: Arc<LocalExecutors>,
    secrets: SecretBook,
    logins: Arc<Logins>,
    pub(crate) notices: Arc<Notices>,
    owned: Option<work::Owned>,
    reader: OnceLock<Reader>,
    artifacts: OnceLock<artifacts::Store>,
    watch: OnceLock<Watch>,
    /// Events that were folded anew when the store was opened.
    rebuilt: Option<u64>,
    /// Where others attach, while they can.
    server: Mutex<Option<gateway::Server>>,
    /// Hears what a person at a terminal asks, while others can attach.
    control: Mutex<Option<crate::control_socket::Control>>,
    /// Which unlocking of the keys counts: one that was followed by another, or by a lock, ends nothing.
    relock: Arc<(Mutex<u64>, Condvar)>,
    /// Whether a thread waits to wipe what is known of secrets: one does, however often the keys are locked.
    is_wiping: Arc<std::sync::atomic::AtomicBool>,
    /// Moves the pin, while this process owns the store.
    pins: Mutex<Option<head_pin::Mover>>,
    /// The run stream, while others can attach.
    run_stream: Mutex<Option<Arc<RunStream>>>,
    /// Cards and receipts that were looked at.
    sheets: api::Sheets,
    /// Weights of models in the box that are on their way.
    fetches: Fetches,
    /// The run of training in hand.
    trainer: crate::trainer::Trainer,
}

impl Local {
    /// A process that only reads, or that does what needs no store. Opens nothing yet.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn reading(home: Home) -> Result<Self, Error> {
        Ok(Self::bare(home.clone(), Config::in_force(&home), Arc::new(NoFaults)))
    }

    fn bare(home: Home, config: Config, faults: Arc<dyn model::fault::Faults>) -> Self {
        let (secrets, keys) = (SecretBook::default(), Arc::new(HostKeys::of(&home)));
        let logins = Arc::new(Logins::new(&config, Arc::clone(&keys), secrets.clone()));
        let lent = Arc::clone(&logins);
        let executors = Arc::new(LocalExecutors::new(&home, &config, faults, &keys, &secrets, lent));
        Self {
            fetches: Fetches::of(&home),
            trainer: crate::trainer::Trainer::default(),
            secrets,
            logins,
            home,
            config,
            keys,
            executors,
            notices: Arc::default(),
            owned: None,
            reader: OnceLock::new(),
            artifacts: OnceLock::new(),
            watch: OnceLock::new(),
            rebuilt: None,
            server: Mutex::default(),
            control: Mutex::default(),
            relock: Arc::default(),
            is_wiping: Arc::default(),
            pins: Mutex::default(),
            run_stream: Mutex::default(),
            sheets: api::Sheets::default(),
        }
    }

    /// Takes the store, makes it if it is new, opens the keys as far as they can be, binds what came in and was not
    /// bound. Nothing is driven yet: see [`Self::go_on`].
    ///
    /// # Errors
    /// [`Error::Kernel`] with [`ledger::Error::Held`] when another process has it; [`Error::Keys`] for a wrong
    /// passphrase; what the store says.
    pub fn owning(home: Home, unlock: &Unlock) -> Result<Self, Error> {
        Self::take(home, unlock, false)
    }

    /// As [`Self::owning`], for whoever accepts a store that is behind its pin.
    pub(crate) fn in_spite_of_pins(home: Home, unlock: &Unlock) -> Result<Self, Error> {
        Self::take_it(home, unlock, false)
    }

    /// As [`Self::owning`], with every list folded anew from the log.
    ///
    /// # Errors
    /// As [`Self::owning`].
    pub fn rebuilding(home: Home, unlock: &Unlock) -> Result<Self, Error> {
        Self::take(home, unlock, true)
    }

    fn take(home: Home, unlock: &Unlock, rebuild: bool) -> Result<Self, Error> {
        if let Some(older) = older(&home, &Config::in_force(&home)).map_err(Error::Said)? {
            return Err(Error::Older(Box::new(older)));
        }
        let local = Self::take_it(home, unlock, rebuild)?;
        local.say_restored(false)?;
        Ok(local)
    }

    /// Everything but the store itself, and the ports of its kernel.
    pub(crate) fn prepared(home: Home, rebuild: bool) -> Result<(Self, Ports), Error> {
        home.make()?;
        let config = Config::in_force(&home);
        let faults = faults::from_environment()?;
        let local = Self::bare(home, config, Arc::clone(&faults));
        logs::begin(&local.home, &local.config, local.secrets.redactor());
        let policy = PolicyEngine::shipped().map_err(|e| Error::Policy(e.to_string()))?;
        let out = Outbound::new(&local.config, local.keys.secrets(), local.secrets.clone());
        let egress = Arc::new(WithBox::new(out, &local.home, Arc::clone(&local.executors)));
        let embedder = LocalEmbedder::new(local.home.clone(), Arc::clone(&egress) as _);
        let ports = Ports {
            executors: Arc::clone(&local.executors) as _,
            reasoners: Arc::new(LocalReasoners::new(local.home.clone(), egress)),
            embedder: Arc::new(embedder),
            keys: Arc::clone(&local.keys) as _,
            observer: Arc::clone(&local.notices) as _,
            clock: Arc::new(SystemClock),
            days: Arc::new(LocalDays::new(local.home.clone())),
            entropy: Arc::new(OsEntropy),
            faults,
            policy: Arc::new(policy),
            redactor: local.secrets.redactor(),
            projector: Arc::new(move || {
                let fold = projections::Fold::new();
                Box::new(if rebuild { fold.rebuilding() } else { fold })
            }),
        };
        Ok((local, ports))
    }

    fn take_it(home: Home, unlock: &Unlock, rebuild: bool) -> Result<Self, Error> {
        home.refuse_broken_off()?;
        let (mut local, ports) = Self::prepared(home, rebuild)?;
        let kernel = Arc::new(Kernel::open(local.home.dir(), ports)?);
        if rebuild {
            local.rebuilt = Some(kernel.reader().log_head().map_err(kernel::Error::from)?);
        }
        let known = kernel.store_state().keys;
        let in_force = |purpose| known.get(&purpose).map(|(_, key)| *key);
        crate::key_rotation::settle_approval(&local.home, in_force(KeyPurpose::Approval))?;
        let (log_id, log) = (kernel.reader().log_id(), in_force(KeyPurpose::Log));
        if local.keys.unlock(&local.home, log_id, log, unlock)? && log.is_none() {
            // A `keys init` that broke off had made them and told nobody.
            let left = HostKeys::marked(&local.home)?;
            kernel.register_keys(&left.public, left.kept_in)?;
        }
        crate::approval_key::check(&kernel, &local.keys)?;
        local.move_pins(&kernel)?;
        local.owned = Some(work::Owned::new(&local.home, Arc::clone(&kernel), &local.config));
        local.know_secrets()?;
        crate::disk_reserve::hold(&local.home);
        kernel.bind_unbound()?;
        tracing::info!(dir = %local.home.dir().display(), "this process owns the store");
        Ok(local)
    }

    /// The store's folder.
    pub const fn home(&self) -> &Home {
        &self.home
    }

    /// The keys of this process.
    pub fn keys(&self) -> &HostKeys {
        &self.keys
    }

    /// Tells whoever watches of long work; the first one stays.
    pub fn watch(&self, watch: Watch) {
        let _ = self.watch.set(watch);
    }

    /// Makes keys and registers their public halves in the ledger.
    ///
    /// # Errors
    /// [`Error::Keys`], [`Error::Kernel`].
    pub fn make_keys(&self, new: &NewKeys<'_>) -> Result<(), Error> {
        let kernel = self.owned_kernel()?;
        let (log_id, known) = (kernel.reader().log_id(), kernel.store_state().keys);
        let made = self.keys.create(&self.home, log_id, &known, new, &*kernel.ports().faults)?;
        kernel.register_keys(&made.public, made.kept_in)?;
        crate::approval_key::made(kernel, &self.keys);
        Ok(())
    }

    /// The kernel, for what only its owner's own process does.
    pub(crate) fn owned_kernel(&self) -> Result<&Kernel, Error> {
        let owned = self.owned.as_ref().map(|owned| &*owned.kernel);
        owned.ok_or_else(|| Error::Kernel(kernel::Error::Conflict("this process only reads".to_owned())))
    }

    fn owned(&self) -> Result<&work::Owned, wire::Error> {
        self.owned.as_ref().ok_or_else(api::no_host)
    }

    fn reading_reader(&self) -> Result<&Reader, wire::Error> {
        if let Some(reader) = self.reader.get() {
            return Ok(reader);
        }
        let opened = Reader::open(self.home.dir()).map_err(api::of_ledger)?;
        Ok(self.reader.get_or_init(|| opened))
    }
}

impl api::Host for Local {
    fn kernel(&self) -> Result<&Kernel, wire::Error> {
        Ok(&self.owned()?.kernel)
    }

    fn reader(&self) -> Result<Reader, wire::Error> {
        match &self.owned {
            Some(owned) => Ok(owned.kernel.reader().clone()),
            None => self.reading_reader().cloned(),
        }
    }

    fn query(&self) -> Result<Query, wire::Error> {
        Query::over(self.reader()?).map_err(api::of_projections)
    }

    fn artifacts(&self) -> Result<&artifacts::Store, wire::Error> {
        if let Some(owned) = &self.owned {
            return Ok(owned.kernel.artifacts());
        }
        let blobs = Arc::new(Blobs(self.reading_reader()?.clone()));
        Ok(self
            .artifacts
            .get_or_init(|| artifacts::Store::open_for_reading(self.home.dir(), blobs, Arc::new(NoFaults))))
    }

    fn signers(&self) -> Option<BundleSigners> {
        self.keys.keys().map(|keys| BundleSigners { receipt: keys.receipt(), manifest: keys.manifest() })
    }

    fn open_keys(&self) -> Option<Vec<KeyPurpose>> {
        self.owned.as_ref().map(|_| self.keys.purposes())
    }

    fn trusted_log_keys(&self) -> Vec<PublicKey> {
        // `keys.json` stands outside the ledger and names the keys that the vault is held to, now and before.
        let marker = match self.keys.keys() {
            Some(keys) => Some(keys.marker().clone()),
            None => keychain::Marker::read(self.home.dir()).or_logged("`keys.json` cannot be read").flatten(),
        };
        let Some(marker) = marker else { return Vec::new() };
        let before = marker.earlier.iter().rev().map(|earlier| earlier.log.public_key);
        std::iter::once(marker.log.public_key).chain(before).collect()
    }

    fn trusted_people(&self) -> Result<Vec<(String, String)>, wire::Error> {
        let known = crate::trust::read(&self.home).map_err(Error::to_wire)?;
        Ok(known.into_iter().map(|trusted| (trusted.name, trusted.key)).collect())
    }

    fn sign_yes(&self, packet: &[u8], person: &str, passphrase: &[u8]) -> Result<Vec<u8>, wire::Error> {
        crate::approval_signing::sign_at_page(&self.home, packet, person, passphrase)
    }

    fn sign_standing(&self, draft: &StandingGrant, passphrase: &[u8]) -> Result<Vec<u8>, wire::Error> {
        crate::approval_signing::sign_standing_at_page(&self.home, draft, passphrase)
    }

    fn sign_passkey(&self, draft: &PasskeyEnrolment, passphrase: &[u8]) -> Result<Vec<u8>, wire::Error> {
        crate::approval_signing::sign_passkey_at_page(&self.home, draft, passphrase)
    }

    fn sign_answer(
        &self,
        question: &MeshQuestion,
        packet: &[u8],
        allow: bool,
        passphrase: &[u8],
    ) -> Result<::mesh::SignedDecision, wire::Error> {
        crate::approval_signing::sign_answer_at_page(&self.home, (question, packet), allow, passphrase)
    }

    fn sign_decision(
        &self,
        matter: Matter,
        subject: Digest,
        passphrase: &[u8],
    ) -> Result<Signed, wire::Error> {
        let reader = self.reader()?;
        crate::approval_signing::decide_at_page(&self.home, reader.log_id(), matter, subject, passphrase)
    }

    fn make_room(&self) -> bool {
        crate::disk_reserve::make_room(&self.home)
    }

    fn cosign(&self) -> Vec<String> {
        self.cosigned()
    }

    fn witness_policy(&self) -> Option<String> {
        let policy = crate::cosign_client::policy(&self.home).or_logged("the witness policy cannot be read");
        policy.flatten().map(|policy| policy.to_text(""))
    }

    fn pin(&self) -> Result<Option<Vec<u8>>, wire::Error> {
        let pins = head_pin::read(&self.home, &self.config, self.keys.vault().as_deref())?;
        Ok(pins.into_iter().next().map(|pin| pin.note))
    }

    fn rules_file(&self) -> Result<Option<String>, wire::Error> {
        self.home.rules_file().map_err(Error::to_wire)
    }
    fn content_quota_bytes(&self) -> u64 {
        self.settings_now().content_quota()
    }
    fn now(&self) -> UnixMs {
        SystemClock.now()
    }
    fn fresh_key(&self) -> String {
        let mut bytes = [0; 16];
        OsEntropy.fill(&mut bytes);
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    fn workspace(&self, path: &Path) -> Result<PathBuf, wire::Error> {
        folders::to_work_in(&self.home, path)
    }

    fn reasoning(&self, choice: &wire::task::Reasoner) -> Result<Reasoning, wire::Error> {
        if let wire::task::Reasoner::Guest { .. } = choice {
            return crate::guests::chosen(choice, &self.kernel()?.secrets());
        }
        chosen(&self.adopted(choice), &Config::load(&self.home).map_err(Error::to_wire)?, &self.home)
    }

    fn models(&self, ports: &[u16]) -> Result<wire::models::Found, wire::Error> {
        self.find_models(ports)
    }

    fn set_standard_model(&self, address: Option<&str>) -> Result<(), wire::Error> {
        self.choose_standard(address)
    }
    fn embeddings(&self) -> Result<wire::models::Embeddings, wire::Error> {
        self.embeddings_now()
    }
    fn set_embeddings(&self, address: Option<&str>) -> Result<wire::models::Embeddings, wire::Error> {
        self.name_embeddings(address)
    }
    fn set_model(&self, settings: &wire::models::Set) -> Result<wire::models::Asked, wire::Error> {
        self.set_up(settings)
    }
    fn price_of(&self, address: &str) -> Result<Option<(u64, u64)>, wire::Error> {
        self.price_in_force(address)
    }
    fn day_of(&self, at: UnixMs) -> Result<kernel::ports::Day, wire::Error> {
        LocalDays::new(self.home.clone()).day_of(at).map_err(api::usage)
    }
    fn set_ceiling(&self, cost_micros_max: Option<u64>) -> Result<(), wire::Error> {
        keep_ceiling(&self.home, cost_micros_max).map_err(Error::to_wire)
    }
    fn parallel_reads(&self) -> Result<Option<usize>, wire::Error> {
        Ok(Config::load(&self.home).map_err(Error::to_wire)?.parallel_reads)
    }
    fn set_parallel_reads(&self, at_once: Option<usize>) -> Result<(), wire::Error> {
        self.executors.keep_parallel_reads(&self.home, at_once).map_err(Error::to_wire)
    }
    fn test_models(&self, server: &wire::models::Test) -> Result<wire::models::Server, wire::Error> {
        self.test_server(server)
    }
    fn logins(&self) -> Option<&dyn api::Logins> {
        self.owned.as_ref().map(|_| self as _)
    }
    fn trials(&self) -> Option<&dyn api::Trials> {
        self.trials_here()
    }
    fn chats(&self) -> Option<&dyn api::Chats> {
        self.owned.as_ref().map(|_| self.executors.lent_chats())
    }
    fn anchor_clocks(&self) -> Option<&dyn api::AnchorClocks> {
        Some(self.executors.clocks())
    }
    fn mesh(&self) -> Option<&dyn api::Mesh> {
        Some(self)
    }
    fn pushes(&self) -> Option<&dyn api::pushes::Pushes> {
        self.owned.as_ref().map(|_| self as _)
    }
    fn model_box(&self) -> Option<&dyn api::ModelBox> {
        Some(&self.fetches)
    }
    fn trainer(&self) -> Option<&dyn api::Trainer> {
        self.owned.as_ref().map(|_| self as _)
    }
    fn guests(&self) -> Vec<wire::guests::Agent> {
        crate::guests::agents()
    }
    fn skill_book(&self) -> Option<&kernel::SkillBook> {
        Some(self.executors.book())
    }
    fn zone(&self) -> String {
        crate::days::zone()
    }
    fn rouse(&self) {
        self.owned.iter().for_each(|owned| owned.bell.ring());
    }
    fn playbooks(&self) -> Vec<wire::playbooks::Playbook> {
        playbooks(&self.adopted_playbooks(None))
    }
    fn read_playbook(&self, text: &str) -> Result<wire::playbooks::Playbook, wire::Error> {
        read_playbook(text)
    }

    fn drive(&self, task: TaskId) -> Result<(), wire::Error> {
        let owned = self.owned()?;
        owned.begin_clock(&self.notices, &self.executors)?;
        self.begin_mesh();
        owned.drives.wake(task);
        Ok(())
    }
    fn drive_all(&self) -> Result<Vec<TaskId>, wire::Error> {
        self.go_on()
    }
    fn stands(&self, task: TaskId, patience: Duration) -> Result<Stands, wire::Error> {
        Ok(self.owned()?.stands(task, patience))
    }
    fn journal(&self, run: Option<TaskId>) -> Result<api::Journal, wire::Error> {
        self.journal_of(run)
    }

    fn rebuild(&self) -> Result<u64, wire::Error> {
        self.owned()?;
        self.rebuilt.ok_or_else(|| {
            wire::Error::new(wire::Code::Conflict, "lists are folded anew only while the store is opened")
                .hint("stop the process that has the store open, and run `hermit ledger rebuild`")
        })
    }

    fn progress(&self, what: &'static str, done: u64, total: u64) -> Flow {
        self.notices.tell(&wire::Notice::Progress { task_id: None, what: what.to_owned(), done, total });
        match self.watch.get() {
            Some(watch) if !watch(what, done, total) => Flow::Stop,
            _ => Flow::Continue,
        }
    }
    fn own_source(&self) -> Result<&'static [u8], wire::Error> {
        crate::own_source::stream()
    }
    fn facts(&self) -> wire::host::Facts {
        Self::facts(self)
    }
    fn sheets(&self) -> &api::Sheets {
        &self.sheets
    }
    fn listen(&self) -> Option<Receiver<wire::Notice>> {
        self.owned.as_ref().map(|_| self.notices.listen())
    }
}
