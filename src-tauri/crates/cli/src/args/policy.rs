//! `hermit policy`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `hermit policy`.
#[derive(Debug, Subcommand)]
pub enum PolicyVerb {
    /// Lists the profiles.
    Profiles,
    /// Shows the rules of a profile, as they are written.
    Rules {
        /// The profile, such as `local_edit_allowed`.
        profile: String,
    },
    /// Lists your own rules, what each means and how often it decided lately.
    Own,
    /// Adds a rule of your own: shows what it would have changed, then asks you on a card.
    #[command(after_help = "\
Examples:
  hermit policy add 'ask Bash(git push:*)' --because 'others see it'
  hermit policy add 'deny FileDelete(**)'
  hermit policy add 'allow FileEdit(docs/**)'
`hermit policy check --help` tells how a rule is written. Your own rules hold in every folder; deny wins.")]
    Add {
        /// The rule, such as `ask Bash(git push:*)`.
        rule: String,
        /// Why it is there; policy says it with its answer.
        #[arg(long, value_name = "TEXT")]
        because: Option<String>,
    },
    /// Replaces a rule of your own by another one, likewise.
    Change {
        /// The line at which it stands, as `hermit policy own` shows.
        line: u32,
        /// The rule as it will be.
        rule: String,
        /// Why it is there; policy says it with its answer.
        #[arg(long, value_name = "TEXT")]
        because: Option<String>,
    },
    /// Removes a rule of your own, likewise.
    Rm {
        /// The line at which it stands, as `hermit policy own` shows.
        line: u32,
    },
    /// Says what policy would answer to an action, without doing it.
    Test(TestArgs),
    /// Judges all of history again under other rules, and shows what they would have changed.
    Backtest(BacktestArgs),
    /// Finds the narrowest standing approvals that would have given the answers you gave.
    Suggest {
        /// Only answers of so many days back.
        #[arg(long, value_name = "N")]
        days: Option<u32>,
    },
    /// Checks a file of permission rules, and shows what they compile to.
    #[command(after_help = "\
A rule is a line; below it, indented, examples and a reason:
  ask Bash(git push:*)
    match git push origin main
    no match git status
    because others see it
  deny FileDelete(**)
Kinds are Bash, FileRead, FileEdit, FileDelete, Net(host:NAME), Mcp(server__tool). A rule says allow, ask or deny; of \
FileEdit, FileDelete and Net also `look`, which looks at the place or fetches it instead, and `draft`, which keeps what \
would be written or sent as a text. You add yours with \
`hermit policy add`; more may stand in `policy.rules` in the store's folder; a project's stand in \
`.hermit/policy.rules`, where they may not allow; a task's are constraints that begin with `rule:`. Deny wins.")]
    Check {
        /// The file.
        file: PathBuf,
        /// `user`, `project` or `task`.
        #[arg(long, value_name = "SCOPE")]
        scope: Option<String>,
    },
    /// Overrides a denial of policy for one action, with a reason: then you are asked about it.
    Override {
        /// The action request, as `hermit task show` lists it.
        act: String,
        /// Why.
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// For so many hours.
        #[arg(long, value_name = "N", default_value_t = 1)]
        hours: u32,
        /// So often.
        #[arg(long, value_name = "N", default_value_t = 1)]
        uses: u32,
    },
    /// Explains why policy allowed or denied an action.
    Explain {
        /// An approval or a receipt, or the beginning or end of its identifier; or an action request.
        about: String,
    },
}

/// Rules on trial.
#[derive(Debug, Args, Default)]
pub struct TrialArgs {
    /// A file of further Cedar rules; each `@id` begins with `trial.`.
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// A rule to leave out; may be given several times.
    #[arg(long, value_name = "RULE")]
    pub without: Vec<String>,
}

/// `hermit policy test`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermit policy test --delete notes/old.md
  hermit policy test --profile readonly_analysis --command cargo test
  hermit policy test --profile external_publish_gated --method POST --fetch https://example.org/posts
  hermit policy test --untrusted --write .git/hooks/pre-commit
It ends with 0 when the act would be allowed, 4 when a person would be asked, 3 when it would be denied.")]
pub struct TestArgs {
    /// The profile; the default unless you name one.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// What would be done.
    #[command(flatten)]
    pub act: ActArgs,
    /// Whether the command asks for the network.
    #[arg(long, requires = "command")]
    pub network: bool,
    /// Whether the file to write is there already.
    #[arg(long, requires = "write")]
    pub replaces: bool,
    /// How the server is asked: `GET`, `POST` and so on.
    #[arg(long, requires = "fetch", value_name = "METHOD")]
    pub method: Option<String>,
    /// Whether the model had read anything untrusted.
    #[arg(long)]
    pub untrusted: bool,
    /// The sandbox of a command: `namespaces_landlock`, `unconfined` and others.
    #[arg(long, value_name = "LEVEL")]
    pub walls: Option<String>,
    /// Other rules.
    #[command(flatten)]
    pub trial: TrialArgs,
}

/// One act.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct ActArgs {
    /// Reads a file of the workspace.
    #[arg(long, value_name = "PATH")]
    pub read: Option<String>,
    /// Writes a file of the workspace.
    #[arg(long, value_name = "PATH")]
    pub write: Option<String>,
    /// Deletes a file of the workspace.
    #[arg(long, value_name = "PATH")]
    pub delete: Option<String>,
    /// Moves a file of the workspace.
    #[arg(long = "move", num_args = 2, value_names = ["FROM", "TO"])]
    pub moved: Option<Vec<String>>,
    /// Runs a command: everything behind this flag.
    #[arg(long, num_args = 1.., allow_hyphen_values = true, value_names = ["PROGRAM", "ARG"])]
    pub command: Option<Vec<String>>,
    /// Asks a server.
    #[arg(long, value_name = "URL")]
    pub fetch: Option<String>,
}

/// `hermit policy backtest`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermit policy backtest --profile destructive_denied        what would have been denied
  hermit policy backtest --without local_edit_allowed.ask_edit   what would have happened unasked
  hermit policy backtest --rules stricter.cedar
Nothing comes into force by it. Cards are asked for by rules whose effect is `ask`; `hermit policy rules` names them.")]
pub struct BacktestArgs {
    /// Another profile for all of it; each act's own when absent.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Only acts of so many days back.
    #[arg(long, value_name = "N")]
    pub days: Option<u32>,
    /// Rows shown at most.
    #[arg(long, value_name = "N")]
    pub limit: Option<u32>,
    /// Other rules.
    #[command(flatten)]
    pub trial: TrialArgs,
}
