//! Schedules through the commands: names of their own, one question for one key, and standing grants that name them.

use crate::home::Home;
use crate::machines;
use kernel::DriveOutcome;
use mesh::sealed::{NostrSealing, Sealing as _};
use mesh::{Chance, Command, Happened, Node, Peer, State};
use model::standing::{Cover, PathAct, StandingGrant, StandingScope};
use seal::{SeedSigner, Signer as _};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use wire::Code;
use wire::receipts::Receipt;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// What is asked for a schedule of tidying, with what is said besides.
fn wanted(home: &Home, more: Value) -> Value {
    let folder = home.world.folder.path().canonicalize().unwrap();
    let mut params = json!({
        "said": "every day at 8", "workspace": folder, "reasoner": { "kind": "playbook", "name": "tidy", "parameters": {} },
    });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

/// A schedule that a person was asked about and kept.
fn keep(home: &Home, more: Value) {
    let asked = home.must("schedules.keep", wanted(home, more));
    let task = asked["task_id"].as_str().unwrap().parse().unwrap();
    let approval = home.world.drive_to_approval(task);
    home.world.person.allow(home.world.kernel(), task, approval).unwrap();
    assert!(matches!(home.world.drive(task), DriveOutcome::Ended { .. }));
}

fn listed(home: &Home) -> Vec<(String, u64, String)> {
    let listed = home.must("schedules.list", json!({}));
    let row = |one: &Value| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        (text("name"), one["version"].as_u64().unwrap(), text("said"))
    };
    listed["schedules"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn a_schedule_without_a_name_gets_one_of_its_own_and_only_one_that_is_named_is_changed() {
    let home = Home::new(181);
    keep(&home, json!({}));
    keep(&home, json!({ "said": "every 2 hours" }));
    let of = |name: &str, version, said: &str| (name.to_owned(), version, said.to_owned());
    assert_eq!(listed(&home), [of("tidy", 1, "every day at 8"), of("tidy-2", 1, "every 2 hours")]);
    keep(&home, json!({ "name": "tidy", "said": "every day at 9" }));
    assert_eq!(listed(&home), [of("tidy", 2, "every day at 9"), of("tidy-2", 1, "every 2 hours")]);
    let shown = home.must("schedules.show", json!({ "name": "tidy-2" }));
    assert_eq!((&shown["rule"], &shown["worker"]), (&json!("every 2 hours"), &json!("playbook:tidy")));
    let gone = home.ask("schedules.show", json!({ "name": "tidy-3" })).unwrap_err();
    assert!(gone.code == Code::NotFound && gone.hint.contains("schedule list"));
}

#[test]
fn who_asks_again_with_a_key_gets_the_question_that_was_asked_first_however_late() {
    let home = Home::new(182);
    let wanted = wanted(&home, json!({ "said": "every 10 minutes", "idempotency_key": "once" }));
    let first = home.must("schedules.keep", wanted.clone());
    home.world.clock.advance(3 * MINUTE);
    let again = home.must("schedules.keep", wanted.clone());
    assert_eq!((&again["task_id"], &again["duplicate"]), (&first["task_id"], &json!(true)));
    let mut other = wanted;
    other["said"] = json!("every 20 minutes");
    assert_eq!(home.ask("schedules.keep", other).unwrap_err().code, Code::Conflict);
    for (said, word) in [("in 0 minutes", "gone by"), ("whenever", "for example")] {
        let refused = home.ask("schedules.preview", json!({ "said": said })).unwrap_err();
        assert!(refused.code == Code::Usage && refused.message.contains(word), "{refused:?}");
    }
}

#[test]
fn on_the_card_of_a_run_a_standing_grant_is_offered_for_the_runs_of_its_schedule_alone() {
    let home = Home::new(183);
    home.world.file("a.txt", "words");
    keep(&home, json!({ "reasoner": { "kind": "playbook", "name": "inventory", "parameters": {} } }));
    home.world.clock.advance(DAY);
    let [run] = home.world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
    let approval = home.world.drive_to_approval(run).to_string();
    let offered = home.must("grants.propose", json!({ "approval": approval }));
    let rows = offered["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        assert_eq!(row["draft"]["scope"], json!({ "kind": "schedule", "name": "inventory", "version": 1 }));
        assert!(row["words"].as_str().unwrap().contains("in each run of the schedule `inventory`"), "{row}");
        assert_eq!(row["rehearsed"]["answered"], 1, "of its runs: {row}");
    }
    let elsewhere =
        home.ask("grants.propose", json!({ "approval": approval, "scope": "project" })).unwrap_err();
    assert!(elsewhere.code == Code::Usage && elsewhere.message.contains("`schedule`"), "{elsewhere:?}");
    let (_, own) = home.with_a_question("delete held");
    let no_run = home.ask("grants.propose", json!({ "approval": own, "scope": "schedule" })).unwrap_err();
    assert!(no_run.message.contains("no schedule"), "{no_run:?}");
    let drafted = |more: Value| {
        let mut params = json!({ "paths": "**", "acts": ["create", "delete"], "after_untrusted": true });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        home.ask("grants.draft", params)
    };
    assert_eq!(drafted(json!({ "schedule": "inventory" })).unwrap()["draft"]["scope"]["version"], 1);
    assert_eq!(drafted(json!({ "schedule": "other" })).unwrap_err().code, Code::NotFound);
    assert_eq!(
        drafted(json!({ "schedule": "inventory", "task": run.to_string() })).unwrap_err().code,
        Code::Usage
    );
}

#[test]
fn a_schedule_that_paused_itself_is_counted_among_what_waits_until_a_person_has_said() {
    let home = Home::new(184);
    home.world.file("a.txt", "words");
    keep(&home, json!({ "said": "every 1 hours" }));
    let waits = |home: &Home| home.must("host.status", json!({}))["waiting"]["paused_schedules"].clone();
    for failures in 0..3 {
        assert_eq!(waits(&home), 0, "{failures}");
        home.world.clock.advance(60 * MINUTE);
        let [run] = home.world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
        let approval = home.world.drive_to_approval(run);
        home.world.person.deny(home.world.kernel(), run, approval, "no").unwrap();
        home.world.drive(run);
        home.world.kernel().run_rested(run).unwrap();
    }
    assert_eq!(waits(&home), 1);
    let shown = home.must("schedules.show", json!({ "name": "tidy" }));
    assert_eq!((&shown["state"], &shown["by_itself"]), (&json!("paused"), &json!(true)));
    assert_eq!(shown["runs"][0]["run_status"], "failed");
    home.must("schedules.resume", json!({ "name": "tidy" }));
    assert_eq!(waits(&home), 0);
    home.must("schedules.pause", json!({ "name": "tidy" }));
    assert_eq!(waits(&home), 0, "who pauses it by hand is not asked");
    assert_eq!(waits(&home.into_reader()), 0);
}

#[test]
fn what_bounds_the_runs_of_a_schedule_is_kept_as_it_was_said_and_told_again() {
    let home = Home::new(185);
    let limits = json!({
        "overlap": "end_older", "jitter_minutes": 5, "per_hour_max": 2, "ends_after_minutes": 30, "hours": "8-18",
        "day_runs_max": 9, "day_iterations_max": 50, "day_tokens_max": 100_000, "day_cost_micros_max": 1_500_000,
        "day_minutes_max": 60, "only": ["mains"],
    });
    keep(&home, json!({ "limits": limits, "quiet": true }));
    let quiet = |home: &Home| home.must("schedules.show", json!({ "name": "tidy" }))["quiet"].clone();
    assert_eq!(quiet(&home), true);
    let mut told = limits.clone();
    told["hours"] = json!("08:00-18:00");
    assert_eq!(home.must("schedules.show", json!({ "name": "tidy" }))["limits"], told);
    // What is told can be said again, and is the same.
    let again = home
        .ask("schedules.keep", wanted(&home, json!({ "name": "tidy", "limits": told, "quiet": true })))
        .unwrap_err();
    assert!(again.message.contains("so already"), "{again:?}");
    keep(&home, json!({ "name": "tidy" }));
    assert_eq!(quiet(&home), false);
    let none = home.must("schedules.show", json!({ "name": "tidy" }))["limits"].clone();
    let is_nothing = |one: &Value| one.is_null() || *one == json!([]);
    assert!(none.as_object().unwrap().values().all(is_nothing), "{none}");
    for (limits, word) in [
        (json!({ "hours": "25-3" }), "8-18"),
        (json!({ "per_hour_max": 0 }), "within an hour"),
        (json!({ "jitter_minutes": 61 }), "an hour later"),
        (json!({ "day_runs_max": 0 }), "more than 0"),
        (json!({ "ends_after_minutes": 99_999 }), "seven days"),
    ] {
        let asked = wanted(&home, json!({ "name": "other", "limits": limits }));
        let refused = home.ask("schedules.keep", asked).unwrap_err();
        assert!(refused.code == Code::Usage && refused.message.contains(word), "{refused:?}");
    }
    let unknown = wanted(&home, json!({ "limits": { "per_week_max": 1 } }));
    assert_eq!(home.ask("schedules.keep", unknown).unwrap_err().code, Code::UnknownField);
}

/// A standing grant for all that tidying does in the runs of the schedule in a version, for so many uses.
fn give(home: &Home, version: u32, max_uses: u32) {
    let (kernel, person) = (home.world.kernel(), &home.world.person);
    let scope = StandingScope::Schedule { name: "tidy".to_owned(), version };
    let cover = Cover::Paths { glob: "**".to_owned(), acts: vec![PathAct::Create, PathAct::Delete] };
    let grant = person.standing(kernel, cover, scope, None);
    let grant = StandingGrant { expires_at: grant.issued_at.plus_ms(60 * DAY), max_uses, ..grant };
    kernel.allow_standing(&person.sign_standing(&grant)).unwrap();
}

/// The next run of a schedule with a new file in the folder, up to its question.
fn next_run(home: &Home, file: &str) -> (model::TaskId, model::ApprovalId) {
    home.world.file(file, "words");
    home.world.clock.advance(DAY);
    let [run] = home.world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
    (run, home.world.drive_to_approval(run))
}

#[test]
fn what_a_schedule_would_ask_is_judged_by_the_policy_and_the_grants_of_today_over_its_last_runs() {
    let home = Home::new(186);
    let rehearse = |home: &Home| home.must("schedules.rehearse", json!({ "name": "tidy" }));
    // Runs, acts that a standing grant answers, that a person is asked about, that are not done so.
    let counts = |told: &Value| {
        let of = |name: &str| told[name].as_u64().unwrap();
        [of("runs"), of("granted"), of("asked"), of("denied") + of("lesser")]
    };
    keep(&home, json!({}));
    let none = rehearse(&home);
    assert_eq!((counts(&none), &none["rows"]), ([0, 0, 0, 0], &json!([])));
    assert!(none["summary"].as_str().unwrap().contains("no run yet"), "{none}");
    for file in ["a.txt", "b.txt"] {
        let (run, approval) = next_run(&home, file);
        home.world.person.allow(home.world.kernel(), run, approval).unwrap();
        assert!(matches!(home.world.drive(run), DriveOutcome::Ended { .. }));
    }
    let asked = rehearse(&home);
    assert_eq!(counts(&asked), [2, 0, 2, 0], "{asked}");
    let rows = asked["rows"].as_array().unwrap();
    let act = rows.iter().find(|row| row["verdict"] == "require_approval").unwrap();
    assert!(!act["rules"].as_array().unwrap().is_empty() && !act["reason"].as_str().unwrap().is_empty());
    assert_eq!((&act["answered"], &act["was"]), (&json!("granted"), &json!("require_approval")));
    assert!(rows[0]["slot_at"].as_i64() > rows[rows.len() - 1]["slot_at"].as_i64(), "the newest run first");
    assert!(asked["summary"].as_str().unwrap().contains("2 would ask you"), "{asked}");
    // One use answers one of them; enough uses answer both.
    give(&home, 1, 1);
    let one = rehearse(&home);
    assert_eq!(
        (counts(&one), &one["grants"][0]["acts"], &one["grants"][0]["left"]),
        ([2, 1, 1, 0], &json!(1), &json!(0))
    );
    give(&home, 1, 50);
    assert_eq!(counts(&rehearse(&home)), [2, 2, 0, 0]);
    assert_eq!(rehearse(&home), rehearse(&home), "nothing is used by it");
    // What a person agreed to was another version; and a profile that changes nothing denies what it did.
    keep(&home, json!({ "name": "tidy", "said": "every day at 9" }));
    let changed = rehearse(&home);
    assert_eq!((counts(&changed), &changed["grants"]), ([2, 0, 2, 0], &json!([])));
    keep(&home, json!({ "name": "tidy", "profile": "readonly_analysis" }));
    assert_eq!(counts(&rehearse(&home)), [2, 0, 0, 2]);
    let last = home.must("schedules.rehearse", json!({ "name": "tidy", "runs": 1 }));
    assert_eq!(counts(&last), [1, 0, 0, 1]);
    for (params, code) in [
        (json!({ "name": "tidy", "runs": 0 }), Code::Usage),
        (json!({ "name": "tidy", "runs": 21 }), Code::Usage),
        (json!({ "name": "other" }), Code::NotFound),
    ] {
        assert_eq!(home.ask("schedules.rehearse", params).unwrap_err().code, code);
    }
    let told = rehearse(&home);
    assert_eq!(rehearse(&home.into_reader()), told);
}

#[test]
fn by_the_rules_of_the_folder_a_schedule_would_be_denied_what_they_deny() {
    let home = Home::new(187);
    keep(&home, json!({}));
    let (run, approval) = next_run(&home, "a.txt");
    home.world.person.deny(home.world.kernel(), run, approval, "no").unwrap();
    home.world.drive(run);
    let rehearse = |home: &Home| home.must("schedules.rehearse", json!({ "name": "tidy" }));
    assert_eq!(rehearse(&home)["asked"], 1);
    home.world.file(".hermit/policy.rules", "deny FileDelete(**)\ndeny FileEdit(**)\n");
    let told = rehearse(&home);
    assert_eq!((&told["asked"], &told["denied"]), (&json!(0), &json!(1)), "{told}");
    let row = told["rows"].as_array().unwrap().iter().find(|row| row["verdict"] == "deny").unwrap();
    assert!(row["rules"].to_string().contains("project."), "{row}");
    home.world.file(".hermit/policy.rules", "deny of everything\n");
    let refused = home.ask("schedules.rehearse", json!({ "name": "tidy" })).unwrap_err();
    assert_eq!(refused.code, Code::Usage, "half of the rules judge nothing: {refused:?}");
}

/// The times of a span around now, in days.
fn calendar(home: &Home, (before, after): (i64, i64), more: Value) -> Value {
    let now = home.world.kernel().ports().clock.now().0;
    let mut params = json!({ "from": now - before * DAY, "to": now + after * DAY });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    home.must("schedules.calendar", params)
}

fn states(times: &Value) -> Vec<String> {
    let state = |entry: &Value| {
        let many = entry["times"].as_u64().filter(|many| *many > 1).map(|many| format!(" {many}"));
        let why = entry["why"].as_str().map(|why| format!(" {why}"));
        format!("{}{}{}", entry["state"].as_str().unwrap(), many.unwrap_or_default(), why.unwrap_or_default())
    };
    times["entries"].as_array().unwrap().iter().map(state).collect()
}

#[test]
fn a_calendar_tells_what_became_of_each_time_and_which_are_to_come_and_says_what_it_leaves_out() {
    let home = Home::new(188);
    keep(&home, json!({}));
    assert_eq!(states(&calendar(&home, (5, 2), json!({}))), ["due", "due"]);
    let (run, _) = next_run(&home, "a.txt");
    home.world.clock.advance(3 * DAY);
    home.world.kernel().fire_due().unwrap();
    let of_both = calendar(&home, (9, 2), json!({}));
    assert_eq!(states(&of_both), ["fired", "passed_over 2 newer", "fired", "due", "due"], "{of_both}");
    let first = &of_both["entries"][0];
    assert_eq!(
        (&first["task_id"], &first["run_status"]),
        (&json!(run.to_string()), &json!("awaiting_approval"))
    );
    assert_eq!((&first["time"], &first["schedule"]), (&json!("08:00"), &json!("tidy")));
    assert!(of_both["entries"][1]["until"].as_str().unwrap().contains("08:00"));
    // By the clock of another zone it is another time of day; of a part of the span only what lies in it is told.
    let there = calendar(&home, (9, 2), json!({ "zone": "Asia/Kolkata" }));
    assert_eq!(there["entries"][0]["time"], "13:30");
    assert_eq!(states(&calendar(&home, (9, -3), json!({}))), ["fired"]);
    // What came due and was not looked at says so, and not that it was skipped.
    home.world.clock.advance(DAY);
    assert_eq!(states(&calendar(&home, (1, 0), json!({}))), ["due"]);
    // Nothing is to come while it is paused; what passed then has its reason.
    home.must("schedules.pause", json!({ "name": "tidy" }));
    assert_eq!(states(&calendar(&home, (1, 9), json!({}))), ["passed_over paused"]);
    home.world.clock.advance(2 * DAY);
    home.must("schedules.resume", json!({ "name": "tidy" }));
    assert_eq!(states(&calendar(&home, (2, 1), json!({}))), ["passed_over 2 paused", "due"]);
    // Of many times it says that they are not all here; the other schedule keeps its own.
    keep(&home, json!({ "name": "often", "said": "* * * * *" }));
    let many = calendar(&home, (1, 60), json!({}));
    let entries = many["entries"].as_array().unwrap();
    assert!(entries.len() <= 2_000 && many["cut"] == json!(["often"]), "{}", many["cut"]);
    assert_eq!(
        entries.iter().filter(|entry| entry["schedule"] == "tidy" && entry["state"] == "due").count(),
        60
    );
    let alone = calendar(&home, (1, 60), json!({ "name": "tidy" }));
    assert!(alone["entries"].as_array().unwrap().iter().all(|entry| entry["schedule"] == "tidy"));
    // A schedule that is removed keeps its past.
    home.must("schedules.remove", json!({ "name": "tidy" }));
    let past = calendar(&home, (20, 9), json!({ "name": "tidy" }));
    assert!(states(&past).contains(&"fired".to_owned()) && !states(&past).contains(&"due".to_owned()));
    let this_month = home.must("schedules.calendar", json!({}));
    assert!(this_month["from"].as_i64() < this_month["to"].as_i64() && this_month["zone"] == "UTC");
    for (params, code) in [
        (json!({ "month": "2026-13" }), Code::Usage),
        (json!({ "month": "2026-11", "from": 0, "to": 1 }), Code::Usage),
        (json!({ "from": 0 }), Code::Usage),
        (json!({ "from": 0, "to": 63 * DAY }), Code::Usage),
        (json!({ "from": 5, "to": 5 }), Code::Usage),
        (json!({ "zone": "Atlantis" }), Code::Usage),
        (json!({ "name": "other" }), Code::NotFound),
    ] {
        assert_eq!(home.ask("schedules.calendar", params.clone()).unwrap_err().code, code, "{params}");
    }
    let told = calendar(&home, (20, 9), json!({}));
    let span = json!({ "from": told["from"], "to": told["to"] });
    assert_eq!(home.into_reader().must("schedules.calendar", span)["entries"], told["entries"]);
}

/// Chance that is none.
struct Same;

impl Chance for Same {
    fn fill(&mut self, buffer: &mut [u8]) {
        buffer.fill(7);
    }
}

#[test]
fn a_schedule_of_the_mesh_tells_who_runs_it_and_who_cannot() {
    let mut home = Home::new(189);
    let (mesh, ran) = machines::running();
    home.mesh = Some(mesh);
    ran.is_reached.store(true, Ordering::SeqCst);
    keep(&home, json!({}));
    let shown = || home.must("schedules.show", json!({ "name": "tidy" })).get("held_by").cloned();
    assert_eq!(shown(), None);
    let kernel = home.world.kernel();
    let [me, other] = [1, 2].map(|secret| NostrSealing::new(&[secret; 32]).unwrap().node());
    kernel.join_mesh(me, "laptop").unwrap();
    let now = kernel.ports().clock.now();
    let mut node = Node::new(NostrSealing::new(&[1; 32]).unwrap(), State::new(me), now);
    let mut say = |command: Command| {
        let step = node.handle(Happened::Said(command), now, &mut Same).unwrap();
        kernel.record_mesh(&step.facts, &step.deliver, None).unwrap();
    };
    let log_key = SeedSigner::from_seed([9; 32]).public();
    let peer =
        Peer { node: other, name: "server".to_owned(), relays: Vec::new(), log_key, approval_key: None };
    say(Command::Pair { peer, group: None });
    kernel.hold_schedule("tidy", &[me, other], 2 * MINUTE).unwrap().into_iter().for_each(&mut say);
    let held = |unready: Value| {
        let nodes = ["laptop", "server"];
        json!({
            "nodes": nodes, "holder": "laptop", "rank": 1, "is_here": true, "unready": unready, "is_cut_off": false,
        })
    };
    assert_eq!(shown(), Some(held(json!([]))));
    let sha256 = kernel.mesh_registry().state().unwrap().schedule("tidy").unwrap().sha256;
    say(Command::Ready { schedule: "tidy".to_owned(), sha256, is_ready: false });
    assert_eq!(shown(), Some(held(json!(["laptop"]))));
    let listed = home.must("schedules.list", json!({}));
    assert_eq!(listed["schedules"][0]["held_by"], shown().unwrap());
    // Another machine of the same name: each is told as the list of machines tells it.
    let twin = NostrSealing::new(&[3; 32]).unwrap().node();
    let log_key = SeedSigner::from_seed([8; 32]).public();
    let peer =
        Peer { node: twin, name: "server".to_owned(), relays: Vec::new(), log_key, approval_key: None };
    say(Command::Pair { peer, group: None });
    let digits: String = other.to_string().chars().take(8).collect();
    assert_eq!(shown().unwrap()["nodes"], json!(["laptop", format!("server ({digits})")]));
    // With no way to another machine nothing of it begins here, whoever holds it; what is paused begins nothing in any case.
    let waits = || shown().unwrap()["is_cut_off"].clone();
    ran.is_reached.store(false, Ordering::SeqCst);
    assert_eq!(waits(), true);
    assert_eq!(home.must("schedules.list", json!({}))["schedules"][0]["held_by"]["is_cut_off"], true);
    ran.is_reached.store(true, Ordering::SeqCst);
    assert_eq!(waits(), false);
    ran.is_reached.store(false, Ordering::SeqCst);
    home.must("schedules.pause", json!({ "name": "tidy" }));
    assert_eq!(waits(), false);
}

#[test]
fn no_undo_is_offered_for_what_only_a_change_of_its_own_takes_back() {
    let home = Home::new(1_373);
    let (_, written) = home.with_an_act("write a");
    keep(&home, json!({}));
    home.world.file("a.txt", "text");
    let remember = json!({ "claim": "a is text", "scope": "*", "reason": "asked", "evidence": ["a.txt"] });
    let look = testkit::say("read", json!({ "path": "a.txt" }));
    let task =
        home.world.script("learn", vec![look, testkit::say("remember", remember), testkit::done("ok")]);
    home.world.drive_allowing(task);
    let rows = home.must("receipts.list", json!({}))["rows"].clone();
    let of = |class: &str| {
        let rows = rows.as_array().unwrap();
        let found =
            rows.iter().find(|row| row["action_class"] == class && row["class"] != "approval_resolution");
        found.expect(class)["receipt_id"].as_str().unwrap().to_owned()
    };
    let shown = |receipt: &str| -> Receipt {
        serde_json::from_value(home.must("receipts.show", json!({ "receipt": receipt }))).expect("a receipt")
    };
    let told = |receipt: &str| home.must("trace.explain", json!({ "subject": receipt }))["told"].to_string();
    assert!(shown(&written).has_undo() && shown(&written).row.has_undo());
    assert!(told(&written).contains("To undo it: hermit rollback"), "{}", told(&written));
    for (class, way) in [
        ("capability_change", "change the same setting of Hermit again"),
        ("durable_memory_write", "hermit memory invalidate"),
    ] {
        let receipt = of(class);
        assert!(!shown(&receipt).has_undo() && !shown(&receipt).row.has_undo(), "{class}");
        let told = told(&receipt);
        assert!(told.contains(way) && !told.contains("hermit rollback"), "{told}");
        let refused = home.ask("receipts.rollback", json!({ "receipt": receipt })).expect_err("it has none");
        assert_eq!(refused.code, Code::Conflict, "{class}: what is not offered is refused, too");
    }
}
