//! Who may ask what: the whole table, for every kind of caller.

use crate::browsers::SESSION;
use crate::home::{Home, PASSPHRASE};
use crate::person::Page;
use crate::{Open, open};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use wire::{Access, COMMANDS, Caller, Code, PLACES, Use};

const CALLERS: [Caller; 3] = [Caller::Owner, Caller::Program, Caller::Page];
/// Names under which a parameter could name a place of this machine.
const PLACE_NAMES: [&str; 18] = [
    "authorities",
    "bitcoin_cookie",
    "bitcoin_headers",
    "headers_file",
    "path",
    "paths",
    "from",
    "to",
    "file",
    "files",
    "folder",
    "folders",
    "dir",
    "attachments",
    "reads",
    "workspace",
    "store",
    "home",
];
/// Parameters of these names that open nothing: words that are compared with what is in the store.
const WORDS: [(&str, &str); 13] = [
    ("grants.draft", "paths"),
    ("approvals.packet", "from"),
    ("changes.show", "from"),
    // Addresses of time-stamp authorities.
    ("anchors.set_clocks", "authorities"),
    // Times.
    ("schedules.calendar", "from"),
    ("schedules.calendar", "to"),
    // JSON pointers into the arguments of a tool.
    ("tools.classify", "paths"),
    // A file of the skill, by its path in there.
    ("skills.show", "file"),
    // Whether folders are meant.
    ("workspaces.files", "folders"),
    // Another machine, and a folder there by its alias.
    ("mesh.hand_over", "to"),
    ("mesh.send", "to"),
    ("mesh.send", "folder"),
    ("training.join", "from"),
];

fn code(home: &Home, caller: Caller, name: &str, params: Value) -> Option<Code> {
    api::call_for(home, caller, name, params, &[]).err().map(|error| error.code)
}

#[test]
fn the_whole_table_is_asked_by_every_kind_of_caller() {
    for caller in CALLERS {
        let home = Home::new(300);
        for info in COMMANDS {
            let came = code(&home, caller, info.name, json!({}));
            let for_people = matches!(info.access, Access::owner | Access::person | Access::surface);
            let is_refused = for_people && caller != Caller::Owner;
            assert_eq!(came == Some(Code::Forbidden), is_refused, "{} by {caller:?}: {came:?}", info.name);
        }
    }
}

#[test]
fn every_parameter_that_names_a_place_is_known_and_a_page_names_none_but_a_folder_to_work_in() {
    let home = Home::new(301);
    let mut found = BTreeSet::new();
    for info in COMMANDS {
        for field in PLACE_NAMES {
            let params = json!({ field: "/etc/hostname" });
            let asked = api::call(&home, info.name, params);
            let is_unknown =
                asked.is_err_and(|error| error.details["field"] == field && error.code == Code::UnknownField);
            if !is_unknown && !WORDS.contains(&(info.name, field)) {
                found.insert((info.name, field));
            }
        }
    }
    let known: BTreeSet<(&str, &str)> = PLACES.iter().map(|(name, field, _)| (*name, *field)).collect();
    assert_eq!(found, known);
    for (name, field, what) in PLACES {
        for place in [json!("/etc/hostname"), json!(["/etc/hostname"]), json!({ "x": 1 })] {
            let params = json!({ *field: place });
            let refused = code(&home, Caller::Page, name, params.clone()) == Some(Code::Forbidden);
            let is_of_mesh = *name == "mesh.set";
            assert_eq!(refused, is_of_mesh || *what != Use::Works, "{name} {field} {place}");
            // Which node is shown a password, and which headers count, is a person's to say; so is what other machines may work in.
            let is_a_persons = is_of_mesh || *name == "anchors.set_clocks";
            let is_refused = code(&home, Caller::Program, name, params) == Some(Code::Forbidden);
            assert!(
                is_a_persons || !is_refused,
                "{name}: a program of this person reads its files by itself"
            );
        }
    }
}

