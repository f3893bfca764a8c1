//! Reading commands, in the process that holds the store and in one that does not.

use crate::home::Home;
use serde_json::{Value, json};
use wire::{Access, COMMANDS};

/// Parameters for every reading command over a store that [`story`] has made.
#[rustfmt::skip]
fn questions(home: &Home, task: &str, approval: &str, receipt: &str, artifact: &str) -> Vec<(&'static str, Value)> {
    let conversation = home.must("conversations.list", json!({}))["rows"][0]["conversation_id"].clone();
    vec![
        ("task.list", json!({})),
        ("task.list", json!({ "status": ["completed", "blocked"], "limit": 1 })),
        ("task.list", json!({ "group": "done", "search": "wrote" })),
        ("task.count", json!({})),
        ("task.steps", json!({ "status": "succeeded" })),
        ("task.show", json!({ "task": task })),
        ("task.questions", json!({})),
        ("task.working_state", json!({ "task": task })),
        ("task_events.list", json!({ "task": task, "after_seq": 2, "limit": 5 })),
        ("approvals.list", json!({})),
        ("approvals.list", json!({ "status": "any", "task": task })),
        ("approvals.show", json!({ "approval": approval })),
        ("approvals.packet", json!({ "approval": approval })),
        ("approvals.lines", json!({ "approval": approval, "of": "signed" })),
        ("conversations.list", json!({})),
        ("conversations.show", json!({ "conversation": conversation })),
        ("conversations.lines", json!({ "conversation": conversation, "limit": 5 })),
        ("workspaces.list", json!({})),
        ("workspaces.files", json!({ "folder": "/" , "folders": true })),
        ("conversations.files", json!({})),
        ("conversations.undecided", json!({})),
        ("receipts.list", json!({})),
        ("receipts.show", json!({ "receipt": receipt })),
        ("artifacts.list", json!({ "task": task })),
        ("artifacts.show", json!({ "artifact": artifact })),
        ("artifacts.content", json!({ "artifact": artifact })),
        ("artifacts.lineage", json!({ "artifact": artifact })),
        ("artifacts.weigh", json!({})),
        ("artifacts.garbage", json!({})),
        ("changes.show", json!({ "of": approval })),
        ("changes.show", json!({ "of": receipt })),
        ("lineage.draw", json!({ "of": receipt })),
        ("lineage.draw", json!({ "of": task, "limit": 5 })),
        ("context.show", json!({ "task": task, "iteration": 1 })),
        ("grants.list", json!({ "task": task })),
        ("grants.standing", json!({ "all": true })),
        ("policy.suggest", json!({})),
        ("policy.own_rules", json!({ "days": 30 })),
        ("policy.draft_rules", json!({ "rule": "deny FileDelete(**)", "was_sha256": NO_RULES })),
        ("grants.propose", json!({ "approval": approval })),
        ("knowledge.decisions", json!({})),
        ("knowledge.beliefs", json!({})),
        ("knowledge.memories", json!({ "status": "any" })),
        ("knowledge.search", json!({ "text": "wrote" })),
        ("ledger.verify", json!({})),
        ("ledger.stats", json!({})),
        ("ledger.severed", json!({})), ("ledger.severed", json!({ "task": task })),
        ("ledger.head", json!({})),
        ("ledger.compare", json!({ "note": "no head" })),
        ("erasure.plan", json!({ "task": task })),
        ("trace.explain", json!({ "subject": receipt })),
        ("trace.explain", json!({ "subject": artifact })),
        ("trace.recall", json!({ "source": artifact })),
        ("gate.state", json!({})),
        ("proof.preview", json!({ "task": task, "redact": ["paths"] })),
        ("tools.list", json!({})), ("tools.logins", json!({})),
        ("schedules.list", json!({})), ("schedules.preview", json!({ "said": "every day at 8" })),
        ("skills.list", json!({})), ("skins.list", json!({})), ("skins.show", json!({ "skin": "terse" })),
        ("gateways.list", json!({})), ("guests.list", json!({})),
        ("identity.show", json!({})), ("anchors.list", json!({})), ("training.list", json!({})), ("anchors.clocks", json!({})),
        ("mesh.show", json!({})), ("mesh.messages", json!({})), ("mesh.receipts", json!({ "limit": 1 })), ("mesh.questions", json!({})),
        ("successor.list", json!({})), ("successor.preview", json!({ "patches": [NO_CHANGE] })), ("adoptions.list", json!({})),
        ("keys.list", json!({})), ("secrets.list", json!({})), ("passkeys.list", json!({})),
        ("host.status", json!({})),
        ("host.doctor", json!({})),
    ]
}

