//! Calls of servers whose end nobody saw: one of a tool that a person said only looks counts as not done, and the model is told;
//! one of any other class waits for the person.

use crate::offered::{say_of, terms};
use crate::story::{completed, die, events};
use crate::told::{Wire, give, settings};
use effects::{Ended, Heard, ToolCall, ToolReply, ToolSession, Unspoken};
use kernel::{DriveOutcome, Waiting};
use model::action::ActionClass;
use model::fault::Point;
use model::receipt::ResultCode;
use model::task::TaskStatus;
use model::tool_server::{ToolManifest, ToolTerms};
use model::{Body, TaskId};
use reasoning::ToolMode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use testkit::{Edge, Reached, World, one_tool};

/// A server whose tool is counted, and which is lost in the middle of a call where it is told so.
#[derive(Clone, Default)]
struct Counted {
    /// How often it was started, and how often its tool was called.
    starts: Arc<AtomicUsize>,
    calls: Arc<AtomicUsize>,
    is_lost: bool,
}

impl ToolSession for Counted {
    fn manifest(&mut self, _: Duration, _: Ended<'_>) -> Result<ToolManifest, String> {
        one_tool("entry_00")
    }

    fn call(
        &mut self,
        _: ToolCall,
        _: Heard<'_>,
        _: Ended<'_>,
    ) -> Result<Result<ToolReply, String>, Unspoken> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.is_lost {
            return Err(Unspoken::Lost("it ended before it answered".to_owned()));
        }
        let result = json!({ "content": [{ "type": "text", "text": "the entry" }] });
        Ok(Ok(ToolReply { is_error: false, result }))
    }
}

/// A world whose one server has a tool of this class, and a task that waits for the yes to a call of it.
fn begun(seed: u64, class: ActionClass, is_lost: bool) -> (World, Arc<AtomicUsize>, Arc<Wire>, TaskId) {
    let server = Counted { is_lost, ..Counted::default() };
    let (world, wire, task) = begun_with(seed, &server, terms(class, &[]));
    (world, server.calls, wire, task)
}

fn begun_with(seed: u64, server: &Counted, terms: ToolTerms) -> (World, Arc<Wire>, TaskId) {
    let mut world = World::new(seed);
    let talk = server.clone();
    world.servers = Arc::new(Reached::by(move |_| {
        talk.starts.fetch_add(1, Ordering::SeqCst);
        talk.clone()
    }));
    world.reopen();
    world.register_many(1);
    say_of(&world, "entry_00", terms, "class");
    let wire = Wire::new(vec![("s00__entry_00", json!({})), ("done", json!({ "summary": "looked it up" }))]);
    let task = give(&world, &wire, "Look up the entry", settings(ToolMode::Tools, &[]));
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    (world, wire, task)
}

/// What the receipts of acts of a task say.
fn receipts(world: &World, task: TaskId) -> Vec<ResultCode> {
    let issued = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ReceiptIssued(b) => b.action_request_id.map(|_| b.result_code),
        _ => None,
    });
    issued.collect()
}

/// What the model was told with its second question.
fn told(wire: &Wire) -> String {
    let sent = wire.sent();
    let request: Value = serde_json::from_str(sent.get(1).expect("it was asked again")).unwrap();
    request["messages"].to_string()
}

/// Where a host may die around a call, how often the server was called by then, and what is known afterwards of a call of any
/// class.
const DEATHS: [(Point, Edge, usize, Option<ResultCode>); 5] = [
    (Point::EffectDispatch, Edge::After, 0, Some(ResultCode::Failed)),
    (Point::CallSend, Edge::Before, 0, Some(ResultCode::Failed)),
    (Point::CallSend, Edge::After, 0, None),
    (Point::CallAnswer, Edge::Before, 1, None),
    (Point::CallAnswer, Edge::After, 1, Some(ResultCode::Succeeded)),
];

