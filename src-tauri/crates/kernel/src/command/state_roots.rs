//! Roots of state: of every conversation, and of the memory in force in every project (HV-3.6-1, memory.md 2).
//!
//! One step is: what changed behind the last root is read from the views, one event in the store's stream says it, and the
//! head of that stream is signed, and with it the global log. Events are numbered and keyed by their numbers, so that a
//! host that dies in between, or two at once, state each of them once; a head that was not signed is signed by the next step.

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::query::view;
use crate::sender::Sender;
use ledger::{Checkpoint, CheckpointKind};
use model::Digest;
use model::body::StateRooted;
use model::fault::Point;
use model::ingress::Channel;
use model::state_root::{ROOTS_MAX, StateRoot, over_all};
use std::collections::BTreeMap;

/// Events of one step; what is left comes with the next.
const EVENTS_MAX: usize = 64;

/// The newest root of everything, as the store's own stream tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RootedState {
    /// Events that stated roots.
    pub events: u64,
    /// The place in the log up to which they tell the state.
    pub through: u64,
    /// The number of the newest in the store's stream.
    pub task_seq: u64,
    /// The root of each subject, by its text.
    pub roots: BTreeMap<String, StateRoot>,
}

impl RootedState {
    pub(crate) fn apply(&mut self, task_seq: u64, body: &StateRooted) {
        self.events = body.number.saturating_add(1);
        (self.through, self.task_seq) = (body.through, task_seq);
        self.roots.extend(body.roots.iter().map(|root| (root.subject.to_string(), root.clone())));
    }
}

/// What a step came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stated {
    /// Events that were written.
    pub events: usize,
    /// Heads that were signed: of the store's stream, of the gate, of the global log. None where all is signed already, or
    /// the key is not at hand.
    pub signed: Vec<Checkpoint>,
}

impl Kernel {
    /// States the roots of what changed since they were last stated, and signs them where the log key is at hand.
    ///
    /// # Errors
    /// When the views or the log cannot be read or written.
    pub fn state_roots(&self) -> Result<Stated, Error> {
        // Two at once would number their events alike.
        let _one = lock(&self.rooting);
        let mut events = 0;
        while events < EVENTS_MAX && self.state_more()? {
            events += 1;
        }
        Ok(Stated { events, signed: self.sign_roots()? })
    }

    /// Writes the next event, if anything changed; whether it did.
    fn state_more(&self) -> Result<bool, Error> {
        let (number, through) = {
            let store = lock(&self.store);
            (store.rooted.events, store.rooted.through)
        };
        let since = self.query()?.roots_since(through, ROOTS_MAX).map_err(view)?;
        if since.roots.is_empty() {
            return Ok(false);
        }
        let (store_id, state_root, subjects) = self.over_all_with(&since.roots)?;
        let roots = since.roots;
        let key = format!("rooted:{number}");
        let actor = self.principal_of(Sender::from(Channel::System))?;
        let mut w = self.store_writeup(Point::KnowledgeChange, actor, key.clone(), None)?;
        let through = since.through;
        w.push_keyed(Some(key), StateRooted { store_id, number, through, state_root, subjects, roots });
        self.commit(w)?;
        Ok(true)
    }

    /// The store, the root over all subjects when these are changed, and how many subjects there are.
    fn over_all_with(&self, changed: &[StateRoot]) -> Result<(String, Digest, u64), Error> {
        let store = lock(&self.store);
        let mut all = store.rooted.roots.clone();
        all.extend(changed.iter().map(|root| (root.subject.to_string(), root.clone())));
        Ok((store.store_id.clone(), over_all(all.values())?, all.len() as u64))
    }

    /// Signs the store's stream up to the newest root, unless that is done or there is no key.
    fn sign_roots(&self) -> Result<Vec<Checkpoint>, Error> {
        let (rooted, system) = {
            let store = lock(&self.store);
            (store.rooted.task_seq, store.system_task()?)
        };
        if rooted == 0 || self.ports.keys.log().is_none() {
            return Ok(Vec::new());
        }
        let last = self.reader.last_checkpoint(CheckpointKind::Task, Some(system))?;
        if last.is_some_and(|last| last.size >= rooted) {
            return Ok(Vec::new());
        }
        self.checkpoint(&[system])
    }
}
