//! How many small goals a real model reaches through the whole product, beside how many it reached before.

use crate::Asked;
use crate::board::Board;
use crate::journeys::goals::{GOALS, work};
use crate::journeys::summary::real;
use serde_json::Value;
use std::path::Path;

/// What was seen: goal, whether it was reached, questions, tokens.
const BEFORE: &str = include_str!("goals.tsv");
/// All the context that Qwen2.5-Coder-1.5B knows.
const CONTEXT: u32 = 32_768;

/// Gives each goal to the model that `HERMIT_MODEL_URL` names, or that lies in the parts. With `--into FOLDER` what a
/// model said to reach a goal is left there, as the suite replays it.
pub fn run(asked: &Asked, board: &Board) {
    let Some((address, _server)) = real(CONTEXT) else {
        return board.figure("goals", "no model: `cargo xtask parts qwen-1.5b`, or set HERMIT_MODEL_URL");
    };
    let (mut reached, mut questions, mut tokens) = (0_u32, 0, 0);
    for goal in &GOALS {
        let record = asked.into.as_ref().map(|folder| folder.join(format!("{}.jsonl", goal.name)));
        let came = work(goal, &address, record.as_deref());
        let was = came.reached.as_ref().map_or_else(|why| format!("no: {why}"), |()| "yes".to_owned());
        let said = format!(
            "{was}; {} questions, {} tokens; before: {}",
            came.questions,
            came.tokens,
            before(goal.name)
        );
        board.figure(goal.name, &said);
        if let Some(record) = &record {
            kept(record, came.reached.is_ok());
        }
        reached += u32::from(came.reached.is_ok());
        (questions, tokens) = (questions + came.questions, tokens + came.tokens);
    }
    let was = GOALS.iter().filter(|goal| before(goal.name).starts_with("yes")).count();
    let detail = format!("{questions} questions, {tokens} tokens");
    board.at_least("goals reached", f64::from(reached), was as f64, &detail);
}

fn before(name: &str) -> String {
    let line = BEFORE.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
    line.map_or_else(|| "never tried".to_owned(), |line| line.replace('\t', ", "))
}

/// A transcript of answers alone: how they came, piece by piece, and of which request, is of no use in another store.
fn kept(record: &Path, reached: bool) {
    let text = std::fs::read_to_string(record).unwrap_or_default();
    let slim = text.lines().filter_map(|line| {
        let mut line: Value = serde_json::from_str(line).ok()?;
        for key in ["raw", "raw_base64", "request_sha256"] {
            line.as_object_mut()?.remove(key);
        }
        Some(format!("{line}\n"))
    });
    let slim: String = slim.collect();
    let done = if reached { std::fs::write(record, slim) } else { std::fs::remove_file(record) };
    done.expect("the folder of `--into` can be written");
}
