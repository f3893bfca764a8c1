//! Random lives of a store: each seed one, lived twice, and the log is the same to the byte.

use super::audit::audit;
use super::points::spread;
use super::sim::{Plan, Sim, Stop, log_after};
use super::stories::give;
use kernel::command::ingest::Incoming;
use kernel::{DriveOutcome, Error, Waiting};
use model::artifact::TrustTier;
use model::fault::Point;
use model::ingress::Channel;
use model::proposal::Answer;
use model::receipt::ResultCode;
use model::{ApprovalId, TaskId};
use seal::Digest;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use testkit::{Edge, Mode, Say, change, done, look, say, write};

/// Seeds in the suite.
const SEEDS: usize = 12;
/// Things that happen in one life.
const STEPS: usize = 60;
/// Tasks one life may have been given.
const NAMES: [&str; 4] = ["first", "second", "third", "fourth"];
/// Files of the folder.
const FILES: [&str; 5] = ["a.txt", "b.txt", "c.txt", "d/e.txt", "d/f.txt"];

/// Boundaries that nearly every life passes.
const OFTEN: [Point; 14] = [
    Point::HostStart,
    Point::IngressBind,
    Point::TaskStart,
    Point::ContextCompile,
    Point::ModelRespond,
    Point::ActionJudge,
    Point::ApprovalRequest,
    Point::ApprovalGrant,
    Point::EffectDispatch,
    Point::ItemRename,
    Point::ItemMove,
    Point::EffectObserve,
    Point::IterationComplete,
    Point::TaskEnd,
];

/// Chance of a seed, and of nothing else (SplitMix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.roll() % n.max(1) as u64).unwrap_or(0)
    }

    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// A life and what was kept of it outside: signed answers that may come late or twice.
struct Life {
    sim: Sim,
    dice: Dice,
    letters: Vec<(TaskId, ApprovalId, Vec<u8>)>,
}

fn script(dice: &mut Dice) -> Vec<Say> {
    let turns = 1 + dice.below(5);
    let mut script: Vec<Say> = (0..turns).map(|turn| utterance(dice, turn)).collect();
    script.push(Say::Answer(done("enough")));
    script
}

fn utterance(dice: &mut Dice, turn: usize) -> Say {
    let file = dice.of(&FILES);
    let text = format!("text {turn} {}", dice.below(1_000));
    Say::Answer(match dice.below(12) {
        0 | 1 => look(file),
        2 | 3 => write(file, &text),
        4..=6 => changes(dice, &text),
        7 => say("fly", json!({ "to": text })),
        8 => say("ask", json!({ "question": text, "choices": ["yes", "no"] })),
        9 => say(
            "remember",
            json!({ "claim": text, "scope": "workspace", "reason": "asked", "evidence": [file] }),
        ),
        10 => return Say::Down,
        _ => return Say::Garbage,
    })
}

fn changes(dice: &mut Dice, text: &str) -> Answer {
    let item = |dice: &mut Dice| match dice.below(3) {
        0 => json!({ "op": "write", "path": dice.of(&FILES), "content": text }),
        1 => json!({ "op": "delete", "path": dice.of(&FILES) }),
        _ => json!({ "op": "move", "from": dice.of(&FILES), "to": format!("moved/{}", dice.below(100)) }),
    };
    let items: Vec<Value> = (0..=dice.below(3)).map(|_| item(dice)).collect();
    change(Value::Array(items))
}

impl Life {
    fn new(seed: u64) -> Self {
        let mut sim = Sim::new(&format!("seed-{seed}"), seed, true);
        sim.name = format!("HERMIT_SIMULATION_SEED={seed} cargo test -p hermit-tests simulation::seeds");
        sim.lenient = true;
        sim.world.file("a.txt", "one");
        sim.world.file("d/e.txt", "two");
        Self { sim, dice: Dice(seed), letters: Vec::new() }
    }

    /// Something happens.
    fn step(&mut self) {
        match self.dice.below(22) {
            _ if self.sim.tasks.is_empty() => self.submit(),
            0 | 1 => self.submit(),
            2..=6 => self.with_task(|sim, task, _| Ok(_ = sim.kernel().drive(task)?)),
            7..=9 => self.letter(),
            10 => self.deliver(),
            11 => self.clock(),
            12 | 13 => self.edit(),
            14 | 20 | 21 => self.fault(),
            15 => self.sim.leave(),
            16 | 17 => self.command(),
            18 => self.keys(),
            _ => self.rarely(),
        }
    }

