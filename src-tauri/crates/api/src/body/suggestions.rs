//! What the historian proposes to remember: the lines of its cards that wait for a person, each with what shows it.

use crate::convert::opt;
use crate::{Host, Wire as _};
use acts::{Action, ApprovalPacket, Register, Remember};
use lineage::{Graph, NodeId};
use model::ArtifactId;
use model::action::ActionClass;
use model::artifact::ArtifactKind;
use model::task::Origin;
use projections::query::Ask;
use projections::rows::ApprovalRow;
use std::collections::BTreeSet;
use wire::knowledge::{Ground, Project, Review, Reviewed, Suggestion, SuggestionList, Suggestions};
use wire::trace::Step;
use wire::{Error, Text};

/// Cards that are read for one list: each project has one at a time.
const CARDS_MAX: usize = 200;

pub(crate) fn suggestions(host: &dyn Host, _: Suggestions) -> Result<SuggestionList, Error> {
    let mut rows = Vec::new();
    for card in cards(host)? {
        let bytes = host.artifacts()?.read(&card.packet_sha256).wire()?;
        let packet: ApprovalPacket = seal::canon::from_canonical(&bytes).wire()?;
        let Action::Remember(all) = &packet.action_request.action else { continue };
        let of = u32::try_from(all.also.len()).unwrap_or(u32::MAX).saturating_add(1);
        for (claim, number) in all.claims().zip(1..) {
            rows.push(line(host, &card, &claim, (number, of))?);
        }
    }
    Ok(SuggestionList { rows })
}

/// Cards of the historian and of changes of what Hermit may do that wait for a person, the newest first.
fn cards(host: &dyn Host) -> Result<Vec<ApprovalRow>, Error> {
    let query = host.query()?;
    let (mut found, mut next) = (Vec::new(), Ask::ALL);
    loop {
        let page = query.inbox(host.now(), next).wire()?;
        for row in page.rows {
            let may_be =
                matches!(row.action_class, ActionClass::DurableMemoryWrite | ActionClass::CapabilityChange);
            let task = if may_be { query.task(row.task_id).wire()? } else { None };
            let is_drafts = row.action_class == ActionClass::CapabilityChange;
            if task.is_some_and(|task| is_drafts || task.origin == Origin::Service) {
                found.push(row);
            }
        }
        match page.next {
            Some(cursor) if found.len() < CARDS_MAX => next = Ask::ALL.after(Some(cursor)),
            _ => return Ok(found),
        }
    }
}

fn line(
    host: &dyn Host,
    card: &ApprovalRow,
    claim: &Remember,
    (number, of): (u32, u32),
) -> Result<Suggestion, Error> {
    let stamped = claim.evidence_refs.first();
    let told = match stamped {
        Some(one) => told(host, one.artifact_id)?,
        None => None,
    };
    let ground = |ground: model::knowledge::Ground| Ground {
        task_id: ground.task_id.to_string(),
        event_id: ground.event_id.to_string(),
        receipt_id: opt(ground.receipt_id),
        what: ground.what,
        quote: Text::Shown(ground.quote),
    };
    Ok(Suggestion {
        approval_id: card.approval_id.to_string(),
        task_id: card.task_id.to_string(),
        number,
        of,
        claim: Text::Shown(claim.claim.clone()),
        reason: Text::Shown(claim.promotion_reason.clone()),
        memory_type: claim.memory_type,
        trust: stamped.map_or(words::knowledge::TrustTier::Untrusted, |one| one.trust_tier),
        project: claim.project.as_ref().map(|project| Project {
            hash: project.hash.to_string(),
            name: Some(Text::Shown(project.name.clone())),
        }),
        grounds: told.map(|told| told.grounds.into_iter().map(ground).collect()).unwrap_or_default(),
        requested_at: card.requested_at.0,
    })
}

/// A line as the historian found it; none where it was erased since.
fn told(host: &dyn Host, at: ArtifactId) -> Result<Option<model::knowledge::Suggestion>, Error> {
    let Some(row) = host.query()?.artifact(at).wire()? else { return Ok(None) };
    let Ok(bytes) = host.artifacts()?.read(&row.content_hash) else { return Ok(None) };
    Ok(serde_json::from_slice(&bytes).ok())
}

/// Looks of one call; what is left then is said.
const LOOKS_MAX: usize = 50;

pub(crate) fn review(host: &dyn Host, _: Review) -> Result<Reviewed, Error> {
    let kernel = host.kernel()?;
    let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
    let mut came = Reviewed { task_id: None, lines: 0, tasks: 0, waiting: 0, more: false, drafts: 0 };
    for _ in 0..LOOKS_MAX {
        let looked = kernel.read_history(0).wire()?;
        if let Some(task) = looked.task_id {
            host.drive(task)?;
        }
        came = Reviewed {
            task_id: came.task_id.or_else(|| opt(looked.task_id)),
            lines: came.lines.saturating_add(count(looked.lines)),
            tasks: came.tasks.saturating_add(count(looked.tasks)),
            waiting: count(looked.waiting),
            more: looked.more,
            drafts: came.drafts.saturating_add(count(looked.drafts)),
        };
        if !looked.more {
            break;
        }
    }
    Ok(came)
}

/// How to take back what is proposed of these artifacts and still waits for a person.
pub(crate) fn to_deny(host: &dyn Host, graph: &Graph, derived: &[NodeId]) -> Result<Vec<Step>, Error> {
    let lines: BTreeSet<ArtifactId> = derived
        .iter()
        .filter_map(|id| match id {
            NodeId::Artifact(at) => Some(*at),
            _ => None,
        })
        .filter(|at| {
            let kind = graph.node(*at).and_then(|node| node.artifact_kind);
            matches!(kind, Some(ArtifactKind::BeliefExtract | ArtifactKind::PlaybookDraft))
        })
        .collect();
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let mut steps = Vec::new();
    for card in cards(host)? {
        let bytes = host.artifacts()?.read(&card.packet_sha256).wire()?;
        let packet: ApprovalPacket = seal::canon::from_canonical(&bytes).wire()?;
        if let Action::Register(Register::Playbook { adopt }) = &packet.action_request.action
            && lines.contains(&adopt.at.artifact_id)
        {
            steps.push(Step {
                subject: crate::lineages::link(graph, adopt.at.artifact_id),
                command: Some(format!("hermit approvals deny {}", card.approval_id)),
                why: "it was drafted from what derives from the source, and waits for you".to_owned(),
            });
        }
        let Action::Remember(all) = &packet.action_request.action else { continue };
        let named = all.claims().flat_map(|claim| claim.evidence_refs).map(|one| one.artifact_id);
        if let Some(at) = named.into_iter().find(|at| lines.contains(at)) {
            steps.push(Step {
                subject: crate::lineages::link(graph, at),
                command: Some(format!("hermit approvals deny {}", card.approval_id)),
                why: match all.also.is_empty() {
                    true => "it is proposed to be remembered and waits for you".to_owned(),
                    false => "it is proposed to be remembered and waits for you; with `hermit approvals approve --only` \
                              you keep the card's other lines"
                        .to_owned(),
                },
            });
        }
    }
    Ok(steps)
}
