//! Skills as they lie on the disk: found in the project and in the person's own folders, read without following a link,
//! within bounds. Nothing here says whether one is trusted.

mod front;
mod laid_out;
mod walk;

use crate::workspace::folder::Folder;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use front::Front;
use model::limits::{SKILL_TEXT_BYTES_MAX, SKILLS_MAX};
use model::skill::{SKILL_FILE, Skill, SkillFile, SkillPlace};
use model::{Digest, RelPath};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use walk::Entry;

/// Where the person's own skills lie.
#[derive(Debug, Clone, Default)]
pub struct SkillPlaces {
    /// The store's folder.
    pub store: Option<PathBuf>,
    /// The person's home.
    pub home: Option<PathBuf>,
}

/// One folder with a `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSkill {
    /// Where.
    pub place: SkillPlace,
    /// Its folder's name.
    pub folder: String,
    /// Its folder.
    pub path: PathBuf,
    /// The skill and its digest; or why it cannot be used, and what to do.
    pub skill: Result<(Skill, Digest), String>,
    /// What a person should know of it.
    pub notes: Vec<String>,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundSkills {
    /// Skills in the order of their places and names.
    pub skills: Vec<FoundSkill>,
    /// What was not looked at, and why.
    pub left_out: Vec<String>,
}

/// A skill with its bytes, as they were at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillBytes {
    /// The skill.
    pub skill: Skill,
    /// Its digest.
    pub sha256: Digest,
    /// All of its `SKILL.md`.
    pub text: String,
    /// Every file's bytes, by path.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// Files of a skill with what the system says of each, and what came of reading them then.
type Known = (Vec<Entry>, Result<(Skill, Digest), String>, Vec<String>);

/// Finds skills, and does not read anew what is as it was.
#[derive(Debug, Default)]
pub struct SkillBook {
    places: SkillPlaces,
    known: Mutex<BTreeMap<PathBuf, Known>>,
}

/// A file that changed so lately may change again without that showing in its times.
const SETTLED: Duration = Duration::from_secs(2);
/// Entries of one place whose names are put in order before the first of them are looked at.
const LISTED_MAX: usize = 4_096;
/// Folders whose skills are remembered.
const KNOWN_MAX: usize = 4_096;

impl SkillBook {
    /// Skills of a person at these places.
    pub fn new(places: SkillPlaces) -> Self {
        Self { places, known: Mutex::default() }
    }

    /// Skills of a project, if one is named, and of the person; those in folders of these names alone, where some are named.
    pub fn find(&self, project: Option<&Path>, only: Option<&BTreeSet<String>>) -> FoundSkills {
        let mut found = FoundSkills::default();
        for (place, root, below) in self.roots(project) {
            let shown = below.iter().fold(root.clone(), |path, part| path.join(part));
            match open_below(&root, below) {
                Ok(None) => {}
                Ok(Some(folder)) => self.look(place, &shown, &folder, only, &mut found),
                Err(why) => found.left_out.push(format!("`{}` is not looked at: {why}", shown.display())),
            }
        }
        found
    }

    /// The skill of a folder with all its bytes, read now.
    ///
    /// # Errors
    /// Why it cannot be used, in words.
    pub fn read(&self, project: Option<&Path>, place: SkillPlace, name: &str) -> Result<SkillBytes, String> {
        let gone = || format!("there is no skill `{name}` any more");
        let at = self.roots(project).into_iter().find(|(one, ..)| *one == place);
        let (_, root, below) = at.ok_or_else(gone)?;
        let path = RelPath::from_bytes(name.as_bytes()).map_err(|e| e.to_string())?;
        let folder = open_below(&root, below)?.ok_or_else(gone)?;
        let folder = folder.enter(name.as_bytes(), &path).map_err(|_| gone())?;
        read_whole(name, &folder).map(|(bytes, _)| bytes)
    }

    /// Puts the files of a trusted skill where commands can read them, below `shelf`, and returns their folder. What lies
    /// there already is used if it is byte for byte the same.
    ///
    /// # Errors
    /// In words, when they cannot be written.
    pub fn lay_out(shelf: &Path, skill: &SkillBytes) -> Result<PathBuf, String> {
        laid_out::lay_out(shelf, skill)
    }

