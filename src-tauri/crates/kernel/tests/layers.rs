//! The layers of knowledge as a store keeps them: what a model reasons is heard and no kernel keeps it, what it notes lives as long as
//! its task, what it holds has evidence and a history, and what is remembered reaches other tasks (HK-15.1).

use crate::story::{completed, log, object, state};
use crate::told::{Wire, settings};
use kernel::command::submit::Reasoning;
use kernel::ports::Notice;
use kernel::{DriveOutcome, Waiting};
use model::artifact::{ArtifactKind, TrustTier};
use model::knowledge::{BeliefStatus, WorkingState};
use model::{Body, TaskId};
use projections::query::Ask;
use reasoning::{Address, Head, HttpReply, ModelHttp, ModelHttpError, ModelServer, ToolMode};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use testkit::World;

/// What the model reasons with every answer.
const THOUGHT: &str = "scratchpad-4471: perhaps the cellar";

/// A model's server that reasons before each of its answers.
struct Thinks(Arc<Wire>);

impl ModelHttp for Thinks {
    fn post(
        &self,
        url: &str,
        head: &Head<'_>,
        body: &[u8],
        most: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        self.0.post(url, head, body, most, &mut |bytes| {
            let mut whole: Value = serde_json::from_slice(bytes).unwrap();
            whole["choices"][0]["message"]["reasoning_content"] = json!(THOUGHT);
            on_chunk(whole.to_string().as_bytes())
        })
    }
}

fn give(world: &World, wire: &Arc<Wire>, goal: &str) -> TaskId {
    let address: Address = "openai:http://127.0.0.1:1/v1#m".parse().unwrap();
    let http = Arc::new(Thinks(Arc::clone(wire)));
    let model = ModelServer::new(&address, settings(ToolMode::Tools, &[]), http).unwrap();
    world.reasoners.put(goal, Arc::new(model));
    let submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    world.kernel().submit(&submission).unwrap().task_id
}

/// Notes, beliefs and memories, what each refuses among them.
fn script() -> Vec<(&'static str, Value)> {
    let believe =
        |claim: &str, evidence: Value| json!({ "claim": claim, "confidence": 400, "evidence": evidence });
    let remember = |evidence: Value| json!({ "claim": "wine is kept in the cellar", "scope": "project", "reason": "it will be needed", "evidence": evidence });
    vec![
        ("read", json!({ "path": "rooms.txt" })),
        // Task-local state: without evidence and without a question, revised at will, within its schema and its bound.
        ("note", json!({ "plan": "note-first: look at the attic" })),
        ("note", json!({ "plan": "note-second: look at the cellar" })),
        ("note", json!({ "mood": "bright" })),
        ("note", json!({ "uncertainties": ["x".repeat(40_000)] })),
        // Working truth: with evidence alone, and each revision of it.
        ("believe", believe("belief-dry: nothing shows it", json!([]))),
        ("believe", believe("belief-dry: the cellar is dry", json!(["rooms.txt"]))),
        (
            "believe",
            json!({ "claim": "read again", "confidence": 500, "evidence": ["rooms.txt"], "revises": "belief-dry: the cellar is dry" }),
        ),
        // Knowledge of other tasks: with evidence, and a person's word.
        ("remember", remember(json!([]))),
        ("remember", remember(json!(["rooms.txt"]))),
        ("ask", json!({ "question": "go on?" })),
        ("done", json!({ "summary": "it is known" })),
    ]
}

/// Whether any file below a folder holds these bytes.
fn lies_in(folder: &Path, bytes: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().any(|entry| match entry.file_type().unwrap().is_dir() {
        true => lies_in(&entry.path(), bytes),
        false => {
            let kept = std::fs::read(entry.path()).unwrap_or_default();
            kept.windows(bytes.len()).any(|window| window == bytes)
        }
    })
}

