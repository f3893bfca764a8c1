//! `hermit memory list --as-of` and `hermit memory points`: what was remembered, and what proves it.

use super::memory::{list as rows, project};
use crate::args::MemoryList;
use crate::context::{Context, absolute};
use crate::local_time;
use crate::output::{Output, Tone};
use crate::text::{plain, time};
use std::path::Path;
use wire::knowledge::{Memory, MemoryPoint, MemoryPoints, MemoryThen, MemoryThenList};
use wire::{Code, Error};
use words::knowledge::{MemoryStatus, RootStanding};

/// Bytes of a signed note that is read.
const NOTE_BYTES_MAX: u64 = 1 << 20;

/// Memory as it was at a checkpoint or a time.
pub fn list(context: &Context, args: MemoryList, as_of: &str) -> Result<(), Error> {
    let ask = MemoryThen {
        memory_type: args.memory_type,
        folder: args.folder.as_deref().map(absolute).transpose()?,
        after: args.after,
        limit: args.limit,
        ..when(as_of)?
    };
    let found = context.reading()?.call(&ask)?;
    context.out.answer(&found, shown)
}

/// What was named: a checkpoint, or a time on this machine's clock.
fn when(as_of: &str) -> Result<MemoryThen, Error> {
    let as_of = as_of.trim();
    if !as_of.is_empty() && as_of.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(MemoryThen { checkpoint: Some(as_of.to_owned()), ..MemoryThen::default() });
    }
    if let Ok(meta) = std::fs::metadata(Path::new(as_of))
        && meta.is_file()
    {
        let note = match meta.len() {
            0..=NOTE_BYTES_MAX => std::fs::read_to_string(as_of).map_err(|e| e.to_string()),
            _ => Err("it is too long for a signed note".to_owned()),
        };
        let note = note.map_err(|why| {
            Error::new(Code::Usage, format!("`{as_of}` cannot be read as a checkpoint: {why}"))
                .hint("`hermit checkpoint export` prints one")
        })?;
        return Ok(MemoryThen { checkpoint: Some(note), ..MemoryThen::default() });
    }
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let at = local_time::parse(as_of, now).ok_or_else(|| {
        Error::new(Code::Usage, format!("`{as_of}` is no checkpoint, no file and no time")).hint(
            "give the number of a checkpoint (`hermit memory points` lists them), a file with the signed note, or a \
             time such as `yesterday`, `2026-11-20` or `2026-11-20 18:00`",
        )
    })?;
    if at > now {
        return Err(
            Error::new(Code::Usage, format!("`{as_of}` is still to come")).hint("give a time that is over")
        );
    }
    Ok(MemoryThen { at: Some(at), ..MemoryThen::default() })
}

fn shown(out: &Output, found: &MemoryThenList) {
    let point = &found.point;
    out.say(Tone::Bold, format!("Memory as of {}", time(point.at)));
    let lines = found.rows.iter().map(|m| {
        vec![
            m.memory_id.clone(),
            since(m),
            m.memory_type.map_or_else(|| "-".to_owned(), |kind| kind.to_string()),
            project(m),
            m.trust.to_string(),
            plain(&m.claim.to_string()),
        ]
    });
    let head = ["memory", "since then", "type", "held in", "trust", "claim"];
    rows(out, &head, lines.collect(), found.next.as_deref());
    for root in &found.roots {
        let place = match &root.project {
            None => "every project".to_owned(),
            Some(project) => project
                .name
                .as_ref()
                .map_or_else(|| project.hash.chars().take(12).collect(), |name| plain(&name.to_string())),
        };
        let records = if root.size == 1 { "record" } else { "records" };
        let differs = if root.matches { "" } else { "  DOES NOT MATCH the records" };
        out.say(Tone::Faint, format!("root  {}  {} {records} in {place}{differs}", root.root, root.size));
    }
    out.say(Tone::Faint, format!("over all  {}", point.state_root));
    match (found.standing, point.checkpoint) {
        (RootStanding::Proven, Some(head)) => {
            out.line(format!("proven: the roots follow from these records, and checkpoint {head} of the log covers them"));
        }
        (RootStanding::Differs, _) => out.say(
            Tone::Warn,
            "NOT proven: what is shown does not give the roots that were stated then; `hermit ledger rebuild` makes the list anew from the log",
        ),
        _ => out.line("not signed yet: the roots follow from these records; `hermit ledger checkpoint` signs them"),
    }
    if !found.added.is_empty() {
        let more = if found.added_more { "more than " } else { "" };
        out.line(format!("added since: {more}{}", found.added.len()));
        for memory in &found.added {
            let now = if memory.status == MemoryStatus::Active {
                String::new()
            } else {
                format!(" ({})", memory.status)
            };
            out.say(
                Tone::Faint,
                format!("  {} {}{now}", time(memory.created_at), plain(&memory.claim.to_string())),
            );
        }
    }
}

/// What became of a record since.
fn since(memory: &Memory) -> String {
    match (memory.status, &memory.superseded_by) {
        (MemoryStatus::Active, _) => "holds still".to_owned(),
        (_, Some(_)) => "replaced".to_owned(),
        (status, None) => status.to_string(),
    }
}

/// The points of the past that can be asked for.
pub fn points(context: &Context, after: Option<String>, limit: Option<u32>) -> Result<(), Error> {
    let found = context.reading()?.call(&MemoryPoints { after, limit })?;
    context.out.answer(&found, |out, found| {
        let lines = found.rows.iter().map(|point: &MemoryPoint| {
            let head = point.checkpoint.map_or_else(|| "not signed yet".to_owned(), |head| head.to_string());
            vec![head, time(point.at), point.state_root.clone()]
        });
        rows(out, &["checkpoint", "stated", "root over all"], lines.collect(), found.next.as_deref());
    })
}
