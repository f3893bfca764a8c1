//! Grants and the authorization: what leads to one, and what it does not cover.

use super::changed::every_change;
use super::world::*;
use crate::grant::{ChildInput, MintInput, child, is_subset, mint};
use crate::{Authorization, authorize, witness};
use acts::Action;
use model::approval::{ApprovalDecision, ApprovalStatus, Choice, Surface};
use model::grant::{CapabilityGrant, FilesystemScope};
use model::limits::GRANT_MS_MAX;
use model::policy::{Profile, Verdict};
use model::witness::Found;
use model::{Slot, UnixMs};
use proptest::prelude::*;
use seal::{Digest, canon};

fn case() -> Case {
    Case::new(change(&[create("new"), overwrite("b"), delete("c"), rename("d", "e")]))
}

fn code<T>(result: Result<T, crate::Refusal>) -> &'static str {
    result.err().map_or("granted", |refusal| refusal.code)
}

#[conforms::conforms(
    "HK-16.6-2",
    "HK-16.6-3",
    "HK-8.12-1",
    "HK-8.12-3",
    "HK-8.12-4",
    "HK-10.4-5",
    part = "HK-25.2-4"
)]
#[test]
fn a_grant_is_as_narrow_as_its_request() {
    let case = case();
    let grant = case.mint().expect("it was agreed to");
    let touched: Vec<String> = ["b", "c", "d", "e", "new"].iter().map(|at| file(at).to_string()).collect();
    assert_eq!(grant.resource_scope, touched);
    assert_eq!((grant.max_uses, grant.filesystem_scope.clone()), (1, FilesystemScope::Named));
    assert_eq!((grant.not_before, grant.expires_at), (case.now, case.now.plus_ms(GRANT_MS_MAX)));
    assert!(grant.network_scope.is_empty() && grant.secret_scope.is_empty());
    let bound = (grant.task_id, grant.step_id, grant.attempt_id, grant.action_class);
    let request = &case.request;
    assert_eq!(bound, (request.task_id, request.step_id, request.attempt_id, request.action_class));
    assert_eq!(grant.action_request_sha256, digest(request));
    assert_eq!(grant.policy_result_sha256, digest(&case.policy));
    assert_eq!(grant.approval_packet_sha256, Slot::Value(digest(&case.packet)));
    assert_eq!(grant.witness_sha256, Slot::Value(digest(&case.observed)));
    let value = canon::to_value(&grant).expect("it is JSON");
    for field in ["grant_id", "issued_to_principal_id", "issued_by_principal_id", "issued_at", "expires_at"] {
        assert!(!value[field].is_null(), "the grant says its `{field}`");
    }
}

#[test]
fn each_kind_of_action_gets_the_file_system_it_needs() {
    let scope = |action: Action| {
        let grant = Case::new(action).mint().expect("it was agreed to");
        (grant.filesystem_scope, grant.network_scope)
    };
    assert_eq!(scope(read(".env")), (FilesystemScope::ReadLease, vec![]));
    assert_eq!(scope(change(&[create("a")])), (FilesystemScope::Named, vec![]));
    assert_eq!(scope(rollback(&[delete("a")])), (FilesystemScope::Named, vec![]));
    assert_eq!(scope(command(&["make"], false)), (FilesystemScope::Lease, vec![]));
    assert_eq!(scope(command(&["make"], true)), (FilesystemScope::Lease, vec!["*:0".to_owned()]));
    assert_eq!(scope(remember("x")), (FilesystemScope::Nothing, vec![]));
    assert_eq!(scope(commit()), (FilesystemScope::Lease, vec![]));
    assert_eq!(scope(fetch()), (FilesystemScope::Nothing, vec!["example.org:443".to_owned()]));
    assert_eq!(scope(send()), (FilesystemScope::Nothing, vec!["api.example.org:8443".to_owned()]));
}

#[conforms::conforms("HK-16.6-1")]
#[test]
fn a_grant_needs_an_allow_or_a_yes_with_an_unchanged_world() {
    let look = request(read("a.txt"));
    let policy = ENGINE.evaluate(&question(&look, Profile::ReadonlyAnalysis));
    let case = case();
    let direct = MintInput {
        request: &look,
        request_sha256: digest(&look),
        policy: &policy,
        observed: None,
        decision_ref: None,
        ..case.input()
    };
    let grant = mint(&direct).expect("policy allows it");
    assert_eq!((grant.approval_ref, grant.witness_sha256), (Slot::NOT_REQUIRED, Slot::NOT_REQUIRED));
    assert_eq!(code(mint(&case.input())), "approval_missing", "policy asked and nobody answered");
    for verdict in [Verdict::Deny, Verdict::Downgrade] {
        let mut policy = policy.clone();
        policy.verdict = verdict;
        assert_eq!(code(mint(&MintInput { policy: &policy, ..direct })), "policy_denied");
        let mut case = case.clone();
        case.policy.verdict = verdict;
        case.packet.policy_result.verdict = verdict;
        assert_eq!(code(case.mint()), "policy_denied");
    }
}

