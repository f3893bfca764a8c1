//! The gate as it stands in a kernel: what its chain says of acts that were allowed, refused and halted (KS-3 to KS-7).

use crate::story::{completed, count, events, log};
use gate::{AuditEntry, EvidenceBundle, GateDecision, KernelState, Variant, verify_bundle};
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Error, Kernel, Waiting};
use model::fault::Point;
use model::policy::{Profile, Verdict};
use model::{Body, TaskId, UnixMs};
use seal::Digest;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use testkit::{Edge, Mode, World, done, look, say, write};

fn entries(kernel: &Kernel) -> Vec<AuditEntry> {
    let stored = kernel.reader().gate_entries(0, 100_000).unwrap();
    stored.iter().map(|(_, bytes)| serde_json::from_slice(bytes).unwrap()).collect()
}

/// Entries by the request they are of, in order; a boot and a halt are of the session.
fn passes(all: &[AuditEntry]) -> Vec<(String, Vec<AuditEntry>)> {
    let mut found: Vec<(String, Vec<AuditEntry>)> = Vec::new();
    for entry in all {
        match found.last_mut() {
            Some((id, of)) if *id == entry.request_id => of.push(entry.clone()),
            _ => found.push((entry.request_id.clone(), vec![entry.clone()])),
        }
    }
    found
}

fn walked(of: &[AuditEntry]) -> Vec<KernelState> {
    of.iter().map(|entry| entry.state_to).collect()
}

/// A store in which one act was allowed outright, one after a yes, one denied by a person, one forbidden and one lessened;
/// then it was halted and booted again.
fn lived(seed: u64) -> (World, Vec<TaskId>) {
    let world = World::new(seed);
    world.file("a.txt", "text");
    let asked = world.script("asked", vec![look("a.txt"), write("b.txt", "b"), done("ok")]);
    assert_eq!(world.drive_allowing(asked).0, completed());
    let refused = world.script("refused", vec![write("c.txt", "c"), done("not done")]);
    let approval = world.drive_to_approval(refused);
    world.person.deny(world.kernel(), refused, approval, "no").unwrap();
    world.drive(refused);
    let mut tasks = vec![asked, refused];
    for profile in [Profile::DestructiveDenied, Profile::ReadonlyAnalysis] {
        let name = profile.as_str();
        world.reasoners.script(name, vec![say("delete", json!({ "path": "a.txt" })), done("ok")]);
        let mut submission = world.submission(name, Reasoning::Scripted { name: name.to_owned() });
        submission.profile = profile;
        let task = world.kernel().submit(&submission).unwrap().task_id;
        world.drive_allowing(task);
        tasks.push(task);
    }
    world.kernel().halt("enough").unwrap();
    world.kernel().boot().unwrap();
    (world, tasks)
}

/// The steps of KS-6.1, written out once more.
fn may_follow(from: KernelState, to: KernelState) -> bool {
    use KernelState::{Arbitrating, Auditing, Booting, Executing, Halted, Idle, Validating};
    match (from, to) {
        (Halted, _) => false,
        (Booting | Auditing, Idle) | (Idle, Validating) | (Validating, Arbitrating | Auditing) => true,
        (Arbitrating, Executing | Auditing) | (Executing, Auditing) | (_, Halted) => true,
        _ => false,
    }
}

#[conforms::conforms("KS-3.1-1", "KS-3.2-1", "KS-3.2-2", "KS-4.1-1", "KS-4.2-1", "KS-5.1-1", "KS-6.1-2")]
#[test]
fn the_gate_of_a_kernel_is_in_one_state_at_a_time_and_moves_only_as_the_table_says() {
    let (mut world, _) = lived(1_731);
    world.reopen();
    let all = entries(world.kernel());
    let mut at = KernelState::Booting;
    let (mut seen, mut decided) = (BTreeSet::from([KernelState::Booting]), BTreeSet::new());
    for entry in &all {
        // A new session begins before its boot; within one nothing moves but by an entry.
        if entry.intent == "boot" {
            at = KernelState::Booting;
            assert_eq!(entry.state_to, KernelState::Idle, "booted, it is ready");
        }
        assert_eq!(entry.state_from, at, "a state was left or entered without an entry: {entry:?}");
        assert!(may_follow(at, entry.state_to), "{at} to {}", entry.state_to);
        if entry.state_to == KernelState::Executing {
            assert!(entry.decision == GateDecision::Allow && entry.tool_name.is_some());
        }
        at = entry.state_to;
        seen.insert(at);
        decided.insert(entry.decision);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), KernelState::ALL, "all seven, and no other");
    assert_eq!(decided.into_iter().collect::<Vec<_>>(), GateDecision::ALL);
    let names: Vec<&str> = KernelState::ALL.iter().map(|state| state.as_str()).collect();
    assert_eq!(names, ["BOOTING", "IDLE", "VALIDATING", "ARBITRATING", "EXECUTING", "AUDITING", "HALTED"]);
    let names: Vec<&str> = GateDecision::ALL.iter().map(|decision| decision.as_str()).collect();
    assert_eq!(names, ["ALLOW", "DENY", "HALT"]);
    let boots: Vec<&str> = all.iter().filter(|e| e.intent == "boot").map(|e| e.request_id.as_str()).collect();
    assert_eq!(boots.len(), 3, "the first host, after the halt, and the next host");
    assert_eq!(boots.iter().collect::<BTreeSet<_>>().len(), 3, "each is a session of its own");
}

