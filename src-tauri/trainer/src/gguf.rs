//! A base: its GGUF file with what it says of itself, its weights as 32-bit numbers, and its tokenizer.

use crate::model::{Form, Weights};
use crate::tokens::Words;
use crate::{Done, Problem, device};
use candle_core::quantized::gguf_file::{Content, Value};
use seal::{Digest, Hasher};
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;
use training::Base;

/// Weights of all layers but what stands before a layer's number.
const LAYER_PARTS: [&str; 9] = [
    "attn_norm.weight",
    "ffn_norm.weight",
    "attn_q.weight",
    "attn_k.weight",
    "attn_v.weight",
    "attn_output.weight",
    "ffn_gate.weight",
    "ffn_up.weight",
    "ffn_down.weight",
];

/// A base that was read.
pub struct Loaded {
    /// What the file says of itself.
    pub content: Content,
    /// Its measures.
    pub form: Form,
    /// Its weights.
    pub weights: Weights,
    /// Its tokenizer.
    pub words: Words,
}

/// The digest of a file, piece by piece.
///
/// # Errors
/// It cannot be read.
pub fn digest_of(path: &Path) -> Done<Digest> {
    let mut file = File::open(path).map_err(|error| Problem::of_file(path, error))?;
    let (mut hasher, mut piece) = (Hasher::new(), vec![0_u8; 1 << 20]);
    loop {
        let read = file.read(&mut piece).map_err(|error| Problem::of_file(path, error))?;
        if read == 0 {
            return Ok(hasher.finish());
        }
        hasher.update(&piece[..read]);
    }
}

/// Reads a base, within so many bytes of memory.
///
/// # Errors
/// It is not the file that the run names, says another licence, is of another architecture, or is too large.
pub fn load(base: &Base, memory: u64) -> Done<Loaded> {
    let path = Path::new(&base.path);
    if digest_of(path)? != base.sha256 {
        return Err(Problem::new(format!(
            "`{}` is not the model that the run names: its digest differs",
            base.path
        )));
    }
    let file = File::open(path).map_err(|error| Problem::of_file(path, error))?;
    let mut file = BufReader::new(file);
    let content = Content::read(&mut file)?;
    if let Some(own) = content.metadata.get("general.license").and_then(|value| value.to_string().ok())
        && !own.eq_ignore_ascii_case(&base.licence)
    {
        return Err(Problem::new(format!(
            "the model says that its licence is `{}`, and the run says `{}`",
            own.chars().take(64).collect::<String>(),
            base.licence
        )));
    }
    let form = form(&content)?;
    check_parts(&content, &form)?;
    let numbers = content.tensor_infos.values().map(|info| {
        info.shape.dims().iter().fold(1_u64, |product, number| product.saturating_mul(*number as u64))
    });
    let bytes = numbers.fold(0_u64, u64::saturating_add).saturating_mul(4);
    if bytes > memory {
        return Err(Problem::new(format!(
            "the weights alone need {bytes} bytes of memory, and the budget is {memory}"
        )));
    }
    let weights = Weights::read(&form, content.tensor_infos.contains_key("output.weight"), |name| {
        Ok(content.tensor(&mut file, name, &device::OWN)?.dequantize(&device::OWN)?)
    })?;
    let words = Words::read(&content)?;
    Ok(Loaded { content, form, weights, words })
}

fn number(content: &Content, key: &str) -> Done<usize> {
    let value =
        content.metadata.get(key).ok_or_else(|| Problem::new(format!("the model does not say `{key}`")))?;
    usize::try_from(value.to_u64()?).map_err(|_| Problem::new(format!("`{key}` of the model is too large")))
}

fn form(content: &Content) -> Done<Form> {
    match content.metadata.get("general.architecture") {
        Some(Value::String(name)) if name == "llama" => {}
        Some(Value::String(name)) => {
            let name: String = name.chars().take(64).collect();
            return Err(Problem::new(format!(
                "the architecture `{name}` cannot be trained here; `llama` can"
            )));
        }
        _ => return Err(Problem::new("the model does not say its architecture")),
    }
    let scaling = content.metadata.get("llama.rope.scaling.type").and_then(|value| value.to_string().ok());
    if scaling.is_some_and(|scaling| scaling != "none") {
        return Err(Problem::new("the model scales its positions, which cannot be trained here"));
    }
    let width = number(content, "llama.embedding_length")?;
    let heads = number(content, "llama.attention.head_count")?;
    let key_heads = number(content, "llama.attention.head_count_kv").unwrap_or(heads);
    let layers = number(content, "llama.block_count")?;
    if layers == 0 || layers > content.tensor_infos.len() {
        return Err(Problem::new("the model says another number of layers than it has"));
    }
    if width == 0 || heads == 0 || key_heads == 0 || width % heads != 0 || heads % key_heads != 0 {
        return Err(Problem::new("the heads of the model do not divide its width"));
    }
    let head = width / heads;
    let turned = number(content, "llama.rope.dimension_count").unwrap_or(head);
    if head % 2 != 0 || turned != head {
        return Err(Problem::new("the model turns a part of a head only, which cannot be trained here"));
    }
    let float = |key: &str| content.metadata.get(key).and_then(|value| value.to_f32().ok());
    Ok(Form {
        layers,
        width,
        heads,
        key_heads,
        head,
        context: number(content, "llama.context_length")?,
        epsilon: float("llama.attention.layer_norm_rms_epsilon").unwrap_or(1e-5),
        base: float("llama.rope.freq_base").unwrap_or(10_000.0),
    })
}

/// Whether the file has exactly the weights that are computed with.
fn check_parts(content: &Content, form: &Form) -> Done<()> {
    let mut known = vec!["token_embd.weight".to_owned(), "output_norm.weight".to_owned()];
    known.extend(
        (0..form.layers).flat_map(|at| LAYER_PARTS.iter().map(move |part| format!("blk.{at}.{part}"))),
    );
    if let Some(missing) = known.iter().find(|name| !content.tensor_infos.contains_key(*name)) {
        return Err(Problem::new(format!("the model has no `{missing}`")));
    }
    known.push("output.weight".to_owned());
    if let Some(other) = content.tensor_infos.keys().find(|name| !known.contains(name)) {
        let other: String = other.chars().take(64).collect();
        return Err(Problem::new(format!("the model has a part `{other}` that cannot be trained with here")));
    }
    Ok(())
}
