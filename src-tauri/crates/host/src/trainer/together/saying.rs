//! What is said to the others: to each no more than it takes.

use super::{LOOK, Rounds, UNBELIEVED};
use mesh::{Command, NodeId};
use std::time::{Duration, Instant};
use training::outer::{Parcel, ParcelHead, Sent};
use wire::Code;

/// For how long it is waited for a machine to be heard that something is to be said to: both may have begun just now.
const HEARD_WITHIN: Duration = Duration::from_secs(30);
/// How often one machine is told at most what it lacks, and about how many bytes at once: it asks again for what follows.
const CATCHES_UP_EVERY: Duration = Duration::from_secs(60);
const CATCHES_UP_BYTES: u64 = 32 * 1024 * 1024;

impl Rounds<'_> {
    /// Tells a machine what it lacks that has what was counted before a round; whether that is over with. One that asks again and again
    /// waits, so that nobody fills what is on its way to it.
    pub(super) fn catches_up(&mut self, node: NodeId, from: u32) -> Result<bool, String> {
        let past: Vec<(u32, Vec<Sent>)> =
            self.circle.course().since(from).map(|(round, all)| (round, all.to_vec())).collect();
        if past.is_empty() {
            return Ok(true);
        }
        if self.caught_up.get(&node).is_some_and(|at| at.elapsed() < CATCHES_UP_EVERY) {
            return Ok(false);
        }
        self.caught_up.insert(node, Instant::now());
        let before = self.circle.course().sent_bytes;
        for (round, all) in past {
            if self.circle.course().sent_bytes.saturating_sub(before) >= CATCHES_UP_BYTES {
                break;
            }
            self.tell(node, round, &all)?;
        }
        self.circle.keep()?;
        Ok(true)
    }

    /// Tells a machine what is counted in a round, with the messages of the others, while it takes part.
    pub(super) fn tell(&mut self, node: NodeId, round: u32, all: &[Sent]) -> Result<(), String> {
        let id = self.of.id;
        for sent in all {
            if !self.circle.here().contains(&node) {
                return Ok(());
            }
            let body = self.circle.message(&sent.sha256);
            let body = body.ok_or_else(|| "a message that was counted is not here any more".to_owned())?;
            self.send(node, &Parcel { head: ParcelHead::Sent { id, round, sent: *sent }, body })?;
        }
        if !self.circle.here().contains(&node) {
            return Ok(());
        }
        self.send(node, &Parcel::of(ParcelHead::Counted { id, round, all: all.to_vec() }))
    }

    pub(super) fn is_peer(&self, node: NodeId) -> bool {
        self.work.with.kernel.mesh_registry().state().is_some_and(|state| state.is_peer(node))
    }

    /// Says something to a machine. To one that is not believed any more nothing is said; one that takes nothing more takes no part for
    /// now, where this one leads: it asks again, and is told then what it lacks.
    pub(super) fn send(&mut self, to: NodeId, parcel: &Parcel) -> Result<(), String> {
        let content = parcel.to_bytes().map_err(|error| error.to_string())?;
        let work = self.work;
        let with = &work.with;
        if !self.is_peer(to) {
            self.circle.here_mut().remove(&to);
            return if self.is_lead() { Ok(()) } else { Err(UNBELIEVED.to_owned()) };
        }
        let mesh = with.mesh.as_ref().ok_or_else(|| "the mesh is off on this machine".to_owned())?;
        let length = content.len();
        let begun = Instant::now();
        let mut came = mesh.say(vec![Command::Training { to, content: content.clone() }]);
        while came.as_ref().is_err_and(|error| error.code == Code::Unavailable)
            && begun.elapsed() < HEARD_WITHIN
            && !self.is_stopped()
        {
            std::thread::sleep(LOOK);
            came = mesh.say(vec![Command::Training { to, content: content.clone() }]);
        }
        if let Err(error) = came {
            let is_asked = !matches!(parcel.head, ParcelHead::Invited { .. });
            if self.is_lead() && is_asked && matches!(error.code, Code::Conflict | Code::Unavailable) {
                tracing::warn!(machine = %self.name(to), why = error.message, "the rounds go on without it");
                self.circle.here_mut().remove(&to);
                return Ok(());
            }
            let run = &work.plan.run_id;
            return Err(format!("{}; continue with `hermit train run --resume {run}`", error.message));
        }
        let message = matches!(parcel.head, ParcelHead::Sent { .. }).then_some(parcel.body.as_slice());
        self.circle.course_mut().is_sending(length, message);
        Ok(())
    }
}
