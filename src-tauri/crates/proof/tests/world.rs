//! A store in memory with everything a bundle may hold: real events, real gate, real signatures, a person.
#![allow(clippy::disallowed_methods, reason = "each test uses its part of the world")]

mod act;
pub mod answers;
pub mod clocks;
pub mod dual;
pub mod flat;
pub mod kinds;
pub mod mutations;
pub mod passkeys;
mod roots;
pub mod standing;
pub mod tools;

use gate::{
    AuditFailure, AuditLog, Gate, GateDecision, Jurisdiction, KernelConfig, KernelRequest, Ruling, ToolCall,
    Tools, Variant,
};
use model::artifact::{
    Artifact, ArtifactClass, ArtifactKind, ArtifactRef, RetentionClass, Sensitivity, TrustTier,
};
use model::audit::AuditEntry;
use model::body::{ArtifactCreated, Body, TaskGoalChanged};
use model::chance::{Clock, Entropy};
use model::event::{Actor, Draft};
use model::principal::PrincipalType;
use model::*;
use proof::{AnchorFiles, Head, IdentityFiles, Include, Options, PublicKeys, Signers, Source, StateProof};
use seal::merkle::{Tree, leaf_hash};
use seal::note::{Checkpoint, Note};
use seal::{Digest, SeedSigner, Signer};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Ticks(AtomicU64);

impl Clock for Ticks {
    fn now(&self) -> UnixMs {
        UnixMs(1_760_000_000_000 + i64::try_from(self.0.fetch_add(1, Ordering::Relaxed)).unwrap())
    }
}

pub struct Dice(AtomicU64);

impl Entropy for Dice {
    fn fill(&self, buffer: &mut [u8]) {
        let roll = self.0.fetch_add(1, Ordering::Relaxed);
        let digest = Digest::of(&roll.to_le_bytes()).0;
        buffer.iter_mut().zip(digest.iter().cycle()).for_each(|(to, from)| *to = *from);
    }
}

pub struct Persons {
    pub log: SeedSigner,
    pub receipt: SeedSigner,
    pub manifest: SeedSigner,
    pub approval: SeedSigner,
}

impl Persons {
    pub fn new(seed: u8) -> Self {
        let signer = |n: u8| SeedSigner::from_seed([seed.wrapping_add(n); 32]);
        Self { log: signer(0), receipt: signer(1), manifest: signer(2), approval: signer(3) }
    }
}

/// A store.
pub struct World {
    pub clock: Ticks,
    pub dice: Dice,
    pub keys: Persons,
    pub with_keys: bool,
    pub log_id: String,
    pub task: TaskId,
    pub step: StepId,
    pub attempt: AttemptId,
    pub workspace: WorkspaceId,
    pub agent: PrincipalId,
    pub person: PrincipalId,
    pub events: Vec<Vec<u8>>,
    pub head: Digest,
    pub disclosures: BTreeMap<Digest, Vec<u8>>,
    pub artifacts: BTreeMap<Digest, Vec<u8>>,
    pub gate: Gate,
    pub entries: Vec<AuditEntry>,
    /// Numbers of the entries that concern the task.
    pub ours: Vec<u64>,
    pub receipts: Vec<ReceiptId>,
    /// Notes of other tasks that were there before.
    pub others: Vec<Vec<u8>>,
    /// How long a question to the person stands.
    pub patience_ms: i64,
    /// Whether receipts are as they were before they named the manifest key, and their subjects by place.
    pub is_of_before: bool,
    /// Which of the samples its records are varied with; none: each is what it usually is.
    pub sample: Option<usize>,
    /// How many keys have to say yes, where one is not enough.
    pub need: Option<u32>,
    /// What an export asked for, counted.
    pub asked: Cell<u64>,
    /// The roots of state that the log covers, once they are said.
    rooted: Option<StateProof>,
    /// Who the instance is, once it said so.
    pub instance: Option<IdentityFiles>,
    /// What clocks have stamped.
    pub anchors: Vec<AnchorFiles>,
    /// Notes of other tasks that came after the task's own.
    pub later: Vec<Vec<u8>>,
}

