//! A store with keys, a folder to tidy, and ways to run the program.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use testkit::pty::Pty;
use testkit::{TO_THE_END, output};

pub const VAULT: &str = "vault passphrase";
pub const APPROVAL: &str = "approval passphrase";

/// What a run came to.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The document on standard output.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e} in:\n{}\n{}", self.out, self.err))
    }

    /// Fails with everything that was said unless the exit code is this.
    pub fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "out:\n{}\nerr:\n{}", self.out, self.err);
        self
    }
}

/// A place of its own.
pub struct Bench {
    dir: TempDir,
}

pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_hermit"))
}

impl Bench {
    /// Three files to tidy; no store yet.
    pub fn bare() -> Self {
        let bench = Self { dir: TempDir::new().unwrap() };
        std::fs::create_dir(bench.folder()).unwrap();
        for (name, text) in [("a.txt", "alpha"), ("b.jpg", "beta"), ("c.zip", "gamma")] {
            std::fs::write(bench.folder().join(name), text).unwrap();
        }
        std::fs::write(bench.path("vault"), VAULT).unwrap();
        std::fs::write(bench.path("approval"), APPROVAL).unwrap();
        bench
    }

    /// With a store and its keys.
    pub fn new() -> Self {
        let bench = Self::bare();
        testkit::cheap_keys(&bench.home(), VAULT.as_bytes(), APPROVAL.as_bytes());
        bench.keys().ends_with(0);
        bench
    }

    pub fn keys(&self) -> Ran {
        self.keys_with(&[])
    }

    /// Makes the keys with passphrases out of files.
    pub fn keys_with(&self, environment: &[(&str, &str)]) -> Ran {
        let script = "exec \"$0\" keys init --store file --passphrase-fd 3 --approval-passphrase-fd 4 3<vault 4<approval";
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(program());
        command.current_dir(self.dir.path());
        self.finish(command, environment)
    }

    /// Runs a command of the test's own in this place.
    pub fn finish_in(&self, mut command: Command) -> Ran {
        command.current_dir(self.dir.path());
        self.finish(command, &[])
    }

