//! The card: a packet as lines that any surface can show, what destroys first, nothing cut, nothing hidden.

use super::lookalikes;
use super::reach;
use super::staged;
use crate::{PART, risk, witness};
use acts::{Action, ApprovalPacket, Line, LineKind, items, visible};
use model::action::{InsteadOf, Reversibility};
use model::policy::RiskBand;
use words::time::utc;

/// What a person reads before answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// One line: what is asked.
    pub title: String,
    /// How much is at stake; high and critical open the approval key for one decision only.
    pub risk_band: RiskBand,
    /// Everything a person needs, the gravest first. May be folded by a surface, never cut.
    pub lines: Vec<Line>,
    /// How many lines behind the first, which says the risk, tell of the act itself.
    pub act_lines: usize,
}

/// The card of a packet: a pure function of it, so that what is shown can be shown again.
pub fn card(packet: &ApprovalPacket) -> Card {
    let mut lines = Vec::new();
    let mut add = |kind: LineKind, text: String| lines.push(Line { kind, text });
    let action = &packet.action_request.action;
    let request = &packet.action_request;
    let risk = format!("{}: {}", risk::in_words(packet.risk_band), visible(&packet.risk_summary));
    add(LineKind::Risk, risk);
    if packet.policy_result.needs_two() {
        add(LineKind::Fact, "TWO different keys have to allow this; one yes alone does nothing".to_owned());
    }
    let instead = request.instead_of.iter().flat_map(instead);
    instead.for_each(|line| add(line.kind, line.text));
    let mut effects = action.as_tool().lines(request);
    sort(&mut effects);
    if let Some(why) = &request.not_staged {
        effects.push(not_staged(why));
    }
    if let (Some(staged), Some(view)) = (&request.staged, &packet.staged) {
        let seen = staged::lines(request, staged, view);
        match action {
            // What a server is and what it was asked is told by nothing that it did.
            Action::Call(_) => effects.splice(0..0, seen).for_each(drop),
            _ => effects = seen,
        }
    }
    effects.into_iter().for_each(|line| add(line.kind, line.text));
    lookalikes::lines(request).into_iter().for_each(|line| add(line.kind, line.text));
    reach::lines(request).into_iter().for_each(|line| add(line.kind, line.text));
    let way_back = match request.way_back() {
        _ if action.as_tool().sends() => LineKind::Unrecoverable,
        Reversibility::Irreversible => LineKind::Unrecoverable,
        Reversibility::NoEffect | Reversibility::Reversible | Reversibility::Partial => LineKind::Fact,
    };
    // That nothing brings it back is a word of the act.
    let act_lines =
        if way_back == LineKind::Unrecoverable { lines.len() } else { lines.len().saturating_sub(1) };
    let mut add = |kind: LineKind, text: String| lines.push(Line { kind, text });
    add(way_back, format!("afterwards: {}", visible(&packet.rollback_availability)));
    add(LineKind::Quoted, format!("goal: {}", visible(&packet.goal)));
    // A proposer that gives no reason has none put into its mouth.
    if !packet.rationale.is_empty() && !packet.goal.starts_with(&packet.rationale) {
        add(LineKind::Quoted, format!("the model or playbook says why: {}", visible(&packet.rationale)));
    }
    action.as_tool().details().into_iter().for_each(|text| add(LineKind::Fact, text));
    reach::details(request).for_each(|text| add(LineKind::Fact, text));
    request.instead_of.iter().flat_map(identified).for_each(|text| add(LineKind::Fact, text));
    facts(packet).into_iter().for_each(|text| add(LineKind::Fact, text));
    Card { title: action.as_tool().title(), risk_band: packet.risk_band, lines, act_lines }
}

