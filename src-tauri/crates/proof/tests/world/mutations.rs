//! The mutation harness: every change of a reference bundle that somebody without the log key could make, in turn.
//!
//! A mutant is one step (a byte, a line, a length, a file, a key, a checkpoint from elsewhere) and then everything
//! that its maker can make look right again. What binds nobody, and what may be withheld, is left out by name.

use super::tools::{Bench, Files, Power, exported, repair, zip};
use super::{Persons, World};
use proof::{Options, Scope, Trust};
use seal::Signer as _;
use std::collections::BTreeMap;

const POWERS: [Power; 4] = [Power::Editor, Power::Sums, Power::Manifest, Power::Receipt];

/// Kinds of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    ByteFlippedInZip,
    ZipTruncated,
    ByteFlipped,
    Truncated,
    LineDeleted,
    LineDoubled,
    LinesSwapped,
    LineInserted,
    FilesExchanged,
    FileRemoved,
    KeysExchanged,
    OfAnotherTask,
    OfAnotherStore,
    OfAnOlderLog,
    OfAForkedLog,
}

/// A reference bundle, and the same part of other logs.
pub struct Reference {
    pub world: World,
    pub files: Files,
    pub zip: Vec<u8>,
    others: Vec<(Class, Files)>,
}

/// One mutant.
pub struct Mutant {
    pub class: Class,
    pub power: Power,
    pub what: String,
    /// The files, or nothing where the zip itself was changed.
    pub files: Option<Files>,
    pub zip: Vec<u8>,
}

impl Reference {
    fn new(make: &dyn Fn() -> World, options: &dyn Fn(&World) -> Options) -> Self {
        let world = make();
        let files = exported(&world, &options(&world));
        let (mut task, mut store, mut older, mut forked) = (make(), make(), make(), make());
        task.task = model::TaskId::fresh(&task.clock, &task.dice);
        task.events.clear();
        task.head = seal::Digest::ZERO;
        task.receipts.clear();
        task.act(0);
        task.goal("another task of the same store");
        store.keys = Persons::new(90);
        older.others.truncate(2);
        forked.others.reverse();
        let others = [
            (Class::OfAnotherTask, task),
            (Class::OfAnotherStore, store),
            (Class::OfAnOlderLog, older),
            (Class::OfAForkedLog, forked),
        ];
        let others = others.into_iter().map(|(class, other)| (class, exported(&other, &options(&other))));
        let others = others.collect();
        Self { zip: zip(&files), world, files, others }
    }

    /// A whole task, a span, one receipt, and a task of which everything is withheld.
    pub fn all() -> [Self; 4] {
        let whole = |_: &World| World::everything();
        let span = |world: &World| Options {
            scope: Scope::Span { first: 2, last: world.events.len() as u64 },
            ..Options::default()
        };
        let one = |world: &World| Options { scope: Scope::Receipt(world.receipts[0]), ..Options::default() };
        let closed = |_: &World| Options {
            redact: proof::Redact::All,
            artifacts: proof::Include::None,
            ..Options::default()
        };
        let small = || World::new(1, 1);
        [
            Self::new(&|| World::new(2, 2), &whole),
            Self::new(&small, &span),
            Self::new(&small, &one),
            Self::new(&small, &closed),
        ]
    }

    pub fn trust(&self) -> Vec<Trust> {
        vec![Trust::from(self.world.keys.log.public())]
    }

    /// Calls `take` with every `step`th mutant; how many there are in all.
    pub fn mutants(&self, step: usize, take: &mut dyn FnMut(Mutant)) -> usize {
        let mut run = Run { reference: self, step: step.max(1), seen: 0, rare: BTreeMap::new(), take };
        run.zips();
        for power in POWERS {
            for name in self.files.keys() {
                run.file(name, power);
            }
            run.between(power);
        }
        run.seen
    }
}

struct Run<'a> {
    reference: &'a Reference,
    step: usize,
    seen: usize,
    rare: BTreeMap<Class, usize>,
    take: &'a mut dyn FnMut(Mutant),
}

/// Files whose content binds nobody: whoever has the manifest key may write there what they like.
fn binds_nobody(name: &str) -> bool {
    matches!(name, "README.txt" | "prov.json")
}

