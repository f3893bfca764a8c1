//! A store, a folder, a kernel over both, and the means to kill it and open it again.

use crate::{FakeClock, Oracle, Person, RealExecutors, Reasoners, Script, SeededEntropy, TestKeys};
use effects::Sandbox;
use governance::PolicyEngine;
use kernel::command::submit::{Reasoning, Submission};
use kernel::ports::{Notice, Observer};
use kernel::{DriveOutcome, Kernel, Ports, Waiting};
use model::body::KeyPurpose;
use model::ingress::Channel;
use model::proposal::{Answer, ToolCall, Usage};
use model::{ApprovalId, TaskId};
use seal::Signer as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use tempfile::TempDir;

/// Keeps what it was told.
#[derive(Default)]
pub struct Listener(pub Mutex<Vec<Notice>>, Option<Heard>);

/// Hears every notice when it is given.
type Heard = Box<dyn Fn(&Notice) + Send + Sync>;

impl Listener {
    /// One that passes on what it is told at once.
    pub fn aloud(heard: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        Self(Mutex::default(), Some(Box::new(heard)))
    }
}

impl Observer for Listener {
    fn notice(&self, notice: Notice) {
        if let Some(heard) = &self.1 {
            heard(&notice);
        }
        self.0.lock().expect("no poison").push(notice);
    }
}

/// A small world under a test's control.
pub struct World {
    /// The store's folder.
    pub store: TempDir,
    /// The folder worked in.
    pub folder: TempDir,
    /// Tells the time.
    pub clock: Arc<FakeClock>,
    /// Days of 24 hours, and what models may cost in one.
    pub days: Arc<TestDays>,
    /// Draws chance; goes on across reopening.
    pub entropy: Arc<SeededEntropy>,
    /// Stops the world.
    pub faults: Arc<Script>,
    /// Keys.
    pub keys: Arc<TestKeys>,
    /// Reasoners.
    pub reasoners: Arc<Reasoners>,
    /// Makes vectors of texts.
    pub embedder: Arc<dyn kernel::ports::Embedder>,
    /// Somebody who listens.
    pub listener: Arc<Listener>,
    /// The person.
    pub person: Person,
    /// The walls commands get.
    pub sandbox: Sandbox,
    /// Knows secrets.
    pub redactor: redact::Shared,
    /// Values of secrets that acts may use.
    pub secrets: Arc<dyn effects::Secrets>,
    /// Speaks to servers of tools.
    pub servers: Arc<dyn effects::ToolServers>,
    /// Speaks to chat services.
    pub messenger: Arc<dyn effects::Messenger>,
    /// What a person has of Bitcoin.
    pub clocks: Arc<dyn effects::Clocks>,
    /// Speaks with relays.
    pub relays: Arc<dyn effects::Relays>,
    /// Counts what executors did.
    pub oracle: Arc<Oracle>,
    /// How many reads of one answer run at the same time.
    pub parallel_reads: usize,
    /// How the machine stands; nobody can tell until a test says it.
    pub surroundings: Arc<Mutex<kernel::ports::Surroundings>>,
    /// What adopted changes of Hermit reach outside the store.
    pub adopting: Arc<crate::TestAdopting>,
    kernel: Option<Kernel>,
}

/// Days that begin at midnight UTC.
#[derive(Debug, Default)]
pub struct TestDays {
    /// What models may cost in one, in millionths of a US dollar.
    pub max: std::sync::Mutex<Option<u64>>,
}

impl kernel::ports::Days for TestDays {
    fn day_of(&self, at: model::UnixMs) -> Result<kernel::ports::Day, String> {
        let begins = at.0.div_euclid(86_400_000) * 86_400_000;
        let ends = model::UnixMs(begins + 86_400_000);
        Ok(kernel::ports::Day {
            name: format!("day {}", begins / 86_400_000),
            begins: model::UnixMs(begins),
            ends,
            ends_in_words: format!("ms {}", ends.0),
            cost_micros_max: *self.max.lock().expect("nobody panicked with it"),
        })
    }
}

/// The shipped policy, loaded once.
fn policy() -> Arc<PolicyEngine> {
    static POLICY: OnceLock<Arc<PolicyEngine>> = OnceLock::new();
    Arc::clone(POLICY.get_or_init(|| Arc::new(PolicyEngine::shipped().expect("the shipped policies load"))))
}

