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
use model::body::StateRooted;
use model::fault::Point;
use model::ingress::Channel;
use model::state_root::{ROOTS_MAX, StateRoot, over_all};
use model::{Digest, Sensitive};
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
    /// Whether a list was erased, so that not every subject is known: all of them are stated anew.
    pub lost: bool,
}

impl RootedState {
    pub(crate) fn apply(&mut self, task_seq: u64, body: &StateRooted) {
        self.events = body.number.saturating_add(1);
        self.task_seq = task_seq;
        match body.roots.shown() {
            Some(roots) => {
                self.roots.extend(roots.iter().map(|root| (root.subject.to_string(), root.clone())));
            }
            None => {
                self.roots.clear();
                self.lost = true;
            }
        }
        // The event says how many there are and what they come to, so that it shows when all are known again.
        if self.lost {
            let known = self.roots.len() as u64 == body.subjects;
            self.lost = !(known && over_all(self.roots.values()).is_ok_and(|root| root == body.state_root));
        }
        self.through = if self.lost { 0 } else { body.through };
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
    /// Whether more changed than one step states; the next goes on with it.
    pub more: bool,
}

impl Kernel {
    /// States the roots of what changed since they were last stated, and signs them where the log key is at hand.
    ///
    /// # Errors
    /// When the views or the log cannot be read or written.
    pub fn state_roots(&self) -> Result<Stated, Error> {
        // Two at once would number their events alike.
        let _one = lock(&self.rooting);
        let (mut events, mut more) = (0, true);
        while events < EVENTS_MAX && more {
            let written = self.state_more(ROOTS_MAX)?;
            events += usize::from(written.is_some());
            more = written.unwrap_or(false);
        }
        Ok(Stated { events, signed: self.sign_roots()?, more })
    }

    /// Writes the next event, of at most so many roots, if anything changed; whether more did.
    fn state_more(&self, most: usize) -> Result<Option<bool>, Error> {
        let (number, through) = {
            let store = lock(&self.store);
            (store.rooted.events, store.rooted.through)
        };
        let since = self.query()?.roots_since(through, most).map_err(view)?;
        if since.roots.is_empty() {
            return Ok(None);
        }
        let (store_id, state_root, subjects) = self.over_all_with(&since.roots)?;
        let roots = Sensitive::Shown(since.roots);
        let key = format!("rooted:{number}");
        let actor = self.principal_of(Sender::from(Channel::System))?;
        let mut w = self.store_writeup(Point::KnowledgeChange, actor, key.clone(), None)?;
        let through = since.through;
        w.push_keyed(Some(key), StateRooted { store_id, number, through, state_root, subjects, roots });
        self.commit(w)?;
        Ok(Some(since.more))
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
