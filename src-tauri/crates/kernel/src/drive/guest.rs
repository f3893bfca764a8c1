//! The agent of another program: its turn is an act of its own, and what its view shows becomes a change set, judged and
//! shown like any other (tools.md 4).

use super::normalise::{Normalised, Unfit};
use super::trial::{by_path, holds};
use crate::Error;
use crate::kernel::Kernel;
use crate::state::TaskState;
use acts::Action;
use iteration::Proposal;
use model::action::ChangeItem;
use model::guest::{GuestDiffers, GuestLaunch, GuestReport, GuestWork};
use model::limits::GUEST_MS_MAX;
use model::proposal::{Answer, ToolCall};
use model::task::ModelChoice;
use model::{ArtifactId, Digest, RelPath};
use serde_json::Value;
use std::collections::BTreeSet;

/// Why a guest's task ended without anything to show.
pub(super) fn stopped(why: &str) -> String {
    format!(
        "Stopped: {}. Nothing of it is in the folder. Put that right, or say in the goal what to do otherwise, and run it \
         again.",
        why.trim_end_matches('.')
    )
}

impl Kernel {
    /// What the answer of a guest comes to: the same answer always gives the same proposals.
    pub(super) fn guest_proposals(
        &self,
        state: &TaskState,
        answer: &Answer,
    ) -> Result<Result<Vec<Proposal>, String>, Error> {
        Ok(match answer.calls.as_slice() {
            [call] if call.name == reasoning::guest::RUN => {
                self.guest_turn(state, call)?.map(|act| vec![Proposal::Act(act)])
            }
            [call] if call.name == reasoning::guest::CARRY_OVER => match self.guest_report(state, call)? {
                Some((_, report)) => {
                    Ok(vec![Proposal::Act(Action::Change(acts::Change { items: report.items }))])
                }
                None => Err("there is no such report".to_owned()),
            },
            [] => Ok(Vec::new()),
            _ => iteration::parse(answer).map_err(|malformed| malformed.reason),
        })
    }

    /// One turn, as it is started.
    fn guest_turn(&self, state: &TaskState, call: &ToolCall) -> Result<Result<Action, String>, Error> {
        let contract = self.contract(state)?;
        let ModelChoice::Guest { launch, .. } = self.choice(state, &contract)? else {
            return Err(Error::Broken("a guest without a launch".to_owned()));
        };
        let launch: GuestLaunch = self.read_object(state, launch)?;
        let member = |name: &str| call.arguments.get(name);
        let most = u64::try_from(state.budget(&contract).wall_ms_max).unwrap_or(GUEST_MS_MAX);
        let guest = acts::Guest {
            launch,
            prompt: member("prompt").and_then(Value::as_str).unwrap_or_default().to_owned(),
            goes_on: member("goes_on").and_then(Value::as_bool).unwrap_or_default(),
            heard: member("heard")
                .and_then(Value::as_u64)
                .and_then(|n| n.try_into().ok())
                .unwrap_or_default(),
            timeout_ms: most.clamp(1, GUEST_MS_MAX),
        };
        let act = Action::Guest(guest);
        Ok(act.as_tool().check().map(|()| act))
    }

    /// The report that a call names.
    fn guest_report(
        &self,
        state: &TaskState,
        call: &ToolCall,
    ) -> Result<Option<(ArtifactId, GuestReport)>, Error> {
        let named = call.arguments.get("report").and_then(Value::as_str).and_then(|text| text.parse().ok());
        let named: Option<Digest> = named;
        let seen = state.attempt().map(|attempt| attempt.observed.as_slice()).unwrap_or_default();
        let Some(seen) = seen.iter().find(|seen| Some(seen.artifact.sha256) == named) else {
            return Ok(None);
        };
        let id = seen.artifact.artifact_id;
        Ok(Some((id, self.read_object(state, id)?)))
    }

    /// Says in a change set of a guest whose work it is, and what of it the guest has told. Why it cannot be carried over
    /// any more, if somebody was there meanwhile.
    pub(super) fn with_guest(
        &self,
        state: &TaskState,
        normalised: &mut Normalised,
    ) -> Result<Option<Unfit>, Error> {
        let answer = state.attempt().and_then(|attempt| attempt.turn.answer().cloned());
        let (Some(at), Action::Change(change)) = (answer, &normalised.request.action) else {
            return Ok(None);
        };
        if self.proposer(state)? != model::task::Proposer::Guest {
            return Ok(None);
        }
        let answer: Answer = model::json::read_as(&self.artifacts.read(&at.sha256)?)
            .map_err(|e| Error::Broken(format!("a stored answer is malformed: {e}")))?;
        let carried = answer.calls.iter().find(|call| call.name == reasoning::guest::CARRY_OVER);
        let Some((id, report)) = carried.map(|call| self.guest_report(state, call)).transpose()?.flatten()
        else {
            return Err(Error::Broken("a guest's change set without a report".to_owned()));
        };
        let there = by_path(&normalised.found);
        let mut came: BTreeSet<&RelPath> = BTreeSet::new();
        let mut stale = Vec::new();
        for item in &change.items {
            // What an earlier item makes or takes away is not there before it.
            let (path, prior) = match item {
                ChangeItem::Write { path, prior, .. }
                | ChangeItem::Delete { path, prior }
                | ChangeItem::Move { from: path, prior, .. } => (path, prior),
                _ => continue,
            };
            if came.insert(path) && !holds(prior, &there, path) {
                stale.push(format!("`{path}` is not as the guest saw it"));
            }
        }
        if !stale.is_empty() {
            return Ok(Some(Unfit(format!("nothing was done: {}", stale.join("; ")))));
        }
        let (untold, differs) = (untold(&report), differs(&report));
        let GuestReport { guest, error, told, helpers, .. } = report;
        normalised.request.guest =
            Some(GuestWork { guest, report: id, error, told, untold, differs, helpers });
        normalised.bytes = seal::canon::to_canonical(&normalised.request)?;
        Ok(None)
    }
}

/// Places that the view shows as changed and that the guest did not tell of.
fn untold(report: &GuestReport) -> Vec<RelPath> {
    let Some(told) = &report.told else { return Vec::new() };
    let told: BTreeSet<&RelPath> = told.iter().collect();
    let changed: BTreeSet<&RelPath> = report.items.iter().flat_map(acts::changed_paths).collect();
    // A folder that came with a file in it was told with that file.
    let within = |path: &RelPath| told.iter().any(|told| told.is_within(path));
    changed.into_iter().filter(|path| !within(path)).cloned().collect()
}

/// Places that the view shows with other bytes than the guest said it left there.
fn differs(report: &GuestReport) -> Vec<GuestDiffers> {
    let of = |item: &ChangeItem| match item {
        ChangeItem::Write { path, byte_size, .. } => {
            let told = *report.told_bytes.get(path)?;
            (told != *byte_size).then(|| GuestDiffers { path: path.clone(), told, shown: *byte_size })
        }
        _ => None,
    };
    let mut differs: Vec<GuestDiffers> = report.items.iter().filter_map(of).collect();
    differs.sort_by(|one, other| one.path.cmp(&other.path));
    differs
}
