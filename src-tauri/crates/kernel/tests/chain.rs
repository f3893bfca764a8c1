//! From a model's words to an effect there is one way: request, policy, approval, grant, gate, executor.

use crate::story::{completed, count, events, object, packs, place, rebuilt, shows, state, types};
use acts::ActionRequest;
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Waiting};
use model::attempt::TerminationReason;
use model::audit::{AuditEntry, GateDecision};
use model::context::Section;
use model::grant::CapabilityGrant;
use model::ingress::Channel;
use model::policy::{Profile, Verdict};
use model::receipt::ResultCode;
use model::task::{Proposer, StepStatus};
use model::{ActionRequestId, Body, TaskId};
use projections::query::Ask;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use testkit::{ManyTools, World, change, command, done, look, say, write};

/// What is on record before the dispatch of one request.
#[derive(Default)]
struct Behind {
    requested: bool,
    verdict: Option<Verdict>,
    approval: Option<model::ApprovalId>,
    granted: bool,
    grant: Option<CapabilityGrant>,
}

/// Every effect of a task went the whole way; returns the requests that were dispatched.
fn whole_way(world: &World, task: TaskId) -> Vec<ActionRequestId> {
    let kernel = world.kernel();
    let state = state(world, task);
    let entries: Vec<AuditEntry> = kernel
        .reader()
        .gate_entries(0, 10_000)
        .unwrap()
        .iter()
        .map(|(_, bytes)| serde_json::from_slice(bytes).unwrap())
        .collect();
    let mut behind: BTreeMap<ActionRequestId, Behind> = BTreeMap::new();
    let mut dispatched = Vec::new();
    for (_, body) in events(kernel, task) {
        match body {
            Body::ActionRequested(b) => {
                let request: ActionRequest = object(kernel, &state, b.request.artifact_id);
                assert_eq!((request.action_request_id, request.task_id), (b.action_request_id, task));
                assert_eq!(request.action_class, b.action_class);
                behind.entry(b.action_request_id).or_default().requested = true;
            }
            Body::PolicyEvaluated(b) => {
                let of = behind.get_mut(&b.action_request_id).expect("only requests are judged");
                (of.verdict, of.granted) = (Some(b.verdict), false);
            }
            Body::ApprovalRequested(b) => {
                behind.get_mut(&b.action_request_id).unwrap().approval = Some(b.approval.approval_id);
            }
            Body::ApprovalGranted(b) => {
                let of = behind.values_mut().find(|of| of.approval == Some(b.approval_id));
                of.expect("only requests are approved").granted = true;
            }
            Body::GrantIssued(b) => {
                let of = behind.get_mut(&b.action_request_id).expect("only requests get grants");
                assert!(of.verdict == Some(Verdict::Allow) || of.granted, "a grant without a yes");
                of.grant = Some(object(kernel, &state, b.grant.artifact_id));
            }
            Body::EffectDispatched(b) => {
                let of = &behind[&b.action_request_id];
                assert!(of.requested && of.verdict.is_some());
                assert_eq!(
                    of.grant.as_ref().map(|g| g.grant_id),
                    Some(b.grant_id),
                    "dispatched under its own grant"
                );
                let entry = entries
                    .iter()
                    .find(|e| e.entry_hash == b.audit_entry_sha256)
                    .expect("the gate let it pass");
                assert_eq!(entry.decision, GateDecision::Allow);
                dispatched.push(b.action_request_id);
            }
            Body::EffectObserved(b) if b.result_code != ResultCode::Denied => {
                assert!(dispatched.contains(&b.action_request_id), "an effect without a dispatch");
            }
            _ => {}
        }
    }
    dispatched
}

