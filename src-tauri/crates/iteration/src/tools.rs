//! The tools a model may ask for, and what their arguments become.

use model::{
    BeliefId, RelPath, action::ReadItem, knowledge::WorkingState, limits, proposal::ToolSpec, web::Fetch,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Value, json};

/// One typed thing a model asks for, in the order it asked.
///
/// Tools that are not about files deserialise into it as the model spells their arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tool", content = "arguments", rename_all = "snake_case", deny_unknown_fields)]
#[rustfmt::skip]
pub enum Proposal {
    /// Look at files; neighbouring read calls are one request, at most [`limits::PARALLEL_READS_MAX`] items.
    Observe(Vec<ReadItem>),
    /// Change files; neighbouring change calls are one change set, so that they are one card.
    Change(Vec<ProposedChange>),
    /// Run a program.
    Command {
        /// Program and arguments; not empty.
        argv: Vec<String>,
        /// Where, below the workspace.
        #[serde(default, deserialize_with = "inside")] cwd: RelPath,
        /// Whether it asks for the network.
        #[serde(default)] network: bool,
        /// How long it may run, 1 to [`limits::COMMAND_MS_MAX`].
        #[serde(default = "longest_ms")] timeout_ms: u64,
        /// Hosts it needs, as `name:port`.
        #[serde(default)] hosts: Vec<String>,
        /// Handles of secrets it needs.
        #[serde(default)] secrets: Vec<String>,
    },
    /// Ask a server, once.
    Fetch(Fetch),
    /// Commit files on the branch that is checked out.
    Commit {
        /// The files, one by one.
        #[serde(deserialize_with = "files")] paths: Vec<RelPath>,
        /// What is said of it.
        #[serde(deserialize_with = "said")] message: String,
    },
    /// Make a branch at the commit that is checked out.
    Branch {
        /// Its name, without `refs/heads/`.
        #[serde(deserialize_with = "said")] name: String,
    },
    /// Make a tag there.
    Tag {
        /// Its name, without `refs/tags/`.
        #[serde(deserialize_with = "said")] name: String,
    },
    /// Point a branch or tag at another commit.
    MoveRef {
        /// Its whole name.
        #[serde(deserialize_with = "said")] name: String,
        /// A commit, or the whole name of a branch or tag that is at it.
        #[serde(deserialize_with = "said")] to: String,
        /// Whether commits may be left behind.
        #[serde(default)] force: bool,
    },
    /// Delete a branch or tag.
    DeleteRef {
        /// Its whole name.
        #[serde(deserialize_with = "said")] name: String,
    },
    /// Replace the working state.
    Note(WorkingState),
    /// Hold a claim as provisionally true.
    Believe {
        /// The claim.
        #[serde(deserialize_with = "said")] claim: String,
        /// Where it holds; empty is the task.
        #[serde(default)] scope: String,
        /// From 0 to 1000.
        confidence: u16,
        /// Artifact identifiers, or paths read in this run.
        evidence: Vec<String>,
    },
    /// Promote a claim to durable memory.
    Remember {
        /// The claim.
        #[serde(deserialize_with = "said")] claim: String,
        /// Where it holds.
        scope: String,
        /// Why it deserves to last.
        #[serde(deserialize_with = "said")] reason: String,
        /// Artifact identifiers, or paths read in this run.
        evidence: Vec<String>,
        /// The belief it comes from.
        #[serde(default)] belief_id: Option<BeliefId>,
    },
    /// Ask a person.
    Ask {
        /// The question.
        #[serde(deserialize_with = "said")] question: String,
        /// Answers offered.
        #[serde(default)] choices: Vec<String>,
    },
    /// The goal is reached, or this is the final answer.
    Done {
        /// For the person.
        summary: String,
    },
}

/// One change as proposed: what must be there before is added from what the attempt has observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
#[rustfmt::skip]
pub enum ProposedChange {
    /// Create or replace a file.
    Write {
        /// Where.
        #[serde(deserialize_with = "file")] path: RelPath,
        /// All of its text.
        content: String,
    },
    /// Replace pieces of a file's text.
    Edit {
        /// Where.
        #[serde(deserialize_with = "file")] path: RelPath,
        /// Which pieces, one after another.
        edits: Vec<Edit>,
    },
    /// Remove a file.
    Delete {
        /// Where.
        #[serde(deserialize_with = "file")] path: RelPath,
    },
    /// Rename a file.
    Move {
        /// From where.
        #[serde(deserialize_with = "file")] from: RelPath,
        /// To where.
        #[serde(deserialize_with = "file")] to: RelPath,
    },
}

/// A piece of text and what takes its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// What is there, exactly once.
    pub old: String,
    /// What will be there.
    pub new: String,
}

