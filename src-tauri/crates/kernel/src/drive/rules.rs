//! Which rules a task is judged by: the shipped profile, the person's own, approved on cards or in a file, the project's, the
//! task's.
//!
//! Rules that cannot be read stop the task where it is: nothing is judged by half of them.

use crate::Error;
use crate::command::rules::BYTES_MAX;
use crate::kernel::{Kernel, lock};
use crate::state::TaskState;
use governance::{Permissions, PolicyEngine, RuleScope};
use model::Digest;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// The file of the person's rules, in the store's folder.
pub const USER_RULES: &str = "policy.rules";
/// The project's file, which may only tighten.
pub const PROJECT_RULES: &str = ".hermit/policy.rules";
/// A constraint of a task that is a rule begins so.
const RULE: &str = "rule:";
/// Engines kept; each is a few hundred kilobytes.
const ENGINES_MAX: usize = 16;

impl Kernel {
    /// The policy that a task is judged by now.
    ///
    /// # Errors
    /// [`Error::Input`] naming the file and the line, when rules cannot be read.
    pub(crate) fn policy_for(&self, state: &TaskState) -> Result<Arc<PolicyEngine>, Error> {
        let root = state.task.workspace_hint.map(|_| self.workspace_root(state)).transpose()?;
        if root.as_ref() == Some(&self.rules_folder()) && self.proposer(state)?.plans_once() {
            // No rule bears on a change of rules, and on nothing else in its folder: what cannot be read any more can
            // still be mended.
            return Ok(Arc::clone(&self.ports.policy));
        }
        let signed = self.signed_rules_at();
        let files = [
            (RuleScope::User, Some(self.dir.join(USER_RULES))),
            (RuleScope::Project, root.map(|root| root.join(PROJECT_RULES))),
        ];
        let mut written = Vec::new();
        for (scope, path) in files {
            let Some(path) = path else { continue };
            written.extend(text_of(&path)?.map(|text| (scope, text, Some(path))));
        }
        let own: Vec<String> = self
            .contract(state)?
            .constraints
            .iter()
            .filter_map(|text| text.trim().strip_prefix(RULE).map(|rule| rule.trim().to_owned()))
            .collect();
        if !own.is_empty() {
            written.push((RuleScope::Task, own.join("\n"), None));
        }
        // Told apart by digest first: an engine that is at hand needs nothing to be read or parsed.
        let signed_key = signed.iter().map(|at| (RuleScope::Signed, at.sha256));
        let written_keys = written.iter().map(|(scope, text, _)| (*scope, Digest::of(text.as_bytes())));
        let key: Vec<(RuleScope, Digest)> = signed_key.chain(written_keys).collect();
        if key.is_empty() {
            return Ok(Arc::clone(&self.ports.policy));
        }
        let mut engines = lock(&self.engines);
        if let Some(engine) = engines.get(&key) {
            return Ok(Arc::clone(engine));
        }
        let mut found = Vec::new();
        if let Some(at) = &signed {
            // Those of the key, whatever is in force by now.
            let read = Permissions::read(RuleScope::Signed, &self.rules_text(at)?);
            found.push(read.map_err(|e| Error::Input(format!("your rules of policy cannot be used: {e}")))?);
        }
        for (scope, text, path) in written {
            let read = Permissions::read(scope, &text);
            found.push(read.map_err(|e| match path {
                Some(path) => unusable(&path, &e.to_string()),
                None => Error::Input(e.to_string()),
            })?);
        }
        let engine = PolicyEngine::with_permissions(found).map_err(|e| Error::Input(e.to_string()))?;
        if engines.len() >= ENGINES_MAX {
            engines.clear();
        }
        Ok(Arc::clone(engines.entry(key).or_insert(Arc::new(engine))))
    }
}

/// The text of a project's rules, where the folder has a file of them.
///
/// # Errors
/// [`Error::Input`] naming the file, when it cannot be read.
pub fn project_rules(root: &Path) -> Result<Option<String>, Error> {
    text_of(&root.join(PROJECT_RULES))
}

fn unusable(path: &Path, why: &str) -> Error {
    Error::Input(format!("the rules in `{}` cannot be used: {why}", path.display()))
}

fn text_of(path: &Path) -> Result<Option<String>, Error> {
    match std::fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound || e.kind() == ErrorKind::NotADirectory => return Ok(None),
        Err(e) => return Err(unusable(path, &e.to_string())),
        // A link may point at anything, so it is no file of rules.
        Ok(at) if !at.is_file() || at.len() > BYTES_MAX as u64 => {
            return Err(unusable(path, "it is no file of a readable size"));
        }
        Ok(_) => {}
    }
    std::fs::read_to_string(path).map(Some).map_err(|e| unusable(path, &e.to_string()))
}