    /// Takes away what [`Self::lay_out`] put below `shelf` for the skill with these bytes, if anything.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn clear(shelf: &Path, sha256: Digest) -> std::io::Result<()> {
        laid_out::clear(shelf, sha256)
    }

    fn roots(&self, project: Option<&Path>) -> Vec<(SkillPlace, PathBuf, &'static [&'static str])> {
        let mut roots: Vec<(SkillPlace, PathBuf, &'static [&'static str])> = Vec::new();
        if let Some(project) = project {
            roots.push((SkillPlace::ProjectHermit, project.to_owned(), &[".hermit", "skills"]));
            roots.push((SkillPlace::ProjectAgents, project.to_owned(), &[".agents", "skills"]));
            roots.push((SkillPlace::ProjectClaude, project.to_owned(), &[".claude", "skills"]));
        }
        if let Some(store) = &self.places.store {
            roots.push((SkillPlace::OwnHermit, store.clone(), &["skills"]));
        }
        // Somebody who works in their home has these as the project's.
        if let Some(home) = self.places.home.as_ref().filter(|home| Some(home.as_path()) != project) {
            roots.push((SkillPlace::OwnAgents, home.clone(), &[".agents", "skills"]));
            roots.push((SkillPlace::OwnClaude, home.clone(), &[".claude", "skills"]));
        }
        roots
    }

    fn look(
        &self,
        place: SkillPlace,
        shown: &Path,
        folder: &Folder,
        only: Option<&BTreeSet<String>>,
        found: &mut FoundSkills,
    ) {
        let names = match only {
            // Whoever names them has them, however many others lie there.
            Some(only) => only.iter().filter(|name| !name.contains(['/', '\\'])).cloned().collect(),
            None => match listed(folder) {
                Ok((names, false)) => names,
                Ok((names, true)) => {
                    found.left_out.push(format!(
                        "`{}` holds more than {SKILLS_MAX} entries; the others are not looked at",
                        shown.display()
                    ));
                    names
                }
                Err(error) => {
                    return found.left_out.push(format!("`{}` cannot be read: {error}", shown.display()));
                }
            },
        };
        for name in names {
            match self.one(place, shown, folder, &name) {
                Ok(Some(one)) => found.skills.push(one),
                Ok(None) => {}
                Err(why) => found.left_out.push(format!("`{}`: {why}", shown.join(&name).display())),
            }
        }
    }

    /// The skill in a folder; none where it has no `SKILL.md`.
    fn one(
        &self,
        place: SkillPlace,
        shown: &Path,
        parent: &Folder,
        name: &str,
    ) -> Result<Option<FoundSkill>, String> {
        let at = RelPath::from_bytes(name.as_bytes()).map_err(|e| e.to_string())?;
        let stat = match parent.stat(name.as_bytes(), &at) {
            Err(crate::Error::Absent(_)) => return Ok(None),
            other => other.map_err(|e| e.to_string())?,
        };
        match stat.kind.name() {
            "folder" => {}
            "symlink" => return Err("it is a link, and not followed; put the folder itself there".to_owned()),
            _ => return Ok(None),
        }
        let folder = parent.enter(name.as_bytes(), &at).map_err(|e| e.to_string())?;
        let main = RelPath::from_bytes(SKILL_FILE.as_bytes()).map_err(|e| e.to_string())?;
        if folder.stat(SKILL_FILE.as_bytes(), &main).is_err() {
            return Ok(None);
        }
        let path = shown.join(name);
        let (skill, notes) = self.known(&path, name, &folder);
        Ok(Some(FoundSkill { place, folder: name.to_owned(), path, skill, notes }))
    }

    /// The skill in a folder: as it is known, where no file of it says that it changed since.
    fn known(
        &self,
        path: &Path,
        name: &str,
        folder: &Folder,
    ) -> (Result<(Skill, Digest), String>, Vec<String>) {
        let entries = match walk::entries(folder) {
            Ok(entries) => entries,
            Err(why) => return (Err(why), Vec::new()),
        };
        if let Some((then, skill, notes)) =
            self.known.lock().unwrap_or_else(PoisonError::into_inner).get(path)
            && *then == entries
        {
            return (skill.clone(), notes.clone());
        }
        let (skill, notes) = match read_whole(name, folder) {
            Ok((bytes, notes)) => (Ok((bytes.skill, bytes.sha256)), notes),
            Err(why) => (Err(why), Vec::new()),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if is_settled(&entries) && walk::entries(folder).is_ok_and(|now| now == entries) {
            if known.len() >= KNOWN_MAX {
                known.clear();
            }
            known.insert(path.to_owned(), (entries, skill.clone(), notes.clone()));
        } else {
            known.remove(path);
        }
        (skill, notes)
    }
}

