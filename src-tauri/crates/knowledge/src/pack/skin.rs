//! The skin of a conversation in a context: below contract and policy, which it changes nothing of (schedule.md 3).

use super::PackInput;
use super::gather::{Basket, Candidate};
use crate::trust;
use model::artifact::TrustTier;
use model::context::Section;

/// It stands before what was decided: a person chose it, and it stays the same from turn to turn.
pub(super) fn before(
    input: &PackInput,
    mut decisions: Vec<Candidate>,
    basket: &mut Basket<'_>,
) -> Vec<Candidate> {
    if let Some(skin) = &input.skin {
        let source = format!("skin:{}@{}", skin.name, skin.sha256);
        let title = format!("Skin {}", skin.name);
        let words = basket.plain(Section::Decisions, &source, &title, &skin.words);
        // Never a person's own word, whoever signed it.
        let mut words = words.of(trust::weaker(skin.trust_tier, TrustTier::Verified));
        words.needed = true;
        words.divisible = true;
        decisions.insert(0, words);
    }
    decisions
}
