//! Agents of other programs that can work as guests.

use crate::Host;
use wire::Error;
use wire::guests::{Agents, List};

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Agents, Error> {
    host.guests()
}
