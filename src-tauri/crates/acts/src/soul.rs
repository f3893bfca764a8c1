//! Writing SOUL.md: its card shows what differs from the version before, and every word of it (mesh.md 2).

use crate::call::quoted;
use crate::skill::in_text;
use crate::{Line, LineKind, count};
use model::identity::SOUL_BYTES_MAX;

/// Whether a text can be SOUL.md.
pub(crate) fn check(version: u32, text: &str, was: &str) -> Result<(), String> {
    if version == 0 {
        return Err("versions of SOUL.md are counted from 1".to_owned());
    }
    if text.trim().is_empty() {
        return Err("SOUL.md is empty; say who this instance is".to_owned());
    }
    if text.len() > SOUL_BYTES_MAX {
        return Err(format!(
            "SOUL.md has {} KB at most, and this has {} bytes; shorten it",
            SOUL_BYTES_MAX / 1024,
            text.len()
        ));
    }
    if text.contains('\0') {
        return Err("SOUL.md holds a zero byte, so it is no text".to_owned());
    }
    match text == was {
        true => Err("SOUL.md is this text already".to_owned()),
        false => Ok(()),
    }
}

/// Writing it in one line.
pub(crate) fn title(version: u32) -> String {
    match version {
        1 => "create SOUL.md, which says who this instance is".to_owned(),
        version => format!("change SOUL.md, which says who this instance is, to version {version}"),
    }
}

/// Writing it as a card tells it.
pub(crate) fn lines(version: u32, text: &str, was: &str) -> Vec<Line> {
    let fact = |text: String| Line { kind: LineKind::Fact, text };
    let mut lines = vec![
        // An effect: a page shows those of an act without files.
        Line {
            kind: LineKind::Destructive,
            text: "say who this instance is: models are told it, in every task, from their next turn on"
                .to_owned(),
        },
        fact("it gives no authority and changes no rule: it stands below your rules of policy".to_owned()),
        fact(format!("it takes about {} tokens of every context", text.len() / 4 + 1)),
        fact("the key of this instance then signs that it is so, where the keys are open".to_owned()),
    ];
    match (version, was.is_empty()) {
        (1, _) => lines.push(fact("the key of this instance derives from exactly this text".to_owned())),
        (_, true) => lines.push(fact("the version before it was erased and cannot be compared".to_owned())),
        (version, false) => {
            lines.push(Line {
                kind: LineKind::Destructive,
                text: format!("it CHANGES version {}:", version.saturating_sub(1)),
            });
            lines.extend(in_text(was, text));
        }
    }
    lines.push(Line::effect(format!("all of it, word for word, {}:", count(text.lines().count(), "line"))));
    lines.extend(quoted(text).map(|text| Line { kind: LineKind::Quoted, text }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_shows_the_difference_and_every_word() {
        let told: Vec<String> = lines(2, "Be kind.\nBe brief.\n", "Be kind.\nBe quick.\n")
            .into_iter()
            .map(|line| line.text)
            .collect();
        assert!(told.contains(&"- Be quick.".to_owned()), "{told:?}");
        assert!(told.contains(&"+ Be brief.".to_owned()), "{told:?}");
        assert!(!told.contains(&"- Be kind.".to_owned()), "{told:?}");
        assert!(told.contains(&"    | Be kind.".to_owned()), "{told:?}");
        assert!(told.iter().any(|line| line.contains("gives no authority")), "{told:?}");
    }

    #[test]
    fn what_cannot_be_one_is_refused_in_words() {
        let refused = |text: &str, was: &str, says: &str| {
            assert!(check(1, text, was).is_err_and(|why| why.contains(says)), "{says}");
        };
        refused(" \n", "", "empty");
        refused(&"x".repeat(SOUL_BYTES_MAX + 1), "", "shorten it");
        refused("a\0b", "", "zero byte");
        refused("Be kind.", "Be kind.", "already");
        assert!(check(0, "Be kind.", "").is_err());
        assert_eq!(check(1, &"x".repeat(SOUL_BYTES_MAX), ""), Ok(()));
    }
}
