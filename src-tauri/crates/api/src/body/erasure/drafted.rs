//! What an erasure takes of playbooks that were drafted from a task.

use super::{Search, contains, is_record};
use crate::convert::every;
use crate::fold::store_state;
use crate::{Host, Wire as _};
use kernel::command::dreamer::drafted_from;
use ledger::Reader;
use model::TaskId;
use model::artifact::ArtifactKind;
use projections::query::ArtifactFilter;
use projections::{ArtifactState, rows};
use wire::Error;

impl Search {
    /// Playbooks that were drafted from the task, and what holds their text: the draft, what was adopted of it, and what the
    /// tasks that drafted it and asked about it hold of it.
    pub(super) fn drafted(&mut self, host: &dyn Host, task: TaskId) -> Result<(), Error> {
        let (reader, query) = (host.reader()?, host.query()?);
        let from = drafted_from(&store_state(&reader)?, &reader, &query, task).wire()?;
        for artifact in from.contents {
            let row = query.artifact(artifact).wire()?;
            self.contents
                .extend(row.filter(|row| row.state != ArtifactState::Expired).map(|row| (artifact, row)));
        }
        for (holder, sha256) in from.held {
            let hex = sha256.to_string();
            for row in self.of_holder(host, &reader, holder)? {
                // A receipt and a decision hold the digest alone.
                let is_record = is_record(row.kind) || row.kind == ArtifactKind::ReceiptBundle;
                if is_record || row.state == ArtifactState::Expired {
                    continue;
                }
                let bytes = host.artifacts()?.read(&row.content_hash);
                if bytes.is_ok_and(|bytes| contains(&bytes, hex.as_bytes())) {
                    self.contents.insert(row.artifact_id, row);
                    // While it waits, its card needs what would go.
                    self.tasks.insert(holder);
                }
            }
        }
        Ok(())
    }

    /// The artifacts of a task, and of the messages that it was made of, of which only content may go.
    fn of_holder(
        &mut self,
        host: &dyn Host,
        reader: &Reader,
        task: TaskId,
    ) -> Result<Vec<rows::ArtifactRow>, Error> {
        let query = host.query()?;
        let (values, messages) = (self.values.clone(), std::mem::take(&mut self.messages));
        self.ingress(reader, task)?;
        self.values = values;
        let filter = ArtifactFilter { task: Some(task), ..ArtifactFilter::default() };
        let mut rows = every(|ask| query.artifacts(&filter, ask))?;
        for message in std::mem::replace(&mut self.messages, messages) {
            rows.extend(query.artifact(message).wire()?);
        }
        Ok(rows)
    }
}
