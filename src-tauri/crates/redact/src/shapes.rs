//! Unnamed secrets: keys that are known by their shape, by rules that are data (`rules.tsv`).
//!
//! A rule is tried where one of its words stands in the text. Every pattern takes time in proportion to the text, whatever
//! stands in it.

use crate::assigned;
use crate::redactor::Found;
use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::bytes::{Regex, RegexBuilder};
use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

const RULES: &str = include_str!("rules.tsv");
/// Characters of the shortest text in base64 that is looked into.
const WRAPPED_BYTES_MIN: usize = 24;
/// Characters of a line of base64 at least, after which it may go on in the next.
const WRAPPED_LINE_BYTES_MIN: usize = 56;

/// What one kind of key looks like.
pub(crate) struct Rule {
    pub(crate) kind: &'static str,
    words: Vec<&'static str>,
    entropy: f64,
    pattern: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

/// A place of something that looks like a key.
struct Place {
    from: usize,
    to: usize,
    kind: &'static str,
}

struct Rules {
    all: Vec<Rule>,
    finder: AhoCorasick,
    /// For each word: the rules it stands in.
    owners: Vec<Vec<usize>>,
}

static KNOWN: LazyLock<Option<Rules>> = LazyLock::new(Rules::read);

impl Rules {
    fn read() -> Option<Self> {
        let mut all = Vec::new();
        for line in RULES.lines().filter(|line| !line.starts_with('#')) {
            let mut cells = line.split('\t');
            let (kind, words) = (cells.next()?, cells.next()?.split(',').collect());
            let (entropy, pattern) = (cells.next()?.parse().ok()?, cells.next()?);
            all.push(Rule { kind, words, entropy, pattern, compiled: OnceLock::new() });
        }
        let words: BTreeSet<&str> = all.iter().flat_map(|rule| rule.words.iter().copied()).collect();
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(&words).ok()?;
        let having = |word: &str| -> Vec<usize> {
            let rules = all.iter().enumerate().filter(|(_, rule)| rule.words.contains(&word));
            rules.map(|(at, _)| at).collect()
        };
        let owners = words.iter().map(|word| having(word)).collect();
        Some(Self { all, finder, owners })
    }

    /// The rules of which a word stands in the text, in their order.
    fn likely(&self, text: &str) -> impl Iterator<Item = &Rule> {
        let mut likely = BTreeSet::<usize>::new();
        let mut seen = vec![false; self.owners.len()];
        for word in self.finder.find_overlapping_iter(text) {
            let at = word.pattern().as_usize();
            if let Some(seen) = seen.get_mut(at).filter(|seen| !**seen) {
                *seen = true;
                likely.extend(self.owners.get(at).into_iter().flatten());
            }
        }
        likely.into_iter().filter_map(|at| self.all.get(at))
    }
}

impl Rule {
    fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile(self.pattern)).as_ref()
    }

    /// The secrets of this kind in the text; none when the rule itself cannot be read.
    fn find(&self, text: &str, places: &mut Vec<Place>) -> Option<()> {
        for found in self.regex()?.captures_iter(text.as_bytes()) {
            let Some(secret) = found.name("s") else { continue };
            if entropy(secret.as_bytes()) >= self.entropy {
                places.push(Place { from: secret.start(), to: secret.end(), kind: self.kind });
            }
        }
        Some(())
    }
}

/// A pattern over bytes, whose classes are those of ASCII.
pub(crate) fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).size_limit(8 << 20).build().ok()
}

/// Bits that each byte tells, by how often each stands there.
pub(crate) fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let all = f64::from(u32::try_from(bytes.len()).unwrap_or(u32::MAX)).max(1.0);
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / all);
    -shares.map(|share| share * share.log2()).sum::<f64>()
}

/// How much is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// What is a key by itself.
    Keys,
    /// Also what is one by the name it is assigned to.
    Everything,
}

/// The text without what looks like a key, and how often each kind was found; none when there is nothing.
pub(crate) fn take_out(text: &str, look: Look) -> Option<(String, Found)> {
    let Some(mut places) = places(text, look) else {
        // Fail closed: what cannot be searched for secrets is not shown.
        return Some((
            "[redacted: unsearchable text]".to_owned(),
            Found::from([("unsearchable text".to_owned(), 1)]),
        ));
    };
    places.sort_by_key(|place| (place.from, std::cmp::Reverse(place.to)));
    let (mut clean, mut found, mut at) = (String::new(), Found::new(), 0);
    for place in places {
        // Of two that overlap, what is left of neither may stay.
        let (from, to) = (text.floor_char_boundary(place.from), text.ceil_char_boundary(place.to));
        if from < at {
            at = at.max(to);
            continue;
        }
        clean.push_str(text.get(at..from)?);
        clean.push_str("[redacted: ");
        clean.push_str(place.kind);
        clean.push(']');
        at = to;
        *found.entry(place.kind.to_owned()).or_default() += 1;
    }
    clean.push_str(text.get(at..)?);
    (!found.is_empty()).then_some((clean, found))
}

