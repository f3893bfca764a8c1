//! The corpus of commands that destroy, leak or escape: each row really runs in a staged view behind the walls, and is
//! previewed, contained or refused; what is carried over of it can be taken back (governance.md 5 and 7).
//!
//! The rows are `data/destructive.tsv`. Bombs are bounded by themselves as well, so that a wall that fails is a failing
//! test and not a machine that stands still.

use crate::staged::requested;
use crate::support::{self, World};
use acts::{Action, ActionRequest};
use effects::{Sandbox, Staging, Unstaged, plan_undo};
use model::RelPath;
use model::receipt::{ItemOutcome, SandboxLevel};
use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const EXEC: &str = env!("CARGO_BIN_EXE_hermit-exec");
const ROWS: &str = include_str!("data/destructive.tsv");
/// Names that a row tries to leave on the machine.
const MARKS: [&str; 8] = [
    "/etc/cron.d/hermit-was-here",
    "/etc/ld.so.conf.d/hermit-was-here.conf",
    "/hermit-was-here",
    "/sys/kernel/mm/hermit-was-here",
    "/tmp/hermit-was-here",
    "/usr/local/bin/hermit-was-here",
    "/var/tmp/hermit-was-here",
    "/var/spool/cron/hermit-was-here",
];
/// Processes that one command of these may have at once.
const PROCESSES: u64 = 64;
const MEMORY: u64 = 256 << 20;

struct Row {
    name: &'static str,
    command: &'static str,
    expected: &'static str,
    check: &'static str,
}

fn rows() -> Vec<Row> {
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [name, command, expected, check] = cells[..] else { panic!("four cells: {line}") };
        Row { name, command, expected, check }
    };
    ROWS.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

/// What all rows share: a template of the folder, somebody else's process, a port that must stay silent.
struct Stage {
    template: tempfile::TempDir,
    victim: Mutex<Child>,
    victim_pid: u32,
    port: TcpListener,
    walls: Sandbox,
}

impl Stage {
    fn new() -> Self {
        let template = tempfile::tempdir().unwrap();
        furnish(&template.path().join("lease"), &template.path().join("outside"));
        // With none of the test's own streams: whoever reads those to their end does not wait for it.
        let victim = Command::new("sleep")
            .arg("3599")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let victim_pid = victim.id();
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        port.set_nonblocking(true).unwrap();
        let walls = Sandbox::probe(Path::new(EXEC)).with_processes(PROCESSES).with_memory(MEMORY);
        Self { template, victim: Mutex::new(victim), victim_pid, port, walls }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let mut victim = self.victim.lock().unwrap();
        let _ = victim.kill();
        let _ = victim.wait();
    }
}

fn put(root: &Path, name: &str, text: &str) {
    let at = root.join(name);
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::fs::write(at, text).unwrap();
}

fn git(at: &Path, words: &[&str]) {
    let done = Command::new("git")
        .current_dir(at)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(done.is_ok_and(|status| status.success()), "git {words:?}");
}

