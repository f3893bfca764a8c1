//! What was remembered at a point of the past, and the root that proves it (HV-3.6-1, memory.md 2).

use super::knowledge::{Projects, memories_now, project_of, projects};
use crate::convert::{ask, opt_word};
use crate::{Host, Wire as _, fold, usage};
use ledger::{Checkpoint, CheckpointKind, Reader, Stored};
use model::body::{Body, KeyPurpose};
use model::knowledge::MemoryRecord;
use model::state_root::{StateSubject, leaf_hash, over_all};
use model::{Digest, TaskId, UnixMs};
use projections::Query;
use projections::query::{MemoryPoint as Point, MemoryThen as Filter};
use projections::rows::MemoryRow;
use seal::note::{Checkpoint as SignedHead, Note, VerifierKey};
use std::collections::BTreeSet;
use wire::knowledge::{MemoryPoint, MemoryPointList, MemoryPoints, MemoryRoot, MemoryThen, MemoryThenList};
use wire::{Code, Error};
use words::knowledge::RootStanding;

/// Records added since that are told of.
const ADDED_MAX: u32 = 100;

/// The store's own stream, and who reads it.
struct Past {
    reader: Reader,
    query: Query,
    system: TaskId,
}

impl Past {
    fn of(host: &dyn Host) -> Result<Self, Error> {
        let reader = host.reader()?;
        let first = reader.log(0, 1).wire()?.into_iter().next();
        let first = first.ok_or_else(|| Error::new(Code::NotFound, "this store is empty"))?;
        Ok(Self { reader, query: host.query()?, system: first.task_id })
    }

    /// The oldest signed head that covers what an event stated.
    fn signed(&self, point: &Point) -> Result<Option<Checkpoint>, Error> {
        self.reader.global_checkpoint_covering(self.system, point.task_seq).wire()
    }

    fn point(&self, point: &Point) -> Result<MemoryPoint, Error> {
        let signed = self.signed(point)?;
        Ok(MemoryPoint {
            number: point.number,
            at: point.at.0,
            state_root: point.state_root.to_string(),
            checkpoint: signed.map(|head| head.size),
        })
    }

    /// The roots that a head of the global log covers.
    fn within(&self, head: &Checkpoint) -> Result<Point, Error> {
        let own = self.reader.task_checkpoint_within(self.system, head.size).wire()?;
        let found = match own {
            Some(own) => self.query.rooted_within(own.size).wire()?,
            None => None,
        };
        match found {
            Some(found) => Ok(found),
            None => Err(Error::new(
                Code::NotFound,
                format!("checkpoint {} is from before the first root of memory that was signed", head.size),
            )
            .hint(self.oldest_hint()?)),
        }
    }

    /// What the oldest point is, for whoever asked for one before it.
    fn oldest_hint(&self) -> Result<String, Error> {
        let oldest = self.query.memory_points(ask_one().oldest_first()).wire()?.rows.into_iter().next();
        let Some(oldest) = oldest else {
            return Ok("`hermit ledger checkpoint` states and signs the first one".to_owned());
        };
        Ok(match self.signed(&oldest)? {
            Some(head) => format!("the oldest is checkpoint {}; name that or a later one", head.size),
            None => "sign the roots there are with `hermit ledger checkpoint`".to_owned(),
        })
    }

    /// The head that was named: by its number of notes, or as the note itself.
    fn head(&self, named: &str) -> Result<Checkpoint, Error> {
        let size = match named.trim().parse::<u64>() {
            Ok(size) => size,
            Err(_) => return self.head_of_note(named),
        };
        if let Some(at) = self.reader.checkpoint_at(CheckpointKind::Global, None, size).wire()? {
            return Ok(at);
        }
        let hint = match self.reader.last_checkpoint(CheckpointKind::Global, None).wire()? {
            Some(newest) => format!(
                "the newest has {} notes; `hermit memory points` lists those that tell of memory",
                newest.size
            ),
            None => "sign one with `hermit ledger checkpoint`".to_owned(),
        };
        Err(Error::new(Code::NotFound, format!("no checkpoint of this log has {size} notes")).hint(hint))
    }

