//! Skills in a trial: each task has those that it could use, as they lie there and as a person trusts them. A changed `SKILL.md` takes the
//! place of the one of its name, beside the same further files; where no task has a skill of that name, every task has it.

use super::case::Handed;
use super::recording::{coded, decoded};
use ::successor::{Change, Patch, WordsItem};
use effects::check_skill;
use kernel::command::skills::standings;
use kernel::{Kernel, SkillBytes};
use model::Digest;
use model::limits::SKILLS_TOLD_MAX;
use model::skill::{SKILL_FILE, SkillState};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A skill, among words.
pub(super) const SKILL: &str = "skill";
/// Where a task finds skills of its folder.
const FOLDER: &str = ".hermit/skills";
/// Bytes of one skill that a clone is given, and of all of them.
const ONE_BYTES_MAX: usize = 512 * 1024;
const ALL_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A skill that a clone is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandedSkill {
    /// Its name.
    pub name: String,
    /// SHA-256 over all of its files, as it stands.
    pub sha256: Digest,
    /// Its files by their paths, in base64.
    pub files: BTreeMap<String, String>,
}

/// Skills of the tasks of a case, each once.
#[derive(Default)]
pub(super) struct Skills {
    /// Those that a clone is given.
    pub(super) all: Vec<HandedSkill>,
    bytes: usize,
}

impl Skills {
    /// Digests of those that a task in this folder could use. One that is too large, or holds the value of a secret, stays behind.
    pub(super) fn of_folder(&mut self, kernel: &Kernel, folder: Option<&Path>) -> Vec<Digest> {
        let usable = usable(kernel, folder).into_iter();
        usable.filter(|skill| self.takes(kernel, skill)).map(|skill| skill.sha256).collect()
    }

    fn takes(&mut self, kernel: &Kernel, skill: &SkillBytes) -> bool {
        if self.all.iter().any(|one| one.sha256 == skill.sha256) {
            return true;
        }
        let bytes = skill.files.values().fold(0_usize, |sum, file| sum.saturating_add(file.len()));
        let redactor = kernel.ports().redactor.now();
        let is_fit = bytes <= ONE_BYTES_MAX
            && self.bytes.saturating_add(bytes) <= ALL_BYTES_MAX
            && self.all.len() < SKILLS_TOLD_MAX
            && skill.files.values().all(|file| redactor.holds(file).is_empty());
        if is_fit {
            self.bytes = self.bytes.saturating_add(bytes);
            let files = skill.files.iter().map(|(path, file)| (path.clone(), coded(file)));
            let (name, sha256) = (skill.skill.name.clone(), skill.sha256);
            self.all.push(HandedSkill { name, sha256, files: files.collect() });
        }
        is_fit
    }
}

/// Skills that a task in this folder could use now: trusted, there with the same bytes, and the first of their names.
fn usable(kernel: &Kernel, folder: Option<&Path>) -> Vec<SkillBytes> {
    let registry = kernel.skill_registry();
    let names = registry.names();
    let Some(skills) = kernel.ports().executors.skills().filter(|_| !names.is_empty()) else {
        return Vec::new();
    };
    let (all, _) = standings(skills.book.find(folder, Some(&names)), &registry);
    let mut usable = Vec::new();
    for one in all.into_iter().filter(|one| one.state == SkillState::Trusted) {
        // One that changes in this moment is used by nobody.
        if let Ok(read) = skills.book.read(folder, one.found.place, &one.found.folder)
            && registry.trusted(read.sha256).is_some()
        {
            usable.push(read);
        }
    }
    usable
}

/// Skills of a change.
fn changed(patch: Option<&Patch>) -> impl Iterator<Item = &WordsItem> {
    let items: &[WordsItem] = match patch.map(|patch| &patch.change) {
        Some(Change::Words { items }) => items,
        _ => &[],
    };
    items.iter().filter(|item| item.what == SKILL)
}

/// Why a changed skill cannot be tried; none where it can.
pub(super) fn untriable(item: &WordsItem) -> Option<String> {
    let why = check_skill(&item.name, &item.text).err()?;
    Some(format!("the skill `{}` cannot be tried: {why}", item.name))
}

/// Why a change of a skill would not be beside the skill as it is; none where no task has it because there is none, or one has it.
pub(super) fn unseen(kernel: &Kernel, patch: &Patch, handed: &Handed) -> Option<String> {
    let registry = kernel.skill_registry();
    let is_handed = |name: &str| handed.skills.iter().any(|one| one.name == name);
    let is_lost = |item: &&WordsItem| registry.names().contains(&item.name) && !is_handed(&item.name);
    let lost = changed(Some(patch)).find(is_lost)?;
    Some(format!(
        "the skill `{}` that you trust cannot be used in these tasks as it lies there: it has changed, lies elsewhere, holds the \
         value of a secret, or has more than {ONE_BYTES_MAX} bytes. Put back what you trust, and try the change from a file of its own",
        lost.name
    ))
}