#[conforms::conforms("HK-6.2-3")]
#[test]
fn no_grant_without_a_decision_record_where_the_spec_demands_one() {
    let mut demanded = 0;
    for action in every_kind() {
        let request = request(action);
        let profile = Profile::ExternalPublishGated;
        let policy = ENGINE.evaluate(&question(&request, profile));
        let observed = witness_of(&request, T0.plus_ms(2000));
        let holder = case();
        let input = MintInput {
            request: &request,
            request_sha256: digest(&request),
            policy: &policy,
            observed: Some(&observed),
            ..holder.input()
        };
        let needs = request.action.classes().iter().any(|class| class.needs_decision());
        assert_eq!(policy.decision_required, needs);
        let without = if policy.verdict == Verdict::Allow {
            mint(&MintInput { decision_ref: None, ..input }).err()
        } else {
            without_decision(&Case::new(request.action.clone()))
        };
        let code = without.map(|refusal| refusal.code);
        assert_eq!(code, needs.then_some("decision_missing"), "{}", policy.action_summary);
        demanded += u32::from(needs);
    }
    assert!(demanded >= 5, "only {demanded} kinds demand one");
}

fn without_decision(case: &Case) -> Option<crate::Refusal> {
    let approval = case.granted();
    let approved = crate::grant::Approved {
        approval: &approval,
        decision: &case.decision,
        packet: &case.packet,
        first: None,
    };
    mint(&MintInput { approved: Some(approved), decision_ref: None, ..case.input() }).err()
}

#[conforms::conforms("HK-16.8-4", part = "HK-19.5-3")]
#[test]
fn any_field_changed_after_the_yes_is_refused() {
    for action in [change(&[create("new"), overwrite("b"), delete("c"), rename("d", "e")]), send(), commit()]
    {
        refuses_every_change(&Case::new(action));
    }
}

fn refuses_every_change(case: &Case) {
    case.mint().expect("unchanged, it is granted");
    for (pointer, request) in every_change(&case.request) {
        assert_ne!(code(Case { request, ..case.clone() }.mint()), "granted", "{pointer} of the request");
    }
    for (pointer, policy) in every_change(&case.policy) {
        // The judgement after the yes may differ from the one before it in these, and only as an allow.
        let again = policy.verdict == Verdict::Allow && pointer == "/verdict";
        let got = code(Case { policy, ..case.clone() }.mint());
        assert_eq!(got == "granted", again, "{pointer} of the policy result: {got}");
    }
    for (pointer, packet) in every_change(&case.packet) {
        assert_ne!(code(Case { packet, ..case.clone() }.mint()), "granted", "{pointer} of the packet");
    }
    // A look of its own has an identifier, a time and an observer of its own.
    let own = ["/witness_id", "/observed_by", "/observed_at", "/expires_at"];
    for (pointer, observed) in every_change(&case.observed) {
        let turned = observed.fingerprints.len() == case.observed.fingerprints.len()
            && case.observed.fingerprints.iter().all(|print| observed.fingerprints.contains(print));
        let free = own.contains(&pointer.as_str()) || (pointer == "/fingerprints" && turned);
        let got = code(Case { observed, ..case.clone() }.mint());
        assert_eq!(got == "granted", free, "{pointer} of the witness: {got}");
    }
}

#[test]
fn a_yes_dated_after_the_clock_grants_nothing() {
    let mut case = Case::new(change(&[create("new")]));
    case.mint().expect("as it was given");
    case.decision.decided_at = case.now.plus_ms(1);
    assert_eq!(code(case.mint()), "decision_time");
}

