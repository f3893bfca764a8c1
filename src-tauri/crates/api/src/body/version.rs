//! The running version: its source, and what it tells of itself. Told to whoever asks: it is the same for everybody.

use crate::convert::rows;
use crate::{Host, failed, usage};
use model::Digest;
use provenance::archive::Archive;
use provenance::introspection;
use wire::version::{Introspect, Introspected, Show, Told, ToldList, Version};
use wire::{Access, COMMANDS, Code, Error};

pub(crate) fn show(host: &dyn Host, _: Show) -> Result<Version, Error> {
    let version = kernel::VERSION.to_owned();
    let stream = match host.own_source() {
        Ok(stream) => stream,
        Err(error) if error.code == Code::Unavailable => {
            return Ok(Version { version, source_sha256: None, source_files: 0, source_bytes: 0 });
        }
        Err(error) => return Err(error),
    };
    let archive = Archive::read(stream).map_err(failed)?;
    Ok(Version {
        version,
        source_sha256: Some(Digest::of(stream).to_string()),
        source_files: archive.files().len() as u64,
        source_bytes: archive.files().iter().map(|file| file.bytes.len() as u64).sum(),
    })
}

pub(crate) fn introspect(host: &dyn Host, p: Introspect) -> Result<ToldList, Error> {
    let limit = rows(p.limit)? as usize;
    let begin = match p.after.as_deref().map(str::parse::<usize>) {
        None => 0,
        Some(Ok(at)) => at,
        Some(Err(_)) => return Err(usage("`after` is no `next` of an answer of this command".to_owned())),
    };
    let told: Vec<Told> = match p.topic {
        Introspected::Commands => COMMANDS.iter().map(command).collect(),
        topic => of_source(host, topic)?,
    };
    let words: Vec<String> = p.words.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
    let fits = |told: &Told| {
        let text = format!("{}\n{}\n{}", told.name, told.at, told.about).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let mut found = told.into_iter().filter(|told| fits(told)).skip(begin);
    let rows: Vec<Told> = found.by_ref().take(limit).collect();
    let next = found.next().map(|_| (begin + limit).to_string());
    Ok(ToldList { rows, next })
}

fn of_source(host: &dyn Host, topic: Introspected) -> Result<Vec<Told>, Error> {
    let archive = Archive::read(host.own_source()?).map_err(failed)?;
    let told = match topic {
        Introspected::Rooms => introspection::rooms(&archive),
        Introspected::Doors => introspection::doors(&archive),
        Introspected::Limits => introspection::limits(&archive),
        Introspected::Requirements => introspection::requirements(&archive),
        Introspected::Tests => introspection::tests(&archive),
        Introspected::Commands => Vec::new(),
    };
    let told = told.into_iter().map(|told| Told {
        name: told.name,
        about: told.about,
        value: told.value,
        at: told.at,
        leads_to: told.leads_to,
    });
    Ok(told.collect())
}

/// A command, from the table that every surface is made from.
fn command(info: &wire::table::Info) -> Told {
    let needs = match info.access {
        Access::read => "reads the store",
        Access::write => "changes something, in the process that holds the store",
        Access::owner => "at the process that holds the store alone",
        Access::person => "with what a person signed",
        Access::surface => "with what a person signed, or from a page that a person opened at a terminal",
        Access::free => "needs no store",
    };
    Told {
        name: info.name.to_owned(),
        about: info.about.to_owned(),
        value: needs.to_owned(),
        at: "src-tauri/crates/wire/src/table.rs".to_owned(),
        leads_to: info.topics.iter().map(|topic| format!("{topic:?}")).collect(),
    }
}
