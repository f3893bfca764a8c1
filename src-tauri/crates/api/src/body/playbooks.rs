//! Playbooks at hand.

use crate::Host;
use wire::Error;
use wire::playbooks::{List, Playbook, Playbooks, Read};

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Playbooks, Error> {
    Ok(Playbooks { playbooks: host.playbooks() })
}

pub(crate) fn read(host: &dyn Host, p: Read) -> Result<Playbook, Error> {
    host.read_playbook(&p.text)
}
