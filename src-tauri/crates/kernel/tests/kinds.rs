//! The kinds of artifact that the document names, each made by work of a kernel; and how each is found again.

use crate::classes;
use crate::records::busy;
use crate::schedules::keep;
use crate::seeing::{begin, drive, furnished, png, script, taken_in};
use crate::story::{completed, events, object, rebuilt, state};
use crate::triggers::looks;
use crate::waiting::waits;
use acts::ApprovalPacket;
use kernel::Kernel;
use kernel::command::belief::Correction;
use kernel::command::memory::Memorandum;
use kernel::command::submit::{Reasoning, Submission};
use model::artifact::{ArtifactKind, EvidenceRef};
use model::grant::CapabilityGrant;
use model::ingress::Channel;
use model::policy::Profile;
use model::proposal::Answer;
use model::task::ModelApi;
use model::{ArtifactId, Body, TaskId};
use projections::query::{ArtifactFilter, Ask};
use seal::Digest;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use testkit::{Server, World, done, fetch, look, say, write};

/// The kinds of HK-14.1.
const KINDS: [ArtifactKind; 19] = [
    ArtifactKind::ContextPack,
    ArtifactKind::ActionRequest,
    ArtifactKind::PolicyResult,
    ArtifactKind::ApprovalPacket,
    ArtifactKind::StateWitness,
    ArtifactKind::EnvironmentSnapshot,
    ArtifactKind::WorkspaceSnapshot,
    ArtifactKind::SearchBundle,
    ArtifactKind::WebSnapshot,
    ArtifactKind::FileSnapshot,
    ArtifactKind::Patch,
    ArtifactKind::Diff,
    ArtifactKind::CommandTranscript,
    ArtifactKind::TestReport,
    ArtifactKind::Image,
    ArtifactKind::BinaryAttachment,
    ArtifactKind::BeliefExtract,
    ArtifactKind::MemoryPromotion,
    ArtifactKind::ReceiptBundle,
];

/// Gives a task with this profile and these criteria, and drives it to its end.
fn through(world: &World, name: &str, profile: Profile, done_when: &[&str], says: Vec<Answer>) -> TaskId {
    world.reasoners.script(name, says);
    let submission = world.submission(name, Reasoning::Scripted { name: name.to_owned() });
    let done_when = done_when.iter().map(|text| (*text).to_owned()).collect();
    let task = world.kernel().submit(&Submission { profile, done_when, ..submission }).unwrap().task_id;
    assert_eq!(world.drive_allowing(task).0, completed());
    task
}

/// The kinds of all that a store lists.
fn listed(kernel: &Kernel) -> BTreeSet<ArtifactKind> {
    let query = kernel.query().unwrap();
    let is_there = |kind: &ArtifactKind| {
        let filter = ArtifactFilter { kind: Some(*kind), ..ArtifactFilter::default() };
        !query.artifacts(&filter, Ask::ALL).unwrap().rows.is_empty()
    };
    KINDS.into_iter().filter(|kind| is_there(kind)).collect()
}

/// The text of the one artifact of this kind in a task.
fn only(world: &World, task: TaskId, kind: ArtifactKind) -> String {
    let now = state(world, task);
    let all: Vec<_> = now.artifacts.values().filter(|a| a.kind == kind).collect();
    let [one] = &all[..] else { panic!("one {kind}: {all:?}") };
    String::from_utf8(world.kernel().artifacts().read(&one.content_hash).unwrap()).unwrap()
}

/// A person says what holds in the place of what an agent believes.
fn corrected(world: &World) {
    let held = json!({ "claim": "it is short", "confidence": 300, "evidence": ["c.txt"] });
    world.file("c.txt", "port 80");
    let answers = vec![look("c.txt"), say("believe", held), write("d.txt", "d"), done("ok")];
    let task = world.script("hold", answers);
    world.drive_to_approval(task);
    let belief = *state(world, task).beliefs.keys().next().unwrap();
    let instead = Correction::Instead("it is long".to_owned());
    world.kernel().correct_belief((task, belief), &instead, "I have seen it", Channel::App).unwrap();
    let said: Value = serde_json::from_str(&only(world, task, ArtifactKind::BeliefExtract)).unwrap();
    assert_eq!(said["claim"], "it is long");
}

