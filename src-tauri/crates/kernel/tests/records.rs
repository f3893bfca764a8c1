//! What is on record: every object with its task and its author, views as what they are, and why a thing came about.

use crate::story::{completed, count, die, events, log, object, packs, place, rebuilt, state, types};
use kernel::command::submit::Reasoning;
use lineage::{EdgeKind, NodeId};
use model::artifact::{ArtifactKind, EvidenceRef, TrustTier};
use model::attempt::TerminationReason;
use model::decision::DecisionClass;
use model::fault::Point;
use model::policy::{PolicyResult, Profile};
use model::principal::PrincipalType;
use model::{ArtifactId, Body, PrincipalId, TaskId};
use projections::query::{ArtifactFilter, Ask};
use seal::Digest;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use testkit::{Edge, World, done, look, say, write};

/// A task that has looked, believed, noted, remembered, asked, written and deleted.
pub fn busy(seed: u64) -> (World, TaskId) {
    let world = World::new(seed);
    world.file("a.txt", "text");
    let evidence = json!(["a.txt"]);
    let task = world.script(
        "be busy",
        vec![
            look("a.txt"),
            say("note", json!({ "plan": "be busy" })),
            say("believe", json!({ "claim": "a is text", "confidence": 500, "evidence": evidence })),
            say(
                "remember",
                json!({ "claim": "a is text", "scope": "*", "reason": "asked", "evidence": evidence }),
            ),
            write("b.txt", "b"),
            say("delete", json!({ "path": "a.txt" })),
            done("was busy"),
        ],
    );
    assert_eq!(world.drive_allowing(task).0, completed());
    (world, task)
}

#[conforms::conforms("HK-6.1-2", "HK-8-1")]
#[test]
fn every_object_belongs_to_a_task_and_to_somebody() {
    let (world, task) = busy(801);
    let people: BTreeMap<PrincipalId, PrincipalType> = world
        .kernel()
        .store_state()
        .principals
        .into_values()
        .map(|p| (p.principal_id, p.principal_type))
        .collect();
    let known = |id: &PrincipalId| assert!(people.contains_key(id), "nobody is `{id}`");
    let mut seen = BTreeSet::new();
    for (event, body) in events(world.kernel(), task) {
        assert_eq!(event.task_id, task);
        known(&event.actor_id);
        assert_eq!(people[&event.actor_id], event.actor_type);
        let (what, of) = match &body {
            Body::TaskCreated(b) => {
                known(&b.task.owner_principal_id);
                ("task", b.task.task_id)
            }
            Body::StepCreated(b) => ("step", b.step.task_id),
            Body::AttemptCreated(b) => ("attempt", b.attempt.task_id),
            Body::ArtifactCreated(b) => {
                known(&b.artifact.producer);
                ("artifact", event.task_id)
            }
            Body::BeliefAsserted(b) => {
                known(&b.belief.asserted_by);
                ("belief", b.belief.task_id)
            }
            Body::MemoryPromoted(b) => {
                known(&b.record.promoted_by);
                ("memory", b.record.promoted_by_task_id)
            }
            Body::DecisionRecorded(b) => {
                known(&b.decision.decided_by);
                ("decision", b.decision.task_id)
            }
            Body::ApprovalRequested(b) => ("approval", b.approval.task_id),
            Body::ApprovalGranted(b) => {
                known(&b.decided_by);
                assert_eq!(people[&b.decided_by], PrincipalType::User);
                ("approval", event.task_id)
            }
            Body::GrantIssued(b) => {
                known(&b.issued_to);
                let state = state(&world, task);
                let grant: model::grant::CapabilityGrant =
                    object(world.kernel(), &state, b.grant.artifact_id);
                known(&grant.issued_by_principal_id);
                ("grant", grant.task_id)
            }
            Body::ReceiptIssued(b) => ("receipt", world.kernel().receipt(b.receipt_id).unwrap().1.task_id),
            _ => continue,
        };
        assert_eq!(of, task, "{what} of another task");
        seen.insert(what);
    }
    let all = [
        "approval", "artifact", "attempt", "belief", "decision", "grant", "memory", "receipt", "step", "task",
    ];
    assert_eq!(
        seen.into_iter().collect::<Vec<_>>(),
        all,
        "with events and principals the twelve objects there are"
    );
}

