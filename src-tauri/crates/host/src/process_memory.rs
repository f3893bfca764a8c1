//! The memory of a process that opens keys: no other program of the same person reads it, and no crash writes it down.

/// Closes this process to debuggers and core dumps; called first of all. Programs that it starts are not closed.
/// What cannot be had is said in the log: nothing else depends on it.
pub fn keep_private() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        if let Err(error) = setrlimit(Resource::Core, none) {
            tracing::warn!(%error, "a crash could write this process's memory to a file");
        }
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "other programs of this person could read this process's memory");
        }
    }
    #[cfg(not(target_os = "linux"))]
    tracing::warn!(
        "other programs of this person could read this process's memory: this system is not asked to hinder it yet"
    );
}
