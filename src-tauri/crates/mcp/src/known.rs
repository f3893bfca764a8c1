//! What a connection knows of its client: who it is, its task, and which results it has.

use crate::told::waits;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde::Deserialize as _;
use serde_json::Value;
use std::collections::BTreeSet;
use wire::agent::ToolSpec;
use words::task::CallStatus;

/// Keys of received results that are kept until the next call tells them.
const SEEN_MAX: usize = 64;

/// What this connection knows of its client; all that counts of it is found again in the store.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Whose it is: on a wire without conversations each request says who asks, and another one finds nothing of it.
    pub(crate) client: Option<Client>,
    pub(crate) task: Option<String>,
    pub(crate) begun: BTreeSet<String>,
    pub(crate) seen: Vec<Seen>,
    pub(crate) tools: Option<Vec<ToolSpec>>,
}

/// A call whose result its client has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) key: String,
    /// What its client calls the request that was answered with it.
    pub(crate) request: Value,
}

/// Who calls, by its own word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) version: String,
}

impl Client {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let info = context.client_info();
        let plain = |text: String, most: usize| {
            let mut plain: String = text.chars().filter(|c| !c.is_control()).collect();
            while plain.len() > most {
                plain.pop();
            }
            plain.trim().to_owned()
        };
        let (name, version) = info.map(|info| (info.name, info.version)).unwrap_or_default();
        let name = plain(name, 64);
        Self {
            name: if name.is_empty() { "an agent without a name".to_owned() } else { name },
            version: plain(version, 64),
        }
    }
}

impl Known {
    pub(crate) fn receives(&mut self, seen: Seen) {
        self.seen.push(seen);
        let more = self.seen.len().saturating_sub(SEEN_MAX);
        self.seen.drain(..more);
    }
}

/// Whether a call of that status has come to its end, so that the same one made again is a new one.
pub(crate) const fn is_over(status: CallStatus) -> bool {
    !waits(status) && !matches!(status, CallStatus::Behind | CallStatus::Ended)
}

/// The key of the call that an answer tells the end of.
pub(crate) fn received(answer: &Value) -> Option<&str> {
    let told = answer.pointer("/result/structuredContent")?;
    let status = CallStatus::deserialize(told.get("status")?).ok()?;
    told.get("key")?.as_str().filter(|_| is_over(status))
}
