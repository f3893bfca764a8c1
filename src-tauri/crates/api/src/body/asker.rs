//! Who asks, and of which whole: told beside a card, a question, a receipt and a notification. It is read off the task
//! and stands in nothing that is signed.

use crate::{Host, Wire as _};
use model::task::{ModelChoice, Origin, Proposer};
use model::{AttemptId, Sensitive, TaskId};
use projections::rows::TaskRow;
use projections::{Ask, Query};
use std::collections::BTreeMap;
use wire::{Error, PartOf, Text};

/// Letters of the goal of the whole.
const GOAL_CHARS: usize = 160;
/// Letters of a name.
const NAME_CHARS: usize = 80;
/// Turns of an attempt that are looked at for the newest in which somebody was asked.
const TURNS: u32 = 8;

/// Who asks, as far as the store can tell.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    /// Who began the task.
    pub origin: Origin,
    /// The task whose agent gave this one away.
    pub part_of: Option<PartOf>,
    /// The model or the agent of another program, by its name.
    pub agent: Option<String>,
    /// The folder of the task, by its path.
    pub workspace: Option<Text>,
}

/// Who asks in each attempt that was asked about: one answer tells of many.
#[derive(Debug, Default)]
pub(super) struct Askers(BTreeMap<(TaskId, Option<AttemptId>), Asker>);

impl Askers {
    /// Who asks in an attempt of a task; without an attempt, who its contract names.
    pub fn of(
        &mut self,
        host: &dyn Host,
        query: &Query,
        (task, attempt): (TaskId, Option<AttemptId>),
    ) -> Result<Asker, Error> {
        if let Some(known) = self.0.get(&(task, attempt)) {
            return Ok(known.clone());
        }
        let found = match query.task(task).wire()? {
            None => Asker { origin: Origin::Person, part_of: None, agent: None, workspace: None },
            Some(row) => Asker {
                origin: row.origin,
                part_of: part_of(query, &row)?,
                agent: agent(host, query, &row, attempt)?,
                workspace: super::task_show::workspace(host, &row)?,
            },
        };
        Ok(self.0.entry((task, attempt)).or_insert(found).clone())
    }
}

/// The task whose agent gave this one away; another task before it, such as one that it undoes, is no whole.
fn part_of(query: &Query, row: &TaskRow) -> Result<Option<PartOf>, Error> {
    let Some(parent) = row.parent_task_id.filter(|_| row.origin == Origin::Agent) else { return Ok(None) };
    let goal = match query.task(parent).wire()?.map(|whole| whole.goal) {
        Some(Sensitive::Shown(goal)) => Text::Shown(line(&goal, GOAL_CHARS)),
        Some(Sensitive::Erased(digest)) => Text::Erased { erased: digest.to_string() },
        None => Text::Shown(parent.to_string()),
    };
    Ok(Some(PartOf { task_id: parent.to_string(), goal }))
}

/// The one that was asked last in the attempt, which a step of its own or a fall to another model may have chosen; where
/// nobody was, as an agent outside is not, the one that the contract names.
fn agent(
    host: &dyn Host,
    query: &Query,
    row: &TaskRow,
    attempt: Option<AttemptId>,
) -> Result<Option<String>, Error> {
    if attempt.is_some() {
        let newest = Ask { limit: TURNS, ..Ask::default() };
        let turns = query.iterations(row.task_id, attempt, newest).wire()?.rows;
        let asked = turns.into_iter().find_map(|turn| turn.provider.zip(turn.model));
        if let Some((provider, model)) = asked {
            let by = provider.parse::<Proposer>().ok().filter(|by| is_agent(*by));
            return Ok(by.and_then(|_| name(&model)));
        }
    }
    let contract = super::task_show::contract(host, row)?;
    Ok(contract.and_then(|contract| match &contract.model {
        ModelChoice::Openai { model, .. } => name(model),
        ModelChoice::Session { client, .. } => name(client),
        ModelChoice::Guest { guest, .. } => name(guest),
        ModelChoice::Scripted { name: script } => name(script),
        ModelChoice::Playbook { .. }
        | ModelChoice::Recorded { .. }
        | ModelChoice::Rollback { .. }
        | ModelChoice::Tools { .. } => None,
    }))
}

/// Whether it thinks for itself: a playbook and Hermit's own acts ask for what a person chose.
const fn is_agent(by: Proposer) -> bool {
    !matches!(by, Proposer::Playbook | Proposer::Rollback | Proposer::Tools)
}

/// A name in a line; of a model in the box without the digest of its weights.
fn name(of: &str) -> Option<String> {
    let bare = of.split_once("@sha256:").map_or(of, |(name, _)| name);
    Some(line(bare, NAME_CHARS)).filter(|name| !name.is_empty())
}

/// The first line that says something, so many letters of it; what was left out is marked.
fn line(text: &str, most: usize) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let mut out: String = first.chars().take(most).collect();
    if first.chars().nth(most).is_some() || lines.next().is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_its_first_line_and_a_name_has_no_digest() {
        assert_eq!(line("\n  tidy\u{202e} all \nand more", 160), "tidy\u{202e} all…");
        assert_eq!(line("abc", 3), "abc");
        assert_eq!(line("abcd", 3), "abc…");
        assert_eq!(line(&"x".repeat(70_000), GOAL_CHARS).chars().count(), GOAL_CHARS + 1);
        let pinned = format!("qwen@sha256:{}", "ab".repeat(32));
        assert_eq!(name(&pinned).as_deref(), Some("qwen"));
        assert_eq!((name(" \n "), name("gpt-9").as_deref()), (None, Some("gpt-9")));
    }
}