impl Proposal {
    /// The name for `IterationRecord::tool_invocation`.
    pub const fn tool(&self) -> &'static str {
        match self {
            Self::Observe(_) => "observe",
            Self::Change(_) => "change",
            Self::Command { .. } => "command",
            Self::Fetch(_) => "fetch",
            Self::Commit { .. } => "commit",
            Self::Branch { .. } => "branch",
            Self::Tag { .. } => "tag",
            Self::MoveRef { .. } => "move_ref",
            Self::DeleteRef { .. } => "delete_ref",
            Self::Note(_) => "note",
            Self::Believe { .. } => "believe",
            Self::Remember { .. } => "remember",
            Self::Ask { .. } => "ask",
            Self::Done { .. } => "done",
        }
    }
}

/// A call about files, as the model spells it.
#[derive(Deserialize)]
#[serde(tag = "tool", content = "arguments", rename_all = "snake_case", deny_unknown_fields)]
#[rustfmt::skip]
enum FileCall {
    List { #[serde(default, deserialize_with = "inside")] path: RelPath, #[serde(default)] recursive: bool },
    Read {
        #[serde(deserialize_with = "file")] path: RelPath,
        #[serde(default)] from: Option<u64>,
        #[serde(default)] to: Option<u64>,
    },
    Search {
        #[serde(default, deserialize_with = "inside")] path: RelPath,
        #[serde(deserialize_with = "said")] pattern: String,
        #[serde(default)] glob: Option<String>,
    },
    Hash {
        #[serde(deserialize_with = "inside")] path: RelPath,
        #[serde(default)] own_files: bool,
    },
    Write { #[serde(deserialize_with = "file")] path: RelPath, content: String },
    Edit { #[serde(deserialize_with = "file")] path: RelPath, edits: Vec<Edit> },
    Delete { #[serde(deserialize_with = "file")] path: RelPath },
    Move { #[serde(deserialize_with = "file")] from: RelPath, #[serde(deserialize_with = "file")] to: RelPath },
    Change { items: Vec<ProposedChange> },
}

/// The proposal a call asks for.
///
/// # Errors
/// Words for the model.
pub(crate) fn typed(tool: &str, arguments: Value) -> Result<Proposal, String> {
    // Some servers hand arguments over as text, and none as null.
    let arguments = match arguments {
        Value::String(text) => {
            serde_json::from_str(&text).map_err(|e| format!("its arguments are no JSON: {e}"))?
        }
        Value::Null => json!({}),
        other => other,
    };
    if !arguments.is_object() {
        return Err("its arguments must be one JSON object".to_owned());
    }
    let names: Vec<String> = tools().into_iter().map(|spec| spec.name).collect();
    if !names.iter().any(|name| name == tool) {
        return Err(format!("there is no tool `{tool}`; the tools are {}", names.join(", ")));
    }
    let call = json!({ "tool": tool, "arguments": arguments });
    let proposal = match tool {
        "command" | "fetch" | "commit" | "branch" | "tag" | "move_ref" | "delete_ref" | "note"
        | "believe" | "remember" | "ask" | "done" => serde_json::from_value(call),
        _ => serde_json::from_value(call).map(about_files),
    };
    proposal.map_err(|e| e.to_string()).and_then(bounded)
}

fn about_files(call: FileCall) -> Proposal {
    let change = |item| Proposal::Change(vec![item]);
    Proposal::Observe(vec![match call {
        FileCall::List { path, recursive } => ReadItem::List { path, recursive },
        FileCall::Read { path, from: None, to: None } => ReadItem::Read { path },
        FileCall::Read { path, from, to } => {
            ReadItem::Lines { path, from: from.unwrap_or(1), to: to.unwrap_or(u64::from(u32::MAX)) }
        }
        FileCall::Search { path, pattern, glob } => ReadItem::Search { path, pattern, glob },
        FileCall::Hash { path, own_files: false } => ReadItem::Hash { path },
        FileCall::Hash { path, own_files: true } => ReadItem::HashFolder { path },
        FileCall::Write { path, content } => return change(ProposedChange::Write { path, content }),
        FileCall::Edit { path, edits } => return change(ProposedChange::Edit { path, edits }),
        FileCall::Delete { path } => return change(ProposedChange::Delete { path }),
        FileCall::Move { from, to } => return change(ProposedChange::Move { from, to }),
        FileCall::Change { items } => return Proposal::Change(items),
    }])
}

/// Refuses numbers and lists beyond their bounds.
fn bounded(proposal: Proposal) -> Result<Proposal, String> {
    let (items_max, ms_max) = (limits::CHANGE_ITEMS_MAX, limits::COMMAND_MS_MAX);
    match &proposal {
        Proposal::Change(items) if !(1..=items_max).contains(&items.len()) => {
            Err(format!("`items` holds 1 to {items_max} changes"))
        }
        Proposal::Change(items) if !items.iter().all(is_edit_bounded) => {
            Err(format!("`edits` holds 1 to {EDITS_MAX} pieces, each with an `old` that is not empty"))
        }
        Proposal::Observe(items) if items.iter().any(is_backward) => {
            Err("`from` is a line from 1, and `to` is not before it".to_owned())
        }
        Proposal::Command { argv, .. } if argv.first().is_none_or(|program| program.trim().is_empty()) => {
            Err("`argv` begins with a program".to_owned())
        }
        Proposal::Command { argv, timeout_ms, .. }
            if argv.iter().any(|a| a.contains('\0')) || !(1..=ms_max).contains(timeout_ms) =>
        {
            Err(format!("`argv` holds no NUL, and `timeout_ms` goes from 1 to {ms_max}"))
        }
        Proposal::Command { network: false, hosts, secrets, .. }
            if !(hosts.is_empty() && secrets.is_empty()) =>
        {
            Err("`hosts` and `secrets` need `network` to be true".to_owned())
        }
        Proposal::Command { hosts, secrets, .. } if hosts.len() > REACH_MAX || secrets.len() > REACH_MAX => {
            Err(format!("a command names up to {REACH_MAX} `hosts` and as many `secrets`"))
        }
        Proposal::Command { hosts, .. } if !hosts.iter().all(|host| is_host(host)) => {
            Err("`hosts` are written as `name:port`, in small letters, such as `api.example.org:443`"
                .to_owned())
        }
        Proposal::Fetch(fetch) if fetch.if_match.is_some() => {
            Err("`if_match` is filled in by Hermit, from what was fetched before".to_owned())
        }
        Proposal::Fetch(fetch) => fetch.check().map(|()| proposal),
        Proposal::Believe { confidence: 1001.., .. } => Err("`confidence` goes from 0 to 1000".to_owned()),
        _ => Ok(proposal),
    }
}

/// Pieces of one edit.
const EDITS_MAX: usize = 100;

fn is_edit_bounded(change: &ProposedChange) -> bool {
    let ProposedChange::Edit { edits, .. } = change else { return true };
    (1..=EDITS_MAX).contains(&edits.len()) && edits.iter().all(|edit| !edit.old.is_empty())
}

const fn is_backward(item: &ReadItem) -> bool {
    matches!(item, ReadItem::Lines { from, to, .. } if *from == 0 || *to < *from)
}

/// Hosts, or secrets, that one command may name.
const REACH_MAX: usize = 16;

fn is_host(host: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_' | '*');
    host.rsplit_once(':').is_some_and(|(name, port)| {
        !name.is_empty() && name.chars().all(letter) && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

const fn longest_ms() -> u64 {
    limits::COMMAND_MS_MAX
}

fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if !text.trim().is_empty() {
        return Ok(text);
    }
    Err(D::Error::custom("an argument is empty that must say something"))
}

/// A path as a model writes it: as listings spell it (percent-encoded), or plain; `./a/`, `.` and nothing too.
fn inside<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RelPath, D::Error> {
    let text = String::deserialize(deserializer)?;
    let mut bare = if text.starts_with('/') { text.as_str() } else { text.trim_end_matches('/') };
    while let Some(rest) = bare.strip_prefix("./") {
        bare = rest;
    }
    let bare = if bare == "." { "" } else { bare };
    bare.parse().or_else(|_| RelPath::from_bytes(bare.as_bytes())).map_err(D::Error::custom)
}

fn files<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RelPath>, D::Error> {
    #[derive(Deserialize)]
    struct One(#[serde(deserialize_with = "file")] RelPath);
    Ok(Vec::<One>::deserialize(deserializer)?.into_iter().map(|one| one.0).collect())
}

fn file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RelPath, D::Error> {
    let path = inside(deserializer)?;
    if !path.is_root() {
        return Ok(path);
    }
    Err(D::Error::custom("the path names the workspace itself; name a file in it"))
}

/// The tools offered to a model, with JSON Schemas of their arguments: the text of `tools.json`.
pub fn tools() -> Vec<ToolSpec> {
    // A test reads it; a model without tools could only talk.
    serde_json::from_str(include_str!("tools.json")).unwrap_or_default()
}

/// What a tool takes, for a model that got it wrong.
pub(crate) fn usage(tool: &str) -> String {
    let spec = tools().into_iter().find(|spec| spec.name == tool);
    spec.map_or_else(String::new, |spec| format!("; `{tool}` takes {}", spec.parameters))
}
