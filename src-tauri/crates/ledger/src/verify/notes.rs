//! Checkpoints: what they sign for, who signed, and the pin kept outside the store.

use super::report::{Place, Stop};
use super::{Run, chunks};
use crate::checkpoint::origin;
use crate::reader::Reader;
use crate::rows::{Hash, Id, count};
use crate::severed::{self, Severed};
use crate::{CheckpointKind, Error, tree};
use model::TaskId;
use rusqlite::{Connection, Row};
use seal::merkle::{Frontier, leaf_hash};
use seal::note::{self, VerifierKey};
use seal::{Digest, PublicKey};
use std::collections::{BTreeMap, BTreeSet, HashMap};

type Ahead = Vec<(u64, Digest, u64)>;

/// Sizes and roots that checkpoints sign for, largest first, so that the next one is the last of the list.
pub(super) struct Heads {
    tasks: BTreeMap<TaskId, Ahead>,
    /// The largest size of each, asked for every event.
    signed: HashMap<TaskId, u64>,
    gate: Ahead,
}

impl Heads {
    /// What checkpoints sign for, but for what was severed after them.
    pub fn load(conn: &Connection, known: &[Severed]) -> Result<Self, Stop> {
        let text = "SELECT kind, task_id, size, root, checkpoint_seq, epoch FROM checkpoints WHERE kind <> 'global' \
                    ORDER BY size DESC";
        let mut found = conn.prepare(text)?;
        let mut rows = found.query([])?;
        let mut heads = Self { tasks: BTreeMap::new(), signed: HashMap::new(), gate: Vec::new() };
        while let Some(row) = rows.next()? {
            let head = (count(row.get(2)?), row.get::<_, Hash>(3)?.0, count(row.get(4)?));
            let task = row.get::<_, Option<Id>>(1)?;
            if !severed::stands(known, task.map(Id::task), head.0, count(row.get(5)?)) {
                continue;
            }
            match task {
                Some(task) => heads.tasks.entry(task.task()).or_default().push(head),
                None => heads.gate.push(head),
            }
        }
        heads.signed = heads.tasks().collect();
        Ok(heads)
    }

    pub fn of_tasks(&self) -> BTreeMap<TaskId, Ahead> {
        self.tasks.clone()
    }

    pub fn of_gate(&self) -> Ahead {
        self.gate.clone()
    }

    /// How many events of a task its largest checkpoint covers.
    pub fn signed(&self, task: TaskId) -> u64 {
        self.signed.get(&task).copied().unwrap_or(0)
    }

    pub fn tasks(&self) -> impl Iterator<Item = (TaskId, u64)> {
        self.tasks.iter().filter_map(|(task, ahead)| ahead.first().map(|(size, ..)| (*task, *size)))
    }
}

/// A note that was read, alone: what it says by itself fits or does not.
struct Read {
    number: u64,
    kind: CheckpointKind,
    said: Result<Said, String>,
}

struct Said {
    size: u64,
    root: Digest,
    /// Its place in the global log and its leaf there; the global log's own notes have none.
    leaf: Option<(u64, Digest)>,
    trusted: bool,
    sha256: Digest,
}

/// Every note: its text against the columns, its signature, its place in the global log; and the global roots.
/// Returns the digests of all.
pub(super) fn check(run: &mut Run<'_>) -> Result<BTreeSet<Digest>, Stop> {
    let (conn, reader, log_id, keys) = (run.conn, run.reader, run.log_id, run.keys);
    let last = "SELECT coalesce(max(checkpoint_seq), 0) FROM checkpoints";
    let of: i64 = conn.query_row(last, [], |row| row.get(0))?;
    let (mut global, mut notes_seen) = (Frontier::new(), BTreeSet::new());
    // Signatures cost more than anything else here, and each stands alone.
    chunks::each(
        conn,
        reader,
        of,
        |conn, start, _| read(conn, log_id, keys, start, of),
        |notes| {
            for note in notes {
                let note = note?;
                // After a severing the same tree may be signed once more; else no note is made twice.
                if let Ok(said) = &note.said
                    && !notes_seen.insert(said.sha256)
                    && run.report.severed.is_empty()
                {
                    let place = Place::Checkpoint { number: note.number, kind: note.kind };
                    return Err(Stop::At(place, "the same note stands before it".to_owned()));
                }
                run.report.trusted_checkpoints +=
                    u64::from(follow(&mut global, note, run.report.checkpoints)?);
                run.report.checkpoints += 1;
            }
            if run.report.checkpoints < count(of) {
                run.tell("checkpoints", run.report.checkpoints, count(of))?;
            }
            Ok(())
        },
    )?;
    run.tell("checkpoints", run.report.checkpoints, run.report.checkpoints)?;
    Ok(notes_seen)
}

