//! The llama architecture, forwards, so that candle can go backwards: what is frozen has no gradient, and takes no
//! memory for one.

use crate::adapter::Adapter;
use crate::{Done, device};
use candle_core::{CpuStorage, CustomOp1, D, Layout, Result, Shape, Storage, Tensor};
use candle_nn::ops::rms_norm_slow;
use candle_nn::rotary_emb::rope_i_slow;
use std::sync::{Mutex, PoisonError};

/// Measures of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Form {
    /// Layers.
    pub layers: usize,
    /// Numbers of a token.
    pub width: usize,
    /// Heads that ask.
    pub heads: usize,
    /// Heads that are asked.
    pub key_heads: usize,
    /// Numbers of a head.
    pub head: usize,
    /// Tokens that it was made for.
    pub context: usize,
    /// What keeps a norm from being nothing.
    pub epsilon: f32,
    /// Base of the turns of positions.
    pub base: f32,
}

/// Weights of one layer, each a row for each number that comes out.
pub struct Layer {
    attn_norm: Tensor,
    ffn_norm: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    output: Tensor,
    gate: Tensor,
    up: Tensor,
    down: Tensor,
}

/// Weights of a model.
pub struct Weights {
    embedding: Tensor,
    layers: Vec<Layer>,
    norm: Tensor,
    output: Tensor,
}

impl Weights {
    /// Takes each weight by its name; whether tokens come out by a weight of their own is said.
    ///
    /// # Errors
    /// What the one who gives them says.
    pub fn read(form: &Form, own_output: bool, mut give: impl FnMut(&str) -> Done<Tensor>) -> Done<Self> {
        let embedding = give("token_embd.weight")?;
        let mut layers = Vec::new();
        for at in 0..form.layers {
            let mut part = |name: &str| give(&format!("blk.{at}.{name}.weight"));
            layers.push(Layer {
                attn_norm: part("attn_norm")?,
                ffn_norm: part("ffn_norm")?,
                q: part("attn_q")?,
                k: part("attn_k")?,
                v: part("attn_v")?,
                output: part("attn_output")?,
                gate: part("ffn_gate")?,
                up: part("ffn_up")?,
                down: part("ffn_down")?,
            });
        }
        let norm = give("output_norm.weight")?;
        // Where there is none, tokens come out by what they go in with.
        let output = if own_output { give("output.weight")? } else { embedding.clone() };
        Ok(Self { embedding, layers, norm, output })
    }

    /// Tokens that there are.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.embedding.dims().first().copied().unwrap_or_default()
    }

    /// Numbers that go into and come out of a part, by the name that an adapter has for it.
    #[must_use]
    pub fn measures(&self, layer: usize, part: &str) -> Option<(usize, usize)> {
        let layer = self.layers.get(layer)?;
        let weight = match part {
            "attn_q" => &layer.q,
            "attn_k" => &layer.k,
            "attn_v" => &layer.v,
            "attn_output" => &layer.output,
            "ffn_gate" => &layer.gate,
            "ffn_up" => &layer.up,
            "ffn_down" => &layer.down,
            _ => return None,
        };
        weight.dims2().ok().map(|(out, into)| (into, out))
    }
}

/// Keys and values of tokens that were read, by layer.
#[derive(Clone, Default)]
pub struct Cache {
    read: usize,
    layers: Vec<Option<(Tensor, Tensor)>>,
}

/// A model as it is used: with an adapter or without, to learn or to answer.
pub struct Llama<'a> {
    /// Its measures.
    pub form: &'a Form,
    /// Its weights.
    pub weights: &'a Weights,
    /// What is added to them.
    pub adapter: Option<&'a Adapter>,
    /// Whether gradients are wanted.
    pub learns: bool,
}

/// What is common to all layers in one reading.
struct Reading {
    cos: Tensor,
    sin: Tensor,
    mask: Option<Tensor>,
}

