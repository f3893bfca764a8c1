//! Models: those that run on this machine, and the servers elsewhere that a person gave a key for.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};

params! {
    /// Looks where servers of models usually listen on this machine, and nowhere else.
    Find {
        /// Further ports of this machine.
        #[serde(default)]
        ports: Vec<u16>,
    }

    /// Who proposes when a task names nobody.
    Standard {
        /// Such as `openai:http://127.0.0.1:8080/v1#qwen`; nobody when absent.
        address: Option<String>,
    }
}

answers! {
    /// What was found, and what is set up.
    Found {
        servers: Vec<Server>,
        /// Ports that were looked at.
        looked: Vec<u16>,
        /// Who proposes when a task names nobody.
        standard: Option<String>,
        providers: Vec<Provider>,
    }
    /// A server on this machine.
    Server {
        /// `Ollama` and others, as far as it can be told.
        name: String,
        /// Its base URL.
        url: String,
        models: Vec<Model>,
        /// Why it lists no model, when it answers.
        trouble: Option<String>,
    }
    /// A model of a server.
    Model {
        /// Its name there.
        id: String,
        /// What to name it by in a task.
        address: String,
    }
    /// A server that has a key.
    Provider {
        /// Its base URL.
        url: String,
        /// Handle of the key; its value sleeps in the vault.
        secret: String,
        /// Whether there is such a secret.
        kept: bool,
    }
    /// Who proposes from now on.
    Chosen { standard: Option<String> }
}