/// The tables that are no views: events and the entries of the gate, the store and the epochs of its hosts, content by its digest,
/// what an event conceals, what was erased of both, and what only finds or counts again: nodes of the gate's tree, uses of
/// grants, signed heads.
const GROUND: [&str; 10] = [
    "blobs",
    "checkpoints",
    "disclosures",
    "entries",
    "epochs",
    "erasures",
    "events",
    "gate_nodes",
    "grant_uses",
    "store",
];

/// The tables of a store that are no views, by name.
fn beside_the_views(world: &World) -> Vec<String> {
    let file = rusqlite::Connection::open(world.store.path().join(ledger::FILE)).unwrap();
    let all = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";
    let mut names = file.prepare(all).unwrap();
    let names = names.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    names.filter(|name| !name.starts_with("view_")).collect()
}

#[conforms::conforms(
    "HK-8.4-2",
    part = "HK-9-7",
    "HK-13.6-1",
    "HK-24-2",
    part = "HK-25.1-8",
    "HK-25.3-1",
    "HK-27-2",
    part = "HK-27-13",
    part = "HK-27-16",
    "HK-2-2",
    "HK-3-2",
    "HK-22-4",
    "RX-10-1",
    "HK-13.6-14",
    part = "HK-2-3"
)]
#[test]
fn views_and_sessions_are_made_of_events_and_can_be_made_again() {
    let (mut world, task) = busy(802);
    let fresh = |world: &World| {
        let query = world.kernel().query().unwrap();
        let conversation = query.conversations(Ask::ALL).unwrap().rows.remove(0);
        let said = query.messages(conversation.conversation_id, None, Ask::ALL).unwrap().rows;
        let bound = query.ingress(conversation.conversation_id, Ask::ALL).unwrap().rows;
        (conversation, said, bound)
    };
    let before = fresh(&world);
    assert_eq!(before.0.last_focus, Some(task));
    assert!(before.1.len() >= 2 && !before.2.is_empty());
    let told = state(&world, task);
    let (kept, again) = rebuilt(&mut world);
    assert_eq!(kept, again, "nothing is in a view that the log does not give");
    assert_eq!(fresh(&world), before, "focus, binding and chat history among it");
    let now = state(&world, task);
    assert_eq!(
        (now.seq, now.task.status, now.receipts.len()),
        (told.seq, told.task.status, told.receipts.len())
    );
    let log = log(world.kernel());
    let mut last: BTreeMap<TaskId, (u64, Digest)> = BTreeMap::new();
    for (event, _) in &log {
        let (seq, hash) = last.get(&event.task_id).copied().unwrap_or((0, Digest::ZERO));
        assert_eq!((event.task_seq, event.prev_event_hash), (seq + 1, hash), "in order, and linked");
        last.insert(event.task_id, (event.task_seq, Digest::of(&event.to_bytes().unwrap())));
    }
    assert_eq!(beside_the_views(&world), GROUND, "and no table holds anything else");
    let told = types(world.kernel(), task);
    for lifecycle in [
        "task.status_changed",
        "step.status_changed",
        "attempt.status_changed",
        "artifact.created",
        "approval.requested",
        "approval.granted",
        "decision.recorded",
        "grant.issued",
        "receipt.issued",
        "belief.asserted",
        "memory.promoted",
    ] {
        assert!(told.iter().any(|t| t == lifecycle), "no event says `{lifecycle}`");
    }
}

