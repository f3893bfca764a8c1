//! Skins: put to a person, trusted by the governed path for exactly their bytes, chosen for a conversation, and not trusted any
//! more (schedule.md 3).

use super::submit::Submitted;
use crate::kernel::{Kernel, lock};
use crate::sender::Sender;
use crate::skin_registry::SkinRegistry;
use crate::writeup::{NewArtifact, Writeup};
use crate::{Error, redaction};
use acts::Register;
use model::artifact::{ArtifactKind, TrustTier};
use model::body::{KeyPurpose, SkinChosen, SkinTrusted, SkinUntrusted};
use model::fault::Point;
use model::ingress::Channel;
use model::skin::{ALWAYS_OFFERED, Skin, SkinFile, TrustSkin, built_in};
use model::tool_server::is_offered_name;
use model::{ActionRequestId, ConversationId, Digest, Sensitive};

/// How far the words of a skin may be relied on: a person has read them, and they are not their own word.
pub(crate) const TRUSTED: TrustTier = TrustTier::Verified;
/// Skins that a person trusts at the same time.
const SKINS_MAX: usize = 200;

/// Tools that a skin names and that are none of Hermit's, nor can be one of a server: they stay in it, without effect.
pub fn unknown_tools(skin: &Skin) -> Vec<String> {
    let known = iteration::tools();
    let is_known = |name: &String| {
        ALWAYS_OFFERED.contains(&name.as_str())
            || is_offered_name(name)
            || known.iter().any(|tool| tool.name == *name)
    };
    skin.tools.iter().flatten().filter(|name| !is_known(name)).cloned().collect()
}

/// The skin that a name or a digest means: one that comes with Hermit, else the one that was trusted last of those in force.
///
/// # Errors
/// [`Error::NotFound`] when none is meant that a conversation may have.
pub fn meant(registry: &SkinRegistry, named: &str) -> Result<(String, Digest), Error> {
    let named = named.trim();
    let is_named = |name: &str, sha256: Digest| name == named || sha256.to_string() == named;
    let own = built_in().iter().find(|(file, sha256)| is_named(&file.skin.name, *sha256));
    if let Some((file, sha256)) = own {
        return Ok((file.skin.name.clone(), *sha256));
    }
    let trusted = registry.versions.iter().filter(|one| registry.trusted(one.sha256).is_some());
    let found = trusted.rev().find(|one| is_named(&one.name, one.sha256));
    let missing = || Error::NotFound { kind: "skin that you trust", id: named.to_owned() };
    found.map(|one| (one.name.clone(), one.sha256)).ok_or_else(missing)
}

/// A skin as a change of Hermit has it: signed, and under a name of its own.
///
/// # Errors
/// In words, why it can be neither tried nor adopted.
pub fn of_change(name: &str, text: &str) -> Result<SkinFile, String> {
    let file = SkinFile::read(text.as_bytes())?;
    if file.signed.is_none() {
        return Err(format!("nobody signed the skin `{name}`; sign it: `hermit skin sign`"));
    }
    if file.skin.name != name || built_in().iter().any(|(own, _)| own.skin.name == name) {
        return Err(format!("the skin `{name}` needs its own name, and one of its own"));
    }
    Ok(file)
}

