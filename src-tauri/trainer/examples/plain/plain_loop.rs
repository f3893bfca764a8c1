//! A low-rank adapter learned with what candle has for it and nothing of ours: its products, its loss, its AdamW, a whole
//! batch at once. Whatever the trainer does otherwise is measured against this.

use candle_core::quantized::gguf_file::Content;
use candle_core::{D, DType, Device, Result, Tensor, Var};
use candle_nn::loss::cross_entropy;
use candle_nn::ops::{rms_norm_slow, softmax};
use candle_nn::rotary_emb::rope_i_slow;
use candle_nn::{AdamW, Optimizer as _};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use trainer::adapter::Numbers;
use trainer::model::Form;
use trainer::{Done, Problem};
use training::RunSpec;

/// A model with an adapter, as candle's tensors.
pub struct Plain {
    form: Form,
    weights: BTreeMap<String, Tensor>,
    variables: BTreeMap<String, Var>,
    scale: f64,
}

impl Plain {
    /// Reads all weights of a run's base, and begins its adapter with these numbers.
    ///
    /// # Errors
    /// The file cannot be read, or the numbers are of another adapter.
    pub fn open(spec: &RunSpec, content: &Content, form: Form, numbers: &Numbers) -> Done<Self> {
        let path = Path::new(&spec.base.path);
        let file = File::open(path).map_err(|error| Problem::of_file(path, error))?;
        let mut file = BufReader::new(file);
        let mut weights = BTreeMap::new();
        for name in content.tensor_infos.keys() {
            let weight = content.tensor(&mut file, name, &Device::Cpu)?.dequantize(&Device::Cpu)?;
            weights.insert(name.clone(), weight);
        }
        let (rank, mut variables) = (spec.rank as usize, BTreeMap::new());
        for (name, own) in numbers {
            // `blk.0.attn_q.down` goes to the rank, `blk.0.attn_q.up` from it.
            let shape =
                if name.ends_with(".down") { (rank, own.len() / rank) } else { (own.len() / rank, rank) };
            variables.insert(name.clone(), Var::from_vec(own.clone(), shape, &Device::Cpu)?);
        }
        let scale = f64::from(spec.alpha) / f64::from(spec.rank);
        Ok(Self { form, weights, variables, scale })
    }

    /// Candle's optimiser of the adapter.
    ///
    /// # Errors
    /// What candle says.
    pub fn optimiser(&self, rate: f64) -> Result<AdamW> {
        AdamW::new_lr(self.variables.values().cloned().collect(), rate)
    }

    /// The mean loss of the answers of some lessons, read as one batch.
    ///
    /// # Errors
    /// What candle says.
    pub fn loss(&self, lessons: &[&(Vec<u32>, usize)]) -> Result<Tensor> {
        let length = lessons.iter().map(|(tokens, _)| tokens.len() - 1).max().unwrap_or_default();
        let mut ids: Vec<u32> = Vec::new();
        for (at, (tokens, _)) in lessons.iter().enumerate() {
            ids.extend_from_slice(&tokens[..tokens.len() - 1]);
            // What stands behind an answer is read by nothing before it.
            ids.resize((at + 1) * length, 0);
        }
        let x = self.read(&ids, length)?;
        let mut answers = Vec::new();
        for (at, (tokens, from)) in lessons.iter().enumerate() {
            answers.push(x.narrow(0, at * length + from - 1, tokens.len() - from)?);
        }
        let norm = self.weight("output_norm.weight")?;
        let x = rms_norm_slow(&Tensor::cat(&answers, 0)?, norm, self.form.epsilon)?;
        let output = self.weight("output.weight").or_else(|_| self.weight("token_embd.weight"))?;
        let likely = x.matmul(&output.t()?)?;
        let (mut sum, mut behind) = (Tensor::zeros((), DType::F32, &Device::Cpu)?, 0);
        for (tokens, from) in lessons {
            let truth = Tensor::new(&tokens[*from..], &Device::Cpu)?;
            let likely = likely.narrow(0, behind, truth.elem_count())?;
            behind += truth.elem_count();
            sum = (sum + cross_entropy(&likely, &truth)?)?;
        }
        sum / lessons.len() as f64
    }

    /// The gradient of a loss, by the names of the numbers.
    ///
    /// # Errors
    /// What candle says.
    #[allow(dead_code, reason = "the tests of the trainer compare it with theirs")]
    pub fn gradient(&self, loss: &Tensor) -> Result<Numbers> {
        let gradients = loss.backward()?;
        let mut made = Numbers::new();
        for (name, variable) in &self.variables {
            if let Some(own) = gradients.get(variable.as_tensor()) {
                made.insert(name.clone(), own.flatten_all()?.to_vec1::<f32>()?);
            }
        }
        Ok(made)
    }

    fn weight(&self, name: &str) -> Result<&Tensor> {
        self.weights.get(name).ok_or_else(|| candle_core::Error::msg(format!("the model has no `{name}`")))
    }

