//! A real model, where `HERMIT_TRAINER_BASE` names the file of one (SmolLM2-135M-Instruct is meant): it answers as it should,
//! which a random one cannot show, and it learns.

use crate::tiny::{Place, losses};
use std::path::Path;
use trainer::gguf::digest_of;
use trainer::model::{Cache, loss};
use trainer::session::Session;
use training::{Example, Role, RunSpec, Split, Turn};

#[test]
fn a_real_model_knows_what_it_knew_and_learns() {
    let Ok(path) = std::env::var("HERMIT_TRAINER_BASE") else {
        eprintln!("HERMIT_TRAINER_BASE names no model, so none is read");
        return;
    };
    let place = Place::new();
    let mut spec = RunSpec { steps: 8, rank: 8, learning_rate: 1e-3, threads: 2, ..place.spec.clone() };
    spec.base.sha256 = digest_of(Path::new(&path)).unwrap();
    spec.base.path = path;
    let session = Session::open(&spec, &mut |_| {}).unwrap();
    let asked = vec![Turn { role: Role::User, content: "What is the capital of France?".to_owned() }];
    let answer = "The capital of France is Paris.".to_owned();
    let example = Example::new(asked, answer, vec!["rcp".to_owned()], "p".to_owned(), 0);
    let shown = session.base.words.shown(&example).unwrap();
    let llama = session.llama(false, false);
    let (tokens, from) = shown.within(session.longest()).unwrap();
    let truth = &tokens[from..];
    let likely = llama.read(&tokens[..tokens.len() - 1], truth.len(), None).unwrap();
    let of_truth = loss(&likely, truth).unwrap().to_scalar::<f32>().unwrap() / truth.len() as f32;
    println!("loss of a true answer: {of_truth:.3} for each of {} tokens", truth.len());
    assert!(of_truth < 1.5, "{of_truth}: the arithmetic is not that of the model");
    let (mut cache, mut said, mut next) = (Cache::default(), Vec::new(), shown.prompt.clone());
    while said.len() < 24 {
        let likely = llama.read(&next, 1, Some(&mut cache)).unwrap();
        let likely = likely.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let token = (0_u32..).zip(&likely).max_by(|a, b| a.1.total_cmp(b.1)).map(|(token, _)| token).unwrap();
        if session.base.words.ends(token) {
            break;
        }
        said.push(token);
        next = vec![token];
    }
    let said = session.base.words.text(&said).unwrap();
    assert!(said.contains("Paris"), "{said}");
    assert!(session.examples.iter().any(|one| one.split == Split::HeldOut));
    let (said, well) = place.done(&spec, "run", &[]);
    let losses = losses(&said);
    println!("{said:?}");
    assert!(well && losses[7] < losses[0] * 0.8, "{losses:?}");
}
