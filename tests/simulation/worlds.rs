//! Every order in which small worlds can go: approval, attempt, grant, witness and host, exhausted by a model checker.
//!
//! What comes next, whether a yes counts, whether the world has drifted, what a grant is minted from, whether an
//! executor takes it, and which status follows which is asked of the kernel's own pure functions ([`kernel::next`],
//! [`governance`], [`model::transition`]); packets and requests are those of a real kernel. Modelled are the disk (a commit
//! is taken whole or not at all, of the present epoch, on top of what it was decided on), the file, the person and
//! her letters, and the clock.
//!
//! Each guard is left out once, and a world must be found that does what it must not ([`Without`]).

mod driver;
mod facts;
mod stock;

use driver::Decided;
use facts::{Facts, Letter};
use kernel::Waiting;
use model::approval::ApprovalStatus;
use model::receipt::ResultCode;
use model::task::TaskStatus;
use stateright::report::WriteReporter;
use stateright::{Checker as _, HasDiscoveries, Model, Property};
use std::collections::BTreeSet;

/// How large a world may become.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    tasks: usize,
    questions: u8,
    crashes: u8,
    ticks: u8,
    drifts: u8,
    cancels: bool,
    forgers: bool,
    without: Option<Without>,
}

/// A guard that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    /// The disk takes commits of any epoch.
    Epoch,
    /// A letter is believed whoever signed it, when and to which question.
    Verification,
    /// Nobody looks again before the file is written.
    Witness,
    /// What was begun is begun again by the host that follows.
    Looking,
}

/// The file that a task wants to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct File {
    /// Whether it is as it was when the question in hand was put.
    witnessed: bool,
    /// Whether what was proposed last stands there.
    done: bool,
    /// Times the act in hand was begun, by a dispatch or by rolling forward what was certainly not done.
    begun: u8,
    /// It was begun in spite of a drift, or without a yes.
    wrongly: bool,
    drifts: u8,
}

/// A commit on its way to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Batch {
    task: usize,
    epoch: u8,
    /// What it was decided on.
    on: u8,
    facts: Facts,
    /// How often the file had been edited by others when it was decided.
    edits: u8,
    /// It carries an authorization, with which the file is written once it is on the disk.
    acts: bool,
    /// It puts a question, with a witness of the file.
    asks: bool,
}

