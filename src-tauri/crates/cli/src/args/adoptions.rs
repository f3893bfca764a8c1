//! What adopting a change of Hermit, and going back from one, are told.

use clap::Args;
use std::path::PathBuf;

/// `hermit successor adopt`.
#[derive(Debug, Args)]
#[command(after_help = "\
A change is put to you on a card with its verdict and every word of it; only you say yes, with the approval passphrase. A change \
of the source needs two reviews by distinct persons or agents, each a file of JSON lines with file, line, says and by. A change of \
what keeps Hermit in check (the gate, policy, approvals, trials, proofs) waits a day after its verdict, and you type the approval \
passphrase once more for each of these parts. Where a change edits, moves or removes tests, look at each difference first, as \
`hermit successor show TRIAL` tells it, and name its sha256 with --looked; the card shows these differences again.

An adopted program is kept beside this one. This one starts it, once it has opened your store, verified its log and answered, and \
goes on itself where that does not come. `hermit successor back` returns from it, also where it cannot start.")]
pub struct SuccessorAdopt {
    /// The trial that it was judged in.
    pub trial: String,
    /// A review of a change of the source; give it once for each.
    #[arg(long, value_name = "FILE")]
    pub review: Vec<PathBuf>,
    /// The sha256, or its first 8 digits or more, of an edit of tests at which you have looked; give it once for each.
    #[arg(long, value_name = "SHA256")]
    pub looked: Vec<String>,
    /// Adopt it although nothing was found to be better.
    #[arg(long)]
    pub although_same: bool,
}

/// `hermit successor back`.
#[derive(Debug, Args)]
pub struct SuccessorBack {
    /// From the change of this kind that was adopted last: policy, words, model or code; of any kind unless you say so.
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// Why.
    #[arg(long)]
    pub reason: Option<String>,
}
