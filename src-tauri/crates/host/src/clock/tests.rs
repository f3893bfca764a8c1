#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use super::*;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};

const DAY: i64 = 24 * 3600 * 1000;
const BEGAN: i64 = 1_790_000_000_000;

/// Two clocks that stand until a test moves them.
struct FakeClock {
    wall: AtomicI64,
    counted: AtomicU64,
}

impl FakeClock {
    fn new() -> Arc<Self> {
        Arc::new(Self { wall: AtomicI64::new(BEGAN), counted: AtomicU64::new(7) })
    }

    /// Time goes by.
    fn passes(&self, ms: i64) {
        self.set(ms);
        self.counted.fetch_add(u64::try_from(ms).unwrap(), Ordering::SeqCst);
    }

    /// The machine slept, or somebody set its clock.
    fn set(&self, ms: i64) {
        self.wall.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> UnixMs {
        UnixMs(self.wall.load(Ordering::SeqCst))
    }

    fn monotonic_ms(&self) -> u64 {
        self.counted.load(Ordering::SeqCst)
    }
}

/// Due at these instants, for ever: like a task that cannot go on although its time has come.
struct Instants(Vec<i64>, AtomicU64);

impl Instants {
    fn at(of: &[i64]) -> Arc<Self> {
        Arc::new(Self(of.iter().map(|ms| BEGAN + ms).collect(), AtomicU64::new(0)))
    }

    fn taken(&self) -> u64 {
        self.1.load(Ordering::SeqCst)
    }
}

impl Due for Instants {
    fn next_due(&self, after: UnixMs) -> Option<UnixMs> {
        self.0.iter().copied().filter(|instant| *instant > after.0).min().map(UnixMs)
    }

    fn take_up(&self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn what_is_due_is_taken_up_once_and_nothing_else_with_it() {
    let (clock, early, late) = (FakeClock::new(), Instants::at(&[1_000, 60_000]), Instants::at(&[2_000]));
    let sources: Vec<Arc<dyn Due>> = vec![Arc::clone(&early) as _, Arc::clone(&late) as _];
    let mut watch = Watch::new(&*clock);
    assert_eq!(watch.look(&*clock, &sources), (None, ms(1_000)), "it waits until the first of all");
    clock.passes(999);
    assert_eq!(watch.look(&*clock, &sources), (None, ms(1)));
    clock.passes(1);
    assert_eq!(watch.look(&*clock, &sources), (Some(Cause::Due), ms(1_000)));
    assert_eq!((early.taken(), late.taken()), (1, 0));
    // Rung again and again, it takes nothing up twice.
    assert_eq!(watch.look(&*clock, &sources), (None, ms(1_000)));
    clock.passes(1_500);
    assert_eq!(watch.look(&*clock, &sources), (Some(Cause::Due), ms(57_500)));
    assert_eq!((early.taken(), late.taken()), (1, 1));
}

#[test]
fn where_nothing_is_due_there_is_no_round_but_after_a_long_sleep() {
    let (clock, never) = (FakeClock::new(), Instants::at(&[DAY]));
    let sources: Vec<Arc<dyn Due>> = vec![Arc::clone(&never) as _];
    let mut watch = Watch::new(&*clock);
    assert_eq!(watch.look(&*clock, &sources), (None, ms(SLEEP_MS_MAX)));
    for left in (1..5).rev() {
        clock.passes(60_000);
        assert_eq!(watch.look(&*clock, &sources), (None, ms(left * 60_000)), "a ring makes no wait longer");
    }
    assert_eq!(never.taken(), 0);
    clock.passes(60_000);
    assert_eq!(watch.look(&*clock, &sources), (Some(Cause::LongSleep), ms(SLEEP_MS_MAX)));
    assert_eq!(never.taken(), 1);
}

#[test]
fn a_jump_of_the_clock_takes_everything_up() {
    let (clock, never) = (FakeClock::new(), Instants::at(&[DAY]));
    let sources: Vec<Arc<dyn Due>> = vec![Arc::clone(&never) as _];
    let mut watch = Watch::new(&*clock);
    clock.passes(10_000);
    clock.set(1_999);
    assert_eq!(watch.look(&*clock, &sources).0, None, "clocks part a little all the time");
    clock.set(8 * 3600 * 1000);
    assert_eq!(watch.look(&*clock, &sources).0, Some(Cause::Jump), "the machine slept");
    assert_eq!(watch.look(&*clock, &sources).0, None, "once");
    clock.set(-2_000);
    assert_eq!(watch.look(&*clock, &sources).0, Some(Cause::Jump), "somebody set the clock back");
}

#[test]
fn an_instant_that_the_clock_ran_ahead_to_comes_again() {
    let (clock, soon) = (FakeClock::new(), Instants::at(&[5_000]));
    let sources: Vec<Arc<dyn Due>> = vec![Arc::clone(&soon) as _];
    let mut watch = Watch::new(&*clock);
    clock.set(DAY);
    assert_eq!(watch.look(&*clock, &sources), (Some(Cause::Jump), ms(SLEEP_MS_MAX)));
    clock.set(-DAY);
    assert_eq!(watch.look(&*clock, &sources), (Some(Cause::Jump), ms(5_000)));
    clock.passes(5_000);
    assert_eq!(watch.look(&*clock, &sources).0, Some(Cause::Due));
    assert_eq!(soon.taken(), 3);
}

/// A clock that goes on whenever it is read, and what is due at once by it.
struct Quick(FakeClock, AtomicU64);

impl Clock for Quick {
    fn now(&self) -> UnixMs {
        self.0.passes(1);
        self.0.now()
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.monotonic_ms()
    }
}

impl Due for Quick {
    fn next_due(&self, _: UnixMs) -> Option<UnixMs> {
        Some(self.now())
    }

    fn take_up(&self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn what_is_due_at_once_is_taken_up_however_the_clock_goes_on_meanwhile() {
    let clock = Arc::new(Quick(
        FakeClock { wall: AtomicI64::new(BEGAN), counted: AtomicU64::new(7) },
        AtomicU64::new(0),
    ));
    let mut watch = Watch::new(&*clock);
    assert_eq!(watch.look(&*clock, &[Arc::clone(&clock) as _]).0, Some(Cause::Due));
    assert_eq!(clock.1.load(Ordering::SeqCst), 1);
}

/// Tells of every look, and of everything that it takes up.
struct Told(Mutex<Sender<&'static str>>);

impl Due for Told {
    fn next_due(&self, after: UnixMs) -> Option<UnixMs> {
        let _ = self.0.lock().unwrap().send("looked");
        Some(UnixMs(BEGAN + DAY)).filter(|instant| *instant > after)
    }

    fn take_up(&self) {
        let _ = self.0.lock().unwrap().send("taken up");
    }
}

#[test]
fn the_thread_hears_the_bell_while_it_sleeps_and_ends_with_its_timer() {
    let (send, heard) = channel();
    let clock = FakeClock::new();
    let told = Arc::new(Told(Mutex::new(send)));
    let bell = Bell::default();
    let timer = Timer::begin(bell.clone(), Arc::clone(&clock) as _, vec![Arc::clone(&told) as _]).unwrap();
    let patience = Duration::from_secs(20);
    assert_eq!(heard.recv_timeout(patience), Ok("looked"));
    clock.passes(DAY);
    bell.ring();
    while heard.recv_timeout(patience).unwrap() != "taken up" {}
    drop(timer);
    while heard.try_recv().is_ok() {}
    bell.ring();
    assert_eq!(Arc::strong_count(&told), 1, "the thread has let go of what it woke");
    assert!(heard.try_recv().is_err());
}
