//! Who the instance is and what clocks stamped, from the store's own stream into a proof.

use crate::home::Home;
use ledger::{Batch, CheckpointKind, OpenOptions, Writer};
use model::anchor::{AnchorClock, AnchorSubject, BlockTime};
use model::artifact::ArtifactRef;
use model::body::{
    AnchorCompleted, AnchorRequested, AnchorStamped, AnchorWithdrawn, IdentityLinked, InstanceKeyRegistered,
};
use model::event::{Actor, Draft};
use model::fault::Point;
use model::identity::{Attestation, INSTANCE_KEY_FORMAT, InstanceKey, LINK_FORMAT, Link, LogHead};
use model::principal::PrincipalType;
use model::{ActionRequestId, ArtifactId, Body, Digest, EventId, PrincipalId, UnixMs};
use seal::schnorr::SchnorrKey;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use testkit::blocks::{BLOCK_TIME, HEIGHT, headers, in_a_block, pending};

/// What the store's own stream is to say, with the content that it names.
#[derive(Default)]
struct Told {
    bodies: Vec<Body>,
    blobs: Vec<Vec<u8>>,
}

impl Told {
    fn kept(&mut self, home: &Home, bytes: Vec<u8>) -> ArtifactRef {
        let ports = home.world.ports();
        let kept = ArtifactRef {
            artifact_id: ArtifactId::fresh(&*ports.clock, &*ports.entropy),
            sha256: Digest::of(&bytes),
        };
        self.blobs.push(bytes);
        kept
    }
}

/// Says it in the store's own stream, between two hosts.
fn say(home: &mut Home, told: Told) {
    let system = home.world.kernel().store_state().system_task().unwrap();
    let ports = home.world.ports();
    home.world.crash();
    let options = OpenOptions {
        hermit_version: "test".to_owned(),
        projector: (ports.projector)(),
        faults: Arc::clone(&ports.faults),
        entropy: Arc::clone(&ports.entropy),
        log_keys: vec![seal::Signer::public(&*home.world.keys.log_signer())],
    };
    let writer = Writer::open(home.world.store.path(), options).unwrap();
    let (clock, entropy) = (&*ports.clock, &*ports.entropy);
    let actor = Actor { actor_type: PrincipalType::System, actor_id: PrincipalId::fresh(clock, entropy) };
    let mut batch = Batch::new(Point::CheckpointSign);
    batch.blobs = told.blobs.into_iter().map(|bytes| (Digest::of(&bytes), bytes)).collect();
    for body in told.bodies {
        batch.drafts.push(Draft {
            event_id: EventId::fresh(clock, entropy),
            task_id: system,
            step_id: None,
            attempt_id: None,
            occurred_at: clock.now(),
            actor,
            body,
            causation_id: None,
            correlation_id: "between two hosts".to_owned(),
            idempotency_key: None,
            workspace_id: None,
        });
    }
    writer.commit(batch).unwrap();
    drop(writer);
    home.world.take_up().unwrap();
}

/// The key of an instance, and a link of it.
fn identity(home: &Home) -> Told {
    let mut told = Told::default();
    let instance_id = home.world.kernel().reader().log_id().to_owned();
    let (key, log, soul) =
        (SchnorrKey::from_secret([9; 32]).unwrap(), home.world.keys.log_signer(), Digest::of(b"SOUL.md"));
    let statement = InstanceKey {
        format: INSTANCE_KEY_FORMAT.to_owned(),
        instance_id: instance_id.clone(),
        instance_pubkey: key.public(),
        soul_sha256: soul,
        log_pubkey: seal::Signer::public(&*log).to_string(),
    };
    let identity::BoundKey { statement, signature_by_log, signature_by_instance } =
        identity::bind(statement, &*log, &key).unwrap();
    let bound = InstanceKeyRegistered { statement, signature_by_log, signature_by_instance };
    let link = Link::Attestation(Attestation {
        format: LINK_FORMAT.to_owned(),
        instance_id: instance_id.clone(),
        version: 1,
        soul_sha256: soul,
        previous: None,
        instance_pubkey: key.public(),
        log_head: LogHead { origin: format!("hermit.local/{instance_id}"), size: 1, root: Digest::ZERO },
        attested_at: UnixMs(1),
    });
    let link_sha256 = identity::link_sha256(&link).unwrap();
    let signed = seal::canon::to_canonical(&identity::sign(link, &[&key]).unwrap()).unwrap();
    let link = told.kept(home, signed);
    let linked = IdentityLinked { instance_id, number: 1, link_sha256, link, linked_at: UnixMs(1) };
    told.bodies = vec![bound.into(), linked.into()];
    told
}

/// The newest head of the log is to be stamped: the event that says so, and the digest.
fn requested(home: &Home, number: u64) -> (AnchorRequested, Digest) {
    let made = home.world.kernel().reader().last_checkpoint(CheckpointKind::Global, None).unwrap().unwrap();
    let digest = Digest::of(seal::note::Note::parse(&made.note).unwrap().text.as_bytes());
    let subject = AnchorSubject::Head {
        origin: made.origin,
        size: made.size,
        root: made.root,
        note_sha256: Digest::of(&made.note),
    };
    let clocks = vec![AnchorClock::OpenTimestamps];
    (AnchorRequested { number, digest, subject, clocks, requested_at: UnixMs(1) }, digest)
}

