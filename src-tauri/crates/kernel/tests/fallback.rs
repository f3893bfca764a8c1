//! A model that does not answer is followed by the next that a person named.

use crate::story::{completed, count, events};
use crate::told::{Wire, settings};
use kernel::command::submit::{Reasoning, Submission};
use model::Body;
use model::task::ModelApi;
use reasoning::{ModelServer, ToolMode};
use serde_json::json;
use std::sync::Arc;
use testkit::World;

fn at(model: &str) -> Reasoning {
    let (base_url, model) = (format!("https://{model}.example/v1"), model.to_owned());
    Reasoning::Openai { api: ModelApi::Openai, base_url, model, secret: None }
}

#[test]
fn each_model_elsewhere_that_the_context_goes_to_is_decided_on_record() {
    let world = World::new(4_500);
    let done = Wire::new(vec![("done", json!({ "summary": "nothing" }))]);
    for (model, wire) in [("a", Wire::new(vec![])), ("b", done)] {
        let address = format!("openai:https://{model}.example/v1#{model}").parse().unwrap();
        let server = ModelServer::new(&address, settings(ToolMode::Tools, &[]), wire as _).unwrap();
        world.reasoners.put(model, Arc::new(server));
    }
    let submission = Submission { fallbacks: vec![at("b")], ..world.submission("look", at("a")) };
    let task = world.kernel().submit(&submission).unwrap().task_id;
    assert_eq!(world.drive(task), completed());
    assert_eq!(count(world.kernel(), task, "attempt.model_fell_back"), 1);
    let all = events(world.kernel(), task);
    let summaries = all.iter().filter_map(|(_, body)| match body {
        Body::DecisionRecorded(b) => b.decision.summary.shown().cloned(),
        _ => None,
    });
    let went: Vec<String> = summaries.filter(|summary| summary.contains("goes to the model")).collect();
    assert_eq!(went.len(), 2, "{went:?}");
    assert!(went[0].contains("`a`") && went[1].contains("`b`"), "{went:?}");
}