impl Llama<'_> {
    /// Reads tokens behind those of the cache; gives for each of the last ones how likely each next token is, not yet
    /// as a share.
    ///
    /// # Errors
    /// What the arithmetic says.
    pub fn read(&self, tokens: &[u32], last: usize, mut cache: Option<&mut Cache>) -> Result<Tensor> {
        let before = cache.as_ref().map_or(0, |cache| cache.read);
        let reading = self.reading(before, tokens.len())?;
        let ids = Tensor::from_slice(tokens, tokens.len(), &device::OWN)?;
        let mut x = self.weights.embedding.index_select(&ids, 0)?;
        if let Some(cache) = cache.as_deref_mut() {
            cache.layers.resize(self.form.layers, None);
            cache.read += tokens.len();
        }
        for (at, layer) in self.weights.layers.iter().enumerate() {
            let past = cache.as_deref_mut().and_then(|cache| cache.layers.get_mut(at));
            let normed = rms_norm_slow(&x, &layer.attn_norm, self.form.epsilon)?;
            x = (&x + self.attention(at, layer, &normed, &reading, past)?)?;
            let normed = rms_norm_slow(&x, &layer.ffn_norm, self.form.epsilon)?;
            let gate = self.part(at, "ffn_gate", &layer.gate, &normed)?.silu()?;
            let up = self.part(at, "ffn_up", &layer.up, &normed)?;
            x = (&x + self.part(at, "ffn_down", &layer.down, &(gate * up)?)?)?;
        }
        let last = last.min(tokens.len());
        let x = x.narrow(0, tokens.len() - last, last)?.contiguous()?;
        let x = rms_norm_slow(&x, &self.weights.norm, self.form.epsilon)?;
        frozen(&x, &self.weights.output)
    }

    fn reading(&self, before: usize, length: usize) -> Result<Reading> {
        let half = self.form.head / 2;
        let mut turns = Vec::with_capacity(length * half);
        for at in before..before + length {
            for pair in 0..half {
                let power = 2.0 * pair as f64 / self.form.head as f64;
                turns.push(at as f64 / f64::from(self.form.base).powf(power));
            }
        }
        let of = |turn: fn(f64) -> f64| -> Result<Tensor> {
            let numbers: Vec<f32> = turns.iter().map(|one| turn(*one) as f32).collect();
            Tensor::from_vec(numbers, (length, half), &device::OWN)
        };
        let mask = if length > 1 {
            let all = before + length;
            let is_later = |place: usize| place % all > before + place / all;
            let numbers: Vec<f32> = (0..length * all)
                .map(|place| if is_later(place) { f32::NEG_INFINITY } else { 0.0 })
                .collect();
            Some(Tensor::from_vec(numbers, (length, all), &device::OWN)?)
        } else {
            None
        };
        Ok(Reading { cos: of(f64::cos)?, sin: of(f64::sin)?, mask })
    }

    /// A weight with what the adapter adds.
    fn part(&self, layer: usize, name: &str, weight: &Tensor, x: &Tensor) -> Result<Tensor> {
        let y = frozen(x, weight)?;
        match self.adapter {
            Some(adapter) => adapter.add(layer, name, x, y, self.learns),
            None => Ok(y),
        }
    }

    fn attention(
        &self,
        at: usize,
        layer: &Layer,
        x: &Tensor,
        reading: &Reading,
        past: Option<&mut Option<(Tensor, Tensor)>>,
    ) -> Result<Tensor> {
        let Form { heads, key_heads, head, .. } = *self.form;
        let length = x.dim(0)?;
        let by_head = |y: Tensor, heads: usize| -> Result<Tensor> {
            y.reshape((1, length, heads, head))?.transpose(1, 2)?.contiguous()
        };
        let q = by_head(self.part(at, "attn_q", &layer.q, x)?, heads)?;
        let k = by_head(self.part(at, "attn_k", &layer.k, x)?, key_heads)?;
        let mut v = by_head(self.part(at, "attn_v", &layer.v, x)?, key_heads)?;
        let q = rope_i_slow(&q, &reading.cos, &reading.sin)?;
        let mut k = rope_i_slow(&k, &reading.cos, &reading.sin)?;
        if let Some(past) = past {
            if let Some((old_k, old_v)) = past.take() {
                k = Tensor::cat(&[&old_k, &k], 2)?;
                v = Tensor::cat(&[&old_v, &v], 2)?;
            }
            *past = Some((k.clone(), v.clone()));
        }
        let all = k.dim(2)?;
        let for_each = |kv: &Tensor| -> Result<Tensor> {
            if heads == key_heads {
                return Ok(kv.clone());
            }
            kv.unsqueeze(2)?
                .broadcast_as((1, key_heads, heads / key_heads, all, head))?
                .reshape((1, heads, all, head))
        };
        let scores = q.matmul(&for_each(&k)?.transpose(2, 3)?.contiguous()?)?;
        let scores = (scores * (1.0 / (head as f64).sqrt()))?;
        let scores = match &reading.mask {
            Some(mask) => scores.broadcast_add(mask)?,
            None => scores,
        };
        let most = scores.max_keepdim(D::Minus1)?.detach();
        let shares = scores.broadcast_sub(&most)?.exp()?;
        let shares = shares.broadcast_div(&shares.sum_keepdim(D::Minus1)?)?;
        let mixed = shares.matmul(&for_each(&v)?)?;
        let mixed = mixed.transpose(1, 2)?.contiguous()?.reshape((length, heads * head))?;
        self.part(at, "attn_output", &layer.output, &mixed)
    }
}

/// The sum of losses of the true next tokens.
///
/// # Errors
/// What the arithmetic says.
pub fn loss(likely: &Tensor, truth: &[u32]) -> Result<Tensor> {
    let truth = Tensor::from_slice(truth, (truth.len(), 1), &device::OWN)?;
    let most = likely.max_keepdim(1)?.detach();
    let shifted = likely.broadcast_sub(&most)?;
    let all = shifted.exp()?.sum_keepdim(1)?.log()?;
    (all - shifted.gather(&truth, 1)?)?.sum_all()
}

/// A product with a weight that is frozen. Candle would make a gradient of the weight, as large as itself, and throw it
/// away; here only what came in gets one.
fn frozen(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let y = x.detach().matmul(&weight.t()?)?;
    if !x.track_op() {
        return Ok(y);
    }
    x.apply_op1(Frozen { weight: weight.clone(), result: Mutex::new(Some(y)) })
}

struct Frozen {
    weight: Tensor,
    result: Mutex<Option<Tensor>>,
}

impl CustomOp1 for Frozen {
    fn name(&self) -> &'static str {
        "frozen"
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        let result = result.ok_or_else(|| candle_core::Error::msg("a product is asked for twice"))?;
        let (storage, layout) = result.storage_and_layout();
        match &*storage {
            Storage::Cpu(numbers) if layout.is_contiguous() && layout.start_offset() == 0 => {
                Ok((numbers.clone(), layout.shape().clone()))
            }
            _ => Err(candle_core::Error::msg("a product lies elsewhere")),
        }
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(gradient.contiguous()?.matmul(&self.weight)?))
    }
}
