//! Keeping a schedule: its card shows the time as it was said and as it is read, the next times, and every word of what is done
//! then (schedule.md 1).

use crate::call::quoted;
use crate::skill::Told;
use crate::{Line, LineKind, money, short, visible};
use model::schedule::{
    Bounds, CatchUp, DayBudget, FileChanges, KeepSchedule, MachineEvent, Overlap, QUIET_MS_USUAL, Rule,
    Schedule, ScheduleProposer, Trigger, When, only_in_words,
};
use model::task::Budget;
use model::{ConversationId, lasting};
use std::time::Duration;

impl Told for KeepSchedule {
    fn check(&self) -> Result<(), String> {
        self.schedule.check()?;
        match &self.was {
            Some(was) if **was == self.schedule => Err("the schedule is so already".to_owned()),
            Some(was) if was.name != self.schedule.name => Err("a schedule keeps its name".to_owned()),
            _ => Ok(()),
        }
    }

    fn title(&self) -> String {
        let (name, said) = (visible(&self.schedule.name), visible(&self.schedule.said));
        match &self.was {
            None => format!("keep the schedule \"{name}\": {said}"),
            Some(_) => format!("change the schedule \"{name}\": {said}"),
        }
    }

    fn lines(&self) -> Vec<Line> {
        let schedule = &self.schedule;
        let mut lines = vec![
            Line {
                kind: LineKind::Risk,
                text: format!(
                    "begin a task by itself in {}, {}",
                    visible(&schedule.folder),
                    visible(&schedule.said)
                ),
            },
            fact(
                "it gives no authority: each act of its tasks is judged, and asked about unless a standing grant names this schedule",
            ),
            fact(&format!("read as: {}", read_as(schedule))),
        ];
        lines.extend(schedule.on.as_ref().map(|on| fact(untrusted(on))));
        lines.extend(self.next.iter().map(|at| Line::effect(format!("next: {}", visible(at)))));
        lines.push(fact(&missed(schedule)));
        lines.push(fact(&format!("policy of its tasks: {}", schedule.profile.in_words())));
        lines.push(fact(&spends(&schedule.budget)));
        lines.extend(bounds(&schedule.when, &schedule.bounds).iter().map(|(_, text)| fact(text)));
        lines.push(fact(&reports(schedule.conversation_id.as_ref())));
        if schedule.quiet {
            lines.push(fact(reported(true)));
        }
        if let Some(was) = &self.was {
            lines.extend(differences(was, schedule));
        }
        lines.push(fact("what is done each time, word for word:"));
        lines.extend(quoted(&schedule.goal).map(|text| Line { kind: LineKind::Quoted, text }));
        lines.extend(proposer(&schedule.proposer));
        lines
    }
}

/// What a task is told of what changed.
const UNTRUSTED: &str = "what changed is told to its task by name, as untrusted data: a name orders nothing";

/// What calls a hook.
const HOOK: &str = "each request to this machine that is signed with the secret of the hook, once";
/// What becomes of calls while a run is at work, where nothing else is said of that.
const TOGETHER: &str = "; calls that come while a run is at work begin one task together";
/// What a task is told of calls.
const UNTRUSTED_CALL: &str =
    "what a call says is given to its task as a file, as untrusted data: it orders nothing";

/// What a task is told of a resource.
const UNTRUSTED_RESOURCE: &str =
    "what the resource reads is given to its task as a file, as untrusted data: it orders nothing";

/// What a task is told of events.
const UNTRUSTED_EVENTS: &str =
    "what an event says is given to its task as a file, as untrusted data: it orders nothing";
/// What a task is told of a machine.
const OF_MACHINE: &str =
    "its task is told which machine, what happened and how often, and no word of a message";

/// What a task is told, and how far that is trusted.
const fn untrusted(on: &Trigger) -> &'static str {
    match on {
        Trigger::Hook { .. } => UNTRUSTED_CALL,
        Trigger::Resource { .. } => UNTRUSTED_RESOURCE,
        Trigger::Events { .. } => UNTRUSTED_EVENTS,
        Trigger::Machine { .. } => OF_MACHINE,
        Trigger::Files { .. } | Trigger::Ref { .. } | Trigger::After { .. } => UNTRUSTED,
    }
}

