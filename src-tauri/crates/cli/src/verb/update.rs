//! `hermit update`: a release at hand takes the place of the program at work.

use super::Came;
use super::keyring::approval_passphrase;
use crate::args::{UpdateBack, UpdateRelease, UpdateVerb};
use crate::context::Context;
use crate::output::{Output, Tone};
use crate::terminal::{Echo, Terminal, Typed};
use crate::text::{plain, time};
use host::updates::{self, Checked, Package, Purpose, Standing, Update, Word};
use std::path::Path;
use wire::{Code, Error, exit};

/// `hermit update`.
pub fn update(context: &Context, verb: UpdateVerb) -> Came {
    match verb {
        UpdateVerb::Check(args) => {
            let checked = checked(context, &args)?;
            tell_checked(context, &checked)?;
            Ok(checked.report.exit_code())
        }
        UpdateVerb::Apply(args) => apply(context, &args),
        UpdateVerb::Back(args) => back(context, &args),
        UpdateVerb::Show => {
            let standing = updates::standing(&context.home).map_err(host::Error::to_wire)?;
            context.out.answer(&standing, tell_standing)?;
            Ok(exit::DONE)
        }
    }
}

fn checked(context: &Context, args: &UpdateRelease) -> Result<Checked, Error> {
    updates::check(&context.home, &args.release, args.key.as_deref())
}

fn tell_checked(context: &Context, checked: &Checked) -> Result<(), Error> {
    context.out.answer(checked, |out, checked| {
        let report = checked.report.to_string();
        let tone = if checked.is_valid() { Tone::Plain } else { Tone::Bad };
        report.trim_end().lines().for_each(|line| out.say(tone, plain(line)));
        if !checked.is_valid() {
            let pinned = if checked.is_pinned { ", which you pinned" } else { "" };
            out.line(format!("checked with the key {}{pinned}", checked.checked_with));
            out.line(format!("version {} stays at work; nothing was installed", plain(&checked.at_work)));
        }
        tell_package(out, checked.package.as_ref());
    })
}

/// What a package manager owns is renewed by it alone.
fn tell_package(out: &Output, package: Option<&Package>) {
    let Some(package) = package else { return };
    let program = plain(&package.program.display().to_string());
    let owned = format!(
        "`{program}` is of a package of your system (`{}`), which Hermit does not write.",
        package.manager
    );
    match &package.command {
        Some(command) => {
            out.line(format!("{owned} To renew the package as well:"));
            out.whole(Tone::Plain, &plain(command));
        }
        None => out.line(format!("{owned} This release has no package of its kind.")),
    }
}

/// The terminal of the person who is asked.
fn person<'a>(context: &'a Context, what: &str) -> Result<&'a Terminal, Error> {
    context.terminal.as_ref().ok_or_else(|| {
        Error::new(Code::Usage, format!("only a person {what}, and nobody is here to ask"))
            .hint("run this at a terminal, without `--json` and `--no-input`")
    })
}

fn apply(context: &Context, args: &UpdateRelease) -> Came {
    let checked = checked(context, args)?;
    if !checked.is_valid() {
        tell_checked(context, &checked)?;
        return Ok(checked.report.exit_code());
    }
    updates::ready(&context.home)?;
    let terminal = person(context, "updates Hermit")?;
    tell_checked(context, &checked)?;
    let version = checked.report.release.as_ref().map_or("", |found| found.made_of.version.as_str());
    let (new, old) = (plain(version), plain(&checked.at_work));
    let store = plain(&context.home.dir().display().to_string());
    context.out.line("");
    context
        .out
        .say(Tone::Bold, format!("Version {new} takes the place of {old} for the store in `{store}`."));
    context.out.line(format!(
        "The log of the store is copied first, and {old} is kept. Where {new} does not come up, {old} continues."
    ));
    context.out.line(
        "Its first start may take minutes on a busy machine or with a long log. It is waited for: ten minutes from step to step, \
         fifty in all, and longer where the log is long.",
    );
    terminal.arm();
    if !checked.is_pinned {
        named(terminal, &checked)?;
    }
    let words = approval_passphrase(context, None)?;
    let update = updates::apply(&context.home, &checked, &words)?;
    Ok(tell_update(&context.out, &update, &old))
}

/// With the first update a person names the key by its fingerprint, and it is pinned.
fn named(terminal: &Terminal, checked: &Checked) -> Result<(), Error> {
    terminal.print("No key is pinned yet. The key of this release is pinned with this update.\r\n");
    match terminal.ask("Type its fingerprint or its id, as its makers publish it: ", Echo::Shown)? {
        Typed::Line(line) if checked.is_key(line.trim()) => Ok(()),
        Typed::Line(line) if !line.trim().is_empty() => {
            Err(Error::new(Code::Refused, "this release is signed by another key; nothing was changed")
                .hint("take the key from where its makers publish it, and check the release again"))
        }
        _ => Err(Error::new(Code::Cancelled, "no fingerprint was typed; nothing was changed")),
    }
}

