//! How far a trust tier lets a claim reach (HK-15.4).

use model::artifact::{EvidenceRef, TrustTier};

/// The tier's place, the least trusted first.
pub const fn rank(tier: TrustTier) -> u8 {
    match tier {
        TrustTier::Untrusted => 0,
        TrustTier::Observed => 1,
        TrustTier::Verified => 2,
        TrustTier::UserAsserted => 3,
        TrustTier::PolicyAsserted => 4,
    }
}

/// The less trusted of two: what content derived from both may claim.
pub const fn weaker(a: TrustTier, b: TrustTier) -> TrustTier {
    if rank(a) <= rank(b) { a } else { b }
}

/// The more trusted of two: what support by either may claim.
pub const fn stronger(a: TrustTier, b: TrustTier) -> TrustTier {
    if rank(a) >= rank(b) { a } else { b }
}

/// The tier that evidence gives to a claim: that of its best piece (HK-15.5: untrusted evidence alone); none gives none.
pub fn of_evidence(evidence: &[EvidenceRef]) -> Option<TrustTier> {
    evidence.iter().map(|e| e.trust_tier).reduce(stronger)
}

/// Whether a claim may steer planning (HK-15.4): an untrusted one is data to look at, not ground to stand on.
pub const fn may_influence_planning(tier: TrustTier) -> bool {
    rank(tier) > rank(TrustTier::Untrusted)
}

/// Whether a claim alone may set off a consequential act that no person is asked about.
pub const fn may_trigger_action(tier: TrustTier) -> bool {
    rank(tier) >= rank(TrustTier::Verified)
}

/// Whether a claim may become durable memory without a person behind it.
pub const fn may_be_promoted(tier: TrustTier) -> bool {
    rank(tier) > rank(TrustTier::Untrusted)
}

/// Whether a person must look at a contradiction: someone's or policy's word stands against something, or the
/// newcomer is less trusted than what it disputes.
pub const fn contradiction_needs_review(held: TrustTier, disputing: TrustTier) -> bool {
    let said = rank(TrustTier::UserAsserted);
    rank(held) >= said || rank(disputing) >= said || rank(disputing) < rank(held)
}

/// The highest confidence a claim of this tier may have, of 1000.
pub const fn confidence_max(tier: TrustTier) -> u16 {
    match tier {
        TrustTier::Untrusted => 500,
        TrustTier::Observed => 950,
        TrustTier::Verified | TrustTier::UserAsserted | TrustTier::PolicyAsserted => 1000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[conforms::conforms("HK-15.4-1", "HK-15.4-2", "HK-15.4-3", "HK-15.4-4", part = "HK-15.4-5")]
    #[test]
    fn every_tier_has_its_reach() {
        let words: Vec<_> = TrustTier::ALL.iter().map(|t| t.as_str()).collect();
        assert_eq!(words, ["untrusted", "observed", "verified", "user_asserted", "policy_asserted"]);
        for (tier, plan, act, promote) in [
            (TrustTier::Untrusted, false, false, false),
            (TrustTier::Observed, true, false, true),
            (TrustTier::Verified, true, true, true),
            (TrustTier::UserAsserted, true, true, true),
            (TrustTier::PolicyAsserted, true, true, true),
        ] {
            assert_eq!(may_influence_planning(tier), plan, "{tier} and planning");
            assert_eq!(may_trigger_action(tier), act, "{tier} and acting");
            assert_eq!(may_be_promoted(tier), promote, "{tier} and memory");
        }
        use TrustTier::{Observed, Untrusted, UserAsserted, Verified};
        for (held, disputing, review) in [
            (Observed, Verified, false),
            (Observed, Observed, false),
            (Verified, Observed, true),
            (Observed, Untrusted, true),
            (UserAsserted, Observed, true),
            (Observed, UserAsserted, true),
        ] {
            assert_eq!(contradiction_needs_review(held, disputing), review, "{disputing} against {held}");
        }
    }

    #[test]
    fn weaker_and_stronger_agree_with_the_rank_for_every_pair() {
        for a in TrustTier::ALL {
            for b in TrustTier::ALL {
                assert_eq!(rank(weaker(*a, *b)), rank(*a).min(rank(*b)));
                assert_eq!(rank(stronger(*a, *b)), rank(*a).max(rank(*b)));
            }
        }
    }
}
