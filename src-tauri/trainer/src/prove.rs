//! Whether an adapter is better than its base, on what was held out. Both answer with the likeliest token each time,
//! from the same words, and the true answers are measured on both.

use crate::model::{Cache, loss};
use crate::session::Session;
use crate::{Done, Problem};
use candle_core::Tensor;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use training::{Baseline, Measures, Said, Shapes, Tally, Verdict, judge, majority};

/// The file of what was measured.
pub const FILE: &str = "measures.json";

/// What was measured of an adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proven {
    /// Steps that the adapter had.
    pub step: u32,
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
    let before = measure(session, false)?;
    let after = measure(session, true)?;
    let baseline = majority(&session.examples);
    let verdict = judge(&before, &after, &baseline);
    let proven = Proven { step, before, after, baseline, verdict };
    let path = session.folder().join(FILE);
    let bytes = serde_json::to_vec_pretty(&proven).map_err(|error| Problem::new(error.to_string()))?;
    disk::replace(&path, &bytes).map_err(|error| Problem::of_file(&path, error))?;
    say(&Said::Measured {
        before,
        after,
        baseline: proven.baseline.clone(),
        offered: proven.verdict.offered,
        words: proven.verdict.words.clone(),
    });
    Ok(proven)
}

/// What was measured of the adapter as it is.
///
/// # Errors
/// It was not, or of another one.
pub fn proven(folder: &Path, step: u32) -> Done<Proven> {
    let path = folder.join(FILE);
    let bytes = fs::read(&path).map_err(|_| Problem::new("the adapter was not measured yet"))?;
    let proven: Proven = serde_json::from_slice(&bytes).map_err(|error| Problem::of_file(&path, error))?;
    if proven.step == step {
        Ok(proven)
    } else {
        Err(Problem::new("the adapter learned more since it was measured"))
    }
}

fn measure(session: &Session, adapted: bool) -> Done<Measures> {
    let (shapes, mut tally) = (Shapes::of(&session.examples), Tally::default());
    let llama = session.llama(adapted, false);
    for (example, shown) in &session.held_out {
        let Some((tokens, from)) = shown.within(session.longest()) else { continue };
        let (Some((_, read)), Some(truth)) = (tokens.split_last(), tokens.get(from..)) else { continue };
        let of_truth = loss(&llama.read(read, truth.len(), None)?, truth)?.to_scalar::<f32>()?;
        let said = answer(session, adapted, shown.prompt_within(room(session)))?;
        tally.take(&shapes, &example.answer, &said, f64::from(of_truth), truth.len());
    }
    Ok(tally.measures())
}

/// Tokens that a prompt may have, so that an answer fits behind it.
fn room(session: &Session) -> usize {
    session.longest().saturating_sub(session.spec.answer_tokens as usize).max(1)
}

/// The answer of the likeliest tokens.
///
/// # Errors
/// What the arithmetic says.
pub fn answer(session: &Session, adapted: bool, prompt: &[u32]) -> Done<String> {
    let llama = session.llama(adapted, false);
    let most = (session.spec.answer_tokens as usize).min(session.longest().saturating_sub(prompt.len()));
    let (mut cache, mut said) = (Cache::default(), Vec::new());
    let mut likely = llama.read(prompt, 1, Some(&mut cache))?;
    while said.len() < most {
        let token = likeliest(&likely)?;
        if session.base.words.ends(token) {
            break;
        }
        said.push(token);
        if said.len() < most {
            likely = llama.read(&[token], 1, Some(&mut cache))?;
        }
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
