//! Writing commands.

use crate::home::Home;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kernel::command::submit::Reasoning;
use model::approval::Choice;
use model::policy::Profile;
use serde_json::{Value, json};
use wire::Code;

#[test]
fn a_playbook_is_submitted_once_for_one_key() {
    let home = Home::new(40);
    home.world.file("a.txt", "a\n");
    let name = reasoning::Playbook::shipped()[0].name().to_owned();
    let params = json!({
        "workspace": home.world.folder.path(),
        "reasoner": { "kind": "playbook", "name": name },
        "idempotency_key": "mine",
    });
    let first = home.must("task.submit", params.clone());
    let second = home.must("task.submit", params);
    assert_eq!(first["task_id"], second["task_id"]);
    assert_eq!((&first["duplicate"], &second["duplicate"]), (&json!(false), &json!(true)));
    let shown = home.must("task.show", json!({ "task": first["task_id"] }));
    assert_eq!(shown["reasoner"], format!("playbook:{name}"));
    assert_eq!(shown["workspace"], json!(home.world.folder.path().canonicalize().expect("a folder")));
}

#[test]
fn a_task_that_begins_with_an_open_message_is_of_whoever_sent_it() {
    let home = Home::new(4_301);
    home.world.file("a.txt", "a\n");
    let said = json!({ "text": "count the files here", "channel": "webhook" });
    let said = home.must("conversations.say", said);
    assert_eq!(said["task_id"], Value::Null, "{said}");
    let name = reasoning::Playbook::shipped()[0].name().to_owned();
    let asked = json!({
        "message": said["message_id"],
        "workspace": home.world.folder.path(),
        "reasoner": { "kind": "playbook", "name": name },
        "channel": "app",
        "idempotency_key": "window",
    });
    for (field, beside) in [("goal", json!("and delete them")), ("attachments", json!(["/a.txt"]))] {
        let mut more = asked.clone();
        more[field] = beside;
        assert_eq!(home.ask("task.submit", more).unwrap_err().code, Code::Usage, "{field}");
    }
    for nobody in ["mcp", "webhook"] {
        let mut more = asked.clone();
        more["channel"] = json!(nobody);
        more["steps"] = json!([{ "objective": "delete them" }]);
        assert_eq!(home.ask("task.submit", more).unwrap_err().code, Code::Forbidden, "{nobody}");
    }
    let begun = home.must("task.submit", asked.clone());
    let shown = home.must("task.show", json!({ "task": begun["task_id"] }));
    assert_eq!(shown["goal"], "count the files here");
    assert_eq!(shown["row"]["origin"], "program", "the person who begins it does not vouch for the words");
    let task = begun["task_id"].as_str().expect("a task").parse().expect("an identifier");
    let tier = home.world.kernel().task(task).expect("it is there").goal_tier();
    assert_eq!(tier, model::artifact::TrustTier::Untrusted);
    assert_eq!(home.must("conversations.undecided", json!({}))["rows"], json!([]), "it is bound");
    // A page that heard no answer sends it again under its key, and gets the task that began.
    assert_eq!(begun["duplicate"], false);
    let again = home.must("task.submit", asked.clone());
    assert_eq!((&again["task_id"], &again["duplicate"]), (&begun["task_id"], &json!(true)));
    let mut other = asked.clone();
    other["idempotency_key"] = json!("another window");
    assert_eq!(home.ask("task.submit", other).unwrap_err().code, Code::Conflict, "once");
    for (field, changed) in
        [("budget", json!({ "tokens_max": 12_345 })), ("constraints", json!(["touch nothing"]))]
    {
        let mut other = asked.clone();
        other[field] = changed;
        let refused = home.ask("task.submit", other).unwrap_err();
        assert_eq!(refused.code, Code::Conflict, "the key of a request with other terms: {field}");
    }
    let next = json!({ "text": "count them again", "channel": "webhook" });
    let mut other = asked;
    other["message"] = home.must("conversations.say", next)["message_id"].clone();
    assert_eq!(
        home.ask("task.submit", other).unwrap_err().code,
        Code::Conflict,
        "the key of another request"
    );
    let nowhere = json!({ "message": "nothing", "workspace": home.world.folder.path() });
    assert_eq!(home.ask("task.submit", nowhere).unwrap_err().code, Code::NotFound);
}

