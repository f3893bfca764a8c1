//! The roots of state that a proof carries: of the task's conversation, and of the memory that holds in its project
//! (HV-3.6-1, memory.md 2).

use crate::source::of_checkpoint;
use crate::{Wire as _, fold};
use ledger::Reader;
use model::state_root::{StateRoot, StateSubject, leaf_hash};
use model::{Digest, TaskId};
use projections::Query;
use proof::{STATE_LEAVES_MAX, StateProof, SubjectProof};
use wire::Error;

/// What proves them as of the head of the global log with so many notes; nothing where none was signed by then.
pub(crate) fn of(
    reader: &Reader,
    query: &Query,
    notes: u64,
    task: TaskId,
) -> Result<Option<StateProof>, Error> {
    let Some(first) = reader.log(0, 1).wire()?.into_iter().next() else { return Ok(None) };
    let system = first.task_id;
    let Some(head) = reader.task_checkpoint_within(system, notes).wire()? else { return Ok(None) };
    let Some(point) = query.rooted_within(head.size).wire()? else { return Ok(None) };
    let Some(index) = point.task_seq.checked_sub(1) else { return Ok(None) };
    let Some(event) = reader.events(system, index, 1).wire()?.into_iter().next() else { return Ok(None) };
    let path = seal::merkle::inclusion_proof(index, &reader.task_leaves(system, head.size).wire()?).wire()?;
    let stated = query.stated_roots(point.number).wire()?;
    let leaves = stated
        .iter()
        .map(|root| root.to_leaf().map(|leaf| leaf_hash(&leaf)))
        .collect::<Result<Vec<Digest>, _>>()
        .wire()?;
    let (mut subjects, mut left_out) = (Vec::new(), Vec::new());
    for subject in wanted(reader, query, task)? {
        let Some(at) = stated.iter().position(|root| root.subject == subject) else { continue };
        let Some(root) = stated.get(at) else { continue };
        if root.size > STATE_LEAVES_MAX as u64 {
            left_out.push(format!("the root of `{subject}`: it is over {} leaves", root.size));
            continue;
        }
        let index = at as u64;
        let path = seal::merkle::inclusion_proof(index, &leaves).wire()?;
        let one = one(reader, query, (root, index, path), point.number)?;
        if seal::merkle::root(&one.leaves) == one.root {
            subjects.push(one);
        } else {
            left_out.push(format!(
                "the root of `{subject}`: what is kept does not give it; `hermit ledger rebuild` makes it anew"
            ));
        }
    }
    subjects.sort_by_cached_key(|one| one.subject.to_string());
    let head = of_checkpoint(&head);
    Ok(Some(StateProof { event: event.bytes, path, head, subjects, left_out }))
}

/// What a task is about: its conversation, the memory of its project, and that which holds everywhere.
fn wanted(reader: &Reader, query: &Query, task: TaskId) -> Result<Vec<StateSubject>, Error> {
    let mut wanted = vec![StateSubject::Memory(None)];
    if let Some(row) = query.task(task).wire()? {
        wanted.push(StateSubject::Conversation(row.conversation_id));
        let of = fold::store_state(reader)?.projects;
        let project = row.workspace_id.and_then(|folder| of.get(&folder)).map(|(hash, _)| *hash);
        wanted.extend(project.map(|hash| StateSubject::Memory(Some(hash))));
    }
    Ok(wanted)
}

/// A root with its leaves, each the hash of the event that said it.
fn one(
    reader: &Reader,
    query: &Query,
    (root, index, path): (&StateRoot, u64, Vec<Digest>),
    number: u64,
) -> Result<SubjectProof, Error> {
    let StateRoot { subject, size, root } = root.clone();
    // It was stated when it last changed, and holds the leaves of then.
    let through = query.stated_root(subject, number).wire()?.map_or(0, |row| row.through);
    let most = u32::try_from(STATE_LEAVES_MAX).unwrap_or(u32::MAX);
    let mut leaves = Vec::new();
    for place in query.leaves_of(subject, through, most).wire()? {
        let said = reader.log(place.saturating_sub(1), 1).wire()?.into_iter().next();
        leaves.extend(said.filter(|said| said.log_seq == place).map(|said| leaf_hash(&said.bytes)));
    }
    Ok(SubjectProof { index, leaves, path, root, size, subject })
}
