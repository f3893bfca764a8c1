//! The keys of a host that serves pages, as a person on one of them asks for them.

use crate::{Error, Home, Local, NewKeys, PassphraseOf, VaultChoice, try_keychain};
use gateway::KeyState;
use keychain::{Marker, VaultKind};
use model::body::KeyPurpose;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// As [`Error::to_wire`], and whoever reads it on a page is not told where on this machine the store lies.
fn to_page<T>(home: &Home, came: Result<T, impl Into<Error>>) -> Result<T, wire::Error> {
    let place = home.path("").display().to_string();
    came.map_err(|error| {
        let mut told = error.into().to_wire();
        told.message = told.message.replace(&place, "");
        told.hint = told.hint.replace(&place, "");
        told
    })
}

impl gateway::Keeper for Local {
    fn state(&self) -> Result<KeyState, wire::Error> {
        let known = to_page(self.home(), self.owned_kernel())?.store_state().keys;
        let marker = to_page(self.home(), Marker::read(self.home().dir()))?;
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
        to_page(self.home(), self.make_keys(&new))?;
        self.go_on().map(drop)
    }

    fn unlock(
        self: Arc<Self>,
        passphrase: Option<Zeroizing<Vec<u8>>>,
        open: Duration,
    ) -> Result<(), wire::Error> {
        to_page(self.home(), self.unlock_for(passphrase, open))
    }

    fn change_passphrase(self: Arc<Self>, change: &gateway::NewPassphrase) -> Result<(), wire::Error> {
        let of = if change.approval { PassphraseOf::Approval } else { PassphraseOf::Vault };
        to_page(self.home(), Local::change_passphrase(&self, of, &change.old, &change.new))
    }

    fn lock(self: Arc<Self>) -> Result<(), wire::Error> {
        to_page(self.home(), Local::lock(&self, "a person locked them"))
    }

    fn hook_secret(&self, hook: &str) -> Result<Option<Zeroizing<Vec<u8>>>, wire::Error> {
        self.hook_key(hook)
    }
}
