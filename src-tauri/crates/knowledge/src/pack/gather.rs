//! Turns the input into candidates, section by section, each already redacted, titled and in its order.

use super::input::PackInput;
use super::{claims, fence, skills, skin};
use crate::tokens::{count_tokens, head_within, tail_within};
use crate::working_state::lists;
use model::ArtifactId;
use model::artifact::{Sensitivity, TrustTier};
use model::context::{Act, ContextItem, ContextOmission, FoundBy, Picture, Section};
use model::limits::PICTURE_TOKENS;
use model::task::StepContract;
use redact::Redactor;
use std::collections::BTreeSet;

/// Something that may become an item.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) section: Section,
    pub(super) source: String,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) tier: TrustTier,
    /// Whether its text is content that stands inside a fence.
    pub(super) fenced: bool,
    /// Whether it may be cut to fit; a claim is shown whole or not at all.
    pub(super) divisible: bool,
    /// Whether it may be left out.
    pub(super) needed: bool,
    /// Tokens of the text alone.
    pub(super) tokens: u32,
    /// Artifacts it rests on.
    pub(super) inputs: Vec<ArtifactId>,
    /// How to see what is cut of it.
    pub(super) rest: &'static str,
    /// What was asked for, when this is what came of it.
    pub(super) act: Option<Act>,
    /// Where it stands among those of its section that are taken; those that say nothing keep their order.
    pub(super) place: u64,
    /// By what it was looked up, when it is a memory record.
    pub(super) found_by: Option<FoundBy>,
    /// Pictures that are shown with it.
    pub(super) pictures: Vec<Picture>,
    /// By what number a closing answer cites it.
    pub(super) number: Option<u32>,
}

impl Candidate {
    /// The same as words of this tier: fenced, unless they may instruct.
    pub(super) fn of(mut self, tier: TrustTier) -> Self {
        self.tier = tier;
        self.fenced = !crate::trust::may_trigger_action(tier);
        self
    }

    /// Tokens of the whole item: text, title, fence.
    pub(super) fn cost(&self) -> u32 {
        self.tokens.saturating_add(self.frame())
    }

    /// Tokens of everything around the text.
    pub(super) fn frame(&self) -> u32 {
        let fence = if self.fenced { fence::cost(&self.source, self.tier) } else { 0 };
        let call = self.act.as_ref().map_or(0, |act| count_tokens(&act.call));
        let pictures = u32::try_from(self.pictures.len()).unwrap_or(u32::MAX).saturating_mul(PICTURE_TOKENS);
        let words = count_tokens(&self.title).saturating_add(1).saturating_add(fence).saturating_add(call);
        words.saturating_add(pictures)
    }

    /// The item, whole.
    pub(super) fn whole(self) -> ContextItem {
        let tokens = self.cost();
        let text = if self.fenced { fence::fence(&self.source, self.tier, &self.text) } else { self.text };
        let (section, source, title, trust_tier) = (self.section, self.source, self.title, self.tier);
        let (act, found_by, pictures, number) = (self.act, self.found_by, self.pictures, self.number);
        let cut = false;
        ContextItem { section, source, title, text, trust_tier, tokens, cut, act, found_by, pictures, number }
    }

    /// The item within `tokens`: whole if it fits, else head and tail around a mark that says what is left out.
    pub(super) fn within(&self, tokens: u32) -> ContextItem {
        if self.cost() <= tokens {
            return self.clone().whole();
        }
        if !self.pictures.is_empty() {
            // Its words go before its pictures.
            let mut words = self.clone();
            words.pictures.clear();
            words.text.push_str("\n(a picture of it does not fit here)");
            words.tokens = count_tokens(&words.text);
            return words.within(tokens);
        }
        let room = tokens.saturating_sub(self.frame());
        let mut part = self.clone();
        part.text = cut(&self.text, room, self.rest);
        part.tokens = count_tokens(&part.text);
        ContextItem { cut: true, ..part.whole() }
    }
}

/// What a mark may cost, its numbers included.
const MARK_TOKENS: u32 = 40;

