//! Which values a secret holds that was looked into, and words without them.

use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::ops::{Range, RangeInclusive};

/// Bytes of a value. A shorter one could not be told from ordinary words.
const VALUE_BYTES: RangeInclusive<usize> = 8..=1024;
/// Values of one look. Where there are more, none is kept, and no more words of the tasks of its root are indexed.
const VALUES_MAX: usize = 512;
/// Signs of one line behind which a value may stand. Where there are more, not all values are known.
const SIGNS_MAX: usize = 64;
/// Signs that assign; the last one ends the name of an element.
const SIGNS: [char; 3] = ['=', ':', '>'];
/// Signs that end a value: of an element, of an address, of one of several.
const ENDS: [char; 6] = ['<', '@', '&', ';', ',', ')'];
/// JSON texts within JSON texts that are looked into, and times that a value may be escaped where it is repeated.
const DEPTH_MAX: usize = 4;
/// Members that hold what stood there, so that a whole line of them is a value too.
const CONTENT: [&str; 5] = ["text", "stdout", "stderr", "body", "answer"];

/// Bytes that every value has at least.
const HEAD: usize = *VALUE_BYTES.start();

/// Values by how they begin, the longest first: a text is gone through once, however many there are.
type ByHead = HashMap<[u8; HEAD], Vec<String>>;

/// Values that are taken out of words.
pub(crate) struct Values {
    by_head: Option<ByHead>,
}

impl Values {
    pub(super) const NONE: Self = Self { by_head: None };

    pub(crate) fn of(values: BTreeSet<String>) -> Self {
        let mut by_head = ByHead::new();
        // In the order of their letters, each comes before those that go on.
        for value in values.into_iter().rev() {
            if let Some(head) = value.as_bytes().first_chunk::<HEAD>() {
                by_head.entry(*head).or_default().push(value);
            }
        }
        Self { by_head: Some(by_head).filter(|by_head| !by_head.is_empty()) }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.by_head.is_none()
    }

    /// Whether one of these values stands in words, as it is or encoded.
    pub(crate) fn stand_in(&self, words: &str) -> bool {
        self.any_in(words, |_| true)
    }

    /// The same for those of them that count.
    pub(crate) fn any_in(&self, words: &str, counts: impl Fn(&str) -> bool + Copy) -> bool {
        let Some(values) = &self.by_head else { return false };
        let holds = |says: &str| places(&small(says), values, counts).next().is_some();
        holds(words) || !redact::encoded_places(words, holds).is_empty()
    }

    /// Words without these values; as they are, where there are none.
    pub(super) fn out_of(&self, words: String) -> String {
        match &self.by_head {
            Some(values) => taken_out(&words, values),
            None => words,
        }
    }
}

/// Words without these values, whatever letters are capital in them, and without what holds one encoded. Where several lie over
/// each other, no part of any stays.
fn taken_out(words: &str, values: &ByHead) -> String {
    let mut plain = words.to_owned();
    let holds = |says: &str| places(&small(says), values, |_| true).next().is_some();
    for place in redact::encoded_places(words, holds).into_iter().rev() {
        plain.replace_range(place, " ");
    }
    let words = small(&plain);
    let mut left = String::with_capacity(words.len());
    // Behind what was taken out last.
    let mut behind = 0;
    for place in places(&words, values, |_| true) {
        if place.start >= behind {
            left.push_str(words.get(behind..place.start).unwrap_or_default());
            left.push(' ');
        }
        behind = behind.max(place.end);
    }
    left.push_str(words.get(behind..).unwrap_or_default());
    left
}