fn places(text: &str, look: Look) -> Option<Vec<Place>> {
    let known = KNOWN.as_ref()?;
    let mut places = Vec::new();
    for rule in known.likely(text) {
        rule.find(text, &mut places)?;
    }
    wrapped(text, known, &mut places)?;
    if look == Look::Everything {
        let assigned = assigned::find(text)?.into_iter();
        places.extend(assigned.map(|place| Place {
            from: place.start,
            to: place.end,
            kind: "assigned secret",
        }));
    }
    // What was taken out already is no second find.
    places.retain(|place| {
        let secret = text.as_bytes().get(place.from..place.to).unwrap_or_default();
        !secret.starts_with(b"[redacted:") && !secret.starts_with(b"[secret:")
    });
    Some(places)
}

/// Texts in base64 that hold a key, whole.
fn wrapped(text: &str, known: &Rules, places: &mut Vec<Place>) -> Option<()> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (packed, to) = run(bytes, at);
        if packed.len() >= WRAPPED_BYTES_MIN
            && let Some(inside) = unwrapped(&packed)
        {
            let mut found = Vec::new();
            for rule in known.likely(&inside) {
                rule.find(&inside, &mut found)?;
            }
            places.extend(found.first().map(|place| Place { from: at, to, kind: place.kind }));
        }
        at = to.max(at + 1);
    }
    Some(())
}

/// The characters of base64 from here on, also over the ends of long lines, and where they end.
fn run(bytes: &[u8], from: usize) -> (Vec<u8>, usize) {
    let (mut packed, mut at, mut line) = (Vec::new(), from, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'-' => packed.push(b'+'),
            b'_' => packed.push(b'/'),
            _ if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/') => packed.push(*byte),
            b'\n' | b'\r' if line >= WRAPPED_LINE_BYTES_MIN => {
                let rest = bytes.get(at..).unwrap_or_default();
                at += rest.iter().take(2).take_while(|b| matches!(b, b'\n' | b'\r')).count();
                line = 0;
                continue;
            }
            _ => break,
        }
        line += 1;
        at += 1;
    }
    (packed, at)
}

/// What stands in base64, when it is text.
fn unwrapped(packed: &[u8]) -> Option<String> {
    // One character more than groups of four holds nothing.
    let whole = packed.len() - usize::from(packed.len() % 4 == 1);
    let packed = packed.get(..whole)?;
    // A picture shows in its first bytes that it is no text.
    let looks = |bytes: Vec<u8>| !bytes.iter().any(|b| *b < 9 || (*b > 13 && *b < 32));
    let first = STANDARD_NO_PAD.decode(packed.get(..WRAPPED_BYTES_MIN)?).ok()?;
    if !looks(first) {
        return None;
    }
    let engine = base64::engine::GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        base64::engine::general_purpose::NO_PAD.with_decode_allow_trailing_bits(true),
    );
    String::from_utf8(engine.decode(packed).ok()?).ok()
}

/// Kinds, words and patterns, for tests of the rules themselves.
#[cfg(test)]
pub(crate) fn rules() -> Vec<(&'static str, Vec<&'static str>, &'static str)> {
    let all = KNOWN.as_ref().map(|known| known.all.iter());
    all.into_iter().flatten().map(|rule| (rule.kind, rule.words.clone(), rule.pattern)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Redactor;

    fn check(text: &str, secret: &str) {
        let done = Redactor::default().text(text);
        assert!(!done.rest.contains(secret), "`{secret}` is still in `{}`", done.rest);
        assert!(done.summary().is_some());
        assert_eq!(Redactor::default().text(&done.rest).rest, done.rest, "redacting twice changes nothing");
    }

    #[test]
    fn every_rule_can_be_read_and_is_tried_where_its_pattern_can_match() {
        let rules = rules();
        assert!(rules.len() > 120, "{}", rules.len());
        for (kind, words, pattern) in rules {
            assert!(
                compile(pattern).is_some_and(|p| p.capture_names().any(|n| n == Some("s"))),
                "{kind}: {pattern}"
            );
            let lower = pattern.to_ascii_lowercase();
            assert!(
                words.iter().all(|word| !word.is_empty() && *word == word.to_ascii_lowercase()),
                "{kind}"
            );
            assert!(!lower.contains("[^\\s\\s]"), "{kind}");
        }
    }

    #[test]
    fn values_that_look_like_secrets_are_taken_out() {
        let long = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        check(
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n-----END OPENSSH PRIVATE KEY-----\n",
            "b3BlbnNz",
        );
        check("-----BEGIN RSA PRIVATE KEY-----\ncut off here", "cut off here");
        check("key AKIAIOSFODNN7EXAMPLE here", "AKIAIOSFODNN7EXAMPLE");
        check(&format!("ghp_{long}"), long);
        check(&format!("use sk-ant-{long}."), long);
        check(&format!("hf_{long}"), long);
        check("Authorization: Bearer abc.def-ghi", "abc.def-ghi");
        check("postgres://root:hunter22@db:5432/x", "hunter22");
        check("DB_PASSWORD=correcthorse", "correcthorse");
        check("\"client_secret\": \"s3cr3t-value\"", "s3cr3t-value");
        check(
            "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
            "dozjgNryP4J3",
        );
    }

    #[test]
    fn ordinary_text_and_handles_stay() {
        for text in [
            "the password policy says twelve characters",
            "secret:github is a handle",
            "API_KEY=$API_KEY",
            "password: <yours>",
            "https://example.org/a:b@c",
            "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        ] {
            let done = Redactor::default().text(text);
            assert_eq!(done.rest, text);
            assert_eq!(done.summary(), None);
        }
    }
}