fn tell_update(out: &Output, update: &Update, old: &str) -> u8 {
    let new = plain(&update.version);
    let code = match (&update.failed, update.healthy) {
        (Some(why), _) => {
            out.say(Tone::Bad, format!("Version {new} did not come up: {}", plain(why)));
            match update.format.filter(|format| *format > update.format_before) {
                Some(format) => out.line(format!(
                    "It brought the store to format {format} before that, which {old} may not read."
                )),
                None => out.line(format!("Version {old} continues, as before.")),
            }
            exit::OTHER
        }
        (None, true) => {
            out.say(Tone::Good, format!("Version {new} is at work from now on."));
            out.line("`hermit update back` goes back to the one before.");
            exit::DONE
        }
        (None, false) => {
            out.say(
                Tone::Warn,
                format!("Version {new} is installed. The next start asks whether it comes up."),
            );
            exit::WAITING
        }
    };
    if update.failed.is_none() {
        match &update.app {
            Some(app) => out.line(format!("Its app is kept beside it: {}.", plain(&updates::in_words(app)))),
            None => out.line("It brought no app for this machine; one that is installed goes on."),
        }
    }
    if let Some(copy) = &update.copy {
        // Where what did not come up left the format as it was, going back is about the update before it.
        let restores = update.failed.is_none() || update.format != Some(update.format_before);
        tell_copy(out, copy, restores);
    }
    code
}

fn tell_copy(out: &Output, copy: &Path, restores: bool) {
    out.line(match restores {
        true => {
            "The log of the store as it was before lies here; `hermit update back --restore` puts it back:"
        }
        false => "The log of the store as it was before lies here:",
    });
    out.whole(Tone::Plain, &plain(&copy.display().to_string()));
}

fn back(context: &Context, args: &UpdateBack) -> Came {
    let plan = updates::plan(&context.home, args.restore)?;
    let terminal = person(context, "goes back from an update")?;
    let to = plain(&plan.to);
    if let Some(from) = &plan.from {
        context.out.line(format!("Version {to} takes the place of {}.", plain(from)));
    }
    if let Some(copy) = &plan.copy {
        context.out.say(
            Tone::Warn,
            "The store is set back to its copy. What was done since is not in it, and is kept beside it:",
        );
        context.out.whole(Tone::Plain, &plain(&copy.display().to_string()));
    }
    terminal.arm();
    let went = if context.home.has_approval_key() {
        let words = approval_passphrase(context, None)?;
        updates::back(&context.home, &plan, Word::Approval(&words))?
    } else {
        updates::back(&context.home, &plan, Word::Version(&version(terminal, &to)?))?
    };
    context.out.answer(&went, |out, went| {
        out.say(Tone::Good, format!("Version {} is at work.", plain(&went.to)));
        if let Some(aside) = &went.aside {
            out.line(format!("The newer log lies at `{}`.", plain(&aside.display().to_string())));
            out.line("This store is older than its last signed head. `hermit checkpoint accept` continues with it.");
        }
    })?;
    Ok(exit::DONE)
}

/// Without an approval key a person types which version is started then.
fn version(terminal: &Terminal, to: &str) -> Result<String, Error> {
    terminal.print("This store has no approval key here, so its passphrase cannot be asked for.\r\n");
    match terminal.ask(&format!("Type the version to go back to, which is {to}: "), Echo::Shown)? {
        Typed::Line(line) if !line.trim().is_empty() => Ok(line.trim().to_owned()),
        _ => Err(Error::new(Code::Cancelled, "no version was typed; nothing was changed")),
    }
}

fn tell_standing(out: &Output, standing: &Standing) {
    out.line(format!("at work     {}", plain(&standing.at_work)));
    out.line(format!("installed   {}, for {}", plain(&standing.installed), standing.system));
    let key = standing.key.as_deref().map_or_else(|| "none is pinned yet".to_owned(), plain);
    out.line(format!("key         {key}"));
    for (what, update) in [("update", &standing.now), ("before it", &standing.before)] {
        let Some(update) = update else { continue };
        let stands = match (&update.failed, update.healthy) {
            (Some(why), _) => format!("not started any more: {}", plain(why)),
            (None, true) => "came up".to_owned(),
            (None, false) => "not started yet".to_owned(),
        };
        out.line(format!("{what:<11} {}, {}: {stands}", plain(&update.version), time(update.at)));
        if let Some(app) = update.app.as_ref().filter(|_| update.failed.is_none()) {
            out.line(format!("  its app   {}", plain(&updates::in_words(app))));
        }
    }
    if let Some(one) = &standing.at_hand {
        let (version, release) = (plain(&one.version), plain(&one.release.display().to_string()));
        out.line(format!("checked     {version}, which is newer, in `{release}`"));
    }
    if let Some(format) = standing.format.filter(|format| *format > standing.format_known) {
        let known = standing.format_known;
        out.say(
            Tone::Warn,
            format!("The store has format {format}, and the installed program reads up to {known}."),
        );
    }
    for copy in &standing.copies {
        out.line(format!("copy        {}", plain(&copy.path.display().to_string())));
        out.line(format!("            {}", kept_for(copy.purpose)));
    }
}

const fn kept_for(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::WayBack => "kept for the way back from an update",
        Purpose::LeftOver => "left by an update that was broken off; the next update removes it",
        Purpose::Older => "from before an earlier update; kept until you remove it",
        Purpose::SetAside => "set aside when you went back; kept until you remove it",
    }
}