const CLOCK: AnchorClock = AnchorClock::OpenTimestamps;

/// A head is stamped, and the clock has not completed it.
fn stamped(home: &mut Home, number: u64) -> Digest {
    let mut told = Told::default();
    let (asked, digest) = requested(home, number);
    let proof = Some(told.kept(home, pending(&digest)));
    let action_request_id: ActionRequestId = "act_01900000000070008000000000000064".parse().unwrap();
    let (at, stamped_at) = (vec!["calendar.example:443".to_owned()], UnixMs(2));
    let stamped = AnchorStamped { number, clock: CLOCK, at, proof, action_request_id, stamped_at };
    told.bodies = vec![asked.into(), stamped.into()];
    say(home, told);
    digest
}

/// A block commits to it.
fn completed(home: &mut Home, number: u64, digest: &Digest, not_after: UnixMs) {
    let mut told = Told::default();
    let proof = told.kept(home, in_a_block(digest));
    let (block, completed_at) = (Some(block()), UnixMs(3));
    let completed = AnchorCompleted { number, clock: CLOCK, proof, not_after, block, completed_at };
    told.bodies = vec![completed.into()];
    say(home, told);
}

fn block() -> BlockTime {
    BlockTime { height: HEIGHT, hash: "00".repeat(32), time: u64::from(BLOCK_TIME), depth: 6 }
}

/// What is found in a proof, which is valid and leaves nothing out.
fn report(home: &Home, path: &Path, about: &Value, blocks: &Path) -> Value {
    let mut params = about.clone();
    params["path"] = json!(path);
    let made = home.must("proof.export", params);
    assert_eq!(made["left_out"], json!([]), "{made}");
    let report = home.must("proof.verify", json!({ "path": path, "bitcoin_headers": blocks }));
    assert_eq!(report["verdict"], "valid", "{report}");
    assert_eq!(report["identity"]["links"], 1, "{report}");
    report
}

#[conforms::conforms(part = "HV-3.6-3")]
#[test]
fn a_proof_carries_who_the_instance_is_and_the_earliest_anchor_that_covers_its_task() {
    let mut home = Home::new(71);
    let (task, receipt) = home.with_an_act("write a");
    let told = identity(&home);
    say(&mut home, told);
    let digest = stamped(&mut home, 1);
    let out = TempDir::new().unwrap();
    let (at, blocks) = (|name: &str| out.path().join(name), out.path().join("headers"));
    std::fs::write(&blocks, headers(&digest)).unwrap();
    let about = json!({ "task": task.to_string() });
    let preview = home.must("proof.preview", about.clone());
    assert_eq!((&preview["links"], &preview["anchors"]), (&json!(1), &json!(1)));
    let waiting = report(&home, &at("waiting.zip"), &about, &blocks);
    assert_eq!(waiting["anchors"][0]["state"], "pending", "{waiting}");
    assert_eq!(waiting["proven_not_after"], json!(null));

    // Completed; and a newer head, which is anchored as well.
    let not_after = UnixMs(i64::from(BLOCK_TIME) * 1_000);
    completed(&mut home, 1, &digest, not_after);
    let system = home.world.kernel().store_state().system_task().unwrap();
    home.world.kernel().checkpoint(&[system]).unwrap();
    let newer = stamped(&mut home, 2);
    assert_ne!(newer, digest, "the log went on");
    completed(&mut home, 2, &newer, UnixMs(not_after.0 + 1));
    for (name, about) in [("task.zip", about.clone()), ("receipt.zip", json!({ "receipt": receipt }))] {
        let proven = report(&home, &at(name), &about, &blocks);
        assert_eq!(proven["anchors"].as_array().unwrap().len(), 1, "{proven}");
        let one = &proven["anchors"][0];
        assert_eq!((&one["number"], &one["state"]), (&json!(1), &json!("anchored")));
        assert_eq!(one["covers_task"], true);
        assert_eq!(proven["proven_not_after"], json!(not_after.0), "{proven}");
    }
    // The chain went another way: that anchor proves nothing any more, and the newer one goes along.
    let withdrawn = AnchorWithdrawn { number: 1, clock: CLOCK, block: block(), withdrawn_at: UnixMs(4) };
    say(&mut home, Told { bodies: vec![withdrawn.into()], blobs: Vec::new() });
    std::fs::write(&blocks, headers(&newer)).unwrap();
    let proven = report(&home, &at("newer.zip"), &about, &blocks);
    let one = &proven["anchors"][0];
    assert_eq!((&one["number"], &one["state"]), (&json!(2), &json!("anchored")));
    let params = json!({ "path": at("newer.zip"), "authorities": [blocks] });
    assert_eq!(home.ask("proof.verify", params).unwrap_err().code, wire::Code::Usage);
}
