//! `hermit memory show`: one record, and the contexts that it was sent in.

use super::memory;
use crate::context::Context;
use crate::output::{Output, Tone};
use crate::text::{plain, time};
use serde::Serialize;
use wire::Error;
use wire::knowledge::{Memories, Memory, MemoryContextList, MemoryContexts, TaskContexts, TurnRange};

/// A record as a program reads it.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    memory: &'a Memory,
    sent_in: MemoryContextList,
}

pub(super) fn show(context: &Context, memory: String) -> Result<(), Error> {
    let session = context.reading()?;
    let found = session.call(&Memories { memory: Some(memory), ..Memories::default() })?;
    let Some(memory) = found.rows.first() else { return Ok(()) };
    let sent_in = session.call(&MemoryContexts { memory: memory.memory_id.clone() })?;
    context.out.answer(&Shown { memory, sent_in }, |out, shown| {
        memory::shown(out, shown.memory);
        told(out, &shown.sent_in);
    })
}

fn told(out: &Output, sent_in: &MemoryContextList) {
    for task in &sent_in.tasks {
        let title =
            task.title.as_ref().map_or_else(|| "a task".to_owned(), |title| plain(&title.to_string()));
        out.line(format!("  {:<10} {}: {title}", "sent in", task.task_id));
        out.say(Tone::Faint, format!("{:13}{}{}", "", turns(task), came(task)));
    }
    match sent_in.more {
        0 => {}
        1 => out.line(format!("{:13}1 more task before these", "")),
        more => out.line(format!("{:13}{more} more tasks before these", "")),
    }
}

/// Which contexts of a task, and when the last was sent.
fn turns(task: &TaskContexts) -> String {
    let range = |range: &TurnRange| match range {
        TurnRange { attempt, first, last } if first == last => format!("attempt {attempt} turn {first}"),
        TurnRange { attempt, first, last } => format!("attempt {attempt} turns {first} to {last}"),
    };
    let ranges: Vec<String> = task.turns.iter().map(range).collect();
    let contexts = if task.contexts == 1 { "context" } else { "contexts" };
    format!("{} {contexts}, last {}: {}", task.contexts, time(task.last_at), ranges.join(", "))
}

/// What came of it there.
fn came(task: &TaskContexts) -> &'static str {
    match (task.helped, task.contradicted) {
        (true, true) => "; it helped, and was contradicted",
        (true, false) => "; it helped",
        (false, true) => "; it was contradicted",
        (false, false) => "",
    }
}