impl World {
    /// A new store with keys registered, and an empty folder.
    pub fn new(seed: u64) -> Self {
        let mut world = Self::bare(seed);
        world.take_up().expect("the store opens");
        world.register_keys().expect("keys are registered");
        world
    }

    /// As [`World::new`], nothing opened yet and no keys.
    pub fn bare(seed: u64) -> Self {
        Self::inside(seed, TempDir::new().expect("a folder"), TempDir::new().expect("a folder"))
    }

    /// As [`World::bare`], in folders of the caller's choosing.
    pub fn inside(seed: u64, store: TempDir, folder: TempDir) -> Self {
        Self {
            store,
            folder,
            clock: Arc::new(FakeClock::new()),
            days: Arc::default(),
            entropy: Arc::new(SeededEntropy::new(seed)),
            faults: Arc::new(Script::default()),
            keys: Arc::new(TestKeys::new(0x40)),
            reasoners: Arc::new(Reasoners::default()),
            embedder: Arc::new(kernel::ports::NoEmbedder),
            listener: Arc::new(Listener::default()),
            person: Person::new(0x77),
            sandbox: Sandbox::none("a test without commands".to_owned()),
            redactor: redact::Shared::default(),
            secrets: Arc::new(effects::NoSecrets),
            servers: Arc::new(effects::NoToolServers),
            messenger: Arc::new(effects::NoMessenger),
            clocks: Arc::new(effects::NoClocks),
            relays: Arc::new(effects::NoRelays),
            oracle: Arc::new(Oracle::default()),
            parallel_reads: model::limits::PARALLEL_READS,
            surroundings: Arc::default(),
            adopting: Arc::default(),
            kernel: None,
        }
    }

    /// What the kernel of this world is given.
    pub fn ports(&self) -> Ports {
        Ports {
            executors: Arc::new(RealExecutors {
                spool: self.store.path().join("spool"),
                faults: Arc::clone(&self.faults) as _,
                clock: Arc::clone(&self.clock) as _,
                sandbox: self.sandbox.clone(),
                redactor: self.redactor.clone(),
                secrets: Arc::clone(&self.secrets),
                servers: Arc::clone(&self.servers),
                messenger: Arc::clone(&self.messenger),
                clocks: Arc::clone(&self.clocks),
                relays: Arc::clone(&self.relays),
                skills: effects::SkillBook::new(effects::SkillPlaces::default()),
                shelf: self.store.path().join("skill-files"),
                oracle: Arc::clone(&self.oracle),
                parallel_reads: self.parallel_reads,
                surroundings: Arc::clone(&self.surroundings),
                adopting: Arc::clone(&self.adopting),
            }),
            reasoners: Arc::clone(&self.reasoners) as _,
            embedder: Arc::clone(&self.embedder),
            keys: Arc::clone(&self.keys) as _,
            observer: Arc::clone(&self.listener) as _,
            clock: Arc::clone(&self.clock) as _,
            days: Arc::clone(&self.days) as _,
            entropy: Arc::clone(&self.entropy) as _,
            faults: Arc::clone(&self.faults) as _,
            policy: policy(),
            redactor: self.redactor.clone(),
            projector: Arc::new(|| Box::new(projections::Fold::new())),
        }
    }

    /// A kernel over the store, which the caller keeps.
    pub fn open(&self) -> Kernel {
        self.try_open().expect("the store opens")
    }

    /// As [`World::open`], with its error.
    pub fn try_open(&self) -> Result<Kernel, kernel::Error> {
        Kernel::open(self.store.path(), self.ports())
    }

