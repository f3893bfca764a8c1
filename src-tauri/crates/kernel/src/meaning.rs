//! Memory by its meaning: vectors of an embedding model of this machine, which is optional (memory.md 2).
//!
//! The loop waits a moment for the model and no more: what does not answer in time is left alone for a while, and memory is
//! found by words. Vectors of two models are never compared. A vector tells about its text, so that it goes when the text
//! is erased, or its record has ended.

mod asked;
mod scan;

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::ports::Unembedded;
use crate::query::view;
use knowledge::meaning::{self, PROBES, Vector};
use model::context::{MeaningUsed, VectorsThere};
use model::knowledge::MemoryStatus;
use model::{Digest, MemoryId};
use projections::rows::MemoryRow;
use projections::{NewVector, Vectors, VectorsOf};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// How long a context waits for the model.
const AT_USE: Duration = Duration::from_millis(700);
/// How long whoever names a model waits for it.
const TRY: Duration = Duration::from_secs(5);
/// How long the making of vectors beside the work waits for one batch.
const BESIDE: Duration = Duration::from_secs(30);
/// For how long a model that did not answer is left alone.
const REST_MS: u64 = 30_000;
/// Records whose vectors are made when a context asks for them; where there are more, they are made beside the work.
const AT_USE_MAX: u32 = 8;
/// Records of one batch beside the work.
const BATCH: u32 = 8;
/// Texts whose vectors are remembered, so that a task does not ask for those of its goal with each turn.
const ASKED_MAX: usize = 32;
/// What stands for a claim that no model is told.
const WITHHELD: &str = "withheld";

/// What is kept of it in memory.
#[derive(Default)]
pub(crate) struct Meaning {
    vectors: Mutex<Option<Vectors>>,
    /// Vectors of what tasks are about, by their key and their text, the newest last. They are on no disk.
    asked: Mutex<VecDeque<(Digest, Digest, Vector)>>,
    /// A model that did not answer: until when it is left alone, and what was wrong.
    rests: Mutex<Option<(u64, String, String)>>,
    /// How often the vectors were begun anew: what was asked for before belongs to none of those there are now.
    begun: AtomicU64,
}

/// What came of the making of vectors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VectorsMade {
    /// Records that have a vector now and had none before.
    pub made: usize,
    /// Records whose text the model refuses.
    pub refused: usize,
    /// Why it ended before all were made, in words.
    pub trouble: Option<String>,
}

/// Why a text has no vectors: the words for a person, and whether the model may take other texts.
struct Failure {
    why: String,
    refused: bool,
}

impl Failure {
    const fn of(why: String) -> Self {
        Self { why, refused: false }
    }
}

