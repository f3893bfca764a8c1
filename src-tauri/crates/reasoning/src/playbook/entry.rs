//! One thing that was observed, and what can be derived from it.

use super::schema::Kind;
use super::value::{Moment, Value};
use std::collections::BTreeMap;

/// A file, folder, matching line or table row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Path as bytes, below the workspace.
    pub path: Vec<u8>,
    /// Bytes of `path` that are the folder it was listed from: what lies above says nothing about the entry.
    pub base: usize,
    /// What it is, where that was observed.
    pub kind: Option<Kind>,
    /// Bytes in it.
    pub size: Option<u64>,
    /// When it was last changed.
    pub modified_ms: Option<i64>,
    /// Digest of its bytes.
    pub sha256: Option<String>,
    /// Captures, set names, columns.
    pub extra: BTreeMap<String, Value>,
    /// Partners of other sets, with the prefix of their fields.
    pub joined: Vec<(String, Entry)>,
}

/// Fields that every entry may have; the schema check and its messages use the same list.
pub const FIELDS: [&str; 16] = [
    "path",
    "name",
    "stem",
    "extension",
    "parent",
    "category",
    "kind",
    "size",
    "modified",
    "date",
    "year",
    "month",
    "sha256",
    "group",
    "suffix",
    "dotted",
];

impl Entry {
    /// The last part of the path.
    pub fn name(&self) -> &[u8] {
        self.path.rsplit(|b| *b == b'/').next().unwrap_or_default()
    }

    /// The path below the folder it was listed from.
    pub fn relative(&self) -> &[u8] {
        self.path.get(self.base..).unwrap_or_default()
    }

    /// Whether it, or a folder between it and the listed one, has a name with a dot in front.
    pub fn is_hidden(&self) -> bool {
        self.relative().split(|b| *b == b'/').any(|part| part.starts_with(b"."))
    }

    /// The extension in small letters, without its dot.
    pub fn extension(&self) -> String {
        String::from_utf8_lossy(split_name(self.name()).1).to_lowercase()
    }

    /// The category its extension belongs to; `Other` when to none.
    pub fn category(&self, categories: &BTreeMap<String, Vec<String>>) -> String {
        let extension = self.extension();
        let found = categories.iter().find(|(_, list)| list.contains(&extension));
        found.map_or_else(|| "Other".to_owned(), |(name, _)| name.clone())
    }

    /// A field by its name.
    pub fn field(&self, name: &str, categories: &BTreeMap<String, Vec<String>>) -> Option<Value> {
        if let Some(value) = self.extra.get(name) {
            return Some(value.clone());
        }
        if let Some((prefix, rest)) = name.split_once('.') {
            let partner = self.joined.iter().find(|(p, _)| p == prefix);
            return partner.and_then(|(_, entry)| entry.field(rest, categories));
        }
        let own = self.own(name, categories);
        own.or_else(|| {
            let mut unnamed = self.joined.iter().filter(|(prefix, _)| prefix.is_empty());
            unnamed.find_map(|(_, entry)| entry.field(name, categories))
        })
    }

    fn own(&self, name: &str, categories: &BTreeMap<String, Vec<String>>) -> Option<Value> {
        let text = |text: String| Some(Value::Text(text));
        let moment = self.modified_ms.map(Moment::of);
        match name {
            "path" => Some(Value::Raw(self.path.clone())),
            "name" => Some(Value::Raw(self.name().to_vec())),
            "stem" => Some(Value::Raw(split_name(self.name()).0.to_vec())),
            "extension" => text(self.extension()),
            "parent" => {
                let end = self.path.len().saturating_sub(self.name().len() + 1);
                Some(Value::Raw(self.path.iter().take(end).copied().collect()))
            }
            "category" => text(self.category(categories)),
            "suffix" => {
                let extension = split_name(self.name()).1;
                let dot: &[u8] = if extension.is_empty() { b"" } else { b"." };
                Some(Value::Raw([dot, extension].concat()))
            }
            "dotted" => text(if self.is_hidden() { "yes" } else { "no" }.to_owned()),
            "kind" => self.kind.and_then(|kind| text(kind.word().to_owned())),
            "size" => self.size.and_then(|size| text(size.to_string())),
            "modified" => moment.and_then(|m| text(m.full())),
            "date" => moment.and_then(|m| text(m.date())),
            "year" => moment.and_then(|m| text(m.year())),
            "month" => moment.and_then(|m| text(m.month())),
            "sha256" => self.sha256.clone().and_then(text),
            // Enough of the digest to tell groups apart on a screen.
            "group" => self.sha256.as_ref().and_then(|digest| text(digest.chars().take(12).collect())),
            _ => None,
        }
    }
}

impl Kind {
    /// As observations spell it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Symlink => "symlink",
            Self::Special => "special",
        }
    }

    /// From the spelling of observations; what is unknown is special.
    pub fn from_word(word: &str) -> Self {
        match word {
            "file" => Self::File,
            "folder" => Self::Folder,
            "symlink" => Self::Symlink,
            _ => Self::Special,
        }
    }
}

/// Stem and extension; a dot in front or at the end makes no extension.
pub fn split_name(name: &[u8]) -> (&[u8], &[u8]) {
    match name.iter().rposition(|b| *b == b'.') {
        Some(at) if at > 0 && at + 1 < name.len() => {
            (name.get(..at).unwrap_or_default(), name.get(at + 1..).unwrap_or_default())
        }
        _ => (name, &[]),
    }
}

/// `name (2).ext` for 2, and so on; the path itself for 1.
pub fn numbered(path: &[u8], number: u32) -> Vec<u8> {
    if number < 2 {
        return path.to_vec();
    }
    let name = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
    let (stem, extension) = split_name(name);
    let mut out: Vec<u8> = path.iter().take(path.len() - name.len()).copied().collect();
    out.extend_from_slice(stem);
    out.extend_from_slice(format!(" ({number})").as_bytes());
    if !extension.is_empty() {
        out.push(b'.');
        out.extend_from_slice(extension);
    }
    out
}
