//! A clock elsewhere is to be asked to stamp a head, and its person says no.

use super::sim::{Sim, Stop};
use super::stories::{NOTHING, Story, refuse_what};
use kernel::command::anchors::{AnchorTerms, ToAnchor};
use model::ingress::Channel;
use testkit::Server;

/// The story.
pub const ANCHOR: Story = Story { name: "anchor", before: NOTHING, steps: &[give_anchor, refuse_anchor] };

fn give_anchor(sim: &mut Sim) -> Result<(), Stop> {
    let authorities = vec![sim.server.get_or_insert_with(Server::agreeing).url("/stamp")];
    let terms = AnchorTerms { authorities, ..AnchorTerms::default() };
    let (_, made) = sim.kernel().stamp_anchor(&terms, (ToAnchor::Head, &[]), (Channel::Cli, "anchor"))?;
    let asks = made.first().expect("a clock is set").task_id;
    let known = sim.tasks.insert("anchor", asks);
    assert!(known.is_none_or(|known| known == asks), "{}: one clock is asked by two tasks", sim.name);
    Ok(())
}

fn refuse_anchor(sim: &mut Sim) -> Result<(), Stop> {
    refuse_what(sim, "anchor")?;
    sim.kernel().settle_anchors()?;
    let registry = sim.kernel().anchor_registry();
    let open = registry.all().flat_map(|record| record.clocks.values()).any(|clock| clock.is_asked);
    assert!(!open, "{}: an anchor that nobody allowed is open", sim.name);
    Ok(())
}
