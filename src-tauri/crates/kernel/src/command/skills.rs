//! Skills: put to a person, trusted by the governed path for exactly their bytes, and not trusted any more (memory.md 6).

use super::submit::Submitted;
use crate::kernel::{Kernel, lock};
use crate::sender::Sender;
use crate::skill_registry::{SkillRegistry, SkillVersion};
use crate::writeup::{NewArtifact, Writeup};
use crate::{Error, redaction};
use acts::Register;
use effects::{FoundSkill, FoundSkills, SkillBook, SkillBytes};
use model::artifact::{ArtifactKind, TrustTier};
use model::body::{SkillTrusted, SkillUntrusted};
use model::fault::Point;
use model::ingress::Channel;
use model::skill::{SKILL_FILE, Skill, SkillPlace, SkillState, TrustSkill, WasTrusted, invisible_in};
use model::{ActionRequestId, Digest, Sensitive};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How far what a trusted skill says may be relied on: a person has checked it, and it is not their own word.
pub(crate) const TRUSTED: TrustTier = TrustTier::Verified;

/// A skill as a person sees it: found, and how it stands.
#[derive(Debug, Clone)]
pub struct SkillStanding {
    /// What was found.
    pub found: FoundSkill,
    /// How it stands.
    pub state: SkillState,
    /// Why, in words.
    pub why: Option<String>,
}

/// How each of the skills that were found stands: the one place where a name is resolved. Among those of one name that are
/// trusted the first is used; one that is not trusted stands in nobody's way.
pub fn standings(found: FoundSkills, registry: &SkillRegistry) -> (Vec<SkillStanding>, Vec<String>) {
    let mut used: Vec<(String, SkillPlace)> = Vec::new();
    let mut all = Vec::new();
    for one in found.skills {
        let (state, why) = match &one.skill {
            Err(why) => (SkillState::Broken, Some(why.clone())),
            Ok((skill, sha256)) => match registry.trusted(*sha256) {
                Some(_) => match used.iter().find(|(name, _)| *name == skill.name) {
                    Some((_, place)) => {
                        let why = format!("another skill of this name comes first, in {place}");
                        (SkillState::Shadowed, Some(why))
                    }
                    None => {
                        used.push((skill.name.clone(), one.place));
                        (SkillState::Trusted, None)
                    }
                },
                None => untrusted(registry, &skill.name, *sha256),
            },
        };
        all.push(SkillStanding { found: one, state, why });
    }
    (all, found.left_out)
}

fn untrusted(registry: &SkillRegistry, name: &str, sha256: Digest) -> (SkillState, Option<String>) {
    let taken_back =
        registry.0.iter().rfind(|one| one.sha256 == sha256).and_then(|one| one.untrusted.clone());
    match (taken_back, registry.latest(name)) {
        (Some(why), _) => (SkillState::Untrusted, Some(format!("its trust was taken back: {why}"))),
        (None, Some(_)) => {
            (SkillState::Changed, Some("its files are others than those that were trusted".to_owned()))
        }
        (None, None) => (SkillState::Untrusted, None),
    }
}