#[test]
fn a_page_works_in_no_folder_of_the_system_the_store_or_keys() {
    let home = Home::new(302);
    let work = home.world.folder.path().to_path_buf();
    let secret = work.join(".ssh");
    std::fs::create_dir(&secret).expect("a folder");
    let playbook = json!({ "kind": "playbook", "name": "inventory" });
    let begin = |caller: Caller, folder: &std::path::Path| {
        let params = json!({ "workspace": folder, "reasoner": playbook, "goal": "" });
        api::call_for(&home, caller, "task.submit", params, &[])
            .err()
            .map(|error| (error.code, error.message))
    };
    for folder in
        [secret.as_path(), home.world.store.path(), "/proc".as_ref(), "/dev".as_ref(), "/sys".as_ref()]
    {
        let refused = begin(Caller::Page, folder);
        let code = refused.as_ref().map(|(code, _)| *code);
        assert!(matches!(code, Some(Code::Forbidden | Code::Refused)), "{}: {refused:?}", folder.display());
    }
    assert_eq!(begin(Caller::Page, &work), None, "any other folder is");
    let recorded = json!({ "kind": "address", "address": "recorded:/etc/hostname" });
    let params = json!({ "workspace": work, "reasoner": recorded, "goal": "x" });
    assert_eq!(code(&home, Caller::Page, "task.submit", params), Some(Code::Forbidden));
    // Of agents it names those that Hermit knows, and no program, also none without a blank or a folder in its name.
    for (agent, reads) in
        [("sh", json!([])), ("acp:sh", json!([])), ("/bin/sh -c x", json!([])), ("codex", json!(["/etc"]))]
    {
        let guest = json!({ "kind": "guest", "agent": agent, "reads": reads });
        let params = json!({ "workspace": work, "reasoner": guest, "goal": "x" });
        assert_eq!(code(&home, Caller::Page, "task.submit", params), Some(Code::Forbidden), "{agent}");
    }
}

#[test]
fn nobody_vouches_for_a_file_but_at_the_process_that_holds_the_store_and_nobody_is_hermit_itself() {
    let home = Home::new(303);
    let file = |trust: &str| json!({ "bytes": "eA==", "name": "x.txt", "trust": trust });
    for caller in [Caller::Program, Caller::Page] {
        for trust in ["user_asserted", "verified", "observed", "policy_asserted"] {
            assert_eq!(
                code(&home, caller, "artifacts.ingest", file(trust)),
                Some(Code::Forbidden),
                "{trust}"
            );
        }
        assert_eq!(code(&home, caller, "artifacts.ingest", file("untrusted")), None);
    }
    assert_eq!(code(&home, Caller::Owner, "artifacts.ingest", file("user_asserted")), None);
    for caller in CALLERS {
        for channel in ["system", "scheduler"] {
            let params = json!({ "bytes": "eA==", "name": "x.txt", "channel": channel });
            assert_eq!(code(&home, caller, "artifacts.ingest", params), Some(Code::Usage), "{channel}");
        }
    }
}

fn halted(open: &Open) -> bool {
    open.home.must("gate.state", json!({}))["halted"] == true
}

#[test]
fn after_a_halt_only_a_person_boots() {
    let open = open(304);
    open.home.must("gate.halt", json!({ "reason": "stop" }));
    let (bearer, origin) = (open.bearer(), open.origin());
    let page = Page::of(&open);
    let session = [(SESSION, page.session.as_str()), ("origin", origin.as_str())];
    let forged = json!({ "signed": { "text": "{}", "signature": "00".repeat(64) } }).to_string();
    for body in ["{}", r#"{"signed":null}"#, forged.as_str()] {
        let (status, answer) = open.raw("/api/gate.boot", &[("authorization", &bearer)], body.as_bytes());
        assert_eq!(status, 403, "{body}: {answer}");
        assert_eq!(open.raw("/api/gate.boot", &session, body.as_bytes()).0, 403, "{body}");
    }
    assert!(halted(&open));
    // A page asks for the passphrase, and counts the wrong ones; a program cannot ask there.
    let json_type = ("content-type", "application/json");
    let right = json!({ "passphrase": PASSPHRASE });
    let by_program = [("authorization", bearer.as_str()), json_type];
    assert_eq!(open.raw("/api/session/boot", &by_program, right.to_string().as_bytes()).0, 403);
    assert_eq!(page.post("/api/session/boot", &json!({ "passphrase": "wrong" })).0, 409);
    assert_eq!(page.post("/api/session/boot", &json!({ "passphrase": "with \"quotes\"" })).0, 400);
    assert!(halted(&open));
    let bytes = json!({ "passphrase": PASSPHRASE.as_bytes() });
    let (status, state) = page.post("/api/session/boot", &bytes);
    assert_eq!((status, &state["halted"]), (200, &json!(false)), "{state}");
    assert_eq!(page.post("/api/session/boot", &bytes).0, 409, "nothing is halted");
}

