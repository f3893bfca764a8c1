//! SOUL.md in a context: pinned, whole, below every rule and above what is not pinned.

use crate::kit::{input, material};
use knowledge::{Pinned, compile, pack};
use model::artifact::TrustTier;

#[test]
fn soul_stands_whole_below_policy_and_above_all_else_as_a_persons_words() {
    let mut with = input(4_000);
    with.policy = vec![Pinned { source: "profile:x".into(), text: "ask before each change".into() }];
    with.rules = vec![Pinned { source: "rule:y".into(), text: "never on Sundays".into() }];
    with.artifacts = vec![material(1, "seen")];
    let plain = compile(&with).unwrap();
    for length in [1, 2_000] {
        let text = "I am careful. ".repeat(length);
        with.soul = Some(Pinned { source: "soul:1".into(), text: text.clone() });
        let pack = compile(&with).unwrap();
        let at = pack.items.iter().position(|item| item.source == "soul:1").unwrap();
        assert_eq!((pack.items[at].trust_tier, pack.items[at].cut), (TrustTier::UserAsserted, false));
        assert_eq!(pack.items[at].text, text, "whole, whatever its length");
        assert_eq!(pack.items[at - 1].source, "rule:y", "below every rule");
        assert!(pack.items[at + 1..].iter().all(|item| !pack::is_pinned(item.section)), "above the rest");
        let others: Vec<_> = pack.items.iter().filter(|item| pack::is_pinned(item.section)).collect();
        let before: Vec<_> = plain.items.iter().filter(|item| pack::is_pinned(item.section)).collect();
        assert_eq!(others.len(), before.len() + 1);
        assert!(others.iter().zip(&before).all(|(now, then)| now == then), "no rule is another by it");
        assert_ne!(pack.input_sha256, plain.input_sha256);
    }
}
