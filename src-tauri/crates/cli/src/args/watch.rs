//! How a verb shows the work of a task.

use crate::live::Show;
use clap::Args;

/// What is shown while a task works.
#[derive(Debug, Args, Default, Clone, Copy)]
pub struct WatchArgs {
    /// Print nothing while it works.
    #[arg(long, conflicts_with_all = ["log", "screen"])]
    pub quiet: bool,
    /// Print a line for each action, instead of one line that changes.
    #[arg(long, conflicts_with = "screen")]
    pub log: bool,
    /// Use the whole terminal: its story, what it is doing and has used, approval cards that scroll.
    #[arg(long)]
    pub screen: bool,
}

impl WatchArgs {
    /// What was asked for.
    pub const fn show(self) -> Show {
        match self {
            Self { quiet: true, .. } => Show::Quiet,
            Self { log: true, .. } => Show::Log,
            Self { screen: true, .. } => Show::Screen,
            Self { .. } => Show::Usual,
        }
    }
}