/// The skills of a task of the case, by its place there, with the change in them; their digests are those before it.
pub(super) fn of_task(handed: &Handed, at: usize) -> Vec<HandedSkill> {
    let own = handed.terms.get(at).map(|terms| terms.skills.as_slice()).unwrap_or_default();
    let is_own = |skill: &&HandedSkill| own.contains(&skill.sha256);
    let mut skills: Vec<HandedSkill> = handed.skills.iter().filter(is_own).cloned().collect();
    for item in changed(handed.case.patch.as_ref()) {
        let file = (SKILL_FILE.to_owned(), coded(item.text.as_bytes()));
        match skills.iter_mut().find(|skill| skill.name == item.name) {
            Some(skill) => skill.files.extend([file]),
            None if handed.skills.iter().all(|skill| skill.name != item.name) => {
                let files = BTreeMap::from([file]);
                skills.push(HandedSkill { name: item.name.clone(), sha256: Digest::ZERO, files });
            }
            None => {}
        }
    }
    skills
}

/// Puts a skill where a task in this folder finds it.
///
/// # Errors
/// In words.
pub(super) fn lay_down(skill: &HandedSkill, root: &Path) -> Result<(), String> {
    let folder: PathBuf = [root, Path::new(FOLDER), Path::new(&skill.name)].iter().collect();
    for (path, file) in &skill.files {
        let bytes = decoded(file).ok_or_else(|| format!("the skill `{}` cannot be read", skill.name))?;
        let at = folder.join(path);
        let within = at.parent().unwrap_or(&folder);
        std::fs::create_dir_all(within)
            .and_then(|()| std::fs::write(&at, bytes))
            .map_err(|e| format!("`{}`: {e}", at.display()))?;
    }
    Ok(())
}

/// Takes away what [`lay_down`] put into a folder: many tasks have the same skills, and the home of a clone is to hold them once.
///
/// # Errors
/// In words.
pub(super) fn take_away(root: &Path) -> Result<(), String> {
    let folder = root.join(FOLDER);
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("`{}`: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::successor::ParentPlaces;
    use crate::successor::case::TaskTerms;
    use ::successor::{Budget, Case};
    use words::successor::Arm;

    fn text(name: &str, says: &str) -> String {
        format!("---\nname: {name}\ndescription: {says}\n---\nDo it.\n")
    }

    fn item(name: &str, says: &str) -> WordsItem {
        WordsItem { what: SKILL.to_owned(), name: name.to_owned(), text: text(name, says) }
    }

    /// Two tasks, of which the first has the skill `letters` of two files.
    fn handed(change: Option<WordsItem>) -> Handed {
        let budget =
            Budget { wall_ms: 1, cpu_ms: 1, memory_bytes: 1, disk_bytes: 1, processes: 1, tokens: 1 };
        let patch = change.map(|item| Patch {
            says: "it writes otherwise".to_owned(),
            sources: vec!["own".to_owned()],
            change: Change::Words { items: vec![item] },
        });
        let case = Case {
            trial_id: "trial".to_owned(),
            seed: 1,
            budget,
            patch,
            rules: String::new(),
            profile: "local_edit_allowed".to_owned(),
            tools: Vec::new(),
            tasks: Vec::new(),
        };
        let sha256 = Digest::of(b"letters");
        let files = [(SKILL_FILE, text("letters", "calm")), ("parts/more.md", "more of it\n".to_owned())];
        let files = files.map(|(path, file)| (path.to_owned(), coded(file.as_bytes())));
        Handed {
            case,
            arm: Arm::Parent,
            words: Vec::new(),
            skills: vec![HandedSkill { name: "letters".to_owned(), sha256, files: BTreeMap::from(files) }],
            terms: vec![TaskTerms { skills: vec![sha256], ..TaskTerms::default() }, TaskTerms::default()],
            file_rules: None,
            model: None,
            places: ParentPlaces::default(),
        }
    }

    fn laid_down(skills: &[HandedSkill]) -> Vec<(String, String)> {
        let root = tempfile::TempDir::new().expect("a folder");
        let mut found = Vec::new();
        for skill in skills {
            lay_down(skill, root.path()).expect("it is there");
            for path in skill.files.keys() {
                let at = root.path().join(".hermit/skills").join(&skill.name).join(path);
                found.push((format!("{}/{path}", skill.name), std::fs::read_to_string(at).expect("text")));
            }
        }
        found
    }

    #[test]
    fn a_changed_text_stands_beside_the_same_files_and_a_new_skill_is_there_for_every_task() {
        let all = |handed: &Handed| [0, 1].map(|at| laid_down(&of_task(handed, at)));
        let more = ("letters/parts/more.md".to_owned(), "more of it\n".to_owned());
        let main = |name: &str, says: &str| (format!("{name}/{SKILL_FILE}"), text(name, says));
        let stands = vec![main("letters", "calm"), more.clone()];
        assert_eq!(all(&handed(None)), [stands.clone(), Vec::new()]);
        let changed = all(&handed(Some(item("letters", "loud"))));
        assert_eq!(changed, [vec![main("letters", "loud"), more], Vec::new()]);
        let new = all(&handed(Some(item("other", "short"))));
        let other = main("other", "short");
        assert_eq!(new, [[stands, vec![other.clone()]].concat(), vec![other]]);
    }

    #[test]
    fn a_text_that_is_no_skill_of_its_name_is_not_tried() {
        assert_eq!(untriable(&item("letters", "calm")), None);
        let other = WordsItem { name: "other".to_owned(), ..item("letters", "calm") };
        assert!(untriable(&other).is_some_and(|why| why.contains("give both the same")), "{other:?}");
    }
}