/// A person has something remembered by their own words.
fn remembered(world: &World) {
    let said = Memorandum {
        claim: "ports stand in c.txt".to_owned(),
        scope: String::new(),
        everywhere: false,
        reason: "I say so".to_owned(),
        memory_type: None,
        pinned: false,
        days: None,
        replaces: None,
    };
    let root = world.folder.path().canonicalize().unwrap();
    let by = (Channel::Cli, "remember".to_owned());
    let task = world.kernel().propose_memory(said, &root, by).unwrap().task_id;
    assert_eq!(world.drive_allowing(task).0, completed());
    assert!(only(world, task, ArtifactKind::MemoryPromotion).contains("ports stand in c.txt"));
}

#[conforms::conforms("HK-14.1-2")]
#[test]
fn every_kind_of_artifact_is_made_by_what_it_is_for() {
    let (world, _) = busy(1_761);
    world.file("e.txt", "alpha\nbeta\n");
    // What a search found is a kind of its own, and a look that is no search is none.
    let find = vec![say("search", json!({ "pattern": "alpha" })), look("e.txt"), done("found")];
    let task = through(&world, "find", Profile::LocalEditAllowed, &[], find);
    assert!(only(&world, task, ArtifactKind::SearchBundle).contains("alpha"));
    // What may only be looked at is kept: a change of files as one that could be applied, what would be sent as what it is.
    let gone = vec![say("delete", json!({ "path": "e.txt" })), done("not deleted")];
    let task = through(&world, "only look", Profile::ReadonlyAnalysis, &[], gone);
    assert!(only(&world, task, ArtifactKind::Patch).contains("e.txt"));
    let server = Server::agreeing();
    let post = vec![fetch("POST", &server.url("/posts"), Some("the whole text")), done("not sent")];
    let task = through(&world, "only draft", Profile::ReadonlyAnalysis, &[], post);
    assert!(only(&world, task, ArtifactKind::Diff).contains("the whole text"));
    let page = vec![fetch("GET", &server.url("/page"), None), done("fetched")];
    let task = through(&world, "fetch", Profile::NetworkReadAllowed, &[], page);
    assert!(only(&world, task, ArtifactKind::WebSnapshot).contains("well received"));
    // What a person said must hold is tested at the end, and the report says what was found.
    let criteria = ["file: e.txt", "it reads well"];
    let task = through(&world, "test", Profile::LocalEditAllowed, &criteria, vec![done("all there")]);
    let report: Value = serde_json::from_str(&only(&world, task, ArtifactKind::TestReport)).unwrap();
    let told: Vec<_> =
        report.as_array().unwrap().iter().map(|one| (&one["criterion"], &one["outcome"])).collect();
    assert_eq!(told, [(&json!(criteria[0]), &json!("met")), (&json!(criteria[1]), &json!("unchecked"))]);
    corrected(&world);
    remembered(&world);
    keep(&world, waits(&world, "when a file lands here"), "keep");
    assert_eq!(looks(&world), [], "what is there is no change, and is kept to tell one by");
    let mut made = listed(world.kernel());
    // Pictures and attachments; and what a command printed.
    let seeing = furnished(1_762);
    let given = taken_in(&seeing, "given.png", &png("given"));
    let task = begin(&seeing, &script(ModelApi::Openai), ModelApi::Openai, true, vec![given]);
    drive(&seeing, task);
    made.extend(listed(seeing.kernel()));
    let mut commanding = classes::world(1_763);
    let (kernel, _) = classes::everything(&mut commanding);
    made.extend(listed(&kernel));
    let missing: Vec<_> = KINDS.into_iter().filter(|kind| !made.contains(kind)).collect();
    assert_eq!(missing, [], "kinds that nothing made");
}

