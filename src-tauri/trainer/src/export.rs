//! The model with its adapter as one GGUF file, and the card that says what it is.

use crate::gguf::digest_of;
use crate::prove::Proven;
use crate::session::Session;
use crate::{Done, Problem, device};
use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use training::{Measures, Quant, Said, Split, is_by_time_alone, receipts, receipts_root};

/// How candle names it, and the number that files have for "mostly stored so".
const fn stored(quant: Quant) -> (GgmlDType, u32) {
    match quant {
        Quant::F32 => (GgmlDType::F32, 0),
        Quant::F16 => (GgmlDType::F16, 1),
        Quant::Q8_0 => (GgmlDType::Q8_0, 7),
        Quant::Q4_1 => (GgmlDType::Q4_1, 3),
    }
}

/// Writes model and card of an adapter that is offered.
///
/// # Errors
/// It is not offered, or what arithmetic or disk say.
pub fn export(session: &Session, proven: &Proven, say: &mut dyn FnMut(&Said)) -> Done<()> {
    if !proven.verdict.offered {
        return Err(Problem::new(format!("the adapter is not offered: {}", proven.verdict.words)));
    }
    write(session, proven, say).map(|_| ())
}

/// Writes model and card; where they lie.
///
/// # Errors
/// What arithmetic or disk say.
pub fn write(session: &Session, proven: &Proven, say: &mut dyn FnMut(&Said)) -> Done<(PathBuf, PathBuf)> {
    let quant = session.spec.quant;
    let model = session.folder().join(format!("model-{}.gguf", quant.word()));
    let tensors = tensors(session, quant)?;
    let metadata = metadata(session, proven, quant);
    let metadata: Vec<(&str, &Value)> = metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    let named: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    let mut draft = disk::Draft::beside(&model).map_err(|error| Problem::of_file(&model, error))?;
    {
        let mut file = BufWriter::new(draft.file());
        gguf_file::write(&mut file, &metadata, &named)?;
        file.flush().map_err(|error| Problem::of_file(&model, error))?;
    }
    draft.replace().map_err(|error| Problem::of_file(&model, error))?;
    let sha256 = digest_of(&model)?;
    let card = session.folder().join("model-card.md");
    let words = card_of(session, proven, &sha256.to_string());
    disk::replace(&card, words.as_bytes()).map_err(|error| Problem::of_file(&card, error))?;
    let name = |path: &Path| path.to_string_lossy().into_owned();
    say(&Said::Exported { file: name(&model), sha256, quant, card: name(&card) });
    Ok((model, card))
}

/// All weights: those that the adapter changes, merged; those that are stored in few bits already, as they are.
fn tensors(session: &Session, quant: Quant) -> Done<BTreeMap<String, QTensor>> {
    let path = Path::new(&session.spec.base.path);
    let file = File::open(path).map_err(|error| Problem::of_file(path, error))?;
    let mut file = BufReader::new(file);
    let (content, wanted) = (&session.base.content, stored(quant).0);
    let mut made = BTreeMap::new();
    for name in content.tensor_infos.keys() {
        let own = content.tensor(&mut file, name, &device::OWN)?;
        let difference = session.adapter.difference(name)?;
        let is_small = !matches!(own.dtype(), GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16);
        let tensor = match difference {
            None if is_small || own.rank() < 2 => own,
            difference => {
                let mut weight = own.dequantize(&device::OWN)?;
                if let Some(difference) = difference {
                    weight = (weight + difference)?;
                }
                // A row that cannot be divided into blocks stays as it is.
                let row = weight.dims().last().copied().unwrap_or_default();
                let dtype = if row % wanted.block_size() == 0 { wanted } else { GgmlDType::F32 };
                QTensor::quantize(&weight, dtype)?
            }
        };
        made.insert(name.clone(), tensor);
    }
    Ok(made)
}

