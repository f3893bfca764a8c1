//! Authority taken back while it is unused (governance.md 4).

use crate::Error;
use crate::kernel::Kernel;
use model::body::GrantRevoked;
use model::fault::Point;
use model::principal::PrincipalType;
use model::{GrantId, TaskId};

impl Kernel {
    /// Revokes a grant that has not been consumed, or whose effect is not established.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it is used or revoked already.
    pub fn revoke_grant(&self, task_id: TaskId, grant_id: GrantId, reason: &str) -> Result<(), Error> {
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::DecisionRecord, PrincipalType::User)?;
        let grant = tx
            .grants
            .get(&grant_id)
            .ok_or_else(|| Error::NotFound { kind: "grant", id: grant_id.to_string() })?;
        // Dispatched and not established: whatever of it is not done yet is not completed under a revoked grant.
        let under_way =
            tx.attempt().is_some_and(|at| at.under_way().any(|act| act.authority.grant == Some(grant_id)));
        if grant.revoked || (grant.consumed && !under_way) {
            let how = if grant.revoked { "revoked" } else { "used" };
            return Err(Error::Conflict(format!("grant `{grant_id}` is {how} already")));
        }
        tx.push(GrantRevoked { grant_id, reason: reason.to_owned() });
        tx.commit()?;
        Ok(())
    }
}
