//! `hermit serve`: the host without a screen.

use super::Came;
use crate::args::ServeArgs;
use crate::context::Context;
use crate::output::Tone;
use host::{Interrupts, Local, Session};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::host::{Resume, Serving, Status};
use wire::{Error, exit};

/// How often it is looked whether this process shall end.
const LOOK: Duration = Duration::from_millis(100);
/// How often everything that can go on is taken up: approvals lapse, and deadlines pass, by time alone.
const ROUND: Duration = Duration::from_secs(30);

/// `hermit serve`.
pub fn serve(context: &Context, args: &ServeArgs) -> Came {
    let session = context.hosting()?;
    match session.local() {
        None => elsewhere(context, &session),
        Some(local) => {
            let came = stay(context, &session, &local, args.port);
            session.close();
            came
        }
    }
}

/// Another process serves this store: its link is as good as ours.
fn elsewhere(context: &Context, session: &Session) -> Came {
    let held_by = session.call(&Status {})?.held_by;
    let serving = Serving {
        pid: held_by.map_or(0, |holder| holder.pid),
        address: session.address().unwrap_or_default(),
        url: session.link()?,
        here: false,
        tasks: Vec::new(),
    };
    context.out.answer(&serving, |out, serving| {
        out.line(format!("process {} serves this store already, at http://{}", serving.pid, serving.address));
        out.line(format!("  {}", serving.url));
        out.say(Tone::Faint, "  the link works once, within ten minutes");
    })?;
    Ok(exit::DONE)
}

fn stay(context: &Context, session: &Session, local: &Arc<Local>, port: Option<u16>) -> Came {
    let interrupts = Interrupts::watch_all();
    let address = local.serve(port).map_err(host::Error::to_wire)?;
    let resumed = go_on(session)?;
    let serving = Serving {
        pid: std::process::id(),
        address: address.to_string(),
        url: session.link()?,
        here: true,
        tasks: resumed,
    };
    context.out.answer(&serving, |out, serving| {
        out.say(
            Tone::Bold,
            format!("Hermit serves {} at http://{}", context.home.dir().display(), serving.address),
        );
        out.line("Open in a browser on this machine; the link works once, within ten minutes:");
        out.line(format!("  {}", serving.url));
        out.line("Other programs of yours attach by themselves: `hermit run`, `hermit approvals approve`, …");
        match serving.tasks.len() {
            0 => {}
            1 => out.line("1 interrupted task goes on"),
            n => out.line(format!("{n} interrupted tasks go on")),
        }
        out.say(
            Tone::Faint,
            "Ctrl-C ends it; work leaves off where it is, and the next host goes on with it",
        );
    })?;
    let mut round = Instant::now();
    while !interrupts.pressed() {
        std::thread::sleep(LOOK);
        if round.elapsed() >= ROUND {
            round = Instant::now();
            go_on(session)?;
        }
    }
    context.out.note("ending; press Ctrl-C again to leave at once (nothing is lost)");
    local.wind_down();
    Ok(exit::DONE)
}

/// Everything that can go on does, unless Hermit is halted.
fn go_on(session: &Session) -> Result<Vec<String>, Error> {
    Ok(session.call(&Resume {})?.tasks)
}