#[test]
fn what_a_person_signed_boots_once_from_anywhere() {
    use kernel::command::halt::boot_subject;
    use kernel::command::person::{Matter, Signed};
    use model::Clock as _;
    let open = open(305);
    let signed = |matter: Matter| {
        let reader = api::Host::reader(&*open.home).expect("a store");
        let (now, key) = (open.home.world.clock.now(), open.home.world.person.signer());
        let subject = boot_subject(&reader).expect("a head");
        let signed = Signed::of(reader.log_id(), matter, subject, now, key).expect("signed");
        let text = String::from_utf8(signed.text).expect("text");
        json!({ "signed": { "text": text, "signature": signed.signature.to_string() } })
    };
    open.home.must("gate.halt", json!({}));
    let client = open.client();
    assert!(client.ask("gate.boot", &signed(Matter::Settle)).is_err(), "signed for something else");
    let yes = signed(Matter::Boot);
    assert_eq!(client.ask("gate.boot", &yes).expect("booted")["halted"], false);
    open.home.must("gate.halt", json!({}));
    assert_eq!(client.ask("gate.boot", &yes).expect_err("for the halt before").code, Code::Refused);
    assert!(halted(&open));
}

#[test]
fn an_answer_is_recorded_as_who_gave_it() {
    let open = open(306);
    let asked = vec![
        testkit::say("ask", json!({ "question": "which?" })),
        testkit::say("ask", json!({ "question": "and now?" })),
        testkit::done("a"),
    ];
    let task = open.home.world.script("ask first", asked);
    open.home.world.drive(task);
    let answer = json!({ "task": task.to_string(), "text": "the left one", "channel": "cli" });
    open.client().ask("task.answer", &answer).expect("answered");
    open.home.must("task.answer", answer);
    let log = open.home.must("task_events.list", json!({ "task": task.to_string(), "limit": 500 }));
    let events = log["events"].as_array().expect("events").iter();
    let answers = events.filter(|event| event["event_type"] == "clarification.answered");
    let by: Vec<&str> = answers.filter_map(|event| event["actor_type"].as_str()).collect();
    assert_eq!(by, ["service", "user"], "a token is a program's, the process itself is its person's");
}

#[test]
fn a_program_lowers_the_ceiling_and_raises_a_price_and_never_the_other_way() {
    let home = Home::new(307);
    let owner = |name: &str, params: Value| api::call(&home, name, params).err().map(|error| error.code);
    let ceiling =
        |caller, dollars: Value| code(&home, caller, "models.ceiling", json!({ "dollars": dollars }));
    let price = |caller, field: &str, dollars: &str| {
        let params = json!({ "address": "openai:http://127.0.0.1:1/v1#m", field: dollars });
        code(&home, caller, "models.set", params)
    };
    // What the rule lets through comes to the host, which has no settings.
    let passed = Some(Code::Unavailable);
    for caller in [Caller::Program, Caller::Page] {
        assert_eq!(owner("models.ceiling", json!({ "dollars": "5.00" })), None);
        for more in [json!(null), json!("5.01")] {
            assert_eq!(ceiling(caller, more.clone()), Some(Code::Forbidden), "{more} by {caller:?}");
        }
        assert_eq!(*home.world.days.max.lock().expect("no poison"), Some(5_000_000));
        assert_eq!(ceiling(caller, json!("4.00")), None);
        assert_eq!(*home.world.days.max.lock().expect("no poison"), Some(4_000_000));
        for (field, less) in [
            ("price_in", "1.99"),
            ("price_in", "0"),
            ("price_in", ""),
            ("price_out", "7.99"),
            ("price_out", "0.0"),
            ("price_out", " "),
        ] {
            assert_eq!(price(caller, field, less), Some(Code::Forbidden), "{field} {less:?} by {caller:?}");
        }
        for (field, more) in [("price_in", "2"), ("price_in", "2.50"), ("price_out", "8"), ("mode", "auto")] {
            assert_eq!(price(caller, field, more), passed, "{field} {more} by {caller:?}");
        }
    }
    assert_eq!(owner("models.ceiling", json!({ "dollars": null })), None);
    let free = json!({ "address": "openai:http://127.0.0.1:1/v1#m", "price_in": "0" });
    assert_eq!(owner("models.set", free), passed);
}

#[test]
fn a_program_neither_lets_a_task_leave_this_machine_nor_says_that_a_person_is_there() {
    let home = Home::new(308);
    let work = home.world.folder.path().to_path_buf();
    let playbook = json!({ "kind": "playbook", "name": "inventory" });
    for caller in CALLERS {
        for field in ["fallback_remote", "ask_at_limit"] {
            let params =
                |yes: bool| json!({ "workspace": work, "reasoner": playbook, "goal": "", field: yes });
            let refused = Some(Code::Forbidden).filter(|_| caller != Caller::Owner);
            assert_eq!(code(&home, caller, "task.submit", params(true)), refused, "{field} by {caller:?}");
            assert_eq!(code(&home, caller, "task.submit", params(false)), None, "{field} by {caller:?}");
        }
    }
}
