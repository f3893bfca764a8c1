//! Controls: bounded results, whatever is asked, and never a second effect.

use crate::bench::{Bench, PATIENCE};
use crate::model::Model;
use conforms::conforms;
use serde_json::{Value, json};

#[track_caller]
fn is(result: &Value, status: &str) {
    assert_eq!(result["status"], status, "{result}");
    assert_eq!(result["accepted"], json!(status == "accepted"), "{result}");
    let mut fields: Vec<&str> = result.as_object().expect("an object").keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        ["accepted", "event_id", "message", "ok", "safe_message", "status"],
        "nothing of the inside"
    );
    assert!(!result["safe_message"].as_str().expect("a text").is_empty());
    assert!(status != "accepted" || result["event_id"].is_string(), "it stands in the stream: {result}");
}

fn kinds(bench: &Bench, run: &str, kind: &str) -> usize {
    bench.events(run).iter().filter(|event| event["type"] == kind).count()
}

#[conforms(
    "RA-4.2-6",
    "RA-4.2-15",
    "RA-1.4-5",
    part = "RA-4.3b-2",
    part = "RA-4.3b-5",
    "RA-4.3b-6",
    part = "RA-4.3b-7"
)]
#[test]
fn a_grant_is_unsupported_and_changes_nothing_and_a_deny_is_taken_once() {
    let bench = Bench::new();
    let (run, approval) = bench.asking();
    let before = bench.stats();
    for choice in ["once", "standing", "allow", "approve", "always", "yes", "granted", "DENY", ""] {
        let answer = json!({ "approval_id": approval, "choice": choice });
        is(&bench.control(&run, "approval", &answer), "unsupported");
    }
    assert_eq!(bench.get(&format!("/v1/runs/{run}"))["pending_approval_id"], approval, "it still waits");
    assert_eq!(bench.stats(), before, "nothing was recorded");
    let deny = json!({ "approval_id": approval, "choice": "deny" });
    is(&bench.control(&run, "approval", &deny), "accepted");
    bench.reaches(&run, &["failed"]);
    is(&bench.control(&run, "approval", &deny), "not-active");
    assert_eq!(kinds(&bench, &run, "approval.resolved"), 1);
    let unknown = json!({ "approval_id": "apr_00000000000000000000000000000000", "choice": "deny" });
    is(&bench.control(&run, "approval", &unknown), "not-active");
    is(&bench.control(&run, "approval", &json!({ "approval_id": "x", "choice": "deny" })), "not-active");
    is(&bench.control("task_x", "approval", &deny), "not-active");
    let files = std::fs::read_dir(bench.path("work")).expect("a folder").count();
    assert_eq!(files, 3, "nothing was done");
}

