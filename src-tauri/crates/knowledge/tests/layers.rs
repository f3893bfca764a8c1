//! The layers of knowledge, and what passes from one to the next.

use crate::kit::{belief, claim, evidence, holding, id};
use knowledge::belief as beliefs;
use knowledge::memory::{self, Backing, Promotion};
use knowledge::{Layer, Refusal, working_state};
use model::artifact::TrustTier::{self, Observed, Untrusted, UserAsserted, Verified};
use model::body::Body;
use model::knowledge::{Belief, BeliefStatus, MemoryRecord, MemoryRetention, MemoryStatus, WorkingState};
use model::{BeliefId, MemoryId, UnixMs};
use std::collections::BTreeMap;

fn promotion(tiers: &[TrustTier], backing: Backing) -> Promotion {
    Promotion {
        memory_id: id("mem", 1),
        task_id: id("task", 1),
        promoted_by: id("prn", 1),
        claim: "the build needs node 22".into(),
        scope: "repo".into(),
        evidence: tiers.iter().map(|t| evidence(1, *t)).collect(),
        reason: "every later task needs it".into(),
        from_belief: Some(id("blf", 1)),
        replaces: None,
        project_hash: None,
        memory_type: None,
        retention: MemoryRetention::Kept,
        expires_at: None,
        backing,
        now: UnixMs(5),
    }
}

fn folded(bodies: &[Body]) -> BTreeMap<BeliefId, Belief> {
    let mut map = BTreeMap::new();
    bodies.iter().for_each(|b| beliefs::fold(&mut map, b));
    map
}

fn asserted(belief: &Belief) -> Body {
    model::body::BeliefAsserted { belief: belief.clone() }.into()
}

fn code<T: std::fmt::Debug>(result: Result<T, Refusal>) -> &'static str {
    result.expect_err("it is refused").code
}

#[conforms::conforms(part = "HK-15.1-1", "HK-8.7-1")]
#[test]
fn the_four_layers_differ_in_what_they_survive_and_what_they_need() {
    for (layer, durable, crosses, evidence) in [
        (Layer::Scratchpad, false, false, false),
        (Layer::WorkingState, true, false, false),
        (Layer::Belief, true, false, true),
        (Layer::Memory, true, true, true),
    ] {
        assert_eq!(
            (layer.is_durable(), layer.crosses_tasks(), layer.needs_evidence()),
            (durable, crosses, evidence),
            "{layer}"
        );
    }
    assert_eq!(Layer::ALL.len(), 4);
    // What the layers say is what their rules do.
    assert_eq!(code(beliefs::assert(&claim("c", &[]), &holding(1), &[])), "evidence_missing");
    let degraded = memory::promote(&promotion(&[], Backing::Person), None, &[]).expect_err("no evidence");
    assert_eq!((degraded.refusal.code, degraded.keep_as), ("evidence_missing", Layer::Scratchpad));
    let endless = WorkingState { objectives: vec!["x".repeat(40_000)], ..Default::default() };
    assert!(working_state::check(&endless).is_err());
}

#[conforms::conforms("HK-8.6-1", "HK-8.6-2")]
#[test]
fn a_belief_is_bound_to_its_evidence_and_is_no_memory() {
    let body = beliefs::assert(&claim("node 22", &[Untrusted, Observed]), &holding(7), &[]).expect("held");
    let Body::BeliefAsserted(b) = body else { panic!("another event") };
    assert_eq!((b.belief.trust_tier, b.belief.confidence), (Observed, 950));
    assert_eq!((b.belief.revision, b.belief.status), (1, BeliefStatus::Active));
    assert_eq!(b.belief.evidence_refs.len(), 2);
    let value = serde_json::to_value(&b.belief).expect("it has a form");
    for field in [
        "belief_id",
        "task_id",
        "claim",
        "scope",
        "evidence_refs",
        "confidence",
        "trust_tier",
        "status",
        "created_at",
    ] {
        assert!(value.get(field).is_some(), "{field}");
    }
    let again = beliefs::assert(&claim(" node 22 ", &[Verified]), &holding(8), &[b.belief]);
    assert_eq!(code(again), "already_held");
}

