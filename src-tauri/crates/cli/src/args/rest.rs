//! Verbs about the store, its keys and its proofs.

use super::KeysPassphrase;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Where keys are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Store {
    /// The operating system's keychain.
    Keychain,
    /// A file under a passphrase.
    File,
}

/// `hermit start`.
#[derive(Debug, Args, Default)]
#[command(after_help = "\
Makes your keys if there are none, runs the playbook `tidy` in a folder (a small sample in a temporary folder unless \
you name one), asks for your approval, shows the receipt and how to undo it, writes a \
proof and checks it. Without a terminal it does what can be done and says what is left.")]
pub struct StartArgs {
    /// The folder to tidy; a sample unless you name one.
    #[arg(long, short, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Where to keep your keys, when there are none yet.
    #[arg(long, value_enum)]
    pub store: Option<Store>,
    /// File descriptor with the vault's passphrase in its first line.
    #[arg(long, value_name = "N")]
    pub passphrase_fd: Option<i32>,
    /// File descriptor with the approval passphrase in its first line.
    #[arg(long, value_name = "N")]
    pub approval_passphrase_fd: Option<i32>,
    #[command(flatten)]
    pub watch: super::WatchArgs,
}

/// `hermit proof`.
#[derive(Debug, Subcommand)]
pub enum ProofVerb {
    /// Writes the proof of a task, or of one receipt.
    Export(ProofExport),
    /// Checks a proof; needs no store.
    Verify(ProofVerify),
}

/// `hermit proof export`.
#[derive(Debug, Args)]
#[command(after_help = "\
What can be withheld with --redact; every digest stays, and everything still verifies:
  none      nothing (the standard)
  paths     names of files, hosts and commands, and every text in which one of them seems to stand
  content   everything that was said or made: all but names of files and hosts
  all       every sensitive value
  /POINTER  values at or below a JSON pointer, such as /payload/goal or /predicate/changes; may be given again
With any of them artifacts stay here too, unless --artifacts names some: they are whole or not there.")]
pub struct ProofExport {
    /// The task or receipt.
    pub subject: String,
    /// The file or folder to make: a name that ends in `.zip` makes a zip, any other a folder.
    #[arg(long, short, value_name = "FILE", required_unless_present = "preview")]
    pub output: Option<PathBuf>,
    /// Only this receipt of the task.
    #[arg(long, value_name = "ID", conflicts_with = "events")]
    pub receipt: Option<String>,
    /// Only these events of the task, as in 10..20.
    #[arg(long, value_name = "FIRST..LAST", value_parser = span)]
    pub events: Option<[u64; 2]>,
    /// Content to send along: records (the standard), all, none, or kinds of artifacts.
    #[arg(long, value_name = "KIND")]
    pub artifacts: Vec<String>,
    /// Leave only digests of sensitive values: none, paths, content, all, or JSON pointers.
    #[arg(long, value_name = "PROFILE|POINTER")]
    pub redact: Vec<String>,
    /// The checkpoint that the receiver has from before: shows that the log only grew since.
    #[arg(long, value_name = "FILE")]
    pub since: Option<PathBuf>,
    /// Only show what would leave this machine.
    #[arg(long)]
    pub preview: bool,
}

/// Reads `10..20`.
fn span(text: &str) -> Result<[u64; 2], String> {
    let numbers =
        text.split_once("..").and_then(|(first, last)| Some([first.parse().ok()?, last.parse().ok()?]));
    numbers
        .filter(|[first, last]| 0 < *first && first <= last)
        .ok_or_else(|| "say the first and the last event, counted from 1, as in `10..20`".to_owned())
}

/// `hermit proof verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --trust the best answer is 6: whole, but signed by nobody you said you trust.
A key is a PEM block, a key id, an SSH fingerprint (SHA256:…), a verifier key, or a file that holds one.")]
pub struct ProofVerify {
    /// The proof: a zip or a folder.
    pub proof: PathBuf,
    /// A key you have from elsewhere; may be given several times.
    #[arg(long, value_name = "KEY|FILE")]
    pub trust: Vec<String>,
    /// The checkpoint you have from before: shows whether the log only grew since.
    #[arg(long, value_name = "FILE")]
    pub since: Option<PathBuf>,
    /// Certificates of a time-stamp authority that you believe, PEM or DER; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub trust_authority: Vec<PathBuf>,
    /// Headers of Bitcoin's blocks, of 80 bytes or a line of hexadecimal each: their work is checked.
    #[arg(long, value_name = "FILE")]
    pub bitcoin_headers: Option<PathBuf>,
}

