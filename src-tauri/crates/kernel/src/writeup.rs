//! One durable boundary in the making: drafts that are causally linked, artifacts, and what they need.

use crate::{Error, redaction};
use acts::ActionRequest;
use artifacts::Put;
use ledger::Batch;
use model::artifact::{
    Artifact, ArtifactClass, ArtifactKind, ArtifactRef, RetentionClass, Sensitivity, TrustTier,
};
use model::body::{ArtifactCreated, Body, ContentRedacted};
use model::event::{Actor, Draft};
use model::fault::Point;
use model::{ArtifactId, AttemptId, Clock, Entropy, EventId, Sensitive, StepId, TaskId, UnixMs, WorkspaceId};
use redact::{Found, Redactor};
use seal::Digest;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is said of new content.
pub(crate) struct NewArtifact {
    pub class: ArtifactClass,
    pub kind: ArtifactKind,
    pub media_type: &'static str,
    pub trust_tier: TrustTier,
    pub sensitivity: Sensitivity,
    pub uri: Option<String>,
    pub alias: Option<String>,
    pub inputs: Vec<ArtifactId>,
}

impl NewArtifact {
    /// A record the kernel itself makes.
    pub(crate) const fn audit(kind: ArtifactKind) -> Self {
        Self {
            class: ArtifactClass::Audit,
            kind,
            media_type: "application/json",
            trust_tier: TrustTier::Observed,
            sensitivity: Sensitivity::Private,
            uri: None,
            alias: None,
            inputs: Vec::new(),
        }
    }

    pub(crate) fn from(mut self, inputs: impl IntoIterator<Item = ArtifactId>) -> Self {
        self.inputs.extend(inputs);
        self.inputs.sort_unstable();
        self.inputs.dedup();
        self
    }

    pub(crate) const fn class(mut self, class: ArtifactClass) -> Self {
        self.class = class;
        self
    }

    pub(crate) const fn trust(mut self, trust: TrustTier) -> Self {
        self.trust_tier = trust;
        self
    }

    /// What an act brought, or tells of it: secret where the act names what looks like a key. Then it is found by no words,
    /// quoted in no summary, and no training learns from it; the task whose look was allowed is shown it none the less.
    pub(crate) fn of_act(mut self, request: &ActionRequest) -> Self {
        if request.names_secrets() {
            self.sensitivity = Sensitivity::Secret;
        }
        self
    }

    pub(crate) const fn media(mut self, media_type: &'static str) -> Self {
        self.media_type = media_type;
        self
    }
}

/// The media type of content that somebody else gave one: of a closed list that the store knows; the rest are bytes.
pub(crate) fn media_type(given: &str) -> &'static str {
    const KNOWN: [&str; 14] = [
        "text/plain; charset=utf-8",
        "text/markdown; charset=utf-8",
        "text/csv; charset=utf-8",
        "text/html; charset=utf-8",
        "application/json",
        "application/pdf",
        "application/zip",
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "image/svg+xml",
        "audio/wav",
        "audio/mpeg",
    ];
    let given = if given == "text/plain" { "text/plain; charset=utf-8" } else { given };
    KNOWN.into_iter().find(|known| *known == given).unwrap_or("application/octet-stream")
}

