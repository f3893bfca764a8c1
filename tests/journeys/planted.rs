//! Facts are planted in what a task reads, and asked for when its context was summed up: by the extract alone, and when the small
//! model of this machine has put that in fewer words (memory.md 3).

use super::summary::real;
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Waiting};
use model::context::{ContextPack, ContextSummary, SummaryLineKind};
use model::ingress::Channel;
use model::{Body, ClarificationId, TaskId};
use reasoning::{Address, ModelServer, Settings, ToolMode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;
use testkit::{Chat, Large, World};

const GOAL: &str = "Write down the port of every service of the harbour";
/// Files that are read; each of the first ones has a fact.
const FILES: usize = 16;
const FACTS: usize = 12;
/// Tokens that the small model is served with.
const SMALL: u32 = 4_096;

const SERVICES: [&str; FACTS] = [
    "lantern", "anchor", "tide", "ferry", "crane", "pilot", "customs", "weather", "berth", "signal",
    "rescue", "archive",
];

fn port(n: usize) -> String {
    (4_100 + 137 * n).to_string()
}

fn server(address: &str, settings: Settings) -> Arc<ModelServer> {
    let egress =
        host::Outbound::new(&host::Config::default(), Arc::default(), host::secrets::SecretBook::default());
    let address: Address = address.parse().expect("an address");
    Arc::new(ModelServer::new(&address, settings, Arc::new(egress)).expect("a server"))
}

/// A task that has read all files and waits for a person.
struct Planted {
    world: World,
    task: TaskId,
    asks: ClarificationId,
    chat: Chat,
}

fn planted(seed: u64) -> Planted {
    let world = World::new(seed);
    let filler: String = (0..40).map(|line| format!("entry {line} of this log says nothing new\n")).collect();
    for n in 0..FILES {
        let fact =
            SERVICES.get(n).map(|service| format!("The {service} service listens on port {}.\n", port(n)));
        world.file(&format!("log{n:02}.txt"), &format!("{filler}{}{filler}", fact.unwrap_or_default()));
    }
    let call = |tool: &str, arguments: Value| json!({ "tool": tool, "arguments": arguments });
    let mut says: Vec<Value> =
        (0..FILES).map(|n| call("read", json!({ "path": format!("log{n:02}.txt") }))).collect();
    says.push(call("ask", json!({ "question": "shall I go on?" })));
    says.push(call("done", json!({ "summary": "I know them all" })));
    let chat = Chat::saying(Large::STRONG, says);
    world.reasoners.put(GOAL, of(&chat));
    let mut submission: Submission = world.submission(GOAL, Reasoning::Scripted { name: GOAL.to_owned() });
    submission.budget.iterations_max = 40;
    submission.budget.tokens_max = 100_000_000;
    let task = world.kernel().submit(&submission).expect("submitted").task_id;
    let DriveOutcome::Waiting(Waiting::Answer(asks)) = world.drive(task) else { panic!("it asks") };
    world.kernel().compact(task, true).expect("it is summed up").expect("there is enough to sum up");
    Planted { world, task, asks, chat }
}

fn of(chat: &Chat) -> Arc<ModelServer> {
    let settings = Settings {
        mode: ToolMode::Tools,
        context_tokens: 12_000,
        answer_tokens: 1_000,
        ..Settings::default()
    };
    server(&chat.address(), settings)
}

impl Planted {
    fn summary(&self) -> ContextSummary {
        let state = self.world.kernel().task(self.task).expect("there");
        let at = state.attempt().and_then(|attempt| attempt.compacted.clone()).expect("a summary").summary;
        serde_json::from_slice(&self.world.kernel().artifacts().read(&at.sha256).expect("kept"))
            .expect("read")
    }

    /// What of the facts stands in a text, its service and its port together on a line.
    fn kept(text: &str) -> usize {
        let on_a_line =
            |n: &usize| text.lines().any(|line| line.contains(SERVICES[*n]) && line.contains(&port(*n)));
        (0..FACTS).filter(on_a_line).count()
    }

    /// The task goes on; what the model is told then.
    fn told(&self) -> String {
        self.world.reasoners.put(GOAL, of(&self.chat));
        let kernel = self.world.kernel();
        kernel.answer(self.task, self.asks, "yes", Channel::App).expect("answered");
        self.world.drive(self.task);
        let state = kernel.task(self.task).expect("there");
        let events = kernel.reader().events(self.task, 0, 10_000).expect("read");
        let packs = events.into_iter().filter_map(|stored| {
            let event = stored.event().expect("an event");
            match kernel.reader().revealing(|shown| event.body(shown)).expect("read").expect("a body") {
                Body::ContextCompiled(compiled) => Some(compiled.pack.artifact_id),
                _ => None,
            }
        });
        let digest = state.digest_of(packs.last().expect("a context")).expect("known");
        let pack: ContextPack =
            serde_json::from_slice(&kernel.artifacts().read(&digest).expect("kept")).expect("a pack");
        assert!(pack.tokens <= pack.tokens_max, "{} of {}", pack.tokens, pack.tokens_max);
        pack.items.into_iter().map(|item| item.text + "\n").collect()
    }
}

fn text(summary: &ContextSummary) -> String {
    summary.lines.iter().map(|line| format!("{}\n", line.text)).collect()
}

#[test]
fn every_planted_fact_is_kept_by_the_extract_and_told_when_the_task_goes_on() {
    let planted = planted(9_501);
    let summary = planted.summary();
    assert!(summary.results as usize >= FACTS, "the files with facts are folded: {summary:?}");
    assert_eq!(Planted::kept(&text(&summary)), FACTS, "{}", text(&summary));
    let told = planted.told();
    assert_eq!(Planted::kept(&told), FACTS, "{told}");
    println!("extract only: {FACTS} of {FACTS} facts in {} lines", summary.lines.len());
}

#[test]
fn the_small_model_of_this_machine_loses_no_planted_number() {
    let Some((address, served)) = real(SMALL) else {
        return conforms::skip(
            "no real model is here (set HERMIT_MODEL_URL, or put one into Hermit's parts)",
        );
    };
    let planted = planted(9_502);
    let before = planted.summary();
    let settings =
        Settings { small: true, context_tokens: SMALL, answer_tokens: 1_024, ..Settings::default() };
    planted.world.reasoners.put(GOAL, server(&address, settings));
    let began = Instant::now();
    let made = planted.world.kernel().retell(planted.task, &|| true).expect("nothing is lost to it");
    let took = began.elapsed();
    drop(served);
    let after = planted.summary();
    let short = after.lines.iter().filter(|line| line.kind == SummaryLineKind::Retold).count();
    let kept = Planted::kept(&text(&after));
    println!(
        "a small model ({address}) in {took:.1?}: {} lines became {}, {short} of them in its words, {kept} of {FACTS} facts",
        before.lines.len(),
        after.lines.len(),
    );
    assert_eq!(made.is_some(), short > 0);
    // How much of a sentence it leaves is measured; a number is never lost, whatever it answers.
    for told in [text(&after), planted.told()] {
        assert!((0..FACTS).all(|n| told.contains(&port(n))), "{told}");
    }
}
