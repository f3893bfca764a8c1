//! From a typed proposal to a typed request: priors from what the attempt has seen, content into the store (HK-11.3).

use super::trial::Known;
use crate::Error;
use crate::kernel::Kernel;
use crate::ports::Executors;
use crate::state::{AttemptState, ObservedRef};
use crate::tx::Tx;
use acts::{Action, ActionRequest};
use iteration::{Proposal, ProposedChange};
use model::action::{ChangeItem, Prior};
use model::principal::PrincipalType;
use model::receipt::ItemOutcome;
use model::witness::{Fingerprint, Found};
use model::{ActionRequestId, Digest, RelPath, ResourceId, WorkspaceId};
use std::collections::BTreeMap;

/// Why a proposal cannot become a request, in words for the model.
pub(crate) struct Unfit(pub(crate) String);

/// A proposal that may be acted on, beside the bytes of its canonical form.
pub(crate) struct Normalised {
    pub(crate) request: ActionRequest,
    pub(crate) bytes: Vec<u8>,
    /// What was found at its resources when it was normalised.
    pub(crate) found: Vec<Fingerprint>,
    /// What a staged run of it showed.
    pub(crate) staging: Option<effects::Staging>,
}

/// What this attempt knows of the workspace: digests of files it has read, hashed or written itself.
fn seen_digests(kernel: &Kernel, observed: &[ObservedRef]) -> Result<BTreeMap<RelPath, Digest>, Error> {
    let mut seen = BTreeMap::new();
    for result in observed.iter().filter(|o| matches!(o.tool.as_str(), "observe" | "change")) {
        let bytes = kernel.artifacts.read(&result.artifact.sha256)?;
        let value = told(&bytes)?;
        after_change(&mut seen, &value);
        let results = value.get("results").and_then(|r| r.as_array()).cloned().unwrap_or_default();
        for one in &results {
            let entries = one.get("entries").and_then(|e| e.as_array()).cloned().unwrap_or_default();
            for file in entries.iter().chain(std::iter::once(one)) {
                let path = file.get("path").and_then(|p| p.as_str()).and_then(|p| p.parse().ok());
                let sha256 = file.get("sha256").and_then(|d| d.as_str()).and_then(|d| d.parse().ok());
                if let (Some(path), Some(sha256)) = (path, sha256) {
                    seen.insert(path, sha256);
                }
            }
        }
    }
    Ok(seen)
}

/// What a change of this attempt's own came to: what it wrote as it was asked holds what it wrote, and what it moved went
/// along.
fn after_change(seen: &mut BTreeMap<RelPath, Digest>, told: &serde_json::Value) {
    let text = |item: &serde_json::Value, key: &str| {
        item.get(key).and_then(|value| value.as_str()).map(str::to_owned)
    };
    let items = told.get("items").and_then(|items| items.as_array()).into_iter().flatten();
    for item in items.filter(|item| text(item, "outcome").as_deref() == Some(ItemOutcome::Done.as_str())) {
        let path = |key: &str| text(item, key).and_then(|path| path.parse::<RelPath>().ok());
        let (Some(at), to) = (path("path"), path("to")) else { continue };
        let wrote = text(item, "sha256").and_then(|sha256| sha256.parse().ok());
        match (wrote, to) {
            (Some(wrote), _) => _ = seen.insert(at, wrote),
            (None, Some(to)) => _ = seen.remove(&at).map(|sha256| seen.insert(to, sha256)),
            (None, None) => _ = seen.remove(&at),
        }
    }
}

/// What an executor told, as it was kept.
pub(super) fn told(bytes: &[u8]) -> Result<serde_json::Value, Error> {
    serde_json::from_slice(bytes).map_err(|e| Error::Broken(format!("what was observed is malformed: {e}")))
}

/// How every placeholder begins that stands for something nobody has named.
const PLACEHOLDER: &str = "[redacted: ";

