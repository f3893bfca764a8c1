//! Reads beside each other: of one answer, what only looks and needs no question runs at the same time, up to a limit; each
//! keeps its own judgement, grant, outcome and receipt; what changes something has nobody beside it; nothing is doubled by a
//! host that dies.

use crate::several::together;
use crate::story::{completed, count, events, object, packs, shows, state};
use conforms::conforms;
use effects::{
    Ended, Endpoint, Heard, Offers, Pipes, ToolCall, ToolReply, ToolServers, ToolSession, Unspoken,
};
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Waiting};
use model::action::ActionClass;
use model::fault::Point;
use model::ingress::Channel;
use model::policy::Profile;
use model::proposal::Answer;
use model::standing::{Cover, StandingGrant, StandingScope};
use model::tool_server::{ServerTool, ToolHints, ToolManifest, ToolTerms};
use model::{ActionRequestId, Body, Digest, GrantId, TaskId};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use testkit::{Edge, Mode, World, change, done, fetch, look, say, write};

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

    /// A server on loopback that answers each request with its path, when so many are there.
    fn serves(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let meeting = self.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let meeting = meeting.clone();
                std::thread::spawn(move || meeting.answer(stream));
            }
        });
        address
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut head = Vec::new();
        let mut byte = [0; 1];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
            head.extend(byte);
        }
        let path = String::from_utf8_lossy(&head).split(' ').nth(1).unwrap_or_default().to_owned();
        self.come(&path);
        let body = format!("here is {path}");
        let text = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(text.as_bytes());
    }
}