#[conforms::conforms(
    "HK-6.2-1",
    part = "HK-10.4-1",
    part = "HK-11.2-2",
    "HK-11.3-1",
    part = "HK-25.1-6",
    part = "HK-27-4",
    part = "HK-16.6-1",
    "HK-25.2-4",
    "RX-10-4",
    "HK-2-4",
    "HK-3-6",
    "HK-26-2"
)]
#[test]
fn whoever_proposes_it_every_effect_goes_the_whole_way() {
    let mut world = World::new(401);
    world.file("a.txt", "text");
    let remember = json!({ "claim": "a is text", "scope": "*", "reason": "asked", "evidence": ["a.txt"] });
    let all = world.script(
        "all",
        vec![
            look("a.txt"),
            write("b.txt", "b"),
            command(&["rm", "a.txt"]),
            say("remember", remember),
            say("delete", json!({ "path": "a.txt" })),
            done("ok"),
        ],
    );
    assert_eq!(world.drive_allowing(all).0, completed());
    let refused = world.script("refused", vec![write("c.txt", "c"), done("not done")]);
    let approval = world.drive_to_approval(refused);
    world.person.deny(world.kernel(), refused, approval, "no").unwrap();
    world.drive(refused);
    let playbook = world.playbook("tidy");
    world.drive_allowing(playbook);
    let receipt = state(&world, all).receipts.last().unwrap().receipt_id;
    let undo = world.kernel().rollback(receipt, Channel::Cli, "undo".to_owned()).unwrap().task_id;
    assert_eq!(world.drive_allowing(undo).0, completed());
    let tasks = [all, refused, playbook, undo];
    let dispatched: Vec<ActionRequestId> = tasks.iter().flat_map(|task| whole_way(&world, *task)).collect();
    assert_eq!(whole_way(&world, refused), [], "what a person refused was not dispatched");
    assert_eq!(whole_way(&world, all).len(), 4, "the command was denied, the rest was done");
    assert_eq!(whole_way(&world, undo).len(), 1, "a plan of the kernel's own goes the same way");
    assert!(!whole_way(&world, playbook).is_empty(), "and so does a list that nobody thought of");
    let by = [all, playbook, undo].map(|task| state(&world, task).attempt().unwrap().attempt.proposer);
    assert_eq!(by, [Some(Proposer::Scripted), Some(Proposer::Playbook), Some(Proposer::Rollback)]);
    for (request, times) in world.oracle.performed() {
        assert!(dispatched.contains(&request), "an executor moved without a dispatch");
        assert_eq!(times, 1);
    }
    assert_eq!(world.files()["a.txt"], b"text", "deleted, and brought back");
    assert!(!world.files().contains_key("c.txt"), "what a person refused is not there");
    // The next host reads the same runs out of the log, and nothing of them happens again.
    let loops = |world: &World| tasks.map(|task| state(world, task).attempt().unwrap().loop_state.clone());
    let (performed, lived) = (world.oracle.performed(), loops(&world));
    world.reopen();
    assert_eq!(loops(&world), lived);
    for task in tasks {
        assert!(matches!(world.drive(task), DriveOutcome::Ended { .. }));
    }
    assert_eq!(world.oracle.performed(), performed);
}

#[conforms::conforms("HK-6.2-4", "HK-16.3-1", "HK-16.3-3", "HK-25.2-1", "HK-27-6")]
#[test]
fn what_a_profile_forbids_is_not_done_whatever_the_model_says() {
    let world = World::new(402);
    for (profile, asks, done_instead) in [
        (Profile::ReadonlyAnalysis, false, true),
        (Profile::DestructiveDenied, false, false),
        (Profile::LocalEditAllowed, true, false),
    ] {
        world.file("a.txt", "text");
        let name = profile.as_str();
        world.reasoners.script(name, vec![say("delete", json!({ "path": "a.txt" })), done("ok")]);
        let mut submission = world.submission(name, Reasoning::Scripted { name: name.to_owned() });
        submission.profile = profile;
        let task = world.kernel().submit(&submission).unwrap().task_id;
        assert_eq!(world.kernel().query().unwrap().task(task).unwrap().unwrap().profile, profile);
        assert_eq!(state(&world, task).task.policy_profile_ref, profile);
        let (_, asked) = world.drive_allowing(task);
        assert_eq!(asked > 0, asks, "{profile}");
        assert_eq!(world.files().is_empty(), asks, "{profile}");
        // Where a lesser form is allowed, that is dispatched: it looks, and the file is there as it was.
        assert_eq!(count(world.kernel(), task, "effect.dispatched") > 0, asks || done_instead, "{profile}");
        assert_eq!(count(world.kernel(), task, "action.downgraded"), usize::from(done_instead), "{profile}");
        let order = types(world.kernel(), task);
        assert!(place(&order, "action.requested") < place(&order, "policy.evaluated"));
        assert_eq!(whole_way(&world, task).len(), usize::from(asks || done_instead));
    }
}

