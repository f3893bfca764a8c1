//! A person's story on a machine whose network is taken away: its own loopback is all that there is.

use super::server;
use super::stage::Stage;
use super::tree;
use conforms::conforms;
use serde_json::json;
use std::process::Command;
use std::time::Duration;

/// Says that this process stands where no network is.
const INSIDE: &str = "HERMIT_TEST_CUT_OFF";

/// The stories that are told where no network is: the one below; a gateway and whoever is called through it; two machines and the
/// relay between them, each `hermit` itself; finished work that becomes a dataset, an adapter and a model.
const STORIES: [&str; 4] = [
    "journeys::cut_off::the_story_that_is_cut_off",
    "journeys::webhook::a_gateway_keeps_nothing_that_a_killed_host_could_lose_and_says_and_hears_everything_once",
    "mesh::asking::over_a_relay_that_asks_who_is_there_a_goal_is_done_and_answered",
    "journeys::trained::finished_work_becomes_a_dataset_an_adapter_a_model_and_is_recalled",
];
/// Whatever they wait for comes within this time or not at all.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// A program in a network of its own, in which nothing is but loopback.
fn cut_off() -> Command {
    let mut command = Command::new("unshare");
    if !tree::is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]);
    command
}

/// Not a test of its own: what the next test has done without a network.
#[test]
fn the_story_that_is_cut_off() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    let interfaces = std::fs::read_to_string("/proc/net/dev").expect("the kernel tells");
    let names: Vec<&str> = interfaces.lines().skip(2).filter_map(|line| line.split(':').next()).collect();
    assert_eq!(names.iter().map(|name| name.trim()).collect::<Vec<_>>(), ["lo"], "nothing leads out");
    let stage = Stage::new();
    for n in 0..3 {
        std::fs::write(stage.work().join(format!("{n}.txt")), format!("number {n}\n")).expect("a file");
    }
    let before = tree::of(&stage.work());
    let (tidied, approval) = stage.asks("tidy");
    let (code, shown) = stage.approve(&approval);
    assert_eq!(code, 0, "{shown}");
    let receipt = stage.receipt(&tidied);
    assert_eq!(receipt["result"], "succeeded", "{receipt}");
    stage.prove(&tidied);
    let asked = stage.hermit(&["rollback", receipt["receipt_id"].as_str().expect("an id")]).ends(4).json();
    let (code, shown) = stage.approve(asked["waits_for"]["id"].as_str().expect("an approval"));
    assert_eq!(code, 0, "{shown}");
    assert!(tree::of(&stage.work()) == before, "byte for byte as before");
    // A model of this machine proposes, as one of somebody else's machine would.
    let call = |tool: &str, arguments: serde_json::Value| json!({ "tool": tool, "arguments": arguments });
    let model = server::script(&[
        call("write", json!({ "path": "summary.md", "content": "three numbers\n" })),
        call("done", json!({ "summary": "written" })),
    ]);
    let work = stage.work();
    let words =
        ["run", "--goal", "write a summary", "--model", &model, "--workspace", work.to_str().expect("UTF-8")];
    let asked = stage.hermit(&words).ends(4).json();
    let (code, shown) = stage.approve(asked["waits_for"]["id"].as_str().expect("an approval"));
    assert_eq!(code, 0, "{shown}");
    assert_eq!(std::fs::read_to_string(work.join("summary.md")).expect("it is there"), "three numbers\n");
    stage.prove(asked["row"]["task_id"].as_str().expect("a task"));
    // Who it is, what it remembers, what it does by itself and what it may learn from: each layer is on this machine.
    let soul = stage.at("SOUL.md");
    std::fs::write(&soul, "# Ada\nI keep the numbers.\n").expect("a file");
    let (soul, at) = (soul.to_str().expect("UTF-8"), work.to_str().expect("UTF-8"));
    for words in [
        &["identity", "edit", soul][..],
        &["memory", "add", "there are three numbers", "--workspace", at],
        &["schedule", "add", "0 3 * * *", "--playbook", "tidy", "--name", "nightly", "--workspace", at],
    ] {
        let asked = stage.hermit(words).ends(4).json();
        let (code, shown) = stage.approve(asked["waits_for"]["id"].as_str().expect("an approval"));
        assert_eq!(code, 0, "{words:?}: {shown}");
    }
    let who = stage.hermit(&["identity", "show"]).ends(0).json();
    assert_eq!((&who["version"], &who["attested"]), (&json!(1), &json!(true)), "{who}");
    let memory = stage.hermit(&["memory", "list"]).ends(0).json();
    assert!(memory.to_string().contains("there are three numbers"), "{memory}");
    let schedules = stage.hermit(&["schedule", "list"]).ends(0).json();
    assert_eq!(schedules["schedules"].as_array().map(Vec::len), Some(1), "{schedules}");
    let learned = stage.hermit(&["train", "curate"]).ends(0).json();
    assert!(learned["examples"].is_u64(), "{learned}");
    stage.is_sound();
}

#[conforms(part = "HV-1-2", part = "HK-1-1")]
#[test]
fn without_a_network_keys_work_questions_undo_and_proofs_are_all_there() {
    if !cut_off().arg("true").status().is_ok_and(|status| status.success()) {
        conforms::skip("no program can have a network of its own here (`unshare --net`, `ip`)");
        return;
    }
    let mut inside = cut_off();
    inside.arg(std::env::current_exe().expect("this program"));
    // What they show by themselves is told by their own runs.
    inside.arg("--exact").args(STORIES).env(INSIDE, "1").env_remove("HERMIT_CONFORMANCE_DIR");
    let ran = Stage::ran_within(inside.stdin(std::process::Stdio::null()), PATIENCE);
    let passed = format!(" {} passed; 0 failed;", STORIES.len());
    assert!(ran.code == 0 && ran.out.contains(&passed), "{}\n{}", ran.out, ran.err);
    if let Some(skipped) = ran.err.lines().find(|line| line.starts_with("skipped: ")) {
        conforms::skip(&format!("a story could not be told here: {skipped}"));
    }
}