/// How long content is kept. What shows authority and its exercise stays as long as the ledger; so does what came from
/// outside and what was asked for. The rest goes when no receipt leads to it and its time has come (`command::collect`).
const fn kept_for(kind: ArtifactKind, class: ArtifactClass) -> RetentionClass {
    use ArtifactKind as Kind;
    if matches!(class, ArtifactClass::Source | ArtifactClass::Deliverable) {
        return RetentionClass::Permanent;
    }
    match kind {
        Kind::ModelRequest
        | Kind::ModelResponse
        | Kind::ModelAnswer
        | Kind::WorkingState => RetentionClass::Ephemeral,
        Kind::ActionResult
        | Kind::CommandTranscript
        | Kind::Diff
        | Kind::EnvironmentSnapshot
        | Kind::FileSnapshot
        | Kind::GuestReport
        | Kind::GuestSent
        | Kind::Image
        | Kind::Patch
        | Kind::SearchBundle
        | Kind::TestReport
        | Kind::WebSnapshot
        | Kind::WorkspaceSnapshot => RetentionClass::Task,
        Kind::ActionRequest
        | Kind::Answer
        | Kind::ApprovalDecision
        | Kind::ApprovalPacket
        | Kind::BeliefExtract
        | Kind::BinaryAttachment
        | Kind::CapabilityGrant
        // History is judged again by what a proposer had read.
        | Kind::ContextPack
        | Kind::ContextSummary
        | Kind::AnswerCheck
        | Kind::MemoryPromotion
        | Kind::Message
        | Kind::Quote
        | Kind::Playbook
        | Kind::PlaybookDraft
        | Kind::PolicyResult
        | Kind::ReceiptBundle
        | Kind::StateWitness
        | Kind::StepContract
        | Kind::TaskContract
        | Kind::ToolManifest
        | Kind::GuestLaunch
        | Kind::PolicyRules
        | Kind::Skill
        | Kind::Schedule
        | Kind::Skin
        | Kind::Gateway
        | Kind::ChatMessage
        | Kind::Soul
        | Kind::IdentityLink
        | Kind::SuccessorPatch
        | Kind::SuccessorEvidence
        | Kind::SuccessorVerdict
        | Kind::TrainingDataset
        | Kind::TrainingSources
        | Kind::TrainingAdapter
        | Kind::TrainingMeasures
        | Kind::ModelCard
        | Kind::SkillText
        | Kind::Transcript => RetentionClass::Permanent,
    }
}

/// Whom and what the drafts concern.
#[derive(Clone, Copy)]
pub(crate) struct Scope {
    pub task_id: TaskId,
    pub step_id: Option<StepId>,
    pub attempt_id: Option<AttemptId>,
    pub workspace_id: Option<WorkspaceId>,
}

/// The sources of time, chance and content.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'k> {
    pub clock: &'k dyn Clock,
    pub entropy: &'k dyn Entropy,
    pub artifacts: &'k artifacts::Store,
    pub redactor: &'k redact::Shared,
}

/// A batch in the making.
pub(crate) struct Writeup<'k> {
    sources: Sources<'k>,
    pub(crate) batch: Batch,
    pub(crate) scope: Scope,
    pub(crate) actor: Actor,
    correlation_id: String,
    cause: Option<EventId>,
    pub(crate) now: UnixMs,
    redactor: Arc<Redactor>,
    /// Secrets that stand where nothing may be taken out; such a batch is never committed.
    pub(crate) withheld: BTreeSet<String>,
}

impl<'k> Writeup<'k> {
    pub(crate) fn new(
        sources: Sources<'k>,
        point: Point,
        scope: Scope,
        actor: Actor,
        correlation_id: String,
        cause: Option<EventId>,
    ) -> Self {
        let now = sources.clock.now();
        let redactor = sources.redactor.now();
        let withheld = BTreeSet::new();
        Self {
            sources,
            batch: Batch::new(point),
            scope,
            actor,
            correlation_id,
            cause,
            now,
            redactor,
            withheld,
        }
    }

    /// Adds an event, caused by the one before it.
    pub(crate) fn push(&mut self, body: impl Into<Body>) -> EventId {
        self.push_keyed(None, body)
    }

    /// Adds an event whose repetition is harmless.
    pub(crate) fn push_keyed(&mut self, idempotency_key: Option<String>, body: impl Into<Body>) -> EventId {
        let body = self.clean_body(body.into());
        let idempotency_key = idempotency_key.map(|key| redaction::key(&self.redactor, &key));
        let event_id = EventId::fresh(self.sources.clock, self.sources.entropy);
        self.batch.drafts.push(Draft {
            event_id,
            task_id: self.scope.task_id,
            step_id: self.scope.step_id,
            attempt_id: self.scope.attempt_id,
            occurred_at: self.now,
            actor: self.actor,
            body,
            causation_id: self.cause,
            correlation_id: self.correlation_id.clone(),
            idempotency_key,
            workspace_id: self.scope.workspace_id,
        });
        self.cause = Some(event_id);
        event_id
    }

