//! A chain in five plain sentences: what was done, what for, who allowed it, what it rests on, how it is taken back.

use wire::Text;
use wire::receipts::{Explanation, Link, ReceiptRow};
use words::act::{ActionClass, Reversibility};
use words::artifact::ArtifactKind;
use words::knowledge::NodeKind;

/// Names of what a change rests on that are said; the rest is counted.
const NAMES_MAX: usize = 3;

/// Whether a link is what was read of a skill, which no name of a file can pass for. What a person trusted is kept as well, and
/// has no name but its digest.
fn is_of_a_skill(link: &Link) -> bool {
    link.kind == NodeKind::Artifact
        && link.detail == ArtifactKind::SkillText.as_str()
        && label(link).is_some_and(|name| !name.starts_with(NAMELESS))
}

/// How what has no name but its digest is named.
const NAMELESS: &str = "sha256:";

fn label(link: &Link) -> Option<&str> {
    match link.label.as_ref()? {
        Text::Shown(text) => Some(text.as_str()).filter(|text| !text.trim().is_empty()),
        Text::Erased { .. } => None,
    }
}

/// The sentences of one receipt and the chain behind it; `has_undo`: whether `receipts.rollback` undoes it.
pub(super) fn sentences(chain: &Explanation, row: &ReceiptRow, has_undo: bool) -> Vec<String> {
    vec![what(chain), why(chain), who(chain), rests_on(chain), back(chain, row, has_undo)]
}

fn what(chain: &Explanation) -> String {
    let act = chain.action.as_ref().and_then(label).or_else(|| chain.effect.as_ref().and_then(label));
    let at = chain.effect.iter().chain(&chain.action).find_map(|link| link.at);
    let when = at.map(|at| format!(" on {}", wire::utc(at))).unwrap_or_default();
    format!("What was done{when}: {}.", act.unwrap_or("an act whose words are erased"))
}

fn why(chain: &Explanation) -> String {
    let of = |kind: NodeKind| chain.goal.iter().rev().filter(|link| link.kind == kind).find_map(label);
    let sender = senders(chain);
    match of(NodeKind::Task).or_else(|| chain.goal.iter().find_map(label)) {
        Some(goal) => format!("It was done for the task: {goal}.{sender}"),
        None => format!("What it was done for is erased or not recorded.{sender}"),
    }
}

/// Through which channels words came that are not the person's own, and how far they may be relied on.
fn senders(chain: &Explanation) -> String {
    let of = |link: &Link| {
        (link.kind == NodeKind::Ingress && link.detail.contains(',')).then(|| link.detail.clone())
    };
    let mut found: Vec<String> = chain.goal.iter().filter_map(of).collect();
    found.sort();
    found.dedup();
    match found.is_empty() {
        true => String::new(),
        false => format!(" Words for it came from elsewhere: {}.", found.join("; ")),
    }
}

fn who(chain: &Explanation) -> String {
    let policy = chain.policy.last().map(|link| link.detail.as_str()).filter(|text| !text.is_empty());
    let policy = match policy {
        None => String::new(),
        Some("allow") => "Policy allowed it; ".to_owned(),
        Some("require_approval") => "Policy left it to a person; ".to_owned(),
        Some("deny") => "Policy denied it; ".to_owned(),
        Some(other) => format!("Policy said {}; ", other.replace('_', " ")),
    };
    match chain.approvals.last() {
        Some(approval) => {
            let at = approval.at.map(|at| format!(" on {}", wire::utc(at))).unwrap_or_default();
            let how = match approval.detail.as_str() {
                "granted" => "and approved it".to_owned(),
                "denied" => "and denied it".to_owned(),
                other => format!("and it was {other}"),
            };
            format!("{policy}a person was asked{at} {how}.")
        }
        None => format!("{policy}nobody was asked for this one act."),
    }
}