#[conforms::conforms(
    "HK-9-4",
    "HK-9-5",
    part = "HK-14.5-1",
    part = "HK-8.5-1",
    "HK-3-4",
    "HK-10.5-2",
    part = "HK-2-3"
)]
#[test]
fn artifacts_hold_everything_that_is_referred_to() {
    let (world, task) = busy(803);
    let now = state(&world, task);
    let attempt = now.current.unwrap();
    let made = now.artifacts.values().filter(|a| a.produced_by == Some(attempt)).count();
    assert!(made > 10, "attempts produce artifacts");
    // What one turn has read or kept goes into what the attempt makes next.
    let read = now.attempt().unwrap().observed[0].artifact.artifact_id;
    let made_of = |kind: ArtifactKind, of: ArtifactId| {
        let mut all = now.artifacts.values().filter(|a| a.kind == kind && a.produced_by == Some(attempt));
        all.any(|a| a.inputs.contains(&of))
    };
    assert!(made_of(ArtifactKind::ContextPack, read), "what was read is in a later context");
    let pack = now.artifacts.values().find(|a| a.kind == ArtifactKind::ContextPack).unwrap().artifact_id;
    assert!(made_of(ArtifactKind::ModelRequest, pack), "and a context in what a model is asked");
    for artifact in now.artifacts.values() {
        let bytes = world.kernel().artifacts().read(&artifact.content_hash).unwrap();
        assert_eq!((Digest::of(&bytes), bytes.len() as u64), (artifact.content_hash, artifact.byte_size));
    }
    let kinds: BTreeSet<_> = now.artifacts.values().map(|a| a.kind.as_str()).collect();
    for kind in [
        ArtifactKind::ContextPack,
        ArtifactKind::ActionRequest,
        ArtifactKind::ApprovalPacket,
        ArtifactKind::StateWitness,
        ArtifactKind::EnvironmentSnapshot,
        ArtifactKind::FileSnapshot,
        ArtifactKind::ReceiptBundle,
        ArtifactKind::Answer,
    ] {
        assert!(kinds.contains(kind.as_str()), "no `{kind}` among {kinds:?}");
    }
    let catalog =
        world.kernel().query().unwrap().artifacts(&ArtifactFilter::default(), Ask::ALL).unwrap().rows;
    assert!(
        catalog.iter().filter(|row| row.task_id == task).count() == now.artifacts.len(),
        "all are catalogued"
    );
    let belief = now.beliefs.values().next().unwrap();
    let memory = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows.remove(0);
    assert!(!belief.evidence_refs.is_empty() && !memory.evidence.is_empty(), "both cite something");
    for EvidenceRef { artifact_id, excerpt_hash, .. } in belief.evidence_refs.iter().chain(&memory.evidence) {
        assert_eq!(now.digest_of(*artifact_id), Some(*excerpt_hash), "evidence points at an artifact");
    }
    for decision in &now.decisions {
        assert!(!decision.evidence_refs.is_empty(), "so does a decision: {decision:?}");
        for EvidenceRef { artifact_id, excerpt_hash, .. } in &decision.evidence_refs {
            assert_eq!(now.digest_of(*artifact_id), Some(*excerpt_hash));
        }
    }
}

