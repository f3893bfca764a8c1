//! What is not done, and in which words.

use crate::tiny::Place;
use candle_core::quantized::gguf_file::Value;
use seal::Digest;
use std::fs;
use training::{RunSpec, Said};

fn refused(place: &Place, spec: &RunSpec, word: &str) -> String {
    let (said, well) = place.done(spec, word, &[]);
    assert!(!well, "{said:?}");
    match said.last() {
        Some(Said::Refused { words }) => words.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_licence_that_does_not_allow_it_and_one_that_is_not_the_models_are_refused() {
    let place = Place::new();
    let mut spec = place.spec.clone();
    spec.base.licence = "CC-BY-NC-4.0".to_owned();
    assert!(refused(&place, &spec, "run").contains("licence `CC-BY-NC-4.0`"));
    // It says one that would be allowed; the file says another.
    spec.base.licence = "MIT".to_owned();
    let words = refused(&place, &spec, "run");
    assert!(words.contains("apache-2.0") && words.contains("MIT"), "{words}");
}

#[test]
fn an_empty_dataset_and_files_that_are_not_those_that_were_named_are_refused() {
    let place = Place::new();
    let mut spec = place.spec.clone();
    fs::write(&spec.dataset.path, b"").unwrap();
    assert!(refused(&place, &spec, "run").contains("digest differs"));
    spec.dataset.sha256 = Digest::of(b"");
    assert!(refused(&place, &spec, "run").contains("has no example"));
    let place = Place::new();
    let mut spec = place.spec.clone();
    spec.base.sha256 = Digest::ZERO;
    assert!(refused(&place, &spec, "run").contains("not the model that the run names"));
    assert!(refused(&place, &place.spec, "export").contains("no whole checkpoint"));
}

#[test]
fn a_model_that_cannot_be_trained_here_or_in_this_memory_is_refused() {
    let set = |key: &'static str, value: Value| {
        move |all: &mut Vec<(String, Value)>| {
            all.retain(|(known, _)| known != key);
            all.push((key.to_owned(), value));
        }
    };
    for (key, value, words) in [
        ("general.architecture", Value::String("mamba".to_owned()), "`mamba`"),
        ("llama.attention.head_count", Value::U32(5), "do not divide"),
        ("llama.block_count", Value::U32(u32::MAX), "number of layers"),
        ("llama.block_count", Value::U32(1), "cannot be trained with"),
        ("llama.rope.scaling.type", Value::String("yarn".to_owned()), "scales its positions"),
        ("tokenizer.ggml.pre", Value::String("other".to_owned()), "divides words"),
    ] {
        let place = Place::with(set(key, value), "old");
        let said = refused(&place, &place.spec, "run");
        assert!(said.contains(words), "{key}: {said}");
    }
    let place = Place::new();
    fs::write(&place.spec.base.path, b"GGUF and nothing more").unwrap();
    let mut spec = place.spec.clone();
    spec.base.sha256 = Digest::of(b"GGUF and nothing more");
    assert!(!refused(&place, &spec, "run").is_empty());
    // The least that a run may be given is more than this small model has, and less than a process has by itself.
    let mut spec = place.spec.clone();
    spec.budget.memory_bytes = 1;
    assert!(refused(&place, &spec, "run").contains("bytes of memory"));
}