fn rests_on(chain: &Explanation) -> String {
    let (skills, others): (Vec<&Link>, Vec<&Link>) =
        chain.evidence.iter().partition(|link| is_of_a_skill(link));
    let labels = |links: Vec<&'_ Link>| -> Vec<String> {
        links.into_iter().filter_map(label).map(str::to_owned).collect()
    };
    let (skills, names) = (labels(skills), labels(others));
    let followed = match skills.is_empty() {
        true => String::new(),
        false => format!(" Before it, the model had read: {}.", skills.join("; ")),
    };
    // A digest tells a person nothing: what has no other name is counted.
    let named: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !name.starts_with(NAMELESS)).collect();
    let shown = named.iter().take(NAMES_MAX).copied().collect::<Vec<_>>().join("; ");
    let more = match names.len() - named.len().min(NAMES_MAX) {
        0 => String::new(),
        more if named.is_empty() => format!("{more} things that were recorded"),
        more => format!("; and {more} more"),
    };
    let trust = match (chain.untrusted.is_empty(), &chain.trust) {
        (false, _) => " Some of it came from outside and was not checked.".to_owned(),
        (true, Some(tier)) => format!(" The least sure of it is {tier}."),
        (true, None) => String::new(),
    };
    match names.is_empty() {
        true if skills.is_empty() => format!("It rests on nothing that was read.{trust}"),
        true => format!("It rests on skills alone.{followed}{trust}"),
        false => format!("It rests on: {shown}{more}.{followed}{trust}"),
    }
}

fn back(chain: &Explanation, row: &ReceiptRow, has_undo: bool) -> String {
    if let Some(by) = chain.undone_by.first() {
        return format!("It was undone since, by receipt {}.", by.id);
    }
    if has_undo {
        return format!("To undo it: hermit rollback {}", chain.receipt_id);
    }
    let said = match (row.reversibility, row.action_class) {
        (Reversibility::NoEffect, _) => "It changed nothing, so there is nothing to undo.",
        (Reversibility::Irreversible, _) => "It cannot be undone.",
        (_, ActionClass::DurableMemoryWrite) => {
            "No undo brings it back: mark the record as wrong, with `hermit memory invalidate`."
        }
        (_, ActionClass::CapabilityChange) => {
            "No undo brings it back: change the same setting of Hermit again."
        }
        _ => "It cannot be undone: nothing is kept of what was there before.",
    };
    said.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_of_a_skill_is_told_by_its_kind_and_no_file_passes_for_it() {
        let link = |detail: &str, label: &str| serde_json::json!({ "kind": "artifact", "id": "x", "task_id": null, "label": label, "detail": detail, "at": null });
        let chain = |evidence: serde_json::Value| -> Explanation {
            serde_json::from_value(serde_json::json!({
                "receipt_id": "r", "goal": [], "context": [], "evidence": evidence, "action": null, "policy": [],
                "decisions": [], "approvals": [], "witnesses": [], "grants": [], "effect": null, "changes": [],
                "undone_by": [], "trust": null, "untrusted": [],
            }))
            .expect("an explanation")
        };
        let told = rests_on(&chain(serde_json::json!([
            link("skill.text", "skill knots, sha256 1"),
            link("skill.text", "sha256:2"),
            link("transcript", "skill deploy, sha256 3"),
        ])));
        assert!(told.contains("the model had read: skill knots, sha256 1."), "{told}");
        assert!(told.starts_with("It rests on: skill deploy, sha256 3; and 1 more."), "{told}");
    }

    #[test]
    fn why_names_the_senders_whose_words_are_not_the_persons() {
        let link = |kind: NodeKind, detail: &str| Link {
            kind,
            id: "x".to_owned(),
            task_id: None,
            label: Some(Text::Shown("tidy".to_owned())),
            detail: detail.to_owned(),
            at: None,
        };
        let chain = |details: &[&str]| {
            let words = details.iter().map(|detail| link(NodeKind::Ingress, detail));
            let goal = words.chain([link(NodeKind::Task, "")]).collect();
            serde_json::from_value::<Explanation>(serde_json::json!({
                "receipt_id": "r", "goal": Vec::<Link>::new(), "context": [], "evidence": [], "action": null, "policy": [],
                "decisions": [], "approvals": [], "witnesses": [], "grants": [], "effect": null, "changes": [],
                "undone_by": [], "trust": null, "untrusted": [],
            }))
            .map(|chain| Explanation { goal, ..chain })
        };
        let own = chain(&["cli", "app"]).expect("an explanation");
        assert_eq!(why(&own), "It was done for the task: tidy.");
        let foreign = chain(&["cli", "webhook, untrusted", "webhook, untrusted"]).expect("an explanation");
        assert_eq!(
            why(&foreign),
            "It was done for the task: tidy. Words for it came from elsewhere: webhook, untrusted."
        );
    }
}