impl Kernel {
    /// Makes the task that asks a person whether a skill is trusted, the one that is [`meant`]. Nothing is trusted by this.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the skill, [`Error::Conflict`] when it has other bytes by now, [`Error::Input`] when it
    /// cannot be used or is trusted already.
    pub fn propose_skill(
        &self,
        name: &str,
        sha256: Option<Digest>,
        project: Option<&Path>,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        let registry = self.skill_registry();
        let (all, _) = standings(self.skills_named(project, name), &registry);
        let FoundSkill { place, skill, .. } = &meant(name, sha256, &all)?.found;
        let (_, found) = skill
            .as_ref()
            .map_err(|why| Error::Input(format!("the skill `{name}` cannot be used: {why}")))?;
        if registry.trusted(*found).is_some() {
            let why = format!("the skill `{name}` is trusted already, with exactly these bytes");
            return Err(Error::Input(why));
        }
        let read = self.read_skill(project, *place, name).map_err(Error::Input)?;
        if sha256.is_some_and(|seen| seen != read.sha256) {
            return Err(changed(name));
        }
        self.without_secrets(&read).map_err(Error::Input)?;
        let before = registry.latest(name).filter(|known| known.sha256 != read.sha256);
        let is_of_project = matches!(
            place,
            SkillPlace::ProjectHermit | SkillPlace::ProjectAgents | SkillPlace::ProjectClaude
        );
        let change = Register::Skill {
            trust: TrustSkill {
                invisible: invisible(&read),
                was: before.map(|known| self.was_trusted(known, &registry)),
                skill: read.skill,
                sha256: read.sha256,
                place: *place,
                project: project.filter(|_| is_of_project).map(crate::workspace::encode_root),
                text: read.text,
            },
        };
        let workspace_id = self.workspace(&self.made_rules_folder()?)?;
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// A skill is not trusted any more; the digest narrows it to one version of its name. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no such skill is trusted.
    pub fn untrust_skill(
        &self,
        name: &str,
        sha256: Option<Digest>,
        reason: &str,
        by: impl Into<Sender>,
    ) -> Result<Vec<Digest>, Error> {
        let registry = self.skill_registry();
        let mut trusted: Vec<Digest> =
            registry.0.iter().filter(|one| one.name == name).map(|one| one.sha256).collect();
        trusted.sort_unstable();
        trusted.dedup();
        trusted.retain(|one| registry.trusted(*one).is_some() && sha256.is_none_or(|only| only == *one));
        if trusted.is_empty() {
            return Err(Error::NotFound { kind: "trusted skill", id: name.to_owned() });
        }
        let actor = self.principal_of(by.into())?;
        let mut w = self.store_writeup(Point::DecisionRecord, actor, format!("skills:{name}"), None)?;
        for skill_sha256 in &trusted {
            w.push(SkillUntrusted {
                name: name.to_owned(),
                skill_sha256: *skill_sha256,
                reason: Sensitive::from(reason.to_owned()),
            });
        }
        self.commit(w)?;
        if let Some(skills) = self.ports.executors.skills() {
            // What cannot be removed now is named to no model any more, and its trust is gone all the same.
            trusted.iter().for_each(|one| drop(SkillBook::clear(skills.shelf, *one)));
        }
        Ok(trusted)
    }

    /// Skills as they were trusted.
    pub fn skill_registry(&self) -> SkillRegistry {
        lock(&self.store).skills.clone()
    }

    /// Skills as they lie there now in folders of this name.
    fn skills_named(&self, project: Option<&Path>, name: &str) -> FoundSkills {
        let only = BTreeSet::from([name.to_owned()]);
        let skills = self.ports.executors.skills();
        skills.map(|skills| skills.book.find(project, Some(&only))).unwrap_or_default()
    }

    /// A skill is kept byte for byte or not at all.
    ///
    /// # Errors
    /// In words, when a file of it, its name or what it says of itself holds the value of a secret.
    fn without_secrets(&self, read: &SkillBytes) -> Result<(), String> {
        let redactor = self.ports.redactor.now();
        let refused = |what: String, error: Error| match error {
            Error::Secret(named) => {
                format!("{what} the skill `{}` holds {named}; take it out and ask again", read.skill.name)
            }
            other => other.to_string(),
        };
        let record = seal::canon::to_canonical(&read.skill).map_err(|e| e.to_string())?;
        redaction::exact(&redactor, &record)
            .map_err(|error| refused("the first part or the name of a file of".to_owned(), error))?;
        for (path, bytes) in &read.files {
            redaction::exact(&redactor, bytes)
                .map_err(|error| refused(format!("the file `{}` of", acts::visible(path)), error))?;
        }
        Ok(())
    }

    /// A skill with its bytes, as they are now.
    pub(crate) fn read_skill(
        &self,
        project: Option<&Path>,
        place: SkillPlace,
        name: &str,
    ) -> Result<SkillBytes, String> {
        let skills = self.ports.executors.skills().ok_or_else(|| "there are no skills here".to_owned())?;
        skills.book.read(project, place, name)
    }

    /// A skill as it was trusted, from the store.
    pub(crate) fn skill_of(&self, version: &SkillVersion) -> Result<Skill, Error> {
        self.object_at(&version.record)
    }

    /// What was trusted before; of what was erased nothing is left to compare with, and all that is there is new.
    fn was_trusted(&self, version: &SkillVersion, registry: &SkillRegistry) -> WasTrusted {
        let skill = self.skill_of(version).unwrap_or_else(|_| Skill {
            name: version.name.clone(),
            description: String::new(),
            license: None,
            compatibility: None,
            allowed_tools: None,
            files: Vec::new(),
        });
        let bytes = skill.file(SKILL_FILE).and_then(|file| self.artifacts.read(&file.sha256).ok());
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        WasTrusted { skill, text, stands: registry.trusted(version.sha256).is_some() }
    }

    /// The bytes that a person said yes to, as they lie there now; in words, when they are others.
    pub(super) fn skill_as_approved(&self, trust: &TrustSkill) -> Result<SkillBytes, String> {
        let name = &trust.skill.name;
        let project = trust.project.as_deref().map(crate::workspace::decode_root).transpose();
        let project = project.map_err(|e| e.to_string())?;
        match self.read_skill(project.as_deref(), trust.place, name) {
            Ok(read)
                if read.sha256 == trust.sha256
                    && read.text == trust.text
                    && invisible(&read) == trust.invisible =>
            {
                // A secret may have become known since.
                self.without_secrets(&read)?;
                Ok(read)
            }
            Ok(_) => Err(format!("the skill `{name}` has changed since; look at it again and ask again")),
            Err(why) => Err(format!("the skill `{name}` cannot be read any more: {why}")),
        }
    }
}

/// The skill that a name means, whether it is shown or put to a person: the one with these bytes where a digest is given, else
/// the first in the order of places that can be used at all.
///
/// # Errors
/// [`Error::NotFound`] without one of this name, [`Error::Conflict`] when none has these bytes.
pub fn meant<'s>(
    name: &str,
    sha256: Option<Digest>,
    all: &'s [SkillStanding],
) -> Result<&'s SkillStanding, Error> {
    let of_name = || all.iter().filter(|one| one.found.folder == name);
    let first = of_name().next().ok_or_else(|| Error::NotFound { kind: "skill", id: name.to_owned() })?;
    let digest = |one: &SkillStanding| one.found.skill.as_ref().ok().map(|(_, sha256)| *sha256);
    match sha256 {
        None => Ok(of_name().find(|one| digest(one).is_some()).unwrap_or(first)),
        Some(seen) => of_name().find(|one| digest(one) == Some(seen)).ok_or_else(|| changed(name)),
    }
}