    fn submit(&mut self) {
        let (name, script) = (self.dice.of(&NAMES), script(&mut self.dice));
        self.sim.once(|sim| give(sim, name, script));
    }

    fn with_task(&mut self, act: impl FnOnce(&mut Sim, TaskId, &mut Dice) -> Result<(), Stop>) {
        let known: Vec<TaskId> = self.sim.tasks.values().copied().collect();
        if known.is_empty() {
            return;
        }
        let (task, dice) = (self.dice.of(&known), &mut self.dice);
        self.sim.once(|sim| act(sim, task, dice));
    }

    /// The person answers a question of a task: yes or no, sent now, or kept for later.
    fn letter(&mut self) {
        let letters = &mut self.letters;
        let known: Vec<TaskId> = self.sim.tasks.values().copied().collect();
        if known.is_empty() {
            return;
        }
        let (task, dice) = (self.dice.of(&known), &mut self.dice);
        self.sim.once(|sim| {
            let state = sim.kernel().task(task)?;
            let Some(record) = state.approvals.values().next_back() else { return Ok(()) };
            let id = record.approval.approval_id;
            let choice = if dice.below(5) == 0 {
                model::approval::Choice::Deny
            } else {
                model::approval::Choice::Once
            };
            let feedback = (choice == model::approval::Choice::Deny).then_some("not like this");
            let letter = sim.world.person.sign(sim.kernel(), task, id, choice, feedback);
            letters.push((task, id, letter.clone()));
            if dice.below(4) > 0 {
                sim.kernel().decide_approval(task, id, &letter)?;
            }
            Ok(())
        });
    }

    /// A letter arrives late, or once more.
    fn deliver(&mut self) {
        if self.letters.is_empty() {
            return;
        }
        let at = self.dice.below(self.letters.len());
        let (task, id, letter) = self.letters[at].clone();
        self.sim.once(|sim| Ok(_ = sim.kernel().decide_approval(task, id, &letter)?));
    }

    fn clock(&mut self) {
        const MINUTE: i64 = 60_000;
        const WEEK: i64 = 8 * 24 * 60 * MINUTE;
        let jump = self.dice.of(&[1_000, -MINUTE, 6 * MINUTE, 20 * MINUTE, -20 * MINUTE, WEEK, -WEEK]);
        self.sim.world.clock.advance(jump);
    }

    /// Somebody else works in the folder.
    fn edit(&mut self) {
        let file = self.dice.of(&FILES);
        let path = self.sim.world.path(file);
        if self.dice.below(3) == 0 {
            let _ = std::fs::remove_file(path);
        } else {
            let text = format!("theirs {}", self.dice.below(1_000));
            self.sim.world.file(file, &text);
        }
    }

    fn fault(&mut self) {
        // Mostly where something often happens, now and then anywhere.
        let often = self.dice.below(4) > 0;
        let point = if often { self.dice.of(&OFTEN) } else { self.dice.of(Point::ALL) };
        let edge = self.dice.of(&[Edge::Before, Edge::After]);
        let mode = self.dice.of(&[Mode::Abort, Mode::Abort, Mode::Error, Mode::Full]);
        let nth = 1 + u32::try_from(self.dice.below(2)).unwrap_or(0);
        self.sim.plans = vec![Plan { point, edge, mode, nth }];
        self.sim.arm();
    }