#[conforms::conforms("HK-22.1-1", "HK-3-7")]
#[test]
fn work_goes_through_its_stations_in_order() {
    let mut world = World::new(403);
    world.file("a.txt", "text");
    let task = world.script("delete", vec![say("delete", json!({ "path": "a.txt" })), done("ok")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    let order = types(world.kernel(), task);
    let stations = [
        "task.created",
        "step.created",
        "step.status_changed",
        "attempt.created",
        "workspace.lease_acquired",
        "attempt.context_compiled",
        "attempt.model_requested",
        "attempt.model_responded",
        "action.requested",
        "policy.evaluated",
        "witness.captured",
        "approval.requested",
        "approval.granted",
        "witness.validated",
        "decision.recorded",
        "grant.issued",
        "effect.dispatched",
        "effect.observed",
    ];
    let places: Vec<usize> = stations.iter().map(|station| place(&order, station)).collect();
    assert!(
        places.windows(2).all(|pair| pair[0] < pair[1]),
        "{:?}",
        stations.iter().zip(&places).collect::<Vec<_>>()
    );
    let receipt = order.iter().rposition(|t| t == "receipt.issued").unwrap();
    assert!(receipt > place(&order, "effect.observed"));
    knows_what_it_works_from(&world);
    let (kept, again) = rebuilt(&mut world);
    assert_eq!(kept, again, "and views are made again from events");
}

/// What a turn works from is compiled of artifacts, working state, beliefs and memory, also of a task that was taken up again.
fn knows_what_it_works_from(world: &World) {
    world.file("a.txt", "seen-in-a-file");
    world.file("b.txt", "nobody has read it");
    let on = json!(["b.txt"]);
    let task = world.script(
        "work from a claim",
        vec![
            look("a.txt"),
            say("note", json!({ "plan": "noted-plan" })),
            say("hash", json!({ "path": "b.txt" })),
            say("believe", json!({ "claim": "believed-claim", "confidence": 700, "evidence": on })),
            say(
                "remember",
                json!({ "claim": "remembered-claim", "scope": "*", "reason": "asked", "evidence": on }),
            ),
            done("ok"),
        ],
    );
    world.drive_to_approval(task);
    let attempt = state(world, task).current;
    world.kernel().pause(task).unwrap();
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Resume));
    world.kernel().resume(task).unwrap();
    assert_eq!(world.drive_allowing(task).0, completed());
    assert_eq!(state(world, task).current, attempt, "taken up again where it was");
    let last = packs(world.kernel(), task).pop().unwrap();
    for (section, text) in [
        (Section::Artifacts, "seen-in-a-file"),
        (Section::WorkingState, "noted-plan"),
        (Section::Beliefs, "believed-claim"),
        (Section::Memory, "remembered-claim"),
    ] {
        let is_there = last.items.iter().any(|item| item.section == section && item.text.contains(text));
        assert!(is_there, "`{text}` is not in {section}: {:#?}", last.items);
    }
}

#[conforms::conforms("RX-1-3", "RX-3-1", part = "RX-4-2", part = "RX-5-6", "HK-22-2")]
#[test]
fn a_turn_thinks_judges_acts_observes_and_is_recorded() {
    let world = World::new(404);
    world.file("a.txt", "text");
    let task = world
        .script("look twice", vec![look("a.txt"), say("hash", json!({ "path": "a.txt" })), done("seen")]);
    assert_eq!(world.drive(task), completed());
    let order = types(world.kernel(), task);
    let one_turn = [
        "attempt.context_compiled",
        "attempt.model_requested",
        "attempt.model_responded",
        "action.requested",
        "policy.evaluated",
        "effect.dispatched",
        "effect.observed",
        "attempt.iteration_completed",
    ];
    let seen: Vec<&str> = order.iter().map(String::as_str).filter(|t| one_turn.contains(t)).collect();
    let closing = [
        "attempt.context_compiled",
        "attempt.model_requested",
        "attempt.model_responded",
        "attempt.iteration_completed",
    ];
    assert_eq!(seen, [&one_turn[..], &one_turn[..], &closing[..]].concat());
    let mut turns = Vec::new();
    let mut end = None;
    for (_, body) in events(world.kernel(), task) {
        match body {
            Body::IterationCompleted(b) => turns.push((b.record.step_number, b.record.tool_invocation)),
            Body::RunTerminated(b) => end = Some((b.reason, b.iterations)),
            _ => {}
        }
    }
    let told = [(1, "observe"), (2, "observe"), (3, "done")];
    assert_eq!(turns, told.map(|(n, tool)| (n, Some(tool.to_owned()))));
    assert_eq!(end, Some((TerminationReason::Done, 3)));
    let attempt = state(&world, task).current.unwrap();
    let rows = world.kernel().query().unwrap().iterations(task, Some(attempt), Ask::ALL).unwrap().rows;
    assert_eq!(rows.len(), 3, "every turn can be looked up");
}

