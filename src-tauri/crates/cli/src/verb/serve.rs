//! `hermit serve`: the host without a screen.

use super::Came;
use crate::args::{OpenArgs, ServeArgs};
use crate::context::Context;
use crate::other_programs;
use crate::output::Tone;
use host::{Interrupts, Local, Session, Unlock};
use std::sync::Arc;
use std::time::Duration;
use wire::host::{Resume, Serving, Status};
use wire::{Code, Error, exit};

/// How often it is looked at whether the store is free.
const LOOK: Duration = Duration::from_secs(1);

/// `hermit serve`.
pub fn serve(context: &Context, args: &ServeArgs) -> Came {
    if let Some(file) = &args.passphrase_file {
        host::name_passphrase_file(file.clone());
    }
    if args.service {
        return as_service(context, args);
    }
    let session = context.hosting()?;
    match session.local() {
        None if args.origin.is_some() => Err(Error::new(
            Code::Held,
            "Hermit is running already; its address for other devices is said when it begins",
        )
        .hint("end it, then run this again")),
        None => elsewhere(context, &session),
        Some(local) => {
            let came = stay(context, &session, &local, args, &Interrupts::watch_all());
            session.close();
            came
        }
    }
}

/// As the system runs it: takes the store as soon as no other process has it, such as an app whose window was closed.
fn as_service(context: &Context, args: &ServeArgs) -> Came {
    let interrupts = Interrupts::watch_all();
    let mut is_told = false;
    loop {
        // A folder that is not there, such as one of a disk that is not mounted, gets no store of its own.
        if !context.home.has_store() {
            return Err(api::no_store(&context.home.dir().display().to_string()));
        }
        // Others may read it since the service was installed: then nothing it opens is safe.
        host::service::check_named_passphrase_file(&context.home)?;
        if !host::service::is_held(&context.home) {
            match context.hosting() {
                Ok(session) => {
                    if let Some(local) = session.local() {
                        let came = stay(context, &session, &local, args, &interrupts);
                        session.close();
                        return came;
                    }
                }
                Err(error) if error.code == Code::Held => {}
                Err(error) => return Err(error),
            }
        }
        if !is_told {
            context.out.line("Another process has the store; this one waits until it ends.");
            is_told = true;
        }
        if interrupts.wait_for(LOOK) {
            return Ok(exit::DONE);
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

fn stay(
    context: &Context,
    session: &Session,
    local: &Arc<Local>,
    args: &ServeArgs,
    interrupts: &Interrupts,
) -> Came {
    let address = local.serve_as(args.port, args.origin.as_deref()).map_err(host::Error::to_wire)?;
    session.be_host();
    // Everything that can go on does, unless Hermit is halted; from here on the clock takes up what is due.
    let resumed = session.call(&Resume {})?.tasks;
    let serving = Serving {
        pid: std::process::id(),
        address: address.to_string(),
        // What a service says stands in a journal that others may read.
        url: if args.service { String::new() } else { link(context, session)? },
        here: true,
        tasks: resumed,
    };
    context.out.answer(&serving, |out, serving| {
        out.say(
            Tone::Bold,
            format!("Hermit is running for {} at http://{}", context.home.dir().display(), serving.address),
        );
        if !args.service {
            out.line("Open this link in a browser on this machine. It works once, within ten minutes:");
            out.line(format!("  {}", serving.url));
        }
        out.line("Other `hermit` commands of yours use it by themselves. `hermit open` makes a new link.");
        if let Some(origin) = &args.origin {
            out.line(format!(
                "For other devices it is {origin}, where that name leads to this machine. `hermit open --phone` makes a link."
            ));
        }
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
pub fn open(context: &Context, args: &OpenArgs) -> Came {
    let session = Session::attach(&context.home, &Unlock::Environment);
    let session = session.ok_or_else(|| {
        Error::new(Code::NoHost, "Hermit is not running")
            .hint("start it with `hermit serve`, or open the app")
    })?;
    if args.phone {
        return phone(context, &session);
    }
    let link = link(context, &session)?;
    context.out.answer(&serde_json::json!({ "link": link }), |out, _| {
        out.line("Open this link in a browser on this machine. It works once, within ten minutes:");
        out.line(&link);
    })?;
    browse(context, &link);
    Ok(exit::DONE)
}

/// A link for a device elsewhere, and the same for its camera.
fn phone(context: &Context, session: &Session) -> Came {
    if context.terminal.is_none() {
        return Err(Error::new(Code::Forbidden, "a link for another device is shown at a terminal only")
            .hint("run it in a terminal, in the foreground"));
    }
    let link = session.link_elsewhere()?;
    context.out.answer(&serde_json::json!({ "link": link }), |out, _| {
        out.line("Open this link on your phone. It works once, within five minutes:");
        out.line(&link);
        code(&link).iter().for_each(|row| out.whole(Tone::Plain, row));
    })?;
    Ok(exit::DONE)
}

/// A text for a camera, two rows of squares in one of characters; light is drawn, as most terminals are dark.
fn code(text: &str) -> Vec<String> {
    let rows = host::squares(text).unwrap_or_default();
    let narrow = crate::terminal::columns().is_some_and(|columns| columns < rows.len());
    let pairs = rows.chunks(2).filter(|_| !narrow);
    let line = |pair: &[Vec<bool>]| {
        let (upper, lower) = (pair.first(), pair.get(1));
        let width = upper.map_or(0, Vec::len);
        let is_light = |row: Option<&Vec<bool>>, at: usize| {
            row.is_some_and(|row| row.get(at).is_some_and(|is_dark| !is_dark))
        };
        let square = |at: usize| match (is_light(upper, at), is_light(lower, at)) {
            (true, true) => '\u{2588}',
            (true, false) => '\u{2580}',
            (false, true) => '\u{2584}',
            (false, false) => ' ',
        };
        (0..width).map(square).collect::<String>()
    };
    pairs.map(line).collect()
}

/// Opens an address in the person's browser, at a terminal with a display. Where there is none it stands above.
pub(super) fn browse(context: &Context, address: &str) {
    if other_programs::has_display() && context.terminal.is_some() {
        let _ = other_programs::browser(address).status();
    }
}
