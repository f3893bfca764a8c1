//! `hermit anchor`.

use super::Came;
use super::run::{rejoin, take_up};
use crate::args::{AnchorNow, AnchorVerb, ClocksSet, ClocksVerb};
use crate::context::{Context, Signs, absolute};
use crate::live::Live;
use crate::output::{Output, Tone, table};
use crate::text::{capital, count, plain, time};
use host::Session;
use std::collections::BTreeSet;
use std::path::Path;
use wire::anchors::{
    Anchor, Anchors, AtClock, ClockSettings, Clocks, Complete, List, SetClocks, Show, Stamp, Submitted,
    Wallet, WalletState,
};
use wire::{Error, exit};
use words::identity::AnchorState;

/// `hermit anchor`.
pub fn anchor(context: &Context, verb: AnchorVerb) -> Came {
    match verb {
        AnchorVerb::Now(args) => now(context, args),
        AnchorVerb::Status { limit } => {
            let listed = context.reading()?.call(&List { cursor: None, limit })?;
            context.out.answer(&listed, listed_in_words)?;
            Ok(exit::DONE)
        }
        AnchorVerb::Show { number } => {
            let shown = context.reading()?.call(&Show { number })?;
            context.out.answer(&shown, shown_in_words)?;
            Ok(exit::DONE)
        }
        AnchorVerb::Complete { number } => {
            let complete = Complete { number, channel: Some("cli".to_owned()) };
            stay_with_all(context, |session| session.call(&complete))
        }
        AnchorVerb::Clocks { verb: None } => {
            let set = context.reading()?.call(&Clocks {})?;
            context.out.answer(&set, clocks_in_words)?;
            Ok(exit::DONE)
        }
        AnchorVerb::Clocks { verb: Some(ClocksVerb::Set(args)) } => set(context, args),
        AnchorVerb::Wallet => {
            let session = context.writing(Signs::No)?;
            let held = session.call(&Wallet {});
            session.close();
            context.out.answer(&held?, wallet_in_words)?;
            Ok(exit::DONE)
        }
    }
}

fn now(context: &Context, args: AnchorNow) -> Came {
    let stamp = Stamp { clocks: args.clocks, link: args.link, channel: Some("cli".to_owned()) };
    stay_with_all(context, |session| session.call(&stamp))
}

/// Asks for tasks, stays with each, and shows the anchors that they are about.
fn stay_with_all(context: &Context, ask: impl FnOnce(&Session) -> Result<Submitted, Error>) -> Came {
    let session = context.writing(Signs::Yes)?;
    take_up(context, &session);
    let done = stay_with_each(context, &session, ask);
    session.close();
    done
}

fn stay_with_each(
    context: &Context,
    session: &Session,
    ask: impl FnOnce(&Session) -> Result<Submitted, Error>,
) -> Came {
    let newest = List::default();
    let before = tasks_of(&session.call(&newest)?.anchors);
    let heard = session.listen();
    let first = ask(session)?.task_id;
    let mut tasks = tasks_of(&session.call(&newest)?.anchors);
    tasks.retain(|task| !before.contains(task) && *task != first);
    let (mut code, mut heard) = (exit::DONE, heard);
    for task in std::iter::once(&first).chain(&tasks) {
        let live = Live::new(context, session, task, heard.take().or_else(|| session.listen()))?;
        code = code.max(rejoin(context, session, task, live)?);
    }
    let mut listed = session.call(&newest)?;
    let is_asked = |one: &AtClock| one.task_id.as_ref().is_some_and(|id| *id == first || tasks.contains(id));
    listed.anchors.retain(|anchor| anchor.clocks.iter().any(is_asked));
    context
        .out
        .answer(&listed, |out, listed| listed.anchors.iter().for_each(|one| shown_in_words(out, one)))?;
    Ok(code)
}

/// The tasks that ask clocks about these anchors.
fn tasks_of(anchors: &[Anchor]) -> BTreeSet<String> {
    anchors.iter().flat_map(|one| &one.clocks).filter_map(|one| one.task_id.clone()).collect()
}

fn set(context: &Context, args: ClocksSet) -> Came {
    let place = |path: String| if path.is_empty() { Ok(path) } else { absolute(Path::new(&path)) };
    let wanted = SetClocks {
        authorities: args.authorities,
        calendars: args.calendars,
        bitcoin_node: args.bitcoin_node,
        bitcoin_cookie: args.bitcoin_cookie.map(place).transpose()?,
        bitcoin_secret: args.bitcoin_secret,
        headers_file: args.headers_file.map(place).transpose()?,
        depth: args.depth,
        every_hours: args.every_hours,
    };
    let session = context.writing(Signs::No)?;
    let kept = session.call(&wanted);
    session.close();
    context.out.answer(&kept?, clocks_in_words)?;
    Ok(exit::DONE)
}

