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

/// Shows what it took, once for each key where it knows repeats.
pub struct ChatService {
    state: Mutex<(ChatMood, Vec<Message>)>,
    knows_repeats: bool,
}

impl ChatService {
    /// One that takes what it is sent. `knows_repeats`: a message with a key that came before is not shown again.
    pub const fn new(knows_repeats: bool) -> Self {
        Self { state: Mutex::new((ChatMood::Takes, Vec::new())), knows_repeats }
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
        let place = match known.filter(|_| self.knows_repeats) {
            Some(place) => place,
            None => {
                shown.push(message.clone());
                shown.len() - 1
            }
        };
        match mood {
            ChatMood::Silent => Err(Undelivered::Unknown("the service did not answer".to_owned())),
            ChatMood::Takes | ChatMood::Away => {
                Ok(Delivered { message_id: format!("m{place}"), is_repeat_safe: self.knows_repeats })
            }
        }
    }
}
