//! What a clone tries to reach of a parent that is at work: a store with keys, served, with its socket and its token.

use super::{AMPLE, has_walls, sandbox};
use crate::journeys::attached::Served;
use crate::journeys::hermit;
use crate::journeys::stage::Stage;
use ::successor::{Case, Evidence, Probe};
use conforms::conforms;
use host::successor::{CLONE_VERB, CloneProgram, Handed, ParentPlaces, run_confined};
use std::io::Write as _;
use std::process::{Command, Stdio};
use words::successor::Arm;

/// Everything of a parent that a clone may not have.
const ALL: [&str; 8] =
    ["store", "socket", "keychain", "approval_key", "token", "network", "home", "processes"];

/// A parent at work, and a case without tasks for a clone of it.
fn parent() -> (Stage, Served, Handed) {
    let stage = Stage::new();
    let served = Served::by(&stage);
    let pid: u32 = served.pid().parse().expect("a number");
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let began = stat.rsplit_once(')').expect("a name").1.split_whitespace().nth(19).expect("a time");
    let places = ParentPlaces {
        process: Some((pid, began.parse().expect("a number"))),
        home: stage.work(),
        ..ParentPlaces::of(&stage.home(), Some(served.address().parse().expect("an address")))
    };
    assert!(places.sockets.iter().any(|at| at.exists()), "it listens at a socket: {places:?}");
    assert!(places.token.exists() && places.approval_key.exists(), "{places:?}");
    let case = Case {
        trial_id: "trial".to_owned(),
        seed: 1,
        budget: AMPLE,
        patch: None,
        rules: String::new(),
        profile: "local_edit_allowed".to_owned(),
        tools: Vec::new(),
        tasks: Vec::new(),
    };
    let handed = Handed {
        case,
        arm: Arm::Parent,
        words: Vec::new(),
        skills: Vec::new(),
        terms: Vec::new(),
        file_rules: None,
        model: None,
        places,
    };
    (stage, served, handed)
}

fn input(handed: &Handed) -> Vec<u8> {
    serde_json::to_vec(handed).expect("JSON")
}

fn names(probes: &[Probe]) -> Vec<&str> {
    probes.iter().map(|probe| probe.what.as_str()).collect()
}

#[conforms(part = "HV-5-3", part = "HV-5-6", part = "HV-7-1")]
#[test]
fn a_clone_reaches_nothing_of_its_parent() {
    if !has_walls() {
        return;
    }
    let (stage, _served, handed) = parent();
    let clone = CloneProgram::of(hermit(), &[CLONE_VERB]);
    let end = run_confined(&sandbox(), &clone, input(&handed), &AMPLE, &|| false).expect("it runs");
    assert!(end.is_whole(), "{}", end.in_words());
    let evidence = Evidence::read(&end.evidence).expect("evidence");
    assert_eq!(names(&evidence.probes), ALL);
    for probe in &evidence.probes {
        assert!(probe.refused, "{probe:?}");
    }
    assert!(!stage.home().join(".left-by-a-clone").exists(), "it left nothing there");
    // Its own store is gone with it, and had the size that was measured.
    assert!(end.used.disk_bytes > 0 && end.used.memory_bytes > 0, "{:?}", end.used);
}

#[conforms(part = "HV-5-6")]
#[test]
fn without_the_sandbox_each_attempt_comes_through() {
    let (stage, _served, handed) = parent();
    let mut clone = Command::new(hermit())
        .arg(CLONE_VERB)
        .env("HOME", stage.at("work"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    clone.stdin.take().expect("a pipe").write_all(&input(&handed)).expect("it reads");
    let out = clone.wait_with_output().expect("it ends").stdout;
    let evidence = Evidence::read(&out).expect("evidence");
    assert_eq!(names(&evidence.probes), ALL);
    for probe in &evidence.probes {
        assert!(!probe.refused, "the attempt would not notice that nothing confines it: {probe:?}");
    }
}

#[conforms(part = "HV-5-6")]
#[test]
fn a_shell_in_the_place_of_a_clone_reaches_nothing_either() {
    if !has_walls() {
        return;
    }
    let (stage, served, _) = parent();
    let (home, address) = (stage.home(), served.address());
    let (host, port) = address.rsplit_once(':').expect("a port");
    let attempts = [
        format!("cat {}/approval.key", home.display()),
        format!("cat {}/gateway.token", home.display()),
        format!("cat {}/ledger.db", home.display()),
        format!("ls {}", home.display()),
        format!("echo x > {}/x", home.display()),
        format!("kill -0 {}", served.pid()),
        format!("cat /proc/{}/environ", served.pid()),
        format!("bash -c 'exec 3<>/dev/tcp/{host}/{port}'"),
        "cat /proc/1/root/etc/shadow".to_owned(),
        "mount -t tmpfs none /tmp".to_owned(),
    ];
    for attempt in attempts {
        let end = super::misbehaves(&format!("({attempt}) > /dev/null 2>&1 && echo reached"), &AMPLE);
        assert!(end.evidence.is_empty(), "{attempt}: {end:?}");
    }
}
