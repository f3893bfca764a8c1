//! The card: a packet as lines that any surface can show, what destroys first, nothing cut, nothing hidden.

use super::alike;
use super::reach;
use super::staged;
use super::vcs;
use super::visible::{visible, visible_path};
use super::web;
use crate::{PART, policy, risk, witness};
use acts::ApprovalPacket;
use acts::{Action, ActionRequest};
use model::action::{ChangeItem, InsteadOf, LeftAsIs, Prior, ReadItem, Reversibility};
use model::artifact::{EvidenceRef, Selector};
use model::policy::RiskBand;
use model::{ReceiptId, ResourceId};

/// What a line is, so that a surface can colour it; the text says everything without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// What is at stake, in words.
    Risk,
    /// Something is deleted or overwritten.
    Destructive,
    /// Something cannot be taken back.
    Unrecoverable,
    /// Any other effect.
    Effect,
    /// A fact that Hermit knows.
    Fact,
    /// Words of the proposer or of a person: a claim, not a fact.
    Quoted,
}

/// One line of plain text; never markup, never a line break inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub kind: LineKind,
    /// The text, already made visible.
    pub text: String,
}

/// What a person reads before answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// One line: what is asked.
    pub title: String,
    /// How much is at stake; high and critical open the approval key for one decision only.
    pub risk_band: RiskBand,
    /// Everything a person needs, the gravest first. May be folded by a surface, never cut.
    pub lines: Vec<Line>,
}

/// The card of a packet: a pure function of it, so that what is shown can be shown again.
pub fn card(packet: &ApprovalPacket) -> Card {
    let mut lines = Vec::new();
    let mut add = |kind: LineKind, text: String| lines.push(Line { kind, text });
    let action = &packet.action_request.action;
    let request = &packet.action_request;
    let risk = format!("{}: {}", risk::in_words(packet.risk_band), visible(&packet.risk_summary));
    add(LineKind::Risk, risk);
    let instead = request.instead_of.iter().flat_map(instead);
    instead.for_each(|line| add(line.kind, line.text));
    let mut effects = effects(request);
    // A stable sort: what destroys comes first, and otherwise the order of execution stays.
    effects.sort_by_key(|line| match line.kind {
        LineKind::Destructive => 0,
        _ if line.text.starts_with(EMPTY_FOLDER) => 2,
        _ => 1,
    });
    if let Some(why) = &request.not_staged {
        effects.push(not_staged(why));
    }
    if let (Some(staged), Some(view)) = (&request.staged, &packet.staged) {
        effects = staged::lines(action, staged, view);
    }
    effects.into_iter().for_each(|line| add(line.kind, line.text));
    alike::lines(request).into_iter().for_each(|line| add(line.kind, line.text));
    reach::lines(request).into_iter().for_each(|line| add(line.kind, line.text));
    let way_back = match risk::way_back(request) {
        _ if risk::sends(action) => LineKind::Unrecoverable,
        Reversibility::Irreversible => LineKind::Unrecoverable,
        Reversibility::NoEffect | Reversibility::Reversible | Reversibility::Partial => LineKind::Fact,
    };
    add(way_back, format!("afterwards: {}", visible(&packet.rollback_availability)));
    add(LineKind::Quoted, format!("goal: {}", visible(&packet.goal)));
    // A proposer that gives no reason has none put into its mouth.
    if !packet.rationale.is_empty() && !packet.goal.starts_with(&packet.rationale) {
        add(LineKind::Quoted, format!("the model or playbook says why: {}", visible(&packet.rationale)));
    }
    facts(packet).into_iter().for_each(|text| add(LineKind::Fact, text));
    Card { title: policy::summary(action), risk_band: packet.risk_band, lines }
}

/// What was asked, and what allows no more of it.
fn instead(instead: &InsteadOf) -> Vec<Line> {
    let fact = |text: String| Line { kind: LineKind::Fact, text };
    let InsteadOf { action_request_id, request_sha256, asked, mode, rules, draft_sha256, .. } = instead;
    if mode == PART {
        return vec![
            fact(format!("A PART of what was asked: {}", visible(asked))),
            fact(format!("the rest was denied: {}", visible(&rules.join(", ")))),
            fact(format!("what was asked is `{action_request_id}`, sha256 {request_sha256}; it is not done")),
            fact(format!("what was left out is kept, sha256 {draft_sha256}")),
        ];
    }
    vec![
        fact(format!("INSTEAD of what was asked: {}", visible(asked))),
        fact(format!("policy allows that only as `{}`: {}", visible(mode), visible(&rules.join(", ")))),
        fact(format!("what was asked is `{action_request_id}`, sha256 {request_sha256}; it is not done")),
        fact(format!("it is kept as a draft, sha256 {draft_sha256}")),
    ]
}

