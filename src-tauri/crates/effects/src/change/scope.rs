//! What these executors may touch now: an authorization, held against every single item.

use crate::{Authorization, Error};
use acts::ActionRequest;
use model::grant::FilesystemScope;
use model::{ResourceId, WorkspaceId};

/// An authorization that has been found to be for this request.
pub(crate) struct Scope<'a> {
    authorization: &'a Authorization,
    workspace: WorkspaceId,
}

impl<'a> Scope<'a> {
    /// Checks that the authorization is for exactly this request and for this kind of act.
    pub(crate) fn of(
        authorization: &'a Authorization,
        request: &ActionRequest,
        workspace: WorkspaceId,
    ) -> Result<Self, Error> {
        authorization.admits(request).map_err(|refusal| Error::OutOfScope(refusal.to_string()))?;
        let scope = authorization.filesystem_scope();
        let fits = match request.action.as_tool().filesystem_scope() {
            FilesystemScope::Nothing => true,
            FilesystemScope::ReadLease => !matches!(scope, FilesystemScope::Nothing),
            needed => *scope == needed,
        };
        if !fits {
            let tool = request.action.tool();
            return Err(Error::OutOfScope(format!("the grant's file system scope does not allow `{tool}`")));
        }
        Ok(Self { authorization, workspace })
    }

    /// Whether a resource lies inside.
    pub(crate) fn covers(&self, resource: &ResourceId) -> Result<(), Error> {
        if self.authorization.covers(resource) {
            return Ok(());
        }
        Err(Error::OutOfScope(format!("`{resource}` is outside this grant")))
    }

    /// Whether a path of this workspace lies inside.
    pub(crate) fn covers_path(&self, path: &model::RelPath) -> Result<(), Error> {
        self.covers(&ResourceId::File(self.workspace, path.clone()))
    }

    /// The hosts a command may reach, as `name:port`.
    pub(crate) fn hosts(&self) -> &[String] {
        self.authorization.network_scope()
    }

    /// The secrets a command may use, by handle.
    pub(crate) fn secrets(&self) -> &[String] {
        self.authorization.secret_scope()
    }

    /// Whether a command may reach the network.
    pub(crate) fn network(&self) -> bool {
        !self.authorization.network_scope().is_empty()
    }
}
