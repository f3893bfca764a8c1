//! A schedule through the built programs: kept by a person's yes, begun by a host that nobody talks to, asked about as always.

use super::attached::Served;
use super::stage::Stage;
use serde_json::Value;
use std::time::{Duration, Instant};

fn shown(stage: &Stage) -> Value {
    stage.hermit(&["schedule", "show", "each-minute"]).ends(0).json()
}

fn listed(stage: &Stage) -> usize {
    let listed = stage.hermit(&["schedule", "list"]).ends(0).json();
    listed["schedules"].as_array().expect("schedules").len()
}

#[test]
fn a_schedule_begins_a_task_by_itself_which_asks_as_always_and_is_proven() {
    let stage = Stage::new();
    let work = stage.work();
    std::fs::write(work.join("a.txt"), "a").expect("a file");
    let at = work.to_str().expect("UTF-8");
    let read =
        stage.hermit(&["schedule", "preview", "every weekday at half past eight", "--zone", "Europe/Berlin"]);
    let read = read.ends(0).json();
    assert_eq!(
        (read["rule"].as_str(), read["next"].as_array().map(Vec::len)),
        (Some("30 8 * * 1-5"), Some(5))
    );
    stage
        .hermit(&["schedule", "preview", "every other tuesday"])
        .complains(&["every other tuesday", "for example"]);
    stage.hermit(&["schedule", "preview", "daily at 8", "--zone", "Atlantis"]).complains(&["Europe/Berlin"]);

    let add =
        ["schedule", "add", "* * * * *", "--playbook", "tidy", "--name", "each-minute", "--workspace", at];
    let asked = stage.hermit(&add).ends(4).json();
    let approval = asked["waits_for"]["id"].as_str().expect("an approval").to_owned();
    let card = stage.hermit(&["approvals", "show", &approval]).ends(0).json().to_string();
    for words in ["begin a task by itself", "next: ", "it gives no authority", "playbook tidy"] {
        assert!(card.contains(words), "`{words}` is not on the card: {card}");
    }
    assert_eq!(listed(&stage), 0, "nothing before the yes");
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(listed(&stage), 1);

    // Nobody is there but a host; at the next full minute it begins.
    let host = Served::by(&stage);
    let until = Instant::now() + Duration::from_secs(150);
    let task = loop {
        let now = shown(&stage);
        if now["runs"][0]["status"] == "blocked" {
            break now["runs"][0]["task_id"].as_str().expect("a task").to_owned();
        }
        assert!(Instant::now() < until, "it did not begin by itself: {now}");
        std::thread::sleep(Duration::from_millis(500));
    };
    assert_eq!(stage.hermit(&["schedule", "pause", "each-minute"]).ends(0).json()["state"], "paused");
    assert!(work.join("a.txt").exists(), "nothing without a yes");
    let of_it = stage.hermit(&["task", "show", &task]).ends(0).json();
    assert_eq!(of_it["row"]["origin"], "scheduler", "{of_it}");
    let waits = stage.waiting();
    let waits = waits.iter().find(|one| one["task_id"] == task.as_str()).expect("its card");
    let (code, screen) = stage.approve(waits["approval_id"].as_str().expect("an id"));
    assert_eq!(code, 0, "{screen}");
    assert!(work.join("Documents/a.txt").exists(), "{screen}");
    let asks = stage.hermit(&["schedule", "asks", "each-minute"]).ends(0).json();
    assert!(asks["asked"].as_u64() >= Some(1) && asks["granted"] == 0, "{asks}");
    assert!(asks["summary"].as_str().expect("words").contains("would ask you"), "{asks}");
    let month = stage.hermit(&["schedule", "calendar", "each-minute"]).ends(0).json();
    let entries = month["entries"].as_array().expect("entries");
    let ran = |entry: &&Value| entry["state"] == "fired" && entry["task_id"] == task.as_str();
    assert_eq!(entries.iter().filter(ran).count(), 1, "{month}");
    assert!(
        entries.iter().all(|entry| entry["state"] != "due"),
        "none is to come while it is paused: {month}"
    );
    drop(host);
    stage.prove(&task);
    stage.is_sound();
    stage.hermit(&["schedule", "rm", "each-minute"]).ends(0);
    assert_eq!(listed(&stage), 0);
}

#[test]
fn a_run_whose_time_is_up_ends_as_expired_while_nobody_is_there() {
    let stage = Stage::new();
    let work = stage.work();
    std::fs::write(work.join("a.txt"), "a").expect("a file");
    let at = work.to_str().expect("UTF-8");
    let named = ["--name", "each-minute", "--workspace", at];
    let add =
        ["schedule", "add", "* * * * *", "--playbook", "tidy", "--ends-after", "1", "--overlap", "queue"];
    stage
        .hermit(&["schedule", "add", "daily at 8", "--playbook", "tidy", "--overlap", "both"])
        .complains(&["end-older"]);
    let asked = stage.hermit(&[&add[..], &named[..]].concat()).ends(4).json();
    let approval = asked["waits_for"]["id"].as_str().expect("an approval").to_owned();
    let card = stage.hermit(&["approvals", "show", &approval]).ends(0).json().to_string();
    for words in ["a run ends after 1 minutes", "begins when that one rests"] {
        assert!(card.contains(words), "`{words}` is not on the card: {card}");
    }
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");

    // It asks, nobody answers, and a minute later its time is up; another one may have begun by then.
    let host = Served::by(&stage);
    let until = Instant::now() + Duration::from_secs(240);
    let run = loop {
        let now = shown(&stage);
        let runs = now["runs"].as_array().expect("runs");
        if let Some(run) = runs.iter().find(|run| run["run_status"] == "expired") {
            break run["task_id"].as_str().expect("a task").to_owned();
        }
        assert!(Instant::now() < until, "none has expired: {now}");
        std::thread::sleep(Duration::from_millis(500));
    };
    let of_it = stage.hermit(&["task", "show", &run]).ends(0).json();
    assert_eq!(
        (&of_it["row"]["run_status"], &of_it["row"]["open_approvals"]),
        (&"expired".into(), &0.into()),
        "{of_it}"
    );
    assert!(work.join("a.txt").exists(), "nothing without a yes");
    stage.hermit(&["schedule", "pause", "each-minute"]).ends(0);
    drop(host);
    stage.is_sound();
}