/// A small repository with a history, a branch, a remote, links, secrets that are ignored; and beside it somebody's home.
fn furnish(lease: &Path, outside: &Path) {
    for (name, text) in [
        ("a.txt", "gone\n"),
        ("b.txt", "moved\n"),
        ("d.txt", "one\ntwo\n"),
        ("e.sh", "#!/bin/sh\n"),
        ("old/x.txt", "x\n"),
        ("old/deep/y.txt", "y\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("bin", "\0\u{1}\u{2}"),
        (".gitignore", ".env\n"),
    ] {
        put(lease, name, text);
    }
    git(lease, &["init", "-q", "-b", "main"]);
    git(lease, &["config", "user.name", "Somebody"]);
    git(lease, &["config", "user.email", "somebody@example.com"]);
    git(lease, &["remote", "add", "origin", "../outside/remote.git"]);
    git(lease, &["add", "-A"]);
    git(lease, &["commit", "-q", "-m", "first"]);
    git(lease, &["branch", "side"]);
    put(lease, "d.txt", "one\ntwo\nthree\n");
    git(lease, &["commit", "-q", "-a", "-m", "second"]);
    put(lease, ".env", "PLAIN=1\n");
    std::fs::create_dir(lease.join("sub")).unwrap();
    std::os::unix::fs::symlink("old", lease.join("known")).unwrap();
    for (name, text) in [
        ("home/.ssh/authorized_keys", "theirs\n"),
        ("home/.ssh/id_ed25519", "SECRET-KEY\n"),
        ("home/.bashrc", "theirs\n"),
        ("home/.gitconfig", "[user]\n"),
        ("evil.so", "not even a library"),
    ] {
        put(outside, name, text);
    }
    git(outside, &["init", "-q", "--bare", "remote.git"]);
}

/// Everything below a folder: kind, permission bits, bytes or target.
fn tree(root: &Path) -> BTreeMap<PathBuf, (String, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let kind = metadata.file_type();
            let value = if kind.is_dir() {
                waiting.push(path.clone());
                ("folder".to_owned(), vec![])
            } else if kind.is_symlink() {
                ("link".to_owned(), std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
            } else if kind.is_fifo() || kind.is_socket() || kind.is_char_device() {
                ("special".to_owned(), vec![])
            } else {
                let mode = metadata.permissions().mode() & 0o7777;
                (format!("file {mode:o}"), std::fs::read(&path).unwrap())
            };
            found.insert(path.strip_prefix(root).unwrap().to_owned(), value);
        }
    }
    found
}

fn alive(word: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| line.split(|b| *b == 0).any(|part| part == word.as_bytes()))
    })
}

/// Runs one row; what is wrong, in words.
fn run(stage: &Stage, at: usize, row: &Row) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("lease");
    let copied = Command::new("cp").arg("-a").arg(stage.template.path().join("lease")).arg(&root).status();
    assert!(copied.is_ok_and(|status| status.success()));
    let outside = folder.path().join("outside");
    let copied =
        Command::new("cp").arg("-a").arg(stage.template.path().join("outside")).arg(&outside).status();
    assert!(copied.is_ok_and(|status| status.success()));
    let world = World::over(folder, root, stage.walls.clone());
    std::fs::write(world.store.join("ledger.db"), "SECRET-LEDGER").unwrap();
    std::fs::write(world.store.join("keychain"), "SECRET-CHAIN").unwrap();
    let word = format!("{}.{at}", 86_000 + std::process::id() % 1_000);
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let script = row
        .command
        .replace("{out}", &text(&outside))
        .replace("{home}", &text(&outside.join("home")))
        .replace("{store}", &text(&world.store))
        .replace("{word}", &word)
        .replace("{victim}", &stage.victim_pid.to_string())
        .replace("{port}", &stage.port.local_addr().unwrap().port().to_string());
    let before = (tree(&world.root), tree(&outside));
    let request = world.request(Action::Command(acts::Command {
        argv: ["sh", "-c", &script].map(str::to_owned).to_vec(),
        cwd: RelPath::ROOT,
        network: false,
        timeout_ms: if row.check == "error:longer than" { 700 } else { 120_000 },
        hosts: Vec::new(),
        secrets: Vec::new(),
    }));
    let staging = world.executors.stage(request.attempt_id, &request.action, &|| false, &mut |_| {});
    if tree(&world.root) != before.0 {
        return Err("the folder itself was changed by a staged run".to_owned());
    }
    untouched(stage, &world, &outside, &before.1, &word)?;
    match (row.expected, &staging) {
        ("refused", Err(Unstaged::Cannot(why) | Unstaged::Failed(why))) if why.contains(row.check) => Ok(()),
        ("refused", other) => Err(format!("not refused with `{}`: {other:?}", row.check)),
        ("contained", Err(Unstaged::Cannot(_) | Unstaged::Failed(_))) if row.check.is_empty() => Ok(()),
        (_, Err(why)) => Err(format!("not staged: {why:?}")),
        (_, Ok(staging)) => {
            told(row, staging)?;
            carried_over_and_back(&world, request, staging, &before.0)?;
            untouched(stage, &world, &outside, &before.1, &word)
        }
    }
}

