//! Adopting a change of Hermit: only what was judged better in a trial whose verdict holds, only by a person's card, and back from
//! it by one more; a change of what keeps Hermit in check waits, and is signed for room by room.

use crate::story::{card, completed, count, in_store, packet, state};
use kernel::command::adopting::{AskedAdoption, constitution_subject};
use kernel::command::person::{Matter, Signed};
use kernel::command::rotate_keys::Rotation;
use kernel::command::successor::BegunTrial;
use kernel::{DriveOutcome, Error};
use model::adoption::PatchKind;
use model::body::KeyPurpose;
use model::ingress::Channel;
use model::policy::RiskBand;
use model::skin::Skin;
use model::task::TaskStatus;
use model::{ApprovalId, Clock as _, Digest, TaskId};
use reasoning::Playbook;
use seal::{SeedSigner, Signer as _};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use successor::{Budget, Evidence, Patch, Verdict, constitutional};
use testkit::{TestAdopting, World, done, write};

const RULES: &str = "ask FileEdit(secret/**)\n";
const DAY_MS: i64 = 24 * 3_600_000;
const BUDGET: Budget = Budget {
    wall_ms: 60_000,
    cpu_ms: 60_000,
    memory_bytes: 1 << 30,
    disk_bytes: 1 << 30,
    processes: 32,
    tokens: 10_000,
};

pub fn by() -> (Channel, String) {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    (Channel::App, format!("adopt {}", ASKED.fetch_add(1, Ordering::SeqCst)))
}

pub fn patch(change: &Value) -> Patch {
    let patch = json!({ "says": "it asks less", "sources": ["written for this test"], "change": change });
    serde_json::from_value(patch).unwrap()
}

fn policy(rules: &str) -> Patch {
    patch(&json!({ "kind": "policy", "rules": rules }))
}

/// A change of one file of the source.
fn code(file: &str) -> Patch {
    let diff = format!("--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-one\n+two\n");
    patch(&json!({ "kind": "code", "source": Digest::of(b"the source").to_string(), "diff": diff }))
}

fn begun(world: &World, patch: &Patch) -> String {
    let goal = format!("played {}", by().1);
    let played = world.script(&goal, vec![write("a.txt", "a"), done("written")]);
    assert!(matches!(world.drive_allowing(played).0, DriveOutcome::Ended { .. }));
    let (patch, tasks) = (patch.clone(), vec![played]);
    let begun = BegunTrial {
        patch,
        about: "it asks less".to_owned(),
        tasks,
        left_out: Vec::new(),
        seed: 7,
        budget: BUDGET,
    };
    world.kernel().begin_trial(&begun).unwrap()
}

/// A verdict on it, with what a test says otherwise.
pub fn judged(world: &World, patch: &Patch, otherwise: &Value) -> String {
    let trial_id = begun(world, patch);
    let evidence = |arm: &str| {
        let left: Evidence = serde_json::from_value(json!({
            "case_sha256": Digest::of(b"the case").to_string(), "arm": arm, "tasks": [], "probes": [],
        }))
        .unwrap();
        left.bytes().unwrap()
    };
    let evidence = [evidence("parent"), evidence("successor")];
    let of: Vec<String> = evidence.iter().map(|bytes| Digest::of(bytes).to_string()).collect();
    let mut verdict = json!({
        "trial_id": trial_id,
        "patch_sha256": Digest::of(&patch.bytes().unwrap()).to_string(),
        "kind": patch.kind().to_string(),
        "outcome": "better",
        "reasons": [{ "rule": "asks_less", "says": "3 questions fewer" }],
        "measures": [],
        "planted": [{ "name": "allows everything", "refused": true }],
        "used": { "wall_ms": 1, "cpu_ms": 1, "memory_bytes": 1, "disk_bytes": 1, "tokens": 0 },
        "evaluator_sha256": world.adopting.evaluator.to_string(),
        "seed": 7,
        "evidence_sha256": of,
        "constitutional": constitutional(patch),
    });
    for (field, value) in otherwise.as_object().unwrap() {
        verdict[field] = value.clone();
    }
    let verdict: Verdict = serde_json::from_value(verdict).unwrap();
    world.kernel().end_trial(&verdict, &evidence).unwrap();
    trial_id
}

