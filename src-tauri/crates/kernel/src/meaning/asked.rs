//! When the model is asked at all: not while it is left alone, and not for what it was asked for before.

use super::{ASKED_MAX, Failure, REST_MS, key_of, opened};
use crate::kernel::{Kernel, lock};
use knowledge::meaning::Vector;
use model::Digest;

impl Kernel {
    /// Whether the model may be asked.
    pub(super) fn is_rested(&self, model: &str) -> Result<(), Failure> {
        let now = self.ports.clock.monotonic_ms();
        match &*lock(&self.meaning.rests) {
            Some((until, of, why)) if of == model && now < *until => Err(Failure::of(why.clone())),
            _ => Ok(()),
        }
    }

    /// Leaves a model alone that did not answer, and keeps why for a person to see.
    pub(super) fn let_rest(&self, model: &str, failure: &Failure) {
        // Who is named no more did nothing wrong.
        if self.ports.embedder.named().as_deref() != Some(model) {
            return;
        }
        if !failure.refused {
            let until = self.ports.clock.monotonic_ms().saturating_add(REST_MS);
            *lock(&self.meaning.rests) = Some((until, model.to_owned(), failure.why.clone()));
        }
        let told = self
            .vectors_of(model)
            .and_then(|(kept, _)| opened(&kept)?.keep_trouble(Some(&failure.why)).map_err(Failure::from));
        if let Err(failure) = told {
            tracing::warn!(why = failure.why, "what is wrong with the embedding model is not kept");
        }
    }

    /// Vectors of these texts, where all of them were asked for before.
    pub(super) fn asked_before(
        &self,
        model: &str,
        texts: &[String],
    ) -> Result<Option<(Digest, Vec<Vector>)>, Failure> {
        let Some(key) = key_of(model, &self.vectors_of(model)?.1) else { return Ok(None) };
        let asked = lock(&self.meaning.asked);
        let of = |text: &String| {
            let text = Digest::of(text.as_bytes());
            asked.iter().find(|(own, of, _)| *own == key && *of == text).map(|(.., vector)| vector.clone())
        };
        let known: Option<Vec<Vector>> = texts.iter().map(of).collect();
        Ok(known.map(|vectors| (key, vectors)))
    }

    pub(super) fn remember_asked(&self, key: Digest, texts: &[String], vectors: &[Vector]) {
        let mut asked = lock(&self.meaning.asked);
        for (text, vector) in texts.iter().zip(vectors) {
            let text = Digest::of(text.as_bytes());
            asked.retain(|(own, of, _)| *own == key && *of != text);
            asked.push_back((key, text, vector.clone()));
        }
        while asked.len() > ASKED_MAX {
            asked.pop_front();
        }
    }
}
