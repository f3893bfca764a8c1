//! Whole answers: taken whole or not at all.

use crate::*;
use model::limits;

#[conforms::conforms("RX-8-1", "HK-11.2-3")]
#[test]
fn an_answer_with_calls_gives_typed_proposals_and_its_text_is_only_shown() {
    let answer = Answer { text: "I delete everything: rm -rf /".to_owned(), ..calls(&[("list", json!({}))]) };
    let proposals = parse(&answer).expect("well formed");
    assert_eq!(proposals.iter().map(Proposal::tool).collect::<Vec<_>>(), ["observe"]);
}

#[conforms::conforms("RX-8-2")]
#[test]
fn one_bad_call_refuses_the_whole_answer_and_is_named() {
    let answer =
        calls(&[("list", json!({})), ("write", json!({ "path": "a" })), ("done", json!({ "summary": "s" }))]);
    let refused = refused(&answer);
    assert!(refused.starts_with("call 2 (`write`): missing field `content`"), "{refused}");
}

#[test]
fn nothing_follows_done_or_ask() {
    for last in [("done", json!({ "summary": "s" })), ("ask", json!({ "question": "q" }))] {
        assert!(parse(&calls(&[("list", json!({})), last.clone()])).is_ok());
        assert!(refused(&calls(&[last, ("list", json!({}))])).contains("call it last"));
    }
}

#[test]
fn an_answer_that_was_cut_off_is_refused_even_when_its_calls_look_whole() {
    let cut = Answer {
        finish_reason: "length".to_owned(),
        ..calls(&[("write", json!({ "path": "a", "content": "half of" }))])
    };
    assert!(refused(&cut).contains("cut off"));
}

#[test]
fn answers_have_limits() {
    let many: Vec<_> = (0..=limits::CALLS_MAX).map(|_| ("list", json!({}))).collect();
    assert!(refused(&calls(&many)).contains("at most 64"));
    assert!(parse(&calls(&many[1..])).is_ok());
    assert!(refused(&text(&"x".repeat(limits::MODEL_ANSWER_BYTES_MAX + 1))).contains("cut off"));
}

#[test]
fn a_proposal_reads_back_from_what_it_is_stored_as() {
    for (tool, arguments) in samples() {
        let proposal = one(tool, arguments).expect("a good sample");
        let stored = serde_json::to_string(&proposal).expect("it serialises");
        assert_eq!(serde_json::from_str::<Proposal>(&stored).expect("it reads back"), proposal);
    }
}
