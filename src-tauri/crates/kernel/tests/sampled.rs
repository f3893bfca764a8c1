//! Servers of tools that ask a model while their tool is at work: what they hear, what it counts for, and what is left of it
//! when a host dies in between.

use crate::story::{completed, count, events, state};
use crate::told::{Wire, settings};
use effects::{Ended, Heard, Over, Progress, Sampled, Sampling, ToolCall, ToolReply, ToolSession, Unspoken};
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Waiting};
use model::body::SamplingEnded;
use model::fault::Point;
use model::ingress::Channel;
use model::limits::SAMPLING_REFUSED_MAX;
use model::policy::Profile;
use model::sampling::SamplingTerms;
use model::task::ModelApi;
use model::tool_server::ToolManifest;
use model::{Body, TaskId};
use reasoning::{Head, HttpReply, ModelHttp, ModelHttpError, ModelServer, ToolMode};
use serde_json::{Value, json};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testkit::{Edge, Mode, Reached, World, comes, one_tool};

const TERMS: SamplingTerms = SamplingTerms { calls: 3, tokens: 4_000, task_tokens: 20_000 };
const ADDRESS: &str = "http://127.0.0.1:1/v1";

/// What the tool of a server does with whoever hears it; why nobody waits for it any more, if it is so.
type Tool = dyn Fn(Heard<'_>) -> Option<String> + Send + Sync;

/// A conversation with a server of one tool.
struct Session(Arc<Tool>);

impl ToolSession for Session {
    fn manifest(&mut self, _: Duration, _: Ended<'_>) -> Result<ToolManifest, String> {
        one_tool("echo")
    }

    fn call(
        &mut self,
        _: ToolCall,
        heard: Heard<'_>,
        _: Ended<'_>,
    ) -> Result<Result<ToolReply, String>, Unspoken> {
        match (self.0)(heard) {
            Some(why) => Err(Unspoken::Lost(why)),
            None => Ok(Ok(ToolReply { is_error: false, result: json!({ "content": [] }) })),
        }
    }
}

/// Says something to whoever asks without tools.
type Say = dyn Fn(&mut dyn FnMut(&[u8]) -> bool) -> Result<HttpReply, ModelHttpError> + Send + Sync;

/// A model that leads a task by a script, and says something else to servers.
struct Thinks(Arc<Wire>, Arc<Say>);

impl ModelHttp for Thinks {
    fn post(
        &self,
        url: &str,
        head: &Head<'_>,
        body: &[u8],
        timeout_ms: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        let asked: Value = serde_json::from_slice(body).unwrap();
        match asked.get("tools") {
            Some(_) => self.0.post(url, head, body, timeout_ms, on_chunk),
            None => (self.1)(on_chunk),
        }
    }
}

fn says(usage: Value) -> Result<HttpReply, ModelHttpError> {
    let message = json!({ "content": "well" });
    let body = json!({ "choices": [{ "message": message, "finish_reason": "stop" }], "usage": usage });
    Ok(HttpReply { status: 200, body: body.to_string().into_bytes(), ..HttpReply::default() })
}

/// One question, and what came of it.
fn ask(heard: Heard<'_>) -> Sampled {
    let question = Sampling::new(None, vec![(false, "think".to_owned())], 50);
    heard(Progress::Samples(&question, Over::new(&|| None)));
    question.came()
}

/// A world with such a server, and what it was offered.
fn world(
    seed: u64,
    tool: impl Fn(Heard<'_>) -> Option<String> + Send + Sync + 'static,
) -> (World, Arc<Mutex<Vec<bool>>>) {
    let mut world = World::new(seed);
    let offered: Arc<Mutex<Vec<bool>>> = Arc::default();
    let tool: Arc<Tool> = Arc::new(tool);
    let told = Arc::clone(&offered);
    world.servers = Arc::new(Reached::by(move |offers| {
        told.lock().unwrap().push(offers.sampling);
        Session(Arc::clone(&tool))
    }));
    world.reopen();
    world.register_many(1);
    (world, offered)
}

/// A person says how much the server may ask.
fn allow(world: &World, terms: Option<SamplingTerms>) {
    let by = (Channel::Cli, format!("sampling {terms:?}"));
    let asked = world.kernel().propose_sampling("s00", terms, world.folder.path(), by).unwrap();
    let DriveOutcome::Waiting(Waiting::Approval(approval)) = world.drive(asked.task_id) else {
        panic!("a person is asked")
    };
    world.person.allow(world.kernel(), asked.task_id, approval).unwrap();
    world.drive(asked.task_id);
}

/// A task whose model calls the tool so often, and is done after that.
fn task(
    world: &World,
    calls: usize,
    wall_ms_max: i64,
    say: impl Fn(&mut dyn FnMut(&[u8]) -> bool) -> Result<HttpReply, ModelHttpError> + Send + Sync + 'static,
) -> TaskId {
    let script = (0..calls).map(|n| ("s00__echo", json!({ "n": n })));
    let wire = Wire::new(script.chain([("done", json!({ "summary": "done" }))]).collect());
    let address = format!("openai:{ADDRESS}#m").parse().unwrap();
    let http = Arc::new(Thinks(wire, Arc::new(say)));
    let model = ModelServer::new(&address, settings(ToolMode::Tools, &[]), http).unwrap();
    world.reasoners.put("m", Arc::new(model));
    let (base_url, model) = (ADDRESS.to_owned(), "m".to_owned());
    let reasoning = Reasoning::Openai { api: ModelApi::Openai, base_url, model, secret: None };
    let goal = format!("call it, with {} events before", crate::story::log(world.kernel()).len());
    let mut submission = world.submission(&goal, reasoning);
    submission.profile = Profile::NetworkReadAllowed;
    submission.budget.wall_ms_max = wall_ms_max;
    world.kernel().submit(&submission).unwrap().task_id
}

const LONG: i64 = 3_600_000;

fn ended(world: &World, task: TaskId) -> Vec<SamplingEnded> {
    let of = |(_, body)| match body {
        Body::SamplingEnded(b) => Some(b),
        _ => None,
    };
    events(world.kernel(), task).into_iter().filter_map(of).collect()
}

fn why(b: &SamplingEnded) -> &str {
    b.error.as_ref().and_then(|why| why.shown()).map_or("", String::as_str)
}

/// What a task has spent on servers: what its budget was told, without the turns of its own model.
fn spent_on_servers(world: &World, task: TaskId) -> u64 {
    let own: u64 = events(world.kernel(), task)
        .into_iter()
        .map(|(_, body)| match body {
            Body::ModelResponded(b) => b.tokens_in + b.tokens_out,
            _ => 0,
        })
        .sum();
    state(world, task).tokens_spent - own
}

/// What the server of a task asked, which it did during one call.
fn so_far(world: &World, task: TaskId) -> kernel::state::SampledBy {
    let state = state(world, task);
    assert_eq!(state.sampled.len(), 1);
    state.sampled.values().next().unwrap().clone()
}

#[test]
fn what_failed_behind_a_model_is_on_record_and_a_server_hears_that_there_is_no_answer() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let (world, _) = world(6_101, move |to| {
        hears.lock().unwrap().push(ask(to));
        None
    });
    allow(&world, Some(TERMS));
    let task = task(&world, 1, LONG, |_| Err(ModelHttpError::Unreachable("10.0.0.7 is down".to_owned())));
    assert_eq!(world.drive_allowing(task).0, completed());
    assert_eq!(*heard.lock().unwrap(), [Sampled::NoAnswer]);
    let ended = ended(&world, task);
    assert!(why(&ended[0]).contains(ADDRESS) && why(&ended[0]).contains("10.0.0.7"), "{}", why(&ended[0]));
    // Nothing came of it, so nothing was used.
    assert_eq!((ended[0].tokens_in, spent_on_servers(&world, task)), (0, 0));
    let so_far = so_far(&world, task);
    assert_eq!((so_far.asked, so_far.unanswered, so_far.refused, so_far.tokens), (1, 1, 0, 0));
}

#[test]
fn what_a_model_took_for_a_server_is_the_tasks_time_and_no_more_than_it_has_left() {
    let (world, _) = world(6_102, |to| {
        ask(to);
        None
    });
    allow(&world, Some(TERMS));
    let clock = Arc::clone(&world.clock);
    let quick = task(&world, 1, LONG, move |_| {
        clock.count(40_000);
        says(json!({ "prompt_tokens": 11, "completion_tokens": 7 }))
    });
    assert_eq!(world.drive_allowing(quick).0, completed());
    let wall_ms = state(&world, quick).wall_ms;
    assert!((40_000..41_000).contains(&wall_ms), "{wall_ms}");
    assert_eq!(spent_on_servers(&world, quick), 18);

    let clock = Arc::clone(&world.clock);
    let slow = task(&world, 1, 30_000, move |on_chunk| {
        for _ in 0..1_000 {
            clock.count(1_000);
            if !on_chunk(&[]) {
                return Err(ModelHttpError::Stopped);
            }
        }
        says(json!({}))
    });
    world.drive_allowing(slow);
    let ended = ended(&world, slow);
    assert_eq!(why(&ended[0]), "the task has no more time for it");
    let wall_ms = state(&world, slow).wall_ms;
    assert!((30_000..33_000).contains(&wall_ms), "it was stopped then: {wall_ms}");
}

#[test]
fn what_nobody_counted_is_what_was_set_aside_for_server_and_task_alike() {
    let (world, _) = world(6_103, |to| {
        ask(to);
        None
    });
    allow(&world, Some(TERMS));
    // No word of what it used; and an end in the middle.
    let silent = task(&world, 1, LONG, |_| says(Value::Null));
    assert_eq!(world.drive_allowing(silent).0, completed());
    let aside = set_aside(&world, silent);
    assert!(aside > 50, "question and answer: {aside}");
    assert_eq!((so_far(&world, silent).tokens, spent_on_servers(&world, silent)), (aside, aside));
    let cut = task(&world, 1, LONG, |on_chunk| {
        let piece = json!({ "choices": [{ "delta": { "content": "we" } }] });
        on_chunk(format!("data: {piece}\n\n").as_bytes());
        Err(ModelHttpError::Cut("gone".to_owned()))
    });
    world.drive_allowing(cut);
    let aside = set_aside(&world, cut);
    assert_eq!((so_far(&world, cut).tokens, spent_on_servers(&world, cut)), (aside, aside));
    assert_eq!(so_far(&world, cut).unanswered, 1);
}

/// What was set aside for the only question.
fn set_aside(world: &World, task: TaskId) -> u64 {
    let of = |(_, body)| match body {
        Body::SamplingRequested(b) => Some(b.tokens),
        _ => None,
    };
    events(world.kernel(), task).into_iter().find_map(of).unwrap()
}

#[test]
fn a_host_that_dies_while_a_model_is_asked_gives_nothing_back_to_server_or_task() {
    // Before and after the question is on record, and before and after its end is.
    for (seed, edge, nth, asked) in [
        (6_104, Edge::Before, 1, 0),
        (6_105, Edge::After, 1, 1),
        (6_106, Edge::Before, 2, 1),
        (6_107, Edge::After, 2, 1),
    ] {
        let (mut world, _) = world(seed, |to| {
            ask(to);
            None
        });
        allow(&world, Some(TERMS));
        let task = task(&world, 1, LONG, |_| says(json!({ "prompt_tokens": 11, "completion_tokens": 7 })));
        let approval = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, approval).unwrap();
        world.faults.plan(Point::EffectProgress, edge, Mode::Abort, nth);
        let died = catch_unwind(AssertUnwindSafe(|| world.kernel().drive(task)));
        assert!(world.faults.fired(), "{edge:?} {nth}: {died:?}");
        world.faults.clear();
        world.reopen();
        assert_eq!(
            so_far_open(&world, task),
            asked == 1 && (edge, nth) != (Edge::After, 2),
            "{edge:?} {nth}"
        );
        world.drive(task);
        let tokens = match (edge, nth) {
            (Edge::Before, 1) => 0,
            (Edge::After, 2) => 18,
            _ => set_aside(&world, task),
        };
        assert_eq!(spent_on_servers(&world, task), tokens, "{edge:?} {nth}");
        let counted: u64 = state(&world, task).sampled.values().map(|so_far| so_far.tokens).sum();
        assert_eq!((counted, so_far_open(&world, task)), (tokens, false), "{edge:?} {nth}");
        assert_eq!(count(world.kernel(), task, "sampling.requested"), asked);
        assert_eq!(count(world.kernel(), task, "sampling.ended"), asked, "{edge:?} {nth}");
    }
}

