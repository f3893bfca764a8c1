//! What `hermit logs` takes.

use clap::Args;

/// `hermit logs`.
#[derive(Debug, Args)]
#[command(after_help = "\
The log is for whoever looks for a fault. It holds identifiers, codes and errors, and no goals, contents or passphrases.
HERMIT_LOG, or `log_level` in config.json, says how much is written: error, warn, info, debug, trace or off.")]
pub struct LogsArgs {
    /// So many of the last lines.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub lines: u16,
    /// Stay, and print what is added, until Ctrl-C.
    #[arg(long, short)]
    pub follow: bool,
}
