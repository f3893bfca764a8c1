//! Memory as it was at a checkpoint or at a time, by the built programs: what is listed, what proves it, and what a stranger is
//! shown of it in a proof.

use super::stage::{Stage, agreed};
use super::tool_servers::{asked, put, work, yes};
use serde_json::Value;

fn add(stage: &Stage, work: &str, claim: &str) -> String {
    let (task, approval) =
        asked(&stage.hermit(&["memory", "add", claim, "--workspace", work]).ends(4).json());
    yes(stage, &approval);
    task
}

fn claims(listed: &Value) -> Vec<String> {
    let rows = listed["rows"].as_array().expect("rows");
    let mut claims: Vec<String> =
        rows.iter().map(|row| row["claim"].as_str().unwrap_or("erased").to_owned()).collect();
    claims.sort();
    claims
}

#[conforms::conforms(part = "HV-3.6-1", part = "HV-3.6-2")]
#[test]
fn memory_of_any_checkpoint_is_listed_proven_and_shown_to_a_stranger() {
    let stage = Stage::new();
    put(&stage, "a.txt", "a");
    let work = work(&stage);
    let first = add(&stage, &work, "rates live in rates.toml");
    add(&stage, &work, "the logo is blue");
    stage.hermit(&["ledger", "checkpoint"]).ends(0);
    let head = stage.hermit(&["checkpoint", "export"]).ends(0).json();
    let size = head["size"].as_u64().expect("a size").to_string();
    let listed = stage.hermit(&["memory", "list"]).ends(0).json();
    let row = listed["rows"].as_array().expect("rows").iter().find(|row| row["claim"] == "the logo is blue");
    let id = row.expect("it is there")["memory_id"].as_str().expect("an id").to_owned();
    stage.hermit(&["memory", "forget", &id, "--reason", "it is green"]).ends(0);
    add(&stage, &work, "the logo is green");
    // Closing the store states and signs the roots; nobody asked for a checkpoint.
    let points = stage.hermit(&["memory", "points"]).ends(0).json();
    let points = points["rows"].as_array().expect("points").clone();
    assert!(points.len() >= 2 && points.iter().all(|point| point["checkpoint"].is_u64()), "{points:?}");

    let then = stage.hermit(&["memory", "list", "--as-of", &size]).ends(0).json();
    assert_eq!(claims(&then), ["rates live in rates.toml", "the logo is blue"]);
    assert_eq!(
        (&then["standing"], &then["added"][0]["claim"]),
        (&"proven".into(), &"the logo is green".into())
    );
    let note = stage.at("kept.note");
    std::fs::write(&note, head["note"].as_str().expect("a note")).expect("it is kept");
    let by_note = stage.hermit(&["memory", "list", "--as-of", note.to_str().expect("text")]).ends(0).json();
    assert_eq!(claims(&by_note), claims(&then));
    let now = stage.hermit(&["memory", "list", "--as-of", "now"]).ends(0).json();
    assert_eq!(claims(&now), ["rates live in rates.toml", "the logo is green"]);
    for (bad, says) in
        [("2020-01-01", "before the first root"), ("99999", "99999 notes"), ("soon", "no time")]
    {
        stage.hermit(&["memory", "list", "--as-of", bad]).complains(&[says]);
    }

    // A stranger finds the record in the root of its project, and the messages in that of the conversation.
    let proof = stage.prove(&first);
    let told = agreed(&proof, &stage.key("log"))["proven"].to_string();
    assert!(
        told.contains("2 records of memory in force in project") && told.contains("1 of them is an event"),
        "{told}"
    );
    assert!(told.contains("messages of cnv_"), "{told}");

    // Its content is addressed by what it is: the event holds digests, and each names the bytes that are kept.
    let folder = stage.at(&format!("{first}.proof"));
    let events = std::fs::read_to_string(folder.join("task/events.jsonl")).expect("events");
    let line = events.lines().find(|line| line.contains("\"memory.promoted\"")).expect("the record");
    assert!(!line.contains("rates live"), "no text stands in the event");
    let event: Value = serde_json::from_str(line).expect("an event");
    let digest = event["payload"]["record"]["claim"]["$sd"].as_str().expect("a digest").to_owned();
    let kept = std::fs::read(folder.join(format!("disclosures/{digest}.json"))).expect("it is kept");
    assert_eq!(seal::Digest::of(&kept).to_string(), digest);
    assert!(String::from_utf8_lossy(&kept).contains("rates live in rates.toml"));

    // What was changed behind the log is not called proven.
    let views = rusqlite::Connection::open(stage.home().join("ledger.db")).expect("a database");
    views.execute("UPDATE view_memories SET state_leaf = ?1", ["00".repeat(32)]).expect("it is changed");
    drop(views);
    let then = stage.hermit(&["memory", "list", "--as-of", &size]).ends(0).json();
    assert_eq!(then["standing"], "differs");
    stage.hermit(&["ledger", "rebuild"]).ends(0);
    let then = stage.hermit(&["memory", "list", "--as-of", &size]).ends(0).json();
    assert_eq!(then["standing"], "proven");
}
