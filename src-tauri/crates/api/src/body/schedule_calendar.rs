//! The times of schedules in a month or a span: what became of each, and which are to come (schedule.md 1).

use super::schedules::{known, zone};
use crate::{Host, Wire as _, fold, usage};
use kernel::schedule_registry::ScheduleRecord;
use ledger::Reader;
use model::artifact::ArtifactRef;
use model::schedule::{
    ChangedFile, DueSlot, FileChange, MachineEvent, PassedOver, ScheduleState, SeenChange, Settled,
};
use model::{Body, TaskId, UnixMs};
use projections::Query;
use std::collections::BTreeMap;
use wire::Error;
use wire::schedules::{Calendar, TimeEntry, Times};
use words::schedule::SlotState;

/// The longest span.
const SPAN_MS_MAX: i64 = 62 * 86_400_000;
/// Times that are told at once.
const ENTRIES_MAX: usize = 2_000;
/// Schedules that are looked at.
const SCHEDULES_MAX: usize = 200;
/// Events of a schedule's stream that are read at once, the newest first.
const PAGE: u64 = 200;
/// Pages of it that are read, at most.
const PAGES_MAX: u32 = 60;
/// Files that are named of those that changed.
const FILES_TOLD: usize = 3;
/// Characters by which a commit is told.
const COMMIT_CHARS: usize = 7;

/// A span: from an instant until another, without that.
#[derive(Clone, Copy)]
struct Span {
    from: UnixMs,
    to: UnixMs,
}

impl Span {
    fn holds(self, at: UnixMs) -> bool {
        self.from <= at && at < self.to
    }
}

/// What became of a slot that fires.
#[derive(Clone, Copy)]
enum Began {
    Run(TaskId),
    Not(PassedOver),
}

/// A slot, or several that were passed over together.
#[derive(Clone)]
struct Slot {
    first: UnixMs,
    until: UnixMs,
    times: Option<u64>,
    state: SlotState,
    why: Option<PassedOver>,
    task_id: Option<TaskId>,
    /// What changed, of one that waited for a change.
    change: Option<ArtifactRef>,
}

impl Slot {
    const fn one(at: UnixMs, state: SlotState) -> Self {
        Self { first: at, until: at, times: Some(1), state, why: None, task_id: None, change: None }
    }

    fn fires(at: UnixMs, began: Option<Began>) -> Self {
        match began {
            None => Self::one(at, SlotState::Waiting),
            Some(Began::Run(task)) => Self { task_id: Some(task), ..Self::one(at, SlotState::Fired) },
            Some(Began::Not(why)) => Self { why: Some(why), ..Self::one(at, SlotState::PassedOver) },
        }
    }
}

pub(crate) fn calendar(host: &dyn Host, p: Calendar) -> Result<Times, Error> {
    let zone = zone(host, p.zone.as_deref())?;
    let now = host.now();
    let (today, _) = clock(now, &zone)?;
    let span = span(&p, &zone, &today)?;
    let reader = host.reader()?;
    let store = fold::store_state(&reader)?;
    let mut looked: Vec<&ScheduleRecord> = match &p.name {
        Some(name) => vec![known(&store, name)?],
        None => store.schedules.0.values().collect(),
    };
    // What is removed has only a past, and comes last.
    looked.sort_by_key(|record| record.state() == ScheduleState::Removed);
    let left_out = looked.len().saturating_sub(SCHEDULES_MAX);
    looked.truncate(SCHEDULES_MAX);
    let share = ENTRIES_MAX.checked_div(looked.len()).unwrap_or(ENTRIES_MAX);
    let query = host.query()?;
    let (mut entries, mut cut) = (Vec::new(), Vec::new());
    for record in looked {
        let record = record.with_slots(&reader).wire()?;
        // Where some are to come, what has been leaves room for them.
        let room = if span.to > now { share.div_ceil(2) } else { share };
        let (past, more_past) = past(&reader, &record, (span, now), room)?;
        let (next, more_next) = to_come(&record, span, share.saturating_sub(past.len()))?;
        if more_past || more_next {
            cut.push(record.name.clone());
        }
        for slot in past.into_iter().chain(next) {
            entries.push(entry((host, &query, &zone), &record.name, slot, span)?);
        }
    }
    entries.sort_by(|a, b| (a.at, &a.schedule).cmp(&(b.at, &b.schedule)));
    let left_out = u32::try_from(left_out).unwrap_or(u32::MAX);
    Ok(Times { from: span.from.0, to: span.to.0, zone, today, entries, cut, left_out })
}

