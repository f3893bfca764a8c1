//! An update from a release at hand, through the built program: what is wrong with a release is refused by name, a program that does not
//! come up is left by itself, and whenever the update is killed one of the two programs is started.

use super::programs::hermit;
use super::stage::{APPROVAL, Ran, Stage};
use proof::{MadeOf, ReleaseParts, make_release};
use provenance::archive::pack;
use seal::{Digest, SeedSigner, Signer as _, sshsig};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Says that it is healthy, and then what it was asked.
pub(crate) const HEALTHY: &str = r#"#!/bin/sh
if [ "$1" = successor-health ]; then
  printf '{"healthy":"%s","events":1}\n' "$(sha256sum "$0" | cut -d' ' -f1)"
  exit 0
fi
echo "the updated program: $*"
"#;
pub(crate) const CRASHES: &str = "#!/bin/sh\nexit 3\n";
/// Kills whoever asks it first, and is healthy from then on. The path of a mark stands for `MARK`.
const KILLS: &str = r#"#!/bin/sh
if [ "$1" = successor-health ] && [ ! -e MARK ]; then
  : > MARK
  kill -9 $PPID
  exit 3
fi
"#;
const LOCK: &str = "version = 4\n\n[[package]]\nname = \"hermit\"\nversion = \"0.1.0\"\n";
/// The version of the program that is installed.
const INSTALLED: &str = env!("CARGO_PKG_VERSION");

/// Whoever makes releases: a source with its lock files, a key, and the log.
pub(crate) struct Maker {
    pub(crate) stage: Stage,
    key: SeedSigner,
}