#[conforms("RA-1.4-3", "RA-4.2-5", "RA-4.3a-1", "RA-4.3a-3", "RA-4.3a-4", "RA-4.3a-5", "RA-2-3", "RA-3-6")]
#[test]
fn a_cancel_in_the_middle_of_a_sentence_ends_the_run_once_and_keeps_what_was_said() {
    let mut bench = Bench::new();
    let model = Model::new(vec![vec!["once ".to_owned(), "upon ".to_owned(), "a time".to_owned()]], false);
    let asked = json!({ "message": "a story", "workspace": bench.path("work"), "model": model.address });
    let run = bench.post("/v1/runs", &asked)["run_id"].as_str().expect("a name").to_owned();
    let mut stream = bench.stream(&run, "", &[]);
    model.say(1);
    stream.find(|event| event.kind == "token.delta").expect("it speaks");
    is(&bench.control(&run, "cancel", &json!({})), "accepted");
    let end = stream.last().expect("an end");
    assert_eq!((end.kind.as_str(), &end.data["terminal"]), ("cancelled", &json!(true)));
    for _ in 0..3 {
        is(&bench.control(&run, "cancel", &json!({})), "not-active");
    }
    is(&bench.control("task_00000000000000000000000000000000", "cancel", &json!({})), "not-active");
    model.say(2);
    let status = bench.get(&format!("/v1/runs/{run}"));
    assert_eq!((&status["status"], &status["interrupted"]), (&json!("cancelled"), &json!(false)));
    assert_eq!(kinds(&bench, &run, "cancelled"), 1);
    assert_eq!(kinds(&bench, &run, "token.delta"), 1, "what was said before is kept, nothing came after");
    assert_eq!(kinds(&bench, &run, "error"), 0, "no provider is blamed");
    assert_eq!(status["terminal_event"]["payload"]["result"]["reason"], "cancelled", "{status}");
    // A page that comes only now is told how far it had come.
    assert_eq!(bench.post("/api/task.show", &json!({ "task": run }))["writing"], "once ");
    // Under the next host it is neither stale nor unknown, by its own name and by that of its session.
    let before = bench.events(&run);
    bench.close();
    bench.open();
    let again = bench.get(&format!("/v1/runs/{run}"));
    for name in ["status", "interrupted", "terminal_state", "terminal_event", "last_event_id"] {
        assert_eq!(again[name], status[name], "{name}");
    }
    assert_eq!(bench.events(&run), before);
    let session = status["session_id"].as_str().expect("a name");
    let runs = bench.get(&format!("/v1/sessions/{session}/runs"));
    assert_eq!((&runs["active_run_id"], &runs["runs"][0]["run_id"]), (&Value::Null, &json!(run)));
    assert_eq!(runs["runs"][0]["status"], "cancelled");
}

#[conforms(
    "RA-1.4-6",
    "RA-4.2-7",
    "RA-3-8",
    "RA-2-9",
    "RA-P-4",
    part = "RA-1.2-10",
    part = "RA-1.2-11",
    part = "RA-4.3b-7"
)]
#[test]
fn a_question_survives_a_restart_and_is_answered_once() {
    let mut bench = Bench::new();
    let call = |tool: &str, arguments: Value| {
        vec![format!("```json\n{}\n```", json!({ "tool": tool, "arguments": arguments }))]
    };
    let ask = call("ask", json!({ "question": "which one?", "choices": [] }));
    let model = Model::new(vec![ask.clone(), call("done", json!({ "summary": "it is a" }))], true);
    let another = Model::new(vec![ask], true);
    let begin = |model: &Model| {
        let asked = json!({ "message": "decide", "workspace": bench.path("work"), "model": model.address });
        let run = bench.post("/v1/runs", &asked)["run_id"].as_str().expect("a name").to_owned();
        let status = bench.reaches(&run, &["awaiting_clarify"]);
        (run, status["pending_clarify_id"].as_str().expect("a question").to_owned())
    };
    let (held, approval) = bench.asking();
    let (run, question) = begin(&model);
    let (other, _) = begin(&another);
    bench.close();
    bench.open();
    assert_eq!(bench.get(&format!("/v1/runs/{run}"))["pending_clarify_id"], question);
    // A question of yes or no as well: nobody who saw either of them is there any more.
    assert_eq!(bench.get(&format!("/v1/runs/{held}"))["pending_approval_id"], approval);
    let deny = json!({ "approval_id": approval, "choice": "deny" });
    is(&bench.control(&held, "approval", &deny), "accepted");
    bench.reaches(&held, &["failed"]);
    let respond = format!("/v1/runs/{run}/clarifications/{question}/respond");
    let wrong = format!("/v1/runs/{other}/clarifications/{question}/respond");
    is(&bench.post(&wrong, &json!({ "response": "a" })), "not-active");
    is(&bench.post(&respond, &json!({ "response": "the beech at the gate" })), "accepted");
    bench.reaches(&run, &["completed"]);
    let heard = model.heard();
    let told: Vec<bool> = heard.iter().map(|request| request.contains("the beech at the gate")).collect();
    assert_eq!(told, [false, true], "what was answered stands in what the model is asked next: {heard:?}");
    assert_eq!(bench.get(&format!("/v1/runs/{other}"))["status"], "awaiting_clarify", "the other still asks");
    is(&bench.post(&respond, &json!({ "response": "b" })), "not-active");
    is(
        &bench.post(&format!("/v1/runs/{run}/clarifications/x/respond"), &json!({ "response": "b" })),
        "not-active",
    );
    bench.close();
    bench.open();
    assert_eq!(kinds(&bench, &run, "clarify.requested"), 1);
    assert_eq!(kinds(&bench, &run, "clarify.resolved"), 1, "told again by the next host");
}

