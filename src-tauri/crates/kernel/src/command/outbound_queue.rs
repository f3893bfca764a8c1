//! What a sender is to be told, as it is queued: in one message, or in parts.

use super::outbound_words::{self as words, LETTERS_MAX, cut};
use crate::Error;
use crate::gateway_registry::GatewayRecord;
use crate::writeup::{NewArtifact, Writeup};
use model::artifact::ArtifactKind;
use model::body::MessageQueued;
use model::gateway::{MessageAbout, MessageButton, MessageText};
use model::{ApprovalId, Digest, PrincipalId, TaskId};

/// Something that a sender is to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Telling {
    pub(super) repeat_key: String,
    about: MessageAbout,
    text: String,
    about_task: Option<TaskId>,
    approval_id: Option<ApprovalId>,
    button: Option<(MessageButton, Digest)>,
    reply_to: Option<String>,
    of_tasks: Vec<TaskId>,
}

impl Telling {
    /// Words, once for this key.
    pub(super) const fn words(repeat_key: String, about: MessageAbout, text: String) -> Self {
        Self {
            repeat_key,
            about,
            text,
            about_task: None,
            approval_id: None,
            button: None,
            reply_to: None,
            of_tasks: Vec::new(),
        }
    }

    /// The same with a button, where there is one.
    #[must_use]
    pub(super) fn with_button(self, button: Option<(MessageButton, Digest)>) -> Self {
        Self { button, ..self }
    }

    /// The same about a task.
    #[must_use]
    pub(super) fn about_task(self, about_task: Option<TaskId>) -> Self {
        Self { about_task, ..self }
    }

    /// The same about an approval.
    #[must_use]
    pub(super) fn about_approval(self, approval_id: ApprovalId) -> Self {
        Self { approval_id: Some(approval_id), ..self }
    }

    /// The same, where its words speak of these tasks and its key names none of them.
    #[must_use]
    pub(super) fn speaking_of(self, of_tasks: Vec<TaskId>) -> Self {
        Self { of_tasks, ..self }
    }

    /// The same, as the answer to a message of theirs.
    #[must_use]
    pub(super) fn answering(self, message_id: String) -> Self {
        Self { reply_to: Some(message_id), ..self }
    }
}

/// Queues what a sender is to be told: a long text with the whole of it as a file, or in parts where the service takes no file.
/// Written into the stream of the gateway's messages.
pub(super) fn queue(
    w: &mut Writeup<'_>,
    record: &GatewayRecord,
    principal_id: PrincipalId,
    telling: Telling,
) -> Result<(), Error> {
    if record.service.takes_files() || telling.text.chars().count() <= LETTERS_MAX {
        return queue_one(w, record, principal_id, telling);
    }
    let (about, task, of_tasks) = (telling.about, telling.about_task, telling.of_tasks.clone());
    let mut parts = words::parts(&telling.text).into_iter();
    let further = format!("{}:part", telling.repeat_key);
    let text = parts.next().unwrap_or_default();
    queue_one(w, record, principal_id, Telling { text, ..telling })?;
    for (at, text) in parts.enumerate() {
        let part = Telling::words(format!("{further}{}", at + 2), about, text).about_task(task);
        queue_one(w, record, principal_id, part.speaking_of(of_tasks.clone()))?;
    }
    Ok(())
}

fn queue_one(
    w: &mut Writeup<'_>,
    record: &GatewayRecord,
    principal_id: PrincipalId,
    telling: Telling,
) -> Result<(), Error> {
    let Telling { repeat_key, about, text, about_task, approval_id, button, reply_to, of_tasks } = telling;
    let is_long = text.chars().count() > LETTERS_MAX;
    let kept = |kind| NewArtifact::audit(kind);
    let whole = match is_long {
        true => {
            let new = kept(ArtifactKind::ChatMessage).media("text/markdown; charset=utf-8");
            Some(w.artifact(text.as_bytes(), new)?)
        }
        false => None,
    };
    let (button, button_sha256) = button.unzip();
    let text = if is_long { cut(&text) } else { text };
    let body = MessageText { text, buttons: button.into_iter().collect(), reply_to, whole, of_tasks };
    let body = w.object(&body, kept(ArtifactKind::ChatMessage))?;
    w.push_keyed(
        Some(format!("queued:{}:{repeat_key}", record.name)),
        MessageQueued {
            name: record.name.clone(),
            principal_id,
            repeat_key,
            about,
            body,
            about_task_id: about_task,
            approval_id,
            button_sha256,
        },
    );
    Ok(())
}
