//! The programs of the terminal as Windows has them, under wine, beside ours: one store and one proof for both.
//!
//! They run where `cargo xtask wine` has built them and names them with `HERMIT_WINDOWS_PROGRAMS` and `HERMIT_WINE`.
//! `HERMIT_WINE_KILLS` (20) is how often the one that is at work is killed.

use super::programs::verifier;
use super::stage::{APPROVAL, Ran, Stage, VAULT, until};
use super::tree;
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::Killed;
use testkit::pty::Pty;

/// A start of a program that is built without optimisation takes seconds here.
const PATIENCE: Duration = Duration::from_secs(240);
/// With one of these `hermit approvals approve` begins the last that it says: an error, how the task stands ("Done. (task 0198, 2 s)"),
/// that nothing was decided, that somebody else was before, or that another key has to say yes as well.
const LAST_WORDS: [&str; 5] = ["error:", "(task", "It still waits", "your answer changed nothing", "1 of 2:"];

/// Where wine is, and where what it runs.
struct Windows {
    wine: PathBuf,
    programs: PathBuf,
}

impl Windows {
    /// None where nobody has built it, which is said.
    fn here() -> Option<Self> {
        let named = |name: &str| std::env::var_os(name).filter(|at| !at.is_empty()).map(PathBuf::from);
        let here = named("HERMIT_WINE").zip(named("HERMIT_WINDOWS_PROGRAMS"));
        if here.is_none() {
            conforms::skip(
                "no programs of Windows are here; `cargo xtask wine programs` builds and runs them",
            );
        }
        here.map(|(wine, programs)| Self { wine, programs })
    }

    /// `NAME.exe` of a stage.
    fn command(&self, stage: &Stage, name: &str, words: &[&str]) -> Command {
        let mut command = Command::new(&self.wine);
        command.arg(self.programs.join(name)).args(words).stdin(Stdio::null());
        command
            .env("HERMIT_HOME", dos(&stage.home()))
            .env("HERMIT_PASSPHRASE_FILE", dos(&stage.at("vault.txt")));
        command
    }

    fn hermit(&self, stage: &Stage, words: &[&str]) -> Ran {
        let all = [&["--json"], words].concat();
        ran(stage, &mut self.command(stage, "hermit.exe", &all))
    }

    fn verified(&self, stage: &Stage, proof: &Path, key: &str) -> Ran {
        let proof = dos(proof);
        let words = [proof.as_str(), "--trust", key, "--json"];
        ran(stage, &mut self.command(stage, "hermit-verify.exe", &words))
    }

    /// `hermit.exe` of a stage at a console.
    fn console(&self, stage: &Stage, words: &[&str]) -> Pty {
        let (home, vault) = (dos(&stage.home()), dos(&stage.at("vault.txt")));
        let program = self.programs.join("hermit.exe");
        let all = [&[program.to_str().expect("UTF-8")], words].concat();
        // A terminal has nothing of this environment.
        let own = ["WINEPREFIX", "WINEDEBUG"].map(|name| (name, std::env::var(name).unwrap_or_default()));
        let mut told = vec![("HERMIT_HOME", home.as_str()), ("HERMIT_PASSPHRASE_FILE", vault.as_str())];
        told.extend(own.iter().map(|(name, value)| (*name, value.as_str())));
        Pty::spawn(&self.wine, &all, &told)
    }

    /// What stands for a person at a console of Windows says yes, and sees it done.
    fn approves(&self, stage: &Stage, approval: &str) {
        let shown = self.says_yes(stage, approval);
        assert!(shown.contains("Done."), "{shown}");
    }

    /// The same person says yes as far as they are asked; everything that was shown. Wine's own console keeps the terminal open
    /// behind its program, so the last words are waited for and not the end of that.
    fn says_yes(&self, stage: &Stage, approval: &str) -> String {
        let row = stage.hermit(&["approvals", "show", approval]).ends(0).json()["row"].clone();
        let risk = row["risk"].as_str().expect("a risk");
        let second = format!("Type `{risk}`");
        let mut answers = vec![("Approve?", "y")];
        answers.extend(matches!(risk, "high" | "critical").then_some((second.as_str(), risk)));
        answers.push(("Approval passphrase", APPROVAL));
        let mut pty = self.console(stage, &["approvals", "approve", approval]);
        let was_asked_all = answers.into_iter().all(|(question, answer)| {
            let asked = pty.expect_one_or_end(&[&[question][..], &LAST_WORDS].concat()) == Some(0);
            if asked {
                pty.send(&format!("{answer}\r"));
            }
            asked
        });
        if was_asked_all {
            pty.expect_one_or_end(&LAST_WORDS);
        }
        until("it lets go of the store", || stage.hermit(&["ledger", "checkpoint"]).code == 0);
        pty.shown()
    }

