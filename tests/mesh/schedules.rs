//! A schedule that three machines hold together (HV-3.5-3): the one that runs it is killed, or cut off, and the next one takes over what
//! came due. Time passes faster for them, because nobody is taken for silent within minutes.

use super::machines::{Machine, Relay, pair};
use crate::journeys::stage::Stage;
use crate::journeys::tool_servers::{work, yes};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const NAME: &str = "rounds";
/// How many times as fast time passes: a term of two minutes, and the five that clocks may differ by, are twenty-eight seconds; and the
/// minute and a half for which one that was cut off listens are six, in which it hears of what began without it on a busy machine too.
const TIMES: u32 = 15;
/// Whatever is waited for comes within this time, on a machine that has much to do as well.
const PATIENCE: Duration = Duration::from_secs(240);
/// How often one looks: a look is a program, and takes the time of those that it looks at.
const LOOKS_EVERY: Duration = Duration::from_millis(300);
/// From one time of the schedule to the next, in milliseconds. It is long beside a look: whoever dies, or is cut off, at the moment at
/// which it begins tells nobody that it began.
const PERIOD_MS: i64 = 10 * 60_000;

/// Three machines, and since when they hold the schedule together.
struct Three {
    machines: [Machine; 3],
    since: i64,
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let by = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < by, "not in time: {what}");
        std::thread::sleep(LOOKS_EVERY);
    }
}

impl Three {
    /// Waits until no time of the schedule is near. Whoever is killed or cut off while it begins one has told nobody, and the others
    /// run it again, as they must: what these tests say is of those that had told.
    fn between_times(&self) {
        until("no time is near", || {
            let passed = (now_ms() - self.since) * i64::from(TIMES);
            (PERIOD_MS / 5..PERIOD_MS / 2).contains(&((self.since + passed) % PERIOD_MS))
        });
    }
}

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_millis();
    i64::try_from(now).expect("a time")
}

/// Has the same schedule approved by the person at a machine. It changes nothing and asks nothing where no file is there twice.
fn approves(machine: &Machine) {
    let folder = work(&machine.stage);
    let add = ["schedule", "add", "*/10 * * * *", "--playbook", "duplicates", "--name", NAME];
    let more = ["--workspace", &folder, "--missed", "12"];
    let asked = machine.stage.hermit(&[&add[..], &more[..]].concat()).ends(4).json();
    yes(&machine.stage, asked["waits_for"]["id"].as_str().expect("an approval"));
}

fn shown(machine: &Machine) -> Value {
    machine.stage.hermit(&["schedule", "show", NAME]).ends(0).json()
}

/// The times that began at a machine, each with how its run stands.
fn ran(machine: &Machine) -> BTreeMap<i64, String> {
    let shown = shown(machine);
    let runs = shown["runs"].as_array().expect("runs").iter();
    let run = |run: &Value| (run["slot_at"].as_i64(), run["status"].as_str().map(str::to_owned));
    runs.map(run).map(|(at, status)| (at.expect("a time"), status.unwrap_or_default())).collect()
}

/// The last time that began at a machine; where none did since, that.
fn newest(machine: &Machine, since: i64) -> i64 {
    ran(machine).last_key_value().map_or(since, |(at, _)| since.max(*at))
}

/// Waits until a machine ran the schedule to its end at a time after this one; at which.
fn runs_after(machine: &Machine, after: i64) -> i64 {
    let mut found = None;
    until(&format!("{} runs it", machine.name), || {
        let newest = ran(machine).last_key_value().map(|(at, run)| (*at, run == "completed"));
        found = newest.filter(|(at, is_done)| *at > after && *is_done).map(|(at, _)| at);
        found.is_some()
    });
    found.expect("it was there")
}

/// Waits until all of these know that a machine holds the schedule.
fn held_by(holder: &Machine, all: &[&Machine]) {
    until(&format!("{} holds it", holder.name), || {
        all.iter().all(|machine| shown(machine)["held_by"]["holder"] == holder.name)
    });
}

