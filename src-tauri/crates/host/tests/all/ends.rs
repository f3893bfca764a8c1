//! Runs of every kind, told again: to whoever comes later, to whoever broke off in the middle, and by the next host.

use crate::bench::{Bench, PATIENCE};
use crate::contract::run_of;
use crate::model::{Model, THINKS, call};
use crate::served::Shown;
use conforms::conforms;
use runstream::Family;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A run of a model that says these words and then makes these calls, a turn each.
fn talks(bench: &Bench, answers: Vec<Vec<String>>) -> String {
    let model = Model::new(answers, true);
    let asked = json!({ "message": "work", "workspace": bench.path("work"), "model": model.address });
    run_of(&bench.post("/v1/runs", &asked))
}

/// One run for each way to end, with the family of its last event.
fn ended(bench: &Bench) -> Vec<(String, &'static str)> {
    let (well, approval) = bench.asking();
    bench.allow(&approval);
    bench.reaches(&well, &["completed"]);
    let said = talks(bench, vec![vec!["all ".to_owned(), "is ".to_owned(), "well".to_owned()]]);
    bench.reaches(&said, &["completed"]);
    let ask = call("ask", &json!({ "question": "which?", "choices": [] }));
    let cancelled = talks(bench, vec![ask]);
    bench.reaches(&cancelled, &["awaiting_clarify"]);
    bench.control(&cancelled, "cancel", &json!({}));
    bench.reaches(&cancelled, &["cancelled"]);
    // Moved on: nothing of this run is done, and the next card is about the same files.
    bench.files(3);
    let (refused, asked) = bench.asking();
    bench.control(&refused, "approval", &json!({ "approval_id": asked, "choice": "deny" }));
    bench.reaches(&refused, &["failed"]);
    vec![(well, "done"), (said, "done"), (cancelled, "cancelled"), (refused, "error")]
}

/// What a client shows that broke off behind the event at `cut`, and came back with the id of that event.
fn resumed(bench: &Bench, run: &str, cut: usize) -> Shown {
    let mut shown = Shown::default();
    let mut last = String::new();
    for event in bench.stream(run, "", &[]).filter(|event| event.kind != "resumed").take(cut) {
        event.data["event_id"].as_str().expect("a name").clone_into(&mut last);
        shown.take(&event.data);
    }
    let headers: Vec<(&str, &str)> = if cut == 0 { Vec::new() } else { vec![("last-event-id", &last)] };
    for event in bench.stream(run, "", &headers).filter(|event| event.kind != "resumed") {
        shown.take(&event.data);
    }
    shown
}

#[conforms("RA-1.1-6", "RA-3-2", "RA-4.1-2", "RA-4.4d-2", "RA-5.1-3")]
#[test]
fn every_end_is_told_again_as_it_was_and_nothing_is_told_twice() {
    let mut bench = Bench::new();
    let ends = ended(&bench);
    let before: BTreeMap<&str, Vec<Value>> =
        ends.iter().map(|(run, _)| (run.as_str(), bench.events(run))).collect();
    for restarted in [false, true] {
        if restarted {
            bench.close();
            bench.open();
        }
        for (run, how) in &ends {
            let all = bench.events(run);
            assert_eq!(all, before[run.as_str()], "{how}: the same again");
            let terminal: Vec<&Value> = all.iter().filter(|event| event["terminal"] == true).collect();
            assert_eq!(terminal.len(), 1, "{how}: one end");
            assert_eq!((&terminal[0]["type"], terminal[0]), (&json!(how), all.last().expect("events")));
            let status = bench.get(&format!("/v1/runs/{run}"));
            assert_eq!(status["terminal_event"], *terminal[0], "{how}");
            assert_eq!(status["active_controls"], json!(["observe", "status"]), "{how}: nothing still turns");
            // What it was begun with is kept, and of a failure what may be told.
            assert_eq!(all[0]["type"], "run.started", "{how}");
            for name in Family::RunStarted.promises() {
                assert!(!all[0]["payload"][*name].is_null(), "{how}: {name}");
            }
            let said = &terminal[0]["payload"]["diagnostics"];
            assert_eq!(said.is_object(), *how == "error", "{how}: {said}");
            assert!(!said.to_string().contains(bench.dir.path().to_str().expect("UTF-8")), "{said}");
            let whole = Shown::of(&all);
            assert_eq!(whole.ended.as_deref(), Some(*how));
            for cut in [0, 1, all.len() / 2, all.len() - 1] {
                assert_eq!(resumed(&bench, run, cut), whole, "{how}: broken off behind event {cut}");
            }
        }
    }
}

