//! The objects of HK-8 as a kernel records them: each has the fields the document asks for, and they say what is so.

use crate::records::busy;
use crate::story::{completed, events, log, object, rebuilt, state};
use kernel::command::plan::Part;
use kernel::command::submit::Reasoning;
use model::artifact::{ArtifactKind, EvidenceRef, TrustTier};
use model::context::ContextPack;
use model::knowledge::BeliefStatus;
use model::policy::Profile;
use model::principal::PrincipalType;
use model::task::{Priority, StepContract, StepStatus, TaskContract, TaskStatus};
use model::{Body, Event, EventId, PrincipalId, StepId, TaskId};
use projections::query::{ArtifactFilter, Ask};
use projections::rows::ArtifactRow;
use seal::Digest;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use testkit::{Server, World, done, fetch, look, say};

/// The least fields of each object, one a line.
const FIELDS: &str = include_str!("../../model/tests/data/fields.tsv");

/// The least fields of an object of HK-8.
pub fn fields(noun: &str) -> Vec<&'static str> {
    let rows = FIELDS.lines().filter_map(|row| row.split_once('\t'));
    let mut row = rows.filter(|(name, _)| *name == noun);
    row.next().unwrap_or_else(|| panic!("no fields of `{noun}`")).1.split(' ').collect()
}

/// Each of the least fields of an object is there and says something, but for some that another check is about.
pub fn says_all(object: &Value, noun: &str, but: &[&str]) {
    let all = fields(noun);
    assert!(but.iter().all(|name| all.contains(name)), "{but:?} are fields of `{noun}`");
    says(object, &all.into_iter().filter(|name| !but.contains(name)).collect::<Vec<_>>());
}

/// Each of these is there and says something.
pub fn says(object: &Value, names: &[&str]) {
    for name in names {
        let said = object.get(name).unwrap_or_else(|| panic!("`{name}` is missing in {object}"));
        assert!(!said.is_null() && *said != json!(""), "`{name}` says nothing in {object}");
    }
}

/// Each of these is there; where there is nothing to say, that is said.
pub fn has(object: &Value, names: &[&str]) {
    for name in names {
        assert!(object.get(name).is_some(), "`{name}` is missing in {object}");
    }
}

/// This part of each event of the type in a task, as the log holds it.
pub fn recorded(world: &World, task: TaskId, event_type: &str, part: &str) -> Vec<Value> {
    let of = events(world.kernel(), task).into_iter().filter(|(event, _)| event.event_type == event_type);
    let all: Vec<Value> = of.map(|(_, body)| body.to_value().unwrap()[part].clone()).collect();
    assert!(!all.is_empty(), "no `{event_type}`");
    all
}

fn user(world: &World) -> PrincipalId {
    world.kernel().store_state().principal(PrincipalType::User).unwrap()
}

