//! Words of schedules (schedule.md 1).

crate::names! {
    /// How a schedule stands.
    pub enum ScheduleState ("state of a schedule") {
        /// Its slots fire.
        Active = "active",
        /// Its slots pass until a person resumes it.
        Paused = "paused",
        /// Its time has come, and there is no further slot.
        Over = "over",
        /// It is removed.
        Removed = "removed",
    }
}

crate::names! {
    /// What became of a slot.
    pub enum SlotState ("state of a slot") {
        /// It is still to come, or it came due and nothing has looked since.
        Due = "due",
        /// It fires, and its task is not made yet.
        Waiting = "waiting",
        /// Its task was made.
        Fired = "fired",
        /// It does not fire.
        PassedOver = "passed_over",
    }
}

crate::names! {
    /// Why slots were passed over.
    pub enum PassedOver ("reason why slots were passed over") {
        /// They were missed: nothing was there to see them in time, and missed ones are not caught up with.
        Missed = "missed",
        /// A newer one of those that were missed was taken.
        Newer = "newer",
        /// They were seen later than the schedule allows.
        TooLate = "too_late",
        /// The run before was still at work.
        StillRunning = "still_running",
        /// Too many runs wait for a person.
        TooManyWait = "too_many_wait",
        /// The schedule was paused.
        Paused = "paused",
        /// The schedule was changed or removed before they could begin.
        Changed = "changed",
        /// The folder to work in was not there.
        FolderMissing = "folder_missing",
        /// Their task could not begin.
        NotBegun = "not_begun",
        /// They had fired before, by a clock that was set back since.
        FiredBefore = "fired_before",
        /// As many runs as the schedule allows had begun within the hour.
        TooOften = "too_often",
        /// What its runs may use in a day was used.
        DaySpent = "day_spent",
        /// They came due outside the hours in which its runs may begin.
        OutsideHours = "outside_hours",
        /// This machine ran on its battery.
        OnBattery = "on_battery",
        /// There was no network.
        NoNetwork = "no_network",
        /// The battery of this machine was low.
        BatteryLow = "battery_low",
        /// Somebody was at the computer.
        InUse = "in_use",
        /// The network was metered.
        Metered = "metered",
        /// Another machine held the schedule: it ran them, or settled them itself.
        Elsewhere = "elsewhere",
    }
}

impl PassedOver {
    /// Whether a condition that a person set did not hold, which may pass.
    pub const fn is_of_a_condition(self) -> bool {
        matches!(self, Self::OnBattery | Self::NoNetwork | Self::BatteryLow | Self::InUse | Self::Metered)
    }
}

crate::names! {
    /// What must be so for a run to begin.
    pub enum Condition ("condition") {
        /// This machine is on mains power.
        Mains = "mains",
        /// There is a network.
        Network = "network",
        /// Nobody is at the computer.
        Idle = "idle",
        /// The network is not metered.
        Unmetered = "unmetered",
    }
}

crate::names! {
    /// What becomes of a slot that comes due while a run before it is not over.
    pub enum Overlap ("way with runs that overlap") {
        /// It is passed over while that run is at work.
        Skip = "skip",
        /// It begins when that run rests; one slot waits so, the newest.
        Queue = "queue",
        /// That run is ended, also where it waits for a person, and this one begins.
        EndOlder = "end_older",
    }
}

crate::names! {
    /// What a zone's clock does to a slot when it is put forward or back.
    pub enum Shift ("shift of a slot") {
        /// There is no such time on that day: it is due at the next instant there is.
        LeftOut = "left_out",
        /// There are two such times on that day: it is due at the first.
        Twice = "twice",
    }
}

crate::names! {
    /// What becomes of slots that were missed.
    pub enum CatchUpKind ("way of catching up") {
        /// They are passed over.
        Skip = "skip",
        /// The newest fires.
        Newest = "newest",
        /// The newest of them fire, up to a number, the oldest first.
        Newer = "newer",
    }
}

crate::names! {
    /// What kind of thing a schedule waits for that is no time.
    pub enum TriggerKind ("kind of trigger") {
        /// Changes of files in its folder.
        Files = "files",
        /// A ref of the folder's repository is somewhere else.
        Ref = "ref",
        /// A run of another schedule, or a task, has ended.
        After = "after",
        /// A hook is called: a program sends a signed request.
        Hook = "hook",
        /// A resource of a server of tools reads otherwise than it did.
        Resource = "resource",
        /// An event of Nostr comes to a relay.
        Events = "events",
        /// Something of another machine of the mesh.
        Machine = "machine",
    }
}

crate::names! {
    /// What of another machine a schedule waits for.
    pub enum MachineEvent ("event of a machine") {
        /// Nobody has heard of it for a while.
        Silent = "silent",
        /// It sent a message here.
        Message = "message",
        /// It told a receipt that it did not tell before.
        Receipt = "receipt",
    }
}

crate::names! {
    /// Which changes of files a schedule waits for.
    pub enum FileChanges ("choice of changes of files") {
        /// A file is there that was not: made, or moved there from elsewhere.
        Landed = "landed",
        /// That, and a file that was written or moved within the folder.
        Changed = "changed",
        /// That, and a file that is gone.
        Any = "any",
    }
}

crate::names! {
    /// What became of a file.
    pub enum FileChange ("change of a file") {
        /// It is there, and was not.
        Landed = "landed",
        /// It was written.
        Written = "written",
        /// It is the same, at another place of the folder.
        Moved = "moved",
        /// It is gone.
        Gone = "gone",
    }
}

crate::names! {
    /// How a run ends that a schedule waits for.
    pub enum RunEnd ("end of a run") {
        /// Its work was done.
        Done = "done",
        /// It failed, or its time was up.
        Failed = "failed",
        /// However it ends.
        Either = "either",
    }
}

crate::names! {
    /// Why what a schedule waits for cannot be seen.
    pub enum Unseen ("reason why something cannot be seen") {
        /// The folder is not there.
        FolderMissing = "folder_missing",
        /// There are more files than a schedule may wait for.
        TooManyFiles = "too_many_files",
        /// There is no repository whose refs can be read.
        NoRepository = "no_repository",
        /// The schedule that it waits for was removed.
        ScheduleMissing = "schedule_missing",
        /// The server of tools is not there as it was registered, or does not answer.
        ServerMissing = "server_missing",
        /// No relay that is asked answers.
        RelayMissing = "relay_missing",
        /// The machine is not paired, or the mesh does not run here.
        MachineMissing = "machine_missing",
        /// Something else stands in the way.
        Unreadable = "unreadable",
    }
}

crate::names! {
    /// Why a call of a hook was refused.
    pub enum CallRefused ("reason why a call was refused") {
        /// It is not signed with the secret of the hook, or not as a call is.
        Signature = "signature",
        /// It was signed earlier or later than it may be.
        Time = "time",
        /// Its body is larger than a call may be.
        TooLarge = "too_large",
        /// More calls came within a minute, or wait for a run, than may.
        TooMany = "too_many",
    }
}