/// Names in a place, in their order, and whether there are more of them.
fn listed(folder: &Folder) -> std::io::Result<(Vec<String>, bool)> {
    let (names, more) = folder.entries(LISTED_MAX)?;
    let mut names: Vec<String> = names.into_iter().filter_map(|name| String::from_utf8(name).ok()).collect();
    names.sort_unstable();
    let more = more || names.len() > SKILLS_MAX;
    names.truncate(SKILLS_MAX);
    Ok((names, more))
}

/// Whether nothing of it changed so lately that another change could have the same time.
fn is_settled(entries: &[Entry]) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let before = i64::try_from(now.saturating_sub(SETTLED).as_nanos()).unwrap_or(i64::MAX);
    entries.iter().all(|entry| entry.stat.changed_ns > 0 && entry.stat.changed_ns < before)
}

/// Opens a folder below a root, and no link on the way; none where it is not there.
fn open_below(root: &Path, below: &[&str]) -> Result<Option<Folder>, String> {
    let dir = match Dir::open_ambient_dir(root, ambient_authority()) {
        Ok(dir) => dir,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut folder = Folder::root(dir).map_err(|e| e.to_string())?;
    let mut at = RelPath::ROOT;
    for part in below {
        at = at.join(part.as_bytes()).map_err(|e| e.to_string())?;
        folder = match folder.enter(part.as_bytes(), &at) {
            Ok(inner) => inner,
            Err(crate::Error::Absent(_) | crate::Error::NotAFolder(_)) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
    }
    Ok(Some(folder))
}

/// Whether a text can be the `SKILL.md` of a skill of this name.
///
/// # Errors
/// Why not, in words, and what to do.
pub fn check_skill(name: &str, text: &str) -> Result<(), String> {
    front_of(name, text.as_bytes()).map(drop)
}

/// A `SKILL.md` as text, and what it says of itself in a folder of this name.
fn front_of(name: &str, main: &[u8]) -> Result<(String, Front), String> {
    if main.len() as u64 > SKILL_TEXT_BYTES_MAX {
        return Err(format!(
            "its `{SKILL_FILE}` has {} bytes, and {SKILL_TEXT_BYTES_MAX} at most; move parts of it into files beside it",
            main.len()
        ));
    }
    let text = String::from_utf8(main.to_vec())
        .map_err(|_| format!("its `{SKILL_FILE}` is no UTF-8 text; save it as such"))?;
    let front = front::read(&text)?;
    if front.name != name {
        let own = &front.name;
        return Err(format!("its folder is called `{name}` and its `name` is `{own}`; give both the same"));
    }
    Ok((text, front))
}

/// Reads all of a skill, and what a person should know of it.
fn read_whole(name: &str, folder: &Folder) -> Result<(SkillBytes, Vec<String>), String> {
    let files = walk::bytes(folder)?;
    let main = files.get(SKILL_FILE).ok_or_else(|| format!("it has no `{SKILL_FILE}`"))?;
    let (text, front) = front_of(name, main)?;
    let Front { name: own, description, license, compatibility, allowed_tools, notes } = front;
    let file = |(path, bytes): (&String, &Vec<u8>)| SkillFile {
        path: path.clone(),
        byte_size: bytes.len() as u64,
        sha256: Digest::of(bytes),
    };
    let skill = Skill {
        name: own,
        description,
        license,
        compatibility,
        allowed_tools,
        files: files.iter().map(file).collect(),
    };
    let sha256 = skill.digest().map_err(|e| e.to_string())?;
    Ok((SkillBytes { skill, sha256, text, files }, notes))
}

/// What stands behind the front of a `SKILL.md`.
pub fn skill_body(text: &str) -> &str {
    front::apart(text).map_or(text, |(_, behind)| behind)
}

#[cfg(test)]
mod tests;