#[conforms::conforms("HK-8.8-1")]
#[test]
fn a_judgment_is_on_record_with_who_made_it_and_why() {
    let (world, task) = busy(804);
    let now = state(&world, task);
    let people = world.kernel().store_state().principals;
    let execution = now
        .decisions
        .iter()
        .find(|d| d.decision_type == DecisionClass::Execution)
        .expect("to delete was decided");
    assert_eq!(people[&execution.decided_by].principal_type, PrincipalType::User);
    assert!(execution.rationale.shown().unwrap().contains("a person allowed it"));
    assert!(execution.summary.shown().unwrap().contains("delete"), "{:?}", execution.summary);
    assert_eq!(execution.attempt_id, now.current);
    let (_, receipt) = world.kernel().receipt(now.receipts.last().unwrap().receipt_id).unwrap();
    assert_eq!(receipt.decision_ref.value(), Some(&execution.decision_id), "the receipt names it");
    // Where nobody has to be asked it is policy that decides, and it says by which rule.
    let world = World::new(809);
    world.file("b.txt", "text");
    std::fs::write(world.store.path().join("policy.rules"), "allow FileDelete(**)\n").unwrap();
    let gone = say("delete", json!({ "path": "b.txt" }));
    let alone = world.script("delete it unasked", vec![gone, done("ok")]);
    assert_eq!(world.drive(alone), completed());
    assert!(world.files().is_empty());
    let decisions = state(&world, alone).decisions;
    let [decided] = &decisions[..] else { panic!("one judgment: {decisions:?}") };
    let people = world.kernel().store_state().principals;
    assert_eq!(people[&decided.decided_by].principal_type, PrincipalType::PolicyEngine);
    assert!(decided.rationale.shown().unwrap().contains("your rules allow this"), "{:?}", decided.rationale);
}

#[conforms::conforms(
    "HK-6.4-3",
    "HK-14.4-1",
    "HK-14.4-2",
    "HK-14.4-3",
    "HK-14.4-4",
    "HK-14.4-5",
    "HK-14.4-6",
    "HK-18.5-2",
    "HK-27-14",
    "HK-10.5-3",
    "HK-10.6-5",
    part = "HK-1-2",
    part = "HK-3-10"
)]
#[test]
fn for_every_change_it_can_be_told_what_why_from_what_and_by_whose_word() {
    let (world, task) = busy(805);
    let graph = world.kernel().query().unwrap().lineage(task).unwrap();
    let now = state(&world, task);
    let last = now.receipts.last().unwrap().receipt_id;
    let why = graph.explain(last).expect("the receipt is in the graph");
    assert!(why.goal.contains(&NodeId::Task(task)), "which goal it served");
    assert!(!why.context.is_empty() && !why.evidence.is_empty(), "what was in sight");
    assert!(why.action.is_some() && why.effect.is_some());
    assert!(!why.policy.is_empty() && !why.decisions.is_empty(), "why it was allowed");
    let [approval] = &why.approvals[..] else { panic!("by whose word: {:?}", why.approvals) };
    let NodeId::Approval(approval) = approval else { panic!("an approval") };
    assert!(now.approvals.contains_key(approval));
    assert!(!why.witnesses.is_empty() && !why.grants.is_empty());
    let read = now.attempt().unwrap().observed[0].artifact.artifact_id;
    assert_eq!(graph.producer(read), now.current, "which attempt made it");
    assert_eq!(graph.beliefs_referencing(read), now.beliefs.keys().copied().collect::<Vec<_>>());
    let held = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows;
    assert_eq!(graph.memories_from(read), [held[0].memory_id]);
    for artifact in now.artifacts.values() {
        let inputs = graph.inputs(artifact.artifact_id);
        assert!(artifact.inputs.iter().all(|input| inputs.contains(input)), "of what it was made");
        assert!(inputs.iter().all(|input| now.artifacts.contains_key(input)), "and of nothing else");
        assert_eq!(graph.producer(artifact.artifact_id), artifact.produced_by, "and by which attempt");
    }
    let grant = now.grants.values().next().unwrap().artifact.artifact_id;
    assert_eq!((graph.beliefs_referencing(grant), graph.memories_from(grant)), (vec![], vec![]));
    let packet = now.approvals[approval].approval.approval_packet_ref;
    assert!(graph.receipts_including(packet).contains(&last));
    let (_, receipt) = world.kernel().receipt(last).unwrap();
    let decided = *receipt.decision_ref.value().expect("what was done was decided");
    assert!(graph.decisions_citing(read).contains(&decided), "what was read is behind it");
    assert_eq!(
        graph.decisions_citing(packet),
        [decided],
        "what a person saw is behind that and nothing else"
    );
    let result = now.attempt().unwrap().observed.last().unwrap().artifact.artifact_id;
    assert!(!graph.decisions_citing(result).contains(&decided), "what came of it is not behind it");
    assert!(graph.edges().any(|edge| edge.kind == EdgeKind::Proved));
    // What was sent and what came back is kept, so that it can be replayed without the model.
    for (_, body) in events(world.kernel(), task) {
        let kept = match body {
            Body::ModelRequested(b) => vec![b.request.sha256],
            Body::ModelResponded(b) => vec![b.response.sha256, b.answer.sha256],
            _ => continue,
        };
        for digest in kept {
            assert!(!world.kernel().artifacts().read(&digest).unwrap().is_empty());
        }
    }
    assert!(!receipt.replay_class.as_str().is_empty());
}

