//! Who this instance is: SOUL.md put to a person, and what the instance's key signs of it (mesh.md 2, HV-3.9). A key is asked
//! for what is signed and never seen here; nothing is recorded that does not follow from genesis unbroken.

use super::submit::Submitted;
use crate::identity_registry::{IdentityRegistry, SoulRecord, attestation_of};
use crate::kernel::{Kernel, lock};
use crate::writeup::{NewArtifact, Writeup};
use crate::{Error, redaction};
use acts::Register;
use identity::{BoundKey, follow};
use knowledge::Pinned;
use ledger::CheckpointKind;
use model::artifact::{ArtifactKind, TrustTier};
use model::body::{IdentityLinked, InstanceKeyRegistered, SoulWritten};
use model::fault::Point;
use model::identity::{
    Attestation, Handover, HandoverReason, INSTANCE_KEY_FORMAT, InstanceKey, KeyRevocation, LINK_FORMAT,
    LINKS_MAX, Link, LogHead, SOUL_BYTES_MAX, SignedLink,
};
use model::ingress::Channel;
use model::principal::PrincipalType;
use model::{ActionRequestId, Digest, UnixMs};
use seal::schnorr::SchnorrKey;
use seal::{Signer, canon};

/// How SOUL.md is kept.
const MEDIA: &str = "text/markdown; charset=utf-8";

/// What stands above it in a context.
const SOUL_RULE: &str =
    "Who you are, in the words of the person you work for (their SOUL.md). It lifts none of these rules:";

/// A link that was signed and recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linked {
    /// Its number in the chain, from 1.
    pub number: u64,
    /// SHA-256 of its canonical bytes.
    pub link_sha256: Digest,
    /// The version of SOUL.md that it attests.
    pub version: u32,
}

impl Kernel {
    /// Makes the task that asks a person whether this is SOUL.md from now on. Nothing is written by it.
    ///
    /// # Errors
    /// [`Error::Input`] when it can be none, or is that already; [`Error::Conflict`] when `replaces` is not the newest version;
    /// [`Error::Secret`] when it holds a secret.
    pub fn propose_soul(
        &self,
        text: &str,
        replaces: u32,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        if text.len() > SOUL_BYTES_MAX {
            let kilobytes = SOUL_BYTES_MAX / 1024;
            return Err(Error::Input(format!("SOUL.md has {kilobytes} KB at most; shorten it")));
        }
        let registry = self.identity();
        let newest = registry.latest().map_or(0, |latest| latest.version);
        if newest != replaces {
            return Err(Error::Conflict(format!(
                "SOUL.md is at version {newest} by now, and this was to replace version {replaces}; look at it again"
            )));
        }
        redaction::exact(&self.ports.redactor.now(), text.as_bytes())?;
        let was = registry.latest().and_then(|latest| self.soul_text(latest)).unwrap_or_default();
        let change = Register::Soul { version: newest.saturating_add(1), text: text.to_owned(), was };
        let workspace_id = self.workspace(&self.made_rules_folder()?)?;
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// Who this instance is, as the store's own events say.
    pub fn identity(&self) -> IdentityRegistry {
        lock(&self.store).identity.clone()
    }

    /// A version of SOUL.md, unless it was erased.
    fn soul_text(&self, of: &SoulRecord) -> Option<String> {
        String::from_utf8(self.artifacts.read(&of.soul.sha256).ok()?).ok()
    }

    /// The newest SOUL.md as it stands in every context, unless it was erased.
    pub(crate) fn pinned_soul(&self) -> Option<Pinned> {
        let latest = lock(&self.store).identity.latest().cloned()?;
        let source = format!("soul:{}@{}", latest.version, latest.soul.sha256);
        Some(Pinned { source, text: format!("{SOUL_RULE}\n{}", self.soul_text(&latest)?.trim_end()) })
    }

    /// Why a person's yes would not be about SOUL.md as it is now, if it would not.
    pub(super) fn soul_outdated(&self, version: u32) -> Option<String> {
        let newest = self.identity().latest().map_or(0, |latest| latest.version);
        let fits = newest.checked_add(1) == Some(version);
        (!fits).then(|| format!("SOUL.md is at version {newest} by now; look at it again"))
    }

    /// Keeps SOUL.md as a person approved it and, where the keys are open, the attestation of it in the same commit. Without
    /// one it is attested by [`Kernel::attest`], and shown as not attested until then.
    pub(super) fn push_soul(
        &self,
        w: &mut Writeup<'_>,
        (version, text): (u32, &str),
        action_request_id: ActionRequestId,
    ) -> Result<(), Error> {
        let mut registry = self.identity();
        let new = NewArtifact::audit(ArtifactKind::Soul).media(MEDIA).trust(TrustTier::UserAsserted);
        let soul = w.artifact(text.as_bytes(), new)?;
        let written = SoulWritten {
            instance_id: self.instance_id(),
            version,
            soul,
            previous: registry.latest().map(|latest| latest.soul.sha256),
            action_request_id,
            written_at: w.now,
        };
        let body = model::Body::SoulWritten(written.clone());
        w.push(written);
        registry.apply(&body);
        match self.push_attestation(w, &registry) {
            Ok(_) | Err(Error::KeyLocked(_)) => {}
            Err(error) => tracing::warn!(%error, "SOUL.md is written and not attested"),
        }
        Ok(())
    }

    /// Signs an attestation of SOUL.md as it is with the key of the instance, and binds that key to the log's where this is the
    /// first. What the key in force has attested already is not attested again.
    ///
    /// # Errors
    /// [`Error::Conflict`] without SOUL.md, and when the chain would not be unbroken; [`Error::KeyLocked`].
    pub fn attest(&self) -> Result<Linked, Error> {
        let registry = self.identity();
        let version = registry.latest().ok_or_else(unwritten)?.version;
        let graph = registry.graph(&self.artifacts)?;
        if let Some((number, by)) = attestation_of(&graph, version)
            && graph.key_in_force.as_deref() == Some(by)
            && let Some(link) = registry.links.iter().find(|link| link.number == number)
        {
            return Ok(Linked { number, link_sha256: link.link_sha256, version });
        }
        // The head that is named is one that was signed.
        self.checkpoint(&[])?;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::KeyRegister, actor, self.session.clone(), None)?;
        let registry = self.expected(&mut w)?;
        let linked = self.push_attestation(&mut w, &registry)?;
        self.commit(w)?;
        self.vouch_for_keys();
        Ok(linked)
    }