#[conforms("RA-4.3b-7")]
#[test]
fn an_answer_to_an_approval_or_a_question_is_passed_on_once_and_told_again_after_a_reconnect() {
    let mut bench = Bench::new();
    let (held, approval) = bench.asking();
    let call = |tool: &str, arguments: Value| {
        vec![format!("```json\n{}\n```", json!({ "tool": tool, "arguments": arguments }))]
    };
    let ask = call("ask", json!({ "question": "which one?", "choices": [] }));
    let model = Model::new(vec![ask, call("done", json!({ "summary": "it is a" }))], true);
    let asked = json!({ "message": "decide", "workspace": bench.path("work"), "model": model.address });
    let run = bench.post("/v1/runs", &asked)["run_id"].as_str().expect("a name").to_owned();
    let status = bench.reaches(&run, &["awaiting_clarify"]);
    let question = status["pending_clarify_id"].as_str().expect("a question").to_owned();
    // Each is answered twice, and what is said of it names nothing of the inside.
    let inside = bench.dir.path().to_string_lossy().into_owned();
    let says = |result: &Value, status: &str| {
        is(result, status);
        for word in [inside.as_str(), ".rs:", "panicked", "Error {"] {
            assert!(!result.to_string().contains(word), "`{word}` stands in {result}");
        }
    };
    let choose = |bench: &Bench, choice: &str| {
        bench.control(&held, "approval", &json!({ "approval_id": approval, "choice": choice }))
    };
    let respond = format!("/v1/runs/{run}/clarifications/{question}/respond");
    let answer = |bench: &Bench| bench.post(&respond, &json!({ "response": "the beech at the gate" }));
    says(&choose(&bench, "once"), "unsupported");
    says(&choose(&bench, "deny"), "accepted");
    bench.reaches(&held, &["failed"]);
    says(&choose(&bench, "deny"), "not-active");
    says(&answer(&bench), "accepted");
    bench.reaches(&run, &["completed"]);
    says(&answer(&bench), "not-active");
    let heard = model.heard();
    let told = heard.iter().filter(|request| request.contains("the beech at the gate"));
    assert_eq!(told.count(), 1, "the model was given the answer once: {heard:?}");
    // Request and resolution are one event each, in this order, also for who comes back from the place of the first.
    let ways = [(&held, "approval"), (&run, "clarify")];
    let of = |bench: &Bench| {
        ways.map(|(run, kind)| {
            let kinds = ["requested", "resolved"].map(|end| json!(format!("{kind}.{end}")));
            let mut all = bench.events(run);
            all.retain(|event| kinds.contains(&event["type"]));
            assert_eq!(all.iter().map(|event| event["type"].clone()).collect::<Vec<_>>(), kinds);
            all
        })
    };
    let before = of(&bench);
    bench.close();
    bench.open();
    assert_eq!(of(&bench), before, "told again by the next host");
    for ((run, _), events) in ways.iter().zip(&before) {
        let place = events[0]["event_id"].as_str().expect("a name");
        let rest = bench.get(&format!("/v1/runs/{run}/events?cursor={place}&limit=500"));
        assert!(rest["events"].as_array().expect("events").contains(&events[1]), "{rest}");
    }
    says(&choose(&bench, "deny"), "not-active");
    says(&answer(&bench), "not-active");
    assert_eq!(of(&bench), before, "an answer that comes once more is not passed on");
}

