//! The agent of another program works as a guest: on a copy of the folder, behind walls, its work one card with one
//! receipt, and nothing of it in the folder before the yes.

use super::fetched::{VALUE, keep};
use super::server;
use super::stage::{Stage, until};
use super::tool_servers::{asked, card};
use super::tree;
use conforms::conforms;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long anything expected may take on a slow machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A store, a folder with two files in it, and an agent that does what this script says.
pub(super) fn furnished(script: &str) -> (Stage, String) {
    let stage = Stage::new();
    std::fs::write(stage.work().join("a.txt"), "first\n").expect("a file");
    std::fs::write(stage.work().join("b.txt"), "second\n").expect("a file");
    let agent = program(&stage, "agent", script);
    (stage, agent.to_str().expect("UTF-8").to_owned())
}

fn program(stage: &Stage, name: &str, script: &str) -> PathBuf {
    let folder = stage.at("bin");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its bits");
    path
}

/// Gives the guest a goal: its task and the question that is asked before it runs.
pub(super) fn begin(stage: &Stage, agent: &str, goal: &str, more: &[&str]) -> (String, String) {
    let work = stage.work();
    let mut words = vec!["run", "--agent", agent, goal, "--workspace", work.to_str().expect("UTF-8")];
    words.extend(more);
    asked(&stage.hermit(&words).ends(4).json())
}

/// Lets the guest run, to the question about what it changed; that is left open.
pub(super) fn lets_run(stage: &Stage, approval: &str) -> String {
    let mut pty = stage.allow(approval, &[]);
    pty.expect("made this on its copy").expect("Approve?").send("later\r");
    pty.end();
    let waiting = stage.waiting();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    waiting[0]["approval_id"].as_str().expect("an id").to_owned()
}

/// Denies what the guest changed, with words: the question that follows from them.
fn denied(stage: &Stage, approval: &str, words: &str) -> String {
    stage.hermit(&["approvals", "deny", approval, "--feedback", words]).ends(0);
    stage.hermit(&["resume"]);
    let waiting = stage.waiting();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    let next = waiting[0]["approval_id"].as_str().expect("an id").to_owned();
    assert_ne!(next, approval);
    next
}

/// Lets the guest run where nothing comes of it to be asked about; the exit code and what was shown.
fn comes_to_nothing(stage: &Stage, approval: &str) -> String {
    let (code, screen) = stage.approve(approval);
    assert_eq!(code, 1, "{screen}");
    assert!(stage.waiting().is_empty(), "nothing is asked");
    screen
}

pub(super) fn receipts(stage: &Stage, task: &str) -> Vec<Value> {
    let rows = stage.hermit(&["receipts", "list", "--task", task]).ends(0).json();
    let effects =
        rows["rows"].as_array().expect("rows").iter().filter(|r| r["class"] != "approval_resolution");
    effects.cloned().collect()
}

/// What it printed, from the artifact that these words lead to.
pub(super) fn printed(stage: &Stage, words: &str) -> String {
    let found = stage.hermit(&["search", words]).ends(0).json();
    let rows = found["rows"].as_array().expect("rows");
    let row =
        rows.iter().find(|row| row["what"].as_str().is_some_and(|what| what.contains("output of a command")));
    let id = row.unwrap_or_else(|| panic!("no output: {found}"))["id"].as_str().expect("an id").to_owned();
    stage.hermit(&["artifacts", "show", &id, "-o", "-"]).ends(0).out
}

/// Processes of this machine with this word among their arguments.
fn processes(word: &str) -> usize {
    let named = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|part| part == word.as_bytes())
    };
    std::fs::read_dir("/proc").into_iter().flatten().flatten().filter(named).count()
}

/// Whether a file of this name, with this in it, lies anywhere below a folder.
fn lies(folder: &Path, name: &str, text: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let holds = || std::fs::read_to_string(entry.path()).is_ok_and(|held| held.contains(text));
        (entry.file_name() == name && holds())
            || (entry.file_type().is_ok_and(|kind| kind.is_dir()) && lies(&entry.path(), name, text))
    })
}

pub(super) const WORKS: &str = "echo \"asked: $1\"\necho more >> a.txt\nrm b.txt\nmkdir new\necho made > new/c.txt\n\
                     echo set > \"$HOME/settings\"";

