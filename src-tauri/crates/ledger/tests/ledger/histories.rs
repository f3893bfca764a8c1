//! Random histories against a simple model of what the ledger promises.

use crate::world::{World, assert_sound, entries, grant, plain, saying, signer, task};
use ledger::{Batch, Error};
use model::fault::Point;
use model::{GrantId, TaskId, UnixMs};
use proptest::prelude::*;
use seal::Digest;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
enum Deed {
    /// Events for tasks, some with a key, perhaps with a wrong expectation.
    Append {
        tasks: Vec<(usize, Option<u8>)>,
        expect: Option<(usize, bool)>,
    },
    /// Entries behind the head, or behind a stale one.
    Gate {
        count: usize,
        stale: bool,
    },
    Use {
        grant: usize,
    },
    Checkpoint {
        task: usize,
    },
    Reopen,
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let event = (0..3_usize, prop::option::weighted(0.3, 0..6_u8));
    let expect = prop::option::weighted(0.4, (0..3_usize, any::<bool>()));
    let deed = prop_oneof![
        6 => (prop::collection::vec(event, 1..4), expect).prop_map(|(tasks, expect)| Deed::Append { tasks, expect }),
        2 => (1..4_usize, prop::bool::weighted(0.3)).prop_map(|(count, stale)| Deed::Gate { count, stale }),
        2 => (0..2_usize).prop_map(|grant| Deed::Use { grant }),
        1 => (0..3_usize).prop_map(|task| Deed::Checkpoint { task }),
        1 => Just(Deed::Reopen),
    ];
    prop::collection::vec(deed, 1..24)
}

/// What should be there.
#[derive(Default)]
struct Expected {
    log: Vec<(TaskId, u64)>,
    heads: BTreeMap<TaskId, u64>,
    keys: BTreeMap<u8, usize>,
    gate: Vec<Digest>,
    uses: BTreeMap<GrantId, u32>,
}

impl Expected {
    fn head(&self, task: TaskId) -> u64 {
        self.heads.get(&task).copied().unwrap_or(0)
    }

    fn gate_head(&self) -> Digest {
        self.gate.last().copied().unwrap_or(Digest::ZERO)
    }
}

fn live_through(deeds: Vec<Deed>) {
    let world = World::new();
    let (tasks, grants) = ([task(), task(), task()], [grant(), grant()]);
    let mut writer = Some(world.writer());
    let mut expected = Expected::default();
    for deed in deeds {
        if matches!(deed, Deed::Reopen) {
            drop(writer.take());
            writer = Some(world.writer());
        }
        let writer = writer.as_ref().unwrap();
        match deed {
            Deed::Append { tasks: which, expect } => append(writer, &mut expected, &tasks, &which, expect),
            Deed::Gate { count, stale } => gate(writer, &mut expected, count, stale),
            Deed::Use { grant } => {
                let using = Batch { consume: vec![(grants[grant], 2)], ..Batch::new(Point::EffectDispatch) };
                let uses = expected.uses.entry(grants[grant]).or_default();
                match writer.commit(using) {
                    Ok(_) => *uses += 1,
                    Err(error) => assert_eq!(error, Error::GrantSpent { grant: grants[grant] }),
                }
                assert!(*uses <= 2);
            }
            Deed::Checkpoint { task } => {
                let made = writer.checkpoint_task(tasks[task], &signer(), UnixMs(1));
                assert_eq!(made.map_or(0, |c| c.size), expected.head(tasks[task]));
            }
            Deed::Reopen => {}
        }
    }
    let reader = world.reader();
    let log: Vec<_> = reader.log(0, 10_000).unwrap().iter().map(|s| (s.task_id, s.task_seq)).collect();
    assert_eq!(log, expected.log);
    assert_eq!(reader.gate_head().unwrap(), expected.gate_head());
    assert_eq!(reader.gate_entries(1, 10_000).unwrap().len(), expected.gate.len());
    for (grant, uses) in &expected.uses {
        assert_eq!(reader.grant_uses(*grant).unwrap(), *uses);
    }
    if !log.is_empty() {
        assert_sound(&world.verify());
    }
}

fn append(
    writer: &ledger::Writer,
    expected: &mut Expected,
    tasks: &[TaskId; 3],
    which: &[(usize, Option<u8>)],
    expect: Option<(usize, bool)>,
) {
    let mut batch = Batch::new(Point::TaskStart);
    for (task, key) in which {
        let mut draft = if key.is_some() { plain(tasks[*task]) } else { saying(tasks[*task], "words") };
        draft.idempotency_key = key.map(|k| format!("key {k}"));
        batch.drafts.push(draft);
    }
    let wrong = expect.is_some_and(|(_, right)| !right);
    batch.expect = expect
        .map(|(task, right)| (tasks[task], expected.head(tasks[task]) + u64::from(!right)))
        .into_iter()
        .collect();
    let keys: Vec<u8> = which.iter().filter_map(|(_, key)| *key).collect();
    let repeated =
        keys.iter().enumerate().any(|(n, k)| expected.keys.contains_key(k) || keys[..n].contains(k));
    match writer.commit(batch) {
        Ok(committed) => {
            assert!(!wrong && !repeated);
            for (placed, (_, key)) in committed.placed.iter().zip(which) {
                let seq = expected.head(placed.event.task_id) + 1;
                assert_eq!(placed.event.task_seq, seq);
                expected.heads.insert(placed.event.task_id, seq);
                expected.log.push((placed.event.task_id, seq));
                expected.keys.extend(key.map(|k| (k, expected.log.len())));
            }
        }
        Err(Error::Moved { .. }) => assert!(wrong),
        Err(Error::Duplicate { .. }) => assert!(!wrong && repeated),
        Err(other) => panic!("{other:?}"),
    }
}

fn gate(writer: &ledger::Writer, expected: &mut Expected, count: usize, stale: bool) {
    let stale = stale && !expected.gate.is_empty();
    let head = if stale { Digest::ZERO } else { expected.gate_head() };
    let linked = entries(head, "req", count);
    let hashes: Vec<Digest> = linked.iter().map(|e| e.entry_hash).collect();
    match writer.commit(Batch { entries: linked, ..Batch::new(Point::GateBoot) }) {
        Ok(_) => {
            assert!(!stale);
            expected.gate.extend(hashes);
        }
        Err(error) => {
            assert!(stale && matches!(error, Error::GateMoved { .. }), "{error:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_histories_are_what_the_model_says(deeds in deeds()) {
        live_through(deeds);
    }
}
