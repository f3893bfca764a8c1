//! Who is given a goal to reason about.

use model::ReceiptId;
use model::guest::GuestLaunch;
use model::task::ModelApi;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which reasoner a goal is given to, with the text it needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reasoning {
    /// A playbook's text.
    Playbook {
        /// Its name.
        name: String,
        /// Its text, exactly as it will run.
        text: String,
        /// Parameters by name.
        parameters: BTreeMap<String, String>,
    },
    /// A server of models.
    Openai {
        /// The protocol that it speaks.
        #[serde(default = "ModelApi::standard", skip_serializing_if = "ModelApi::is_standard")]
        api: ModelApi,
        /// Base address.
        base_url: String,
        /// Model there.
        model: String,
        /// Handle of the secret that opens it.
        secret: Option<String>,
    },
    /// A transcript to replay.
    Recorded {
        /// Its text.
        text: String,
    },
    /// A test's script.
    Scripted {
        /// Its name.
        name: String,
    },
    /// Another program's agent, call by call.
    Session {
        /// The program, by its own name.
        client: String,
        /// Its version.
        version: String,
    },
    /// Another program's agent, in a staged view.
    Guest {
        /// How it is started.
        launch: Box<GuestLaunch>,
    },
    /// The inverse of receipts, planned by the kernel.
    Rollback {
        /// Which, or the newest of them.
        receipt_id: ReceiptId,
        /// The others, the newest first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<ReceiptId>,
    },
    /// What a person asked for, put to them by the kernel: a change of tools or rules, or something to remember.
    Tools {
        /// What is to be changed, canonical.
        change: String,
    },
}