/// Reads the next notes from a number on, behind a gap too; ends with the first that does not fit to its columns.
fn read(
    conn: &Connection,
    log_id: &str,
    keys: &[PublicKey],
    start: i64,
    last: i64,
) -> Result<Vec<Result<Read, Stop>>, Stop> {
    let text = "SELECT checkpoint_seq, kind, task_id, size, root, leaf_index, frontier, note FROM checkpoints \
                WHERE checkpoint_seq BETWEEN ?1 AND ?2 ORDER BY checkpoint_seq LIMIT ?3";
    let mut found = conn.prepare_cached(text)?;
    let mut rows = found.query([start, last, chunks::STRIDE])?;
    let mut notes = Vec::new();
    while let Some(row) = rows.next()? {
        let number = count(row.get(0)?);
        let kind: String = row.get(1)?;
        let odd = |why: String| Stop::At(Place::Object("checkpoints".to_owned()), why);
        let note = match kind.parse::<CheckpointKind>() {
            Ok(kind) => Ok(Read { number, kind, said: say(row, log_id, keys, kind)? }),
            Err(e) => Err(odd(e.to_string())),
        };
        let last = !matches!(&note, Ok(Read { said: Ok(_), .. }));
        notes.push(note);
        if last {
            break;
        }
    }
    Ok(notes)
}

/// Holds a note against its columns.
fn say(
    row: &Row<'_>,
    log_id: &str,
    keys: &[PublicKey],
    kind: CheckpointKind,
) -> Result<Result<Said, String>, Stop> {
    let (size, root) = (count(row.get(3)?), row.get::<_, Hash>(4)?.0);
    let origin = origin(log_id, kind, row.get::<_, Option<Id>>(2)?.map(Id::task));
    let (bytes, frontier): (Vec<u8>, Vec<u8>) = (row.get(7)?, row.get(6)?);
    let index = row.get::<_, Option<i64>>(5)?.map(count);
    Ok(open(&bytes, &origin, keys).and_then(|(said, text, trusted)| {
        if (said.size, said.root) != (size, root) {
            return Err("its note says another size or root than its columns".to_owned());
        }
        let frontier = Frontier::from_bytes(&frontier).map_err(|e| e.to_string())?;
        if (frontier.size(), frontier.root()) != (size, root) {
            return Err("its frontier belongs to another tree".to_owned());
        }
        let leaf = index.map(|index| (index, leaf_hash(text.as_bytes())));
        Ok(Said { size, root, leaf, trusted, sha256: Digest::of(&bytes) })
    }))
}

/// The next note, `before` of which were followed; returns whether a trusted key signed it.
fn follow(global: &mut Frontier, note: Read, before: u64) -> Result<bool, Stop> {
    let Read { number, kind, said } = note;
    let at = |why: String| Stop::At(Place::Checkpoint { number, kind }, why);
    if number != before + 1 {
        return Err(at("a checkpoint before it is missing".to_owned()));
    }
    let Said { size, root, leaf, trusted, .. } = said.map_err(at)?;
    // A global note may be signed before the rows of its leaves are numbered, never for leaves that are not there.
    let there = global.size();
    match leaf {
        Some((index, leaf)) if index == there => drop(global.push(leaf)),
        Some((index, _)) => {
            return Err(at(format!("it is leaf {index} of the global log, where {there} comes next")));
        }
        None if size > there => {
            let why = format!("the global log has {there} notes, and {size} were signed for");
            return Err(Stop::Missing(why));
        }
        None if size == there && global.root() != root => {
            return Err(at(format!("the first {size} notes have another root")));
        }
        None if size < there => {
            return Err(at("it was signed for fewer notes than were there".to_owned()));
        }
        None => {}
    }
    Ok(trusted)
}

