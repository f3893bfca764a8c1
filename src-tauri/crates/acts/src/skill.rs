//! Trusting a skill: its card shows every word of it, every file by its digest, and what differs from what was trusted before.

use crate::call::quoted;
use crate::{Line, LineKind, count, visible};
use model::skill::{
    SKILL_FILE, SkillFile, SkillPlace, TrustSkill, WasTrusted, check_skill_name, check_skill_words,
};
use model::visible::is_hidden;

/// What a card tells of trusting a skill.
pub(crate) trait Told {
    /// Whether it can be meant.
    fn check(&self) -> Result<(), String>;
    /// In one line.
    fn title(&self) -> String;
    /// Line by line.
    fn lines(&self) -> Vec<Line>;
}

impl Told for TrustSkill {
    fn check(&self) -> Result<(), String> {
        check_skill_name(&self.skill.name)?;
        check_skill_words(&self.skill.description)?;
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
            fact(&format!("sha256 of all its files: {}", self.sha256)),
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
}

/// That a text holds characters that nobody can see: models read them all the same.
fn hidden(trust: &TrustSkill) -> Option<Line> {
    let hidden = trust.text.chars().filter(|c| is_hidden(*c) && !matches!(c, '\n' | '\r' | '\t')).count();
    let text = format!(
        "its text holds {}, which a model reads and you would not see: below they are written as \\u{{...}}",
        count(hidden, "invisible character")
    );
    (hidden > 0).then_some(Line { kind: LineKind::Destructive, text })
}

fn scripts(trust: &TrustSkill) -> Option<Line> {
    let others = trust.skill.files.len().saturating_sub(1);
    let text = format!(
        "commands can read and start its {}; each such command is judged like any other",
        count(others, "further file")
    );
    (others > 0).then_some(Line { kind: LineKind::Risk, text })
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
                lines.push(grave(format!("\"{path}\" CHANGED; it was sha256 {}", before.sha256)));
            }
            Some(_) => {}
        }
    }
    let gone = was.skill.files.iter().filter(|file| trust.skill.file(&file.path).is_none());
    lines.extend(gone.map(|file| Line::effect(format!("\"{}\" is gone", visible(&file.path)))));
    let (before, after): (Vec<&str>, Vec<&str>) = (was.text.lines().collect(), trust.text.lines().collect());
    let quote =
        |mark: char, line: &&str| Line { kind: LineKind::Quoted, text: format!("{mark} {}", visible(line)) };
    lines.extend(before.iter().filter(|line| !after.contains(line)).map(|line| quote('-', line)));
    lines.extend(after.iter().filter(|line| !before.contains(line)).map(|line| quote('+', line)));
    lines
}

fn fact(text: &str) -> Line {
    Line { kind: LineKind::Fact, text: text.to_owned() }
}

fn in_words(file: &SkillFile) -> String {
    format!("\"{}\", {} bytes, sha256 {}", visible(&file.path), file.byte_size, file.sha256)
}

/// The place of a skill in words.
fn whereabouts(place: SkillPlace, project: Option<&str>) -> String {
    let of = |folder: &str| match project {
        Some(project) => format!("{folder} of the project {}", visible(project)),
        None => format!("{folder} of a project"),
    };
    match place {
        SkillPlace::ProjectHermit => of(".hermit/skills"),
        SkillPlace::ProjectAgents => of(".agents/skills"),
        SkillPlace::ProjectClaude => of(".claude/skills"),
        SkillPlace::OwnHermit => "your own skills, beside Hermit's store".to_owned(),
        SkillPlace::OwnAgents => "your own skills, ~/.agents/skills".to_owned(),
        SkillPlace::OwnClaude => "your own skills, ~/.claude/skills".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Digest;
    use model::skill::Skill;

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
        assert!(all.contains(&format!("\"run.sh\", 8 bytes, sha256 {}", Digest::of(b"rm -rf /"))), "{all}");
        assert!(all.contains("\"Bash(*)\"; that allows nothing"), "{all}");
        assert!(all.contains("gives no authority"), "{all}");
        assert_eq!(one.check(), Ok(()));
        let forged = TrustSkill { sha256: Digest::of(b"another"), ..one };
        assert!(forged.check().is_err(), "a digest is computed, not believed");
    }

    #[test]
    fn a_card_of_what_was_trusted_before_shows_the_difference() {
        let before = trust("# Deploy\nask first\nthen go", &[("run.sh", "a"), ("old.md", "x")], None);
        let was = WasTrusted { skill: before.skill, text: before.text };
        let after = trust("# Deploy\nnever ask\nthen go", &[("run.sh", "b"), ("new.md", "x")], Some(was));
        let told: Vec<String> = after.lines().into_iter().map(|line| line.text).collect();
        for line in ["- ask first", "+ never ask", "\"new.md\" is NEW", "\"old.md\" is gone"] {
            assert!(told.iter().any(|one| one == line), "{line} in {told:?}");
        }
        assert!(told.iter().any(|one| one.starts_with("\"run.sh\" CHANGED")), "{told:?}");
        assert!(!told.iter().any(|one| one == "- then go"), "what stays is no difference");
    }
}
