//! A store with keys, a folder to work in, and a person at a terminal.

use super::foreign;
use super::programs::{hermit, root, verifier};
use serde_json::{Value, json};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::pty::Pty;
use testkit::{TO_THE_END, finished, output};

/// What opens the vault.
pub const VAULT: &str = "a vault of words";
/// What opens the approval key.
pub const APPROVAL: &str = "a yes of words";

/// What became of a program.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; -1 when it was killed.
    pub code: i32,
    /// What it printed.
    pub out: String,
    /// What it complained of.
    pub err: String,
}

impl Ran {
    /// What was printed as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("no JSON: {e}\n{}\n{}", self.out, self.err))
    }

    /// The error as JSON: its message and its hint, neither of them empty.
    pub fn complaint(&self) -> (String, String, String) {
        let line = self
            .err
            .lines()
            .rfind(|l| l.contains("\"message\""))
            .unwrap_or_else(|| panic!("no error: {self:?}"));
        let error: Value = serde_json::from_str(line).expect("an error as JSON");
        let word = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        (word("code"), word("message"), word("hint"))
    }

    /// Checks the exit code and tells everything when it is another.
    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Checks that it failed with these words in its code, its message or in what it says is to be done.
    #[track_caller]
    pub fn complains(self, words: &[&str]) -> Self {
        let (code, message, hint) = self.complaint();
        let said = format!("{code}: {message} {hint}");
        for word in words {
            assert!(said.contains(word), "`{word}` is not in `{said}`");
        }
        self
    }
}

/// A store, a folder, a person.
pub struct Stage {
    dir: TempDir,
    /// Held behind the folder, where it is the fixed one.
    _alone: Option<std::fs::File>,
    /// What its programs find in their environment beside the usual.
    told: Vec<(&'static str, String)>,
}

impl Stage {
    /// With keys.
    pub fn new() -> Self {
        Self::bare().with_keys()
    }

