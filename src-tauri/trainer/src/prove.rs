//! Whether an adapter is better than its base, on what was held out. Both answer with the likeliest token each time,
//! from the same words, and the true answers are measured on both.

use crate::model::{Cache, Llama, loss};
use crate::session::Session;
use crate::{Done, Problem, device};
use candle_core::Tensor;
use seal::Digest;
use serde::{Deserialize, Serialize};
use std::fs;
use training::{Baseline, Measures, Said, Shapes, Tally, Verdict, judge, majority};

/// The file of what was measured.
pub const FILE: &str = "measures.json";

/// What was measured of an adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proven {
    /// Steps that the adapter had.
    pub step: u32,
    /// The digest of its numbers.
    pub adapter: Digest,
    /// The base.
    pub before: Measures,
    /// With the adapter.
    pub after: Measures,
    /// The most frequent answer.
    pub baseline: Baseline,
    /// What follows.
    pub verdict: Verdict,
}

/// Measures base and adapter, and writes down what was found.
///
/// # Errors
/// Nothing is held out, or what the arithmetic or the disk says.
pub fn prove(session: &Session, step: u32, say: &mut dyn FnMut(&Said)) -> Done<Proven> {
    if session.held_out.is_empty() {
        return Err(Problem::new("no example that is held out fits into the number of tokens"));
    }
    say(&Said::RunsOn { on: device::ran_on(&session.spec) });
    let before = measure(session, false)?;
    let after = measure(session, true)?;
    let baseline = majority(&session.examples);
    let verdict = judge(&before, &after, &baseline);
    let proven = Proven { step, adapter: session.adapter.digest()?, before, after, baseline, verdict };
    let path = session.folder().join(FILE);
    let bytes = serde_json::to_vec_pretty(&proven).map_err(|error| Problem::new(error.to_string()))?;
    disk::replace(&path, &bytes).map_err(|error| Problem::of_file(&path, error))?;
    say(&Said::Measured {
        before,
        after,
        baseline: proven.baseline.clone(),
        offered: proven.verdict.offered,
        words: proven.verdict.words.clone(),
        ran_on: Vec::new(),
    });
    Ok(proven)
}

/// What was measured of the adapter as it is.
///
/// # Errors
/// It was not, or of another one.
pub fn proven(session: &Session, step: u32) -> Done<Proven> {
    let path = session.folder().join(FILE);
    let bytes = fs::read(&path).map_err(|_| Problem::new("the adapter was not measured yet"))?;
    let proven: Proven = serde_json::from_slice(&bytes).map_err(|error| Problem::of_file(&path, error))?;
    if proven.step != step {
        return Err(Problem::new("the adapter learned more since it was measured"));
    }
    // The same number of steps of another run, or of another round together, makes another adapter.
    if proven.adapter != session.adapter.digest()? {
        return Err(Problem::new("the adapter was not measured yet: what was measured is another one"));
    }
    Ok(proven)
}

fn measure(session: &Session, adapted: bool) -> Done<Measures> {
    let (shapes, mut tally) = (Shapes::of(&session.examples), Tally::default());
    let llama = session.llama(adapted, false);
    for (example, shown) in &session.held_out {
        let truth = &shown.answer;
        let behind = truth.len().max(session.spec.answer_tokens as usize);
        let prompt = shown.prompt_within(session.longest().saturating_sub(behind).max(1));
        // What is shown is read once: the true answer is measured behind it, and the model's own begins there.
        let mut cache = Cache::default();
        let first = llama.read(prompt, 1, Some(&mut cache))?;
        let likely = match truth.split_last() {
            Some((_, read)) if !read.is_empty() => {
                Tensor::cat(&[&first, &llama.read(read, read.len(), Some(&mut cache.clone()))?], 0)?
            }
            _ => first.clone(),
        };
        let of_truth = loss(&likely, truth)?.to_scalar::<f32>()?;
        let said = answer(session, &llama, first, cache)?;
        tally.take(&shapes, &example.answer, &said, f64::from(of_truth), truth.len());
    }
    Ok(tally.measures())
}

/// The answer of the likeliest tokens, behind what was read.
fn answer(session: &Session, llama: &Llama<'_>, first: Tensor, mut cache: Cache) -> Done<String> {
    let (mut likely, mut said) = (first, Vec::new());
    loop {
        let token = likeliest(&likely)?;
        if session.base.words.ends(token) {
            break;
        }
        said.push(token);
        if said.len() >= session.spec.answer_tokens as usize {
            break;
        }
        likely = llama.read(&[token], 1, Some(&mut cache))?;
    }
    session.base.words.text(&said)
}

/// The likeliest token; of several the first.
fn likeliest(likely: &Tensor) -> Done<u32> {
    let all = likely.flatten_all()?.to_vec1::<f32>()?;
    let mut best = (0_u32, f32::NEG_INFINITY);
    for (token, number) in (0_u32..).zip(all) {
        if number > best.1 {
            best = (token, number);
        }
    }
    Ok(best.0)
}
