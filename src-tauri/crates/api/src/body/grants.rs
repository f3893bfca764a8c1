//! Authority: minted, used, taken back. It is never made here.

use crate::convert::{ask, opt, page};
use crate::ids::{find, find_opt};
use crate::{Host, Wire as _, not_found};
use model::{GrantId, UnixMs};
use projections::GrantState;
use projections::rows::GrantRow;
use wire::Error;
use wire::grants::{Grant, Grants, List, Revoke, Revoked};

pub(crate) fn list(host: &dyn Host, p: List) -> Result<Grants, Error> {
    let now = host.now();
    let ask = ask(p.after.as_deref(), p.limit)?;
    let query = host.query()?;
    let found = match find_opt(host, p.task.as_deref())? {
        Some(task) => query.grants(task, ask),
        None => query.active_grants(now, ask),
    };
    Ok(page(found.wire()?, |r| row(r, now)))
}

fn row(r: &GrantRow, now: UnixMs) -> Grant {
    let expired = r.state == GrantState::Active && r.expires_at < now;
    Grant {
        grant_id: r.grant_id.to_string(),
        task_id: r.task_id.to_string(),
        action_request_id: r.action_request_id.to_string(),
        action_class: r.action_class.to_string(),
        state: if expired { "expired".to_owned() } else { r.state.to_string() },
        issued_at: r.issued_at.0,
        expires_at: r.expires_at.0,
        max_uses: r.max_uses,
        uses: r.uses,
        approval_id: opt(r.approval_id),
        reason: r.reason.clone(),
    }
}

pub(crate) fn revoke(host: &dyn Host, p: Revoke) -> Result<Revoked, Error> {
    let kernel = host.kernel()?;
    let id: GrantId = find(host, &p.grant)?;
    let grant = host.query()?.grant(id).wire()?.ok_or_else(|| not_found("grant", &p.grant))?;
    kernel.revoke_grant(grant.task_id, id, p.reason.as_deref().unwrap_or("revoked by a person")).wire()?;
    host.drive(grant.task_id)?;
    Ok(Revoked { grant_id: id.to_string(), task_id: grant.task_id.to_string() })
}
