//! Terms of a secret: where its value may go.

use serde::{Deserialize, Serialize};

/// A part of a request in which the value of a secret may stand beside its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretPlace {
    /// Its path and query.
    Url,
    /// Its body.
    Body,
}

impl SecretPlace {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Body => "body",
        }
    }
}

/// Where the value of a secret may go: to these hosts, as `name:port`, in request headers and in these places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretTerms {
    /// The hosts.
    pub hosts: Vec<String>,
    /// Where beside the headers.
    pub also_in: Vec<SecretPlace>,
}

impl SecretTerms {
    /// For these hosts, and there in headers alone.
    pub fn at(hosts: &[String]) -> Self {
        Self { hosts: hosts.to_vec(), also_in: Vec::new() }
    }
}
