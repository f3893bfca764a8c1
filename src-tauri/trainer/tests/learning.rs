//! A run learns, and comes to the same bits however often it is broken off.

use crate::tiny::{Place, checkpoint, losses};
use std::fs;
use std::sync::mpsc::channel;
use trainer::model::{Cache, loss};
use trainer::session::Session;
use trainer::{checkpoint as file, run};
use training::{RunSpec, Said, Split};

fn steps() -> u32 {
    std::env::var("HERMIT_TRAINER_STEPS").ok().and_then(|number| number.parse().ok()).unwrap_or(60)
}

#[test]
fn the_loss_falls() {
    let place = Place::new();
    let spec = RunSpec { steps: steps(), checkpoint_every: 50, ..place.spec.clone() };
    let (said, well) = place.done(&spec, "run", &[]);
    assert!(well, "{said:?}");
    let losses = losses(&said);
    let mean = |some: &[f32]| some.iter().sum::<f32>() / some.len() as f32;
    let (begun, ended) = (mean(&losses[..5]), mean(&losses[losses.len() - 5..]));
    println!("loss {begun:.3} at the beginning, {ended:.3} at the end");
    assert!(ended < begun * 0.7, "{losses:?}");
}

#[test]
fn a_run_that_was_killed_comes_to_the_same_bits() {
    let place = Place::new();
    let whole = place.elsewhere("whole");
    let (said, well) = place.done(&whole, "run", &[]);
    assert!(well && matches!(said.last(), Some(Said::Ended { step: 12, words: None })), "{said:?}");
    let on = said.iter().find_map(|one| if let Said::RunsOn { on } = one { Some(on) } else { None });
    assert!(on.is_some_and(|on| on.device == "cpu" && on.threads == whole.threads), "{said:?}");
    let broken = place.elsewhere("broken");
    for at in [3, 9] {
        let mut program = place.begin(&broken, "run", &[]);
        program.until(|said| match said {
            Said::Checkpoint { step, .. } | Said::Resumed { step } => *step >= at,
            _ => false,
        });
        program.child.kill().unwrap();
        program.child.wait().unwrap();
    }
    let (said, well) = place.done(&broken, "run", &[]);
    assert!(well && said.iter().any(|one| matches!(one, Said::Resumed { step } if *step >= 9)), "{said:?}");
    let read = |spec| fs::read(checkpoint(spec, 12)).unwrap();
    assert!(read(&whole) == read(&broken), "the bits differ");
    // Another seed comes to others.
    let other = RunSpec { seed: 2, ..place.elsewhere("other") };
    assert!(place.done(&other, "run", &[]).1);
    assert!(read(&whole) != read(&other));
}

#[test]
fn a_checkpoint_that_was_cut_or_changed_is_refused_and_the_one_before_is_taken() {
    let place = Place::new();
    let (_, well) = place.done(&place.spec, "run", &[]);
    assert!(well);
    let newest = checkpoint(&place.spec, 12);
    let whole = fs::read(&newest).unwrap();
    let mut changed = whole.clone();
    let last = changed.len() - 1;
    changed[last] ^= 1;
    for bytes in [&whole[..whole.len() / 2], &whole[..3], &changed[..]] {
        fs::write(&newest, bytes).unwrap();
        let (said, well) = place.done(&place.spec, "run", &[]);
        let skipped = said
            .iter()
            .find_map(|one| if let Said::Skipped { words, .. } = one { Some(words) } else { None });
        assert!(well && skipped.is_some_and(|words| words.contains("no whole checkpoint")), "{said:?}");
        assert!(said.iter().any(|one| matches!(one, Said::Resumed { step: 9 })), "{said:?}");
        assert!(fs::read(&newest).unwrap() == whole);
    }
    // One of another run is none of this one.
    let other = RunSpec { seed: 9, ..place.spec.clone() };
    let (said, _) = place.done(&RunSpec { steps: 1, ..other }, "run", &[]);
    assert!(
        said.iter().any(|one| matches!(one, Said::Skipped { words, .. } if words.contains("another run")))
    );
}

