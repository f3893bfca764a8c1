//! Events: bytes, copies, chain, trees.

use super::Run;
use super::about::{About, Grants, about};
use super::chunks;
use super::disclosed::{self, Followed, Named};
use super::fields::{Fields, fields, is_hex};
use super::notes::Heads;
use super::report::{Place, Stop};
use super::trees::{Ahead, Tree};
use crate::rows::{Hash, Id, count, int};
use crate::severed::{self, Severed};
use model::TaskId;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use seal::Digest;
use seal::chain::ChainVerifier;
use seal::disclose::concealed_in;
use seal::merkle::{digest_and_leaf, leaf_hash};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Rows between two words about the progress.
pub(super) const TELL_EVERY: u64 = 4_096;

/// What is remembered of a task.
struct Task {
    chain: ChainVerifier,
    /// How many of its events are signed for.
    signed: u64,
    /// How many of them are believed.
    believed: u64,
    tree: Tree,
    /// Rows that were severed and not yet passed: number, hash as the column says, leaf.
    severed: Vec<(u64, Digest, Option<Digest>)>,
}

/// An event whose bytes were read.
struct Read {
    log_seq: u64,
    epoch: u64,
    task: TaskId,
    task_seq: u64,
    /// What the bytes say, where they fit to the columns.
    said: Result<Said, String>,
}

struct Said {
    /// The event before it; none for a row that was severed, of which nothing is believed.
    prev: Option<Digest>,
    hash: Digest,
    leaf: Option<Digest>,
    about: Option<About>,
}

/// Returns how far the disclosures were followed beside them.
pub(super) fn check(
    run: &mut Run<'_>,
    heads: &Heads,
    notes: &BTreeSet<Digest>,
    epochs: u64,
) -> Result<Followed, Stop> {
    let (conn, reader) = (run.conn, run.reader);
    let of: i64 = conn.query_row("SELECT coalesce(max(log_seq), 0) FROM events", [], |row| row.get(0))?;
    let known = run.report.severed.clone();
    let mut chains = Chains {
        heads,
        notes,
        grants: Grants::default(),
        epochs,
        known: &known,
        log_seq: 0,
        epoch: 1,
        missing: 0,
        tasks: HashMap::new(),
        ahead: heads.of_tasks(),
    };
    let (mut followed, mut disclosed) = (0_u64, Followed::new());
    chunks::each(
        conn,
        reader,
        of,
        |conn, start, end| {
            let (events, leaves) = read(conn, heads, &known, start, of)?;
            Ok((events, disclosed::beside(conn, &leaves, (start, end))?))
        },
        |(events, beside)| {
            disclosed.take(beside);
            for event in events {
                run.report.events += u64::from(chains.follow(event)?);
                followed += 1;
                if followed.is_multiple_of(TELL_EVERY) {
                    run.tell("events", followed, count(of))?;
                }
            }
            Ok(())
        },
    )?;
    run.report.tasks = chains.tasks.len() as u64;
    run.report.unsigned_events += chains.end()?;
    chains.grants.check(conn)?;
    run.tell("events", followed, count(of))?;
    Ok(disclosed)
}

/// Reads the next events from a number on, and the leaves that they name; ends with the first whose bytes are not what
/// they should be. Where numbers are missing, it reads on behind them, and following the chain finds the gap.
fn read(
    conn: &Connection,
    heads: &Heads,
    known: &[Severed],
    start: i64,
    last: i64,
) -> Result<(Vec<Read>, Vec<Named>), Stop> {
    let text = "SELECT log_seq, epoch, task_id, task_seq, event_id, event_type, idempotency_key, hash, bytes \
                FROM events WHERE log_seq BETWEEN ?1 AND ?2 ORDER BY log_seq LIMIT ?3";
    let mut found = conn.prepare_cached(text)?;
    let mut rows = found.query([start, last, chunks::STRIDE])?;
    let mut events = Vec::with_capacity(usize::try_from(chunks::STRIDE).unwrap_or_default());
    let mut leaves = Vec::new();
    while let Some(row) = rows.next()? {
        let (task, task_seq) = (row.get::<_, Id>(2)?.task(), count(row.get(3)?));
        let log_seq = count(row.get(0)?);
        let said = if severed::covered(known, task, task_seq, log_seq) {
            let leaf = leaf_hash(row.get_ref(8)?.as_blob().unwrap_or_default());
            Ok(Said { prev: None, hash: row.get::<_, Hash>(7)?.0, leaf: Some(leaf), about: None })
        } else {
            say(row, task, task_seq, heads)?
        };
        let last = said.is_err();
        let named = concealed_in(row.get_ref(8)?.as_blob().unwrap_or_default());
        let digest = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse().ok();
        leaves.extend(named.filter_map(digest).map(|leaf| (int(log_seq), leaf)));
        events.push(Read { log_seq, epoch: count(row.get(1)?), task, task_seq, said });
        if last {
            break;
        }
    }
    Ok((events, leaves))
}

