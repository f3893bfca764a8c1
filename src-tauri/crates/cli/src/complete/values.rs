//! What can stand at an argument: the newest first, each with the words by which a person knows it.

use super::bash::is_plain;
use crate::text::{clip, plain, short};
use clap_complete::CompletionCandidate;
use clap_complete::engine::{PathCompleter, ValueCompleter as _};
use host::{Config, Home, Local, Session};
use std::ffi::OsStr;
use std::path::PathBuf;
use wire::{Command, PAGE_ROWS_MAX};

/// Values offered at most.
const VALUES_MAX: usize = 50;
/// Characters of the words beside a value.
const ABOUT_CHARS: usize = 80;

/// What an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A task.
    Task,
    /// A task that has not ended.
    OpenTask,
    /// An approval.
    Approval,
    /// An approval that waits.
    OpenApproval,
    /// A question that waits.
    Question,
    /// A receipt.
    Receipt,
    /// A receipt of what nobody has undone.
    Undoable,
    /// An artifact.
    Artifact,
    /// A grant, for one act or standing.
    Grant,
    /// A memory record.
    Memory,
    /// A conversation.
    Conversation,
    /// A message that belongs to no task yet.
    Message,
    /// What such a message can be about.
    About,
    /// A policy profile.
    Profile,
    /// A playbook that comes with Hermit.
    Playbook,
    /// A skill of the folder, or of one's own.
    Skill,
    /// A skin.
    Skin,
    /// A gateway.
    Gateway,
    /// A playbook that was drafted.
    Draft,
    /// The address of a model that something is set for.
    Model,
    /// A model in the box.
    Boxed,
    /// A server of models that has a key.
    Server,
    /// A secret.
    Secret,
    /// A key that was followed by another.
    Key,
    /// A passkey that may approve.
    Passkey,
    /// A file.
    File,
}

impl Kind {
    /// Whether the end of an identifier is taken for the whole.
    const fn is_shortened(self) -> bool {
        matches!(
            self,
            Self::Task
                | Self::OpenTask
                | Self::Approval
                | Self::OpenApproval
                | Self::Question
                | Self::Receipt
                | Self::Undoable
                | Self::Artifact
                | Self::Grant
                | Self::Memory
        )
    }
}

/// A value and the words beside it.
type Value = (String, String);

/// The store that is asked.
pub struct Values {
    home: Option<Home>,
}

impl Values {
    /// Of the store that is named, else of the usual one.
    pub fn new(named: Option<PathBuf>) -> Self {
        Self { home: Home::find(named.as_deref()).ok() }
    }

    /// The values that go on with a word. Identifiers are offered as lists show them, by their end, and whole to
    /// whoever began to type one.
    pub fn beginning(&self, kinds: &[Kind], word: &OsStr) -> Vec<CompletionCandidate> {
        let mut found = Vec::new();
        if let Some(text) = word.to_str() {
            let all = kinds.iter().flat_map(|kind| self.all(*kind, text).into_iter().map(|one| (*kind, one)));
            found.extend(all.filter(|(_, (value, _))| is_plain(value)).filter_map(
                |(kind, (value, about))| {
                    let end = short(&value);
                    let offered = match kind.is_shortened() && end.starts_with(text) {
                        true => end.to_owned(),
                        false if value.starts_with(text) => value,
                        false => return None,
                    };
                    Some(CompletionCandidate::new(offered).help(Some(clip(&about, ABOUT_CHARS).into())))
                },
            ));
            found.truncate(VALUES_MAX);
        }
        if kinds.contains(&Kind::File) && !word.is_empty() {
            found.extend(PathCompleter::any().complete(word));
        }
        found
    }