/// The calls that the gate of a world has let pass, each by the entries of its request.
fn passed(world: &World) -> usize {
    let stored = world.kernel().reader().gate_entries(0, 10_000).unwrap();
    let all: Vec<gate::AuditEntry> =
        stored.iter().map(|(_, bytes)| serde_json::from_slice(bytes).unwrap()).collect();
    let executing = all.iter().filter(|entry| entry.state_to == gate::KernelState::Executing);
    executing.map(|entry| &entry.request_id).collect::<BTreeSet<_>>().len()
}

/// The dispatches that a task has on record, each with the entry of the gate that let it pass.
fn dispatched(world: &World, task: TaskId) -> usize {
    let of = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::EffectDispatched(b) => Some(b.audit_entry_sha256),
        _ => None,
    });
    of.collect::<BTreeSet<_>>().len()
}

#[conforms::conforms(
    "RX-1-5",
    "RX-6-5",
    "RX-11-1",
    "RX-11-2",
    "RX-11-3",
    "RX-11-4",
    "RX-11-5",
    part = "RX-11-6"
)]
#[test]
fn a_run_can_be_inspected_step_by_step() {
    let (world, task) = busy(806);
    let query = world.kernel().query().unwrap();
    let now = state(&world, task);
    for stored in world.kernel().reader().events(task, 0, 10_000).unwrap() {
        let value: Value = serde_json::from_slice(&stored.bytes).unwrap();
        assert_eq!(value["task_id"], json!(task), "every event leads to its goal");
        assert!(value["payload"].is_object() && value["event_type"].is_string());
    }
    // Whatever it decided or passed on says why, or what, in words.
    for (event, body) in events(world.kernel(), task) {
        let words = match body {
            Body::TaskStatusChanged(b) => b.reason,
            Body::StepStatusChanged(b) => b.reason,
            Body::AttemptStatusChanged(b) => b.reason,
            Body::ActionRequested(b) => b.summary.shown().unwrap().clone(),
            Body::PolicyEvaluated(b) => {
                object::<PolicyResult>(world.kernel(), &now, b.result.artifact_id).reasoning_summary
            }
            _ => continue,
        };
        assert!(!words.trim().is_empty(), "{} says nothing", event.event_type);
    }
    for (_, bytes) in world.kernel().reader().gate_entries(0, 10_000).unwrap() {
        let entry: gate::AuditEntry = serde_json::from_slice(&bytes).unwrap();
        assert!(!entry.intent.trim().is_empty(), "an entry of the gate says nothing: {entry:?}");
    }
    let steps = query.steps(Some(task), None, Ask::ALL).unwrap().rows;
    assert_eq!(steps.len(), now.steps.len());
    let turns = query.iterations(task, now.current, Ask::ALL).unwrap().rows;
    assert_eq!(turns.len(), 7);
    for turn in &turns {
        assert!(!turn.decision.as_ref().unwrap().shown().unwrap().is_empty(), "in words");
        assert!(turn.pack_ref.is_some() && turn.response_ref.is_some() && turn.tool.is_some());
    }
    let acts = query.actions(Some(task), None, Ask::ALL).unwrap().rows;
    assert_eq!(acts.len(), 4, "every call of a tool");
    for act in &acts {
        assert!(!act.summary.shown().unwrap().is_empty());
        assert!(act.result_ref.is_some() && act.result_code.is_some() && act.executor.is_some());
    }
    // Whatever was asked, decided, granted and proved for it is found by its goal, and so is all that its gate let pass.
    let asked = query.approvals(Some(task), None, Ask::ALL).unwrap().rows;
    let decided = query.decisions(Some(task), Ask::ALL).unwrap().rows;
    let proved = query.receipts(Some(task), None, Ask::ALL).unwrap().rows;
    let granted = query.grants(task, Ask::ALL).unwrap().rows.len();
    let found = [asked.len(), decided.len(), granted, proved.len()];
    // Each of them is told in words, too.
    let words = asked.iter().map(|row| &row.summary).chain(decided.iter().map(|row| &row.rationale));
    for told in words.chain(proved.iter().map(|row| &row.summary)) {
        assert!(!told.shown().unwrap().is_empty());
    }
    let made = [now.approvals.len(), now.decisions.len(), now.grants.len(), now.receipts.len()];
    assert!(found == made && !made.contains(&0), "{found:?} of {made:?}");
    assert_eq!(passed(&world), dispatched(&world, task), "nothing passed that no event of the run names");
    let attempt = query.attempt(now.current.unwrap()).unwrap().unwrap();
    assert_eq!(attempt.termination, Some(TerminationReason::Done));
    assert_eq!(attempt.summary.unwrap().shown().unwrap(), "was busy");
}

