//! What goes into a bundle, and what is withheld from it.

use crate::Error;
use model::ReceiptId;
use model::artifact::ArtifactKind;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// Which part of a task is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// All its events, receipts and entries.
    #[default]
    Task,
    /// One receipt: its envelope, the event that records it with its place in the task's tree, its entries.
    Receipt(ReceiptId),
    /// Events from one number to another, both with, each with its place in the task's tree; their receipts and
    /// entries.
    Span {
        /// The first event, from 1.
        first: u64,
        /// The last one.
        last: u64,
    },
}

/// Whose content goes along. Digests are always there; content is what the receiver may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Include {
    /// Everything the store still keeps.
    All,
    /// Nothing.
    None,
    /// Artifacts of these kinds.
    Kinds(BTreeSet<ArtifactKind>),
}

impl Include {
    /// The records of authority: what was asked, judged, shown, decided, witnessed and granted; and what bears each sentence
    /// of an answer. Neither what models were told and said, nor the content of files.
    #[must_use]
    pub fn records() -> Self {
        Self::Kinds(BTreeSet::from([
            ArtifactKind::ActionRequest,
            ArtifactKind::PolicyResult,
            ArtifactKind::ApprovalPacket,
            ArtifactKind::ApprovalDecision,
            ArtifactKind::StateWitness,
            ArtifactKind::CapabilityGrant,
            ArtifactKind::EnvironmentSnapshot,
            ArtifactKind::AnswerCheck,
        ]))
    }

    pub(crate) fn takes(&self, kind: Option<ArtifactKind>) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Kinds(kinds) => kind.is_some_and(|kind| kinds.contains(&kind)),
        }
    }
}

impl Default for Include {
    fn default() -> Self {
        Self::records()
    }
}

impl fmt::Display for Include {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::None => f.write_str("none"),
            Self::Kinds(kinds) => {
                f.write_str(&kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// Which sensitive values are withheld (proof.md 5). Their digests stay, and everything still verifies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Redact {
    /// None: all that was not erased can be read.
    #[default]
    Nothing,
    /// Names of files, folders, hosts and other resources; commands, which carry them; and every text in which one
    /// of those names stands.
    Paths,
    /// Everything people and models said or made: all but names of resources.
    Content,
    /// All of them.
    All,
    /// Values at or below these JSON pointers of an event (`/payload/…`) or a receipt (`/predicate/…`,
    /// `/subject/…`).
    Pointers(BTreeSet<String>),
}

/// Last names of pointers whose values are resources, or name them.
const RESOURCES: [&str; 6] = ["argv", "name", "resource", "resource_scope", "root_path", "uri"];

impl Redact {
    /// Reads what a person gave: nothing, one profile, or JSON pointers.
    ///
    /// # Errors
    /// [`Error::Redact`] for a word that is neither.
    pub fn parse(words: &[String]) -> Result<Self, Error> {
        let profile = match words {
            [] => Some(Self::Nothing),
            [one] => match one.as_str() {
                "none" => Some(Self::Nothing),
                "paths" => Some(Self::Paths),
                "content" => Some(Self::Content),
                "all" => Some(Self::All),
                _ => None,
            },
            _ => None,
        };
        match (profile, words.iter().find(|word| !is_pointer(word))) {
            (Some(profile), _) => Ok(profile),
            (None, Some(word)) => Err(Error::Redact { word: word.clone() }),
            (None, None) => Ok(Self::Pointers(words.iter().cloned().collect())),
        }
    }

    /// Whether nothing is withheld.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// The records of authority as they were hashed hold paths and texts in the clear, so with a redaction they go
    /// along only where somebody asked for them by name.
    #[must_use]
    pub fn standard_artifacts(&self) -> Include {
        if self.is_nothing() { Include::records() } else { Include::None }
    }

    /// Whether the value at `pointer` is withheld.
    pub(crate) fn withholds(&self, pointer: &str, value: &Value) -> bool {
        match self {
            Self::Nothing => false,
            Self::All => true,
            Self::Paths => names_resource(pointer) || holds_path(value),
            Self::Content => !names_resource(pointer),
            Self::Pointers(all) => all.iter().any(|p| {
                pointer.strip_prefix(p.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }),
        }
    }
}

impl fmt::Display for Redact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("none"),
            Self::Paths => f.write_str("paths"),
            Self::Content => f.write_str("content"),
            Self::All => f.write_str("all"),
            Self::Pointers(all) => f.write_str(&all.iter().map(String::as_str).collect::<Vec<_>>().join(" ")),
        }
    }
}