impl Kernel {
    /// Makes the request of a proposal, or says why there can be none.
    pub(super) fn normalise(
        &self,
        tx: &mut Tx<'_>,
        executors: &dyn Executors,
        proposal: &Proposal,
        reason: &str,
        known: Option<&Known>,
    ) -> Result<Result<Normalised, Unfit>, Error> {
        let workspace =
            tx.task.workspace_hint.ok_or_else(|| Error::Input("the task has no workspace".to_owned()))?;
        let action = match self.action_of(tx, executors, proposal, workspace)? {
            Ok(action) => action,
            Err(unfit) => return Ok(Err(unfit)),
        };
        let mut normalised = self.request_of(tx, executors, action, reason)?;
        if let Some(unfit) = self.with_guest(tx, &mut normalised)? {
            return Ok(Err(unfit));
        }
        if let Some(known) = known {
            self.with_staged(&mut normalised, workspace, executors, known)?;
            let stale = self.staged_stale(&normalised.request, executors, &normalised.found);
            if !stale.is_empty() {
                return Ok(Err(Unfit(format!("nothing was done: {}; propose it again", stale.join("; ")))));
            }
        }
        match in_the_way(tx.redactor(), executors, normalised.request.items()) {
            Some(unfit) => Ok(Err(unfit)),
            None => Ok(Ok(normalised)),
        }
    }

    /// The typed action that a proposal asks for.
    fn action_of(
        &self,
        tx: &mut Tx<'_>,
        executors: &dyn Executors,
        proposal: &Proposal,
        workspace: WorkspaceId,
    ) -> Result<Result<Action, Unfit>, Error> {
        let observed = tx.attempt().map(AttemptState::seen).unwrap_or_default();
        Ok(Ok(match proposal {
            Proposal::Observe(items) => Action::Observe(acts::Observe { items: items.clone() }),
            Proposal::Change(items) => {
                let seen = seen_digests(self, &observed)?;
                match change_items(tx, executors, workspace, items, &seen)? {
                    Ok(items) => Action::Change(acts::Change { items }),
                    Err(unfit) => return Ok(Err(unfit)),
                }
            }
            Proposal::Call { .. } | Proposal::ReadResource { .. } => {
                return self.of_server(tx, executors, proposal);
            }
            Proposal::Act(Action::Fetch(fetch)) => match self.fetch_of(fetch, &observed)? {
                Ok(action) => action,
                Err(unfit) => return Ok(Err(unfit)),
            },
            Proposal::Act(Action::TryChange(change)) => match self.trial_act(change) {
                Ok(action) => action,
                Err(unfit) => return Ok(Err(unfit)),
            },
            Proposal::Act(action) => {
                let unusable = |resource: &ResourceId| match resource {
                    ResourceId::Secret(handle) => self.unusable_secret(handle),
                    _ => None,
                };
                if let Some(why) = action.resources(workspace).iter().find_map(unusable) {
                    return Ok(Err(Unfit(why)));
                }
                action.clone()
            }
            Proposal::Commit { .. }
            | Proposal::Branch { .. }
            | Proposal::Tag { .. }
            | Proposal::MoveRef { .. }
            | Proposal::DeleteRef { .. } => match super::vcs::change_of(executors, workspace, proposal) {
                Ok(action) => action,
                Err(unfit) => return Ok(Err(unfit)),
            },
            Proposal::Remember(proposed) => match self.memory_act(tx, workspace, proposed)? {
                Ok(action) => action,
                Err(unfit) => return Ok(Err(unfit)),
            },
            Proposal::Note(_)
            | Proposal::Believe { .. }
            | Proposal::Retract { .. }
            | Proposal::FindTools { .. }
            | Proposal::UseSkill { .. }
            | Proposal::Ask { .. }
            | Proposal::Delegate { .. }
            | Proposal::Done { .. } => {
                return Err(Error::Broken("a proposal without an act was normalised".to_owned()));
            }
        }))
    }

