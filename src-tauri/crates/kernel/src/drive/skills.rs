//! Skills as a model has them: told of in a line each, read when it chooses one, and never by more than what a person trusted
//! byte for byte (memory.md 6). A skill gives no authority: what a model does with it is judged as everything else.

use super::Then;
use super::several::rest_in;
use crate::Error;
use crate::command::skills::{TRUSTED, standings};
use crate::kernel::Kernel;
use crate::skill_registry::SkillVersion;
use crate::state::{AttemptState, TaskState};
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use effects::{SkillBook, SkillBytes};
use iteration::Proposal;
use knowledge::{Described, PackInput, SkillLine, SkillText, ranked};
use model::Sensitive;
use model::artifact::{ArtifactKind, ArtifactRef, TrustTier};
use model::body::SkillLoaded;
use model::fault::Point;
use model::limits::{SKILL_TEXT_BYTES_MAX, SKILLS_TOLD_MAX, SKILLS_TOLD_SHARE};
use model::proposal::Answer;
use model::skill::{SKILL_FILE, Skill, SkillPlace, SkillState};
use std::path::PathBuf;

/// The tool by which a model reads a skill.
pub(super) const USE_SKILL: &str = "use_skill";
/// Bytes of a token, for lines of prose.
const TOKEN_BYTES: usize = 4;
/// Names that are told where one is asked for that is not there.
const CLOSE_MAX: usize = 8;
/// Files of a skill that are named to a model.
const NAMED_MAX: usize = 64;

/// A skill that may be used in a task: trusted, there with the same bytes, and the first of its name.
pub(super) struct UsableSkill {
    version: SkillVersion,
    place: SkillPlace,
    skill: Skill,
}

/// What a model reads of a skill, and of which.
struct Read {
    text: String,
    version: SkillVersion,
}

impl Kernel {
    /// The folder in which skills of the task's project are looked for.
    fn skill_project(&self, state: &TaskState) -> Option<PathBuf> {
        self.workspace_root(state).ok()
    }

    fn usable_skills(&self, state: &TaskState) -> Vec<UsableSkill> {
        let registry = self.skill_registry();
        let names = registry.names();
        let Some(skills) = self.ports.executors.skills().filter(|_| !names.is_empty()) else {
            return Vec::new();
        };
        let found = skills.book.find(self.skill_project(state).as_deref(), Some(&names));
        let (all, _) = standings(found, &registry);
        let usable = all.into_iter().filter(|one| one.state == SkillState::Trusted).filter_map(|one| {
            let (skill, sha256) = one.found.skill.ok()?;
            let version = registry.trusted(sha256)?.clone();
            Some(UsableSkill { version, place: one.found.place, skill })
        });
        usable.collect()
    }

    /// Puts what a model is told of skills, and what it has read of them, into the input of its context; whether there is
    /// anything to choose from.
    pub(super) fn with_skills(&self, state: &TaskState, tokens: u32, input: &mut PackInput) -> bool {
        let usable = self.usable_skills(state);
        let room = usize::try_from(tokens / SKILLS_TOLD_SHARE).unwrap_or(usize::MAX);
        let mut room = room.saturating_mul(TOKEN_BYTES);
        for at in in_order_of_use(&super::offered::about(state), &usable) {
            let Some(one) = usable.get(at) else { continue };
            let words = one.skill.one_line();
            let bytes = words.len().saturating_add(one.skill.name.len());
            match room.checked_sub(bytes) {
                Some(left) if input.skills.len() < SKILLS_TOLD_MAX => {
                    room = left;
                    let (name, sha256) = (one.skill.name.clone(), one.version.sha256);
                    input.skills.push(SkillLine { name, sha256, words });
                }
                _ => input.skills_left_out = input.skills_left_out.saturating_add(1),
            }
        }
        // In one order whatever was chosen for what: a provider's cache keeps what stays the same.
        input.skills.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(attempt) = state.attempt() {
            input.skill_texts = self.skill_texts(attempt);
        }
        !usable.is_empty()
    }

