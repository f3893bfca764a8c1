//! Models at hand: looked for by the host on its own machine, on demand.

use crate::{Host, usage};
use wire::Error;
use wire::models::{Asked, Chosen, Find, Found, Server, Set, Standard, Test};

/// Further ports of one look.
const PORTS_MAX: usize = 16;

pub(crate) fn find(host: &dyn Host, p: Find) -> Result<Found, Error> {
    if p.ports.len() > PORTS_MAX || p.ports.contains(&0) {
        return Err(usage(format!("name at most {PORTS_MAX} further ports, each from 1 to 65535")));
    }
    host.models(&p.ports)
}

pub(crate) fn standard(host: &dyn Host, p: Standard) -> Result<Chosen, Error> {
    host.kernel()?;
    host.set_standard_model(p.address.as_deref())?;
    Ok(Chosen { standard: p.address })
}

pub(crate) fn set(host: &dyn Host, p: Set) -> Result<Asked, Error> {
    host.kernel()?;
    host.set_model(&p)
}

/// The process that holds the store asks, because it has the keys.
pub(crate) fn test(host: &dyn Host, p: Test) -> Result<Server, Error> {
    host.kernel()?;
    host.test_models(&p)
}