fn clock(at: UnixMs, zone: &str) -> Result<(String, String), Error> {
    schedule::day_and_time(at, zone).map_err(|why| usage(why.to_string()))
}

/// The span that is asked for; the month of today where none is.
fn span(p: &Calendar, zone: &str, today: &str) -> Result<Span, Error> {
    let this_month = today.rsplit_once('-').map_or(today, |(month, _)| month);
    let (from, to) = match (&p.month, p.from, p.to) {
        (Some(month), None, None) => month_of(month, zone)?,
        (None, None, None) => month_of(this_month, zone)?,
        (None, Some(from), Some(to)) => (UnixMs(from), UnixMs(to)),
        _ => return Err(usage("name a month, or from when until when")),
    };
    if !(1..=SPAN_MS_MAX).contains(&to.0.saturating_sub(from.0)) {
        return Err(usage("a span ends after it begins, and at most 62 days later"));
    }
    Ok(Span { from, to })
}

fn month_of(text: &str, zone: &str) -> Result<(UnixMs, UnixMs), Error> {
    schedule::month(text, zone).map_err(|why| usage(why.to_string()))
}

/// What became of the times of a schedule in a span, the newest `most` of them, the newest first; and whether there are more.
fn past(
    reader: &Reader,
    record: &ScheduleRecord,
    (span, now): (Span, UnixMs),
    most: usize,
) -> Result<(Vec<Slot>, bool), Error> {
    let stream = record.slots_task_id;
    let head = reader.task_head(stream).wire()?.map_or(0, |(seq, _)| seq);
    // What came due within the span may have been looked at when it was over.
    let mut end = match span.to > now {
        true => head,
        false => last_until(reader, (stream, head), span.to)?.saturating_add(PAGE).min(head),
    };
    let (mut began, mut found): (BTreeMap<UnixMs, Began>, Vec<Slot>) = Default::default();
    let (mut pages, mut is_before) = (0_u32, false);
    while end > 0 && !is_before {
        if pages >= PAGES_MAX {
            return Ok((found, true));
        }
        pages = pages.saturating_add(1);
        let after = end.saturating_sub(PAGE);
        let page = reader.events(stream, after, usize::try_from(PAGE).unwrap_or(usize::MAX)).wire()?;
        for stored in page.iter().rev().filter(|stored| stored.task_seq <= end) {
            let event = stored.event().wire()?;
            // A slot is looked at when it came due, or later.
            is_before |= event.occurred_at < span.from;
            match fold::body(reader, &event)? {
                Body::ScheduleFired(b) => drop(began.insert(b.slot_at, Began::Run(b.about_task_id))),
                Body::ScheduleNotBegun(b) => drop(began.insert(b.slot_at, Began::Not(b.why))),
                Body::ScheduleSettled(b) => {
                    let change = b.seen.as_ref().and_then(|seen| seen.change.as_ref());
                    let slots = b.settled.iter().rev().map(|one| slot(one, &began, change));
                    found.extend(slots.filter(|slot| span.from <= slot.until && slot.first < span.to));
                }
                _ => {}
            }
            if found.len() > most {
                found.truncate(most);
                return Ok((found, true));
            }
        }
        end = after;
    }
    Ok((found, false))
}

fn slot(of: &Settled, began: &BTreeMap<UnixMs, Began>, change: Option<&ArtifactRef>) -> Slot {
    let told = match of {
        Settled::Fires(slot) => Slot::fires(slot.at, began.get(&slot.at).copied()),
        Settled::PassedOver { first, until, slots, why } => {
            Slot { until: *until, times: *slots, why: Some(*why), ..Slot::one(*first, SlotState::PassedOver) }
        }
    };
    Slot { change: change.cloned(), ..told }
}

/// The number of the last event of a stream until an instant, as far as the clock was not set.
fn last_until(reader: &Reader, (stream, head): (TaskId, u64), until: UnixMs) -> Result<u64, Error> {
    let (mut low, mut high) = (0_u64, head);
    while low < high {
        let middle = low.midpoint(high).saturating_add(1).min(high);
        let is_within = match reader.events(stream, middle.saturating_sub(1), 1).wire()?.first() {
            Some(stored) => stored.event().wire()?.occurred_at <= until,
            None => false,
        };
        if is_within {
            low = middle;
        } else {
            high = middle.saturating_sub(1);
        }
    }
    Ok(low)
}

