//! The secret that opens the gateway: random for each host, in a file that only its owner reads.

use crate::Error;
use std::fmt;
use std::io::Read as _;
use std::path::Path;

/// Name of the token's file in the store's folder.
pub const TOKEN_FILE: &str = "gateway.token";
/// Hexadecimal digits of a token: 256 random bits.
const DIGITS: usize = 64;

/// A bearer token.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// A token from random bytes.
    pub fn new(random: [u8; 32]) -> Self {
        Self(random.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// A token as it was read.
    ///
    /// # Errors
    /// In words, when it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() == DIGITS && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
            return Ok(Self(text.to_owned()));
        }
        Err(format!("a token has {DIGITS} hexadecimal digits"))
    }

    /// The text, for a header or a person who opens a browser.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Keeps it in `dir`, in place of the last host's.
    ///
    /// # Errors
    /// [`Error::Token`].
    pub fn keep(&self, dir: &Path) -> Result<(), Error> {
        let path = dir.join(TOKEN_FILE);
        disk::replace(&path, self.0.as_bytes()).map_err(|e| Error::Token {
            act: "written",
            path: path.display().to_string(),
            why: e.to_string(),
        })
    }

    /// The token of the host that holds the store in `dir`.
    ///
    /// # Errors
    /// [`Error::Token`].
    pub fn read(dir: &Path) -> Result<Self, Error> {
        let path = dir.join(TOKEN_FILE);
        let said = |why: String| Error::Token { act: "read", path: path.display().to_string(), why };
        let mut text = String::new();
        let file = std::fs::File::open(&path).map_err(|e| said(e.to_string()))?;
        file.take(DIGITS as u64 + 2).read_to_string(&mut text).map_err(|e| said(e.to_string()))?;
        Self::parse(&text).map_err(said)
    }

    /// Whether `given` is this token, in a time that does not depend on where they differ.
    pub(crate) fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let differing = own.iter().zip(given).fold(0_u8, |all, (a, b)| all | (a ^ b));
        own.len() == given.len() && std::hint::black_box(differing) == 0
    }
}
