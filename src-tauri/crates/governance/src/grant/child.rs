//! A part of a grant, for a part of the work: never more than the whole (governance.md 4).

use crate::Refusal;
use crate::refusal::demand;
use model::grant::{CapabilityGrant, FilesystemScope};
use model::{GrantId, PrincipalId, UnixMs};

/// What a child grant is to cover.
#[derive(Debug, Clone)]
pub struct ChildInput {
    /// Its identifier.
    pub grant_id: GrantId,
    /// The executor that may use it.
    pub issued_to: PrincipalId,
    /// Resource identifiers, each in the parent's scope.
    pub resource_scope: Vec<String>,
    /// What of the file system, no more than the parent's.
    pub filesystem_scope: FilesystemScope,
    /// Hosts, each in the parent's scope.
    pub network_scope: Vec<String>,
    /// Secret handles, each in the parent's scope.
    pub secret_scope: Vec<String>,
    /// Until when, no later than the parent.
    pub expires_at: UnixMs,
    /// How often, no more than the parent.
    pub max_uses: u32,
    /// When it is issued.
    pub now: UnixMs,
}

/// A grant that covers no more than its parent. Its uses count against the parent too: the caller consumes both.
///
/// # Errors
/// `grant_wider` when any side of it would reach further, `grant_expired` when the parent has lapsed.
pub fn child(parent: &CapabilityGrant, input: ChildInput) -> Result<CapabilityGrant, Refusal> {
    demand(input.now < parent.expires_at, "grant_expired", || "the parent grant has expired".to_owned())?;
    let mut resource_scope = input.resource_scope;
    resource_scope.sort();
    resource_scope.dedup();
    let grant = CapabilityGrant {
        grant_id: input.grant_id,
        issued_to_principal_id: input.issued_to,
        resource_scope,
        filesystem_scope: input.filesystem_scope,
        network_scope: input.network_scope,
        secret_scope: input.secret_scope,
        issued_at: input.now,
        not_before: input.now.max(parent.not_before),
        expires_at: input.expires_at,
        max_uses: input.max_uses,
        ..parent.clone()
    };
    demand(is_subset(&grant, parent), "grant_wider", || {
        format!("a part of grant `{}` cannot reach further than the whole", parent.grant_id)
    })?;
    Ok(grant)
}

/// Whether one grant reaches nowhere that another does not, and rests on the same request, policy and person.
pub fn is_subset(child: &CapabilityGrant, parent: &CapabilityGrant) -> bool {
    let within = |inner: &[String], outer: &[String]| inner.iter().all(|item| outer.contains(item));
    // What may differ is set to the parent's; what is left must then be the same, also fields that come later.
    let rest = CapabilityGrant {
        grant_id: parent.grant_id,
        issued_to_principal_id: parent.issued_to_principal_id,
        resource_scope: parent.resource_scope.clone(),
        filesystem_scope: parent.filesystem_scope.clone(),
        network_scope: parent.network_scope.clone(),
        secret_scope: parent.secret_scope.clone(),
        issued_at: parent.issued_at,
        not_before: parent.not_before,
        expires_at: parent.expires_at,
        max_uses: parent.max_uses,
        ..child.clone()
    };
    rest == *parent
        && within(&child.resource_scope, &parent.resource_scope)
        && within(&child.network_scope, &parent.network_scope)
        && within(&child.secret_scope, &parent.secret_scope)
        && files_within(&child.filesystem_scope, &parent.filesystem_scope)
        && child.issued_at >= parent.issued_at
        && child.not_before >= parent.not_before
        && child.expires_at <= parent.expires_at
        && child.max_uses <= parent.max_uses
}

const fn files_within(inner: &FilesystemScope, outer: &FilesystemScope) -> bool {
    use FilesystemScope::{Lease, Named, Nothing, ReadLease};
    match (inner, outer) {
        (Nothing, _) | (ReadLease, ReadLease | Lease) | (Named, Named | Lease) | (Lease, Lease) => true,
        (ReadLease, Nothing | Named)
        | (Named, Nothing | ReadLease)
        | (Lease, Nothing | ReadLease | Named) => false,
    }
}