struct Log<'a>(&'a mut Vec<AuditEntry>);

impl AuditLog for Log<'_> {
    fn append(&mut self, entry: &AuditEntry) -> Result<(), AuditFailure> {
        self.0.push(entry.clone());
        Ok(())
    }
}

struct Says(GateDecision);

impl Jurisdiction for Says {
    fn evaluate(&self, _: &KernelRequest) -> Ruling {
        Ruling {
            decision: self.0,
            error: (self.0 != GateDecision::Allow).then(|| "policy_denied".to_owned()),
        }
    }
}

struct Runs;

impl Tools for Runs {
    fn call(&mut self, _: &ToolCall) -> Result<Value, String> {
        Ok(json!({ "dispatched": true }))
    }
}

impl World {
    /// An empty store; `acts` governed acts and `filler` further events follow.
    pub fn new(acts: usize, filler: usize) -> Self {
        Self::build(Persons::new(10), true, acts, filler)
    }

    pub fn without_keys(acts: usize) -> Self {
        Self::build(Persons::new(10), false, acts, 3)
    }

    /// The same store of other people.
    pub fn of(keys: Persons, acts: usize, filler: usize) -> Self {
        Self::build(keys, true, acts, filler)
    }

    fn build(keys: Persons, with_keys: bool, acts: usize, filler: usize) -> Self {
        let (clock, dice) = (Ticks(AtomicU64::new(0)), Dice(AtomicU64::new(0)));
        let mut world = Self {
            task: TaskId::fresh(&clock, &dice),
            step: StepId::fresh(&clock, &dice),
            attempt: AttemptId::fresh(&clock, &dice),
            workspace: WorkspaceId::fresh(&clock, &dice),
            agent: PrincipalId::fresh(&clock, &dice),
            person: PrincipalId::fresh(&clock, &dice),
            clock,
            dice,
            keys,
            with_keys,
            log_id: "5f3a9c1ed0b74a22896cfe01a3d5b7c9".to_owned(),
            events: Vec::new(),
            head: Digest::ZERO,
            disclosures: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            gate: Gate::new(),
            entries: Vec::new(),
            ours: Vec::new(),
            receipts: Vec::new(),
            others: Vec::new(),
            patience_ms: 3_600_000,
            is_of_before: false,
            sample: None,
            need: None,
            asked: Cell::new(0),
            rooted: None,
            instance: None,
            anchors: Vec::new(),
            later: Vec::new(),
        };
        world.boot();
        for n in 0..5 {
            let other = TaskId::fresh(&world.clock, &world.dice);
            let origin = format!("hermit.local/{}/task/{other}", world.log_id);
            let note =
                Checkpoint::new(&origin, n + 1, Digest::of(&n.to_le_bytes())).sign(&world.keys.log).unwrap();
            world.others.push(note.to_bytes());
        }
        world.goal("tidy the folder Ünïcode/\u{1F4C1} of Mrs. Example");
        for n in 0..acts {
            world.act(n);
            world.pass("observe", &Digest::of(b"somebody else"), GateDecision::Deny);
        }
        for n in 0..filler {
            world.goal(&format!("goal number {n}, which a person may want to keep to themselves"));
        }
        world
    }

    fn boot(&mut self) {
        let config = KernelConfig {
            kernel_id: self.log_id.clone(),
            variant: Variant::Strict,
            session: "session-1".to_owned(),
            actor: self.agent.to_string(),
            head: Digest::ZERO,
            ts_ms: self.clock.now(),
            tools: kinds::tools(),
        };
        self.gate.boot(config, &mut Log(&mut self.entries)).unwrap();
    }

