//! `hermit grants allow`.

use clap::{ArgGroup, Args};

/// `hermit grants allow`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true)), after_help = "\
Examples:
  hermit grants allow --project . --changes 'target/**' --command cargo test
  hermit grants allow --project . --paths 'docs/**' --act create --act overwrite --days 30
  hermit grants allow --task task_… --exact --command make check
  hermit grants allow --schedule tidy --paths 'Documents/**' --act create --after-untrusted
Only you, at a terminal and with the approval passphrase, can give one. You are still asked about critical risk, and \
what policy denies stays denied. `hermit grants revoke` takes it back.")]
pub struct GrantsAllow {
    /// A command: everything behind this flag. Every simple command of a shell's text must be this one.
    #[arg(long, group = "what", num_args = 1.., allow_hyphen_values = true, value_names = ["PROGRAM", "ARG"])]
    pub command: Option<Vec<String>>,
    /// Changes of the places that match.
    #[arg(long, group = "what", value_name = "GLOB", requires = "act")]
    pub paths: Option<String>,
    /// Another machine, by its name or `*.` and its ending.
    #[arg(long, group = "what", value_name = "HOST")]
    pub host: Option<String>,
    /// These words and no more; else further arguments may follow.
    #[arg(long, requires = "command")]
    pub exact: bool,
    /// The folder it runs in, below the project.
    #[arg(long, value_name = "FOLDER", requires = "command")]
    pub cwd: Option<String>,
    /// It may ask for the network.
    #[arg(long, requires = "command")]
    pub network: bool,
    /// A place it may change; may be given several times, and none is no place.
    #[arg(long, value_name = "GLOB", requires = "command")]
    pub changes: Vec<String>,
    /// What may be done there: `create`, `overwrite`, `delete`; may be given several times.
    #[arg(long, value_name = "ACT", requires = "paths")]
    pub act: Vec<String>,
    /// The port.
    #[arg(long, value_name = "PORT", requires = "host")]
    pub port: Option<u16>,
    /// Something may be sent there, too.
    #[arg(long, requires = "host")]
    pub send: bool,
    /// In this project alone; with neither project nor task, everywhere.
    #[arg(long, value_name = "FOLDER", conflicts_with = "task")]
    pub project: Option<String>,
    /// In this task alone.
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
    /// In each run of this schedule, as it is: changing or removing the schedule ends it. In a run of a schedule no other
    /// standing grant answers.
    #[arg(long, value_name = "SCHEDULE", conflicts_with_all = ["task", "project"])]
    pub schedule: Option<String>,
    /// For so many days.
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub days: u32,
    /// So often.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub uses: u32,
    /// Also after the model has listed a folder or read a file, which may contain instructions of others; without this
    /// you are asked then, which is nearly always.
    #[arg(long)]
    pub after_untrusted: bool,
}
