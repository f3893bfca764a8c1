//! How well words fit the tasks that they may be about (HK-8.1.2-3, HK-8.1.3-2): a ranking, and no choice. Whoever is not told
//! outright asks the person.

use knowledge::relevance;
use model::TaskId;
use projections::rows::TaskRow;

/// Letters that two forms of one word begin with, at least.
const STEM_MIN: usize = 4;

/// Tasks that words may be about, the most likely first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ranking {
    /// Which; those that fit alike in the order that they came in.
    pub tasks: Vec<TaskId>,
    /// How many of a thousand of the words the first one's title and goal hold.
    pub confidence: u16,
    /// How far the first one is ahead of the second, of a thousand.
    pub margin: u16,
}

impl Ranking {
    /// Tasks as they come, of which none fits better.
    pub(super) fn unranked(tasks: Vec<TaskId>) -> Self {
        Self { tasks, confidence: 0, margin: 0 }
    }
}

/// The first `most` of these tasks, ranked by how many of the words their title and goal hold.
pub(super) fn ranked(text: &str, rows: &[TaskRow], most: usize) -> Ranking {
    let words = relevance::words(&[text]);
    let score = |row: &TaskRow| {
        let own: Vec<&str> =
            [&row.title, &row.goal].into_iter().filter_map(|text| text.shown().map(String::as_str)).collect();
        let own = relevance::words(&own);
        let held = words.iter().filter(|word| own.iter().any(|other| is_alike(word, other))).count();
        let of_thousand = held.saturating_mul(1000).checked_div(words.len()).unwrap_or(0);
        u16::try_from(of_thousand).unwrap_or(1000)
    };
    let mut scored: Vec<(u16, TaskId)> = rows.iter().map(|row| (score(row), row.task_id)).collect();
    // A stable sort: what fits alike stays in the order of last work.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let at = |n: usize| scored.get(n).map_or(0, |(score, _)| *score);
    let (confidence, margin) = (at(0), at(0).saturating_sub(at(1)));
    let tasks = scored.into_iter().map(|(_, task)| task).take(most).collect();
    Ranking { tasks, confidence, margin }
}

/// Whether two words are one, or forms of one: the shorter begins the longer.
fn is_alike(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short == long || (short.chars().count() >= STEM_MIN && long.starts_with(short))
}