#[test]
fn a_staged_run_is_part_of_what_a_yes_and_a_grant_are_for() {
    let case = Case::of(staged_request(), Profile::LocalEditAllowed);
    let grant = case.mint().expect("unchanged, it is granted");
    for place in ["gone", "kept", "new"] {
        assert!(grant.resource_scope.contains(&file(place).to_string()), "`{place}` is in the grant");
    }
    for (pointer, request) in every_change(&case.request) {
        assert_ne!(code(Case { request: request.clone(), ..case.clone() }.mint()), "granted", "{pointer}");
        assert!(authorize(&grant, &request, 0, case.now).is_err(), "{pointer}");
    }
    let mut other = change(&[create("new")]);
    if let Action::Change(acts::Change { items }) = &mut other {
        items.clear();
    }
    let mut forged = staged_request();
    forged.action = other;
    assert_eq!(
        ENGINE.evaluate(&question(&forged, Profile::LocalEditAllowed)).verdict,
        Verdict::Deny,
        "only a command can have been staged"
    );
}

#[test]
fn a_judgement_made_after_the_yes_may_only_turn_into_an_allow() {
    let mut case = case();
    let mut question = question(&case.request, Profile::ExternalPublishGated);
    question.packet = Some(digest(&case.packet));
    question.approved_packet = question.packet;
    question.policy_result_id = id!(PolicyResultId, 99);
    question.now = case.now;
    case.policy = ENGINE.evaluate(&question);
    assert_eq!(case.policy.verdict, Verdict::Allow);
    case.mint().expect("the same judgement, now with the yes");
    let own = ["/policy_result_id", "/evaluated_at", "/reasoning_summary"];
    for (pointer, policy) in every_change(&case.policy) {
        let free = own.contains(&pointer.as_str()) || pointer.starts_with("/determining_rules");
        let got = code(Case { policy, ..case.clone() }.mint());
        assert_eq!(got == "granted", free, "{pointer}: {got}");
    }
    question.profile = Profile::RepoMutationGated;
    case.policy = ENGINE.evaluate(&question);
    assert_eq!(code(case.mint()), "policy_drift", "the rules are another version");
}

#[conforms::conforms("HK-16.8-3", "HK-10.4-7")]
#[test]
fn what_changes_the_world_is_looked_at_again_before_it_is_granted() {
    let mut asked = 0;
    for action in every_kind().into_iter().chain([change(&[delete("x")])]) {
        let request = request(action);
        let policy = ENGINE.evaluate(&question(&request, Profile::ExternalPublishGated));
        if policy.verdict != Verdict::RequireApproval {
            continue;
        }
        asked += 1;
        let case = Case::new(request.action.clone());
        let approval = case.granted();
        let approved = crate::grant::Approved {
            approval: &approval,
            decision: &case.decision,
            packet: &case.packet,
            first: None,
        };
        let input = MintInput { approved: Some(approved), ..case.input() };
        let blind = mint(&MintInput { observed: None, ..input });
        let needs = request.action.classes().iter().any(|class| class.needs_witness());
        assert_eq!(code(blind) == "witness_missing", needs, "{}", policy.action_summary);
        if needs && !case.observed.fingerprints.is_empty() {
            let mut other = case.clone();
            other.observed.fingerprints[0].state = Found::Absent;
            assert_eq!(code(other.mint()), "witness_drift", "{}", policy.action_summary);
            let mut stale = case.clone();
            stale.observed.observed_at = T0;
            assert_eq!(code(stale.mint()), "witness_expired", "it must be younger than the yes");
        }
    }
    assert!(asked > 2, "only {asked} kinds are asked about");
}

#[test]
fn drift_is_told_in_words_and_only_of_what_is_touched() {
    let case = case();
    let mut later = case.observed.clone();
    assert_eq!(witness::compare(&case.observed, &later), []);
    later.fingerprints[0].state = Found::Absent;
    later.fingerprints[1].state = Found::Unreadable { reason: "no permission".to_owned() };
    let said: Vec<String> =
        witness::compare(&case.observed, &later).iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 2);
    assert!(said[0].contains("was a file of 3 bytes") && said[0].ends_with("and is absent"), "{said:?}");
    assert!(said[1].ends_with("and is unreadable (no permission)"), "{said:?}");
    let same = witness::compare(&later, &later);
    assert_eq!(same.len(), 1, "what nobody could read twice is not known to be the same: {same:?}");
    later.fingerprints.truncate(2);
    assert_eq!(witness::compare(&case.observed, &later).len(), case.observed.fingerprints.len());
}