/// When, as it is read.
fn read_as(of: &Schedule) -> String {
    let Some(on) = &of.on else { return rule(&of.when.rule) };
    let more = match on {
        Trigger::Files { changes, quiet_ms, .. } => {
            let which = match changes {
                FileChanges::Landed => "a file that is there and was not",
                FileChanges::Changed => "a file that is there and was not, was written or was moved",
                FileChanges::Any => "a file that is there and was not, was written, was moved or is gone",
            };
            let quiet = match *quiet_ms {
                QUIET_MS_USUAL => String::new(),
                ms => format!(", once it was left alone for {}", lasting(Duration::from_millis(ms))),
            };
            format!("{which}, in this folder or one inside{quiet}; not what its own tasks do")
        }
        Trigger::Ref { name } => format!("{} is at another commit, or is gone", visible(name)),
        Trigger::After { .. } => "each end of such a task, once".to_owned(),
        Trigger::Hook { .. } => match of.bounds.overlap {
            None | Some(Overlap::Queue) => format!("{HOOK}{TOGETHER}"),
            Some(Overlap::Skip | Overlap::EndOlder) => HOOK.to_owned(),
        },
        Trigger::Resource { server, .. } => format!(
            "it reads otherwise than at the look before; for each look the server {} is started in this folder's sandbox, without a \
             network, and ended",
            visible(server)
        ),
        Trigger::Events { .. } => "each such event, once, where its signature holds; for each look these relays are connected to and \
                                   asked for such events, and nothing else is sent to them"
            .to_owned(),
        Trigger::Machine { event, .. } => match event {
            MachineEvent::Silent => "nothing was heard of it for so long while the mesh runs here; once, until it is heard again".to_owned(),
            MachineEvent::Message => "each message from it, beside the task that the message begins itself".to_owned(),
            MachineEvent::Receipt => "each receipt that it tells, by its digest: what was done there is not told".to_owned(),
        },
    };
    format!("{}: {more}", visible(&on.in_words()))
}

fn rule(rule: &Rule) -> String {
    match rule {
        Rule::Event => rule.in_words(),
        Rule::Cron { expression, zone } => {
            format!("cron {}, time zone {}", visible(expression), visible(zone))
        }
        Rule::Every { .. } => format!("{}, from when this was asked", rule.in_words()),
        Rule::Once { zone, .. } => format!("once, time zone {}", visible(zone)),
    }
}

fn missed(of: &Schedule) -> String {
    let when = &of.when;
    if matches!(of.on, Some(Trigger::Hook { .. })) {
        return "a call while Hermit is not open is not answered; whoever calls has to call again".to_owned();
    }
    if of.on.is_some() {
        return match when.catch_up {
            CatchUp::Skip => "what happens while Hermit is not open is skipped; it is on record".to_owned(),
            CatchUp::Newest | CatchUp::Newer(_) => {
                "what happens while Hermit is not open is found when it opens, and begins one task".to_owned()
            }
        };
    }
    let then = match when.catch_up {
        CatchUp::Skip => "are skipped".to_owned(),
        CatchUp::Newest => "are made up for once, by the newest".to_owned(),
        CatchUp::Newer(most) => format!("are made up for, the newest {most} of them"),
    };
    let grace = when.grace_ms.map_or(String::new(), |ms| {
        format!("; what is later than {} minutes is skipped in any case", ms / 60_000)
    });
    format!("times that this machine misses {then}{grace}; each is on record")
}

pub(crate) fn spends(of: &Budget) -> String {
    let (minutes, cost) = (of.wall_ms_max / 60_000, money(of.cost_micros_max));
    format!(
        "each run may use {} turns of a model, {} tokens, {minutes} minutes and {cost}, and ends there",
        of.iterations_max, of.tokens_max
    )
}

/// What bounds its runs beside that: each with what it is called.
fn bounds(when: &When, of: &Bounds) -> Vec<(&'static str, String)> {
    let minutes = |ms: u64| format!("{} minutes", ms / 60_000);
    let overlap = of.overlap.map(|overlap| match overlap {
        Overlap::Skip => "a time that comes while a run is at work is skipped",
        Overlap::Queue => {
            "a time that comes while a run is at work begins when that one rests; one waits so, the newest"
        }
        Overlap::EndOlder => "a time that comes ENDS the run before it, also where that one waits for you",
    });
    let all = [
        overlap.map(|text| ("way with runs that overlap", text.to_owned())),
        when.jitter_ms.map(|ms| {
            ("delay", format!("it begins up to {} later than its time, always by the same", minutes(ms)))
        }),
        of.per_hour_max.map(|most| {
            ("number of runs within an hour", format!("at most {most} runs begin within an hour"))
        }),
        of.ends_after_ms.map(|ms| {
            let text = format!("a run ends after {}, whatever it is at; what was done stays", minutes(ms));
            ("end of a run", text)
        }),
        of.hours.as_ref().map(|hours| {
            let text = format!("a run begins between {hours} only, time zone {}", visible(&hours.zone));
            ("hours", text)
        }),
        only_in_words(&of.only, of.battery_above)
            .map(|all| ("condition", format!("a run begins only {all}, as far as this machine can tell"))),
        of.day.as_ref().map(|day| ("budget of a day", in_a_day(day))),
    ];
    all.into_iter().flatten().collect()
}

