//! Roots of state, as the store's own stream says them (HV-3.6-1).

use super::Seen;
use crate::Error;
use crate::rows::NewStateRoot;
use model::Body;

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    let Body::StateRooted(b) = body else { return Ok(()) };
    // An erased list is stated anew by the kernel.
    for one in b.roots.shown().into_iter().flatten() {
        seen.add(NewStateRoot {
            number: b.number,
            subject: one.subject,
            size: one.size,
            root: one.root,
            through: b.through,
            state_root: b.state_root,
            task_seq: seen.event.task_seq,
            at: seen.at(),
        })?;
    }
    Ok(())
}