/// What destroys comes first, and otherwise the order of execution stays; what is quoted stays behind what names it.
fn sort(effects: &mut Vec<Line>) {
    let mut rank = 1;
    let mut ranked: Vec<(u8, Line)> = std::mem::take(effects)
        .into_iter()
        .map(|line| {
            rank = match line.kind {
                LineKind::Quoted => rank,
                LineKind::Destructive => 0,
                _ if line.text.starts_with(items::EMPTY_FOLDER) => 2,
                _ => 1,
            };
            (rank, line)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    effects.extend(ranked.into_iter().map(|(_, line)| line));
}

/// What was asked, and what allows no more of it.
fn instead(instead: &InsteadOf) -> Vec<Line> {
    let fact = |text: String| Line { kind: LineKind::Fact, text };
    let InsteadOf { asked, mode, rules, .. } = instead;
    if mode == PART {
        return vec![
            fact(format!("A PART of what was asked: {}", visible(asked))),
            fact(format!("the rest was denied: {}", visible(&rules.join(", ")))),
            fact("what was asked is not done; what was left out is kept".to_owned()),
        ];
    }
    vec![
        fact(format!("INSTEAD of what was asked: {}", visible(asked))),
        fact(format!("policy allows that only as `{}`: {}", visible(mode), visible(&rules.join(", ")))),
        fact("what was asked is not done; it is kept as a draft".to_owned()),
    ]
}

/// What was asked and what is kept of it, by identifier and digest.
fn identified(instead: &InsteadOf) -> [String; 2] {
    let InsteadOf { action_request_id, request_sha256, mode, draft_sha256, .. } = instead;
    let kept = if mode == PART { "what was left out" } else { "the draft" };
    [
        format!("what was asked is `{action_request_id}`, sha256 {request_sha256}"),
        format!("sha256 of {kept}: {draft_sha256}"),
    ]
}

fn not_staged(why: &str) -> Line {
    let text = format!(
        "NOT TRIED BEFOREHAND, because {}: what it changes is not known yet, and after your yes it runs in the \
         folder itself",
        visible(why)
    );
    Line { kind: LineKind::Unrecoverable, text }
}

fn facts(packet: &ApprovalPacket) -> Vec<String> {
    let policy = &packet.policy_result;
    let mut facts = vec![
        format!("policy \"{}\": {}", policy.policy_profile.in_words(), visible(&policy.reasoning_summary)),
        format!("rules: {}", visible(&policy.determining_rules.join(", "))),
    ];
    facts.extend(packet.impacted_resources.iter().map(|resource| format!("touches `{}`", visible(resource))));
    if let Some(found) = &packet.state_witness {
        facts.extend(found.preconditions.iter().map(|text| format!("must hold: {}", visible(text))));
        facts.extend(found.fingerprints.iter().map(|print| {
            let resource = visible(&print.resource.to_string());
            format!("found there: `{resource}` is {}", visible(&witness::in_words(&print.state)))
        }));
    }
    facts.extend(packet.evidence_refs.iter().map(|artifact| format!("the model had read `{artifact}`")));
    facts.push(format!("proposed by `{}`", packet.action_request.proposed_by));
    facts.push(format!(
        "task `{}`, step `{}`, attempt `{}`",
        packet.task_id, packet.step_id, packet.attempt_id
    ));
    facts.push(format!(
        "asked at {} and expires at {}",
        utc(packet.requested_at.0),
        utc(packet.expires_at.0)
    ));
    facts.push("when it expires, nothing is decided and nothing runs".to_owned());
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_stays_behind_what_names_it() {
        let line = |kind, text: &str| Line { kind, text: text.to_owned() };
        let mut lines = vec![
            line(LineKind::Fact, "first"),
            line(LineKind::Quoted, "of the first"),
            line(LineKind::Destructive, "a CHANGED"),
            line(LineKind::Quoted, "of a"),
            line(LineKind::Destructive, "b CHANGED"),
            line(LineKind::Quoted, "of b"),
        ];
        sort(&mut lines);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["a CHANGED", "of a", "b CHANGED", "of b", "first", "of the first"]);
    }
}
