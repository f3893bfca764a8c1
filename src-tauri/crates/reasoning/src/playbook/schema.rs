//! The shape of a playbook's text. Every key is listed here and in `PLAYBOOKS.md`; any other is refused by name.

use super::Parameter;
use super::template::Template;
use serde::Deserialize;
use serde::de::{
    Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer, value::SeqAccessDeserializer,
};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub playbook: u32,
    pub name: String,
    pub title: String,
    #[serde(default)]
    pub about: Option<String>,
    pub description: String,
    #[serde(default)]
    pub parameters: Vec<Parameter>,
    #[serde(default)]
    pub categories: Option<BTreeMap<String, Vec<String>>>,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    #[serde(default)]
    pub id: Option<String>,
    #[serde(default)]
    pub when: Option<Condition>,
    #[serde(default)]
    pub for_each: Option<Selection>,
    #[serde(default)]
    pub list: Option<List>,
    #[serde(default)]
    pub read: Option<OnePath>,
    #[serde(default)]
    pub search: Option<Search>,
    #[serde(default)]
    pub hash: Option<OnePath>,
    #[serde(default)]
    pub select: Option<Selection>,
    #[serde(default)]
    pub table: Option<Table>,
    #[serde(default)]
    pub write: Option<Write>,
    #[serde(default)]
    pub delete: Option<OnePath>,
    #[serde(default, rename = "move")]
    pub moves: Option<Move>,
    #[serde(default)]
    pub change: Option<Vec<Part>>,
    #[serde(default)]
    pub note: Option<Note>,
    #[serde(default)]
    pub believe: Option<Believe>,
    #[serde(default)]
    pub ask: Option<Ask>,
    #[serde(default)]
    pub done: Option<Done>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    #[serde(default)]
    pub when: Option<Condition>,
    #[serde(default)]
    pub for_each: Option<Selection>,
    #[serde(default)]
    pub write: Option<Write>,
    #[serde(default)]
    pub delete: Option<OnePath>,
    #[serde(default, rename = "move")]
    pub moves: Option<Move>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    pub path: Template,
    #[serde(default)]
    pub recursive: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnePath {
    pub path: Template,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    pub path: Template,
    pub pattern: Template,
    #[serde(default)]
    pub glob: Option<Template>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub from: String,
    pub columns: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    pub path: Template,
    pub content: Content,
    /// An existing file that begins so is this playbook's own earlier result and may be replaced.
    #[serde(default)]
    pub replaces: Option<Template>,
    /// The last line has no end of line behind it.
    #[serde(default)]
    pub unended: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    pub from: Template,
    pub to: Template,
    /// Only where the same rule, applied to its own result, changes nothing more.
    #[serde(default)]
    pub settled: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    #[serde(default)]
    pub plan: Option<Template>,
    #[serde(default)]
    pub objectives: Vec<Template>,
    #[serde(default)]
    pub expected_outputs: Vec<Template>,
    #[serde(default)]
    pub uncertainties: Vec<Template>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Believe {
    pub claim: Template,
    #[serde(default)]
    pub scope: Option<Template>,
    pub confidence: u16,
    pub evidence: Vec<Template>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    pub question: Template,
    #[serde(default)]
    pub choices: Vec<Template>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Done {
    pub summary: Content,
}

/// Lines, some repeated or conditional.
#[derive(Debug, Clone)]
pub struct Content(pub Vec<Line>);

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    #[serde(default)]
    pub when: Option<Condition>,
    #[serde(default)]
    pub for_each: Option<Selection>,
    pub line: Template,
}

/// All that is given must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    #[serde(default)]
    pub some: Option<String>,
    #[serde(default)]
    pub none: Option<String>,
    #[serde(default)]
    pub given: Option<Template>,
    #[serde(default)]
    pub equals: Option<[Template; 2]>,
    #[serde(default)]
    pub differs: Option<[Template; 2]>,
    #[serde(default)]
    pub matches: Option<[Template; 2]>,
    #[serde(default)]
    pub seen: Option<Seen>,
    #[serde(default)]
    pub not: Option<Box<Condition>>,
    #[serde(default)]
    pub any: Option<Vec<Condition>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    #[serde(rename = "in")]
    pub set: String,
    pub path: Template,
}

/// Entries of an earlier step, filtered in the order of these fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    pub from: String,
    #[serde(default)]
    pub kind: Many<Kind>,
    #[serde(default)]
    pub hidden: Option<bool>,
    #[serde(default)]
    pub inside: Many<Template>,
    #[serde(default)]
    pub outside: Many<Template>,
    #[serde(default)]
    pub glob: Many<Template>,
    #[serde(default)]
    pub not_glob: Many<Template>,
    #[serde(default)]
    pub extension: Many<String>,
    #[serde(default)]
    pub category: Many<String>,
    #[serde(default)]
    pub size_at_least: Option<u64>,
    #[serde(default)]
    pub size_at_most: Option<u64>,
    #[serde(default)]
    pub newer_than_days: Option<Template>,
    #[serde(default)]
    pub older_than_days: Option<Template>,
    #[serde(default)]
    pub capture: Option<Capture>,
    #[serde(default)]
    pub join: Many<Join>,
    #[serde(default)]
    pub with: Many<Join>,
    #[serde(default)]
    pub without: Many<Join>,
    #[serde(default)]
    pub set: Vec<Set>,
    #[serde(default, rename = "where")]
    pub condition: Option<Condition>,
    #[serde(default)]
    pub later_duplicates: Option<String>,
    #[serde(default)]
    pub sort: Option<Sort>,
    #[serde(default)]
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    File,
    Folder,
    Symlink,
    Special,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    Path,
    Size,
    Modified,
    Largest,
    Newest,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    #[serde(rename = "in")]
    pub text: Template,
    pub pattern: Template,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    #[serde(rename = "in")]
    pub set: String,
    pub by: String,
    #[serde(default, rename = "as")]
    pub prefix: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    pub name: String,
    #[serde(default)]
    pub when: Option<Condition>,
    #[serde(default)]
    pub value: Option<Template>,
    #[serde(default)]
    pub replace: Option<Replace>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replace {
    #[serde(rename = "in")]
    pub text: Template,
    pub pattern: Template,
    pub with: Template,
}

/// One, or a list.
#[derive(Debug, Clone)]
pub struct Many<T>(pub Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

// Written out instead of `untagged`, which forgets the line of an error.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
            type Value = Many<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one, or a list of them")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Many<T>, E> {
                use serde::de::IntoDeserializer;
                T::deserialize(text.into_deserializer()).map(|one| Many(vec![one]))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Many<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|one| Many(vec![one]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Many<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Many)
            }
        }
        deserializer.deserialize_any(OneOrMany(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words(Line);
        impl<'de> Deserialize<'de> for Words {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct TextOrMap;
                impl<'de> Visitor<'de> for TextOrMap {
                    type Value = Line;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a line of text, or `line` with `when` or `for_each`")
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Line, E> {
                        let line = Template::parse(text).map_err(E::custom)?;
                        Ok(Line { when: None, for_each: None, line })
                    }
                    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Line, A::Error> {
                        Line::deserialize(MapAccessDeserializer::new(map))
                    }
                }
                deserializer.deserialize_any(TextOrMap).map(Words)
            }
        }
        let lines = Many::<Words>::deserialize(deserializer)?;
        Ok(Self(lines.0.into_iter().map(|words| words.0).collect()))
    }
}