/// Whether the end of a question is not on record.
fn so_far_open(world: &World, task: TaskId) -> bool {
    state(world, task).sampled.values().any(|so_far| so_far.open.is_some())
}

#[test]
fn what_a_person_takes_back_counts_at_once_and_what_they_allow_with_the_next_call() {
    let (begun, at_work) = channel();
    let (go_on, waits) = channel::<()>();
    let (waits, heard) = (Mutex::new(waits), Arc::new(Mutex::new(Vec::new())));
    let hears = Arc::clone(&heard);
    let (world, offered) = world(6_108, move |to| {
        let first = ask(to);
        begun.send(()).unwrap();
        waits.lock().unwrap().recv().unwrap();
        hears.lock().unwrap().extend([first, ask(to)]);
        None
    });
    offered.lock().unwrap().clear();
    let task = task(&world, 3, LONG, |_| says(json!({ "prompt_tokens": 11, "completion_tokens": 7 })));
    let person = &world;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // While the first call is at work it is allowed, while the second is it is taken back.
            for terms in [Some(TERMS), None] {
                comes(&at_work, "the call");
                allow(person, terms);
                go_on.send(()).unwrap();
            }
            comes(&at_work, "the call");
            go_on.send(()).unwrap();
        });
        assert_eq!(world.drive_allowing(task).0, completed());
    });
    let heard = heard.lock().unwrap();
    let answered = |at: usize| matches!(heard[at], Sampled::Answered { .. });
    assert_eq!((0..6).map(answered).collect::<Vec<_>>(), [false, false, true, false, false, false]);
    let Sampled::Refused(why) = &heard[3] else { panic!("{:?}", heard[3]) };
    assert!(why.contains("not allow this server to ask a model any more"), "{why}");
    assert_eq!(*offered.lock().unwrap(), [false, true, false], "each was greeted with what it may ask");
}