/// RFC 6901, and not the whole document, which `all` is for.
fn is_pointer(word: &str) -> bool {
    word.starts_with('/') && word.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']))
}

/// Whether the pointer's last name, numbers of lists aside, is one of a resource.
fn names_resource(pointer: &str) -> bool {
    let mut names = pointer.rsplit('/').skip_while(|token| token.bytes().all(|b| b.is_ascii_digit()));
    names.next().is_some_and(|name| RESOURCES.contains(&name))
}

/// Whether any text of the value looks as if a path, a host or a file's name stood in it: a slash or a backslash, or
/// a word with a dot inside. Rather one too many than one too few.
fn holds_path(value: &Value) -> bool {
    match value {
        Value::String(text) => text.split_whitespace().any(|word| {
            let word =
                word.trim_matches(|c: char| c.is_ascii_punctuation() && c != '/' && c != '\\' && c != '~');
            word.contains(['/', '\\', '~']) || word.contains('.')
        }),
        Value::Array(items) => items.iter().any(holds_path),
        Value::Object(members) => {
            members.iter().any(|(name, member)| name.contains(['/', '\\', '.']) || holds_path(member))
        }
        _ => false,
    }
}

/// What is asked of an export.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Task, one receipt, or a span.
    pub scope: Scope,
    /// Whose content goes along.
    pub artifacts: Include,
    /// Which sensitive values stay behind.
    pub redact: Redact,
    /// A checkpoint of the global log (a signed note) that the receiver holds already: the bundle then shows that
    /// this log has only been appended to since.
    pub since: Option<Vec<u8>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_holds_a_path_when_a_slash_a_home_or_a_dot_stands_in_a_word() {
        for path in ["/", "~", "\\", "(a/b)", "see ~.", "C:\\x", "host.example", "\"x.txt\","] {
            assert!(holds_path(&json!(path)), "{path}");
            assert!(holds_path(&json!(["none", path])) && holds_path(&json!({ "a": [path] })), "{path}");
        }
        for plain in ["", "done.", "(well)", "one, two; three...", "-"] {
            assert!(!holds_path(&json!([plain, { "a": plain }])), "{plain}");
        }
        assert!(holds_path(&json!({ "a/b": 1 })) && !holds_path(&json!({ "a": 1 })));
    }

    #[test]
    fn what_goes_along_and_what_is_withheld_is_told_by_name() -> Result<(), Error> {
        let kinds = BTreeSet::from([ArtifactKind::PolicyResult, ArtifactKind::ActionRequest]);
        let told = [Include::All, Include::None, Include::Kinds(kinds)].map(|include| include.to_string());
        assert_eq!(told[..2], ["all", "none"]);
        assert!(told[2].contains(',') && told[2].contains(ArtifactKind::PolicyResult.as_str()), "{told:?}");
        assert_eq!(Redact::parse(&[])?, Redact::Nothing);
        assert_eq!(Redact::parse(&["none".to_owned()])?, Redact::Nothing);
        assert_eq!(Redact::Nothing.standard_artifacts(), Include::records());
        assert_eq!(Redact::Paths.standard_artifacts(), Include::None);
        assert!(Redact::parse(&["none".to_owned(), "all".to_owned()]).is_err());
        Ok(())
    }
}
