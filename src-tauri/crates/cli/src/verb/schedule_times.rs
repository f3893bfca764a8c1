//! `hermit schedule asks` and `hermit schedule calendar`: what its runs would ask, and what became of its times.

use crate::output::{Output, Tone};
use crate::text::{plain, short, time};
use wire::Text;
use wire::schedules::{GrantOfRuns, Rehearsal, RehearsedAct, TimeEntry, Times};
use words::policy::PolicyVerdict;
use words::schedule::{PassedOver, SlotState};

/// What the runs of a schedule would ask today.
pub(super) fn asks(out: &Output, found: &Rehearsal) {
    let tone = if found.asked + found.denied + found.lesser > 0 { Tone::Warn } else { Tone::Bold };
    out.say(tone, &found.summary);
    if found.is_cut {
        out.say(
            Tone::Faint,
            "there are more acts than are judged at once; fewer runs are judged with `--runs`",
        );
    }
    if found.unreadable > 0 {
        out.say(
            Tone::Faint,
            format!("{} more cannot be judged again: something of them is erased", found.unreadable),
        );
    }
    found.grants.iter().for_each(|grant| out.line(format!("  {}", granted(grant))));
    if found.grants.is_empty() && found.asked > 0 {
        let name = plain(&found.name);
        out.say(
            Tone::Faint,
            format!(
                "no standing grant answers in its runs; `hermit grants allow --schedule {name}` gives one"
            ),
        );
    }
    let mut run = None;
    for act in &found.rows {
        if run != Some(&act.task_id) {
            out.line(format!("{}  task {}", time(act.slot_at), plain(short(&act.task_id))));
            run = Some(&act.task_id);
        }
        let (tone, told) = act_in_words(act);
        out.say(tone, format!("  {told}"));
    }
    let left_out = (found.acts as usize).saturating_sub(found.rows.len());
    if left_out > 0 {
        out.say(Tone::Faint, format!("and {left_out} more acts"));
    }
}

fn granted(grant: &GrantOfRuns) -> String {
    format!(
        "standing grant {} allows {} of these: {}; {} uses left, until {}",
        short(&grant.grant_id),
        grant.acts,
        plain(&grant.words),
        grant.left,
        time(grant.expires_at)
    )
}

fn act_in_words(act: &RehearsedAct) -> (Tone, String) {
    let summary = match &act.summary {
        Text::Shown(text) => plain(text),
        Text::Erased { .. } => "(erased)".to_owned(),
    };
    let rules = plain(&act.rules.join(", "));
    let (tone, how) = match (act.verdict, &act.grant_id) {
        (PolicyVerdict::Allow, Some(grant)) => {
            (Tone::Good, format!("allowed by standing grant {}", short(grant)))
        }
        (PolicyVerdict::Allow, None) => (Tone::Good, "allowed by policy".to_owned()),
        (PolicyVerdict::RequireApproval, _) => (Tone::Warn, "would ask you".to_owned()),
        (PolicyVerdict::Deny, _) => (Tone::Bad, "would be denied".to_owned()),
        (PolicyVerdict::Downgrade, _) => (Tone::Warn, "would be done in a lesser form".to_owned()),
    };
    (tone, format!("{how}: {summary} [{rules}]"))
}

/// The times of a month, day by day.
pub(super) fn calendar(out: &Output, found: &Times) {
    out.say(Tone::Faint, format!("time zone {}", plain(&found.zone)));
    if found.entries.is_empty() {
        out.line("nothing was due, and nothing is");
    }
    let mut day = None;
    for entry in &found.entries {
        if day != Some(&entry.day) {
            let mark = if entry.day == found.today { ", today" } else { "" };
            out.say(Tone::Bold, format!("{}{mark}", plain(&entry.day)));
            day = Some(&entry.day);
        }
        let (tone, told) = became(entry, &found.today);
        out.say(tone, format!("  {}  {}  {told}", plain(&entry.time), plain(&entry.schedule)));
    }
    for name in &found.cut {
        let name = plain(name);
        out.say(
            Tone::Warn,
            format!("not every time of {name} is here: name it alone, `hermit schedule calendar {name}`"),
        );
    }
    if found.left_out > 0 {
        out.say(Tone::Warn, format!("{} more schedules are not here: name one", found.left_out));
    }
}

/// What became of a time.
fn became(entry: &TimeEntry, today: &str) -> (Tone, String) {
    let because =
        entry.because.as_ref().map_or_else(String::new, |text| format!(", because {}", plain(text)));
    match entry.state {
        SlotState::Due if entry.day.as_str() < today => (Tone::Faint, "not looked at yet".to_owned()),
        SlotState::Due => (Tone::Faint, "to come".to_owned()),
        SlotState::Waiting => (Tone::Plain, format!("waits to begin{because}")),
        SlotState::Fired => {
            let status = entry.run_status.map_or_else(|| "unknown".to_owned(), |status| status.to_string());
            let task = entry
                .task_id
                .as_deref()
                .map_or_else(String::new, |id| format!(" (task {})", plain(short(id))));
            (Tone::Plain, format!("ran, {}{because}{task}", status.replace('_', " ")))
        }
        SlotState::PassedOver => {
            let many = match (entry.times, &entry.until) {
                (Some(1), _) => String::new(),
                (Some(times), Some(until)) => format!("{times} times until {}, ", plain(until)),
                (_, Some(until)) => format!("all until {}, ", plain(until)),
                (_, None) => String::new(),
            };
            let why = entry.why.map_or("for no known reason", reason);
            (Tone::Faint, format!("skipped, {many}{why}{because}"))
        }
    }
}

/// Why times were passed over, in words.
pub(super) const fn reason(why: PassedOver) -> &'static str {
    match why {
        PassedOver::Missed => "Hermit was not open to see it in time",
        PassedOver::Newer => "a newer time was taken instead",
        PassedOver::TooLate => "it was too late",
        PassedOver::StillRunning => "the run before was still at work",
        PassedOver::TooManyWait => "too many runs wait for you",
        PassedOver::Paused => "the schedule was paused",
        PassedOver::Changed => "the schedule was changed or removed first",
        PassedOver::FolderMissing => "the folder was not there",
        PassedOver::NotBegun => "its task could not begin",
        PassedOver::FiredBefore => "it had run already",
        PassedOver::TooOften => "as many runs as it may had begun within the hour",
        PassedOver::DaySpent => "what its runs may use in a day was used",
        PassedOver::OutsideHours => "it was outside the hours of its runs",
        PassedOver::OnBattery => "this machine ran on its battery",
        PassedOver::NoNetwork => "there was no network",
        PassedOver::BatteryLow => "the battery was low",
        PassedOver::InUse => "somebody was at the computer",
        PassedOver::Metered => "the network was metered",
        PassedOver::Elsewhere => "another of your machines held the schedule",
    }
}