#[conforms::conforms("RX-9-1", "RX-9-2")]
#[test]
fn a_failed_tool_is_on_record_and_the_model_is_told() {
    let world = World::new(405);
    let failed = |task: TaskId| {
        let failed = events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
            Body::IterationCompleted(b) => b.record.error,
            _ => None,
        });
        let said = failed.expect("the failure is on record");
        let said = said.shown().unwrap().clone();
        assert!(shows(packs(world.kernel(), task).last().unwrap(), &said), "the next turn is told: {said}");
        said
    };
    let move_it = change(json!([{ "op": "move", "from": "nothing.txt", "to": "b.txt" }]));
    let task = world.script("move", vec![move_it, done("gave up")]);
    assert_eq!(world.drive(task), completed());
    let said = failed(task);
    assert!(said.contains("nothing.txt"), "{said}");
    // So is one that was allowed and fails while it is at work: a file is there by then.
    let task = world.script("write", vec![write("a.txt", "ours"), done("gave up")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    let path = world.path("a.txt");
    world.oracle.tells(move |_, _| std::fs::write(&path, "theirs").unwrap());
    assert_eq!(world.drive(task), completed());
    assert!(!failed(task).is_empty());
    assert_eq!(world.files()["a.txt"], b"theirs");
    let came = events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
        Body::EffectObserved(b) => Some(b.result_code),
        _ => None,
    });
    assert_eq!(came, Some(ResultCode::Failed), "what it came to is an event");
}

#[conforms::conforms("RX-1-4", "RX-8-3")]
#[test]
fn only_tools_of_the_registry_are_called() {
    let world = World::new(406);
    let task = world.script("shell", vec![say("shell", json!({ "cmd": "touch x" })), done("ok")]);
    assert_eq!(world.drive(task), completed());
    assert_eq!(count(world.kernel(), task, "attempt.output_rejected"), 1);
    assert_eq!(count(world.kernel(), task, "action.requested"), 0);
    let last = packs(world.kernel(), task).pop().unwrap();
    for tool in iteration::tools() {
        assert!(shows(&last, &tool.name), "it is told that there is `{}`", tool.name);
    }
    // Nor is one called by the name of a server's tool where nobody registered that.
    let task = world.script("call", vec![say("nobody__tool", json!({ "cmd": "touch x" })), done("ok")]);
    assert_eq!(world.drive(task), completed());
    for event in ["action.requested", "effect.dispatched"] {
        assert_eq!(count(world.kernel(), task, event), 0, "{event}");
    }
    let last = packs(world.kernel(), task).pop().unwrap();
    assert!(shows(&last, "there is no tool `nobody__tool` that can be used"), "{:#?}", last.items);
    assert!(world.files().is_empty());
    // One that a person registered is called, by the same words that called nothing before.
    let mut world = World::new(410);
    world.servers = Arc::new(ManyTools);
    world.reopen();
    for registered in 0..2 {
        world.register_many(registered);
        let name = format!("call {registered}");
        let call = say("s00__entry_00", json!({ "minutes": 1 }));
        world.reasoners.script(&name, vec![call, done("ok")]);
        let mut submission = world.submission(&name, Reasoning::Scripted { name: name.clone() });
        submission.profile = Profile::ExternalPublishGated;
        let task = world.kernel().submit(&submission).unwrap().task_id;
        assert_eq!(world.drive_allowing(task).0, completed());
        for event in ["action.requested", "effect.dispatched"] {
            assert_eq!(count(world.kernel(), task, event), registered, "{event}");
        }
        let answered = shows(packs(world.kernel(), task).last().unwrap(), "entry_00 was called");
        assert_eq!(answered, registered == 1, "what it said comes back");
    }
}

