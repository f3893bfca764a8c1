//! The keys of a host that serves pages, as a person on one of them asks for them.

use crate::{Error, Home, Local, NewKeys, VaultChoice, try_keychain};
use gateway::KeyState;
use keychain::{Marker, VaultKind};
use model::body::KeyPurpose;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// As [`Error::to_wire`], and whoever reads it on a page is not told where on this machine the store lies.
fn to_page(home: &Home, error: Error) -> wire::Error {
    let mut told = error.to_wire();
    told.message = told.message.replace(&home.path("").display().to_string(), "");
    told
}

impl gateway::Keeper for Local {
    fn state(&self) -> Result<KeyState, wire::Error> {
        let known = self.owned_kernel().map_err(|error| to_page(self.home(), error))?.store_state().keys;
        let marker = Marker::read(self.home().dir())
            .map_err(Error::from)
            .map_err(|error| to_page(self.home(), error))?;
        let vault = marker.map(|marker| match marker.vault {
            VaultKind::Keychain => "keychain",
            VaultKind::File | VaultKind::Memory => "file",
        });
        Ok(KeyState {
            made: known.contains_key(&KeyPurpose::Log),
            approval: known.contains_key(&KeyPurpose::Approval),
            open: self.keys().keys().is_some(),
            vault,
            no_keychain: if vault.is_none() { try_keychain().err() } else { None },
            chars_min: crate::PASSPHRASE_CHARS_MIN,
        })
    }

    fn make(self: Arc<Self>, new: &gateway::NewKeys) -> Result<(), wire::Error> {
        let new = NewKeys {
            vault: if new.keychain { VaultChoice::Keychain } else { VaultChoice::File },
            vault_passphrase: new.vault_passphrase.as_ref().map(|words| words.as_slice()),
            approval_passphrase: Some(&new.approval_passphrase),
        };
        self.make_keys(&new).map_err(|error| to_page(self.home(), error))?;
        self.go_on().map(drop)
    }

    fn unlock(
        self: Arc<Self>,
        passphrase: Option<Zeroizing<Vec<u8>>>,
        open: Duration,
    ) -> Result<(), wire::Error> {
        self.unlock_for(passphrase, open).map_err(|error| to_page(self.home(), error))
    }

    fn lock(self: Arc<Self>) -> Result<(), wire::Error> {
        Local::lock(&self, "a person locked them").map_err(|error| to_page(self.home(), error))
    }
}