    /// The request around an action: classes and resources computed here, never taken from the proposer.
    pub(crate) fn request_of(
        &self,
        tx: &Tx<'_>,
        executors: &dyn Executors,
        action: Action,
        reason: &str,
    ) -> Result<Normalised, Error> {
        let workspace =
            tx.task.workspace_hint.ok_or_else(|| Error::Input("the task has no workspace".to_owned()))?;
        let classes = action.classes();
        let action_class =
            *classes.first().ok_or_else(|| Error::Broken("an action without a class".to_owned()))?;
        let reach = (!action.as_tool().argv().is_empty()).then(|| executors.reach(&action));
        let target_resources = acts::resources_of(workspace, &action, None, reach.as_ref());
        let found = if action_class.is_important() {
            executors.observe(&governance::witness::observable(&target_resources))
        } else {
            Vec::new()
        };
        let step_id = tx.step().map(|s| s.step_id).ok_or_else(|| Error::Broken("no step".to_owned()))?;
        let attempt_id = tx.current.ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
        let attempt = tx.attempt().ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
        let mut request = ActionRequest {
            action_request_id: ActionRequestId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: tx.task.task_id,
            step_id,
            attempt_id,
            action_class,
            expected_effects: action.as_tool().expected(workspace, &found),
            reversibility_hint: action.as_tool().reversibility(),
            target_resources,
            action,
            reason: reason.chars().take(2_000).collect(),
            proposed_by: self.actor(PrincipalType::Agent)?.actor_id,
            proposed_at: tx.now(),
            evidence_refs: attempt.seen().iter().map(|o| o.artifact.artifact_id).collect(),
            staged: None,
            not_staged: None,
            reach,
            instead_of: None,
            guest: None,
        };
        let made = acts::folders::foreseen(workspace, request.items(), |places| executors.observe(places));
        request.expected_effects.extend(made);
        let bytes = seal::canon::to_canonical(&request)?;
        Ok(Normalised { request, bytes, found, staging: None })
    }
}

/// What is overwritten is kept for an undo: what is too large, and what holds a secret, which is never kept, cannot be.
fn in_the_way(redactor: &redact::Redactor, executors: &dyn Executors, items: &[ChangeItem]) -> Option<Unfit> {
    if let Err(why) = executors.can_keep(items) {
        return Some(Unfit(why));
    }
    if redactor.is_empty() || items.is_empty() {
        return None;
    }
    executors.before_images(items).map_while(Result::ok).find_map(|(path, _, bytes)| {
        let held = redactor.holds(&bytes);
        (!held.is_empty()).then(|| {
            Unfit(format!(
                "`{path}` holds the value of {}; what is overwritten is kept for an undo, and Hermit keeps no secret: \
                 leave this file to the person",
                crate::redaction::named(held)
            ))
        })
    })
}

/// What is at every place that the proposal names.
fn found_at(
    executors: &dyn Executors,
    workspace: WorkspaceId,
    proposed: &[ProposedChange],
) -> BTreeMap<RelPath, Found> {
    let paths: Vec<ResourceId> = proposed
        .iter()
        .flat_map(|item| match item {
            ProposedChange::Write { path, .. }
            | ProposedChange::Edit { path, .. }
            | ProposedChange::Delete { path } => vec![path.clone()],
            ProposedChange::Move { from, to } => vec![from.clone(), to.clone()],
        })
        .map(|path| ResourceId::File(workspace, path))
        .collect();
    executors
        .observe(&paths)
        .into_iter()
        .filter_map(|print| match print.resource {
            ResourceId::File(_, path) => Some((path, print.state)),
            _ => None,
        })
        .collect()
}

