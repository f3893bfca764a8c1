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
use serde_json::json;
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

#[conforms::conforms(part = "HV-3.6-3")]
#[test]
fn a_proof_carries_who_the_instance_is_and_the_earliest_anchor_that_covers_its_task() {
    let mut home = Home::new(71);
    let (task, receipt) = home.with_an_act("write a");
    let told = identity(&home);
    say(&mut home, told);
    // Stamped, and pending.
    let clock = AnchorClock::OpenTimestamps;
    let mut told = Told::default();
    let (first, digest) = requested(&home, 1);
    let proof = Some(told.kept(&home, pending(&digest)));
    let action_request_id: ActionRequestId = "act_01900000000070008000000000000064".parse().unwrap();
    let at = vec!["calendar.example:443".to_owned()];
    let stamped = AnchorStamped { number: 1, clock, at, proof, action_request_id, stamped_at: UnixMs(2) };
    told.bodies = vec![first.into(), stamped.into()];
    say(&mut home, told);

    let out = TempDir::new().unwrap();
    let blocks = out.path().join("headers");
    std::fs::write(&blocks, headers(&digest)).unwrap();
    let report = |home: &Home, name: &str, about: &serde_json::Value| {
        let path = out.path().join(name);
        let mut params = about.clone();
        params["path"] = json!(path);
        let made = home.must("proof.export", params);
        assert_eq!(made["left_out"], json!([]), "{made}");
        let params = json!({ "path": path, "bitcoin_headers": blocks });
        let report = home.must("proof.verify", params);
        assert_eq!(report["verdict"], "valid", "{report}");
        assert_eq!(report["identity"]["links"], 1, "{report}");
        report
    };
    let about = json!({ "task": task.to_string() });
    let preview = home.must("proof.preview", about.clone());
    assert_eq!((&preview["links"], &preview["anchors"]), (&json!(1), &json!(1)));
    let waiting = report(&home, "waiting.zip", &about);
    assert_eq!(waiting["anchors"][0]["state"], "pending", "{waiting}");
    assert_eq!(waiting["proven_not_after"], json!(null));

    // Completed; and a newer head, which is anchored as well.
    let mut told = Told::default();
    let block =
        |time: u32| BlockTime { height: HEIGHT, hash: "00".repeat(32), time: u64::from(time), depth: 6 };
    let proof = told.kept(&home, in_a_block(&digest));
    let not_after = UnixMs(i64::from(BLOCK_TIME) * 1_000);
    let system = home.world.kernel().store_state().system_task().unwrap();
    home.world.kernel().checkpoint(&[system]).unwrap();
    let (second, newer) = requested(&home, 2);
    assert_ne!(newer, digest, "the log went on");
    let later = told.kept(&home, in_a_block(&newer));
    let completed = |number, proof, not_after, time| AnchorCompleted {
        number,
        clock,
        proof,
        not_after,
        block: Some(block(time)),
        completed_at: UnixMs(3),
    };
    told.bodies = vec![
        completed(1, proof, not_after, BLOCK_TIME).into(),
        second.into(),
        completed(2, later, UnixMs(not_after.0 + 1), BLOCK_TIME).into(),
    ];
    say(&mut home, told);
    for (name, about) in [("task.zip", about.clone()), ("receipt.zip", json!({ "receipt": receipt }))] {
        let proven = report(&home, name, &about);
        assert_eq!(proven["anchors"].as_array().unwrap().len(), 1, "{proven}");
        let one = &proven["anchors"][0];
        assert_eq!(
            (&one["number"], &one["state"], &one["covers_task"]),
            (&json!(1), &json!("anchored"), &json!(true))
        );
        assert_eq!(proven["proven_not_after"], json!(not_after.0), "{proven}");
    }
    // The chain went another way: that anchor proves nothing any more, and the newer one goes along.
    let withdrawn = AnchorWithdrawn { number: 1, clock, block: block(BLOCK_TIME), withdrawn_at: UnixMs(4) };
    say(&mut home, Told { bodies: vec![withdrawn.into()], blobs: Vec::new() });
    std::fs::write(&blocks, headers(&newer)).unwrap();
    let proven = report(&home, "newer.zip", &about);
    assert_eq!(
        (&proven["anchors"][0]["number"], &proven["anchors"][0]["state"]),
        (&json!(2), &json!("anchored"))
    );
    let refused =
        home.ask("proof.verify", json!({ "path": out.path().join("newer.zip"), "authorities": [blocks] }));
    assert_eq!(refused.unwrap_err().code, wire::Code::Usage);
}
