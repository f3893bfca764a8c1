//! Verbs about servers of tools.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `hermit tools`.
#[derive(Debug, Subcommand)]
pub enum ToolsVerb {
    /// Starts a server of tools (MCP) in a sandbox, shows what it offers, and asks you whether to register it.
    Add(ToolsAdd),
    /// Lists servers, their tools, and what each tool may do.
    List,
    /// Shows a server with every word that it says of its tools.
    Show {
        /// Its name.
        server: String,
    },
    /// Says what a tool may do; shows a card and asks you first.
    Classify(ToolsClassify),
    /// Calls a tool once, by the same path as an agent.
    Try(ToolsTry),
    /// Prints the text of a prompt of a server.
    Prompt(ToolsPrompt),
    /// Says how much a server may ask of a model while its tools are at work: off until you allow it here.
    Sampling(ToolsSampling),
    /// Passes the tools of a server that you have classified on to agents of other programs (`hermit mcp`): asks you first.
    PassOn(ToolsPassOn),
    /// Logs you in at a server that is reached by an address and wants it (OAuth): asks you, then waits for your browser.
    Login(ToolsLogin),
    /// Forgets the log-in at a server, and has its token taken back where that is offered.
    Logout {
        /// The server.
        server: String,
    },
    /// Lists log-ins: where, with whom, for what, and whether one is needed again.
    Logins,
    /// Stops the use of a server until it is added again.
    Disable {
        /// Its name.
        server: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Forgets a server, and all that you said of its tools.
    Rm {
        /// Its name.
        server: String,
    },
    /// Reads a file in which other programs keep their servers (`mcpServers`), and prints how to add each. Adds none.
    Import {
        /// The file.
        file: PathBuf,
    },
}

/// `hermit tools add`.
#[derive(Debug, Args)]
#[command(after_help = "\
The server is started once, in the folder, to hear what it offers. It sees the folder and changes nothing there, has no \
network but the hosts named here, and ends with all it started. What it says of its tools is shown to you and pinned: when \
it says something else later, what changed is not called until you look at the difference with `--again`.

Until you say what a tool may do with `hermit tools classify`, you are asked before each call of it.

Examples:
  hermit tools add files -- node node_modules/@modelcontextprotocol/server-filesystem/dist/index.js .
  hermit tools add github --host api.github.com --secret GITHUB_TOKEN=github --read ~/.local/share/mcp -- mcp-github
  hermit tools add files --class read_text_file=read_local -- node files.js .
  hermit tools add wiki --url https://mcp.example.org/mcp --header Authorization=wiki
  hermit tools add memory --env MEMORY_FILE_PATH=/tmp/memory.json -- node node_modules/@modelcontextprotocol/server-memory/dist/index.js
  hermit tools add files --again")]
pub struct ToolsAdd {
    /// Its name here: a-z, 0-9 and `-`.
    pub server: String,
    /// The address of a server that runs elsewhere (Streamable HTTP), instead of a program.
    #[arg(long, value_name = "URL", conflicts_with_all = ["host", "secret", "env", "read", "argv"])]
    pub url: Option<String>,
    /// A header that is sent there with a secret, as `HEADER=NAME`; in `Authorization`, `Bearer` stands before the value.
    #[arg(long, value_name = "HEADER=NAME", requires = "url")]
    pub header: Vec<String>,
    /// A host it may reach, as `name` (port 443) or `name:port`; may be given more than once.
    #[arg(long, value_name = "HOST")]
    pub host: Vec<String>,
    /// An environment variable that holds a secret, as `VARIABLE=NAME`; what stands in it is a stand-in.
    #[arg(long, value_name = "VARIABLE=NAME", requires = "host")]
    pub secret: Vec<String>,
    /// An environment variable that holds no secret, as `NAME=VALUE`; it is shown on the card. What may be a secret is
    /// refused: give it with `--secret`. May be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// A folder beside the system's that its program needs to read; may be given more than once.
    #[arg(long, value_name = "FOLDER")]
    pub read: Vec<PathBuf>,
    /// What one of its tools may do, as `TOOL=CLASS`; you are asked about it on the same card. May be given more than once.
    #[arg(long, value_name = "TOOL=CLASS")]
    pub class: Vec<String>,
    /// Look at a registered server anew; without a program it is started as before.
    #[arg(long)]
    pub again: bool,
    /// The folder it is started in.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub workspace: PathBuf,
    /// Program and arguments.
    #[arg(last = true, value_name = "PROGRAM")]
    pub argv: Vec<String>,
}

/// `hermit tools classify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermit tools classify files read_text_file --class read_local --path-pointer /path
  hermit tools classify github create_issue --class network_write
  hermit tools classify files read_text_file --class read_local --path-pointer /path --match '{\"path\":\"a.txt\"}' --no-match '{\"path\":\"../b\"}'
  hermit tools classify shop pay --class payment --amount-pointer /total --only-here
  hermit tools classify files read_text_file --off
  hermit tools classify reports render --class read_local --time-limit 600")]
pub struct ToolsClassify {
    /// The server.
    pub server: String,
    /// The tool, as its server names it.
    pub tool: String,
    /// What it is: read_local, write_local, network_read, network_write, credentialed_api_call, publication, payment,
    /// external_effect.
    #[arg(long, required_unless_present = "off")]
    pub class: Option<String>,
    /// What you said of it does not hold any more, until you say it again: you are asked before each call. Asks nobody.
    #[arg(long, conflicts_with_all = ["class", "path_pointer", "host_pointer", "amount_pointer", "only_here", "matches",
        "no_match", "repeatable", "trusted", "time_limit"])]
    pub off: bool,
    /// An argument that is a place in the folder, as a JSON pointer such as `/path`; may be given more than once.
    #[arg(long, value_name = "POINTER")]
    pub path_pointer: Vec<String>,
    /// An argument that is a host, as a JSON pointer; may be given more than once.
    #[arg(long, value_name = "POINTER")]
    pub host_pointer: Vec<String>,
    /// An argument that is an amount, as a JSON pointer: a card shows it apart; may be given more than once.
    #[arg(long, value_name = "POINTER")]
    pub amount_pointer: Vec<String>,
    /// It holds in the folder of `--workspace` only, not in every folder.
    #[arg(long)]
    pub only_here: bool,
    /// Arguments of a call that is to be judged so, as one JSON object; tried, and shown on the card. May be given more than once.
    #[arg(long = "match", value_name = "ARGUMENTS")]
    pub matches: Vec<String>,
    /// Arguments of a call that is to be refused; tried, and shown on the card. May be given more than once.
    #[arg(long, value_name = "ARGUMENTS")]
    pub no_match: Vec<String>,
    /// It may be called again when nobody saw how a call ended.
    #[arg(long)]
    pub repeatable: bool,
    /// Its answers are trusted.
    #[arg(long)]
    pub trusted: bool,
    /// How long a call of it may take, 1 to 3600 seconds; 120 when not said. A call that takes longer is ended, with its server.
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<u64>,
    /// The folder of the task that asks you.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub workspace: PathBuf,
}