#[test]
fn a_claim_that_is_empty_endless_or_drowned_in_evidence_is_refused() {
    assert_eq!(code(beliefs::assert(&claim("  ", &[Observed]), &holding(1), &[])), "claim_empty");
    assert_eq!(
        code(beliefs::assert(&claim(&"x".repeat(5000), &[Observed]), &holding(1), &[])),
        "claim_too_long"
    );
    assert_eq!(code(beliefs::assert(&claim("x", &[Observed; 65]), &holding(1), &[])), "evidence_too_much");
}

#[conforms::conforms(part = "HK-15.3-1")]
#[test]
fn a_confidence_update_is_a_new_revision_capped_by_what_its_evidence_carries() {
    let old = belief(1, "it builds", "repo", Observed, 400);
    let Ok(Body::BeliefRevised(b)) = beliefs::revise(&old, 1000, &[evidence(2, Verified)], "tests ran")
    else {
        panic!("not revised")
    };
    assert_eq!((b.belief.revision, b.belief.confidence, b.belief.trust_tier), (2, 1000, Verified));
    let Ok(Body::BeliefRevised(b)) =
        beliefs::revise(&b.belief, 900, &[evidence(2, Untrusted)], "a page says")
    else {
        panic!("not revised")
    };
    assert_eq!((b.belief.revision, b.belief.confidence, b.belief.trust_tier), (3, 500, Untrusted));
    assert_eq!(code(beliefs::revise(&old, 1, &[], "nothing")), "evidence_missing");
}

#[conforms::conforms(part = "HK-15.3-2")]
#[test]
fn a_newer_belief_supersedes_and_both_stay_on_record() {
    let (old, new) =
        (belief(1, "node 20", "repo", Observed, 900), belief(2, "node 22", "repo", Verified, 900));
    let body = beliefs::supersede(&old, &new).expect("it has more behind it");
    let map = folded(&[asserted(&old), asserted(&new), body]);
    assert_eq!(map[&old.belief_id].status, BeliefStatus::Superseded);
    assert_eq!(map[&new.belief_id].status, BeliefStatus::Active);
    assert_eq!(map[&new.belief_id].supersedes, Some(old.belief_id));
    assert_eq!(code(beliefs::supersede(&new, &old)), "less_trusted");
    assert_eq!(code(beliefs::supersede(&old, &old)), "itself");
    assert_eq!(code(beliefs::supersede(&map[&old.belief_id], &new)), "not_live");
}

#[conforms::conforms(part = "HK-15.3-3", part = "HK-15.3-6")]
#[test]
fn a_contradiction_marks_the_weaker_and_deletes_neither() {
    let (weak, strong) =
        (belief(1, "port 80", "repo", Observed, 300), belief(2, "port 81", "repo", Observed, 600));
    for (a, b) in [(&weak, &strong), (&strong, &weak)] {
        let found = beliefs::contradict(a, b, "two files disagree").expect("same scope");
        assert_eq!(found.marked, weak.belief_id);
        assert!(!found.needs_review);
        let map = folded(&[asserted(&weak), asserted(&strong), found.body]);
        assert_eq!(map.len(), 2);
        assert_eq!(map[&weak.belief_id].status, BeliefStatus::Contradicted);
        assert_eq!(map[&weak.belief_id].claim, weak.claim);
        assert_eq!(map[&strong.belief_id].status, BeliefStatus::Active);
        assert_eq!(map[&strong.belief_id].contradicts, [weak.belief_id]);
    }
    let said = belief(3, "port 82", "repo", UserAsserted, 1000);
    assert!(beliefs::contradict(&weak, &said, "").expect("same scope").needs_review);
}

#[conforms::conforms("HK-15.3-5")]
#[test]
fn beliefs_of_different_scopes_coexist_and_unsettled_ones_too() {
    let (a, b) =
        (belief(1, "tabs", "repo/src", Observed, 500), belief(2, "spaces", "repo/docs", Observed, 500));
    assert_eq!(code(beliefs::contradict(&a, &b, "style")), "scopes_differ");
    let wide = belief(3, "spaces", "repo", Observed, 400);
    let found = beliefs::contradict(&a, &wide, "style").expect("one contains the other");
    let map = folded(&[asserted(&a), asserted(&wide), found.body]);
    // Both may still be revised: the uncertainty is not settled yet.
    assert!(map.values().all(beliefs::is_live));
    let settled =
        beliefs::revise(&map[&wide.belief_id], 800, &[evidence(9, Verified)], "looked").expect("still live");
    let Body::BeliefRevised(settled) = settled else { panic!("another event") };
    assert_eq!(settled.belief.status, BeliefStatus::Active);
}

