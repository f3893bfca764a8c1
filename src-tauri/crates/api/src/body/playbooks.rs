//! Playbooks at hand.

use crate::Host;
use wire::Error;
use wire::playbooks::{List, Playbooks};

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Playbooks, Error> {
    Ok(Playbooks { playbooks: host.playbooks() })
}
