//! What a model reasons, for as long as the process lives that heard it (HK-15.1): the journal's file holds that a piece came,
//! and no word of it.

use crate::envelope::PAYLOAD_BYTES_MAX;
use crate::{Draft, Envelope, Error};
use model::TaskId;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of thoughts held at once, of all runs together; the oldest go first.
const BYTES_MAX: usize = 16 * 1024 * 1024;
/// About what holding a piece takes beside its words.
const BYTES_EACH: usize = 128;
/// The `visibility` of a piece whose words are gone.
const LET_GO: &str = "let_go";

/// Words that were reasoned in the runs of one journal, by the place of each piece. They lie in the memory of this process and
/// nowhere else: with it they are gone, and so are the oldest when there are too many.
#[derive(Clone, Default)]
pub struct Thoughts(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    words: HashMap<(TaskId, u64), String>,
    /// The oldest first.
    order: VecDeque<(TaskId, u64)>,
    bytes: usize,
}

impl Held {
    fn let_go(&mut self, place: (TaskId, u64)) {
        if let Some(words) = self.words.remove(&place) {
            self.bytes = self.bytes.saturating_sub(words.len() + BYTES_EACH);
        }
    }

    /// A place is taken twice where what was to be written there first was not: the later words count.
    fn hold(&mut self, place: (TaskId, u64), words: String) {
        let is_new = !self.words.contains_key(&place);
        self.let_go(place);
        self.bytes = self.bytes.saturating_add(words.len() + BYTES_EACH);
        self.words.insert(place, words);
        if is_new {
            self.order.push_back(place);
        }
        while self.bytes > BYTES_MAX {
            let Some(oldest) = self.order.pop_front() else { return };
            self.let_go(oldest);
        }
    }
}

impl Thoughts {
    /// Takes in what a draft tells of reasoning, and answers the draft as a file may hold it; none where it tells of none.
    ///
    /// # Errors
    /// [`Error::TooLarge`] where it tells more than a payload may hold; nothing of it is taken in then.
    pub(crate) fn take(&self, run: TaskId, seq: u64, draft: &Draft) -> Result<Option<Draft>, Error> {
        let Some(key) = draft.family.thought() else { return Ok(None) };
        let mut rest = draft.clone();
        let words = match rest.payload.insert(key.to_owned(), Value::from("")) {
            Some(Value::String(words)) => words,
            other => other.unwrap_or_default().to_string(),
        };
        if words.len() > PAYLOAD_BYTES_MAX {
            return Err(Error::TooLarge { family: draft.family, bytes: words.len() });
        }
        self.lock().hold((run, seq), words);
        Ok(Some(rest))
    }

    /// Puts the words back into an event that was read, and answers how many bytes they are. An event whose words are gone says
    /// so; one of a journal that still holds them, written by an older program, stays as it is.
    pub(crate) fn tell(&self, event: &mut Envelope) -> usize {
        let Some(key) = event.family.thought() else { return 0 };
        let held = self.lock().words.get(&(event.run_id, event.seq)).cloned();
        let is_bare = event.payload.get(key).and_then(Value::as_str) == Some("");
        match held {
            Some(words) => {
                let bytes = words.len();
                event.payload.insert(key.to_owned(), Value::from(words));
                bytes
            }
            None if is_bare => {
                event.payload.insert("visibility".to_owned(), Value::from(LET_GO));
                0
            }
            None => 0,
        }
    }

    /// Lets go of everything of a run.
    pub(crate) fn forget(&self, run: TaskId) {
        let mut held = self.lock();
        let places: Vec<(TaskId, u64)> = held.words.keys().filter(|(of, _)| *of == run).copied().collect();
        places.into_iter().for_each(|place| held.let_go(place));
        held.order.retain(|(of, _)| *of != run);
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whoever prints a journal prints no thought.
impl fmt::Debug for Thoughts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Thoughts")
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_EACH, BYTES_MAX, Held};
    use model::TaskId;

    #[test]
    fn the_oldest_words_make_room_and_a_place_that_is_taken_twice_counts_once() {
        let run: TaskId = format!("task_{:032x}", 1).parse().expect("a name");
        let (mut held, half) = (Held::default(), "x".repeat(BYTES_MAX / 2 - BYTES_EACH));
        held.hold((run, 1), "y".repeat(BYTES_MAX));
        assert_eq!(
            (held.words.len(), held.order.len(), held.bytes),
            (0, 0, 0),
            "more than all is held at no time"
        );
        held.hold((run, 1), half.clone());
        held.hold((run, 1), half.clone());
        held.hold((run, 2), half.clone());
        assert_eq!((held.words.len(), held.order.len(), held.bytes), (2, 2, BYTES_MAX));
        held.hold((run, 3), "z".to_owned());
        let mut left: Vec<u64> = held.words.keys().map(|(_, seq)| *seq).collect();
        left.sort_unstable();
        assert_eq!(left, [2, 3]);
        assert_eq!((held.order.len(), held.bytes), (2, BYTES_MAX / 2 + BYTES_EACH + 1));
    }
}
