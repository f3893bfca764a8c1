//! Words for what a small model is taught: what finished work is not learned from, and how a run stands.

crate::names! {
    /// Why a turn of a task is not learned from.
    pub enum LeftOutReason ("reason to leave work out of a dataset") {
        /// Its task did not complete.
        Unfinished = "unfinished",
        /// A person took back what came of it.
        Undone = "undone",
        /// Policy or a person said no to what it asked for.
        Denied = "denied",
        /// What it asked for did not come about, or the answer was none that could be used.
        Failed = "failed",
        /// No receipt says what came of it.
        Unreceipted = "unreceipted",
        /// The model was shown something that nobody vouches for.
        Tainted = "tainted",
        /// It shows a secret, or had one taken out.
        Secret = "secret",
        /// Its folder is marked private.
        Private = "private",
        /// It was recalled.
        Recalled = "recalled",
        /// What was sent or answered is not kept any more.
        Unkept = "unkept",
        /// It is no text alone, or not in a form that is known.
        Unreadable = "unreadable",
        /// It is longer than an example may be.
        Unfit = "unfit",
        /// An earlier one shows and answers the same.
        Duplicate = "duplicate",
        /// An earlier one is nearly the same.
        NearDuplicate = "near_duplicate",
        /// It is not of a project that is held out, and as late as what is.
        Late = "late",
    }
}

crate::names! {
    /// How a run of training stands.
    pub enum TrainingState ("state of a run of training") {
        /// The program reads the model.
        Loading = "loading",
        /// It does steps.
        Learning = "learning",
        /// A person paused it.
        Paused = "paused",
        /// It waits until the machine is on mains power, or nobody is at it.
        Waiting = "waiting",
        /// What it learned is measured.
        Proving = "proving",
        /// A model is written.
        Exporting = "exporting",
        /// It ended before its end; it can be gone on with.
        Stopped = "stopped",
        /// It came to its end.
        Done = "done",
        /// It broke off.
        Failed = "failed",
    }
}
