//! Reads beside each other: of one answer, what only looks and needs no question runs at the same time, up to a limit; each
//! keeps its own judgement, grant, outcome and receipt; what changes something has nobody beside it; nothing is doubled by a
//! host that dies.

use crate::receipts::Walled;
use crate::several::together;
use crate::story::{completed, count, die, events, packs, shows, state};
use acts::{Action, ActionRequest};
use conforms::conforms;
use effects::{Outcome, Output};
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Kernel, Ports, Waiting};
use model::action::ActionClass;
use model::artifact::ArtifactKind;
use model::fault::Point;
use model::ingress::Channel;
use model::policy::Profile;
use model::proposal::Answer;
use model::receipt::{Ran, ResultCode, SandboxLevel};
use model::standing::{Cover, StandingGrant, StandingScope};
use model::{ActionRequestId, Body, Digest, GrantId, TaskId, UnixMs};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use testkit::{Edge, Mode, World, change, command, done, fetch, look, write};

/// Where pages are; nobody asks there.
const HOST: &str = "pages.example.com";
/// Nobody is waited for longer.
const LONG: Duration = Duration::from_secs(20);
/// Whoever would come too many has come by then.
const SHORT: Duration = Duration::from_millis(300);

/// Somebody that is asked by several at once, and answers when so many are there.
#[derive(Clone)]
struct Meeting(Arc<(Mutex<Met>, Condvar)>);

#[derive(Default)]
struct Met {
    wanted: usize,
    patience: Duration,
    now: usize,
    most: usize,
    names: Vec<String>,
}

impl Meeting {
    fn of(wanted: usize, patience: Duration) -> Self {
        Self(Arc::new((Mutex::new(Met { wanted, patience, ..Met::default() }), Condvar::new())))
    }

    /// Comes, waits for the others, and goes.
    fn come(&self, name: &str) {
        let (met, changed) = &*self.0;
        let mut now = met.lock().unwrap();
        now.names.push(name.to_owned());
        now.now += 1;
        now.most = now.most.max(now.now);
        changed.notify_all();
        let (wanted, patience) = (now.wanted, now.patience);
        let mut now = changed.wait_timeout_while(now, patience, |met| met.most < wanted).unwrap().0;
        now.now -= 1;
    }

    fn most(&self) -> usize {
        self.0.0.lock().unwrap().most
    }

    fn names(&self) -> Vec<String> {
        self.0.0.lock().unwrap().names.clone()
    }

    /// Fetches come here, wait for the others, and are answered with their path; a look or a change is done as ever.
    fn serves(&self, world: &World) {
        let meeting = self.clone();
        world.oracle.stands_in(move |request| {
            let Action::Fetch(fetch) = &request.action else { return None };
            let path = fetch.url.to_string().rsplit('/').next().unwrap_or_default().to_owned();
            meeting.come(&path);
            Some(answered(request, &path))
        });
    }
}

/// What a fetch comes to.
fn answered(request: &ActionRequest, path: &str) -> Outcome {
    let told = json!({ "op": "fetch", "method": "GET", "url": HOST, "status": 200, "text": format!("here is {path}") });
    let output = Output {
        kind: ArtifactKind::WebSnapshot,
        media_type: "application/json".to_owned(),
        bytes: told.to_string().into_bytes(),
        about: "a page".to_owned(),
    };
    Outcome {
        result_code: ResultCode::Succeeded,
        changes: Vec::new(),
        outputs: vec![output],
        ran: Ran {
            executor: "a test".to_owned(),
            request_sha256: Digest::of(request.action_request_id.to_string().as_bytes()),
            argv: None,
            executable_sha256: None,
            exit_code: None,
            started_at: UnixMs(1),
            finished_at: UnixMs(2),
        },
        sandbox_level: SandboxLevel::NotApplicable,
        observed: vec!["network".to_owned(), format!("here is {path}")],
        error: None,
        kept: Vec::new(),
    }
}

/// A person allows fetches from a host so often.
fn allow_host(world: &World, max_uses: u32) -> GrantId {
    let cover = Cover::Host { name: HOST.to_owned(), port: 443, write: false };
    let grant = world.person.standing(world.kernel(), cover, StandingScope::User, None);
    let grant = StandingGrant { max_uses, ..grant };
    world.kernel().allow_standing(&world.person.sign_standing(&grant)).unwrap()
}

fn give(world: &World, goal: &str, answers: Vec<Answer>) -> TaskId {
    world.file("letter.txt", "look around");
    world.reasoners.script(goal, answers);
    let submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    let submission = Submission { profile: Profile::NetworkReadAllowed, ..submission };
    world.kernel().submit(&submission).unwrap().task_id
}

fn page(name: &str) -> Answer {
    fetch("GET", &format!("https://{HOST}/{name}"), None)
}

