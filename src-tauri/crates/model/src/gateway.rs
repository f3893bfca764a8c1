//! Gateways: chat services that a person connected, whom they paired there, and what goes in and out (schedule.md 2).
//!
//! What a service speaks is the business of its adapter; nothing here opens a connection.

use crate::artifact::ArtifactRef;
use crate::policy::Profile;
use crate::schedule::ScheduleProposer;
use crate::skill::check_skill_name;
use crate::task::Budget;
use crate::visible::is_hidden;
use crate::{ApprovalId, Digest, TaskId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
pub use words::chat::{
    GatewayState, MessageAbout, MessageRefusal, MessageState, MessageUse, SenderProfile, Service,
};

/// The longest text of a setting, an address or a name of a gateway, in bytes.
const SETTING_BYTES_MAX: usize = 512;
/// Settings of one gateway.
const SETTINGS_MAX: usize = 16;
/// Hosts that one gateway speaks with.
const HOSTS_MAX: usize = 16;
/// The longest name of a chat or a sender that is taken from a service, in bytes.
pub const CHAT_NAME_BYTES_MAX: usize = 512;
/// The longest text of a message that goes out, in bytes; what is longer goes as a file.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Letters of a code that pairs a sender.
pub const CODE_LETTERS: usize = 8;
/// Letters of the data of a button that denies: 80 bits.
pub const BUTTON_LETTERS: usize = 16;
/// What a code is made of: no letter looks like another.
pub const CODE_ALPHABET: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
/// For how long a code can be sent, from the person's yes on.
pub const CODE_OPEN: Duration = Duration::from_secs(10 * 60);
/// What the digest of a code begins with, so that no other bytes have it.
const CODE_DOMAIN: &str = "hermit-pairing-code/1";
/// What the digest of a button begins with.
const BUTTON_DOMAIN: &str = "hermit-chat-button/1";

/// A gateway as a person approves it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gateway {
    /// Its name, unique among those that are not removed.
    pub name: String,
    /// The service.
    pub service: Service,
    /// The server: a base URL, or a host; empty for that of the service itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub address: String,
    /// The name of the bot or the mail address; empty where the token says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// What else the service needs, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// The handle of the secret that opens it.
    pub secret: String,
    /// Every host that it speaks with, as `name:port`, sorted.
    pub hosts: Vec<String>,
    /// The folder that tasks of its senders work in.
    pub workspace_id: WorkspaceId,
    /// That folder's path, as a person reads it.
    pub folder: String,
    /// Who proposes in them.
    pub proposer: ScheduleProposer,
    /// The policy profile of tasks of senders who may give goals.
    pub profile: Profile,
    /// What each of them may spend.
    pub budget: Budget,
}

impl Gateway {
    /// Whether it can be meant.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self) -> Result<(), String> {
        check_skill_name(&self.name)?;
        let settings = self.settings.iter().flat_map(|(name, value)| [name, value]);
        let mut texts = [&self.address, &self.user].into_iter().chain(settings);
        if let Some(bad) = texts.find(|text| text.len() > SETTING_BYTES_MAX || text.chars().any(is_hidden)) {
            let shown: String = bad.chars().filter(|c| !is_hidden(*c)).take(60).collect();
            return Err(format!(
                "`{shown}` is longer than {SETTING_BYTES_MAX} bytes or holds what cannot be seen"
            ));
        }
        if self.settings.len() > SETTINGS_MAX {
            return Err(format!("a gateway has at most {SETTINGS_MAX} settings"));
        }
        if self.secret.trim().is_empty() {
            return Err("a gateway needs the handle of a secret: `hermit secret set` keeps one".to_owned());
        }
        if self.hosts.is_empty() || self.hosts.len() > HOSTS_MAX {
            return Err(format!("a gateway speaks with 1 to {HOSTS_MAX} hosts"));
        }
        Ok(())
    }
}

/// A gateway that a person is asked to connect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeepGateway {
    /// As it will be.
    pub gateway: Gateway,
    /// The version that it would be, from 1.
    pub version: u32,
    /// As it is, where it is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Box<Gateway>>,
}

/// A pairing that a person is asked to allow: whoever sends the code first, in a chat of their own with the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairSender {
    /// The gateway.
    pub gateway: String,
    /// Its version.
    pub version: u32,
    /// Its service.
    pub service: Service,
    /// What the sender may do.
    pub profile: SenderProfile,
    /// The policy profile of their tasks.
    pub tasks_profile: Profile,
    /// The folder that these work in, as a person reads it.
    pub folder: String,
    /// Digest of the code, which is kept nowhere.
    pub code_sha256: Digest,
}

/// The digest by which a code is known.
pub fn code_digest(gateway: &str, code: &str) -> Digest {
    Digest::of(format!("{CODE_DOMAIN}\n{gateway}\n{code}").as_bytes())
}

/// A text that a sender typed as a code: upper case, and without what separates its letters; none where it is no code.
pub fn code_in(text: &str) -> Option<String> {
    let text = text.trim();
    // A code is short; a longer text is none, however it is spaced.
    if text.len() > 3 * CODE_LETTERS {
        return None;
    }
    let code: String = text.chars().filter(|c| !matches!(c, ' ' | '-')).collect();
    let code = code.to_ascii_uppercase();
    let fits = code.len() == CODE_LETTERS && code.bytes().all(|letter| CODE_ALPHABET.contains(&letter));
    fits.then_some(code)
}

/// Letters of a code, or of a button, from random bytes.
pub fn code_of(random: &[u8]) -> String {
    let letter = |byte: &u8| CODE_ALPHABET.get(usize::from(byte % 32)).map(|letter| char::from(*letter));
    random.iter().filter_map(letter).collect()
}

/// The digest by which a button is known.
pub fn button_digest(gateway: &str, data: &str) -> Digest {
    Digest::of(format!("{BUTTON_DOMAIN}\n{gateway}\n{data}").as_bytes())
}

/// A button of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageButton {
    /// What stands on it.
    pub label: String,
    /// What comes back when it is pressed; at most 64 bytes.
    pub data: String,
}

/// What a message says, as it is kept until it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageText {
    /// The text, in a part of CommonMark that every adapter renders or strips.
    pub text: String,
    /// Its buttons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buttons: Vec<MessageButton>,
    /// The service's own id of the message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The whole text, where it is too long for a message: sent as a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<ArtifactRef>,
    /// The tasks that it speaks of, where the key of the message does not name them. They stay here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_tasks: Vec<TaskId>,
}

/// What a pressed button denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denies {
    /// The task that waits.
    pub task_id: TaskId,
    /// The approval.
    pub approval_id: ApprovalId,
}