impl Run<'_> {
    /// Whether this one of very many is to be made.
    fn turn(&mut self) -> bool {
        self.seen += 1;
        (self.seen - 1).is_multiple_of(self.step)
    }

    /// Whether this one is to be made, of a kind of which there are few.
    fn rare_turn(&mut self, class: Class) -> bool {
        self.seen += 1;
        let before = self.rare.entry(class).or_default();
        *before += 1;
        (*before - 1).is_multiple_of((self.step / 10).max(1))
    }

    fn zips(&mut self) {
        let zip = &self.reference.zip;
        for at in 0..zip.len() {
            if self.turn() {
                let mut changed = zip.clone();
                changed[at] ^= 1 << (at % 8);
                self.give_zip(Class::ByteFlippedInZip, format!("byte {at}"), changed);
            }
            if self.turn() {
                self.give_zip(Class::ZipTruncated, format!("at {at}"), zip[..at].to_vec());
            }
        }
    }

    fn give_zip(&mut self, class: Class, what: String, zip: Vec<u8>) {
        (self.take)(Mutant { class, power: Power::Editor, what, files: None, zip });
    }

    fn give(&mut self, class: Class, power: Power, what: String, mut files: Files, statement: bool) {
        // Who holds the receipt key could sign another statement: that is no change of this one.
        let power = if statement { power.min(Power::Manifest) } else { power };
        repair(&mut files, power, &self.reference.world);
        if files == self.reference.files {
            return;
        }
        let zip = zip(&files);
        (self.take)(Mutant { class, power, what, files: Some(files), zip });
    }

    fn changed(&mut self, class: Class, power: Power, name: &str, what: String, bytes: Vec<u8>) {
        let mut files = self.reference.files.clone();
        files.insert(name.to_owned(), bytes);
        self.give(class, power, format!("{name} {what}"), files, name == "statement.dsse.json");
    }

    fn file(&mut self, name: &str, power: Power) {
        let own = name.starts_with("SHA256SUMS") && power > Power::Editor;
        if own || (binds_nobody(name) && power >= Power::Manifest) {
            return;
        }
        let bytes = self.reference.files[name].clone();
        // Lines of it may be withheld by whoever signs the list.
        let withheld = name == "disclosures.jsonl" && power >= Power::Manifest;
        for at in 0..bytes.len() {
            if self.turn() {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << (at % 7);
                self.changed(Class::ByteFlipped, power, name, format!("byte {at}"), changed);
            }
            let line_ends = at > 0 && bytes[at - 1] == b'\n';
            if !(withheld && line_ends) && self.turn() {
                self.changed(Class::Truncated, power, name, format!("at {at}"), bytes[..at].to_vec());
            }
        }
        let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
        for at in 0..lines.len() {
            if !withheld && self.rare_turn(Class::LineDeleted) {
                let rest = [&lines[..at], &lines[at + 1..]].concat().concat();
                self.changed(Class::LineDeleted, power, name, format!("line {at}"), rest);
            }
            if self.rare_turn(Class::LineDoubled) {
                let doubled = [&lines[..=at], &lines[at..]].concat().concat();
                self.changed(Class::LineDoubled, power, name, format!("line {at}"), doubled);
            }
            if at > 0 && lines[at] != lines[at - 1] && self.rare_turn(Class::LinesSwapped) {
                let mut swapped = lines.clone();
                swapped.swap(at, at - 1);
                self.changed(Class::LinesSwapped, power, name, format!("line {at}"), swapped.concat());
            }
            if self.rare_turn(Class::LineInserted) {
                let inserted = [&lines[..at], &[b"\n"], &lines[at..]].concat().concat();
                self.changed(Class::LineInserted, power, name, format!("line {at}"), inserted);
            }
        }
        let may_go = name.starts_with("disclosures") || name.starts_with("artifacts/");
        if !(may_go && power >= Power::Manifest) && self.rare_turn(Class::FileRemoved) {
            let mut files = self.reference.files.clone();
            files.remove(name);
            let statement = name == "statement.dsse.json" || name.starts_with("artifacts/");
            self.give(Class::FileRemoved, power, name.to_owned(), files, statement);
        }
    }

    /// What is exchanged: files and keys with each other, and files with those of other logs.
    fn between(&mut self, power: Power) {
        let files = &self.reference.files;
        let names: Vec<&String> = files.keys().filter(|name| !name.starts_with("SHA256SUMS")).collect();
        for (at, one) in names.iter().enumerate() {
            for other in &names[at + 1..] {
                let idle = binds_nobody(one) && binds_nobody(other) && power >= Power::Manifest;
                let keys = one.starts_with("keys/") && other.starts_with("keys/");
                let class = if keys { Class::KeysExchanged } else { Class::FilesExchanged };
                if idle || files[*one] == files[*other] || !self.rare_turn(class) {
                    continue;
                }
                let mut swapped = files.clone();
                swapped.insert((*one).clone(), files[*other].clone());
                swapped.insert((*other).clone(), files[*one].clone());
                let statement = [one, other].iter().any(|name| name.as_str() == "statement.dsse.json");
                self.give(class, power, format!("{one} and {other}"), swapped, statement);
            }
        }
        for (class, foreign) in &self.reference.others {
            for (name, bytes) in foreign {
                let own = name.starts_with("SHA256SUMS") && power > Power::Editor;
                // One receipt alone has one head of the log, inside this proof, and this one was signed by the same log
                // key and leads to the same note of the task. So it is no forgery: the log key itself says both. That
                // it says two things of one log shows only to who holds another head: `--since`, a pin, a witness.
                // `harness::a_forked_head_in_one_receipt_alone_is_refused_by_who_holds_another` shows that it does.
                let another = !files.contains_key("log/checkpoint")
                    && name == "task/checkpoint.tlog-proof"
                    && matches!(class, Class::OfAnOlderLog | Class::OfAForkedLog);
                let idle = (binds_nobody(name) || another) && power >= Power::Manifest;
                if own || idle || files.get(name) == Some(bytes) || !self.rare_turn(*class) {
                    continue;
                }
                let mut mixed = files.clone();
                mixed.insert(name.clone(), bytes.clone());
                let statement = name == "statement.dsse.json";
                self.give(*class, power, format!("{name} of it"), mixed, statement);
            }
        }
    }
}

