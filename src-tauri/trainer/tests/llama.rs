//! A random llama with little more than a token for each byte, of whatever measures are asked for.

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use std::fs;
use std::path::Path;
use trainer::adapter::Chance;

/// Measures of a random llama.
#[derive(Debug, Clone, Copy)]
pub struct Measures {
    pub name: &'static str,
    pub width: usize,
    /// Numbers between the attentions.
    pub wide: usize,
    pub heads: u32,
    pub key_heads: u32,
    pub layers: u32,
    /// Tokens that it reads.
    pub context: u32,
}

/// Bytes as byte-level tokenizers write them.
fn letters() -> Vec<String> {
    let is_shown =
        |byte: u32| (33..=126).contains(&byte) || (161..=172).contains(&byte) || (174..=255).contains(&byte);
    let mut next = 256;
    (0..256_u32)
        .map(|byte| {
            let letter = if is_shown(byte) { byte } else { next };
            next += u32::from(!is_shown(byte));
            char::from_u32(letter).unwrap().to_string()
        })
        .collect()
}

fn weight(chance: &mut Chance, out: usize, into: usize, size: f32) -> QTensor {
    let numbers: Vec<f32> = (0..out * into).map(|_| chance.share() * size).collect();
    let tensor = Tensor::from_vec(numbers, (out, into), &Device::Cpu).unwrap();
    QTensor::quantize(&tensor, GgmlDType::F32).unwrap()
}

fn norm(width: usize) -> QTensor {
    QTensor::quantize(&Tensor::from_vec(vec![1.0_f32; width], width, &Device::Cpu).unwrap(), GgmlDType::F32)
        .unwrap()
}

/// Writes a model of these measures; some of what it says may be changed first.
pub fn written(path: &Path, of: Measures, change: impl FnOnce(&mut Vec<(String, Value)>)) {
    let mut tokens = letters();
    tokens.extend(["th", "in", "<|im_start|>", "<|im_end|>"].map(str::to_owned));
    let kinds = (0..tokens.len()).map(|at| Value::I32(if at < 258 { 1 } else { 3 })).collect();
    let text = |words: &str| Value::String(words.to_owned());
    let mut chance = Chance::of("tiny");
    let number = tokens.len();
    let mut metadata: Vec<(String, Value)> = [
        ("general.architecture", text("llama")),
        ("general.name", text(of.name)),
        ("general.license", text("apache-2.0")),
        ("llama.block_count", Value::U32(of.layers)),
        ("llama.context_length", Value::U32(of.context)),
        ("llama.embedding_length", Value::U32(of.width as u32)),
        ("llama.feed_forward_length", Value::U32(of.wide as u32)),
        ("llama.attention.head_count", Value::U32(of.heads)),
        ("llama.attention.head_count_kv", Value::U32(of.key_heads)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
        ("llama.rope.freq_base", Value::F32(10_000.0)),
        ("tokenizer.ggml.model", text("gpt2")),
        ("tokenizer.ggml.pre", text("smollm")),
        ("tokenizer.ggml.tokens", Value::Array(tokens.iter().map(|token| text(token)).collect())),
        ("tokenizer.ggml.token_type", Value::Array(kinds)),
        ("tokenizer.ggml.merges", Value::Array(vec![text("t h"), text("i n")])),
        ("tokenizer.ggml.eos_token_id", Value::U32(259)),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into();
    change(&mut metadata);
    let (width, wide) = (of.width, of.wide);
    let kv = width * of.key_heads as usize / of.heads as usize;
    // As large as it is where the width is 32, whatever the width is.
    let size = 0.3 * (32.0 / width as f32).sqrt();
    let mut tensors = vec![
        ("token_embd.weight".to_owned(), weight(&mut chance, number, width, 0.5)),
        ("output_norm.weight".to_owned(), norm(width)),
    ];
    for layer in 0..of.layers {
        let mut add = |name: &str, tensor| tensors.push((format!("blk.{layer}.{name}.weight"), tensor));
        add("attn_norm", norm(width));
        add("ffn_norm", norm(width));
        add("attn_q", weight(&mut chance, width, width, size));
        add("attn_k", weight(&mut chance, kv, width, size));
        add("attn_v", weight(&mut chance, kv, width, size));
        add("attn_output", weight(&mut chance, width, width, size));
        add("ffn_gate", weight(&mut chance, wide, width, size));
        add("ffn_up", weight(&mut chance, wide, width, size));
        add("ffn_down", weight(&mut chance, width, wide, size));
    }
    let metadata: Vec<(&str, &Value)> = metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    let tensors: Vec<(&str, &QTensor)> =
        tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    gguf_file::write(&mut fs::File::create(path).unwrap(), &metadata, &tensors).unwrap();
}
