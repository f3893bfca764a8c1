//! Updates of Hermit from a release at hand.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// See there.
#[derive(Debug, Subcommand)]
pub enum UpdateVerb {
    /// Checks whether a release may take the place of the program at work. Installs nothing.
    Check(UpdateRelease),
    /// Checks a release, installs it beside the program at work once you say yes, and starts it from then on.
    Apply(UpdateRelease),
    /// Goes back to the program from before. The store stays as it is, unless you say `--restore`.
    Back(UpdateBack),
    /// Shows which version is at work, the update behind it, the key you pinned, and copies of the store.
    Show,
}

/// `hermit update check` and `hermit update apply`.
#[derive(Debug, Args)]
#[command(after_help = "\
A release is refused for one changed byte, another key than the one you pinned, a version that is not newer, another system, a \
missing list of components, of licences or lock file, and a log of releases that does not continue the one seen last. The first \
update pins its key: name it with `--key`, and type its fingerprint as its makers publish it.

An update is for the store of --home, and only you say yes to it, with the approval passphrase. Its program is kept beside the \
one at work. The store's log is copied first; the new program then has to open the store, verify the log and answer. A slow start \
is waited for; where the program ends before it has answered, or says nothing for a very long time, the program before continues. \
The copy goes once the new program has left the format of the store as it was, and so does one that a broken-off update left.

An app that the release has is kept with its program. The installed app starts it in its place once it answers, and goes on itself \
where it does not come up. What was installed is never written; where a package manager owns it, the command that renews the package \
is told.

Exit codes of a refusal: 5 not valid, 6 another key, 7 something is missing.

Examples:
  hermit update check ./hermit-0.2.0 --key release.pub.pem
  hermit update apply ./hermit-0.2.0")]
pub struct UpdateRelease {
    /// The release: its folder, or the release.json in it.
    pub release: PathBuf,
    /// The key that signs releases: a PEM or vkey file, or a vkey. Needed until one is pinned.
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
}

/// `hermit update back`.
#[derive(Debug, Args)]
#[command(after_help = "\
What is started then is a program that you installed, or said yes to before. You say so at a terminal, with the approval \
passphrase. In a store whose approval key is lost you type the version that you go back to instead. If only its passphrase is lost, \
move approval.key out of the store's folder first, and move it back afterwards.")]
pub struct UpdateBack {
    /// Puts the copy of the store from before the update in its place, without what was done since; that is kept beside it.
    #[arg(long)]
    pub restore: bool,
}