pub fn adopt<'a>(trial_id: &'a str, reviews: &'a [Vec<u8>], signed: &'a [Signed]) -> AskedAdoption<'a> {
    AskedAdoption { trial_id, reviews, although_same: false, signed, looked: &[] }
}

fn refused(world: &World, asked: &AskedAdoption<'_>, says: &str) {
    let why = world.kernel().propose_adoption(asked, by()).expect_err(says).to_string();
    assert!(why.contains(says), "{says}: {why}");
}

/// Asks, up to the card.
fn asked(world: &World, asked: &AskedAdoption<'_>) -> (TaskId, ApprovalId) {
    let task = world.kernel().propose_adoption(asked, by()).unwrap().task_id;
    (task, world.drive_to_approval(task))
}

pub fn yes(world: &World, (task, approval): (TaskId, ApprovalId)) {
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
}

fn back(world: &World, kind: Option<PatchKind>) {
    let task = world.kernel().propose_return(kind, "it asks too little", by()).unwrap().task_id;
    yes(world, (task, world.drive_to_approval(task)));
}

pub fn review(by: &str, file: &str) -> Vec<u8> {
    format!("{}\n", json!({ "file": file, "line": 1, "says": "sound", "by": by })).into_bytes()
}

fn tests(failed: &[&str]) -> Value {
    json!({ "suite": "npm test", "passed": 12, "failed": failed, "edited": [] })
}

pub fn built(store_format: u32) -> Value {
    json!({ "program_sha256": Digest::of(b"a program").to_string(), "bytes": 9, "store_format": store_format })
}

#[conforms::conforms(part = "HV-5-7")]
#[test]
fn a_better_policy_is_in_force_by_a_persons_card_alone_and_gone_by_one_more() {
    let mut world = World::new(6_801);
    let trial = judged(&world, &policy(RULES), &json!({}));
    let (task, approval) = asked(&world, &adopt(&trial, &[], &[]));
    let shown = card(&world, task);
    assert!(shown.contains("because: asks_less: 3 questions fewer"), "{shown}");
    assert!(shown.contains("    | ask FileEdit(secret/**)"), "{shown}");
    assert_eq!(packet(&world, task).risk_band, RiskBand::Critical);
    assert_eq!(world.kernel().signed_rules().unwrap(), "", "a card is no yes");
    world.person.deny(world.kernel(), task, approval, "not yet").unwrap();
    world.drive(task);
    assert_eq!(
        (world.kernel().signed_rules().unwrap().as_str(), in_store(&world, "successor.adopted")),
        ("", 0)
    );
    let again = asked(&world, &adopt(&trial, &[], &[]));
    yes(&world, again);
    assert_eq!(world.kernel().signed_rules().unwrap(), RULES);
    assert_eq!(count(world.kernel(), again.0, "receipt.issued"), 2, "of the answer, and of the act");
    refused(&world, &adopt(&trial, &[], &[]), "adopted already");
    world.crash();
    world.reopen();
    let registry = world.kernel().adoption_registry();
    let record = registry.in_force(Some(PatchKind::Policy)).unwrap();
    assert_eq!(record.trial_id, trial);
    assert_eq!(world.kernel().adopted_change(record).unwrap().pieces[0].text.as_deref(), Some(RULES));
    let none = world.kernel().propose_return(Some(PatchKind::Model), "", by());
    assert!(matches!(none, Err(Error::NotFound { .. })), "nothing of this kind was adopted");
    let task = world.kernel().propose_return(None, "it asks too little", by()).unwrap().task_id;
    let approval = world.drive_to_approval(task);
    assert!(card(&world, task).contains("TAKEN AWAY"), "{}", card(&world, task));
    assert_eq!(world.kernel().signed_rules().unwrap(), RULES, "a card is no yes");
    yes(&world, (task, approval));
    assert_eq!(world.kernel().signed_rules().unwrap(), "");
    assert_eq!(in_store(&world, "successor.returned"), 1);
    assert!(world.kernel().adoption_registry().in_force(None).is_none());
    assert!(matches!(world.kernel().propose_return(None, "", by()), Err(Error::NotFound { .. })));
    refused(&world, &adopt(&trial, &[], &[]), "try it again");
}