    fn all(&self, kind: Kind, word: &str) -> Vec<Value> {
        let Some(home) = &self.home else { return Vec::new() };
        match kind {
            Kind::About => {
                let all = [("task", "a task that there is"), ("child", "work of its own under a task")];
                let further = [("new", "work of its own"), ("talk", "no work")];
                all.into_iter()
                    .chain(further)
                    .map(|(value, about)| (value.to_owned(), about.to_owned()))
                    .collect()
            }
            Kind::Model | Kind::Boxed | Kind::Server => configured(home, kind),
            Kind::File => Vec::new(),
            _ => Local::reading(home.clone())
                .ok()
                .and_then(|local| kept(&Session::of(local), kind, word))
                .unwrap_or_default(),
        }
    }
}

/// What stands in the settings: no server is asked.
fn configured(home: &Home, kind: Kind) -> Vec<Value> {
    let boxed = host::model_box::kept(home).into_iter();
    let boxed = boxed.map(|one| (format!("box:{}", one.name), plain(&one.about.unwrap_or_default())));
    if kind == Kind::Boxed {
        return boxed.collect();
    }
    let Ok(config) = Config::load(home) else { return Vec::new() };
    if kind == Kind::Server {
        let about = |secret: &str| format!("key: secret:{}", plain(secret));
        return config.providers.iter().map(|one| (one.url.clone(), about(&one.secret))).collect();
    }
    let mut found: Vec<Value> = Vec::new();
    let standard = config.default_model.iter().map(|address| (address.clone(), "the default".to_owned()));
    let set = config.models.iter().map(|one| (one.address.clone(), String::new()));
    for one in standard.chain(set).chain(boxed) {
        if !found.iter().any(|(address, _)| *address == one.0) {
            found.push(one);
        }
    }
    found
}

/// What the log holds; nothing where it cannot be read.
fn kept(session: &Session, kind: Kind, word: &str) -> Option<Vec<Value>> {
    // What is typed already may be about something older.
    let most = if word.is_empty() { VALUES_MAX as u32 } else { PAGE_ROWS_MAX };
    let limit = Some(most);
    let ask = Asking(session);
    Some(match kind {
        Kind::Task => tasks(&ask, None, limit)?,
        Kind::OpenTask => {
            let (mut waiting, going) =
                (tasks(&ask, Some("waiting"), limit)?, tasks(&ask, Some("going"), limit)?);
            waiting.extend(going);
            waiting
        }
        Kind::Approval | Kind::OpenApproval => {
            let status = (kind == Kind::Approval).then(|| "any".to_owned());
            let page = ask.call(&wire::approvals::List { status, limit, ..Default::default() })?;
            page.rows
                .into_iter()
                .map(|row| (row.approval_id, said(row.status.as_str(), &row.summary)))
                .collect()
        }
        Kind::Question => {
            let status = Some("pending".to_owned());
            let page = ask.call(&wire::task::Questions { status, limit, ..Default::default() })?;
            page.rows.into_iter().map(|row| (row.question_id, plain(&row.question.to_string()))).collect()
        }
        Kind::Receipt | Kind::Undoable => {
            let page = ask.call(&wire::receipts::List { limit, ..Default::default() })?;
            let rows = page
                .rows
                .into_iter()
                .filter(|row| kind == Kind::Receipt || row.undone_by.is_none() && row.has_undo());
            rows.map(|row| (row.receipt_id, said(row.result.as_str(), &row.summary))).collect()
        }
        Kind::Artifact => {
            let page = ask.call(&wire::artifacts::List { limit, ..Default::default() })?;
            let about = |name: Option<wire::Text>, uri: &wire::Text| match name {
                Some(name) => plain(&name.to_string()),
                None => plain(&crate::text::place(&uri.to_string())),
            };
            page.rows.into_iter().map(|row| (row.artifact_id, about(row.name, &row.uri))).collect()
        }
        _ => return named(&ask, kind, limit),
    })
}