    fn head_of_note(&self, text: &str) -> Result<Checkpoint, Error> {
        let parsed = Note::parse(text.as_bytes()).and_then(|note| SignedHead::from_text(&note.text));
        let head = parsed.map_err(|_| {
            usage(format!("`{}` is no checkpoint", text.lines().next().unwrap_or_default())).hint(
                "give the number of its notes, or the signed note itself, as `hermit checkpoint export` prints it",
            )
        })?;
        let origin = format!("hermit.local/{}", self.reader.log_id());
        if head.origin != origin {
            let why = format!("that checkpoint is of `{}`, and this store is `{origin}`", head.origin);
            return Err(usage(why).hint("open the store that it is of with `--store`"));
        }
        let own = self.reader.checkpoint_at(CheckpointKind::Global, None, head.size).wire()?;
        own.filter(|own| own.root == head.root).ok_or_else(|| {
            let why =
                "this log has no such checkpoint: it was never signed here, or the store was set back since";
            usage(why).hint("`hermit checkpoint compare` says how the two stand to each other")
        })
    }

    /// The point that was asked for; the newest when nothing was.
    fn asked(&self, p: &MemoryThen) -> Result<Point, Error> {
        match (p.checkpoint.as_deref(), p.number, p.at) {
            (Some(named), None, None) => self.within(&self.head(named)?),
            (None, Some(number), None) => self.query.rooted(number).wire()?.ok_or_else(|| {
                Error::new(Code::NotFound, format!("no root of state has the number {number}"))
                    .hint("`hermit memory points` lists those there are")
            }),
            (None, None, at) => self.until(at),
            _ => Err(usage("a checkpoint, a number and a time at once").hint("name one of them")),
        }
    }

    fn until(&self, at: Option<i64>) -> Result<Point, Error> {
        let (found, oldest) = self.query.rooted_until(UnixMs(at.unwrap_or(i64::MAX))).wire()?;
        match (found, oldest) {
            (Some(found), _) => Ok(found),
            (None, Some(_)) => {
                let why = "that is before the first root of memory that was stated here";
                Err(Error::new(Code::NotFound, why).hint(self.oldest_hint()?))
            }
            (None, None) => Err(Error::new(Code::NotFound, "no root of memory was stated in this store yet")
                .hint("`hermit ledger checkpoint` states and signs the first one")),
        }
    }

    /// Whether the event in its place says what the views say of a point.
    fn is_stated(&self, point: &Point) -> Result<bool, Error> {
        let Some(before) = point.task_seq.checked_sub(1) else { return Ok(false) };
        let said = self.reader.events(self.system, before, 1).wire()?.into_iter().next();
        let body = said.and_then(|said| said.event().ok()).and_then(|event| event.body(&|_| None).ok());
        let Some(Body::StateRooted(said)) = body else { return Ok(false) };
        let over = over_all(&self.query.stated_roots(point.number).wire()?).wire()?;
        Ok((said.number, said.through, said.state_root, said.state_root)
            == (point.number, point.through, point.state_root, over))
    }

