//! Servers of tools: what is registered, what each tool may do, and proposals to a person. Nothing here registers.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};
pub use crate::task::Submitted;
use std::collections::BTreeMap;
use words::act::{ActionClass, ActionState, ResultCode};
use words::store::{LoginState, ToolServerState};

params! {
    /// A server: how it is started. It is started once, behind walls, to hear what it offers.
    Add {
        /// Its name: a-z, 0-9 and `-`.
        server: String,
        /// Program and arguments; with `again`, none is as it was registered.
        #[serde(default)]
        argv: Vec<String>,
        /// Where it is reached instead (Streamable HTTP); it is then neither started nor has other hosts.
        url: Option<String>,
        /// Hosts it may reach, as `name:port`.
        #[serde(default)]
        hosts: Vec<String>,
        /// Environment variables that hold a secret, by its handle; of one that is reached, headers.
        #[serde(default)]
        secrets: BTreeMap<String, String>,
        /// Environment variables that hold no secret; what may be one is refused.
        #[serde(default)]
        variables: BTreeMap<String, String>,
        /// Folders beside the system's that its program needs to read.
        #[serde(default)]
        reads: Vec<String>,
        /// What some of its tools may do, each a class by the tool's name: a person is asked about it with the server.
        #[serde(default)]
        classes: BTreeMap<String, String>,
        /// Look at a registered server anew.
        #[serde(default)]
        again: bool,
        /// The folder it is started in.
        workspace: String,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// How much a server may ask of a model.
    Sampling {
        server: String,
        /// Nothing any more.
        #[serde(default)]
        off: bool,
        /// Questions during one call of a tool; 4 when absent.
        calls: Option<u32>,
        /// Tokens of one question and its answer together; 4000 when absent.
        tokens: Option<u64>,
        /// Tokens of all of them in one task; 20000 when absent.
        task_tokens: Option<u64>,
        /// The folder of the task that asks.
        workspace: String,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// Whether the classified tools of a server are passed on to agents of other programs.
    PassOn {
        server: String,
        /// The folder of the task that asks.
        workspace: String,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// The tools of a server are passed on no longer.
    PassOff { server: String }
    /// A log-in at a server that is reached by an address.
    Login {
        server: String,
        /// Its address, where it is not registered yet.
        url: Option<String>,
        /// Scopes in the place of those that the server names; beside those that were allowed before.
        #[serde(default)]
        scopes: Vec<String>,
        /// The client that the person has made where tokens are given.
        client_id: Option<String>,
        /// The handle of its secret.
        client_secret: Option<String>,
        /// The folder of the task that asks.
        workspace: String,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// A log-in that a person has allowed within the last minutes.
    LoginBegin { server: String }
    /// A log-in that waits for a person.
    LoginCancel { server: String }
    /// A log-in, as the process that holds the store knows it.
    LoginStands { server: String }
    /// A log-in whose tokens are forgotten.
    Logout { server: String }
    /// All log-ins.
    LoginList {}
    /// What a tool may do.
    Classify {
        server: String,
        tool: String,
        class: String,
        /// JSON pointers to arguments that are places in the folder.
        #[serde(default)]
        paths: Vec<String>,
        /// JSON pointers to arguments that are hosts.
        #[serde(default)]
        hosts: Vec<String>,
        /// JSON pointers to arguments that are amounts: a card shows them apart.
        #[serde(default)]
        amounts: Vec<String>,
        /// Only in this folder; else everywhere.
        #[serde(default)]
        here: bool,
        /// Arguments of a call, each one JSON object as text, that is to be judged so. They are tried.
        #[serde(default)]
        matches: Vec<String>,
        /// Arguments of a call that is to be refused. They are tried.
        #[serde(default)]
        no_matches: Vec<String>,
        /// Whether a call may be made again when nobody saw how it ended.
        #[serde(default)]
        repeatable: bool,
        /// Whether its answers are trusted.
        #[serde(default)]
        trusted: bool,
        /// How many seconds a call may take; 120 when absent.
        time_limit_s: Option<u64>,
        /// The folder of the task that asks.
        workspace: String,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// One call of a tool.
    Call {
        server: String,
        tool: String,
        /// One JSON object, as text.
        arguments: String,
        /// The folder of the task.
        workspace: String,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// A prompt, whose text is got.
    Prompt {
        server: String,
        prompt: String,
        #[serde(default)]
        arguments: BTreeMap<String, String>,
        /// The folder of the task.
        workspace: String,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// All of them.
    List {}
    /// One server by its name.
    Show { server: String }
    /// One server by its name.
    Disable {
        server: String,
        /// What was said of this tool, and nothing else.
        tool: Option<String>,
        reason: Option<String>,
    }
    /// One server by its name.
    Remove { server: String }
}

answers! {
    /// All log-ins.
    Logins { logins: Vec<LoginAt> }
    /// The log-in at one server.
    LoginAt {
        server: String,
        url: String,
        /// Who gives the tokens.
        issuer: String,
        /// Where one says yes, `name:port`.
        host: String,
        /// What the token allows, or is to allow.
        scopes: Vec<String>,
        state: LoginState,
        /// Why it is not logged in, in words.
        why: Option<String>,
        /// Where the person says yes in a browser, while they are waited for.
        address: Option<String>,
        /// Until when they are.
        until: Option<i64>,
        /// Since when they are logged in.
        since: Option<i64>,
        /// When the first token ended; it is renewed.
        expires_at: Option<i64>,
        /// What to type next, where the calls of the server are not signed with the log-in yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<String>,
    }
    /// A log-in that is over.
    LoggedOut {
        server: String,
        /// Why whoever gave the token did not take it back, in words.
        not_revoked: Option<String>,
    }
    /// All of them.
    Servers { servers: Vec<Server> }
    /// One server.
    Server {
        server: String,
        state: ToolServerState,
        /// Why it is not ready, in words.
        why: Option<String>,
        /// Program and arguments; none where it is reached by an address.
        argv: Vec<String>,
        /// Where it is reached.
        url: Option<String>,
        hosts: Vec<String>,
        /// When it was registered last.
        since: i64,
        /// The pin of all that it says of its tools.
        manifest_sha256: String,
        tools: Vec<Tool>,
    }
    /// One tool.
    Tool {
        name: String,
        /// The name by which a model calls it.
        offered_as: String,
        /// What a person said that it is; none while nobody has.
        class: Option<ActionClass>,
        /// Whether that was switched off: it counts as said by nobody.
        off: bool,
        /// The only folder in which it holds; everywhere where none is named.
        only_in: Option<String>,
        /// Which of its arguments are places, hosts and amounts, as JSON pointers.
        paths: Vec<String>,
        hosts: Vec<String>,
        amounts: Vec<String>,
        /// Calls that were tried when it was said.
        examples: Vec<TermsExample>,
        repeatable: bool,
        trusted: bool,
        /// How many seconds a call may take, where a person said so.
        time_limit_s: Option<u64>,
        /// Whether the server says something else of it than when it was registered.
        changed: bool,
    }
    /// One server with every word that it says.
    Shown {
        server: Server,
        /// Files that its words name, with the digest each had.
        pins: Vec<Pin>,
        /// The package that is started, with its version or that none is pinned, in words.
        package: Option<String>,
        secrets: BTreeMap<String, String>,
        /// Environment variables that hold no secret.
        variables: BTreeMap<String, String>,
        reads: Vec<String>,
        words: Vec<Words>,
        /// Resources, and templates of their addresses.
        resources: Vec<ResourceWords>,
        prompts: Vec<PromptWords>,
        /// What it offers beside these and why that is left out, in words.
        left_out: Vec<String>,
        /// How much it may ask of a model, in words; nothing is nothing at all.
        sampling: Option<String>,
        /// Whether its classified tools are passed on to agents of other programs.
        passed_on: bool,
        /// Its latest calls, the newest first.
        calls: Vec<LastCall>,
    }
    /// Arguments of a call, and whether it is judged so or refused.
    TermsExample { arguments: String, matches: bool }
    /// One call of a server.
    LastCall {
        /// The act in one line, or that it was erased.
        summary: Text,
        /// When it was asked for.
        at: i64,
        task_id: String,
        state: ActionState,
        /// How it ended, where it did.
        result: Option<ResultCode>,
        /// Why it came to nothing, where it did, with the last that the server wrote on its error output where it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        receipt_id: Option<String>,
    }
    /// What a server says of one resource.
    ResourceWords {
        /// Its address, or the template of addresses.
        uri: String,
        is_template: bool,
        name: String,
        title: Option<String>,
        description: Option<String>,
        media_type: Option<String>,
        /// Whether the server says something else of it than when it was registered.
        changed: bool,
    }
    /// What a server says of one prompt.
    PromptWords {
        name: String,
        title: Option<String>,
        description: Option<String>,
        arguments: Vec<PromptArgumentWords>,
        /// Whether the server says something else of it than when it was registered.
        changed: bool,
    }
    /// What a prompt takes.
    PromptArgumentWords { name: String, description: Option<String>, required: bool }
    /// A file with the digest it had.
    Pin { name: String, path: String, sha256: String }
    /// What a server says of one tool.
    Words {
        name: String,
        title: Option<String>,
        description: Option<String>,
        /// JSON Schema of its arguments, as text.
        input_schema: String,
        /// JSON Schema of its structured result, as text.
        output_schema: Option<String>,
        /// What it says of itself, such as `read-only`: a hint, which decides nothing.
        says_of_itself: Vec<String>,
        /// The class that these hints propose.
        proposes: Option<ActionClass>,
        sha256: String,
    }
}
