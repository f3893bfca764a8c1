//! What comes with words: files that were taken in before, and a passage that they quote (HK-8.1.2-3). Both are content. They
//! stand in a context as data with the trust of what they come from, whoever sent the words, and never as the words.
//!
//! The record of a message names their artifacts in the inbox. Where the message becomes input or goal of a task, the task has
//! artifacts of its own with the same bytes, which name those: proof, lineage and erasure find them there.

use super::ingress::broken;
use crate::Error;
use crate::kernel::Kernel;
use crate::state::TaskState;
use crate::writeup::{NewArtifact, Writeup};
use model::artifact::{Artifact, ArtifactClass, ArtifactKind, Sensitivity, TrustTier};
use model::ingress::IngressRecord;
use model::{ArtifactId, IngressId, TaskId, limits};
use projections::rows::{ArtifactRow, MessageRow};
use projections::{ArtifactState, MessageKind};
use seal::Digest;
use serde::{Deserialize, Serialize};

/// What comes with words, as their sender names it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encloses {
    /// Files that were taken in, by their artifacts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ArtifactId>,
    /// What they quote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<Quote>,
    /// Whether the words were spoken and written down by a machine (RA-3-15).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spoken: bool,
}

/// A passage that words quote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// Whose: a message, question, approval, receipt, or the attempt whose last words it is of, by its identifier.
    pub of: String,
    /// The passage, word for word; all of it when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage: Option<String>,
}

/// A file or quotation that a task takes over from another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its name.
    pub name: String,
    /// Digest of its bytes, which are in the artifact store already.
    pub sha256: Digest,
    /// Its length.
    pub byte_size: u64,
    /// How far it may be relied on.
    pub trust_tier: TrustTier,
    /// The artifact that it was there; absent in what older versions took in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<ArtifactId>,
}

/// The address of a quotation begins so; behind it stands what is quoted.
const QUOTE: &str = "quote:";

impl Encloses {
    /// Words that quote all of this.
    pub fn quoting(of: impl ToString) -> Self {
        Self { quote: Some(Quote { of: of.to_string(), passage: None }), ..Self::default() }
    }

    /// Whether nothing is to be said of the words: nothing comes with them, and they were written.
    pub const fn is_empty(&self) -> bool {
        self.is_bare() && !self.spoken
    }

    /// Whether no content comes with the words.
    pub const fn is_bare(&self) -> bool {
        self.files.is_empty() && self.quote.is_none()
    }
}

/// What is quoted by an artifact with this address.
pub fn quoted_of(uri: &str) -> Option<&str> {
    uri.strip_prefix(QUOTE)
}

/// Content that comes with words, as its artifact says.
#[derive(Debug, Clone)]
pub(crate) struct Enclosure {
    artifact_id: ArtifactId,
    kind: ArtifactKind,
    media_type: &'static str,
    trust_tier: TrustTier,
    sensitivity: Sensitivity,
    sha256: Digest,
    byte_size: u64,
    name: String,
    uri: Option<String>,
}

/// What comes with words, once it was looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Enclosed {
    files: Vec<Enclosure>,
    quote: Option<Passage>,
    pub(super) spoken: bool,
}

/// A passage, and where it comes from.
#[derive(Debug, Clone)]
pub(super) struct Passage {
    of: String,
    text: String,
    trust_tier: TrustTier,
    name: String,
    inputs: Vec<ArtifactId>,
    message: Option<IngressId>,
    pub(super) task: Option<TaskId>,
}

impl Enclosed {
    /// Nothing comes with the words, which were spoken or written.
    pub(super) fn heard(spoken: bool) -> Self {
        Self { spoken, ..Self::default() }
    }

    /// The earlier message that is quoted.
    pub(super) fn message(&self) -> Option<IngressId> {
        self.quote.as_ref().and_then(|quote| quote.message)
    }

    /// The task of what is quoted.
    pub(super) fn task(&self) -> Option<TaskId> {
        self.quote.as_ref().and_then(|quote| quote.task)
    }

    /// How many artifacts it comes to.
    pub(super) fn len(&self) -> usize {
        self.files.len().saturating_add(usize::from(self.quote.is_some()))
    }