    /// Has the files of the folder renamed: where it can be asked for, the task and the approval that it waits for; and all that
    /// was said.
    fn renames(&self, stage: &Stage, params: &[&str]) -> (Option<(String, String)>, String) {
        let work = dos(&stage.work());
        let mut words = vec!["run", "--playbook", "rename", "--workspace", work.as_str()];
        words.extend(params.iter().flat_map(|param| ["--param", *param]));
        let ran = self.hermit(stage, &words);
        let told = format!("{}\n{}", ran.out, ran.err);
        let asks = (ran.code == 4).then(|| asked(&ran.json()));
        (asks, told)
    }

    /// Proposes what `tidy` does in the folder: the task, and the approval that it waits for.
    #[track_caller]
    fn asks(&self, stage: &Stage) -> (String, String) {
        let ran =
            self.hermit(stage, &["run", "--playbook", "tidy", "--workspace", &dos(&stage.work())]).ends(4);
        asked(&ran.json())
    }
}

/// Runs it to its end. It writes to files: programs of wine's own hold what a program writes to open beyond that program's end.
fn ran(stage: &Stage, command: &mut Command) -> Ran {
    let [out, err] = ["windows.out", "windows.err"].map(|name| stage.at(name));
    let written = |path: &Path| Stdio::from(File::create(path).expect("a file"));
    let mut running = command.stdout(written(&out)).stderr(written(&err)).spawn().expect("wine");
    let begun = Instant::now();
    let status = loop {
        match running.try_wait().expect("it is ours") {
            Some(status) => break status,
            None if begun.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(20)),
            None => {
                running.kill().expect("it is ours");
                panic!("it has not ended in {PATIENCE:?}");
            }
        }
    };
    let text = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).expect("a file")).into_owned();
    Ran { code: status.code().unwrap_or(-1), out: text(&out), err: text(&err) }
}

/// A path as Windows has it: wine shows the whole disk as its drive Z.
fn dos(path: &Path) -> String {
    format!("Z:{}", path.to_str().expect("UTF-8").replace('/', "\\"))
}

fn asked(told: &Value) -> (String, String) {
    let word = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no word: {told}")).to_owned();
    (word(&told["row"]["task_id"]), word(&told["waits_for"]["id"]))
}

/// Both see the same log, also once the other one has signed it: what checking it tells, and each event of a task.
fn same_log(windows: &Windows, stage: &Stage, task: &str) {
    let (verify, events) = (["ledger", "verify"], ["task", "events", task]);
    stage.hermit(&["ledger", "checkpoint"]).ends(0);
    let ours = stage.hermit(&verify).ends(0).json();
    assert_eq!(ours["verdict"], "valid", "{ours}");
    assert_eq!(windows.hermit(stage, &verify).ends(0).json(), ours);
    windows.hermit(stage, &["ledger", "checkpoint"]).ends(0);
    let theirs = windows.hermit(stage, &verify).ends(0).json();
    assert_eq!(stage.hermit(&verify).ends(0).json(), theirs);
    assert_eq!(theirs["verdict"], "valid", "{theirs}");
    assert_eq!(windows.hermit(stage, &events).ends(0).json(), stage.hermit(&events).ends(0).json());
}

/// A proof that one of them wrote, to both verifiers of Rust.
fn same_verdict(windows: &Windows, stage: &Stage, proof: &Path) {
    let key = stage.key("log");
    let theirs = windows.verified(stage, proof, &key).ends(0).json();
    let mut ours = Command::new(verifier());
    ours.arg(proof).args(["--trust", &key, "--json"]).stdin(Stdio::null());
    assert_eq!(Stage::ran(&mut ours).ends(0).json(), theirs);
    assert_eq!(theirs["verdict"], "valid", "{theirs}");
}

fn loose(stage: &Stage) {
    for (name, text) in [("letter.txt", "Dear reader\n"), ("tune.mp3", "la\n"), ("photo.jpg", "sun\n")] {
        std::fs::write(stage.work().join(name), text).expect("a file");
    }
}

