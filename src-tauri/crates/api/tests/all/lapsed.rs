//! Answers over the run API that come too late, or name what is not there.

use crate::home::Home;
use api::runs;
use model::approval::ApprovalStatus;
use serde_json::{Value, json};
use testkit::{done, say};

#[track_caller]
fn is(answer: Result<wire::runs::ControlResult, wire::Error>, status: &str) {
    let answer = answer.expect("bounded, and no error");
    assert_eq!((answer.status.as_str(), answer.accepted), (status, false), "{answer:?}");
    assert!(!answer.safe_message.is_empty());
}

fn stats(home: &Home) -> Value {
    home.must("ledger.stats", json!({}))["events"].clone()
}

#[conforms::conforms("RA-4.3b-4")]
#[test]
fn what_has_lapsed_is_answered_already_or_was_never_asked_takes_no_answer() {
    let home = Home::new(71);
    let (waits, approval) = home.with_a_question("delete it");
    let ask = || vec![say("ask", json!({ "question": "which one?" })), done("ok")];
    let asks = home.world.script("asks", ask());
    home.world.drive(asks);
    let question = *home.world.kernel().task(asks).unwrap().clarifications.keys().next().expect("a question");
    let deny = |run: &str, approval: &str| {
        runs::approval(&home, run, json!({ "approval_id": approval, "choice": "deny" }))
    };
    let respond =
        |run: &str, question: &str| runs::respond(&home, run, question, json!({ "response": "the first" }));
    let (run, other) = (waits.to_string(), asks.to_string());
    let before = stats(&home);
    for (run, approval) in [
        (run.as_str(), "apr_00000000000000000000000000000000"),
        (&run, "not a name"),
        (&other, &approval),
        ("task_00000000000000000000000000000000", &approval),
    ] {
        is(deny(run, approval), "not-active");
        is(respond(run, approval), "not-active");
    }
    is(respond(&run, &question.to_string()), "not-active");
    // Their time passes while nobody is at work: the first to come learns it, and so does everybody after.
    home.world.clock.advance(40 * 24 * 60 * 60 * 1000);
    for _ in 0..2 {
        is(deny(&run, &approval), "expired");
        is(respond(&other, &question.to_string()), "expired");
    }
    assert_eq!(stats(&home), before, "nothing was written, and nothing began");
    for task in [waits, asks] {
        home.world.drive(task);
    }
    let stands = home.world.kernel().task(waits).unwrap();
    assert_eq!(stands.approvals[&approval.parse().unwrap()].approval.status, ApprovalStatus::Expired);
    let before = stats(&home);
    is(deny(&run, &approval), "expired");
    is(respond(&other, &question.to_string()), "expired");
    assert_eq!(stats(&home), before, "on record as lapsed, it lapses no second time");
    assert!(home.world.files().contains_key("held.txt"), "and nothing was done");
    // Answered, and answered again.
    let (again, approval) = home.with_a_question("delete it again");
    home.world.person.deny(home.world.kernel(), again, approval.parse().unwrap(), "no").unwrap();
    for _ in 0..2 {
        is(deny(&again.to_string(), &approval), "not-active");
    }
}