#[conforms(part = "RA-3-1", part = "RA-2-5", part = "RA-2-7", part = "RA-5.1-2", "RA-5.1-4")]
#[test]
fn words_and_tools_come_back_once_to_whoever_broke_off_and_from_the_next_host() {
    let mut bench = Bench::new();
    bench.files(2);
    let ask = call("ask", &json!({ "question": "which one?", "choices": [] }));
    let look =
        [vec!["First ".to_owned(), "I look.\n".to_owned()], call("read", &json!({ "path": "000.txt" }))]
            .concat();
    let run = talks(&bench, vec![look, ask]);
    bench.reaches(&run, &["awaiting_clarify"]);
    let id = run.parse().expect("a name");
    assert_eq!(api::Host::stands(&**bench.local(), id, PATIENCE).expect("known"), api::Stands::AtRest);
    let before = bench.events(&run);
    let told = |kind: &str| before.iter().filter(|event| event["type"] == kind).count();
    let kinds = ["token.delta", "tool.started", "tool.done"].map(told);
    assert!(kinds[0] > 0 && kinds[1..] == [1, 1], "{kinds:?}: {before:#?}");
    let whole = Shown::of(&before);
    // Whoever broke off after any event gets the rest and nothing twice, before and after a restart.
    for restarted in [false, true] {
        if restarted {
            bench.close();
            bench.open();
        }
        let all = bench.events(&run);
        assert_eq!(all, before, "the next host tells the same");
        for cut in 0..all.len() {
            let mut shown = Shown::of(&all[..cut]);
            let after = all[..cut].last().map_or(0, |event| event["seq"].as_u64().expect("a number"));
            let page = bench.get(&format!("/v1/runs/{run}/events?after_seq={after}&limit=500"));
            let rest = page["events"].as_array().expect("events");
            assert_eq!(rest.len(), all.len() - cut, "behind {after}: what is missing and no more");
            rest.iter().for_each(|event| shown.take(event));
            assert_eq!(shown, whole, "cut at {cut}");
        }
    }
}

#[conforms("RA-4.1-1", "RA-5.1-1")]
#[test]
fn the_journal_keeps_every_family_that_is_made_and_only_ever_grows() {
    let mut bench = Bench::new();
    let mut runs: Vec<String> = ended(&bench).into_iter().map(|(run, _)| run).collect();
    let item = |n: u32| json!({ "op": "write", "path": format!("m/{n}.txt"), "content": "m" });
    let ask = call("ask", &json!({ "question": "which one?", "choices": [] }));
    let change = call("change", &json!({ "items": (0..400).map(item).collect::<Vec<_>>() }));
    let busy = talks(&bench, vec![ask, change, call("done", &json!({ "summary": "done" }))]);
    let question = bench.reaches(&busy, &["awaiting_clarify"])["pending_clarify_id"].clone();
    let before = bench.events(&busy);
    let respond = format!("/v1/runs/{busy}/clarifications/{}/respond", question.as_str().expect("a name"));
    bench.post(&respond, &json!({ "response": "that one" }));
    let approval = bench.reaches(&busy, &["awaiting_approval"])["pending_approval_id"].clone();
    bench.allow(approval.as_str().expect("a name"));
    bench.reaches(&busy, &["completed"]);
    assert_eq!(bench.events(&busy)[..before.len()], before, "what was told stays as it was told");
    runs.push(busy);
    let thinks = talks(&bench, vec![vec![format!("{THINKS}first I think "), "well".to_owned()]]);
    bench.reaches(&thinks, &["completed"]);
    runs.push(thinks);
    let families = |bench: &Bench| -> BTreeSet<String> {
        let all = runs.iter().flat_map(|run| bench.events(run));
        all.map(|event| event["type"].as_str().expect("a word").to_owned()).collect()
    };
    let kept = families(&bench);
    let missing: Vec<&str> =
        Family::ALL.iter().map(|family| family.as_str()).filter(|family| !kept.contains(*family)).collect();
    assert_eq!(missing, [""; 0], "not in the journal");
    bench.close();
    bench.open();
    assert_eq!(families(&bench), kept, "on disk, not in a process");
}

/// What a client of the run API shows beside the last words: each sentence with what bears it, or marked.
#[test]
fn how_a_run_stands_says_what_bears_each_sentence_of_its_last_words() {
    let bench = Bench::new();
    let said = "The mail is out. Mail \u{2705} Anything else?";
    let model = Model::new(vec![call("done", &json!({ "summary": said }))], true);
    let asked = json!({ "message": "mail it", "workspace": bench.path("work"), "model": model.address });
    let run = bench.post("/v1/runs", &asked)["run_id"].as_str().expect("a name").to_owned();
    let status = bench.reaches(&run, &["completed"]);
    let sentences = status["answer_check"]["sentences"].as_array().expect("its sentences").clone();
    let text = |one: &Value, name: &str| one[name].as_str().expect("a text").to_owned();
    let whole: String = sentences.iter().map(|one| text(one, "gap") + &text(one, "text")).collect();
    assert_eq!(whole, said, "all of it");
    let lies = sentences.iter().filter(|one| text(one, "text").contains("ail"));
    assert!(lies.clone().count() > 0, "{status}");
    for lie in lies {
        assert_eq!(lie["support"], "unverified", "{status}");
    }
    // The stream tells how many there are.
    let counts = &status["terminal_event"]["payload"]["result"]["answer_check"];
    let bare = sentences.iter().filter(|one| one["support"] == "unverified").count();
    assert_eq!(counts["unverified"], bare, "{status}");
}
