//! An embedding model that is a function of the words: words of one group mean the same, all others what they say.

use kernel::ports::{Embedder, Unembedded};
use std::sync::Mutex;
use std::time::Duration;

/// Numbers of a vector.
const DIMENSION: usize = 509;

/// Letters that a word has at least to mean something.
const LETTERS_MIN: usize = 4;

/// How the model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// As it should.
    Well,
    /// Nobody answers.
    Gone,
    /// As other weights would: each number stands elsewhere.
    Other,
    /// It refuses every request that holds this word.
    Refuses(&'static str),
    /// With one vector too many.
    TooMany,
    /// With vectors of different lengths.
    Uneven,
    /// With vectors that hold what is no number.
    NoNumber,
    /// With vectors of nothing but zeros.
    Zeros,
    /// With vectors of more numbers than a model has.
    TooLong,
    /// The process dies while it is asked.
    Dies,
}

/// The model.
pub struct Embedding {
    /// The address that a person named.
    pub named: Mutex<Option<String>>,
    /// How it answers.
    pub mood: Mutex<Mood>,
    /// What it was asked, request by request.
    pub asked: Mutex<Vec<Vec<String>>>,
    /// Is called before it answers.
    pub before: Mutex<Box<dyn FnMut() + Send>>,
    groups: &'static [&'static [&'static str]],
}

impl Embedding {
    /// A model at a server of this machine, for which the words of each group mean the same.
    pub fn of(groups: &'static [&'static [&'static str]]) -> Self {
        Self {
            named: Mutex::new(Some("openai:http://127.0.0.1:9/v1#mini".to_owned())),
            mood: Mutex::new(Mood::Well),
            asked: Mutex::default(),
            before: Mutex::new(Box::new(|| ())),
            groups,
        }
    }

    /// How it answers from now on.
    pub fn set(&self, mood: Mood) {
        *self.mood.lock().expect("nobody panicked with it") = mood;
    }

    /// How often it was asked.
    pub fn times(&self) -> usize {
        self.asked.lock().expect("nobody panicked with it").len()
    }

    fn place(&self, word: &str) -> usize {
        let same = self.groups.iter().position(|group| group.contains(&word));
        let hash = word.bytes().fold(7_usize, |hash, byte| (hash * 31 + usize::from(byte)) % 1_000_003);
        same.unwrap_or_else(|| self.groups.len() + hash % (DIMENSION - self.groups.len()))
    }

    /// The vector of a text, each number of it moved by so many places.
    pub fn vector(&self, text: &str, moved: usize) -> Vec<f32> {
        let mut vector = vec![0.0; DIMENSION];
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| word.chars().count() >= LETTERS_MIN) {
            vector[(self.place(word) + moved) % DIMENSION] += 1.0;
        }
        // A text without a word has a place of its own.
        if vector.iter().all(|number| *number == 0.0) {
            vector[DIMENSION - 1] = 1.0;
        }
        vector
    }
}

impl Embedder for Embedding {
    fn named(&self) -> Option<String> {
        self.named.lock().expect("nobody panicked with it").clone()
    }

    fn embed(
        &self,
        _: &str,
        texts: &[&str],
        _: Duration,
        _: &dyn Fn() -> bool,
    ) -> Result<Vec<Vec<f32>>, Unembedded> {
        let all = texts.iter().map(|text| (*text).to_owned()).collect();
        self.asked.lock().expect("nobody panicked with it").push(all);
        (self.before.lock().expect("nobody panicked with it"))();
        let mood = *self.mood.lock().expect("nobody panicked with it");
        if mood == Mood::Dies {
            std::panic::panic_any("the process dies");
        }
        let moved = if mood == Mood::Other { 17 } else { 0 };
        let mut vectors: Vec<Vec<f32>> = texts.iter().map(|text| self.vector(text, moved)).collect();
        match mood {
            Mood::Well | Mood::Other | Mood::Dies => {}
            Mood::Gone => return Err(Unembedded::Failed("nobody answers".to_owned())),
            Mood::Refuses(word) if texts.iter().any(|text| text.contains(word)) => {
                return Err(Unembedded::Refused("the text is too long".to_owned()));
            }
            Mood::Refuses(_) => {}
            Mood::TooMany => vectors.push(vec![1.0; DIMENSION]),
            Mood::Uneven => vectors.iter_mut().skip(1).for_each(|vector| vector.truncate(3)),
            Mood::NoNumber => vectors.iter_mut().for_each(|vector| vector[0] = f32::NAN),
            Mood::Zeros => vectors.iter_mut().for_each(|vector| vector.fill(0.0)),
            Mood::TooLong => vectors.iter_mut().for_each(|vector| vector.resize(5_000, 1.0)),
        }
        Ok(vectors)
    }
}