/// What the loop may be made of: meaning and words, and nothing that stores, sends or reaches.
const OF_THE_LOOP: [&str; 6] = ["model", "acts", "seal", "serde", "serde_json", "thiserror"];
/// How a source reaches outside by itself.
const REACHES: [&str; 10] = [
    "std::process",
    "std::fs",
    "std::net",
    "std::os",
    "std::env",
    "std::thread",
    "std::{",
    "usestdas",
    "externcrate",
    "extern\"C\"",
];

/// What a manifest depends on that the loop may not be made of.
fn foreign(manifest: &str) -> Vec<&str> {
    let (_, after) = manifest.split_once("[dependencies]").unwrap();
    let needs = after
        .lines()
        .take_while(|line| !line.starts_with("[dev-") && !line.starts_with("[lints"))
        .filter_map(|line| line.split(['.', ' ', '=']).next().filter(|name| !name.is_empty()));
    needs.filter(|need| !OF_THE_LOOP.contains(need)).collect()
}

/// How a source reaches outside.
fn reached(text: &str) -> Vec<&'static str> {
    let used: String = text.split_whitespace().collect();
    REACHES.into_iter().filter(|reach| used.contains(reach)).collect()
}

#[conforms::conforms("RX-2-1", "RX-2-2", "RX-2-3", "RX-2-4", "RX-2-5", "RX-7-2")]
#[test]
fn the_loop_itself_can_reach_nothing() {
    let room = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../iteration");
    let manifest = std::fs::read_to_string(room.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("\nmodel"));
    assert_eq!(foreign(&manifest), [""; 0], "the loop depends on it");
    let mut read = 0;
    for entry in std::fs::read_dir(room.join("src")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "rs") {
            assert!(path.is_file(), "{}: look into it too", path.display());
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(reached(&text), [""; 0], "{} reaches it", path.display());
        read += 1;
    }
    assert!(read > 2);
    // Each of what the loop is not to do would be seen: a shell, a file, the network, a store, a transport.
    for (fault, seen) in [
        ("fn f() { std :: process::Command::new(\"sh\"); }", "std::process"),
        ("use std::fs::read;", "std::fs"),
        ("use std::net::TcpStream;", "std::net"),
        ("use std::os::unix::net::UnixStream;", "std::os"),
        ("use std as s;", "usestdas"),
        ("use std::{fs, net};", "std::{"),
    ] {
        assert_eq!(reached(fault), [seen]);
    }
    for (need, seen) in [("rusqlite.workspace = true", "rusqlite"), ("ledger.workspace = true", "ledger")] {
        let worse = manifest.replace("[dependencies]\n", &format!("[dependencies]\n{need}\n"));
        assert_eq!(foreign(&worse), [seen], "nothing that stores");
    }
    for need in ["axum", "ureq", "tokio", "hyper"] {
        let worse = manifest.replace("[dependencies]\n", &format!("[dependencies]\n{need} = \"1\"\n"));
        assert_eq!(foreign(&worse), [need], "nothing that carries");
    }
}

#[test]
fn a_command_without_walls_is_denied_and_the_model_may_go_another_way() {
    let world = World::new(407);
    let task = world.script("run", vec![command(&["touch", "x"]), done("could not")]);
    let (standing, asked) = world.drive_allowing(task);
    assert_eq!(asked, 0, "nobody is asked what no yes could allow");
    assert!(matches!(standing, DriveOutcome::Ended { .. }), "{standing:?}");
    assert!(world.files().is_empty());
    assert_eq!(count(world.kernel(), task, "effect.dispatched"), 0);
}

#[conforms::conforms("HK-10.2-6")]
#[test]
fn whatever_chooses_what_comes_next_has_no_hands() {
    let world = World::new(408);
    let tasks = ["one", "two"].map(|goal| world.script(goal, vec![write("a.txt", goal), done("ok")]));
    for task in tasks {
        assert_eq!(state(&world, task).due_step().map(|step| step.status), Some(StepStatus::Ready));
    }
    assert!(
        world.oracle.performed().is_empty() && world.files().is_empty(),
        "what is due is not done by that"
    );
    let (next, decide) = (include_str!("../src/next.rs"), include_str!("../src/decide.rs"));
    for (name, text) in [("next.rs", next), ("decide.rs", decide)] {
        assert_eq!(reached(text), [""; 0], "{name} reaches it");
        assert!(!text.contains("Executors"), "{name} has what acts");
    }
    assert!(!next.contains("effects::"), "it knows of no effect");
}
