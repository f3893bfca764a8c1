//! `hermit serve` as a service of the system: with a `systemctl` that stands in for the real one, and without any.

use super::allow;
use crate::bench::{Bench, Ran, VAULT, before, program};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Killed, Lines};

/// Nothing here takes longer, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(60);

/// Keeps what it is asked, and whether a service runs.
const SYSTEMCTL: &str = r#"#!/bin/sh
echo "$@" >> "$HOME/asked"
case "$2" in
  is-active) if [ -f "$HOME/active" ]; then echo active; else echo inactive; exit 3; fi ;;
  start | restart) : > "$HOME/active" ;;
  disable) rm -f "$HOME/active" ;;
esac
"#;

/// A store, and a person's home folder with a system or without.
struct Person {
    bench: Bench,
    /// Where programs are looked for.
    path: String,
}

impl Person {
    fn new(systemctl: Option<&str>) -> Self {
        let bench = Bench::new();
        for folder in ["person", "programs"] {
            std::fs::create_dir(bench.path(folder)).unwrap();
        }
        let mut path = bench.path("programs").to_str().unwrap().to_owned();
        if let Some(text) = systemctl {
            let file = bench.path("programs/systemctl");
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
            path = format!("{path}:{}", std::env::var("PATH").unwrap());
        }
        Self { bench, path }
    }

    fn run(&self, words: &[&str]) -> Ran {
        let home = self.bench.path("person");
        self.bench.run_with(words, &[("HOME", home.to_str().unwrap()), ("PATH", &self.path)])
    }

    fn unit(&self) -> PathBuf {
        self.bench.path("person/.config/systemd/user/hermit.service")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.unit()).unwrap()
    }

    fn asked(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.bench.path("person/asked")).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect()
    }
}

#[test]
fn a_service_is_installed_started_told_of_and_removed_and_its_store_stays() {
    let person = Person::new(Some(SYSTEMCTL));
    let printed = person.run(&["service", "install", "--print"]).ends_with(0).out;
    assert!(printed.contains("ExecStart=") && !person.unit().exists(), "{printed}");
    assert!(person.run(&["service", "status"]).ends_with(1).out.contains("No service is installed"));
    let said = person.run(&["service", "install"]).ends_with(0).out;
    assert!(said.contains("Started.") && said.contains("needs its passphrase typed"), "{said}");
    assert!(said.contains("loginctl enable-linger"), "{said}");
    let wanted = ["--user daemon-reload", "--user enable hermit.service", "--user restart hermit.service"];
    assert_eq!(person.asked(), wanted);
    let text = person.text();
    let (program, store) = (program().canonicalize().unwrap(), person.bench.home());
    let line = format!(
        "ExecStart=\"{}\" \"--home\" \"{}\" \"--no-input\" \"serve\" \"--service\"\n",
        program.display(),
        store.display()
    );
    assert!(text.contains(&line), "{line}\n{text}");
    assert!(!text.contains(VAULT), "{text}");
    // Once more changes nothing, and starts what does not run.
    let again = person.run(&["service", "install"]).ends_with(0).out;
    assert!(
        again.contains("installed already")
            && person.asked().last().unwrap() == "--user start hermit.service"
    );
    assert_eq!(person.text(), text);
    let status = person.run(&["--json", "service", "status"]).ends_with(0).json();
    assert_eq!(status["stands"]["state"], "runs");
    assert_eq!(status["found"]["terms"]["store"], store.to_str().unwrap());
    let doctor = |person: &Person| person.run(&["doctor"]).out;
    assert!(doctor(&person).contains("ok   service: runs"), "{}", doctor(&person));
    std::fs::remove_file(person.bench.path("person/active")).unwrap();
    assert!(doctor(&person).contains("FAIL service:"), "{}", doctor(&person));
    let removed = person.run(&["service", "remove"]).ends_with(0).out;
    assert!(removed.contains("stays as it is") && !person.unit().exists(), "{removed}");
    assert!(person.asked().contains(&"--user disable --now hermit.service".to_owned()));
    person.run(&["service", "remove"]).ends_with(1);
    person.bench.run(&["ledger", "verify"]).ends_with(0);
}