    /// The registry as it is now; a commit that finds another one fails.
    fn expected(&self, w: &mut Writeup<'_>) -> Result<IdentityRegistry, Error> {
        let store = lock(&self.store);
        w.batch.expect.push((store.system_task()?, store.seq));
        Ok(store.identity.clone())
    }

    /// The event of an attestation, and that of the key where this is the first.
    fn push_attestation(&self, w: &mut Writeup<'_>, registry: &IdentityRegistry) -> Result<Linked, Error> {
        let (latest, first) = (registry.latest(), registry.first_soul());
        let (latest, first) = (latest.ok_or_else(unwritten)?, first.ok_or_else(unwritten)?);
        let instance = self.ports.keys.instance(&first).ok_or(Error::KeyLocked("instance"))?;
        let log = self.ports.keys.log().ok_or(Error::KeyLocked("log"))?;
        let bound = match &registry.key {
            Some(bound) => bound.clone(),
            None => self.bound(&*log, &instance, first)?,
        };
        let link = Link::Attestation(Attestation {
            format: LINK_FORMAT.to_owned(),
            instance_id: self.instance_id(),
            version: latest.version,
            soul_sha256: latest.soul.sha256,
            previous: registry.links.last().map(|last| last.link_sha256),
            instance_pubkey: instance.public(),
            log_head: self.signed_head()?,
            attested_at: self.after_the_last(registry, w.now)?,
        });
        let signed = identity::sign(link, &[&instance]).map_err(of_identity)?;
        let link_sha256 = self.push_link(w, registry, &bound, &signed)?;
        Ok(Linked { number: next_number(registry), link_sha256, version: latest.version })
    }

    /// In the commit of a rotation: the key of the instance that goes hands over to the one that comes, because keys are rotated, or
    /// because the program with this digest was adopted. Nothing where the instance has no key yet.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the chain would not be unbroken.
    pub(super) fn push_handover(
        &self,
        w: &mut Writeup<'_>,
        (from, to): (&SchnorrKey, &SchnorrKey),
        successor_sha256: Option<Digest>,
    ) -> Result<(), Error> {
        if self.identity().links.is_empty() {
            return Ok(());
        }
        let log_head = self.signed_head()?;
        let registry = self.expected(w)?;
        let (Some(bound), Some(last)) = (registry.key.clone(), registry.links.last()) else { return Ok(()) };
        let link = Link::Handover(Handover {
            format: LINK_FORMAT.to_owned(),
            instance_id: self.instance_id(),
            previous: last.link_sha256,
            from_pubkey: from.public(),
            to_pubkey: to.public(),
            reason: match successor_sha256 {
                Some(_) => HandoverReason::Successor,
                None => HandoverReason::Rotation,
            },
            successor_sha256,
            log_head,
            handed_over_at: self.after_the_last(&registry, w.now)?,
        });
        let signed = identity::sign(link, &[from, to]).map_err(of_identity)?;
        self.push_link(w, &registry, &bound, &signed)?;
        Ok(())
    }

    /// In the commit that revokes a key of the log which another followed at `until`: the key of the instance that came of the same
    /// root is revoked with it. Nothing where there was none.
    pub(super) fn push_revocation(&self, w: &mut Writeup<'_>, until: UnixMs) -> Result<(), Error> {
        let mut gone = None;
        // The hand-over stands in the commit of that rotation, and has its time.
        for one in self.identity().links.iter().filter(|one| one.linked_at == until) {
            let signed: SignedLink = canon::from_canonical(&self.artifacts.read(&one.link.sha256)?)?;
            if let Link::Handover(handed) = signed.link {
                gone = Some(handed.from_pubkey);
            }
        }
        let Some(revoked_pubkey) = gone else { return Ok(()) };
        let registry = self.expected(w)?;
        let (Some(bound), Some(last), Some(first)) =
            (registry.key.clone(), registry.links.last(), registry.first_soul())
        else {
            return Ok(());
        };
        let instance = self.ports.keys.instance(&first).ok_or(Error::KeyLocked("instance"))?;
        let link = Link::Revocation(KeyRevocation {
            format: LINK_FORMAT.to_owned(),
            instance_id: self.instance_id(),
            previous: last.link_sha256,
            revoked_pubkey,
            by_pubkey: instance.public(),
            revoked_at: self.after_the_last(&registry, w.now)?,
        });
        let signed = identity::sign(link, &[&instance]).map_err(of_identity)?;
        self.push_link(w, &registry, &bound, &signed)?;
        Ok(())
    }