#[conforms::conforms(part = "HV-7-1")]
#[test]
fn what_no_sound_verdict_calls_better_is_never_put_to_a_person() {
    let world = World::new(6_802);
    refused(&world, &adopt("trial_0", &[], &[]), "no trial");
    let running = begun(&world, &policy(RULES));
    refused(&world, &adopt(&running, &[], &[]), "no verdict");
    for outcome in ["worse", "unsafe", "inconclusive"] {
        let trial = judged(&world, &policy(RULES), &json!({ "outcome": outcome }));
        let although = AskedAdoption { although_same: true, ..adopt(&trial, &[], &[]) };
        refused(&world, &although, &format!("its verdict is `{outcome}`"));
    }
    let void = judged(&world, &policy(RULES), &json!({ "planted": [{ "name": "bad", "refused": false }] }));
    refused(&world, &adopt(&void, &[], &[]), "void");
    let none = judged(&world, &policy(RULES), &json!({ "planted": [] }));
    refused(&world, &adopt(&none, &[], &[]), "void");
    let elsewhere = Digest::of(b"another program").to_string();
    let other = judged(&world, &policy(RULES), &json!({ "evaluator_sha256": elsewhere }));
    refused(&world, &adopt(&other, &[], &[]), "another program judged it");
    let broken = judged(&world, &policy("allow FileEdit("), &json!({}));
    refused(&world, &adopt(&broken, &[], &[]), "line 1");
    let nothing = judged(&world, &policy(""), &json!({}));
    refused(&world, &adopt(&nothing, &[], &[]), "so already");
    let named = patch(&json!({ "kind": "policy", "rules": RULES, "profile": "local_edit_allowed" }));
    refused(&world, &adopt(&judged(&world, &named, &json!({})), &[], &[]), "profile");
    // The same is adopted where a person says that they want it still, and the card says it.
    let same = judged(&world, &policy(RULES), &json!({ "outcome": "same" }));
    refused(&world, &adopt(&same, &[], &[]), "--although-same");
    let (task, _) = asked(&world, &AskedAdoption { although_same: true, ..adopt(&same, &[], &[]) });
    assert!(card(&world, task).contains("nothing that counts was found to be better"));
    assert_eq!(in_store(&world, "successor.adopted"), 0);
}

#[test]
fn a_verdict_under_a_revoked_key_and_a_card_that_was_overtaken_adopt_nothing() {
    let world = World::new(6_803);
    let (first, second) = (
        judged(&world, &policy(RULES), &json!({})),
        judged(&world, &policy("ask FileEdit(b/**)\n"), &json!({})),
    );
    let late = asked(&world, &adopt(&first, &[], &[]));
    yes(&world, asked(&world, &adopt(&second, &[], &[])));
    world.person.allow(world.kernel(), late.0, late.1).unwrap();
    world.drive(late.0);
    assert_eq!(
        world.kernel().signed_rules().unwrap(),
        "ask FileEdit(b/**)\n",
        "that card was about other rules"
    );
    assert_eq!(in_store(&world, "successor.adopted"), 1);
    let (old, new) = (world.keys.log_signer(), SeedSigner::from_seed([0x51; 32]));
    let rotation = Rotation { purpose: KeyPurpose::Log, old: &*old, new: &new };
    world.kernel().rotate_keys(&[rotation], None).unwrap();
    world.kernel().revoke_key(old.public().keyid(), &new, "it was copied").unwrap();
    refused(&world, &adopt(&first, &[], &[]), "signature on its verdict does not hold");
}