fn in_a_day(day: &DayBudget) -> String {
    let parts = [
        day.runs_max.map(|most| format!("{most} runs")),
        day.iterations_max.map(|most| format!("{most} turns of a model")),
        day.tokens_max.map(|most| format!("{most} tokens")),
        day.wall_ms_max.map(|ms| format!("{} minutes of work", ms / 60_000)),
        day.cost_micros_max.map(money),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("the runs that begin in a day use at most {}", parts.join(", "))
}

fn reports(into: Option<&ConversationId>) -> String {
    match into {
        None => "it reports into the first conversation".to_owned(),
        Some(id) => format!("it reports into the conversation {}", short(id)),
    }
}

/// Which of its runs are reported.
const fn reported(quiet: bool) -> &'static str {
    match quiet {
        true => {
            "only a run that changed something, asked, was denied something or failed is reported; the others are on record"
        }
        false => "each run is reported",
    }
}

fn differences(was: &Schedule, now: &Schedule) -> Vec<Line> {
    let changed = |what: &str, text: &str| Line {
        kind: LineKind::Destructive,
        text: format!("the {what} CHANGED; it was \"{}\"", visible(text)),
    };
    let mut lines = Vec::new();
    if was.said != now.said || was.when.rule != now.when.rule || was.on != now.on {
        lines.push(changed("time", &format!("{}, read as {}", was.said, read_as(was))));
    }
    if was.when.catch_up != now.when.catch_up || was.when.grace_ms != now.when.grace_ms {
        lines.push(changed("way of making up for missed times", &missed(was)));
    }
    if was.goal != now.goal {
        lines.push(changed("goal", &was.goal));
    }
    if was.folder != now.folder {
        lines.push(changed("folder", &was.folder));
    }
    if was.budget != now.budget {
        lines.push(changed("budget", &spends(&was.budget)));
    }
    let (before, after) = (bounds(&was.when, &was.bounds), bounds(&now.when, &now.bounds));
    for (what, text) in before.iter().filter(|one| !after.contains(one)) {
        lines.push(changed(what, text));
    }
    for (what, _) in after.iter().filter(|(what, _)| !before.iter().any(|(of, _)| of == what)) {
        lines.push(changed(what, "as where nothing is said"));
    }
    if was.profile != now.profile {
        lines.push(changed("policy", was.profile.in_words()));
    }
    if was.conversation_id != now.conversation_id {
        lines.push(changed("conversation", &reports(was.conversation_id.as_ref())));
    }
    if was.quiet != now.quiet {
        lines.push(changed("choice of runs that are reported", reported(was.quiet)));
    }
    if was.proposer != now.proposer {
        lines.push(changed("one who proposes", &told(&was.proposer)));
    }
    lines
}

/// Who proposed before, so that no two tell the same.
pub(crate) fn told(proposer: &ScheduleProposer) -> String {
    match proposer {
        ScheduleProposer::Playbook { text, parameters, .. } => {
            let parameters = parameters.iter().map(|(name, value)| format!("{name} = \"{value}\""));
            let text = format!("text of SHA-256 {}", model::Digest::of(text.as_bytes()));
            let all: Vec<String> = [named(proposer), text].into_iter().chain(parameters).collect();
            all.join(", ")
        }
        ScheduleProposer::Model { api, secret, .. } => {
            let key = secret.as_ref().map_or_else(|| "no key".to_owned(), |key| format!("the key \"{key}\""));
            format!("{}, protocol {api}, {key}", named(proposer))
        }
    }
}

fn named(proposer: &ScheduleProposer) -> String {
    match proposer {
        ScheduleProposer::Playbook { name, .. } => format!("the playbook {name}"),
        ScheduleProposer::Model { base_url, model, .. } => format!("the model {model} at {base_url}"),
    }
}

