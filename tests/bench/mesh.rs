//! The mesh: how long a message takes until the other machine has said that it opened it, beside the raw round trip of the same relay;
//! what a machine writes in a day in meshes of 10, 100 and 1,000; and when a schedule is taken over (mesh.md 4, 6).

use crate::Asked;
use crate::board::{Board, at, ms, timed};
use mesh::sealed::{NostrSealing, Sealing as _};
use mesh::{
    Capabilities, Chance, Command, Delivered, Fact, GroupSecret, Happened, Node, NodeId, Peer, Schedule,
    State, Step, Way, frame,
};
use model::{Digest, UnixMs};
use seal::{SeedSigner, Signer as _};
use socket::relay::OwnRelay;
use socket::{At, Came, Heard, Proves, Socket, Sockets};
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command as Program, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Messages of each kind, in short turns.
const ROUNDS: usize = 60;
/// Whatever is waited for comes within this time or not at all.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long one waits where nothing came.
const LISTENS: Duration = Duration::from_micros(200);
const CONVERSATION: &str = "bench";
const MINUTE: i64 = 60_000;
/// The term of a schedule, the shortest that there is.
const TERM_MS: i64 = 2 * MINUTE;
/// Machines of the simulated meshes.
const MESHES: [u32; 3] = [10, 100, 1_000];

pub fn run(_: &Asked, board: &Board) {
    messages(board);
    taken_over(board);
    for nodes in MESHES {
        a_day(nodes, board);
    }
}

/// Chance from a count: nothing here is secret.
struct Counted(u64);

impl Chance for Counted {
    fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(32) {
            self.0 += 1;
            let drawn = Digest::of(&self.0.to_be_bytes());
            chunk.copy_from_slice(&drawn.as_bytes()[..chunk.len()]);
        }
    }
}

/// Nobody is reached directly here.
struct Nobody;

impl Proves for Nobody {
    fn challenge(&self) -> String {
        "nobody".to_owned()
    }

    fn answer(&self, _: &str, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn check(&self, _: &str, _: &str, _: &[u8]) -> Option<String> {
        None
    }
}

fn now() -> UnixMs {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    UnixMs(i64::try_from(since.as_millis()).expect("a time"))
}

fn sealing(secret: u8) -> NostrSealing {
    NostrSealing::new(&[secret; 32]).expect("a key")
}

/// A node that is paired with another, and reads at this relay.
fn node(secret: u8, other: u8, url: &str, now: UnixMs) -> (Node<NostrSealing>, Counted) {
    let group = Digest::of(b"the group of a bench");
    let mut own = sealing(secret);
    own.add_group(group.as_bytes()).expect("a group");
    let id = own.node();
    let (mut node, mut chance) = (Node::new(own, State::new(id), now), Counted(u64::from(secret) << 32));
    let peer = Peer {
        node: sealing(other).node(),
        name: format!("machine {other}"),
        relays: vec![url.to_owned()],
        log_key: SeedSigner::from_seed([other; 32]).public(),
        approval_key: None,
    };
    let (without, through) = (BTreeSet::new(), BTreeSet::new());
    let group = Some(GroupSecret { epoch: 1, secret: group, without, through });
    let tell = Command::Tell { can: Capabilities::default(), load: 0, relays: vec![url.to_owned()] };
    for command in [Command::Pair { peer, group }, tell] {
        node.handle(Happened::Said(command), now, &mut chance).expect("said");
    }
    (node, chance)
}

/// A node behind real sockets.
struct Machine {
    node: Node<NostrSealing>,
    chance: Counted,
    url: String,
    sockets: Sockets,
    came: Receiver<Came>,
    wakes_at: Option<UnixMs>,
    opened: usize,
}

impl Machine {
    fn new(secret: u8, other: u8, url: &str) -> Self {
        let (node, chance) = node(secret, other, url, now());
        let (send, came) = sync_channel(256);
        let sockets = Sockets::begin(send, Arc::new(Nobody), Vec::new());
        sockets.keep(&BTreeSet::from([url.to_owned()]), &BTreeMap::new());
        Self { node, chance, url: url.to_owned(), sockets, came, wakes_at: None, opened: 0 }
    }

    fn does(&mut self, what: Happened) {
        let step = self.node.handle(what, now(), &mut self.chance).expect("done");
        self.wakes_at = step.wake_at;
        self.opened += step.facts.iter().filter(|fact| matches!(fact, Fact::Opened { .. })).count();
        for (_, bytes) in step.write {
            self.sockets.write(&At::Relay(self.url.clone()), bytes);
        }
    }

