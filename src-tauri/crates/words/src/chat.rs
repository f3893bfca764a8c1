//! Words of gateways, and of the chat services behind them (schedule.md 2).

crate::names! {
    /// A chat service that a gateway speaks to.
    pub enum Service ("chat service") {
        /// Telegram, as a bot.
        Telegram = "telegram",
        /// Matrix, as a user of a server.
        Matrix = "matrix",
        /// Mail, over IMAP and SMTP.
        Mail = "mail",
        /// Slack, as an app.
        Slack = "slack",
        /// Discord, as a bot.
        Discord = "discord",
        /// Nostr, by private messages at relays.
        Nostr = "nostr",
        /// A program of the person's own, by signed calls.
        Webhook = "webhook",
    }
}

impl Service {
    /// Whether the words of a message that was sent can be changed there.
    pub const fn can_edit(self) -> bool {
        matches!(self, Self::Telegram | Self::Matrix | Self::Slack | Self::Discord)
    }

    /// Whether a message has buttons there.
    pub const fn has_buttons(self) -> bool {
        matches!(self, Self::Telegram | Self::Slack | Self::Discord)
    }

    /// Whether a message goes with a file there; where none does, a long text goes in parts.
    pub const fn takes_files(self) -> bool {
        matches!(self, Self::Telegram | Self::Matrix | Self::Mail | Self::Slack | Self::Discord)
    }
}

crate::names! {
    /// How a gateway stands.
    pub enum GatewayState ("state of a gateway") {
        /// It is listened to, and sends.
        Active = "active",
        /// It neither listens nor sends until a person resumes it.
        Paused = "paused",
        /// It is removed.
        Removed = "removed",
    }
}

crate::names! {
    /// What a sender who is paired may do.
    pub enum SenderProfile ("profile of a sender") {
        /// Give goals: tasks of theirs have the gateway's policy profile.
        Goals = "goals",
        /// Only ask: tasks of theirs look at files and change nothing.
        Ask = "ask",
    }
}

crate::names! {
    /// Why a message was refused.
    pub enum MessageRefusal ("reason why a message was refused") {
        /// It is none that can be read.
        Unreadable = "unreadable",
        /// It is larger than a message may be.
        TooLarge = "too_large",
        /// It was made by another node, or for another conversation.
        Elsewhere = "elsewhere",
        /// Nobody who may sign it has signed it.
        Unsigned = "unsigned",
        /// It is older than what is still acted upon, or comes from the future.
        Stale = "stale",
        /// It came before.
        Repeated = "repeated",
        /// It is not the next one of its chat.
        OutOfOrder = "out_of_order",
        /// Nobody paired its sender.
        NotPaired = "not_paired",
        /// It is a code of nobody, or one whose time is up.
        WrongCode = "wrong_code",
        /// Its sender is not heard for a while.
        Silenced = "silenced",
        /// The button it presses is not of this sender and chat, or was used.
        WrongButton = "wrong_button",
        /// Its gateway is paused or removed.
        NotActive = "not_active",
    }
}

crate::names! {
    /// What a message that came in is.
    pub enum MessageUse ("use of a message") {
        /// Words: a goal, or input of a task.
        Words = "words",
        /// It pairs its sender.
        Pairing = "pairing",
        /// It asks how tasks stand.
        Status = "status",
        /// It stops a task.
        Stop = "stop",
        /// It denies an approval.
        Deny = "deny",
        /// It could not be used; its sender is told why.
        Unusable = "unusable",
    }
}

crate::names! {
    /// What a message that goes out tells.
    pub enum MessageAbout ("subject of a message") {
        /// How a task ended.
        Outcome = "outcome",
        /// What a task asks.
        Question = "question",
        /// That an approval waits for a person.
        Approval = "approval",
        /// What became of a message.
        Reply = "reply",
        /// How a task stands by now, in one message that is changed as it goes on.
        State = "state",
    }
}

crate::names! {
    /// How a message that goes out stands.
    pub enum MessageState ("state of a message") {
        /// It waits to be sent.
        Queued = "queued",
        /// It is being sent, or a person is asked whether it may be.
        Sending = "sending",
        /// It was sent.
        Sent = "sent",
        /// It may have been sent: nobody saw how that ended.
        Unknown = "unknown",
        /// It was not sent, and is not tried again.
        Unsent = "unsent",
    }
}
