//! Keeping a schedule: its card shows the time as it was said and as it is read, the next times, and every word of what is done
//! then (schedule.md 1).

use crate::call::quoted;
use crate::skill::Told;
use crate::{Line, LineKind, visible};
use model::ConversationId;
use model::schedule::{CatchUp, KeepSchedule, Rule, Schedule, ScheduleProposer, When};
use model::task::Budget;

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
            fact(&format!("read as: {}", rule(&schedule.when.rule))),
        ];
        lines.extend(self.next.iter().map(|at| Line::effect(format!("next: {}", visible(at)))));
        lines.push(fact(&missed(&schedule.when)));
        lines.push(fact(&format!("policy profile of its tasks: {}", schedule.profile)));
        lines.push(fact(&spends(&schedule.budget)));
        lines.push(fact(&reports(schedule.conversation_id.as_ref())));
        if let Some(was) = &self.was {
            lines.extend(differences(was, schedule));
        }
        lines.push(fact("what is done each time, word for word:"));
        lines.extend(quoted(&schedule.goal).map(|text| Line { kind: LineKind::Quoted, text }));
        lines.extend(proposer(&schedule.proposer));
        lines
    }
}

fn rule(rule: &Rule) -> String {
    match rule {
        Rule::Cron { expression, zone } => {
            format!("cron {}, time zone {}", visible(expression), visible(zone))
        }
        Rule::Every { .. } => format!("{}, from when this was asked", rule.in_words()),
        Rule::Once { zone, .. } => format!("once, time zone {}", visible(zone)),
    }
}

fn missed(when: &When) -> String {
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

fn spends(of: &Budget) -> String {
    let minutes = of.wall_ms_max / 60_000;
    let (whole, cents) = (of.cost_micros_max / 1_000_000, of.cost_micros_max % 1_000_000 / 10_000);
    format!(
        "each run may use {} turns of a model, {} tokens, {minutes} minutes and ${whole}.{cents:02}, and ends there",
        of.iterations_max, of.tokens_max
    )
}

fn reports(into: Option<&ConversationId>) -> String {
    match into {
        None => "it reports into the first conversation".to_owned(),
        Some(id) => format!("it reports into the conversation {id}"),
    }
}

fn differences(was: &Schedule, now: &Schedule) -> Vec<Line> {
    let changed = |what: &str, text: &str| Line {
        kind: LineKind::Destructive,
        text: format!("the {what} CHANGED; it was \"{}\"", visible(text)),
    };
    let mut lines = Vec::new();
    if was.said != now.said || was.when.rule != now.when.rule {
        lines.push(changed("time", &format!("{}, read as {}", was.said, rule(&was.when.rule))));
    }
    if was.when.catch_up != now.when.catch_up || was.when.grace_ms != now.when.grace_ms {
        lines.push(changed("way of making up for missed times", &missed(&was.when)));
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
    if was.profile != now.profile {
        lines.push(changed("policy profile", was.profile.as_str()));
    }
    if was.conversation_id != now.conversation_id {
        lines.push(changed("conversation", &reports(was.conversation_id.as_ref())));
    }
    if was.proposer != now.proposer {
        lines.push(changed("one who proposes", &told(&was.proposer)));
    }
    lines
}

/// Who proposed before, so that no two tell the same.
fn told(proposer: &ScheduleProposer) -> String {
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

fn proposer(of: &ScheduleProposer) -> Vec<Line> {
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