/// Holds the bytes of an event against its columns.
fn say(row: &Row<'_>, task: TaskId, task_seq: u64, heads: &Heads) -> Result<Result<Said, String>, Stop> {
    let bytes = match row.get_ref(8)? {
        ValueRef::Blob(bytes) => bytes,
        other => return Ok(Err(format!("its bytes are kept as {}", other.data_type()))),
    };
    let (hash, leaf) = if task_seq <= heads.signed(task) {
        let (hash, leaf) = digest_and_leaf(bytes);
        (hash, Some(leaf))
    } else {
        (Digest::of(bytes), None)
    };
    if hash != row.get::<_, Hash>(7)?.0 {
        return Ok(Err("its bytes do not hash to its hash".to_owned()));
    }
    let said = fields(bytes).and_then(|fields| {
        compare(row, &fields, task, task_seq)?;
        Ok((fields.link()?, about(&fields.event_type, bytes)))
    });
    Ok(said.map(|(prev, about)| Said { prev: Some(prev), hash, leaf, about }))
}

/// Holds the copies of an event in its columns against its bytes.
pub(super) fn compare(row: &Row<'_>, fields: &Fields<'_>, task: TaskId, seq: u64) -> Result<(), String> {
    let read = |e: rusqlite::Error| e.to_string();
    let differs = |column: &str| Err(format!("the column `{column}` differs from the bytes"));
    if !is_hex(&fields.task_id, "task_", task.uuid().as_bytes()) {
        return differs("task_id");
    }
    if fields.task_seq != seq {
        return differs("task_seq");
    }
    if !is_hex(&fields.event_id, "evt_", row.get_ref(4).map_err(read)?.as_blob().unwrap_or_default()) {
        return differs("event_id");
    }
    let text = |value: ValueRef<'_>, said: &str| matches!(value, ValueRef::Text(v) if v == said.as_bytes());
    if !text(row.get_ref(5).map_err(read)?, &fields.event_type) {
        return differs("event_type");
    }
    let key = row.get_ref(6).map_err(read)?;
    let same = match &fields.idempotency_key {
        Some(said) => text(key, said),
        None => key == ValueRef::Null,
    };
    if same { Ok(()) } else { differs("idempotency_key") }
}

/// Every chain as far as it was followed.
struct Chains<'a> {
    heads: &'a Heads,
    /// Digests of every note there is.
    notes: &'a BTreeSet<Digest>,
    grants: Grants,
    epochs: u64,
    known: &'a [Severed],
    /// The last row, and its epoch.
    log_seq: u64,
    epoch: u64,
    /// Numbers of the log that have no row, before the last severing.
    missing: u64,
    tasks: HashMap<TaskId, Task>,
    /// What checkpoints sign for, of tasks that no event was read of yet.
    ahead: BTreeMap<TaskId, Ahead>,
}

