//! The tools a model may ask for, and what their arguments become.

use model::action::ReadItem;
use model::knowledge::WorkingState;
use model::proposal::ToolSpec;
use model::{BeliefId, RelPath, limits};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One typed thing a model asks for, in the order it asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "proposal", content = "with", rename_all = "snake_case")]
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
        cwd: RelPath,
        /// Whether it asks for the network.
        network: bool,
        /// How long it may run, 1 to [`limits::COMMAND_MS_MAX`].
        timeout_ms: u64,
    },
    /// Replace the working state.
    Note(WorkingState),
    /// Hold a claim as provisionally true.
    Believe {
        /// The claim.
        claim: String,
        /// Where it holds; empty is the task.
        scope: String,
        /// From 0 to 1000.
        confidence: u16,
        /// Artifact identifiers, or paths read in this run.
        evidence: Vec<String>,
    },
    /// Promote a claim to durable memory.
    Remember {
        /// The claim.
        claim: String,
        /// Where it holds.
        scope: String,
        /// Why it deserves to last.
        reason: String,
        /// Artifact identifiers, or paths read in this run.
        evidence: Vec<String>,
        /// The belief it comes from.
        belief_id: Option<BeliefId>,
    },
    /// Ask a person.
    Ask {
        /// The question.
        question: String,
        /// Answers offered.
        choices: Vec<String>,
    },
    /// The goal is reached, or this is the final answer.
    Done {
        /// For the person.
        summary: String,
    },
}

/// One change as proposed: what must be there before is added from what the attempt has observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum ProposedChange {
    /// Create or replace a file.
    Write {
        /// Where.
        path: RelPath,
        /// All of its text.
        content: String,
    },
    /// Remove a file.
    Delete {
        /// Where.
        path: RelPath,
    },
    /// Rename a file.
    Move {
        /// From where.
        from: RelPath,
        /// To where.
        to: RelPath,
    },
}

impl Proposal {
    /// The name for `IterationRecord::tool_invocation`.
    pub const fn tool(&self) -> &'static str {
        match self {
            Self::Observe(_) => "observe",
            Self::Change(_) => "change",
            Self::Command { .. } => "command",
            Self::Note(_) => "note",
            Self::Believe { .. } => "believe",
            Self::Remember { .. } => "remember",
            Self::Ask { .. } => "ask",
            Self::Done { .. } => "done",
        }
    }

    /// One line for people, without contents.
    pub fn line(&self) -> String {
        match self {
            Self::Observe(items) => format!("look at {} places", items.len()),
            Self::Change(items) => format!("change {} files", items.len()),
            Self::Command { argv, .. } => format!("run `{}`", argv.join(" ")),
            Self::Note(_) => "note the working state".to_owned(),
            Self::Believe { claim, .. } => format!("hold that {claim}"),
            Self::Remember { claim, .. } => format!("remember that {claim}"),
            Self::Ask { question, .. } => format!("ask: {question}"),
            Self::Done { summary } => format!("done: {summary}"),
        }
    }
}