/// How many mutants of each kind were refused, and one of each kind and power to show to other tools.
#[derive(Default)]
pub struct Tally {
    pub refused: BTreeMap<Class, u64>,
    pub samples: BTreeMap<(Class, Power), Files>,
    /// Those that passed: there must be none.
    pub passed: Vec<String>,
}

impl Tally {
    /// Makes and checks every `step`th mutant of the reference.
    pub fn of(reference: &Reference, step: usize) -> Self {
        let (bench, trust, mut tally) = (Bench::new(), reference.trust(), Self::default());
        assert_eq!(bench.verify(&reference.zip, &trust).exit_code(), 0, "the untouched one is valid");
        reference.mutants(step, &mut |mutant| {
            let code = bench.verify(&mutant.zip, &trust).exit_code();
            if code == 0 {
                tally.passed.push(format!("{:?} {:?} {}", mutant.class, mutant.power, mutant.what));
            }
            *tally.refused.entry(mutant.class).or_default() += u64::from(code != 0);
            if let Some(files) = mutant.files {
                tally.samples.entry((mutant.class, mutant.power)).or_insert(files);
            }
        });
        tally
    }

    pub fn add(&mut self, other: Self) {
        for (class, count) in other.refused {
            *self.refused.entry(class).or_default() += count;
        }
        self.passed.extend(other.passed);
        for (key, files) in other.samples {
            self.samples.entry(key).or_insert(files);
        }
    }

    pub fn total(&self) -> u64 {
        self.refused.values().sum::<u64>() + self.passed.len() as u64
    }
}

/// Makes and checks about as many mutants as asked, on two threads; how many there would be in all.
pub fn harness(mutants: u64) -> (Tally, usize) {
    let all: usize =
        Reference::all().iter().map(|reference| reference.mutants(usize::MAX, &mut |_| ())).sum();
    // Odd, because kinds that take turns would else be left out.
    let step = (usize::try_from((all as u64) / mutants.max(1)).unwrap().max(1) - 1) | 1;
    // The large reference with the smallest one.
    let threads = [[0, 2], [1, 3]].map(|mine| {
        std::thread::spawn(move || {
            let (references, mut tally) = (Reference::all(), Tally::default());
            mine.into_iter().for_each(|at| tally.add(Tally::of(&references[at], step)));
            tally
        })
    });
    let mut tally = Tally::default();
    threads.into_iter().for_each(|thread| tally.add(thread.join().unwrap()));
    (tally, all)
}
