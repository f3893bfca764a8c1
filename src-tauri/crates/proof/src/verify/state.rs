//! Roots of state: the event that states them stands in the log, each follows from its leaves and stands under the root over
//! all; which of its leaves are events of this bundle.

use super::Check;
use super::heads::{open, stands_in};
use crate::container::Stop;
use crate::layout as l;
use crate::lines::Lines;
use crate::state::SubjectProof;
use model::body::StateRooted;
use model::state_root::StateSubject;
use model::{Body, Event};
use seal::Digest;
use seal::merkle::{leaf_hash, verify_inclusion};
use seal::note::VerifierKey;
use std::collections::BTreeMap;

/// The files of it, which come together.
const FILES: [&str; 4] =
    [l::STATE_CHECKPOINT_PROOF, l::STATE_ROOTED, l::STATE_ROOTED_PROOF, l::STATE_SUBJECTS];

/// A root that was checked.
pub(super) struct Rooted {
    pub(super) subject: StateSubject,
    /// Messages, or records in force.
    pub(super) size: u64,
    /// Of these, events of this bundle.
    pub(super) here: u64,
}

impl Check<'_> {
    pub(super) fn state(&mut self) -> Result<(), Stop> {
        if !FILES.iter().any(|name| self.has(name)) {
            return Ok(());
        }
        if let Some(missing) = FILES.iter().find(|name| !self.has(name)) {
            return Err(Stop::at(*missing, "it is missing"));
        }
        let rooted = self.rooted()?;
        let container = self.container;
        let mut lines = Lines::new(l::STATE_SUBJECTS, container.reader(l::STATE_SUBJECTS)?);
        let mut last = String::new();
        while let Some((number, line)) = lines.next()? {
            let place = format!("{} line {number}", l::STATE_SUBJECTS);
            let one: SubjectProof = seal::canon::from_canonical(line).map_err(|e| Stop::at(&place, e))?;
            let subject = one.subject.to_string();
            if last >= subject {
                return Err(Stop::at(
                    place,
                    "the lines are not in the order of their subjects, or one comes twice",
                ));
            }
            last = subject;
            self.subject(&place, &one, &rooted)?;
        }
        self.summed(l::STATE_SUBJECTS, lines.digest())
    }

    /// The event that states the roots, once its place in the log is proven.
    fn rooted(&mut self) -> Result<StateRooted, Stop> {
        let bytes = self.whole(l::STATE_ROOTED, l::LINE_BYTES_MAX as u64)?;
        let event = Event::from_bytes(&bytes).map_err(|e| Stop::at(l::STATE_ROOTED, e))?;
        let Ok(Body::StateRooted(rooted)) = event.body(&|_| None) else {
            return Err(Stop::at(l::STATE_ROOTED, "it is no event that states roots"));
        };
        let heads = self.heads.as_ref().ok_or_else(|| Stop::at(l::LOG_CHECKPOINT, "it is missing"))?;
        let (log_key, global, global_note) =
            (heads.log_key.clone(), heads.global.clone(), heads.note.to_bytes());
        let name = format!("{}/task/{}", log_key.name(), event.task_id);
        let key = VerifierKey::new(&name, *log_key.key()).map_err(|e| Stop::at(l::STATE_ROOTED_PROOF, e))?;
        let proof = self.any_proof(l::STATE_ROOTED_PROOF)?;
        let head = open(l::STATE_ROOTED_PROOF, &proof.checkpoint, &key)?;
        if proof.index.checked_add(1) != Some(event.task_seq) {
            let why = format!("it proves the place of leaf {}, counted from 0", proof.index);
            return Err(Stop::at(l::STATE_ROOTED_PROOF, why));
        }
        stands_in(l::STATE_ROOTED_PROOF, &proof, &leaf_hash(&bytes), &head)?;
        let note = proof.checkpoint.to_bytes();
        self.in_log(l::STATE_CHECKPOINT_PROOF, &note, &global_note, &global)?;
        Ok(rooted)
    }

    fn subject(&mut self, place: &str, one: &SubjectProof, rooted: &StateRooted) -> Result<(), Stop> {
        if one.size != one.leaves.len() as u64 || one.root != seal::merkle::root(&one.leaves) {
            return Err(Stop::at(place, "its leaves do not give the root that was stated"));
        }
        let leaf = one.stated().to_leaf().map_err(|e| Stop::at(place, e))?;
        verify_inclusion(&leaf_hash(&leaf), one.index, rooted.subjects, &one.path, &rooted.state_root)
            .map_err(|e| Stop::at(place, e))?;
        self.in_order(one).map_err(|why| Stop::at(place, why))?;
        let here = one.leaves.iter().filter(|leaf| self.leaves.contains(*leaf)).count() as u64;
        self.roots.push(Rooted { subject: one.subject, size: one.size, here });
        Ok(())
    }

    /// Each leaf stands once; the task's messages in its conversation's tree in their order, none left out before another.
    fn in_order(&self, one: &SubjectProof) -> Result<(), &'static str> {
        let places: BTreeMap<&Digest, usize> = one.leaves.iter().zip(0..).collect();
        if places.len() != one.leaves.len() {
            return Err("one of its leaves stands twice");
        }
        if !matches!(one.subject, StateSubject::Conversation(_)) {
            return Ok(());
        }
        let (mut last, mut missing) = (None, false);
        for message in &self.messages {
            match places.get(message) {
                None => missing = true,
                Some(_) if missing => {
                    return Err("a message of the task is missing before one that is a leaf");
                }
                Some(place) if last >= Some(place) => {
                    return Err("its leaves are not in the order of the task's messages");
                }
                Some(place) => last = Some(place),
            }
        }
        Ok(())
    }

    /// An event of this bundle that may be a leaf of a root.
    pub(super) fn may_be_leaf(&mut self, event_type: &str, leaf: Digest) {
        if crate::state::is_leaf(event_type) {
            self.leaves.insert(leaf);
        }
        if crate::state::is_message(event_type) {
            self.messages.push(leaf);
        }
    }
}

impl Rooted {
    /// What is proven by it.
    pub(super) fn in_words(&self) -> String {
        let (messages, records) = (plural(self.size, "message"), plural(self.size, "record"));
        let here = match self.here {
            1 => "1 of them is an event of this bundle".to_owned(),
            many => format!("{many} of them are events of this bundle"),
        };
        match self.subject {
            StateSubject::Conversation(id) => {
                format!(
                    "the log key signed a root over the {messages} of {id}, whose hashes are here: {here}"
                )
            }
            StateSubject::Memory(Some(project)) => format!(
                "the log key signed a root over the {records} of memory in force in project {project}, whose hashes are here: {here}"
            ),
            StateSubject::Memory(None) => format!(
                "the log key signed a root over the {records} of memory in force in every project, whose hashes are here: {here}"
            ),
        }
    }
}

fn plural(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