/// The times of a schedule in a span that are to come, or came due and nothing has looked since; and whether there are more.
fn to_come(record: &ScheduleRecord, span: Span, most: usize) -> Result<(Vec<Slot>, bool), Error> {
    if !record.may_begin() || record.next().is_err() {
        return Ok((Vec::new(), false));
    }
    let after = record.settled().max(span.from.plus_ms(-1));
    let slots = schedule::slots(&record.when.rule, after).map_err(|why| usage(why.to_string()))?;
    let within = |slot: &DueSlot| span.holds(slot.at);
    let mut found: Vec<Slot> = slots
        .take_while(within)
        .take(most.saturating_add(1))
        .map(|slot| Slot::one(slot.at, SlotState::Due))
        .collect();
    let is_more = found.len() > most;
    found.truncate(most);
    Ok((found, is_more))
}

fn entry(
    (host, query, zone): (&dyn Host, &Query, &str),
    name: &str,
    slot: Slot,
    span: Span,
) -> Result<TimeEntry, Error> {
    let (day, time) = clock(slot.first.max(span.from), zone)?;
    let until = match slot.until > slot.first {
        true => {
            let last = DueSlot { at: slot.until, shift: None };
            Some(schedule::in_words(&last, zone).map_err(|why| usage(why.to_string()))?)
        }
        false => None,
    };
    let row = slot.task_id.map(|task| query.task(task)).transpose().wire()?.flatten();
    Ok(TimeEntry {
        schedule: name.to_owned(),
        at: slot.first.0,
        day,
        time,
        state: slot.state,
        why: slot.why,
        times: slot.times,
        until,
        because: slot.change.and_then(|at| because(host, &at)),
        task_id: slot.task_id.map(|task| task.to_string()),
        run_status: row.map(|row| row.run_status),
    })
}

/// What changed, in words; nothing where that is erased.
fn because(host: &dyn Host, at: &ArtifactRef) -> Option<String> {
    let bytes = host.artifacts().ok()?.read(&at.sha256).ok()?;
    let change: SeenChange = serde_json::from_slice(&bytes).ok()?;
    Some(match change {
        SeenChange::Files { files, more } => {
            let more = more.saturating_add(files.len().saturating_sub(FILES_TOLD) as u64);
            let told: Vec<String> = files.iter().take(FILES_TOLD).map(file_in_words).collect();
            let told = told.join(", ");
            if more == 0 { told } else { format!("{told} and {more} more") }
        }
        SeenChange::Ref { name, from, to } => {
            let name = name.strip_prefix("refs/heads/").unwrap_or(&name);
            let short = |commit: &str| commit.chars().take(COMMIT_CHARS).collect::<String>();
            match (from.as_deref(), to.as_deref()) {
                (Some(from), Some(to)) => format!("{name} moved from {} to {}", short(from), short(to)),
                (None, Some(to)) => format!("{name} is there now, at {}", short(to)),
                (_, None) => format!("{name} is gone"),
            }
        }
        SeenChange::Ended { of, runs } => match runs.as_slice() {
            [run] => format!("a run of {of} ended: {}", run.status),
            runs => format!("{} runs of {of} ended", runs.len()),
        },
        SeenChange::Resource { server, uri, .. } => format!("{uri} of the server {server} changed"),
        SeenChange::Events { events, more } => match more.saturating_add(events.len() as u64) {
            1 => "an event came to a relay".to_owned(),
            count => format!("{count} events came to relays"),
        },
        SeenChange::Machine { name, event: MachineEvent::Silent, .. } => format!("{name} is silent"),
        SeenChange::Machine { name, event: MachineEvent::Message, count: 1 } => {
            format!("{name} sent a message")
        }
        SeenChange::Machine { name, event: MachineEvent::Message, count } => {
            format!("{name} sent {count} messages")
        }
        SeenChange::Machine { name, event: MachineEvent::Receipt, count: 1 } => {
            format!("{name} told a receipt")
        }
        SeenChange::Machine { name, event: MachineEvent::Receipt, count } => {
            format!("{name} told {count} receipts")
        }
        SeenChange::Called { hook, calls, more } => match more.saturating_add(calls.len() as u64) {
            1 => format!("the hook {hook} was called"),
            times => format!("the hook {hook} was called {times} times"),
        },
    })
}

fn file_in_words(file: &ChangedFile) -> String {
    let path = file.path.display_lossy();
    match file.change {
        FileChange::Landed => format!("{path} landed"),
        FileChange::Written => format!("{path} was written"),
        FileChange::Moved => format!("{path} was moved"),
        FileChange::Gone => format!("{path} is gone"),
    }
}
