//! Agents of other programs that can work as guests.

use crate::Host;
use wire::Error;
use wire::guests::{Agents, List};

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Agents, Error> {
    let secrets = super::secrets::list(host, wire::secrets::List {})?.secrets;
    let mut agents = host.guests();
    for agent in &mut agents {
        agent.has_secret = secrets.iter().any(|secret| secret.handle == agent.secret);
    }
    Ok(Agents { agents })
}