    /// Stores content and adds its `artifact.created`.
    ///
    /// # Errors
    /// When the content cannot be stored.
    pub(crate) fn artifact(&mut self, bytes: &[u8], new: NewArtifact) -> Result<ArtifactRef, Error> {
        let artifact_id = ArtifactId::fresh(self.sources.clock, self.sources.entropy);
        self.artifact_named(artifact_id, bytes, new)
    }

    /// Adds `artifact.created` for content that is already stored.
    pub(crate) fn artifact_of(&mut self, sha256: Digest, byte_size: u64, new: NewArtifact) -> ArtifactRef {
        let artifact_id = ArtifactId::fresh(self.sources.clock, self.sources.entropy);
        self.describe(artifact_id, sha256, byte_size, new)
    }

    fn describe(
        &mut self,
        artifact_id: ArtifactId,
        sha256: Digest,
        byte_size: u64,
        new: NewArtifact,
    ) -> ArtifactRef {
        let artifact = Artifact {
            artifact_id,
            class: new.class,
            kind: new.kind,
            uri: Sensitive::from(new.uri.unwrap_or_else(|| format!("sha256:{sha256}"))),
            content_hash: sha256,
            media_type: new.media_type.to_owned(),
            byte_size,
            created_at: self.now,
            producer: self.actor.actor_id,
            retention_class: kept_for(new.kind, new.class),
            trust_tier: new.trust_tier,
            sensitivity_class: new.sensitivity,
            produced_by: self.scope.attempt_id,
            inputs: new.inputs,
            task_local_alias: new.alias.map(Sensitive::from),
        };
        self.push(ArtifactCreated { artifact });
        ArtifactRef { artifact_id, sha256 }
    }

    /// As [`Writeup::artifact`], under an identifier that was given out before.
    ///
    /// # Errors
    /// When the content cannot be stored.
    pub(crate) fn artifact_named(
        &mut self,
        artifact_id: ArtifactId,
        bytes: &[u8],
        new: NewArtifact,
    ) -> Result<ArtifactRef, Error> {
        let clean = redaction::of(&self.redactor, bytes, &new)?;
        let sha256 = self.keep(&clean.rest)?;
        let at = self.describe(artifact_id, sha256, clean.rest.len() as u64, new);
        self.note_redacted(artifact_id, clean.found);
        Ok(at)
    }

    /// Says what was taken out of an artifact.
    pub(crate) fn note_redacted(&mut self, artifact_id: ArtifactId, found: Found) {
        if !found.is_empty() {
            self.push(ContentRedacted { artifact_id, found });
        }
    }

    /// An event's texts without values. What is left must still be an event: names and codes are never secrets.
    fn clean_body(&mut self, body: Body) -> Body {
        if self.redactor.is_empty() || matches!(body, Body::ContentRedacted(_)) {
            return body;
        }
        let Ok(plain) = body.to_value() else { return body };
        let clean = self.redactor.json(plain, false);
        if clean.found.is_empty() {
            return body;
        }
        match Body::read(body.event_type(), body.version(), clean.rest) {
            Ok(body) => body,
            Err(_) => {
                self.withheld.extend(clean.found.into_keys());
                body
            }
        }
    }

    /// The redactor as it was when this was begun.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Stores content byte for byte: small inside the commit, large as a synced file.
    ///
    /// # Errors
    /// [`Error::Secret`] when it holds the value of a secret; when a file cannot be written.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Result<Digest, Error> {
        redaction::exact(&self.redactor, bytes)?;
        match self.sources.artifacts.put(bytes)? {
            Put::Inline { digest, bytes } => {
                self.batch.blobs.push((digest, bytes));
                Ok(digest)
            }
            Put::Stored { digest, .. } => Ok(digest),
        }
    }

    /// A canonical object as an artifact.
    ///
    /// # Errors
    /// When it has no canonical form or cannot be stored.
    pub(crate) fn object<T: serde::Serialize>(
        &mut self,
        value: &T,
        new: NewArtifact,
    ) -> Result<ArtifactRef, Error> {
        let bytes = seal::canon::to_canonical(value)?;
        self.artifact(&bytes, new)
    }
}
