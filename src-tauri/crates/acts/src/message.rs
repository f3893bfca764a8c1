//! Sending a message through a gateway (schedule.md 2).

use crate::call::quoted;
use crate::{ActionRequest, Counts, Line, LineKind, Tool, visible};
use model::action::{ActionClass, ExpectedEffect};
use model::artifact::ArtifactRef;
use model::gateway::{CHAT_NAME_BYTES_MAX, MESSAGE_BYTES_MAX, MessageButton, Service};
use model::witness::Fingerprint;
use model::{Digest, ResourceId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The longest data of a button, in bytes: what Telegram takes.
const BUTTON_BYTES_MAX: usize = 64;
/// Buttons of one message.
const BUTTONS_MAX: usize = 8;

/// A message to a chat of somebody whom a person paired. Only the kernel proposes one; a model cannot call it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The gateway.
    pub gateway: String,
    /// Its version.
    pub version: u32,
    /// Its service.
    pub service: Service,
    /// Every host that is spoken with to send it, as `name:port`.
    pub hosts: Vec<String>,
    /// The chat, as the service names it.
    pub chat: String,
    /// Who is there, as they call themselves.
    pub to: String,
    /// The text.
    pub text: String,
    /// Its buttons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buttons: Vec<MessageButton>,
    /// The service's own id of the message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The service's own id of the message whose words these are from now on, where one that was sent is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<String>,
    /// A file that is sent with it: the whole of a text that is too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<ArtifactRef>,
    /// The same for every repeat of this message, and of no other.
    pub repeat_key: String,
}

impl Message {
    /// The hosts as name and port.
    fn servers(&self) -> Option<Vec<(String, u16)>> {
        let server = |host: &String| {
            let (name, port) = host.rsplit_once(':')?;
            let port = port.parse().ok().filter(|port| *port != 0)?;
            (!name.is_empty()).then(|| (name.to_owned(), port))
        };
        self.hosts.iter().map(server).collect()
    }
}

impl Tool for Message {
    fn classes(&self) -> BTreeSet<ActionClass> {
        BTreeSet::from([ActionClass::NetworkWrite])
    }

    /// The chat, and every server on the way to it.
    fn resources(&self, _: WorkspaceId) -> BTreeSet<ResourceId> {
        let servers = self.servers().unwrap_or_default().into_iter();
        let chat = ResourceId::Chat(self.gateway.clone(), self.chat.clone());
        servers.map(|(name, port)| ResourceId::Host(name, port)).chain([chat]).collect()
    }

    fn check(&self) -> Result<(), String> {
        model::skill::check_skill_name(&self.gateway)?;
        if self.text.trim().is_empty() || self.text.len() > MESSAGE_BYTES_MAX {
            return Err(format!("a message has 1 to {MESSAGE_BYTES_MAX} bytes"));
        }
        if self.chat.is_empty() || self.chat.len() > CHAT_NAME_BYTES_MAX {
            return Err(format!("a chat is named by 1 to {CHAT_NAME_BYTES_MAX} bytes"));
        }
        let bad = |button: &MessageButton| button.data.len() > BUTTON_BYTES_MAX || button.label.is_empty();
        if self.buttons.len() > BUTTONS_MAX || self.buttons.iter().any(bad) {
            return Err(format!(
                "a message has at most {BUTTONS_MAX} buttons with at most {BUTTON_BYTES_MAX} bytes each"
            ));
        }
        let is_named = |id: &String| !id.is_empty() && id.len() <= CHAT_NAME_BYTES_MAX;
        if let Some(id) = &self.edits
            && (!is_named(id) || self.file.is_some() || self.reply_to.is_some())
        {
            return Err("a message that is changed is named, has no file and answers nothing".to_owned());
        }
        match self.servers() {
            Some(servers) if !servers.is_empty() => Ok(()),
            _ => Err("a message goes to a host, named as `name:port`".to_owned()),
        }
    }

    fn counts(&self) -> Counts {
        Counts { network: true, targets: 1, ..Counts::default() }
    }

    /// What failed was not sent.
    fn has_no_effect_where_it_failed(&self) -> bool {
        true
    }

    fn title(&self) -> String {
        let does = if self.edits.is_some() { "change" } else { "send" };
        format!(
            "{does} a message to \"{}\" through the gateway \"{}\"",
            visible(&self.to),
            visible(&self.gateway)
        )
    }

    fn lines(&self, _: &ActionRequest) -> Vec<Line> {
        let gone = |text: String| Line { kind: LineKind::Unrecoverable, text };
        let fact = |text: String| Line { kind: LineKind::Fact, text };
        let does = match &self.edits {
            Some(id) => format!("CHANGE the message \"{}\"", visible(id)),
            None => "SEND a message".to_owned(),
        };
        let mut lines = vec![
            gone(format!(
                "{does} to \"{}\", in the chat \"{}\" of {}",
                visible(&self.to),
                visible(&self.chat),
                self.service
            )),
            gone(format!("which {} and everybody in that chat can read", self.service)),
            fact(format!("through the gateway \"{}\", version {}", visible(&self.gateway), self.version)),
        ];
        let hosts = self.hosts.iter().map(|host| Line::effect(format!("speaks with {}", visible(host))));
        lines.extend(hosts);
        lines.push(gone("its text, which is all of this:".to_owned()));
        lines.extend(quoted(&self.text).map(gone));
        let buttons = self.buttons.iter();
        lines.extend(
            buttons.map(|button| Line::effect(format!("with a button \"{}\"", visible(&button.label)))),
        );
        if self.file.is_some() {
            lines.push(gone("with a file: the text that is cut above, whole".to_owned()));
        }
        lines.push(fact(format!(
            "with the key \"{}\", the same for each repeat of it",
            visible(&self.repeat_key)
        )));
        lines
    }

    fn details(&self) -> Vec<String> {
        self.file.iter().map(|file| format!("sha256 of the file: {}", file.sha256)).collect()
    }

    fn expected(&self, _: WorkspaceId, _: &[Fingerprint]) -> Vec<ExpectedEffect> {
        vec![ExpectedEffect {
            resource: ResourceId::Chat(self.gateway.clone(), self.chat.clone()),
            effect: "send".to_owned(),
            before_sha256: None,
            after_sha256: Some(Digest::of(self.text.as_bytes())),
            byte_size: Some(self.text.len() as u64),
        }]
    }

    fn precondition(&self) -> String {
        "the service takes it as it is".to_owned()
    }
}
