//! What becomes of a request that the gate cannot take, and of a host whose gate cannot boot (KS-3.6, KS-5.1, KS-6.2).

use crate::story::{completed, count, log};
use gate::{AuditEntry, GateDecision, KernelState};
use kernel::{DriveOutcome, Error, Kernel, Ports, Waiting};
use model::{Body, Clock, Digest, Entropy, RequestId, TaskId, UnixMs};
use std::sync::{Arc, Mutex};
use testkit::{FakeClock, SeededEntropy, World, done, look, write};

/// What an identifier is drawn from: ten bytes of chance, and the time it was then.
type Draw = ([u8; 10], i64);

/// Time and chance of a world, kept as identifiers are drawn from them; one draw may be the same as an earlier one.
struct Echo {
    clock: Arc<FakeClock>,
    entropy: Arc<SeededEntropy>,
    again: Option<(usize, usize)>,
    drawn: Mutex<(Vec<Draw>, bool)>,
}

impl Entropy for Echo {
    fn fill(&self, buffer: &mut [u8]) {
        self.entropy.fill(buffer);
        let Ok(bytes) = <&mut [u8; 10]>::try_from(buffer) else { return };
        let (drawn, is_timed) = &mut *self.drawn.lock().unwrap();
        if let Some((of, at)) = self.again
            && at == drawn.len()
        {
            *bytes = drawn[of].0;
        }
        drawn.push((*bytes, 0));
        *is_timed = false;
    }
}

impl Clock for Echo {
    fn now(&self) -> UnixMs {
        let mut now = self.clock.now();
        let (drawn, is_timed) = &mut *self.drawn.lock().unwrap();
        if let Some(at) = drawn.len().checked_sub(1)
            && !std::mem::replace(is_timed, true)
        {
            if let Some((of, _)) = self.again.filter(|(_, again)| *again == at) {
                now = UnixMs(drawn[of].1);
            }
            drawn[at].1 = now.0;
        }
        now
    }

    fn monotonic_ms(&self) -> u64 {
        self.clock.monotonic_ms()
    }
}

struct Given(Draw);

impl Entropy for Given {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.0.0);
    }
}

impl Clock for Given {
    fn now(&self) -> UnixMs {
        UnixMs(self.0.1)
    }

    fn monotonic_ms(&self) -> u64 {
        0
    }
}

/// A task that looks at two files, and a kernel for it.
fn two_looks(again: Option<(usize, usize)>) -> (World, TaskId, Kernel, Arc<Echo>) {
    let world = World::new(2_301);
    let task = world.script("look", vec![look("a.txt"), look("b.txt"), done("ok")]);
    with_echo(world, task, again)
}

/// The same, and it would write one as well.
fn two_looks_and_a_write(again: Option<(usize, usize)>) -> (World, TaskId, Kernel, Arc<Echo>) {
    let world = World::new(2_303);
    let answers = vec![look("a.txt"), look("b.txt"), write("c.txt", "three"), done("ok")];
    let task = world.script("look and write", answers);
    with_echo(world, task, again)
}

fn with_echo(
    mut world: World,
    task: TaskId,
    again: Option<(usize, usize)>,
) -> (World, TaskId, Kernel, Arc<Echo>) {
    world.file("a.txt", "one");
    world.file("b.txt", "two");
    world.crash();
    let echo = Arc::new(Echo {
        clock: Arc::clone(&world.clock),
        entropy: Arc::clone(&world.entropy),
        again,
        drawn: Mutex::default(),
    });
    let ports = Ports { clock: Arc::clone(&echo) as _, entropy: Arc::clone(&echo) as _, ..world.ports() };
    let kernel = Kernel::open(world.store.path(), ports).unwrap();
    (world, task, kernel, echo)
}

fn entries(kernel: &Kernel) -> Vec<AuditEntry> {
    let stored = kernel.reader().gate_entries(0, 10_000).unwrap();
    stored.iter().map(|(_, bytes)| serde_json::from_slice(bytes).unwrap()).collect()
}

/// Where the second request of this life drew its name, and where the first did: with both, the next life says the first one's twice.
fn second_as_first(kernel: &Kernel, echo: &Echo) -> (usize, usize) {
    let mut asked: Vec<String> =
        entries(kernel).into_iter().filter(|e| e.tool_name.is_some()).map(|e| e.request_id).collect();
    asked.dedup();
    let drawn = echo.drawn.lock().unwrap().0.clone();
    let of = |id: &String| {
        let is = |draw: &Draw| RequestId::fresh(&Given(*draw), &Given(*draw)).to_string() == *id;
        drawn.iter().position(is).expect("it was drawn")
    };
    (of(&asked[0]), of(&asked[1]))
}

/// The passes of a chain: each begins where a gate at rest takes a request.
fn passes(all: &[AuditEntry]) -> Vec<Vec<&AuditEntry>> {
    let mut found: Vec<Vec<&AuditEntry>> = Vec::new();
    for entry in all.iter().filter(|entry| entry.tool_name.is_some()) {
        if entry.state_from == KernelState::Idle {
            found.push(Vec::new());
        }
        found.last_mut().expect("a pass begins at rest").push(entry);
    }
    found
}

