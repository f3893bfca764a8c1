//! `hermit keys passphrase`.

use clap::Args;

/// `hermit keys passphrase`.
#[derive(Debug, Args)]
#[command(after_help = "\
The passphrase as it is is asked for once, the new one twice. The keys stay what they are, and whatever they signed stays \
verifiable. If somebody may know the old passphrase and have a copy of the file, change the keys as well: `hermit keys rotate`.

Copies of vault.key and approval.key that you keep elsewhere open with the passphrase that they had. A file that opens the \
vault of a host without you (`HERMIT_PASSPHRASE_FILE`, `--passphrase-file` of a service) needs the new passphrase in its \
first line.

Examples:
  hermit keys passphrase
  hermit keys passphrase --approval
  hermit keys passphrase --passphrase-fd 3 --new-passphrase-fd 4 3<old.txt 4<new.txt
  hermit keys passphrase --passphrase-fd 0 --new-passphrase-fd 0 <both.txt

File descriptor 0 is the standard input, with the old passphrase in one line and the new one in the next; on Windows there is no other.")]
pub struct KeysPassphrase {
    /// The passphrase that says yes, instead of the vault's.
    #[arg(long)]
    pub approval: bool,
    /// File descriptor with the passphrase as it is in its first line; asked for at a terminal when absent.
    #[arg(long, value_name = "N")]
    pub passphrase_fd: Option<i32>,
    /// File descriptor with the new passphrase in its first line; asked for at a terminal when absent.
    #[arg(long, value_name = "N")]
    pub new_passphrase_fd: Option<i32>,
}
