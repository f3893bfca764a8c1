//! A store on disk with a task of any length: what is held in memory is a few bytes for each event.

use super::{MADE_AT, World};
use model::body::TaskGoalChanged;
use model::event::{Actor, Draft};
use model::principal::PrincipalType;
use model::*;
use proof::{Head, PublicKeys, Signers, Source};
use seal::merkle::{Frontier, Tree, leaf_hash};
use seal::note::{Checkpoint, Note};
use seal::{Digest, Sensitive};
use std::fs::File;
use std::io::{BufWriter, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Mutex;

/// Bytes in a file, by number.
struct Rows {
    file: Mutex<File>,
    ends: Vec<u64>,
}

impl Rows {
    fn read(&self, at: usize) -> Option<Vec<u8>> {
        let end = *self.ends.get(at)?;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        let mut bytes = vec![0; usize::try_from(end - start).unwrap()];
        let mut file = self.file.lock().unwrap();
        file.seek(SeekFrom::Start(start)).unwrap();
        file.read_exact(&mut bytes).unwrap();
        Some(bytes)
    }
}

struct Writing {
    out: BufWriter<File>,
    ends: Vec<u64>,
}

impl Writing {
    fn new(path: &Path) -> Self {
        let file = File::options().read(true).write(true).create_new(true).open(path).unwrap();
        Self { out: BufWriter::new(file), ends: Vec::new() }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.out.write_all(bytes).unwrap();
        self.ends.push(self.ends.last().copied().unwrap_or(0) + bytes.len() as u64);
    }

    fn done(self) -> Rows {
        Rows { file: Mutex::new(self.out.into_inner().unwrap()), ends: self.ends }
    }
}

/// The store.
pub struct Flat {
    pub world: World,
    events: Rows,
    disclosures: Rows,
    /// Eight bytes of a disclosure's digest and its number, sorted.
    index: Vec<(u64, u32)>,
    root: Digest,
}

fn prefix(digest: &Digest) -> u64 {
    u64::from_be_bytes(digest.0[..8].try_into().unwrap())
}

impl Flat {
    /// A task of `events` events in all, of which `acts` governed acts are the first; each further event has a
    /// sensitive value.
    pub fn new(folder: &Path, acts: usize, events: u64) -> Self {
        let mut world = World::new(acts, 0);
        let (mut rows, mut opened) =
            (Writing::new(&folder.join("events")), Writing::new(&folder.join("disclosures")));
        let (mut frontier, mut index) = (Frontier::new(), Vec::new());
        for bytes in std::mem::take(&mut world.events) {
            frontier.push(leaf_hash(&bytes));
            rows.push(&bytes);
        }
        for (digest, bytes) in std::mem::take(&mut world.disclosures) {
            index.push((prefix(&digest), u32::try_from(opened.ends.len()).unwrap()));
            opened.push(&bytes);
        }
        while (rows.ends.len() as u64) < events {
            let seq = rows.ends.len() as u64 + 1;
            let (event, disclosures) =
                Self::draft(&world, seq).place(seq, world.head, &mut || world.dice.salt()).unwrap();
            let bytes = event.to_bytes().unwrap();
            world.head = Digest::of(&bytes);
            frontier.push(leaf_hash(&bytes));
            rows.push(&bytes);
            for disclosure in disclosures {
                index.push((prefix(&disclosure.digest), u32::try_from(opened.ends.len()).unwrap()));
                opened.push(&disclosure.bytes);
            }
        }
        index.sort_unstable();
        Self { world, events: rows.done(), disclosures: opened.done(), index, root: frontier.root() }
    }

    fn draft(world: &World, seq: u64) -> Draft {
        let goal = format!("goal number {seq}, which a person may want to keep to themselves");
        Draft {
            event_id: EventId::fresh(&world.clock, &world.dice),
            task_id: world.task,
            step_id: Some(world.step),
            attempt_id: Some(world.attempt),
            occurred_at: UnixMs(1_760_000_800_000),
            actor: Actor { actor_type: PrincipalType::Agent, actor_id: world.agent },
            body: TaskGoalChanged { about_task_id: world.task, goal: Sensitive::from(goal), title: None }
                .into(),
            causation_id: None,
            correlation_id: world.attempt.to_string(),
            idempotency_key: None,
            workspace_id: Some(world.workspace),
        }
    }

    pub fn signers(&self) -> Option<Signers<'_>> {
        self.world.signers()
    }

    fn task_note(&self) -> Note {
        let origin = format!("hermit.local/{}/task/{}", self.world.log_id, self.world.task);
        Checkpoint::new(&origin, self.events.ends.len() as u64, self.root).sign(&self.world.keys.log).unwrap()
    }

    fn global(&self) -> Tree {
        let notes = self.world.others.iter().map(|note| Note::parse(note).unwrap().text);
        let own = [self.task_note().text, self.world.gate_note().text];
        let leaves: Vec<Digest> = notes.chain(own).map(|text| leaf_hash(text.as_bytes())).collect();
        Tree::from_leaves(&leaves)
    }
}

impl Source for Flat {
    fn log_id(&self) -> String {
        self.world.log_id.clone()
    }

    fn public_keys(&self) -> PublicKeys {
        self.world.public_keys()
    }

    fn task_head(&self, _: TaskId) -> Result<Option<Head>, String> {
        let leaf_index = Some(self.world.others.len() as u64);
        Ok(Some(Head { note: self.task_note().to_bytes(), leaf_index, made_at: MADE_AT }))
    }

    fn gate_head(&self) -> Result<Option<Head>, String> {
        self.world.gate_head()
    }

    fn global_head(&self) -> Result<Option<Head>, String> {
        let note = self.world.sign(&format!("hermit.local/{}", self.world.log_id), &self.global());
        Ok(Some(Head { note: note.to_bytes(), leaf_index: None, made_at: MADE_AT }))
    }

    fn events(&self, _: TaskId, after_seq: u64, max: usize) -> Result<Vec<Vec<u8>>, String> {
        let first = usize::try_from(after_seq).unwrap();
        Ok((first..first + max).map_while(|at| self.events.read(at)).collect())
    }

    fn disclosure(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        let wanted = prefix(digest);
        let from = self.index.partition_point(|(prefix, _)| *prefix < wanted);
        let same = self.index[from..].iter().take_while(|(prefix, _)| *prefix == wanted);
        let rows = same.filter_map(|(_, row)| self.disclosures.read(*row as usize));
        Ok(rows.into_iter().find(|bytes| Digest::of(bytes) == *digest))
    }

    fn artifact(&self, digest: &Digest) -> Result<Option<Box<dyn Read + '_>>, String> {
        self.world.artifact(digest)
    }

    fn gate_entries(&self, task: TaskId) -> Result<Vec<u64>, String> {
        self.world.gate_entries(task)
    }

    fn gate_entry(&self, number: u64) -> Result<Vec<u8>, String> {
        self.world.gate_entry(number)
    }

    fn gate_proof(&self, number: u64, size: u64) -> Result<Vec<Digest>, String> {
        self.world.gate_proof(number, size)
    }

    fn global_proof(&self, leaf_index: u64, size: u64) -> Result<Vec<Digest>, String> {
        self.global().inclusion_proof_at(leaf_index, size).map_err(|e| e.to_string())
    }

    fn global_consistency(&self, old_size: u64, _: u64) -> Result<Vec<Digest>, String> {
        self.global().consistency_proof(old_size).map_err(|e| e.to_string())
    }
}
