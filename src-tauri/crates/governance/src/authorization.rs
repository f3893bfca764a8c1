//! The one door to an executor.

use crate::Refusal;
use crate::refusal::demand;
use acts::ActionRequest;
use model::action::ActionClass;
use model::grant::{CapabilityGrant, FilesystemScope};
use model::{GrantId, ResourceId, UnixMs};
use seal::{Digest, canon};
use std::collections::BTreeSet;

/// The right to perform one request once, now. It is taken by value, cannot be copied, and is made only by
/// [`authorize`] (HK-6.2-2).
///
/// ```
/// fn used_up(right: governance::Authorization) -> model::GrantId { right.grant_id() }
/// ```
/// ```compile_fail,E0599
/// fn twice(right: governance::Authorization) { drop(right.clone()); }
/// ```
/// ```compile_fail,E0451
/// fn forged(grant: model::grant::CapabilityGrant) -> governance::Authorization {
///     governance::Authorization { grant, granted_at: model::UnixMs(0) }
/// }
/// ```
#[derive(Debug)]
#[must_use = "an authorization is used by handing it to an executor"]
pub struct Authorization {
    grant: CapabilityGrant,
    /// What the grant names, to be asked about once for each of many items.
    named: BTreeSet<String>,
    granted_at: UnixMs,
}

impl Authorization {
    /// The grant it rests on.
    pub const fn grant(&self) -> &CapabilityGrant {
        &self.grant
    }

    /// The grant's identifier.
    pub const fn grant_id(&self) -> GrantId {
        self.grant.grant_id
    }

    /// The gravest class of what it covers.
    pub const fn action_class(&self) -> ActionClass {
        self.grant.action_class
    }

    /// Digest of the one request it covers.
    pub const fn request_sha256(&self) -> Digest {
        self.grant.action_request_sha256
    }

    /// What of the file system it covers.
    pub const fn filesystem_scope(&self) -> &FilesystemScope {
        &self.grant.filesystem_scope
    }

    /// Hosts it may reach, `name:port`; `*:0` is any.
    pub fn network_scope(&self) -> &[String] {
        &self.grant.network_scope
    }

    /// Secret handles it may resolve.
    pub fn secret_scope(&self) -> &[String] {
        &self.grant.secret_scope
    }

    /// When it was given.
    pub const fn granted_at(&self) -> UnixMs {
        self.granted_at
    }

    /// Until when the executor may begin.
    pub const fn expires_at(&self) -> UnixMs {
        self.grant.expires_at
    }

    /// Whether this is the request it was given for: the executor asks before it begins.
    ///
    /// # Errors
    /// `request_changed` for any other request, or the same with any field changed.
    pub fn admits(&self, request: &ActionRequest) -> Result<(), Refusal> {
        check_request(&self.grant, request)
    }

    /// Whether a resource lies inside: named exactly, or, where the scope is a folder's (reading, a command),
    /// beneath a named folder.
    pub fn covers(&self, resource: &ResourceId) -> bool {
        scope_covers(&self.grant, &self.named, resource)
    }
}

/// Gives the right to perform, or says why not (HK-8.12-4, HK-8.12-6, HK-19.6-1).
///
/// `uses_so_far` comes from the ledger, inside the transaction that records the dispatch.
///
/// # Errors
/// `grant_not_yet_valid`, `grant_expired`, `grant_spent`, `grant_elsewhere` (another task, step, attempt),
/// `grant_class` , `grant_scope`, `request_changed`.
pub fn authorize(
    grant: &CapabilityGrant,
    request: &ActionRequest,
    uses_so_far: u32,
    now: UnixMs,
) -> Result<Authorization, Refusal> {
    demand(now >= grant.not_before, "grant_not_yet_valid", || "this grant is not valid yet".to_owned())?;
    demand(now < grant.expires_at, "grant_expired", || {
        "this grant has expired; the request goes before policy again".to_owned()
    })?;
    demand(uses_so_far < grant.max_uses, "grant_spent", || {
        format!("this grant was good for {} use(s) and has had them", grant.max_uses)
    })?;
    let here = (grant.task_id, grant.step_id, grant.attempt_id);
    demand(here == (request.task_id, request.step_id, request.attempt_id), "grant_elsewhere", || {
        format!("this grant is for attempt `{}`, not for `{}`", grant.attempt_id, request.attempt_id)
    })?;
    demand(grant.action_class == request.action_class, "grant_class", || {
        format!("this grant is for `{}`, not for `{}`", grant.action_class, request.action_class)
    })?;
    let named: BTreeSet<String> = grant.resource_scope.iter().cloned().collect();
    let outside = request.target_resources.iter().find(|resource| !scope_covers(grant, &named, resource));
    if let Some(outside) = outside {
        return Err(Refusal::new("grant_scope", format!("`{outside}` is outside this grant")));
    }
    check_request(grant, request)?;
    Ok(Authorization { grant: grant.clone(), named, granted_at: now })
}

fn check_request(grant: &CapabilityGrant, request: &ActionRequest) -> Result<(), Refusal> {
    let digest = Digest::of(&canon::to_canonical(request)?);
    demand(digest == grant.action_request_sha256, "request_changed", || {
        format!("request `{}` is not the one this grant was made for", request.action_request_id)
    })
}

fn scope_covers(grant: &CapabilityGrant, named: &BTreeSet<String>, resource: &ResourceId) -> bool {
    if named.contains(&resource.to_string()) {
        return true;
    }
    let folders = matches!(grant.filesystem_scope, FilesystemScope::ReadLease | FilesystemScope::Lease);
    let ResourceId::File(workspace, path) = resource else {
        return false;
    };
    folders
        && grant.resource_scope.iter().any(|scope| match scope.parse() {
            Ok(ResourceId::File(theirs, folder)) => theirs == *workspace && path.is_within(&folder),
            _ => false,
        })
}
