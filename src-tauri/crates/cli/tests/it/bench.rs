//! A store with keys, a folder to tidy, and ways to run the program.

use crate::client::Served;
use crate::without_terminal;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;
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

    /// Makes the keys with the passphrases of the two files.
    pub fn keys_with(&self, environment: &[(&str, &str)]) -> Ran {
        let [vault, approval] =
            ["vault", "approval"].map(|name| std::fs::read_to_string(self.path(name)).unwrap());
        let words =
            ["keys", "init", "--store", "file", "--passphrase-fd", "0", "--approval-passphrase-fd", "0"];
        self.told(&words, &[&vault, &approval], environment)
    }

    /// Rotates the approval key with passphrases out of files, broken off at a fault when one is named.
    pub fn rotate_approval(&self, old: &Path, new: &Path, fault: &str) -> Ran {
        let [old, new] = [old, new].map(|file| std::fs::read_to_string(file).unwrap());
        let words = ["--approval", "--yes", "--approval-passphrase-fd", "0", "--new-passphrase-fd", "0"];
        self.told_with_keys(&[&["keys", "rotate"][..], &words].concat(), &[&old, &new], fault)
    }

    /// Puts a new passphrase in the place of one, broken off at a fault when one is named.
    pub fn passphrase(&self, options: &[&str], old: &str, new: &str, fault: &str) -> Ran {
        let words = ["keys", "passphrase", "--passphrase-fd", "0", "--new-passphrase-fd", "0"];
        self.told_with_keys(&[&words[..], options].concat(), &[old, new], fault)
    }

    /// Accepts a store that is behind its pin.
    pub fn accept(&self, passphrase: &str) -> Ran {
        let words = ["checkpoint", "accept", "--yes", "--approval-passphrase-fd", "0"];
        self.told_with_keys(&words, &[passphrase], "")
    }

    /// Anchors a broken chain anew.
    pub fn reanchor(&self, passphrase: &str) -> Ran {
        let words = ["ledger", "reanchor", "--reason", "a disk that lies", "--yes", "--json"];
        self.told_with_keys(&[&words[..], &["--approval-passphrase-fd", "0"]].concat(), &[passphrase], "")
    }

    /// What SQLite answers over the store's file. What is no question is done as somebody would who owns the machine:
    /// triggers off, change, triggers on again.
    pub fn sqlite(&self, statement: &str) -> Value {
        let db = Connection::open(self.home().join("ledger.db")).unwrap();
        db.execute_batch("PRAGMA foreign_keys = off").unwrap();
        let mut found = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
        let triggers = found.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let triggers: Vec<(String, String)> = triggers.map(Result::unwrap).collect();
        drop(found);
        for (name, _) in &triggers {
            db.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        let mut asked = db.prepare(statement).unwrap();
        let columns = asked.column_count();
        let mut rows = asked.query([]).unwrap();
        let mut all = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            all.push(Value::from_iter((0..columns).map(|at| shown(row.get_ref(at).unwrap()))));
        }
        drop(rows);
        drop(asked);
        for (_, sql) in &triggers {
            db.execute_batch(sql).unwrap();
        }
        Value::from(all)
    }

    /// Erases, with the approval passphrase.
    pub fn erase(&self, what: &[&str], passphrase: &str) -> Ran {
        self.erase_with(what, passphrase, "")
    }

    pub fn erase_with(&self, what: &[&str], passphrase: &str, fault: &str) -> Ran {
        let words = [&["erase"][..], what, &["--yes", "--approval-passphrase-fd", "0"]].concat();
        self.told_with_keys(&words, &[passphrase], fault)
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
        let mut command = without_terminal(program());
        command.args(arguments).current_dir(self.dir.path()).stdin(Stdio::null());
        self.finish(command, environment)
    }

    /// Runs without a terminal, with these lines on standard input.
    pub fn told(&self, arguments: &[&str], lines: &[&str], environment: &[(&str, &str)]) -> Ran {
        let said = self.path("said");
        std::fs::write(&said, lines.join("\n")).unwrap();
        let mut command = without_terminal(program());
        command.args(arguments).current_dir(self.dir.path()).stdin(File::open(&said).unwrap());
        let ran = self.finish(command, environment);
        std::fs::remove_file(said).unwrap();
        ran
    }

    /// The same with open keys, broken off at a fault when one is named.
    pub fn told_with_keys(&self, arguments: &[&str], lines: &[&str], fault: &str) -> Ran {
        let vault = self.path("vault");
        let environment = [("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()), ("HERMIT_FAULT", fault)];
        self.told(arguments, lines, &environment)
    }

    /// Runs a command with nothing of the environment but the store and what is named.
    pub fn finish(&self, mut command: Command, environment: &[(&str, &str)]) -> Ran {
        alone(&mut command).env("HERMIT_HOME", self.home()).envs(environment.iter().copied());
        let output = output(&mut command, TO_THE_END).unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
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

    /// Every file below the folder with its text, by its name with `/` on every system.
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        gather(&self.folder(), &self.folder(), &mut found);
        found
    }

    pub fn status(&self, approval: &str) -> String {
        text(&self.run(&["approvals", "show", approval, "--json"]).ends_with(0).json()["row"]["status"])
    }

    /// Says yes as a person does in a browser, and waits until the task waits for something else or has ended.
    pub fn allow(&self, task: &str, approval: &str) {
        let served = Served::new(self);
        served.allows(approval);
        served.goes_on(task, approval);
        drop(served);
        // What the host had open when it ended is brought to its end.
        self.run(&["ledger", "checkpoint"]).ends_with(0);
    }

    /// A tidied folder; task and the receipt of its effect.
    pub fn tidied(&self) -> (String, String) {
        let (task, approval) = self.waiting();
        self.allow(&task, &approval);
        let shown = self.run(&["task", "show", &task, "--json"]).ends_with(0).json();
        assert_eq!(shown["row"]["status"], "completed", "{shown}");
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

/// A value of a row.
fn shown(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into(),
    }
}

/// What a program cannot do without on one system or another; nothing of a person's.
const OF_SYSTEM: [&str; 10] = [
    "PATH",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "TEMP",
    "TMP",
    // Where wine has its disk, and what it says.
    "WINEPREFIX",
    "WINEDEBUG",
];

/// The command with nothing of the environment of whoever runs the tests but what its system needs.
pub fn alone(command: &mut Command) -> &mut Command {
    let kept = OF_SYSTEM.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    command.env_clear().envs(kept)
}

/// A path as the program tells it: the real one, written as people write it.
pub fn real(path: &Path) -> String {
    let real = path.canonicalize().unwrap();
    let real = real.to_str().unwrap();
    real.strip_prefix(r"\\?\").unwrap_or(real).to_owned()
}

/// A copy of a file, or of a folder with all files in it, into a folder that is there, or as what is not there yet. It is its owner's
/// alone, as everything in a store is.
pub fn copy(from: &Path, to: &Path) {
    let to = if to.is_dir() { to.join(from.file_name().unwrap()) } else { to.to_owned() };
    if from.is_dir() {
        disk::owner_only::new_folder(&to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            copy(&entry.unwrap().path(), &to);
        }
    } else if from.is_file() {
        let mut copied = disk::owner_only::create(&to).unwrap();
        std::io::copy(&mut File::open(from).unwrap(), &mut copied).unwrap();
    }
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
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            found.insert(name.replace('\\', "/"), text);
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
