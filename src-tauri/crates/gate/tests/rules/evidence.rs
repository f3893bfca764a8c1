//! KS-7: what was tampered with does not verify, and the first offending place is named.

use crate::*;
use gate::{EvidenceBundle, Fault, KernelState, Replay, verify_bundle};

/// A bundle with every kind of entry in it: two sessions, allowed, denied, failed, refused, halted.
fn honest() -> EvidenceBundle {
    let (mut gate, mut log) = booted(Variant::Permissive);
    let mut asked = request("req_1");
    asked.evidence = Some(APPROVAL.to_owned());
    let mut hand = Hand::works();
    gate.submit(asked, &Says::new(Ruling::ALLOW), &mut hand, &mut log);
    gate.submit(request("req_2"), &Says::new(Ruling::deny("approval_required")), &mut hand, &mut log);
    hand.answer = Err("broken".to_owned());
    gate.submit(request("req_3"), &Says::new(Ruling::ALLOW), &mut hand, &mut log);
    gate.halt("stop", UnixMs(3_000), &mut log);
    gate.submit(request("req_4"), &Says::new(Ruling::ALLOW), &mut hand, &mut log);
    let mut next = Gate::new();
    next.boot(KernelConfig { head: gate.head(), ..config(Variant::Permissive) }, &mut log).expect("it boots");
    next.submit(request("req_5"), &Says::new(Ruling::ALLOW), &mut Hand::works(), &mut log);
    next.export_evidence(log, UnixMs(9_000)).expect("it exports")
}

#[conforms::conforms("KS-7.1-1", "KS-7.2-1")]
#[test]
fn an_honest_bundle_verifies_and_says_how_much() {
    let bundle = honest();
    let verified = verify_bundle(&bundle).expect("it verifies");
    assert_eq!(verified.entries, bundle.ledger_entries.len() as u64);
    assert_eq!(verified.root, bundle.root_hash);
    assert_eq!(bundle.ledger_entries[0].prev_hash, Digest::ZERO, "genesis is 64 zeros");
}

#[test]
fn an_empty_bundle_is_never_valid_whatever_its_root() {
    for root_hash in [Digest::ZERO, Digest::of(b"")] {
        let empty = EvidenceBundle { ledger_entries: Vec::new(), root_hash, ..honest() };
        assert_eq!(verify_bundle(&empty), Err(Fault::Empty));
    }
    assert!(Gate::new().export_evidence(Vec::new(), UnixMs(1)).is_err());
}

#[test]
fn a_store_is_exported_without_a_running_gate_and_only_when_it_replays() {
    let bundle = honest();
    let again =
        EvidenceBundle::of(bundle.ledger_entries.clone(), UnixMs(9_000), "store_one", Variant::Permissive);
    assert_eq!(again.as_ref(), Ok(&bundle));
    let mut broken = bundle.ledger_entries;
    broken.remove(4);
    assert!(EvidenceBundle::of(broken, UnixMs(9_000), "store_one", Variant::Permissive).is_err());
    assert_eq!(EvidenceBundle::of(Vec::new(), UnixMs(1), "store_one", Variant::Strict), Err(Fault::Empty));
}

/// Every change of one field that leaves an entry readable.
fn tampered(entry: &AuditEntry) -> Vec<(String, AuditEntry)> {
    let value = serde_json::to_value(entry).expect("it serialises");
    let names = [
        "prev_hash",
        "entry_hash",
        "ts_ms",
        "request_id",
        "actor",
        "intent",
        "decision",
        "state_from",
        "state_to",
        "tool_name",
        "params_hash",
        "evidence_hash",
        "error",
    ];
    let mut found = Vec::new();
    for name in names {
        let others: Vec<Value> = match name {
            "prev_hash" | "entry_hash" | "params_hash" | "evidence_hash" => {
                vec![json!(Digest::of(b"other")), json!(Digest::ZERO)]
            }
            "ts_ms" => vec![json!(entry.ts_ms.0 + 1)],
            "decision" => GateDecision::ALL.iter().map(|d| json!(d)).collect(),
            "state_from" | "state_to" => KernelState::ALL.iter().map(|s| json!(s)).collect(),
            _ => vec![json!("other"), json!("")],
        };
        let optional = matches!(name, "tool_name" | "params_hash" | "evidence_hash" | "error");
        for other in others.into_iter().map(Some).chain(optional.then_some(None)) {
            let mut changed = value.clone();
            let fields = changed.as_object_mut().expect("an object");
            match other {
                Some(other) => fields.insert(name.to_owned(), other),
                None => fields.remove(name),
            };
            if changed != value {
                found.push((name.to_owned(), serde_json::from_value(changed).expect("still an entry")));
            }
        }
    }
    found
}

