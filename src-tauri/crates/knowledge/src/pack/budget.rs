//! The fair rule: what each section may use, and what of a section goes in.

use super::gather::Candidate;
use model::context::{ContextItem, Section};

/// Parts of a hundred each section is sure of.
const fn weight(section: Section) -> u32 {
    match section {
        Section::TaskContract | Section::StepContract | Section::Policy => 0,
        Section::Decisions => 8,
        Section::WorkingState => 12,
        Section::Beliefs => 10,
        Section::Memory => 8,
        Section::Artifacts => 40,
        Section::Ingress => 14,
        Section::Session => 8,
    }
}

/// Tokens below which a cut text says too little to be worth its place.
const PART_TOKENS_MIN: u32 = 96;

/// Tokens of one message for which what was seen gives room.
const MESSAGE_TOKENS: u32 = 512;

/// The tokens of each section: its share or less if it needs less; what is left over then goes to whoever needs
/// more, in the order of precedence.
pub(super) fn between(sections: &[(Section, Vec<Candidate>)], tokens: u32) -> Vec<u32> {
    let needs: Vec<u32> =
        sections.iter().map(|(_, c)| c.iter().fold(0_u32, |sum, c| sum.saturating_add(c.cost()))).collect();
    let share =
        |section: Section| u32::try_from(u64::from(tokens) * u64::from(weight(section)) / 100).unwrap_or(0);
    let mut shares: Vec<u32> =
        sections.iter().zip(&needs).map(|((s, _), need)| share(*s).min(*need)).collect();
    heed(sections, tokens, &mut shares);
    let mut left = tokens.saturating_sub(shares.iter().sum());
    for (share, need) in shares.iter_mut().zip(&needs) {
        let more = need.saturating_sub(*share).min(left);
        *share += more;
        left -= more;
    }
    shares
}

/// What a person said comes before what was seen: their messages may take three quarters of the room of artifacts, each so
/// much of it as says what it is about. Words of others keep to the share that messages have.
fn heed(sections: &[(Section, Vec<Candidate>)], tokens: u32, shares: &mut [u32]) {
    let at = |wanted: Section| sections.iter().position(|(section, _)| *section == wanted);
    let (Some(said), Some(seen)) = (at(Section::Ingress), at(Section::Artifacts)) else { return };
    let most_each = |c: &Candidate| c.cost().min(c.frame().saturating_add(MESSAGE_TOKENS));
    let need = |(_, all): &(Section, Vec<Candidate>)| {
        all.iter().filter(|c| !c.fenced).map(most_each).fold(0, u32::saturating_add)
    };
    let need = sections.get(said).map_or(0, need);
    let (Some(has), Some(room)) = (shares.get(said).copied(), shares.get(seen).copied()) else { return };
    let most = u64::from(tokens) * u64::from(weight(Section::Artifacts)) * 3 / 400;
    let more = need.saturating_sub(has).min(u32::try_from(most).unwrap_or(0)).min(room);
    for (at, share) in [(said, has + more), (seen, room - more)] {
        if let Some(to) = shares.get_mut(at) {
            *to = share;
        }
    }
}

/// The tokens below which a part of a candidate says too little.
pub(super) fn least_of(candidate: &Candidate) -> u32 {
    candidate.frame().saturating_add(PART_TOKENS_MIN)
}

/// What goes in, with the candidate it came from, and what does not. Candidates come the most wanted first: what
/// is needed takes its place before anything else, and a long text may take at most half of what is then left, so
/// that it does not push out everything behind it; in a second pass those that were cut grow into what remains.
pub(super) fn fill(
    candidates: Vec<Candidate>,
    tokens: u32,
) -> (Vec<(Candidate, ContextItem)>, Vec<Candidate>) {
    let mut left = tokens;
    let mut given: Vec<Option<u32>> = vec![None; candidates.len()];
    for (candidate, given) in candidates.iter().zip(&mut given).filter(|(c, _)| c.needed) {
        let least = candidate.cost().min(least_of(candidate));
        *given = (least <= left).then_some(least);
        left -= given.unwrap_or(0);
    }
    for (candidate, given) in candidates.iter().zip(&mut given) {
        let has = given.unwrap_or(0);
        let most =
            if candidate.divisible { (left / 2).saturating_add(has) } else { left.saturating_add(has) };
        let want = candidate.cost();
        let least = least_of(candidate);
        // Half, but never so little that it would say nothing: a lone text is not lost to those that are not there.
        let fair = most.max(least).max(has);
        let take = if want <= left.saturating_add(has) && want <= fair {
            want
        } else if candidate.divisible && fair <= left.saturating_add(has) {
            fair
        } else {
            has
        };
        left = left.saturating_add(has).saturating_sub(take);
        *given = (take > 0).then_some(take);
    }
    for (candidate, given) in candidates.iter().zip(&mut given) {
        if let Some(given) = given {
            let more = candidate.cost().saturating_sub(*given).min(left);
            *given += more;
            left -= more;
        }
    }
    let mut taken = Vec::new();
    let mut dropped = Vec::new();
    for (candidate, given) in candidates.into_iter().zip(given) {
        match given {
            Some(tokens) => taken.push((candidate.clone(), candidate.within(tokens))),
            None => dropped.push(candidate),
        }
    }
    (taken, dropped)
}