/// What a note says, its text, and whether a trusted key signed it.
pub(super) fn open(
    bytes: &[u8],
    origin: &str,
    keys: &[PublicKey],
) -> Result<(note::Checkpoint, String, bool), String> {
    let text = |e: seal::Error| e.to_string();
    let mut parsed = note::Note::parse(bytes).map_err(text)?;
    let said = note::Checkpoint::from_text(&parsed.text).map_err(text)?;
    if said.origin != origin {
        return Err(format!("its note belongs to `{}`", said.origin));
    }
    let keys: Result<Vec<VerifierKey>, _> = keys.iter().map(|key| VerifierKey::new(origin, *key)).collect();
    match parsed.verify(&keys.map_err(text)?) {
        Ok(()) => Ok((said, parsed.text, true)),
        Err(seal::Error::Untrusted { .. }) => Ok((said, parsed.text, false)),
        Err(e) => Err(e.to_string()),
    }
}

/// How a store stands to the checkpoint pinned outside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PinState {
    /// The store holds the pinned history, and perhaps more.
    Consistent,
    /// The store holds less than was pinned: it was rolled back, or restored from an older copy.
    Behind {
        /// Notes that were pinned.
        pinned: u64,
        /// Notes there are.
        found: u64,
    },
    /// The store holds another history.
    Forked {
        /// Notes that were pinned.
        pinned: u64,
    },
    /// The pin is not a checkpoint of this store signed by a key that is trusted.
    Unusable {
        /// Why not.
        why: String,
    },
}

/// Compares a store with the last global checkpoint kept outside it. Quick: it reads only notes.
///
/// # Errors
/// [`Error::Io`], [`Error::Corrupt`].
pub fn check_pin(reader: &Reader, pin: &[u8], keys: &[PublicKey]) -> Result<PinState, Error> {
    reader.with(|conn| pin_state(conn, reader.log_id(), pin, keys))
}

fn pin_state(conn: &Connection, log_id: &str, pin: &[u8], keys: &[PublicKey]) -> Result<PinState, Error> {
    let said = match open(pin, &origin(log_id, CheckpointKind::Global, None), keys) {
        Ok((said, _, true)) => said,
        Ok((_, _, false)) => {
            return Ok(PinState::Unusable { why: "it is signed by no key you trust".to_owned() });
        }
        Err(why) => return Ok(PinState::Unusable { why }),
    };
    let (pinned, found) = (said.size, crate::reads::leaf_count(conn)?);
    if found < pinned {
        return Ok(PinState::Behind { pinned, found });
    }
    let leaves = tree::note_leaves(conn, 0, pinned)?;
    let same = leaves.len() as u64 == pinned && seal::merkle::root(&leaves) == said.root;
    Ok(if same { PinState::Consistent } else { PinState::Forked { pinned } })
}

pub(super) fn against_pin(run: &mut Run<'_>, pin: &[u8]) -> Result<(), Stop> {
    run.report.pinned = true;
    match pin_state(run.conn, run.log_id, pin, run.keys)? {
        PinState::Consistent => Ok(()),
        PinState::Behind { pinned, found } => Err(Stop::Missing(format!(
            "the store holds {found} notes, and {pinned} were pinned; it was rolled back"
        ))),
        PinState::Forked { pinned } => Err(Stop::At(
            Place::Pin,
            format!("the store's first {pinned} notes are another history than the pinned one"),
        )),
        PinState::Unusable { why } => Err(Stop::At(Place::Pin, why)),
    }
}
