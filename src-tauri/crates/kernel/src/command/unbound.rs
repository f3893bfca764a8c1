//! Goals that were recorded and are no task yet, because a crash came between.

use super::submit::{OUTRIGHT, Submission};
use crate::Error;
use crate::kernel::Kernel;
use model::ingress::IngressRecord;
use model::{Body, Event, IngressId, TaskId};
use std::collections::BTreeMap;

impl Kernel {
    /// Messages that were recorded and never bound: a crash came between. They are bound now, from their own words, in every
    /// conversation.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn bind_unbound(&self) -> Result<Vec<TaskId>, Error> {
        let inboxes: Vec<TaskId> = self
            .store_state()
            .conversations
            .into_iter()
            .map(|conversation| conversation.inbox_task_id)
            .collect();
        let mut bound = Vec::new();
        for inbox in inboxes {
            bound.extend(self.bind_unbound_in(inbox)?);
        }
        Ok(bound)
    }

    fn bind_unbound_in(&self, inbox: TaskId) -> Result<Vec<TaskId>, Error> {
        let mut open: BTreeMap<IngressId, IngressRecord> = BTreeMap::new();
        let mut after = 0;
        loop {
            let page = self.reader.events(inbox, after, 1_000)?;
            let Some(last) = page.last() else { break };
            after = last.task_seq;
            for stored in &page {
                match self.body_of(&Event::from_bytes(&stored.bytes)?)? {
                    Body::IngressReceived(b) => drop(open.insert(b.record.ingress_id, b.record)),
                    Body::IngressBound(b) => drop(open.remove(&b.ingress_id)),
                    _ => {}
                }
            }
        }
        let mut bound = Vec::new();
        for (ingress_id, record) in open {
            if let Some(submission) = self.stored_submission(&record)? {
                bound.push(self.bind(&submission, ingress_id, OUTRIGHT, Vec::new())?);
            }
        }
        Ok(bound)
    }

    /// The submission that a message is; none when it is another message, or its content is gone.
    pub(super) fn stored_submission(&self, record: &IngressRecord) -> Result<Option<Submission>, Error> {
        let Some(message) = record.referenced_artifact_refs.first() else { return Ok(None) };
        let row = self.query()?.artifact(*message).map_err(|e| Error::Broken(e.to_string()))?;
        let stored = row.map(|row| self.artifacts.read(&row.content_hash));
        Ok(stored.and_then(Result::ok).and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }
}