macro_rules! arguments {
    ($($name:ident { $($(#[$meta:meta])* $field:ident : $ty:ty),* $(,)? })+) => { $(
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name { $($(#[$meta])* $field: $ty),* }
    )+ };
}

arguments! {
    List { #[serde(default)] path: String, #[serde(default)] recursive: bool }
    OnePath { path: String }
    Search { #[serde(default)] path: String, pattern: String, #[serde(default)] glob: Option<String> }
    Write { path: String, content: String }
    Move { from: String, to: String }
    Change { items: Vec<ChangeArgument> }
    Command {
        argv: Vec<String>,
        #[serde(default)] cwd: String,
        #[serde(default)] network: bool,
        #[serde(default = "longest_ms")] timeout_ms: u64,
    }
    Believe { claim: String, #[serde(default)] scope: String, confidence: u16, evidence: Vec<String> }
    Remember {
        claim: String, scope: String, reason: String, evidence: Vec<String>,
        #[serde(default)] belief_id: Option<BeliefId>,
    }
    Ask { question: String, #[serde(default)] choices: Vec<String> }
    Done { summary: String }
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum ChangeArgument {
    Write { path: String, content: String },
    Delete { path: String },
    Move { from: String, to: String },
}

const fn longest_ms() -> u64 {
    limits::COMMAND_MS_MAX
}

/// The proposal a call asks for.
///
/// # Errors
/// Words for the model.
pub(crate) fn typed(tool: &str, arguments: Value) -> Result<Proposal, String> {
    Ok(match tool {
        "list" => {
            let List { path, recursive } = read(arguments)?;
            Proposal::Observe(vec![ReadItem::List { path: inside(&path)?, recursive }])
        }
        "read" => Proposal::Observe(vec![ReadItem::Read { path: file(&read::<OnePath>(arguments)?.path)? }]),
        "hash" => {
            Proposal::Observe(vec![ReadItem::Hash { path: inside(&read::<OnePath>(arguments)?.path)? }])
        }
        "search" => {
            let Search { path, pattern, glob } = read(arguments)?;
            let pattern = said("pattern", pattern)?;
            Proposal::Observe(vec![ReadItem::Search { path: inside(&path)?, pattern, glob }])
        }
        "write" => {
            let Write { path, content } = read(arguments)?;
            Proposal::Change(vec![ProposedChange::Write { path: file(&path)?, content }])
        }
        "delete" => {
            let path = file(&read::<OnePath>(arguments)?.path)?;
            Proposal::Change(vec![ProposedChange::Delete { path }])
        }
        "move" => {
            let Move { from, to } = read(arguments)?;
            Proposal::Change(vec![renamed(&from, &to)?])
        }
        "change" => {
            let items = read::<Change>(arguments)?.items;
            if items.is_empty() || items.len() > limits::CHANGE_ITEMS_MAX {
                return Err(format!("`items` must hold 1 to {} changes", limits::CHANGE_ITEMS_MAX));
            }
            Proposal::Change(items.into_iter().map(change).collect::<Result<_, _>>()?)
        }
        "command" => command(read(arguments)?)?,
        "note" => Proposal::Note(read(arguments)?),
        "believe" => {
            let Believe { claim, scope, confidence, evidence } = read(arguments)?;
            if confidence > 1000 {
                return Err("`confidence` goes from 0 to 1000".to_owned());
            }
            Proposal::Believe { claim: said("claim", claim)?, scope, confidence, evidence }
        }
        "remember" => {
            let Remember { claim, scope, reason, evidence, belief_id } = read(arguments)?;
            let (claim, reason) = (said("claim", claim)?, said("reason", reason)?);
            Proposal::Remember { claim, scope, reason, evidence, belief_id }
        }
        "ask" => {
            let Ask { question, choices } = read(arguments)?;
            Proposal::Ask { question: said("question", question)?, choices }
        }
        "done" => Proposal::Done { summary: read::<Done>(arguments)?.summary },
        other => return Err(unknown(other)),
    })
}

fn unknown(tool: &str) -> String {
    let names: Vec<_> = TOOLS.iter().map(|(name, ..)| *name).collect();
    format!("there is no tool `{tool}`; the tools are {}", names.join(", "))
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
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
    serde_json::from_value(arguments).map_err(|e| e.to_string())
}

fn said(name: &str, text: String) -> Result<String, String> {
    if text.trim().is_empty() { Err(format!("`{name}` is empty")) } else { Ok(text) }
}

/// A path as a model writes it: as listings spell it (percent-encoded), or plain; `./a/`, `.` and `` too.
fn inside(text: &str) -> Result<RelPath, String> {
    let mut bare = text.trim_end_matches('/');
    while let Some(rest) = bare.strip_prefix("./") {
        bare = rest.trim_start_matches('/');
    }
    let bare = if bare == "." { "" } else { bare };
    if text.starts_with('/') {
        return Err(format!("`{text}` is absolute; give it relative to the workspace"));
    }
    bare.parse().or_else(|_| RelPath::from_bytes(bare.as_bytes())).map_err(|e| e.to_string())
}

fn file(text: &str) -> Result<RelPath, String> {
    let path = inside(text)?;
    if path.is_root() {
        Err(format!("`{text}` names the workspace itself; name a file in it"))
    } else {
        Ok(path)
    }
}

fn renamed(from: &str, to: &str) -> Result<ProposedChange, String> {
    Ok(ProposedChange::Move { from: file(from)?, to: file(to)? })
}

fn change(argument: ChangeArgument) -> Result<ProposedChange, String> {
    match argument {
        ChangeArgument::Write { path, content } => Ok(ProposedChange::Write { path: file(&path)?, content }),
        ChangeArgument::Delete { path } => Ok(ProposedChange::Delete { path: file(&path)? }),
        ChangeArgument::Move { from, to } => renamed(&from, &to),
    }
}

fn command(Command { argv, cwd, network, timeout_ms }: Command) -> Result<Proposal, String> {
    let program = argv.first().map_or("", String::as_str);
    if program.trim().is_empty() || argv.iter().any(|a| a.contains('\0')) {
        return Err(
            "`argv` must begin with a program and hold no NUL; without a shell, one string is one argument"
                .to_owned(),
        );
    }
    if !(1..=limits::COMMAND_MS_MAX).contains(&timeout_ms) {
        return Err(format!("`timeout_ms` goes from 1 to {}", limits::COMMAND_MS_MAX));
    }
    Ok(Proposal::Command { argv, cwd: inside(&cwd)?, network, timeout_ms })
}

/// Name, what it does, its arguments as `name:type`, a `?` behind those that may be left out.
const TOOLS: &[(&str, &str, &[&str])] = &[
    ("list", "List the entries of a folder with size and time.", &["path:path?", "recursive:boolean?"]),
    ("read", "Read a file. Read before you replace, move or delete it.", &["path:path"]),
    (
        "search",
        "Find lines that match a regular expression.",
        &["path:path?", "pattern:string", "glob:string?"],
    ),
    ("hash", "Give the SHA-256 of the files below a path.", &["path:path"]),
    ("write", "Create a file, or replace all of its text.", &["path:path", "content:string"]),
    ("delete", "Delete a file.", &["path:path"]),
    ("move", "Rename or move a file; nothing is overwritten.", &["from:path", "to:path"]),
    ("change", "Make several changes as one; a person is asked once for all of them.", &["items:changes"]),
    (
        "command",
        "Run a program without a shell, in a sandbox.",
        &["argv:strings", "cwd:path?", "network:boolean?", "timeout_ms:integer?"],
    ),
    (
        "note",
        "Replace your working state; it is kept for you between turns.",
        &[
            "objectives:strings?",
            "constraints:strings?",
            "plan:string?",
            "pending_questions:strings?",
            "resource_handles:strings?",
            "expected_outputs:strings?",
            "uncertainties:strings?",
        ],
    ),
    (
        "believe",
        "Hold a claim as provisionally true, with what supports it.",
        &["claim:string", "scope:string?", "confidence:integer", "evidence:strings"],
    ),
    (
        "remember",
        "Promote a claim to durable memory, with what supports it.",
        &["claim:string", "scope:string", "reason:string", "evidence:strings", "belief_id:string?"],
    ),
    ("ask", "Ask the person a question and wait. Call it last.", &["question:string", "choices:strings?"]),
    ("done", "End the work and tell the person what was done. Call it last.", &["summary:string"]),
];

/// The tools offered to a model, with JSON Schemas of their arguments.
pub fn tools() -> Vec<ToolSpec> {
    TOOLS
        .iter()
        .map(|(name, description, arguments)| ToolSpec {
            name: (*name).to_owned(),
            description: (*description).to_owned(),
            parameters: schema(arguments),
        })
        .collect()
}

/// What a tool takes, in words for a model that got it wrong.
pub(crate) fn usage(tool: &str) -> Option<String> {
    let (_, _, arguments) = TOOLS.iter().find(|(name, ..)| *name == tool)?;
    Some(arguments.join(", "))
}

fn schema(arguments: &[&str]) -> Value {
    let named = |a: &&str| a.split_once(':').map(|(name, kind)| (name.to_owned(), kind.to_owned()));
    let arguments: Vec<_> = arguments.iter().filter_map(named).collect();
    let required: Vec<_> =
        arguments.iter().filter(|(_, kind)| !kind.ends_with('?')).map(|(name, _)| name).collect();
    let properties: serde_json::Map<_, _> = arguments
        .iter()
        .map(|(name, kind)| (name.clone(), kind_schema(kind.trim_end_matches('?'))))
        .collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn kind_schema(kind: &str) -> Value {
    match kind {
        "path" => json!({ "type": "string", "description": "relative to the workspace, as listed" }),
        "strings" => json!({ "type": "array", "items": { "type": "string" } }),
        "changes" => {
            let one = |op: &str, arguments: &[&str]| {
                let mut schema = schema(arguments);
                if let Some(op_schema) = schema.pointer_mut("/properties/op") {
                    *op_schema = json!({ "const": op });
                }
                schema
            };
            json!({ "type": "array", "minItems": 1, "items": { "oneOf": [
                one("write", &["op:string", "path:path", "content:string"]),
                one("delete", &["op:string", "path:path"]),
                one("move", &["op:string", "from:path", "to:path"]),
            ] } })
        }
        plain => json!({ "type": plain }),
    }
}