impl Kernel {
    /// Makes the task that asks a person whether a skin is trusted. Nothing is trusted by this.
    ///
    /// # Errors
    /// [`Error::Input`] when it cannot be one, is signed by nobody, has the name of one that comes with Hermit, or is trusted
    /// already.
    pub fn propose_skin(
        &self,
        bytes: &[u8],
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        let file = SkinFile::read(bytes).map_err(Error::Input)?;
        let name = file.skin.name.clone();
        if file.signed.is_none() {
            return Err(Error::Input(format!(
                "nobody signed the skin `{name}`; sign it: `hermit skin sign`"
            )));
        }
        let registry = self.skin_registry();
        let trust = self.trust_of(file, &registry).map_err(Error::Input)?;
        if registry.trusted(trust.sha256).is_some() {
            return Err(Error::Input(format!(
                "the skin `{name}` is trusted already, with exactly these bytes"
            )));
        }
        let in_force = registry.versions.iter().filter(|one| one.untrusted.is_none()).count();
        if in_force >= SKINS_MAX {
            return Err(Error::Input(format!("{SKINS_MAX} skins are trusted; take one back first")));
        }
        let kept = trust.file.to_bytes().map_err(Error::Input)?;
        redaction::exact(&self.ports.redactor.now(), &kept)?;
        let change = Register::Skin { trust: Box::new(trust) };
        let workspace_id = self.workspace(&self.made_rules_folder()?)?;
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// What a person is asked about a file, as things stand now.
    fn trust_of(&self, file: SkinFile, registry: &SkinRegistry) -> Result<TrustSkin, String> {
        let name = &file.skin.name;
        if built_in().iter().any(|(own, _)| own.skin.name == *name) {
            return Err(format!("the skin `{name}` comes with Hermit; give this one another name"));
        }
        let keyid = file.keyid();
        let own = lock(&self.store).keys.get(&KeyPurpose::Approval).map(|(keyid, _)| *keyid);
        let known = registry.versions.iter().filter(|one| one.untrusted.is_none());
        let sha256 = file.digest()?;
        let was = registry.latest(name).filter(|known| known.sha256 != sha256);
        Ok(TrustSkin {
            own_key: own.is_some() && own == keyid,
            known_key: known.map(|one| Some(one.keyid)).any(|one| one == keyid),
            was: was.and_then(|version| self.kept_skin(version.sha256, registry)),
            sha256,
            file,
        })
    }

    /// Why a skin that a person is asked about is not trusted after all, if it is not.
    pub(super) fn skin_outdated(&self, trust: &TrustSkin) -> Option<String> {
        let registry = self.skin_registry();
        if registry.trusted(trust.sha256).is_some() {
            return Some("exactly these bytes are trusted already".to_owned());
        }
        match self.trust_of(trust.file.clone(), &registry) {
            Ok(now) if now == *trust => None,
            Ok(_) => Some("the skins that you trust are others by now; look at it again".to_owned()),
            Err(why) => Some(why),
        }
    }

    /// A skin is not trusted any more: all of its name, or the one with these bytes. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no such skin is trusted.
    pub fn untrust_skin(
        &self,
        named: &str,
        reason: &str,
        by: impl Into<Sender>,
    ) -> Result<Vec<Digest>, Error> {
        let registry = self.skin_registry();
        let named = named.trim();
        let of_name = registry.versions.iter().filter(|one| one.untrusted.is_none());
        let gone = of_name.filter(|one| one.name == named || one.sha256.to_string() == named);
        let mut gone: Vec<(Digest, String)> = gone.map(|one| (one.sha256, one.name.clone())).collect();
        gone.sort_unstable();
        gone.dedup();
        if gone.is_empty() {
            return Err(Error::NotFound { kind: "trusted skin", id: named.to_owned() });
        }
        let actor = self.principal_of(by.into())?;
        let mut w = self.store_writeup(Point::DecisionRecord, actor, format!("skins:{named}"), None)?;
        for (skin_sha256, name) in &gone {
            let reason = Sensitive::from(reason.to_owned());
            w.push(SkinUntrusted { name: name.clone(), skin_sha256: *skin_sha256, reason });
        }
        self.commit(w)?;
        Ok(gone.into_iter().map(|(sha256, _)| sha256).collect())
    }

    /// A conversation has a skin from its next context on, also while a task of it is at work; or none. What it has already
    /// is left alone.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a conversation that is not there, or a skin that nobody trusts; [`Error::Refused`] for words that
    /// are no person's.
    pub fn choose_skin(
        &self,
        conversation: ConversationId,
        named: Option<&str>,
        by: impl Into<Sender>,
    ) -> Result<Option<(String, Digest)>, Error> {
        let sender = by.into();
        sender.speaks_for_the_person("choose a skin")?;
        let (conversation_id, _) = self.inbox(Some(conversation))?;
        let registry = self.skin_registry();
        let wanted = named.map(|named| meant(&registry, named)).transpose()?;
        let has = registry.chosen.get(&conversation_id).map(|one| one.sha256);
        if has == wanted.as_ref().map(|(_, sha256)| *sha256) {
            return Ok(wanted);
        }
        let actor = self.principal_of(sender)?;
        let mut w = self.store_writeup(Point::DecisionRecord, actor, conversation_id.to_string(), None)?;
        let (name, skin_sha256) = wanted.clone().unzip();
        let chosen_at = w.now;
        w.push(SkinChosen { conversation_id, name, skin_sha256, chosen_at });
        self.commit(w)?;
        Ok(wanted)
    }

    /// Skins as they were trusted and chosen.
    pub fn skin_registry(&self) -> SkinRegistry {
        lock(&self.store).skins.clone()
    }

    /// The skin of a conversation, where it has one that may be had now: read anew, signature and all. One that was erased, or is
    /// trusted no more, stands in nobody's way.
    pub(crate) fn skin_of(&self, conversation: ConversationId) -> Option<(Skin, Digest)> {
        let (sha256, registry) = {
            let store = lock(&self.store);
            (store.skins.chosen.get(&conversation)?.sha256, store.skins.clone())
        };
        self.kept_skin(sha256, &registry).map(|skin| (skin, sha256))
    }

    /// The skin with these bytes, if it may be had now.
    fn kept_skin(&self, sha256: Digest, registry: &SkinRegistry) -> Option<Skin> {
        if let Some((file, _)) = built_in().iter().find(|(_, known)| *known == sha256) {
            return Some(file.skin.clone());
        }
        let version = registry.trusted(sha256)?;
        let bytes = self.artifacts.read(&version.file.sha256).ok()?;
        SkinFile::read(&bytes).ok().map(|file| file.skin)
    }
}

/// Keeps a trusted skin, byte for byte, and records that it is.
pub(super) fn push_trusted(
    w: &mut Writeup<'_>,
    trust: &TrustSkin,
    action_request_id: ActionRequestId,
) -> Result<(), Error> {
    let bytes = trust.file.to_bytes().map_err(Error::Broken)?;
    let keyid = trust.file.keyid().ok_or_else(|| Error::Broken("a skin without a key".to_owned()))?;
    let skin = w.artifact(&bytes, NewArtifact::audit(ArtifactKind::Skin).trust(TRUSTED))?;
    w.push(SkinTrusted {
        name: trust.file.skin.name.clone(),
        version: trust.file.skin.version,
        skin_sha256: trust.sha256,
        keyid,
        skin,
        action_request_id,
        trusted_at: w.now,
    });
    Ok(())
}