struct Story {
    home: Home,
    task: String,
    approval: String,
    receipt: String,
    artifact: String,
}

/// A change that leaves rules as they are.
const NO_CHANGE: &str = r#"{"says":"none","sources":["own"],"change":{"kind":"policy","rules":""}}"#;
/// The digest of no rules at all.
const NO_RULES: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn story(seed: u64) -> Story {
    let home = Home::new(seed);
    let (task, receipt) = home.with_an_act("write a");
    let (_, approval) = home.with_a_question("delete held");
    let artifacts = home.must("artifacts.list", json!({ "task": task.to_string(), "kind": "action.result" }));
    let artifact = artifacts["rows"][0]["artifact_id"].as_str().expect("a result").to_owned();
    Story { task: task.to_string(), approval, receipt, artifact, home }
}

#[test]
fn a_process_that_only_reads_answers_every_reading_command_as_the_owner_does() {
    let Story { home, task, approval, receipt, artifact } = story(1);
    let mut asked = questions(&home, &task, &approval, &receipt, &artifact);
    home.must("ledger.checkpoint", json!({}));
    let memory = [("knowledge.memory_points", json!({})), ("knowledge.memory_then", json!({}))];
    asked.extend(
        [
            "knowledge.suggestions",
            "models.costs",
            "models.embedded",
            "models.in_box",
            "models.reads",
            "playbooks.drafts",
            "schedules.calendar",
        ]
        .map(|name| (name, json!({})))
        .into_iter()
        .chain(memory),
    );
    let folder = home.world.folder.path().display().to_string();
    asked.push(("skills.drafts", json!({ "folder": folder })));
    for info in COMMANDS.iter().filter(|i| i.access == Access::read) {
        let elsewhere =
            // What a server of tools says is shown where one is registered: `journeys::tool_servers`; a skill where one is: `skills`; a gateway where one is: `gateways`; a summary where a
            // context was full: `journeys::compacting`; what a memory was sent in where there is one: `memory_contexts`; a chain where there is one: `journeys::identity`.
            ["changes.export", "gate.export", "identity.export", "store.backup", "policy.backtest", "policy.explain", "policy.draft_override", "tools.show", "schedules.show", "schedules.rehearse", "anchors.show", "successor.show", "gateways.show", "gateways.senders", "gateways.messages", "skills.show", "knowledge.history", "knowledge.memory_contexts", "context.summary"]
                .contains(&info.name);
        assert!(elsewhere || asked.iter().any(|(name, _)| *name == info.name), "{} is not asked", info.name);
    }
    let owner: Vec<Value> = asked.iter().map(|(name, params)| home.must(name, params.clone())).collect();
    let before = home.must("ledger.stats", json!({}));
    let home = home.into_reader();
    let changing = ["ledger.stats", "host.status", "host.doctor", "keys.list"];
    for ((name, params), owner) in asked.iter().zip(owner) {
        let reader = home.must(name, params.clone());
        if *name == "task.show" {
            // Whether somebody is at work on it is known to the process that would do the work, and to every other where
            // nobody holds the store, as here.
            assert_eq!(owner["interrupted"], false);
        }
        if !changing.contains(name) {
            assert_eq!(reader, owner, "{name}");
        }
    }
    let after = home.must("ledger.stats", json!({}));
    assert_eq!(
        (&before["events"], &before["epoch"]),
        (&after["events"], &after["epoch"]),
        "reading writes nothing"
    );
}

