//! Which two different keys allow an act that needs them, as far as that is known (mesh.md 4).

use crate::change_lists::Sheet;
use crate::{Host, fold};
use kernel::StoreState;
use kernel::state::FirstYes;
use model::body::KeyPurpose;
use model::passkey::{MESH_ORIGIN, SECURITY_KEY_ORIGIN};
use projections::rows::ApprovalRow;
use wire::Error;
use wire::approvals::TwoKeys;

/// What is to be said of the keys of an approval that waits for two; none where one is enough, or it is over.
pub(super) fn two_keys(
    host: &dyn Host,
    store: &StoreState,
    (row, sheet): (&ApprovalRow, &Sheet),
) -> Result<Option<TwoKeys>, Error> {
    let is_for_two = sheet.outline.pointer("/policy_result/need").is_some();
    if !is_for_two || row.resolved_at.is_some() {
        return Ok(None);
    }
    let state = fold::task_state(&host.reader()?, row.task_id)?;
    let record = state.approvals.get(&row.approval_id);
    let first: Option<&FirstYes> = record.and_then(|record| record.first.as_ref());
    let first = first.filter(|first| store.may_still(first));
    let key = store.keys.get(&KeyPurpose::Approval);
    let able = key.map_or(0, |(keyid, _)| store.passkeys.in_force(*keyid).count().saturating_add(1));
    let says = match (first, able) {
        (Some(first), _) => {
            format!("1 of 2: allowed {}; another key has to allow it, too", who(store, first))
        }
        (None, 0 | 1) => {
            "two different keys have to allow this, and fewer may say yes here; add a passkey, a security key or \
             another machine of yours"
                .to_owned()
        }
        (None, _) => format!("two different keys have to allow this; {able} may say yes here"),
    };
    let able = u32::try_from(able).unwrap_or(u32::MAX);
    Ok(Some(TwoKeys { given: u32::from(first.is_some()), able, says }))
}

/// With which key a first yes was said, and where.
fn who(store: &StoreState, first: &FirstYes) -> String {
    let place = first.surface.place();
    if first.passkey.is_none() {
        return format!("with the approval key, {place}");
    }
    let record = store.passkeys.get(first.keyid);
    let name = record.and_then(|one| one.name.as_ref()).map_or_else(String::new, |name| format!(" ({name})"));
    match record.map(|one| one.origin.as_str()) {
        Some(MESH_ORIGIN) => format!("{place}{name}"),
        Some(SECURITY_KEY_ORIGIN) => format!("with a security key{name}, {place}"),
        _ => format!("with a passkey{name}, {place}"),
    }
}
