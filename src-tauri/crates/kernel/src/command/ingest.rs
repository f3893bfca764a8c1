//! Files taken in by a person: artifacts of the conversation's inbox, with where they came from.

use crate::Error;
use crate::kernel::Kernel;
use crate::sender::Sender;
use crate::writeup::NewArtifact;
use artifacts::Put;
use model::artifact::{ArtifactClass, ArtifactKind, ArtifactRef, Sensitivity, TrustTier};
use model::body::IngressBound;
use model::fault::Point;
use model::ingress::{IngressRecord, IngressResolution, IngressStatus};
use model::{IngressId, Sensitive};
use redact::Found;
use std::io::Read;

/// A file on its way in.
pub struct Incoming<'r> {
    /// Its name, as shown.
    pub name: String,
    /// Where it came from, as written.
    pub uri: String,
    /// Its media type.
    pub media_type: &'static str,
    /// Its bytes.
    pub bytes: &'r mut dyn Read,
    /// How far it may be relied on.
    pub trust_tier: TrustTier,
}

impl Kernel {
    /// Takes one file in.
    ///
    /// # Errors
    /// When it cannot be read or stored; nothing is recorded then.
    pub fn ingest(
        &self,
        incoming: Incoming<'_>,
        sender: impl Into<Sender>,
    ) -> Result<(ArtifactRef, u64), Error> {
        let sender = sender.into();
        let (put, found) = self.keep_incoming(incoming.bytes)?;
        let (conversation_id, inbox) = self.inbox(None)?;
        let ingress_id = IngressId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let mut w = self.inbox_writeup(Point::ArtifactIngest, inbox, ingress_id.to_string(), sender)?;
        let (sha256, byte_size) = match put {
            Put::Inline { digest, bytes } => {
                let size = bytes.len() as u64;
                w.batch.blobs.push((digest, bytes));
                (digest, size)
            }
            Put::Stored { digest, byte_size } => (digest, byte_size),
        };
        let said = format!("take in `{}`", incoming.name);
        let new = NewArtifact {
            class: ArtifactClass::Source,
            kind: ArtifactKind::BinaryAttachment,
            media_type: incoming.media_type,
            trust_tier: incoming.trust_tier,
            sensitivity: Sensitivity::Private,
            uri: Some(incoming.uri),
            alias: Some(incoming.name),
            inputs: Vec::new(),
        };
        let at = w.artifact_of(sha256, byte_size, new);
        w.note_redacted(at.artifact_id, found);
        let record = IngressRecord {
            ingress_id,
            conversation_id,
            source_channel: sender.channel,
            raw_text: Sensitive::from(said.clone()),
            normalized_text: Sensitive::from(said),
            status: IngressStatus::Received,
            resolution: IngressResolution::Control,
            created_at: w.now,
            updated_at: w.now,
            actor: Some(w.actor.actor_id),
            explicit_task_ref: None,
            referenced_artifact_refs: vec![at.artifact_id],
            chosen_task_id: None,
            prompt_ref: None,
            reply_to_ref: None,
            quoted_message_ref: None,
            parent_task_id: None,
            rationale: None,
            spoken: false,
            idempotency_key: ingress_id.to_string(),
        };
        w.receive(record, sender);
        w.push(IngressBound {
            ingress_id,
            resolution: IngressResolution::Control,
            chosen_task_id: None,
            candidates: Vec::new(),
            rationale: Sensitive::from("files given outright belong to the inbox".to_owned()),
            confidence: None,
            margin: None,
            anchor: None,
        });
        self.commit(w)?;
        Ok((at, byte_size))
    }

    /// Keeps what came in, without the values of secrets; what only looks like one stays, because the person gave it.
    fn keep_incoming(&self, bytes: &mut dyn Read) -> Result<(Put, Found), Error> {
        let redactor = self.ports.redactor.now();
        if redactor.is_empty() {
            return Ok((self.artifacts.put_reader(bytes)?, Found::new()));
        }
        let most = model::limits::ARTIFACT_BYTES_MAX;
        let mut whole = Vec::new();
        let read = bytes.take(most.saturating_add(1)).read_to_end(&mut whole);
        read.map_err(|e| Error::Input(format!("the file cannot be read: {e}")))?;
        let clean = crate::redaction::clean(&redactor, &whole, false)?;
        Ok((self.artifacts.put(&clean.rest)?, clean.found))
    }
}