#[test]
fn words_are_adopted_as_what_they_are_and_each_comes_back() {
    let world = World::new(6_804);
    let skin = Skin { voice: "Speak as a pilot does.".to_owned(), ..Skin::draft("harbour") };
    let skin = skin.signed_by(&SeedSigner::from_seed([9; 32])).unwrap().to_bytes().unwrap();
    let shipped = Playbook::shipped();
    let shipped = &shipped[0];
    let named = format!("name: {}", shipped.name());
    let text = shipped.text().replacen(&named, "name: my-own", 1);
    let items = json!([
        { "what": "soul", "name": "SOUL.md", "text": "# Ada\nI keep letters.\n" },
        { "what": "skin", "name": "harbour", "text": String::from_utf8(skin).unwrap() },
        { "what": "playbook", "name": "my-own", "text": text },
    ]);
    let words = patch(&json!({ "kind": "words", "items": items }));
    yes(&world, asked(&world, &adopt(&judged(&world, &words, &json!({})), &[], &[])));
    let (skins, playbooks) = (world.kernel().skin_registry(), world.kernel().playbook_registry());
    assert!(skins.latest("harbour").is_some());
    assert_eq!(playbooks.in_use("my-own").map(|one| one.version), Some(1));
    let soul = world.kernel().identity().latest().cloned().unwrap();
    assert_eq!(soul.soul.sha256, Digest::of(b"# Ada\nI keep letters.\n"));
    // A second version of one of them; back from it is the first again.
    let changed = json!([{ "what": "soul", "name": "SOUL.md", "text": "# Ada\nI keep no letters.\n" }]);
    let second = patch(&json!({ "kind": "words", "items": changed }));
    yes(&world, asked(&world, &adopt(&judged(&world, &second, &json!({})), &[], &[])));
    back(&world, Some(PatchKind::Words));
    let now = world.kernel().identity().latest().cloned().unwrap();
    assert_eq!((now.version, now.soul.sha256), (3, soul.soul.sha256));
    back(&world, None);
    assert!(world.kernel().skin_registry().latest("harbour").is_none());
    assert!(world.kernel().playbook_registry().in_use("my-own").is_none());
    assert_eq!(
        world.kernel().identity().latest().unwrap().version,
        3,
        "who an instance is, is never taken away"
    );
    for (what, says) in
        [("skill", "hermit skills trust"), ("pinned", "adopted by itself"), ("skin", "no skin")]
    {
        let items = json!([{ "what": what, "name": "deploy", "text": "some words" }]);
        let trial = judged(&world, &patch(&json!({ "kind": "words", "items": items })), &json!({}));
        refused(&world, &adopt(&trial, &[], &[]), says);
    }
    // Under the name of one that comes with Hermit it would never run.
    let items = json!([{ "what": "playbook", "name": shipped.name(), "text": shipped.text() }]);
    let trial = judged(&world, &patch(&json!({ "kind": "words", "items": items })), &json!({}));
    refused(&world, &adopt(&trial, &[], &[]), "comes with Hermit");
}

#[test]
fn a_model_is_on_record_for_the_host_and_back_is_what_was_before() {
    let world = World::new(6_805);
    let address = "openai:http://127.0.0.1:8080/v1#qwen";
    *world.adopting.model.lock().unwrap() = Some("box:tiny".to_owned());
    let model = |address: &str| patch(&json!({ "kind": "model", "address": address }));
    refused(&world, &adopt(&judged(&world, &model("qwen"), &json!({})), &[], &[]), "no address");
    yes(&world, asked(&world, &adopt(&judged(&world, &model(address), &json!({})), &[], &[])));
    let registry = world.kernel().adoption_registry();
    let change = world.kernel().adopted_change(registry.in_force(Some(PatchKind::Model)).unwrap()).unwrap();
    assert_eq!(change.pieces[0].text.as_deref(), Some(address));
    assert_eq!(change.pieces[0].was.as_deref(), Some("box:tiny"));
    *world.adopting.model.lock().unwrap() = Some(address.to_owned());
    back(&world, Some(PatchKind::Model));
    assert!(world.kernel().adoption_registry().in_force(Some(PatchKind::Model)).is_none());
}

