//! What models may cost in a day: asked before each call, of all tasks together.

use crate::story::{completed, count, events};
use crate::told::{Wire, settings};
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Waiting};
use model::task::TaskStatus;
use model::{Body, TaskId};
use reasoning::{Head, HttpReply, ModelHttp, ModelHttpError, ModelServer, Prices, Settings, ToolMode};
use serde_json::json;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use testkit::{World, comes};

const DAY_MS: i64 = 86_400_000;

/// A server that says when it was asked, and answers when it is let.
struct Slow(Arc<Wire>, Sender<()>, Mutex<Receiver<()>>);

impl ModelHttp for Slow {
    fn post(
        &self,
        url: &str,
        head: &Head<'_>,
        body: &[u8],
        most: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        self.1.send(()).unwrap();
        comes(&self.2.lock().unwrap(), "the leave to answer");
        self.0.post(url, head, body, most, on_chunk)
    }
}

fn done() -> Arc<Wire> {
    Wire::new(vec![("done", json!({ "summary": "nothing" }))])
}

/// A model whose token costs a micro-unit to read and two to write.
pub fn priced(http: Arc<dyn ModelHttp>) -> Arc<ModelServer> {
    let prices = Prices { input: 1_000_000, output: 2_000_000, cached: None, cache_written: None };
    let address: reasoning::Address = "openai:http://127.0.0.1:1/v1#m".parse().unwrap();
    let settings = Settings { prices, ..settings(ToolMode::Tools, &[]) };
    Arc::new(ModelServer::new(&address, settings, http).unwrap())
}

fn submit(world: &World, name: &str) -> TaskId {
    let submission = world.submission(name, Reasoning::Scripted { name: name.to_owned() });
    world.kernel().submit(&submission).unwrap().task_id
}

fn reserved(world: &World, task: TaskId) -> u64 {
    let found = events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
        Body::BudgetReserved(b) => Some(b.cost_micros),
        _ => None,
    });
    found.expect("so much is set aside")
}

fn paused(world: &World, task: TaskId) -> bool {
    crate::story::state(world, task).task.status == TaskStatus::Paused
}

#[test]
fn two_tasks_at_once_cannot_both_take_what_is_left_of_a_day_and_the_next_day_begins_anew() {
    let world = World::new(4_301);
    let (tell, asked) = channel();
    let (let_go, wait) = channel();
    world.reasoners.put("first", priced(Arc::new(Slow(done(), tell, Mutex::new(wait)))));
    let second = done();
    world.reasoners.put("second", priced(Arc::clone(&second) as _));
    let (one, two) = (submit(&world, "first"), submit(&world, "second"));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| world.drive(one));
        let let_go = let_go;
        comes(&asked, "the question");
        let aside = reserved(&world, one);
        let query = world.kernel().query().unwrap();
        assert_eq!(query.set_aside().unwrap(), [(one, aside)]);
        // Enough for one call and not for two.
        *world.days.max.lock().unwrap() = Some(aside + aside / 2);
        let said = world.kernel().drive(two).unwrap_err().to_string();
        for words in
            ["models may cost", "$0.00 is spent", "set aside for calls under way", "The day ends at ms"]
        {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(paused(&world, two) && second.sent().is_empty(), "it is not asked: {said}");
        let_go.send(()).unwrap();
        assert_eq!(first.join().unwrap(), completed());
    });
    // What was set aside is free again, but for what the call has used: 10 tokens read and 77 written.
    let query = world.kernel().query().unwrap();
    assert_eq!(query.set_aside().unwrap(), []);
    let day = kernel::ports::Days::day_of(&*world.days, model::Clock::now(&*world.clock)).unwrap();
    let spent = query.spent(day.begins, day.ends).unwrap();
    assert_eq!(spent.len(), 1, "{spent:?}");
    assert_eq!((spent[0].model.as_str(), spent[0].tokens, spent[0].cost_micros), ("m", 87, 10 + 2 * 77));
    *world.days.max.lock().unwrap() = Some(aside_of(&world, one) + 163);
    world.kernel().resume(two).unwrap();
    assert!(world.kernel().drive(two).is_err(), "one micro-unit is missing");
    world.clock.advance(DAY_MS);
    world.kernel().resume(two).unwrap();
    assert_eq!(world.drive(two), completed());
    assert_eq!((second.sent().len(), count(world.kernel(), two, "budget.settled")), (1, 1));
}

