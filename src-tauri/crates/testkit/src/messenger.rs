//! A chat service of a test, which outlives every kernel of its world.

use acts::Message;
use effects::{Delivered, Messenger, Undelivered};
use std::sync::{Mutex, PoisonError};

/// What the service does with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatMood {
    /// Takes it.
    Takes,
    /// Cannot be reached.
    Away,
    /// Takes it, and its answer is lost.
    Silent,
}

/// Shows what it took, once for each key where it knows repeats, and each as it was changed last.
pub struct ChatService {
    state: Mutex<(ChatMood, Vec<Message>)>,
    /// What it was sent, in order: changes, too.
    sent: Mutex<Vec<Message>>,
    /// Messages that somebody deleted, as it names them.
    deleted: Mutex<Vec<String>>,
    knows_repeats: bool,
}

impl ChatService {
    /// One that takes what it is sent. `knows_repeats`: a message with a key that came before is not shown again.
    pub const fn new(knows_repeats: bool) -> Self {
        let state = Mutex::new((ChatMood::Takes, Vec::new()));
        Self { state, sent: Mutex::new(Vec::new()), deleted: Mutex::new(Vec::new()), knows_repeats }
    }

    /// Everything that it took in order: messages, and new words of them.
    pub fn sent(&self) -> Vec<Message> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Somebody deletes the message that it shows at this place: it cannot be changed any more.
    pub fn delete(&self, place: usize) {
        self.deleted.lock().unwrap_or_else(PoisonError::into_inner).push(format!("m{place}"));
    }

    /// Changes what it shows; the place of it.
    fn edit(&self, shown: &mut [Message], id: &str, to: &Message) -> Result<usize, Undelivered> {
        let gone = || Undelivered::NotSent("there is no such message to edit".to_owned());
        if self.deleted.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|one| one == id) {
            return Err(gone());
        }
        let place = id.strip_prefix('m').and_then(|place| place.parse::<usize>().ok());
        let place = place.filter(|place| *place < shown.len()).ok_or_else(gone)?;
        if let Some(message) = shown.get_mut(place) {
            (message.text, message.buttons) = (to.text.clone(), to.buttons.clone());
        }
        Ok(place)
    }

    /// What it does from now on.
    pub fn becomes(&self, mood: ChatMood) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0 = mood;
    }

    /// What it shows.
    pub fn shown(&self) -> Vec<Message> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

impl Messenger for ChatService {
    fn send(&self, message: &Message, _: Option<Vec<u8>>) -> Result<Delivered, Undelivered> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (mood, shown) = &mut *state;
        if *mood == ChatMood::Away {
            return Err(Undelivered::NotSent("the service cannot be reached".to_owned()));
        }
        let known = shown.iter().position(|one| one.repeat_key == message.repeat_key);
        let place = match (&message.edits, known.filter(|_| self.knows_repeats)) {
            (Some(id), _) => self.edit(shown, id, message)?,
            (None, Some(place)) => place,
            (None, None) => {
                shown.push(message.clone());
                shown.len() - 1
            }
        };
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(message.clone());
        match mood {
            // As of every adapter: new words are said again.
            ChatMood::Silent if message.edits.is_some() => {
                Err(Undelivered::NotSent("the service did not answer".to_owned()))
            }
            ChatMood::Silent => Err(Undelivered::Unknown("the service did not answer".to_owned())),
            ChatMood::Takes | ChatMood::Away => {
                Ok(Delivered { message_id: format!("m{place}"), is_repeat_safe: self.knows_repeats })
            }
        }
    }
}
