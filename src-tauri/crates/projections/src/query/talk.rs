//! What was said: a line by what it tells of, and messages that something comes with.

use super::{Ask, Is, Page, Query};
use crate::Error;
use crate::rows::{IngressRow, MessageRow};
use model::ConversationId;

impl Query {
    /// The newest line of a conversation that tells of this: a message, question, approval, receipt, attempt or task.
    ///
    /// # Errors
    /// As every list.
    pub fn line(&self, ref_id: &str) -> Result<Option<MessageRow>, Error> {
        self.one("ref_id", ref_id)
    }

    /// Inbound messages of a conversation that something comes with, files and quotations, or a goal's own record; that a file was
    /// taken in is none.
    ///
    /// # Errors
    /// As every list.
    pub fn ingress_with(&self, conversation: ConversationId, ask: Ask) -> Result<Page<IngressRow>, Error> {
        let is_there = Some(Is::Holds("enclosed <> '[]' AND resolution <> 'control'"));
        self.list([Is::some("conversation_id", Some(conversation)), is_there], ask)
    }
}