    /// Whether the records that are shown are leaves of their trees: each is compared with the event that said it.
    fn are_leaves(&self, rows: &[MemoryRow]) -> Result<bool, Error> {
        for row in rows {
            let Some(before) = row.seq.checked_sub(1) else { return Ok(false) };
            let said = self.reader.log(before, 1).wire()?.into_iter().next();
            let is_leaf = |said: &Stored| said.log_seq == row.seq && leaf_hash(&said.bytes) == row.state_leaf;
            let event = said.filter(is_leaf).and_then(|said| said.event().ok());
            let body = event
                .and_then(|event| event.body(&|digest| self.reader.disclosure(digest).ok().flatten()).ok());
            let Some(Body::MemoryPromoted(said)) = body else { return Ok(false) };
            if !is_as_said(row, &said.record) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the log key signed a head.
    fn is_signed(&self, host: &dyn Host, head: &Checkpoint) -> Result<bool, Error> {
        let history = fold::key_history(&self.reader)?;
        let keys = history.of(KeyPurpose::Log).into_iter().chain(host.trusted_log_keys());
        let named: Vec<VerifierKey> =
            keys.filter_map(|key| VerifierKey::new(&head.origin, key).ok()).collect();
        Ok(named.iter().any(|key| seal::note::verify_note(&head.note, std::slice::from_ref(key)).is_ok()))
    }
}

/// Whether a row shows what the record said: who reads the row reads no event.
fn is_as_said(row: &MemoryRow, said: &MemoryRecord) -> bool {
    let memory_type = said.structured_assertion.as_ref().map(|said| said.memory_type);
    (row.memory_id, row.task_id, row.trust_tier, row.project_hash, row.memory_type, row.created_at)
        == (
            said.memory_id,
            said.promoted_by_task_id,
            said.trust_tier,
            said.project_hash,
            memory_type,
            said.created_at,
        )
        && (&row.claim, &row.scope, &row.reason) == (&said.claim, &said.scope, &said.promotion_reason)
}

fn ask_one() -> projections::Ask {
    projections::Ask { limit: 1, ..projections::Ask::default() }
}

pub(crate) fn memory_points(host: &dyn Host, p: MemoryPoints) -> Result<MemoryPointList, Error> {
    let past = Past::of(host)?;
    let found = past.query.memory_points(ask(p.after.as_deref(), p.limit)?).wire()?;
    let rows = found.rows.iter().map(|point| past.point(point)).collect::<Result<Vec<_>, _>>()?;
    Ok(MemoryPointList { rows, next: found.next.map(|next| next.to_string()) })
}

pub(crate) fn memory_then(host: &dyn Host, p: MemoryThen) -> Result<MemoryThenList, Error> {
    let past = Past::of(host)?;
    let projects = projects(host)?;
    let point = past.asked(&p)?;
    let project = project_of(p.folder.as_deref(), &projects)?;
    let memory_type = opt_word(p.memory_type.as_deref())?;
    let filter = Filter { through: point.through, memory_type, project };
    let found = past.query.memories_then(filter, ask(p.after.as_deref(), p.limit)?).wire()?;
    let roots = roots(&past, &point, project, &projects)?;
    let added = past.query.memories_added(filter, ask(None, Some(ADDED_MAX))?).wire()?;
    let standing = match () {
        () if roots.iter().any(|root| !root.matches) => RootStanding::Differs,
        () if !past.are_leaves(&found.rows)? => RootStanding::Differs,
        () if found.rows.iter().any(|row| !is_under_one(row, &roots)) => RootStanding::Differs,
        () if !past.is_stated(&point)? => RootStanding::Differs,
        () => match past.signed(&point)? {
            None => RootStanding::Unsigned,
            Some(head) if past.is_signed(host, &head)? => RootStanding::Proven,
            Some(_) => RootStanding::Differs,
        },
    };
    let point = past.point(&point)?;
    let next = found.next.map(|next| next.to_string());
    Ok(MemoryThenList {
        point,
        roots,
        standing,
        rows: memories_now(&past.query, &found.rows, &projects)?,
        next,
        added_more: added.next.is_some(),
        added: memories_now(&past.query, &added.rows, &projects)?,
    })
}

/// Whether a root of the project of a record was stated.
fn is_under_one(row: &MemoryRow, roots: &[MemoryRoot]) -> bool {
    let of = row.project_hash.map(|hash| hash.to_string());
    roots.iter().any(|root| root.project.as_ref().map(|project| &project.hash) == of.as_ref())
}

/// The roots of the memory that is shown, each compared with what the records say now.
fn roots(
    past: &Past,
    point: &Point,
    project: Option<Digest>,
    projects: &Projects,
) -> Result<Vec<MemoryRoot>, Error> {
    let stated = past.query.stated_roots(point.number).wire()?;
    let known: BTreeSet<Option<Digest>> = stated
        .iter()
        .filter_map(|root| match root.subject {
            StateSubject::Memory(of) => Some(of),
            StateSubject::Conversation(_) => None,
        })
        .filter(|of| project.is_none() || of.is_none() || *of == project)
        .collect();
    let mut roots = Vec::new();
    for of in known {
        let said = stated.iter().find(|root| root.subject == StateSubject::Memory(of));
        let Some(said) = said else { continue };
        let found = past.query.memory_root(of, point.through).wire()?;
        roots.push(MemoryRoot {
            project: of.map(|hash| wire::knowledge::Project {
                hash: hash.to_string(),
                name: projects.get(&hash).and_then(|(name, _)| name.clone()),
            }),
            size: said.size,
            root: said.root.to_string(),
            matches: found == *said,
        });
    }
    Ok(roots)
}