#[test]
fn where_no_systemd_runs_the_unit_is_written_and_its_path_told() {
    let refuses = "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2\nexit 1\n";
    for person in [Person::new(None), Person::new(Some(refuses))] {
        let said = person.run(&["service", "install"]).ends_with(4).out;
        assert!(said.contains("Not started: "), "{said}");
        assert!(said.contains(person.unit().to_str().unwrap()), "{said}");
        assert!(said.contains("systemctl --user enable --now hermit.service"), "{said}");
        assert!(person.text().contains("ExecStart="));
        let told = person.run(&["doctor"]).out;
        assert!(told.contains("note service: "), "{told}");
        person.run(&["service", "remove"]).ends_with(4);
        assert!(!person.unit().exists());
    }
}

#[test]
fn a_service_of_another_store_or_program_or_hand_stays_until_its_person_says_otherwise() {
    let person = Person::new(Some(SYSTEMCTL));
    person.run(&["service", "install"]).ends_with(0);
    let first = person.text();
    let refused = |words: &[&str], why: &str| {
        let ran = person.run(words).ends_with(1);
        assert!(ran.err.contains(why), "{}", ran.err);
    };
    // Another store of the same person.
    let other = person.bench.path("other");
    let other = other.to_str().unwrap();
    let to_other = ["--home", other, "service", "install"];
    refused(&to_other, "there is no store");
    let copied = Command::new("cp").arg("-a").arg(person.bench.home()).arg(other).status().unwrap();
    assert!(copied.success());
    refused(&to_other, "another store");
    refused(&["--home", other, "service", "remove"], "another store");
    assert_eq!(person.text(), first);
    let replaced = person.run(&["--home", other, "service", "install", "--replace"]).ends_with(0).out;
    assert!(replaced.contains("Replaced: "), "{replaced}");
    assert_eq!(std::fs::read_to_string(person.unit().with_extension("before")).unwrap(), first);
    assert!(person.run(&["doctor"]).out.contains("service: for another store"));
    person.run(&["service", "install", "--replace"]).ends_with(0);
    // Another program, which is gone.
    let program = program().canonicalize().unwrap();
    let program = program.to_str().unwrap();
    // In the line of its terms no hyphen stands as it is.
    let moved = first.replace(program, "/opt/gone/hermit");
    let moved = moved.replace(&program.replace('-', "\\u002d"), "/opt/gone/hermit");
    std::fs::write(person.unit(), &moved).unwrap();
    refused(&["service", "install"], "another program, `/opt/gone/hermit`, which is not there any more");
    assert!(person.run(&["doctor"]).out.contains("FAIL service: its program `/opt/gone/hermit`"));
    assert_eq!(person.text(), moved);
    // What a person changed by hand.
    let changed = first.replace("RestartSec=10", "RestartSec=60");
    std::fs::write(person.unit(), &changed).unwrap();
    refused(&["service", "install"], "changed by hand");
    person.run(&["service", "install", "--replace"]).ends_with(0);
    assert_eq!(person.text(), first);
    assert_eq!(std::fs::read_to_string(person.unit().with_extension("before")).unwrap(), changed);
    // And what Hermit did not write is nobody's to replace.
    let foreign = "[Service]\nExecStart=/usr/bin/true\n";
    std::fs::write(person.unit(), foreign).unwrap();
    for words in [&["service", "install"][..], &["service", "install", "--replace"], &["service", "remove"]] {
        refused(words, "Hermit did not write it");
    }
    assert_eq!(person.text(), foreign);
}

/// The vault's passphrase file, which others come to by another name as well.
fn others_come_to(bench: &Bench) -> PathBuf {
    let vault = bench.path("vault");
    std::fs::hard_link(&vault, bench.path("vault-elsewhere")).unwrap();
    vault
}

