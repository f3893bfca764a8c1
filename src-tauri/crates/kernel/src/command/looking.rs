//! Which schedules are looked at now, and when one is next (schedule.md 1). What is looked at, and what becomes of it, stands in
//! [`super::triggers`].

use super::triggers::{RETRY_MS, is_ahead};
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::schedule_registry::{ScheduleRecord, ScheduleRegistry};
use model::schedule::Trigger;
use model::{TaskId, UnixMs};

/// Schedules whose looks wait for each other, and for no others: a server that does not answer holds up no look at a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// Those that wait for a resource of a server of tools.
    Servers,
    /// Those that ask relays.
    Relays,
    /// All others.
    Others,
}

impl Kernel {
    /// When a schedule is to be looked at first.
    pub fn next_look(&self) -> Option<UnixMs> {
        let all = [Among::Others, Among::Servers, Among::Relays];
        all.into_iter().filter_map(|among| self.next_look_among(among)).min()
    }

    /// When one of these is.
    pub fn next_look_among(&self, among: Among) -> Option<UnixMs> {
        let (now, registry) = (self.ports.clock.now(), self.schedule_registry());
        let waits = self.looked_at(&registry, among);
        let looks = lock(&self.looks);
        let due = waits.into_iter().filter_map(|one| match looks.due.get(&one.name) {
            Some(due) => due.map(|at| if is_ahead(at, now) { now } else { at }),
            None => Some(now),
        });
        due.min()
    }

    /// Looks at each schedule whose look is due. A change that one waits for is a slot that fires, or is passed over with its
    /// reason; [`Kernel::fire_due`] makes the tasks. The older tasks that are ended in their favour are to be driven.
    ///
    /// # Errors
    /// [`Error::Halted`] while nothing may begin.
    pub fn look_due(&self) -> Result<Vec<TaskId>, Error> {
        let mut to_drive = self.look_due_among(Among::Others)?;
        to_drive.extend(self.look_due_among(Among::Servers)?);
        to_drive.extend(self.look_due_among(Among::Relays)?);
        Ok(to_drive)
    }

    /// The same of these alone.
    ///
    /// # Errors
    /// As [`Kernel::look_due`].
    pub fn look_due_among(&self, among: Among) -> Result<Vec<TaskId>, Error> {
        if self.halted().is_some() {
            return Err(Error::Halted);
        }
        let (now, mut to_drive) = (self.ports.clock.now(), Vec::new());
        let registry = self.schedule_registry();
        for ScheduleRecord { name, .. } in self.looked_at(&registry, among) {
            if self.is_ending_looks() {
                break;
            }
            let is_due = match lock(&self.looks).due.get(name) {
                Some(due) => due.is_some_and(|at| at <= now || is_ahead(at, now)),
                None => true,
            };
            if !is_due {
                continue;
            }
            // What is noticed from here on wants another look.
            lock(&self.looks).due.insert(name.clone(), None);
            let next = match self.look_at(name, now) {
                Ok((next, tasks)) => {
                    to_drive.extend(tasks);
                    next
                }
                Err(error) => {
                    if !self.is_ending_looks() {
                        tracing::warn!(schedule = name, %error, "what a schedule waits for could not be looked at");
                    }
                    now.plus_ms(RETRY_MS)
                }
            };
            self.want_look(name, next);
        }
        Ok(to_drive)
    }

    /// Looks at nothing any more, and leaves off where a server is being asked. There is no way back in this process.
    pub fn end_looks(&self) {
        lock(&self.looks).is_ending = true;
    }

    pub(super) fn is_ending_looks(&self) -> bool {
        lock(&self.looks).is_ending
    }

    fn looked_at<'r>(&self, registry: &'r ScheduleRegistry, among: Among) -> Vec<&'r ScheduleRecord> {
        let of = |one: &ScheduleRecord| match self.trigger_of(one) {
            Ok(Some(Trigger::Resource { .. })) => Among::Servers,
            Ok(Some(Trigger::Events { .. })) => Among::Relays,
            _ => Among::Others,
        };
        let is_one = |one: &&ScheduleRecord| one.is_looked_at() && of(one) == among;
        registry.0.values().filter(is_one).collect()
    }
}