#[conforms::conforms("HK-10.4-4", "HK-16.5-1", "KS-3.3-1", "KS-3.3-2", "KS-3.10-1", "KS-6.1-1", "HK-26-3")]
#[test]
fn every_act_is_judged_before_it_is_done_and_what_is_not_allowed_outright_is_not_done() {
    use KernelState::{Arbitrating, Auditing, Executing, Idle, Validating};
    let (world, tasks) = lived(1_732);
    let allowed = vec![Validating, Arbitrating, Executing, Auditing, Idle];
    let denied = vec![Validating, Arbitrating, Auditing, Idle];
    let of_tools = passes(&entries(world.kernel()));
    let of_tools: Vec<_> = of_tools.into_iter().filter(|(_, of)| of[0].tool_name.is_some()).collect();
    let (mut verdicts, mut dispatched) = (Vec::new(), BTreeSet::new());
    let (mut requested, mut judged) = (BTreeSet::new(), BTreeSet::new());
    for task in tasks {
        for (_, body) in events(world.kernel(), task) {
            match body {
                Body::ActionRequested(b) => drop(requested.insert(b.action_request_id)),
                Body::PolicyEvaluated(b) => {
                    assert!(judged.insert(b.action_request_id), "one answer to each request");
                    verdicts.push(b.verdict);
                }
                Body::EffectDispatched(b) => drop(dispatched.insert(b.audit_entry_sha256)),
                _ => {}
            }
        }
    }
    assert_eq!(judged, requested, "and none without an answer");
    let mut passed = 0;
    for (id, of) in &of_tools {
        let is_allowed = of.iter().any(|entry| entry.state_to == Executing);
        assert_eq!(walked(of), if is_allowed { allowed.clone() } else { denied.clone() }, "{id}");
        // Nothing is permitted before it was judged.
        let before = of.iter().take_while(|entry| entry.state_to != Executing && entry.state_to != Auditing);
        assert!(before.into_iter().all(|entry| entry.decision == GateDecision::Deny));
        let last = of.last().unwrap();
        assert_eq!(last.decision == GateDecision::Allow, is_allowed);
        assert_eq!(of.iter().any(|e| e.error.is_some()), !is_allowed, "a refusal says why");
        let led_to = of.iter().filter(|entry| dispatched.contains(&entry.entry_hash)).count();
        assert_eq!(led_to, usize::from(is_allowed), "exactly what is allowed is dispatched, once");
        passed += led_to;
    }
    assert_eq!(passed, dispatched.len(), "nothing was dispatched without a pass");
    let known: Vec<&str> = Verdict::ALL.iter().map(|verdict| verdict.as_str()).collect();
    assert_eq!(known.len(), 4, "and there is no other answer: {known:?}");
    let many = |verdict| verdicts.iter().filter(|v| **v == verdict).count();
    assert!(many(Verdict::Allow) > 1 && many(Verdict::Deny) > 0);
    assert!(many(Verdict::RequireApproval) > 1 && many(Verdict::Downgrade) > 0);
    let errors: BTreeSet<&str> =
        of_tools.iter().flat_map(|(_, of)| of).filter_map(|e| e.error.as_deref()).collect();
    for why in ["approval_required", "policy_denied", "downgraded"] {
        assert!(errors.contains(why), "{errors:?}");
    }
    // Every request that was judged stood before the gate, and one that got a yes stood there twice.
    let yes = many(Verdict::RequireApproval) - 1;
    assert_eq!(of_tools.len(), verdicts.len() + yes);
}