#[test]
fn a_passphrase_file_that_is_mounted_for_all_serves_below_a_folder_that_nobody_else_enters() {
    let person = Person::new(Some(SYSTEMCTL));
    let bench = &person.bench;
    let rights = |name: &str, mode: u32| {
        std::fs::set_permissions(bench.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    // As a system of containers mounts a secret: read-only for all, and led to by a link.
    let mounted = bench.path("mounted");
    std::fs::create_dir_all(mounted.join("..1")).unwrap();
    std::fs::write(mounted.join("..1/words"), VAULT).unwrap();
    std::os::unix::fs::symlink("..1/words", mounted.join("words")).unwrap();
    rights("mounted/..1/words", 0o444);
    rights("mounted/..1", 0o755);
    rights("mounted", 0o700);
    let file = mounted.join("words");
    let words = ["service", "install", "--passphrase-file", file.to_str().unwrap()];
    person.run(&words).ends_with(0);
    assert!(person.text().contains(file.to_str().unwrap()), "{}", person.text());
    assert!(person.run(&["doctor"]).out.contains("ok   service: runs"));
    std::fs::hard_link(file.canonicalize().unwrap(), bench.path("words-elsewhere")).unwrap();
    let told = person.run(&["doctor"]).out;
    assert!(told.contains("FAIL service: it starts no more: others on this machine can read"), "{told}");
}

#[test]
fn a_passphrase_file_is_named_in_the_unit_only_where_nobody_else_reads_it() {
    let person = Person::new(Some(SYSTEMCTL));
    let vault = others_come_to(&person.bench);
    let words = ["service", "install", "--passphrase-file", vault.to_str().unwrap()];
    std::fs::set_permissions(&vault, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = person.run(&words).ends_with(2);
    assert!(refused.err.contains("can read") && !person.unit().exists(), "{}", refused.err);
    let command = format!("run `chmod 600 {}`", vault.display());
    for way in [command.as_str(), "mode 0400", "a folder of this user with mode 0700"] {
        assert!(refused.err.contains(way), "{}", refused.err);
    }
    let inside = person.bench.home().join("words");
    std::fs::write(&inside, VAULT).unwrap();
    std::fs::set_permissions(&inside, std::fs::Permissions::from_mode(0o600)).unwrap();
    person.run(&["service", "install", "--passphrase-file", inside.to_str().unwrap()]).ends_with(2);
    std::fs::set_permissions(&vault, std::fs::Permissions::from_mode(0o600)).unwrap();
    let said = person.run(&words).ends_with(0).out;
    assert!(said.contains("Whoever reads that file can open the vault"), "{said}");
    let text = person.text();
    assert!(text.contains(vault.to_str().unwrap()) && !text.contains(VAULT), "{text}");
    std::fs::remove_file(&vault).unwrap();
    let told = person.run(&["doctor"]).out;
    assert!(told.contains("FAIL service: its passphrase file"), "{told}");
}

#[test]
fn a_service_does_not_start_once_others_can_read_its_passphrase_file_and_the_doctor_says_so() {
    let person = Person::new(Some(SYSTEMCTL));
    let bench = &person.bench;
    let vault = others_come_to(bench);
    let rights = |mode: u32| {
        std::fs::set_permissions(&vault, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    rights(0o600);
    let file = vault.to_str().unwrap();
    person.run(&["service", "install", "--passphrase-file", file]).ends_with(0);
    rights(0o644);
    let mut by_option = Command::new(program());
    by_option.args(["--no-input", "serve", "--service", "--passphrase-file", file]).env_clear();
    let mut by_variable = Command::new(program());
    by_variable.args(["--no-input", "serve", "--service"]).env_clear().env("HERMIT_PASSPHRASE_FILE", file);
    for mut command in [by_option, by_variable] {
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HERMIT_HOME", bench.home());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let err = child.stderr.take().unwrap();
        let mut service = Killed(child);
        let ended = ends(&mut service);
        let said = std::io::read_to_string(err).unwrap();
        // With 2 the unit is not started again and again.
        assert!(ended == Some(2) && said.contains("others on this machine can read"), "{ended:?} {said}");
        assert!(said.contains(&format!("`chmod 600 {file}`")), "{said}");
    }
    let told = person.run(&["doctor"]).out;
    assert!(told.contains("FAIL service: it starts no more: others on this machine can read"), "{told}");
    rights(0o600);
    assert!(person.run(&["doctor"]).out.contains("ok   service: runs"));
}

#[test]
fn the_doctor_waits_for_no_systemctl_that_is_stuck_and_says_so() {
    let stuck = SYSTEMCTL.replace("is-active) ", "is-active) exec sleep 600; ");
    let person = Person::new(Some(&stuck));
    person.run(&["service", "install"]).ends_with(0);
    let begun = Instant::now();
    let told = person.run(&["doctor"]).out;
    assert!(told.contains("note service: ") && told.contains("did not end in 5 s"), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(100), "it took {:?}", begun.elapsed());
}

/// How it ends by itself.
fn ends(process: &mut Killed) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(ended) = process.0.try_wait().unwrap() {
            return ended.code();
        }
        assert!(begun.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn begin(bench: &Bench, words: &[String], environment: &[(&str, &str)]) -> (Killed, Lines) {
    let mut command = Command::new(program());
    command.args(words).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HERMIT_HOME", bench.home()).envs(environment.iter().copied());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = Lines::of(child.stdout.take().unwrap());
    (Killed(child), lines)
}

/// Everything that is said up to these words.
fn up_to(lines: &mut Lines, words: &str) -> String {
    let mut said = String::new();
    while !said.contains(words) {
        said += &lines.next().unwrap_or_else(|| panic!("`{words}` is not said after:\n{said}"));
    }
    said
}

#[conforms::conforms(part = "RA-5.2-1")]
#[test]
fn what_the_unit_starts_waits_for_the_store_and_continues_the_work_of_a_host_that_was_closed() {
    let person = Person::new(Some(SYSTEMCTL));
    let bench = &person.bench;
    let vault = bench.path("vault");
    std::fs::set_permissions(&vault, std::fs::Permissions::from_mode(0o600)).unwrap();
    person.run(&["service", "install", "--passphrase-file", vault.to_str().unwrap()]).ends_with(0);
    let text = person.text();
    let line = text.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
    let words: Vec<String> = line.split('"').skip(1).step_by(2).skip(1).map(ToOwned::to_owned).collect();
    let environment = [("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())];
    let (host, mut lines) = begin(bench, &["serve".to_owned()], &environment);
    up_to(&mut lines, "Ctrl-C ends it");
    let (_, approval) = bench.waiting();
    // The system starts it with nothing but what the unit says.
    let (mut service, mut lines) = begin(bench, &words, &[]);
    let said = up_to(&mut lines, "waits until it ends");
    assert!(!said.contains("http://"), "{said}");
    drop(host);
    let said = up_to(&mut lines, "Ctrl-C ends it");
    assert!(said.contains("Hermit is running") && !said.contains("#token="), "no link is told: {said}");
    assert_eq!(bench.status(&approval), "pending");
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let begun = Instant::now();
    while bench.files() == before() {
        assert!(begun.elapsed() < PATIENCE, "the folder is never tidied");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Its keys are open without any word of the environment.
    bench.run_with(&["ledger", "checkpoint"], &[]).ends_with(0);
    assert!(service.0.try_wait().unwrap().is_none(), "it stays");
    let pid = service.0.id().to_string();
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    let ended = ends(&mut service);
    assert_eq!(ended, Some(0), "a request to terminate ends it well, so that it is not started again");
}

#[test]
fn systemd_itself_finds_nothing_wrong_with_the_unit() {
    let person = Person::new(Some(SYSTEMCTL));
    person.run(&["service", "install"]).ends_with(0);
    let mut command = Command::new("systemd-analyze");
    command.args(["--user", "verify"]).arg(person.unit());
    let verified = command.env("XDG_RUNTIME_DIR", person.bench.path("programs")).output();
    let Ok(verified) = verified else {
        eprintln!("skipped: there is no systemd-analyze on this machine");
        return;
    };
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert!(!said.contains("hermit.service"), "{said}");
}
