//! Registrations of servers of tools while tasks are at work: an attempt keeps the version it began with, and what was pinned
//! and cannot be read blocks.

use crate::story::{completed, object, state};
use crate::told::{Wire, give, settings};
use acts::{Action, ApprovalPacket};
use effects::{Ended, Heard, ToolCall, ToolReply, ToolSession, Unspoken};
use kernel::tool_registry::ServerVersion;
use model::ingress::Channel;
use model::tool_server::{ServerLaunch, ServerTool, ToolHints, ToolManifest};
use model::{ApprovalId, TaskId};
use reasoning::{Settings, ToolMode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testkit::{Reached, World};

const FIRST: &str = "Looks an entry up.";
const SECOND: &str = "Looks an entry up, and sends it on.";
const TOOL: &str = "s00__entry";

/// A server with a tool whose words are what a test says by then, and another with so many that what is kept of it is a file.
struct Turning {
    words: Mutex<&'static str>,
    calls: AtomicUsize,
}

impl Turning {
    fn says(&self, words: &'static str) {
        *self.words.lock().unwrap() = words;
    }

    /// How often a tool of it was called since this was last asked.
    fn called(&self) -> usize {
        self.calls.swap(0, Ordering::SeqCst)
    }
}

/// A conversation with it.
#[derive(Clone)]
struct Talk(Arc<Turning>);

impl ToolSession for Talk {
    fn manifest(&mut self, _: Duration, _: Ended<'_>) -> Result<ToolManifest, String> {
        let words = *self.0.words.lock().unwrap();
        ToolManifest::of(vec![tool("entry", words), tool("other", &"One of many words. ".repeat(4_000))])
    }

    fn call(
        &mut self,
        _: ToolCall,
        _: Heard<'_>,
        _: Ended<'_>,
    ) -> Result<Result<ToolReply, String>, Unspoken> {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        let said = json!({ "content": [{ "type": "text", "text": "the entry was looked up" }] });
        Ok(Ok(ToolReply { is_error: false, result: said }))
    }
}

fn tool(name: &str, words: &str) -> ServerTool {
    ServerTool {
        name: name.to_owned(),
        title: None,
        description: Some(words.to_owned()),
        input_schema: r#"{"type":"object"}"#.to_owned(),
        output_schema: None,
        hints: ToolHints::default(),
    }
}

/// A world where a person registered that server with its first words.
fn world(seed: u64) -> (World, Arc<Turning>) {
    let turning = Arc::new(Turning { words: Mutex::new(FIRST), calls: AtomicUsize::new(0) });
    let mut world = World::new(seed);
    let talk = Talk(Arc::clone(&turning));
    world.servers = Arc::new(Reached::by(move |_| talk.clone()));
    world.reopen();
    world.register_many(1);
    world.clock.advance(1_000);
    (world, turning)
}

/// A person looks at the server again, and registers what it says by now.
fn registered_again(world: &World) {
    let as_before = ServerLaunch {
        argv: Vec::new(),
        url: None,
        secrets: BTreeMap::new(),
        variables: BTreeMap::new(),
        package: None,
        hosts: Vec::new(),
        reads: Vec::new(),
        pins: Vec::new(),
    };
    let (kernel, by) = (world.kernel(), (Channel::Cli, "again".to_owned()));
    let asked = kernel.propose_server("s00", &as_before, BTreeMap::new(), true, world.folder.path(), by);
    let asked = asked.unwrap().task_id;
    let approval = world.drive_to_approval(asked);
    world.person.allow(kernel, asked, approval).unwrap();
    assert_eq!(world.drive(asked), completed());
    world.clock.advance(1_000);
}

fn versions(world: &World) -> Vec<ServerVersion> {
    world.kernel().tool_registry().0["s00"].versions.clone()
}

fn large() -> Settings {
    settings(ToolMode::Tools, &[])
}

/// The words of the tool in a request; none where it is not offered.
fn offered(request: &str) -> Option<String> {
    let request: Value = serde_json::from_str(request).unwrap();
    let tools = request["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["function"]["name"] == TOOL)?;
    Some(tool["function"]["description"].as_str().unwrap().to_owned())
}

/// What a person is asked about.
fn asked_about(world: &World, task: TaskId, approval: ApprovalId) -> Action {
    let now = state(world, task);
    let packet: ApprovalPacket =
        object(world.kernel(), &now, now.approvals[&approval].approval.approval_packet_ref);
    packet.action_request.action
}

#[test]
fn an_attempt_at_work_keeps_the_version_that_it_began_with_and_the_next_has_the_new_one() {
    for (says, is_called) in [(FIRST, 1), (SECOND, 0)] {
        let (world, turning) = world(4_121);
        let wire = Wire::new(vec![
            ("write", json!({ "path": "b.txt", "content": "b" })),
            (TOOL, json!({})),
            ("done", json!({ "summary": "looked up" })),
        ]);
        let task = give(&world, &wire, "Look up an entry", large());
        let write = world.drive_to_approval(task);
        // A person looks at what the server says by now, and agrees to it.
        turning.says(SECOND);
        registered_again(&world);
        let versions = versions(&world);
        assert_eq!(versions.len(), 2);
        world.person.allow(world.kernel(), task, write).unwrap();
        let call = world.drive_to_approval(task);
        let words = offered(&wire.sent()[1]).expect("it is offered as before");
        assert!(words.contains(FIRST) && !words.contains("sends it on"), "{words}");
        let Action::Call(asked) = asked_about(&world, task, call) else { panic!("a call") };
        assert_eq!(
            asked.registration_sha256, versions[0].registration.sha256,
            "of the version it began with"
        );
        // What the server says in the end decides whether that version can be called.
        turning.says(says);
        turning.called();
        world.person.allow(world.kernel(), task, call).unwrap();
        assert_eq!(world.drive(task), completed());
        assert_eq!(turning.called(), is_called, "{says}");
        let told = wire.sent()[2].contains("says something else of `entry`");
        assert_eq!(told, is_called == 0, "{}", wire.sent()[2]);

        turning.says(SECOND);
        let next = Wire::new(vec![(TOOL, json!({})), ("done", json!({ "summary": "looked up" }))]);
        let task = give(&world, &next, "Look up the next entry", large());
        let call = world.drive_to_approval(task);
        assert!(offered(&next.sent()[0]).expect("it is offered").contains(SECOND), "{:?}", next.sent());
        let Action::Call(asked) = asked_about(&world, task, call) else { panic!("a call") };
        assert_eq!(asked.registration_sha256, versions[1].registration.sha256, "of the latest");
        world.person.allow(world.kernel(), task, call).unwrap();
        assert_eq!(world.drive(task), completed());
        assert_eq!(turning.called(), 1);
    }
}

#[test]
fn a_registration_that_cannot_be_read_blocks_the_call_and_is_offered_to_nobody() {
    for (seed, is_gone) in [(4_122, true), (4_123, false)] {
        let (mut world, turning) = world(seed);
        let wire = Wire::new(vec![(TOOL, json!({})), ("done", json!({ "summary": "none" }))]);
        let task = give(&world, &wire, "Look up an entry", large());
        let call = world.drive_to_approval(task);
        // Between the yes and the call, what was pinned is gone from the disk, or is something else there.
        let kept = world.kernel().artifacts().path_of(&versions(&world)[0].registration.sha256);
        let bytes = std::fs::read(&kept).unwrap();
        std::fs::remove_file(&kept).unwrap();
        if !is_gone {
            std::fs::write(&kept, [&bytes[..], b" "].concat()).unwrap();
        }
        world.person.allow(world.kernel(), task, call).unwrap();
        assert_eq!(world.drive(task), completed());
        assert_eq!(turning.called(), 0, "it was called without its pin");
        let told = &wire.sent()[1];
        assert!(told.contains("the server's registration cannot be read"), "{told}");

        // The next host knows nothing of what it said: its tool is offered to nobody.
        world.reopen();
        let next = Wire::new(vec![(TOOL, json!({})), ("done", json!({ "summary": "none" }))]);
        let task = give(&world, &next, "Look up the next entry", large());
        assert_eq!(world.drive(task), completed());
        let sent = next.sent();
        assert_eq!(offered(&sent[0]), None, "{}", sent[0]);
        assert!(sent[1].contains("there is no tool `s00__entry` that can be used"), "{}", sent[1]);
        assert_eq!(turning.called(), 0);

        // What can be read again is used again.
        std::fs::write(&kept, bytes).unwrap();
        let last = Wire::new(vec![(TOOL, json!({})), ("done", json!({ "summary": "looked up" }))]);
        let task = give(&world, &last, "Look up the last entry", large());
        let call = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, call).unwrap();
        assert_eq!((world.drive(task), turning.called()), (completed(), 1));
    }
}