/// `hermit tools sampling`.
#[derive(Debug, Args)]
#[command(after_help = "\
The model is the one of the task that calls the server's tool. It is given no tools and nothing of the task; what it is asked,
what it answers and what that costs is on record with the call.

Examples:
  hermit tools sampling reviewer
  hermit tools sampling reviewer --calls 2 --tokens 8000 --task-tokens 50000
  hermit tools sampling reviewer --off")]
pub struct ToolsSampling {
    /// The server.
    pub server: String,
    /// It may ask nothing any more.
    #[arg(long, conflicts_with_all = ["calls", "tokens", "task_tokens"])]
    pub off: bool,
    /// Questions during one call of a tool, 1 to 32; 4 when not said.
    #[arg(long, value_name = "NUMBER")]
    pub calls: Option<u32>,
    /// Tokens of one question and its answer together; 4000 when not said.
    #[arg(long, value_name = "NUMBER")]
    pub tokens: Option<u64>,
    /// Tokens of all questions in one task; 20000 when not said.
    #[arg(long, value_name = "NUMBER")]
    pub task_tokens: Option<u64>,
    /// The folder of the task that asks you.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub workspace: PathBuf,
}

/// `hermit tools pass-on`.
#[derive(Debug, Args)]
#[command(after_help = "\
An agent that is a client of Hermit then sees those tools under the names that they have in a task, and each call of it is \
judged, asked about and receipted as one of your own tasks is.

Examples:
  hermit tools pass-on filesystem
  hermit tools pass-on filesystem --off")]
pub struct ToolsPassOn {
    /// The server.
    pub server: String,
    /// They are passed on no longer; nobody is asked for that.
    #[arg(long)]
    pub off: bool,
    /// The folder of the task that asks you.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub workspace: PathBuf,
}

/// `hermit tools login`.
#[derive(Debug, Args)]
#[command(after_help = "\
You are shown who the server names as the one who gives tokens, and what the token would allow, and asked first. Then an \
address is printed: open it in a browser on this machine and log in there. The token is kept beside your keys, goes to the \
server alone and is renewed while it may be. Ctrl-C gives up.

Examples:
  hermit tools login forge --url https://mcp.forge.example/mcp
  hermit tools login forge --scope issues:write
  hermit tools login forge --client-id 1234 --client-secret forge-client")]
pub struct ToolsLogin {
    /// The server.
    pub server: String,
    /// Its address, where it is not registered yet.
    #[arg(long)]
    pub url: Option<String>,
    /// What the token is to allow, beside what you allowed before; may be given more than once, or several with blanks between.
    #[arg(long, value_name = "SCOPE")]
    pub scope: Vec<String>,
    /// The client that you have made where tokens are given, where Hermit cannot make itself known there.
    #[arg(long, value_name = "ID")]
    pub client_id: Option<String>,
    /// The name of the secret (`hermit secret set`) that this client has.
    #[arg(long, value_name = "NAME", requires = "client_id")]
    pub client_secret: Option<String>,
    /// The folder of the task that asks you.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub workspace: PathBuf,
}

/// `hermit tools try`.
#[derive(Debug, Args)]
pub struct ToolsTry {
    /// The server.
    pub server: String,
    /// The tool, as its server names it.
    pub tool: String,
    /// Its arguments, as one JSON object.
    #[arg(default_value = "{}")]
    pub arguments: String,
    /// The folder it is called in.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub workspace: PathBuf,
}

/// `hermit tools prompt`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermit tools prompt forge review-change change=1234")]
pub struct ToolsPrompt {
    /// The server.
    pub server: String,
    /// The prompt, as its server names it; `hermit tools show` lists them. Write `--` before one that begins with `-`.
    pub prompt: String,
    /// What it takes, as `name=value`.
    #[arg(value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// The folder in which its server is started.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub workspace: PathBuf,
}
