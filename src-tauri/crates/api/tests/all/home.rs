//! A host over the test kit's world: one that owns the store, and one that only reads it.

use api::{BundleSigners, Flow, Host};
use artifacts::InlineBlobs;
use kernel::Kernel;
use kernel::command::submit::Reasoning;
use ledger::Reader;
use model::body::KeyPurpose;
use model::fault::NoFaults;
use model::{Clock as _, Digest, Entropy as _, TaskId, UnixMs};
use projections::Query;
use seal::{PublicKey, Signer as _};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use testkit::World;

/// What opens the approval key of this world's person.
pub const PASSPHRASE: &str = "a yes of words";

/// A process with a world; whether it holds the kernel is `owns`.
pub struct Home {
    pub world: World,
    pub owns: bool,
    reading: artifacts::Store,
    listeners: Mutex<Vec<Sender<wire::Notice>>>,
    drawn: AtomicU32,
    sheets: api::Sheets,
    skills: kernel::SkillBook,
    /// How every task stands with this process; at rest until it is said.
    pub stands: Mutex<Option<api::Stands>>,
    reads: Mutex<Option<usize>>,
    /// The mesh, where this process runs one.
    pub mesh: Option<Box<dyn api::Mesh>>,
    /// Who makes clones, where this process can.
    pub trials: Option<Box<dyn api::Trials>>,
    /// Whoever runs the program that trains, where this process can.
    pub trainer: Option<Box<dyn api::Trainer>>,
}

struct Blobs(PathBuf);

impl InlineBlobs for Blobs {
    fn inline(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        Reader::open(&self.0).and_then(|r| r.blob(digest)).map_err(|e| e.to_string())
    }
}

impl Home {
    pub fn new(seed: u64) -> Self {
        Self::over(World::new(seed))
    }

    /// A store in which nobody has signed anything yet.
    pub fn unsigned(seed: u64) -> Self {
        let mut world = World::bare(seed);
        world.take_up().expect("the store opens");
        world.keys.lock(true);
        world.register_keys().expect("keys are registered");
        world.keys.lock(false);
        Self::over(world)
    }

    fn over(world: World) -> Self {
        let dir = world.store.path();
        let blobs = Arc::new(Blobs(dir.to_owned()));
        let reading = artifacts::Store::open_for_reading(dir, blobs, Arc::new(NoFaults));
        Self {
            world,
            owns: true,
            reading,
            listeners: Mutex::default(),
            drawn: AtomicU32::new(0),
            sheets: api::Sheets::default(),
            skills: kernel::SkillBook::default(),
            stands: Mutex::default(),
            reads: Mutex::default(),
            mesh: None,
            trials: None,
            trainer: None,
        }
    }

    /// The same store in a process that only reads: nobody holds it any more.
    pub fn into_reader(mut self) -> Self {
        self.world.crash();
        self.owns = false;
        self
    }

    #[allow(dead_code, reason = "for tests of those who listen")]
    pub fn tell(&self, notice: &wire::Notice) {
        let listeners = self.listeners.lock().expect("no poison");
        listeners.iter().for_each(|listener| drop(listener.send(notice.clone())));
    }

    pub fn ask(&self, name: &str, params: Value) -> Result<Value, wire::Error> {
        api::call(self, name, params)
    }

    pub fn must(&self, name: &str, params: Value) -> Value {
        self.ask(name, params.clone()).unwrap_or_else(|e| panic!("{name} {params}: {e:?}"))
    }

    /// A task that wrote `a.txt` after a person allowed it, and its receipt.
    pub fn with_an_act(&self, goal: &str) -> (TaskId, String) {
        let answers = vec![testkit::write("a.txt", "new\n"), testkit::done("wrote it")];
        let task = self.world.script(goal, answers);
        self.world.drive_allowing(task);
        let receipts = self.must("receipts.list", serde_json::json!({ "task": task.to_string() }));
        let rows = receipts["rows"].as_array().expect("rows");
        let receipt = rows.iter().find(|r| r["class"] == "tool_execution").expect("a receipt of the write");
        (task, receipt["receipt_id"].as_str().expect("an id").to_owned())
    }