/// The process that hosts the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Host {
    epoch: u8,
    batch: Option<Batch>,
    /// It holds an authorization for this task.
    holds: Option<usize>,
    /// It has acted, this came of it, and nobody knows yet.
    acted: Option<(usize, ResultCode)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Small {
    now: u8,
    epoch: u8,
    host: Option<Host>,
    /// A commit of a host that is gone, which may still arrive.
    late: Option<Batch>,
    crashes: u8,
    tasks: Vec<Facts>,
    files: Vec<File>,
    mail: Vec<BTreeSet<Letter>>,
    /// A commit of an older epoch was taken.
    fenced: bool,
    /// A status followed that may not.
    broken: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Act {
    Decide(usize),
    Commit,
    Perform,
    Observe,
    Crash,
    Open,
    Arrive,
    Sign(usize, bool),
    Forge(usize),
    Deliver(usize, Letter),
    Drift(usize),
    Cancel(usize),
    Resolve(usize),
    Tick,
}

impl Small {
    /// The disk takes a commit whole, or not at all.
    fn take(&mut self, batch: Batch, without: Option<Without>) -> bool {
        let of_now = batch.epoch == self.epoch || without == Some(Without::Epoch);
        if !of_now || batch.on != self.tasks[batch.task].seq {
            return false;
        }
        self.fenced |= batch.epoch < self.epoch;
        let file = &mut self.files[batch.task];
        if batch.asks {
            (file.witnessed, file.done) = (file.drifts == batch.edits, false);
        }
        if batch.acts {
            file.begun = 0;
        }
        self.tasks[batch.task] = Facts { seq: batch.on + 1, ..batch.facts };
        true
    }

    /// A commit of the host that is there, at once.
    fn write(&mut self, task: usize, facts: Result<Facts, model::Error>) {
        match facts {
            Ok(facts) => {
                let on = self.tasks[task].seq;
                let epoch = self.epoch;
                self.take(Batch { task, epoch, on, facts, edits: 0, acts: false, asks: false }, None);
            }
            Err(_) => self.broken = true,
        }
    }

    /// The executor looks once more and writes.
    fn perform(&mut self, task: usize, without: Option<Without>) -> ResultCode {
        let (file, facts) = (&mut self.files[task], &self.tasks[task]);
        if !file.witnessed && without != Some(Without::Witness) {
            return ResultCode::Failed;
        }
        let allowed = facts.question.zip(facts.letter).is_some_and(|((asked, _), letter)| {
            letter.yes && !letter.forged && letter.asked == asked && letter.signed == asked.1
        });
        file.wrongly |= !file.witnessed && file.begun == 0
            || !allowed
            || !facts.dispatched
            || facts.granted != self.now && file.begun > 0;
        file.begun += 1;
        file.done = true;
        ResultCode::Succeeded
    }
    /// Something that a host does, or that happens to it.
    fn host_does(&mut self, bounds: &Bounds, act: Act) -> Option<()> {
        match act {
            Act::Decide(task) => {
                let host = self.host.as_mut()?;
                match bounds.decide(task, &self.tasks[task], &self.files[task], self.now) {
                    Ok(Decided::Nothing) => return None,
                    Ok(Decided::RollForward) => host.holds = Some(task),
                    Ok(Decided::Commit { facts, acts, asks }) => {
                        let (epoch, on, edits) = (host.epoch, self.tasks[task].seq, self.files[task].drifts);
                        host.batch = Some(Batch { task, epoch, on, facts, edits, acts, asks });
                    }
                    Err(_) => self.broken = true,
                }
            }
            Act::Commit => {
                let batch = self.host.as_mut()?.batch.take()?;
                let taken = self.take(batch, bounds.without);
                self.host.as_mut()?.holds = (taken && batch.acts).then_some(batch.task);
            }
            Act::Perform => {
                let task = self.host.as_mut()?.holds.take()?;
                let code = self.perform(task, bounds.without);
                self.host.as_mut()?.acted = Some((task, code));
            }
            Act::Observe => {
                let (task, code) = self.host.as_mut()?.acted.take()?;
                let mut facts = self.tasks[task];
                let done = facts.conclude(code);
                self.write(task, done.map(|()| facts));
            }
            Act::Crash => {
                self.late = self.host.take()?.batch.or(self.late);
                self.crashes += 1;
            }
            Act::Open => {
                self.epoch += 1;
                self.host = Some(Host { epoch: self.epoch, batch: None, holds: None, acted: None });
            }
            Act::Arrive => {
                let late = self.late.take()?;
                let (was, epoch) = (self.clone(), self.epoch);
                self.take(late, bounds.without);
                self.fenced |= late.epoch < epoch && *self != was;
            }
            _ => return None,
        }
        Some(())
    }

    /// Something comes from outside: the person, somebody else in the folder.
    fn comes(&mut self, bounds: &Bounds, act: Act) -> Option<()> {
        match act {
            Act::Sign(task, yes) => {
                let (asked, _) = self.tasks[task].question?;
                self.mail[task].insert(Letter { asked, signed: self.now, yes, forged: false });
            }
            Act::Forge(task) => {
                let (asked, _) = self.tasks[task].question?;
                self.mail[task].insert(Letter { asked, signed: self.now, yes: true, forged: true });
            }
            Act::Deliver(task, letter) => {
                let mut facts = self.tasks[task];
                let (asked, status) = facts.question?;
                if status != ApprovalStatus::Pending || !bounds.answers(letter, asked, self.now) {
                    return None;
                }
                let status = if letter.yes { ApprovalStatus::Granted } else { ApprovalStatus::Denied };
                (facts.question, facts.letter) = (Some((asked, status)), Some(letter));
                self.write(task, Ok(facts));
            }
            Act::Drift(task) => {
                let file = &mut self.files[task];
                (file.witnessed, file.done, file.drifts) = (false, false, file.drifts + 1);
            }
            Act::Cancel(task) => {
                let facts = Facts { cancel: true, ..self.tasks[task] };
                self.write(task, Ok(facts));
            }
            Act::Resolve(task) => {
                let mut facts = self.tasks[task];
                (facts.resolved, facts.receipt, facts.receipts) = (true, true, facts.receipts + 1);
                self.write(task, Ok(facts));
            }
            _ => return None,
        }
        Some(())
    }
}

impl Model for Bounds {
    type State = Small;
    type Action = Act;

    fn init_states(&self) -> Vec<Small> {
        let file = File { witnessed: true, done: false, begun: 0, wrongly: false, drifts: 0 };
        vec![Small {
            now: 0,
            epoch: 1,
            host: Some(Host { epoch: 1, batch: None, holds: None, acted: None }),
            late: None,
            crashes: 0,
            tasks: vec![Facts::NEW; self.tasks],
            files: vec![file; self.tasks],
            mail: vec![BTreeSet::new(); self.tasks],
            fenced: false,
            broken: false,
        }]
    }

    fn actions(&self, s: &Small, acts: &mut Vec<Act>) {
        match &s.host {
            None => acts.push(Act::Open),
            Some(host) => {
                if s.crashes < self.crashes {
                    acts.push(Act::Crash);
                }
                let busy = [host.batch.map(|b| b.task), host.holds, host.acted.map(|a| a.0)];
                if busy == [None; 3] {
                    acts.extend((0..self.tasks).map(Act::Decide));
                }
                acts.extend(host.batch.map(|_| Act::Commit));
                acts.extend(host.holds.map(|_| Act::Perform));
                acts.extend(host.acted.map(|_| Act::Observe));
                for task in (0..self.tasks).filter(|task| host.batch.is_none_or(|b| b.task != *task)) {
                    acts.extend(s.mail[task].iter().map(|letter| Act::Deliver(task, *letter)));
                    let facts = &s.tasks[task];
                    if self.cancels && !facts.cancel && !facts.task.is_terminal() {
                        acts.push(Act::Cancel(task));
                    }
                    if facts.uncertain && facts.waits_for(s.now) == Some(Waiting::UnknownOutcome) {
                        acts.push(Act::Resolve(task));
                    }
                }
            }
        }
        acts.extend(s.late.map(|_| Act::Arrive));
        for (task, facts) in s.tasks.iter().enumerate() {
            if facts.question.is_some_and(|(_, status)| status == ApprovalStatus::Pending) {
                acts.extend([true, false].map(|yes| Act::Sign(task, yes)));
                acts.extend(self.forgers.then_some(Act::Forge(task)));
            }
            acts.extend((s.files[task].drifts < self.drifts).then_some(Act::Drift(task)));
        }
        acts.extend((s.now < self.ticks).then_some(Act::Tick));
    }

    fn next_state(&self, last: &Small, act: Act) -> Option<Small> {
        let mut s = last.clone();
        match act {
            Act::Sign(..)
            | Act::Forge(_)
            | Act::Deliver(..)
            | Act::Drift(_)
            | Act::Cancel(_)
            | Act::Resolve(_) => {
                s.comes(self, act)?;
            }
            Act::Tick => s.now += 1,
            _ => s.host_does(self, act)?,
        }
        (s != *last).then_some(s)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = vec![
            Property::<Self>::always(
                "HK-6.2: nothing is done but by a person's yes to exactly that, in time",
                |_, s| s.files.iter().all(|file| !file.wrongly),
            ),
            Property::<Self>::always("HK-6.2-2: a yes is good for one dispatch", |_, s| {
                s.tasks
                    .iter()
                    .all(|f| f.dispatches <= f.put && (!f.dispatched || f.letter.is_some_and(|l| l.yes)))
            }),
            Property::<Self>::always("HK-6.4-2: nothing is done twice", |_, s| {
                s.files.iter().all(|file| file.begun <= 1)
            }),
            Property::<Self>::always(
                "HK-6.1-1: nothing is done before its dispatch is on the disk",
                |_, s| s.files.iter().zip(&s.tasks).all(|(file, f)| file.begun == 0 || f.dispatches > 0),
            ),
            Property::<Self>::always("HK-6.4-1: every act that is over has its receipt", |_, s| {
                s.tasks.iter().all(|f| f.receipts >= f.closed)
            }),
            Property::<Self>::always("HK-6.4-2: nothing ends while an outcome is open", |_, s| {
                let open = |f: &Facts| f.dispatched && f.outcome.is_none() && !f.resolved;
                s.tasks.iter().all(|f| !f.task.is_terminal() || !open(f) && f.dispatches == f.closed)
            }),
            Property::<Self>::always("HK-20: a host that was followed writes nothing", |_, s| !s.fenced),
            Property::<Self>::always("HK-12: every status follows as the tables say", |_, s| !s.broken),
            Property::<Self>::sometimes("an act is done and its task completed", |_, s| {
                s.tasks.iter().any(|f| f.task == TaskStatus::Completed && f.closed > 0)
            }),
            Property::<Self>::sometimes("a host finds what another had begun", |_, s| {
                s.epoch > 1 && s.tasks.iter().any(|f| f.closed > 0)
            }),
        ];
        if self.drifts > 0 || self.tasks > 1 {
            all.push(Property::<Self>::sometimes("an outcome stays unknown", |_, s| {
                s.tasks.iter().any(|f| f.uncertain)
            }));
        }
        if self.ticks > 0 && self.questions > 1 {
            all.push(Property::<Self>::sometimes("a question is put once more", |_, s| {
                s.tasks.iter().any(|f| f.put > 1)
            }));
        }
        all
    }
}

const SMALL: Bounds = Bounds {
    tasks: 1,
    questions: 2,
    crashes: 1,
    ticks: 1,
    drifts: 1,
    cancels: true,
    forgers: true,
    without: None,
};

fn exhaust(bounds: Bounds, is_long: bool) -> usize {
    let began = std::time::Instant::now();
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let checked = bounds.checker().threads(threads).spawn_bfs();
    // It looks once a second, which is too long for the worlds of the suite.
    let checked = match is_long {
        true => checked.report(&mut WriteReporter::new(&mut std::io::stderr())),
        false => checked,
    };
    let checked = checked.join();
    checked.assert_properties();
    println!(
        "  {bounds:?}: {} states, depth {}, {:?}",
        checked.unique_state_count(),
        checked.max_depth(),
        began.elapsed()
    );
    checked.unique_state_count()
}

#[test]
fn each_guard_is_missed_where_it_is_left_out() {
    for without in [Without::Epoch, Without::Verification, Without::Witness, Without::Looking] {
        let bounds = Bounds { cancels: false, forgers: true, without: Some(without), ..SMALL };
        let checked = bounds.checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
        let properties = bounds.properties();
        let found = checked.discoveries().into_keys();
        let always = |name: &&str| {
            properties
                .iter()
                .any(|p| p.name == *name && matches!(p.expectation, stateright::Expectation::Always))
        };
        let found: Vec<&str> = found.filter(always).collect();
        assert!(!found.is_empty(), "without {without:?} everything still holds");
    }
}

#[test]
fn small_worlds_are_exhausted_and_none_does_what_it_must_not() {
    let began = std::time::Instant::now();
    let size = std::env::var("HERMIT_SIMULATION_WORLDS").map_or(0, |n| n.parse().expect("a number"));
    let one = SMALL;
    let two = Bounds { tasks: 2, questions: 1, ticks: 0, drifts: 0, cancels: false, forgers: false, ..SMALL };
    let mut worlds = vec![one, two];
    if size > 0 {
        worlds.push(Bounds { crashes: 3, ticks: 2, drifts: 2, questions: 3, ..one });
        worlds.push(Bounds { crashes: 2, drifts: 1, cancels: true, ..two });
    }
    let states: usize = worlds.into_iter().map(|bounds| exhaust(bounds, size > 0)).sum();
    println!("small worlds: {states} states, all there are, {:?}", began.elapsed());
}
