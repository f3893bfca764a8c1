//! A low-rank adapter: for each part that learns two small weights, whose product is added to the large one.

use crate::model::{Form, Weights};
use crate::{Done, Problem, device};
use candle_core::{Result, Tensor, Var};
use seal::{Digest, Hasher};
use std::collections::BTreeMap;

/// Numbers by name, in one order.
pub type Numbers = BTreeMap<String, Vec<f32>>;

/// Parts of the attention.
const ATTENTION: [&str; 4] = ["attn_q", "attn_k", "attn_v", "attn_output"];

/// Parts between the attentions.
const FEED_FORWARD: [&str; 3] = ["ffn_gate", "ffn_up", "ffn_down"];

/// The two weights of one part.
struct Pair {
    /// To the rank.
    down: Var,
    /// From the rank.
    up: Var,
}

/// An adapter.
pub struct Adapter {
    scale: f64,
    pairs: BTreeMap<String, Pair>,
}

/// Numbers that chance gives, each by its seed and its place.
pub struct Chance(u64);

impl Chance {
    /// The chance of some words.
    #[must_use]
    pub fn of(words: &str) -> Self {
        let digest = Digest::of(words.as_bytes());
        let first = digest.as_bytes().first_chunk::<8>().copied().unwrap_or_default();
        Self(u64::from_be_bytes(first))
    }

    /// The next number (SplitMix64).
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number between -1 and 1.
    pub fn share(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    /// An order of so many.
    pub fn order(&mut self, number: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..number).collect();
        for at in (1..number).rev() {
            order.swap(at, (self.next() % (at as u64 + 1)) as usize);
        }
        order
    }
}

/// What an adapter is made of: rank, weight, which parts, and what it begins as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind {
    /// Its rank.
    pub rank: usize,
    /// Its weight, divided by the rank.
    pub alpha: f32,
    /// Whether the parts between the attentions have one.
    pub feed_forward: bool,
    /// What it begins as.
    pub seed: u64,
}

impl Adapter {
    /// The adapter that adds nothing yet.
    ///
    /// # Errors
    /// The rank is larger than what the model has.
    pub fn new(form: &Form, weights: &Weights, kind: Kind) -> Done<Self> {
        let parts = ATTENTION.iter().chain(FEED_FORWARD.iter().filter(|_| kind.feed_forward));
        let mut pairs = BTreeMap::new();
        for (layer, part) in (0..form.layers).flat_map(|layer| parts.clone().map(move |part| (layer, *part)))
        {
            let name = format!("blk.{layer}.{part}");
            let (into, out) = weights
                .measures(layer, part)
                .ok_or_else(|| Problem::new(format!("the model has no `{name}`")))?;
            if kind.rank > into.min(out) {
                return Err(Problem::new(format!(
                    "the rank {} is larger than `{name}` of the model",
                    kind.rank
                )));
            }
            let mut chance = Chance::of(&format!("hermit/adapter/1 {} {name}", kind.seed));
            let bound = (3.0 / into as f32).sqrt();
            let numbers: Vec<f32> = (0..kind.rank * into).map(|_| chance.share() * bound).collect();
            let down = Var::from_vec(numbers, (kind.rank, into), &device::OWN)?;
            let up = Var::from_vec(vec![0.0_f32; out * kind.rank], (out, kind.rank), &device::OWN)?;
            pairs.insert(name, Pair { down, up });
        }
        Ok(Self { scale: f64::from(kind.alpha) / kind.rank as f64, pairs })
    }

    /// Adds to what a part gives what the adapter gives, if it has that part.
    ///
    /// # Errors
    /// What the arithmetic says.
    pub fn add(&self, layer: usize, part: &str, x: &Tensor, y: Tensor, learns: bool) -> Result<Tensor> {
        let Some(pair) = self.pairs.get(&format!("blk.{layer}.{part}")) else { return Ok(y) };
        let (down, up) = (pair.down.as_tensor(), pair.up.as_tensor());
        let (down, up) = if learns { (down.clone(), up.clone()) } else { (down.detach(), up.detach()) };
        let more = x.matmul(&down.t()?)?.matmul(&up.t()?)?;
        y + (more * self.scale)?
    }

    /// What is added to a weight, by the name that the file has for it.
    ///
    /// # Errors
    /// What the arithmetic says.
    pub fn difference(&self, weight: &str) -> Result<Option<Tensor>> {
        let Some(pair) = weight.strip_suffix(".weight").and_then(|name| self.pairs.get(name)) else {
            return Ok(None);
        };
        let product = pair.up.as_detached_tensor().matmul(&pair.down.as_detached_tensor())?;
        Ok(Some((product * self.scale)?))
    }

    /// Its variables by name.
    pub fn variables(&self) -> impl Iterator<Item = (String, &Var)> {
        self.pairs
            .iter()
            .flat_map(|(name, pair)| [(format!("{name}.down"), &pair.down), (format!("{name}.up"), &pair.up)])
    }

    /// Its numbers by name.
    ///
    /// # Errors
    /// What the arithmetic says.
    pub fn numbers(&self) -> Result<Numbers> {
        self.variables()
            .map(|(name, variable)| {
                Ok((name, variable.as_detached_tensor().flatten_all()?.to_vec1::<f32>()?))
            })
            .collect()
    }

    /// The digest of its numbers.
    ///
    /// # Errors
    /// What the arithmetic says.
    pub fn digest(&self) -> Result<Digest> {
        let mut hasher = Hasher::new();
        for (name, numbers) in self.numbers()? {
            hasher.update(format!("{name} {}\n", numbers.len()));
            for number in numbers {
                hasher.update(number.to_bits().to_be_bytes());
            }
        }
        Ok(hasher.finish())
    }

    /// Takes numbers by name.
    ///
    /// # Errors
    /// They are of another adapter.
    pub fn set(&self, numbers: &Numbers) -> Done<()> {
        if self.variables().count() != numbers.len() {
            return Err(Problem::new("these are the numbers of another adapter"));
        }
        for (name, variable) in self.variables() {
            let own = numbers
                .get(&name)
                .filter(|own| own.len() == variable.elem_count())
                .ok_or_else(|| Problem::new("these are the numbers of another adapter"))?;
            variable.set(&Tensor::from_slice(own, variable.shape(), &device::OWN)?)?;
        }
        Ok(())
    }
}

/// All numbers in one row.
#[must_use]
pub fn flat(numbers: &Numbers) -> Vec<f32> {
    numbers.values().flatten().copied().collect()
}

/// A row of numbers by the names that others have.
///
/// # Errors
/// It is of another length.
pub fn by_name(like: &Numbers, row: &[f32]) -> Done<Numbers> {
    let mut rest = row;
    let mut made = Numbers::new();
    for (name, numbers) in like {
        let (own, others) = rest
            .split_at_checked(numbers.len())
            .ok_or_else(|| Problem::new("a row of numbers is of another adapter"))?;
        made.insert(name.clone(), own.to_vec());
        rest = others;
    }
    if rest.is_empty() { Ok(made) } else { Err(Problem::new("a row of numbers is of another adapter")) }
}
