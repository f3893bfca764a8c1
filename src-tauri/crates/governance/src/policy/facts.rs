//! What the rules may know about a request, computed from its typed body.

use crate::classify::{changed_paths, read_path};
use crate::paths::{PathKind, names_secret, path_kind};
use acts::{Action, ActionRequest};
use cedar_policy::{Context, RestrictedExpression};
use model::action::{ActionClass, ChangeItem, Prior, ReadItem};
use model::policy::RiskBand;
use model::receipt::SandboxLevel;
use model::{Digest, RelPath};
use serde_json::{Value, json};

/// The request as it stands.
pub(crate) const FULL: &str = "full";
/// The lesser form in which it is only looked at.
pub const READONLY: &str = "readonly";
/// The lesser form in which it is kept as a text, and nothing of it is done.
pub const DRAFT: &str = "draft";
/// The lesser form that a person chose themselves: a part of what was asked.
pub const PART: &str = "part";

/// Permission bits of which any lets a file be run.
const EXECUTE_BITS: u32 = 0o111;
/// Permission bits that let a file run as its owner or group.
const ELEVATE_BITS: u32 = 0o6000;

/// Whether a link at `path` leads out of the folder, by its words alone.
fn leads_out(path: &RelPath, target: &str) -> bool {
    if target.starts_with('/') {
        return true;
    }
    let mut depth = path.as_bytes().iter().filter(|byte| **byte == b'/').count();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(up) => depth = up,
                None => return true,
            },
            _ => depth += 1,
        }
    }
    false
}

/// Counts of what an action does; all other facts follow from them and from where it would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) targets: i64,
    pub(crate) creates: i64,
    pub(crate) overwrites: i64,
    pub(crate) deletes: i64,
    pub(crate) moves: i64,
    /// Files that are gone or have other bytes afterwards: neither what is moved nor a folder with nothing in it.
    pub(crate) lost: i64,
    pub(crate) hidden_paths: i64,
    pub(crate) acting_paths: i64,
    pub(crate) secret_paths: i64,
    /// Files that may be run, and files that would run as somebody else.
    pub(crate) executables: i64,
    pub(crate) elevated: i64,
    /// Links that lead out of the folder.
    pub(crate) links_out: i64,
    pub(crate) network: bool,
    /// It has run in its staged view, and there is nothing to commit.
    pub(crate) without_effect: bool,
    pub(crate) untrusted_in_context: bool,
    pub(crate) sandbox: Option<SandboxLevel>,
    pub(crate) allow_unconfined: bool,
    /// Names of permission rules that match.
    pub(crate) matched: Vec<String>,
}

impl Facts {
    /// What an action does by itself.
    pub(crate) fn of(action: &Action) -> Self {
        let mut facts = Self::default();
        match action {
            Action::Observe(acts::Observe { items }) => items.iter().for_each(|item| facts.add_read(item)),
            Action::Change(acts::Change { items }) | Action::Rollback(acts::Rollback { items, .. }) => {
                items.iter().for_each(|item| facts.add_change(item));
            }
            Action::Command(acts::Command { network, cwd, .. }) => {
                facts.network = *network;
                facts.add_path(cwd);
            }
            Action::Fetch(_) => {
                facts.network = true;
                facts.targets += 1;
            }
            // What is committed is read; a key among it would be in every clone.
            Action::Vcs(acts::Vcs { change }) => {
                change.files().iter().for_each(|tracked| facts.add_path(&tracked.path));
                facts.deletes += i64::from(change.loses());
                facts.lost += i64::from(change.loses());
            }
            Action::Remember(_) => {}
        }
        facts
    }

    /// What a command has been seen to do in its staged view.
    pub(crate) fn add_staged(&mut self, request: &ActionRequest) {
        let staged = request.staged.iter().flat_map(|staged| &staged.items);
        staged.for_each(|item| self.add_change(item));
        // What a command can read is looked at as surely as what a look names.
        let seen = request.reach.as_ref().map_or(0, |reach| reach.secrets.len());
        self.secret_paths += i64::try_from(seen).unwrap_or(i64::MAX);
        self.without_effect = has_had_no_effect(request);
    }

    fn add_read(&mut self, item: &ReadItem) {
        self.add_path(read_path(item));
        // A search that aims at secrets by its glob names them as surely as by a path.
        let by_path = path_kind(read_path(item)) == PathKind::Secret;
        self.secret_paths += i64::from(!by_path && names_secret(item));
    }

    fn add_change(&mut self, item: &ChangeItem) {
        match item {
            ChangeItem::Write { prior: Prior::Absent, .. }
            | ChangeItem::Link { prior: Prior::Absent, .. }
            | ChangeItem::Folder { was: None, .. } => self.creates += 1,
            ChangeItem::Write { prior: Prior::Sha256(_) | Prior::EmptyFolder | Prior::Link(_), .. }
            | ChangeItem::Link { prior: Prior::Sha256(_) | Prior::EmptyFolder | Prior::Link(_), .. }
            | ChangeItem::Folder { was: Some(_), .. } => {
                self.overwrites += 1;
                // A folder only gets other permission bits.
                self.lost += i64::from(!matches!(item, ChangeItem::Folder { .. }));
            }
            ChangeItem::Delete { prior, .. } => {
                self.deletes += 1;
                self.lost += i64::from(*prior != Prior::EmptyFolder);
            }
            ChangeItem::Move { .. } => {
                self.moves += 1;
                self.deletes += 1;
            }
        }
        if let ChangeItem::Write { mode: Some(mode), .. } = item {
            self.executables += i64::from(mode & EXECUTE_BITS != 0);
            self.elevated += i64::from(mode & ELEVATE_BITS != 0);
        }
        if let ChangeItem::Link { path, target, .. } = item {
            self.links_out += i64::from(leads_out(path, target));
        }
        changed_paths(item).for_each(|path| self.add_path(path));
    }

