//! Words for the machines of one person, and for how what they say to each other stands.

crate::names! {
    /// How far a message to another machine came. None of them says more than was observed.
    pub enum DeliveryState ("state of a delivery") {
        /// It waits here.
        Queued = "queued",
        /// A relay said that it has it.
        Accepted = "accepted",
        /// The other machine said that it opened it.
        Opened = "opened",
        /// It will not come.
        Never = "never",
    }
}

crate::names! {
    /// Why a message will never come.
    pub enum NeverReason ("reason why a message never comes") {
        /// It waited too long.
        Expired = "expired",
        /// The other machine was withdrawn.
        Withdrawn = "withdrawn",
        /// It went another way: its conversation has another owner.
        Rerouted = "rerouted",
        /// It came, and the other machine could not use it.
        Refused = "refused",
    }
}

crate::names! {
    /// How a pairing of two machines stands.
    pub enum MeshPairingState ("state of a pairing of machines") {
        /// None was begun since this host started.
        None = "none",
        /// A code is shown, or was typed, and the other machine is waited for.
        Waiting = "waiting",
        /// Both know each other.
        Paired = "paired",
        /// The code was another one: at the machine that shows it, three times.
        WrongCode = "wrong_code",
        /// The code was right, and one of both machines did not pair.
        Refused = "refused",
        /// The code is too old.
        Expired = "expired",
    }
}

crate::names! {
    /// Something about a machine of the mesh that a person has to know.
    pub enum MeshAlert ("alert of the mesh") {
        /// The log of a machine went back, or says two things.
        RolledBack = "rolled_back",
        /// A machine told two things under one number: it was put back to an earlier state, or lies.
        Forked = "forked",
        /// This machine was put back to an earlier state.
        PutBack = "put_back",
        /// Messages that came before this machine was put back are not to be had any more.
        LettersMissed = "letters_missed",
        /// This machine was away for longer than notices are kept.
        NoticesMissed = "notices_missed",
        /// Another machine owns a conversation that this one wrote to: what it wrote is kept aside.
        Displaced = "displaced",
        /// A run that began here is counted for another machine.
        NotCounted = "not_counted",
        /// A machine hands over more conversations than are taken of it.
        HandOvers = "hand_overs",
    }
}
