//! Processes that read what is not theirs, at the built `hermit serve`.

use crate::bench::{APPROVAL, Bench, VAULT, program};
use crate::client::{PATIENCE, Served};
use serde_json::{Value, json};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Whoever has no rights of his own.
const NOBODY: &str = "65534";

impl Served {
    /// The session of a page whose link a person reads at a terminal.
    pub fn session_at_terminal(&self, bench: &Bench) -> String {
        let (code, shown) = bench.terminal(&["open"]).end();
        assert_eq!(code, 0, "{shown}");
        let link = shown.split_once("/#token=").and_then(|(_, rest)| rest.split_whitespace().next());
        self.session_of(link.expect("a link"))
    }

    /// Tells it to end, and waits until it has.
    pub fn end(mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        testkit::ends(&mut self.process);
    }
}

/// Whether the bytes stand in what a process has in memory.
fn remembers(pid: u32, needle: &[u8]) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).unwrap();
    let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
    maps.lines().filter(|line| line.contains(" rw")).any(|line| {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let mut bytes = vec![0; usize::try_from(number(to) - number(from)).unwrap()];
        // What cannot be read is no memory of the program's own.
        memory.read_exact_at(&mut bytes, number(from)).is_ok()
            && bytes.windows(needle.len()).any(|window| window == needle)
    })
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A program as whoever has no rights, where this test has them all.
fn as_nobody(words: &[&str]) -> Command {
    if !is_root() {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        return command;
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]).args(words);
    command
}

fn may_read_memory(pid: u32) -> bool {
    let script = format!("exec 3</proc/{pid}/mem");
    as_nobody(&["sh", "-c", &script]).stderr(Stdio::null()).status().unwrap().success()
}

#[test]
fn a_host_with_keys_is_closed_to_other_programs_of_its_person_and_forgets_the_passphrase() {
    let bench = Bench::new();
    let (_, approval) = bench.waiting();
    if is_root() {
        let all = bench.path("");
        assert!(
            Command::new("chown")
                .arg("-R")
                .arg(format!("{NOBODY}:{NOBODY}"))
                .arg(&all)
                .status()
                .unwrap()
                .success()
        );
    }
    let served = Served::begin(&bench, as_nobody(&[program().to_str().unwrap()]));
    let pid = served.process.id();
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().collect::<Vec<_>>()[4..6], ["0", "0"], "{core}");
    assert!(!may_read_memory(pid), "another program of the same person reads it");
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    if matches!(scope.trim(), "" | "0") {
        let mut other = as_nobody(&["sleep", "60"]).spawn().unwrap();
        let until = Instant::now() + PATIENCE;
        while !may_read_memory(other.id()) {
            assert!(Instant::now() < until, "the memory of a program that is not closed is open");
        }
        other.kill().unwrap();
        other.wait().unwrap();
    }

    // A yes in a browser, with the passphrase as a page sends it and as plain text.
    let session = served.page_session();
    let page = |path: &str, body: &Value| served.by_page(&session, path, body);
    let card = page("/api/session/card", &json!({ "approval": approval })).1;
    let yes = |passphrase: Value| json!({ "ticket": card["ticket"], "packet_sha256": card["packet_sha256"], "word": card["word"], "passphrase": passphrase });
    let wrong = "a passphrase that was never right, 4711";
    let until = Instant::now() + PATIENCE;
    let told = loop {
        let (status, told) = page("/api/session/allow", &yes(json!(wrong)));
        assert_eq!(status, 409, "{told}");
        // Too early is no try.
        if told["code"] == "key_locked" {
            break told;
        }
        assert!(Instant::now() < until, "{told}");
    };
    assert!(!told.to_string().contains(bench.path("").to_str().unwrap()), "no place of this machine: {told}");
    let (status, decided) = page("/api/session/allow", &yes(json!(APPROVAL.as_bytes())));
    assert_eq!((status, &decided["accepted"]), (200, &json!(true)), "{decided}");
    if is_root() {
        assert!(remembers(pid, session.as_bytes()), "what is kept is found");
        for forgotten in [wrong, APPROVAL] {
            assert!(!remembers(pid, forgotten.as_bytes()), "`{forgotten}` is still there");
        }
    }
    served.end();
}

#[test]
fn a_page_is_not_told_where_the_store_lies_whatever_is_wrong_with_its_keys() {
    let bench = Bench::new();
    let served = Served::new(&bench);
    let session = served.session_at_terminal(&bench);
    let vault = bench.home().join("vault.key");
    let whole = std::fs::read(&vault).unwrap();
    let mode = |bits: u32| std::fs::set_permissions(&vault, std::fs::Permissions::from_mode(bits)).unwrap();
    let wrong: [(&str, &dyn Fn()); 4] = [
        ("a wrong passphrase", &|| {}),
        ("others may read it", &|| mode(0o644)),
        ("damaged", &|| std::fs::write(&vault, &whole[..whole.len() / 2]).unwrap()),
        ("gone", &|| std::fs::remove_file(&vault).unwrap()),
    ];
    for (what, happens) in wrong {
        mode(0o600);
        std::fs::write(&vault, &whole).unwrap();
        happens();
        let given = if what == "a wrong passphrase" { "not that of the vault" } else { VAULT };
        let (status, told) =
            served.by_page(&session, "/api/session/keys/unlock", &json!({ "passphrase": given }));
        assert!(status >= 400 && told["message"].is_string(), "{what}: {status} {told}");
        let names_it = told.to_string().contains("vault.key");
        assert_eq!(
            names_it,
            what != "a wrong passphrase",
            "{what}: the file is named where it is at fault: {told}"
        );
        assert!(
            !told.to_string().contains(bench.path("").to_str().unwrap()),
            "{what}: not its place: {told}"
        );
    }
    served.end();
}
