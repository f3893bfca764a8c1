//! The context compiler: everything known, made into one bounded pack (HK-15.6, HK-15.7).
//!
//! Sections stand in the precedence of HK-15.7. What is pinned is there whole, even when that alone is more than
//! the pack may hold; [`fits`] then says no and nobody may send it. The rest shares what is left by fixed weights:
//! each section gets its share, what one leaves over goes to the others in the order of precedence.

mod budget;
mod claims;
mod fence;
mod gather;
mod input;
mod skills;
mod skin;

pub use input::{Delta, Material, PackInput, Pinned, SkillLine, SkillText, SkinWords, Summarised, Turn};

use crate::{Error, count_tokens};
use gather::{Candidate, Gathered};
use model::context::{ContextItem, ContextOmission, ContextPack, Picture, Section};
use redact::Redactor;
use seal::Digest;

/// Compiles a pack with the common shapes of secrets taken out.
///
/// # Errors
/// [`Error::Unsealable`] when a part of the input has no canonical form.
pub fn compile(input: &PackInput) -> Result<ContextPack, Error> {
    compile_with(input, &Redactor::default())
}

/// Compiles a pack; `redactor` sees every text first.
///
/// # Errors
/// As [`compile`].
pub fn compile_with(input: &PackInput, redactor: &Redactor) -> Result<ContextPack, Error> {
    let input_sha256 = input.digest()?;
    let Gathered { pinned, mut sections, mut omissions, mut inputs } = gather::gather(input, redactor);
    let pinned_tokens: u32 = pinned.iter().fold(0, |sum, c| sum.saturating_add(c.cost()));
    let left = input.tokens_max.saturating_sub(pinned_tokens);
    let shares = budget::between(&sections, left);
    let mut items: Vec<ContextItem> = pinned.into_iter().map(Candidate::whole).collect();
    for ((section, candidates), tokens) in sections.iter_mut().zip(shares) {
        let (mut taken, dropped) = budget::fill(std::mem::take(candidates), tokens);
        taken.sort_by_key(|(candidate, _)| candidate.place);
        for candidate in dropped {
            omissions.extend(unfit(&candidate, &[]));
            let reason = format!("does not fit: needs {} tokens", candidate.cost());
            omissions.push(ContextOmission { source: candidate.source, section: *section, reason });
        }
        for (candidate, item) in taken {
            omissions.extend(unfit(&candidate, &item.pictures));
            inputs.extend(candidate.inputs);
            if item.cut {
                let reason = format!("shown in part: {} of {} tokens", item.tokens, candidate.tokens);
                omissions.push(ContextOmission { source: item.source.clone(), section: *section, reason });
            }
            items.push(item);
        }
    }
    items.sort_by_key(|i| i.section);
    omissions.sort_by(|a, b| (a.section, &a.source, &a.reason).cmp(&(b.section, &b.source, &b.reason)));
    let tokens = items.iter().fold(0_u32, |sum, i| sum.saturating_add(i.tokens));
    Ok(ContextPack {
        task_id: input.task_id,
        attempt_id: input.attempt_id,
        iteration: input.iteration,
        tokens_max: input.tokens_max,
        tokens,
        items,
        omissions,
        inputs: inputs.into_iter().collect(),
        input_sha256,
        meaning: input.meaning.clone(),
    })
}

/// Why a picture is not shown: without its name, which a stranger may have chosen.
pub fn left_out(why: &str, picture: &Picture) -> String {
    let Picture { media_type, byte_size, sha256, .. } = picture;
    let digest = sha256.to_string();
    let digest = digest.get(..12).unwrap_or_default();
    format!("{LEFT_OUT}: {why} ({media_type}, {byte_size} bytes, sha256 {digest}…)")
}

/// How every reason begins for which a picture is not shown.
pub const LEFT_OUT: &str = "picture left out";

/// The pictures of a candidate that went with its text, or before it, where there was no room for them.
fn unfit<'c>(candidate: &'c Candidate, shown: &'c [Picture]) -> impl Iterator<Item = ContextOmission> + 'c {
    let is_shown = |picture: &Picture| shown.iter().any(|one| one.sha256 == picture.sha256);
    candidate.pictures.iter().filter(move |picture| !is_shown(picture)).map(|picture| ContextOmission {
        source: candidate.source.clone(),
        section: candidate.section,
        reason: left_out("there is no room for it in this context", picture),
    })
}

/// Whether the pack keeps within its budget. It does not only when the pinned sections alone exceed it.
pub const fn fits(pack: &ContextPack) -> bool {
    pack.tokens <= pack.tokens_max
}

/// Tokens that a pack costs at least, counted anew over the words in it: whoever made it may have said otherwise.
pub fn pack_tokens(pack: &ContextPack) -> u32 {
    let words = |item: &ContextItem| {
        let call = item.act.as_ref().map_or(0, |act| count_tokens(&act.call));
        count_tokens(&item.title).saturating_add(count_tokens(&item.text)).saturating_add(call)
    };
    pack.items.iter().fold(0, |sum, item| sum.saturating_add(words(item)))
}

/// Digests of the texts of the pinned sections, in their order: what no pack may lack (memory.md 3).
pub fn pinned_texts(pack: &ContextPack) -> Vec<Digest> {
    let pinned = pack.items.iter().filter(|item| is_pinned(item.section) && !item.cut);
    pinned.map(|item| Digest::of(item.text.as_bytes())).collect()
}

/// Whether contract, step, policy and rules of an input are in the pack, word for word. One that lacks any is not sent
/// (memory.md 3).
pub fn holds_pinned(input: &PackInput, redactor: &Redactor, pack: &ContextPack) -> bool {
    let has: Vec<Digest> = pinned_texts(pack);
    let expected = gather::pinned_items(input, redactor).into_iter();
    expected.map(|item| Digest::of(item.text.as_bytes())).all(|text| has.contains(&text))
}

/// Whether anything in the pack is untrusted, so that policy asks a person (governance.md 1).
pub fn holds_untrusted(pack: &ContextPack) -> bool {
    pack.items.iter().any(|i| i.trust_tier == model::artifact::TrustTier::Untrusted)
}

/// The sections that are pinned: whole in every pack (invariant 4).
pub const fn is_pinned(section: Section) -> bool {
    match section {
        Section::TaskContract | Section::StepContract | Section::Policy => true,
        Section::Decisions
        | Section::WorkingState
        | Section::Beliefs
        | Section::Memory
        | Section::Artifacts
        | Section::Ingress
        | Section::Session => false,
    }
}
