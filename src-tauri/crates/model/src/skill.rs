//! Skills: folders with a `SKILL.md`, as the open Agent Skills format has them, known by the digest of all their bytes.

use crate::limits::{SKILL_NAME_MAX, SKILL_WORDS_MAX};
use seal::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
pub use words::store::{SkillPlace, SkillState};

/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";
/// Told apart from every other digest.
const DOMAIN: &str = "hermit/skill/v1";

/// One file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillFile {
    /// Its path below the skill's folder, parts joined by `/`.
    pub path: String,
    /// Its length.
    pub byte_size: u64,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
}

/// A skill as its folder has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// Its name, which is its folder's.
    pub name: String,
    /// What it does and when it is of use, in its own words.
    pub description: String,
    /// Its licence, as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What it needs around it, as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// Tools that it asks to be allowed; that allows nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<String>,
    /// Every file, `SKILL.md` among them, by path.
    pub files: Vec<SkillFile>,
}

/// A skill that a person is asked to trust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustSkill {
    /// The skill.
    pub skill: Skill,
    /// Its digest.
    pub sha256: Digest,
    /// Where it was found.
    pub place: SkillPlace,
    /// The folder of its project, where it is one of a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// All of its `SKILL.md`.
    pub text: String,
    /// Invisible characters in its further files, by path; those that have none are not in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub invisible: BTreeMap<String, u64>,
    /// The one of this name that was trusted last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<WasTrusted>,
}

/// A skill as it was trusted before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WasTrusted {
    /// The skill.
    pub skill: Skill,
    /// All of its `SKILL.md`.
    pub text: String,
    /// Whether it is trusted still.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stands: bool,
}

/// What the digest is over.
#[derive(Serialize)]
struct Sealed<'a> {
    domain: &'a str,
    name: &'a str,
    files: &'a [SkillFile],
}

impl Skill {
    /// SHA-256 over the canonical list of its files, names and bytes, and its own name. What it says of itself stands in them.
    ///
    /// # Errors
    /// When a name has no canonical form.
    pub fn digest(&self) -> Result<Digest, seal::Error> {
        let sealed = Sealed { domain: DOMAIN, name: &self.name, files: &self.files };
        seal::canon::to_canonical(&sealed).map(|bytes| Digest::of(&bytes))
    }

    /// The file at a path.
    pub fn file(&self, path: &str) -> Option<&SkillFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Bytes of all files.
    pub fn byte_size(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.byte_size))
    }

    /// What it says of itself in one line.
    pub fn one_line(&self) -> String {
        self.description.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// How many characters of a text a person would not see, and a model reads all the same.
pub fn invisible_in(text: &str) -> u64 {
    let hidden = |c: &char| crate::visible::is_hidden(*c) && !matches!(c, '\n' | '\r' | '\t');
    text.chars().filter(hidden).count() as u64
}

/// Whether a text can be the name of a skill.
///
/// # Errors
/// Why not, with what to do.
pub fn check_skill_name(name: &str) -> Result<(), String> {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let fits = !name.is_empty()
        && name.len() <= SKILL_NAME_MAX
        && name.chars().all(letter)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--");
    match fits {
        true => Ok(()),
        false => Err(format!(
            "its `name` is 1 to {SKILL_NAME_MAX} of a-z, 0-9 and single `-` between them; rename it"
        )),
    }
}

/// Whether a text can say what a skill is for.
///
/// # Errors
/// Why not, with what to do.
pub fn check_skill_words(words: &str) -> Result<(), String> {
    match words.trim().chars().count() {
        0 => Err("its `description` is empty; say what it does and when it is of use".to_owned()),
        letters if letters > SKILL_WORDS_MAX => {
            Err(format!("its `description` has {letters} letters, and {SKILL_WORDS_MAX} at most; shorten it"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(files: &[(&str, &str)]) -> Skill {
        let file = |(path, text): &(&str, &str)| SkillFile {
            path: (*path).to_owned(),
            byte_size: text.len() as u64,
            sha256: Digest::of(text.as_bytes()),
        };
        Skill {
            name: "deploy".to_owned(),
            description: "Deploys".to_owned(),
            license: None,
            compatibility: None,
            allowed_tools: None,
            files: files.iter().map(file).collect(),
        }
    }

    #[test]
    fn a_digest_is_over_every_name_and_every_byte() {
        let digest = |files: &[(&str, &str)]| skill(files).digest().expect("it has a canonical form");
        let one = digest(&[("SKILL.md", "a"), ("run.sh", "b")]);
        assert_eq!(one, digest(&[("SKILL.md", "a"), ("run.sh", "b")]));
        for other in [
            digest(&[("SKILL.md", "a"), ("run.sh", "c")]),
            digest(&[("SKILL.md", "a"), ("run2.sh", "b")]),
            digest(&[("SKILL.md", "a")]),
            digest(&[("SKILL.md", "a"), ("run.sh", "b"), ("x", "")]),
        ] {
            assert_ne!(one, other);
        }
        let renamed = Skill { name: "other".to_owned(), ..skill(&[("SKILL.md", "a"), ("run.sh", "b")]) };
        assert_ne!(renamed.digest().expect("it has a canonical form"), one);
    }

    #[test]
    fn names_and_words_are_those_of_the_open_format() {
        for name in ["a", "pdf-processing", "a1-b2"] {
            assert_eq!(check_skill_name(name), Ok(()), "{name}");
        }
        for name in ["", "-a", "a-", "a--b", "A", "a b", "a/b", "\u{e9}", &"x".repeat(65)] {
            assert!(check_skill_name(name).is_err_and(|why| why.contains("rename")), "{name}");
        }
        assert!(check_skill_words(" ").is_err_and(|why| why.contains("say what")));
        assert!(check_skill_words(&"x".repeat(1_025)).is_err_and(|why| why.contains("shorten")));
        assert_eq!(check_skill_words(&"x".repeat(1_024)), Ok(()));
    }
}