    pub fn signers(&self) -> Option<Signers<'_>> {
        self.with_keys.then_some(Signers { receipt: &self.keys.receipt, manifest: &self.keys.manifest })
    }

    pub fn goal(&mut self, text: &str) {
        let goal = Sensitive::from(text.to_owned());
        let about_task_id = self.task;
        self.push(TaskGoalChanged { about_task_id, goal, title: None });
    }

    pub fn push(&mut self, body: impl Into<Body>) -> u64 {
        let draft = Draft {
            event_id: EventId::fresh(&self.clock, &self.dice),
            task_id: self.task,
            step_id: Some(self.step),
            attempt_id: Some(self.attempt),
            occurred_at: self.clock.now(),
            actor: Actor { actor_type: PrincipalType::Agent, actor_id: self.agent },
            body: body.into(),
            causation_id: None,
            correlation_id: self.attempt.to_string(),
            idempotency_key: None,
            workspace_id: Some(self.workspace),
        };
        let seq = self.events.len() as u64 + 1;
        let (event, disclosures) = draft.place(seq, self.head, &mut || self.dice.salt()).unwrap();
        let bytes = event.to_bytes().unwrap();
        self.head = Digest::of(&bytes);
        self.events.push(bytes);
        self.disclosures.extend(disclosures.into_iter().map(|d| (d.digest, d.bytes)));
        seq
    }

    pub fn artifact(&mut self, kind: ArtifactKind, bytes: Vec<u8>) -> ArtifactRef {
        let artifact_id = ArtifactId::fresh(&self.clock, &self.dice);
        let sha256 = Digest::of(&bytes);
        let artifact = Artifact {
            artifact_id,
            class: ArtifactClass::Audit,
            kind,
            uri: Sensitive::from(format!("sha256:{sha256}")),
            content_hash: sha256,
            media_type: "application/json".to_owned(),
            byte_size: bytes.len() as u64,
            created_at: self.clock.now(),
            producer: self.agent,
            retention_class: RetentionClass::Permanent,
            trust_tier: TrustTier::Observed,
            sensitivity_class: Sensitivity::Private,
            produced_by: Some(self.attempt),
            inputs: Vec::new(),
            task_local_alias: None,
        };
        self.artifacts.insert(sha256, bytes);
        self.push(ArtifactCreated { artifact });
        ArtifactRef { artifact_id, sha256 }
    }

    pub fn object<T: serde::Serialize>(&mut self, kind: ArtifactKind, value: &T) -> ArtifactRef {
        self.artifact(kind, seal::canon::to_canonical(value).unwrap())
    }

    /// One request through the gate; the hash of the entry that let it pass.
    pub fn pass(&mut self, tool: &str, request: &Digest, decision: GateDecision) -> Option<Digest> {
        let before = self.entries.len() as u64;
        let kernel_request = KernelRequest {
            request_id: RequestId::fresh(&self.clock, &self.dice).to_string(),
            ts_ms: self.clock.now(),
            actor: self.agent.to_string(),
            intent: tool.to_owned(),
            tool_call: Some(ToolCall {
                name: tool.to_owned(),
                params: Some(json!({ "action_request_sha256": request.to_string() })),
            }),
            params: None,
            evidence: None,
        };
        let receipt =
            self.gate.submit(kernel_request, &Says(decision), &mut Runs, &mut Log(&mut self.entries));
        if decision == GateDecision::Allow {
            self.ours.extend(before + 1..=self.entries.len() as u64);
        }
        receipt.evidence_hash
    }

    fn tree(leaves: impl Iterator<Item = Vec<u8>>) -> Tree {
        Tree::from_leaves(&leaves.map(|bytes| leaf_hash(&bytes)).collect::<Vec<_>>())
    }

    fn gate_tree(&self) -> Tree {
        Self::tree(self.entries.iter().map(|entry| entry.to_bytes().unwrap()))
    }

    fn sign(&self, origin: &str, tree: &Tree) -> Note {
        Checkpoint::new(origin, tree.size(), tree.root()).sign(&self.keys.log).unwrap()
    }

    fn task_note(&self) -> Note {
        let tree = Self::tree(self.events.iter().cloned());
        self.sign(&format!("hermit.local/{}/task/{}", self.log_id, self.task), &tree)
    }

    fn gate_note(&self) -> Note {
        self.sign(&format!("hermit.local/{}/gate", self.log_id), &self.gate_tree())
    }

    /// The notes of task and gate as they are now, for a log that goes on.
    pub fn notes(&self) -> [Vec<u8>; 2] {
        [self.task_note().to_bytes(), self.gate_note().to_bytes()]
    }

    fn global_tree(&self) -> Tree {
        let text = |note: &Vec<u8>| Note::parse(note).unwrap().text.into_bytes();
        let own = [self.task_note().text.into_bytes(), self.gate_note().text.into_bytes()];
        Self::tree(self.others.iter().map(text).chain(own).chain(self.later.iter().map(text)))
    }

    pub fn everything() -> Options {
        Options { artifacts: Include::All, ..Options::default() }
    }
}