/// What a request does, as a card tells it: the same words for whoever reads them elsewhere.
pub fn effects_in_words(request: &ActionRequest) -> Vec<String> {
    effects(request).into_iter().map(|line| line.text).collect()
}

fn effects(request: &ActionRequest) -> Vec<Line> {
    let action = &request.action;
    match action {
        Action::Observe(acts::Observe { items }) => items.iter().map(|item| effect(look(item))).collect(),
        Action::Change(acts::Change { items }) => items.iter().map(change).collect(),
        Action::Rollback(acts::Rollback { partly, left, items, .. }) => {
            undo(&action.undoes(), partly, left, items)
        }
        Action::Command(acts::Command { argv, cwd, network, timeout_ms, hosts, secrets }) => {
            command(argv, cwd, network.then_some((hosts, secrets)), *timeout_ms)
        }
        Action::Fetch(_) => web::lines(request),
        Action::Vcs(acts::Vcs { change }) => vcs::lines(change),
        Action::Remember(acts::Remember { claim, scope, promotion_reason, evidence_refs, belief_id }) => {
            let mut lines = vec![
                effect(format!("remember in later tasks: \"{}\"", visible(claim))),
                effect(format!("it would hold for: {}", visible(scope))),
                Line { kind: LineKind::Quoted, text: format!("because: {}", visible(promotion_reason)) },
            ];
            lines.extend(belief_id.iter().map(|id| effect(format!("it comes from belief `{id}`"))));
            lines.extend(evidence_refs.iter().map(|evidence| effect(support(evidence))));
            lines
        }
    }
}

fn undo(receipts: &[ReceiptId], partly: &[ReceiptId], left: &[LeftAsIs], items: &[ChangeItem]) -> Vec<Line> {
    let mut lines: Vec<Line> = receipts
        .iter()
        .map(|receipt| {
            let part = if partly.contains(receipt) { "a part of " } else { "" };
            effect(format!("undo {part}the effects of `{receipt}`"))
        })
        .collect();
    lines.extend(items.iter().map(change));
    lines.extend(left.iter().map(|stays| {
        let place = match &stays.resource {
            ResourceId::File(_, path) => visible_path(path),
            other => format!("`{other}`"),
        };
        effect(format!("LEFT AS IT IS: {place}: {}", visible(&stays.why)))
    }));
    lines
}

fn support(evidence: &EvidenceRef) -> String {
    let EvidenceRef { artifact_id, selector, excerpt_hash, capture_method, confidence, trust_tier } =
        evidence;
    let part = match selector {
        Selector::Whole => "all of it".to_owned(),
        Selector::Bytes { start, end } => format!("bytes {start} to {end}"),
        Selector::Lines { start, end } => format!("lines {start} to {end}"),
        Selector::JsonPath { pointer } => format!("the value at \"{}\"", visible(pointer)),
        Selector::Dom { selector } => format!("the element \"{}\"", visible(selector)),
        Selector::TimeSpan { start_ms, end_ms } => format!("milliseconds {start_ms} to {end_ms}"),
        Selector::Record { id } => format!("the record \"{}\"", visible(id)),
    };
    let capture = visible(capture_method);
    format!(
        "evidence: {part} of `{artifact_id}`, {trust_tier}, confidence {confidence} of 1000, captured by \
         \"{capture}\", sha256 {excerpt_hash}"
    )
}

fn not_staged(why: &str) -> Line {
    let text = format!(
        "NOT TRIED BEFOREHAND, because {}: what it changes is not known yet, and after your yes it runs in the \
         folder itself",
        visible(why)
    );
    Line { kind: LineKind::Unrecoverable, text }
}

pub(super) const fn effect(text: String) -> Line {
    Line { kind: LineKind::Effect, text }
}

/// Hosts and secrets, where there is a network at all.
type Reach<'a> = Option<(&'a Vec<String>, &'a Vec<String>)>;

fn command(argv: &[String], cwd: &model::RelPath, reach: Reach<'_>, timeout_ms: u64) -> Vec<Line> {
    let mut lines: Vec<Line> = argv
        .iter()
        .enumerate()
        .map(|(at, word)| match at {
            0 => effect(format!("run the program \"{}\"", visible(word))),
            at => effect(format!("argument {at}: \"{}\"", visible(word))),
        })
        .collect();
    lines.push(effect(format!("in the folder {}", visible_path(cwd))));
    lines.push(effect("it may change anything in the workspace".to_owned()));
    match reach {
        None => lines.push(effect("without the network".to_owned())),
        Some((hosts, secrets)) => {
            let grave = |text: String| Line { kind: LineKind::Unrecoverable, text };
            lines.push(grave("WITH the network: what it sends cannot be taken back".to_owned()));
            if hosts.is_empty() {
                lines.push(grave("it may reach ANY public host".to_owned()));
            }
            lines.extend(hosts.iter().map(|host| grave(format!("it may reach {}", visible(host)))));
            lines.extend(
                secrets.iter().map(|handle| grave(format!("it may use `secret:{}`", visible(handle)))),
            );
        }
    }
    lines.push(effect(format!("for at most {timeout_ms} ms")));
    lines
}