#[conforms::conforms("KS-3.4-1", part = "KS-6.2-1")]
#[test]
fn an_act_whose_entries_the_log_does_not_take_is_not_begun_and_the_gate_has_not_moved() {
    for mode in [Mode::Error, Mode::Full, Mode::Abort] {
        let mut world = World::new(1_733);
        let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
        let approval = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, approval).unwrap();
        let before = entries(world.kernel());
        world.faults.plan(Point::EffectDispatch, Edge::Before, mode, 1);
        let driven = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.kernel().drive(task)));
        assert!(world.faults.fired() && !matches!(driven, Ok(Ok(_))), "{mode:?}: {driven:?}");
        world.faults.clear();
        assert!(world.oracle.performed().is_empty() && world.files().is_empty(), "{mode:?}");
        world.reopen();
        let mut after = entries(world.kernel());
        let booted = after.pop().unwrap();
        assert_eq!((after, booted.intent.as_str()), (before, "boot"), "{mode:?}: no entry, no transition");
        assert_eq!(world.drive(task), completed());
        // With the commit come all the entries of its pass, before the executor begins.
        let told = log(world.kernel());
        let dispatched = told.iter().filter(|(_, body)| matches!(body, Body::EffectDispatched(_))).count();
        let executing =
            entries(world.kernel()).iter().filter(|e| e.state_to == KernelState::Executing).count();
        assert_eq!((dispatched, executing), (1, 1));
    }
    // Nor does a boot whose entry the log does not take wake a gate that was halted.
    let world = World::new(1_739);
    world.kernel().halt("enough").unwrap();
    let before = entries(world.kernel());
    world.faults.plan(Point::GateBoot, Edge::Before, Mode::Full, 1);
    let booted = world.kernel().boot();
    assert!(world.faults.fired() && booted.is_err(), "{booted:?}");
    world.faults.clear();
    assert_eq!((entries(world.kernel()), world.kernel().halted().is_some()), (before.clone(), true));
    world.kernel().boot().unwrap();
    assert_eq!((entries(world.kernel()).len(), world.kernel().halted()), (before.len() + 1, None));
}

#[conforms::conforms("KS-3.5-1", "KS-4.7-1", "KS-7.1-1")]
#[test]
fn the_chain_of_a_kernel_begins_at_zeros_and_shows_whatever_is_done_to_it() {
    let (world, _) = lived(1_734);
    let all = entries(world.kernel());
    let mut head = Digest::ZERO;
    for (entry, (_, stored)) in all.iter().zip(world.kernel().reader().gate_entries(0, 100_000).unwrap()) {
        let value: serde_json::Value = serde_json::from_slice(&stored).unwrap();
        crate::objects::says(
            &value,
            &[
                "prev_hash",
                "entry_hash",
                "ts_ms",
                "request_id",
                "actor",
                "intent",
                "decision",
                "state_from",
                "state_to",
            ],
        );
        assert_eq!(entry.prev_hash, head);
        // Computed once more, without the code that wrote it.
        let mut rest = value.clone();
        rest.as_object_mut().unwrap().remove("entry_hash");
        head = Digest::of(&seal::canon::canonical_value(&rest).unwrap());
        assert_eq!(value["entry_hash"], json!(head));
    }
    assert_eq!(world.kernel().reader().gate_head().unwrap(), head);
    let verified = gate::replay(&all).unwrap();
    assert_eq!((verified.entries, verified.root), (all.len() as u64, head));
    for at in 0..all.len() {
        let mut dropped = all.clone();
        dropped.remove(at);
        let mut changed = all.clone();
        changed[at].ts_ms = UnixMs(changed[at].ts_ms.0 + 1);
        assert!(at + 1 == all.len() || gate::replay(&dropped).is_err(), "{at} dropped");
        assert!(gate::replay(&changed).is_err(), "{at} changed");
    }
}

#[conforms::conforms("KS-4.8-1", "KS-7.2-1")]
#[test]
fn the_bundle_of_a_kernels_gate_holds_every_entry_and_its_root() {
    let (world, _) = lived(1_735);
    let all = entries(world.kernel());
    let id = world.kernel().store_state().store_id;
    let bundle = EvidenceBundle::of(all.clone(), UnixMs(9), &id, Variant::Strict).unwrap();
    let value = serde_json::to_value(&bundle).unwrap();
    crate::objects::says(&value, &["ledger_entries", "root_hash", "exported_at_ms", "kernel_id", "variant"]);
    assert_eq!(bundle.root_hash, world.kernel().reader().gate_head().unwrap());
    assert_eq!(bundle.ledger_entries, all);
    verify_bundle(&bundle).unwrap();
    for root_hash in [Digest::ZERO, all[0].entry_hash, all[all.len() - 2].entry_hash] {
        assert!(verify_bundle(&EvidenceBundle { root_hash, ..bundle.clone() }).is_err());
    }
    let mut cut = bundle;
    cut.ledger_entries.pop();
    assert!(verify_bundle(&cut).is_err());
}

