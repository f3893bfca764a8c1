//! With what a node is shown who asks, when a person named its address and nothing else.

use super::{Login, server_at};
use crate::model_http::SecretSlot;
use crate::secrets::SecretBook;
use std::path::PathBuf;

/// The handle of the secret with a node's `user:password`.
pub const SECRET: &str = "bitcoin-node";

impl Login {
    /// The secret of [`SECRET`] where there is one, else the cookie file that a node of this address writes in its usual folder.
    pub fn usual(url: &str, secrets: SecretSlot, book: SecretBook) -> Self {
        if book.handles().iter().any(|handle| handle == SECRET) {
            return Self::Secret { handle: SECRET.to_owned(), secrets, book };
        }
        let port = server_at(url).ok().and_then(|server| server.rsplit_once(':')?.1.parse::<u16>().ok());
        // Each chain has its port and its folder.
        let chain = match port {
            Some(18_332) => "testnet3",
            Some(48_332) => "testnet4",
            Some(38_332) => "signet",
            Some(18_443) => "regtest",
            _ => "",
        };
        Self::Cookie(folder().join(chain).join(".cookie"))
    }
}

/// Where a node keeps its data, unless it is told otherwise.
fn folder() -> PathBuf {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).unwrap_or_default();
    if cfg!(windows) {
        of("LOCALAPPDATA").join("Bitcoin")
    } else if cfg!(target_os = "macos") {
        of("HOME").join("Library/Application Support/Bitcoin")
    } else {
        of("HOME").join(".bitcoin")
    }
}
