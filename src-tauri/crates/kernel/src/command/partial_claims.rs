//! A person remembers some of several claims on one card: the card is denied, and those that they chose are asked about by
//! themselves. What they left out is struck: it is on record with their words, and proposed again only on new evidence.

use super::partial_approval::{Chosen, NAMED_MAX, with_words};
use crate::Error;
use crate::drive::{StandsIn, keep_draft};
use crate::kernel::Kernel;
use crate::state::Act;
use crate::tx::Tx;
use acts::{Action, ActionRequest, Remember};
use governance::PART;
use model::ActionRequestId;
use model::approval::{Approval, Surface};
use model::attempt::AttemptStatus;

impl Kernel {
    /// Denies the card, and puts the chosen claims on record as the request in hand.
    pub(super) fn choose_claims(
        &self,
        tx: &mut Tx<'_>,
        (asked, all): (&ActionRequest, &Remember),
        act: &Act,
        (approval, surface): (&Approval, Surface),
        chosen: &Chosen,
        feedback: Option<&str>,
    ) -> Result<(), Error> {
        let part = part_of(all, chosen)?;
        let total = all.also.len().saturating_add(1);
        let left: Vec<String> = all
            .claims()
            .zip(0..)
            .filter(|(_, at)| !chosen.items.contains(at))
            .map(|(one, _)| format!("\"{}\"", acts::visible(&one.claim)))
            .collect();
        let words = words_of(&left, feedback);
        self.deny_whole(tx, approval, surface, &words)?;
        let lines: String = left.iter().map(|claim| format!("not remembered: {claim}\n")).collect();
        let alias = format!("left out of {}", asked.action.as_tool().one_line());
        let of = (act.request.artifact_id, asked);
        let draft = keep_draft(tx, format!("{words}\n{lines}").as_bytes(), of, alias)?;
        let policy =
            act.policy.as_ref().ok_or_else(|| Error::Broken("an act without a policy result".to_owned()))?;
        let mut request = asked.clone();
        request.action_request_id = ActionRequestId::fresh(&*self.ports.clock, &*self.ports.entropy);
        request.proposed_by = tx.actor().actor_id;
        request.proposed_at = tx.now();
        let named = part.claims().flat_map(|one| one.evidence_refs).map(|evidence| evidence.artifact_id);
        let named: std::collections::BTreeSet<_> = named.collect();
        request.evidence_refs.retain(|artifact| named.contains(artifact));
        request.action = Action::Remember(part);
        let rule =
            format!("a person's choice at {}: {} of {total}", approval.approval_id, chosen.items.len());
        let instead = StandsIn {
            asked: (asked, &act.request),
            policy: (policy.policy_result_id, &policy.artifact),
            draft: &draft,
            mode: PART.to_owned(),
            rules: vec![rule],
        };
        instead.record(tx, request, |part| {
            format!("a part that you chose: {}", part.action.as_tool().one_line())
        })?;
        tx.unblock("a person chose a part of it")?;
        tx.set_attempt(AttemptStatus::AwaitingPolicy, "a person chose a part of it")
    }
}

/// The chosen claims, where they are some and not all.
fn part_of(all: &Remember, chosen: &Chosen) -> Result<Remember, Error> {
    let total = all.also.len().saturating_add(1);
    let demand = |holds: bool, why: &str| if holds { Ok(()) } else { Err(Error::Input(why.to_owned())) };
    demand(total > 1 && chosen.hunks.is_empty(), "this can be approved or denied only as a whole")?;
    demand(!chosen.items.is_empty(), "nothing was chosen; deny it instead")?;
    demand(chosen.items.iter().all(|at| *at < total), "there is no such claim in this")?;
    demand(chosen.items.len() < total, "everything was chosen; approve it instead")?;
    all.at(&chosen.items).ok_or_else(|| Error::Broken("a choice of nothing".to_owned()))
}

/// The person's words, and what they left out.
fn words_of(left: &[String], feedback: Option<&str>) -> String {
    let more = match left.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named: Vec<&str> = left.iter().take(NAMED_MAX).map(String::as_str).collect();
    with_words(format!("left out: {}{more}", named.join(", ")), feedback)
}