    /// What an attempt has read of skills that are trusted still; one that was erased is named, without its text.
    fn skill_texts(&self, attempt: &AttemptState) -> Vec<SkillText> {
        let registry = self.skill_registry();
        let trusted = attempt.skills.iter().filter(|one| registry.trusted(one.sha256).is_some());
        let text = |one: &crate::state::LoadedSkill| {
            let bytes = self.artifacts.read(&one.text.sha256).ok();
            let file = one.file.as_ref().map_or(String::new(), |file| format!(", file {file}"));
            SkillText {
                artifact_id: one.text.artifact_id,
                title: format!("Skill {}{file}", one.name),
                text: bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                trust_tier: tier_of(one.file.as_deref()),
                order: u64::from(one.iteration),
            }
        };
        trusted.map(text).collect()
    }

    /// A model chooses a skill, or a file of one: it stands in the context from the next request on.
    pub(super) fn use_skill(
        &self,
        tx: &mut Tx<'_>,
        name: String,
        file: Option<String>,
        answer: &Answer,
    ) -> Result<Then, Error> {
        tx.at(Point::IterationComplete);
        let said = [Proposal::UseSkill { name: name.clone(), file: file.clone() }];
        let read = match self.read_for_model(tx, &name, file.as_deref()) {
            Ok(read) => read,
            Err(why) => return self.close_said(tx, &said, answer, Some(why)),
        };
        let text = self.keep_read(tx, &read, file.as_deref())?;
        let mut record = self.record(tx, &said, answer, Some(&text), None)?;
        let of = file.as_ref().map_or(String::new(), |file| format!(", its file `{}`", acts::visible(file)));
        record.model_decision =
            Sensitive::from(format!("read the skill `{name}`{of}; it stands in the context"));
        let rest = self.goes_on_with(tx, rest_in(tx, answer), &mut record);
        let about_attempt_id = self.attempt_id(tx)?;
        let iteration = tx.attempt().map_or(0, |attempt| attempt.iteration);
        let skill_sha256 = read.version.sha256;
        tx.push(SkillLoaded { about_attempt_id, name, skill_sha256, file, text, iteration });
        self.turn_is_over(tx, record, "turn complete")?;
        self.take_next(tx, rest)?;
        Ok(Then::Commit)
    }

    fn keep_read(&self, tx: &mut Tx<'_>, read: &Read, file: Option<&str>) -> Result<ArtifactRef, Error> {
        let of = file.map_or(String::new(), |file| format!(", {file}"));
        let alias = format!("skill {}{of}, sha256 {}", read.version.name, read.version.sha256);
        let new = NewArtifact::audit(ArtifactKind::SkillText)
            .media("text/plain; charset=utf-8")
            .trust(tier_of(file))
            .from([read.version.record.artifact_id]);
        tx.artifact(read.text.as_bytes(), NewArtifact { alias: Some(alias), ..new })
    }

    /// What a model reads: of bytes that were read now, and are those that a person trusted.
    fn read_for_model(&self, state: &TaskState, name: &str, file: Option<&str>) -> Result<Read, String> {
        let usable = self.usable_skills(state);
        let Some(one) = usable.iter().find(|one| one.skill.name == name) else {
            return Err(not_there(name, &usable));
        };
        let read = self.read_skill(self.skill_project(state).as_deref(), one.place, name)?;
        if read.sha256 != one.version.sha256 {
            return Err(format!(
                "the skill `{name}` has changed since a person trusted it, and is not read; go on without it"
            ));
        }
        let laid_out = self.laid_out(&read);
        let text = match file {
            None => whole(&read, laid_out),
            Some(path) => text_of(&read, path, laid_out)?,
        };
        Ok(Read { text, version: one.version.clone() })
    }