#[conforms::conforms("KS-5.3-1")]
#[test]
fn what_is_submitted_is_validated_then_judged_then_done_only_if_allowed_and_each_step_is_recorded() {
    use KernelState::{Arbitrating, Auditing, Executing, Idle, Validating};
    let (_first, task, kernel, echo) = two_looks_and_a_write(None);
    assert!(matches!(kernel.drive(task), Ok(DriveOutcome::Waiting(Waiting::Approval(_)))));
    let again = second_as_first(&kernel, &echo);

    // The same life, in which the second request is no valid one at first; and a person is still to be asked about the write.
    let (world, task, kernel, _) = two_looks_and_a_write(Some(again));
    let files = world.files();
    let failed = kernel.drive(task);
    assert!(matches!(&failed, Err(Error::Gate(why)) if why == "request_repeated"), "{failed:?}");
    let waits = kernel.drive(task);
    assert!(matches!(&waits, Ok(DriveOutcome::Waiting(Waiting::Approval(_)))), "{waits:?}");
    let all = entries(&kernel);
    let walked: Vec<(Vec<KernelState>, GateDecision, Option<&str>)> = passes(&all)
        .iter()
        .map(|of| {
            let why = of.iter().find_map(|entry| entry.error.as_deref());
            (of.iter().map(|entry| entry.state_to).collect(), of.last().expect("entries").decision, why)
        })
        .collect();
    let whole = vec![Validating, Arbitrating, Executing, Auditing, Idle];
    assert_eq!(
        walked,
        [
            (whole.clone(), GateDecision::Allow, None),
            (vec![Validating, Auditing, Idle], GateDecision::Deny, Some("request_repeated")),
            (whole, GateDecision::Allow, None),
            (vec![Validating, Arbitrating, Auditing, Idle], GateDecision::Deny, Some("approval_required")),
        ]
    );
    // Done is what was allowed, each once and under the entry that says so.
    let is_decisive = |e: &&AuditEntry| e.state_to == Auditing && e.decision == GateDecision::Allow;
    let allowed: Vec<Digest> = all.iter().filter(is_decisive).map(|entry| entry.entry_hash).collect();
    let dispatched = log(&kernel).into_iter().filter_map(|(_, body)| match body {
        Body::EffectDispatched(effect) => Some(effect.audit_entry_sha256),
        _ => None,
    });
    assert_eq!(dispatched.collect::<Vec<_>>(), allowed);
    assert_eq!((world.oracle.performed().len(), world.files()), (2, files), "two looks and no write");
    gate::replay(&all).expect("each of it is part of one chain");
}

#[conforms::conforms(part = "KS-3.6-1", "KS-3.6-2", "KS-6.2-1", "KS-6.2-2", "KS-6.2-4")]
#[test]
fn a_malformed_request_is_denied_and_recorded_though_policy_allows_it_and_the_gate_goes_on() {
    let (_first, task, kernel, echo) = two_looks(None);
    assert_eq!(kernel.drive(task).unwrap(), completed());
    let again = second_as_first(&kernel, &echo);
    let first = passes(&entries(&kernel)).first().expect("a pass for each look")[0].request_id.clone();

    // The same life once more, in which the second request has the name of the first.
    let (world, task, kernel, _) = two_looks(Some(again));
    let failed = kernel.drive(task);
    assert!(matches!(&failed, Err(Error::Gate(why)) if why == "request_repeated"), "{failed:?}");
    let counted =
        |kernel: &Kernel| (world.oracle.performed().len(), count(kernel, task, "effect.dispatched"));
    assert_eq!(counted(&kernel), (1, 1), "only the first look was done, and nothing more was granted");
    let all = entries(&kernel);
    let last: Vec<&AuditEntry> = all.iter().rev().take(3).rev().collect();
    let walked: Vec<_> = last.iter().map(|e| (e.state_from, e.state_to)).collect();
    use KernelState::{Auditing, Idle, Validating};
    assert_eq!(walked, [(Idle, Validating), (Validating, Auditing), (Auditing, Idle)], "nobody judged it");
    assert!(last.iter().all(|e| e.decision == GateDecision::Deny && e.request_id == first));
    assert_eq!(last[1].error.as_deref(), Some("request_repeated"), "the entry says why");
    gate::replay(&all).expect("the refusal is part of the chain");
    // It stands where it can take the next, in this host and in the one after it.
    assert_eq!(kernel.drive(task).unwrap(), completed());
    assert_eq!(counted(&kernel), (2, 2));
    drop(kernel);
    let next = world.open();
    let replayed = gate::replay(&entries(&next)).expect("one chain");
    assert_eq!(replayed.root, next.reader().gate_head().unwrap());
}

#[conforms::conforms("KS-5.1-2")]
#[test]
fn a_host_whose_gate_cannot_boot_says_what_is_wrong_and_serves_nothing() {
    let mut world = World::new(2_302);
    world.file("a.txt", "one");
    let task = world.script("look", vec![look("a.txt"), done("ok")]);
    world.crash();
    // A machine whose clock stands before 1970.
    let back = world.clock.now().0 + 1_000_000;
    world.clock.advance(-back);
    let before = ledger::Reader::open(world.store.path()).unwrap().gate_head().unwrap();
    let refused = world.try_open().map(drop);
    assert!(
        matches!(&refused, Err(Error::Gate(why)) if why.contains("`ts_ms`") && why.contains("time_malformed")),
        "{refused:?}"
    );
    let reader = ledger::Reader::open(world.store.path()).unwrap();
    assert_eq!(reader.gate_head().unwrap(), before, "no session has begun");
    drop(reader);
    world.clock.advance(back);
    world.reopen();
    assert_eq!(world.drive(task), completed(), "put right, it boots");
}
