//! A goal said at one machine is done at another, a yes is given at a third, and every one of them is killed meanwhile.

use super::machines::{FOLDER, Machine, Relay, pair};
use crate::journeys::stage::{APPROVAL, Stage, until};
use serde_json::{Value, json};
use testkit::{Chat, Large};

/// A model that writes a file and says so.
pub(super) fn writes(name: &str, text: &str) -> Chat {
    Chat::saying(
        Large::STRONG,
        vec![
            json!({ "tool": "write", "arguments": { "path": name, "content": text } }),
            json!({ "tool": "done", "arguments": { "summary": format!("I wrote {name}.") } }),
        ],
    )
}

/// How the tasks stand that a machine works on for others, by a part of their goal.
pub(super) fn status(machine: &Machine, goal: &str) -> Vec<String> {
    let word = |row: &Value| row["status"].as_str().unwrap_or_default().to_owned();
    machine.tasks(goal).iter().map(word).collect()
}

/// Answers what another machine asks with a yes, here.
pub(super) fn allows(here: &Machine) {
    let mut asked = Value::Null;
    until(&format!("{} is asked", here.name), || {
        asked = here.told(&["questions"])["questions"][0].clone();
        asked.is_object()
    });
    let approval = asked["approval"].as_str().expect("an approval").to_owned();
    let lines = asked["lines"].to_string();
    assert!(lines.contains("letter.txt"), "the card says what would be done: {asked}");
    let mut screen = here.stage.terminal(&["mesh", "answer", &approval, "allow"], &[]);
    screen.expect("Approval passphrase").send(&format!("{APPROVAL}\r"));
    let (code, shown) = screen.end();
    assert_eq!(code, 0, "{shown}");
}

#[conforms::conforms(part = "HV-1-5", part = "HV-3.7-1", part = "HV-3.1-2")]
#[test]
fn a_goal_is_done_where_its_folder_is_and_allowed_where_its_person_sits() {
    let (one, two) = (Relay::new(), Relay::new());
    let relays = [&one, &two];
    let chat = writes("letter.txt", "Dear harbour\n");
    let model = chat.address();
    let mut server = Machine::new("server", &relays, &["--model", &model]);
    let mut laptop = Machine::new("laptop", &relays, &[]);
    let mut phone = Machine::new("phone", &relays, &[]);
    pair(&server, &laptop, &[]);
    pair(&server, &phone, &[]);
    server.hears(&laptop);
    laptop.hears(&server);
    phone.hears(&server);
    assert_eq!(laptop.sees(&server)["folders"], json!([FOLDER]), "a folder is told by its alias");
    let told = laptop.told(&["nodes"]).to_string();
    assert!(!told.contains(&server.stage.work().display().to_string()), "no path leaves: {told}");
    // The phone may say yes for the server from now on: that is said at the server, with its own approval key.
    Stage::ran(&mut server.by_person(&["approver", "phone"])).ends(0);

    let message = laptop.sends(&server, "Write a letter to the harbour");
    until("it waits for a yes", || status(&server, "Write a letter") == ["blocked"]);
    let waits = |laptop: &Machine| laptop.message(&message)["waits_since"].is_i64();
    until("the laptop is told that it waits for somebody there", || waits(&laptop));
    // Whoever is killed now goes on as it was: nothing is begun twice, and nothing is lost.
    server.killed_and_served();
    phone.killed_and_served();
    laptop.killed_and_served();
    assert_eq!(status(&server, "Write a letter"), ["blocked"], "one task, once");
    assert!(!server.stage.work().join("letter.txt").exists(), "nothing is done before the yes");
    allows(&phone);
    let answer = laptop.answered(&message);
    assert!(answer.contains("I wrote letter.txt"), "{answer}");
    assert_eq!(
        std::fs::read_to_string(server.stage.work().join("letter.txt")).expect("written"),
        "Dear harbour\n"
    );
    assert_eq!(laptop.message(&message)["state"], "opened");
    assert!(!waits(&laptop), "it is answered");
    assert_eq!(status(&server, "Write a letter"), ["completed"], "once, through three deaths");
    until("nothing is asked any more", || phone.told(&["questions"])["questions"] == json!([]));

    // The receipts of all stand in one list, at each of them.
    until("the phone lists the server's receipts", || {
        let listed = phone.told(&["receipts"]);
        listed["receipts"].as_array().is_some_and(|all| all.iter().any(|one| one["name"] == "server"))
    });
    // What was allowed from afar verifies as any other.
    let task = server.tasks("Write a letter")[0]["task_id"].as_str().expect("a task").to_owned();
    for machine in [&mut server, &mut laptop, &mut phone] {
        machine.ends();
        machine.stage.is_sound();
    }
    server.stage.prove(&task);
}

#[test]
fn a_machine_that_was_withdrawn_says_yes_no_more_and_begins_nothing() {
    let relay = Relay::new();
    let chat = writes("letter.txt", "no\n");
    let model = chat.address();
    let server = Machine::new("server", &[&relay], &["--model", &model]);
    let laptop = Machine::new("laptop", &[&relay], &[]);
    pair(&server, &laptop, &[]);
    Stage::ran(&mut server.by_person(&["approver", "laptop"])).ends(0);
    laptop.hears(&server);
    laptop.sends(&server, "Write a letter to nobody");
    until("the laptop is asked", || laptop.told(&["questions"])["questions"][0].is_object());
    Stage::ran(&mut server.by_person(&["withdraw", "laptop", "--yes"])).ends(0);
    let asked = laptop.told(&["questions"])["questions"][0]["approval"].as_str().map(str::to_owned);
    if let Some(approval) = asked {
        let mut screen = laptop.stage.terminal(&["mesh", "answer", &approval, "allow"], &[]);
        if screen.expect_one_or_end(&["Approval passphrase"]).is_some() {
            screen.send(&format!("{APPROVAL}\r"));
        }
        screen.end();
    }
    laptop.mesh(&["send", "--to", "server", "--folder", FOLDER, "Write another"]);
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(status(&server, "Write a letter"), ["blocked"], "its yes counts no more");
    assert_eq!(status(&server, "Write another"), Vec::<String>::new(), "and it begins nothing");
    assert!(!server.stage.work().join("letter.txt").exists());
}