impl Maker {
    pub(crate) fn new() -> Self {
        let stage = Stage::new();
        stage.hermit(&["ledger", "checkpoint"]).ends(0);
        for (path, text) in [
            ("source/Cargo.lock", LOCK),
            ("source/src-tauri/sidecar/Cargo.lock", LOCK),
            ("source/src-tauri/trainer/Cargo.lock", LOCK),
            ("source/package-lock.json", r#"{"packages":{"":{}}}"#),
            ("source/tests/house/licences.tsv", "# name, licence\n"),
        ] {
            let path = stage.at(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let key = SeedSigner::from_seed([7; 32]);
        fs::write(stage.at("key.pem"), key.public().to_pem()).expect("a file");
        fs::write(stage.at("other.pem"), SeedSigner::from_seed([8; 32]).public().to_pem()).expect("a file");
        Self { stage, key }
    }

    fn text(&self, name: &str) -> String {
        self.stage.at(name).to_str().expect("UTF-8").to_owned()
    }

    /// A release of a program, in a log of that name, for a system.
    fn made(&self, version: &str, program: &[u8], of: (&str, &str)) -> PathBuf {
        self.made_with(version, program, of, &[])
    }

    /// As [`Self::made`], with more files among its programs.
    pub(crate) fn made_with(
        &self,
        version: &str,
        program: &[u8],
        (log, system): (&str, &str),
        more: &[PathBuf],
    ) -> PathBuf {
        let built = self.stage.at(&format!("built-{version}-{log}-{system}/hermit"));
        fs::create_dir_all(built.parent().expect("a folder")).expect("a folder");
        fs::write(&built, program).expect("a file");
        let made_of = MadeOf {
            version: version.to_owned(),
            system: system.to_owned(),
            commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            committed_at: 1_760_100_000,
            source_sha256: Digest::of(b"the source"),
            builder: "a test".to_owned(),
            toolchain: "rustc of a test".to_owned(),
            paths_remapped: true,
        };
        let (root, log) = (self.stage.at("source"), self.stage.at(log));
        let programs: Vec<PathBuf> = std::iter::once(built.clone()).chain(more.iter().cloned()).collect();
        let parts = ReleaseParts { made_of, programs: &programs, root: &root, log: &log, texts: None };
        let out = built.with_file_name("release");
        make_release(&parts, &self.key, &out).expect("a release");
        out
    }

    /// One for this system, in the usual log.
    fn release(&self, version: &str, program: &str) -> PathBuf {
        self.made(version, program.as_bytes(), ("log", &self.system()))
    }

    /// An archive of pages of which one says this.
    fn pages(&self, page: &str) -> PathBuf {
        let files = [("assets/page.txt", page), ("index.html", "<p>")];
        let files = files.map(|(path, text)| (path.to_owned(), (false, text.as_bytes().to_vec())));
        let archive = self.stage.at("hermit-pages");
        fs::write(&archive, pack(&BTreeMap::from(files)).expect("an archive")).expect("a file");
        archive
    }

    pub(crate) fn shown(&self) -> Value {
        self.stage.hermit(&["update", "show"]).ends(0).json()
    }

    pub(crate) fn system(&self) -> String {
        self.shown()["system"].as_str().expect("a system").to_owned()
    }

    pub(crate) fn check(&self, release: &Path, key: Option<&str>) -> Ran {
        let path = release.to_str().expect("UTF-8");
        let key = key.map(|key| self.text(key));
        let mut words = vec!["update", "check", path];
        words.extend(key.iter().flat_map(|key| ["--key", key.as_str()]));
        self.stage.hermit(&words)
    }

    /// Updates at a terminal, with the fingerprint where it is asked for; the exit code and everything that was shown.
    pub(crate) fn apply(&self, release: &Path, fault: Option<&str>) -> (i32, String) {
        let (path, key) = (release.to_str().expect("UTF-8"), self.text("key.pem"));
        let told: Vec<(&str, &str)> = fault.iter().map(|fault| ("HERMIT_FAULT", *fault)).collect();
        let mut terminal = self.stage.terminal(&["update", "apply", path, "--key", &key], &told);
        if terminal.expect_one_or_end(&["Type its fingerprint", "Approval passphrase"]) == Some(0) {
            terminal.send(&format!("{}\r", sshsig::fingerprint(&self.key.public())));
            terminal.expect("Approval passphrase");
        }
        terminal.send(&format!("{APPROVAL}\r"));
        terminal.end()
    }

    /// Goes back at a terminal.
    pub(crate) fn back(&self, words: &[&str]) -> (i32, String) {
        let mut terminal = self.stage.terminal(&[&["update", "back"][..], words].concat(), &[]);
        terminal.expect("Approval passphrase").send(&format!("{APPROVAL}\r"));
        terminal.end()
    }

    /// What the program that is started says: the installed one knows its store, a script tells that it is there.
    fn is_updated(&self) -> bool {
        let ran = Stage::ran(&mut self.stage.command(&["ledger", "verify"])).ends(0);
        let told = ran.out.trim() == "the updated program: ledger verify";
        assert!(told || ran.out.contains("valid"), "{}", ran.out);
        told
    }
}

/// Whether a release was refused with this code, and these words.
pub(crate) fn is_refused(ran: Ran, code: i32, words: &[&str]) {
    let said = ran.ends(code).json();
    assert_ne!(said["verdict"], "valid", "{said}");
    for word in words {
        assert!(said.to_string().contains(word), "`{word}` is not in {said}");
    }
}

#[test]
fn a_release_is_refused_by_name_for_each_thing_that_may_be_wrong_with_it() {
    let maker = Maker::new();
    let system = maker.system();
    let release = maker.release("999.1.0", HEALTHY);
    maker.check(&release, None).ends(2).complains(&["no key that signs releases is pinned"]);
    let said = maker.check(&release, Some("key.pem")).ends(0).json();
    assert_eq!((&said["verdict"], &said["is_pinned"]), (&json!("valid"), &json!(false)), "{said}");
    let said = maker.check(&release.join("release.json"), Some("key.pem")).ends(0).json();
    assert_eq!(said["verdict"], "valid", "by its statement");

    // One changed byte, in the program and in the list of licences.
    for name in ["programs/hermit", "licences.txt"] {
        let (path, whole) = (release.join(name), fs::read(release.join(name)).expect("a file"));
        let mut changed = whole.clone();
        changed[10] ^= 1;
        fs::write(&path, changed).expect("a file");
        is_refused(maker.check(&release, Some("key.pem")), 5, &[name, "not those that were signed"]);
        fs::write(&path, whole).expect("a file");
    }
    // What has to be there.
    for name in ["bom.cdx.json", "licences.txt", "locks/Cargo.lock", "release.tlog-proof"] {
        let whole = fs::read(release.join(name)).expect("a file");
        fs::remove_file(release.join(name)).expect("it goes");
        is_refused(maker.check(&release, Some("key.pem")), 7, &[name]);
        fs::write(release.join(name), whole).expect("a file");
    }
    is_refused(maker.check(&release, Some("other.pem")), 6, &["another key"]);
    let older = maker.made("0.0.1", HEALTHY.as_bytes(), ("older", &system));
    is_refused(maker.check(&older, Some("key.pem")), 5, &["0.0.1 is older than"]);
    let same = maker.made(INSTALLED, HEALTHY.as_bytes(), ("same", &system));
    is_refused(maker.check(&same, Some("key.pem")), 5, &["is the same as"]);
    let elsewhere = maker.made("999.1.0", HEALTHY.as_bytes(), ("elsewhere", "sparc64-unknown-none"));
    is_refused(maker.check(&elsewhere, Some("key.pem")), 5, &["it is for sparc64-unknown-none"]);

    // Nobody but a person installs one, and one who names another key does not.
    let (path, key) = (release.to_str().expect("UTF-8"), maker.text("key.pem"));
    maker.stage.hermit(&["update", "apply", path, "--key", &key]).ends(2).complains(&["only a person"]);
    let mut terminal = maker.stage.terminal(&["update", "apply", path, "--key", &key], &[]);
    let other = sshsig::fingerprint(&SeedSigner::from_seed([8; 32]).public());
    terminal.expect("Type its fingerprint").send(&format!("{other}\r"));
    let (code, screen) = terminal.end();
    assert!(code == 3 && screen.contains("another key"), "{code}: {screen}");
    let shown = maker.shown();
    assert_eq!(
        (&shown["at_work"], &shown["now"], &shown["key"]),
        (&json!(INSTALLED), &json!(null), &json!(null))
    );
    assert!(!maker.is_updated());
}

#[test]
fn an_update_that_comes_up_is_hermit_until_a_person_goes_back_and_its_key_and_log_are_pinned() {
    let maker = Maker::new();
    let release = maker.release("999.1.0", HEALTHY);
    let (code, screen) = maker.apply(&release, None);
    assert!(code == 0 && screen.contains("999.1.0 is at work"), "{code}: {screen}");
    assert!(maker.is_updated() && maker.is_updated());
    let shown = maker.shown();
    assert_eq!((&shown["at_work"], &shown["now"]["healthy"]), (&json!("999.1.0"), &json!(true)), "{shown}");
    assert_eq!(shown["key"], sshsig::fingerprint(&maker.key.public()));
    assert_eq!(shown["copies"], json!([]), "the store is in the format in which it was");
    // The same folder elsewhere starts nothing of it.
    let copy = maker.stage.at("copy");
    let mut cp = std::process::Command::new("cp");
    assert!(cp.arg("-a").arg(maker.stage.home()).arg(&copy).status().expect("a copy").success());
    let mut elsewhere = maker.stage.command(&["ledger", "verify"]);
    let ran = Stage::ran(elsewhere.env("HERMIT_HOME", &copy)).ends(0);
    assert!(!ran.out.contains("the updated program"), "{}", ran.out);
    // The installed program goes back, whatever the updated one does.
    maker.stage.hermit(&["update", "back"]).ends(2).complains(&["only a person"]);
    let (code, screen) = maker.back(&[]);
    assert_eq!(code, 0, "{screen}");
    assert!(!maker.is_updated());
    maker.stage.hermit(&["update", "back"]).ends(1).complains(&["no update is at work"]);

    // Another key, and a log that is another, are refused from now on.
    maker.check(&release, Some("other.pem")).ends(3).complains(&["another key than", "which you pinned"]);
    let forked = maker.made("999.3.0", HEALTHY.as_bytes(), ("forked", &maker.system()));
    is_refused(maker.check(&forked, None), 5, &["releases.log", "does not continue the log"]);
    let next = maker.release("999.2.0", HEALTHY);
    let said = maker.check(&next, None).ends(0).json();
    assert_eq!(said["is_pinned"], true, "{said}");
}

#[test]
fn a_program_that_does_not_come_up_is_left_by_itself_for_the_one_before() {
    let maker = Maker::new();
    let (code, screen) = maker.apply(&maker.release("999.1.0", CRASHES), None);
    assert!(code == 1 && screen.contains("did not come up: it ended at its start"), "{code}: {screen}");
    assert!(!maker.is_updated());
    let shown = maker.shown();
    assert_eq!(shown["at_work"], INSTALLED, "{shown}");
    assert!(shown["now"]["failed"].as_str().is_some_and(|why| why.contains("ended at its start")), "{shown}");
    // A real one, which another build of Hermit is; the next update that does not come up goes back to it.
    let mut bytes = fs::read(hermit()).expect("the program");
    bytes.push(b'\n');
    let real = maker.made("999.2.0", &bytes, ("log", &maker.system()));
    let (code, screen) = maker.apply(&real, None);
    assert_eq!(code, 0, "{screen}");
    let (code, screen) = maker.apply(&maker.release("999.3.0", CRASHES), None);
    assert!(code == 1 && screen.contains("999.2.0 continues"), "{code}: {screen}");
    let shown = maker.shown();
    assert_eq!(
        (&shown["at_work"], &shown["before"]["version"]),
        (&json!("999.2.0"), &json!("999.2.0")),
        "{shown}"
    );
    assert!(!maker.is_updated(), "it opens the store");
    // What did not come up has changed the format before it ended: the one before stays at work, and the store is put back for it.
    let ledger = maker.stage.home().join("ledger.db");
    let known = format(&ledger);
    change_format(&ledger);
    maker.stage.hermit(&["update", "back"]).ends(1).complains(&[
        "format 99",
        "version 999.2.0",
        "before-999.3.0-1",
        "update back --restore",
    ]);
    // A copy that the one before does not read either takes nothing's place.
    let copy = maker.stage.home().join("updates/before-999.3.0-1/ledger.db");
    set_format(&copy, 99);
    maker.stage.hermit(&["update", "back", "--restore"]).ends(1).complains(&[
        "has format 99",
        "version 999.2.0",
        "nothing was changed",
    ]);
    set_format(&copy, known);
    let (code, screen) = maker.back(&["--restore"]);
    assert_eq!((code, format(&ledger)), (0, known), "{screen}");
    assert_eq!(maker.shown()["at_work"], "999.2.0");
    assert!(!maker.is_updated(), "it opens the store again");
}

/// The format of a store.
fn format(ledger: &Path) -> u32 {
    let store = rusqlite::Connection::open(ledger).expect("a store");
    store.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a format")
}

/// Brings a store to a format that only a newer program knows.
fn change_format(ledger: &Path) {
    set_format(ledger, 99);
}

fn set_format(ledger: &Path, format: u32) {
    let store = rusqlite::Connection::open(ledger).expect("a store");
    store.pragma_update(None, "user_version", format).expect("changed");
    store.close().expect("closed");
}

#[test]
fn killed_at_any_moment_the_one_or_the_other_program_is_started() {
    let maker = Maker::new();
    let release = maker.release("999.1.0", HEALTHY);
    for step in ["before:abort:1", "after:abort:1", "before:abort:2", "after:abort:2", "before:abort:3"] {
        let (code, screen) = maker.apply(&release, Some(&format!("update.apply:{step}")));
        assert!(code != 0 && !screen.contains("is at work"), "{step}: {screen}");
        assert!(!maker.is_updated(), "{step}: the one before");
        // What a broken-off update left is told, and swept by the next one before it copies again.
        let copies = maker.shown()["copies"].as_array().expect("copies").clone();
        let is_copied = ["after:abort:2", "before:abort:3"].contains(&step);
        assert_eq!(copies.len(), usize::from(is_copied), "{step}: {copies:?}");
        assert!(copies.iter().all(|copy| copy["purpose"] == "left_over"), "{step}: {copies:?}");
    }
    // It is on record, and was not asked yet: the next start does.
    let (code, screen) = maker.apply(&release, Some("update.apply:after:abort:3"));
    assert!(code != 0 && !screen.contains("is at work"), "{screen}");
    assert_eq!(maker.shown()["now"]["healthy"], false);
    let purposes = |shown: &Value| -> Vec<String> {
        let copies = shown["copies"].as_array().expect("copies").iter();
        copies.map(|copy| copy["purpose"].as_str().expect("a purpose").to_owned()).collect()
    };
    assert_eq!(purposes(&maker.shown()), ["way_back"], "the only one that is needed");
    assert!(maker.is_updated());
    assert_eq!(maker.shown()["now"]["healthy"], true);
    assert_eq!(maker.shown()["copies"], json!([]), "the store is in the format in which it was");
    assert_eq!(maker.back(&[]).0, 0);
    // Killed while the new program is asked.
    let kills = HEALTHY.replacen("#!/bin/sh\n", &KILLS.replace("MARK", &maker.text("mark")), 1);
    let (code, _) = maker.apply(&maker.release("999.2.0", &kills), None);
    assert!(code != 0 && maker.stage.at("mark").is_file(), "{code}");
    assert_eq!(maker.shown()["now"]["healthy"], false);
    assert!(maker.is_updated(), "the next start asks it again");
    assert_eq!(maker.back(&[]).0, 0);
    assert!(!maker.is_updated());
}

#[test]
fn a_store_that_a_newer_program_changed_is_put_back_only_by_a_persons_word_and_nothing_of_it_is_destroyed() {
    let maker = Maker::new();
    let (code, screen) = maker.apply(&maker.release("999.1.0", CRASHES), None);
    assert_eq!(code, 1, "{screen}");
    // What it did before it ended.
    let ledger = maker.stage.home().join("ledger.db");
    let known = format(&ledger);
    change_format(&ledger);
    maker.stage.hermit(&["ledger", "verify"]).ends(1).complains(&["newer"]);
    let ran = maker.stage.hermit(&["update", "back"]).ends(1);
    ran.complains(&["format 99", "before-999.1.0-1", "update back --restore"]);
    maker.stage.hermit(&["update", "back", "--restore"]).ends(2).complains(&["only a person"]);
    assert_eq!(format(&ledger), 99, "nothing was changed");
    let (code, screen) = maker.back(&["--restore"]);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(format(&ledger), known);
    assert!(!maker.is_updated());
    maker.stage.hermit(&["ledger", "verify"]).ends(0);
    let copies = maker.shown()["copies"].as_array().expect("copies").clone();
    let named = |name: &str, purpose: &str| {
        let is_it = |copy: &&Value| copy["purpose"] == purpose;
        copies.iter().filter(is_it).filter_map(|copy| copy["path"].as_str()).find(|path| path.ends_with(name))
    };
    let newer = PathBuf::from(named("after-update-1", "set_aside").expect("what was there is kept"));
    assert_eq!(format(&newer.join("ledger.db")), 99);
    assert!(named("before-999.1.0-1", "way_back").is_some(), "and the copy: {copies:?}");
    // The next update needs the copy no more. What holds what was done is never swept.
    assert_eq!(maker.apply(&maker.release("999.2.0", HEALTHY), None).0, 0);
    let shown = maker.shown();
    assert_eq!(shown["copies"].as_array().map(Vec::len), Some(1), "{shown}");
    assert_eq!((format(&newer.join("ledger.db")), &shown["copies"][0]["purpose"]), (99, &json!("set_aside")));
}

#[test]
fn a_store_whose_approval_key_is_lost_goes_back_by_the_version_that_a_person_types_and_is_not_updated() {
    let maker = Maker::new();
    let (code, screen) = maker.apply(&maker.release("999.1.0", HEALTHY), None);
    assert!(code == 0 && maker.is_updated(), "{screen}");
    let (key, kept) = (maker.stage.home().join("approval.key"), maker.stage.at("kept.key"));
    fs::rename(&key, &kept).expect("moved");
    maker.stage.hermit(&["update", "back"]).ends(2).complains(&["only a person"]);
    for (typed, wanted) in [("999.1.0", 3), (INSTALLED, 0)] {
        assert_eq!(maker.shown()["at_work"], "999.1.0", "nothing was changed");
        let mut terminal = maker.stage.terminal(&["update", "back"], &[]);
        terminal.expect("Type the version to go back to").send(&format!("{typed}\r"));
        let (code, screen) = terminal.end();
        assert_eq!(code, wanted, "{typed}: {screen}");
    }
    assert_eq!(maker.shown()["at_work"], INSTALLED);
    let next = maker.release("999.2.0", HEALTHY);
    let ran = maker.stage.hermit(&["update", "apply", next.to_str().expect("UTF-8")]).ends(1);
    ran.complains(&["approval.key", "put it back from where you keep it"]);
    fs::rename(&kept, &key).expect("moved");
    assert!(!maker.is_updated());
    assert_eq!(maker.apply(&next, None).0, 0, "with the key that was put back");
    let (code, screen) = maker.back(&[]);
    assert_eq!(code, 0, "the passphrase is asked for again: {screen}");
}

/// Healthy as [`HEALTHY`], and tells what stands in a page of the folder that it was told.
const PAGED: &str = r#"#!/bin/sh
if [ "$1" = successor-health ]; then
  printf '{"step":"opening"}\n'
  printf '{"healthy":"%s","events":1}\n' "$(sha256sum "$0" | cut -d' ' -f1)"
  exit 0
fi
cat "$HERMIT_UI_DIR/assets/page.txt" || echo "no page"
"#;

#[test]
fn the_pages_of_a_release_come_with_its_program_as_they_were_signed_and_go_with_it() {
    let maker = Maker::new();
    let system = maker.system();
    let release = maker.made_with("999.1.0", PAGED.as_bytes(), ("log", &system), &[maker.pages("new pages")]);
    let archive = release.join("programs/hermit-pages");
    let whole = fs::read(&archive).expect("a file");
    let mut changed = whole.clone();
    changed[40] ^= 1;
    fs::write(&archive, changed).expect("a file");
    is_refused(
        maker.check(&release, Some("key.pem")),
        5,
        &["programs/hermit-pages", "not those that were signed"],
    );
    fs::write(&archive, whole).expect("a file");
    let (code, screen) = maker.apply(&release, None);
    assert_eq!(code, 0, "{screen}");
    let shown = || {
        let mut command = maker.stage.command(&["ledger", "verify"]);
        Stage::ran(command.env_remove("HERMIT_UI_DIR")).ends(0).out.trim().to_owned()
    };
    assert_eq!(shown(), "new pages");
    // A name of nothing names no pages.
    let mut unnamed = maker.stage.command(&["ledger", "verify"]);
    assert_eq!(Stage::ran(unnamed.env("HERMIT_UI_DIR", "")).ends(0).out.trim(), "new pages");
    let programs = fs::read_dir(maker.stage.home().join("programs")).expect("programs");
    let mut folders = programs.map(|entry| entry.expect("a program").path());
    let folder = folders.find(|folder| folder.join("hermit-pages").is_file()).expect("its pages");
    // What was changed is laid out anew, and what cannot be is not shown.
    fs::write(folder.join("ui/assets/page.txt"), "bad pages").expect("a file");
    fs::write(folder.join("ui/more.html"), "more").expect("a file");
    assert_eq!(shown(), "new pages");
    assert!(!folder.join("ui/more.html").exists());
    fs::write(folder.join("ui/assets/page.txt"), "bad pages").expect("a file");
    fs::write(folder.join("hermit-pages"), "another").expect("a file");
    assert_eq!(shown(), "no page", "the installed pages have no such file");
    // Who goes back has the pages of the program before.
    let (code, screen) = maker.back(&[]);
    assert!(code == 0 && !maker.is_updated(), "{screen}");
}