#[test]
fn a_call_that_only_looks_is_not_done_where_its_host_died_and_any_other_waits_for_a_person() {
    for (seed, (point, edge, called, known)) in (6_201..).zip(DEATHS) {
        for class in [ActionClass::NetworkRead, ActionClass::ExternalEffect] {
            let (mut world, calls, wire, task) = begun(seed, class, false);
            die(&mut world, task, point, edge);
            let standing = world.drive(task);
            let name = format!("{point} {edge:?} {class}");
            assert_eq!(calls.load(Ordering::SeqCst), called, "{name}: nobody asks it again unasked");
            match (known, class) {
                (Some(code), _) => {
                    assert_eq!(standing, completed(), "{name}");
                    assert_eq!(receipts(&world, task), [code], "{name}");
                }
                (None, ActionClass::NetworkRead) => {
                    assert_eq!(standing, completed(), "{name}: nobody is waited for");
                    assert_eq!(receipts(&world, task), [ResultCode::Failed], "{name}");
                    let told = told(&wire);
                    for words in
                        ["interrupted while the tool was at work", "this tool only looks", "call it again"]
                    {
                        assert!(told.contains(words), "{name}: `{words}` is not told: {told}");
                    }
                }
                (None, _) => {
                    assert_eq!(standing, DriveOutcome::Waiting(Waiting::UnknownOutcome), "{name}");
                    assert_eq!(receipts(&world, task), [ResultCode::UnknownOutcome], "{name}");
                    world.kernel().resolve_outcome(task, ResultCode::Failed, "I asked there").unwrap();
                    assert_eq!(world.drive(task), completed(), "{name}");
                }
            }
            assert_eq!(calls.load(Ordering::SeqCst), called, "{name}: nor afterwards");
        }
    }
}

#[test]
fn a_server_that_is_lost_in_a_call_that_only_looks_leaves_nothing_to_settle() {
    for (class, code) in [
        (ActionClass::NetworkRead, ResultCode::Failed),
        (ActionClass::ExternalEffect, ResultCode::UnknownOutcome),
    ] {
        let (world, calls, wire, task) = begun(6_220, class, true);
        let standing = world.drive(task);
        assert_eq!(receipts(&world, task), [code], "{class}");
        assert_eq!(calls.load(Ordering::SeqCst), 1, "{class}");
        match code {
            ResultCode::Failed => {
                assert_eq!(standing, completed(), "{class}");
                assert!(told(&wire).contains("it ended before it answered"), "{}", told(&wire));
            }
            _ => assert_eq!(standing, DriveOutcome::Waiting(Waiting::UnknownOutcome), "{class}"),
        }
    }
}

#[test]
fn a_call_that_a_person_stops_before_it_begins_starts_no_server() {
    let server = Counted::default();
    let (world, _, task) = begun_with(6_230, &server, terms(ActionClass::NetworkRead, &[]));
    let before = server.starts.load(Ordering::SeqCst);
    let (halted, at) = testkit::stop();
    // It is dispatched, and its executor begins when the person has stopped the task.
    world.oracle.stands_in(move |_| {
        halted.waits();
        None
    });
    let kernel = world.kernel();
    let ended = std::thread::scope(|scope| {
        let driving = scope.spawn(|| kernel.drive(task).unwrap());
        at.is_reached();
        kernel.cancel(task, "enough").unwrap();
        at.goes_on();
        driving.join().unwrap()
    });
    assert!(matches!(ended, DriveOutcome::Ended { status: TaskStatus::Cancelled, .. }), "{ended:?}");
    assert_eq!(server.starts.load(Ordering::SeqCst), before, "a server was started after the stop");
    assert_eq!((server.calls.load(Ordering::SeqCst), receipts(&world, task)), (0, vec![ResultCode::Failed]));
}

#[test]
fn a_call_that_may_be_repeated_is_not_where_its_task_was_stopped_after_the_host_died() {
    for (class, is_stopped) in [ActionClass::NetworkRead, ActionClass::ExternalEffect]
        .into_iter()
        .flat_map(|class| [(class, false), (class, true)])
    {
        let server = Counted::default();
        let terms = ToolTerms { repeatable: true, ..terms(class, &[]) };
        let (mut world, _, task) = begun_with(6_240, &server, terms);
        die(&mut world, task, Point::CallSend, Edge::After);
        let before = server.starts.load(Ordering::SeqCst);
        if is_stopped {
            world.kernel().cancel(task, "enough").unwrap();
        }
        let standing = world.drive(task);
        let started = server.starts.load(Ordering::SeqCst) - before;
        let name = format!("{class}, stopped: {is_stopped}: {standing:?}");
        assert_eq!(started, usize::from(!is_stopped), "{name}");
        match (is_stopped, class) {
            (false, _) => assert_eq!(standing, completed(), "{name}"),
            (true, ActionClass::NetworkRead) => {
                assert!(
                    matches!(standing, DriveOutcome::Ended { status: TaskStatus::Cancelled, .. }),
                    "{name}"
                );
            }
            (true, _) => assert_eq!(standing, DriveOutcome::Waiting(Waiting::UnknownOutcome), "{name}"),
        }
    }
}
