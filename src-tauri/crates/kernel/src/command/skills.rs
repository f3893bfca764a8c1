//! Skills: put to a person, trusted by the governed path for exactly their bytes, and not trusted any more (memory.md 6).

use super::submit::Submitted;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::sender::Sender;
use crate::skill_registry::{SkillRegistry, SkillVersion};
use crate::writeup::{NewArtifact, Writeup};
use acts::Register;
use effects::{FoundSkill, FoundSkills, SkillBytes};
use model::artifact::{ArtifactKind, TrustTier};
use model::body::{SkillTrusted, SkillUntrusted};
use model::fault::Point;
use model::ingress::Channel;
use model::skill::{SKILL_FILE, Skill, SkillPlace, SkillState, TrustSkill, WasTrusted};
use model::{ActionRequestId, Digest, Sensitive};
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
    /// Makes the task that asks a person whether a skill is trusted: the one with these bytes where a digest is given, else
    /// the first of its name that is not trusted yet. Nothing is trusted by this.
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
        let found = self.found_skills(project);
        let of_name: Vec<FoundSkill> = found.skills.into_iter().filter(|one| one.folder == name).collect();
        let chosen = chosen(name, sha256, &of_name, &registry)?;
        let read = self.read_skill(project, chosen.place, name).map_err(Error::Input)?;
        if sha256.is_some_and(|seen| seen != read.sha256) {
            return Err(Error::Conflict(format!(
                "the skill `{name}` has changed since you looked at it; look again"
            )));
        }
        let was = match registry.latest(name).filter(|known| known.sha256 != read.sha256) {
            Some(known) => Some(self.was_trusted(known)?),
            None => None,
        };
        let is_of_project = matches!(
            chosen.place,
            SkillPlace::ProjectHermit | SkillPlace::ProjectAgents | SkillPlace::ProjectClaude
        );
        let change = Register::Skill {
            trust: TrustSkill {
                skill: read.skill,
                sha256: read.sha256,
                place: chosen.place,
                project: project.filter(|_| is_of_project).map(crate::workspace::encode_root),
                text: read.text,
                was,
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
        Ok(trusted)
    }

    /// Skills as they were trusted.
    pub fn skill_registry(&self) -> SkillRegistry {
        lock(&self.store).skills.clone()
    }

    /// Skills as they lie there now.
    pub fn found_skills(&self, project: Option<&Path>) -> FoundSkills {
        self.ports.executors.skills().map(|skills| skills.book.find(project, None)).unwrap_or_default()
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

    fn was_trusted(&self, version: &SkillVersion) -> Result<WasTrusted, Error> {
        let skill = self.skill_of(version)?;
        let text = match skill.file(SKILL_FILE) {
            Some(file) => String::from_utf8_lossy(&self.artifacts.read(&file.sha256)?).into_owned(),
            None => String::new(),
        };
        Ok(WasTrusted { skill, text })
    }

    /// The bytes that a person said yes to, as they lie there now; in words, when they are others.
    pub(super) fn skill_as_approved(&self, trust: &TrustSkill) -> Result<SkillBytes, String> {
        let name = &trust.skill.name;
        let project = trust.project.as_deref().map(crate::workspace::decode_root).transpose();
        let project = project.map_err(|e| e.to_string())?;
        match self.read_skill(project.as_deref(), trust.place, name) {
            Ok(read) if read.sha256 == trust.sha256 && read.text == trust.text => Ok(read),
            Ok(_) => Err(format!("the skill `{name}` has changed since; look at it again and ask again")),
            Err(why) => Err(format!("the skill `{name}` cannot be read any more: {why}")),
        }
    }
}

/// The skill that is meant.
fn chosen<'f>(
    name: &str,
    sha256: Option<Digest>,
    of_name: &'f [FoundSkill],
    registry: &SkillRegistry,
) -> Result<&'f FoundSkill, Error> {
    if of_name.is_empty() {
        return Err(Error::NotFound { kind: "skill", id: name.to_owned() });
    }
    let digest = |one: &FoundSkill| one.skill.as_ref().ok().map(|(_, sha256)| *sha256);
    let is_trusted = |one: Digest| registry.trusted(one).is_some();
    let mut open = of_name.iter().filter(|one| digest(one).is_some_and(|one| !is_trusted(one)));
    if let Some(one) = open.find(|one| sha256.is_none_or(|seen| digest(one) == Some(seen))) {
        return Ok(one);
    }
    let known = of_name.iter().any(|one| digest(one).is_some_and(is_trusted));
    if known && sha256.is_none_or(is_trusted) {
        return Err(Error::Input(format!("the skill `{name}` is trusted already, with exactly these bytes")));
    }
    if sha256.is_some() {
        return Err(Error::Conflict(format!(
            "the skill `{name}` has changed since you looked at it; look again"
        )));
    }
    let why = of_name.iter().find_map(|one| one.skill.as_ref().err());
    Err(Error::Input(format!("the skill `{name}` cannot be used: {}", why.map_or("", String::as_str))))
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