#[conforms::conforms(part = "HK-15.3-4", part = "HK-8.6-4")]
#[test]
fn a_belief_reaches_every_status_and_the_last_three_are_final() {
    let words: Vec<_> = BeliefStatus::ALL.iter().map(|s| s.as_str()).collect();
    assert_eq!(words, ["active", "superseded", "contradicted", "revoked", "expired"]);
    let b = Belief { expires_at: Some(UnixMs(10)), ..belief(1, "c", "s", Observed, 500) };
    let revoked = folded(&[asserted(&b), beliefs::revoke(&b, "wrong").expect("live")]);
    assert_eq!(revoked[&b.belief_id].status, BeliefStatus::Revoked);
    assert!(beliefs::expire([&b], UnixMs(9)).is_empty());
    let expired = beliefs::expire([&b], UnixMs(10));
    let expired = folded(&[vec![asserted(&b)], expired].concat());
    assert_eq!(expired[&b.belief_id].status, BeliefStatus::Expired);
    for ended in [&revoked[&b.belief_id], &expired[&b.belief_id]] {
        assert_eq!(code(beliefs::revoke(ended, "again")), "not_live");
        assert_eq!(code(beliefs::revise(ended, 1, &[evidence(1, Observed)], "again")), "not_live");
        assert!(beliefs::expire([ended], UnixMs(99)).is_empty());
    }
}

#[conforms::conforms("HK-15.5-1", "HK-8.7-2")]
#[test]
fn a_promotion_brings_claim_scope_evidence_tier_and_reason_or_stays_below() {
    let whole = promotion(&[Observed], Backing::Evidence);
    let record = memory::promote(&whole, None, &[]).expect("it brings all");
    assert_eq!((record.trust_tier, record.status), (Observed, MemoryStatus::Active));
    let value = serde_json::to_value(&record).expect("it has a form");
    for field in [
        "memory_id",
        "claim",
        "scope",
        "evidence_refs",
        "trust_tier",
        "promotion_reason",
        "status",
        "created_at",
    ] {
        assert!(value.get(field).is_some(), "{field}");
    }
    for (lacking, why, keep) in [
        (Promotion { claim: " ".into(), ..whole.clone() }, "claim_empty", Layer::Scratchpad),
        (Promotion { evidence: vec![], ..whole.clone() }, "evidence_missing", Layer::Scratchpad),
        (Promotion { scope: "".into(), ..whole.clone() }, "scope_missing", Layer::Belief),
        (Promotion { reason: " ".into(), ..whole.clone() }, "reason_missing", Layer::Belief),
    ] {
        let degraded = memory::promote(&lacking, None, &[]).expect_err(why);
        assert_eq!((degraded.refusal.code, degraded.keep_as), (why, keep));
    }
    let known = memory::promote(&whole, None, &[record]).expect_err("known");
    assert_eq!(known.refusal.code, "already_known");
}

#[test]
fn untrusted_evidence_alone_needs_a_person_and_then_bears_that_persons_word() {
    for n in 1..4 {
        let alone = vec![Untrusted; n];
        let degraded =
            memory::promote(&promotion(&alone, Backing::Evidence), None, &[]).expect_err("untrusted");
        assert_eq!((degraded.refusal.code, degraded.keep_as), ("untrusted_evidence", Layer::Belief));
        let backed =
            memory::promote(&promotion(&alone, Backing::Person), None, &[]).expect("a person said yes");
        assert_eq!(backed.trust_tier, UserAsserted);
    }
    let mixed =
        memory::promote(&promotion(&[Untrusted, Verified], Backing::Evidence), None, &[]).expect("verified");
    assert_eq!(mixed.trust_tier, Verified);
    let gone = Belief { status: BeliefStatus::Revoked, ..belief(1, "c", "s", Verified, 900) };
    let degraded =
        memory::promote(&promotion(&[Verified], Backing::Evidence), Some(&gone), &[]).expect_err("revoked");
    assert_eq!(degraded.refusal.code, "source_not_held");
}