/// Every writing command about the log-in at a server.
fn of_log_ins(folder: &str) -> [(&'static str, serde_json::Value); 5] {
    let one = json!({ "server": "x" });
    let login = json!({ "server": "x", "url": "https://far.example", "workspace": folder });
    [
        ("tools.login", login),
        ("tools.login_begin", one.clone()),
        ("tools.login_cancel", one.clone()),
        ("tools.login_stands", one.clone()),
        ("tools.logout", one),
    ]
}

/// What is written about the mesh, and about changes of Hermit itself.
fn of_mesh(folder: &str) -> Vec<(&'static str, Value)> {
    let conversation = json!({ "conversation": "abcd" });
    vec![
        ("mesh.set", json!({ "on": true })),
        ("mesh.invite", json!({})),
        ("mesh.join", json!({ "code": "ABCD-EFGHJK" })),
        ("mesh.pairing", json!({})),
        ("mesh.nodes", json!({})),
        ("mesh.withdraw", json!({ "node": "desk" })),
        ("mesh.send", json!({ "to": "desk", "text": "look" })),
        ("mesh.hand_over", json!({ "conversation": "abcd", "to": "desk" })),
        ("mesh.take", conversation),
        ("mesh.approver", json!({ "node": "desk", "allow": true })),
        ("mesh.answer", json!({ "approval": "abcd", "allow": false })),
        ("mesh.hold", json!({ "schedule": "tidy", "nodes": [] })),
        ("mesh.export", json!({ "path": format!("{folder}/stick") })),
        ("mesh.import", json!({ "path": format!("{folder}/stick") })),
        ("successor.try_change", json!({ "patches": [], "about": "it asks less", "tasks": [] })),
        ("successor.stop", json!({ "trial": "abcd" })),
    ]
}

/// What is written about conversations, and who it is that talks.
fn of_talk(task: &str) -> [(&'static str, Value); 8] {
    [
        ("identity.write", json!({ "text": "I am.", "replaces": 0 })),
        ("identity.attest", json!({})),
        ("identity.publish", json!({ "relays": [] })),
        ("host.wait", json!({ "task": task, "patience_ms": 1 })),
        ("conversations.open", json!({ "title": "x" })),
        ("conversations.say", json!({ "text": "x" })),
        ("conversations.bind", json!({ "message": "abcd", "about": "task", "task": task })),
        ("conversations.focus", json!({ "task": task })),
    ]
}

/// What is written about tools and skills.
fn of_tools(folder: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("tools.add", json!({ "server": "x", "argv": ["/bin/true"], "workspace": folder })),
        ("tools.sampling", json!({ "server": "x", "workspace": folder })),
        ("tools.pass_on", json!({ "server": "x", "workspace": folder })),
        ("tools.pass_off", json!({ "server": "x" })),
        ("tools.classify", json!({ "server": "x", "tool": "y", "class": "read_local", "workspace": folder })),
        ("tools.call", json!({ "server": "x", "tool": "y", "arguments": "{}", "workspace": folder })),
        ("tools.prompt", json!({ "server": "x", "prompt": "y", "workspace": folder })),
        ("tools.disable", json!({ "server": "x" })),
        ("tools.remove", json!({ "server": "x" })),
        ("gateways.add", json!({ "name": "x", "service": "mail", "secret": "y", "workspace": folder })),
        ("gateways.pause", json!({ "name": "x" })),
        ("gateways.resume", json!({ "name": "x" })),
        ("gateways.remove", json!({ "name": "x" })),
        ("gateways.pair", json!({ "name": "x" })),
        ("gateways.unpair", json!({ "name": "x", "sender": "y" })),
        ("schedules.keep", json!({ "said": "every day at 8", "goal": "look", "workspace": folder })),
        ("schedules.pause", json!({ "name": "x" })),
        ("schedules.resume", json!({ "name": "x" })),
        ("schedules.remove", json!({ "name": "x" })),
        ("schedules.run", json!({ "name": "x" })),
        ("skills.trust", json!({ "name": "x" })),
        ("skills.untrust", json!({ "name": "x" })),
        ("skills.adopt", json!({ "name": "x", "folder": folder })),
        ("anchors.stamp", json!({ "clocks": [] })),
        ("anchors.complete", json!({})),
        ("anchors.set_clocks", json!({})),
        ("anchors.wallet", json!({})),
        ("skins.trust", json!({ "text": "{}" })),
        ("skins.untrust", json!({ "skin": "x" })),
        ("skins.choose", json!({ "skin": "terse" })),
        ("passkeys.enrol", json!({ "envelope": "", "name": "x" })),
        ("passkeys.revoke", json!({ "passkey": "x" })),
        ("playbooks.try_draft", json!({ "name": "x" })),
        ("adoptions.propose", json!({ "trial": "trial_x" })),
        ("adoptions.back", json!({})),
        ("playbooks.adopt", json!({ "name": "x" })),
        ("playbooks.turn_off", json!({ "name": "x" })),
    ]
}

#[test]
fn a_process_that_only_reads_says_so_to_every_writing_command() {
    let Story { home, task, approval, receipt, .. } = story(2);
    let home = home.into_reader();
    let folder = home.world.folder.path().display().to_string();
    let playbook = json!({ "kind": "playbook", "name": "x", "text": "y" });
    let asked = [
        ("task.submit", json!({ "workspace": folder, "reasoner": playbook })),
        ("task.pause", json!({ "task": task })),
        ("task.resume", json!({ "task": task })),
        ("task.cancel", json!({ "task": task })),
        ("task.set_priority", json!({ "task": task, "priority": "high" })),
        ("task.retry", json!({ "task": task })),
        ("context.compact", json!({ "task": task })),
        ("task.note", json!({ "task": task, "text": "more" })),
        ("task.answer", json!({ "task": task, "text": "yes" })),
        ("task.edit_goal", json!({ "task": task, "goal": "another" })),
        ("task.settle", json!({ "task": task, "result": "failed", "note": "looked" })),
        ("approvals.decide", json!({ "approval": approval, "envelope": "e30=" })),
        ("approvals.deny", json!({ "approval": approval })),
        ("approvals.part", json!({ "approval": approval, "rows": [{ "from": 0, "rows": 1 }] })),
        ("receipts.plan", json!({ "receipt": receipt })),
        ("receipts.rollback", json!({ "receipt": receipt })),
        ("artifacts.ingest", json!({ "bytes": "eA==", "name": "x" })),
        ("artifacts.collect", json!({ "plan": "0".repeat(64) })),
        ("artifacts.keep", json!({ "artifact": "abcd" })),
        ("grants.revoke", json!({ "grant": "abcd" })),
        ("grants.draft", json!({ "paths": "*.txt", "acts": ["delete"] })),
        ("grants.allow", json!({ "envelope": "e30=" })),
        ("policy.allow_override", json!({ "act": approval, "envelope": "e30=" })),
        ("policy.change_rules", json!({ "rule": "deny FileDelete(**)", "was_sha256": NO_RULES })),
        ("knowledge.forget", json!({ "memory": "abcd", "reason": "private" })),
        ("knowledge.remember", json!({ "claim": "x", "workspace": folder })),
        ("knowledge.review", json!({})),
        ("knowledge.invalidate", json!({ "memory": "abcd", "reason": "wrong" })),
        ("knowledge.revoke", json!({ "belief": "abcd", "reason": "wrong" })),
        ("workspaces.moved", json!({ "from": "/no/such/folder", "to": folder })),
        ("knowledge.correct", json!({ "belief": "abcd", "over": true, "reason": "wrong" })),
        ("models.standard", json!({ "address": null })),
        ("models.set", json!({ "address": "openai:http://127.0.0.1:1/v1#q" })),
        ("models.embed", json!({ "address": null })),
        ("models.get", json!({ "name": "q" })),
        ("models.stop_get", json!({ "name": "q" })),
        ("models.remove", json!({ "name": "q" })),
        ("models.ceiling", json!({ "dollars": "5.00" })),
        ("models.set_reads", json!({ "at_once": 3 })),
        ("models.test", json!({ "url": "http://127.0.0.1:1/v1" })),
        ("ledger.rebuild", json!({})),
        ("ledger.checkpoint", json!({})),
        ("gate.halt", json!({})),
        ("gate.boot", json!({})),
        ("proof.export", json!({ "task": task, "path": format!("{folder}/proof.zip") })),
        ("keys.register", json!({ "keys": [], "kept_in": "x" })),
        ("host.resume", json!({})),
        ("agent.open", json!({ "client": "x", "workspace": folder })),
        ("agent.tools", json!({})),
        ("agent.call", json!({ "task": task, "tool": "list", "arguments": {} })),
        ("agent.stop", json!({ "task": task, "key": "k" })),
    ];
    let more = [of_mesh(&folder), crate::training::writes(&folder), of_tools(&folder)].concat();
    let asked = [asked.to_vec(), of_talk(&task).to_vec(), of_log_ins(&folder).to_vec(), more].concat();
    for info in COMMANDS
        .iter()
        .filter(|i| matches!(i.access, Access::write | Access::owner | Access::person | Access::surface))
    {
        let params =
            asked.iter().find(|(name, _)| *name == info.name).unwrap_or_else(|| panic!("{}", info.name));
        let error = home.ask(info.name, params.1.clone()).expect_err(info.name);
        assert_eq!(error.code, wire::Code::NoHost, "{}: {error:?}", info.name);
    }
}

#[test]
fn a_task_shows_what_it_waits_for() {
    let Story { home, approval, .. } = story(3);
    let waiting = home.must("task.list", json!({ "status": ["blocked"] }));
    assert_eq!(waiting["rows"].as_array().map(Vec::len), Some(1));
    assert_eq!(waiting["rows"][0]["run_status"], "awaiting_approval");
    let task = home.must("task.show", json!({ "task": waiting["rows"][0]["task_id"] }));
    assert_eq!(task["waits_for"], json!({ "kind": "approval", "id": approval }));
    assert_eq!(task["actions"][0]["state"], "awaiting_approval");
    let status = home.must("host.status", json!({}));
    assert_eq!(status["waiting"]["approvals"], 1);
    assert_eq!(status["role"], "owner");
}

#[test]
fn a_list_says_which_task_broke_off_and_why() {
    let home = Home::new(63);
    let task = home.world.script("never begun", vec![testkit::done("nothing")]);
    let row = || home.must("task.list", json!({}))["rows"][0].clone();
    *home.stands.lock().expect("no poison") = Some(api::Stands::AtWork);
    assert_eq!((&row()["interrupted"], &row()["because"]), (&json!(false), &json!(null)));
    let full = wire::Error::new(wire::Code::DiskFull, "the disk is full");
    *home.stands.lock().expect("no poison") = Some(api::Stands::Broke(full));
    let broke = row();
    assert_eq!((&broke["task_id"], &broke["interrupted"]), (&json!(task.to_string()), &json!(true)));
    assert!(
        broke["because"].as_str().is_some_and(|why| why.starts_with("Work broke off: the disk is full.")),
        "{broke}"
    );
}

#[test]
fn a_list_is_walked_page_by_page_without_losing_or_repeating_a_row() {
    let home = Home::new(4);
    for n in 0..5 {
        home.world.script(&format!("goal {n}"), vec![testkit::done("nothing to do")]);
    }
    for params in [json!({ "limit": 2 }), json!({ "limit": 2, "search": "goal" })] {
        let (mut seen, mut after) = (Vec::new(), Value::Null);
        loop {
            let mut asked = params.clone();
            asked["after"] = after;
            let page = home.must("task.list", asked);
            let rows = page["rows"].as_array().expect("rows");
            assert!(rows.len() <= 2);
            seen.extend(rows.iter().map(|r| r["task_id"].as_str().expect("an id").to_owned()));
            match page.get("next") {
                Some(next) => after = next.clone(),
                None => break,
            }
        }
        assert_eq!(seen.len(), 5, "{params}");
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 5, "{params}");
    }
}

