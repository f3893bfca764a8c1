//! Three machines learn together (HV-3.8-3): each from its own work, in rounds whose messages go over the mesh. One is killed on the
//! way, and all come to the same. A stand-in does the part of the program that trains.

use super::machines::{Machine, Relay, pair};
use crate::journeys::stage::{Stage, until};
use crate::journeys::trained::{header, work};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Rounds.
const ROUNDS: u64 = 4;

/// Speaks as `hermit-train peer` does: its message is one that is read as any other, and the state after a round follows from the
/// state before it and what was counted, so that machines have the same one only where they counted the same.
const STAND_IN: &str = r#"#!/usr/bin/python3
import hashlib, json, os, struct, sys, time

def say(**said):
    print(json.dumps(said), flush=True)

def digest(data):
    return hashlib.sha256(data).hexdigest()

if sys.argv[1] == "prove":
    say(said="measured", before={"examples": 5, "next_act_exact": 0.4, "schema_valid": 1.0, "perplexity": 4.5},
        after={"examples": 5, "next_act_exact": 0.6, "schema_valid": 1.0, "perplexity": 2.5},
        baseline={"answer": "x", "next_act_exact": 0.1}, offered=True, words="as it was measured")
    sys.exit(0)
spec = json.load(open(sys.argv[2]))
assert os.path.getsize(spec["dataset"]["path"]) > 0
own = os.path.join(spec["folder"], "together")
os.makedirs(own, exist_ok=True)
kept = os.path.join(own, "state.json")
state = {"round": 0, "digest": digest(b"first")}
if os.path.exists(kept):
    state = json.load(open(kept))

def written():
    path = os.path.join(spec["folder"], "checkpoint-%08d.safetensors" % state["round"])
    data = json.dumps(state).encode()
    open(path, "wb").write(data)
    say(said="checkpoint", step=state["round"], file=path, sha256=digest(data))

if sys.argv[3] == "learn":
    alpha = struct.unpack(">I", struct.pack(">f", spec["alpha"]))[0]
    words = "hermit/together/1\n%s\n%d %d %d %d\n" % (
        spec["base"]["sha256"], spec["rank"], alpha, spec["feed_forward"], spec["seed"])
    time.sleep(0.3)
    level = 1 + int(digest(spec["folder"].encode())[:2], 16) % 100
    message = b"hermit/outer-step/1\n" + hashlib.sha256(words.encode()).digest()
    message += struct.pack(">I", state["round"]) + bytes.fromhex(state["digest"]) + struct.pack(">I", int(sys.argv[4]))
    message += struct.pack(">IfI", 1000, 1.0, 3) + bytes([0, level, 5, 1, 200, 1, 2])
    path = os.path.join(own, "round-%06d.bin" % state["round"])
    open(path, "wb").write(message)
    say(said="progress", step=state["round"] + 1, loss=4.0, examples_per_s=1.0, memory=1000)
    say(said="round", round=state["round"], file=path, bytes=len(message), whole=4000)
else:
    counted = json.load(open(sys.argv[4]))
    if counted["round"] + 1 != state["round"]:
        assert counted["round"] == state["round"] and len(counted["messages"]) >= 3
        read = sorted(digest(open(one["file"], "rb").read()) for one in counted["messages"])
        state = {"round": state["round"] + 1, "digest": digest((state["digest"] + "".join(read)).encode())}
        open(kept + ".new", "w").write(json.dumps(state))
        os.rename(kept + ".new", kept)
    written()
"#;

/// A machine with a dataset of its own work, a model to begin with, and the stand-in.
fn machine(name: &'static str, relay: &Relay) -> Machine {
    let mut machine = Machine::new(name, &[relay], &[]);
    machine.ends();
    let program = machine.stage.at("hermit-train");
    std::fs::write(&program, STAND_IN).expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it can run");
    machine.stage.tells("HERMIT_TRAINER", program.to_str().expect("UTF-8").to_owned());
    for one in ["one", "two"] {
        work(&machine.stage, &machine.stage.work(), &format!("{one}-{name}"));
    }
    let shown = machine.stage.hermit(&["train", "curate", "--by-time"]).ends(0).json();
    let digest = shown["sha256"].as_str().expect("a digest").to_owned();
    machine.stage.hermit(&["train", "curate", "--by-time", "--keep", &digest]).ends(0);
    let weights = machine.stage.at("tiny.gguf");
    std::fs::write(&weights, header()).expect("weights");
    machine.stage.hermit(&["models", "get", "tiny", "--from", weights.to_str().expect("UTF-8")]).ends(0);
    machine.serve();
    machine
}