fn listed_in_words(out: &Output, listed: &Anchors) {
    if listed.anchors.is_empty() {
        out.line("Nothing of this log is anchored. `hermit anchor now` anchors its newest head.");
        return;
    }
    let row = |one: &Anchor| {
        let stands = one.clocks.iter().map(|at| format!("{}: {}", at.clock, at.state)).collect::<Vec<_>>();
        vec![one.number.to_string(), time(one.requested_at), of(one), stands.join(", ")]
    };
    table(out, &["anchor", "asked for", "of", ""], &listed.anchors.iter().map(row).collect::<Vec<_>>());
    if listed.next.is_some() {
        out.say(Tone::Faint, "there are older ones; --limit shows more");
    }
}

/// What an anchor is of.
fn of(one: &Anchor) -> String {
    match one.of.as_str() {
        "link" => format!("link {} of the identity", one.size),
        _ => format!("the head with {}", count(usize::try_from(one.size).unwrap_or(usize::MAX), "note")),
    }
}

fn shown_in_words(out: &Output, one: &Anchor) {
    out.say(Tone::Bold, format!("anchor {}, of {}", one.number, of(one)));
    out.line(format!("  asked for {}, digest {}", time(one.requested_at), one.digest));
    for at in &one.clocks {
        let tone = match at.state {
            AnchorState::Anchored => Tone::Good,
            AnchorState::Pending => Tone::Faint,
            AnchorState::Withdrawn | AnchorState::Failed => Tone::Warn,
        };
        let asked =
            if at.at.is_empty() { String::new() } else { format!(" at {}", plain(&at.at.join(", "))) };
        out.say(tone, format!("  {}{asked}: {}", at.clock, at.state));
        if let (Some(height), Some(hash), Some(depth)) = (at.block_height, &at.block_hash, at.depth) {
            out.line(format!("    block {height}, {}, {} deep when it was looked at", plain(hash), depth));
        }
        if let Some(says) = &at.says {
            out.line(format!("    {}", capital(&plain(says))));
        }
    }
    match one.not_after {
        Some(at) => out.line(format!("  proven: it was there by {}", time(at))),
        None => out.line("  nothing is proven yet"),
    }
}

fn clocks_in_words(out: &Output, set: &ClockSettings) {
    let all = |urls: &[String]| match urls {
        [] => "none".to_owned(),
        some => plain(&some.join(", ")),
    };
    out.line(format!("time-stamp authorities: {}", all(&set.authorities)));
    out.line(format!("calendars: {}", all(&set.calendars)));
    out.line(format!("Bitcoin node: {}", set.bitcoin_node.as_deref().map_or("none".to_owned(), plain)));
    if set.bitcoin_node.is_some() {
        out.line(match (set.has_bitcoin_cookie, set.has_bitcoin_secret) {
            (true, _) => "  it is shown its cookie file",
            (false, true) => "  it is shown a secret",
            (false, false) => "  neither its cookie file nor a secret is set: it lets nobody in",
        });
    } else {
        out.line(format!("file of headers: {}", if set.has_headers_file { "set" } else { "none" }));
    }
    let blocks = count(usize::try_from(set.depth).unwrap_or(usize::MAX), "block");
    out.line(format!("a head counts as anchored when {blocks} of Bitcoin stand, its own among them"));
    match set.every_hours {
        0 => out.line("no head is anchored by itself"),
        hours => {
            let hours = count(usize::try_from(hours).unwrap_or(usize::MAX), "hour");
            out.line(format!("a head is anchored by itself every {hours} while Hermit is open"));
        }
    }
    if set.authorities.is_empty() && set.calendars.is_empty() && set.bitcoin_node.is_none() {
        out.note("No clock is set. `hermit anchor clocks set --help` names some.");
    }
}

fn wallet_in_words(out: &Output, held: &WalletState) {
    let satoshi = |amount: Option<u64>| amount.map_or("not known".to_owned(), |sum| format!("{sum} satoshi"));
    out.line(format!("address: {}", held.address.as_deref().map_or("not known".to_owned(), plain)));
    out.line(format!("holds: {}", satoshi(held.balance)));
    out.line(format!("an anchor would cost: {}", satoshi(held.fee)));
    if let Some(says) = &held.says {
        out.say(Tone::Warn, plain(says));
    }
}
