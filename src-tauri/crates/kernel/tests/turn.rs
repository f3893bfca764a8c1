//! A typical turn, from a message in a chat to the answer there (HV-4).

use crate::beside::dispatched;
use crate::gateways::{NAME, allow_messages, connected, deliver, from, pair, refused, task_of, texts};
use crate::story::{completed, count, state};
use crate::told::{SEVERAL, Wire, settings};
use model::envelope::Envelope;
use model::gateway::{MessageRefusal, SenderProfile};
use model::ingress::Channel;
use model::proposal::Answer;
use reasoning::{Address, ModelServer, ToolMode};
use serde_json::{Value, json};
use std::sync::Arc;
use testkit::{OpenFiles, World, done, look, say, write};

const SKILL: &str = "---\nname: zanzibar\ndescription: Packs parcels for the harbour\n---\n# zanzibar\nTie each knot twice.\n";
/// Files whose reading takes longer than beginning to read the next.
const LONG: [&str; 4] = ["long1.txt", "long2.txt", "long3.txt", "long4.txt"];
/// How many messages may ask for the same looks: a busy machine may begin one late.
const TRIES: usize = 5;
const GOAL: &str = "Update the tax rate of Malta";

/// A person trusts the skill that lies in the folder, and lets something be remembered.
fn prepared(world: &World) {
    world.file(".agents/skills/zanzibar/SKILL.md", SKILL);
    world.file("rates.toml", "malta = 18");
    world.file("notes.md", "It has changed.");
    world.file("more.md", "It is nineteen.");
    let long = "one line of many, and all of them are the same\n".repeat(100_000);
    for name in LONG {
        world.file(name, &long);
    }
    let by = (Channel::App, "skill".to_owned());
    let card = world.kernel().propose_skill("zanzibar", None, Some(world.folder.path()), by).unwrap().task_id;
    assert_eq!(world.drive_allowing(card).0, completed());
    let claim = "tax rates live in rates.toml";
    let memory = json!({ "claim": claim, "scope": "project", "reason": "it will be needed", "evidence": ["rates.toml"] });
    let learn = world.script("learn", vec![look("rates.toml"), say("remember", memory), done("learnt")]);
    assert_eq!(world.drive_allowing(learn).0, completed());
}

/// The calls of answers, as a model gives them in one.
fn calls(answers: Vec<Answer>) -> Value {
    let all = answers.into_iter().flat_map(|answer| answer.calls);
    all.map(|call| json!({ "tool": call.name, "arguments": call.arguments })).collect()
}

fn look_at_one_line(name: &str) -> Answer {
    say("read", json!({ "path": name, "from": 1, "to": 1 }))
}

/// Whether some of the long files, all of which were opened, were open together; also where the system does not tell.
fn are_beside(files: &OpenFiles) -> bool {
    let Some((opened, most)) = files.told("long") else { return true };
    assert_eq!(opened, LONG.len(), "each is looked at");
    most > 1
}

/// Lets the historian read whatever has ended; how many tasks it read.
fn looked_back(world: &World) -> usize {
    let mut tasks = 0;
    for _ in 0..20 {
        let looked = world.kernel().read_history(0).unwrap();
        tasks += looked.tasks;
        if looked.tasks == 0 && !looked.more {
            return tasks;
        }
    }
    panic!("it never ends");
}

#[conforms::conforms("HV-4-1")]
#[test]
fn a_message_in_a_chat_is_a_turn_of_the_loop_and_its_answer_comes_back_there() {
    let (world, service) = connected(9_851, true, Vec::new());
    prepared(&world);
    let mary = pair(&world, "mary", SenderProfile::Goals);
    allow_messages(&world, "mary");
    deliver(&world);
    looked_back(&world);
    let mut several = vec![look("rates.toml"), look("notes.md")];
    several.extend(LONG.map(look_at_one_line));
    several.extend([write("1.md", "18"), look("more.md"), write("2.md", "19")]);
    let wire =
        Wire::new(vec![(SEVERAL, calls(several)), ("done", json!({ "summary": "Malta stands at 19 now." }))]);
    let address: Address = "openai:http://127.0.0.1:1/v1#m".parse().unwrap();
    let model = ModelServer::new(&address, settings(ToolMode::Tools, &[]), Arc::clone(&wire) as _).unwrap();
    world.reasoners.put("small", Arc::new(model));

    // It comes by the gateway, signed for this node, and into the conversation of its sender; for another it is nobody's.
    let bytes = world.kernel().wrap(NAME, from(&world, "mary", "1", GOAL)).unwrap();
    let envelope = Envelope::from_bytes(&bytes).unwrap();
    assert_eq!(envelope.node_id, world.kernel().reader().log_id());
    assert_eq!(envelope.conversation_id, Some(mary.conversation_id));
    let node_id = "another node".to_owned();
    let other =
        Envelope::sign(envelope.conversation_id, node_id, envelope.payload, &*world.keys.log_signer())
            .unwrap();
    let elsewhere = world.kernel().receive_message(NAME, &other.to_bytes().unwrap()).unwrap();
    assert_eq!(elsewhere, refused(MessageRefusal::Elsewhere));
    let task = task_of(world.kernel().receive_message(NAME, &bytes).unwrap());
    assert_eq!(state(&world, task).task.conversation_id, mary.conversation_id);
    assert!(wire.sent().is_empty(), "taking it in asks no model");

    // The first request has the rules, the goal, what is remembered of the project, and the skill that is trusted.
    let files = OpenFiles::of(world.folder.path());
    assert_eq!(world.drive_allowing(task).0, completed());
    let beside = are_beside(&files);
    let sent = wire.sent();
    assert_eq!((sent.len(), count(world.kernel(), task, "attempt.model_responded")), (2, 2));
    let first: Value = serde_json::from_str(&sent[0]).unwrap();
    assert_eq!(first["messages"][0]["role"], "system");
    for told in [GOAL, "[MEMORY MARKER]", "tax rates live in rates.toml", "Packs parcels for the harbour"] {
        assert!(sent[0].contains(told), "`{told}` is not in {}", sent[0]);
    }
    // Looks that follow each other are one request; what changes something is done alone, in its order; all of it goes back.
    let all = dispatched(&world, task);
    let acts: Vec<(&str, usize)> = all.iter().map(|(tool, beside)| (tool.as_str(), beside.len())).collect();
    assert_eq!(acts, [("observe", 0), ("change", 0), ("observe", 0), ("change", 0)]);
    assert!(sent[1].contains("malta = 18") && sent[1].contains("It is nineteen."), "{}", sent[1]);

    // The answer goes back by the gateway, and waits for nobody who looks for what is worth keeping.
    deliver(&world);
    let said = texts(&service);
    assert!(said.last().unwrap().contains("Malta stands at 19 now."), "{said:?}");
    assert_eq!(looked_back(&world), 1, "that task is looked at once it has ended");

    // What only looks is done beside each other, told by the system.
    let again = |turn: usize| {
        wire.says_next("done", json!({ "summary": "They are long." }));
        wire.says_next(SEVERAL, calls(LONG.map(look_at_one_line).into()));
        let message = from(&world, "mary", &turn.to_string(), "Look at the long files");
        let bytes = world.kernel().wrap(NAME, message).unwrap();
        let task = task_of(world.kernel().receive_message(NAME, &bytes).unwrap());
        assert_eq!(world.drive_allowing(task).0, completed());
        are_beside(&files)
    };
    assert!(beside || (2..=TRIES).any(again), "the long files were never open together");
}