#[test]
fn a_store_made_here_is_opened_by_windows_programs_which_verify_and_export_the_same_proof() {
    let Some(windows) = Windows::here() else { return };
    let stage = Stage::new();
    loose(&stage);
    let (task, approval) = stage.asks("tidy");
    assert_eq!(stage.approve(&approval).0, 0);
    same_log(&windows, &stage, &task);
    for theirs in [false, true] {
        let proof = stage.at(if theirs { "theirs.zip" } else { "ours.zip" });
        let (here, there) = (proof.to_str().expect("UTF-8").to_owned(), dos(&proof));
        match theirs {
            true => windows.hermit(&stage, &["proof", "export", &task, "-o", &there]).ends(0),
            false => stage.hermit(&["proof", "export", &task, "-o", &here]).ends(0),
        };
        same_verdict(&windows, &stage, &proof);
    }
}

#[test]
fn tidy_goes_from_its_goal_to_its_proof_and_back_by_windows_programs_and_ours_read_it() {
    let Some(windows) = Windows::here() else { return };
    let stage = Stage::new();
    loose(&stage);
    let before = tree::of(&stage.work());
    let (task, approval) = windows.asks(&stage);
    assert_eq!(tree::of(&stage.work()), before, "nothing happens before a yes");
    windows.approves(&stage, &approval);
    assert_ne!(tree::of(&stage.work()), before);
    let receipt = stage.receipt(&task);
    assert_eq!(receipt["result"], "succeeded", "{receipt}");
    same_log(&windows, &stage, &task);
    let proof = stage.at("theirs.zip");
    windows.hermit(&stage, &["proof", "export", &task, "-o", &dos(&proof)]).ends(0);
    same_verdict(&windows, &stage, &proof);

    let id = receipt["receipt_id"].as_str().expect("an id");
    let (undo, approval) = asked(&windows.hermit(&stage, &["rollback", id]).ends(4).json());
    windows.approves(&stage, &approval);
    assert_eq!(tree::contents(&tree::of(&stage.work())), tree::contents(&before), "the same bytes as before");
    same_log(&windows, &stage, &undo);
}