#[conforms::conforms(part = "HK-8.7-4", "HK-8.7-5")]
#[test]
fn a_memory_record_is_corrected_by_invalidation_or_supersession_and_never_vanishes() {
    let words: Vec<_> = MemoryStatus::ALL.iter().map(|s| s.as_str()).collect();
    assert_eq!(words, ["active", "invalidated", "revoked", "expired"]);
    let record = memory::promote(&promotion(&[Verified], Backing::Evidence), None, &[]).expect("promoted");
    let ends = [
        (memory::invalidate(&record, "wrong"), MemoryStatus::Invalidated),
        (memory::revoke(&record, "private"), MemoryStatus::Revoked),
        (memory::expire(&record), MemoryStatus::Expired),
    ];
    for (end, status) in ends {
        let mut records: BTreeMap<MemoryId, MemoryRecord> = BTreeMap::new();
        for body in memory::promoted(record.clone()).iter().chain([&end.expect("active")]) {
            memory::fold(&mut records, body, UnixMs(77));
        }
        let kept = &records[&record.memory_id];
        assert_eq!((kept.status, &kept.claim), (status, &record.claim));
        assert_eq!(kept.invalidated_at.is_some(), status == MemoryStatus::Invalidated);
        assert_eq!(code(memory::revoke(kept, "again")), "not_active");
    }
    let newer = Promotion {
        memory_id: id("mem", 2),
        replaces: Some(record.clone()),
        ..promotion(&[Verified], Backing::Evidence)
    };
    let newer =
        memory::promote(&newer, None, std::slice::from_ref(&record)).expect("it replaces what says the same");
    let mut records = BTreeMap::new();
    for body in [memory::promoted(record.clone()), memory::promoted(newer)].concat() {
        memory::fold(&mut records, &body, UnixMs(80));
    }
    assert_eq!(records.len(), 2);
    assert_eq!(records[&record.memory_id].status, MemoryStatus::Invalidated);
    // What a person said, or what ended, nothing else takes the place of.
    let said = MemoryRecord { trust_tier: UserAsserted, ..record.clone() };
    let refused = |old: MemoryRecord, backing| {
        let newer =
            Promotion { memory_id: id("mem", 3), replaces: Some(old), ..promotion(&[Verified], backing) };
        memory::promote(&newer, None, &[]).map_err(|degraded| degraded.refusal.code).map(|new| new.supersedes)
    };
    assert_eq!(refused(said.clone(), Backing::Evidence), Err("less_trusted"));
    assert_eq!(refused(said, Backing::Person), Ok(Some(record.memory_id)));
    assert_eq!(refused(records[&record.memory_id].clone(), Backing::Person), Err("not_active"));
}

#[test]
fn a_memory_record_says_for_how_long_it_is_kept_and_what_ends_it() {
    use model::knowledge::InvalidationPolicy::{Correction, Expiry, Source};
    let kept = |from_belief, retention, expires_at| {
        let promotion =
            Promotion { from_belief, retention, expires_at, ..promotion(&[Verified], Backing::Evidence) };
        memory::promote(&promotion, None, &[])
            .map(|m| (m.retention_class.unwrap(), m.invalidation_policy.unwrap(), m.expires_at))
            .map_err(|degraded| degraded.refusal.code)
    };
    let (belief, later) = (Some(id("blf", 1)), Some(UnixMs(6)));
    assert_eq!(kept(None, MemoryRetention::Pinned, None), Ok((MemoryRetention::Pinned, Correction, None)));
    assert_eq!(kept(belief, MemoryRetention::Kept, None), Ok((MemoryRetention::Kept, Source, None)));
    assert_eq!(kept(belief, MemoryRetention::Kept, later), Ok((MemoryRetention::Dated, Expiry, later)));
    assert_eq!(kept(None, MemoryRetention::Kept, Some(UnixMs(5))), Err("past"));
}