#[test]
fn what_cannot_be_asked_is_on_record_and_ends_the_call_when_it_goes_on() {
    let (world, _) = world(6_109, |to| {
        for n in 1..=SAMPLING_REFUSED_MAX {
            let question = Sampling::malformed("the question has no messages".to_owned());
            to(Progress::Samples(&question, Over::new(&|| None)));
            match question.came() {
                Sampled::Refused(why) => assert_eq!(why, "the question has no messages"),
                Sampled::Stop(why) if n == SAMPLING_REFUSED_MAX => return Some(why),
                other => panic!("{n}: {other:?}"),
            }
        }
        None
    });
    allow(&world, Some(TERMS));
    let task = task(&world, 1, LONG, |_| says(json!({})));
    world.drive_allowing(task);
    let ended = ended(&world, task);
    assert_eq!(ended.len(), SAMPLING_REFUSED_MAX as usize);
    assert!(ended.iter().all(|b| why(b) == "the question has no messages"));
    assert_eq!(count(world.kernel(), task, "sampling.requested"), 0);
    assert_eq!(count(world.kernel(), task, "effect.uncertain"), 1);
}

#[test]
fn a_model_is_not_waited_for_any_longer_than_the_walls_of_its_server_hold() {
    const GROWN: &str = "its processes filled too much memory";
    let (world, _) = world(6_110, |to| {
        let (looks, question) = (Cell::new(0), Sampling::new(None, vec![(false, "think".to_owned())], 50));
        let over = || {
            looks.set(looks.get() + 1);
            (looks.get() > 3).then(|| GROWN.to_owned())
        };
        to(Progress::Samples(&question, Over::new(&over)));
        match question.came() {
            Sampled::Stop(why) => Some(why),
            other => panic!("{other:?}"),
        }
    });
    allow(&world, Some(TERMS));
    let task = task(&world, 1, LONG, |on_chunk| {
        while on_chunk(&[]) {}
        Err(ModelHttpError::Stopped)
    });
    world.drive_allowing(task);
    assert_eq!(why(&ended(&world, task)[0]), GROWN);
    assert_eq!(count(world.kernel(), task, "effect.uncertain"), 1);
    assert_eq!(so_far(&world, task).tokens, set_aside(&world, task), "what it used by then is not known");
}