/// `hermit checkpoint`.
#[derive(Debug, Subcommand)]
pub enum CheckpointVerb {
    /// Writes the newest signed head of the whole log, to be kept where this machine does not reach.
    Export {
        /// Where to; must not exist. Without it the head is printed.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Compares the store with a head that was kept: consistent (0), older (7), forked (5), no head of this log (6).
    Compare {
        /// The head.
        file: PathBuf,
        /// A key trusted beside the store's own: PEM block, verifier key, or a file that holds one.
        #[arg(long, value_name = "KEY|FILE")]
        trust: Vec<String>,
    },
    /// Asks witnesses to cosign the newest head; names a new one with URL and --key.
    Witness(AskWitness),
    /// Continues with a store that is older than the head kept outside it; only a person can say so.
    Accept {
        /// Do not ask for the word; the passphrase is still needed.
        #[arg(long)]
        yes: bool,
        /// File descriptor with the approval passphrase in its first line.
        #[arg(long, value_name = "N")]
        approval_passphrase_fd: Option<i32>,
    },
}

/// `hermit checkpoint witness`.
#[derive(Debug, Args)]
#[command(after_help = "\
A witness is a second machine that remembers how far it saw this log and cosigns only what grew from there. With one, \
a proof shows that nothing was rewritten after the witness first saw it. Proofs ask all known witnesses by themselves.

Examples:
  hermit checkpoint witness http://desk.local:8123 --key 'witness.home/desk+…'
  hermit checkpoint witness                            asks all that are known")]
pub struct AskWitness {
    /// Where it listens; all known ones when absent.
    pub url: Option<String>,
    /// Its key, as it prints it when it starts; needed the first time.
    #[arg(long, value_name = "KEY", requires = "url")]
    pub key: Option<String>,
    /// How many of all witnesses a proof asks for; all when absent.
    #[arg(long, value_name = "N", requires = "url")]
    pub quorum: Option<usize>,
}

/// `hermit witness`.
#[derive(Debug, Subcommand)]
pub enum WitnessVerb {
    /// Listens for heads of logs and cosigns what has grown (c2sp.org/tlog-witness).
    Serve(WitnessServe),
}

/// `hermit witness serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Run it on a machine that the store's machine cannot reach into. It needs no store, only a folder of its own. What it \
has seen is on its disk before it signs; a fork or an older head is answered with 409 or 422 and never signed.

Example:
  hermit witness serve --name witness.home/desk --log log.vkey --listen 0.0.0.0:8123")]
pub struct WitnessServe {
    /// Its folder; `witness` in the store's folder when absent.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Its name, said once and for ever: no spaces, no plus.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// A log to witness: its verifier key, or a file that holds it; may be given several times, and is remembered.
    #[arg(long, value_name = "VKEY|FILE")]
    pub log: Vec<String>,
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8123")]
    pub listen: String,
    /// File descriptor with the passphrase of its key in its first line.
    #[arg(long, value_name = "N")]
    pub passphrase_fd: Option<i32>,
}

/// `hermit gate`.
#[derive(Debug, Subcommand)]
pub enum GateVerb {
    /// Says whether it is working or halted.
    State,
    /// Writes its audit log as a file.
    Export {
        /// Where to; must not exist.
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
    },
    /// Checks such a file; needs no store.
    Verify {
        /// The bundle.
        bundle: PathBuf,
        /// The root its chain must have, known from elsewhere.
        #[arg(long, value_name = "DIGEST")]
        root: Option<String>,
    },
}

/// `hermit keys`.
#[derive(Debug, Subcommand)]
pub enum KeysVerb {
    /// Makes the keys of a store, once.
    Init(KeysInit),
    /// Lists the public halves in force, with their age and how they stand.
    List {
        /// Those that were in force before, too.
        #[arg(long)]
        all: bool,
    },
    /// Puts new keys in the place of those in force; what they signed stays verifiable.
    Rotate(KeysRotate),
    /// Puts a new passphrase in the place of the vault's, or of the one that says yes.
    Passphrase(KeysPassphrase),
    /// Says of a key that was followed by another that it must not be believed any more.
    Revoke(KeysRevoke),
    /// Writes the public halves for somebody who checks your proofs.
    ExportPublic {
        /// A folder to make; without it they are printed.
        #[arg(long, short, value_name = "DIR")]
        output: Option<PathBuf>,
    },
    /// Trusts a key of somebody else when proofs are checked here; without a key lists whom you trust.
    Trust(KeysTrust),
}

/// `hermit keys rotate`.
#[derive(Debug, Args)]
#[command(after_help = "\
A new seed is drawn, and the log records the new keys, signed by the old ones and by the new ones. Whoever trusts an \
old key follows the chain to the new one; proofs carry it along. Rotate when a passphrase may be known to somebody, \
when a machine is given away, or once a year.

With --approval only the key that says yes is rotated: its own passphrase is asked for, and a new one.")]
pub struct KeysRotate {
    /// The approval key instead of the three keys of the vault.
    #[arg(long)]
    pub approval: bool,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// File descriptor with the approval passphrase in its first line.
    #[arg(long, value_name = "N", requires = "approval")]
    pub approval_passphrase_fd: Option<i32>,
    /// File descriptor with the new approval passphrase in its first line.
    #[arg(long, value_name = "N", requires = "approval")]
    pub new_passphrase_fd: Option<i32>,
}

/// `hermit keys revoke`.
#[derive(Debug, Args)]
#[command(after_help = "\
Only a key that another has followed can be revoked: rotate first. The key in force signs the revocation, proofs carry \
it along, and whoever still trusts the revoked key is told.")]
pub struct KeysRevoke {
    /// The key id, as `hermit keys list --all` shows it.
    pub keyid: String,
    /// Why, for those who read it later.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// File descriptor with the approval passphrase in its first line, for an approval key.
    #[arg(long, value_name = "N")]
    pub approval_passphrase_fd: Option<i32>,
}

/// `hermit keys trust`.
#[derive(Debug, Args)]
#[command(after_help = "\
A key is a PEM block, a key id, an SSH fingerprint (SHA256:…), a verifier key, or a file that holds one or several. \
Ask its owner for it by a way that an attacker does not control: the file of a proof is no such way.

Examples:
  hermit keys trust ana.pem --name Ana
  hermit keys trust SHA256:… --name Ana
  hermit keys trust --remove Ana")]
pub struct KeysTrust {
    /// The key, or a file that holds some.
    pub key: Option<String>,
    /// Whose it is.
    #[arg(long, value_name = "NAME", requires = "key")]
    pub name: Option<String>,
    /// Trusts nobody of this name any more.
    #[arg(long, value_name = "NAME", conflicts_with = "key")]
    pub remove: Option<String>,
}

/// `hermit keys init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Two secrets are made. The vault holds the keys that sign receipts, checkpoints and proofs. The approval key has a \
passphrase of its own: it is asked for when you say yes, and nothing else can say yes.

Both have 8 characters or more and are not the same. Without --store the system's keychain is tried, and where none \
works the vault is a file under a passphrase. A `keys init` that broke off is finished by running it again.

Examples:
  hermit keys init
  hermit keys init --store file --passphrase-fd 3 --approval-passphrase-fd 4 3<vault.txt 4<approval.txt
  hermit keys init --store file --passphrase-fd 0 --approval-passphrase-fd 0 <both.txt

File descriptor 0 is the standard input, with a line for each passphrase; on Windows there is no other.

Unattended hosts open a passphrase file with HERMIT_PASSPHRASE_FILE.")]
pub struct KeysInit {
    /// Where keys are kept; without it the keychain is tried first.
    #[arg(long, value_enum)]
    pub store: Option<Store>,
    /// File descriptor with the vault's passphrase in its first line; asked for at a terminal when absent.
    #[arg(long, value_name = "N")]
    pub passphrase_fd: Option<i32>,
    /// File descriptor with the approval passphrase in its first line; asked for at a terminal when absent.
    #[arg(long, value_name = "N")]
    pub approval_passphrase_fd: Option<i32>,
}

/// `hermit unlock`.
#[derive(Debug, Args)]
#[command(after_help = "\
Opens the keys of the host that runs (`hermit serve`, or the app), so that receipts are signed and waiting work goes on. \
The passphrase is typed at this terminal and goes to the host over a socket in the store's folder; afterwards, or with \
`hermit lock`, the keys are locked and wiped.

Examples:
  hermit unlock
  hermit unlock --for 30m")]
pub struct UnlockArgs {
    /// How long they stay open: minutes (`30m`) or hours (`8h`), a week at most.
    #[arg(long = "for", value_name = "TIME", default_value = "8h", value_parser = open_time)]
    pub time: Duration,
}

/// Minutes or hours, as a person writes them.
fn open_time(text: &str) -> Result<Duration, String> {
    let wrong = || "write minutes as `30m` or hours as `8h`, a week at most".to_owned();
    let (number, seconds) = match (text.strip_suffix('m'), text.strip_suffix('h')) {
        (Some(number), _) => (number, 60),
        (_, Some(number)) => (number, 3600),
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let time = Duration::from_secs(number.saturating_mul(seconds));
    if time.is_zero() || time > host::control_socket::OPEN_MAX { Err(wrong()) } else { Ok(time) }
}

/// `hermit backup`.
#[derive(Debug, Args)]
#[command(after_help = "\
The copy holds no keys. Keep vault.key, approval.key and keys.json somewhere else, each under its passphrase; a restored \
store needs them. Keys in the system's keychain stay there, and only keys.json and approval.key are files.")]
pub struct BackupArgs {
    /// The folder to make.
    pub to: PathBuf,
}

/// `hermit restore`.
#[derive(Debug, Args)]
#[command(after_help = "\
A copy holds no keys. Put vault.key, approval.key and keys.json back into the store's folder afterwards; do not make new \
ones with `hermit keys init`.")]
pub struct RestoreArgs {
    /// The copy. It is put into the store's folder (`--home`), which must hold none.
    pub from: PathBuf,
}

/// `hermit erase`.
#[derive(Debug, Args)]
#[command(after_help = "\
Names one thing: a value, an artifact, or a task. What goes is shown first, and you sign it with the approval \
passphrase. Digests stay where they are, so that every hash, tree, signature and proof holds as before. Full-text \
search, lists and the run stream forget it, and the files are rewritten so that no unused byte keeps it. Backups and \
proofs that were given away keep what they have.

Examples:
  hermit erase --task task_… --preview
  hermit erase --value 4f1c…")]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(false).args(["value", "artifact", "task"]))]
pub struct EraseArgs {
    /// One value, by the digest that stands where it is concealed.
    #[arg(long, value_name = "DIGEST")]
    pub value: Option<String>,
    /// All values of an artifact, and its content.
    #[arg(long, value_name = "ARTIFACT")]
    pub artifact: Option<String>,
    /// Everything that was said, read, written and answered in a task. The task must have ended. Bytes that another task
    /// has, too, stay there, and are named.
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
    /// Only show what would go.
    #[arg(long)]
    pub preview: bool,
    /// Do not ask for the word; the passphrase is still needed.
    #[arg(long)]
    pub yes: bool,
    /// File descriptor with the approval passphrase in its first line.
    #[arg(long, value_name = "N")]
    pub approval_passphrase_fd: Option<i32>,
}

/// `hermit halt`.
#[derive(Debug, Args)]
pub struct HaltArgs {
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// `hermit search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Words that must all be there.
    #[arg(required = true)]
    pub text: Vec<String>,
    /// Rows at most.
    #[arg(long, value_name = "N")]
    pub limit: Option<u32>,
}

/// `hermit grants`.
#[derive(Debug, Subcommand)]
pub enum GrantsVerb {
    /// Lists standing approvals, and the single ones that can still be used.
    List(super::ListArgs),
    /// Revokes a standing approval, or an unused single one.
    Revoke {
        /// The grant.
        grant: String,
        /// Why.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Approves similar actions from now on, within limits; shows what it would have answered, and asks you.
    Allow(Box<super::GrantsAllow>),
}

/// `hermit doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {}

/// `hermit completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
At TAB the shell then offers tasks, approvals, receipts, playbooks, profiles, secrets and models as well, the newest first. \
No key is opened for it.

Add to what your shell reads when it starts:
  bash   source <(hermit completions bash)
  zsh    source <(hermit completions zsh)
  fish   hermit completions fish | source")]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