/// Two thirds of the room for the beginning, one third for the end; lines are kept whole where that costs little.
fn cut(text: &str, room: u32, rest: &str) -> String {
    let how = if rest.is_empty() { String::new() } else { format!("; to see them, {rest}") };
    let room = room.saturating_sub(MARK_TOKENS).saturating_sub(count_tokens(&how));
    let head = head_within(text, room - room / 3);
    let head =
        head.rfind('\n').filter(|at| at * 4 > head.len() * 3).and_then(|at| head.get(..=at)).unwrap_or(head);
    let behind = text.get(head.len()..).unwrap_or("");
    let tail = tail_within(behind, room / 3);
    let tail =
        tail.find('\n').filter(|at| at * 4 < tail.len()).and_then(|at| tail.get(at + 1..)).unwrap_or(tail);
    let left = behind.get(..behind.len() - tail.len()).unwrap_or("");
    let (bytes, lines) = (left.len(), left.matches('\n').count());
    format!("{head}\n[… {bytes} bytes, {lines} line ends left out here{how} …]\n{tail}")
}

/// The candidates of a pack and what never became one.
pub(super) struct Gathered {
    pub(super) pinned: Vec<Candidate>,
    pub(super) sections: Vec<(Section, Vec<Candidate>)>,
    pub(super) omissions: Vec<ContextOmission>,
    pub(super) inputs: BTreeSet<ArtifactId>,
}

/// Everything the gathering of one section needs.
pub(super) struct Basket<'a> {
    redactor: &'a Redactor,
    pub(super) omissions: Vec<ContextOmission>,
}

impl Basket<'_> {
    /// A candidate of plain text, redacted.
    pub(super) fn plain(&mut self, section: Section, source: &str, title: &str, text: &str) -> Candidate {
        let clean = self.redactor.text(text);
        if let Some(reason) = clean.summary() {
            self.omit(section, source, &reason);
        }
        let title = self.redactor.text(title).rest.into_owned();
        let text = clean.rest.into_owned();
        let tokens = count_tokens(&text);
        Candidate {
            section,
            source: source.to_owned(),
            title,
            text,
            tier: TrustTier::PolicyAsserted,
            fenced: false,
            divisible: false,
            needed: false,
            tokens,
            inputs: Vec::new(),
            rest: "",
            act: None,
            place: 0,
            found_by: None,
            pictures: Vec::new(),
            number: None,
        }
    }

    /// A call may name what must not be seen, as every text may.
    fn redacted(&self, act: &Act) -> Act {
        let clean = |text: &str| self.redactor.text(text).rest.into_owned();
        Act { call: clean(&act.call), did: clean(&act.did), changed: act.changed }
    }

    /// The name of a picture may hold what must not be seen, as every text may.
    fn named(&self, picture: &Picture) -> Picture {
        Picture { name: self.redactor.text(&picture.name).rest.into_owned(), ..picture.clone() }
    }

    pub(super) fn omit(&mut self, section: Section, source: &str, reason: &str) {
        self.omissions.push(ContextOmission {
            source: source.to_owned(),
            section,
            reason: reason.to_owned(),
        });
    }
}

pub(super) fn gather(input: &PackInput, redactor: &Redactor) -> Gathered {
    let input = input.sorted();
    let mut basket = Basket { redactor, omissions: Vec::new() };
    let mut inputs = BTreeSet::from([input.contract_ref]);
    inputs.extend(input.step.iter().map(|(id, _)| *id));
    let pinned = pinned(&input, &mut basket);
    let sections = vec![
        (Section::Decisions, skin::before(&input, claims::decisions(&input, &mut basket), &mut basket)),
        (Section::WorkingState, working_state(&input, &mut basket)),
        (Section::Beliefs, claims::beliefs(&input, &mut basket)),
        (Section::Memory, memory(&input, &mut basket)),
        (Section::Artifacts, artifacts(&input, &mut basket)),
        (Section::Ingress, ingress(&input, &mut basket)),
        (Section::Session, session(&input, &mut basket)),
    ];
    Gathered { pinned, sections, omissions: basket.omissions, inputs }
}

/// What is pinned of an input, as a pack holds it.
pub(super) fn pinned_items(input: &PackInput, redactor: &Redactor) -> Vec<ContextItem> {
    let mut basket = Basket { redactor, omissions: Vec::new() };
    pinned(input, &mut basket).into_iter().map(Candidate::whole).collect()
}

