//! Goals that were recorded and are no task yet, because a crash came between.

use super::submit::{OUTRIGHT, Submission};
use crate::Error;
use crate::kernel::Kernel;
use crate::query::all;
use model::artifact::ArtifactKind;
use model::ingress::{IngressRecord, IngressStatus};
use model::{Body, ConversationId, IngressId, TaskId};
use projections::rows::ArtifactRow;
use std::collections::{BTreeMap, BTreeSet};

impl Kernel {
    /// Messages that were recorded and never bound: a crash came between. They are bound now, from their own words, in every
    /// conversation.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn bind_unbound(&self) -> Result<Vec<TaskId>, Error> {
        let query = self.query()?;
        let open = all(|ask| query.ingress_by_status(IngressStatus::Received, ask))?;
        let conversations: BTreeSet<ConversationId> = open.iter().map(|row| row.conversation_id).collect();
        let mut bound = Vec::new();
        for conversation in conversations {
            bound.extend(self.bind_unbound_in(self.inbox(Some(conversation))?.1)?);
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
                match self.body_of(&stored.event()?)? {
                    Body::IngressReceived(b) => drop(open.insert(b.record.ingress_id, b.record)),
                    Body::IngressBound(b) => drop(open.remove(&b.ingress_id)),
                    _ => {}
                }
            }
        }
        let mut bound = Vec::new();
        for (ingress_id, record) in open {
            if let Some(submission) = self.stored_submission(&record)? {
                bound.push(self.bind(&submission, ingress_id, (OUTRIGHT, None), Vec::new())?);
            }
        }
        Ok(bound)
    }

    /// The submission that a message is; none when it is another message, or its content is gone.
    pub(super) fn stored_submission(&self, record: &IngressRecord) -> Result<Option<Submission>, Error> {
        let Some(row) = self.goal_of(record)? else { return Ok(None) };
        match self.artifacts.read(&row.content_hash) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(artifacts::Error::Missing { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The artifact of the goal that a message is, whether its content is there still or not. Files and quotations that come with
    /// words are no goal, whatever they hold.
    pub(super) fn goal_of(&self, record: &IngressRecord) -> Result<Option<ArtifactRow>, Error> {
        let Some(message) = record.referenced_artifact_refs.first() else { return Ok(None) };
        let row = self.query()?.artifact(*message).map_err(|e| Error::Broken(e.to_string()))?;
        Ok(row.filter(|row| row.kind == ArtifactKind::Message))
    }
}