fn shown(machine: &Machine) -> Value {
    machine.stage.hermit(&["train", "show"]).ends(0).json()
}

fn joins(machine: &Machine) {
    until("it is asked", || shown(machine)["invitations"][0]["name"] == "notes");
    let words = ["join", "notes", "--licence", "Apache-2.0", "--always", "--detach"];
    Stage::ran(&mut machine.says("train", &words)).ends(0);
    assert_eq!(shown(machine)["invitations"], serde_json::json!([]));
}

/// The state in which the program of a machine is.
fn state(machine: &Machine, run: &str) -> Value {
    let path = machine.stage.home().join("training").join(run).join("together/state.json");
    serde_json::from_slice(&std::fs::read(path).expect("a state")).expect("JSON")
}

#[conforms::conforms(part = "HV-3.8-3")]
#[test]
fn three_machines_learn_together_over_the_mesh_and_one_is_killed_on_the_way() {
    if !Path::new("/usr/bin/bwrap").exists() {
        return conforms::lacks_walls("bubblewrap");
    }
    if !Path::new("/usr/bin/python3").exists() {
        return conforms::skip("no Python here: python3 has to be installed");
    }
    let relay = Relay::new();
    let at = &relay;
    let [desk, mut server, laptop] = std::thread::scope(|scope| {
        let made = ["desk", "server", "laptop"].map(|name| scope.spawn(move || machine(name, at)));
        made.map(|one| one.join().expect("a machine"))
    });
    pair(&desk, &server, &[]);
    pair(&desk, &laptop, &[]);
    let rounds = ROUNDS.to_string();
    let together = ["together", "notes", "--base", "tiny", "--licence", "Apache-2.0", "--always", "--detach"];
    let more = ["--steps", "1", "--rounds", &rounds, "--with", "server"];
    // Of two machines, one that is compromised could change what comes of it.
    let two = [&together[..], &more[..]].concat();
    Stage::ran(&mut desk.says("train", &two)).complains(&["machines learn together"]);
    let three = [&two[..], &["--with", "laptop"]].concat();
    Stage::ran(&mut desk.says("train", &three)).ends(0);
    joins(&server);
    // Nothing goes on before enough persons said yes.
    assert_eq!(shown(&desk)["run"]["together"]["round"], 0);
    joins(&laptop);
    let round = |machine: &Machine| shown(machine)["run"]["together"]["round"].as_u64().unwrap_or(0);
    until("a round is over", || round(&server) >= 1);
    let run = shown(&server)["run"]["run_id"].as_str().expect("a run").to_owned();
    server.killed_and_served();
    assert_eq!(shown(&server)["resumable"][0], run.as_str());
    server.stage.hermit(&["train", "run", "--resume", &run, "--detach"]).ends(0);
    let mut runs = Vec::new();
    for machine in [&desk, &server, &laptop] {
        until("all rounds are learned", || shown(machine)["run"]["state"] == "done");
        let run = shown(machine)["run"].clone();
        let (of, id) = (&run["together"], run["run_id"].as_str().expect("a run").to_owned());
        assert_eq!((of["round"].as_u64(), of["counted"].as_u64()), (Some(ROUNDS), Some(3)), "{run}");
        let bytes = |name: &str| of[name].as_u64().expect("a number");
        println!(
            "{}: sent {} bytes, plain averaging {}",
            machine.name,
            bytes("sent_bytes"),
            bytes("plain_bytes")
        );
        assert!(bytes("sent_bytes") < bytes("plain_bytes"), "{run}");
        assert!(run["words"].as_str().is_some_and(|words| words.contains("plain averaging")), "{run}");
        runs.push((machine, state(machine, &id)));
    }
    assert_eq!(runs[0].1["round"].as_u64(), Some(ROUNDS));
    for (machine, state) in &runs {
        assert_eq!(*state, runs[0].1, "{}", machine.name);
        machine.stage.is_sound();
    }
}