impl From<projections::Error> for Failure {
    fn from(error: projections::Error) -> Self {
        Self::of(format!("the vectors cannot be read or written: {error}"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::of(error.to_string())
    }
}

impl Kernel {
    /// Records that mean what these texts do, in a project and everywhere, the nearest first; and how they were looked up:
    /// nothing where no embedding model is named.
    pub(crate) fn memories_near(
        &self,
        texts: &[&str],
        project: Option<Digest>,
    ) -> (Vec<MemoryRow>, Option<MeaningUsed>) {
        let Some(model) = self.ports.embedder.named() else { return (Vec::new(), None) };
        match self.near(&model, texts, project) {
            Ok((key, rows, vectors)) => {
                let used = MeaningUsed { model, key: Some(key), words_alone: None, vectors: Some(vectors) };
                (rows, Some(used))
            }
            Err(failure) => {
                tracing::warn!(model, why = failure.why, "memory is found by words alone");
                let used = MeaningUsed { model, key: None, words_alone: Some(failure.why), vectors: None };
                (Vec::new(), Some(used))
            }
        }
    }

    fn near(
        &self,
        model: &str,
        texts: &[&str],
        project: Option<Digest>,
    ) -> Result<(Digest, Vec<MemoryRow>, VectorsThere), Failure> {
        self.is_rested(model)?;
        let wanted: Vec<String> =
            texts.iter().map(|text| meaning::embedded(text)).filter(|text| !text.is_empty()).collect();
        let born = self.born(model)?;
        let mut missing = self.without_vector(model, AT_USE_MAX.saturating_add(1))?;
        if missing.len() > AT_USE_MAX as usize {
            missing.clear();
        }
        let (key, asked) = match self.asked_before(model, &wanted)? {
            Some(known) => known,
            None => {
                let answered = self.embedded((model, born), &wanted, (AT_USE, &|| true));
                // It is left alone also where it refuses the text: the next turn asks for the same.
                let (key, vectors) = answered
                    .map_err(|failure| Failure::of(failure.why))
                    .inspect_err(|failure| self.let_rest(model, failure))?;
                self.remember_asked(key, &wanted, &vectors);
                (key, vectors)
            }
        };
        if !missing.is_empty() {
            let claims = self.claims(&missing)?;
            // A text that the model refuses is made out beside the work, one by one.
            match self.embedded((model, born), &claims, (AT_USE, &|| true)) {
                Ok((of, made)) => {
                    self.keep_vectors((model, born), of, &missing, made.into_iter().map(Some).collect())?;
                }
                Err(failure) if failure.refused => {}
                Err(failure) => {
                    self.let_rest(model, &failure);
                    return Err(failure);
                }
            }
        }
        let (rows, vectors) = self.nearest(model, key, &asked, project)?;
        Ok((key, rows, vectors))
    }

    /// Makes the vectors of records that have none, so many batches at most, while `goes_on` says so, and forgets those of records that
    /// have ended or were erased. Where no model is named, all are forgotten.
    ///
    /// # Errors
    /// When the store cannot be read; a model that does not answer is no error, and is told in the answer.
    pub fn make_vectors(&self, batches: usize, goes_on: &dyn Fn() -> bool) -> Result<VectorsMade, Error> {
        let mut came = VectorsMade::default();
        let Some(model) = self.ports.embedder.named() else {
            self.forget_vectors();
            return Ok(came);
        };
        self.tidy_vectors()?;
        for _ in 0..batches {
            if !goes_on() {
                break;
            }
            match self.make_batch(&model, &mut came, goes_on) {
                Ok(true) => {}
                Ok(false) => break,
                // The host ends; the model did nothing wrong.
                Err(_) if !goes_on() => break,
                Err(failure) => {
                    self.let_rest(&model, &failure);
                    came.trouble = Some(failure.why);
                    break;
                }
            }
        }
        Ok(came)
    }

    /// One batch; whether there may be more.
    fn make_batch(
        &self,
        model: &str,
        came: &mut VectorsMade,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<bool, Failure> {
        let born = self.born(model)?;
        let rows = self.without_vector(model, BATCH)?;
        if rows.is_empty() {
            // Also where nothing is to be made, the model is seen to answer.
            return self.embedded((model, born), &[], (BESIDE, goes_on)).map(|_| false);
        }
        let claims = self.claims(&rows)?;
        let (key, vectors) = match self.embedded((model, born), &claims, (BESIDE, goes_on)) {
            Ok((key, vectors)) => (key, vectors.into_iter().map(Some).collect()),
            // One of them may be too long for it: each is asked for alone.
            Err(failure) if failure.refused => self.one_by_one((model, born), &claims, goes_on)?,
            Err(failure) => return Err(failure),
        };
        let made = vectors.iter().flatten().count();
        came.made += made;
        came.refused += vectors.len().saturating_sub(made);
        self.keep_vectors((model, born), key, &rows, vectors)?;
        Ok(true)
    }

    fn one_by_one(
        &self,
        of: (&str, u64),
        claims: &[String],
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(Digest, Vec<Option<Vector>>), Failure> {
        let mut vectors = Vec::new();
        let mut key = None;
        for claim in claims {
            match self.embedded(of, std::slice::from_ref(claim), (BESIDE, goes_on)) {
                Ok((its, mut one)) => {
                    key = Some(its);
                    vectors.push(one.pop());
                }
                Err(failure) if failure.refused => vectors.push(None),
                Err(failure) => return Err(failure),
            }
        }
        // A model that refuses everything is not at work.
        let key = key.ok_or_else(|| Failure::of("it refuses every text".to_owned()))?;
        Ok((key, vectors))
    }

    /// The vectors of texts, and the key that they belong to. Each request holds the sentence of the key, so that an answer of
    /// another model is not taken; who has not answered it yet is asked for that alone. Values of secrets, and what looks like
    /// one, stay here.
    fn embedded(
        &self,
        (model, born): (&str, u64),
        texts: &[String],
        (patience, goes_on): (Duration, &dyn Fn() -> bool),
    ) -> Result<(Digest, Vec<Vector>), Failure> {
        let is_known = self.vectors_of(model)?.1.probe.is_some();
        if !is_known && !texts.is_empty() {
            self.embedded((model, born), &[], (patience, goes_on))?;
        }
        let probes = if is_known || !texts.is_empty() { PROBES.get(..1) } else { PROBES.get(..) };
        let probes = probes.unwrap_or_default();
        let redactor = self.ports.redactor.now();
        let texts: Vec<String> = texts.iter().map(|text| redactor.text(text).rest.into_owned()).collect();
        let all: Vec<&str> = probes.iter().copied().chain(texts.iter().map(String::as_str)).collect();
        let answered =
            self.ports.embedder.embed(model, &all, patience, goes_on).map_err(|error| match error {
                Unembedded::Refused(why) => Failure { why, refused: true },
                Unembedded::Failed(why) => Failure::of(why),
            })?;
        let mut vectors = meaning::taken(&answered, all.len())
            .map_err(|why| Failure::of(format!("what it answers are no vectors of these texts: {why}")))?;
        let of_texts = vectors.split_off(probes.len());
        let first = vectors.first().ok_or_else(|| Failure::of("there is no answer".to_owned()))?;
        let (kept, of) = self.vectors_of(model)?;
        self.is_as_begun(born)?;
        let open = opened(&kept)?;
        match of.probe.as_deref().and_then(Vector::from_bytes) {
            Some(known) if known.is_of_the_same_model(first) => {
                if of.trouble.is_some() {
                    open.keep_trouble(None)?;
                }
                Ok((meaning::key(model, &known), of_texts))
            }
            Some(_) => {
                let why = "another model answers there than the one that made the vectors there were; they are \
                           forgotten, and are made anew";
                self.begin_anew(open, model, Some(why))?;
                Err(Failure::of(why.to_owned()))
            }
            None if probes.len() < PROBES.len() => {
                Err(Failure::of("the vectors were begun anew meanwhile".to_owned()))
            }
            None => {
                open.keep_probe(&first.to_bytes(), meaning::common(&vectors))?;
                Ok((meaning::key(model, first), of_texts))
            }
        }
    }

    /// The embedding model answers, and is the one that it was: what whoever names it is told of at once.
    ///
    /// # Errors
    /// When the settings or the vectors cannot be read; a model that does not answer is no error, and is kept in words.
    pub fn try_embeddings(&self) -> Result<(), Error> {
        let Some(model) = self.ports.embedder.named() else {
            self.forget_vectors();
            return Ok(());
        };
        let tried = self.born(&model).and_then(|born| self.embedded((&model, born), &[], (TRY, &|| true)));
        if let Err(failure) = tried {
            self.let_rest(&model, &failure);
        }
        Ok(())
    }

    /// Which beginning of the vectors of this model is the present one.
    fn born(&self, model: &str) -> Result<u64, Failure> {
        let _kept = self.vectors_of(model)?;
        Ok(self.meaning.begun.load(Ordering::SeqCst))
    }

    /// Whoever has the vectors locked finds them as they were when it was asked for what it has.
    fn is_as_begun(&self, born: u64) -> Result<(), Failure> {
        match self.meaning.begun.load(Ordering::SeqCst) == born {
            true => Ok(()),
            false => Err(Failure::of("the vectors were begun anew meanwhile".to_owned())),
        }
    }

    fn begin_anew(&self, open: &Vectors, model: &str, why: Option<&str>) -> Result<(), Failure> {
        self.meaning.begun.fetch_add(1, Ordering::SeqCst);
        Ok(open.begin_anew(Some(model), why)?)
    }

    /// The vectors of this model, locked; those of any other are forgotten. None of one that is named no more.
    fn vectors_of(&self, model: &str) -> Result<(MutexGuard<'_, Option<Vectors>>, VectorsOf), Failure> {
        if self.ports.embedder.named().as_deref() != Some(model) {
            return Err(Failure::of("it is no longer the embedding model that is named".to_owned()));
        }
        let mut kept = lock(&self.meaning.vectors);
        if kept.is_none() {
            *kept = Some(Vectors::open(&self.dir, self.reader.log_id())?);
        }
        let open = opened(&kept)?;
        let of = open.of()?;
        let head = self.reader.log_head().map_err(Error::from)?;
        if of.model.as_deref() == Some(model) && of.through <= head {
            return Ok((kept, of));
        }
        self.begin_anew(open, model, None)?;
        let of = open.of()?;
        Ok((kept, of))
    }

    /// Records behind the last one that has its vector.
    fn without_vector(&self, model: &str, most: u32) -> Result<Vec<MemoryRow>, Failure> {
        let through = self.vectors_of(model)?.1.through;
        Ok(self.query()?.memories_behind(through, most)?)
    }

    /// What the model is told of records: what they claim, and of one that may repeat what a look into a secret brought, nothing.
    fn claims(&self, rows: &[MemoryRow]) -> Result<Vec<String>, Failure> {
        let withheld = self.query()?.memories_repeating(&rows.iter().collect::<Vec<_>>())?;
        let told = |row: &MemoryRow| match withheld.contains(&row.memory_id) {
            true => WITHHELD.to_owned(),
            false => claim(row),
        };
        Ok(rows.iter().map(told).collect())
    }

    /// Keeps what was made, but for records that have ended meanwhile or whose words were erased.
    fn keep_vectors(
        &self,
        (model, born): (&str, u64),
        key: Digest,
        rows: &[MemoryRow],
        vectors: Vec<Option<Vector>>,
    ) -> Result<(), Failure> {
        let Some(last) = rows.last() else { return Ok(()) };
        let (kept, of) = self.vectors_of(model)?;
        self.is_as_begun(born)?;
        if key_of(model, &of) != Some(key) {
            return Err(Failure::of("the model was changed meanwhile".to_owned()));
        }
        // Asked while nobody else may write: an erasure comes before this look, or finds the vector and takes it away.
        let query = self.query()?;
        let mut new = Vec::new();
        for (row, vector) in rows.iter().zip(vectors) {
            if query.memory(row.memory_id)?.is_some_and(|now| is_held(&now)) {
                let numbers = vector.map(|vector| vector.to_bytes());
                new.push(NewVector { memory_id: row.memory_id, project: row.project_hash, numbers });
            }
        }
        Ok(opened(&kept)?.keep(&new, last.seq)?)
    }

    /// Forgets the vectors of records that have ended or whose words were erased, and what tasks asked for.
    ///
    /// # Errors
    /// When the store cannot be read, or the vectors can neither be read nor removed.
    pub fn tidy_vectors(&self) -> Result<(), Error> {
        lock(&self.meaning.asked).clear();
        let mut kept = lock(&self.meaning.vectors);
        if kept.is_none() && !self.dir.join(projections::vectors::FILE).exists() {
            return Ok(());
        }
        let query = self.query()?;
        let tidied = tidied(&mut kept, &self.dir, self.reader.log_id(), &query);
        // What cannot be tidied is made anew: no vector outlives its text.
        if let Err(error) = tidied {
            tracing::warn!(%error, "the vectors of memory could not be tidied; they are made anew");
            self.meaning.begun.fetch_add(1, Ordering::SeqCst);
            kept.take();
            Vectors::remove(&self.dir).map_err(view)?;
        }
        Ok(())
    }

    /// Forgets every vector: no model is named any more.
    fn forget_vectors(&self) {
        lock(&self.meaning.asked).clear();
        let mut kept = lock(&self.meaning.vectors);
        if !self.dir.join(projections::vectors::FILE).exists() {
            return;
        }
        self.meaning.begun.fetch_add(1, Ordering::SeqCst);
        kept.take();
        if let Err(error) = Vectors::remove(&self.dir) {
            tracing::warn!(%error, "vectors that nobody needs any more are still there");
        }
    }
}

fn claim(row: &MemoryRow) -> String {
    row.claim.shown().map(|claim| meaning::embedded(claim)).unwrap_or_default()
}

/// Whether a record is held and its words can be read.
fn is_held(row: &MemoryRow) -> bool {
    row.status == MemoryStatus::Active && row.claim.shown().is_some()
}

fn key_of(model: &str, of: &VectorsOf) -> Option<Digest> {
    let probe = of.probe.as_deref().and_then(Vector::from_bytes)?;
    Some(meaning::key(model, &probe))
}

fn opened<'v>(kept: &'v MutexGuard<'_, Option<Vectors>>) -> Result<&'v Vectors, Failure> {
    kept.as_ref().ok_or_else(|| Failure::of("the vectors are not open".to_owned()))
}

fn tidied(
    kept: &mut Option<Vectors>,
    dir: &std::path::Path,
    log_id: &str,
    query: &projections::Query,
) -> Result<(), projections::Error> {
    let open = match kept.take() {
        Some(open) => open,
        None => Vectors::open(dir, log_id)?,
    };
    let held = query.memories_with_words()?;
    let gone: Vec<MemoryId> = open.records()?.into_iter().filter(|id| !held.contains(id)).collect();
    if !gone.is_empty() {
        open.forget(&gone)?;
    }
    *kept = Some(open);
    Ok(())
}
