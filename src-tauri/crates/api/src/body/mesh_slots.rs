//! Which machines may hold a schedule.

use super::mesh::{running, said};
use super::mesh_names::Names;
use crate::{Host, Wire as _};
use mesh::NodeId;
use wire::Error;
use wire::mesh::{Held, Hold};

/// For how many minutes a holder may be silent where nobody says it.
const TERM_MINUTES: u32 = 10;

pub(crate) fn hold(host: &dyn Host, p: Hold) -> Result<Held, Error> {
    said(host, &p, p.signed.as_ref(), "say which machines hold a schedule")?;
    let kernel = host.kernel()?;
    let mesh = running(host)?;
    let names = Names::of(&kernel.mesh_registry());
    let nodes: Vec<NodeId> = p.nodes.iter().map(|named| names.find_any(named)).collect::<Result<_, _>>()?;
    let term_ms = i64::from(p.term_minutes.unwrap_or(TERM_MINUTES)).saturating_mul(60_000);
    mesh.say(kernel.hold_schedule(&p.schedule, &nodes, term_ms).wire()?)?;
    let registry = kernel.mesh_registry();
    let lease = registry.state().and_then(|state| state.lease(&p.schedule)).filter(|_| !nodes.is_empty());
    Ok(Held {
        schedule: p.schedule,
        nodes: nodes.into_iter().map(|node| names.shown(node)).collect(),
        holder: lease.map(|lease| names.shown(lease.holder)),
        epoch: lease.map_or(0, |lease| lease.epoch),
    })
}
