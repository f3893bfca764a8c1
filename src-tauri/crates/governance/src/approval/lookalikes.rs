//! The part of a card that tells which names may look like other names: letters of several scripts in one word, and
//! accents that are written apart from their letters.

use acts::{ActionRequest, Line, LineKind, visible};
use model::ResourceId;
use std::collections::BTreeSet;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};
use unicode_security::{MixedScript as _, RestrictionLevel, RestrictionLevelDetection as _};

/// Names that are told one by one; more are counted.
const TOLD_MAX: usize = 20;

pub(super) fn lines(request: &ActionRequest) -> Vec<Line> {
    let names = names(request);
    let told = |kind: LineKind, which: Vec<&String>, what: &str| {
        let more = which.len().saturating_sub(TOLD_MAX);
        let name =
            |name: &&String| Line { kind, text: format!("LOOK at the name \"{}\": {what}", visible(name)) };
        let rest = (more > 0).then(|| Line { kind, text: format!("and {more} more such names: {what}") });
        which.iter().take(TOLD_MAX).map(name).chain(rest).collect::<Vec<_>>()
    };
    let mixed = names.iter().filter(|name| mixes(name)).collect();
    let apart = names.iter().filter(|name| !is_nfc(name)).collect();
    let mut lines = told(
        LineKind::Unrecoverable,
        mixed,
        "one word of it has letters of several scripts, which can look alike",
    );
    lines.extend(told(
        LineKind::Fact,
        apart,
        "its accents are written apart, so that another name can look the same",
    ));
    lines
}

/// Every name that the act is about, and the words of a command.
fn names(request: &ActionRequest) -> BTreeSet<String> {
    let about = request.target_resources.iter().filter_map(|resource| match resource {
        ResourceId::File(_, path) => Some(path.display_lossy()),
        ResourceId::Host(name, _) | ResourceId::Ref(_, name) => Some(name.clone()),
        ResourceId::Mcp(server, tool) => Some(format!("{server}/{tool}")),
        ResourceId::Secret(_)
        | ResourceId::Memory(_)
        | ResourceId::Receipt(_)
        | ResourceId::Rules
        | ResourceId::Soul
        | ResourceId::Successor
        | ResourceId::Skill(_)
        | ResourceId::Schedule(_)
        | ResourceId::Skin(_)
        | ResourceId::Gateway(_)
        | ResourceId::Chat(..) => None,
    });
    let words = request.action.as_tool().argv();
    about.chain(words.iter().cloned()).filter(|name| !name.is_ascii()).collect()
}

/// Whether one word has letters of scripts that do not belong together, as Latin and Cyrillic do not.
fn mixes(name: &str) -> bool {
    let composed: String = name.nfc().collect();
    composed.split(|c: char| !c.is_alphanumeric()).any(|word| {
        !word.is_single_script() && word.detect_restriction_level() > RestrictionLevel::ModeratelyRestrictive
    })
}

#[cfg(test)]
mod tests {
    use super::mixes;

    #[test]
    fn a_word_of_several_scripts_is_found_and_a_name_of_several_words_is_not() {
        for name in ["p\u{430}ypal.txt", "docs/\u{410}pril.md", "g\u{3bf}\u{3bf}gle.com"] {
            assert!(mixes(name), "{name}");
        }
        for name in [
            "report-\u{43e}\u{442}\u{447}\u{451}\u{442}.txt",
            "Übersicht.md",
            "日本語のファイル.txt",
            "naïve",
            "e\u{301}te\u{301}.txt",
            "A社.md",
            "한국어.txt",
            "x².txt",
            "№5.txt",
        ] {
            assert!(!mixes(name), "{name}");
        }
    }
}