fn changed(name: &str) -> Error {
    Error::Conflict(format!("the skill `{name}` has changed since you looked at it; look again"))
}

/// Invisible characters of each file beside the text that a card shows.
fn invisible(read: &SkillBytes) -> BTreeMap<String, u64> {
    let others = read.files.iter().filter(|(path, _)| *path != SKILL_FILE);
    let texts = others.filter_map(|(path, bytes)| Some((path, std::str::from_utf8(bytes).ok()?)));
    let counted = texts.map(|(path, text)| (path.clone(), invisible_in(text)));
    counted.filter(|(_, many)| *many > 0).collect()
}

/// Keeps a trusted skill, and records that it is.
pub(super) fn push_trusted(
    w: &mut Writeup<'_>,
    read: &SkillBytes,
    action_request_id: ActionRequestId,
) -> Result<(), Error> {
    let mut files = Vec::new();
    for bytes in read.files.values() {
        // Byte for byte: what a model reads later is what its digest says.
        let sha256 = w.keep(bytes)?;
        let new = NewArtifact::audit(ArtifactKind::SkillText).media("text/plain; charset=utf-8");
        files.push(w.artifact_of(sha256, bytes.len() as u64, new.trust(TRUSTED)).artifact_id);
    }
    let bytes = seal::canon::to_canonical(&read.skill)?;
    let sha256 = w.keep(&bytes)?;
    let new = NewArtifact::audit(ArtifactKind::Skill).trust(TRUSTED).from(files);
    let skill = w.artifact_of(sha256, bytes.len() as u64, new);
    w.push(SkillTrusted {
        name: read.skill.name.clone(),
        skill_sha256: read.sha256,
        skill,
        action_request_id,
        trusted_at: w.now,
    });
    Ok(())
}