/// Whether what the model reasons was told to who listens.
fn heard_thinking(world: &World) -> bool {
    let heard = world.listener.0.lock().unwrap();
    let thought: String = heard
        .iter()
        .filter_map(|notice| match notice {
            Notice::Reasoning { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    thought.contains(THOUGHT)
}

/// What a store has of what was reasoned: nothing in its log, in what it keeps beside it, or in the bytes of its files.
fn keeps_no_thought(world: &World, task: TaskId) {
    for (event, body) in log(world.kernel()) {
        assert!(!format!("{body:?}").contains("scratchpad-4471"), "{}", event.event_type);
    }
    let held = state(world, task);
    for artifact in held.artifacts.values() {
        let bytes = world.kernel().artifacts().read(&artifact.content_hash).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("scratchpad-4471"), "{artifact:?}");
    }
    // What was said in the same answers is kept: a look that found nothing anywhere would be noticed.
    let answers = held.artifacts.values().filter(|one| one.kind == ArtifactKind::ModelAnswer);
    let mut said = answers.map(|one| world.kernel().artifacts().read(&one.content_hash).unwrap());
    assert!(said.any(|bytes| String::from_utf8_lossy(&bytes).contains("note-second")));
    let responses = held.artifacts.values().filter(|one| one.kind == ArtifactKind::ModelResponse);
    let responses: Vec<_> =
        responses.map(|one| world.kernel().artifacts().read(&one.content_hash).unwrap()).collect();
    let tells = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).contains("which is not kept: ");
    assert!(!responses.is_empty() && responses.iter().all(tells), "each says what came, by its digest");
    assert!(!lies_in(world.store.path(), THOUGHT.as_bytes()), "a file of the store holds it");
}

#[conforms::conforms(part = "HK-15.1-1")]
#[test]
fn what_is_noted_held_and_remembered_lives_as_long_and_needs_as_much_as_its_layer_says() {
    let mut world = World::new(3_801);
    world.file("rooms.txt", "the cellar is dry");
    let wire = Wire::new(script());
    let task = give(&world, &wire, "Where is the wine kept?");
    let DriveOutcome::Waiting(Waiting::Approval(asked)) = world.drive(task) else {
        panic!("memory is asked about")
    };
    assert!(
        world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows.is_empty(),
        "not before the yes"
    );
    world.person.allow(world.kernel(), task, asked).unwrap();
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(task) else { panic!("it asks") };
    let sent = wire.sent();
    let whole = sent.join("\n");
    for words in ["mood", "believe: no evidence", "`evidence` names nothing"] {
        assert!(whole.contains(words), "what was refused is told: `{words}`");
    }

    world.reopen();
    let now = state(&world, task);
    let (at, revision) = now.working_state.clone().unwrap();
    let working: WorkingState = object(world.kernel(), &now, at.artifact_id);
    assert!(
        sent.iter().all(|request| !request.contains("scratchpad-4471")),
        "what it reasons is told to nobody again"
    );
    // It was heard while it came, and no kernel keeps it: the next one knows nothing of it.
    assert!(heard_thinking(&world), "who listens hears it");
    keeps_no_thought(&world, task);
    assert_eq!(working.plan.as_deref(), Some("note-second: look at the cellar"));
    assert!(revision >= 2, "it was revised without anybody being asked");
    assert!(working.uncertainties.iter().all(|line| line.len() < 40_000));
    let beliefs = state(&world, task).beliefs;
    let belief = beliefs.values().find(|one| one.claim.shown().unwrap().starts_with("belief-dry")).unwrap();
    assert_eq!(
        (beliefs.len(), belief.revision, belief.confidence, belief.status),
        (1, 2, 500, BeliefStatus::Active)
    );
    assert!(!belief.evidence_refs.is_empty());
    let versions = log(world.kernel())
        .into_iter()
        .filter(|(_, body)| matches!(body, Body::BeliefAsserted(_) | Body::BeliefRevised(_)));
    assert_eq!(versions.count(), 2, "each version stays on record");
    let rows = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows;
    let [memory] = rows.as_slice() else { panic!("one memory: {rows:?}") };
    assert!(!memory.evidence.is_empty());

    world.kernel().answer(task, question, "yes", model::ingress::Channel::App).unwrap();
    assert_eq!(world.drive(task), completed());
    // Another task is told what is remembered, with its tier and source, and nothing of the other three.
    let other = Wire::new(vec![("done", json!({ "summary": "in the cellar" }))]);
    let next = give(&world, &other, "Fetch the wine that is kept somewhere");
    assert_eq!(world.drive(next), completed());
    let told = other.sent().join("\n");
    assert!(told.contains("wine is kept in the cellar") && told.contains(TrustTier::UserAsserted.as_str()));
    assert!(told.contains(&format!("Source: {task}")), "its source");
    for words in ["scratchpad-4471", "note-second", "belief-dry"] {
        assert!(!told.contains(words), "`{words}` belongs to its own task");
    }
}