    /// Makes keys.
    pub fn with_keys(self) -> Self {
        let stage = self;
        testkit::cheap_keys(&stage.home(), VAULT.as_bytes(), APPROVAL.as_bytes());
        let made = Command::new("sh")
            .arg("-c")
            .arg(r#"exec "$0" keys init --store file --passphrase-fd 3 --approval-passphrase-fd 4 3<"$1" 4<"$2""#)
            .arg(hermit())
            .arg(stage.at("vault.txt"))
            .arg(stage.at("approval.txt"))
            .env("HERMIT_HOME", stage.home())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let made = finished(made.expect("a shell"), TO_THE_END);
        assert!(made.status.success(), "no keys: {}", String::from_utf8_lossy(&made.stderr));
        stage
    }

    /// An empty folder in the one place that a store of an earlier version names. Whoever has it has it alone.
    pub fn fixed() -> Self {
        let lock = std::fs::File::create("/tmp/hermit-of-6cc1eb4.lock").expect("a lock");
        lock.lock().expect("alone");
        // One that was killed has left it behind.
        let _ = std::fs::remove_dir_all("/tmp/hermit-of-6cc1eb4");
        let place = tempfile::Builder::new().prefix("hermit-of-6cc1eb4").rand_bytes(0).tempdir_in("/tmp");
        Self { dir: place.expect("a folder"), _alone: Some(lock), told: Vec::new() }
    }

    /// Without a store.
    pub fn bare() -> Self {
        let stage = Self { dir: TempDir::new().expect("a folder"), _alone: None, told: Vec::new() };
        stage.furnish();
        stage
    }

    /// Tells its programs something by their environment, from now on.
    pub fn tells(&mut self, name: &'static str, value: String) {
        self.told.push((name, value));
    }

    /// Lays out the passphrases and an empty folder to work in.
    pub fn furnish(&self) {
        std::fs::write(self.at("vault.txt"), VAULT).expect("a file");
        std::fs::write(self.at("approval.txt"), APPROVAL).expect("a file");
        std::fs::create_dir(self.work()).expect("a folder");
    }

    /// A place beside store and folder.
    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The store.
    pub fn home(&self) -> PathBuf {
        self.at("store")
    }

    /// The folder worked in.
    pub fn work(&self) -> PathBuf {
        self.at("work")
    }

    /// `hermit` with the store's place and an open vault, no terminal, and no power to read what is closed.
    pub fn command(&self, words: &[&str]) -> Command {
        let (program, before) = powerless();
        let mut command = Command::new(program);
        command
            .args(before)
            .args(words)
            .env("HERMIT_HOME", self.home())
            .env("XDG_STATE_HOME", self.at("state"))
            .env("HERMIT_PASSPHRASE_FILE", self.at("vault.txt"));
        command
            .env_remove("HERMIT_RECORD")
            .env_remove("HERMIT_FAULT")
            .env_remove("http_proxy")
            .env_remove("https_proxy")
            .envs(self.told.iter().map(|(name, value)| (name, value)));
        // A group of its own has no terminal to be stopped by.
        command.process_group(0).stdin(Stdio::null());
        command
    }

    /// Runs a command to its end, in time.
    #[track_caller]
    pub fn ran(command: &mut Command) -> Ran {
        Self::ran_within(command, TO_THE_END)
    }

    /// The same, for a program that waits for a model.
    #[track_caller]
    pub fn ran_within(command: &mut Command, limit: Duration) -> Ran {
        let output = output(command, limit).expect("it starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// `hermit --json` to its end.
    pub fn hermit(&self, words: &[&str]) -> Ran {
        let all: Vec<&str> = std::iter::once("--json").chain(words.iter().copied()).collect();
        Self::ran(&mut self.command(&all))
    }

    /// Runs a playbook in the folder as far as it goes without a person: to its question.
    pub fn asks(&self, playbook: &str) -> (String, String) {
        let work = self.work();
        let ran = self
            .hermit(&["run", "--playbook", playbook, "--workspace", work.to_str().expect("UTF-8")])
            .ends(4);
        let task = ran.json()["row"]["task_id"].as_str().expect("a task").to_owned();
        let waits = ran.json()["waits_for"].clone();
        assert_eq!(waits["kind"], "approval", "{waits}");
        (task, waits["id"].as_str().expect("an approval").to_owned())
    }

    /// Waits until a person is asked; the approval that they are asked for.
    pub fn is_asked(&self) -> String {
        let mut asked = None;
        until("somebody is asked", || {
            asked = self.waiting().first().map(|row| row["approval_id"].as_str().expect("an id").to_owned());
            asked.is_some()
        });
        asked.expect("it was there")
    }

    /// Approvals that wait.
    pub fn waiting(&self) -> Vec<Value> {
        self.hermit(&["approvals", "list"]).ends(0).json()["rows"].as_array().expect("rows").clone()
    }

    /// `hermit` on a terminal, with an open vault.
    pub fn terminal(&self, words: &[&str], more: &[(&str, &str)]) -> Pty {
        let (home, state, vault) = (self.home(), self.at("state"), self.at("vault.txt"));
        let mut environment = vec![
            ("HERMIT_HOME", home.to_str().expect("UTF-8")),
            ("XDG_STATE_HOME", state.to_str().expect("UTF-8")),
            ("HERMIT_PASSPHRASE_FILE", vault.to_str().expect("UTF-8")),
        ];
        environment.extend(self.told.iter().map(|(name, value)| (*name, value.as_str())));
        environment.extend_from_slice(more);
        let (program, mut all) = powerless();
        all.extend_from_slice(words);
        Pty::spawn(program, &all, &environment)
    }

    /// Begins to allow at a terminal: the card is read and answered, the passphrase is typed, and what follows is
    /// the caller's to watch.
    pub fn allow(&self, approval: &str, more: &[(&str, &str)]) -> Pty {
        let shown = self.hermit(&["approvals", "show", approval]).ends(0).json();
        let risk = shown["row"]["risk"].as_str().expect("a risk").to_owned();
        let mut pty = self.terminal(&["approvals", "approve", approval], more);
        say_yes(&mut pty, &risk);
        pty
    }

    /// Allows at a terminal and stays to the end; the exit code and everything that was shown.
    pub fn approve(&self, approval: &str) -> (i32, String) {
        self.allow(approval, &[]).end()
    }

    /// The only receipt of an effect of a task.
    pub fn receipt(&self, task: &str) -> Value {
        let rows = self.hermit(&["receipts", "list", "--task", task]).ends(0).json();
        let effects: Vec<Value> = rows["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .filter(|r| r["class"] != "approval_resolution")
            .cloned()
            .collect();
        assert_eq!(effects.len(), 1, "one effect, one receipt: {rows}");
        effects[0].clone()
    }

    /// The events of a task, in order.
    pub fn events(&self, task: &str) -> Vec<Value> {
        let ran = self.hermit(&["task", "events", task]).ends(0);
        ran.json().as_array().expect("a list").clone()
    }

    /// How often an event of this type stands in a task.
    pub fn count(&self, task: &str, event_type: &str) -> usize {
        let events = self.events(task);
        assert!(!events.is_empty(), "no events of {task}");
        events.iter().filter(|e| e["event_type"] == event_type).count()
    }

    /// The key id for a purpose.
    pub fn key(&self, purpose: &str) -> String {
        let keys = self.hermit(&["keys", "list"]).ends(0).json();
        let all = keys["keys"].as_array().expect("keys");
        let found = all.iter().find(|k| k["purpose"] == purpose).expect("a key");
        found["keyid"].as_str().expect("an id").to_owned()
    }

    /// The ledger holds, and every list folds to what it is.
    pub fn is_sound(&self) {
        // Without a signed head nobody could tell whether the end was cut off.
        self.hermit(&["ledger", "checkpoint"]).ends(0);
        let verified = self.hermit(&["ledger", "verify"]).ends(0).json();
        assert_eq!(verified["verdict"], "valid", "{verified}");
    }

    /// Exports the proof of a task and has everybody check it who can: us, `sha256sum`, `openssl`, `ssh-keygen`.
    pub fn prove(&self, task: &str) -> PathBuf {
        let (zip, folder) = (self.at(&format!("{task}.zip")), self.at(&format!("{task}.proof")));
        for path in [&zip, &folder] {
            self.hermit(&["proof", "export", task, "-o", path.to_str().expect("UTF-8")]).ends(0);
        }
        let key = self.key("manifest");
        for path in [&zip, &folder] {
            verified(path, &["--trust", &key]).ends(0);
            verified(path, &["--trust", &self.key("log")]).ends(0);
            verified(path, &[]).ends(6);
        }
        let stranger = "0".repeat(64);
        verified(&zip, &["--trust", &stranger]).ends(6);
        agreed(&zip, &self.key("log"));
        stock(&folder);
        zip
    }

    /// [`Self::prove`], and each receipt of it alone; what nobody here wrote reads both.
    pub fn prove_receipts(&self, task: &str) {
        self.prove(task);
        let mut folders = vec![self.at(&format!("{task}.proof"))];
        let listed = self.hermit(&["receipts", "list", "--task", task]).ends(0).json();
        for row in listed["rows"].as_array().expect("rows") {
            let receipt = row["receipt_id"].as_str().expect("an identifier");
            let (zip, folder) = (self.at(&format!("{receipt}.zip")), self.at(&format!("{receipt}.proof")));
            for path in [&zip, &folder] {
                self.hermit(&["proof", "export", receipt, "-o", path.to_str().expect("UTF-8")]).ends(0);
            }
            let said = agreed(&zip, &self.key("log"));
            assert_eq!((&said["verdict"], &said["unvouched"]), (&json!("valid"), &json!([])), "{said}");
            folders.push(folder);
        }
        let Some(python) = foreign::python(foreign::STATEMENTS) else { return };
        let check = root().join("src-tauri/crates/proof/tests/data/bundle_check/check.py");
        let ran = Self::ran(Command::new(python).arg(check).args(&folders).stdin(Stdio::null()));
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    }
}

/// What `hermit` is started with: as root through `setpriv`, which takes away the power to read closed files and no other: bubblewrap needs the rest.
fn powerless() -> (&'static Path, Vec<&'static str>) {
    if !super::tree::is_root() {
        return (hermit(), Vec::new());
    }
    let program = hermit().to_str().expect("UTF-8");
    (
        Path::new("setpriv"),
        vec![
            "--bounding-set=-dac_override,-dac_read_search",
            "--inh-caps=-dac_override,-dac_read_search",
            program,
        ],
    )
}

/// Waits until something holds.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let by = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < by, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Reads the card as a person does, and says yes.
pub fn say_yes(pty: &mut Pty, risk: &str) {
    pty.expect("Approve?").send("y\r");
    if matches!(risk, "high" | "critical") {
        pty.expect(&format!("Type `{risk}`")).send(&format!("{risk}\r"));
    }
    pty.expect("Approval passphrase").send(&format!("{APPROVAL}\r"));
}

/// What `hermit-verify` says of a proof.
pub fn verified(proof: &Path, words: &[&str]) -> Ran {
    Stage::ran(Command::new(verifier()).arg(proof).args(words).stdin(Stdio::null()))
}

/// What both verifiers say of a proof to whoever trusts this key: the same, word for word. The second one is asked where
/// it was built.
pub fn agreed(proof: &Path, key: &str) -> Value {
    let said = verified(proof, &["--trust", key, "--json"]).json();
    let built = root().join("ui/verifier/dist/verify.mjs");
    let twin = std::env::var_os("HERMIT_VERIFY_MJS").map_or(built, PathBuf::from);
    if twin.is_file() {
        let mut node = Command::new("node");
        node.arg(twin).arg(proof).args(["--trust", key, "--json"]).stdin(Stdio::null());
        let ran = Stage::ran(&mut node);
        assert_eq!(ran.json(), said);
    } else {
        conforms::lacks("the verifier in TypeScript, which `npm run verifier:build` makes,");
    }
    said
}

/// What the bundle's own README tells people to run, run.
fn stock(folder: &Path) {
    let readme = std::fs::read_to_string(folder.join("README.txt")).expect("a README");
    for program in ["sha256sum -c", "openssl pkeyutl", "ssh-keygen -Y verify"] {
        let line = readme.lines().find(|l| l.trim_start().starts_with(program)).expect("the README says it");
        let ran = Stage::ran(Command::new("sh").arg("-c").arg(line).current_dir(folder).stdin(Stdio::null()));
        assert_eq!(ran.code, 0, "`{line}`: {} {}", ran.out, ran.err);
    }
}