fn bullets(heading: &str, lines: &[String]) -> String {
    let lines: String = lines.iter().map(|l| format!("\n- {l}")).collect();
    if lines.is_empty() { String::new() } else { format!("\n{heading}:{lines}") }
}

/// The inputs of a step, in words. What came with the goal is counted here and named with its own text: a file's name is a
/// stranger's word, and this is pinned among the task's own.
fn counts_on(step: &StepContract) -> Vec<String> {
    let given = match step.expected_inputs.len() {
        0 => None,
        1 => Some("what came with the goal: 1 file or passage".to_owned()),
        count => Some(format!("what came with the goal: {count} files or passages")),
    };
    let before = step.builds_on.iter().map(|before| match before.outputs.is_empty() {
        true => format!("what the step `{}` ends with", before.title),
        false => format!("what the step `{}` ends with: {}", before.title, before.outputs.join("; ")),
    });
    given.into_iter().chain(before).collect()
}

fn pinned(input: &PackInput, basket: &mut Basket<'_>) -> Vec<Candidate> {
    let contract = &input.contract;
    let bound = format!(
        "{}{}",
        bullets("Done when", &contract.success_criteria),
        bullets("Must be kept to", &contract.constraints)
    );
    let of_contract = |basket: &mut Basket<'_>, text: &str, tier: TrustTier| {
        let item = basket.plain(Section::TaskContract, &input.contract_ref.to_string(), "Goal", text);
        item.of(tier)
    };
    let is_one = input.goal_tier == input.contract_tier || bound.is_empty();
    let text = format!("{}{}", input.goal, if is_one { bound.as_str() } else { "" });
    let mut pinned = vec![of_contract(basket, &text, input.goal_tier)];
    // A goal that was edited since is another's word than what it came with.
    if !is_one {
        pinned.push(of_contract(basket, bound.trim_start(), input.contract_tier));
    }
    if let Some((id, step)) = &input.step {
        let classes: Vec<String> = step.allowed_action_classes.iter().map(ToString::to_string).collect();
        let text = format!(
            "{}{}{}{}{}",
            step.objective,
            bullets("Counts on", &counts_on(step)),
            bullets("Leave behind", &step.expected_outputs),
            bullets("Done when", &step.success_criteria),
            bullets("Only these classes of action", &classes)
        );
        let item = basket.plain(Section::StepContract, &id.to_string(), "This step", &text);
        let is_fenced = !crate::trust::may_trigger_action(input.contract_tier);
        pinned.push(if is_fenced { item.of(input.contract_tier) } else { item });
    }
    for (title, list) in [("Policy", &input.policy), ("Rule", &input.rules)] {
        pinned.extend(list.iter().map(|p| basket.plain(Section::Policy, &p.source, title, &p.text)));
    }
    // Below all rules, of which it lifts none: a person's words, and no policy.
    pinned.extend(input.soul.iter().map(|soul| {
        basket.plain(Section::Policy, &soul.source, "SOUL.md", &soul.text).of(TrustTier::UserAsserted)
    }));
    pinned
}

/// Skills find room before records: there are few, and each is a line.
fn memory(input: &PackInput, basket: &mut Basket<'_>) -> Vec<Candidate> {
    let mut all = skills::lines(input, basket);
    all.extend(claims::memories(input, basket));
    all
}

fn working_state(input: &PackInput, basket: &mut Basket<'_>) -> Vec<Candidate> {
    let Some((id, state)) = &input.working_state else {
        return Vec::new();
    };
    let mut text = state.plan.as_ref().map(|p| format!("\nplan: {p}")).unwrap_or_default();
    for (name, list) in lists(state) {
        text.push_str(&bullets(name, list));
    }
    if text.is_empty() {
        return Vec::new();
    }
    let mut state = basket.plain(Section::WorkingState, &id.to_string(), "Working state", text.trim_start());
    state.tier = TrustTier::Observed;
    state.divisible = true;
    state.needed = true;
    state.inputs = vec![*id];
    vec![state]
}

