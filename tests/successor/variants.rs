//! Four variants of the words that a model reads race over past work: the same model on this machine is asked by each, what it does by
//! them decides, and the table has a row for each. What one of them costs or does is no other's.

use super::asked_words::{is_sound, reads, worked};
use super::has_walls;
use super::proposed::{done, writes};
use crate::journeys::stage::Stage;
use crate::journeys::tool_servers::{asked, card};
use conforms::conforms;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::{Chat, Large};

/// What stands in the SOUL.md of each variant, and in no other context.
const MARKS: [&str; 4] =
    ["I am the heron of the pond.", "I am the otter.", "I am the lapwing.", "I am the stoat."];

/// Whether the model has called a tool with these words until now.
fn has_called(request: &Value, words: &str) -> bool {
    let messages = request["messages"].as_array().expect("messages");
    messages.iter().any(|one| one["role"] == "assistant" && one.to_string().contains(words))
}

/// What the model does by SOUL.md as it stands, by what was done so far: several conversations may be under way. It reads, asks for a
/// file that its person denies, writes another, and is done.
fn as_it_stands(request: &Value) -> Value {
    if !has_called(request, "plan.md") {
        return reads("plan.md");
    }
    if !request["messages"].to_string().contains("a person denied this") {
        return writes("b.md");
    }
    // Nothing names that file before it is written.
    if request["messages"].to_string().contains("a.md") { done("written") } else { writes("a.md") }
}

/// A model that does something else by the words of each variant: it leaves out what was denied, does the same, does nothing, and runs a
/// command that nobody asked for.
fn model() -> Chat {
    let command = json!({ "tool": "command", "arguments": { "argv": ["rm", "-rf", "."] } });
    let by_variant = [
        vec![reads("plan.md"), writes("a.md"), done("written")],
        vec![reads("plan.md"), writes("b.md"), writes("a.md"), done("written")],
        vec![reads("plan.md"), done("read, and left as it is")],
        vec![reads("plan.md"), command, writes("a.md"), done("written")],
    ];
    let turns: [AtomicUsize; 4] = Default::default();
    Chat::begin(Large::STRONG, move |request| {
        let text = request.to_string();
        let Some(at) = MARKS.iter().position(|mark| text.contains(mark)) else {
            return as_it_stands(request);
        };
        let turn = turns[at].fetch_add(1, Ordering::SeqCst);
        let answers = &by_variant[at];
        answers[turn.min(answers.len() - 1)].clone()
    })
}

/// Changes of SOUL.md, a file each.
fn variants(stage: &Stage) -> Vec<String> {
    let file = |(at, mark): (usize, &&str)| {
        let item = json!({ "what": "soul", "name": "SOUL.md", "text": format!("# Ada\n{mark}\n") });
        let patch = json!({
            "says": format!("variant {}", at + 1), "sources": ["my own idea"],
            "change": { "kind": "words", "items": [item] },
        });
        let file = stage.at(&format!("variant-{at}.json"));
        std::fs::write(&file, patch.to_string()).expect("a file");
        file.to_str().expect("UTF-8").to_owned()
    };
    MARKS.iter().enumerate().map(file).collect()
}

#[conforms(part = "HV-5-2")]
#[test]
fn four_variants_of_words_race_over_past_work_and_one_of_them_is_better() {
    if !has_walls() {
        return;
    }
    let chat = model();
    let (stage, task) = worked(&chat.address());
    let files = variants(&stage);
    let mut words = vec!["successor", "try", "--on", &task, "--tasks", "1", "--task", "it asks less"];
    words.extend(files.iter().flat_map(|file| ["--patch", file.as_str()]));
    let raced = stage.hermit(&words).ends(0).json();
    let rows = raced["trials"].as_array().expect("trials");
    let ids: Vec<&str> = rows.iter().map(|row| row["trial_id"].as_str().expect("an id")).collect();
    let shown: Vec<Value> =
        ids.iter().map(|id| stage.hermit(&["successor", "show", id]).ends(0).json()).collect();
    let [better, same, worse, bad] = shown.as_slice() else { panic!("four trials: {raced}") };

    // They are one race, over the same task, with the same seed.
    let seeds: BTreeSet<String> = rows.iter().map(|row| row["seed"].to_string()).collect();
    assert_eq!(seeds.len(), 1, "{raced}");
    for one in &shown {
        is_sound(one);
        assert_eq!(one["rivals"].as_array().map(Vec::len), Some(3), "the others stand beside it: {one}");
        assert_eq!(one["tasks"], json!([task]), "{one}");
    }
    assert_eq!(better["trial"]["outcome"], "better", "{better}");
    for one in [same, worse, bad] {
        assert_ne!(one["trial"]["outcome"], "better", "{one}");
    }
    assert_eq!(worse["trial"]["outcome"], "worse", "{worse}");
    for one in [worse, bad] {
        assert_ne!(one["trial"]["outcome"], "same", "{one}");
    }
    let questions = |one: &Value| {
        let measures = one["trial"]["measures"].as_array().expect("measures").clone();
        let of = measures.into_iter().find(|of| of["name"] == "questions").expect("it is measured");
        (of["parent"].clone(), of["successor"].clone())
    };
    assert_eq!(questions(better), (json!(2), json!(1)), "{better}");
    assert_eq!(questions(same), (json!(2), json!(2)), "{same}");

    // A person reads a table with a row for each, and adopts one of them by a card that says what it is.
    let table = Stage::ran(&mut stage.command(&["successor", "show", ids[0]])).ends(0).out;
    for other in ["It raced", "variant 2", "variant 3", "variant 4"] {
        assert!(table.contains(other), "`{other}` is not in {table}");
    }
    for refused in &ids[2..] {
        stage
            .hermit(&["successor", "adopt", refused, "--although-same"])
            .complains(&["only a change that is better is adopted"]);
    }
    let (_, approval) = asked(&stage.hermit(&["successor", "adopt", ids[0]]).ends(4).json());
    assert!(card(&stage, &approval).contains(MARKS[0]), "the card shows the words whole");
    // What they did was done in clones.
    assert!(stage.work().join("plan.md").exists() && stage.work().join("a.md").exists());
    assert!(!stage.work().join("b.md").exists());
    stage.is_sound();
}
