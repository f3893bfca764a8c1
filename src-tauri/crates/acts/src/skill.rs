//! Trusting a skill: its card shows every word of its `SKILL.md`, every file by its name, and what differs from what was trusted
//! before; the digests stand among its details.

use crate::call::quoted;
use crate::{Line, LineKind, count, visible};
use model::skill::{
    SKILL_FILE, SkillFile, SkillPlace, TrustSkill, WasTrusted, check_skill_name, check_skill_words,
    invisible_in,
};
use similar::{ChangeTag, TextDiff};

/// Lines of a text that are compared one by one: what this takes grows with their square.
const COMPARED_MAX: usize = 4_000;

/// What a card tells of trusting a skill.
pub(crate) trait Told {
    /// Whether it can be meant.
    fn check(&self) -> Result<(), String>;
    /// In one line.
    fn title(&self) -> String;
    /// Line by line.
    fn lines(&self) -> Vec<Line>;
    /// Identifiers and digests of what its lines name, whole.
    fn details(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Told for TrustSkill {
    fn check(&self) -> Result<(), String> {
        check_skill_name(&self.skill.name)?;
        check_skill_words(&self.skill.description)?;
        if let Some(path) = self.invisible.keys().find(|path| self.skill.file(path).is_none()) {
            return Err(format!("the skill has no file \"{}\"", visible(path)));
        }
        match self.skill.digest() {
            Ok(sha256) if sha256 == self.sha256 => Ok(()),
            Ok(_) => Err("the digest is not that of the skill's files".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn title(&self) -> String {
        let again = if self.was.is_some() { ", which has changed" } else { "" };
        format!("trust the skill \"{}\"{again}", visible(&self.skill.name))
    }

    fn lines(&self) -> Vec<Line> {
        let name = visible(&self.skill.name);
        let mut lines = vec![
            // An effect: a page shows those of an act without files.
            Line {
                kind: LineKind::Destructive,
                text: format!(
                    "let models follow the skill \"{name}\", in every folder that holds exactly these bytes"
                ),
            },
            fact(
                "it gives no authority: whatever a model does with it is judged, and asked about, as before",
            ),
            fact(&format!("found in {}", whereabouts(self.place, self.project.as_deref()))),
        ];
        lines.extend(hidden(self));
        lines.extend(scripts(self));
        lines.extend(asks(self));
        if let Some(was) = &self.was {
            lines.extend(differences(self, was));
        }
        lines.push(Line::effect(format!(
            "its files, {} bytes in {}:",
            self.skill.byte_size(),
            count(self.skill.files.len(), "file")
        )));
        lines.extend(self.skill.files.iter().map(|file| Line::effect(in_words(file))));
        lines.push(fact(&format!("its {SKILL_FILE}, word for word:")));
        lines.extend(quoted(&self.text).map(|text| Line { kind: LineKind::Quoted, text }));
        lines
    }

    fn details(&self) -> Vec<String> {
        let mut details = vec![format!("sha256 of all its files: {}", self.sha256)];
        let was = self.was.as_ref().map(|was| &was.skill);
        for file in &self.skill.files {
            let path = visible(&file.path);
            details.push(format!("sha256 of its file \"{path}\": {}", file.sha256));
            let before = was.and_then(|skill| skill.file(&file.path)).map(|before| before.sha256);
            let changed = before.filter(|before| *before != file.sha256);
            details.extend(changed.map(|before| format!("sha256 of \"{path}\" as it was: {before}")));
        }
        details
    }
}

/// That a text holds characters that nobody can see: models read them all the same.
fn hidden(trust: &TrustSkill) -> Vec<Line> {
    let many = |of: u64| count(usize::try_from(of).unwrap_or(usize::MAX), "invisible character");
    let grave = |text: String| Line { kind: LineKind::Destructive, text };
    let mut lines = Vec::new();
    let own = invisible_in(&trust.text);
    if own > 0 {
        let many = many(own);
        lines.push(grave(format!(
            "its text holds {many}, which a model reads and you would not see: below they are written as \\u{{...}}"
        )));
    }
    for (path, of) in &trust.invisible {
        let (path, many) = (visible(path), many(*of));
        lines.push(grave(format!("\"{path}\" holds {many}, which a model reads and you would not see")));
    }
    lines
}

fn scripts(trust: &TrustSkill) -> Vec<Line> {
    let others = trust.skill.files.len().saturating_sub(1);
    if others == 0 {
        return Vec::new();
    }
    let others = count(others, "further file");
    vec![
        Line {
            kind: LineKind::Risk,
            text: format!(
                "commands can read and start its {others}; each such command is judged like any other"
            ),
        },
        Line::effect(format!(
            "models may read its {others} too, as they read any file; the words of these are not shown here"
        )),
    ]
}

fn asks(trust: &TrustSkill) -> Vec<Line> {
    let skill = &trust.skill;
    let mut lines = Vec::new();
    if let Some(tools) = &skill.allowed_tools {
        lines.push(fact(&format!("it asks for the tools \"{}\"; that allows nothing", visible(tools))));
    }
    for (what, words) in [("needs", &skill.compatibility), ("licence", &skill.license)] {
        lines.extend(words.as_ref().map(|words| fact(&format!("{what}: \"{}\"", visible(words)))));
    }
    lines
}

/// What differs from what was trusted before: files that came, went or changed, and lines of the text.
fn differences(trust: &TrustSkill, was: &WasTrusted) -> Vec<Line> {
    let grave = |text: String| Line { kind: LineKind::Destructive, text };
    let mut lines = vec![grave("it CHANGED since a skill of this name was trusted:".to_owned())];
    for file in &trust.skill.files {
        match was.skill.file(&file.path) {
            None => lines.push(grave(format!("\"{}\" is NEW", visible(&file.path)))),
            Some(before) if before.sha256 != file.sha256 => {
                let path = visible(&file.path);
                lines.push(grave(format!("\"{path}\" CHANGED; it had {}", bytes(before))));
            }
            Some(_) => {}
        }
    }
    let gone = was.skill.files.iter().filter(|file| trust.skill.file(&file.path).is_none());
    lines.extend(gone.map(|file| Line::effect(format!("\"{}\" is gone", visible(&file.path)))));
    lines.extend(in_text(&was.text, &trust.text));
    if was.stands {
        lines.push(fact(&format!(
            "the earlier bytes stay trusted; `hermit skills untrust {}` takes every version back",
            visible(&trust.skill.name)
        )));
    }
    lines
}

/// Lines of a text that went, came or moved.
pub(crate) fn in_text(before: &str, after: &str) -> Vec<Line> {
    if [before, after].iter().any(|text| text.lines().count() > COMPARED_MAX) {
        return vec![Line::effect(format!(
            "its text has more than {COMPARED_MAX} lines and is not compared line by line; read all of it below"
        ))];
    }
    let diff = TextDiff::from_lines(before, after);
    let quote = |mark: char, line: &str| {
        let line = visible(line.strip_suffix('\n').unwrap_or(line));
        Some(Line { kind: LineKind::Quoted, text: format!("{mark} {line}") })
    };
    let told = diff.iter_all_changes().filter_map(|change| match change.tag() {
        ChangeTag::Delete => quote('-', change.value()),
        ChangeTag::Insert => quote('+', change.value()),
        ChangeTag::Equal => None,
    });
    told.collect()
}

fn fact(text: &str) -> Line {
    Line { kind: LineKind::Fact, text: text.to_owned() }
}

fn in_words(file: &SkillFile) -> String {
    format!("\"{}\", {}", visible(&file.path), bytes(file))
}

fn bytes(file: &SkillFile) -> String {
    count(usize::try_from(file.byte_size).unwrap_or(usize::MAX), "byte")
}

/// The place of a skill in words.
fn whereabouts(place: SkillPlace, project: Option<&str>) -> String {
    let of = |folder: &str| match project {
        Some(project) => format!("{folder} of the project {}", visible(project)),
        None => format!("{folder} of a project"),
    };
    match place {
        SkillPlace::ProjectHermit | SkillPlace::ProjectAgents | SkillPlace::ProjectClaude => {
            of(place.folder())
        }
        SkillPlace::OwnHermit => "your own skills, beside Hermit's store".to_owned(),
        SkillPlace::OwnAgents | SkillPlace::OwnClaude => format!("your own skills, {}", place.folder()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Digest;
    use model::skill::Skill;
    use std::collections::BTreeMap;

    fn trust(text: &str, files: &[(&str, &str)], was: Option<WasTrusted>) -> TrustSkill {
        let file = |(path, bytes): &(&str, &str)| SkillFile {
            path: (*path).to_owned(),
            byte_size: bytes.len() as u64,
            sha256: Digest::of(bytes.as_bytes()),
        };
        let skill = Skill {
            name: "deploy".to_owned(),
            description: "Deploys".to_owned(),
            license: None,
            compatibility: None,
            allowed_tools: Some("Bash(*)".to_owned()),
            files: [("SKILL.md", text)].iter().chain(files).map(file).collect(),
        };
        let sha256 = skill.digest().expect("it has a canonical form");
        TrustSkill {
            skill,
            sha256,
            place: SkillPlace::ProjectAgents,
            project: None,
            text: text.to_owned(),
            invisible: BTreeMap::new(),
            was,
        }
    }

    #[test]
    fn a_card_shows_every_word_every_file_and_what_cannot_be_seen() {
        let one = trust("# Deploy\nbe\u{200b}ware", &[("run.sh", "rm -rf /")], None);
        let told: Vec<String> = one.lines().into_iter().map(|line| line.text).collect();
        let all = told.join("\n");
        assert!(all.contains("    | # Deploy") && all.contains("be\\u{200b}ware"), "{all}");
        assert!(all.contains("1 invisible character"), "{all}");
        assert!(all.contains("\"run.sh\", 8 bytes") && !all.contains("sha256"), "{all}");
        let details = one.details();
        for sha256 in [one.sha256, Digest::of(b"rm -rf /")].map(|sha256| sha256.to_string()) {
            assert!(
                !all.contains(&sha256) && details.iter().any(|one| one.ends_with(&sha256)),
                "{details:?}"
            );
        }
        assert!(all.contains("\"Bash(*)\"; that allows nothing"), "{all}");
        assert!(all.contains("gives no authority"), "{all}");
        assert_eq!(one.check(), Ok(()));
        let forged = TrustSkill { sha256: Digest::of(b"another"), ..one };
        assert!(forged.check().is_err(), "a digest is computed, not believed");
    }

    #[test]
    fn a_card_says_that_models_read_files_whose_words_it_does_not_show() {
        let alone = trust("# Deploy", &[], None);
        assert!(!alone.lines().iter().any(|line| line.text.contains("not shown here")));
        let invisible = BTreeMap::from([("notes.md".to_owned(), 2)]);
        let one = TrustSkill { invisible, ..trust("# Deploy", &[("notes.md", "x"), ("run.sh", "y")], None) };
        let told: Vec<String> = one.lines().into_iter().map(|line| line.text).collect();
        let reads = "models may read its 2 further files too";
        assert!(told.iter().any(|line| line.contains(reads) && line.contains("not shown here")), "{told:?}");
        assert!(told.iter().any(|line| line.starts_with("\"notes.md\" holds 2 invisible char")), "{told:?}");
        assert_eq!(one.check(), Ok(()));
        let other = TrustSkill { invisible: BTreeMap::from([("gone.md".to_owned(), 2)]), ..one };
        assert!(other.check().is_err_and(|why| why.contains("gone.md")));
    }

    #[test]
    fn a_card_of_what_was_trusted_before_shows_the_difference() {
        let before = trust("# Deploy\nask first\nthen go", &[("run.sh", "a"), ("old.md", "x")], None);
        let was = WasTrusted { skill: before.skill, text: before.text, stands: true };
        let after = trust("# Deploy\nnever ask\nthen go", &[("run.sh", "b"), ("new.md", "x")], Some(was));
        let told: Vec<String> = after.lines().into_iter().map(|line| line.text).collect();
        for line in ["- ask first", "+ never ask", "\"new.md\" is NEW", "\"old.md\" is gone"] {
            assert!(told.iter().any(|one| one == line), "{line} in {told:?}");
        }
        assert!(told.iter().any(|one| one == "\"run.sh\" CHANGED; it had 1 byte"), "{told:?}");
        let was = format!("sha256 of \"run.sh\" as it was: {}", Digest::of(b"a"));
        assert!(after.details().contains(&was) && !after.details().iter().any(|one| one.contains("old.md")));
        assert!(!told.iter().any(|one| one == "- then go"), "what stays is no difference");
        assert!(told.iter().any(|one| one.contains("`hermit skills untrust deploy`")), "{told:?}");
    }

    #[test]
    fn a_line_that_moved_is_a_difference_and_so_is_one_of_two_that_are_the_same() {
        let of = |before: &str, after: &str| -> Vec<String> {
            in_text(before, after).into_iter().map(|line| line.text).collect()
        };
        assert_eq!(of("ask\ndo it\n", "do it\nask\n").len(), 2, "one goes and comes");
        assert_eq!(of("ask\nrun\nask\n", "ask\nrun\n"), ["- ask"]);
        assert_eq!(of("ask\n", "ask\n"), [""; 0]);
        let long = "x\n".repeat(COMPARED_MAX + 1);
        assert!(of(&long, "x\n")[0].contains("read all of it below"));
        let gone = trust("a", &[], None);
        let was = WasTrusted { skill: gone.skill, text: gone.text, stands: false };
        let told = trust("b", &[], Some(was)).lines();
        assert!(!told.iter().any(|line| line.text.contains("stay trusted")), "they are not");
    }
}