fn with_limit(seed: u64, at_once: usize) -> World {
    let mut world = World::new(seed);
    world.parallel_reads = at_once;
    world.reopen();
    world
}

/// The acts of a task, in the order in which they were dispatched: its tool, which others were under way when it was, and
/// which events tell of it.
pub fn dispatched(world: &World, task: TaskId) -> Vec<(String, BTreeSet<String>)> {
    dispatched_by(world.kernel(), task)
}

fn dispatched_by(kernel: &Kernel, task: TaskId) -> Vec<(String, BTreeSet<String>)> {
    let (mut tools, mut open, mut all) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
    for (_, body) in events(kernel, task) {
        match body {
            Body::ActionRequested(b) => drop(tools.insert(b.action_request_id, b.tool)),
            Body::EffectDispatched(b) => {
                let named = open.iter().map(|id: &ActionRequestId| tools[id].clone()).collect();
                all.push((tools[&b.action_request_id].clone(), named));
                open.insert(b.action_request_id);
            }
            Body::EffectObserved(b) => drop(open.remove(&b.action_request_id)),
            _ => {}
        }
    }
    assert!(open.is_empty(), "what came of each is on record");
    all
}

/// How many events of the path each act has: requested, judged, granted, dispatched, observed, receipted.
fn path_of_each(world: &World, task: TaskId) -> Vec<[usize; 6]> {
    let mut all: Vec<(ActionRequestId, [usize; 6])> = Vec::new();
    for (_, body) in events(world.kernel(), task) {
        let (id, at) = match body {
            Body::ActionRequested(b) => {
                all.push((b.action_request_id, [0; 6]));
                (b.action_request_id, 0)
            }
            Body::PolicyEvaluated(b) => (b.action_request_id, 1),
            Body::GrantIssued(b) => (b.action_request_id, 2),
            Body::EffectDispatched(b) => (b.action_request_id, 3),
            Body::EffectObserved(b) => (b.action_request_id, 4),
            Body::ReceiptIssued(b) => match b.action_request_id {
                Some(id) => (id, 5),
                None => continue,
            },
            _ => continue,
        };
        all.iter_mut().find(|(of, _)| *of == id).unwrap().1[at] += 1;
    }
    all.into_iter().map(|(_, counts)| counts).collect()
}

#[conforms(part = "HV-3.2-2")]
#[test]
fn reads_of_one_answer_run_at_the_same_time_up_to_the_limit_and_keep_their_order() {
    // Each waits for all the others: they could not end one after the other.
    let world = World::new(1_701);
    let meeting = Meeting::of(10, LONG);
    meeting.serves(&world);
    allow_host(&world, 50);
    let mut answer: Vec<Answer> = (0..12).map(|n| page(&format!("p{n:02}"))).collect();
    answer.push(look("letter.txt"));
    let task = give(&world, "ten at once", vec![together(answer), done("seen")]);
    assert_eq!(world.drive(task), completed());
    assert_eq!(meeting.most(), 10, "ten, and no more of the twelve, were under way");
    let mut paths = path_of_each(&world, task);
    let look = paths.pop().unwrap();
    assert_eq!(look, [1, 1, 1, 1, 1, 0], "a look has no receipt");
    assert_eq!(paths, vec![[1; 6]; 12], "each is judged, granted, done and receipted by itself, once");
    assert_eq!(count(world.kernel(), task, "attempt.model_responded"), 2);
    let last = packs(world.kernel(), task).pop().unwrap();
    let now = state(&world, task);
    let seen = now.attempt().unwrap().observed.iter().filter(|seen| seen.tool == "fetch");
    let seen: Vec<&str> = seen.map(|seen| seen.about.rsplit('/').next().unwrap()).collect();
    let asked: Vec<String> = (0..12).map(|n| format!("p{n:02}")).collect();
    assert_eq!(seen, asked, "they are seen in the order in which they were asked for");
    assert!(shows(&last, "look around"));
    // A person set another number.
    for at_once in [1, 2, 3] {
        let world = with_limit(1_710 + at_once as u64, at_once);
        let meeting = Meeting::of(at_once + 1, SHORT);
        meeting.serves(&world);
        allow_host(&world, 50);
        let answer = (0..4).map(|n| page(&format!("p{n}"))).collect();
        let task = give(&world, "fewer", vec![together(answer), done("seen")]);
        assert_eq!(world.drive(task), completed());
        assert_eq!(meeting.most(), at_once);
        assert_eq!(path_of_each(&world, task), vec![[1; 6]; 4]);
    }
}