#[test]
fn events_are_followed_by_asking_again_behind_the_last_one() {
    let Story { home, task, .. } = story(5);
    let (mut after, mut seqs) = (0, Vec::new());
    loop {
        let page = home.must("task_events.list", json!({ "task": task, "after_seq": after, "limit": 7 }));
        let events = page["events"].as_array().expect("events");
        seqs.extend(events.iter().map(|e| e["seq"].as_u64().expect("a place")));
        let Some(last) = seqs.last().filter(|_| !events.is_empty()) else { break };
        after = *last;
        if page["last_seq"] == after {
            assert_eq!(page["ended"], true);
            break;
        }
    }
    let all: Vec<u64> = (1..=seqs.len() as u64).collect();
    assert_eq!(seqs, all);
    let first = home.must("task_events.list", json!({ "task": task, "limit": 1 }));
    assert_eq!(first["events"][0]["event_type"], "task.created");
    assert_eq!(first["events"][0]["body"]["task"]["goal"], "write a", "disclosed words are plain");
}

#[test]
fn what_was_sent_to_the_model_is_shown_byte_for_byte() {
    let Story { home, task, .. } = story(6);
    let context = home.must("context.show", json!({ "task": task, "iteration": 1 }));
    for part in ["pack", "request", "response"] {
        let sent = &context["shown"][part];
        let artifact = home.must("artifacts.content", json!({ "artifact": sent["artifact_id"] }));
        assert_eq!(sent["bytes"], artifact["bytes"], "{part}");
        assert!(sent["bytes"].as_str().is_some_and(|b| !b.is_empty()), "{part}");
    }
    assert!(context["turns"].as_array().is_some_and(|turns| turns.len() >= 2));
    let error = home.ask("context.show", json!({ "task": task, "iteration": 99 })).expect_err("no such turn");
    assert_eq!(error.code, wire::Code::Usage);
}

