//! Bytes that came in, were made, or were left behind.

pub(crate) use super::disk_usage::{collect, garbage, keep, weigh};
use super::task::{channel, media_type, take_in};
use crate::convert::{all, ask, from_base64, opt, opt_word, page, text, to_base64};
use crate::files::absolute;
use crate::ids::{find, find_opt};
use crate::lineages::{around, link, links};
use crate::{Host, Wire as _, not_found, usage};
use kernel::command::ingest::Incoming;
use model::ArtifactId;
use model::artifact::TrustTier;
use projections::query::ArtifactFilter;
use projections::rows;
use std::io::Read as _;
use wire::Error;
use wire::artifacts::{Artifact, Artifacts, Bytes, Content, Ingest, Ingested, Lineage, Lineages, List, Show};

/// Bytes of content that one answer carries at most: it must fit into a message with room to spare.
const PART_BYTES_MAX: u64 = 4 * 1024 * 1024;

pub(crate) fn ingest(host: &dyn Host, p: Ingest) -> Result<Ingested, Error> {
    let kernel = host.kernel()?;
    let trust = opt_word(p.trust.as_deref())?.unwrap_or(TrustTier::Untrusted);
    if trust == TrustTier::PolicyAsserted {
        return Err(usage("only policy asserts as policy; a person gives `user_asserted` at most"));
    }
    let channel = crate::caller::sender(host, channel(p.channel.as_deref())?);
    let (at, byte_size) = match (p.path, p.bytes) {
        (Some(path), None) => {
            let (at, size, _) = take_in(kernel, &absolute("path", &path)?, p.name, trust, channel)?;
            (at, size)
        }
        (None, Some(bytes)) => {
            let bytes = from_base64("bytes", &bytes)?;
            let name = p.name.ok_or_else(|| usage("bytes without a path need a `name`"))?;
            let incoming = Incoming {
                uri: format!("inline:{}", kernel::workspace::encode_root(std::path::Path::new(&name))),
                media_type: media_type(&name),
                name,
                bytes: &mut bytes.as_slice(),
                trust_tier: trust,
            };
            kernel.ingest(incoming, channel).wire()?
        }
        _ => return Err(usage("give either `path` or `bytes`")),
    };
    Ok(Ingested { artifact_id: at.artifact_id.to_string(), sha256: at.sha256.to_string(), byte_size })
}

pub(crate) fn list(host: &dyn Host, p: List) -> Result<Artifacts, Error> {
    let filter = ArtifactFilter {
        task: find_opt(host, p.task.as_deref())?,
        kind: opt_word(p.kind.as_deref())?,
        produced_by: None,
        content_hash: p.sha256.as_deref().map(str::parse::<model::Digest>).transpose().wire()?,
    };
    let found = host.query()?.artifacts(&filter, ask(p.after.as_deref(), p.limit)?).wire()?;
    Ok(page(found, |r| row(r, None)))
}

fn row(r: &rows::ArtifactRow, present: Option<bool>) -> Artifact {
    Artifact {
        artifact_id: r.artifact_id.to_string(),
        task_id: r.task_id.to_string(),
        class: r.class,
        kind: r.kind,
        uri: text(&r.uri),
        name: name_of(r),
        sha256: r.content_hash.to_string(),
        media_type: r.media_type.clone(),
        byte_size: r.byte_size,
        created_at: r.created_at.0,
        trust: r.trust_tier,
        sensitivity: r.sensitivity,
        retention: r.retention,
        state: r.state,
        produced_by: opt(r.produced_by),
        inputs: all(&r.inputs),
        sealed_by: r.sealed_by.clone(),
        present,
    }
}

/// What an artifact is called, where it has a name.
pub(crate) fn name_of(r: &rows::ArtifactRow) -> Option<wire::Text> {
    r.alias.as_ref().or_else(|| file(&r.uri)).map(crate::file_names::visible_text)
}

/// The address, where it names a file: that is what an artifact without a name is called.
fn file(uri: &model::Sensitive<String>) -> Option<&model::Sensitive<String>> {
    uri.shown().filter(|text| text.starts_with("file:") || text.starts_with('/')).map(|_| uri)
}

pub(crate) fn found(host: &dyn Host, named: &str) -> Result<rows::ArtifactRow, Error> {
    let id: ArtifactId = find(host, named)?;
    host.query()?.artifact(id).wire()?.ok_or_else(|| not_found("artifact", named))
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Artifact, Error> {
    let found = found(host, &p.artifact)?;
    let present = host.artifacts()?.contains(&found.content_hash).wire()?;
    Ok(row(&found, Some(present)))
}

pub(crate) fn content(host: &dyn Host, p: Content) -> Result<Bytes, Error> {
    let found = found(host, &p.artifact)?;
    let mut content = host.artifacts()?.content(&found.content_hash).wire()?;
    let byte_size = content.byte_size();
    if p.offset > byte_size {
        return Err(usage(format!("`offset` is {}, and there are {byte_size} bytes", p.offset)));
    }
    let part = p.limit.unwrap_or(PART_BYTES_MAX).min(PART_BYTES_MAX);
    let unreadable =
        |e: std::io::Error| crate::failed(format!("artifact `{}` cannot be read: {e}", found.artifact_id));
    std::io::copy(&mut (&mut content).take(p.offset), &mut std::io::sink()).map_err(unreadable)?;
    let mut bytes = Vec::new();
    (&mut content).take(part).read_to_end(&mut bytes).map_err(unreadable)?;
    let end = p.offset.saturating_add(bytes.len() as u64);
    Ok(Bytes {
        artifact_id: found.artifact_id.to_string(),
        sha256: found.content_hash.to_string(),
        media_type: found.media_type,
        byte_size,
        offset: p.offset,
        bytes: to_base64(&bytes),
        next_offset: (end < byte_size).then_some(end),
    })
}

/// An artifact as it is named: by its identifier, or by the full path of a file, of which it is the newest that was seen.
fn found_or_file(host: &dyn Host, named: &str) -> Result<rows::ArtifactRow, Error> {
    let path = std::path::Path::new(named.trim());
    if !path.is_absolute() {
        return found(host, named);
    }
    let newest = crate::file_names::of_file(host, path)?.into_iter().next();
    let newest = newest.ok_or_else(|| not_found("artifact of the file", named))?;
    host.query()?.artifact(newest.artifact_id).wire()?.ok_or_else(|| not_found("artifact", named))
}

pub(crate) fn lineage(host: &dyn Host, p: Lineage) -> Result<Lineages, Error> {
    let found = found_or_file(host, &p.artifact)?;
    let id = found.artifact_id;
    let (graph, reach) = around(&host.query()?, found.task_id)?;
    let taint = graph.taint(id);
    Ok(Lineages {
        artifact_id: id.to_string(),
        scope: reach,
        produced_by: graph.producer(id).map(|attempt| link(&graph, attempt)),
        inputs: links(&graph, graph.inputs(id)),
        cited_by: links(&graph, graph.decisions_citing(id)),
        beliefs: links(&graph, graph.beliefs_referencing(id)),
        memories: links(&graph, graph.memories_from(id)),
        receipts: links(&graph, graph.receipts_including(id)),
        ancestors: links(&graph, graph.ancestors(id)),
        descendants: links(&graph, graph.descendants(id)),
        trust: taint.tier,
        untrusted: links(&graph, taint.untrusted),
        stale: links(&graph, graph.stale(id).into_iter().map(|stale| stale.source)),
    })
}