fn aside_of(world: &World, task: TaskId) -> u64 {
    reserved(world, task)
}

#[test]
fn what_the_ceiling_of_a_day_paused_goes_on_by_itself_once_the_day_is_over_and_what_a_person_paused_does_not()
{
    let world = World::new(4_373);
    let wire = done();
    world.reasoners.put("m", priced(Arc::clone(&wire) as _));
    let answers = vec![testkit::write("a.txt", "a"), testkit::done("ok")];
    let held = world.script("held", answers);
    world.drive_to_approval(held);
    world.kernel().pause(held).unwrap();
    assert_eq!(world.drive(held), DriveOutcome::Waiting(Waiting::Resume));
    let task = submit(&world, "m");
    *world.days.max.lock().unwrap() = Some(1);
    let said = world.kernel().drive(task).unwrap_err().to_string();
    assert!(said.contains("goes on by itself when the day has ended"), "{said}");
    let now = model::Clock::now(&*world.clock);
    let ends = kernel::ports::Days::day_of(&*world.days, now).unwrap().ends;
    // Whatever else is due before, the clock of a host wakes when the day is over.
    let before = ends.plus_ms(-1);
    assert_eq!(world.kernel().next_instant(before).unwrap(), Some(ends));
    assert_eq!(world.kernel().resumable().unwrap(), [], "the day is not over");
    assert!(paused(&world, task));
    world.clock.advance(ends.0 - now.0);
    *world.days.max.lock().unwrap() = Some(u64::MAX / 2);
    let resumed = count(world.kernel(), task, "task.status_changed");
    assert_eq!(world.kernel().resumable().unwrap(), [task], "what a person paused is not among them");
    assert!(!paused(&world, task));
    assert_eq!(world.kernel().resumable().unwrap(), [task], "it was let go on, and nobody took it up yet");
    assert_eq!(count(world.kernel(), task, "task.status_changed"), resumed + 1, "once");
    assert_eq!(world.drive(task), completed());
    assert_eq!(wire.sent().len(), 1);
    assert!(paused(&world, held), "a person's pause is theirs to end");
}

#[test]
fn what_the_ceiling_of_a_day_paused_stays_paused_once_a_person_pauses_it() {
    let world = World::new(4_374);
    world.reasoners.put("m", priced(done()));
    let task = submit(&world, "m");
    *world.days.max.lock().unwrap() = Some(1);
    world.kernel().drive(task).unwrap_err();
    world.kernel().pause(task).unwrap();
    assert!(paused(&world, task));
    assert!(matches!(world.kernel().pause(task), Err(kernel::Error::Conflict(_))), "it is theirs already");
    world.clock.advance(2 * DAY_MS);
    *world.days.max.lock().unwrap() = Some(u64::MAX / 2);
    assert_eq!(world.kernel().resumable().unwrap(), []);
    assert!(paused(&world, task));
    world.kernel().resume(task).unwrap();
    assert_eq!(world.drive(task), completed());
}

#[test]
fn a_model_without_a_price_is_not_stopped_by_the_ceiling_of_a_day() {
    let world = World::new(4_302);
    *world.days.max.lock().unwrap() = Some(0);
    let wire = done();
    let address: reasoning::Address = "openai:http://127.0.0.1:1/v1#m".parse().unwrap();
    let free = ModelServer::new(&address, settings(ToolMode::Tools, &[]), Arc::clone(&wire) as _).unwrap();
    world.reasoners.put("free", Arc::new(free));
    let task = submit(&world, "free");
    assert_eq!(world.drive(task), completed());
    assert_ne!(world.drive(task), DriveOutcome::Waiting(Waiting::Resume));
    assert_eq!(wire.sent().len(), 1);
}