/// All that a world with this seed has put down, in a folder of always the same name.
fn bytes_of(seed: u64, home: &std::path::Path) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let named = |name: &str| tempfile::Builder::new().prefix(name).rand_bytes(0).tempdir_in(home).unwrap();
    let mut world = World::inside(seed, named("store"), named("folder"));
    world.take_up().unwrap();
    world.register_keys().unwrap();
    world.file("a.txt", "text");
    let goal =
        vec![look("a.txt"), write("b.txt", "b"), say("delete", json!({ "path": "a.txt" })), done("ok")];
    let task = world.script("the same", goal);
    assert_eq!(world.drive_allowing(task).0, completed());
    world.kernel().halt("enough").unwrap();
    let gate = world.kernel().reader().gate_entries(0, 10_000).unwrap().into_iter().map(|(_, bytes)| bytes);
    let events = world.kernel().reader().log(0, 100_000).unwrap().into_iter().map(|stored| stored.bytes);
    (gate.collect(), events.collect())
}

#[conforms::conforms("HK-15.6-5", "KS-3.7-1")]
#[test]
fn the_same_words_over_the_same_folder_leave_the_same_bytes() {
    let home = tempfile::tempdir().unwrap();
    let (first, again) = (bytes_of(1_736, home.path()), bytes_of(1_736, home.path()));
    assert!(first.0.len() > 10 && first.1.len() > 50);
    assert_eq!(first.0, again.0, "the chain of the gate");
    assert_eq!(first.1.len(), again.1.len());
    for (one, two) in first.1.iter().zip(&again.1) {
        assert_eq!(String::from_utf8_lossy(one), String::from_utf8_lossy(two));
    }
    assert_ne!(bytes_of(1_737, home.path()).0, first.0, "other chance, other names");
}

/// Where the work stands when a person halts it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    /// Nothing was driven yet.
    Ready,
    /// The model is at this answer of its four.
    Thinking(usize),
    /// A person is asked about the first write.
    Asked,
    /// They have said yes, and nothing was done yet.
    Allowed,
    /// The executor is at the look.
    Executing,
}

/// Drives a task that looks and writes twice, and halts it there; how many acts were begun before.
fn halted(world: &World, when: When) -> (TaskId, usize) {
    let (halted, at) = testkit::stop();
    let answers = [look("a.txt"), write("b.txt", "b"), write("c.txt", "c"), done("ok")];
    let mut turn = 0;
    let mut thinks = None;
    match when {
        When::Executing => world.oracle.tells(move |_, _| halted.waits()),
        When::Thinking(_) => thinks = Some(halted),
        _ => {}
    }
    let model = reasoning::Scripted::with(move |_| {
        if when == When::Thinking(turn) {
            thinks.as_ref().expect("it stops there").waits();
        }
        turn += 1;
        Ok(answers[turn - 1].clone())
    });
    world.file("a.txt", "text");
    world.reasoners.put("halted", Arc::new(model));
    let submission = world.submission("halted", Reasoning::Scripted { name: "halted".to_owned() });
    let task = world.kernel().submit(&submission).unwrap().task_id;
    if let When::Ready = when {
        world.kernel().halt("stop").unwrap();
        return (task, 0);
    }
    if matches!(when, When::Asked | When::Allowed) {
        let approval = world.drive_to_approval(task);
        if when == When::Allowed {
            world.person.allow(world.kernel(), task, approval).unwrap();
        }
        world.kernel().halt("stop").unwrap();
        return (task, count(world.kernel(), task, "effect.dispatched"));
    }
    std::thread::scope(|scope| {
        let driving = scope.spawn(|| {
            loop {
                match world.kernel().drive(task) {
                    Ok(DriveOutcome::Waiting(Waiting::Approval(id))) => {
                        world.person.allow(world.kernel(), task, id).unwrap();
                    }
                    other => return other,
                }
            }
        });
        at.is_reached();
        let begun = count(world.kernel(), task, "effect.dispatched");
        world.kernel().halt("stop").unwrap();
        at.goes_on();
        let ended = driving.join().unwrap();
        assert!(matches!(ended, Ok(DriveOutcome::Halted)), "{when:?}: {ended:?}");
        (task, begun)
    })
}

