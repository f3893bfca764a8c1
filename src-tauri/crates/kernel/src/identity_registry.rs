//! Who this instance is, as the store's own events say: SOUL.md in its versions, its first key, and the links of its chain
//! (mesh.md 2).

use crate::Error;
use identity::{BoundKey, Graph, follow};
use model::artifact::ArtifactRef;
use model::body::Body;
use model::identity::Link;
use model::{ActionRequestId, Digest, UnixMs};
use seal::canon;
use std::collections::BTreeMap;

/// One version of SOUL.md.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoulRecord {
    /// Which, from 1.
    pub version: u32,
    /// Its text.
    pub soul: ArtifactRef,
    /// The act by which a person wrote it.
    pub action_request_id: ActionRequestId,
    /// When.
    pub written_at: UnixMs,
}

/// One signed link of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRecord {
    /// Its number, from 1.
    pub number: u64,
    /// SHA-256 of the link's canonical bytes.
    pub link_sha256: Digest,
    /// The signed link.
    pub link: ArtifactRef,
    /// When it was recorded.
    pub linked_at: UnixMs,
}

/// Who this instance is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdentityRegistry {
    /// Every version of SOUL.md, in order.
    pub souls: Vec<SoulRecord>,
    /// The first key, and how it and the log's key vouch for each other.
    pub key: Option<BoundKey>,
    /// The links, in order from genesis.
    pub links: Vec<LinkRecord>,
    /// The relays that took a link, by its digest.
    pub published: BTreeMap<Digest, Vec<String>>,
}

impl IdentityRegistry {
    /// The newest version of SOUL.md.
    pub fn latest(&self) -> Option<&SoulRecord> {
        self.souls.last()
    }

    /// The digest from which the key derives: that of the first SOUL.md.
    pub fn first_soul(&self) -> Option<Digest> {
        self.souls.first().map(|first| first.soul.sha256)
    }

    /// The line of the first key and those of the links, as they are kept. A link whose bytes are gone is an empty line, which
    /// whoever follows the chain names.
    ///
    /// # Errors
    /// [`Error::Seal`] when the statement of the key has no canonical form.
    pub fn lines(&self, artifacts: &artifacts::Store) -> Result<(Option<Vec<u8>>, Vec<Vec<u8>>), Error> {
        let key = self.key.as_ref().map(canon::to_canonical).transpose()?;
        let read = |one: &LinkRecord| artifacts.read(&one.link.sha256).unwrap_or_default();
        Ok((key, self.links.iter().map(read).collect()))
    }

    /// The chain, followed back to genesis.
    ///
    /// # Errors
    /// As [`Self::lines`].
    pub fn graph(&self, artifacts: &artifacts::Store) -> Result<Graph, Error> {
        let (key, lines) = self.lines(artifacts)?;
        Ok(follow(key.as_deref(), &lines.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    }

    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::SoulWritten(b) => self.souls.push(SoulRecord {
                version: b.version,
                soul: b.soul.clone(),
                action_request_id: b.action_request_id,
                written_at: b.written_at,
            }),
            Body::InstanceKeyRegistered(b) => {
                self.key = Some(BoundKey {
                    statement: b.statement.clone(),
                    signature_by_log: b.signature_by_log.clone(),
                    signature_by_instance: b.signature_by_instance.clone(),
                });
            }
            Body::IdentityLinked(b) => self.links.push(LinkRecord {
                number: b.number,
                link_sha256: b.link_sha256,
                link: b.link.clone(),
                linked_at: b.linked_at,
            }),
            Body::IdentityPublished(b) => {
                let known = self.published.entry(b.link_sha256).or_default();
                let new: Vec<String> =
                    b.relays.iter().filter(|relay| !known.contains(relay)).cloned().collect();
                known.extend(new);
            }
            _ => {}
        }
    }
}

/// The attestation of a version of SOUL.md that stands last in a chain: its line, and whose it is.
pub fn attestation_of(graph: &Graph, version: u32) -> Option<(u64, &str)> {
    graph.links.iter().rev().find_map(|one| match &one.link {
        Link::Attestation(said) if said.version == version => {
            Some((one.number, said.instance_pubkey.as_str()))
        }
        _ => None,
    })
}