#[conforms(part = "HV-3.2-3")]
#[test]
fn what_changes_something_has_nobody_beside_it_and_comes_in_its_order() {
    let world = World::new(1_702);
    let meeting = Meeting::of(2, LONG);
    meeting.serves(&world);
    allow_host(&world, 50);
    let answer = vec![
        page("a"),
        look("letter.txt"),
        page("b"),
        write("1.md", "one"),
        write("2.md", "two"),
        page("c"),
        change(json!([{ "op": "move", "from": "1.md", "to": "3.md" }])),
    ];
    let task = give(&world, "look and write", vec![together(answer), done("both")]);
    let (ended, asked) = world.drive_allowing(task);
    assert_eq!((ended, asked), (completed(), 2), "changes are asked about, as ever");
    let all = dispatched(&world, task);
    let tools: Vec<&str> = all.iter().map(|(tool, _)| tool.as_str()).collect();
    assert_eq!(tools, ["fetch", "observe", "fetch", "change", "fetch", "change"]);
    let beside: Vec<usize> = all.iter().map(|(_, open)| open.len()).collect();
    assert_eq!(beside, [0, 1, 2, 0, 0, 0], "kinds of acts under way when each began: {all:?}");
    assert!(world.files().contains_key("2.md") && world.files().contains_key("3.md"));
    let receipts = events(world.kernel(), task);
    let receipts = receipts
        .iter()
        .filter(|(_, body)| matches!(body, Body::ReceiptIssued(b) if b.action_request_id.is_some()));
    assert_eq!(receipts.count(), 5, "each change and each fetch is on record by itself");
}

#[conforms("HV-3.2-3")]
#[test]
fn an_edit_a_command_and_a_commit_have_nobody_beside_them_between_reads_and_each_is_on_record() {
    let mut world = World::new(1_708);
    let meeting = Meeting::of(2, LONG);
    meeting.serves(&world);
    allow_host(&world, 50);
    world.file("letter.txt", "look around");
    let answer = vec![
        page("a"),
        page("b"),
        command(&["echo", "hello"]),
        look("letter.txt"),
        page("c"),
        command(&["git", "commit", "-m", "x"]),
        command(&["echo", "again"]),
        page("d"),
        write("1.md", "one"),
        page("e"),
    ];
    world.reasoners.script("all of it", vec![together(answer), done("all is done")]);
    let submission = world.submission("all of it", Reasoning::Scripted { name: "all of it".to_owned() });
    let submission = Submission { profile: Profile::ExternalPublishGated, ..submission };
    world.crash();
    let ports = world.ports();
    let executors = Arc::new(Walled(Arc::clone(&ports.executors)));
    let kernel = Kernel::open(world.store.path(), Ports { executors, ..ports }).unwrap();
    let task = kernel.submit(&submission).unwrap().task_id;
    let mut asked = 0;
    let ended = loop {
        match kernel.drive(task).unwrap() {
            DriveOutcome::Waiting(Waiting::Approval(id)) => {
                world.person.allow(&kernel, task, id).unwrap();
                asked += 1;
            }
            other => break other,
        }
    };
    assert_eq!((ended, asked), (completed(), 4), "both commands, the commit and the edit are asked about");
    let all = dispatched_by(&kernel, task);
    let acts: Vec<(&str, usize)> = all.iter().map(|(tool, beside)| (tool.as_str(), beside.len())).collect();
    let expected = [
        ("fetch", 0),
        ("fetch", 1),
        ("command", 0),
        ("observe", 0),
        ("fetch", 1),
        ("command", 0),
        ("command", 0),
        ("fetch", 0),
        ("change", 0),
        ("fetch", 0),
    ];
    assert_eq!(
        acts, expected,
        "tools in the order of the answer, and kinds of acts under way when each began"
    );
    let logged: Vec<ActionClass> = events(&kernel, task)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::ReceiptIssued(b) if b.action_request_id.is_some() => Some(b.action_class),
            _ => None,
        })
        .filter(|class| *class != ActionClass::NetworkRead)
        .collect();
    let (ran, commit, edit) =
        (ActionClass::ExecuteCommand, ActionClass::VcsMutation, ActionClass::WriteLocal);
    assert_eq!(logged, [ran, commit, ran, edit], "each has its receipt, in its order");
}

#[test]
fn what_somebody_says_before_the_first_is_dispatched_comes_before_the_others() {
    let mut world = World::new(1_707);
    let meeting = Meeting::of(1, LONG);
    meeting.serves(&world);
    allow_host(&world, 9);
    let answer = vec![page("a"), page("b"), page("c")];
    let task = give(&world, "reads", vec![together(answer), done("stopped")]);
    die(&mut world, task, Point::ModelRespond, Edge::After);
    world.reasoners.script("reads", vec![done("stopped")]);
    world.kernel().append_note(task, "only the first", Channel::Cli, "n-1").unwrap();
    assert_eq!(world.drive(task), completed());
    assert_eq!(meeting.names(), ["a"]);
    let last = packs(world.kernel(), task).pop().unwrap();
    assert!(shows(&last, "what was said meanwhile comes first"));
}

