//! `hermit service`: `hermit serve` as a service of the system.

use super::Came;
use super::mcp_install::own_program;
use crate::args::{ServiceInstall, ServiceVerb};
use crate::context::{Context, absolute};
use crate::output::Tone;
use crate::text::plain;
use host::service::{self, Found, ServiceTerms, Stands};
use serde::Serialize;
use std::path::Path;
use wire::{Error, exit};

/// `hermit service`.
pub fn service(context: &Context, verb: ServiceVerb) -> Came {
    match verb {
        ServiceVerb::Install(args) => install(context, &args),
        ServiceVerb::Remove => {
            let came = service::remove(&context.home)?;
            tell(context, &came)
        }
        ServiceVerb::Status => status(context),
    }
}

fn install(context: &Context, args: &ServiceInstall) -> Came {
    if !context.home.has_store() {
        return Err(api::no_store(&context.home.dir().display().to_string()));
    }
    let terms = terms(context, args)?;
    if args.print {
        return print(context, &terms);
    }
    let came = service::install(&context.home, &terms, args.replace)?;
    tell(context, &came)
}

fn terms(context: &Context, args: &ServiceInstall) -> Result<ServiceTerms, Error> {
    if let Some(file) = &args.passphrase_file {
        service::check_passphrase_file(&context.home, file)?;
    }
    Ok(ServiceTerms {
        program: own_program()?,
        store: absolute(context.home.dir())?,
        passphrase_file: args.passphrase_file.as_deref().map(absolute).transpose()?,
        port: args.port,
        origin: args.origin.clone(),
    })
}

/// What would be written, and nothing else.
fn print(context: &Context, terms: &ServiceTerms) -> Came {
    #[derive(Serialize)]
    struct Draft {
        found: Found,
        text: String,
    }
    let draft = Draft { found: service::look()?, text: service::text(terms)? };
    context.out.answer(&draft, |out, draft| {
        out.whole(Tone::Faint, &plain(&draft.found.file.display().to_string()));
        draft.text.lines().for_each(|line| out.whole(Tone::Plain, &plain(line)));
    })?;
    Ok(exit::DONE)
}

/// Ends with 4 where the system could not be asked, so that a script knows that a person has something to do.
fn tell(context: &Context, came: &service::Came) -> Came {
    context.out.answer(came, |out, came| came.told.iter().for_each(|line| out.line(plain(line))))?;
    Ok(if came.carried_out { exit::DONE } else { exit::WAITING })
}

fn status(context: &Context) -> Came {
    #[derive(Serialize)]
    struct Status {
        found: Found,
        stands: Option<Stands>,
        keys: Option<String>,
    }
    let found = service::look()?;
    let is_ours = found.terms.as_ref().is_some_and(|terms| Path::new(&terms.store) == context.home.dir());
    let stands = found.terms.is_some().then(service::stands).transpose()?;
    let keys = found.terms.as_ref().filter(|_| is_ours).map(|terms| service::keys_told(&context.home, terms));
    let status = Status { found, stands, keys };
    context.out.answer(&status, |out, status| {
        let file = plain(&status.found.file.display().to_string());
        let Some(terms) = &status.found.terms else {
            return out.line(match status.found.is_there {
                true => format!("`{file}` is there, and Hermit did not write it."),
                false => "No service is installed. `hermit service install` does it.".to_owned(),
            });
        };
        let changed = if status.found.is_changed { ", changed by hand" } else { "" };
        out.line(format!("file     {file}{changed}"));
        let other = if is_ours { "" } else { ", not the store of this command" };
        out.line(format!("store    {}{other}", plain(&terms.store)));
        let gone = if Path::new(&terms.program).is_file() { "" } else { ", which is not there any more" };
        out.line(format!("program  {}{gone}", plain(&terms.program)));
        out.line(match &status.stands {
            Some(Stands::Runs) => "state    runs".to_owned(),
            Some(Stands::Ended(how)) => format!("state    {}", plain(how)),
            Some(Stands::Unknown(why)) => format!("state    not known: {}", plain(why)),
            None => "state    not known".to_owned(),
        });
        status.keys.iter().for_each(|keys| out.line(plain(keys)));
    })?;
    Ok(if matches!(status.stands, Some(Stands::Runs)) { exit::DONE } else { exit::OTHER })
}