/// A person allows fetches from a host so often.
fn allow_host(world: &World, at: SocketAddr, max_uses: u32) -> GrantId {
    let cover = Cover::Host { name: at.ip().to_string(), port: at.port(), write: false };
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

fn page(at: SocketAddr, name: &str) -> Answer {
    fetch("GET", &format!("http://{at}/{name}"), None)
}

fn with_limit(seed: u64, at_once: usize) -> World {
    let mut world = World::new(seed);
    world.parallel_reads = at_once;
    world.reopen();
    world
}

/// The acts of a task, in the order in which they were dispatched: its tool, which others were under way when it was, and
/// which events tell of it.
fn dispatched(world: &World, task: TaskId) -> Vec<(String, BTreeSet<String>)> {
    let (mut tools, mut open, mut all) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
    for (_, body) in events(world.kernel(), task) {
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

#[conforms("HV-3.2-2")]
#[test]
fn reads_of_one_answer_run_at_the_same_time_up_to_the_limit_and_keep_their_order() {
    // Each waits for all the others: they could not end one after the other.
    let world = World::new(1_701);
    let meeting = Meeting::of(10, LONG);
    let at = meeting.serves();
    allow_host(&world, at, 50);
    let mut answer: Vec<Answer> = (0..12).map(|n| page(at, &format!("p{n:02}"))).collect();
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
    let place = |words: &str| last.items.iter().position(|item| item.text.contains(words));
    let places: Vec<_> = (0..12).map(|n| place(&format!("here is /p{n:02}")).unwrap()).collect();
    assert!(places.is_sorted() || places.iter().rev().is_sorted(), "{places:?}");
    assert!(shows(&last, "look around"));
    // A person set another number.
    for at_once in [1, 2, 3] {
        let world = with_limit(1_710 + at_once as u64, at_once);
        let meeting = Meeting::of(at_once + 1, SHORT);
        let at = meeting.serves();
        allow_host(&world, at, 50);
        let answer = (0..4).map(|n| page(at, &format!("p{n}"))).collect();
        let task = give(&world, "fewer", vec![together(answer), done("seen")]);
        assert_eq!(world.drive(task), completed());
        assert_eq!(meeting.most(), at_once);
        assert_eq!(path_of_each(&world, task), vec![[1; 6]; 4]);
    }
}

#[conforms("HV-3.2-3")]
#[test]
fn what_changes_something_has_nobody_beside_it_and_comes_in_its_order() {
    let world = World::new(1_702);
    let meeting = Meeting::of(2, LONG);
    let at = meeting.serves();
    allow_host(&world, at, 50);
    let answer = vec![
        page(at, "a"),
        look("letter.txt"),
        page(at, "b"),
        write("1.md", "one"),
        write("2.md", "two"),
        page(at, "c"),
        change(json!([{ "op": "move", "from": "1.md", "to": "3.md" }])),
    ];
    let task = give(&world, "look and write", vec![together(answer), done("both")]);
    let (ended, asked) = world.drive_allowing(task);
    assert_eq!((ended, asked), (completed(), 2), "changes are asked about, as ever");
    let all = dispatched(&world, task);
    let tools: Vec<&str> = all.iter().map(|(tool, _)| tool.as_str()).collect();
    assert_eq!(tools, ["fetch", "observe", "fetch", "change", "fetch", "change"]);
    let beside: Vec<usize> = all.iter().map(|(_, open)| open.len()).collect();
    assert_eq!(beside, [0, 1, 1, 0, 0, 0], "{all:?}");
    assert!(world.files().contains_key("2.md") && world.files().contains_key("3.md"));
    let receipts = events(world.kernel(), task);
    let receipts = receipts.iter().filter(|(_, body)| matches!(body, Body::ReceiptIssued(b) if b.action_request_id.is_some()));
    assert_eq!(receipts.count(), 5, "each change and each fetch is on record by itself");
}

#[test]
fn one_that_fails_beside_others_leaves_what_follows_them_and_the_model_is_told() {
    let world = World::new(1_703);
    let meeting = Meeting::of(1, LONG);
    let at = meeting.serves();
    allow_host(&world, at, 50);
    let answer =
        vec![look("none.txt"), page(at, "a"), page(at, "b"), write("1.md", "one"), write("2.md", "two")];
    let task = give(&world, "one fails", vec![together(answer), done("so be it")]);
    assert_eq!(world.drive(task), completed(), "nobody was asked about a change");
    assert!(!world.files().contains_key("1.md"));
    let last = packs(world.kernel(), task).pop().unwrap();
    assert!(shows(&last, "here is /a") && shows(&last, "here is /b"), "what was seen is seen");
    let left = "one further request of this answer: not done, because one of those that were done together failed";
    let lines: Vec<&String> = last.items.iter().map(|item| &item.text).collect();
    assert!(shows(&last, left), "{lines:?}");
}

#[test]
fn a_lasting_yes_is_counted_for_each_and_the_person_is_asked_where_it_is_used_up() {
    let world = World::new(1_704);
    let meeting = Meeting::of(3, LONG);
    let at = meeting.serves();
    let grant = allow_host(&world, at, 3);
    let answer = (0..4).map(|n| page(at, &format!("p{n}"))).collect();
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

/// Servers at `/sN`, each with one tool that waits for the others.
struct Waiters(Meeting);

impl ToolServers for Waiters {
    fn open(&self, _: Pipes, _: Offers, _: Duration, _: Ended<'_>) -> Result<Box<dyn ToolSession>, String> {
        Err("it starts none".to_owned())
    }

    fn reach(
        &self,
        endpoint: Arc<Endpoint>,
        _: Offers,
        _: Duration,
        _: Ended<'_>,
    ) -> Result<Box<dyn ToolSession>, String> {
        Ok(Box::new(Waiter(self.0.clone(), endpoint.url().to_string())))
    }

    fn fits(&self, _: &str, _: &str) -> Result<(), String> {
        Ok(())
    }
}

struct Waiter(Meeting, String);

impl ToolSession for Waiter {
    fn manifest(&mut self, _: Duration, _: Ended<'_>) -> Result<ToolManifest, String> {
        ToolManifest::of(vec![ServerTool {
            name: "meet".to_owned(),
            title: None,
            description: None,
            input_schema: r#"{"type":"object"}"#.to_owned(),
            output_schema: None,
            hints: ToolHints::default(),
        }])
    }

    fn call(
        &mut self,
        _: ToolCall,
        _: Heard<'_>,
        _: Ended<'_>,
    ) -> Result<Result<ToolReply, String>, Unspoken> {
        self.0.come(&self.1);
        let said = json!({ "content": [{ "type": "text", "text": format!("met at {}", self.1) }] });
        Ok(Ok(ToolReply { is_error: false, result: said }))
    }
}

/// A person says that `meet` of each server only looks, and that it may be called so from now on.
fn trusted(world: &World, servers: usize, call: &dyn Fn(usize) -> Answer) {
    for n in 0..servers {
        let server = format!("s{n:02}");
        let terms = ToolTerms::of(ActionClass::NetworkRead);
        let by = (Channel::Cli, format!("classify {n}"));
        let asked =
            world.kernel().propose_terms((&server, "meet"), terms, false, world.folder.path(), by).unwrap();
        let approval = world.drive_to_approval(asked.task_id);
        world.person.allow(world.kernel(), asked.task_id, approval).unwrap();
        world.drive(asked.task_id);
    }
    for n in 0..servers {
        let task = give(world, &format!("first {n}"), vec![call(n), done("ok")]);
        let first = world.drive_to_approval(task);
        let packet = state(world, task).approvals[&first].approval.approval_packet_ref;
        let packet: acts::ApprovalPacket = object(world.kernel(), &state(world, task), packet);
        let action = seal::canon::to_canonical(&packet.action_request.action).unwrap();
        let cover = Cover::Act { action_sha256: Digest::of(&action), summary: "meet".to_owned() };
        let grant = world.person.standing(world.kernel(), cover, StandingScope::User, None);
        world.kernel().allow_standing(&world.person.sign_standing(&grant)).unwrap();
        world.person.deny(world.kernel(), task, first, "not now").unwrap();
        world.drive(task);
    }
}

#[test]
fn tools_that_a_person_said_only_look_run_at_the_same_time_but_for_those_of_one_server() {
    let mut world = World::new(1_705);
    let meeting = Meeting::of(4, LONG);
    world.servers = Arc::new(Waiters(meeting.clone()));
    world.reopen();
    world.register_many(3);
    let call = |n: usize| say(&format!("s{n:02}__meet"), json!({}));
    trusted(&world, 3, &call);
    let at = meeting.serves();
    allow_host(&world, at, 9);
    assert_eq!(meeting.most(), 0, "nothing was called yet");
    let answer = vec![call(0), call(1), page(at, "a"), call(2), look("letter.txt")];
    let task = give(&world, "all meet", vec![together(answer), done("met")]);
    assert_eq!(world.drive(task), completed());
    assert_eq!(meeting.most(), 4, "three tools and a fetch, of which each waited for all");
    let last = packs(world.kernel(), task).pop().unwrap();
    for n in 0..3 {
        assert!(shows(&last, &format!("met at http://127.0.0.1:9/s{n}")));
    }
    // A server remembers its calls: two of one server are made one after the other.
    meeting.0.0.lock().unwrap().wanted = 9;
    meeting.0.0.lock().unwrap().patience = SHORT;
    meeting.0.0.lock().unwrap().most = 0;
    let task = give(&world, "twice", vec![together(vec![call(0), call(0), call(1)]), done("met")]);
    assert_eq!(world.drive(task), completed());
    assert_eq!(meeting.most(), 2);
    assert_eq!(path_of_each(&world, task), vec![[1; 6]; 3]);
}

/// Two fetches with a look between them, and a note.
fn reads(at: SocketAddr) -> Vec<Answer> {
    let answer = vec![page(at, "a"), look("letter.txt"), page(at, "b"), write("1.md", "one")];
    vec![together(answer), done("both are read")]
}

/// Drives to the end, allowing all, through one death.
fn through(world: &mut World, task: TaskId, at: SocketAddr) -> DriveOutcome {
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
                assert!(world.faults.fired(), "nothing else ends it");
                world.faults.clear();
                world.reopen();
                let kept = count(world.kernel(), task, "attempt.model_responded");
                let rest = reads(at).into_iter().skip(kept).chain([done("as far as it went")]);
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
        let at = meeting.serves();
        allow_host(&world, at, 9);
        let task = give(&world, "reads", reads(at));
        (world, meeting, at, task)
    };
    let (world, _, _, task) = begin();
    world.faults.forget_hits();
    assert_eq!(world.drive_allowing(task).0, completed());
    let hits = world.faults.hits();
    assert!(hits.contains_key(&(Point::CallSend, Edge::After)), "{hits:?}");
    drop(world);
    for ((point, edge), times) in hits {
        for nth in 1..=times {
            let (mut world, meeting, host, task) = begin();
            world.faults.plan(point, edge, Mode::Abort, nth);
            let at = format!("{point}, {edge:?}, {nth}");
            assert_eq!(through(&mut world, task, host), completed(), "{at}");
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
}