    /// Rotates the approval key with passphrases out of files, broken off at a fault when one is named.
    pub fn rotate_approval(&self, old: &Path, new: &Path, fault: &str) -> Ran {
        let script = "exec \"$0\" keys rotate --approval --yes --approval-passphrase-fd 3 --new-passphrase-fd 4 3<\"$1\" 4<\"$2\"";
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(program()).arg(old).arg(new).current_dir(self.dir.path());
        let vault = self.path("vault");
        self.finish(command, &[("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()), ("HERMIT_FAULT", fault)])
    }

    /// Puts a new passphrase in the place of one, both out of files, broken off at a fault when one is named.
    pub fn passphrase(&self, options: &[&str], old: &str, new: &str, fault: &str) -> Ran {
        std::fs::write(self.path("said"), old).unwrap();
        std::fs::write(self.path("next"), new).unwrap();
        let script =
            "exec \"$0\" keys passphrase --passphrase-fd 3 --new-passphrase-fd 4 \"$@\" 3<said 4<next";
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(program()).args(options).current_dir(self.dir.path());
        let vault = self.path("vault");
        self.finish(command, &[("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()), ("HERMIT_FAULT", fault)])
    }

    /// Accepts a store that is behind its pin, with the approval passphrase out of a file.
    pub fn accept(&self, passphrase: &str) -> Ran {
        std::fs::write(self.path("said"), passphrase).unwrap();
        let script = "exec \"$0\" checkpoint accept --yes --approval-passphrase-fd 3 3<said";
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(program()).current_dir(self.dir.path());
        let vault = self.path("vault");
        self.finish(command, &[("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())])
    }

    /// Anchors a broken chain anew, with the approval passphrase out of a file.
    pub fn reanchor(&self, passphrase: &str) -> Ran {
        std::fs::write(self.path("said"), passphrase).unwrap();
        let script = "exec \"$0\" ledger reanchor --reason 'a disk that lies' --yes --approval-passphrase-fd 3 --json 3<said";
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(program()).current_dir(self.dir.path());
        let vault = self.path("vault");
        self.finish(command, &[("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())])
    }

    /// What SQLite answers over the store's file. What is no question is done as somebody would who owns the machine:
    /// triggers off, change, triggers on again.
    pub fn sqlite(&self, statement: &str) -> Value {
        let program = "import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute('PRAGMA foreign_keys = off')
triggers = db.execute(\"SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'\").fetchall()
for name, _ in triggers: db.execute('DROP TRIGGER ' + name)
rows = db.execute(sys.argv[2]).fetchall()
for _, sql in triggers: db.execute(sql)
text = lambda v: v.decode('utf-8', 'replace') if isinstance(v, bytes) else v
print(json.dumps([[text(v) for v in row] for row in rows]))";
        let mut command = Command::new("python3");
        command.args(["-c", program]).arg(self.home().join("ledger.db")).arg(statement);
        self.finish(command, &[]).ends_with(0).json()
    }

    /// Erases, with the approval passphrase out of a file.
    pub fn erase(&self, what: &[&str], passphrase: &str) -> Ran {
        self.erase_with(what, passphrase, "")
    }

    pub fn erase_with(&self, what: &[&str], passphrase: &str, fault: &str) -> Ran {
        std::fs::write(self.path("said"), passphrase).unwrap();
        let script = "said=$1; shift; exec \"$0\" erase \"$@\" --yes --approval-passphrase-fd 3 3<\"$said\"";
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(script)
            .arg(program())
            .arg(self.path("said"))
            .args(what)
            .current_dir(self.dir.path());
        let vault = self.path("vault");
        self.finish(command, &[("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()), ("HERMIT_FAULT", fault)])
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn folder(&self) -> PathBuf {
        self.path("folder")
    }

    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Runs without a terminal, with open keys.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let vault = self.path("vault");
        self.run_with(arguments, &[("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())])
    }

    /// Runs without a terminal.
    pub fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.dir.path());
        self.finish(command, environment)
    }

    fn finish(&self, mut command: Command, environment: &[(&str, &str)]) -> Ran {
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HERMIT_HOME", self.home());
        command.envs(environment.iter().copied()).stdin(Stdio::null());
        let output = output(&mut command, TO_THE_END).unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs on a terminal, with open keys.
    pub fn terminal(&self, arguments: &[&str]) -> Pty {
        let (home, vault) = (self.home(), self.path("vault"));
        let environment =
            [("HERMIT_HOME", home.to_str().unwrap()), ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())];
        Pty::spawn(program(), arguments, &environment)
    }

    /// Runs on a terminal that says how many columns and rows it has, with open keys.
    pub fn screen(&self, arguments: &[&str], size: (u16, u16)) -> Pty {
        let (home, vault) = (self.home(), self.path("vault"));
        let environment =
            [("HERMIT_HOME", home.to_str().unwrap()), ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())];
        Pty::sized(program(), arguments, &environment, size)
    }

    /// A task that waits for a yes to tidy the folder; task and approval.
    pub fn waiting(&self) -> (String, String) {
        let folder = self.folder();
        let ran = self
            .run(&["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap(), "--json"])
            .ends_with(4);
        let task = ran.json();
        assert_eq!(task["waits_for"]["kind"], "approval", "{task}");
        (text(&task["row"]["task_id"]), text(&task["waits_for"]["id"]))
    }

    /// Every file below the folder with its text.
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        gather(&self.folder(), &self.folder(), &mut found);
        found
    }

    pub fn status(&self, approval: &str) -> String {
        text(&self.run(&["approvals", "show", approval, "--json"]).ends_with(0).json()["row"]["status"])
    }

    /// A tidied folder; task and the receipt of its effect.
    pub fn tidied(&self) -> (String, String) {
        let (task, approval) = self.waiting();
        let mut terminal = self.terminal(&["approvals", "approve", &approval]);
        allow(&mut terminal);
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{shown}");
        (task.clone(), self.receipt(&task))
    }

    /// The newest receipt of an effect that changed something.
    pub fn receipt(&self, task: &str) -> String {
        let receipts = self.run(&["receipts", "list", "--task", task, "--json"]).ends_with(0).json();
        let rows = receipts["rows"].as_array().unwrap();
        let found =
            rows.iter().find(|r| r["action_class"] == "local_delete" || r["action_class"] == "delete_local");
        text(&found.unwrap_or_else(|| panic!("no receipt of a change in {receipts}"))["receipt_id"])
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// Says yes as a person does: reads, types the word, the second word, the passphrase.
pub fn allow(terminal: &mut Pty) {
    terminal.expect("Approve?").send("y\r");
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
}

pub fn before() -> BTreeMap<String, String> {
    let all = [("a.txt", "alpha"), ("b.jpg", "beta"), ("c.zip", "gamma")];
    all.map(|(name, text)| (name.to_owned(), text.to_owned())).into()
}

/// A file or folder that goes while it is looked at, as under a host that moves it, counts as gone.
fn gather(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    let Some(entries) = unless_gone(std::fs::read_dir(folder)) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(root, &path, found);
        } else if let Some(text) = unless_gone(std::fs::read_to_string(&path)) {
            found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), text);
        }
    }
}

fn unless_gone<T>(read: std::io::Result<T>) -> Option<T> {
    match read {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        other => Some(other.unwrap()),
    }
}

/// Every file below a folder that holds the bytes.
pub fn holding(folder: &Path, word: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in unless_gone(std::fs::read_dir(folder)).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, word));
        } else if unless_gone(std::fs::read(&path))
            .is_some_and(|bytes| bytes.windows(word.len()).any(|w| w == word))
        {
            found.push(path);
        }
    }
    found
}
