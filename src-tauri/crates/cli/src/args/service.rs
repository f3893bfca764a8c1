//! The service of the system.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// See there.
#[derive(Debug, Subcommand)]
pub enum ServiceVerb {
    /// Installs the service for this store and starts it.
    Install(ServiceInstall),
    /// Ends the service and removes it. The store stays as it is.
    Remove,
    /// Shows whether the service is installed and runs, for which store, and how it opens its keys.
    Status,
}

/// `hermit service install`.
#[derive(Debug, Args)]
#[command(after_help = "\
The service is a systemd user unit on Linux, an agent of launchd on macOS, and a scheduled task on Windows. It runs \
`hermit serve --service` for the store of --home, as you, with nothing that you could not do yourself. While the app or a \
terminal has the store, it waits, and continues the work when that closes. There is one for each person of a machine.

Keys in the system's keychain open with your login. A vault under a passphrase stays locked after each start, until you \
run `hermit unlock`; or name a file with the passphrase in its first line, readable for you alone (mode 0600, or 0400 where \
it is mounted) or below a folder that only you may enter (mode 0700). The passphrase itself is never written into the service.

Examples:
  hermit service install
  hermit service install --passphrase-file ~/.config/hermit-vault
  hermit service install --print")]
pub struct ServiceInstall {
    /// File whose first line opens the vault each time the service starts.
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// Port to listen at; any free one when absent.
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Address under which your other devices reach this machine, as for `hermit serve`.
    #[arg(long, value_name = "https://NAME[:PORT]")]
    pub origin: Option<String>,
    /// Puts this service in the place of one that Hermit installed before, also for another store.
    #[arg(long)]
    pub replace: bool,
    /// Only print what would be written, and where.
    #[arg(long)]
    pub print: bool,
}