    fn add_path(&mut self, path: &RelPath) {
        self.targets += 1;
        match path_kind(path) {
            PathKind::Plain => {}
            PathKind::Hidden => self.hidden_paths += 1,
            PathKind::ActsLater => self.acting_paths += 1,
            PathKind::Secret => self.secret_paths += 1,
        }
    }

    /// Whether walls would stand around a command.
    pub(crate) const fn confined(&self) -> bool {
        match self.sandbox {
            Some(level) => confines(level),
            None => false,
        }
    }

    /// Whether a command would reach nothing but what it is shown.
    pub(crate) const fn isolated(&self) -> bool {
        match self.sandbox {
            Some(level) => isolates(level),
            None => false,
        }
    }

    /// What rules may know of one Cedar request, by name.
    pub(crate) fn known(&self, case: &Case<'_>) -> Vec<(&'static str, Value)> {
        let sandbox = self.sandbox.unwrap_or(SandboxLevel::NotApplicable).as_str();
        let mut known = vec![
            ("mode", json!(case.mode)),
            ("targets", json!(self.targets)),
            ("creates", json!(self.creates)),
            ("overwrites", json!(self.overwrites)),
            ("deletes", json!(self.deletes)),
            ("moves", json!(self.moves)),
            ("secret_paths", json!(self.secret_paths)),
            ("acting_paths", json!(self.acting_paths)),
            ("sandbox", json!(sandbox)),
            ("confined", json!(self.confined())),
            ("allow_unconfined", json!(self.allow_unconfined)),
            ("network", json!(self.network)),
            ("without_effect", json!(self.without_effect)),
            ("untrusted_in_context", json!(self.untrusted_in_context)),
            ("step_allows", json!(case.step_allows)),
            ("risk", json!(rank(case.risk))),
            ("matched", json!(self.matched)),
        ];
        if let Some(packet) = case.packet {
            known.push(("packet_hash", json!(packet.to_string())));
        }
        if let Some(approved) = case.approved {
            known.push(("approval", json!({ "packet_hash": approved.to_string() })));
        }
        known
    }

    /// The typed context of one Cedar request.
    pub(crate) fn context(&self, case: &Case<'_>) -> Result<Context, String> {
        let mut pairs = Vec::new();
        for (name, value) in self.known(case) {
            pairs.push((name.to_owned(), typed(&value)?));
        }
        Context::from_pairs(pairs).map_err(|e| e.to_string())
    }
}

/// Whether a command reaches nothing but what it is shown. Landlock alone does not govern permissions, owners and times of
/// files: what ran behind it may have changed them anywhere.
const fn isolates(level: SandboxLevel) -> bool {
    match level {
        SandboxLevel::NamespacesLandlock | SandboxLevel::Namespaces => true,
        SandboxLevel::Landlock
        | SandboxLevel::Beneath
        | SandboxLevel::Unconfined
        | SandboxLevel::NotApplicable => false,
    }
}

const fn confines(level: SandboxLevel) -> bool {
    match level {
        SandboxLevel::NamespacesLandlock | SandboxLevel::Namespaces | SandboxLevel::Landlock => true,
        SandboxLevel::Beneath | SandboxLevel::Unconfined | SandboxLevel::NotApplicable => false,
    }
}

/// Whether a command has run in a staged view behind walls, changed nothing, reached nobody, and could read nothing that
/// a person would have been asked about.
fn has_had_no_effect(request: &ActionRequest) -> bool {
    let Action::Command(acts::Command { network: false, hosts, secrets, .. }) = &request.action else {
        return false;
    };
    let Some(staged) = &request.staged else { return false };
    hosts.is_empty()
        && secrets.is_empty()
        && staged.items.is_empty()
        && staged.look_first.is_none()
        && request.reach.as_ref().is_none_or(|reach| reach.secrets.is_empty() && reach.unsure.is_none())
        && isolates(staged.sandbox_level)
}

/// A fact as Cedar takes it.
fn typed(value: &Value) -> Result<RestrictedExpression, String> {
    match value {
        Value::String(text) => Ok(RestrictedExpression::new_string(text.clone())),
        Value::Bool(truth) => Ok(RestrictedExpression::new_bool(*truth)),
        Value::Number(number) => {
            let number = number.as_i64().ok_or("a fact is no 64-bit number")?;
            Ok(RestrictedExpression::new_long(number))
        }
        Value::Array(all) => {
            Ok(RestrictedExpression::new_set(all.iter().map(typed).collect::<Result<Vec<_>, _>>()?))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| Ok((name.clone(), typed(value)?)));
            let fields = fields.collect::<Result<Vec<_>, String>>()?;
            RestrictedExpression::new_record(fields).map_err(|e| e.to_string())
        }
        Value::Null => Err("a fact is not there".to_owned()),
    }
}

/// What differs between the Cedar requests of one question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) class: ActionClass,
    pub(crate) mode: &'a str,
    pub(crate) packet: Option<Digest>,
    pub(crate) approved: Option<Digest>,
    pub(crate) step_allows: bool,
    pub(crate) risk: RiskBand,
}

const fn rank(band: RiskBand) -> i64 {
    match band {
        RiskBand::Low => 0,
        RiskBand::Moderate => 1,
        RiskBand::High => 2,
        RiskBand::Critical => 3,
    }
}