/// Whether nobody says a value by chance who has not seen it: eight letters and digits of it stand in a row, of both kinds.
/// `localhost:5432` and `eu-central-1` stand in many files beside secrets, and are said of many things.
pub(crate) fn is_telling(value: &str) -> bool {
    value.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| {
        part.len() >= HEAD
            && part.bytes().any(|byte| byte.is_ascii_digit())
            && part.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

/// Where words in small letters have one of these values that counts, from the first on.
fn places<'a>(
    words: &'a str,
    values: &'a ByHead,
    counts: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = Range<usize>> + 'a {
    words.as_bytes().windows(HEAD).enumerate().filter_map(move |(at, head)| {
        let rest = words.as_bytes().get(at..)?;
        let stands = |value: &&String| rest.starts_with(value.as_bytes()) && counts(value);
        let value = values.get(head)?.iter().find(stands)?;
        Some(at..at.saturating_add(value.len()))
    })
}

/// In small letters, each by itself.
fn small(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// What stands behind a sign that assigns, and what is a line of its own; none where these are too many.
pub(super) fn values(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let mut found = Found::default();
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => found.of_value(&value, false, DEPTH_MAX),
        Err(_) => found.of_whole(&String::from_utf8_lossy(bytes), true),
    }
    (!found.more).then_some(found.values)
}

/// Values as they are found.
#[derive(Default)]
struct Found {
    values: BTreeSet<String>,
    /// Whether there are more than were looked at.
    more: bool,
}

impl Found {
    fn of_value(&mut self, value: &Value, whole_lines: bool, depth: usize) {
        match value {
            Value::Number(number) if whole_lines => self.take(&number.to_string()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => match within(text, depth) {
                Some((inside, depth)) => self.of_value(&inside, whole_lines, depth),
                None => self.of_whole(text, whole_lines),
            },
            Value::Array(items) => items.iter().for_each(|item| self.of_value(item, whole_lines, depth)),
            Value::Object(members) => {
                for (name, member) in members {
                    self.of_value(member, whole_lines || CONTENT.contains(&name.as_str()), depth);
                }
            }
        }
    }

    /// A text, and what stands encoded in it: settings of clusters hold their secrets so.
    fn of_whole(&mut self, text: &str, whole_lines: bool) {
        self.of_text(text, whole_lines);
        for line in redact::encoded_lines(text) {
            self.of_text(&line, true);
        }
    }

    fn of_text(&mut self, text: &str, whole_lines: bool) {
        for line in text.lines() {
            if whole_lines {
                self.take(line);
                let is_no_word = |part: &&str| part.contains(|c: char| c.is_ascii_digit());
                line.split_whitespace().filter(is_no_word).for_each(|part| self.take(part));
            }
            // Of several signs in a row the last one assigns.
            let behind =
                line.match_indices(SIGNS).filter_map(|(at, sign)| line.get(at.saturating_add(sign.len())..));
            for (at, behind) in behind.filter(|behind| !behind.starts_with(SIGNS)).enumerate() {
                self.more |= at >= SIGNS_MAX;
                if self.more {
                    return;
                }
                self.take(behind);
                self.take(behind.split(ENDS).next().unwrap_or_default());
                let word = behind.split_whitespace().next().unwrap_or_default();
                self.take(word);
                self.take(word.split(ENDS).next().unwrap_or_default());
                self.take(quoted(behind).unwrap_or_default());
            }
        }
    }

    /// Takes a value, and how it stands in a JSON text, in one within that, and so on.
    fn take(&mut self, part: &str) {
        let value = part.trim().trim_matches(['"', '\'', ',', ';']);
        if !VALUE_BYTES.contains(&value.len()) {
            return;
        }
        let mut value = small(value);
        // Small letters may be shorter.
        if value.len() < HEAD {
            return;
        }
        for _ in 0..DEPTH_MAX {
            let escaped = value.replace('\\', r"\\").replace('"', r#"\""#).replace('\t', r"\t");
            let is_escaped = escaped != value;
            self.values.insert(std::mem::replace(&mut value, escaped));
            if !is_escaped {
                break;
            }
        }
        self.more |= self.values.len() > VALUES_MAX;
    }
}

/// What a text holds in quotation marks that it begins with.
fn quoted(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let mark = text.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
    text.get(1..)?.split(mark).next()
}

/// The JSON that a text of JSON is, and how many texts more are looked into.
fn within(text: &str, depth: usize) -> Option<(Value, usize)> {
    let text = text.trim_start();
    let left = depth.checked_sub(1).filter(|_| text.starts_with(['{', '[']))?;
    Some((serde_json::from_str(text).ok()?, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Vec<String> {
        values(bytes).unwrap().into_iter().collect()
    }

    fn without(words: &str, found: BTreeSet<String>) -> String {
        Values::of(found).out_of(words.to_owned())
    }

    #[test]
    fn a_value_is_found_in_an_address_and_in_an_element() {
        let at =
            concat!("DB=postgres://me:pel", "ican42@host/db?key=flamingo-7&x=1\n<word>blue kestrel</word>");
        let found = of(at.as_bytes());
        for value in [concat!("pel", "ican42"), "flamingo-7", "blue kestrel"] {
            assert!(found.contains(&value.to_owned()), "{value}: {found:?}");
        }
    }

    #[test]
    fn of_values_that_lie_over_each_other_no_part_stays() {
        let found = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        let over = || found(&["flamingo-one", "one-and-pelican", "pelican-blue", "pelican-blue-kestrel"]);
        assert_eq!(without("a Flamingo-one-and-pelican-blue-kestrel é.", over()), "a   é.");
        assert_eq!(without("pelican-blue-kestrel", over()), " ");
        assert_eq!(without("flamingo-on, pelicans", over()), "flamingo-on, pelicans", "none of them");
        assert_eq!(without("short", over()), "short");
        let twice = without("flamingo-one flamingo-oneflamingo-one", over());
        assert_eq!(twice.trim(), "");
        assert_eq!(without("Ö", BTreeSet::new()), "Ö", "without any, words stay as they are");
    }

    #[test]
    fn a_value_stands_behind_a_sign_or_alone_in_a_line_of_what_was_read() {
        let read = br#"{"op":"read a thing","result_code":"succeeded","text":"PET=flamingo # a bird\nA='quoted bird'\n"}"#;
        assert_eq!(
            of(read),
            ["a='quoted bird", "flamingo", "flamingo # a bird", "pet=flamingo # a bird", "quoted bird"]
        );
        let hit = br#"{"matches":[{"line":1,"text":"key: kestrel-42"}],"op":"a search"}"#;
        assert_eq!(of(hit), ["kestrel-42", "key: kestrel-42"]);
        let transcript =
            br#"{"transcript":"{\"argv\":[\"cat\",\"a long name\"],\"stdout\":\"MIIEvQIBADAN\\n\"}"}"#;
        assert_eq!(of(transcript), ["miievqibadan"]);
        assert_eq!(of(b"no JSON here\n"), ["no json here"]);
        assert_eq!(of(br#"{"text":"a=short\n"}"#), Vec::<String>::new());
    }

    #[test]
    fn values_are_found_in_json_in_quotation_marks_and_without_a_sign() {
        let json = br#"{"op":"read a thing","text":"{\"name\":\"x\",\"password\":\"flamingo-bird\",\"pin\":12345678}"}"#;
        assert_eq!(of(json), ["12345678", "flamingo-bird"]);
        let cut = concat!(r#"{"a":"x","pass"#, r#"word":"flamingo-bird","#);
        assert!(of(cut.as_bytes()).contains(&"flamingo-bird".to_owned()), "a part of a file is no JSON");
        let netrc = concat!("machine x login y pass", "word pelican42\n");
        assert!(of(netrc.as_bytes()).contains(&"pelican42".to_owned()));
    }

    #[test]
    fn a_value_is_taken_out_in_capitals_and_as_json_writes_it() {
        let found = values(br#"PASS=ab"cd\Efgh"#).unwrap();
        let json = serde_json::to_string(r#"say AB"CD\EFGH"#).unwrap();
        let again = serde_json::to_string(&json).unwrap();
        for words in [r#"say AB"CD\EFGH"#, &json, &again] {
            let left = without(words, found.clone());
            assert!(
                left.contains("say") && !left.contains("ab") && !left.contains("efgh"),
                "{words}: {left}"
            );
        }
    }

    #[test]
    fn a_value_is_taken_out_in_base64_hex_and_as_an_address_has_it() {
        let found = values(b"PET=flamingo-bird\n").unwrap();
        let hex: String = b"PET=Flamingo-Bird".iter().map(|byte| format!("{byte:02x}")).collect();
        for encoded in
            ["RkxBTUlOR08tQklSRA==", "UEVUPWZsYW1pbmdvLWJpcmQK", &hex, "flamingo%2dbird", r"flamingo\x2dbird"]
        {
            let left = without(&format!("an ostrich, {encoded} and a heron"), found.clone());
            assert!(left.contains("ostrich") && left.contains("heron"), "{encoded}: {left}");
            assert!(!left.contains(encoded.to_lowercase().trim_end_matches('=')), "{encoded}: {left}");
        }
        let other = "an ostrich, cGVsaWNhbiBhbmQgaGVyb24= and a%20heron";
        assert_eq!(without(other, found), small(other));
    }

    #[test]
    fn a_value_is_seen_as_it_is_and_encoded_and_only_a_telling_one_is_said_by_nobody_else() {
        let found = Values::of(values(b"PET=flamingo-bird\n").unwrap());
        for says in ["a Flamingo-Bird", "in short RkxBTUlOR08tQklSRA==", "fl%61mingo-bird"] {
            assert!(found.stand_in(says), "{says}");
        }
        assert!(!found.stand_in("a flamingo, and a bird") && !Values::NONE.stand_in("flamingo-bird"));
        let both = Values::of(["flamingo-bird", "flamingo-birdie"].map(str::to_owned).into());
        for says in ["a Flamingo-Birdie", "in short ZmxhbWluZ28tYmlyZGll"] {
            assert!(both.any_in(says, |value| value == "flamingo-bird"), "{says}: a longer one hides none");
            assert!(!both.any_in(says, |value| value == "flamingo"), "{says}");
        }
        for telling in [concat!("pel", "ican42kestrel"), concat!("postgres://me:pel", "ican42@host/db")] {
            assert!(is_telling(telling), "{telling}");
        }
        for said in ["localhost:5432", "eu-central-1", "production", "2026-11-30", "12345678", "flamingo-7"] {
            assert!(!is_telling(said), "{said}");
        }
    }

    #[test]
    fn what_stands_encoded_in_a_secret_is_a_value_as_well() {
        let settings = b"data:\n  pet: cGVsaWNhbi00Mg==\n  bird: 6f7374726963682d3137\n";
        let found = of(settings);
        for value in ["pelican-42", "ostrich-17", "cgvsawnhbi00mg=="] {
            assert!(found.contains(&value.to_owned()), "{value} of {found:?}");
        }
        let read = br#"{"op":"read a thing","text":"key: cGVsaWNhbi00Mg==\n"}"#;
        assert!(of(read).contains(&"pelican-42".to_owned()));
    }

    #[test]
    fn where_not_all_values_are_known_none_is() {
        let many: Vec<String> = (0..=VALUES_MAX).map(|n| format!("KEY=value-number-{n}")).collect();
        assert_eq!(values(many.join("\n").as_bytes()), None);
        assert_eq!(values("a=b,".repeat(SIGNS_MAX + 1).as_bytes()), None);
        assert!(values("=".repeat(1_000).as_bytes()).is_some(), "a line of signs assigns nothing");
    }
}
