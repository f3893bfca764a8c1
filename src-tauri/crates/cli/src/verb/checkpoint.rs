//! `hermit checkpoint`: signed heads of the log, kept where this machine does not reach.

use super::Came;
use super::keyring::approval_passphrase;
use crate::args::CheckpointVerb;
use crate::context::{Context, Signs};
use crate::output::Tone;
use crate::terminal::{Echo, Typed};
use crate::text::plain;
use host::{Config, Local, Session};
use std::path::Path;
use wire::ledger::{Compare, Compared, Head};
use wire::{Code, Error, exit};
use words::store::HeadStanding;

/// `hermit checkpoint`.
pub fn checkpoint(context: &Context, verb: CheckpointVerb) -> Came {
    match verb {
        CheckpointVerb::Export { output } => export(context, output.as_deref()),
        CheckpointVerb::Compare { file, trust } => compare(context, &file, &trust),
        CheckpointVerb::Witness(args) => super::witness::ask(context, &args),
        CheckpointVerb::Accept { yes, approval_passphrase_fd } => {
            accept(context, yes, approval_passphrase_fd)
        }
    }
}

fn export(context: &Context, output: Option<&Path>) -> Came {
    let head = context.reading()?.call(&Head {})?;
    let Some(path) = output else {
        context.out.answer(&head, |out, head| out.line(head.note.trim_end()))?;
        return Ok(exit::DONE);
    };
    let failed = |e: std::io::Error| {
        Error::new(Code::Failed, format!("`{}` cannot be written: {e}", path.display()))
            .hint("name a new file")
    };
    let mut draft = disk::Draft::beside(path).map_err(failed)?;
    std::io::Write::write_all(draft.file(), head.note.as_bytes())
        .and_then(|()| draft.create())
        .map_err(failed)?;
    context.out.answer(&head, |out, head| {
        out.line(format!("{}  {} notes, root {}", path.display(), head.size, head.root));
        out.line("keep it elsewhere; `hermit checkpoint compare` shows later that history was only added to");
    })?;
    Ok(exit::DONE)
}

fn compare(context: &Context, file: &Path, trust: &[String]) -> Came {
    let note = std::fs::read_to_string(file).map_err(|e| {
        Error::new(Code::Usage, format!("`{}` cannot be read: {e}", file.display()))
            .hint("name a signed head")
    })?;
    let compared = context.reading()?.call(&Compare { note, keys: super::proof::trusted(trust)? })?;
    context.out.answer(&compared, |out, c| {
        let tone = match c.standing {
            HeadStanding::Consistent => Tone::Good,
            HeadStanding::Forked => Tone::Bad,
            HeadStanding::Older | HeadStanding::Unusable => Tone::Warn,
        };
        out.say(tone, format!("{}: {}", c.standing, plain(&c.reason)));
        if c.standing == HeadStanding::Consistent && !c.proof.is_empty() {
            out.line("proof (RFC 9162, from that head to the newest signed one here):");
            c.proof.iter().for_each(|hash| out.line(format!("  {hash}")));
        }
        if c.standing == HeadStanding::Forked
            && let Some(head) = &c.head
        {
            out.line("the head signed here:");
            out.line(head.trim_end());
        }
    })?;
    Ok(ends(&compared))
}

fn ends(compared: &Compared) -> u8 {
    match compared.standing {
        HeadStanding::Consistent => exit::DONE,
        HeadStanding::Older => exit::INCOMPLETE,
        HeadStanding::Forked => exit::INVALID,
        HeadStanding::Unusable => exit::UNVERIFIABLE,
    }
}

/// A person takes up a store that is behind its pin.
fn accept(context: &Context, yes: bool, fd: Option<i32>) -> Came {
    context.reading()?;
    let config = Config::in_force(&context.home);
    let Some(older) = host::older(&context.home, &config)? else {
        return Err(Error::new(
            Code::Conflict,
            "this store is consistent with every head that was kept of it",
        )
        .hint("there is nothing to accept"));
    };
    if !context.out.is_json() {
        context.out.say(Tone::Warn, plain(&older.told()));
    }
    if !yes {
        let Some(terminal) = &context.terminal else {
            return Err(Error::new(Code::Usage, "only a person accepts this, and nobody is here to ask")
                .hint("say it with `--yes` and `--approval-passphrase-fd N`"));
        };
        terminal.arm();
        terminal.print(
            "What came after is lost here, and the log will say for ever that you went on without it.\r\n",
        );
        match terminal.ask("Type `accept` to go on: ", Echo::Shown)? {
            Typed::Line(line) if line.trim() == "accept" => {}
            _ => return Err(Error::new(Code::Cancelled, "nothing was changed")),
        }
    }
    let words = approval_passphrase(context, fd)?;
    let unlock = context.unlock(Signs::Yes)?;
    let local =
        Local::accept_older(context.home.clone(), &unlock, &older, &words).map_err(host::Error::to_wire)?;
    let session = Session::of(local);
    let head = session.call(&Head {});
    session.close();
    context.out.answer(&head?, |out, head| {
        out.say(Tone::Good, "accepted: this store goes on from here");
        out.line(format!(
            "its head signs for {} notes; the head it was behind is kept beside the store",
            head.size
        ));
    })?;
    Ok(exit::DONE)
}