    /// A task that waits for a person to allow the deletion of `held.txt`.
    pub fn with_a_question(&self, goal: &str) -> (TaskId, String) {
        self.world.file("held.txt", "before\n");
        let answers = vec![
            testkit::say("delete", serde_json::json!({ "path": "held.txt" })),
            testkit::done("deleted it"),
        ];
        let task = self.world.script(goal, answers);
        let approval = self.world.drive_to_approval(task);
        (task, approval.to_string())
    }
}

/// Clocks that nobody has set.
struct NoClocks;

impl api::AnchorClocks for NoClocks {
    fn settings(&self) -> Result<wire::anchors::ClockSettings, wire::Error> {
        Ok(wire::anchors::ClockSettings {
            authorities: Vec::new(),
            calendars: Vec::new(),
            bitcoin_node: None,
            has_bitcoin_cookie: false,
            has_bitcoin_secret: false,
            has_headers_file: false,
            depth: 6,
            every_hours: 0,
        })
    }

    fn set(&self, _: &wire::anchors::SetClocks) -> Result<wire::anchors::ClockSettings, wire::Error> {
        self.settings()
    }

    fn terms(&self, _: bool) -> Result<kernel::command::anchors::AnchorTerms, wire::Error> {
        Ok(kernel::command::anchors::AnchorTerms::default())
    }

    fn wallet(&self) -> wire::anchors::WalletState {
        wire::anchors::WalletState { address: None, balance: None, fee: None, says: None }
    }
}

impl Host for Home {
    fn mesh(&self) -> Option<&dyn api::Mesh> {
        self.mesh.as_deref()
    }

    fn trials(&self) -> Option<&dyn api::Trials> {
        self.trials.as_deref()
    }

    fn trainer(&self) -> Option<&dyn api::Trainer> {
        self.trainer.as_deref()
    }

    fn anchor_clocks(&self) -> Option<&dyn api::AnchorClocks> {
        Some(&NoClocks)
    }

    fn kernel(&self) -> Result<&Kernel, wire::Error> {
        if self.owns { Ok(self.world.kernel()) } else { Err(api::no_host()) }
    }

    fn reader(&self) -> Result<Reader, wire::Error> {
        Reader::open(self.world.store.path()).map_err(api::of_ledger)
    }

    fn query(&self) -> Result<Query, wire::Error> {
        Query::open(self.world.store.path()).map_err(api::of_projections)
    }

    fn artifacts(&self) -> Result<&artifacts::Store, wire::Error> {
        Ok(&self.reading)
    }

    fn signers(&self) -> Option<BundleSigners> {
        let keys = &self.world.keys;
        Some(BundleSigners { receipt: keys.receipt_signer(), manifest: keys.manifest_signer() })
    }

    fn open_keys(&self) -> Option<Vec<KeyPurpose>> {
        self.owns.then(|| vec![KeyPurpose::Log, KeyPurpose::Receipt, KeyPurpose::Manifest])
    }

    fn trusted_log_keys(&self) -> Vec<PublicKey> {
        vec![self.world.keys.log_signer().public()]
    }

    fn sign_yes(&self, packet: &[u8], person: &str, passphrase: &[u8]) -> Result<Vec<u8>, wire::Error> {
        if passphrase != PASSPHRASE.as_bytes() {
            return Err(wire::Error::new(wire::Code::KeyLocked, "wrong passphrase"));
        }
        let (person, now) = (person.parse().expect("a person"), self.world.clock.now());
        let surface = model::approval::Surface::Browser;
        let choice = model::approval::Choice::Once;
        let decision = governance::approval::answer(packet, choice, surface, person, now, None);
        Ok(governance::approval::sign(&decision.expect("a packet"), self.world.person.signer())
            .expect("signed"))
    }