#[conforms::conforms("HK-14.2-1")]
#[test]
fn an_artifact_is_found_by_its_content_by_what_it_is_of_and_by_its_name_in_the_task_also_later() {
    let (mut world, task) = busy(1_764);
    let rows = |world: &World| {
        let filter = ArtifactFilter { task: Some(task), ..ArtifactFilter::default() };
        world.kernel().query().unwrap().artifacts(&filter, Ask::ALL).unwrap().rows
    };
    let before = rows(&world);
    assert_eq!(before.len(), state(&world, task).artifacts.len());
    for row in &before {
        // By content: the digest gives the bytes, and the list gives all that have just these.
        let bytes = world.kernel().artifacts().read(&row.content_hash).unwrap();
        assert_eq!(Digest::of(&bytes), row.content_hash);
        let same = ArtifactFilter { content_hash: Some(row.content_hash), ..ArtifactFilter::default() };
        let same = world.kernel().query().unwrap().artifacts(&same, Ask::ALL).unwrap().rows;
        assert!(same.iter().any(|one| one.artifact_id == row.artifact_id));
        // By a logical address: of what it is, or of its content where it is of nothing else.
        let uri = row.uri.shown().unwrap();
        assert!(uri.contains(':') && uri.rsplit(':').all(|part| !part.is_empty()), "{uri}");
        if let Some(named) = uri.strip_prefix("sha256:") {
            assert_eq!(named, row.content_hash.to_string());
        }
    }
    // By its name in the task: what was there before a file was deleted is called so, once.
    let named = |rows: &[projections::rows::ArtifactRow], name: &str| -> Vec<ArtifactId> {
        let has = |alias: &model::Sensitive<String>| alias.shown().is_some_and(|alias| alias == name);
        rows.iter().filter(|row| row.alias.as_ref().is_some_and(has)).map(|row| row.artifact_id).collect()
    };
    let [image] = named(&before, "before a.txt")[..] else { panic!("one image: {before:?}") };
    let digest = state(&world, task).digest_of(image).unwrap();
    assert_eq!(world.kernel().artifacts().read(&digest).unwrap(), b"text");
    // All of it is the same for the next host, and in views that were made anew.
    let (kept, again) = rebuilt(&mut world);
    assert_eq!(kept, again);
    let addresses = |rows: Vec<projections::rows::ArtifactRow>| -> Vec<_> {
        rows.into_iter().map(|row| (row.artifact_id, row.content_hash, row.uri, row.alias)).collect()
    };
    assert_eq!(addresses(rows(&world)), addresses(before));
}

#[conforms::conforms("HK-14.3-3")]
#[test]
fn what_a_decision_an_approval_or_a_receipt_cites_is_cited_by_its_digest_and_what_came_of_it_is_sealed() {
    let (world, task) = busy(1_765);
    let (kernel, now) = (world.kernel(), state(&world, task));
    let locked = |artifact: ArtifactId, digest: Digest| {
        assert_eq!(now.digest_of(artifact), Some(digest), "another digest than its artifact has");
        assert_eq!(Digest::of(&kernel.artifacts().read(&digest).unwrap()), digest);
    };
    let mut cited = 0;
    for decision in &now.decisions {
        for EvidenceRef { artifact_id, excerpt_hash, .. } in &decision.evidence_refs {
            locked(*artifact_id, *excerpt_hash);
            cited += 1;
        }
    }
    assert!(cited >= 3, "request, policy result and packet are behind a decision: {cited}");
    // An approval names its packet with its digest; what a person's yes is about is locked by the digests of the grant.
    for (event, body) in events(kernel, task) {
        let Body::GrantIssued(b) = body else { continue };
        let grant: CapabilityGrant = object(kernel, &now, b.grant.artifact_id);
        let Some(approval) = grant.approval_ref.value() else { continue };
        let approval = &now.approvals[approval].approval;
        locked(approval.approval_packet_ref, approval.approval_packet_sha256);
        locked(approval.requested_action_ref, grant.action_request_sha256);
        assert_eq!(grant.approval_packet_sha256.value(), Some(&approval.approval_packet_sha256));
        let packet: ApprovalPacket = object(kernel, &now, approval.approval_packet_ref);
        let judged: model::policy::PolicyResult = object(kernel, &now, approval.policy_result_ref);
        assert_eq!(packet.policy_result, judged, "{}", event.event_id);
        assert_eq!(judged.action_request_sha256, grant.action_request_sha256);
        cited += 1;
    }
    assert!(cited >= 5, "grants that rest on a yes: {cited}");
    let sealed: BTreeSet<(ArtifactId, String)> = events(kernel, task)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::ArtifactSealed(b) => Some((b.artifact_id, b.by)),
            _ => None,
        })
        .collect();
    let mut of_acts = 0;
    for record in &now.receipts {
        let (_, receipt) = kernel.receipt(record.receipt_id).unwrap();
        let named = [&receipt.action_request_ref, &receipt.policy_result_ref, &receipt.environment_ref];
        for at in named.into_iter().filter_map(|slot| slot.value()) {
            locked(at.artifact_id, at.sha256);
        }
        for at in receipt.input_refs.iter().chain(&receipt.output_refs) {
            locked(at.artifact_id, at.sha256);
        }
        if receipt.capability_grant_ref.value().is_some() && receipt.ran.value().is_some() {
            let by = receipt.receipt_id.to_string();
            let is_sealed = |id: ArtifactId| sealed.contains(&(id, by.clone()));
            assert!(receipt.output_refs.iter().all(|at| is_sealed(at.artifact_id)), "{receipt:?}");
            of_acts += 1;
        }
    }
    assert!(of_acts >= 3, "{of_acts}");
}
