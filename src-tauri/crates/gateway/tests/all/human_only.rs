//! Only a person allows: every command of the table is tried as an approver by a program that holds the gateway's
//! token, knows every identifier, and has every key of the store but the person's.

use crate::open;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use governance::approval::{answer, sign};
use model::approval::{ApprovalDecision, Choice, DECISION_PAYLOAD_TYPE, Surface};
use model::principal::PrincipalType;
use model::standing::{Cover, PathAct, StandingScope};
use model::{ApprovalId, TaskId};
use seal::SeedSigner;
use serde_json::{Map, Value, json};
use testkit::{Person, World};
use wire::{COMMANDS, Code};

/// Rounds of leaving out what a command does not know and giving what it misses.
const ROUNDS: usize = 40;

/// Everything that happened which only a person can make happen.
fn allowed(world: &World) -> usize {
    let stored = world.kernel().reader().log(0, 1_000_000).unwrap();
    let types = stored.iter().map(|one| one.event().unwrap().event_type);
    let grave = [
        "approval.granted",
        "approval.signed",
        "grant.standing_allowed",
        "passkey.enrolled",
        "passkey.signed_in",
        "push.subscribed",
        "person.decided",
        "policy.overridden",
        "key.rotated",
    ];
    types.filter(|name| grave.contains(&name.as_str())).count()
}

/// Yeses that nobody gave: unsigned, of keys that are no person's, of a machine's surface, of another question.
fn forgeries(world: &World, task: TaskId, approval: ApprovalId) -> Vec<Vec<u8>> {
    let kernel = world.kernel();
    let state = kernel.task(task).unwrap();
    let packet =
        kernel.artifacts().read(&state.approvals[&approval].approval.approval_packet_sha256).unwrap();
    let who = kernel.store_state().principal(PrincipalType::User).unwrap();
    let now = kernel.ports().clock.now();
    let yes = |surface: Surface| -> ApprovalDecision {
        answer(&packet, Choice::Once, surface, who, now, None).unwrap()
    };
    let mut found = vec![
        seal::canon::to_canonical(&yes(Surface::Terminal)).unwrap(),
        sign(&yes(Surface::Terminal), &SeedSigner::from_seed([0x11; 32])).unwrap(),
    ];
    for key in [world.keys.log_signer(), world.keys.receipt_signer(), world.keys.manifest_signer()] {
        found.push(sign(&yes(Surface::Terminal), &*key).unwrap());
    }
    for surface in Surface::ALL.iter().filter(|surface| !surface.may_grant()) {
        found.push(sign(&yes(*surface), world.person.signer()).unwrap());
    }
    // A signature of the person under another name.
    let payload = seal::canon::to_canonical(&yes(Surface::Terminal)).unwrap();
    let other_type = format!("{DECISION_PAYLOAD_TYPE}; other");
    found.push(seal::dsse::sign(&other_type, &payload, world.person.signer()).unwrap().to_bytes().unwrap());
    let cover = Cover::Paths { glob: "**".to_owned(), acts: PathAct::ALL.to_vec() };
    let wide = Person::new(0x11).standing(kernel, cover, StandingScope::User, None);
    found.push(Person::new(0x11).sign_standing(&wide));
    // Last, because it counts: the person's own no, handed in as if it were a yes.
    found.push(world.person.sign(kernel, task, approval, Choice::Deny, None));
    found
}

/// What a program would fill a parameter with.
fn filled(name: &str, world: &World, task: TaskId, approval: &str, envelope: &str) -> Value {
    let person = world.kernel().store_state().principal(PrincipalType::User).unwrap();
    match name {
        "approval" | "about" | "subject" => json!(approval),
        "envelope" | "standing" => json!(envelope),
        "surface" => json!("terminal"),
        "task" => json!(task.to_string()),
        "person" | "decided_by" => json!(person.to_string()),
        "choice" | "status" => json!("granted"),
        "answer" | "text" | "goal" | "reason" | "feedback" => json!("allow it"),
        "workspace" => json!(world.folder.path().to_str().unwrap()),
        "all" | "yes" | "force" => json!(true),
        _ => json!(approval),
    }
}

const TRIED_FIRST: [&str; 14] = [
    "approval",
    "envelope",
    "standing",
    "surface",
    "task",
    "person",
    "choice",
    "answer",
    "text",
    "reason",
    "feedback",
    "yes",
    "force",
    "decided_by",
];

#[conforms::conforms("HK-10.4-1")]
#[test]
fn no_command_over_the_gateway_allows_anything_whatever_a_program_hands_in() {
    let open = open(97);
    let client = open.client();
    let world = &open.home.world;
    let mut waits = open.home.with_a_question("delete it");
    let (mut asked, mut signed) = (0, 0);
    for info in COMMANDS {
        let approval: ApprovalId = waits.1.parse().unwrap();
        for forged in forgeries(world, waits.0, approval) {
            let envelope = STANDARD.encode(&forged);
            let fill = |name: &str| filled(name, world, waits.0, &waits.1, &envelope);
            let mut params: Map<String, Value> =
                TRIED_FIRST.iter().map(|name| ((*name).to_owned(), fill(name))).collect();
            for _ in 0..ROUNDS {
                asked += 1;
                let Err(error) = client.ask(info.name, &Value::Object(params.clone())) else { break };
                let field = error.details["field"].as_str().map(str::to_owned);
                match (error.code, field) {
                    (Code::UnknownField, Some(field)) => drop(params.remove(&field)),
                    (Code::Usage, Some(field)) if !params.contains_key(&field) => {
                        let value = fill(&field);
                        params.insert(field, value);
                    }
                    _ => break,
                }
            }
            // What takes nothing signed is tried once; the rest with every forgery.
            if !["envelope", "standing"].iter().any(|name| params.contains_key(*name)) {
                break;
            }
            signed += 1;
        }
        assert_eq!(allowed(world), 0, "`{}` allowed something", info.name);
        assert_eq!(world.files()["held.txt"], b"before\n", "`{}` did it", info.name);
        drop(client.ask("gate.boot", &json!({})));
        if world.kernel().task(waits.0).unwrap().pending_approvals().count() == 0 {
            // It refused, or ended the task: any surface may. The next one finds a new question.
            waits = open.home.with_a_question(&format!("delete it, {asked}"));
        }
    }
    assert!(asked > COMMANDS.len() && signed > 20, "only {asked} were asked, {signed} with something signed");
    // The same question, asked the same way, is allowed by the person's own signature: the door itself is open.
    let yes = world.person.sign(world.kernel(), waits.0, waits.1.parse().unwrap(), Choice::Once, None);
    let params = json!({ "approval": waits.1, "envelope": STANDARD.encode(yes) });
    let decided = client.ask("approvals.decide", &params).expect("it is the person's");
    assert_eq!((decided["accepted"].as_bool(), allowed(world)), (Some(true), 1));
}