#[conforms::conforms("KS-7.1-1", "KS-3.5-1")]
#[test]
fn any_changed_field_of_any_entry_is_found_at_its_place() {
    let bundle = honest();
    let mut tried = 0;
    for (at, entry) in bundle.ledger_entries.iter().enumerate() {
        for (name, changed) in tampered(entry) {
            let mut forged = bundle.clone();
            forged.ledger_entries[at] = changed;
            let fault = verify_bundle(&forged).expect_err(&name);
            assert_eq!(place(&fault), Some(at as u64 + 1), "`{name}` of entry {}: {fault}", at + 1);
            tried += 1;
        }
    }
    assert!(tried > 300, "{tried} changes were tried");
}

#[test]
fn a_changed_field_is_found_even_when_its_own_hash_is_made_to_fit() {
    let bundle = honest();
    let last = bundle.ledger_entries.len() - 1;
    for at in 0..=last {
        for (name, mut changed) in tampered(&bundle.ledger_entries[at]) {
            if name == "entry_hash" {
                continue;
            }
            changed.entry_hash = changed.computed_hash().expect("it hashes");
            let mut forged = bundle.clone();
            forged.ledger_entries[at] = changed;
            let fault = verify_bundle(&forged).expect_err(&name);
            let found = place(&fault);
            let next = at as u64 + 2;
            assert!(found.is_none_or(|p| p <= next), "`{name}` of entry {}: {fault}", at + 1);
            assert!(found.is_some() || at == last, "only the root shows a change of the last entry");
        }
    }
}

#[conforms::conforms("KS-7.1-1")]
#[test]
fn dropped_doubled_swapped_and_cut_entries_are_found() {
    let bundle = honest();
    let count = bundle.ledger_entries.len();
    for at in 0..count {
        let mut dropped = bundle.clone();
        dropped.ledger_entries.remove(at);
        let fault = verify_bundle(&dropped).expect_err("one is missing");
        let expected = if at == count - 1 { None } else { Some(at as u64 + 1) };
        assert_eq!(place(&fault), expected, "{fault}");

        let mut doubled = bundle.clone();
        doubled.ledger_entries.insert(at, bundle.ledger_entries[at].clone());
        assert_eq!(place(&verify_bundle(&doubled).expect_err("one too many")), Some(at as u64 + 2));

        let mut cut = bundle.clone();
        cut.ledger_entries.truncate(at);
        assert!(verify_bundle(&cut).is_err(), "cut to {at}");

        for other in at + 1..count {
            let mut swapped = bundle.clone();
            swapped.ledger_entries.swap(at, other);
            assert_eq!(place(&verify_bundle(&swapped).expect_err("swapped")), Some(at as u64 + 1));
        }
    }
}

#[conforms::conforms("KS-7.2-1")]
#[test]
fn a_root_that_is_not_the_last_entry_is_refused() {
    let bundle = honest();
    for root_hash in [Digest::ZERO, bundle.ledger_entries[0].entry_hash, Digest::of(b"x")] {
        let forged = EvidenceBundle { root_hash, ..bundle.clone() };
        let found = bundle.root_hash;
        assert_eq!(verify_bundle(&forged), Err(Fault::Root { expected: root_hash, found }));
    }
}

/// Links and hashes made to fit: what a forger with the code can do.
fn relinked(mut entries: Vec<AuditEntry>) -> Vec<AuditEntry> {
    let mut head = Digest::ZERO;
    for entry in &mut entries {
        entry.prev_hash = head;
        entry.entry_hash = entry.computed_hash().expect("it hashes");
        head = entry.entry_hash;
    }
    entries
}

#[test]
fn a_relinked_history_that_no_gate_could_have_written_is_refused() {
    let entries = honest().ledger_entries;
    let refused = |change: fn(&mut Vec<AuditEntry>)| {
        let mut forged = entries.clone();
        change(&mut forged);
        gate::replay(&relinked(forged)).expect_err("no gate writes that")
    };
    assert_eq!(refused(|e| e[3].decision = GateDecision::Deny), Fault::Unauthorised { place: 4 });
    assert_eq!(refused(|e| e[3].tool_name = None), Fault::Unauthorised { place: 4 });
    assert!(matches!(refused(|e| drop(e.remove(2))), Fault::State { place: 3, .. }));
    assert!(matches!(refused(|e| e[0].state_from = KernelState::Idle), Fault::State { place: 1, .. }));
    assert!(matches!(refused(|e| e[1].state_to = KernelState::Executing), Fault::State { place: 2, .. }));
}