/// A server that sends one piece, waits where it is told to, then ends as it is told.
struct Cuts(&'static str, Option<ModelHttpError>, Option<(Sender<()>, Mutex<Receiver<()>>)>);

impl ModelHttp for Cuts {
    fn post(
        &self,
        _: &str,
        _: &Head<'_>,
        _: &[u8],
        _: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        on_chunk(self.0.as_bytes());
        if let Some((tell, wait)) = &self.2 {
            tell.send(()).unwrap();
            comes(&wait.lock().unwrap(), "the leave to go on");
        }
        self.1.clone().map_or_else(|| Ok(HttpReply { status: 200, ..HttpReply::default() }), Err)
    }
}

const WORD: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"well\"}}]}\n\n";
const CALL: &str = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"done\",\"arguments\":\"{\"}}]}}]}\n\n";
const WHOLE: &str = r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":"done","arguments":"{\"summary\":\"nothing\"}"}}]},"finish_reason":"stop"}]}"#;

fn settled(world: &World, task: TaskId) -> Vec<u64> {
    let of = |(_, body)| match body {
        Body::BudgetSettled(b) => Some(b.cost_micros),
        _ => None,
    };
    events(world.kernel(), task).into_iter().filter_map(of).collect()
}

#[test]
fn a_call_of_which_nobody_says_the_use_costs_what_was_set_aside_for_it_once_some_of_it_came() {
    let cut = || Some(ModelHttpError::Cut("it was pulled".to_owned()));
    let cases = [(WHOLE, None, true), (WORD, cut(), true), (CALL, cut(), true), ("", cut(), false)];
    for (at, (piece, error, counts)) in cases.into_iter().enumerate() {
        let world = World::new(4_310 + at as u64);
        let is_whole = error.is_none();
        world.reasoners.put("m", priced(Arc::new(Cuts(piece, error, None))));
        let task = submit(&world, "m");
        let came = world.kernel().drive(task);
        assert_eq!(came.is_ok(), is_whole, "{piece}: {came:?}");
        let aside = reserved(&world, task);
        assert_eq!(settled(&world, task), if counts { vec![aside] } else { vec![] }, "{piece}");
        let query = world.kernel().query().unwrap();
        assert_eq!(query.set_aside().unwrap(), [], "{piece}: it is over");
    }
}

#[test]
fn a_call_that_was_paused_counts_and_is_not_made_again_beyond_the_ceiling_of_a_day() {
    let world = World::new(4_320);
    let (tell, asked) = channel();
    let (let_go, wait) = channel();
    let stopped = Some(ModelHttpError::Stopped);
    world.reasoners.put("m", priced(Arc::new(Cuts(WORD, stopped, Some((tell, Mutex::new(wait)))))));
    let task = submit(&world, "m");
    std::thread::scope(|scope| {
        let driven = scope.spawn(|| world.drive(task));
        comes(&asked, "the question");
        world.kernel().pause(task).unwrap();
        let_go.send(()).unwrap();
        assert_eq!(driven.join().unwrap(), DriveOutcome::Waiting(Waiting::Resume));
    });
    let aside = reserved(&world, task);
    assert_eq!(settled(&world, task), [aside], "some of the answer had come");
    // The request is on record, and the day has no room for it any more.
    *world.days.max.lock().unwrap() = Some(aside * 2 - 1);
    world.kernel().resume(task).unwrap();
    let said = world.kernel().drive(task).unwrap_err().to_string();
    assert!(said.contains("models may cost"), "{said}");
    assert!(paused(&world, task) && asked.try_recv().is_err(), "it is not asked");
    // Another task has the room that this one does not take.
    *world.days.max.lock().unwrap() = Some(aside * 2);
    world.kernel().resume(task).unwrap();
    let_go.send(()).unwrap();
    let cut = world.kernel().drive(task).unwrap_err().to_string();
    assert!(cut.contains("paused") && asked.try_recv().is_ok(), "it is asked again: {cut}");
    assert_eq!(settled(&world, task), [aside, aside]);
}