#[test]
fn a_yes_that_is_no_yes_mints_nothing() {
    for status in ApprovalStatus::ALL.iter().filter(|status| **status != ApprovalStatus::Granted) {
        let case = case();
        let approval = model::approval::Approval { status: *status, ..case.granted() };
        let approved = crate::grant::Approved {
            approval: &approval,
            decision: &case.decision,
            packet: &case.packet,
            first: None,
        };
        let got = mint(&MintInput { approved: Some(approved), ..case.input() });
        assert_eq!(code(got), "approval_not_granted", "{status}");
    }
    for choice in [Choice::Deny, Choice::Standing] {
        let mut case = case();
        case.decision.choice = choice;
        assert_eq!(code(case.mint()), "approval_not_granted");
    }
    let mut case = case();
    case.decision.surface = Surface::Mcp;
    assert_eq!(code(case.mint()), "approval_not_granted");
}

#[test]
fn a_yes_lapses_with_its_packet() {
    let mut case = case();
    case.now = case.packet.expires_at;
    case.observed = witness_of(&case.request, case.now);
    assert_eq!(code(case.mint()), "approval_expired");
    case.now = case.packet.expires_at.plus_ms(-1);
    case.observed = witness_of(&case.request, case.now);
    let grant = case.mint().expect("one millisecond is left");
    assert_eq!(grant.expires_at, case.packet.expires_at, "and the grant has no more");
}

fn right(
    grant: &CapabilityGrant,
    case: &Case,
    uses: u32,
    now: UnixMs,
) -> Result<Authorization, &'static str> {
    authorize(grant, &case.request, uses, now).map_err(|refusal| refusal.code)
}

#[conforms::conforms("HK-6.2-2")]
#[test]
fn an_authorization_is_refused_for_every_reason_there_is() {
    let case = case();
    let grant = case.mint().expect("it was agreed to");
    let given = right(&grant, &case, 0, case.now).expect("now, once");
    assert_eq!(given.grant_id(), grant.grant_id);
    assert!(given.admits(&case.request).is_ok() && given.covers(&file("b")) && !given.covers(&file("z")));
    assert_eq!(code(right(&grant, &case, 1, case.now).map_err(into)), "grant_spent");
    assert_eq!(
        code(right(&grant, &case, 0, grant.not_before.plus_ms(-1)).map_err(into)),
        "grant_not_yet_valid"
    );
    assert_eq!(code(right(&grant, &case, 0, grant.expires_at).map_err(into)), "grant_expired");
    let mut narrow = grant.clone();
    narrow.resource_scope.retain(|resource| *resource != file("c").to_string());
    assert_eq!(code(right(&narrow, &case, 0, case.now).map_err(into)), "grant_scope");
    let mut another = grant.clone();
    another.action_class = model::action::ActionClass::NetworkRead;
    assert_eq!(code(right(&another, &case, 0, case.now).map_err(into)), "grant_class");
    for (pointer, request) in every_change(&case.request) {
        assert!(authorize(&grant, &request, 0, case.now).is_err(), "{pointer}");
        assert!(given.admits(&request).is_err(), "{pointer}");
    }
    let mut elsewhere = case.clone();
    elsewhere.request.attempt_id = id!(AttemptId, 44);
    assert_eq!(code(right(&grant, &elsewhere, 0, case.now).map_err(into)), "grant_elsewhere");
}

fn into(code: &'static str) -> crate::Refusal {
    crate::Refusal::new(code, "")
}

#[test]
fn a_folder_in_scope_covers_what_lies_beneath_only_for_reading_and_commands() {
    let given = |action: Action| {
        let case = Case::new(action);
        let grant = case.mint().expect("it was agreed to");
        authorize(&grant, &case.request, 0, case.now).expect("now, once")
    };
    let look = given(read(".ssh"));
    assert!(look.covers(&file(".ssh/config")) && !look.covers(&file(".sshx")) && !look.covers(&file("a")));
    assert!(given(command(&["make"], false)).covers(&file("any/where")));
    assert!(!given(change(&[create("a")])).covers(&file("a/b")));
    let elsewhere = model::ResourceId::File(id!(WorkspaceId, 81), path(".ssh/config"));
    assert!(!look.covers(&elsewhere), "another workspace is another world");
}

fn any_scope() -> impl Strategy<Value = FilesystemScope> {
    prop_oneof![
        Just(FilesystemScope::Nothing),
        Just(FilesystemScope::ReadLease),
        Just(FilesystemScope::Named),
        Just(FilesystemScope::Lease)
    ]
}

