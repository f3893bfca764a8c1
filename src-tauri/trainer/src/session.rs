//! What all that is done with a run begins with: its base, its examples in tokens, and its adapter.

use crate::adapter::{Adapter, Chance, Kind, Numbers};
use crate::gguf::{self, Loaded};
use crate::model::{Llama, loss};
use crate::tokens::Shown;
use crate::{Done, Problem};
use seal::Digest;
use std::fs;
use std::path::{Path, PathBuf};
use training::{Example, RunSpec, Said, Split, read_lines};

/// A run that was opened.
pub struct Session {
    /// What is asked for.
    pub spec: RunSpec,
    /// The model.
    pub base: Loaded,
    /// All examples.
    pub examples: Vec<Example>,
    /// What is learned from, in tokens with the place where the answer begins.
    pub lessons: Vec<(Vec<u32>, usize)>,
    /// What is held out.
    pub held_out: Vec<(Example, Shown)>,
    /// The adapter.
    pub adapter: Adapter,
}

impl Session {
    /// Opens a run. The dataset comes first, since it costs nothing to refuse.
    ///
    /// # Errors
    /// The run, the dataset or the model cannot be used; in words.
    pub fn open(spec: &RunSpec, say: &mut dyn FnMut(&Said)) -> Done<Self> {
        spec.check()?;
        let path = Path::new(&spec.dataset.path);
        let length = fs::metadata(path).map_err(|error| Problem::of_file(path, error))?.len();
        if length > training::DATASET_BYTES_MAX as u64 {
            return Err(Problem::new(format!("`{}` is longer than a dataset may be", spec.dataset.path)));
        }
        let lines = fs::read(path).map_err(|error| Problem::of_file(path, error))?;
        if Digest::of(&lines) != spec.dataset.sha256 {
            let words = "is not the dataset that the run names: its digest differs";
            return Err(Problem::new(format!("`{}` {words}", spec.dataset.path)));
        }
        let examples = read_lines(&lines)?;
        let folder = Path::new(&spec.folder);
        fs::create_dir_all(folder).map_err(|error| Problem::of_file(folder, error))?;
        let base = gguf::load(&spec.base, spec.budget.memory_bytes)?;
        let longest = (spec.sequence_length as usize).min(base.form.context);
        let (mut lessons, mut held_out) = (Vec::new(), Vec::new());
        for example in &examples {
            let shown = base.words.shown(example)?;
            let is_known = |token: &u32| (*token as usize) < base.weights.tokens();
            if !shown.prompt.iter().chain(&shown.answer).all(is_known) {
                return Err(Problem::new("the tokenizer of the model has more tokens than its weights"));
            }
            match (shown.within(longest), example.split) {
                (Some(lesson), Split::Train) => lessons.push(lesson),
                (Some(_), Split::HeldOut) => held_out.push((example.clone(), shown)),
                (None, _) => say(&Said::Skipped {
                    what: example.id.to_string(),
                    words: format!("its answer does not fit into {longest} tokens"),
                }),
            }
        }
        if lessons.is_empty() {
            return Err(Problem::new("no example that can be learned from fits into the number of tokens"));
        }
        let kind = Kind {
            rank: spec.rank as usize,
            alpha: spec.alpha,
            feed_forward: spec.feed_forward,
            seed: spec.seed,
        };
        let adapter = Adapter::new(&base.form, &base.weights, kind)?;
        Ok(Self { spec: spec.clone(), base, examples, lessons, held_out, adapter })
    }

    /// The folder of the run.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        PathBuf::from(&self.spec.folder)
    }

    /// Tokens that are read at once at most.
    #[must_use]
    pub fn longest(&self) -> usize {
        (self.spec.sequence_length as usize).min(self.base.form.context)
    }

    /// The model, with the adapter or without.
    #[must_use]
    pub fn llama(&self, adapted: bool, learns: bool) -> Llama<'_> {
        let adapter = adapted.then_some(&self.adapter);
        Llama { form: &self.base.form, weights: &self.base.weights, adapter, learns }
    }

    /// Lessons of a step: each lesson once in each round over all of them, in an order of its own.
    #[must_use]
    pub fn lessons_of(&self, step: u32) -> Vec<usize> {
        let number = self.lessons.len();
        let first = u64::from(step) * u64::from(self.spec.batch);
        let order =
            |round: u64| Chance::of(&format!("hermit/order/1 {} {round}", self.spec.seed)).order(number);
        let mut known: Option<(u64, Vec<usize>)> = None;
        let mut lessons = Vec::new();
        for place in first..first + u64::from(self.spec.batch) {
            let (round, at) = (place / number as u64, (place % number as u64) as usize);
            if known.as_ref().is_none_or(|(known, _)| *known != round) {
                known = Some((round, order(round)));
            }
            lessons.extend(known.as_ref().and_then(|(_, order)| order.get(at)).copied());
        }
        lessons
    }

    /// The mean loss of the answers of some lessons, and its gradient.
    ///
    /// # Errors
    /// What the arithmetic says.
    pub fn gradient(&self, lessons: &[usize], like: &Numbers) -> Done<(f32, Numbers)> {
        let mut sum: Numbers = like.iter().map(|(name, own)| (name.clone(), vec![0.0; own.len()])).collect();
        let (llama, mut all) = (self.llama(true, true), 0.0_f64);
        for lesson in lessons {
            let Some((tokens, from)) = self.lessons.get(*lesson) else { continue };
            let Some((_, read)) = tokens.split_last() else { continue };
            let truth = tokens.get(*from..).unwrap_or_default();
            let likely = llama.read(read, truth.len(), None)?;
            let share = 1.0 / (truth.len() as f64 * lessons.len() as f64);
            let loss = (loss(&likely, truth)? * share)?;
            all += f64::from(loss.to_scalar::<f32>()?);
            let gradients = loss.backward()?;
            for (name, variable) in self.adapter.variables() {
                let (Some(own), Some(sum)) = (gradients.get(variable.as_tensor()), sum.get_mut(&name)) else {
                    continue;
                };
                for (sum, own) in sum.iter_mut().zip(own.flatten_all()?.to_vec1::<f32>()?) {
                    *sum += own;
                }
            }
        }
        Ok((all as f32, sum))
    }
}
