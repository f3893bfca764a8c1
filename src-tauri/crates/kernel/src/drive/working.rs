//! The working state of a task: what it notes for itself, and what it would have remembered without evidence (HK-15.2).

use crate::Error;
use crate::kernel::Kernel;
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use knowledge::working_state::merge;
use model::artifact::{ArtifactClass, ArtifactKind};
use model::body::WorkingStateUpdated;
use model::knowledge::WorkingState;
use model::proposal::ProposedMemory;

/// How a claim is marked that nothing supports.
const UNSUPPORTED: &str = "unsupported: ";

impl Kernel {
    /// The working state as it is after everything of this transaction.
    fn working_state(&self, tx: &Tx<'_>) -> Result<WorkingState, Error> {
        let Some((at, _)) = &tx.working_state else { return Ok(WorkingState::default()) };
        match tx.kept(&at.sha256) {
            Some(bytes) => serde_json::from_slice(bytes)
                .map_err(|e| Error::Broken(format!("the working state is malformed: {e}"))),
            None => self.object_at(at),
        }
    }

    /// Takes a note into the working state; the inner error says why it does not fit, in words for the model.
    pub(super) fn note(&self, tx: &mut Tx<'_>, note: &WorkingState) -> Result<Result<(), String>, Error> {
        let merged = match merge(&self.working_state(tx)?, note) {
            Ok(merged) => merged,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let revision = tx.working_state.as_ref().map_or(0, |(_, revision)| *revision).saturating_add(1);
        let kind = NewArtifact::audit(ArtifactKind::WorkingState).class(ArtifactClass::Working);
        let state = tx.object(&merged, kind)?;
        let byte_size = seal::canon::to_canonical(&merged)?.len() as u64;
        tx.push(WorkingStateUpdated { state, byte_size, revision });
        Ok(Ok(()))
    }

    /// Keeps a claim that was not remembered because nothing supports it, as an uncertainty of this task, and says so
    /// (HK-6.3-1); where the working state has no room for it, it stays in the record of its turn.
    pub(super) fn keep_unsupported(
        &self,
        tx: &mut Tx<'_>,
        memory: &ProposedMemory,
        why: &str,
    ) -> Result<String, Error> {
        let mut uncertainties = self.working_state(tx)?.uncertainties;
        let line = format!("{UNSUPPORTED}{}", memory.claim.trim());
        if !uncertainties.contains(&line) {
            uncertainties.push(line);
        }
        let kept = self.note(tx, &WorkingState { uncertainties, ..WorkingState::default() })?;
        Ok(match kept {
            Ok(()) => {
                format!("nothing was remembered: {why}; it stands among the uncertainties of this task")
            }
            Err(no_room) => format!("nothing was remembered: {why}; nor was it noted: {no_room}"),
        })
    }
}