#[test]
fn content_comes_in_parts_that_join_to_the_whole() {
    let Story { home, artifact, .. } = story(7);
    let whole = home.must("artifacts.content", json!({ "artifact": artifact }));
    let size = whole["byte_size"].as_u64().expect("a size");
    let first = home.must("artifacts.content", json!({ "artifact": artifact, "limit": 3 }));
    assert_eq!(first["next_offset"], 3);
    let rest = home.must("artifacts.content", json!({ "artifact": artifact, "offset": 3 }));
    assert!(rest.get("next_offset").is_none_or(Value::is_null));
    assert_eq!(rest["offset"], 3);
    let beyond = home.ask("artifacts.content", json!({ "artifact": artifact, "offset": size + 1 }));
    assert_eq!(beyond.expect_err("beyond the end").code, wire::Code::Usage);
}

#[conforms::conforms("HK-14.4-1", "HK-14.4-2", "HK-14.4-6")]
#[test]
fn lineage_names_who_made_an_artifact_from_what_and_which_receipt_holds_it() {
    let Story { home, task, artifact, receipt, .. } = story(8);
    let told = home.must("artifacts.lineage", json!({ "artifact": artifact }));
    assert_eq!(told["scope"], "store");
    let receipts = told["receipts"].as_array().expect("receipts");
    assert!(receipts.iter().any(|r| r["id"] == receipt.as_str()), "{receipts:?}");
    let packs = home.must("artifacts.list", json!({ "task": task, "kind": "context.pack" }));
    let pack = &packs["rows"][0];
    let told = home.must("artifacts.lineage", json!({ "artifact": pack["artifact_id"] }));
    let by = &told["produced_by"];
    assert_eq!((&by["kind"], &by["id"]), (&json!("attempt"), &pack["produced_by"]));
    let (named, told) =
        (pack["inputs"].as_array().expect("names"), told["inputs"].as_array().expect("links"));
    let all = named.iter().all(|id| told.iter().any(|link| link["id"] == *id));
    assert!(all && !named.is_empty(), "{named:?} {told:?}");
}

