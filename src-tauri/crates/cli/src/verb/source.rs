//! The source of this program, and what this version tells of itself.

use super::Came;
use crate::args::{IntrospectArgs, IntrospectTopic, SourceArgs};
use crate::context::Context;
use crate::output::{Output, Tone};
use crate::text::plain;
use wire::version::{Introspect, Introspected, Show, Told, ToldList, Version};
use wire::{PAGE_ROWS_MAX, exit};

/// `hermit source`.
pub fn source(context: &Context, args: &SourceArgs) -> Came {
    let told = context.free()?.call(&Show {})?;
    if let Some(folder) = &args.folder {
        host::unpack_source(folder)?;
    }
    context.out.answer(&told, |out, told| {
        version(out, told);
        match &args.folder {
            Some(folder) => {
                out.say(Tone::Good, format!("unpacked into {}", plain(&folder.display().to_string())));
            }
            None => out.line("unpack it with `hermit source DIR`"),
        }
    })?;
    Ok(exit::DONE)
}

fn version(out: &Output, told: &Version) {
    out.line(format!("hermit {}", told.version));
    match &told.source_sha256 {
        Some(digest) => {
            out.line(format!("source {digest}, {} files, {} bytes", told.source_files, told.source_bytes));
        }
        None => out.line("this program does not carry its source"),
    }
}

/// `hermit introspect`.
pub fn introspect(context: &Context, args: IntrospectArgs) -> Came {
    let session = context.free()?;
    let topic = match args.topic {
        IntrospectTopic::Rooms => Introspected::Rooms,
        IntrospectTopic::Doors => Introspected::Doors,
        IntrospectTopic::Commands => Introspected::Commands,
        IntrospectTopic::Limits => Introspected::Limits,
        IntrospectTopic::Requirements => Introspected::Requirements,
        IntrospectTopic::Tests => Introspected::Tests,
    };
    let mut ask = Introspect { topic, words: args.words, after: None, limit: Some(PAGE_ROWS_MAX) };
    let mut all = ToldList { rows: Vec::new(), next: None };
    loop {
        let part = session.call(&ask)?;
        all.rows.extend(part.rows);
        if part.next.is_none() {
            break;
        }
        ask.after = part.next;
    }
    context.out.answer(&all, |out, all| all.rows.iter().for_each(|told| show(out, told)))?;
    Ok(exit::DONE)
}

fn show(out: &Output, told: &Told) {
    let value = if told.value.is_empty() { String::new() } else { format!(": {}", told.value) };
    out.say(Tone::Bold, plain(&format!("{}{value}", told.name)));
    if !told.about.is_empty() {
        out.line(format!("  {}", plain(&told.about)));
    }
    out.say(Tone::Faint, format!("  {}", plain(&told.at)));
    if !told.leads_to.is_empty() {
        out.say(Tone::Faint, format!("  {}", plain(&told.leads_to.join(", "))));
    }
}