#[test]
fn a_windows_program_that_is_killed_at_any_moment_loses_nothing_and_acts_once() {
    let Some(windows) = Windows::here() else { return };
    let kills =
        std::env::var("HERMIT_WINE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(20_u32);
    let stage = Stage::new();
    loose(&stage);
    let began = Instant::now();
    let (mut task, mut approval) = windows.asks(&stage);
    let whole = began.elapsed();
    for kill in 0..kills {
        // From its first moment to a little behind its last one.
        let after = whole.mul_f64(f64::from(kill) / f64::from(kills) * 1.1);
        let words = ["--json", "run", "--playbook", "tidy", "--workspace", &dos(&stage.work())];
        let mut command = windows.command(&stage, "hermit.exe", &words);
        let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(after);
        let _ = running.kill();
        running.wait().expect("it ends");
        let seen = stage.hermit(&["ledger", "verify"]).ends(0).json();
        assert_eq!(seen["verdict"], "valid", "after {after:?}: {seen}");
    }
    windows.hermit(&stage, &["resume"]);
    let before = tree::of(&stage.work());
    // All of them propose the same; one is done, and none of the others is done over it.
    if let Some(last) = stage.waiting().last() {
        approval = last["approval_id"].as_str().expect("an id").to_owned();
        task = last["task_id"].as_str().expect("a task").to_owned();
    }
    windows.approves(&stage, &approval);
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    assert_eq!(tree::contents(&tree::of(&stage.work())), tree::contents(&before), "no byte is lost");
    same_log(&windows, &stage, &task);
}

/// All that is on record of what was done and tried, as text.
fn on_record(stage: &Stage) -> String {
    let tasks = stage.hermit(&["task", "list"]).ends(0).json();
    let ids = tasks["rows"].as_array().expect("rows").iter().filter_map(|row| row["task_id"].as_str());
    ids.map(|task| {
        format!(
            "{}\n{}\n",
            stage.hermit(&["task", "show", task]).out,
            stage.hermit(&["task", "events", task]).out
        )
    })
    .collect()
}

/// What cannot be done on Windows is told with words, and the log holds.
fn is_told_and_sound(stage: &Stage, told: &str, words: &str) {
    let all = format!("{told}\n{}", on_record(stage));
    assert!(all.contains(words), "nobody is told `{words}`:\n{all}");
    let seen = stage.hermit(&["ledger", "verify"]).ends(0).json();
    assert_eq!(seen["verdict"], "valid", "{seen}");
}

#[test]
fn a_name_that_windows_cannot_hold_is_refused_there_with_words_and_nothing_is_lost() {
    let Some(windows) = Windows::here() else { return };
    let stage = Stage::new();
    loose(&stage);
    let before = tree::of(&stage.work());
    let (asks, mut told) = windows.renames(&stage, &["pattern=^letter$", "replacement=aux"]);
    if let Some((_, approval)) = asks {
        told += &windows.says_yes(&stage, &approval);
    }
    is_told_and_sound(&stage, &told, "Windows cannot hold");
    assert_eq!(tree::of(&stage.work()), before, "it is as it was");
    // Another name is one, and the same store goes on.
    let (asks, told) = windows.renames(&stage, &["pattern=^letter$", "replacement=auxiliary"]);
    let (task, approval) = asks.unwrap_or_else(|| panic!("nobody is asked: {told}"));
    windows.approves(&stage, &approval);
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    assert!(stage.work().join("auxiliary.txt").is_file());
    assert_eq!(tree::contents(&tree::of(&stage.work())), tree::contents(&before), "no byte is lost");
}

/// A set of changes that was proposed on Linux, where it can be done.
#[test]
fn a_change_set_made_here_with_a_name_that_windows_cannot_hold_does_nothing_there() {
    let Some(windows) = Windows::here() else { return };
    let stage = Stage::new();
    loose(&stage);
    let before = tree::of(&stage.work());
    let work = stage.work();
    let params = ["--param", "pattern=^letter$", "--param", "replacement=aux"];
    let words = [&["run", "--playbook", "rename", "--workspace", work.to_str().expect("UTF-8")][..], &params]
        .concat();
    let (task, approval) = asked(&stage.hermit(&words).ends(4).json());
    let shown = windows.says_yes(&stage, &approval);
    assert!(!shown.contains("Done."), "{shown}");
    assert!(!shown.trim().is_empty(), "and says why");
    assert_eq!(tree::of(&stage.work()), before, "it is as it was");
    same_log(&windows, &stage, &task);
}

/// Two names that Windows takes for one, which lie beside each other on a disk of Linux.
#[test]
fn names_that_differ_in_case_alone_stay_two_files_on_windows() {
    let Some(windows) = Windows::here() else { return };
    let stage = Stage::new();
    for (name, text) in [("one A.txt", "capital\n"), ("two a.txt", "small\n")] {
        std::fs::write(stage.work().join(name), text).expect("a file");
    }
    let before = tree::of(&stage.work());
    let (asks, mut told) = windows.renames(&stage, &["pattern=^(one|two)\\s", "replacement=y"]);
    if let Some((_, approval)) = asks {
        told += &windows.says_yes(&stage, &approval);
    }
    let after = tree::of(&stage.work());
    assert_eq!(tree::contents(&after), tree::contents(&before), "no byte is lost: {told}");
    let folded: std::collections::BTreeSet<String> =
        after.keys().map(|path| path.to_string_lossy().to_lowercase()).collect();
    assert_eq!(folded.len(), 2, "Windows would take them for one: {:?}", after.keys());
    assert_eq!(stage.hermit(&["ledger", "verify"]).ends(0).json()["verdict"], "valid");
}

#[test]
fn a_path_of_more_than_300_signs_is_worked_on_by_windows_programs() {
    let Some(windows) = Windows::here() else { return };
    let stage = Stage::new();
    let folder: Vec<String> = ["a", "b", "c"].map(|sign| sign.repeat(100)).into();
    let folder = folder.join("/");
    std::fs::create_dir_all(stage.work().join(&folder)).expect("folders");
    std::fs::write(stage.work().join(&folder).join("letter.txt"), "Dear reader\n").expect("a file");
    let before = tree::of(&stage.work());
    let in_it = format!("folder={folder}");
    let (asks, told) = windows.renames(&stage, &[&in_it, "pattern=^letter$", "replacement=note"]);
    if asks.is_none() && told.contains("os error 234") {
        conforms::skip(
            "this wine does not tell where a folder with a path of this length lies (ERROR_MORE_DATA)",
        );
        return;
    }
    let (task, approval) = asks.unwrap_or_else(|| panic!("nobody is asked: {told}"));
    windows.approves(&stage, &approval);
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    assert!(stage.work().join(&folder).join("note.txt").is_file());
    assert_eq!(tree::contents(&tree::of(&stage.work())), tree::contents(&before), "no byte is lost");
    same_log(&windows, &stage, &task);
}

#[test]
fn a_file_that_another_program_holds_open_stays_and_the_person_is_told_to_close_it() {
    let Some(windows) = Windows::here() else { return };
    let stage = Stage::new();
    let letter = stage.work().join("letter.txt");
    std::fs::write(&letter, "Dear reader\n").expect("a file");
    // It has the file open for as long as its sign is there, and lets nobody move it meanwhile.
    let (script, sign) = (stage.at("hold.vbs"), stage.at("it-is-open"));
    let lines = [
        "Set files = CreateObject(\"Scripting.FileSystemObject\")".to_owned(),
        format!("Set held = files.OpenTextFile(\"{}\", 1)", dos(&letter)),
        format!("files.CreateTextFile(\"{}\").Close", dos(&sign)),
        format!("Do While files.FileExists(\"{}\")", dos(&sign)),
        "Loop".to_owned(),
    ];
    std::fs::write(&script, lines.join("\r\n")).expect("a script");
    let mut holds = Command::new(&windows.wine);
    holds.args(["cscript", &dos(&script)]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut holds = Killed(holds.spawn().expect("wine"));
    let begun = Instant::now();
    while !sign.is_file() {
        assert!(begun.elapsed() < PATIENCE, "it does not open the file");
        std::thread::sleep(Duration::from_millis(50));
    }
    let before = tree::of(&stage.work());
    let rule = ["pattern=^letter$", "replacement=note"];
    let (asks, mut told) = windows.renames(&stage, &rule);
    if let Some((_, approval)) = asks {
        told += &windows.says_yes(&stage, &approval);
    }
    is_told_and_sound(&stage, &told, "another program has it open");
    assert_eq!(tree::of(&stage.work()), before, "it is as it was");
    std::fs::remove_file(&sign).expect("it was there");
    holds.wait().expect("it has ended");
    let (asks, told) = windows.renames(&stage, &rule);
    let (task, approval) = asks.unwrap_or_else(|| panic!("nobody is asked: {told}"));
    windows.approves(&stage, &approval);
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    assert!(stage.work().join("note.txt").is_file());
    assert_eq!(tree::contents(&tree::of(&stage.work())), tree::contents(&before), "no byte is lost");
}

#[test]
fn a_host_of_windows_is_unlocked_at_a_console_and_locked_from_anywhere() {
    let Some(windows) = Windows::here() else { return };
    let stage = Stage::new();
    let mut serve = windows.command(&stage, "hermit.exe", &["serve"]);
    serve.env_remove("HERMIT_PASSPHRASE_FILE").stdout(Stdio::null()).stderr(Stdio::null());
    let _served = Killed(serve.spawn().expect("it starts"));
    // A checkpoint takes its keys: 4 while they are locked, something else while nobody can be reached.
    let checkpoint = || windows.hermit(&stage, &["ledger", "checkpoint"]).code;
    let (pipe, begun) = (stage.home().join("control.pipe"), Instant::now());
    while !pipe.is_file() || checkpoint() != 4 {
        assert!(begun.elapsed() < PATIENCE, "it hears no orders");
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut console = windows.console(&stage, &["unlock", "--for", "30m"]);
    // Wine shows no space at the end of a line.
    console.expect("Vault passphrase:").send("a wrong one\r");
    console.expect("is not the vault passphrase").expect("Vault passphrase:").send(&format!("{VAULT}\r"));
    let opened = console.expect_one_or_end(&["30 minutes", "error:"]);
    assert_eq!(opened, Some(0), "{}", console.shown());
    assert_eq!(checkpoint(), 0, "it signs");
    // Whoever asks without a console may close them, and opens nothing.
    windows.hermit(&stage, &["lock"]).ends(0);
    assert_eq!(checkpoint(), 4);
    windows.hermit(&stage, &["unlock"]).ends(3).complains(&["terminal"]);
    let nobody = ["--console", "4294967292"];
    let looked = ran(&stage, &mut windows.command(&stage, "hermit-exec.exe", &nobody));
    assert_eq!(looked.code, 1, "who is not there is at no console: {looked:?}");
    assert_eq!(checkpoint(), 4);
}