#[conforms::conforms(part = "KS-3.8-1", "KS-3.8-2", part = "KS-5.5-1", "KS-5.5-2")]
#[test]
fn a_halt_counts_at_once_wherever_the_work_stands_and_for_the_rest_of_the_session() {
    let whenever = [When::Ready, When::Asked, When::Allowed, When::Executing].into_iter();
    let mut begun = BTreeSet::new();
    for when in whenever.chain((0..4).map(When::Thinking)) {
        let world = World::new(1_738);
        let (task, before) = halted(&world, when);
        assert_eq!(
            count(world.kernel(), task, "effect.dispatched"),
            before,
            "{when:?}: nothing more was begun"
        );
        check_halted(&world, task);
        begun.insert(before);
    }
    assert_eq!(begun.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
}

fn check_halted(world: &World, task: TaskId) {
    let all = entries(world.kernel());
    let last = all.last().unwrap();
    assert_eq!((last.intent.as_str(), last.state_to), ("halt", KernelState::Halted));
    assert_eq!(last.decision, GateDecision::Halt);
    let told = log(world.kernel());
    let halt = told.iter().position(|(_, body)| matches!(body, Body::GateHalted(_))).unwrap();
    let Body::GateHalted(said) = &told[halt].1 else { panic!("it was just found") };
    assert_eq!(said.reason.shown().map(String::as_str), Some("stop"), "with what it was halted for");
    assert!(!told[halt..].iter().any(|(_, body)| matches!(body, Body::EffectDispatched(_))));
    let files = world.files();
    for _ in 0..2 {
        let again = world.drive(task);
        assert!(matches!(again, DriveOutcome::Halted | DriveOutcome::Waiting(_)), "{again:?}");
        assert!(matches!(world.kernel().halt("again"), Err(Error::Halted)), "it is for the whole session");
    }
    assert_eq!(world.files(), files);
    let session = last.request_id.clone();
    world.kernel().boot().unwrap();
    let booted = entries(world.kernel()).pop().unwrap();
    assert_ne!(booted.request_id, session, "what works again is another session");
}

/// Asks for the state of the gate again and again: it is this one, it is that of the newest entry, and all that is kept stays as it is.
fn stands(kernel: &Kernel, state: KernelState) {
    let kept = || (entries(kernel), kernel.reader().gate_head().unwrap(), log(kernel).len());
    let before = kept();
    for _ in 0..3 {
        assert_eq!(kernel.gate_state(), state);
    }
    assert_eq!(before.0.last().unwrap().state_to, state);
    assert_eq!(kept(), before, "asking has changed something");
}

#[conforms::conforms("KS-5.2-1")]
#[test]
fn whoever_asks_for_the_state_is_told_where_the_gate_stands_and_changes_nothing() {
    let mut world = World::new(1_740);
    world.file("a.txt", "text");
    stands(world.kernel(), KernelState::Idle);
    // While an executor is at work the gate has let it pass, and takes the next.
    let (stop, at) = testkit::stop();
    world.oracle.tells(move |_, _| stop.waits());
    let task = world.script("asked", vec![look("a.txt"), write("b.txt", "b"), done("ok")]);
    let approval = std::thread::scope(|scope| {
        let driving = scope.spawn(|| world.drive_to_approval(task));
        at.is_reached();
        stands(world.kernel(), KernelState::Idle);
        at.goes_on();
        driving.join().unwrap()
    });
    stands(world.kernel(), KernelState::Idle);
    world.kernel().halt("stop").unwrap();
    stands(world.kernel(), KernelState::Halted);
    // The next host finds it halted as well, and what a person boots is ready.
    world.reopen();
    stands(world.kernel(), KernelState::Halted);
    world.kernel().boot().unwrap();
    stands(world.kernel(), KernelState::Idle);
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed(), "what was asked so often works as ever");
    stands(world.kernel(), KernelState::Idle);

    // A halt that the log could not take is one, whatever the newest entry says.
    world.faults.plan(Point::GateHalt, Edge::Before, Mode::Full, 1);
    assert!(matches!(world.kernel().halt("stop"), Err(Error::HaltUnrecorded(_))));
    world.faults.clear();
    assert_eq!(world.kernel().gate_state(), KernelState::Halted);
    world.kernel().record_halt().unwrap();
    stands(world.kernel(), KernelState::Halted);
}