    /// Opens the store again, unless it is open.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn take_up(&mut self) -> Result<(), kernel::Error> {
        if self.kernel.is_none() {
            self.kernel = Some(self.try_open()?);
        }
        Ok(())
    }

    /// Whether a kernel is open.
    pub const fn is_open(&self) -> bool {
        self.kernel.is_some()
    }

    /// Makes this world's keys known to its store; those known already are left alone.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn register_keys(&self) -> Result<(), kernel::Error> {
        let keys = [
            (KeyPurpose::Log, self.keys.log_signer().public()),
            (KeyPurpose::Receipt, self.keys.receipt_signer().public()),
            (KeyPurpose::Manifest, self.keys.manifest_signer().public()),
            (KeyPurpose::Approval, self.person.public()),
        ];
        self.kernel().register_keys(&keys, "test")
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        self.kernel.as_ref().expect("the kernel is open")
    }

    /// Drops the kernel as a dying process would, without a word to the store.
    pub fn crash(&mut self) {
        drop(self.kernel.take());
    }

    /// Drops the kernel and opens the store again, as the next host would.
    pub fn reopen(&mut self) {
        self.crash();
        self.kernel = Some(self.open());
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder.
    pub fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Every file below the folder with its bytes.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        gather(self.folder.path(), self.folder.path(), &mut found);
        found
    }

    /// A submission in this world's folder.
    pub fn submission(&self, goal: &str, reasoning: Reasoning) -> Submission {
        let root = self.folder.path().canonicalize().expect("the folder exists");
        let (workspace, key) =
            (self.kernel().workspace(&root).expect("the folder is known"), format!("test:{goal}"));
        Submission::of(goal.to_owned(), workspace, reasoning, Channel::Cli, key)
    }

    /// Submits a shipped playbook.
    pub fn playbook(&self, name: &str) -> TaskId {
        let playbook =
            reasoning::Playbook::shipped().into_iter().find(|p| p.name() == name).expect("shipped");
        let reasoning = Reasoning::Playbook {
            name: name.to_owned(),
            text: playbook.text().to_owned(),
            parameters: BTreeMap::new(),
        };
        let submission = self.submission(playbook.title(), reasoning);
        self.kernel().submit(&submission).expect("submitted").task_id
    }

    /// Submits a goal whose reasoner gives these answers.
    pub fn script(&self, goal: &str, answers: Vec<Answer>) -> TaskId {
        self.reasoners.script(goal, answers);
        let submission = self.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
        self.kernel().submit(&submission).expect("submitted").task_id
    }

    /// Drives a task.
    pub fn drive(&self, task_id: TaskId) -> DriveOutcome {
        self.kernel().drive(task_id).expect("driven")
    }

    /// Drives a task to its approval.
    pub fn drive_to_approval(&self, task_id: TaskId) -> ApprovalId {
        match self.drive(task_id) {
            DriveOutcome::Waiting(Waiting::Approval(id)) => id,
            other => panic!("expected a question, got {other:?}"),
        }
    }

    /// Drives a task to its end, allowing whatever is asked; returns how often it was asked.
    pub fn drive_allowing(&self, task_id: TaskId) -> (DriveOutcome, u32) {
        let mut asked = 0;
        loop {
            match self.drive(task_id) {
                DriveOutcome::Waiting(Waiting::Approval(id)) => {
                    asked += 1;
                    assert!(
                        asked < 20,
                        "asked again and again: {:?}",
                        self.kernel().task(task_id).map(|s| s.decisions.len())
                    );
                    self.person.allow(self.kernel(), task_id, id).expect("allowed");
                }
                other => return (other, asked),
            }
        }
    }
}

fn gather(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            gather(root, &path, found);
        } else {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            found.insert(name, std::fs::read(&path).unwrap_or_default());
        }
    }
}

/// Bytes as protocols write them into JSON.
pub fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// An answer with one call.
pub fn say(tool: &str, arguments: Value) -> Answer {
    Answer {
        calls: vec![ToolCall { name: tool.to_owned(), arguments }],
        usage: Usage { tokens_in: 10, tokens_out: 5, ..Usage::default() },
        finish_reason: "tool_calls".to_owned(),
        ..Answer::default()
    }
}

/// A look at a file.
pub fn look(path: &str) -> Answer {
    say("read", json!({ "path": path }))
}

/// A write.
pub fn write(path: &str, content: &str) -> Answer {
    say("write", json!({ "path": path, "content": content }))
}

/// A change set.
pub fn change(items: Value) -> Answer {
    say("change", json!({ "items": items }))
}

/// A command.
pub fn command(argv: &[&str]) -> Answer {
    say("command", json!({ "argv": argv }))
}

/// A request to a server.
pub fn fetch(method: &str, url: &str, body: Option<&str>) -> Answer {
    let mut arguments = json!({ "method": method, "url": url });
    if let (Some(body), Some(members)) = (body, arguments.as_object_mut()) {
        members.insert("body".to_owned(), json!(body));
    }
    say("fetch", arguments)
}

/// The end.
pub fn done(summary: &str) -> Answer {
    say("done", json!({ "summary": summary }))
}
