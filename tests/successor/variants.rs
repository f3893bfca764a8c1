//! Four variants of the words that a model reads race over past work of three kinds: a task in which its person denied something, one that
//! wrote two files, and one that looked. The same model on this machine is asked by each variant, what it does in all three decides, and
//! the table has a row for each with sums over the tasks. What is saved in one task makes up for nothing that is spoilt in another.

use super::asked_words::{is_sound, reads, rules, works_on};
use super::has_walls;
use super::proposed::{done, trials, writes};
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
/// The goals of the tasks, by which the model tells them apart.
const GOALS: [&str; 3] = ["write the plan down", "write two lists", "tell what the plan says"];

/// Which of the tasks a request is about: its goal stands before all that was done in it.
fn task_at(request: &Value) -> usize {
    let text = request["messages"].to_string();
    let place = |(at, goal): (usize, &&str)| Some((text.find(*goal)?, at));
    GOALS.iter().enumerate().filter_map(place).min().map_or(0, |(_, at)| at)
}

/// Whether the model has called a tool with these words until now.
fn has_called(request: &Value, words: &str) -> bool {
    let messages = request["messages"].as_array().expect("messages");
    messages.iter().any(|one| one["role"] == "assistant" && one.to_string().contains(words))
}

/// What the model does by SOUL.md as it stands, by what was done so far: several conversations may be under way, and nothing names the
/// files before they are written.
fn as_it_stands(request: &Value) -> Value {
    let told = request["messages"].to_string();
    let has_read = has_called(request, "plan.md");
    match task_at(request) {
        // It reads, asks for a file that its person denies, writes another, and is done.
        0 if !has_read => reads("plan.md"),
        0 if !told.contains("a person denied this") => writes("b.md"),
        0 if !told.contains("a.md") => writes("a.md"),
        1 if !told.contains("north.md") => writes("north.md"),
        1 if !told.contains("south.md") => writes("south.md"),
        2 if !has_read => reads("plan.md"),
        _ => done("it is done"),
    }
}

/// What the model does by the words of each variant, task by task. All of them leave out what was denied. Beside that the first does the
/// same as before, the second forgets a file, the third looks twice wherever it looks, and the fourth runs a command that nobody asked for.
fn by_variants() -> [[Vec<Value>; 3]; 4] {
    let command = json!({ "tool": "command", "arguments": { "argv": ["rm", "-rf", "."] } });
    let look = || reads("plan.md");
    let asks_less = || vec![look(), writes("a.md"), done("written")];
    let both = || vec![writes("north.md"), writes("south.md"), done("written")];
    [
        [asks_less(), both(), vec![look(), done("one and two")]],
        [asks_less(), vec![writes("north.md"), done("written")], vec![look(), done("one and two")]],
        [
            vec![look(), look(), writes("a.md"), done("written")],
            both(),
            vec![look(), look(), done("one and two")],
        ],
        [asks_less(), both(), vec![look(), command, done("one and two")]],
    ]
}

fn model() -> Chat {
    let answers = by_variants();
    // Each variant does each task once: only what is done without the change is done again.
    let turns: [[AtomicUsize; 3]; 4] = Default::default();
    Chat::begin(Large::STRONG, move |request| {
        let text = request.to_string();
        let Some(variant) = MARKS.iter().position(|mark| text.contains(mark)) else {
            return as_it_stands(request);
        };
        let task = task_at(request);
        let turn = turns[variant][task].fetch_add(1, Ordering::SeqCst);
        let all = &answers[variant][task];
        all[turn.min(all.len() - 1)].clone()
    })
}

/// What a variant is for, by its place.
fn name(at: usize) -> String {
    format!("variant {}", at + 1)
}

/// Changes of SOUL.md, a file each.
fn variants(stage: &Stage) -> Vec<String> {
    let file = |(at, mark): (usize, &&str)| {
        let item = json!({ "what": "soul", "name": "SOUL.md", "text": format!("# Ada\n{mark}\n") });
        let patch = json!({
            "says": name(at), "sources": ["my own idea"],
            "change": { "kind": "words", "items": [item] },
        });
        let file = stage.at(&format!("variant-{at}.json"));
        std::fs::write(&file, patch.to_string()).expect("a file");
        file.to_str().expect("UTF-8").to_owned()
    };
    MARKS.iter().enumerate().map(file).collect()
}

/// What was counted over all tasks, without the change and with it.
fn counted(shown: &Value, name: &str) -> (u64, u64) {
    let measures = shown["trial"]["measures"].as_array().expect("measures");
    let of = measures.iter().find(|of| of["name"] == name).expect("it is measured");
    let number = |arm: &str| of[arm].as_u64().expect("a number");
    (number("parent"), number("successor"))
}

/// What stands in the row of a variant: its trial, verdict, questions, tokens, turns, denials, and its name.
fn row<'t>(table: &'t str, variant: &str) -> Vec<&'t str> {
    let line = table.lines().find(|line| line.ends_with(variant));
    let line = line.unwrap_or_else(|| panic!("no row of {variant}: {table}"));
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