proptest! {
    #[test]
    fn a_child_grant_reaches_nowhere_that_its_parent_does_not(
        places in proptest::collection::vec(prop_oneof![Just("b"), Just("c"), Just("new"), Just("z")], 0..4),
        filesystem_scope in any_scope(),
        network_scope in proptest::collection::vec(Just("*:0".to_owned()), 0..2),
        secret_scope in proptest::collection::vec(Just("token".to_owned()), 0..2),
        later in -10i64..10,
        max_uses in 0u32..4,
    ) {
        let case = case();
        let mut parent = case.mint().expect("it was agreed to");
        parent.max_uses = 2;
        let input = ChildInput {
            grant_id: id!(GrantId, 90),
            issued_to: HANDS,
            resource_scope: places.iter().map(|at| file(at).to_string()).collect(),
            filesystem_scope: filesystem_scope.clone(),
            network_scope: network_scope.clone(),
            secret_scope: secret_scope.clone(),
            expires_at: parent.expires_at.plus_ms(later),
            max_uses,
            now: case.now,
        };
        let fits = !places.contains(&"z")
            && matches!(filesystem_scope, FilesystemScope::Nothing | FilesystemScope::Named)
            && network_scope.is_empty()
            && secret_scope.is_empty()
            && later <= 0
            && max_uses <= 2;
        let got = child(&parent, input);
        prop_assert_eq!(got.is_ok(), fits);
        if let Ok(small) = got {
            prop_assert!(is_subset(&small, &parent));
            let whole = authorize(&parent, &case.request, 0, case.now).expect("now, once");
            let mut part = parent.clone();
            part.resource_scope.clone_from(&small.resource_scope);
            for at in ["b", "c", "d", "e", "new", "z"] {
                let named = small.resource_scope.contains(&file(at).to_string());
                prop_assert!(!named || whole.covers(&file(at)));
            }
            for uses in 0..4 {
                for at in [case.now, small.expires_at, parent.expires_at] {
                    let small = authorize(&small, &case.request, uses, at).is_ok();
                    let large = authorize(&parent, &case.request, uses, at).is_ok();
                    prop_assert!(large || !small, "a part works where the whole does not");
                }
            }
        }
    }
}

#[test]
fn a_grant_with_any_other_root_is_no_part_of_another() {
    let parent = case().mint().expect("it was agreed to");
    assert!(is_subset(&parent, &parent));
    let free = ["/grant_id", "/issued_to_principal_id"];
    for (pointer, other) in every_change(&parent) {
        let narrower = is_subset(&other, &parent);
        let back = is_subset(&parent, &other);
        if free.contains(&pointer.as_str()) {
            assert!(narrower, "{pointer} is the child's own");
        } else {
            assert!(
                !(narrower && back)
                    || other.resource_scope.len() > parent.resource_scope.len()
                    || pointer.starts_with("/resource_scope"),
                "{pointer}: both are part of each other"
            );
        }
        let bound = ["task_id", "step_id", "attempt_id", "action_class", "sha256", "_ref", "issued_by"];
        if bound.iter().any(|field| pointer.contains(field)) {
            assert!(!narrower, "{pointer}: {other:?}");
        }
    }
}

#[test]
fn what_two_keys_have_to_allow_is_granted_to_yeses_of_two_and_to_nothing_less() {
    let plain = Case::new(change(&[create("new")]));
    let mut case = plain.clone();
    case.policy.need = Some(2);
    case.packet.policy_result.need = Some(2);
    case.approval = pending(&case.packet);
    case.decision.packet_sha256 = case.approval.approval_packet_sha256;
    let minted = |case: &Case, first: Option<(&ApprovalDecision, [Digest; 2])>| {
        let first = first.map(|(decision, keys)| crate::grant::First { decision, keys });
        let (approval, decision, packet) = (&case.granted(), &case.decision, &case.packet);
        let approved = crate::grant::Approved { approval, decision, packet, first };
        mint(&MintInput { approved: Some(approved), ..case.input() }).err().map(|refusal| refusal.code)
    };
    let (one, other) = (sha("one"), sha("other"));
    assert_eq!(minted(&case, Some((&case.decision, [one, other]))), None);
    assert_eq!(minted(&case, None), Some("approval_one_of_two"));
    let mut short = case.decision.clone();
    short.scope.expires_at = case.now;
    assert_eq!(minted(&case, Some((&short, [one, other]))), Some("approval_expired"), "the first is over");
    assert_eq!(minted(&case, Some((&case.decision, [one, one]))), Some("approval_same_key"));
    assert_eq!(
        minted(&case, Some((&plain.decision, [one, other]))),
        Some("approval_other"),
        "another packet"
    );
    assert_eq!(minted(&plain, Some((&plain.decision, [one, other]))), Some("approval_other"));
    assert_eq!(minted(&plain, None), None);
}
