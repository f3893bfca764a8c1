//! What is kept of a guest's conversation in its HOME, so that its next turn goes on with it.

use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Read as _;
use std::path::Path;

/// The file, below HOME.
const NAME: &str = ".hermit-conversation.json";
/// Bytes of it.
const BYTES_MAX: u64 = 1024 * 1024;

/// The conversation, and what was asked in it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// As the agent names it; empty when there is none.
    #[serde(default)]
    pub session: String,
    /// In order.
    #[serde(default)]
    pub prompts: Vec<String>,
}

impl State {
    /// What is there; nothing where it cannot be read, as then all is begun anew.
    pub fn read(home: &Path) -> Self {
        let mut text = String::new();
        let read =
            fs::File::open(home.join(NAME)).and_then(|file| file.take(BYTES_MAX).read_to_string(&mut text));
        read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Keeps it; where that cannot be, the next turn begins anew.
    pub fn write(&self, home: &Path) {
        if let Ok(text) = serde_json::to_string(self) {
            let _ = fs::write(home.join(NAME), text);
        }
    }
}