/// How the line of a folder begins that has nothing in it when it goes: quiet, and last.
pub(super) const EMPTY_FOLDER: &str = "remove the folder, empty by then,";

fn change(item: &ChangeItem) -> Line {
    match item {
        ChangeItem::Delete { path, prior: Prior::EmptyFolder } => {
            effect(format!("{EMPTY_FOLDER} {}", visible_path(path)))
        }
        ChangeItem::Delete { path, prior } => Line {
            kind: LineKind::Destructive,
            text: format!("DELETE {} ({})", visible_path(path), before(prior)),
        },
        ChangeItem::Write { path, content_sha256, byte_size, prior, mode } => {
            let mode = mode.map(|mode| format!(", mode {mode:o}")).unwrap_or_default();
            let after = format!("{byte_size} bytes, sha256 {content_sha256}{mode}");
            match prior {
                Prior::Absent => effect(format!("create {} with {after}", visible_path(path))),
                Prior::Sha256(_) | Prior::EmptyFolder | Prior::Link(_) => Line {
                    kind: LineKind::Destructive,
                    text: format!("OVERWRITE {} ({}) with {after}", visible_path(path), before(prior)),
                },
            }
        }
        ChangeItem::Folder { path, mode, was: None } => {
            let mode = mode.map(|mode| format!(", mode {mode:o}")).unwrap_or_default();
            effect(format!("make the folder {}{mode}", visible_path(path)))
        }
        ChangeItem::Folder { path, mode, was: Some(was) } => Line {
            kind: LineKind::Destructive,
            text: format!(
                "CHANGE THE MODE of the folder {} from {was:o} to {:o}",
                visible_path(path),
                mode.unwrap_or(*was)
            ),
        },
        ChangeItem::Link { path, target, prior } => {
            let says = format!("a link to \"{}\"", visible(target));
            match prior {
                Prior::Absent => effect(format!("put {} as {says}", visible_path(path))),
                Prior::Sha256(_) | Prior::EmptyFolder | Prior::Link(_) => Line {
                    kind: LineKind::Destructive,
                    text: format!("OVERWRITE {} ({}) with {says}", visible_path(path), before(prior)),
                },
            }
        }
        ChangeItem::Move { from, to, prior } => {
            effect(format!("MOVE {} ({}) to {}", visible_path(from), before(prior), visible_path(to)))
        }
    }
}

fn before(prior: &Prior) -> String {
    match prior {
        Prior::Absent => "now absent".to_owned(),
        Prior::Sha256(digest) => format!("now sha256 {digest}"),
        Prior::EmptyFolder => "now an empty folder".to_owned(),
        Prior::Link(digest) => format!("now a link whose target has sha256 {digest}"),
    }
}

fn look(item: &ReadItem) -> String {
    match item {
        ReadItem::List { path, recursive: true } => {
            format!("list {} and all folders inside", visible_path(path))
        }
        ReadItem::List { path, recursive: false } => format!("list {}", visible_path(path)),
        ReadItem::Read { path } => format!("read {}", visible_path(path)),
        ReadItem::Lines { path, from, to } => {
            format!("read lines {from} to {to} of {}", visible_path(path))
        }
        ReadItem::Search { path, pattern, glob } => {
            let glob = glob.as_ref().map(|glob| format!(" in files like \"{}\"", visible(glob)));
            let glob = glob.unwrap_or_default();
            format!("search {} for \"{}\"{glob}", visible_path(path), visible(pattern))
        }
        ReadItem::Hash { path } => format!("hash {}", visible_path(path)),
        ReadItem::HashFolder { path } => format!("hash the files of {}", visible_path(path)),
    }
}

fn facts(packet: &ApprovalPacket) -> Vec<String> {
    let policy = &packet.policy_result;
    let mut facts = vec![
        format!("policy `{}`: {}", policy.policy_profile, visible(&policy.reasoning_summary)),
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
        "asked at {} and expires at {} (ms since 1970)",
        packet.requested_at.0, packet.expires_at.0
    ));
    facts.push("when it expires, nothing is decided and nothing runs".to_owned());
    facts
}