#[conforms("RA-1.4-4", "RA-4.2-8", "RA-3-13", "RA-4.3c-6", "RA-4.3c-8", "HK-8.1.3-3", "HK-27-15")]
#[test]
fn a_message_is_taken_once_by_a_run_at_work_and_by_no_other() {
    let bench = Bench::new();
    let model = Model::new(vec![vec!["well".to_owned()]], false);
    let asked = json!({ "message": "a story", "workspace": bench.path("work"), "model": model.address });
    let run = bench.post("/v1/runs", &asked)["run_id"].as_str().expect("a name").to_owned();
    bench.reaches(&run, &["running"]);
    // Words are taken, and nothing else that could be put into a run.
    for (odd, code) in [
        (json!({ "message": { "tool": "write", "arguments": {} } }), 400),
        (json!({ "message": " " }), 400),
        (json!({ "message": "x", "mode": "inject" }), 400),
        (json!({ "message": "x", "tool": "write" }), 422),
        (json!({ "mode": "queue" }), 400),
    ] {
        let (status, answer) = bench.ask("POST", &format!("/v1/runs/{run}/messages"), &[], &odd.to_string());
        assert_eq!(status, code, "{odd}: {answer}");
    }
    let said = |mode: &str| json!({ "message": format!("mind the {mode}"), "mode": mode });
    for mode in ["queue", "steer"] {
        is(&bench.control(&run, "messages", &said(mode)), "accepted");
        is(&bench.control(&run, "messages", &said(mode)), "accepted");
    }
    // A message that does not say how it is to be taken is queued: this one stands in the queue already.
    is(&bench.control(&run, "messages", &json!({ "message": "mind the queue" })), "accepted");
    assert_eq!(
        ["input_queued", "input_added"]
            .map(|phase| { bench.events(&run).iter().filter(|e| e["payload"]["phase"] == phase).count() }),
        [1, 1],
        "each of them once"
    );
    is(&bench.control(&run, "messages", &said("stop_and_send")), "accepted");
    model.say(50);
    let status = bench.reaches(&run, &["completed", "failed"]);
    for words in ["mind the queue", "mind the steer", "mind the stop_and_send"] {
        assert!(model.heard().iter().any(|request| request.contains(words)), "nobody was told to {words}");
    }
    is(&bench.control(&run, "messages", &said("queue")), "not-active");
    is(&bench.control("task_x", "messages", &said("queue")), "not-active");
    let session = status["session_id"].as_str().expect("a name");
    let runs = bench.get(&format!("/v1/sessions/{session}/runs"));
    assert_eq!(runs["runs"].as_array().expect("runs").len(), 1, "no phantom run");
}

#[conforms("RA-1.4-7", "RA-4.2-9", "RA-4.2-10", "RA-3-14", part = "RA-4.3c-8")]
#[test]
fn the_goal_of_a_session_is_steered_and_said_twice_is_the_same() {
    let bench = Bench::new();
    let (run, _) = bench.asking();
    let session = bench.get(&format!("/v1/runs/{run}"))["session_id"].as_str().expect("a name").to_owned();
    let goal = |action: &str, text: Option<&str>| {
        bench.post(&format!("/v1/sessions/{session}/goal"), &json!({ "action": action, "text": text }))
    };
    let status = goal("status", None);
    is(&status, "accepted");
    assert!(status["safe_message"].as_str().expect("text").contains("awaiting_approval"), "{status}");
    is(&goal("set", Some("another")), "conflict");
    is(&goal("resume", None), "accepted");
    is(&goal("pause", None), "accepted");
    bench.reaches(&run, &["paused"]);
    is(&goal("pause", None), "accepted");
    // However often it is asked and said, one state is told, and it came about once.
    let stands = [goal("status", None), goal("status", None)].map(|told| told["safe_message"].clone());
    assert!(stands[0].as_str().is_some_and(|told| told.contains("paused")), "{stands:?}");
    assert_eq!(stands[0], stands[1]);
    let paused = |event: &&Value| event["type"] == "status" && event["payload"]["status"] == "paused";
    assert_eq!(bench.events(&run).iter().filter(paused).count(), 1);
    is(&goal("resume", None), "accepted");
    is(&goal("resume", None), "accepted");
    bench.reaches(&run, &["awaiting_approval", "running", "queued"]);
    is(&goal("clear", None), "accepted");
    bench.reaches(&run, &["cancelled"]);
    is(&goal("clear", None), "not-active");
    assert_eq!(kinds(&bench, &run, "cancelled"), 1);
    let nowhere = bench.post("/v1/sessions/cnv_x/goal", &json!({ "action": "status" }));
    is(&nowhere, "not-active");
}