pub const MADE_AT: UnixMs = UnixMs(1_760_000_900_000);

impl Source for World {
    fn log_id(&self) -> String {
        self.log_id.clone()
    }

    fn public_keys(&self) -> PublicKeys {
        if !self.with_keys {
            return PublicKeys { approval: Some(self.keys.approval.public()), ..PublicKeys::default() };
        }
        PublicKeys {
            log: Some(self.keys.log.public()),
            receipt: Some(self.keys.receipt.public()),
            manifest: Some(self.keys.manifest.public()),
            approval: Some(self.keys.approval.public()),
        }
    }

    fn task_head(&self, task: TaskId) -> Result<Option<Head>, String> {
        let leaf_index = Some(self.others.len() as u64);
        let there = self.with_keys && task == self.task;
        Ok(there.then(|| Head { note: self.task_note().to_bytes(), leaf_index, made_at: MADE_AT }))
    }

    fn gate_head(&self) -> Result<Option<Head>, String> {
        let leaf_index = Some(self.others.len() as u64 + 1);
        Ok(self.with_keys.then(|| Head { note: self.gate_note().to_bytes(), leaf_index, made_at: MADE_AT }))
    }

    fn global_head(&self) -> Result<Option<Head>, String> {
        let origin = format!("hermit.local/{}", self.log_id);
        let note = self.sign(&origin, &self.global_tree()).to_bytes();
        Ok(self.with_keys.then_some(Head { note, leaf_index: None, made_at: MADE_AT }))
    }

    fn events(&self, task: TaskId, after_seq: u64, max: usize) -> Result<Vec<Vec<u8>>, String> {
        self.asked.set(self.asked.get() + 1);
        if task != self.task {
            return Ok(Vec::new());
        }
        Ok(self.events.iter().skip(usize::try_from(after_seq).unwrap()).take(max).cloned().collect())
    }

    fn disclosure(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        Ok(self.disclosures.get(digest).cloned())
    }

    fn artifact(&self, digest: &Digest) -> Result<Option<Box<dyn std::io::Read + '_>>, String> {
        Ok(self.artifacts.get(digest).map(|bytes| Box::new(bytes.as_slice()) as Box<dyn std::io::Read>))
    }

    fn state(&self, task: TaskId) -> Result<Option<StateProof>, String> {
        Ok(self.rooted.clone().filter(|_| self.with_keys && task == self.task))
    }

    fn identity(&self) -> Result<Option<IdentityFiles>, String> {
        Ok(self.instance.clone())
    }

    fn anchors(&self, _task: TaskId) -> Result<Vec<AnchorFiles>, String> {
        Ok(self.anchors.clone())
    }

    fn gate_entries(&self, _task: TaskId) -> Result<Vec<u64>, String> {
        Ok(self.ours.clone())
    }

    fn gate_entry(&self, number: u64) -> Result<Vec<u8>, String> {
        Ok(self.entries[usize::try_from(number).unwrap() - 1].to_bytes().unwrap())
    }

    fn gate_proof(&self, number: u64, size: u64) -> Result<Vec<Digest>, String> {
        self.gate_tree().inclusion_proof_at(number - 1, size).map_err(|e| e.to_string())
    }

    fn global_proof(&self, leaf_index: u64, size: u64) -> Result<Vec<Digest>, String> {
        self.global_tree().inclusion_proof_at(leaf_index, size).map_err(|e| e.to_string())
    }

    fn global_consistency(&self, old_size: u64, size: u64) -> Result<Vec<Digest>, String> {
        assert_eq!(size, self.global_tree().size());
        self.global_tree().consistency_proof(old_size).map_err(|e| e.to_string())
    }
}