    fn command(&mut self) {
        let key = format!("key {}", self.dice.below(6));
        match self.dice.below(7) {
            0 => self.with_task(|sim, task, _| Ok(sim.kernel().pause(task)?)),
            1 => self.with_task(|sim, task, _| Ok(sim.kernel().resume(task)?)),
            2 => self.with_task(|sim, task, _| {
                sim.kernel().append_note(task, "and this", Channel::Cli, &key)?;
                Ok(())
            }),
            3 => self.with_task(|sim, task, _| Ok(_ = sim.kernel().retry(task, key)?)),
            4 => self.with_task(|sim, task, _| match sim.kernel().drive(task)? {
                DriveOutcome::Waiting(Waiting::Answer(id)) => {
                    Ok(sim.kernel().answer(task, id, "yes", Channel::Cli)?)
                }
                _ => Ok(()),
            }),
            5 => self.with_task(|sim, task, dice| {
                let code = dice.of(&[ResultCode::Succeeded, ResultCode::Failed, ResultCode::Partial]);
                Ok(sim.kernel().resolve_outcome(task, code, "somebody looked")?)
            }),
            _ => self.with_task(|sim, task, dice| {
                let receipts = sim.kernel().task(task)?.receipts;
                if receipts.is_empty() {
                    return Ok(());
                }
                let receipt = receipts[dice.below(receipts.len())].receipt_id;
                sim.kernel().rollback(receipt, Channel::Cli, format!("undo {receipt}"))?;
                Ok(())
            }),
        }
    }

    fn keys(&mut self) {
        let locked = self.dice.below(3) == 0;
        self.sim.world.keys.lock(locked);
    }

    fn rarely(&mut self) {
        match self.dice.below(4) {
            0 => self.sim.once(|sim| Ok(sim.kernel().halt("smoke")?)),
            1 => self.sim.once(|sim| Ok(sim.kernel().boot()?)),
            2 => self.with_task(|sim, task, _| Ok(sim.kernel().cancel(task, "enough of it")?)),
            _ => {
                let bytes = vec![u8::try_from(self.dice.below(256)).unwrap_or(0); self.dice.below(100 << 10)];
                self.sim.once(|sim| {
                    let incoming = Incoming {
                        name: "scan".to_owned(),
                        uri: "file:scan".to_owned(),
                        media_type: "application/octet-stream",
                        bytes: &mut bytes.as_slice(),
                        trust_tier: TrustTier::Untrusted,
                    };
                    Ok(_ = sim.kernel().ingest(incoming, Channel::Cli)?)
                });
            }
        }
    }

    /// The end: no more faults, keys open, everything that can end does. Digest of the log, and how often a host died.
    fn end(mut self) -> (Digest, u32) {
        self.sim.plans.clear();
        self.sim.arm();
        self.sim.world.keys.lock(false);
        self.sim.settle();
        audit(&mut self.sim);
        let reader = ledger::Reader::open(self.sim.world.store.path()).expect("a store");
        let mut all = Vec::new();
        for stored in log_after(&reader, 0) {
            all.extend_from_slice(&stored.bytes);
            all.push(b'\n');
        }
        (Digest::of(&all), self.sim.deaths)
    }
}

/// What no life may ever hear from the kernel.
pub fn never(error: &Error) -> bool {
    use ledger::Error as Ledger;
    matches!(
        error,
        Error::Broken(_)
            | Error::Seal(_)
            | Error::Ledger(
                Ledger::Projection { .. }
                    | Ledger::Corrupt { .. }
                    | Ledger::Invalid { .. }
                    | Ledger::GrantSpent { .. }
            )
    )
}

fn live(seed: u64) -> (Digest, u32) {
    let mut life = Life::new(seed);
    for _ in 0..STEPS {
        life.step();
    }
    life.end()
}

#[test]
fn random_lives_end_well_and_the_same_seed_gives_the_same_log() {
    let began = std::time::Instant::now();
    let one: Option<u64> = std::env::var("HERMIT_SIMULATION_SEED").ok().and_then(|text| text.parse().ok());
    let seeds: Vec<u64> = one.map_or_else(
        || (1..=super::asked("HERMIT_SIMULATION_SEEDS", SEEDS) as u64).collect(),
        |seed| vec![seed],
    );
    let deaths = AtomicU32::new(0);
    spread("lives", &seeds, |seed| {
        let (first, died) = live(*seed);
        let (second, _) = live(*seed);
        let replay = format!("HERMIT_SIMULATION_SEED={seed} cargo test -p hermit-tests simulation::seeds");
        assert_eq!(first, second, "two lives of one seed differ; {replay}");
        deaths.fetch_add(2 * died, Ordering::SeqCst);
    });
    println!(
        "random lives: {} seeds, each twice, {STEPS} steps each, {} hosts died, {:?}",
        seeds.len(),
        deaths.into_inner(),
        began.elapsed()
    );
}