    fn part(&self, layer: usize, name: &str, x: &Tensor) -> Result<Tensor> {
        let name = format!("blk.{layer}.{name}");
        let y = x.matmul(&self.weight(&format!("{name}.weight"))?.t()?)?;
        let pair = self.variables.get(&format!("{name}.down")).zip(self.variables.get(&format!("{name}.up")));
        let Some((down, up)) = pair else { return Ok(y) };
        let more = x.matmul(&down.as_tensor().t()?)?.matmul(&up.as_tensor().t()?)?;
        y + (more * self.scale)?
    }

    /// What the layers make of rows of so many tokens each, one row behind the other.
    fn read(&self, ids: &[u32], length: usize) -> Result<Tensor> {
        let epsilon = self.form.epsilon;
        let turns = self.turns(length)?;
        let later = |place: usize| place % length > place / length;
        let mask: Vec<f32> =
            (0..length * length).map(|place| if later(place) { f32::NEG_INFINITY } else { 0.0 }).collect();
        let mask = Tensor::from_vec(mask, (length, length), &Device::Cpu)?;
        let ids = Tensor::new(ids, &Device::Cpu)?;
        let mut x = self.weight("token_embd.weight")?.index_select(&ids, 0)?;
        for layer in 0..self.form.layers {
            let norm = |part: &str| self.weight(&format!("blk.{layer}.{part}.weight"));
            let normed = rms_norm_slow(&x, norm("attn_norm")?, epsilon)?;
            x = (&x + self.attention(layer, &normed, &turns, &mask)?)?;
            let normed = rms_norm_slow(&x, norm("ffn_norm")?, epsilon)?;
            let gate = self.part(layer, "ffn_gate", &normed)?.silu()?;
            let up = self.part(layer, "ffn_up", &normed)?;
            x = (&x + self.part(layer, "ffn_down", &(gate * up)?)?)?;
        }
        Ok(x)
    }

    fn attention(&self, layer: usize, x: &Tensor, turns: &[Tensor; 2], mask: &Tensor) -> Result<Tensor> {
        let Form { heads, key_heads, head, .. } = self.form;
        let [cos, sin] = turns;
        let length = cos.dim(0)?;
        let batch = x.dim(0)? / length;
        let by_head = |y: Tensor, heads: usize| -> Result<Tensor> {
            y.reshape((batch, length, heads, head))?.transpose(1, 2)?.contiguous()
        };
        let q = rope_i_slow(&by_head(self.part(layer, "attn_q", x)?, heads)?, cos, sin)?;
        let k = rope_i_slow(&by_head(self.part(layer, "attn_k", x)?, key_heads)?, cos, sin)?;
        let v = by_head(self.part(layer, "attn_v", x)?, key_heads)?;
        let times = heads / key_heads;
        let repeated = |kv: &Tensor| -> Result<Tensor> {
            Tensor::cat(&vec![kv; times], 2)?.reshape((batch, heads, length, head))
        };
        let scores = q.matmul(&repeated(&k)?.transpose(2, 3)?.contiguous()?)?;
        let scores = (scores * (1.0 / (head as f64).sqrt()))?.broadcast_add(mask)?;
        let mixed = softmax(&scores, D::Minus1)?.matmul(&repeated(&v)?)?;
        let mixed = mixed.transpose(1, 2)?.contiguous()?.reshape((batch * length, heads * head))?;
        self.part(layer, "attn_output", &mixed)
    }

    /// How far each pair of numbers is turned at each place, as cosine and sine.
    fn turns(&self, length: usize) -> Result<[Tensor; 2]> {
        let half = self.form.head / 2;
        let angle = |place: usize| {
            let power = 2.0 * (place % half) as f64 / self.form.head as f64;
            (place / half) as f64 / f64::from(self.form.base).powf(power)
        };
        let of = |turn: fn(f64) -> f64| {
            let numbers: Vec<f32> = (0..length * half).map(|place| turn(angle(place)) as f32).collect();
            Tensor::from_vec(numbers, (length, half), &Device::Cpu)
        };
        Ok([of(f64::cos)?, of(f64::sin)?])
    }
}

/// Learns step by step; tells each step's number and loss.
///
/// # Errors
/// What candle says.
#[allow(dead_code, reason = "the tests of the trainer look at one loss alone")]
pub fn learn(
    plain: &Plain,
    lessons: &[(Vec<u32>, usize)],
    orders: &[Vec<usize>],
    rate: f64,
    mut told: impl FnMut(usize, f32),
) -> Result<()> {
    let mut optimiser = plain.optimiser(rate)?;
    for (step, order) in orders.iter().enumerate() {
        let batch: Vec<&(Vec<u32>, usize)> = order.iter().filter_map(|at| lessons.get(*at)).collect();
        let loss = plain.loss(&batch)?;
        optimiser.backward_step(&loss)?;
        told(step + 1, loss.to_scalar::<f32>()?);
    }
    Ok(())
}