#[conforms::conforms("RA-2-16", "RA-3-11", part = "RA-4.4a-6")]
#[test]
fn a_run_carries_its_folder_its_attachments_and_its_profile_with_it() {
    let mut world = World::new(807);
    let mut text: &[u8] = b"attached words";
    let incoming = kernel::command::ingest::Incoming {
        name: "letter.txt".to_owned(),
        uri: "file:letter.txt".to_owned(),
        media_type: "text/plain",
        bytes: &mut text,
        trust_tier: TrustTier::UserAsserted,
    };
    let (letter, _) = world.kernel().ingest(incoming, model::ingress::Channel::App).unwrap();
    world.reasoners.script("carry", vec![write("out.txt", "x"), done("ok")]);
    let reasoning = Reasoning::Scripted { name: "carry".to_owned() };
    let mut submission = world.submission("carry", reasoning);
    submission.profile = Profile::DestructiveDenied;
    submission.channel = model::ingress::Channel::RunApi;
    submission.encloses.files = vec![letter.artifact_id];
    let task = world.kernel().submit(&submission).unwrap().task_id;
    die(&mut world, task, Point::ContextCompile, Edge::Before);
    world.drive_to_approval(task);
    let now = state(&world, task);
    assert_eq!(now.task.workspace_hint, Some(submission.workspace_id));
    assert_eq!(now.task.policy_profile_ref, Profile::DestructiveDenied);
    assert_eq!(now.task.source_channel, model::ingress::Channel::RunApi);
    let contract: model::task::TaskContract = object(world.kernel(), &now, now.task.task_contract_ref);
    assert_eq!(contract.model, model::task::ModelChoice::Scripted { name: "carry".to_owned() });
    let lease = now.attempt().unwrap().lease.clone().expect("it works in its folder");
    let root = world.folder.path().canonicalize().unwrap();
    assert_eq!(lease.root_path.shown().unwrap(), &kernel::workspace::encode_root(&root));
    let pack = packs(world.kernel(), task).pop().unwrap();
    assert!(crate::story::shows(&pack, "attached words"), "what was attached is in sight");
    assert_ne!(std::env::current_dir().unwrap(), root, "no folder of the process is meant");
    assert_eq!(count(world.kernel(), task, "attempt.created"), 1);
    let order = types(world.kernel(), task);
    assert!(place(&order, "workspace.lease_acquired") < place(&order, "attempt.context_compiled"));
}