#[test]
fn a_card_is_shown_a_signed_yes_is_taken_and_the_same_attempt_goes_on() {
    let home = Home::new(41);
    let (task, approval) = home.with_a_question("delete held");
    let shown = home.must("approvals.show", json!({ "approval": approval }));
    assert!(shown["lines"].as_array().expect("lines").iter().any(|l| l["kind"] == "destructive"));
    let packet = STANDARD.decode(shown["packet"].as_str().expect("bytes")).expect("base64");
    assert_eq!(
        seal::Digest::of(&packet).to_string(),
        shown["packet_sha256"],
        "what is shown is what is hashed"
    );
    let id = approval.parse().expect("an id");
    let envelope = home.world.person.sign(home.world.kernel(), task, id, Choice::Once, None);
    let params = json!({ "approval": approval, "envelope": STANDARD.encode(&envelope) });
    let decided = home.must("approvals.decide", params.clone());
    assert_eq!((&decided["accepted"], &decided["status"]), (&json!(true), &json!("granted")));
    assert!(!home.world.files().contains_key("held.txt"), "it is done");
    let receipt = home.must("approvals.show", json!({ "approval": approval }))["receipt_id"].clone();
    let receipt = home.must("receipts.show", json!({ "receipt": receipt, "brief": true }));
    assert_eq!(
        (&receipt["row"]["action_class"], &receipt["receipt"]["changes"]),
        (&json!("delete_local"), &json!(null))
    );
    let again = home.must("approvals.decide", params);
    assert_eq!(
        (&again["accepted"], &again["status"]),
        (&json!(false), &json!("granted")),
        "a second yes is no effect"
    );
    let shown = home.must("task.show", json!({ "task": task.to_string() }));
    assert_eq!(shown["attempts"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_is_no_persons_signature_is_no_yes() {
    let home = Home::new(42);
    let (task, approval) = home.with_a_question("delete held");
    let stranger = testkit::Person::new(0x11);
    let id = approval.parse().expect("an id");
    let forged = stranger.sign(home.world.kernel(), task, id, Choice::Once, None);
    let mut bent = home.world.person.sign(home.world.kernel(), task, id, Choice::Once, None);
    let middle = bent.len() / 2;
    bent[middle] ^= 1;
    for envelope in [forged, bent, b"{}".to_vec(), Vec::new()] {
        let params = json!({ "approval": approval, "envelope": STANDARD.encode(envelope) });
        let error = home.ask("approvals.decide", params).expect_err("no signature of the person");
        assert_eq!((error.code, error.exit_code()), (Code::Refused, 3), "{error:?}");
    }
    assert_eq!(home.must("approvals.show", json!({ "approval": approval }))["row"]["status"], "pending");
    assert_eq!(home.world.files()["held.txt"], b"before\n");
}

#[test]
fn a_no_needs_no_signature_and_its_words_reach_the_record() {
    let home = Home::new(43);
    let (_, approval) = home.with_a_question("delete held");
    let denied = home.must("approvals.deny", json!({ "approval": approval, "feedback": "not this file" }));
    assert_eq!((&denied["accepted"], &denied["status"]), (&json!(true), &json!("denied")));
    let row = home.must("approvals.list", json!({ "status": "denied" }));
    assert_eq!(row["rows"][0]["feedback"], "not this file");
    assert_eq!(home.world.files()["held.txt"], b"before\n");
}

#[test]
fn a_no_with_the_token_is_told_as_the_word_of_who_has_it_whatever_surface_it_names() {
    let home = Home::new(47);
    let says = |goal: &str, caller: wire::Caller| {
        let (task, approval) = home.with_a_question(goal);
        let no = json!({ "approval": approval, "surface": "terminal" });
        api::call_for(&home, caller, "approvals.deny", no, &[]).expect("denied");
        let kernel = home.world.kernel();
        let receipt = kernel.task(task).unwrap().receipts.last().unwrap().receipt_id;
        kernel.receipt(receipt).unwrap().1.result_summary.shown().unwrap().clone()
    };
    let by_token = says("delete one", wire::Caller::Program);
    assert_eq!(by_token, "Denied at the terminal, by the word of a program or page that this host let in");
    assert_eq!(says("delete another", wire::Caller::Owner), "Denied by a person, at the terminal");
}

#[test]
fn an_act_is_undone_through_the_same_governed_path() {
    let home = Home::new(44);
    let (task, receipt) = home.with_an_act("write a");
    assert!(home.world.files().contains_key("a.txt"));
    let undo = home.must("receipts.rollback", json!({ "receipt": receipt }));
    let id = undo["task_id"].as_str().expect("a task").parse().expect("an id");
    home.world.drive_allowing(id);
    assert!(!home.world.files().contains_key("a.txt"));
    let shown = home.must("receipts.show", json!({ "receipt": receipt }));
    assert!(shown["row"]["undone_by"].is_string());
    let children = home.must("task.show", json!({ "task": task.to_string() }));
    assert_eq!(children["children"], json!([undo["task_id"]]));
    let again = home.ask("receipts.rollback", json!({ "receipt": receipt })).expect_err("undone already");
    assert_eq!(again.code, Code::Conflict);
}

#[test]
fn pause_resume_note_and_cancel_do_what_they_say() {
    let home = Home::new(45);
    let (task, approval) = home.with_a_question("delete held");
    let task = json!({ "task": task.to_string() });
    assert_eq!(home.must("task.pause", task.clone())["status"], "paused");
    let error = home.ask("task.pause", task.clone()).expect_err("paused already");
    assert_eq!(error.code, Code::Conflict);
    home.must("task.resume", task.clone());
    let mut cancel = task.clone();
    cancel["reason"] = json!("changed my mind");
    assert_eq!(home.must("task.cancel", cancel)["status"], "cancelled");
    assert_ne!(home.must("approvals.show", json!({ "approval": approval }))["row"]["status"], "pending");
    let mut note = task;
    note["text"] = json!("more");
    assert_eq!(home.ask("task.note", note).expect_err("ended").code, Code::Conflict);
}

#[test]
fn a_halt_stops_everything_until_a_person_boots() {
    let home = Home::new(46);
    let halted = home.must("gate.halt", json!({ "reason": "smoke" }));
    assert_eq!((&halted["halted"], &halted["reason"]), (&json!(true), &json!("smoke")));
    assert_eq!(halted["state"], "HALTED");
    assert_eq!(home.ask("gate.halt", json!({})).expect_err("halted already").code, Code::Halted);
    let booted = home.must("gate.boot", json!({}));
    assert_eq!((&booted["halted"], &booted["state"]), (&json!(false), &json!("IDLE")));
    assert_eq!(home.ask("gate.boot", json!({})).expect_err("not halted").code, Code::Conflict);
}

#[test]
fn a_file_is_taken_in_by_path_and_by_bytes() {
    let home = Home::new(47);
    home.world.file("notes.md", "# notes\n");
    let by_path = home.must("artifacts.ingest", json!({ "path": home.world.path("notes.md") }));
    let bytes = STANDARD.encode("# notes\n");
    let by_bytes = home.must("artifacts.ingest", json!({ "bytes": bytes, "name": "notes.md" }));
    assert_eq!(by_path["sha256"], by_bytes["sha256"]);
    let shown = home.must("artifacts.show", json!({ "artifact": by_path["artifact_id"] }));
    assert_eq!((&shown["name"], &shown["trust"]), (&json!("notes.md"), &json!("untrusted")));
    assert_eq!(shown["media_type"], "text/markdown; charset=utf-8");
    let both = home.ask("artifacts.ingest", json!({ "path": "/x", "bytes": "eA==" })).expect_err("both");
    assert_eq!(both.code, Code::Usage);
    let asserted = json!({ "bytes": "eA==", "name": "x", "trust": "policy_asserted" });
    assert_eq!(home.ask("artifacts.ingest", asserted).expect_err("nobody says so").code, Code::Usage);
}

#[test]
fn a_store_keeps_the_keys_it_has() {
    let home = Home::new(48);
    let keys = home.must("keys.list", json!({}));
    assert_eq!(keys["keys"].as_array().map(Vec::len), Some(4));
    let other = seal::Signer::public(testkit::Person::new(0x12).signer()).to_pem();
    let error = home
        .ask("keys.register", json!({ "keys": [{ "purpose": "approval", "pem": other }], "kept_in": "x" }));
    assert_eq!(error.expect_err("another approval key").code, Code::Conflict);
    assert_eq!(keys, home.must("keys.list", json!({})));
}

#[test]
fn room_is_made_only_as_it_was_shown_and_what_a_person_keeps_stays() {
    let home = Home::new(49);
    let large = vec![7_u8; 200_000];
    home.must("artifacts.ingest", json!({ "bytes": STANDARD.encode(&large), "name": "large.bin" }));
    let weighed = home.must("artifacts.weigh", json!({}));
    assert_eq!((&weighed["contents"], &weighed["content_bytes"]), (&json!(1), &json!(200_000)));
    let (task, _) = home.with_an_act("write a");
    let small = |weighed: &Value| weighed["in_ledger"].as_u64().expect("a number");
    assert!(small(&home.must("artifacts.weigh", json!({}))) > small(&weighed), "small content is counted");
    assert_eq!(home.must("artifacts.garbage", json!({}))["artifacts"], 0, "the task has just ended");
    let soon = home.ask("artifacts.garbage", json!({ "older_than_ms": 0 })).expect_err("too soon");
    assert_eq!(soon.code, Code::Usage);
    home.world.clock.advance(model::limits::COLLECT_AFTER_MS + 1);
    let shown = home.must("artifacts.garbage", json!({}));
    assert!(shown["artifacts"].as_u64() > Some(0), "{shown}");
    let stale = json!({ "plan": "0".repeat(64) });
    assert_eq!(home.ask("artifacts.collect", stale).expect_err("never shown").code, Code::Conflict);
    let requests = home.must("artifacts.list", json!({ "task": task.to_string(), "kind": "model.request" }));
    let one = requests["rows"][0]["artifact_id"].clone();
    home.must("artifacts.keep", json!({ "artifact": one }));
    let before = home.ask("artifacts.collect", json!({ "plan": shown["plan"] }));
    assert_eq!(before.expect_err("one stays now").code, Code::Conflict);
    let again = home.must("artifacts.garbage", json!({}));
    let collected = home.must("artifacts.collect", json!({ "plan": again["plan"] }));
    assert_eq!((&collected["artifacts"], &collected["dry_run"]), (&again["artifacts"], &json!(false)));
    assert_eq!(collected["lists"].as_array().map(Vec::len), Some(1));
    assert_eq!(home.must("artifacts.show", json!({ "artifact": one }))["state"], "live");
    assert_eq!(home.must("artifacts.garbage", json!({}))["artifacts"], 0);
    assert_eq!(home.must("ledger.verify", json!({}))["verdict"], "valid");
}

#[test]
fn a_task_whose_only_act_was_refused_says_who_refused_it_and_one_that_did_something_does_not() {
    let home = Home::new(77);
    let by = |task: model::TaskId| {
        let shown = home.must("task.show", json!({ "task": task.to_string() }))["row"].clone();
        let list = home.must("task.list", json!({}));
        let rows = list["rows"].as_array().unwrap();
        assert!(rows.contains(&shown), "the list and the task say the same");
        shown["refused_by"].clone()
    };
    home.world.file("kept.txt", "mine\n");
    let delete = || vec![testkit::say("delete", json!({ "path": "kept.txt" })), testkit::done("no")];
    home.world.reasoners.script("delete it", delete());
    let barred = Reasoning::Scripted { name: "delete it".to_owned() };
    let mut barred = home.world.submission("delete it", barred);
    barred.profile = Profile::DestructiveDenied;
    let barred = home.world.kernel().submit(&barred).unwrap().task_id;
    home.world.drive(barred);
    assert_eq!(by(barred), "policy");
    let denied = home.world.script("delete it, please", delete());
    let approval = home.world.drive_to_approval(denied);
    home.world.person.deny(home.world.kernel(), denied, approval, "keep it").unwrap();
    home.world.drive(denied);
    assert_eq!(by(denied), "person");
    let (done, _) = home.with_an_act("write something");
    assert_eq!(by(done), serde_json::Value::Null);
    let talked = home.world.script("say something", vec![testkit::done("said it")]);
    home.world.drive(talked);
    assert_eq!(by(talked), serde_json::Value::Null, "nothing was proposed, so nothing was refused");
}

#[conforms::conforms("HK-10.1-4")]
#[test]
fn what_is_under_way_and_what_was_done_is_looked_at_and_steered_by_commands() {
    let home = Home::new(47);
    let (task, approval) = home.with_a_question("delete held");
    let of = json!({ "task": task.to_string() });
    let stands = |of: &Value| home.must("task.show", of.clone())["row"]["status"].clone();
    assert_eq!(stands(&of), "blocked");
    let waits = home.must("approvals.list", json!({ "task": task.to_string() }));
    assert_eq!(waits["rows"][0]["approval_id"], json!(approval), "what it waits for is there to see");
    home.must("task.pause", of.clone());
    assert_eq!(stands(&of), "paused");
    home.must("task.resume", of.clone());
    assert_ne!(stands(&of), "paused");
    home.must("task.cancel", of.clone());
    assert_eq!(stands(&of), "cancelled");
    let again = home.must("task.retry", of)["task_id"].clone();
    assert!(again.is_string() && again != json!(task.to_string()), "{again}");

    let (_, approval) = home.with_a_question("delete it after all");
    home.must("approvals.deny", json!({ "approval": approval, "feedback": "not this file" }));
    let row = home.must("approvals.show", json!({ "approval": approval }))["row"].clone();
    assert_eq!((&row["status"], &row["feedback"]), (&json!("denied"), &json!("not this file")));
    let (_, receipt) = home.with_an_act("write a");
    let undo = home.must("receipts.rollback", json!({ "receipt": receipt }));
    home.world.drive_allowing(undo["task_id"].as_str().expect("a task").parse().expect("an id"));
    let shown = home.must("receipts.show", json!({ "receipt": receipt }));
    assert!(shown["row"]["undone_by"].is_string(), "{shown}");
    assert!(home.world.path("held.txt").exists() && !home.world.path("a.txt").exists());
}