    /// Does what came, and what is due; whether there was anything.
    fn turns(&mut self) -> bool {
        let mut was_idle = true;
        while let Ok(came) = self.came.try_recv() {
            was_idle = false;
            let way = Way::Relay(self.url.clone());
            match came {
                Came::Open(_) => self.does(Happened::Up(way)),
                Came::Shut(..) => self.does(Happened::Down(way)),
                Came::Bytes(_, bytes) => self.does(Happened::Received { way, bytes }),
                Came::Guest(..) => {}
            }
        }
        if self.wakes_at.is_some_and(|at| at <= now()) {
            self.does(Happened::Tick);
        }
        !was_idle
    }
}

fn until(machines: &mut [Machine; 2], holds: impl Fn(&[Machine; 2]) -> bool) {
    let by = Instant::now() + PATIENCE;
    while !holds(&*machines) {
        assert!(Instant::now() < by, "not in time");
        let mut is_busy = false;
        for machine in machines.iter_mut() {
            is_busy |= machine.turns();
        }
        if !is_busy {
            std::thread::sleep(LISTENS);
        }
    }
}

/// One event to another connection and one back.
struct Raw {
    sides: [Socket; 2],
    chance: Counted,
}

impl Raw {
    fn new(url: &str) -> Self {
        let url = url.parse().expect("an address");
        let sides = [3_u8, 4].map(|secret| {
            let mut socket = Socket::open(&url, &[]).expect("the relay");
            let asks = frame::subscribe(&[sealing(secret).node()], now().0 / 1_000 - 3 * 86_400);
            assert!(socket.write(&serde_json::from_slice(&asks).expect("JSON")));
            socket
        });
        Self { sides, chance: Counted(9 << 32) }
    }

    /// The next event.
    fn hears(socket: &mut Socket) {
        let by = Instant::now() + PATIENCE;
        loop {
            match socket.read(by) {
                Heard::Json(message) if message[0] == "EVENT" => return,
                Heard::Json(_) => {}
                Heard::Nothing | Heard::End(_) => panic!("the relay says nothing"),
            }
        }
    }