/// Three paired machines in a time that passes faster; the first of them goes first, and has run the schedule.
fn three(relay: &Relay, listen: [Option<String>; 3]) -> Three {
    let [first, second, third] = ["server", "laptop", "phone"];
    let [of_first, of_second, of_third] = listen;
    let machine = |name: &'static str, listen: Option<String>| {
        let more: Vec<&str> = listen.iter().flat_map(|at| ["--listen", at.as_str()]).collect();
        let machine = Machine::new(name, &[relay], &more);
        approves(&machine);
        machine
    };
    let mut machines = std::thread::scope(|all| {
        let others = [all.spawn(|| machine(second, of_second)), all.spawn(|| machine(third, of_third))];
        let first = machine(first, of_first);
        let [second, third] = others.map(|other| other.join().expect("a machine"));
        [first, second, third]
    });
    let [server, laptop, phone] = &machines;
    for (shows, types) in [(server, laptop), (server, phone), (laptop, phone)] {
        pair(shows, types, &[]);
    }
    server.hears(laptop);
    server.hears(phone);
    Stage::ran(&mut server.by_person(&["hold", NAME, "server", "laptop", "phone", "--term", "2"])).ends(0);
    held_by(server, &[server, laptop, phone]);
    until("each of them can run it", || {
        let unready = |machine: &Machine| shown(machine)["held_by"]["unready"].clone();
        [server, laptop, phone].into_iter().all(|one| unready(one) == serde_json::json!([]))
    });
    let since = now_ms();
    for machine in &mut machines {
        machine.hurries(&format!("{since}*{TIMES}"));
    }
    runs_after(&machines[0], since);
    Three { machines, since }
}

/// After all of it: each time has one run, at one machine, none is left out, and the chain of each machine holds.
fn each_time_ran_once(Three { machines, since }: Three) {
    let mut all: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
    for mut machine in machines {
        machine.ends();
        for (at, _) in ran(&machine).into_iter().filter(|(at, _)| *at > since) {
            all.entry(at).or_default().push(machine.name);
        }
        let done = shown(&machine);
        let tasks = done["runs"].as_array().expect("runs").iter().map(|run| run["task_id"].to_string());
        let tasks: BTreeSet<String> = tasks.collect();
        assert_eq!(Some(tasks.len() as u64), done["fired"].as_u64(), "a task for each: {done}");
        machine.stage.is_sound();
    }
    assert!(all.values().all(|ran| ran.len() == 1), "each time ran at one machine: {all:?}");
    let times: Vec<i64> = all.keys().copied().collect();
    assert!(times.windows(2).all(|two| two[1] - two[0] == PERIOD_MS), "none is lost: {all:?}");
}

#[conforms::conforms("HV-3.5-3", part = "HV-7-2")]
#[test]
fn what_comes_due_while_its_machine_is_dead_runs_at_the_next_once_and_the_schedule_is_given_back() {
    let relay = Relay::new();
    let mut three = three(&relay, [None, None, None]);
    three.between_times();
    three.machines[0].killed();
    // Nobody is told of it: the others only hear nothing.
    let [server, laptop, phone] = &three.machines;
    let taken = runs_after(laptop, newest(server, three.since));
    held_by(laptop, &[laptop, phone]);
    three.machines[0].serve();
    let [server, laptop, phone] = &three.machines;
    held_by(server, &[server, laptop, phone]);
    assert!(!ran(server).contains_key(&taken), "it ran while it was dead");
    runs_after(server, taken);
    each_time_ran_once(three);
}

#[conforms::conforms(part = "HV-3.5-3", part = "HV-7-2")]
#[test]
fn a_machine_that_is_cut_off_leaves_what_comes_due_to_the_next_and_runs_none_of_it_when_it_is_back() {
    let relay = Relay::new();
    let address = relay.address().to_owned();
    let free =
        || TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").to_string();
    // The other two reach each other by a cable, too.
    let three = three(&relay, [None, Some(free()), Some(free())]);
    let [server, laptop, phone] = &three.machines;
    let is_open = |machine: &Machine, is_direct: bool| {
        let shown = machine.told(&["show"]);
        let ways = shown["ways"].as_array().expect("ways");
        ways.iter().any(|way| way["is_direct"] == is_direct && way["is_open"] == true)
    };
    until("the cable is in use", || is_open(laptop, true) && is_open(phone, true));
    runs_after(server, newest(server, three.since));
    three.between_times();
    drop(relay);
    until("the server is cut off", || !is_open(server, false));
    let waits = |machine: &Machine| shown(machine)["held_by"]["is_cut_off"] == true;
    until("it says that it begins nothing", || waits(server));
    let told = Stage::ran(&mut server.stage.command(&["schedule", "show", NAME])).ends(0).out;
    assert!(told.contains("it waits here: no other machine can be reached"), "{told}");
    assert!(!waits(laptop) && !waits(phone), "those two reach each other");
    let taken = runs_after(laptop, newest(server, three.since));
    // It is alive, and came to the same time: nobody could hear of it.
    assert!(!ran(server).contains_key(&taken));
    // The other two are at the relay before it is: in this time it listens for seconds alone, and they try the relay as seldom as ever.
    let mut back = None;
    server.stands_still(|| {
        back = Some(Relay::at(&address));
        until("the other two are at the relay", || is_open(laptop, false) && is_open(phone, false));
    });
    held_by(server, &[server, laptop, phone]);
    until("it waits no more", || !waits(server));
    runs_after(server, taken);
    each_time_ran_once(three);
    drop(back);
}
