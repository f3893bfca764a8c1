//! Anchors: lists, the tasks that ask clocks, and which clocks are set.

use super::task::{channel, of_submitted};
use crate::convert::{opt, rows};
use crate::files::absolute;
use crate::{AnchorClocks, Host, Wire as _, fold, no_host, not_found, usage};
use kernel::anchor_registry::{AnchorRecord, AnchorRegistry, ClockRecord};
use kernel::command::anchors::ToAnchor;
use model::anchor::{AnchorClock, AnchorState, AnchorSubject};
use std::sync::Arc;
use wire::anchors::{
    Anchor, Anchors, AtClock, ClockSettings, Clocks, Complete, List, SetClocks, Show, Stamp, Submitted,
    Wallet, WalletState,
};
use wire::{Code, Error};

/// What a person does where nothing is set.
const HOW: &str = "set a clock with `hermit anchor clocks set`, such as `--calendar https://alice.btc.calendar.opentimestamps.org`; \
                   `hermit anchor clocks set --help` names more";

pub(crate) fn list(host: &dyn Host, p: List) -> Result<Anchors, Error> {
    let registry = registry(host)?;
    let before = match p.cursor.as_deref() {
        None => u64::MAX,
        Some(text) => text.parse().map_err(|_| usage("`cursor` is the one that a list ended with"))?,
    };
    let most = usize::try_from(rows(p.limit)?).unwrap_or(usize::MAX);
    let mut left = registry.all().rev().filter(|one| one.number < before);
    let anchors: Vec<Anchor> = left.by_ref().take(most).map(shown).collect();
    let is_more = left.next().is_some();
    let next = anchors.last().filter(|_| is_more).map(|last| last.number.to_string());
    Ok(Anchors { anchors, next })
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Anchor, Error> {
    registry(host)?.get(p.number).map(shown).ok_or_else(|| not_found("anchor", &p.number.to_string()))
}

pub(crate) fn stamp(host: &dyn Host, p: Stamp) -> Result<Submitted, Error> {
    let kernel = host.kernel()?;
    let is_paid = p.clocks.contains(&AnchorClock::OpReturn);
    let terms = set(host)?.terms(is_paid)?;
    if p.clocks.is_empty() && terms.free().is_empty() {
        return Err(usage("no clock is set that costs nothing, so there is nobody to ask").hint(HOW));
    }
    let what = p.link.map_or(ToAnchor::Head, ToAnchor::Link);
    let (channel, key) = (channel(p.channel.as_deref())?, host.fresh_key());
    let (_, made) = kernel.stamp_anchor(&terms, (what, &p.clocks), (channel, &key)).wire()?;
    driven(host, &made)
}

pub(crate) fn complete(host: &dyn Host, p: Complete) -> Result<Submitted, Error> {
    let kernel = host.kernel()?;
    let terms = set(host)?.terms(false)?;
    let (channel, key) = (channel(p.channel.as_deref())?, host.fresh_key());
    let made = kernel.complete_anchors(&terms, p.number, (channel, &key)).wire()?;
    driven(host, &made)
}

/// Has every task driven; the answer is the first, the others stand beside it in the anchor.
fn driven(host: &dyn Host, made: &[kernel::command::submit::Submitted]) -> Result<Submitted, Error> {
    for submitted in made {
        host.drive(submitted.task_id)?;
    }
    made.first().map(of_submitted).ok_or_else(|| Error::new(Code::Failed, "no clock was to be asked"))
}

pub(crate) fn clocks(host: &dyn Host, _: Clocks) -> Result<ClockSettings, Error> {
    set(host)?.settings()
}

pub(crate) fn set_clocks(host: &dyn Host, mut p: SetClocks) -> Result<ClockSettings, Error> {
    host.kernel()?;
    for_a_person(host, &p)?;
    for (what, named) in [("bitcoin_cookie", &mut p.bitcoin_cookie), ("headers_file", &mut p.headers_file)] {
        if let Some(path) = named.as_mut().filter(|path| !path.trim().is_empty()) {
            *path = absolute(what, path)?.display().to_string();
        }
    }
    let kept = set(host)?.set(&p)?;
    host.rouse();
    Ok(kept)
}

pub(crate) fn wallet(host: &dyn Host, _: Wallet) -> Result<WalletState, Error> {
    host.kernel()?;
    Ok(set(host)?.wallet())
}

/// What a person alone sets: whom a node's password is shown to, which files are read, and that heads are anchored by themselves.
fn for_a_person(host: &dyn Host, p: &SetClocks) -> Result<(), Error> {
    let of_node = p.bitcoin_node.is_some() || p.bitcoin_cookie.is_some() || p.bitcoin_secret.is_some();
    let by_itself = p.every_hours.is_some_and(|hours| hours > 0);
    if host.has_person() || !(of_node || p.headers_file.is_some() || by_itself) {
        return Ok(());
    }
    let says =
        "only a person sets a Bitcoin node, a file of headers, and that heads are anchored by themselves";
    Err(Error::new(Code::Forbidden, says).hint(
        "set it on a page that was opened from a terminal, or stop the process that holds the store and use \
         `hermit anchor clocks set` at a terminal",
    ))
}

fn set(host: &dyn Host) -> Result<&dyn AnchorClocks, Error> {
    host.anchor_clocks().ok_or_else(no_host)
}

fn registry(host: &dyn Host) -> Result<Arc<AnchorRegistry>, Error> {
    Ok(fold::store_state(&host.reader()?)?.anchors)
}

fn shown(record: &AnchorRecord) -> Anchor {
    let (of, size) = match &record.subject {
        AnchorSubject::Head { size, .. } => ("head", *size),
        AnchorSubject::Link { number } => ("link", *number),
    };
    Anchor {
        number: record.number,
        digest: record.digest.to_string(),
        of: of.to_owned(),
        size,
        requested_at: record.requested_at.0,
        clocks: record.clocks.iter().map(|(clock, one)| at_clock(*clock, one)).collect(),
        not_after: record.not_after().map(|at| at.0),
    }
}

fn at_clock(clock: AnchorClock, one: &ClockRecord) -> AtClock {
    AtClock {
        clock,
        state: one.state,
        at: one.at.clone(),
        says: says(one),
        not_after: one.not_after.map(|at| at.0),
        block_height: one.block.as_ref().map(|block| block.height),
        block_hash: one.block.as_ref().map(|block| block.hash.clone()),
        depth: one.block.as_ref().map(|block| block.depth),
        task_id: opt(one.asked_by),
        proof_sha256: opt(one.proof.as_ref().map(|proof| proof.sha256)),
    }
}

/// Why it failed, or what it waits for.
fn says(one: &ClockRecord) -> Option<String> {
    let waits = match (one.state, one.is_asked, one.stamped_at) {
        (AnchorState::Failed, ..) => return one.why.clone().or_else(|| Some("it failed".to_owned())),
        (AnchorState::Anchored, ..) => return one.why.clone(),
        (_, true, _) => "it is being asked, or waits for your yes",
        (AnchorState::Withdrawn, ..) => "the chain went another way: it is pending again",
        (AnchorState::Pending, false, None) => "it was not asked yet",
        (AnchorState::Pending, false, Some(_)) => "a block of Bitcoin is to hold it; that takes hours",
    };
    Some(match &one.why {
        Some(why) => format!("{waits}; the last time: {why}"),
        None => waits.to_owned(),
    })
}
