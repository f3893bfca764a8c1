//! The events of hooks, which stand behind the others in the registry (schedule.md 1). They are in the stream of the slots of the
//! schedule that waits for the hook.

/// Hands a list of bodies on to a macro, with these behind it.
macro_rules! with_hooks {
    ($then:ident $($before:tt)*) => { $then! {
        $($before)*

        /// The hook that a schedule waits for was called, by whoever has its secret. `delivery`: SHA-256 of what makes it this call
        /// and no other; it is answered once. `calls`: how many there were, with this one.
        ScheduleCalled ("schedule.called", 1, Schedule, |b| b.name) {
            name: String, version: u32, hook: String, delivery: Digest, content: ArtifactRef, calls: u64, called_at: UnixMs,
        }
        /// Calls of the hook that a schedule waits for were refused, the newest for this reason; on record once an hour at most.
        /// `calls`: how many since that was on record before. `refused`: how many there were, with these.
        ScheduleCallsRefused ("schedule.calls_refused", 1, Schedule, |b| b.name) {
            name: String, version: u32, hook: String, why: CallRefused, calls: u64, refused: u64,
        }
    } };
}