    fn sign_standing(
        &self,
        draft: &model::standing::StandingGrant,
        passphrase: &[u8],
    ) -> Result<Vec<u8>, wire::Error> {
        if passphrase != PASSPHRASE.as_bytes() {
            return Err(wire::Error::new(wire::Code::KeyLocked, "wrong passphrase"));
        }
        let grant_id = model::GrantId::fresh(&*self.world.clock, &*self.world.entropy);
        let now = self.world.clock.now();
        let grant = model::standing::StandingGrant {
            grant_id,
            issued_at: now,
            expires_at: now.plus_ms(draft.expires_at.0 - draft.issued_at.0),
            surface: model::approval::Surface::Browser,
            ..draft.clone()
        };
        Ok(self.world.person.sign_standing(&grant))
    }

    fn sign_passkey(
        &self,
        draft: &model::passkey::PasskeyEnrolment,
        passphrase: &[u8],
    ) -> Result<Vec<u8>, wire::Error> {
        if passphrase != PASSPHRASE.as_bytes() {
            return Err(wire::Error::new(wire::Code::KeyLocked, "wrong passphrase"));
        }
        Ok(governance::approval::sign_passkey(draft, self.world.person.signer()).expect("signed"))
    }

    fn sign_decision(
        &self,
        matter: kernel::command::person::Matter,
        subject: Digest,
        passphrase: &[u8],
    ) -> Result<kernel::command::person::Signed, wire::Error> {
        if passphrase != PASSPHRASE.as_bytes() {
            return Err(wire::Error::new(wire::Code::KeyLocked, "wrong passphrase"));
        }
        let (log_id, now) = (self.reader()?.log_id().to_owned(), self.world.clock.now());
        let key = self.world.person.signer();
        kernel::command::person::Signed::of(&log_id, matter, subject, now, key).map_err(api::of_kernel)
    }

    fn pin(&self) -> Result<Option<Vec<u8>>, wire::Error> {
        Ok(None)
    }

    fn now(&self) -> UnixMs {
        self.world.clock.now()
    }

    fn fresh_key(&self) -> String {
        let salt = self.world.entropy.salt();
        format!("test:{}:{salt:?}", self.drawn.fetch_add(1, Ordering::SeqCst))
    }

    fn workspace(&self, path: &Path) -> Result<PathBuf, wire::Error> {
        path.canonicalize()
            .map_err(|e| wire::Error::new(wire::Code::NotFound, format!("`{}`: {e}", path.display())))
    }

    fn reasoning(&self, choice: &wire::task::Reasoner) -> Result<Reasoning, wire::Error> {
        match choice {
            wire::task::Reasoner::Playbook { name, text, parameters } => {
                let shipped = reasoning::Playbook::shipped().into_iter().find(|p| p.name() == name);
                let text = text.clone().or_else(|| shipped.map(|p| p.text().to_owned()));
                let text = text.ok_or_else(|| api::not_found("playbook", name))?;
                Ok(Reasoning::Playbook { name: name.clone(), text, parameters: parameters.clone() })
            }
            wire::task::Reasoner::Address { address } => Ok(Reasoning::Scripted { name: address.clone() }),
            wire::task::Reasoner::Standard => Err(api::usage("no model is set up")),
            wire::task::Reasoner::Guest { .. } => Err(api::usage("this host knows no agent")),
        }
    }

    fn models(&self, _ports: &[u16]) -> Result<wire::models::Found, wire::Error> {
        Err(wire::Error::new(wire::Code::Unavailable, "this host looks at no port"))
    }

    fn set_standard_model(&self, _address: Option<&str>) -> Result<(), wire::Error> {
        Err(wire::Error::new(wire::Code::Unavailable, "this host has no settings"))
    }