#[test]
fn a_receipt_is_explained_from_goal_to_change_and_its_signature_holds() {
    let Story { home, task, receipt, .. } = story(9);
    let shown = home.must("receipts.show", json!({ "receipt": receipt }));
    assert_eq!(shown["signature"], "holds");
    assert_eq!(shown["receipt"]["receipt_id"], receipt.as_str());
    assert!(!shown.to_string().contains("$plain"), "no mark of a leaf is left");
    let told = home.must("trace.explain", json!({ "subject": receipt }))["chains"][0].clone();
    for part in ["goal", "context", "policy", "grants"] {
        assert!(told[part].as_array().is_some_and(|links| !links.is_empty()), "{part}");
    }
    assert!(told["goal"].as_array().expect("links").iter().any(|link| link["id"] == task.as_str()));
    assert_eq!(told["effect"]["kind"], "effect");
}

#[test]
fn the_shortest_way_to_name_something_is_its_end() {
    let Story { home, task, receipt, .. } = story(10);
    let end = &task[task.len() - 8..];
    assert_eq!(home.must("task.show", json!({ "task": end }))["row"]["task_id"], task.as_str());
    let end = receipt[receipt.len() - 8..].to_uppercase();
    assert_eq!(home.must("receipts.show", json!({ "receipt": end }))["row"]["receipt_id"], receipt.as_str());
    let begin = &task["task_".len()..9];
    let error = home.ask("task.show", json!({ "task": begin })).expect_err("two tasks begin so");
    assert_eq!(error.code, wire::Code::Ambiguous);
    assert_eq!(error.details["candidates"].as_array().map(Vec::len), Some(2));
    assert_eq!(error.message, format!("`{begin}` fits 2 tasks"));
    for none in ["zzzz", "ab", "", "apr_00000000000000000000000000000000"] {
        let error = home.ask("task.show", json!({ "task": none })).expect_err("names nothing");
        assert_eq!(error.code, wire::Code::Usage, "{none}");
    }
    let unknown = home.ask("task.show", json!({ "task": "task_00000000000000000000000000000000" }));
    assert_eq!(unknown.expect_err("unknown").code, wire::Code::NotFound);
}

#[test]
fn whoever_lists_the_tools_for_a_folder_leaves_nothing_and_the_first_task_there_registers_it() {
    let home = Home::new(64);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("a path");
    let head = || home.world.kernel().reader().log_head().expect("a head");
    let folders = || home.must("workspaces.list", json!({}))["workspaces"].as_array().map_or(0, Vec::len);
    let (before, known) = (head(), folders());
    for _ in 0..2 {
        let listed = home.must("agent.tools", json!({ "workspace": path }));
        assert!(listed["tools"].as_array().is_some_and(|tools| tools.len() > 5), "{listed}");
    }
    assert_eq!((head(), folders()), (before, known), "a list was written down");
    let gone = home.ask("agent.tools", json!({ "workspace": "/nowhere/at/all" }));
    assert_eq!(gone.expect_err("no such folder").code, wire::Code::NotFound);
    home.must("agent.open", json!({ "client": "x", "workspace": path }));
    assert_eq!(folders(), known + 1);
}