#[test]
fn words_pause_resume_and_stop_it_and_its_time_ends_it_with_a_checkpoint() {
    let place = Place::new();
    let long = RunSpec { steps: 100_000, ..place.elsewhere("long") };
    let mut program = place.begin(&long, "run", &[]);
    program.until(|said| matches!(said, Said::Progress { .. }));
    program.tell("pause\n");
    let Said::Paused { step } = program.until(|said| matches!(said, Said::Paused { .. })) else {
        unreachable!()
    };
    program.tell("nothing known\nresume\n");
    assert_eq!(program.next(), Some(Said::Resumed { step }));
    program.tell("stop\n");
    let end = program.until(|said| matches!(said, Said::Ended { .. }));
    let Said::Ended { step, words: Some(words) } = end else { panic!("{end:?}") };
    assert!(words.contains("stopped") && checkpoint(&long, step).exists());
    let mut short = RunSpec { steps: 100_000, ..place.elsewhere("short") };
    short.budget.seconds = 1;
    let mut program = place.begin(&short, "run", &[]);
    let end = program.until(|said| matches!(said, Said::Ended { .. }));
    let Said::Ended { step, words: Some(words) } = end else { panic!("{end:?}") };
    assert!(words.contains("seconds") && checkpoint(&short, step).exists());
}

#[test]
fn gradients_are_those_that_differences_show() {
    let place = Place::new();
    let session = Session::open(&place.spec, &mut |_| {}).unwrap();
    let (_words, ears) = channel();
    let short = RunSpec { steps: 3, ..place.spec.clone() };
    run::run(&short, &ears, &mut |_| {}).unwrap();
    let first = session.adapter.numbers().unwrap();
    let (_, learned) =
        file::newest(&session.folder(), short.lineage(), &first, &mut |_| {}).expect("a checkpoint");
    session.adapter.set(&learned.numbers).unwrap();
    let lessons = [0, 1];
    let (_, gradient) = session.gradient(&lessons, &learned.numbers).unwrap();
    let mut checked = 0;
    for (name, own) in &gradient {
        let (at, largest) = own
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
            .map(|(at, one)| (at, *one))
            .unwrap();
        let loss_at = |change: f32| {
            let mut numbers = learned.numbers.clone();
            numbers.get_mut(name).unwrap()[at] += change;
            session.adapter.set(&numbers).unwrap();
            f64::from(session.gradient(&lessons, &numbers).unwrap().0)
        };
        let step = 1e-2_f32;
        let shown = (loss_at(step) - loss_at(-step)) / (2.0 * f64::from(step));
        assert!((shown - f64::from(largest)).abs() < 0.1 * shown.abs() + 2e-3, "{name}: {shown} {largest}");
        checked += 1;
    }
    assert_eq!(checked, 28, "two weights of seven parts of two layers");
}

#[test]
fn what_is_read_at_once_is_what_is_read_token_by_token() {
    let place = Place::new();
    let session = Session::open(&place.spec, &mut |_| {}).unwrap();
    let llama = session.llama(true, false);
    let (tokens, _) = &session.lessons[0];
    let whole = llama.read(tokens, 1, None).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
    let mut cache = Cache::default();
    let (begin, rest) = tokens.split_at(tokens.len() / 2);
    let mut last = llama.read(begin, 1, Some(&mut cache)).unwrap();
    for token in rest {
        last = llama.read(&[*token], 1, Some(&mut cache)).unwrap();
    }
    let last = last.flatten_all().unwrap().to_vec1::<f32>().unwrap();
    assert!(whole.iter().zip(&last).all(|(a, b)| (a - b).abs() < 1e-3));
    let likely = llama.read(&tokens[..3], 2, None).unwrap();
    assert!(loss(&likely, &tokens[2..4]).unwrap().to_scalar::<f32>().unwrap() > 0.0);
    // What looks like the end of a turn is a text of many tokens, as all others.
    let mut example = session.examples.iter().find(|one| one.split == Split::Train).unwrap().clone();
    let before = session.base.words.shown(&example).unwrap();
    example.answer = "<|im_end|>".to_owned();
    let shown = session.base.words.shown(&example).unwrap();
    assert_eq!((shown.answer.len(), shown.prompt), (11, before.prompt));
    assert_eq!(session.base.words.text(&shown.answer).unwrap(), "<|im_end|>");
}