    /// A server of tools that asked a question gets words and nothing else.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Kernel {
    /// What is enclosed is there, within its bounds, and says what it is said to say.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Input`], and [`Error::Conflict`] for what was erased.
    pub(super) fn enclosed(&self, named: &Encloses) -> Result<Enclosed, Error> {
        if named.is_empty() {
            return Ok(Enclosed::default());
        }
        let count = named.files.len();
        if count > limits::ENCLOSED_MAX {
            return Err(Error::Input(format!(
                "{count} files come with the words and at most {} are taken; send the others with another message",
                limits::ENCLOSED_MAX
            )));
        }
        let query = self.query()?;
        let mut files: Vec<Enclosure> = Vec::new();
        for id in &named.files {
            let row = query.artifact(*id).map_err(broken)?;
            let row = row.ok_or_else(|| Error::NotFound { kind: "artifact", id: id.to_string() })?;
            if row.class != ArtifactClass::Source || row.kind != ArtifactKind::BinaryAttachment {
                return Err(Error::Input(format!(
                    "`{id}` is {}, and only a file that was taken in comes with words; take it in first",
                    row.kind
                )));
            }
            if row.state == ArtifactState::Expired {
                return Err(Error::Conflict(format!("the content of `{id}` was erased")));
            }
            if files.iter().all(|known| known.artifact_id != *id) {
                files.push(Enclosure::of(&row));
            }
        }
        let bytes: u64 = files.iter().map(|file| file.byte_size).sum();
        if bytes > limits::ENCLOSED_BYTES_MAX {
            return Err(Error::Input(format!(
                "the files that come with the words have {bytes} bytes and at most {} are taken; put them into the folder \
                 of the task and say in words where they are",
                limits::ENCLOSED_BYTES_MAX
            )));
        }
        let quote = named.quote.as_ref().map(|quote| self.passage(quote)).transpose()?;
        Ok(Enclosed { files, quote, spoken: named.spoken })
    }

    fn passage(&self, quote: &Quote) -> Result<Passage, Error> {
        let of = quote.of.trim();
        let query = self.query()?;
        let row = query.line(of).map_err(broken)?;
        let row = row.ok_or_else(|| Error::NotFound { kind: "message", id: of.to_owned() })?;
        let Some(said) = &row.text else { return Err(wordless(of)) };
        let gone = || Error::Conflict(format!("what `{of}` says was erased and cannot be quoted"));
        let shown = said.shown().cloned().ok_or_else(gone)?;
        if shown.trim().is_empty() {
            return Err(wordless(of));
        }
        let artifact = row.artifact_ref.map(|id| query.artifact(id).map_err(broken)).transpose()?.flatten();
        let message = of.parse::<IngressId>().ok();
        let sender = message.map(|id| query.message(id).map_err(broken)).transpose()?.flatten();
        let trust_tier = match row.kind {
            MessageKind::Message => sender.and_then(|sender| sender.trust_tier),
            MessageKind::Answer => artifact.as_ref().map(|a| a.trust_tier),
            // Whoever acts words a question and the words of a card; a receipt and an end may say again what a model, a server
            // or the name of a file said.
            MessageKind::Question | MessageKind::Approval | MessageKind::Receipt | MessageKind::Ended => None,
        };
        let text = match &quote.passage {
            None => shown,
            Some(passage) => self.word_for_word(passage, &shown, artifact.as_ref(), of)?,
        };
        if text.trim().is_empty() || text.len() > limits::QUOTE_BYTES_MAX {
            return Err(Error::Input(format!(
                "{} bytes are quoted and 1 to {} are taken; quote the passage that matters",
                text.len(),
                limits::QUOTE_BYTES_MAX
            )));
        }
        Ok(Passage {
            of: of.to_owned(),
            text,
            trust_tier: trust_tier.unwrap_or(TrustTier::Untrusted),
            name: format!("quoted from {}", named(&row)),
            inputs: artifact
                .filter(|_| row.kind != MessageKind::Approval)
                .map(|a| a.artifact_id)
                .into_iter()
                .collect(),
            message,
            task: row.task_id,
        })
    }