    fn embeddings(&self) -> Result<wire::models::Embeddings, wire::Error> {
        let memories = self.query()?.count_memories().map_err(api::of_projections)?;
        Ok(wire::models::Embeddings { model: None, memories, with_vectors: 0, trouble: None })
    }

    fn set_embeddings(&self, _address: Option<&str>) -> Result<wire::models::Embeddings, wire::Error> {
        Err(wire::Error::new(wire::Code::Unavailable, "this host has no settings"))
    }

    fn set_model(&self, _settings: &wire::models::Set) -> Result<wire::models::Asked, wire::Error> {
        Err(wire::Error::new(wire::Code::Unavailable, "this host has no settings"))
    }

    /// Every model of this host costs two dollars to read and eight to write.
    fn price_of(&self, _address: &str) -> Result<Option<(u64, u64)>, wire::Error> {
        Ok(Some((2_000_000, 8_000_000)))
    }

    fn day_of(&self, at: UnixMs) -> Result<kernel::ports::Day, wire::Error> {
        let day = kernel::ports::Days::day_of(&*self.world.days, at);
        day.map_err(|why| wire::Error::new(wire::Code::Usage, why))
    }

    fn set_ceiling(&self, cost_micros_max: Option<u64>) -> Result<(), wire::Error> {
        *self.world.days.max.lock().unwrap() = cost_micros_max;
        Ok(())
    }

    fn parallel_reads(&self) -> Result<Option<usize>, wire::Error> {
        Ok(*self.reads.lock().unwrap())
    }

    fn set_parallel_reads(&self, at_once: Option<usize>) -> Result<(), wire::Error> {
        *self.reads.lock().unwrap() = at_once;
        Ok(())
    }

    fn test_models(&self, _server: &wire::models::Test) -> Result<wire::models::Server, wire::Error> {
        Err(wire::Error::new(wire::Code::Unavailable, "this host asks no server"))
    }

    fn guests(&self) -> Vec<wire::guests::Agent> {
        Vec::new()
    }

    fn skill_book(&self) -> Option<&kernel::SkillBook> {
        Some(&self.skills)
    }

    fn playbooks(&self) -> Vec<wire::playbooks::Playbook> {
        Vec::new()
    }

    fn read_playbook(&self, _text: &str) -> Result<wire::playbooks::Playbook, wire::Error> {
        Err(wire::Error::new(wire::Code::Unavailable, "this host reads no playbook"))
    }

    fn drive(&self, task: TaskId) -> Result<(), wire::Error> {
        self.kernel()?.drive(task).map(drop).map_err(api::of_kernel)
    }

    fn drive_all(&self) -> Result<Vec<TaskId>, wire::Error> {
        let tasks = self.kernel()?.resumable().map_err(api::of_kernel)?;
        tasks.iter().try_for_each(|task| self.drive(*task))?;
        Ok(tasks)
    }

    fn stands(&self, task: TaskId, _: std::time::Duration) -> Result<api::Stands, wire::Error> {
        self.kernel()?.task(task).map_err(api::of_kernel)?;
        let stands = self.stands.lock().expect("no poison").clone();
        Ok(stands.unwrap_or(api::Stands::AtRest))
    }

    fn journal(&self, _: Option<TaskId>) -> Result<api::Journal, wire::Error> {
        Err(api::no_host())
    }

    fn rebuild(&self) -> Result<u64, wire::Error> {
        self.kernel()?.reader().log_head().map_err(api::of_ledger)
    }

    fn progress(&self, _: &'static str, _: u64, _: u64) -> Flow {
        Flow::Continue
    }

    fn facts(&self) -> wire::host::Facts {
        wire::host::Facts { facts: Vec::new(), service: None, telemetry: None, update: None }
    }

    fn sheets(&self) -> &api::Sheets {
        &self.sheets
    }

    fn listen(&self) -> Option<Receiver<wire::Notice>> {
        let (send, receive) = channel();
        self.listeners.lock().expect("no poison").push(send);
        self.owns.then_some(receive)
    }
}