/// The steps of KS-6.1, written out a second time.
fn is_step(from: KernelState, to: KernelState) -> bool {
    use KernelState::{Arbitrating, Auditing, Booting, Executing, Halted, Idle, Validating};
    match (from, to) {
        (Halted, _) => false,
        (Booting | Auditing, Idle) | (Idle, Validating) | (Validating, Arbitrating | Auditing) => true,
        (Arbitrating, Executing | Auditing) | (Executing, Auditing) => true,
        (_, Halted) => true,
        _ => false,
    }
}

/// Entries that lead a gate from its start to a state.
fn path_to(state: KernelState, like: &AuditEntry) -> Vec<AuditEntry> {
    use KernelState::{Arbitrating, Auditing, Booting, Executing, Halted, Idle, Validating};
    let line = [Booting, Idle, Validating, Arbitrating, Executing, Auditing, Halted];
    let end = line.iter().position(|one| *one == state).expect("a state");
    let step = |pair: &[KernelState]| AuditEntry {
        state_from: pair[0],
        state_to: pair[1],
        decision: GateDecision::Allow,
        ..like.clone()
    };
    line[..=end].windows(2).map(step).collect()
}

/// Every pair of states with every decision, with and without a tool and an error: an entry is taken if and only if a
/// gate could have written it behind those before it.
#[conforms::conforms("KS-6.1-2")]
#[test]
fn exactly_the_entries_that_a_gate_could_have_written_replay() {
    let like = honest().ledger_entries.into_iter().find(|e| e.tool_name.is_some()).expect("one with a tool");
    let mut taken = 0;
    let pairs = KernelState::ALL.iter().flat_map(|from| KernelState::ALL.iter().map(|to| (*from, *to)));
    for (from, to) in pairs {
        for decision in GateDecision::ALL.iter().copied() {
            for (has_tool, has_error) in [(false, false), (false, true), (true, false), (true, true)] {
                let mut entries = path_to(from, &like);
                entries.push(AuditEntry {
                    state_from: from,
                    state_to: to,
                    decision,
                    tool_name: like.tool_name.clone().filter(|_| has_tool),
                    error: has_error.then(|| "broken".to_owned()),
                    ..like.clone()
                });
                let stays = from == to && from != KernelState::Booting;
                let is_refusal = stays && decision != GateDecision::Allow && has_error;
                let runs = decision == GateDecision::Allow && has_tool;
                let may = (is_step(from, to) || is_refusal) && (to != KernelState::Executing || runs);
                let found = gate::replay(&relinked(entries));
                assert_eq!(
                    found.is_ok(),
                    may,
                    "{from} to {to}, {decision}, {has_tool}, {has_error}: {found:?}"
                );
                taken += u32::from(may);
            }
        }
    }
    assert!(taken > 100, "{taken}");
}

#[test]
fn a_bundle_reads_back_from_its_bytes_and_from_no_others() {
    let bundle = honest();
    let bytes = bundle.to_bytes().expect("it has canonical bytes");
    assert_eq!(EvidenceBundle::from_bytes(&bytes), Ok(bundle));
    let spaced = [b" ".as_slice(), &bytes].concat();
    assert!(matches!(EvidenceBundle::from_bytes(&spaced), Err(Fault::Unreadable { place: 0, .. })));
    for at in (0..bytes.len()).step_by(7) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        let verdict = EvidenceBundle::from_bytes(&flipped).and_then(|b| verify_bundle(&b));
        let harmless = ["exported_at_ms", "kernel_id", "variant"];
        if verdict.is_ok() {
            let text = String::from_utf8(flipped).expect("it was read");
            let tail = text.split("\"ledger_entries\"").next().expect("a head").len();
            let outside = at < tail || at > text.rfind(']').expect("an end");
            assert!(
                outside,
                "byte {at} of the entries changed and was not found; only {harmless:?} are not hashed"
            );
        }
    }
}

#[test]
fn entries_are_replayed_from_their_stored_bytes_without_writing_them_again() {
    let bundle = honest();
    let mut replay = Replay::new();
    for (at, entry) in (1..).zip(&bundle.ledger_entries) {
        let bytes = entry.to_bytes().expect("it has canonical bytes");
        let mut spaced = bytes.clone();
        spaced.push(b' ');
        let fault = replay.clone().push_bytes(&spaced).expect_err("stored bytes are canonical");
        assert_eq!(place(&fault), Some(at), "{fault}");
        assert_eq!(replay.push_bytes(&bytes).as_ref(), Ok(entry));
    }
    assert_eq!(replay.finish().map(|v| v.root), Ok(bundle.root_hash));
}

fn place(fault: &Fault) -> Option<u64> {
    match fault {
        Fault::Link { place, .. }
        | Fault::Hash { place, .. }
        | Fault::State { place, .. }
        | Fault::Unauthorised { place }
        | Fault::Unreadable { place, .. } => Some(*place),
        Fault::Root { .. } | Fault::Empty => None,
    }
}