/// All that the base says of itself, and what became of it.
fn metadata(session: &Session, proven: &Proven, quant: Quant) -> BTreeMap<String, Value> {
    let known = session.base.content.metadata.iter();
    let mut made: BTreeMap<String, Value> = known.map(|(key, value)| (key.clone(), value.clone())).collect();
    // Files are written with the alignment that holds where none is said.
    made.remove("general.alignment");
    made.insert("general.file_type".to_owned(), Value::U32(stored(quant).1));
    let words = [
        ("hermit.training.base_sha256", session.spec.base.sha256.to_string()),
        ("hermit.training.dataset_sha256", session.spec.dataset.sha256.to_string()),
        ("hermit.training.receipts_root", receipts_root(&session.examples).to_string()),
        ("hermit.training.lineage", session.spec.lineage().to_string()),
    ];
    made.extend(words.map(|(key, words)| (key.to_owned(), Value::String(words))));
    made.insert("hermit.training.steps".to_owned(), Value::U32(proven.step));
    made
}

fn row(name: &str, of: &Measures) -> String {
    format!(
        "| {name} | {:.1} % | {:.1} % | {:.3} |\n",
        of.next_act_exact * 100.0,
        of.schema_valid * 100.0,
        of.perplexity
    )
}

/// The card: what it is, what it was made of, how it was measured, and what it is not for.
fn card_of(session: &Session, proven: &Proven, sha256: &str) -> String {
    let spec = &session.spec;
    let number = |split| session.examples.iter().filter(|example| example.split == split).count();
    let name = match session.base.content.metadata.get("general.name") {
        Some(Value::String(name)) => name.replace(['\n', '\r', '|', '`'], " "),
        _ => "a model without a name".to_owned(),
    };
    let split = if is_by_time_alone(&session.examples) {
        "The examples that are held out are later than all that were learned from, and of the same projects."
    } else {
        "The examples that are held out are of other projects than all that were learned from, and later."
    };
    let offered = if proven.verdict.offered { "It may be offered" } else { "It is not offered" };
    let mut card = format!(
        "# Adapted from {name}\n\n\
         Weights: `{sha256}` (SHA-256), stored as {}. Licence of the base: {}. Digest of the base: `{}`.\n\n\
         ## What it was trained on\n\n\
         {} examples of finished work with {} receipts. Root of the Merkle tree over the ids of these receipts (RFC 6962, in \
         order): `{}`. Whoever has the receipts can prove of each one that it was learned from, and shows no other. \
         Digest of the dataset: `{}`.\n\n\
         A low-rank adapter of rank {} (alpha {}), {} steps of {} examples, learning rate {}, seed {}; merged into the weights.\n\n\
         ## How it was measured\n\n\
         On {} examples that were held out. {split} Answers are the likeliest token each time, for base and adapter alike.\n\n\
         | | exact next act | valid form of an act | perplexity of the true answer |\n|---|---|---|---|\n",
        spec.quant.word(),
        spec.base.licence,
        spec.base.sha256,
        number(Split::Train),
        receipts(&session.examples).len(),
        receipts_root(&session.examples),
        spec.dataset.sha256,
        spec.rank,
        spec.alpha,
        proven.step,
        spec.batch,
        spec.learning_rate,
        spec.seed,
        proven.after.examples,
    );
    card += &row("base", &proven.before);
    card += &row("adapted", &proven.after);
    card += &format!("| most frequent answer | {:.1} % | | |\n\n", proven.baseline.next_act_exact * 100.0);
    card += &format!("{offered}: {}.\n\n", proven.verdict.words);
    card += "## Limits\n\n\
             It was taught by the work of one person on their own projects, and measured on few examples of the same kind; \
             elsewhere it may do worse than its base. It was measured before its weights were stored in fewer bits. It may \
             repeat words of what it was trained on: give it only to whom that may be shown. It decides nothing: what it \
             proposes is judged and asked about as what any model proposes.\n";
    card
}