    fn round(&mut self, text: &str) -> Duration {
        let events = [(3, 4), (4, 3)].map(|(from, to): (u8, u8)| {
            let wrap = sealing(from).wrap(sealing(to).node(), text, now(), &mut self.chance).expect("sealed");
            serde_json::from_slice::<serde_json::Value>(&frame::event(&wrap)).expect("JSON")
        });
        let [one, other] = &mut self.sides;
        let [there, back] = events;
        timed(|| {
            assert!(one.write(&there));
            Self::hears(other);
            assert!(other.write(&back));
            Self::hears(one);
        })
        .0
    }
}

/// Messages over the own relay, each until it is acknowledged.
fn messages(board: &Board) {
    let relay = OwnRelay::begin("127.0.0.1:0".parse().expect("an address")).expect("a relay");
    let url = format!("ws://{}", relay.address());
    let mut machines = [Machine::new(1, 2, &url), Machine::new(2, 1, &url)];
    let other = sealing(2).node();
    machines[1].does(Happened::Said(Command::Own { conversation: CONVERSATION.to_owned() }));
    until(&mut machines, |all| all[0].node.state().owner(CONVERSATION).is_some_and(|(_, by)| by == other));
    let (mut raw, text) = (Raw::new(&url), "a goal of some length ".repeat(20));
    let (mut messages, mut rounds) = (Vec::new(), Vec::new());
    // In turns, so that a slow moment of the machine meets both.
    for round in 0..ROUNDS {
        let before = machines[0].opened;
        let envelope = format!("{round} {text}");
        let route = Command::Route { conversation: CONVERSATION.to_owned(), envelope };
        let (took, ()) = timed(|| {
            machines[0].does(Happened::Said(route));
            until(&mut machines, |all| all[0].opened > before);
        });
        messages.push(took);
        rounds.push(raw.round(&text));
    }
    let (message, round) = (at(&mut messages, 0.5), at(&mut rounds, 0.5));
    board.figure("a raw round trip over the relay", &ms(round));
    let slowest = at(&mut messages, 0.99);
    board.figure(
        "a message, sealed, until its receiver says that it opened it",
        &format!("{}, {:.1} of the raw one; p99 {}", ms(message), message / round, ms(slowest)),
    );
}

/// What of a step others read.
fn events(step: Step) -> Vec<Vec<u8>> {
    let bytes = step.write.into_iter().map(|(_, bytes)| bytes);
    bytes.filter(|bytes| bytes.starts_with(b"[\"EVENT\"")).collect()
}

/// The relay of nodes that have no sockets.
const RELAY: &str = "wss://relay.example";

fn way() -> Way {
    Way::Relay(RELAY.to_owned())
}

type Nodes = [(Node<NostrSealing>, Counted); 2];

/// Both are here for some minutes, and hear each other each second; the first one goes first, and holds the schedule.
fn live_together(nodes: &mut Nodes, clock: &mut UnixMs) {
    let ranks: Vec<NodeId> = [1, 2].map(|secret| sealing(secret).node()).to_vec();
    let ready = || Command::Ready { schedule: "s".to_owned(), sha256: Digest::ZERO, is_ready: true };
    let schedule =
        Schedule { schedule: "s".to_owned(), version: 1, sha256: Digest::ZERO, ranks, term_ms: TERM_MS };
    let mut said: [Vec<Command>; 2] = [vec![Command::Schedule(schedule), ready()], Vec::new()];
    for second in 0..300 {
        *clock = clock.plus_ms(1_000);
        if second == 60 {
            said[1].push(ready());
        }
        let mut written = [Vec::new(), Vec::new()];
        for (at, (node, chance)) in nodes.iter_mut().enumerate() {
            let up = (second == 0).then(|| Happened::Up(way()));
            let says = said[at].drain(..).map(Happened::Said);
            for what in up.into_iter().chain(says).chain([Happened::Tick]) {
                written[at].extend(events(node.handle(what, *clock, chance).expect("done")));
            }
        }
        for _ in 0..8 {
            let [by_first, by_second] = std::mem::take(&mut written);
            for (at, heard) in [(0, by_second), (1, by_first)] {
                let (node, chance) = &mut nodes[at];
                for bytes in heard {
                    let what = Happened::Received { way: way(), bytes };
                    written[at].extend(events(node.handle(what, *clock, chance).expect("done")));
                }
            }
        }
    }
}

/// From the last sign of a machine that holds a schedule to the start of a slot at the next one, in the clock of both.
fn taken_over(board: &Board) {
    let mut clock = now();
    let mut nodes = [node(1, 2, RELAY, clock), node(2, 1, RELAY, clock)];
    live_together(&mut nodes, &mut clock);
    let (node, chance) = &mut nodes[1];
    let (silent_since, mut held) = (clock, None);
    let began = loop {
        clock = clock.plus_ms(1_000);
        let silent = clock.0 - silent_since.0;
        assert!(silent < 60 * MINUTE, "nobody takes it over");
        let due = Command::Due { schedule: "s".to_owned(), slot: "7".to_owned() };
        let mut delivered = Vec::new();
        for what in [Happened::Tick, Happened::Said(due)] {
            delivered.extend(node.handle(what, clock, chance).expect("done").deliver);
        }
        if delivered.iter().any(|one| matches!(one, Delivered::Holds { .. })) {
            held = Some(silent);
        }
        if delivered.iter().any(|one| matches!(one, Delivered::Start { .. })) {
            break silent;
        }
    };
    let held = held.expect("it was taken");
    let (taken, then) = (held / 1_000, (began - held) / 1_000);
    let (term, differ) = (TERM_MS / 1_000, mesh::CLOCK_DIFFERENCE_MS / 1_000);
    board.figure(
        "a schedule is taken over, and what is due begins",
        &format!(
            "{taken} s after its holder was here last, {then} s after that; its term is {term} s, clocks may differ by {differ} s"
        ),
    );
}

/// What a node writes in a day of a simulated mesh, in its own clock: machines come and go, and none is hostile.
fn a_day(nodes: u32, board: &Board) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut program = Program::new(cargo);
    program.args([
        "test",
        "--quiet",
        "--release",
        "-p",
        "hermit-mesh",
        "--test",
        "mesh",
        "--",
        "--nocapture",
    ]);
    program.arg("a_mesh_in_trouble_delivers_each_message_once_and_runs_each_slot_once");
    program.env("HERMIT_MESH_NODES", nodes.to_string()).env("HERMIT_MESH_HARMLESS", "1").stdin(Stdio::null());
    let (took, ran) = timed(|| program.output().expect("cargo"));
    let said = String::from_utf8_lossy(&ran.stderr);
    // `... a node and hour: 12 written, 3456 bytes, 78 read, of them ...`
    let number = |after: &str, unit: &str| -> Option<u64> {
        let (before, _) = said.split_once(after)?.1.split_once(unit)?;
        before.rsplit([' ', ',']).find(|word| !word.is_empty())?.parse().ok()
    };
    let what = format!("{nodes} machines, one of them, in a day of their clock");
    match (number("a node and hour:", " bytes"), number("a node and hour:", " read")) {
        (Some(bytes), Some(read)) if ran.status.success() => board.figure(
            &what,
            &format!(
                "{:.1} MB written, {} messages read; simulated in {:.0} s",
                bytes as f64 * 24.0 / 1e6,
                read * 24,
                took.as_secs_f64()
            ),
        ),
        _ => board.figure(&what, "the simulation did not come to its end"),
    }
}
