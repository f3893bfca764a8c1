//! The way of every story as its log tells it: which events, in which order, and by whom.
//!
//! Whoever changes the driver sees here what changed of the way. A difference is meant, and written down as a decision,
//! or it is a defect. `HERMIT_TRACES=write` writes them anew.

use super::points::{run, stories};
use super::sim::Sim;
use super::stories::{COMMAND, Story};
use model::TaskId;
use model::body::Body;
use std::path::Path;

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/simulation/traces");

/// A line for each event: its task by number, its type, who, and where a status went.
fn way(sim: &Sim) -> String {
    let mut tasks: Vec<TaskId> = Vec::new();
    let mut lines = String::new();
    for (event, body) in sim.events().iter() {
        let known = tasks.iter().position(|task| *task == event.task_id);
        let task = known.unwrap_or_else(|| {
            tasks.push(event.task_id);
            tasks.len() - 1
        });
        let went = match body {
            Body::TaskStatusChanged(b) => format!(" {} -> {} ({})", b.from, b.to, b.reason),
            Body::StepStatusChanged(b) => format!(" {} -> {} ({})", b.from, b.to, b.reason),
            Body::AttemptStatusChanged(b) => format!(" {} -> {} ({})", b.from, b.to, b.reason),
            Body::ArtifactCreated(b) => format!(" {}", b.artifact.kind),
            Body::EffectObserved(b) => format!(" {}", b.result_code),
            Body::PolicyEvaluated(b) => format!(" {}", b.verdict),
            _ => String::new(),
        };
        lines.push_str(&format!("{task} {} {}{went}\n", event.event_type, event.actor().actor_type));
    }
    lines
}

fn keeps_its_way(story: &Story) {
    let is = way(&run(story, Vec::new()));
    let path = Path::new(KEPT).join(format!("{}.txt", story.name));
    if std::env::var_os("HERMIT_TRACES").is_some_and(|value| value == "write") {
        std::fs::create_dir_all(KEPT).expect("a folder");
        std::fs::write(&path, &is).expect("written");
    }
    let was = std::fs::read_to_string(&path).unwrap_or_default();
    let same = was.lines().zip(is.lines()).take_while(|(was, is)| was == is).count();
    let line = |of: &str| of.lines().nth(same).unwrap_or("(its end)").to_owned();
    let at = same + 1;
    assert!(was == is, "`{}` line {at}: it was `{}` and is `{}`", story.name, line(&was), line(&is));
}

#[test]
fn every_story_goes_the_way_that_is_written_down() {
    let all = stories();
    if !all.iter().any(|story| story.name == COMMAND.name) {
        conforms::lacks_walls("a sandbox (bubblewrap, or Landlock in the kernel)");
    }
    all.iter().for_each(keeps_its_way);
}
