//! Sessions that a client names: a conversation of this store under a name of the client's own.

use crate::Error;
use crate::kernel::Kernel;
use crate::sender::Sender;
use model::body::ConversationOpened;
use model::fault::Point;
use model::ingress::Channel;
use model::{Body, ConversationId, Event, Sensitive, TaskId};

impl Kernel {
    /// The conversation that a client calls so, opened when it is not there yet. Its name is kept in the log as the key
    /// of its opening, so that no crash and no second request makes two of it.
    ///
    /// # Errors
    /// As [`Kernel::open_conversation`].
    pub fn open_named_conversation(&self, name: &str) -> Result<ConversationId, Error> {
        if let Some(known) = self.named_conversation(name)? {
            return Ok(known);
        }
        let title = name.trim();
        if title.is_empty() {
            return Err(Error::Input("a conversation needs a name".to_owned()));
        }
        let (clock, entropy) = (&*self.ports.clock, &*self.ports.entropy);
        let conversation_id = ConversationId::fresh(clock, entropy);
        let actor = self.principal_of(Sender::from(Channel::RunApi))?;
        let mut w = self.store_writeup(Point::IngressBind, actor, conversation_id.to_string(), None)?;
        let inbox_task_id = TaskId::fresh(clock, entropy);
        let title = Sensitive::from(title.to_owned());
        w.push_keyed(
            Some(session_key(name)),
            ConversationOpened { conversation_id, inbox_task_id, title, workspace_id: None },
        );
        match self.commit(w) {
            Ok(_) => Ok(conversation_id),
            Err(Error::Ledger(ledger::Error::Duplicate { .. })) => {
                let known = self.named_conversation(name)?;
                known.ok_or_else(|| Error::Broken("a session just opened is missing".to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    /// The conversation that a client calls so.
    ///
    /// # Errors
    /// What the store says.
    pub fn named_conversation(&self, name: &str) -> Result<Option<ConversationId>, Error> {
        let Some(stored) = self.reader.by_idempotency_key(&session_key(name))? else { return Ok(None) };
        match self.body_of(&Event::from_bytes(&stored.bytes)?)? {
            Body::ConversationOpened(opened) => Ok(Some(opened.conversation_id)),
            _ => Ok(None),
        }
    }

    /// The name that a client gave a conversation.
    ///
    /// # Errors
    /// What the store says.
    pub fn name_of_conversation(&self, id: ConversationId) -> Result<Option<String>, Error> {
        let row = self.query()?.conversation(id).map_err(|e| Error::Broken(e.to_string()))?;
        let title = row.and_then(|row| row.title.shown().cloned());
        let Some(title) = title else { return Ok(None) };
        Ok((self.named_conversation(&title)? == Some(id)).then_some(title))
    }
}

fn session_key(name: &str) -> String {
    format!("session:{}", name.trim())
}