#[conforms("RA-4.3c-5")]
#[test]
fn what_can_take_no_message_says_so_and_nothing_begins_or_goes_on_for_it() {
    let bench = Bench::new();
    let (run, _) = bench.asking();
    let session = bench.get(&format!("/v1/runs/{run}"))["session_id"].as_str().expect("a name").to_owned();
    let call = json!({ "tool": "ask", "arguments": { "question": "which?", "choices": [] } });
    let model = Model::new(vec![vec![format!("```json\n{call}\n```")]], true);
    std::fs::create_dir(bench.path("two")).expect("a folder");
    let asked = json!({ "message": "decide", "workspace": bench.path("two"), "model": model.address,
        "session_id": "another" });
    let other = bench.post("/v1/runs", &asked);
    let [other, elsewhere] =
        ["run_id", "session_id"].map(|name| other[name].as_str().expect("a name").to_owned());
    bench.reaches(&other, &["awaiting_clarify"]);
    let goal = |session: &str, action: &str| {
        bench.post(&format!("/v1/sessions/{session}/goal"), &json!({ "action": action, "text": "else" }))
    };
    let said = |mode: &str| json!({ "message": "then the summary", "mode": mode });
    let keyed = |run: &str| {
        let path = format!("/v1/runs/{run}/messages");
        bench.ask("POST", &path, &[("idempotency-key", "once")], &said("queue").to_string()).1
    };
    // Words for a paused goal wait with it; its run does not go on for them.
    is(&goal(&session, "pause"), "accepted");
    bench.reaches(&run, &["paused"]);
    is(&keyed(&run), "accepted");
    assert_eq!(bench.get(&format!("/v1/runs/{run}"))["status"], "paused");
    is(&goal(&session, "set"), "conflict");
    is(&goal(&session, "clear"), "accepted");
    let end = bench.reaches(&run, &["cancelled"]);
    // Cleared, what was queued for it is stale: nobody hears it, and said again it finds nobody.
    let id = run.parse().expect("a name");
    assert_eq!(api::Host::stands(&**bench.local(), id, PATIENCE).expect("known"), api::Stands::AtRest);
    let (events, others, counted) = (bench.events(&run), bench.events(&other), bench.stats());
    is(&keyed(&run), "not-active");
    for mode in ["queue", "steer", "stop_and_send"] {
        is(&bench.control(&run, "messages", &said(mode)), "not-active");
    }
    for action in ["set", "edit", "pause", "resume", "clear", "status"] {
        is(&goal(&session, action), "not-active");
    }
    is(&bench.control("task_00000000000000000000000000000000", "messages", &said("queue")), "not-active");
    assert_eq!(bench.stats(), counted, "nothing was recorded of any of it");
    assert_eq!(bench.events(&run), events, "the stream that has ended stays as it was");
    let told: Vec<_> = bench.stream(&run, "", &[]).filter(|event| event.kind != "resumed").collect();
    assert_eq!(told.last().map(|event| event.data.clone()), events.last().cloned(), "and ends with its end");
    let runs = |session: &str| bench.get(&format!("/v1/sessions/{session}/runs"))["runs"].clone();
    assert_eq!(runs(&session).as_array().expect("runs").len(), 1, "no phantom run: {end}");
    assert_eq!((bench.events(&other), runs(&elsewhere).as_array().expect("runs").len()), (others, 1));
    assert_eq!(model.heard().len(), 1, "and nobody's model was asked anything more");
}