#[conforms::conforms("HK-8.1-1", "HK-8.1-4", "HK-8.2-4")]
#[test]
fn a_task_and_its_steps_are_recorded_with_every_field() {
    let world = World::new(1_701);
    let part = |name: &str, after: &[&str]| Part {
        name: name.to_owned(),
        objective: format!("the part {name}"),
        after: after.iter().map(|name| (*name).to_owned()).collect(),
        reasoning: Some(Reasoning::Scripted { name: name.to_owned() }),
        ..Part::default()
    };
    world.reasoners.script("a", vec![done("a is done")]);
    world.reasoners.script("b", vec![done("b is done")]);
    let mut submission = world.submission("tidy the shed", Reasoning::Scripted { name: "a".to_owned() });
    submission.title = "the shed".to_owned();
    submission.profile = Profile::DestructiveDenied;
    submission.priority = Priority::High;
    submission.constraints = vec!["leave the bicycle".to_owned()];
    submission.steps = vec![part("a", &[]), part("b", &["a"])];
    let task = world.kernel().submit(&submission).unwrap().task_id;
    let [recorded_task] = &recorded(&world, task, "task.created", "task")[..] else { panic!("one task") };
    says_all(recorded_task, "task", &[]);
    let made = state(&world, task);
    assert_eq!(made.task.task_id, task);
    assert_eq!(made.task.title.shown().unwrap(), "the shed");
    assert_eq!(made.task.goal.shown().unwrap(), "tidy the shed");
    assert_eq!(made.task.priority, Priority::High);
    assert_eq!(made.task.policy_profile_ref, Profile::DestructiveDenied);
    assert_eq!(made.task.owner_principal_id, user(&world), "a person owns it");
    let contract: TaskContract = object(world.kernel(), &made, made.task.task_contract_ref);
    assert_eq!((contract.goal.as_str(), contract.budget), ("tidy the shed", submission.budget));
    assert_eq!(contract.constraints, ["leave the bicycle"]);
    // The graph of its steps is its own, and each step has its fields.
    let steps = recorded(&world, task, "step.created", "step");
    let ids: Vec<StepId> = made.step_order.clone();
    assert_eq!(steps.len(), 2);
    for (at, step) in steps.iter().enumerate() {
        says_all(step, "step", &[]);
        assert_eq!((&step["task_id"], &step["step_id"]), (&json!(task), &json!(ids[at])));
        let of = &made.steps[&ids[at]];
        let promised: StepContract = object(world.kernel(), &made, of.contract_ref);
        assert_eq!(promised.objective, format!("the part {}", of.title.shown().unwrap()));
        assert!(of.max_attempts > 0 && of.created_at <= of.updated_at);
    }
    assert_eq!((&steps[0]["depends_on"], &steps[1]["depends_on"]), (&json!([]), &json!([ids[0]])));
    // What changes later is told of by events, and the fields say how it stands now.
    assert_eq!((made.task.status, made.steps[&ids[1]].status), (TaskStatus::Ready, StepStatus::Planned));
    assert_eq!(world.drive(task), completed());
    let row = world.kernel().query().unwrap().task(task).unwrap().unwrap();
    assert_eq!((row.status, row.created_at), (TaskStatus::Completed, made.task.created_at));
    assert!(row.updated_at > row.created_at);
    let rows = world.kernel().query().unwrap().steps(Some(task), None, Ask::ALL).unwrap().rows;
    assert!(rows.iter().all(|row| row.status == StepStatus::Succeeded && row.updated_at > row.created_at));
}

#[conforms::conforms("HK-8.3-2")]
#[test]
fn an_attempt_is_recorded_with_every_field_and_they_fill_as_it_goes_on() {
    let (world, task) = busy(1_702);
    let [recorded] = &recorded(&world, task, "attempt.created", "attempt")[..] else { panic!("one attempt") };
    says_all(recorded, "attempt", &["finished_at"]);
    has(recorded, &["finished_at"]);
    for later in ["context_pack_ref", "working_state_ref", "workspace_lease_ref"] {
        assert!(recorded[later]["absent"].is_string(), "there is none yet, and it says so: {recorded}");
    }
    let now = state(&world, task);
    let attempt = &now.attempt().unwrap().attempt;
    assert_eq!((attempt.task_id, attempt.attempt_no), (task, 1));
    assert!(now.steps.contains_key(&attempt.step_id) && !attempt.idempotency_key.is_empty());
    let pack: ContextPack = object(world.kernel(), &now, *attempt.context_pack_ref.value().unwrap());
    assert!(!pack.items.is_empty(), "the latest pack");
    let noted: Value = object(world.kernel(), &now, *attempt.working_state_ref.value().unwrap());
    assert_eq!(noted["plan"], json!("be busy"));
    let row = world.kernel().query().unwrap().attempt(attempt.attempt_id).unwrap().unwrap();
    let leases = world.kernel().query().unwrap().leases(Some(task), Ask::ALL).unwrap().rows;
    assert_eq!(row.lease_id, leases.last().map(|lease| lease.lease_id), "the lease it ran under");
    assert!(row.finished_at.unwrap() > row.started_at);
}