/// Nothing of anybody else's was changed, started, stopped or reached.
fn untouched(
    stage: &Stage,
    world: &World,
    outside: &Path,
    before: &BTreeMap<PathBuf, (String, Vec<u8>)>,
    word: &str,
) -> Result<(), String> {
    if tree(outside) != *before {
        return Err("something outside was changed".to_owned());
    }
    if let Some(mark) = MARKS.iter().find(|mark| Path::new(mark).exists()) {
        return Err(format!("it left `{mark}`"));
    }
    let own = [("ledger.db", "SECRET-LEDGER"), ("keychain", "SECRET-CHAIN")];
    if own
        .iter()
        .any(|(name, text)| std::fs::read(world.store.join(name)).ok().as_deref() != Some(text.as_bytes()))
    {
        return Err("Hermit's store was changed".to_owned());
    }
    if stage.victim.lock().unwrap().try_wait().is_ok_and(|ended| ended.is_some()) {
        return Err("somebody else's process was ended".to_owned());
    }
    if stage.port.accept().is_ok() {
        return Err("somebody came through to the network".to_owned());
    }
    // What was killed may take a moment to go.
    let begin = Instant::now();
    while alive(word) {
        if begin.elapsed() > Duration::from_secs(60) {
            return Err("a process is still there".to_owned());
        }
        std::thread::yield_now();
    }
    Ok(())
}

/// What a person would be shown is what the row says.
fn told(row: &Row, staging: &Staging) -> Result<(), String> {
    let effects: Vec<String> =
        staging.changes.iter().map(|change| format!("{} {}", change.effect, change.path)).collect();
    let shown = [&staging.transcript.bytes[..], &staging.diff.bytes[..]].concat();
    if String::from_utf8_lossy(&shown).contains("SECRET-") {
        return Err("a secret came out".to_owned());
    }
    let printed = String::from_utf8_lossy(&shown).to_lowercase();
    if ["reached", "connected", "typed"].iter().any(|word| printed.contains(&format!("{word}\\n"))) {
        return Err(format!("it got through: {}", staging.printed));
    }
    let error = staging.staged.error.clone().unwrap_or_default();
    match (row.expected, row.check) {
        ("contained", "nothing") if !effects.is_empty() => Err(format!("it changed {effects:?}")),
        ("contained", check) if check.starts_with("error:") => {
            let wanted = check.trim_start_matches("error:");
            let is_error = staging.staged.error.is_some() || staging.printed.contains("Error");
            (is_error && error.contains(wanted)).then_some(()).ok_or(format!("no `{check}`: `{error}`"))
        }
        ("previewed", check) => {
            if effects.is_empty() {
                return Err(format!("it changed nothing: {error} {}", staging.printed));
            }
            let lacking: Vec<&str> = check
                .split(',')
                .filter(|wanted| !wanted.is_empty() && !effects.iter().any(|effect| effect == wanted))
                .collect();
            if lacking.is_empty() { Ok(()) } else { Err(format!("no {lacking:?} in {effects:?}; {error}")) }
        }
        _ => Ok(()),
    }
}

