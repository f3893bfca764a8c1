//! The events of schedules, which stand behind the others in the registry (schedule.md 1).
//!
//! What a person decides stands in the store's own stream; what becomes of slots stands in a stream of each schedule, which
//! `schedule.kept` names, so that nobody else has to read it.

/// Hands a list of bodies on to a macro, with these behind it.
macro_rules! with_schedules {
    ($then:ident $($before:tt)*) => { $then! {
        $($before)*

        /// A person said yes to a schedule, in this version: when a task is begun by itself, and what it does. Slots after
        /// `settled` count, in the `span` that begins here.
        ScheduleKept ("schedule.kept", 1, Schedule, |b| b.name) {
            name: String, version: u32, when: When, schedule: ArtifactRef, action_request_id: ActionRequestId, kept_at: UnixMs,
            slots_task_id: TaskId, span: u32, settled: UnixMs,
        }
        /// A schedule is paused: by a person, or by itself after runs that failed.
        SchedulePaused ("schedule.paused", 1, Schedule, |b| b.name) { name: String, by_itself: bool, reason: Text }
        /// A person resumed a schedule. Slots after `settled` count, in the `span` that begins here.
        ScheduleResumed ("schedule.resumed", 1, Schedule, |b| b.name) { name: String, resumed_at: UnixMs, span: u32, settled: UnixMs }
        /// A schedule is removed.
        ScheduleRemoved ("schedule.removed", 1, Schedule, |b| b.name) { name: String, reason: Text }
        /// What became of each slot of a schedule that came due after `since` and until `until`: each slot stands in exactly one
        /// of these events. `passed_over`: how many were, with these. `seen`: of one that waits for no time, what a look at it saw
        /// where that is another than before; a slot is the instant of the look that saw its change.
        ScheduleSettled ("schedule.settled", 1, Schedule, |b| b.name) {
            name: String, version: u32, span: u32, since: UnixMs, until: UnixMs, settled: Vec<Settled>, passed_over: u64;
            since seen: Seen
        }
        /// The task of a slot that fired. `runs`: how many there were, with this one.
        ScheduleFired ("schedule.fired", 1, Schedule, |b| b.name) {
            name: String, version: u32, span: u32, slot_at: UnixMs, about_task_id: TaskId, runs: u64,
        }
        /// A slot that was to fire and does not after all. `passed_over`: how many were, with this one.
        ScheduleNotBegun ("schedule.not_begun", 1, Schedule, |b| b.name) {
            name: String, version: u32, slot_at: UnixMs, why: PassedOver, passed_over: u64,
        }
    } };
}