#[conforms::conforms("HK-8.4-3", "HK-13.1-2")]
#[test]
fn every_event_says_what_it_is_about_who_did_it_and_what_led_to_it() {
    let (mut world, _) = busy(1_703);
    let people = world.kernel().store_state().principals;
    let all = log(world.kernel());
    let mut seen: BTreeSet<EventId> = BTreeSet::new();
    let (mut caused, mut with_attempt) = (0, 0);
    let mut last: BTreeMap<TaskId, u64> = BTreeMap::new();
    for (event, body) in &all {
        let value = serde_json::to_value(event).unwrap();
        says_all(
            &value,
            "event",
            &["step_id", "attempt_id", "causation_id", "idempotency_key", "prev_event_hash", "workspace_id"],
        );
        has(&value, &["causation_id"]);
        assert!(event.schema_version > 0 && event.schema_version == body.version());
        assert_eq!(event.event_type, body.event_type());
        assert_eq!((event.entity_type, event.entity_id.clone()), body.entity());
        let seq = last.insert(event.task_id, event.task_seq).unwrap_or(0);
        assert_eq!(event.task_seq, seq + 1);
        assert_eq!(people[&event.actor_id].principal_type, event.actor_type, "{}", event.event_type);
        if let Some(cause) = event.causation_id {
            assert!(seen.contains(&cause), "{} was caused by what came later", event.event_type);
            caused += 1;
        }
        assert!(seen.insert(event.event_id), "an id stands twice");
        applicable(event, body, &mut with_attempt);
    }
    assert!(caused * 2 > all.len(), "most have a cause: {caused} of {}", all.len());
    assert!(with_attempt > 50, "{with_attempt}");
    // Views are nothing but these events, folded.
    let (kept, again) = rebuilt(&mut world);
    assert_eq!(kept, again);
}

/// What happens within an attempt names its attempt and its step; what happens to the task alone names neither.
fn applicable(event: &Event, body: &Body, counted: &mut u32) {
    let within = [
        "action.",
        "policy.",
        "witness.",
        "approval.",
        "decision.",
        "grant.",
        "effect.",
        "receipt.",
        "belief.",
        "attempt.",
    ];
    if within.iter().any(|of| event.event_type.starts_with(of)) {
        assert!(event.attempt_id.is_some() && event.step_id.is_some(), "{}", event.event_type);
        *counted += 1;
    }
    if let Body::AttemptCreated(b) = body {
        let of = (b.attempt.task_id, b.attempt.step_id, b.attempt.attempt_id);
        assert_eq!((event.task_id, event.step_id.unwrap(), event.attempt_id.unwrap()), of);
    }
    if matches!(body, Body::TaskCreated(_)) {
        assert_eq!((event.step_id, event.attempt_id), (None, None));
    }
}

#[conforms::conforms("HK-8.5-2")]
#[test]
fn an_artifact_is_recorded_with_every_field() {
    let (world, task) = busy(1_704);
    let people = world.kernel().store_state().principals;
    let all = recorded(&world, task, "artifact.created", "artifact");
    for artifact in &all {
        says_all(artifact, "artifact", &[]);
        let typed: model::artifact::Artifact = serde_json::from_value(artifact.clone()).unwrap();
        let bytes = world.kernel().artifacts().read(&typed.content_hash).unwrap();
        assert_eq!((Digest::of(&bytes), bytes.len() as u64), (typed.content_hash, typed.byte_size));
        assert!(people.contains_key(&typed.producer), "somebody produced it");
        assert!(typed.media_type.contains('/'), "{}", typed.media_type);
    }
    let ids: BTreeSet<&str> = all.iter().filter_map(|a| a["artifact_id"].as_str()).collect();
    assert_eq!(ids.len(), all.len(), "each is another");
    let now = state(&world, task);
    let of = |kind: ArtifactKind| now.artifacts.values().find(|a| a.kind == kind).unwrap();
    let (seen, grant) = (of(ArtifactKind::FileSnapshot), of(ArtifactKind::CapabilityGrant));
    assert_ne!(seen.trust_tier, grant.trust_tier, "what was read is not trusted as what was granted is");
    assert_ne!(seen.class, grant.class);
}

