//! Resource identifiers, shared by request, policy, witness, grant, receipt and screen (proof.md 1).

use crate::{Error, MemoryId, ReceiptId, RelPath, WorkspaceId};
use std::fmt;
use std::str::FromStr;

/// Something an action touches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceId {
    /// `file:<workspace_id>/<percent-encoded path>`; a folder is named the same way.
    File(WorkspaceId, RelPath),
    /// `host:<name>:<port>`.
    Host(String, u16),
    /// `ref:<workspace_id>/<ref>`.
    Ref(WorkspaceId, String),
    /// `mcp:<server>/<tool>`.
    Mcp(String, String),
    /// `secret:<handle>`.
    Secret(String),
    /// `memory:<memory_id>`, a record of durable memory.
    Memory(MemoryId),
    /// `receipt:<receipt_id>`, the act a rollback undoes.
    Receipt(ReceiptId),
    /// `policy:rules`, a person's own rules of policy.
    Rules,
    /// `identity:soul`, SOUL.md: who this instance is.
    Soul,
    /// `successor:change`, Hermit itself: what an adopted change is at work.
    Successor,
    /// `skill:<name>`, whether a skill is trusted.
    Skill(String),
    /// `schedule:<name>`, whether and when a task is begun by itself.
    Schedule(String),
    /// `skin:<name>`, whether conversations may have a skin.
    Skin(String),
    /// `gateway:<name>`, whether a chat service is listened to, and who is paired there.
    Gateway(String),
    /// `chat:<gateway>/<chat>`, a chat behind a gateway.
    Chat(String, String),
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(workspace, path) => write!(f, "file:{workspace}/{path}"),
            Self::Host(name, port) => write!(f, "host:{name}:{port}"),
            Self::Ref(workspace, name) => write!(f, "ref:{workspace}/{name}"),
            Self::Mcp(server, tool) => write!(f, "mcp:{server}/{tool}"),
            Self::Secret(handle) => write!(f, "secret:{handle}"),
            Self::Memory(id) => write!(f, "memory:{id}"),
            Self::Receipt(id) => write!(f, "receipt:{id}"),
            Self::Rules => f.write_str("policy:rules"),
            Self::Soul => f.write_str("identity:soul"),
            Self::Successor => f.write_str("successor:change"),
            Self::Skill(name) => write!(f, "skill:{name}"),
            Self::Schedule(name) => write!(f, "schedule:{name}"),
            Self::Skin(name) => write!(f, "skin:{name}"),
            Self::Gateway(name) => write!(f, "gateway:{name}"),
            Self::Chat(gateway, chat) => write!(f, "chat:{gateway}/{chat}"),
        }
    }
}

impl FromStr for ResourceId {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).ok_or_else(|| Error::Resource(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<ResourceId> {
    let (scheme, rest) = text.split_once(':')?;
    let id = match scheme {
        "file" => {
            let (workspace, path) = rest.split_once('/')?;
            ResourceId::File(workspace.parse().ok()?, path.parse().ok()?)
        }
        "host" => {
            let (name, port) = rest.rsplit_once(':')?;
            ResourceId::Host(name.to_owned(), port.parse().ok()?)
        }
        "ref" => {
            let (workspace, name) = rest.split_once('/')?;
            ResourceId::Ref(workspace.parse().ok()?, name.to_owned())
        }
        "mcp" => {
            let (server, tool) = rest.split_once('/')?;
            ResourceId::Mcp(server.to_owned(), tool.to_owned())
        }
        "secret" => ResourceId::Secret(rest.to_owned()),
        "skill" => ResourceId::Skill(rest.to_owned()),
        "schedule" => ResourceId::Schedule(rest.to_owned()),
        "skin" => ResourceId::Skin(rest.to_owned()),
        "gateway" => ResourceId::Gateway(rest.to_owned()),
        "chat" => {
            let (gateway, chat) = rest.split_once('/')?;
            ResourceId::Chat(gateway.to_owned(), chat.to_owned())
        }
        "policy" if rest == "rules" => ResourceId::Rules,
        "identity" if rest == "soul" => ResourceId::Soul,
        "successor" if rest == "change" => ResourceId::Successor,
        "memory" => ResourceId::Memory(rest.parse().ok()?),
        "receipt" => ResourceId::Receipt(rest.parse().ok()?),
        _ => return None,
    };
    (id.to_string() == text && !rest.is_empty()).then_some(id)
}

impl serde::Serialize for ResourceId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for ResourceId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
