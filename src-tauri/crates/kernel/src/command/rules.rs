//! A person's own rules of policy: proposed as a whole text, put to them on a card, and in force from the receipt on.
//!
//! Their text stands in the store, so no file changes them. The task that asks has a folder of its own, which holds nothing:
//! it waits for no other task, and no rule bears on it, so that rules can always be mended.

use super::submit::Submitted;
use crate::Error;
use crate::kernel::{Kernel, lock};
use acts::Register;
use governance::{Permissions, PolicyEngine, RuleScope};
use model::Digest;
use model::artifact::ArtifactRef;
use model::ingress::Channel;
use std::path::PathBuf;

/// The folder of tasks that change rules, below the store's.
const FOLDER: &str = "policy";
/// Longer rules are no rules that a person has read.
pub(crate) const BYTES_MAX: usize = 64 * 1024;

/// Whether a text can be a person's own rules.
///
/// # Errors
/// [`Error::Input`] with the line that is wrong.
pub(super) fn check_rules(rules: &str) -> Result<(), Error> {
    if rules.len() > BYTES_MAX {
        return Err(Error::Input(format!("rules are {} KB at most", BYTES_MAX / 1024)));
    }
    let read = Permissions::read(RuleScope::Signed, rules).map_err(|e| Error::Input(e.to_string()))?;
    PolicyEngine::with_permissions(vec![read]).map_err(|e| Error::Input(e.to_string()))?;
    Ok(())
}

impl Kernel {
    /// Makes the task that asks a person whether these are their rules from now on. Nothing is in force by it.
    ///
    /// # Errors
    /// [`Error::Input`] with the line that is wrong, or when they are in force already; [`Error::Conflict`] when the rules
    /// are others than `was` by now.
    pub fn propose_rules(
        &self,
        rules: &str,
        was: &str,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        check_rules(rules)?;
        if self.signed_rules()? != was {
            return Err(Error::Conflict("your rules are others by now; look at them again".to_owned()));
        }
        let root = self.made_rules_folder()?;
        let change = Register::Rules { rules: rules.to_owned(), was: was.to_owned() };
        let workspace_id = self.workspace(&root)?;
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// A person's own rules in force, as they approved them; empty while there are none.
    ///
    /// # Errors
    /// When their text is gone or damaged.
    pub fn signed_rules(&self) -> Result<String, Error> {
        self.signed_rules_at().map_or(Ok(String::new()), |at| self.rules_text(&at))
    }

    /// The text of rules that were in force at some time.
    pub(crate) fn rules_text(&self, at: &ArtifactRef) -> Result<String, Error> {
        let bytes = self.artifacts.read(&at.sha256)?;
        String::from_utf8(bytes.to_vec()).map_err(|e| Error::Broken(format!("rules that are no text: {e}")))
    }

    /// Where their text is kept, unless it is empty.
    pub(crate) fn signed_rules_at(&self) -> Option<ArtifactRef> {
        lock(&self.store).rules.clone().filter(|at| at.sha256 != Digest::of(b""))
    }

    /// That folder, made where it is not there yet.
    pub(super) fn made_rules_folder(&self) -> Result<PathBuf, Error> {
        self.made_folder(FOLDER)
    }

    /// A folder of this name for tasks that the store gives itself, below its own; made where it is not there yet.
    pub(super) fn made_folder(&self, name: &str) -> Result<PathBuf, Error> {
        let root = self.dir.join(name);
        std::fs::create_dir_all(&root)
            .map_err(|e| Error::Input(format!("cannot make `{}`: {e}", root.display())))?;
        Ok(root)
    }

    /// The folder of tasks that change rules, or trust skills; nobody works in it.
    pub(crate) fn rules_folder(&self) -> PathBuf {
        self.dir.join(FOLDER)
    }
}