#[conforms::conforms("HK-8.5-1")]
#[test]
fn an_artifact_is_a_file_bytes_that_were_handed_over_a_record_an_answer_from_elsewhere_or_a_sealed_proof() {
    let (world, task) = busy(808);
    let server = Server::agreeing();
    world.reasoners.script("look it up", vec![fetch("GET", &server.url("/page"), None), done("looked up")]);
    let mut submission =
        world.submission("look it up", Reasoning::Scripted { name: "look it up".to_owned() });
    submission.profile = Profile::NetworkReadAllowed;
    let elsewhere = world.kernel().submit(&submission).unwrap().task_id;
    assert_eq!(world.drive_allowing(elsewhere).0, completed());
    let handed = (0..=255).collect::<Vec<u8>>();
    let incoming = kernel::command::ingest::Incoming {
        name: "bytes".to_owned(),
        uri: "inline:bytes".to_owned(),
        media_type: "application/octet-stream",
        bytes: &mut handed.as_slice(),
        trust_tier: TrustTier::UserAsserted,
    };
    let (blob, _) = world.kernel().ingest(incoming, model::ingress::Channel::App).unwrap();
    let catalog =
        world.kernel().query().unwrap().artifacts(&ArtifactFilter::default(), Ask::ALL).unwrap().rows;
    let read = |row: &ArtifactRow| world.kernel().artifacts().read(&row.content_hash).unwrap();
    // Each is one row of the same catalog, whatever it is and wherever it comes from, and its content is at hand.
    let one = |task_id: TaskId, kind: ArtifactKind| {
        let found = catalog.iter().find(|row| row.task_id == task_id && row.kind == kind);
        found.unwrap_or_else(|| panic!("no `{kind}`"))
    };
    let file = one(task, ArtifactKind::FileSnapshot);
    assert!(String::from_utf8_lossy(&read(file)).contains("text"), "an observation of a file");
    let record: Value = serde_json::from_slice(&read(one(task, ArtifactKind::ActionRequest))).unwrap();
    assert!(record.is_object(), "a document of JSON");
    assert!(
        String::from_utf8_lossy(&read(one(task, ArtifactKind::Answer))).contains("was busy"),
        "a work product"
    );
    let answer = one(elsewhere, ArtifactKind::WebSnapshot);
    assert!(String::from_utf8_lossy(&read(answer)).contains("well received"), "a snapshot of a server");
    let bytes = catalog.iter().find(|row| row.artifact_id == blob.artifact_id).expect("it is listed");
    assert_eq!(read(bytes), handed, "bytes of no kind that anybody knows");
    let proof = one(task, ArtifactKind::ReceiptBundle);
    let envelope = seal::dsse::Envelope::parse(&read(proof)).unwrap();
    let key = seal::Signer::public(world.keys.receipt_signer().as_ref());
    seal::dsse::verify(&envelope, &key).expect("evidence, sealed with the key of receipts");
    for row in [file, answer, bytes, proof] {
        assert_eq!(Digest::of(&read(row)), row.content_hash, "named by what it holds");
    }
}