    /// Records a signed link, once the whole chain with it was followed and nothing is wrong with it.
    fn push_link(
        &self,
        w: &mut Writeup<'_>,
        registry: &IdentityRegistry,
        bound: &BoundKey,
        signed: &SignedLink,
    ) -> Result<Digest, Error> {
        if registry.links.len() >= LINKS_MAX {
            return Err(Error::Conflict(format!("the chain of this instance has {LINKS_MAX} links")));
        }
        let (key, bytes) = (canon::to_canonical(bound)?, canon::to_canonical(signed)?);
        let (_, mut lines) = registry.lines(&self.artifacts)?;
        lines.push(bytes.clone());
        let graph = follow(Some(&key), &lines.iter().map(Vec::as_slice).collect::<Vec<_>>());
        if let Some(finding) = graph.findings.first() {
            let at = finding.number.map_or(String::new(), |number| format!(" at link {number}"));
            return Err(Error::Conflict(format!(
                "the chain of this instance would be broken{at}: {}; see `hermit identity verify`",
                finding.says
            )));
        }
        // Whoever writes SOUL.md commits it without what failed here: a key without its first link would bind the chain to a key that a
        // rotation puts away.
        redaction::exact(w.redactor(), &bytes)?;
        let link_sha256 = identity::link_sha256(&signed.link).map_err(of_identity)?;
        let link = w.artifact(&bytes, NewArtifact::audit(ArtifactKind::IdentityLink))?;
        if registry.key.is_none() {
            w.push(InstanceKeyRegistered {
                statement: bound.statement.clone(),
                signature_by_log: bound.signature_by_log.clone(),
                signature_by_instance: bound.signature_by_instance.clone(),
            });
        }
        w.push(IdentityLinked {
            instance_id: self.instance_id(),
            number: next_number(registry),
            link_sha256,
            link,
            linked_at: w.now,
        });
        Ok(link_sha256)
    }

    /// A head of the log as it is now, where the key for it is open: signing one is a commit of its own, which no other may hold.
    pub(super) fn fresh_head(&self) {
        if self.ports.keys.log().is_none() {
            return;
        }
        if let Err(error) = self.checkpoint(&[]) {
            tracing::warn!(%error, "no checkpoint before an attestation");
        }
    }

    /// The id of this instance: that of its store, made once.
    pub(super) fn instance_id(&self) -> String {
        lock(&self.store).store_id.clone()
    }

    /// The statement by which the first key and the log's key vouch for each other.
    fn bound(&self, log: &dyn Signer, instance: &SchnorrKey, first: Digest) -> Result<BoundKey, Error> {
        let statement = InstanceKey {
            format: INSTANCE_KEY_FORMAT.to_owned(),
            instance_id: self.instance_id(),
            instance_pubkey: instance.public(),
            soul_sha256: first,
            log_pubkey: log.public().to_string(),
        };
        identity::bind(statement, log, instance).map_err(of_identity)
    }

    /// The newest head of the log that was signed; one is signed where there is none.
    pub(super) fn signed_head(&self) -> Result<LogHead, Error> {
        let newest = || self.reader.last_checkpoint(CheckpointKind::Global, None);
        let head = match newest()? {
            Some(head) => Some(head),
            None => {
                self.checkpoint(&[])?;
                newest()?
            }
        };
        let head = head.ok_or_else(|| Error::Broken("the log has no signed head".to_owned()))?;
        Ok(LogHead { origin: head.origin, size: head.size, root: head.root })
    }

    /// Now, or the time of the last link where a clock was put back since: times of a chain never go back.
    fn after_the_last(&self, registry: &IdentityRegistry, now: UnixMs) -> Result<UnixMs, Error> {
        let Some(last) = registry.links.last() else { return Ok(now) };
        let signed: SignedLink = canon::from_canonical(&self.artifacts.read(&last.link.sha256)?)?;
        Ok(now.max(signed.link.made_at()))
    }
}

fn next_number(registry: &IdentityRegistry) -> u64 {
    registry.links.last().map_or(1, |last| last.number.saturating_add(1))
}

fn unwritten() -> Error {
    Error::Conflict("nobody has written SOUL.md yet; `hermit identity edit` writes it".to_owned())
}

fn of_identity(error: identity::Error) -> Error {
    match error {
        identity::Error::Seal(error) => Error::Seal(error),
        other => Error::Conflict(other.to_string()),
    }
}
