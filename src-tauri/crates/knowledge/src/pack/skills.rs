//! Skills in a context: a line for each that may be chosen, and what was read of those that were.

use super::PackInput;
use super::gather::{Basket, Candidate};
use model::artifact::TrustTier;
use model::context::Section;

/// How to see what is cut of one.
const REST: &str = "read its files one by one with `use_skill`, or a part of them with a command";

/// The lines, in their order.
pub(super) fn lines(input: &PackInput, basket: &mut Basket<'_>) -> Vec<Candidate> {
    let mut lines: Vec<Candidate> = Vec::new();
    for one in &input.skills {
        let source = format!("skill:{}@{}", one.name, one.sha256);
        let mut line =
            basket.plain(Section::Memory, &source, &format!("Skill {}", one.name), &visible(&one.words));
        line.tier = TrustTier::Verified;
        lines.push(line);
    }
    if input.skills_left_out > 0 {
        let more = input.skills_left_out;
        basket.omit(Section::Memory, "skills", &format!("{more} further skills do not fit"));
        let words = format!(
            "There are {more} further skills; `use_skill` with a few words as `name` tells which fit."
        );
        lines.push(basket.plain(Section::Memory, "skills", "Further skills", &words));
    }
    lines
}

/// What was read, the newest first: it finds room before what was seen.
pub(super) fn texts(input: &PackInput, basket: &mut Basket<'_>) -> Vec<Candidate> {
    let text = |one: &super::SkillText| {
        let source = one.artifact_id.to_string();
        let Some(words) = &one.text else {
            basket.omit(Section::Artifacts, &source, "it was erased, or cannot be read");
            return None;
        };
        let mut text = basket.plain(Section::Artifacts, &source, &one.title, words).of(one.trust_tier);
        text.divisible = true;
        text.needed = true;
        text.inputs = vec![one.artifact_id];
        text.rest = REST;
        Some(text)
    };
    input.skill_texts.iter().rev().filter_map(text).collect()
}

/// A line in which nothing can hide.
fn visible(text: &str) -> String {
    let shown = |c: char| match model::visible::is_hidden(c) {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    text.chars().map(shown).collect()
}
