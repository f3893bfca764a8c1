//! What a person may look at of any work, and what they may do about it, each by a command.

use crate::home::Home;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::TaskId;
use model::approval::Choice;
use model::standing::{Cover, StandingScope};
use seal::Signer as _;
use serde_json::{Value, json};
use testkit::{done, look, say, write};

fn rows(told: &Value) -> Vec<Value> {
    told["rows"].as_array().unwrap_or_else(|| panic!("no rows in {told}")).clone()
}

/// A task that has looked, believed, remembered, written and deleted, after a person allowed it.
fn busy(home: &Home) -> TaskId {
    home.world.file("a.txt", "text");
    let evidence = json!(["a.txt"]);
    let answers = vec![
        look("a.txt"),
        say("believe", json!({ "claim": "a is text", "confidence": 500, "evidence": evidence })),
        say(
            "remember",
            json!({ "claim": "a is text", "scope": "*", "reason": "asked", "evidence": evidence }),
        ),
        write("b.txt", "b"),
        say("delete", json!({ "path": "a.txt" })),
        done("was busy"),
    ];
    let task = home.world.script("be busy", answers);
    home.world.drive_allowing(task);
    task
}

#[conforms::conforms("HK-10.6-1", "HK-21-10")]
#[test]
fn everything_a_task_left_is_listed_and_a_decision_is_followed_to_what_it_rests_on() {
    let home = Home::new(6_901);
    let task = busy(&home);
    let of = json!({ "task": task.to_string() });
    assert!(rows(&home.must("task.list", json!({}))).iter().any(|row| row["task_id"] == of["task"]));
    for (command, at_least) in [
        ("task.steps", 1),
        ("grants.list", 4),
        ("receipts.list", 6),
        ("knowledge.beliefs", 1),
        ("knowledge.decisions", 1),
        ("artifacts.list", 10),
    ] {
        let found = rows(&home.must(command, of.clone()));
        assert!(found.len() >= at_least, "{command}: {found:?}");
        assert!(found.iter().all(|row| row["task_id"] == of["task"]), "{command}: {found:?}");
    }
    let approvals = json!({ "task": task.to_string(), "status": "any" });
    assert_eq!(rows(&home.must("approvals.list", approvals)).len(), 3);
    assert_eq!(rows(&home.must("knowledge.memories", json!({}))).len(), 1);
    assert_eq!(home.must("task.show", of.clone())["attempts"].as_array().map(Vec::len), Some(1));

    // To delete was decided: by whom, on what, and by which chain it led to what was done.
    let decisions = rows(&home.must("knowledge.decisions", of.clone()));
    let [decision] = &decisions[..] else { panic!("one decision: {decisions:?}") };
    assert!(decision["rationale"].to_string().contains("a person allowed it"), "{decision}");
    let evidence = decision["evidence"].as_array().expect("evidence");
    assert!(evidence.len() >= 2, "{decision}");
    for one in evidence {
        let shown = home.must("artifacts.show", json!({ "artifact": one["artifact_id"] }));
        assert!(shown.to_string().contains(one["excerpt_sha256"].as_str().expect("a digest")), "{shown}");
    }
    let receipts = rows(&home.must("receipts.list", of));
    let deleted = receipts.iter().find(|row| row["action_class"] == "delete_local").expect("a receipt");
    let why = home.must("trace.explain", json!({ "subject": deleted["receipt_id"] }))["chains"][0].clone();
    let named = why["decisions"].as_array().expect("decisions");
    assert!(named.iter().any(|link| link["id"] == decision["decision_id"]), "{why}");
    for part in ["goal", "policy", "approvals", "grants"] {
        assert!(why[part].as_array().is_some_and(|links| !links.is_empty()), "{part}: {why}");
    }
}

#[conforms::conforms("HK-21-3")]
#[test]
fn each_attempt_and_each_of_its_checkpoints_is_looked_at_with_what_the_model_was_sent_there() {
    let home = Home::new(6_902);
    home.world.file("held.txt", "before\n");
    let gone = || say("delete", json!({ "path": "held.txt" }));
    let task = home.world.script("delete held", vec![look("held.txt"), gone(), gone(), done("ok")]);
    home.world.drive_to_approval(task);
    home.world.kernel().retry(task, "again".to_owned()).expect("it is tried again");
    home.world.drive_allowing(task);
    let attempts = home.must("task.show", json!({ "task": task.to_string() }))["attempts"].clone();
    let told: Vec<(&Value, &Value)> =
        attempts.as_array().expect("attempts").iter().map(|one| (&one["number"], &one["status"])).collect();
    assert_eq!(told, [(&json!(1), &json!("superseded")), (&json!(2), &json!("succeeded"))]);
    let events = home.must("task_events.list", json!({ "task": task.to_string(), "limit": 500 }));
    let events = events["events"].as_array().expect("events").clone();
    let points: Vec<&Value> = events.iter().filter(|e| e["event_type"] == "attempt.checkpointed").collect();
    assert!(points.len() >= 4, "{points:?}");
    for point in points {
        let attempt = attempts.as_array().expect("attempts").iter();
        let mut of = attempt.filter(|one| one["attempt_id"] == point["body"]["about_attempt_id"]);
        let number = of.next().expect("it is of an attempt")["number"].clone();
        let turn = json!({
            "task": task.to_string(), "attempt": number, "iteration": point["body"]["iteration"],
        });
        let shown = home.must("context.show", turn)["shown"].clone();
        assert_eq!(shown["attempt"], number);
        // The checkpoint names the context that is shown for it, and its bytes are there.
        let pack = point["body"]["context_pack_ref"]["value"].as_str().expect("a pack");
        assert_eq!(shown["pack"]["artifact_id"], pack, "{shown}");
        assert!(shown["request"]["bytes"].as_str().is_some_and(|bytes| !bytes.is_empty()));
    }
}