#[conforms::conforms(part = "HV-7-1", part = "HV-8-1", part = "HV-8-2")]
#[test]
fn a_program_needs_its_tests_a_store_that_both_open_two_reviews_and_a_yes() {
    const FILE: &str = "src-tauri/crates/lineage/src/lib.rs";
    let world = World::new(6_806);
    let change = code(FILE);
    let (ada, bob) = (review("ada", FILE), review("bob", FILE));
    let both = [ada.clone(), bob.clone()];
    let with = |otherwise: &Value| judged(&world, &change, otherwise);
    refused(&world, &adopt(&with(&json!({ "built": built(3) })), &both, &[]), "tests were not run");
    let failed = with(&json!({ "built": built(3), "tests": tests(&["it_adds_up"]) }));
    refused(&world, &adopt(&failed, &both, &[]), "tests did not pass");
    refused(&world, &adopt(&with(&json!({ "tests": tests(&[]) })), &both, &[]), "no program was built");
    let newer = with(&json!({ "built": built(4), "tests": tests(&[]) }));
    refused(&world, &adopt(&newer, &both, &[]), "opens 3 at most");
    for file in [
        "src-tauri/crates/model/src/body.rs",
        "src-tauri/crates/words/src/act.rs",
        "migrations/ledger/0009.sql",
    ] {
        let stored = judged(&world, &code(file), &json!({ "built": built(3), "tests": tests(&[]) }));
        refused(&world, &adopt(&stored, &both, &[]), "what is written into a store");
    }
    let trial = with(&json!({ "built": built(3), "tests": tests(&[]) }));
    refused(&world, &adopt(&trial, &[], &[]), "2 distinct");
    refused(&world, &adopt(&trial, &[ada.clone(), ada.clone()], &[]), "2 distinct");
    refused(
        &world,
        &adopt(&trial, &[ada.clone(), review("bob", "README.md")], &[]),
        "says nothing of a file",
    );
    refused(&world, &adopt(&trial, &[ada, b"sound".to_vec()], &[]), "line 1 of a review");
    // A program that cannot be kept is not adopted, also with a yes.
    *world.adopting.fails.lock().unwrap() = Some("the disk is full".to_owned());
    let (task, approval) = asked(&world, &adopt(&trial, &both, &[]));
    let shown = card(&world, task);
    for says in
        ["reviewed by \"ada\", 1 remark", "reviewed by \"bob\", 1 remark", "    | +two", "12 of `npm test`"]
    {
        assert!(shown.contains(says), "{says}: {shown}");
    }
    world.person.allow(world.kernel(), task, approval).unwrap();
    world.drive(task);
    assert_eq!(in_store(&world, "successor.adopted"), 0);
    assert!(world.kernel().program_now().unwrap().is_none());
    yes(&world, asked(&world, &adopt(&trial, &both, &[])));
    let program = Digest::of(b"a program");
    assert_eq!(
        world.adopting.kept.lock().unwrap().iter().map(|one| one.sha256).collect::<Vec<_>>(),
        [program]
    );
    assert_eq!(world.kernel().program_now().unwrap(), Some(program));
    // Both reviews are kept, word for word, and named by the act.
    let registry = world.kernel().adoption_registry();
    let adopted = world.kernel().adopted_change(registry.in_force(None).unwrap()).unwrap();
    let kept = adopted.reviews.iter().map(|one| world.kernel().artifacts().read(&one.review.sha256).unwrap());
    assert_eq!(kept.collect::<Vec<_>>(), both);
    // A program that does not start is not at work any more, and nobody is asked.
    world.kernel().adoption_failed(&trial, "it ended with 3").unwrap();
    assert!(world.kernel().program_now().unwrap().is_none());
    assert!(matches!(world.kernel().adoption_failed(&trial, "again"), Err(Error::NotFound { .. })));
    let registry = world.kernel().adoption_registry();
    let returned = registry.of_trial(&trial).and_then(|one| one.returned.clone()).unwrap();
    assert_eq!(returned.0, "it ended with 3");
}