    /// The passage stands there, but for how its lines are broken.
    fn word_for_word(
        &self,
        passage: &str,
        shown: &str,
        artifact: Option<&ArtifactRow>,
        of: &str,
    ) -> Result<String, Error> {
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = flat(passage);
        let whole = artifact.filter(|row| row.kind == ArtifactKind::Answer);
        let whole = whole.map(|row| self.words_of(&row.content_hash)).transpose()?.unwrap_or_default();
        let stands = flat(shown).contains(&wanted) || flat(&whole).contains(&wanted);
        if stands {
            return Ok(passage.trim().to_owned());
        }
        Err(Error::Input(format!(
            "the passage does not stand in `{of}`; quote it word for word, or leave it out"
        )))
    }

    /// Keeps what comes with words in the inbox, where their record names it.
    pub(super) fn keep_enclosed(
        &self,
        w: &mut Writeup<'_>,
        with: &Enclosed,
    ) -> Result<Vec<Enclosure>, Error> {
        let mut kept = Vec::new();
        if let Some(quote) = &with.quote {
            let new = NewArtifact {
                uri: Some(format!("{QUOTE}{}", quote.of)),
                alias: Some(quote.name.clone()),
                ..NewArtifact::audit(ArtifactKind::Quote)
                    .class(ArtifactClass::Source)
                    .media("text/plain; charset=utf-8")
                    .trust(quote.trust_tier)
                    .from(quote.inputs.iter().copied())
            };
            let (name, uri) = (quote.name.clone(), new.uri.clone());
            let at = w.artifact(quote.text.as_bytes(), new)?;
            let byte_size = quote.text.len() as u64;
            kept.push(Enclosure {
                artifact_id: at.artifact_id,
                kind: ArtifactKind::Quote,
                media_type: "text/plain; charset=utf-8",
                trust_tier: quote.trust_tier,
                sensitivity: Sensitivity::Private,
                sha256: at.sha256,
                byte_size,
                name,
                uri,
            });
        }
        kept.extend(with.files.iter().cloned());
        Ok(kept)
    }

    /// What came with a message that is on record.
    pub(super) fn enclosed_in(&self, ingress_id: IngressId) -> Result<Vec<Enclosure>, Error> {
        let query = self.query()?;
        let Some(row) = query.message(ingress_id).map_err(broken)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for id in row.enclosed {
            found.extend(self.enclosure(id)?);
        }
        Ok(found)
    }

    /// An artifact as what comes with words; none for what never did.
    pub(super) fn enclosure(&self, id: ArtifactId) -> Result<Option<Enclosure>, Error> {
        let row = self.query()?.artifact(id).map_err(broken)?;
        Ok(row.filter(|row| is_enclosed(row.class, row.kind)).map(|row| Enclosure::of(&row)))
    }

    /// The same things came with a message as come with these words.
    pub(super) fn same_enclosed(
        &self,
        key: &str,
        record: &IngressRecord,
        now: &Encloses,
    ) -> Result<(), Error> {
        let query = self.query()?;
        let mut before = Vec::new();
        for id in &record.referenced_artifact_refs {
            before
                .extend(query.artifact(*id).map_err(broken)?.filter(|row| is_enclosed(row.class, row.kind)));
        }
        if before.iter().any(|row| row.uri.shown().is_none()) {
            return Ok(());
        }
        let (quoted, first): (Vec<_>, Vec<_>) =
            before.iter().partition(|row| row.kind == ArtifactKind::Quote);
        let mut files: Vec<Digest> = Vec::new();
        for (at, id) in now.files.iter().enumerate() {
            // What is named twice came once.
            if !now.files.iter().take(at).any(|known| known == id) {
                files.extend(query.artifact(*id).map_err(broken)?.map(|row| row.content_hash));
            }
        }
        let same_quote = match (quoted.as_slice(), &now.quote) {
            ([], None) => true,
            ([before], Some(quote)) => self.same_passage(before, quote)?,
            _ => false,
        };
        if same_quote && first.iter().map(|row| row.content_hash).eq(files) {
            return Ok(());
        }
        Err(super::add_input::used_before(key))
    }

