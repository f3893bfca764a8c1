//! Playbooks drafted from tasks: erasing one of them takes what holds its words.

use crate::home::Home;
use serde_json::json;
use std::collections::BTreeSet;
use testkit::{done, write};

#[test]
fn erasing_a_task_takes_the_playbooks_that_were_drafted_from_it_wherever_their_text_is() {
    let home = Home::new(191);
    let sources: Vec<_> = ["alpha", "beta", "gamma"]
        .map(|part| {
            let text = format!("# {part}\n\nHeronsgate is where all of this belongs to {part}\n");
            let says = vec![write(&format!("parts/{part}/README.md"), &text), done("Begun.")];
            let task = home.world.script(&format!("Begin {part}"), says);
            home.world.drive_allowing(task);
            task
        })
        .into();
    assert_eq!(home.world.kernel().read_history(0).expect("a look").drafts, 1);
    let name = home.world.kernel().drafts().expect("drafts").remove(0).mark.name;
    let asks =
        home.world.kernel().propose_playbook(&name, model::ingress::Channel::Cli).expect("a task").task_id;
    home.world.drive_allowing(asks);
    assert_eq!(home.world.kernel().playbook_registry().0.len(), 1);
    let plan = home.must("erasure.plan", json!({ "task": sources[0].to_string() }));
    let planned: BTreeSet<String> = plan["contents"]
        .as_array()
        .expect("contents")
        .iter()
        .map(|row| row["artifact_id"].as_str().expect("an id").to_owned())
        .collect();
    // Whatever holds the word and is of no other source goes.
    let query = home.world.kernel().query().expect("views");
    let all = query.artifacts(&projections::query::ArtifactFilter::default(), projections::query::Ask::ALL);
    let mut held = 0;
    for row in all.expect("artifacts").rows {
        let Ok(bytes) = home.world.kernel().artifacts().read(&row.content_hash) else { continue };
        let holds = bytes.windows(10).any(|window| window == b"Heronsgate");
        if !holds || sources[1..].contains(&row.task_id) {
            continue;
        }
        held += usize::from(row.task_id != sources[0]);
        assert!(planned.contains(&row.artifact_id.to_string()), "{} of {} stays", row.kind, row.task_id);
    }
    assert!(held >= 4, "the draft, what was adopted, what was asked and its card: {held}");
    assert!(!name.contains("readme"), "its name stays, and holds no word of a file: {name}");
    let warned = plan["warnings"].to_string();
    assert!(warned.contains("1 adopted texts, which run no more"), "{warned}");
}
