//! What comes with words: files that were taken in, and what is quoted.

use crate::convert::{ask, opt_text};
use crate::ids::find;
use crate::{Host, Wire as _, usage};
use kernel::command::enclose::{Encloses, Quote, quoted_of};
use model::artifact::{ArtifactClass, ArtifactKind};
use model::{ArtifactId, Sensitive};
use projections::rows::{ArtifactRow, IngressRow};
use projections::{ArtifactState, Query};
use wire::Error;
use wire::conversations::{AttachedFile, FileList, Files, QuotedPassage};

/// What comes with words, as a surface names it.
pub(crate) fn named(
    host: &dyn Host,
    quotes: Option<&str>,
    passage: Option<&str>,
    files: &[String],
    spoken: bool,
) -> Result<Encloses, Error> {
    let quotes = quotes.map(str::trim).filter(|of| !of.is_empty());
    let passage = passage.filter(|passage| !passage.trim().is_empty());
    if quotes.is_none() && passage.is_some() {
        return Err(usage("a `passage` needs `quotes`: the identifier of what it stands in"));
    }
    let quote = quotes.map(|of| Quote { of: of.to_owned(), passage: passage.map(str::to_owned) });
    let files = files.iter().map(|named| find(host, named)).collect::<Result<Vec<ArtifactId>, Error>>()?;
    Ok(Encloses { files, quote, spoken })
}

/// A command takes nothing but its words.
pub(crate) fn none_with_a_command(encloses: &Encloses) -> Result<(), Error> {
    if encloses.is_bare() {
        return Ok(());
    }
    Err(with_a_command())
}

pub(crate) fn with_a_command() -> Error {
    usage("a command takes neither a file nor a quotation")
        .hint("leave them out, or send them with words that begin with no slash")
}

/// What came with a message, as it is told.
pub(crate) fn told(
    host: &dyn Host,
    query: &Query,
    row: &IngressRow,
) -> Result<(Option<QuotedPassage>, Vec<AttachedFile>), Error> {
    let (mut quoted, mut attached) = (None, Vec::new());
    for id in &row.enclosed {
        let Some(artifact) = query.artifact(*id).wire()? else { continue };
        match artifact.kind {
            _ if artifact.class != ArtifactClass::Source => {}
            ArtifactKind::Quote => quoted = Some(passage(host, &artifact)?),
            ArtifactKind::BinaryAttachment => attached.push(file(&artifact, row)),
            _ => {}
        }
    }
    Ok((quoted, attached))
}

fn passage(host: &dyn Host, artifact: &ArtifactRow) -> Result<QuotedPassage, Error> {
    let of = artifact.uri.shown().and_then(|uri| quoted_of(uri)).unwrap_or_default().to_owned();
    let is_here = artifact.state != ArtifactState::Expired;
    let bytes = if is_here { host.artifacts()?.read(&artifact.content_hash).ok() } else { None };
    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(QuotedPassage {
        artifact_id: artifact.artifact_id.to_string(),
        of,
        text: opt_text(text.map(Sensitive::from).as_ref()),
        trust: artifact.trust_tier,
    })
}

fn file(artifact: &ArtifactRow, with: &IngressRow) -> AttachedFile {
    AttachedFile {
        artifact_id: artifact.artifact_id.to_string(),
        name: super::artifacts::name_of(artifact),
        byte_size: artifact.byte_size,
        media_type: artifact.media_type.clone(),
        trust: artifact.trust_tier,
        is_erased: artifact.state == ArtifactState::Expired,
        message_id: with.ingress_id.to_string(),
        at: with.created_at.0,
    }
}

/// Messages are the pages of this list: a page holds the files of that many messages.
pub(crate) fn files(host: &dyn Host, p: Files) -> Result<FileList, Error> {
    let query = host.query()?;
    let row = super::conversations::meant(host, p.conversation.as_deref())?;
    let found = query.ingress_with(row.conversation_id, ask(p.after.as_deref(), p.limit)?).wire()?;
    let mut rows = Vec::new();
    for row in &found.rows {
        rows.extend(told(host, &query, row)?.1);
    }
    Ok(wire::Page { rows, next: crate::convert::opt(found.next) })
}