    /// The same passage of the same was quoted before. What was quoted whole and was erased since is compared with nothing.
    fn same_passage(&self, before: &ArtifactRow, quote: &Quote) -> Result<bool, Error> {
        let of = quote.of.trim();
        if before.uri.shown().and_then(|uri| quoted_of(uri)) != Some(of) {
            return Ok(false);
        }
        let now = match &quote.passage {
            Some(passage) => Some(passage.trim().to_owned()),
            None => self.query()?.line(of).map_err(broken)?.and_then(|row| row.text?.shown().cloned()),
        };
        // It was kept without the values of secrets.
        let is_same = |now: String| {
            let kept = self.ports.redactor.now().bytes(now.as_bytes()).rest;
            [Digest::of(now.as_bytes()), Digest::of(&kept)].contains(&before.content_hash)
        };
        Ok(now.is_none_or(is_same))
    }
}

impl Enclosure {
    fn of(row: &ArtifactRow) -> Self {
        Self {
            artifact_id: row.artifact_id,
            kind: row.kind,
            media_type: crate::writeup::media_type(&row.media_type),
            trust_tier: row.trust_tier,
            sensitivity: row.sensitivity,
            sha256: row.content_hash,
            byte_size: row.byte_size,
            name: row
                .alias
                .as_ref()
                .and_then(|name| name.shown().cloned())
                .unwrap_or_else(|| "(erased)".to_owned()),
            uri: row.uri.shown().cloned(),
        }
    }

    /// As an artifact of a task.
    fn of_task(&self) -> NewArtifact {
        NewArtifact {
            class: ArtifactClass::Source,
            kind: self.kind,
            media_type: self.media_type,
            trust_tier: self.trust_tier,
            sensitivity: self.sensitivity,
            uri: self.uri.clone(),
            alias: Some(self.name.clone()),
            inputs: vec![self.artifact_id],
        }
    }

    /// The record of what came with words.
    pub(super) const fn artifact_id(&self) -> ArtifactId {
        self.artifact_id
    }
}

/// Gives a task what came with words to it: no attempt made it.
pub(super) fn hand_over(w: &mut Writeup<'_>, all: &[Enclosure]) -> Vec<ArtifactId> {
    let scope = w.scope;
    (w.scope.step_id, w.scope.attempt_id) = (None, None);
    let given = all.iter().map(|one| w.artifact_of(one.sha256, one.byte_size, one.of_task()).artifact_id);
    let given = given.collect();
    w.scope = scope;
    given
}

fn wordless(of: &str) -> Error {
    Error::Input(format!(
        "`{of}` has no words to quote; leave the quotation out, or quote what was said before it"
    ))
}

/// There is room in a task for what comes with words to it.
pub(super) fn fits(state: &TaskState, with: &Enclosed) -> Result<(), Error> {
    let has = state.artifacts.values().filter(|a| is_given(a)).count();
    if with.is_empty() {
        return Ok(());
    }
    room(has, with.len())
}

/// There is room for so many more beside these.
pub(super) fn room(has: usize, more: usize) -> Result<(), Error> {
    if has.saturating_add(more) <= limits::ENCLOSED_OF_TASK_MAX {
        return Ok(());
    }
    Err(Error::Input(format!(
        "the task has {has} files and quotations and at most {} are taken; begin another task with the rest",
        limits::ENCLOSED_OF_TASK_MAX
    )))
}

/// Whether an artifact of a task was given to it with words.
pub(crate) fn is_given(artifact: &Artifact) -> bool {
    is_enclosed(artifact.class, artifact.kind)
}

fn is_enclosed(class: ArtifactClass, kind: ArtifactKind) -> bool {
    class == ArtifactClass::Source && matches!(kind, ArtifactKind::BinaryAttachment | ArtifactKind::Quote)
}

/// What is quoted, in words.
fn named(row: &MessageRow) -> String {
    let what = match row.kind {
        MessageKind::Message => "the message",
        MessageKind::Question => "the question",
        MessageKind::Approval => "the request for approval",
        MessageKind::Receipt => "the receipt",
        MessageKind::Answer => "the last words of",
        MessageKind::Ended => "the end of",
    };
    format!("{what} {}", row.ref_id)
}
