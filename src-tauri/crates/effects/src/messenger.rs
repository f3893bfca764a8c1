//! The way to chat services, which is lent: this room knows no protocol of theirs.

use acts::Message;

/// A message that a service took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// The service's own id of it.
    pub message_id: String,
    /// Whether the service knows a repeat by its key, so that none is shown twice.
    pub is_repeat_safe: bool,
}

/// Why a message was not delivered, as far as anybody knows, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undelivered {
    /// It was not sent.
    NotSent(String),
    /// It may have been sent.
    Unknown(String),
}

/// Speaks with chat services.
pub trait Messenger: Send + Sync {
    /// Sends a message, with a file where it has one.
    ///
    /// # Errors
    /// [`Undelivered`].
    fn send(&self, message: &Message, file: Option<Vec<u8>>) -> Result<Delivered, Undelivered>;
}

/// No way to any chat service.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMessenger;

impl Messenger for NoMessenger {
    fn send(&self, _: &Message, _: Option<Vec<u8>>) -> Result<Delivered, Undelivered> {
        Err(Undelivered::NotSent("this process speaks with no chat service".to_owned()))
    }
}
