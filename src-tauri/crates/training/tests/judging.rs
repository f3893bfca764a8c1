//! Which adapter is offered, which run is refused, and what the program says.

use crate::datasets::example;
use seal::Digest;
use training::{
    Base, Baseline, Control, DatasetFile, Measures, RanOn, RunSpec, Said, Shapes, Split, Tally, is_same_act,
    judge, majority,
};

fn measures(exact: f64, valid: f64, perplexity: f64) -> Measures {
    Measures { examples: 10, next_act_exact: exact, schema_valid: valid, perplexity }
}

#[test]
fn worse_in_one_measure_or_no_better_than_the_most_frequent_answer_is_not_offered() {
    let baseline = Baseline { answer: "x".to_owned(), next_act_exact: 0.2 };
    let before = measures(0.1, 0.5, 8.0);
    assert!(judge(&before, &measures(0.4, 0.5, 4.0), &baseline).offered);
    for worse in [
        measures(0.0, 0.9, 4.0),
        measures(0.4, 0.4, 4.0),
        measures(0.4, 0.9, 8.1),
        measures(0.2, 0.9, 4.0),
        measures(0.4, 0.9, f64::NAN),
        Measures { examples: 4, ..measures(0.4, 0.9, 4.0) },
    ] {
        let verdict = judge(&before, &worse, &baseline);
        assert!(!verdict.offered && !verdict.words.is_empty(), "{worse:?}");
    }
    let same = measures(0.4, 0.5, 4.0);
    assert!(!judge(&same, &same, &baseline).offered);
    let few = Measures { examples: 4, ..before };
    assert!(!judge(&few, &Measures { examples: 4, ..measures(0.9, 0.9, 2.0) }, &baseline).offered);
}

#[test]
fn acts_are_compared_as_json_and_their_form_is_that_of_what_is_learned_from() {
    let mut all: Vec<_> = (0..8).map(|at| example(at, "old")).collect();
    all[7].split = Split::HeldOut;
    let shapes = Shapes::of(&all);
    let wanted = all[7].answer.clone();
    assert!(is_same_act(&wanted, "{ \"arguments\": {\"from\": \"file7\"}, \"tool\": \"rename\" }"));
    assert!(!is_same_act(&wanted, &all[6].answer) && !is_same_act(&wanted, &format!("{wanted} and more")));
    assert!(shapes.is_valid(&all[6].answer));
    for wrong in ["rename", "{\"tool\":\"rename\"}", "{\"tool\":\"other\",\"arguments\":{\"from\":\"a\"}}"] {
        assert!(!shapes.is_valid(wrong), "{wrong}");
    }
    let mut tally = Tally::default();
    tally.take(&shapes, &wanted, &wanted, 2.0, 4);
    tally.take(&shapes, &wanted, "no", 2.0, 4);
    let found = tally.measures();
    assert_eq!((found.examples, found.next_act_exact, found.schema_valid), (2, 0.5, 0.5));
    assert!((found.perplexity - 0.5_f64.exp()).abs() < 1e-9);
    all[0].answer = all[1].answer.clone();
    let most = majority(&all);
    assert_eq!((most.answer, most.next_act_exact), (all[1].answer.clone(), 0.0));
}

fn run() -> RunSpec {
    let base = Base { path: "m.gguf".into(), sha256: Digest::ZERO, licence: "Apache-2.0".into() };
    RunSpec::small(base, DatasetFile { path: "d.jsonl".into(), sha256: Digest::ZERO }, "out".into())
}

#[test]
fn a_run_outside_its_bounds_is_refused_in_words() {
    run().check().unwrap();
    let mut other = run();
    other.base.licence = "apache-2.0".into();
    assert!(other.check().is_ok(), "as most models write it");
    other.base.licence = "CC-BY-NC-4.0".into();
    assert!(other.check().unwrap_err().to_string().contains("CC-BY-NC-4.0"));
    let wrongs: [fn(&mut RunSpec); 8] = [
        |run| run.rank = 0,
        |run| run.steps = u32::MAX,
        |run| run.batch = 0,
        |run| run.alpha = f32::NAN,
        |run| run.learning_rate = 2.0,
        |run| run.budget.seconds = 0,
        |run| run.budget.memory_bytes = 1,
        |run| run.folder.clear(),
    ];
    for wrong in wrongs {
        let mut other = run();
        wrong(&mut other);
        assert!(other.check().is_err(), "{other:?}");
    }
    let text = serde_json::to_string(&run()).unwrap();
    assert_eq!(serde_json::from_str::<RunSpec>(&text).unwrap(), run());
    assert_eq!(run().lineage(), RunSpec { steps: 9, folder: "elsewhere".into(), ..run() }.lineage());
    assert_ne!(run().lineage(), RunSpec { seed: 9, ..run() }.lineage());
}

fn on() -> RanOn {
    RanOn { device: "cpu".to_owned(), threads: 1, machine: "x86_64 linux".to_owned() }
}

#[test]
fn where_a_run_was_done_is_told_in_a_line_and_a_record_without_it_is_read() {
    assert_eq!(on().in_words(), "cpu, 1 thread, x86_64 linux");
    assert_eq!(RanOn { threads: 4, ..on() }.in_words(), "cpu, 4 threads, x86_64 linux");
    let (before, after) = (measures(0.1, 0.5, 8.0), measures(0.4, 0.5, 4.0));
    let baseline = Baseline { answer: "x".to_owned(), next_act_exact: 0.2 };
    let words = "w".to_owned();
    let old = Said::Measured { before, after, baseline, offered: true, words, ran_on: Vec::new() };
    let text = serde_json::to_string(&old).unwrap();
    assert!(!text.contains("ran_on"), "as it was written before: {text}");
    assert_eq!(Said::parse(&text), Some(old));
}

#[test]
fn lines_are_read_as_they_are_written() {
    let (before, after) = (measures(0.1, 0.5, 8.0), measures(0.4, 0.5, 4.0));
    let baseline = Baseline { answer: "x".to_owned(), next_act_exact: 0.2 };
    let said = [
        Said::Progress { step: 3, loss: 1.5, examples_per_s: 2.0, memory: 9 },
        Said::RunsOn { on: on() },
        Said::Measured { before, after, baseline, offered: true, words: "w".into(), ran_on: vec![on()] },
        Said::Ended { step: 4, words: None },
    ];
    for one in said {
        assert_eq!(Said::parse(&serde_json::to_string(&one).unwrap()), Some(one));
    }
    assert_eq!(Said::parse("{\"said\":\"other\"}"), None);
    for word in [Control::Pause, Control::Resume, Control::Stop] {
        assert_eq!(Control::parse(&format!("{}\n", word.word())), Some(word));
    }
    assert_eq!(Control::parse("halt"), None);
}
