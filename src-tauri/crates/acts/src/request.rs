//! The action request: a tool's typed arguments with task, reason, targets and foreseen effects (HK-11.3).

use crate::Action;
use crate::items::{self, changed_paths};
use crate::tools::gravest_first;
use model::action::{ActionClass, ChangeItem, ExpectedEffect, InsteadOf, Reach, Reversibility, Staged};
use model::guest::GuestWork;
use model::{
    ActionRequestId, ArtifactId, AttemptId, PrincipalId, RelPath, ResourceId, StepId, TaskId, UnixMs,
    WorkspaceId,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A typed execution proposal, stored as artifact `action.request` (HK-11.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionRequest {
    /// Its identifier.
    pub action_request_id: ActionRequestId,
    /// The task it serves.
    pub task_id: TaskId,
    /// The step.
    pub step_id: StepId,
    /// The attempt.
    pub attempt_id: AttemptId,
    /// The gravest class in it.
    pub action_class: ActionClass,
    /// What it touches, sorted, without repeats.
    pub target_resources: Vec<ResourceId>,
    /// The typed parameters (the spec's `params_ref`, carried inline so that one digest covers all).
    pub action: Action,
    /// What it will do, foreseen.
    pub expected_effects: Vec<ExpectedEffect>,
    /// How far it can be taken back.
    pub reversibility_hint: Reversibility,
    /// Why, in the proposer's words.
    pub reason: String,
    /// Who proposed it.
    pub proposed_by: PrincipalId,
    /// When.
    pub proposed_at: UnixMs,
    /// Artifacts that were in the proposer's context.
    pub evidence_refs: Vec<ArtifactId>,
    /// What a command, or a tool of a server, did in a staged view, before anybody was asked: exactly this is committed (governance.md 5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<Staged>,
    /// Why a command has not run in a staged view: it runs in the folder itself, after the yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_staged: Option<String>,
    /// What the words of a command lead to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// What this is done instead of, because policy allows no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<InsteadOf>,
    /// Of a change set: the guest that made it in its view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<GuestWork>,
}

impl ActionRequest {
    /// The folder that its targets name; none where they name none.
    pub fn workspace(&self) -> Option<WorkspaceId> {
        self.target_resources.iter().find_map(|resource| match resource {
            ResourceId::File(workspace, _) | ResourceId::Ref(workspace, _) => Some(*workspace),
            ResourceId::Host(..)
            | ResourceId::Mcp(..)
            | ResourceId::Secret(_)
            | ResourceId::Memory(_)
            | ResourceId::Receipt(_)
            | ResourceId::Rules
            | ResourceId::Soul
            | ResourceId::Successor
            | ResourceId::Skill(_)
            | ResourceId::Schedule(_)
            | ResourceId::Skin(_)
            | ResourceId::Gateway(_)
            | ResourceId::Chat(..) => None,
        })
    }

    /// Whether a receipt tells of it: its class demands one, it is done instead of what policy did not allow, or somebody
    /// else's tool does it.
    pub const fn leaves_receipt(&self) -> bool {
        self.action_class.leaves_receipt()
            || self.instead_of.is_some()
            || matches!(self.action, Action::Call(_))
    }

    /// Whether it looks at, changes or lets a command see what looks like a key, a password or a token. What comes of it is
    /// shown to whoever asked, and copied nowhere else.
    pub fn names_secrets(&self) -> bool {
        let mut counts = self.action.as_tool().counts();
        let staged = self.staged.iter().flat_map(|staged| &staged.items);
        staged.for_each(|item| counts.add_change(item));
        let names =
            |reach: &model::action::Reach| reach.secrets.iter().any(|path| !reach.in_sight.contains(path));
        counts.secret_paths > 0 || self.reach.as_ref().is_some_and(names)
    }

    /// Every class in it, the gravest first, never empty: those of its act, and those that a staged run of it would add:
    /// what a command changes of Hermit itself, and whatever a tool of a server does to files (HK-16.4).
    pub fn classes(&self) -> Vec<ActionClass> {
        let mut classes = self.action.classes();
        let Some(staged) = &self.staged else { return classes };
        let found = crate::items::classes(&staged.items);
        let counts = |class: &ActionClass| {
            matches!(self.action, Action::Call(_)) || *class == ActionClass::CapabilityChange
        };
        let new: Vec<_> =
            found.into_iter().filter(|class| counts(class) && !classes.contains(class)).collect();
        if !new.is_empty() {
            classes.extend(new);
            gravest_first(&mut classes);
        }
        classes
    }

    /// The gravest class in it.
    pub fn gravest(&self) -> ActionClass {
        self.classes().first().copied().unwrap_or(self.action_class)
    }

    /// The items of a change set: those that were asked for, or those a staged command came to.
    pub fn items(&self) -> &[ChangeItem] {
        match (&self.action, &self.staged) {
            (Action::Change(change), _) => &change.items,
            (Action::Rollback(undo), _) => &undo.items,
            (_, Some(staged)) => &staged.items,
            (_, None) => &[],
        }
    }

    /// What it does, as a card tells it, for whoever reads it elsewhere: the same words, but files by their names alone. What each was and
    /// becomes stands on the card, and nothing is answered by these.
    pub fn in_words(&self) -> Vec<String> {
        let names: BTreeMap<String, String> =
            self.items().iter().map(|item| (items::line(item).text, items::by_name(item))).collect();
        let lines = self.action.as_tool().lines(self).into_iter();
        lines.map(|line| names.get(&line.text).cloned().unwrap_or(line.text)).collect()
    }

    /// How far it can be taken back, with what a staged run of it is known to do.
    pub fn known_way_back(&self) -> Reversibility {
        match &self.staged {
            // What is carried over is files alone, and what was there before each is kept.
            Some(staged) if staged.items.is_empty() => Reversibility::NoEffect,
            Some(_) => Reversibility::Reversible,
            None => self.action.as_tool().reversibility(),
        }
    }

    /// How far it can be taken back: the worse of what Hermit knows and what the proposer admits. Risk, card and receipt
    /// say this and nothing else.
    pub fn way_back(&self) -> Reversibility {
        match (self.known_way_back(), self.reversibility_hint) {
            (Reversibility::Irreversible, _) | (_, Reversibility::Irreversible) => {
                Reversibility::Irreversible
            }
            (Reversibility::Partial, _) | (_, Reversibility::Partial) => Reversibility::Partial,
            (known @ (Reversibility::NoEffect | Reversibility::Reversible), _) => known,
        }
    }

    /// What tells a server that this very request has come before: sent with a request that may change something, the
    /// same however often it is sent, and of no other request.
    pub fn idempotency_key(&self) -> Option<String> {
        match &self.action {
            Action::Fetch(fetch) if fetch.method.changes() => {
                Some(format!("hermit-{}", self.action_request_id))
            }
            _ => None,
        }
    }
}

/// What a request touches: what its action does; every place that a staged run of it changed; and of a command that
/// runs in the folder itself, the files that its words lead to.
pub fn resources_of(
    workspace: WorkspaceId,
    action: &Action,
    staged: Option<&Staged>,
    reach: Option<&Reach>,
) -> Vec<ResourceId> {
    let mut found = action.as_tool().resources(workspace);
    let file = |path: &RelPath| ResourceId::File(workspace, path.clone());
    match (staged, reach) {
        (Some(staged), _) => found.extend(staged.items.iter().flat_map(changed_paths).map(file)),
        (None, Some(reach)) => found.extend(reach.files.iter().map(file)),
        (None, None) => {}
    }
    found.into_iter().collect()
}