/// A person reads of each what it raced, and adopts one of them by a card that says what it is.
fn one_is_adopted(stage: &Stage, ids: &[&str; 4]) {
    let told = Stage::ran(&mut stage.command(&["successor", "show", ids[0]])).ends(0).out;
    for words in ["It raced", "variant 2", "variant 3", "variant 4", "3 tasks"] {
        assert!(told.contains(words), "`{words}` is not in {told}");
    }
    for refused in &ids[1..] {
        stage
            .hermit(&["successor", "adopt", refused, "--although-same"])
            .complains(&["only a change that is better is adopted"]);
    }
    let (_, approval) = asked(&stage.hermit(&["successor", "adopt", ids[0]]).ends(4).json());
    let card = card(stage, &approval);
    for words in [MARKS[0], "9 times without the change and 8 times with it"] {
        assert!(card.contains(words), "`{words}` is not on the card: {card}");
    }
}

#[conforms(part = "HV-5-2")]
#[test]
fn four_variants_of_words_race_over_three_tasks_and_one_is_better_over_all_of_them() {
    if !has_walls() {
        return;
    }
    let chat = model();
    let stage = Stage::new();
    let tasks = GOALS.map(|goal| works_on(&stage, &chat.address(), goal));
    // Four answers, three and two.
    assert_eq!(chat.requests().len(), 9);
    let files = variants(&stage);
    let mut words = vec!["successor", "try", "--tasks", "3", "--task", "it asks less"];
    words.extend(tasks.iter().flat_map(|task| ["--on", task.as_str()]));
    words.extend(files.iter().flat_map(|file| ["--patch", file.as_str()]));
    let table = Stage::ran(&mut stage.command(&words)).ends(0).out;
    let all = trials(&stage);
    let ids: [&str; 4] = std::array::from_fn(|at| {
        let one = all.iter().find(|one| one["says"] == name(at)).unwrap_or_else(|| panic!("{all:?}"));
        one["trial_id"].as_str().expect("an id")
    });
    let shown = ids.map(|id| stage.hermit(&["successor", "show", id]).ends(0).json());

    // They are one race, over the same tasks, with the same seed, and each was asked for all of them.
    let seeds: BTreeSet<String> = shown.iter().map(|one| one["trial"]["seed"].to_string()).collect();
    assert_eq!((seeds.len(), all.len()), (1, 4), "{all:?}");
    // Without the change there are four questions and nine turns: the sums of all tasks.
    let expected = [
        ("better", 3, 8, &["costs_less", "proposes_no_more_what_was_denied", "did_the_same_again"][..]),
        // It costs least of all, and one of its tasks came to something else.
        ("worse", 2, 7, &["effects_differ", "costs_less", "proposes_no_more_what_was_denied"][..]),
        // Less in one task and more in another: neither is said.
        ("inconclusive", 3, 10, &["costs_less_and_more", "proposes_no_more_what_was_denied"][..]),
        // It costs what it did before, because what it saves it spends on what no work of its person has.
        ("unsafe", 4, 9, &["new_class_of_act", "proposes_no_more_what_was_denied"][..]),
    ];
    for (at, (one, (outcome, questions, turns, met))) in shown.iter().zip(expected).enumerate() {
        is_sound(one);
        assert_eq!(one["rivals"].as_array().map(Vec::len), Some(3), "the others stand beside it: {one}");
        assert_eq!(one["tasks"], json!(tasks), "{one}");
        assert_eq!(one["trial"]["outcome"], outcome, "{one}");
        assert_eq!((counted(one, "questions"), counted(one, "turns")), ((4, questions), (9, turns)), "{one}");
        let asked = json!({ "model": chat.address(), "parent": 9, "successor": turns });
        assert_eq!(one["trial"]["asked"], asked, "{one}");
        for rule in met {
            assert!(rules(one).contains(rule), "no {rule}: {one}");
        }
        let (variant, questions, turns) = (name(at), format!("4 : {questions}"), format!("9 : {turns}"));
        let cells = row(&table, &variant);
        let told = (cells.get(1), cells.get(2), cells.get(4), cells.len());
        assert_eq!(told, (Some(&outcome), Some(&questions.as_str()), Some(&turns.as_str()), 7), "{table}");
    }
    let spoilt = rules(&shown[1]).iter().filter(|rule| **rule == "effects_differ").count();
    assert_eq!(spoilt, 1, "in one task alone: {}", shown[1]);
    // Without the change each was asked once, and beside the one that is better once more.
    assert_eq!(chat.requests().len(), 9 + 4 * 9 + (8 + 7 + 10 + 9) + 9);

    one_is_adopted(&stage, &ids);
    // What they did was done in clones.
    for (file, is_there) in
        [("plan.md", true), ("a.md", true), ("north.md", true), ("south.md", true), ("b.md", false)]
    {
        assert_eq!(stage.work().join(file).exists(), is_there, "{file}");
    }
    stage.is_sound();
}
