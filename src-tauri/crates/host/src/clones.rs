//! Clones of Hermit that the process which holds a store tries changes on, where the system has walls for them.

pub use system::clone_if_asked;
pub(crate) use system::{Clones, can_be_made};

#[cfg(target_os = "linux")]
mod system {
    use crate::executors::LocalExecutors;
    use crate::successor::{CLONE_VERB, TrialThreads, UnpackOwn, run_clone, sweep_builds};
    use crate::{Home, unpack_source};
    use kernel::Kernel;
    use std::net::SocketAddr;
    use std::process::ExitCode;
    use std::sync::{Arc, OnceLock};

    pub(crate) use crate::successor::can_be_made;

    /// Trials of changes that are under way, from the first one on.
    pub(crate) struct Clones(OnceLock<TrialThreads>);

    impl Clones {
        /// None is under way yet; what builds of a process that was killed have left goes.
        pub(crate) fn new(home: &Home) -> Self {
            sweep_builds(home);
            Self(OnceLock::new())
        }

        /// Trials of changes. Clones try to reach this process at its address.
        pub(crate) fn trials(
            &self,
            home: &Home,
            kernel: &Arc<Kernel>,
            executors: &Arc<LocalExecutors>,
            address: Option<SocketAddr>,
        ) -> Option<&dyn api::Trials> {
            let unpacked: UnpackOwn = |folder| unpack_source(folder).map_err(|error| error.message);
            let trials = self.0.get_or_init(|| TrialThreads::new(home, kernel, executors, Some(unpacked)));
            if let Some(address) = address {
                trials.reached_at(address);
            }
            Some(trials)
        }

        /// Ends every trial, and lets none begin any more.
        pub(crate) fn end_all(&self) {
            if let Some(trials) = self.0.get() {
                trials.end_all();
            }
        }
    }

    /// What a process comes to that Hermit has started as a clone, in a sandbox; none for any other. No verb that a person would find.
    #[must_use]
    pub fn clone_if_asked() -> Option<ExitCode> {
        let is_asked = std::env::args_os().nth(1).is_some_and(|word| word == CLONE_VERB);
        is_asked.then(run_clone)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use crate::Home;
    use crate::executors::LocalExecutors;
    use effects::Sandbox;
    use kernel::Kernel;
    use std::net::SocketAddr;
    use std::process::ExitCode;
    use std::sync::Arc;

    /// None is tried here.
    pub(crate) struct Clones;

    impl Clones {
        pub(crate) const fn new(_: &Home) -> Self {
            Self
        }

        /// There are none.
        pub(crate) fn trials(
            &self,
            _: &Home,
            _: &Arc<Kernel>,
            _: &Arc<LocalExecutors>,
            _: Option<SocketAddr>,
        ) -> Option<&dyn api::Trials> {
            None
        }

        pub(crate) const fn end_all(&self) {}
    }

    /// A clone needs walls that are measured.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn can_be_made(_: &Sandbox) -> Result<(), String> {
        Err(disk::not_on_this_system("a trial of a change of Hermit").to_string())
    }

    /// No process is started as a clone.
    #[must_use]
    pub const fn clone_if_asked() -> Option<ExitCode> {
        None
    }
}
