//! `hermit mcp`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Hermit as a tool server for another program's agent, on standard input and output.
#[derive(Debug, Args)]
#[command(after_help = "\
A program's agent then acts through Hermit: you are asked before it changes anything, and each change leaves a receipt.

Put it into that program's configuration:
  hermit mcp install claude-code

What waits for you: `hermit approvals list`.")]
pub struct McpArgs {
    /// Folder that the agent works in; where the program starts this when left out.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// What it may do: a policy profile; `hermit policy profiles` shows them.
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// What to do instead of serving.
    #[command(subcommand)]
    pub verb: Option<McpVerb>,
}

/// Put it into a program's configuration, or take it out.
#[derive(Debug, Subcommand)]
pub enum McpVerb {
    /// Shows the exact change to a program's configuration, and makes it after your yes.
    Install(McpInstall),
    /// Takes Hermit out of a program's configuration again, after your yes.
    Uninstall(McpUninstall),
}

/// See there.
#[derive(Debug, Args)]
pub struct McpInstall {
    /// The program; left out, the known ones are listed with their files.
    pub program: Option<String>,
    /// Folder that the agent works in; where the program starts it when left out.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// What it may do: a policy profile.
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// Only print the change.
    #[arg(long)]
    pub print: bool,
}

/// See there.
#[derive(Debug, Args)]
pub struct McpUninstall {
    /// The program.
    pub program: String,
    /// Only print the change.
    #[arg(long)]
    pub print: bool,
}