#[conforms::conforms("HK-21-5", "HK-21-12")]
#[test]
fn grants_in_force_are_seen_and_every_control_does_what_it_says() {
    let home = Home::new(6_903);
    let (world, kernel) = (&home.world, home.world.kernel());
    assert_eq!(rows(&home.must("grants.standing", json!({}))).len(), 0);
    assert_eq!(rows(&home.must("grants.list", json!({}))).len(), 0, "nothing may be done now");
    let cover = Cover::Host { name: "example.com".to_owned(), port: 443, write: false };
    let grant = world.person.standing(kernel, cover, StandingScope::User, None);
    let lasting = json!({ "envelope": STANDARD.encode(world.person.sign_standing(&grant)) });
    home.must("grants.allow", lasting);
    let [row] = &rows(&home.must("grants.standing", json!({})))[..] else { panic!("one grant") };
    assert_eq!((&row["grant_id"], &row["state"]), (&json!(grant.grant_id.to_string()), &json!("active")));
    assert!(row["words"].as_str().is_some_and(|words| words.contains("example.com")), "{row}");
    // Revoke it.
    home.must("grants.revoke", json!({ "grant": grant.grant_id.to_string(), "reason": "enough" }));
    assert_eq!(rows(&home.must("grants.standing", json!({}))).len(), 0);

    // Deny, and allow.
    let (_, approval) = home.with_a_question("delete held");
    let no = json!({ "approval": approval, "feedback": "not now" });
    assert_eq!(home.must("approvals.deny", no)["status"], "denied");
    assert!(home.world.path("held.txt").exists());
    let (task, approval) = home.with_a_question("delete held later");
    let id = approval.parse().expect("an id");
    let yes = STANDARD.encode(world.person.sign(kernel, task, id, Choice::Once, None));
    assert_eq!(
        home.must("approvals.decide", json!({ "approval": approval, "envelope": yes }))["accepted"],
        true
    );
    assert!(!home.world.path("held.txt").exists(), "it is done");
    // A grant that was used is told as that, and is in force no more.
    let used = rows(&home.must("grants.list", json!({ "task": task.to_string() })));
    assert!(
        used.iter().any(|row| row["action_class"] == "delete_local" && row["state"] == "consumed"),
        "{used:?}"
    );
    assert_eq!(rows(&home.must("grants.list", json!({}))).len(), 0);
    // Undo.
    let receipts = rows(&home.must("receipts.list", json!({ "task": task.to_string() })));
    let act = receipts.iter().find(|row| row["class"] == "tool_execution").expect("a receipt");
    let undo = home.must("receipts.rollback", json!({ "receipt": act["receipt_id"] }));
    home.world.drive_allowing(undo["task_id"].as_str().expect("a task").parse().expect("an id"));
    assert!(home.world.path("held.txt").exists(), "and undone");
    // Resume what was paused; cancel, and try again what was cancelled.
    let (task, _) = home.with_a_question("delete held once more");
    let of = json!({ "task": task.to_string() });
    let stands = || home.must("task.show", of.clone())["row"]["status"].clone();
    home.must("task.pause", of.clone());
    assert_eq!(stands(), "paused");
    home.must("task.resume", of.clone());
    assert_ne!(stands(), "paused");
    assert_eq!(home.must("task.cancel", of.clone())["status"], "cancelled");
    let again = home.must("task.retry", of.clone())["task_id"].clone();
    assert!(again.is_string() && again != of["task"], "{again}");
}

#[conforms::conforms("HK-21-11")]
#[test]
fn a_receipt_is_read_with_its_signature_and_a_bundle_of_it_is_looked_into_before_and_after_it_is_made() {
    let home = Home::new(6_904);
    let (task, receipt) = home.with_an_act("write a");
    let listed = rows(&home.must("receipts.list", json!({ "task": task.to_string() })));
    assert!(listed.iter().any(|row| row["receipt_id"] == json!(receipt)), "{listed:?}");
    // A list of tasks counts what was done, as the page of the task does; the receipt of the yes is none of that.
    let acts = listed.iter().filter(|row| row["class"] != "approval_resolution").count();
    assert!(acts < listed.len(), "{listed:?}");
    let tasks = rows(&home.must("task.list", json!({})));
    let of = tasks.iter().find(|row| row["task_id"] == json!(task.to_string())).expect("the task");
    assert_eq!(of["receipts"], json!(acts));
    let shown = home.must("receipts.show", json!({ "receipt": receipt }));
    assert_eq!((&shown["receipt"]["receipt_id"], &shown["signature"]), (&json!(receipt), &json!("holds")));
    // Before it is made: what it would hand out.
    let before = home.must("proof.preview", json!({ "task": task.to_string() }));
    assert!(before["events"].as_u64().is_some_and(|events| events > 0), "{before}");
    assert!(before["receipts"].as_u64().is_some_and(|receipts| receipts > 0), "{before}");
    assert!(before["values"].as_array().is_some_and(|values| !values.is_empty()), "{before}");
    let out = tempfile::TempDir::new().expect("a folder");
    let path = out.path().join("proof.zip");
    home.must("proof.export", json!({ "receipt": receipt, "path": path }));
    let key = home.world.keys.log_signer().public().to_pem();
    let report = home.must("proof.verify", json!({ "path": path, "trust": [key] }));
    assert_eq!(
        (&report["verdict"], &report["task_id"]),
        (&json!("valid"), &json!(task.to_string())),
        "{report}"
    );
}
