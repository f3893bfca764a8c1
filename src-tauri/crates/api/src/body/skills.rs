//! Skills: what there is and how each stands, proposals to a person, and what only narrows.

use super::knowledge::projects;
use super::task::{channel, of_submitted};
use crate::caller::sender;
use crate::files::absolute;
use crate::{Host, Wire as _, fold, not_found, usage};
use kernel::command::dreamer::skill_drafts;
use kernel::command::skills::{SkillStanding, meant, standings};
use kernel::skill_registry::SkillRegistry;
use kernel::{SkillBook, SkillBytes};
use model::Digest;
use model::ingress::Channel;
use model::knowledge::Project;
use model::skill::SkillState;
use std::collections::BTreeSet;
use std::path::PathBuf;
use wire::skills::{
    Adopt, Drafts, List, PlaybookLine, Show, SkillDraft, SkillDrafts, SkillFile, SkillList, SkillRow,
    SkillShown, SkillVersion, Trust, Untrust, Untrusted,
};
use wire::task::Submitted;
use wire::{Code, Error};

pub(crate) fn list(host: &dyn Host, p: List) -> Result<SkillList, Error> {
    let project = project(host, p.folder.as_deref())?;
    let registry = registry(host)?;
    let (all, left_out) = standings(book(host)?.find(project.as_deref(), None), &registry);
    let playbooks = host.playbooks().into_iter();
    Ok(SkillList {
        skills: all.iter().map(|one| row(one, &registry)).collect(),
        playbooks: playbooks.map(|one| PlaybookLine { name: one.name, about: one.about }).collect(),
        left_out,
    })
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<SkillShown, Error> {
    let project = project(host, p.folder.as_deref())?;
    let registry = registry(host)?;
    let wanted = digest(p.sha256.as_deref())?;
    let only = BTreeSet::from([p.name.clone()]);
    let (all, _) = standings(book(host)?.find(project.as_deref(), Some(&only)), &registry);
    let one = match meant(&p.name, wanted, &all) {
        Err(kernel::Error::NotFound { .. }) => return Err(missing(&p.name)),
        other => other.wire()?,
    };
    if let (SkillState::Broken, Some(why)) = (one.state, &one.why) {
        return Err(usage(format!("the skill `{}` cannot be used: {why}", p.name))
            .hint(format!("it lies in `{}`", one.found.path.display())));
    }
    let read = book(host)?.read(project.as_deref(), one.found.place, &p.name).map_err(usage)?;
    if !one.found.skill.as_ref().is_ok_and(|(_, sha256)| *sha256 == read.sha256) {
        return Err(Error::new(
            Code::Conflict,
            format!("the skill `{}` is being changed; look again", p.name),
        ));
    }
    let file_text = p.file.as_deref().map(|path| file_text(&read, path)).transpose()?;
    Ok(shown(row(one, &registry), read, file_text, &registry))
}

fn shown(
    skill: SkillRow,
    read: SkillBytes,
    file_text: Option<String>,
    registry: &SkillRegistry,
) -> SkillShown {
    let files = read.skill.files.iter().map(|file| SkillFile {
        path: file.path.clone(),
        byte_size: file.byte_size,
        sha256: file.sha256.to_string(),
    });
    let versions = registry.0.iter().filter(|one| one.name == read.skill.name).map(|one| SkillVersion {
        sha256: one.sha256.to_string(),
        since: one.since.0,
        untrusted: one.untrusted.clone(),
        artifact_id: one.record.artifact_id.to_string(),
    });
    SkillShown {
        files: files.collect(),
        versions: versions.collect(),
        skill,
        text: read.text,
        license: read.skill.license,
        compatibility: read.skill.compatibility,
        allowed_tools: read.skill.allowed_tools,
        file_text,
    }
}

fn file_text(read: &SkillBytes, path: &str) -> Result<String, Error> {
    let bytes = read.files.get(path).ok_or_else(|| not_found("file of the skill", path))?;
    String::from_utf8(bytes.clone()).map_err(|_| usage(format!("`{path}` is no text")))
}

pub(crate) fn trust(host: &dyn Host, p: Trust) -> Result<Submitted, Error> {
    let project = project(host, p.folder.as_deref())?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let by = (channel(p.channel.as_deref())?, key);
    let sha256 = digest(p.sha256.as_deref())?;
    let submitted = host.kernel()?.propose_skill(&p.name, sha256, project.as_deref(), by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn drafts(host: &dyn Host, p: Drafts) -> Result<SkillDrafts, Error> {
    let root = host.workspace(&absolute("folder", &p.folder)?)?;
    let known = projects(host)?;
    let Some((hash, _)) = known.iter().find(|(_, (_, roots))| roots.contains(&root)) else {
        return Ok(SkillDrafts { rows: Vec::new() });
    };
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let reader = host.reader()?;
    let store = fold::store_state(&reader)?;
    let of = Project { hash: *hash, name };
    let all = skill_drafts(&store, &reader, &host.query()?, &of).wire()?;
    // What lies there already is no draft any more.
    let only: BTreeSet<String> = all.iter().map(|one| one.skill.name.clone()).collect();
    let there = book(host)?.find(Some(&root), Some(&only));
    let is_new = |one: &kernel::command::dreamer::SkillDraft| {
        !there.skills.iter().any(|found| found.folder == one.skill.name)
    };
    let row = |one: kernel::command::dreamer::SkillDraft| SkillDraft {
        name: one.skill.name,
        description: one.skill.description,
        text: one.skill.text,
        trust: one.trust_tier,
        memory_id: one.memory_id.to_string(),
        tasks: one.tasks.iter().map(ToString::to_string).collect(),
    };
    Ok(SkillDrafts { rows: all.into_iter().filter(is_new).map(row).collect() })
}

pub(crate) fn adopt(host: &dyn Host, p: Adopt) -> Result<Submitted, Error> {
    let root = host.workspace(&absolute("folder", &p.folder)?)?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let by = (channel(p.channel.as_deref())?, key);
    let submitted = host.kernel()?.propose_skill_draft(&p.name, &root, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn untrust(host: &dyn Host, p: Untrust) -> Result<Untrusted, Error> {
    let by = sender(host, Channel::Cli);
    let reason = p.reason.unwrap_or_else(|| format!("taken back by a {}", by.by));
    let gone = host.kernel()?.untrust_skill(&p.name, digest(p.sha256.as_deref())?, &reason, by).wire()?;
    Ok(Untrusted { name: p.name, sha256: gone.iter().map(Digest::to_string).collect() })
}

pub(crate) fn registry(host: &dyn Host) -> Result<SkillRegistry, Error> {
    Ok(fold::store_state(&host.reader()?)?.skills)
}

pub(crate) fn book(host: &dyn Host) -> Result<&SkillBook, Error> {
    host.skill_book().ok_or_else(|| usage("this process looks for no skills"))
}

fn project(host: &dyn Host, folder: Option<&str>) -> Result<Option<PathBuf>, Error> {
    folder.map(|folder| host.workspace(&absolute("folder", folder)?)).transpose()
}

fn digest(text: Option<&str>) -> Result<Option<Digest>, Error> {
    text.map(|text| text.trim().parse::<Digest>().wire()).transpose()
}

fn missing(name: &str) -> Error {
    not_found("skill", name).hint("`hermit skills list` shows those of a folder and your own")
}

/// A skill as it stands, in a row.
pub(crate) fn row(one: &SkillStanding, registry: &SkillRegistry) -> SkillRow {
    let known = one.found.skill.as_ref().ok();
    let trusted = known.and_then(|(_, sha256)| registry.trusted(*sha256));
    SkillRow {
        name: one.found.folder.clone(),
        description: known.map(|(skill, _)| skill.one_line()),
        place: one.found.place,
        path: one.found.path.display().to_string(),
        state: one.state,
        why: one.why.clone(),
        notes: one.found.notes.clone(),
        sha256: known.map(|(_, sha256)| sha256.to_string()),
        files: known.map_or(0, |(skill, _)| u32::try_from(skill.files.len()).unwrap_or(u32::MAX)),
        byte_size: known.map_or(0, |(skill, _)| skill.byte_size()),
        since: trusted.map(|version| version.since.0),
    }
}