impl Chains<'_> {
    /// The next event of the log; answers whether it is believed.
    fn follow(&mut self, event: Read) -> Result<bool, Stop> {
        let Read { log_seq, epoch, task: id, task_seq, said } = event;
        let at = |why: String| Stop::At(Place::Event { log_seq, task: id, task_seq }, why);
        let before = std::mem::replace(&mut self.log_seq, log_seq);
        let gap = log_seq.wrapping_sub(before + 1);
        if gap > 0 && !self.known.iter().any(|one| log_seq <= one.log_seq && gap <= one.lost()) {
            return Err(at(format!("the log goes from {before} to {log_seq}")));
        }
        self.missing += gap;
        let said = match said {
            Ok(Said { prev: None, hash, leaf, .. }) => {
                self.task(id).severed.push((task_seq, hash, leaf));
                return Ok(false);
            }
            other => other,
        };
        if epoch < self.epoch || epoch > self.epochs {
            return Err(at(format!("it carries epoch {epoch} behind epoch {}", self.epoch)));
        }
        self.epoch = epoch;
        let said = said.map_err(at)?;
        let task = self.task(id);
        task.heal()?;
        task.push(task_seq, &said).map_err(at)?;
        if let Some(leaf) = said.leaf {
            task.tree.push(leaf)?;
        }
        match said.about {
            Some(About::Signed(note)) if !self.notes.contains(&note) => {
                let why = format!("event {task_seq} of task `{id}` tells of a checkpoint that is not there");
                return Err(Stop::Missing(why));
            }
            Some(About::Issued(grant, max_uses)) => self.grants.issued(grant, max_uses),
            Some(About::Used(grant)) => self.grants.used(grant),
            _ => {}
        }
        Ok(true)
    }

    fn task(&mut self, id: TaskId) -> &mut Task {
        let new = || Task::new(self.heads.signed(id), self.ahead.remove(&id));
        self.tasks.entry(id).or_insert_with(new)
    }

    /// Whether every chain is as long as was signed for; returns how many events nobody signed for.
    fn end(&mut self) -> Result<u64, Stop> {
        let lost: u64 = self.known.iter().map(Severed::lost).sum();
        if self.missing > lost {
            let why = format!("the log lacks {} events, and {lost} were severed", self.missing);
            return Err(Stop::Missing(why));
        }
        let mut unsigned = 0;
        // By their names, so that of several the same one is told every time.
        let mut tasks: Vec<(&TaskId, &mut Task)> = self.tasks.iter_mut().collect();
        tasks.sort_unstable_by_key(|(id, _)| **id);
        for (id, task) in tasks {
            task.heal()?;
            let (seq, signed) = (task.chain.len(), task.signed);
            if seq < signed {
                let why = format!("task `{id}` has {seq} events, and {signed} were signed for");
                return Err(Stop::Missing(why));
            }
            unsigned += (seq - signed).min(task.believed);
        }
        match self.heads.tasks().find(|(id, _)| self.ahead.contains_key(id)) {
            Some((id, size)) => {
                Err(Stop::Missing(format!("task `{id}` has no events, and {size} were signed for")))
            }
            None => Ok(unsigned),
        }
    }
}

impl Task {
    fn new(signed: u64, ahead: Option<Ahead>) -> Self {
        let (tree, severed) = (Tree::new(ahead), Vec::new());
        Self { chain: ChainVerifier::new(), signed, believed: 0, tree, severed }
    }

    /// Passes what was severed: the task goes on from the last of those rows, and each of their numbers is a leaf, that
    /// of no bytes where a row was lost.
    fn heal(&mut self) -> Result<(), Stop> {
        let mut rows = std::mem::take(&mut self.severed);
        rows.sort_unstable_by_key(|(seq, ..)| *seq);
        for (seq, hash, leaf) in rows {
            (self.chain.len() + 1..seq).try_for_each(|_| self.tree.push(leaf_hash(b"")))?;
            leaf.map_or(Ok(()), |leaf| self.tree.push(leaf))?;
            self.chain = ChainVerifier::resume(seq, hash);
        }
        Ok(())
    }

    /// The next event of the task: its number and its link.
    fn push(&mut self, seq: u64, said: &Said) -> Result<(), String> {
        let prev = said.prev.unwrap_or_else(|| self.chain.head());
        self.chain.follow(seq, prev, said.hash).map_err(fault)?;
        self.believed += 1;
        Ok(())
    }
}

/// Why an entry does not fit; where, is said beside it.
pub(super) fn fault(error: seal::Error) -> String {
    match error {
        seal::Error::Chain { fault, .. } => fault.to_string(),
        other => other.to_string(),
    }
}
