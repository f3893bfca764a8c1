//! `hermit acp`.

use clap::{Args, Subcommand};

/// Hermit as the agent of an editor that speaks the Agent Client Protocol, on standard input and output.
#[derive(Debug, Args)]
#[command(after_help = "\
What you write in the editor's agent panel becomes a task in the folder that is open there. What it wants to change waits \
for you in Hermit itself: the editor shows where, and cannot answer for you.

Put it into an editor's settings:
  hermit acp install zed

Any other editor that speaks the protocol is given the command `hermit acp`.")]
pub struct AcpArgs {
    /// The model; the standard one when left out. `hermit models list` shows those that run here.
    #[arg(long, value_name = "ADDRESS")]
    pub model: Option<String>,
    /// What it may do: a policy profile; `hermit policy profiles` shows them.
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// What to do instead of serving.
    #[command(subcommand)]
    pub verb: Option<AcpVerb>,
}

/// Put it into an editor's settings, or take it out.
#[derive(Debug, Subcommand)]
pub enum AcpVerb {
    /// Shows the exact change to an editor's settings, and makes it after your yes.
    Install(AcpInstall),
    /// Takes Hermit out of an editor's settings again, after your yes.
    Uninstall(AcpUninstall),
}

/// See there.
#[derive(Debug, Args)]
pub struct AcpInstall {
    /// The editor; left out, the known ones are listed with their files.
    pub editor: Option<String>,
    /// The model; the standard one when left out.
    #[arg(long, value_name = "ADDRESS")]
    pub model: Option<String>,
    /// What it may do: a policy profile.
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// Only print the change.
    #[arg(long)]
    pub print: bool,
}

/// See there.
#[derive(Debug, Args)]
pub struct AcpUninstall {
    /// The editor.
    pub editor: String,
    /// Only print the change.
    #[arg(long)]
    pub print: bool,
}
