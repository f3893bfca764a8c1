//! Going on with what can: when a person or a program asks, and when something is due.

use super::Local;
use super::mesh::MeshSeat;
use crate::adoptions::Adoptions;
use crate::anchoring::Anchoring;
use crate::chat_threads::ChatThreads;
use crate::clock::{Bell, Due, Timer};
use crate::clones::Clones;
use crate::compactor::Compactor;
use crate::embeddings::VectorThread;
use crate::executors::LocalExecutors;
use crate::historian::Historian;
use crate::notices::Notices;
use crate::relay_looks::RelayLooks;
use crate::scheduler::Scheduler;
use crate::state_roots::{self, StateRoots};
use crate::task_drivers::{Ended, TaskDrivers, Waited};
use crate::{Config, Error, Home};
use api::Stands;
use kernel::{DriveOutcome, Kernel};
use model::{TaskId, UnixMs};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The tasks of a store that this process owns.
pub(super) struct Work {
    home: Home,
    kernel: Arc<Kernel>,
    drives: Arc<TaskDrivers>,
    /// Whether tasks that ended are read for what to remember.
    reads_history: bool,
}

impl Work {
    /// Goes on with everything that can, unless a halt is in force; the tasks taken up.
    fn go_on(&self) -> Result<Vec<TaskId>, wire::Error> {
        crate::disk_reserve::hold(&self.home);
        if self.kernel.halted().is_some() {
            if let Err(error) = self.kernel.record_halt() {
                tracing::warn!(%error, "a halt is in force here, and the log cannot take it yet");
            }
            return Ok(Vec::new());
        }
        let tasks = self.kernel.resumable().map_err(api::of_kernel)?;
        tasks.iter().for_each(|task| self.drives.wake(*task));
        Ok(tasks)
    }
}

impl Due for Work {
    fn next_due(&self, after: UnixMs) -> Option<UnixMs> {
        self.kernel.next_instant(after).unwrap_or_else(|error| {
            tracing::warn!(%error, "what is due cannot be read; it is looked at again later");
            None
        })
    }

    fn take_up(&self) {
        if let Err(error) = self.go_on() {
            tracing::warn!(%error, "nothing was taken up");
        }
    }
}

/// The kernel and what drives it.
pub(super) struct Owned {
    pub(super) kernel: Arc<Kernel>,
    pub(super) drives: Arc<TaskDrivers>,
    pub(super) work: Arc<Work>,
    pub(super) bell: Bell,
    /// Takes up what is due by time, from when work is first gone on with until the store is closed.
    timer: Mutex<Option<Timer>>,
    /// Sums up what has become too long, as long as the clock goes.
    compactor: Mutex<Option<Compactor>>,
    /// Has vectors of memory made, as long.
    vectors: Mutex<Option<VectorThread>>,
    /// Listens to gateways and sends over them, as long.
    chat_threads: Mutex<Option<ChatThreads>>,
    /// Runs the mesh, as long, where it is on.
    pub(super) mesh: MeshSeat,
    /// Trials of changes that are under way.
    clones: Clones,
}

impl Owned {
    pub(super) fn new(home: &Home, kernel: Arc<Kernel>, config: &Config) -> Self {
        let bell = Bell::default();
        let drives = TaskDrivers::new(Arc::clone(&kernel), bell.clone());
        let (home, drive) = (home.clone(), Arc::clone(&drives));
        let reads_history = config.historian.unwrap_or(true);
        let work = Arc::new(Work { home, kernel: Arc::clone(&kernel), drives: drive, reads_history });
        let (timer, compactor, vectors) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (chat_threads, mesh) = (Mutex::default(), MeshSeat::default());
        let clones = Clones::new(&work.home);
        Self { kernel, drives, work, bell, timer, compactor, vectors, chat_threads, mesh, clones }
    }

    /// Takes up from now on what is due by time. A process that never goes on with anything has no clock.
    /// Contexts that become full are compacted, and vectors of memory made, beside the work, from now on.
    pub(super) fn begin_clock(
        &self,
        notices: &Arc<Notices>,
        executors: &LocalExecutors,
    ) -> Result<(), wire::Error> {
        executors.clocks().of(&self.kernel);
        executors.relays().of(&self.kernel);
        self.kernel.asks_relays_by(Arc::new(RelayLooks::new(self.work.home.clone())));
        let mut compactor = self.compactor.lock().unwrap_or_else(PoisonError::into_inner);
        if compactor.is_none() && !self.drives.is_ending() {
            let (kernel, notices) = (Arc::clone(&self.kernel), Arc::clone(notices));
            *compactor = Some(Compactor::begin(kernel, notices).map_err(Error::to_wire)?);
        }
        drop(compactor);
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        if vectors.is_none() && !self.drives.is_ending() {
            let (kernel, notices) = (Arc::clone(&self.kernel), Arc::clone(notices));
            *vectors = Some(VectorThread::begin(kernel, notices).map_err(Error::to_wire)?);
        }
        drop(vectors);
        let mut threads = self.chat_threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.is_none() && !self.drives.is_ending() {
            let (notices, chats) = (Arc::clone(notices), executors.chats());
            let begun = ChatThreads::begin(&self.kernel, &self.drives, notices, chats);
            *threads = Some(begun.map_err(Error::to_wire)?);
        }
        drop(threads);
        let mut timer = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
        if timer.is_none() && !self.drives.is_ending() {
            let (bell, clock) = (self.bell.clone(), Arc::clone(&self.kernel.ports().clock));
            *timer = Some(Timer::begin(bell, clock, self.due_by_time()).map_err(Error::to_wire)?);
        }
        Ok(())
    }

