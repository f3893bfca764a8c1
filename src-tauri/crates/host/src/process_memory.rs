//! The memory of a process that opens keys: no other program of the same person reads it, and no crash writes it down.

/// Closes this process to debuggers and core dumps; called first of all. Programs that it starts are not closed.
/// What cannot be had is said in the log: nothing else depends on it.
pub fn keep_private() {
    close();
    #[cfg(windows)]
    {
        let closed = win32::user().and_then(|user| win32::close_memory(&user));
        if let Err(error) = closed {
            tracing::warn!(%error, "other programs of this person could read this process's memory");
        }
        if let Err(error) = win32::refuse_foreign_code() {
            tracing::warn!(%error, "other programs of this person could hand libraries to this process");
        }
    }
}

/// The same for a program that shows pages in a window. On Windows programs of the system that show them may have to open this
/// process, so nothing is closed there, and the log says so.
pub fn keep_private_with_pages() {
    close();
    #[cfg(windows)]
    tracing::warn!(
        "other programs of this person could read this process's memory: those that show its pages may have to open it"
    );
}

/// What is the same for both.
fn close() {
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
    #[cfg(not(any(target_os = "linux", windows)))]
    tracing::warn!(
        "other programs of this person could read this process's memory: this system is not asked to hinder it yet"
    );
}