/// Priors: a write may replace only what this attempt has seen; a move or delete names what is there now (pain 8).
fn change_items(
    tx: &mut Tx<'_>,
    executors: &dyn Executors,
    workspace: WorkspaceId,
    proposed: &[ProposedChange],
    seen: &BTreeMap<RelPath, Digest>,
) -> Result<Result<Vec<ChangeItem>, Unfit>, Error> {
    let mut there = found_at(executors, workspace, proposed);
    let mut items = Vec::with_capacity(proposed.len());
    for item in &super::edit::joined(proposed) {
        match item {
            ProposedChange::Write { path, .. } | ProposedChange::Edit { path, .. } => {
                let prior = match prior_of_write(path, there.get(path), seen.get(path)) {
                    Ok(prior) => prior,
                    Err(unfit) => return Ok(Err(unfit)),
                };
                let content = match super::edit::content_of(tx.redactor(), executors, item, &prior) {
                    Ok(content) => content,
                    Err(unfit) => return Ok(Err(unfit)),
                };
                let content_sha256 = tx.keep(content.as_bytes())?;
                let byte_size = content.len() as u64;
                there.insert(path.clone(), Found::File { sha256: content_sha256, byte_size, mode: None });
                items.push(ChangeItem::Write {
                    path: path.clone(),
                    content_sha256,
                    byte_size,
                    prior,
                    mode: None,
                });
            }
            ProposedChange::Delete { path } => {
                let Some(Found::File { sha256, .. }) = there.get(path) else {
                    return Ok(Err(not_a_file(path, there.get(path).unwrap_or(&Found::Absent))));
                };
                items.push(ChangeItem::Delete { path: path.clone(), prior: Prior::Sha256(*sha256) });
                there.insert(path.clone(), Found::Absent);
            }
            ProposedChange::Move { from, to } => {
                let Some(found @ Found::File { sha256, .. }) = there.get(from).cloned() else {
                    return Ok(Err(not_a_file(from, there.get(from).unwrap_or(&Found::Absent))));
                };
                if let Some(Found::Folder { .. }) = there.get(to) {
                    let name = from.to_string().rsplit('/').next().unwrap_or_default().to_owned();
                    return Ok(Err(Unfit(format!(
                        "`{to}` is a folder; to move the file into it, `to` is `{to}/{name}`"
                    ))));
                }
                if let Some(Found::Unreadable { reason }) = there.get(to) {
                    return Ok(Err(Unfit(format!("`{to}` cannot be looked at: {reason}"))));
                }
                if !matches!(there.get(to), None | Some(Found::Absent)) {
                    return Ok(Err(Unfit(format!(
                        "`{to}` exists; a move never overwrites, choose another name"
                    ))));
                }
                items.push(ChangeItem::Move {
                    from: from.clone(),
                    to: to.clone(),
                    prior: Prior::Sha256(sha256),
                });
                there.insert(from.clone(), Found::Absent);
                there.insert(to.clone(), found);
            }
        }
    }
    Ok(Ok(items))
}

/// A proposer that was shown a placeholder where a key stands would write the placeholder over the key.
pub(super) fn would_lose(
    executors: &dyn Executors,
    path: &RelPath,
    content: &str,
    prior: &Prior,
) -> Option<Unfit> {
    if !matches!(prior, Prior::Sha256(_)) || !content.contains(PLACEHOLDER) {
        return None;
    }
    let there = executors.texts(std::slice::from_ref(path));
    let is_there = there.values().any(|bytes| String::from_utf8_lossy(bytes).contains(PLACEHOLDER));
    (!is_there).then(|| {
        Unfit(format!(
            "`{path}` holds what looks like a key, which you were shown as `{PLACEHOLDER}…]`; writing that would destroy \
             it. Leave the file as it is, or change it with a command that does not touch the key"
        ))
    })
}

/// What a write may find: nothing, or exactly the file that this attempt has seen.
fn prior_of_write(path: &RelPath, there: Option<&Found>, seen: Option<&Digest>) -> Result<Prior, Unfit> {
    match (there, seen) {
        (None | Some(Found::Absent), _) => Ok(Prior::Absent),
        (Some(Found::File { sha256, .. }), Some(known)) if known == sha256 => Ok(Prior::Sha256(*sha256)),
        (Some(Found::File { .. }), Some(_)) => {
            Err(Unfit(format!("`{path}` has changed since it was read; read it again")))
        }
        (Some(Found::File { .. }), None) => {
            Err(Unfit(format!("`{path}` exists and was not read; read it before replacing it")))
        }
        (Some(other), _) => Err(not_a_file(path, other)),
    }
}

fn not_a_file(path: &RelPath, found: &Found) -> Unfit {
    if let Found::Unreadable { reason } = found {
        return Unfit(format!("`{path}` cannot be looked at: {reason}"));
    }
    Unfit(format!("`{path}` is {}; only regular files are changed", governance::witness::in_words(found)))
}
