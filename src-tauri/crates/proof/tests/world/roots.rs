//! The store's own stream, in which roots of state are said, and its head among the notes of the log.

use super::{MADE_AT, World};
use model::body::{GateBooted, StateRooted};
use model::event::{Actor, Draft};
use model::principal::PrincipalType;
use model::state_root::{Frontier, StateRoot, StateSubject, leaf_hash, over_all};
use model::*;
use proof::{Head, StateProof, SubjectProof};
use seal::Digest;

impl World {
    /// Says the roots of the task's conversation and of its project's memory as they are now, and signs that.
    pub fn root(&mut self) {
        self.root_of(|_| {});
    }

    /// As [`World::root`], by a log that says other messages than there are.
    pub fn root_of(&mut self, lie: impl FnOnce(&mut Vec<Digest>)) {
        let told = |bytes: &&Vec<u8>| {
            let event = Event::from_bytes(bytes).unwrap();
            matches!(
                event.event_type.as_str(),
                "receipt.issued" | "approval.requested" | "attempt.terminated"
            )
        };
        let mut messages: Vec<Digest> =
            self.events.iter().filter(told).map(|bytes| leaf_hash(bytes)).collect();
        lie(&mut messages);
        let elsewhere = vec![Digest::of(b"a memory of another task"), Digest::of(b"another")];
        let conversation = StateSubject::Conversation(ConversationId::fresh(&self.clock, &self.dice));
        let project = StateSubject::Memory(Some(Digest::of(b"the project")));
        let leaves =
            [(conversation, messages), (project, elsewhere), (StateSubject::Memory(None), Vec::new())];
        let roots: Vec<StateRoot> = leaves
            .iter()
            .map(|(subject, leaves)| StateRoot {
                subject: *subject,
                size: leaves.len() as u64,
                root: seal::merkle::root(leaves),
            })
            .collect();
        let places: Vec<Digest> = roots.iter().map(|root| leaf_hash(&root.to_leaf().unwrap())).collect();
        let rooted = StateRooted {
            store_id: self.log_id.clone(),
            number: 3,
            through: 77,
            state_root: over_all(&roots).unwrap(),
            subjects: roots.len() as u64,
            roots: Sensitive::Shown(roots.clone()),
        };
        let booted = || GateBooted { session: "s".to_owned() };
        let (system, events) = self.stream(vec![booted().into(), rooted.into(), booted().into()]);
        let hashes: Vec<Digest> = events.iter().map(|bytes| leaf_hash(bytes)).collect();
        let mut tree = Frontier::new();
        hashes.iter().for_each(|hash| {
            tree.push(*hash);
        });
        let origin = format!("hermit.local/{}/task/{system}", self.log_id);
        let note =
            seal::note::Checkpoint::new(&origin, tree.size(), tree.root()).sign(&self.keys.log).unwrap();
        let at = self.others.len() - 1;
        self.others[at] = note.to_bytes();
        let subjects =
            leaves.into_iter().zip(roots).enumerate().map(|(index, ((_, leaves), root))| SubjectProof {
                index: index as u64,
                leaves,
                path: seal::merkle::inclusion_proof(index as u64, &places).unwrap(),
                root: root.root,
                size: root.size,
                subject: root.subject,
            });
        let mut subjects: Vec<SubjectProof> = subjects.collect();
        subjects.sort_by_cached_key(|one| one.subject.to_string());
        self.rooted = Some(StateProof {
            event: events[1].clone(),
            path: seal::merkle::inclusion_proof(1, &hashes).unwrap(),
            head: Head { note: note.to_bytes(), leaf_index: Some(at as u64), made_at: MADE_AT },
            subjects,
            left_out: Vec::new(),
        });
    }

    fn stream(&self, bodies: Vec<Body>) -> (TaskId, Vec<Vec<u8>>) {
        let task_id = TaskId::fresh(&self.clock, &self.dice);
        let (mut events, mut head) = (Vec::new(), Digest::ZERO);
        for (seq, body) in (1..).zip(bodies) {
            let draft = Draft {
                event_id: EventId::fresh(&self.clock, &self.dice),
                task_id,
                step_id: None,
                attempt_id: None,
                occurred_at: self.clock.now(),
                actor: Actor { actor_type: PrincipalType::System, actor_id: self.agent },
                body,
                causation_id: None,
                correlation_id: "s".to_owned(),
                idempotency_key: None,
                workspace_id: None,
            };
            let (event, _) = draft.place(seq, head, &mut || self.dice.salt()).unwrap();
            let bytes = event.to_bytes().unwrap();
            head = Digest::of(&bytes);
            events.push(bytes);
        }
        (task_id, events)
    }
}
