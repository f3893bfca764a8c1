//! `hermit skills`.

use super::Came;
use super::tools::{absolute, stay};
use crate::args::SkillsVerb;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::{plain, time};
use wire::exit;
use wire::skills::{
    Adopt, Drafts, List, Show, SkillDrafts, SkillList, SkillRow, SkillShown, Trust, Untrust, Untrusted,
};
use words::store::SkillState;

/// Letters of what a skill says of itself that a list shows.
const WORDS_SHOWN: usize = 72;

/// `hermit skills`.
pub fn skills(context: &Context, verb: SkillsVerb) -> Came {
    match verb {
        SkillsVerb::List { workspace } => {
            let folder = Some(absolute(&workspace)?);
            let listed = context.reading()?.call(&List { folder })?;
            context.out.answer(&listed, listed_in_words)?;
            Ok(exit::DONE)
        }
        SkillsVerb::Show { skill, file, workspace } => {
            let folder = Some(absolute(&workspace)?);
            let shown = context.reading()?.call(&Show { name: skill, sha256: None, file, folder })?;
            context.out.answer(&shown, shown_in_words)?;
            Ok(exit::DONE)
        }
        SkillsVerb::Trust { skill, workspace } => {
            let folder = Some(absolute(&workspace)?);
            let channel = Some("cli".to_owned());
            let trust = Trust { name: skill, sha256: None, folder, channel, idempotency_key: None };
            stay(context, |session| session.call(&trust))
        }
        SkillsVerb::Drafts { workspace } => {
            let found = context.reading()?.call(&Drafts { folder: absolute(&workspace)? })?;
            context.out.answer(&found, drafts_in_words)?;
            Ok(exit::DONE)
        }
        SkillsVerb::Adopt { draft, workspace } => {
            let (folder, channel) = (absolute(&workspace)?, Some("cli".to_owned()));
            let adopt = Adopt { name: draft, folder, channel, idempotency_key: None };
            stay(context, |session| session.call(&adopt))
        }
        SkillsVerb::Untrust { skill, reason } => {
            let session = context.writing(Signs::No)?;
            let gone = session.call(&Untrust { name: skill, sha256: None, reason });
            session.close();
            context.out.answer(&gone?, untrusted_in_words)?;
            Ok(exit::DONE)
        }
    }
}

fn listed_in_words(out: &Output, listed: &SkillList) {
    if listed.skills.is_empty() {
        out.say(
            Tone::Faint,
            "no skills here; put a folder with a SKILL.md into .agents/skills of the project",
        );
    } else {
        let row = |one: &SkillRow| {
            let words = one.description.as_deref().unwrap_or_default();
            vec![plain(&one.name), one.state.to_string(), one.place.folder().to_owned(), clipped(words)]
        };
        table(out, &["skill", "state", "place", ""], &listed.skills.iter().map(row).collect::<Vec<_>>());
    }
    for one in &listed.skills {
        note(out, one);
    }
    for why in &listed.left_out {
        out.say(Tone::Warn, plain(why));
    }
    if listed.skills.iter().any(|one| matches!(one.state, SkillState::Untrusted | SkillState::Changed)) {
        out.say(Tone::Faint, "no model is told of a skill before you trust it: hermit skills trust NAME");
    }
    for playbook in &listed.playbooks {
        out.say(Tone::Faint, format!("playbook {}: {}", plain(&playbook.name), plain(&playbook.about)));
    }
}

fn clipped(words: &str) -> String {
    let words = plain(words);
    match words.char_indices().nth(WORDS_SHOWN) {
        Some((at, _)) => format!("{}\u{2026}", words.get(..at).unwrap_or_default()),
        None => words,
    }
}

fn note(out: &Output, one: &SkillRow) {
    if let Some(why) = &one.why {
        out.say(Tone::Warn, format!("{} is {}: {}", plain(&one.name), one.state, plain(why)));
    }
    for note in &one.notes {
        out.say(Tone::Faint, format!("{}: {}", plain(&one.name), plain(note)));
    }
}

fn shown_in_words(out: &Output, shown: &SkillShown) {
    if let Some(text) = &shown.file_text {
        return out.line(plain_lines(text));
    }
    let skill = &shown.skill;
    out.say(Tone::Bold, format!("{}, {}", plain(&skill.name), skill.state));
    note(out, skill);
    out.line(format!("  in {}", plain(&skill.path)));
    out.line(format!("  sha256 {}", skill.sha256.as_deref().unwrap_or_default()));
    let said = [
        ("license", &shown.license),
        ("needs", &shown.compatibility),
        ("asks for these tools, which allows nothing", &shown.allowed_tools),
    ];
    for (what, words) in said {
        if let Some(words) = words {
            out.line(format!("  {what}: {}", plain(words)));
        }
    }
    for file in &shown.files {
        out.line(format!("  {} {} bytes, sha256 {}", plain(&file.path), file.byte_size, file.sha256));
    }
    for version in &shown.versions {
        let end =
            version.untrusted.as_ref().map_or(String::new(), |why| format!(", and no more: {}", plain(why)));
        let (short, artifact) = (version.sha256.get(..12).unwrap_or_default(), &version.artifact_id);
        out.say(Tone::Faint, format!("  {short} was trusted on {}{end} ({artifact})", time(version.since)));
    }
    out.line("");
    out.line(plain_lines(&shown.text));
}

/// Each line with nothing hidden in it.
fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

fn drafts_in_words(out: &Output, found: &SkillDrafts) {
    if found.rows.is_empty() {
        let none = "nothing recurs here yet: a repair or an answer that you remember makes a skill when three tasks showed it";
        return out.say(Tone::Faint, none);
    }
    for one in &found.rows {
        out.say(Tone::Bold, plain(&one.name));
        out.line(plain_lines(&one.text));
        let (trust, tasks) = (one.trust.as_str().replace('_', " "), one.tasks.join(", "));
        out.say(Tone::Faint, format!("  trust: {trust}; rests on {} and {tasks}", one.memory_id));
    }
    out.say(Tone::Faint, "hermit skills adopt NAME asks you whether to write one into the project");
}

fn untrusted_in_words(out: &Output, gone: &Untrusted) {
    out.line(format!("no model is told of {} any more", plain(&gone.name)));
    out.say(
        Tone::Faint,
        "hermit recall finds what was done with it: hermit skills show NAME tells the artifact",
    );
}
