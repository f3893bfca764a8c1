//! What is measured, and the model that is written: read back, it is the base with the adapter.

use crate::tiny::Place;
use candle_core::Device;
use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::{Content, Value};
use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use trainer::prove::{Proven, prove, proven};
use trainer::session::Session;
use trainer::{export, gguf, run};
use training::{Base, Quant, RunSpec, Said, receipts_root};

/// A run that learned something, opened again.
fn learned(place: &Place, quant: Quant) -> (Session, u32) {
    let spec = RunSpec { quant, ..place.spec.clone() };
    let (_words, ears) = channel();
    run::run(&spec, &ears, &mut |_| {}).unwrap();
    run::learned(&spec, &mut |_| {}).unwrap()
}

fn content(path: &Path) -> (Content, fs::File) {
    let mut file = fs::File::open(path).unwrap();
    (Content::read(&mut file).unwrap(), file)
}

#[test]
fn the_model_is_read_back_with_all_that_the_base_says_and_weights_within_what_bits_allow() {
    let place = Place::new();
    let (session, step) = learned(&place, Quant::Q8_0);
    let proven = prove(&session, step, &mut |_| {}).unwrap();
    let mut said = Vec::new();
    let (model, card) = export::write(&session, &proven, &mut |one| said.push(one.clone())).unwrap();
    assert!(matches!(said.as_slice(), [Said::Exported { sha256, quant: Quant::Q8_0, .. }]
        if *sha256 == gguf::digest_of(&model).unwrap()));
    let ((base, mut base_file), (made, mut made_file)) =
        (content(Path::new(&session.spec.base.path)), content(&model));
    for (key, value) in base.metadata.iter().filter(|(key, _)| *key != "general.file_type") {
        assert_eq!(format!("{value:?}"), format!("{:?}", made.metadata[key]), "{key}");
    }
    let root = receipts_root(&session.examples).to_string();
    assert!(matches!(&made.metadata["hermit.training.receipts_root"], Value::String(own) if *own == root));
    assert_eq!(made.tensor_infos.len(), base.tensor_infos.len());
    for name in base.tensor_infos.keys() {
        let own = made.tensor(&mut made_file, name, &Device::Cpu).unwrap();
        let mut wanted =
            base.tensor(&mut base_file, name, &Device::Cpu).unwrap().dequantize(&Device::Cpu).unwrap();
        if let Some(difference) = session.adapter.difference(name).unwrap() {
            wanted = (wanted + difference).unwrap();
        }
        let numbers = |tensor: &candle_core::Tensor| tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let (own_numbers, wanted) = (numbers(&own.dequantize(&Device::Cpu).unwrap()), numbers(&wanted));
        let is_norm = name.contains("norm");
        assert_eq!(own.dtype(), if is_norm { GgmlDType::F32 } else { GgmlDType::Q8_0 }, "{name}");
        let largest = wanted.iter().map(|one| one.abs()).fold(0.0, f32::max);
        let bound = if is_norm { 0.0 } else { largest / 127.0 };
        let worst = own_numbers.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst <= bound, "{name}: {worst} {bound}");
    }
    let card = fs::read_to_string(card).unwrap();
    for words in
        ["Tiny", "Apache-2.0", root.as_str(), "16 examples", "Limits", "most frequent answer", "Q8_0"]
    {
        assert!(card.contains(words), "{words}: {card}");
    }
}

#[test]
fn what_was_written_answers_as_base_and_adapter_do() {
    let place = Place::new();
    let (session, step) = learned(&place, Quant::F32);
    let proven = prove(&session, step, &mut |_| {}).unwrap();
    let (model, _) = export::write(&session, &proven, &mut |_| {}).unwrap();
    let base = Base {
        path: model.to_str().unwrap().to_owned(),
        sha256: gguf::digest_of(&model).unwrap(),
        licence: "Apache-2.0".to_owned(),
    };
    let merged = gguf::load(&base, u64::MAX).unwrap();
    let (tokens, _) = &session.lessons[0];
    let read = |llama: trainer::model::Llama<'_>| {
        llama.read(tokens, 1, None).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap()
    };
    let alone =
        trainer::model::Llama { form: &merged.form, weights: &merged.weights, adapter: None, learns: false };
    let (alone, adapted, plain) =
        (read(alone), read(session.llama(true, false)), read(session.llama(false, false)));
    let far = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(far(&alone, &adapted) < 1e-3, "{}", far(&alone, &adapted));
    assert!(far(&plain, &adapted) > 1e-2, "the adapter does something");
}

#[test]
fn an_adapter_that_is_not_better_is_measured_and_not_exported() {
    let place = Place::new();
    let none = RunSpec { steps: 1, learning_rate: 1e-9, ..place.spec.clone() };
    assert!(place.done(&none, "run", &[]).1);
    let (said, well) = place.done(&none, "export", &[]);
    assert!(!well && matches!(said.last(), Some(Said::Refused { words }) if words.contains("not measured")));
    let (said, well) = place.done(&none, "prove", &[]);
    let Some(Said::Measured { before, after, offered: false, words, .. }) = said.last() else {
        panic!("{said:?}")
    };
    assert!(well && before.examples == 6 && after.examples == 6 && !words.is_empty());
    let (said, well) = place.done(&none, "export", &[]);
    assert!(!well && matches!(said.last(), Some(Said::Refused { words }) if words.contains("not offered")));
    // What was measured holds for the adapter as it was then.
    let found: Proven = proven(Path::new(&none.folder), 1).unwrap();
    assert!(!found.verdict.offered && proven(Path::new(&none.folder), 2).is_err());
}