/// Commits exactly what was shown, and takes it back: the folder is what it was, digest for digest.
fn carried_over_and_back(
    world: &World,
    request: ActionRequest,
    staging: &Staging,
    before: &BTreeMap<PathBuf, (String, Vec<u8>)>,
) -> Result<(), String> {
    if staging.staged.items.is_empty() {
        return Ok(());
    }
    let request = requested(world, request, staging);
    for image in world.executors.before_images(request.items()) {
        let (_, digest, bytes) = image.map_err(|e| e.to_string())?;
        assert_eq!(world.shelf.put(&bytes), digest);
    }
    let outcome = world.perform(&request);
    if let Some(left) = outcome.changes.iter().find(|change| change.outcome != ItemOutcome::Done) {
        return Err(format!("not carried over: {left:?}, {:?}", outcome.error));
    }
    let receipt = support::receipt(world, &request, &outcome);
    let look = |path: &RelPath| world.executors.observe(&[world.file(path)]).remove(0).state;
    let read = |digest: &model::Digest| world.shelf.0.lock().unwrap().get(digest).cloned();
    let plan = plan_undo(&[&receipt], &look, &read);
    if !plan.left.is_empty() {
        return Err(format!("cannot be taken back: {:?}", plan.left));
    }
    let undone = world.perform(&world.request(support::undo_of(receipt.receipt_id, plan.items)));
    let now = tree(&world.root);
    if now == *before {
        return Ok(());
    }
    let names: BTreeSet<&PathBuf> = now.keys().chain(before.keys()).collect();
    let other: Vec<_> = names.into_iter().filter(|name| now.get(*name) != before.get(*name)).collect();
    Err(format!("not what it was: {other:?}; {:?} {:?}", undone.result_code, undone.error))
}

#[conforms::conforms("HK-8.12-5")]
#[test]
fn whatever_destroys_leaks_or_escapes_is_previewed_contained_or_refused_and_can_be_taken_back() {
    let rows = rows();
    assert!(rows.len() >= 100, "{} rows", rows.len());
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), rows.len(), "every row has a name of its own");
    let stage = Stage::new();
    let namespaces =
        matches!(stage.walls.level(), SandboxLevel::NamespacesLandlock | SandboxLevel::Namespaces);
    if !namespaces {
        // Rows aim at other processes and at the machine: they are let loose only where namespaces stand.
        assert!(
            !Path::new("/usr/bin/bwrap").exists(),
            "bubblewrap is here and does not work: {}",
            stage.walls.why()
        );
        return conforms::lacks_walls(&format!(
            "bubblewrap ({}), without which no row is run,",
            stage.walls.why()
        ));
    }
    let only = std::env::var("HERMIT_ROW").ok();
    let rows: Vec<Row> =
        rows.into_iter().filter(|row| only.as_deref().is_none_or(|o| row.name == o)).collect();
    if let Some(only) = &only {
        assert!(!rows.is_empty(), "no row is called `{only}`");
        conforms::skip(&format!("`HERMIT_ROW` leaves `{only}` alone"));
    }
    let begin = Instant::now();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::SeqCst);
                    let Some(row) = rows.get(at) else { return };
                    let began = Instant::now();
                    if let Err(why) = run(&stage, at, row) {
                        wrong.lock().unwrap().push(format!("{}: {why}", row.name));
                    }
                    if only.is_some() || began.elapsed() > Duration::from_secs(4) {
                        println!("{}: {} ms", row.name, began.elapsed().as_millis());
                    }
                }
            });
        }
    });
    println!("{} rows in {} ms", rows.len(), begin.elapsed().as_millis());
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn a_crowd_of_processes_is_ended_as_a_whole_and_a_command_with_few_is_not() {
    let walls = Sandbox::probe(Path::new(EXEC)).with_processes(PROCESSES);
    for (many, ends) in [(10, false), (200, true)] {
        let world = World::with(walls.clone());
        let script = format!(
            "for (1..{many}) {{ my $p = fork(); last unless defined $p; if (!$p) {{ sleep 3; exit }} }} sleep 3;"
        );
        let argv = ["perl", "-e", &script].map(str::to_owned).to_vec();
        let action = Action::Command(acts::Command {
            argv,
            cwd: RelPath::ROOT,
            network: false,
            timeout_ms: 120_000,
            hosts: Vec::new(),
            secrets: Vec::new(),
        });
        let request = world.request(action);
        let staging =
            world.executors.stage(request.attempt_id, &request.action, &|| false, &mut |_| {}).unwrap();
        let error = staging.staged.error.unwrap_or_default();
        assert_eq!(error.contains("processes"), ends, "{many}: {error}");
    }
}
