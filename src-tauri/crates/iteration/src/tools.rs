//! The tools a model may ask for, and what their arguments become.

use acts::{Action, file, files, inside, said};
use model::tool_server::is_offered_name;
use model::{
    RelPath,
    action::ReadItem,
    knowledge::WorkingState,
    limits,
    proposal::{ProposedMemory, ToolSpec},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One typed thing a model asks for, in the order it asked.
///
/// Tools that are not about files deserialise into it as the model spells their arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tool", content = "arguments", rename_all = "snake_case", deny_unknown_fields)]
#[rustfmt::skip]
#[allow(clippy::large_enum_variant, reason = "an answer of a model holds a handful")]
pub enum Proposal {
    /// Look at files; neighbouring read calls are one request, at most [`limits::PARALLEL_READS_MAX`] items.
    Observe(Vec<ReadItem>),
    /// Change files; neighbouring change calls are one change set, so that they are one card.
    Change(Vec<ProposedChange>),
    /// An act whose arguments a model gives as they are ([`acts::Tool::offered`]).
    Act(Action),
    /// Call a tool of a server, by the name that it is offered by.
    Call {
        /// That name.
        name: String,
        /// One JSON object, as text.
        arguments: String,
    },
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
        /// Artifact identifiers, or paths read in this run, also with lines of them.
        evidence: Vec<String>,
        /// The belief that this is a new confidence in, on new evidence: its claim, or its identifier.
        #[serde(default)] revises: Option<String>,
        /// The belief whose place it takes, likewise.
        #[serde(default)] supersedes: Option<String>,
        /// The belief that says otherwise, likewise.
        #[serde(default)] contradicts: Option<String>,
        /// For how many days it holds; until something else is known when absent.
        #[serde(default)] days: Option<u32>,
    },
    /// Take a belief back.
    Retract {
        /// Its claim, or its identifier.
        #[serde(deserialize_with = "said")] belief: String,
        /// Why.
        #[serde(deserialize_with = "said")] reason: String,
    },
    /// Be offered more tools of servers, by words that say what they are for.
    FindTools {
        /// The words.
        #[serde(deserialize_with = "said")] query: String,
    },
    /// Read a skill, or a file of one.
    UseSkill {
        /// Its name.
        #[serde(deserialize_with = "said")] name: String,
        /// The file; its own text when absent.
        #[serde(default)] file: Option<String>,
    },
    /// Read a resource of a server of tools.
    ReadResource {
        /// The server.
        #[serde(deserialize_with = "said")] server: String,
        /// The resource's address.
        #[serde(deserialize_with = "said")] uri: String,
    },
    /// Promote a claim to durable memory.
    Remember(ProposedMemory),
    /// Ask a person.
    Ask {
        /// The question.
        #[serde(deserialize_with = "said")] question: String,
        /// Answers offered.
        #[serde(default)] choices: Vec<String>,
    },
    /// Give parts of the task away, as tasks of their own, and wait for what they come to.
    Delegate {
        /// The parts.
        tasks: Vec<Part>,
    },
    /// The goal is reached, or this is the final answer.
    Done {
        /// For the person.
        summary: String,
    },
}

/// A part of a task as proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// What it is to reach; whoever gets it knows nothing else.
    #[serde(deserialize_with = "said")]
    pub goal: String,
    /// One line for lists; the goal's beginning when empty.
    #[serde(default)]
    pub title: String,
    /// Tokens it may use; an equal share of what is left when absent.
    #[serde(default)]
    pub tokens: Option<u64>,
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
    /// Whether it is only said: what the agent notes and believes, and no act.
    pub const fn is_said(&self) -> bool {
        matches!(self, Self::Note(_) | Self::Believe { .. } | Self::Retract { .. })
    }

    /// The name for `IterationRecord::tool_invocation`.
    pub const fn tool(&self) -> &'static str {
        match self {
            Self::Observe(_) => "observe",
            Self::Change(_) => "change",
            Self::Act(action) => action.tool(),
            Self::Call { .. } => "call",
            Self::Commit { .. } => "commit",
            Self::Branch { .. } => "branch",
            Self::Tag { .. } => "tag",
            Self::MoveRef { .. } => "move_ref",
            Self::DeleteRef { .. } => "delete_ref",
            Self::Note(_) => "note",
            Self::Believe { .. } => "believe",
            Self::Retract { .. } => "retract",
            Self::FindTools { .. } => "find_tools",
            Self::UseSkill { .. } => "use_skill",
            Self::ReadResource { .. } => "read_resource",
            Self::Remember(_) => "remember",
            Self::Ask { .. } => "ask",
            Self::Delegate { .. } => "delegate",
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
    if is_offered_name(tool) {
        return Ok(Proposal::Call { name: tool.to_owned(), arguments: arguments.to_string() });
    }
    let names: Vec<String> = tools().into_iter().map(|spec| spec.name).collect();
    if !names.iter().any(|name| name == tool) {
        return Err(format!("there is no tool `{tool}`; the tools are {}", names.join(", ")));
    }
    if let Some(called) = Action::called(tool, arguments.clone()) {
        return called.map(Proposal::Act);
    }
    let call = json!({ "tool": tool, "arguments": arguments });
    let proposal = match tool {
        "commit" | "branch" | "tag" | "move_ref" | "delete_ref" | "note" | "believe" | "retract"
        | "find_tools" | "use_skill" | "read_resource" | "remember" | "ask" | "delegate" | "done" => {
            serde_json::from_value(call)
        }
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
    let items_max = limits::CHANGE_ITEMS_MAX;
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

/// The tools offered to a model, with JSON Schemas of their arguments: the text of `tools.json`, and behind `change` the
/// tools that are offered as they are.
pub fn tools() -> Vec<ToolSpec> {
    // A test reads it; a model without tools could only talk.
    let mut tools: Vec<ToolSpec> = serde_json::from_str(include_str!("tools.json")).unwrap_or_default();
    let at =
        tools.iter().position(|spec| spec.name == "change").map_or(tools.len(), |at| at.saturating_add(1));
    tools.splice(at..at, Action::offered());
    tools
}

/// What a tool takes, for a model that got it wrong.
pub(crate) fn usage(tool: &str) -> String {
    let spec = tools().into_iter().find(|spec| spec.name == tool);
    spec.map_or_else(String::new, |spec| format!("; `{tool}` takes {}", spec.parameters))
}