    /// Where commands find its files, where it has any beside its text; or why not.
    fn laid_out(&self, read: &SkillBytes) -> Option<Result<PathBuf, String>> {
        let shelf = self.ports.executors.skills()?.shelf;
        (read.files.len() > 1).then(|| SkillBook::lay_out(shelf, read))
    }
}

/// A card shows every word of a `SKILL.md`; of the files beside it a person has seen names and digests, so that what they say
/// is looked at and not followed, as of any other file.
fn tier_of(file: Option<&str>) -> TrustTier {
    match file {
        None | Some(SKILL_FILE) => TRUSTED,
        Some(_) => TrustTier::Untrusted,
    }
}

fn described(one: &UsableSkill) -> Described<'_> {
    Described { name: &one.skill.name, title: "", words: &one.skill.description }
}

fn in_order_of_use(about: &str, usable: &[UsableSkill]) -> Vec<usize> {
    let all: Vec<Described<'_>> = usable.iter().map(described).collect();
    ranked(about, &all).into_iter().map(|(at, _)| at).collect()
}

/// That there is no such skill, with those whose words fit best.
fn not_there(name: &str, usable: &[UsableSkill]) -> String {
    let close = in_order_of_use(name, usable).into_iter().filter_map(|at| usable.get(at)).take(CLOSE_MAX);
    let close: Vec<String> =
        close.map(|one| format!("{} ({})", one.skill.name, first_words(&one.skill.one_line()))).collect();
    let name = acts::visible(name);
    match close.is_empty() {
        true => format!("there is no skill `{name}` that a person trusts, nor any other"),
        false => format!("there is no skill `{name}` that a person trusts; there are: {}", close.join("; ")),
    }
}

fn first_words(text: &str) -> String {
    text.chars().take(120).collect()
}

/// The text of a skill, behind what a model has to know of it.
fn whole(read: &SkillBytes, laid_out: Option<Result<PathBuf, String>>) -> String {
    let others = read.skill.files.iter().filter(|file| file.path != SKILL_FILE);
    let mut named: Vec<String> =
        others.map(|file| format!("- {} ({} bytes)", file.path, file.byte_size)).collect();
    let more = named.len().saturating_sub(NAMED_MAX);
    named.truncate(NAMED_MAX);
    if more > 0 {
        named.push(format!("- and {more} more"));
    }
    let mut text = "A person trusts this skill. It gives no permission: each act is judged, and asked about, as always.\n"
        .to_owned();
    if !named.is_empty() {
        text.push_str("Its files, which `use_skill` reads with `file`:\n");
        text.push_str(&named.join("\n"));
        text.push('\n');
    }
    text.push_str(&for_commands(laid_out));
    text.push('\n');
    text.push_str(effects::skill_body(&read.text).trim_start_matches(['\r', '\n']));
    text
}

fn for_commands(laid_out: Option<Result<PathBuf, String>>) -> String {
    match laid_out {
        None => String::new(),
        Some(Ok(place)) => format!("Commands can read and start them in {}\n", place.display()),
        Some(Err(why)) => format!("Commands cannot read them: {why}\n"),
    }
}

/// One file of a skill, where it is a text.
fn text_of(
    read: &SkillBytes,
    path: &str,
    laid_out: Option<Result<PathBuf, String>>,
) -> Result<String, String> {
    let asked = acts::visible(path);
    let Some(bytes) = read.files.get(path) else {
        let known = read.files.keys().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
        return Err(format!("the skill `{}` has no file `{asked}`; it has: {known}", read.skill.name));
    };
    if bytes.len() as u64 > SKILL_TEXT_BYTES_MAX {
        let size = bytes.len();
        return Err(format!(
            "`{asked}` has {size} bytes, more than can be read at once. {}",
            for_commands(laid_out)
        ));
    }
    String::from_utf8(bytes.clone()).map_err(|_| format!("`{asked}` is no text. {}", for_commands(laid_out)))
}