    /// What is taken up by time: tasks that wait for an instant, schedules, roots of state, anchors, and the historian, unless a person
    /// turned it off.
    fn due_by_time(&self) -> Vec<Arc<dyn Due>> {
        let roots = Arc::new(StateRoots::new(Arc::clone(&self.kernel)));
        let scheduler =
            Arc::new(Scheduler::new(Arc::clone(&self.kernel), Arc::clone(&self.drives), self.bell.clone()));
        let (home, kernel) = (self.work.home.clone(), Arc::clone(&self.kernel));
        let anchoring = Arc::new(Anchoring::new(home.clone(), Arc::clone(&kernel), Arc::clone(&self.drives)));
        let adoptions = Arc::new(Adoptions::new(home, kernel));
        let mut sources: Vec<Arc<dyn Due>> =
            vec![Arc::clone(&self.work) as _, scheduler, roots, anchoring, adoptions];
        if self.work.reads_history {
            let (kernel, drives) = (Arc::clone(&self.kernel), Arc::clone(&self.drives));
            sources.push(Arc::new(Historian::new(kernel, drives, self.bell.clone())));
        }
        sources
    }

    /// How a task stands once it is not driven any more, or after `patience`.
    pub(super) fn stands(&self, task: TaskId, patience: Duration) -> Stands {
        match self.drives.wait(task, patience) {
            Waited::AtWork => Stands::AtWork,
            Waited::Ended(Ended::Failed(error)) => Stands::Broke(error),
            Waited::Ended(Ended::Stands(standing)) => match standing {
                DriveOutcome::KeyLocked => Stands::KeyLocked,
                DriveOutcome::Halted => Stands::Halted,
                // Whoever waits finds out from the next host.
                DriveOutcome::LeftOff => Stands::AtWork,
                DriveOutcome::Waiting(_) | DriveOutcome::Ended { .. } => Stands::AtRest,
            },
            Waited::NotHere if self.kernel.halted().is_some() => Stands::Halted,
            Waited::NotHere => Stands::AtRest,
        }
    }

    pub(super) fn end_clock(&self) {
        drop(self.timer.lock().unwrap_or_else(PoisonError::into_inner).take());
        drop(self.compactor.lock().unwrap_or_else(PoisonError::into_inner).take());
        drop(self.vectors.lock().unwrap_or_else(PoisonError::into_inner).take());
        drop(self.chat_threads.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.mesh.end();
    }
}

impl Local {
    /// Trials of changes, in the process that holds the store.
    pub(super) fn trials_here(&self) -> Option<&dyn api::Trials> {
        let owned = self.owned.as_ref()?;
        owned.clones.trials(&self.home, &owned.kernel, &self.executors, self.address())
    }

    /// Goes on with everything that can, unless a halt is in force; the tasks taken up.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn go_on(&self) -> Result<Vec<TaskId>, wire::Error> {
        let owned = self.owned()?;
        self.follow_adoptions();
        self.hand_over_adopted();
        owned.begin_clock(&self.notices, &self.executors)?;
        self.begin_mesh();
        owned.work.go_on()
    }

    /// The process ends soon: work leaves off at its next durable boundary, and the next host goes on with it.
    pub fn wind_down(&self) {
        let Some(owned) = &self.owned else { return };
        owned.drives.stop();
        owned.kernel.wind_down();
    }

    /// Waits until what is at work has come to rest (whoever is in a hurry winds it down first), lets nobody attach
    /// any more, keeps the newest head outside the store, and lets go of it.
    pub fn close(&self) {
        let Some(owned) = &self.owned else { return };
        owned.clones.end_all();
        self.trainer.end();
        // Whoever is attached may have work here, and is served until that has come to rest.
        owned.drives.settle();
        self.end_control();
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(server) = server {
            if let Err(error) = owned.kernel.announce(None) {
                tracing::warn!(%error, "the address could not be withdrawn; it dies with this process");
            }
            server.stop();
            let _ = std::fs::remove_file(self.home.path(gateway::TOKEN_FILE));
        }
        owned.drives.stop();
        owned.end_clock();
        owned.drives.settle();
        self.follow_adoptions();
        state_roots::state(&owned.kernel);
        self.end_stream();
        self.end_pins();
        self.keep_pins();
        if let Err(error) = owned.kernel.close() {
            tracing::warn!(%error, "the store was not closed; the next host recovers it");
        }
    }
}