fn artifacts(input: &PackInput, basket: &mut Basket<'_>) -> Vec<Candidate> {
    let mut order: Vec<_> = input.artifacts.iter().collect();
    order.sort_by_key(|a| (!a.pinned, std::cmp::Reverse((a.order, a.artifact_id))));
    let mut candidates: Vec<Candidate> = skills::texts(input, basket);
    candidates.extend(summary(input, basket));
    for artifact in order {
        let source = artifact.artifact_id.to_string();
        if artifact.sensitivity == Sensitivity::Secret {
            basket.omit(Section::Artifacts, &source, "secret content never goes to a model");
            continue;
        }
        let title = format!("{} ({})", artifact.title, artifact.kind);
        let mut candidate = basket.plain(Section::Artifacts, &source, &title, &artifact.text);
        candidate.tier = artifact.trust_tier;
        candidate.fenced = true;
        candidate.divisible = true;
        candidate.needed = artifact.pinned;
        candidate.inputs = vec![artifact.artifact_id];
        candidate.rest = artifact.rest;
        candidate.act = artifact.act.as_ref().map(|act| basket.redacted(act));
        candidate.number = artifact.number;
        candidate.pictures = artifact.pictures.iter().map(|picture| basket.named(picture)).collect();
        artifact.unseen.iter().for_each(|why| basket.omit(Section::Artifacts, &source, why));
        candidates.push(candidate);
    }
    candidates
}

/// It takes its place before all others, and stands behind them: in a context it is the oldest of all that was seen.
fn summary(input: &PackInput, basket: &mut Basket<'_>) -> Option<Candidate> {
    let summary = input.summary.as_ref()?;
    let title = format!("Summary of turns 1 to {}", summary.through);
    let source = summary.artifact_id.to_string();
    let mut candidate = basket.plain(Section::Artifacts, &source, &title, &summary.text);
    candidate.tier = summary.trust_tier;
    candidate.fenced = true;
    candidate.divisible = true;
    candidate.needed = true;
    candidate.inputs = vec![summary.artifact_id];
    candidate.place = u64::MAX;
    for (of, why) in &summary.unseen {
        basket.omit(Section::Artifacts, &of.to_string(), why);
    }
    Some(candidate)
}

/// Messages that are always weighed against each other, the newest.
const MESSAGES_MIN: usize = 64;

/// The newest take their place first; they stand in the order in which they came.
fn ingress(input: &PackInput, basket: &mut Basket<'_>) -> Vec<Candidate> {
    let mut delta = |d: &super::Delta| {
        let with: Vec<String> = d.encloses.iter().map(ToString::to_string).collect();
        let title = match with.is_empty() {
            true => "New message".to_owned(),
            false => format!("New message, with {}", with.join(", ")),
        };
        let candidate = basket.plain(Section::Ingress, &d.ingress_id.to_string(), &title, &d.text);
        let mut candidate = candidate.of(d.trust_tier);
        candidate.divisible = true;
        candidate.needed = true;
        candidate.place = d.order;
        candidate
    };
    // Of thousands of messages, those that cannot find room whatever is left out are told by their number alone.
    let (mut newest, mut least) = (Vec::new(), 0_u32);
    for (at, message) in input.ingress.iter().rev().enumerate() {
        if at >= MESSAGES_MIN && least > input.tokens_max {
            break;
        }
        let candidate = delta(message);
        least = least.saturating_add(candidate.cost().min(super::budget::least_of(&candidate)));
        newest.push(candidate);
    }
    let older = input.ingress.len().saturating_sub(newest.len());
    if older > 0 {
        let oldest = input.ingress.first().map(|message| message.ingress_id.to_string()).unwrap_or_default();
        basket.omit(
            Section::Ingress,
            &oldest,
            &format!("{older} older messages, from this one on, find no room"),
        );
    }
    newest
}

fn session(input: &PackInput, basket: &mut Basket<'_>) -> Vec<Candidate> {
    let turn = |t: &super::Turn| {
        let source = format!("{}#{}", input.attempt_id, t.iteration);
        let mut candidate =
            basket.plain(Section::Session, &source, &format!("Turn {}", t.iteration), &t.summary);
        candidate.tier = t.trust_tier;
        candidate
    };
    // The newest turn is worth most when not all fit.
    input.turns.iter().rev().map(turn).collect()
}