pub(crate) fn proposer(of: &ScheduleProposer) -> Vec<Line> {
    let mut lines = vec![Line::effect(format!("proposed by {}", visible(&named(of))))];
    match of {
        ScheduleProposer::Playbook { text, parameters, .. } => {
            lines.extend(
                parameters
                    .iter()
                    .map(|(name, value)| fact(&format!("{} = \"{}\"", visible(name), visible(value)))),
            );
            lines.push(fact("the playbook, word for word:"));
            lines.extend(quoted(text).map(|text| Line { kind: LineKind::Quoted, text }));
        }
        ScheduleProposer::Model { secret: Some(handle), .. } => {
            lines.push(fact(&format!("opened with the key \"{}\"", visible(handle))));
        }
        ScheduleProposer::Model { secret: None, .. } => {}
    }
    lines
}

fn fact(text: &str) -> Line {
    Line { kind: LineKind::Fact, text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use model::schedule::{Condition, EventFilter, EventTag, Hours};

    /// A schedule as it was kept before runs could be bounded.
    const OF_BEFORE: &str = r#"{"budget":{"cost_micros_max":5000000,"iterations_max":24,"tokens_max":400000,"wall_ms_max":3600000},"folder":"/work","goal":"look","name":"morning","profile":"local_edit_allowed","proposer":{"kind":"playbook","name":"tidy","parameters":{},"text":"t"},"said":"every day at 8","when":{"catch_up":"newest","rule":{"expression":"0 8 * * *","kind":"cron","zone":"UTC"}},"workspace_id":"wsp_0190a1b2c3d47e8f9a0b1c2d00000001"}"#;

    fn of_before() -> Schedule {
        serde_json::from_str(OF_BEFORE).expect("a schedule")
    }

    fn card(schedule: Schedule, was: Option<Schedule>) -> Vec<String> {
        let keep =
            KeepSchedule { schedule, version: 2, next: vec!["soon".to_owned()], was: was.map(Box::new) };
        keep.check().expect("it can be meant");
        keep.lines().into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_schedule_of_before_opens_and_has_the_same_bytes() {
        let schedule = of_before();
        assert!(schedule.bounds.are_none());
        assert_eq!(schedule.digest().ok(), Some(model::Digest::of(OF_BEFORE.as_bytes())));
        let unknown = OF_BEFORE.replace("\"goal\"", "\"bounds\":{\"nights\":1},\"goal\"");
        assert!(serde_json::from_str::<Schedule>(&unknown).is_err());
    }

    #[test]
    fn that_only_some_runs_are_reported_stands_on_the_card_and_so_does_its_change() {
        let quiet = Schedule { quiet: true, ..of_before() };
        let told = card(quiet.clone(), None);
        assert!(told.iter().any(|line| line.contains("only a run that changed something")), "{told:?}");
        let told = card(of_before(), Some(quiet));
        assert!(told.iter().any(|line| line.contains("runs that are reported CHANGED")), "{told:?}");
    }

    #[test]
    fn each_bound_is_a_line_of_the_card_and_each_change_of_one_is_said() {
        let plain = card(of_before(), None);
        let day = |day| Bounds { day: Some(day), ..Bounds::default() };
        let hours = |from| Some(Hours { from, until: 1080, zone: "UTC".to_owned() });
        let none = Bounds::default;
        let (one, no_day) = (Some(1), DayBudget::default());
        for (bounds, other, word) in [
            (
                Bounds { overlap: Some(Overlap::Skip), ..none() },
                Bounds { overlap: Some(Overlap::Queue), ..none() },
                "skipped",
            ),
            (Bounds { overlap: Some(Overlap::EndOlder), ..none() }, none(), "ENDS the run before"),
            (
                Bounds { per_hour_max: one, ..none() },
                Bounds { per_hour_max: Some(2), ..none() },
                "at most 1 runs begin",
            ),
            (Bounds { ends_after_ms: Some(120_000), ..none() }, none(), "ends after 2 minutes"),
            (Bounds { hours: hours(480), ..none() }, Bounds { hours: hours(540), ..none() }, "08:00-18:00"),
            (
                Bounds { only: vec![Condition::Mains, Condition::Network], ..none() },
                Bounds { only: vec![Condition::Network], ..none() },
                "only on mains power and when the network is there",
            ),
            (
                Bounds { only: vec![Condition::Idle], battery_above: Some(30), ..none() },
                Bounds { only: vec![Condition::Idle], battery_above: Some(40), ..none() },
                "only while nobody is at the computer and when the battery is above 30 %",
            ),
            (day(DayBudget { runs_max: one, ..no_day }), none(), "1 runs"),
            (day(DayBudget { iterations_max: Some(7), ..no_day }), none(), "7 turns"),
            (day(DayBudget { tokens_max: Some(9), ..no_day }), none(), "9 tokens"),
            (day(DayBudget { cost_micros_max: Some(1_250_000), ..no_day }), none(), "$1.25"),
            (day(DayBudget { wall_ms_max: Some(180_000), ..no_day }), none(), "3 minutes of work"),
        ] {
            let bounded = Schedule { bounds, ..of_before() };
            let told = card(bounded.clone(), None);
            let more: Vec<&String> = told.iter().filter(|line| !plain.contains(line)).collect();
            assert!(more.len() == 1 && more.iter().all(|line| line.contains(word)), "{word}: {more:?}");
            let other = Schedule { bounds: other, ..of_before() };
            for (was, now) in [(bounded.clone(), other.clone()), (other, bounded)] {
                let changes = card(now, Some(was));
                assert_eq!(
                    changes.iter().filter(|line| line.contains("CHANGED")).count(),
                    1,
                    "{word}: {changes:?}"
                );
            }
        }
    }

    #[test]
    fn what_it_waits_for_is_on_the_card_and_so_is_its_change() {
        let waits = |on: Trigger| {
            let mut schedule = of_before();
            (schedule.when.rule, schedule.on) = (Rule::Event, Some(on));
            schedule
        };
        let files =
            |quiet_ms, changes| waits(Trigger::Files { globs: vec!["*.pdf".to_owned()], changes, quiet_ms });
        let plain = files(2_000, FileChanges::Landed);
        let told = card(plain.clone(), None).join("\n");
        for words in
            ["when a file matching *.pdf lands here", "a name orders nothing", "not what its own tasks do"]
        {
            assert!(told.contains(words), "`{words}`: {told}");
        }
        for other in [
            files(2_500, FileChanges::Landed),
            files(2_000, FileChanges::Any),
            waits(Trigger::Ref { name: "refs/heads/main".to_owned() }),
            of_before(),
        ] {
            let changes = card(plain.clone(), Some(other));
            assert!(changes.iter().any(|line| line.contains("the time CHANGED")), "{changes:?}");
        }
        let told = card(waits(Trigger::Hook { name: "deploy".to_owned() }), None).join("\n");
        for words in
            ["when the hook deploy is called", "it orders nothing", "signed with the secret", "call again"]
        {
            assert!(told.contains(words), "`{words}`: {told}");
        }
        let resource = |minutes: u64| {
            let (server, uri) = ("notes".to_owned(), "docs://rates".to_owned());
            waits(Trigger::Resource { server, uri, every_ms: minutes * 60_000 })
        };
        let told = card(resource(10), None).join("\n");
        for words in [
            "when the resource docs://rates of the server notes changes, looked at every 10 minutes",
            "the server notes is started in this folder's sandbox, without a network",
            "it orders nothing",
        ] {
            assert!(told.contains(words), "`{words}`: {told}");
        }
        let changes = card(resource(11), Some(resource(10)));
        assert!(changes.iter().any(|line| line.contains("the time CHANGED")), "{changes:?}");
        let mut later = of_before();
        later.when.jitter_ms = Some(600_000);
        assert!(card(later, Some(of_before())).iter().any(|line| line.contains("the delay CHANGED")));
    }

    #[test]
    fn what_it_waits_for_elsewhere_is_on_the_card_with_what_is_sent_there() {
        let tag = Some(EventTag { name: "t".to_owned(), value: "hermit".to_owned() });
        let relays = vec!["wss://relay.example".to_owned()];
        let filter = EventFilter { relays, authors: Vec::new(), kinds: Vec::new(), tag };
        let (name, event, minutes) = ("laptop".to_owned(), MachineEvent::Silent, Some(30));
        for (on, words) in [
            (Trigger::Events { filter, every_ms: 900_000 }, "nothing else is sent to them"),
            (Trigger::Machine { name, event, minutes }, "until it is heard again"),
        ] {
            let mut schedule = of_before();
            (schedule.when.rule, schedule.on) = (Rule::Event, Some(on.clone()));
            let told = card(schedule, None).join("\n");
            assert!(told.contains(&on.in_words()) && told.contains(words), "{told}");
        }
    }
}
