//! `hermit serve`: the host without a screen.

use super::Came;
use crate::args::ServeArgs;
use crate::context::Context;
use crate::output::Tone;
use host::{Interrupts, Local, Session, Unlock};
use std::sync::Arc;
use wire::host::{Resume, Serving, Status};
use wire::{Code, Error, exit};

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
        url: link(context, session)?,
        here: false,
        tasks: Vec::new(),
    };
    context.out.answer(&serving, |out, serving| {
        out.line(format!(
            "Hermit is running already (process {}), at http://{}",
            serving.pid, serving.address
        ));
        out.line(format!("  {}", serving.url));
        out.say(Tone::Faint, "  The link works once, within ten minutes.");
    })?;
    Ok(exit::DONE)
}

fn stay(context: &Context, session: &Session, local: &Arc<Local>, port: Option<u16>) -> Came {
    let interrupts = Interrupts::watch_all();
    let address = local.serve(port).map_err(host::Error::to_wire)?;
    // Everything that can go on does, unless Hermit is halted; from here on the clock takes up what is due.
    let resumed = session.call(&Resume {})?.tasks;
    let serving = Serving {
        pid: std::process::id(),
        address: address.to_string(),
        url: link(context, session)?,
        here: true,
        tasks: resumed,
    };
    context.out.answer(&serving, |out, serving| {
        out.say(
            Tone::Bold,
            format!("Hermit is running for {} at http://{}", context.home.dir().display(), serving.address),
        );
        out.line("Open this link in a browser on this machine. It works once, within ten minutes:");
        out.line(format!("  {}", serving.url));
        out.line("Other `hermit` commands of yours use it by themselves. `hermit open` makes a new link.");
        match local.keys().keys() {
            Some(_) => {}
            None if context.home.has_keys() => {
                out.say(
                    Tone::Warn,
                    "Keys: locked. Nothing can be approved until you unlock them, on the page or with `hermit unlock`.",
                );
            }
            None => {
                out.say(
                    Tone::Warn,
                    "Keys: none. Nothing can be approved until you make them, on the first page or with `hermit keys init`.",
                );
            }
        }
        match serving.tasks.len() {
            0 => {}
            1 => out.line("1 interrupted task was resumed"),
            n => out.line(format!("{n} interrupted tasks were resumed")),
        }
        out.say(Tone::Faint, "Ctrl-C ends it. Running tasks pause and continue next time.");
    })?;
    interrupts.wait();
    context.out.note("Ending. Nothing is lost. Press Ctrl-C again to leave at once.");
    local.wind_down();
    Ok(exit::DONE)
}

/// A link for a browser; at a terminal one whose page may make and open keys.
fn link(context: &Context, session: &Session) -> Result<String, Error> {
    if context.terminal.is_some() { session.link_at_terminal() } else { session.link() }
}

/// `hermit open`: a fresh link, and the browser where there is a display.
pub fn open(context: &Context) -> Came {
    let session = Session::attach(&context.home, &Unlock::Environment);
    let session = session.ok_or_else(|| {
        Error::new(Code::NoHost, "Hermit is not running")
            .hint("start it with `hermit serve`, or open the app")
    })?;
    let link = link(context, &session)?;
    context.out.answer(&serde_json::json!({ "link": link }), |out, _| {
        out.line("Open this link in a browser on this machine. It works once, within ten minutes:");
        out.line(&link);
    })?;
    browse(context, &link);
    Ok(exit::DONE)
}

/// Opens an address in the person's browser, at a terminal with a display. Where there is none it stands above.
pub(super) fn browse(context: &Context, address: &str) {
    let shown = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let opener = if cfg!(target_os = "macos") { Some("open") } else { shown.then_some("xdg-open") };
    if let Some(opener) = opener.filter(|_| context.terminal.is_some()) {
        let _ = std::process::Command::new(opener).arg(address).status();
    }
}
