//! What other machines sent, which is done until it is settled, and what the kernel has to say to them.

use super::engine::Engine;
use super::ways::Ways;
use kernel::command::mesh::MeshTerms;
use kernel::command::submit::Reasoning;
use mesh::{Command, Delivered, NodeId};
use model::policy::Profile;
use std::collections::BTreeSet;

/// How long a delivery that could not be done is left alone, in milliseconds.
pub(super) const DELIVERY_PAUSE_MS: i64 = 30_000;
/// Deliveries that are done before what came meanwhile is heard.
const DELIVERIES_AT_ONCE: usize = 32;

impl<W: Ways> Engine<W> {
    /// Terms of goals; and whether there are any, for without a model nobody works on one.
    fn terms(&self) -> (MeshTerms, Result<(), String>) {
        let settings = &self.parts.settings;
        let none = || MeshTerms {
            folders: settings.folders.clone(),
            reasoning: Reasoning::Scripted { name: "no model is set".to_owned() },
            profile: Profile::ReadonlyAnalysis,
        };
        match self.parts.terms.terms(settings) {
            Ok(terms) => (terms, Ok(())),
            Err(why) => (none(), Err(why)),
        }
    }

    /// Says what the kernel has to say.
    pub(super) fn look_for_news(&mut self) {
        let (terms, _) = self.terms();
        match self.parts.kernel.mesh_news(&terms) {
            Ok(say) if say.is_empty() => {}
            Ok(say) => {
                if let Err(fault) = self.say(say, None, false) {
                    tracing::debug!(%fault, "it is said once the mesh goes on");
                }
            }
            Err(kernel::Error::Halted) => {}
            Err(error) => tracing::warn!(%error, "what the mesh has to say is looked for again"),
        }
    }

    /// Does what came, each thing until it is settled: one that breaks off is done again, which does nothing twice.
    pub(super) fn take_deliveries(&mut self) {
        // Before anything may go wrong with it.
        self.deliver_at = Some(self.now().plus_ms(DELIVERY_PAUSE_MS));
        // Goals wait behind the first that cannot begin now; an answer, a slot or a head does not.
        let (mut done, mut after, mut goals_wait, mut some_wait) = (0, 0, false, false);
        // What machines say that learn together is taken in order: behind a delivery that waits, all of its machines wait.
        let mut held = BTreeSet::new();
        while done < DELIVERIES_AT_ONCE {
            let Some((number, all)) = self.parts.kernel.mesh_delivery_after(after) else {
                if !(goals_wait || some_wait) {
                    self.deliver_at = None;
                }
                return;
            };
            after = number;
            let is_goal = all.iter().any(|one| matches!(one, Delivered::Input { .. }));
            if is_goal && goals_wait {
                hold(&mut held, &all);
                continue;
            }
            let (terms, has_model) = self.terms();
            if let (Err(why), true) = (has_model, !terms.folders.is_empty() && is_goal) {
                tracing::warn!(why, "a goal of another machine waits for a model");
                goals_wait = true;
                hold(&mut held, &all);
                continue;
            }
            let say = match self.deliver(&all, &terms, &mut held) {
                Ok(Some(say)) => say,
                Ok(None) => {
                    hold(&mut held, &all);
                    some_wait = true;
                    continue;
                }
                Err(error) => {
                    tracing::warn!(%error, "what another machine sent is not done; it is tried again");
                    if !is_goal {
                        return;
                    }
                    goals_wait = true;
                    hold(&mut held, &all);
                    continue;
                }
            };
            if self.say(say, Some(number), false).is_err() {
                return;
            }
            done += 1;
        }
        self.deliver_at = Some(self.now());
    }

    /// What is said of deliveries that are done; none where one of them waits. `held`: machines whose words of training wait.
    fn deliver(
        &self,
        all: &[Delivered],
        terms: &MeshTerms,
        held: &mut BTreeSet<NodeId>,
    ) -> Result<Option<Vec<Command>>, kernel::Error> {
        let registry = self.parts.kernel.mesh_registry();
        let is_peer = |node: NodeId| registry.state().is_some_and(|state| state.is_peer(node));
        let (mut say, mut waits) = (Vec::new(), false);
        for one in all {
            if let (Delivered::Training { from, part }, Some(letterbox)) = (one, &self.parts.letterbox) {
                if held.contains(from) {
                    waits = true;
                    continue;
                }
                if let Err(error) = letterbox.takes(*from, part, &is_peer) {
                    tracing::warn!(%error, "what another machine says of training is not kept; it is tried again");
                    held.insert(*from);
                    waits = true;
                    continue;
                }
            }
            let done = self.parts.kernel.deliver_mesh(one, terms)?;
            waits |= done.waits;
            say.extend(done.say);
            done.drive.into_iter().for_each(|task| self.parts.drives.wake(task));
        }
        Ok((!waits).then_some(say))
    }
}

/// Nothing of training is taken of the machines of a delivery that waits before that is done.
fn hold(held: &mut BTreeSet<NodeId>, all: &[Delivered]) {
    held.extend(all.iter().filter_map(|one| match one {
        Delivered::Training { from, .. } => Some(*from),
        _ => None,
    }));
}
