//! Playbooks at hand, drafts of what recurs, proposals to a person, and what only narrows.

use super::task::{channel, of_submitted};
use crate::caller::sender;
use crate::convert::opt;
use crate::{Host, Wire as _, fold, not_found};
use kernel::command::dreamer::{DraftStanding, meant, standings};
use kernel::playbook_registry::PlaybookRegistry;
use model::ingress::Channel;
use model::playbook::{PlaybookDraft, PlaybookTrial};
use wire::Error;
use wire::playbooks::{
    Adopt, Draft, DraftList, Drafts, List, Playbook, Playbooks, Read, Trial, Try, TurnOff, TurnedOff, Version,
};
use wire::task::Submitted;

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Playbooks, Error> {
    Ok(Playbooks { playbooks: host.playbooks() })
}

pub(crate) fn read(host: &dyn Host, p: Read) -> Result<Playbook, Error> {
    host.read_playbook(&p.text)
}

pub(crate) fn drafts(host: &dyn Host, p: Drafts) -> Result<DraftList, Error> {
    let (all, registry) = known(host)?;
    let wanted = |one: &&DraftStanding| p.name.as_ref().is_none_or(|name| one.is_called(name));
    let rows: Vec<Draft> = all.iter().rev().filter(wanted).map(|one| draft(one, &registry)).collect();
    match (&p.name, rows.is_empty()) {
        (Some(name), true) => Err(missing(name)),
        _ => Ok(DraftList { rows }),
    }
}

pub(crate) fn try_draft(host: &dyn Host, p: Try) -> Result<Draft, Error> {
    let tried = host.kernel()?.try_draft(&p.name).wire()?;
    let (all, registry) = known(host)?;
    let one = meant(&all, &p.name).cloned().ok_or_else(|| missing(&p.name))?;
    Ok(draft(&DraftStanding { draft: Some(tried), ..one }, &registry))
}

pub(crate) fn adopt(host: &dyn Host, p: Adopt) -> Result<Submitted, Error> {
    let submitted = host.kernel()?.propose_playbook(&p.name, channel(p.channel.as_deref())?).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn turn_off(host: &dyn Host, p: TurnOff) -> Result<TurnedOff, Error> {
    let by = sender(host, Channel::Cli);
    let reason = p.reason.unwrap_or_else(|| format!("turned off by a {}", by.by));
    let sha256 = host.kernel()?.turn_off_playbook(&p.name, &reason, by).wire()?;
    Ok(TurnedOff { name: p.name, sha256: sha256.to_string() })
}

fn known(host: &dyn Host) -> Result<(Vec<DraftStanding>, PlaybookRegistry), Error> {
    let reader = host.reader()?;
    let store = fold::store_state(&reader)?;
    let all = standings(&store, &reader, &host.query()?, host.artifacts()?).wire()?;
    Ok((all, store.playbooks))
}

fn missing(name: &str) -> Error {
    not_found("draft", name).hint("`hermit playbooks drafts` lists them")
}

fn draft(one: &DraftStanding, registry: &PlaybookRegistry) -> Draft {
    let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
    let draft = one.draft.as_ref();
    let (same, of) = draft.map(PlaybookDraft::same).unwrap_or_default();
    let versions = registry.0.iter().filter(|version| version.name == one.mark.name).map(|version| Version {
        version: version.version,
        sha256: version.sha256.to_string(),
        since: version.since.0,
        off: version.off.clone(),
        artifact_id: version.text.artifact_id.to_string(),
    });
    Draft {
        name: one.mark.name.clone(),
        playbook_sha256: one.mark.playbook_sha256.to_string(),
        state: one.state,
        why: one.why.clone(),
        task_id: opt(one.asked_in),
        text: draft.map(|draft| draft.text.clone()),
        project: draft.map(|draft| draft.project.name.clone()),
        trust: draft.map(|draft| draft.trust_tier),
        same: count(same),
        of: count(of),
        trials: draft.map(|draft| draft.trials.iter().map(trial).collect()).unwrap_or_default(),
        narrowest: draft.map(|draft| draft.narrowest.clone()),
        versions: versions.collect(),
        artifact_id: one.mark.draft.artifact_id.to_string(),
    }
}

fn trial(one: &PlaybookTrial) -> Trial {
    Trial {
        task_id: one.task_id.to_string(),
        receipts: one.receipts.iter().map(ToString::to_string).collect(),
        parameters: one.parameters.clone(),
        outcome: one.outcome,
        why: one.why.clone(),
    }
}
