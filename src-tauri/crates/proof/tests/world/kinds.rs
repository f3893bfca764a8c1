//! A store that holds every kind of record there is: each action, each event, each variant in them.

use super::World;
use crate::nouns;
use acts::{Action, ActionRequest};
use model::body::Body;
use model::standing::{Cover, StandingGrant, StandingScope};
use model::{ActionRequestId, RelPath, ResourceId};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Every tool that there is an action for.
pub fn tools() -> Vec<String> {
    let name = |action: &Action| action.tool().to_owned();
    let mut tools: Vec<String> = nouns::samples("Action").iter().map(name).collect();
    tools.dedup();
    assert_eq!(tools, Action::TOOLS, "a tool is among the samples");
    tools
}

impl World {
    /// The sample at hand of a type, or what stands there otherwise.
    pub(super) fn vary<T: DeserializeOwned + Serialize + Clone>(&self, name: &str, usual: T) -> T {
        let Some(n) = self.sample else { return usual };
        let samples = nouns::samples::<T>(name);
        samples[n % samples.len()].clone()
    }

    /// How many kinds of act there are: each variant and each field of a request is in one of them.
    pub fn kinds() -> usize {
        nouns::samples::<ActionRequest>("ActionRequest").len()
    }

    /// A store in which one act of this kind was asked about, done and told of.
    pub fn of_kind(n: usize) -> Self {
        let mut world = Self::new(0, 0);
        world.do_kind(n);
        world
    }

    fn do_kind(&mut self, n: usize) {
        let sample = nouns::samples::<ActionRequest>("ActionRequest").swap_remove(n);
        self.sample = Some(n);
        let mut request = ActionRequest {
            action_request_id: ActionRequestId::fresh(&self.clock, &self.dice),
            task_id: self.task,
            step_id: self.step,
            attempt_id: self.attempt,
            proposed_by: self.agent,
            ..sample
        };
        if request.target_resources.is_empty() {
            request.target_resources.push(ResourceId::File(self.workspace, RelPath::ROOT));
        }
        self.perform(request);
        self.sample = None;
    }

    /// A store in which every kind of act was asked about, done and told of, and every kind of event was written.
    pub fn of_every_kind() -> Self {
        let mut world = Self::new(0, 0);
        (0..Self::kinds()).for_each(|n| world.do_kind(n));
        for body in nouns::bodies() {
            // What these name must be there too, and is there with the acts.
            let names = match &body {
                Body::ReceiptIssued(_) | Body::EffectDispatched(_) => true,
                Body::ApprovalRequested(b) => b.need.is_some(),
                Body::ApprovalGranted(b) => b.first.is_some(),
                _ => false,
            };
            if !names {
                world.push(body);
            }
        }
        world
    }

    /// Stores in which an act was done under a standing grant, one for each kind of cover and scope.
    pub fn of_every_standing_grant() -> Vec<Self> {
        let (covers, scopes) =
            (nouns::samples::<Cover>("Cover"), nouns::samples::<StandingScope>("StandingScope"));
        let world = |(n, cover): (usize, &Cover)| {
            let scope = &scopes[n % scopes.len()];
            let change = |grant: &mut StandingGrant| {
                grant.cover = cover.clone();
                if !matches!(scope, StandingScope::Task { .. }) {
                    grant.scope = scope.clone();
                }
            };
            Self::once(change, |_, _| ())
        };
        covers.iter().cycle().take(covers.len().max(scopes.len())).enumerate().map(world).collect()
    }
}