#[conforms::conforms(part = "HV-7-1")]
#[test]
fn what_keeps_hermit_in_check_waits_a_day_and_is_signed_for_room_by_room() {
    const FILES: [&str; 2] = ["src-tauri/crates/gate/src/lib.rs", "src-tauri/crates/governance/src/risk.rs"];
    let mut world = World::bare(6_807);
    world.adopting = Arc::new(TestAdopting { wait: Duration::ZERO, ..TestAdopting::default() });
    world.take_up().unwrap();
    world.register_keys().unwrap();
    let file = |name: &str| format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-one\n+two\n");
    let diff = FILES.map(file).concat();
    let change = patch(&json!({ "kind": "code", "source": Digest::of(b"s").to_string(), "diff": diff }));
    assert_eq!(constitutional(&change), ["gate", "policy"]);
    let trial = judged(&world, &change, &json!({ "built": built(3), "tests": tests(&[]) }));
    let both = [review("ada", FILES[0]), review("bob", FILES[1])];
    world.clock.advance(30 * 60_000);
    refused(&world, &adopt(&trial, &both, &[]), "waits");
    // An hour is the least, whatever is set; a day is what stands where nothing is.
    world.clock.advance(31 * 60_000);
    refused(&world, &adopt(&trial, &both, &[]), "it changes `gate`: a person types the approval passphrase");
    let trials = world.kernel().trial_registry();
    let tried = trials.get(&trial).unwrap();
    let (patch, verdict) = (tried.patch.sha256, tried.verdict.clone().unwrap().sha256);
    let log_id = world.kernel().reader().log_id().to_owned();
    let sign = |trial: &str, room: &str| {
        let subject = constitution_subject(trial, patch, verdict, room);
        Signed::of(&log_id, Matter::Successor, subject, world.clock.now(), world.person.signer()).unwrap()
    };
    let (gate, policy) = (sign(&trial, "gate"), sign(&trial, "policy"));
    refused(&world, &adopt(&trial, &both, &[gate.clone()]), "it changes `policy`");
    refused(&world, &adopt(&trial, &both, &[gate.clone(), sign("trial_0", "policy")]), "it changes `policy`");
    let stranger = SeedSigner::from_seed([1; 32]);
    let subject = constitution_subject(&trial, patch, verdict, "policy");
    let forged = Signed::of(&log_id, Matter::Successor, subject, world.clock.now(), &stranger).unwrap();
    refused(&world, &adopt(&trial, &both, &[gate.clone(), forged]), "it changes `policy`");
    let signed = [gate, policy];
    let (task, approval) = asked(&world, &adopt(&trial, &both, &signed));
    assert!(card(&world, task).contains("CONSTITUTIONAL"), "{}", card(&world, task));
    assert_eq!(in_store(&world, "person.decided"), 2, "each is on record");
    assert!(world.kernel().propose_adoption(&adopt(&trial, &both, &signed), by()).is_err(), "and good once");
    yes(&world, (task, approval));
    assert_eq!(in_store(&world, "successor.adopted"), 1);
}

#[test]
fn a_day_is_counted_from_the_verdict_where_nothing_is_set() {
    const FILE: &str = "src-tauri/crates/gate/src/lib.rs";
    let world = World::new(6_808);
    let trial = judged(&world, &code(FILE), &json!({ "built": built(3), "tests": tests(&[]) }));
    let both = [review("ada", FILE), review("bob", FILE)];
    world.clock.advance(DAY_MS - 60_000);
    refused(&world, &adopt(&trial, &both, &[]), "waits");
    world.clock.advance(2 * 60_000);
    refused(&world, &adopt(&trial, &both, &[]), "a person types");
}

/// Whoever changes how changes are adopted changes what holds every other one in check.
#[test]
fn what_adopts_changes_is_itself_held_in_check() {
    for file in [
        "src-tauri/crates/kernel/src/command/adopting.rs",
        "src-tauri/crates/kernel/src/command/adopting_pieces.rs",
        "src-tauri/crates/kernel/src/adoption_registry.rs",
        "src-tauri/crates/model/src/adoption.rs",
        "src-tauri/crates/acts/src/adoption.rs",
        "src-tauri/crates/host/src/programs.rs",
        "src-tauri/crates/host/src/programs/mark.rs",
    ] {
        assert!(constitutional(&code(file)).contains(&"successor".to_owned()), "{file}");
    }
    for file in ["src-tauri/crates/kernel/src/command/capability.rs", "src-tauri/crates/cli/src/approve.rs"] {
        assert_eq!(constitutional(&code(file)), ["approval"], "{file}");
    }
}

#[test]
fn an_adopted_change_never_ends_a_task_of_another() {
    let world = World::new(6_809);
    let trial = judged(&world, &policy("deny FileEdit(**)\n"), &json!({}));
    let (task, approval) = asked(&world, &adopt(&trial, &[], &[]));
    yes(&world, (task, approval));
    // Rules that deny all of a folder do not keep anybody from going back.
    back(&world, None);
    assert_eq!(world.kernel().signed_rules().unwrap(), "");
    assert_eq!(state(&world, task).task.status, TaskStatus::Completed);
}
