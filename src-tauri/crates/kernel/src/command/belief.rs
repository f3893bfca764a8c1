//! A person takes back what an agent holds true (HK-15.3-4).

use crate::Error;
use crate::kernel::Kernel;
use model::fault::Point;
use model::principal::PrincipalType;
use model::{BeliefId, TaskId};

impl Kernel {
    /// Takes a belief back; it stays readable, and no later context shows it as held.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an unknown belief, [`Error::Conflict`] for one that is not held any more.
    pub fn revoke_belief(&self, task_id: TaskId, belief_id: BeliefId, reason: &str) -> Result<(), Error> {
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::KnowledgeChange, PrincipalType::User)?;
        let unknown = || Error::NotFound { kind: "belief", id: belief_id.to_string() };
        let belief = tx.beliefs.get(&belief_id).cloned().ok_or_else(unknown)?;
        let body = knowledge::belief::revoke(&belief, reason).map_err(|r| Error::Conflict(r.reason))?;
        self.push_belief(&mut tx, body)?;
        tx.commit()?;
        Ok(())
    }
}
