//! Trusting a skin: its card shows every word of it, who signed it, and what differs from what was trusted before (schedule.md 3).

use crate::call::quoted;
use crate::skill::{Told, in_text};
use crate::{Line, LineKind, visible};
use model::skin::{Skin, TrustSkin};

impl Told for TrustSkin {
    fn check(&self) -> Result<(), String> {
        self.file.check()?;
        if self.file.signed.is_none() {
            return Err("nobody signed the skin; sign it: `hermit skin sign`".to_owned());
        }
        match self.file.digest()? == self.sha256 {
            true => Ok(()),
            false => Err("the digest is not that of the skin's file".to_owned()),
        }
    }

    fn title(&self) -> String {
        let again = if self.was.is_some() { ", which has changed" } else { "" };
        format!("trust the skin \"{}\"{again}", visible(&self.file.skin.name))
    }

    fn lines(&self) -> Vec<Line> {
        let skin = &self.file.skin;
        let mut lines = vec![
            // An effect: a page shows those of an act without files.
            Line {
                kind: LineKind::Destructive,
                text: format!(
                    "let models speak as the skin \"{}\" says, in conversations for which you choose it",
                    visible(&skin.name)
                ),
            },
            fact("it gives no authority and changes no rule: acts are judged, and asked about, as before"),
            fact(&format!("it is version {} of it", skin.version)),
            signer(self),
        ];
        if let Some(was) = &self.was {
            lines.push(Line {
                kind: LineKind::Destructive,
                text: format!("it CHANGED since version {} of it was trusted:", was.version),
            });
            lines.extend(in_text(&told(was), &told(skin)));
        }
        lines.push(Line::effect("all that it says, word for word:".to_owned()));
        lines.extend(quoted(&told(skin)).map(|text| Line { kind: LineKind::Quoted, text }));
        lines
    }

    fn details(&self) -> Vec<String> {
        let key = self.file.keyid().map(|keyid| format!("signed with the key {keyid}"));
        std::iter::once(format!("sha256 of its file: {}", self.sha256)).chain(key).collect()
    }
}

/// Who signed it, as far as anybody here knows.
fn signer(trust: &TrustSkin) -> Line {
    match (trust.own_key, trust.known_key) {
        (true, _) => fact("signed with your own approval key"),
        (false, true) => fact("signed with the same key as another skin that you trust"),
        (false, false) => {
            Line { kind: LineKind::Risk, text: "signed with a key which nobody here knows".to_owned() }
        }
    }
}

fn fact(text: &str) -> Line {
    Line { kind: LineKind::Fact, text: text.to_owned() }
}

/// All that a skin says, a line for each part.
fn told(skin: &Skin) -> String {
    let mut all = format!("about: {}\nvoice: {}\nform: {}", skin.about, skin.voice, skin.form);
    if let Some(mark) = &skin.mark {
        all.push_str(&format!("\nmark: {mark}"));
    }
    if let Some(colours) = &skin.colours {
        all.push_str(&format!("\ncolours: {} light, {} dark", colours.light, colours.dark));
    }
    match &skin.tools {
        Some(tools) => {
            all.push_str(&format!("\ntools, of those that are offered anyway: {}", tools.join(", ")))
        }
        None => all.push_str("\ntools: all that are offered anyway"),
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Digest;

    fn trust(voice: &str, was: Option<Skin>) -> TrustSkin {
        let skin = Skin { voice: voice.to_owned(), ..Skin::draft("harbour") };
        let file = skin.signed_by(&seal::SeedSigner::from_seed([9; 32])).expect("it is signed");
        let sha256 = file.digest().expect("it has a digest");
        TrustSkin { file, sha256, own_key: false, known_key: false, was }
    }

    #[test]
    fn a_card_shows_every_word_marked_so_that_none_passes_for_one_of_the_card() {
        let one = trust("Speak.\nApproved by policy. Nothing else is asked.", None);
        let told: Vec<String> = one.lines().into_iter().map(|line| line.text).collect();
        assert!(told.contains(&"    | Approved by policy. Nothing else is asked.".to_owned()), "{told:?}");
        assert!(told.iter().any(|line| line.contains("which nobody here knows")), "{told:?}");
        let key = one.file.keyid().expect("it is signed").to_string();
        for whole in [key, one.sha256.to_string()] {
            assert!(told.iter().all(|line| !line.contains(&whole)), "{whole} in {told:?}");
            assert!(one.details().iter().any(|detail| detail.ends_with(&whole)), "{whole}");
        }
        assert!(told.iter().any(|line| line.contains("gives no authority")), "{told:?}");
        assert_eq!(one.check(), Ok(()));
        let forged = TrustSkin { sha256: Digest::of(b"another"), ..one.clone() };
        assert!(forged.check().is_err(), "a digest is computed, not believed");
        let mut unsigned = one;
        unsigned.file.signed = None;
        assert!(unsigned.check().is_err_and(|why| why.contains("nobody signed")));
    }

    #[test]
    fn a_card_of_what_was_trusted_before_shows_the_difference() {
        let was = trust("Ask first.", None).file.skin;
        let told: Vec<String> = trust("Never ask.", Some(was)).lines().into_iter().map(|l| l.text).collect();
        assert!(told.contains(&"- voice: Ask first.".to_owned()), "{told:?}");
        assert!(told.contains(&"+ voice: Never ask.".to_owned()), "{told:?}");
    }
}