#[test]
fn one_that_fails_beside_others_leaves_what_follows_them_and_the_model_is_told() {
    let world = World::new(1_703);
    let meeting = Meeting::of(1, LONG);
    meeting.serves(&world);
    allow_host(&world, 50);
    let answer = vec![look("none.txt"), page("a"), page("b"), write("1.md", "one"), write("2.md", "two")];
    let task = give(&world, "one fails", vec![together(answer), done("so be it")]);
    assert_eq!(world.drive(task), completed(), "nobody was asked about a change");
    assert!(!world.files().contains_key("1.md"));
    let last = packs(world.kernel(), task).pop().unwrap();
    assert!(shows(&last, "here is a") && shows(&last, "here is b"), "what was seen is seen");
    let left =
        "one further request of this answer: not done, because one of those that were done together failed";
    let lines: Vec<&String> = last.items.iter().map(|item| &item.text).collect();
    assert!(shows(&last, left), "{lines:?}");
}

#[test]
fn a_lasting_yes_is_counted_for_each_and_the_person_is_asked_where_it_is_used_up() {
    let world = World::new(1_704);
    let meeting = Meeting::of(3, LONG);
    meeting.serves(&world);
    let grant = allow_host(&world, 3);
    let answer = (0..4).map(|n| page(&format!("p{n}"))).collect();
    let task = give(&world, "three and one", vec![together(answer), done("seen")]);
    let approval = world.drive_to_approval(task);
    assert_eq!(world.kernel().reader().grant_uses(grant).unwrap(), 3);
    let used: Vec<u32> = events(world.kernel(), task)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::StandingUsed(b) => Some(b.use_no),
            _ => None,
        })
        .collect();
    assert_eq!(used, [1, 2, 3]);
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    assert_eq!(meeting.names().len(), 4);
}

/// Two fetches with a look between them, and a note.
fn reads() -> Vec<Answer> {
    let answer = vec![page("a"), look("letter.txt"), page("b"), write("1.md", "one")];
    vec![together(answer), done("both are read")]
}

/// Drives to the end, allowing all, through one death.
fn through(world: &mut World, task: TaskId, by_fault: bool) -> DriveOutcome {
    loop {
        let step = catch_unwind(AssertUnwindSafe(|| match world.kernel().drive(task).unwrap() {
            DriveOutcome::Waiting(Waiting::Approval(id)) => {
                world.person.allow(world.kernel(), task, id).unwrap();
                None
            }
            other => Some(other),
        }));
        match step {
            Ok(None) => {}
            Ok(Some(outcome)) => return outcome,
            Err(_) => {
                assert!(!by_fault || world.faults.fired(), "nothing else ends it");
                world.faults.clear();
                world.reopen();
                let kept = count(world.kernel(), task, "attempt.model_responded");
                let rest = reads().into_iter().skip(kept).chain([done("as far as it went")]);
                world.reasoners.script("reads", rest.collect());
            }
        }
    }
}

#[test]
fn wherever_a_host_dies_nothing_beside_another_is_sent_twice_and_each_has_its_outcome() {
    let begin = || {
        let world = World::new(1_706);
        let meeting = Meeting::of(1, LONG);
        meeting.serves(&world);
        allow_host(&world, 9);
        let task = give(&world, "reads", reads());
        (world, meeting, task)
    };
    let (world, _, task) = begin();
    world.faults.forget_hits();
    assert_eq!(world.drive_allowing(task).0, completed());
    let hits = world.faults.hits();
    drop(world);
    let of = |point: &Point| matches!(point, Point::EffectDispatch | Point::EffectObserve);
    let hits: Vec<_> = hits.into_iter().filter(|((point, _), _)| of(point)).collect();
    assert!(hits.iter().any(|((point, _), times)| *point == Point::EffectObserve && *times >= 4), "{hits:?}");
    // The first of them is done, and nobody has heard of it; then every boundary from the dispatch on.
    let deaths =
        hits.iter().flat_map(|((point, edge), times)| (1..=*times).map(|nth| Some((*point, *edge, nth))));
    for death in std::iter::once(None).chain(deaths) {
        let (mut world, meeting, task) = begin();
        match death {
            Some((point, edge, nth)) => world.faults.plan(point, edge, Mode::Abort, nth),
            None => world.oracle.die_after_next(),
        }
        let at = format!("{death:?}");
        assert_eq!(through(&mut world, task, death.is_some()), completed(), "{at}");
        let mut names = meeting.names();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), meeting.names().len(), "{at}: something was sent twice");
        assert!(world.oracle.performed().values().all(|times| *times == 1), "{at}");
        dispatched(&world, task);
        for counts in path_of_each(&world, task) {
            assert!(counts.iter().all(|count| *count <= 1), "{at}: {counts:?}");
        }
    }
}
