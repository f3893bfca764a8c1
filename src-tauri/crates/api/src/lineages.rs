//! Graphs over one store, and their nodes as links.

use crate::convert::plain;
use crate::{Wire as _, convert, fold};
use ledger::Reader;
use lineage::{Graph, NodeId};
use model::TaskId;
use projections::Query;
use projections::query::TaskFilter;
use std::collections::BTreeSet;
use wire::Error;
use wire::receipts::Link;
pub(crate) use words::artifact::TraceScope;

/// Events of a store that are folded whole for a question about one artifact: about a second of work.
const WHOLE_EVENTS_MAX: u64 = 200_000;
/// Tasks of one family that are folded together.
const FAMILY_MAX: usize = 64;

/// The graph of the whole store where the log is short enough, else of the task's family.
pub(crate) fn around(query: &Query, task: TaskId) -> Result<(Graph, TraceScope), Error> {
    let reader = query.reader();
    if reader.log_head().wire()? <= WHOLE_EVENTS_MAX {
        return Ok((whole(reader)?, TraceScope::Store));
    }
    Ok((of_family(query, task)?, TraceScope::Family))
}

fn whole(reader: &Reader) -> Result<Graph, Error> {
    let mut graph = Graph::new();
    let mut after = 0;
    loop {
        let events = reader.log(after, 1_000).wire()?;
        let Some(last) = events.last() else { return Ok(graph) };
        after = last.log_seq;
        for stored in &events {
            let event = stored.event().wire()?;
            graph.apply(&event, &fold::body(reader, &event)?);
        }
    }
}

/// The graph of a task, of those it derives from or follows, and of those derived from it.
fn of_family(query: &Query, task: TaskId) -> Result<Graph, Error> {
    let mut family = BTreeSet::new();
    let mut open = vec![task];
    while let Some(id) = open.pop() {
        if family.len() >= FAMILY_MAX || !family.insert(id) {
            continue;
        }
        let Some(row) = query.task(id).wire()? else { continue };
        open.extend(row.parent_task_id.into_iter().chain(row.anchor_task_id));
        let filter = TaskFilter { parent: Some(id), ..TaskFilter::default() };
        open.extend(convert::every(|ask| query.tasks(&filter, ask))?.iter().map(|row| row.task_id));
    }
    let mut graph = Graph::new();
    // Identifiers are in the order of their making, so causes come before what follows from them.
    for id in family {
        fold::walk(query.reader(), id, &mut |_, event, body| {
            graph.apply(event, body);
            Ok(())
        })?;
    }
    Ok(graph)
}

/// A node as a link.
pub(crate) fn link(graph: &Graph, id: impl Into<NodeId>) -> Link {
    let id = id.into();
    let node = graph.node(id);
    Link {
        kind: id.kind(),
        id: id.to_string(),
        task_id: node.map(|node| node.task_id.to_string()),
        label: node.and_then(|node| node.label.as_ref().map(crate::file_names::visible_text)),
        detail: node.map(|node| node.detail.clone()).unwrap_or_default(),
        at: node.map(|node| node.at.0),
    }
}

pub(crate) fn links<I: Into<NodeId>>(graph: &Graph, ids: impl IntoIterator<Item = I>) -> Vec<Link> {
    ids.into_iter().map(|id| link(graph, id)).collect()
}

/// The body of an event with its leaves as they can be read.
pub(crate) fn body_value(reader: &Reader, event: &model::Event) -> Result<serde_json::Value, Error> {
    let shown = fold::revealed(reader, event.payload.clone(), "/payload")?;
    Ok(plain(shown))
}
