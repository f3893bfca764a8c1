//! Words for chat services.

crate::names! {
    /// A chat service that messages come through.
    pub enum Service ("chat service") {
        /// Telegram, through its Bot API.
        Telegram = "telegram",
        /// Matrix, as a client of a homeserver.
        Matrix = "matrix",
        /// Mail: IMAP and SMTP.
        Mail = "mail",
        /// Slack, in Socket Mode.
        Slack = "slack",
        /// Discord, through its gateway.
        Discord = "discord",
    }
}