#[conforms::conforms(part = "HK-8.6-1", "HK-8.6-2", part = "HK-9-5", "HK-15.3-5")]
#[test]
fn a_belief_rests_on_evidence_stands_beside_others_and_is_no_memory() {
    let world = World::new(1_705);
    world.file("a.txt", "text");
    let believe = |claim: &str, scope: &str, on: &[&str]| {
        say("believe", json!({ "claim": claim, "scope": scope, "confidence": 700, "evidence": on }))
    };
    let task = world.script(
        "believe",
        vec![
            believe("a is empty", "letters", &[]),
            believe("a is nothing", "letters", &["never-read.txt"]),
            look("a.txt"),
            believe("a is short", "letters", &["a.txt"]),
            // In another place the same may hold, and what is not settled yet stands beside its opposite.
            believe("a is short", "notes", &["a.txt"]),
            believe("a is long", "letters", &["a.txt"]),
            believe("a is short", "letters", &["a.txt"]),
            done("ok"),
        ],
    );
    assert_eq!(world.drive(task), completed());
    let all = recorded(&world, task, "belief.asserted", "belief");
    let now = state(&world, task);
    for belief in &all {
        says_all(belief, "belief", &[]);
        assert_eq!(belief["task_id"], json!(task));
        let evidence: Vec<EvidenceRef> = serde_json::from_value(belief["evidence_refs"].clone()).unwrap();
        let [on] = &evidence[..] else { panic!("it names what it rests on: {evidence:?}") };
        assert_eq!(now.digest_of(on.artifact_id), Some(on.excerpt_hash));
    }
    let shown = |text: &model::Sensitive<String>| text.shown().unwrap().clone();
    let rows =
        world.kernel().query().unwrap().beliefs(Some(task), None, Ask::ALL.oldest_first()).unwrap().rows;
    let held: Vec<_> = rows.iter().map(|row| (shown(&row.claim), shown(&row.scope), row.status)).collect();
    let live = |claim: &str, scope: &str| (claim.to_owned(), scope.to_owned(), BeliefStatus::Active);
    let expected = [live("a is short", "letters"), live("a is short", "notes"), live("a is long", "letters")];
    assert_eq!(held, expected, "what rests on nothing is none, and what is held already is not held twice");
    // Nothing of it outlives the task.
    assert!(world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows.is_empty());
    let next = world.script("next", vec![done("ok")]);
    world.drive(next);
    assert!(!crate::story::packs(world.kernel(), next).iter().any(|p| crate::story::shows(p, "a is short")));
}

#[conforms::conforms("HK-8.7-2", "HK-15.5-1")]
#[test]
fn a_memory_is_recorded_with_every_field_or_not_at_all() {
    let world = World::new(1_706);
    world.file("a.txt", "text");
    let whole = json!({ "claim": "a is text", "scope": "letters", "reason": "asked", "evidence": ["a.txt"] });
    let mut answers = vec![look("a.txt")];
    for missing in ["claim", "scope", "reason", "evidence"] {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(missing);
        world.file(missing, missing);
        answers.extend([say("remember", less), look(missing)]);
    }
    answers.extend([say("remember", whole), done("ok")]);
    let task = world.script("remember", answers);
    world.drive_allowing(task);
    let [record] = &recorded(&world, task, "memory.promoted", "record")[..] else {
        panic!("what lacks a part is not remembered")
    };
    says_all(record, "memory", &[]);
    let [row] = &world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows[..] else {
        panic!("one record")
    };
    let said = |text: &model::Sensitive<String>| text.shown().unwrap().clone();
    assert_eq!(
        (said(&row.claim), said(&row.scope), said(&row.reason)),
        ("a is text".to_owned(), "letters".to_owned(), "asked".to_owned())
    );
    let now = state(&world, task);
    assert!(row.evidence.iter().all(|e| now.digest_of(e.artifact_id) == Some(e.excerpt_hash)));
}

#[conforms::conforms("HK-8.8-2")]
#[test]
fn a_decision_is_recorded_with_every_field() {
    let (world, task) = busy(1_707);
    let now = state(&world, task);
    for decision in recorded(&world, task, "decision.recorded", "decision") {
        says_all(&decision, "decision", &[]);
        assert_eq!(decision["task_id"], json!(task));
        assert_eq!(decision["attempt_id"], json!(now.current.unwrap()), "it was made within an attempt");
        assert_eq!(decision["step_id"], json!(now.attempt().unwrap().attempt.step_id));
        assert_eq!(decision["decided_by"], json!(user(&world)), "a person decided");
    }
}