#[conforms::conforms(part = "HK-17.1-3")]
#[test]
fn a_guest_works_on_a_copy_and_its_work_is_one_card_one_receipt_and_can_be_undone() {
    let (stage, agent) = furnished(WORKS);
    let before = tree::of(&stage.work());
    let (task, first) = begin(&stage, &agent, "make it so", &[]);
    let shown = card(&stage, &first);
    for word in [&agent[..], "sha256", "make it so", "no network", "copy", "HOME of its own"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    assert_eq!(stage.count(&task, "effect.dispatched"), 0, "nothing runs before a person was asked");
    let lease = |event: &Value| event["body"]["lease"]["mode"].as_str().map(str::to_owned);
    let modes: Vec<String> = stage.events(&task).iter().filter_map(lease).collect();
    assert_eq!(modes, ["isolated"], "what it may do to the folder is said by its lease");
    let second = lets_run(&stage, &first);
    assert!(tree::of(&stage.work()) == before, "nothing of it is in the folder before the yes");
    let shown = card(&stage, &second);
    for word in ["a.txt", "b.txt", "new/c.txt", "tells nothing"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    assert!(!shown.contains("settings"), "its HOME is none of the folder: {shown}");
    let (code, screen) = stage.approve(&second);
    assert_eq!(code, 0, "{screen}");
    let read = |name: &str| std::fs::read_to_string(stage.work().join(name)).ok();
    assert_eq!(read("a.txt").as_deref(), Some("first\nmore\n"));
    assert_eq!((read("b.txt"), read("new/c.txt").as_deref()), (None, Some("made\n")));
    let all = receipts(&stage, &task);
    assert_eq!(all.len(), 2, "one for the turn, one for its work: {all:?}");
    assert!(printed(&stage, "asked: make it so").contains("asked: make it so"), "its terminal is kept");
    assert!(!lies(&stage.home(), "settings", "set"), "its HOME is gone with its task");
    stage.is_sound();
    stage.prove_receipts(&task);
    let made = all.iter().find(|receipt| receipt["action_class"] == "delete_local").expect("its work");
    let undo = stage.hermit(&["rollback", made["receipt_id"].as_str().expect("an id")]).ends(4).json();
    let (code, screen) = stage.approve(undo["waits_for"]["id"].as_str().expect("an approval"));
    assert_eq!(code, 0, "{screen}");
    assert!(tree::of(&stage.work()) == before, "byte for byte as before");
}

#[test]
fn a_no_with_words_is_what_the_guest_is_asked_next_and_a_bare_no_ends_it() {
    let (stage, agent) = furnished("echo \"$1\" > said.txt");
    let (task, first) = begin(&stage, &agent, "write it down", &[]);
    let second = lets_run(&stage, &first);
    let third = denied(&stage, &second, "in capitals, please");
    let shown = card(&stage, &third);
    for word in ["write it down", "not taken by a person", "in capitals, please"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    assert!(!stage.work().join("said.txt").exists());
    let fourth = lets_run(&stage, &third);
    let (code, screen) = stage.approve(&fourth);
    assert_eq!(code, 0, "{screen}");
    let said = std::fs::read_to_string(stage.work().join("said.txt")).expect("it is there");
    assert!(said.contains("write it down") && said.contains("in capitals, please"), "{said}");
    stage.is_sound();
    stage.prove(&task);

    let (task, first) = begin(&stage, &agent, "once more", &[]);
    let first = denied(&stage, &first, "with care");
    assert!(card(&stage, &first).contains("with care"), "what is said before it runs is asked of it as well");
    stage.hermit(&["approvals", "deny", &first]).ends(0);
    stage.hermit(&["resume"]);
    let ended = stage.hermit(&["task", "show", &task]).ends(0).json();
    assert_eq!(
        (&ended["row"]["status"], &ended["termination"]),
        (&json!("failed"), &json!("approval_denied"))
    );
    assert!(stage.waiting().is_empty());
}

#[test]
fn a_guest_that_is_known_goes_on_in_its_own_home_with_what_it_did_before() {
    let (stage, _) = furnished("true");
    // A program of that name, which says what its words were, and finds what it left in its HOME.
    let known = program(
        &stage,
        "aider",
        "if [ \"$1\" = --version ]; then echo aider 9.9; exit; fi\nfor word; do last=$word; done\n\
         case \" $* \" in *--restore-chat-history*) again=yes ;; esac\n\
         echo \"$again:$(cat \"$HOME/n\" 2>/dev/null):$last\" > said.txt\necho 1 >> \"$HOME/n\"\n\
         echo Applied edit to said.txt",
    );
    let path = format!("{}:/usr/bin:/bin", known.parent().expect("a folder").display());
    let work = stage.work();
    let words = ["--json", "run", "--agent", "aider", "say it", "--workspace", work.to_str().expect("UTF-8")];
    let without = Stage::ran(stage.command(&words).env("PATH", "/usr/bin:/bin")).ends(1);
    without.complains(&["aider", "not installed", "aider-chat"]);
    let without = Stage::ran(stage.command(&words).env("PATH", &path)).ends(1);
    without.complains(&["needs a key", "hermit secret set openai"]);
    let mut words = words.to_vec();
    words.extend(["--agent-host", "127.0.0.1:9"]);
    let (task, first) = asked(&Stage::ran(stage.command(&words).env("PATH", &path)).ends(4).json());
    let shown = card(&stage, &first);
    for word in ["127.0.0.1:9", "SEND", "--no-git"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    let second = lets_run(&stage, &first);
    let shown = card(&stage, &second);
    assert!(shown.contains("it told of every place"), "{shown}");
    let third = denied(&stage, &second, "shorter");
    let fourth = lets_run(&stage, &third);
    let (code, screen) = stage.approve(&fourth);
    assert_eq!(code, 0, "{screen}");
    let said = std::fs::read_to_string(stage.work().join("said.txt")).expect("it is there");
    assert!(said.starts_with("yes:1:A person looked at what you changed"), "it goes on where it was: {said}");
    assert!(said.contains("shorter"), "{said}");
    let all = receipts(&stage, &task).iter().map(Value::to_string).collect::<String>();
    let shown = stage.hermit(&["task", "show", &task]).ends(0).out;
    assert!(shown.contains("guest:aider"), "the task says who works: {shown}");
    let turn =
        receipts(&stage, &task).into_iter().find(|receipt| receipt["action_class"] == "external_effect");
    let turn = turn.unwrap_or_else(|| panic!("no turn: {all}"));
    let receipt =
        stage.hermit(&["receipts", "show", turn["receipt_id"].as_str().expect("an id")]).ends(0).out;
    for word in ["aider 9.9", "made no connection", "executable_sha256"] {
        assert!(receipt.contains(word), "`{word}` is not in the receipt: {receipt}");
    }
    stage.is_sound();
}

#[conforms("HK-17.1-3")]
#[test]
fn a_lease_says_what_its_profile_permits_and_is_isolated_for_a_guest() {
    let (stage, agent) = furnished("true");
    let mode = |task: &str| {
        let acquired =
            stage.events(task).into_iter().find(|event| event["event_type"] == "workspace.lease_acquired");
        acquired.expect("a lease")["body"]["lease"]["mode"].as_str().expect("a mode").to_owned()
    };
    let work = stage.work();
    let model = server::script(&[json!({ "tool": "done", "arguments": { "summary": "done" } })]);
    for (profile, expected) in [
        ("readonly_analysis", "readonly"),
        ("local_edit_allowed", "external_effects_disabled"),
        ("network_read_allowed", "mutable"),
    ] {
        let words = ["run", "--goal", "go", "--workspace", work.to_str().expect("UTF-8")];
        let words = [&words[..], &["--model", &model, "--profile", profile]].concat();
        let ran = stage.hermit(&words).ends(0).json();
        assert_eq!(mode(ran["row"]["task_id"].as_str().expect("an id")), expected, "{profile}");
    }
    let (task, _) = begin(&stage, &agent, "go", &["--profile", "network_read_allowed"]);
    assert_eq!(mode(&task), "isolated", "whatever its profile permits");
}

#[test]
fn a_known_agent_has_its_hosts_its_key_and_its_home_also_by_words_of_ones_own() {
    let (stage, _) = furnished("true");
    let known = program(
        &stage,
        "claude",
        "if [ \"$1\" = --version ]; then echo 9.9; exit; fi\n\
         echo \"$IS_SANDBOX $ANTHROPIC_API_KEY $(cat \"$HOME/.claude.json\") $*\" > said.txt",
    );
    let path = format!("{}:/usr/bin:/bin", known.parent().expect("a folder").display());
    let work = stage.work();
    let words =
        |agent| ["--json", "run", "--agent", agent, "say it", "--workspace", work.to_str().expect("UTF-8")];
    for agent in ["claude -p", "claude --model small -p"] {
        let without = Stage::ran(stage.command(&words(agent)).env("PATH", &path)).ends(1);
        without.complains(&["needs a key", "hermit secret set anthropic --host api.anthropic.com:443"]);
    }
    keep(&stage, "anthropic", "api.anthropic.com:443");
    // The words of the preset are the preset; others stay as they are, and what is around them is the same.
    for (agent, has, has_not) in [
        ("claude -p", "--dangerously-skip-permissions", "--model"),
        ("claude --model small -p", "--model small -p say it", "--dangerously-skip-permissions"),
    ] {
        let (_, first) = asked(&Stage::ran(stage.command(&words(agent)).env("PATH", &path)).ends(4).json());
        let shown = card(&stage, &first);
        for word in ["api.anthropic.com:443", "secret:anthropic"] {
            assert!(shown.contains(word), "`{word}` is not on the card of `{agent}`: {shown}");
        }
        let second = lets_run(&stage, &first);
        assert_eq!(stage.approve(&second).0, 0);
        let said = std::fs::read_to_string(stage.work().join("said.txt")).expect("it is there");
        assert!(said.starts_with("1 ") && said.contains("hasCompletedOnboarding"), "{said}");
        assert!(said.contains(has) && !said.contains(has_not), "{said}");
        assert!(!said.contains(VALUE) && !said.starts_with("1  "), "a stand-in of the key: {said}");
    }
    stage.is_sound();
}

#[test]
fn a_guest_that_ends_badly_is_told_with_its_last_words_and_what_it_changed_is_still_shown() {
    let (stage, agent) =
        furnished("echo made > made.txt; echo first words; echo the model said no >&2; exit 3");
    let (_, first) = begin(&stage, &agent, "try", &[]);
    let second = lets_run(&stage, &first);
    let shown = card(&stage, &second);
    for word in ["made.txt", "NO success", "status 3", "the model said no"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    for (script, words) in [
        ("echo out of luck; exit 4", &["status 4", "out of luck"][..]),
        ("head -c 700000000 /dev/zero > large", &["536870912 bytes", "nothing was done"]),
        ("head -c 700000000 /dev/zero > \"$HOME/large\"; sleep 30", &["536870912 bytes"]),
    ] {
        let (stage, agent) = furnished(script);
        let before = tree::of(&stage.work());
        let (_, first) = begin(&stage, &agent, "try", &[]);
        let screen = comes_to_nothing(&stage, &first);
        let screen: String = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(screen.contains(word), "`{word}` is not in {screen}");
        }
        assert!(tree::of(&stage.work()) == before, "{script}");
        stage.is_sound();
    }
}

#[test]
fn what_a_person_changed_meanwhile_is_a_conflict_and_theirs_stays() {
    let script = "echo guest >> a.txt; until [ -e \"$(dirname \"$0\")/go\" ]; do sleep 0.05; done";
    let (stage, agent) = furnished(script);
    let beside = stage.at("bin");
    let (_, first) = begin(&stage, &agent, "try", &["--agent-read", beside.to_str().expect("UTF-8")]);
    let pty = stage.allow(&first, &[]);
    until("it has changed its copy", || lies(&stage.home(), "a.txt", "guest"));
    std::fs::write(stage.work().join("a.txt"), "the person's\n").expect("a file");
    std::fs::write(beside.join("go"), "").expect("a file");
    let (code, screen) = pty.end();
    assert_eq!(code, 1, "{screen}");
    assert!(screen.contains("was changed by somebody"), "{screen}");
    assert_eq!(std::fs::read_to_string(stage.work().join("a.txt")).expect("it is there"), "the person's\n");

    // The same between the card and the yes.
    let (stage, agent) = furnished("echo guest >> a.txt");
    let (_, first) = begin(&stage, &agent, "try", &[]);
    let second = lets_run(&stage, &first);
    std::fs::write(stage.work().join("a.txt"), "the person's\n").expect("a file");
    let (code, screen) = stage.approve(&second);
    assert_ne!(code, 0, "{screen}");
    assert_eq!(std::fs::read_to_string(stage.work().join("a.txt")).expect("it is there"), "the person's\n");
    stage.is_sound();
}

/// A word that no other process has among its own.
fn unique(stage: &Stage) -> String {
    let name = stage.at("x").display().to_string();
    let number: u64 =
        name.bytes().map(u64::from).fold(7, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
    format!("9{:08}", number % 100_000_000)
}

#[test]
fn a_guest_that_never_ends_is_cancelled_with_all_that_it_started() {
    let stage = Stage::new();
    let mark = unique(&stage);
    let agent = program(
        &stage,
        "agent",
        &format!("echo made > made.txt; echo I am at work\n(setsid sleep {mark} &)\nsleep {mark}"),
    );
    let (task, first) = begin(&stage, agent.to_str().expect("UTF-8"), "try", &[]);
    let served = super::attached::Served::by(&stage);
    let pty = stage.allow(&first, &[]);
    until("it works", || processes(&mark) == 2);
    let events = format!("/v1/runs/{task}/events");
    until("what it prints is told while it works", || {
        let (_, told) = served.ask(&stage, "GET", &events, &Value::Null);
        let told = told.to_string();
        told.contains("token.delta") && told.contains("I am at work")
    });
    stage.hermit(&["task", "cancel", &task]).ends(0);
    let (_, screen) = pty.end();
    until("all of it has ended", || processes(&mark) == 0);
    let row = stage.hermit(&["task", "show", &task]).ends(0).json();
    assert_eq!(row["row"]["status"], "cancelled", "{screen}");
    assert!(tree::of(&stage.work()).is_empty(), "nothing is in the folder");
    drop(served);
    stage.is_sound();
}

#[test]
fn a_guest_that_works_longer_than_its_task_may_is_ended_and_what_to_do_is_said() {
    let stage = Stage::new();
    let mark = unique(&stage);
    let agent = program(&stage, "agent", &format!("echo made > made.txt; echo I am at work; sleep {mark}"));
    let served = super::attached::Served::by(&stage);
    let reasoner = json!({ "kind": "guest", "agent": agent });
    let asked = json!({
        "goal": "try", "workspace": stage.work(), "reasoner": reasoner, "budget": { "wall_ms_max": 3_000 },
    });
    let (status, submitted) = served.ask(&stage, "POST", "/api/task.submit", &asked);
    assert_eq!(status, 200, "{submitted}");
    until("it is asked about", || !stage.waiting().is_empty());
    let first = stage.waiting()[0]["approval_id"].as_str().expect("an id").to_owned();
    let second = lets_run(&stage, &first);
    assert_eq!(processes(&mark), 0, "it has ended");
    let shown = card(&stage, &second);
    for word in ["made.txt", "NO success", "it ran longer than 3 seconds and was ended", "I am at work"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    assert!(tree::of(&stage.work()).is_empty(), "nothing is in the folder");
    drop(served);
    stage.is_sound();
}

#[test]
fn a_host_killed_while_a_guest_works_leaves_nothing_behind_and_the_task_can_go_on() {
    let stage = Stage::new();
    let mark = unique(&stage);
    let script =
        format!("echo made > made.txt\n[ -e \"$HOME/been\" ] && exit\ntouch \"$HOME/been\"\nsleep {mark}");
    let agent = program(&stage, "agent", &script);
    let (task, first) = begin(&stage, agent.to_str().expect("UTF-8"), "try", &[]);
    let pty = stage.allow(&first, &[]);
    until("it works", || processes(&mark) == 1);
    // Letting go of the terminal kills what runs on it with SIGKILL.
    drop(pty);
    until("the guest has ended with its host", || processes(&mark) == 0);
    assert!(tree::of(&stage.work()).is_empty(), "nothing is in the folder");
    stage.hermit(&["resume"]).ends(4);
    let all = receipts(&stage, &task);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0]["result"], "failed");
    let receipt =
        stage.hermit(&["receipts", "show", all[0]["receipt_id"].as_str().expect("an id")]).ends(0).out;
    assert!(receipt.contains("Hermit was ended while the guest worked"), "{receipt}");
    assert!(!lies(&stage.home(), "made.txt", "made"), "its copy is gone");
    // It may go on, with a yes of its own; its own HOME is new, as it cannot go on with what it did.
    let waiting = stage.waiting();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    let pty = stage.allow(waiting[0]["approval_id"].as_str().expect("an id"), &[]);
    until("it works again", || processes(&mark) == 1);
    drop(pty);
    stage.hermit(&["task", "cancel", &task]).ends(0);
    stage.is_sound();
    stage.prove(&task);
}