/// What the log holds beside work and what was done.
fn named(ask: &Asking<'_>, kind: Kind, limit: Option<u32>) -> Option<Vec<Value>> {
    Some(match kind {
        Kind::Grant => {
            let standing = ask.call(&wire::grants::Standing { all: false })?.rows.into_iter();
            let single = ask.call(&wire::grants::List { limit, ..Default::default() })?.rows.into_iter();
            let standing = standing.map(|row| (row.grant_id, plain(&row.words.unwrap_or_default())));
            standing.chain(single.map(|row| (row.grant_id, plain(row.action_class.as_str())))).collect()
        }
        Kind::Memory => {
            let page = ask.call(&wire::knowledge::Memories { limit, ..Default::default() })?;
            page.rows.into_iter().map(|row| (row.memory_id, plain(&row.claim.to_string()))).collect()
        }
        Kind::Conversation => {
            let page = ask.call(&wire::conversations::List { limit, ..Default::default() })?;
            page.rows.into_iter().map(|row| (row.conversation_id, plain(&row.title.to_string()))).collect()
        }
        Kind::Message => {
            let page = ask.call(&wire::conversations::Undecided { limit, ..Default::default() })?;
            page.rows.into_iter().map(|row| (row.message_id, plain(&row.text.to_string()))).collect()
        }
        Kind::Profile => {
            let rows = ask.call(&wire::policy::Profiles {})?.rows;
            rows.into_iter().map(|row| (row.profile.to_string(), plain(&row.about))).collect()
        }
        Kind::Playbook => {
            let all = ask.call(&wire::playbooks::List {})?.playbooks;
            all.into_iter().map(|one| (one.name, plain(&one.about))).collect()
        }
        Kind::Draft => {
            let all = ask.call(&wire::playbooks::Drafts { name: None })?.rows;
            all.into_iter().map(|one| (one.name, one.state.to_string())).collect()
        }
        Kind::Skill => {
            let folder = std::env::current_dir().ok().and_then(|folder| folder.to_str().map(str::to_owned));
            let all = ask.call(&wire::skills::List { folder })?.skills;
            all.into_iter().map(|one| (one.name, plain(&one.description.unwrap_or_default()))).collect()
        }
        Kind::Skin => {
            let all = ask.call(&wire::skins::List { conversation: None })?.skins;
            all.into_iter().map(|one| (one.name, plain(&one.about))).collect()
        }
        Kind::Gateway => {
            let all = ask.call(&wire::gateways::List {})?.gateways;
            all.into_iter().map(|one| (one.name, format!("{}, {}", one.service, one.state))).collect()
        }
        Kind::Secret => {
            let all = ask.call(&wire::secrets::List {})?.secrets;
            all.into_iter().map(|one| (one.handle, plain(&one.hosts.join(", ")))).collect()
        }
        Kind::Passkey => {
            let all = ask.call(&wire::passkeys::List {})?.passkeys.into_iter();
            all.filter(|one| one.in_force)
                .map(|one| (one.passkey_id, plain(&one.name.unwrap_or_default())))
                .collect()
        }
        Kind::Key => {
            let keys = ask.call(&wire::keys::List { all: true })?.keys.into_iter();
            keys.filter(|key| key.status == words::store::KeyStatus::Followed)
                .map(|key| (key.keyid, plain(key.purpose.as_str())))
                .collect()
        }
        _ => Vec::new(),
    })
}

/// A store whose errors are no answers.
struct Asking<'s>(&'s Session);

impl Asking<'_> {
    fn call<C: Command>(&self, command: &C) -> Option<C::Answer> {
        self.0.call(command).ok()
    }
}

fn tasks(ask: &Asking<'_>, group: Option<&str>, limit: Option<u32>) -> Option<Vec<Value>> {
    let page =
        ask.call(&wire::task::List { group: group.map(str::to_owned), limit, ..Default::default() })?;
    Some(page.rows.into_iter().map(|row| (row.task_id, said(row.status.as_str(), &row.title))).collect())
}

/// `completed: Sort the notes`.
fn said(status: &str, words: &wire::Text) -> String {
    format!("{}: {}", plain(status), plain(&words.to_string()))
}
