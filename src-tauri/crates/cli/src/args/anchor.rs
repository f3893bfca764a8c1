//! Verbs about anchors.

use clap::{Args, Subcommand};
use words::identity::AnchorClock;

/// `hermit anchor`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
An anchor shows somebody who trusts nobody here that your log was there at a time: clocks elsewhere are given 32 bytes, the \
digest of a head of your log, and nothing of what is in it. Each clock is asked by an act of its own, after your yes, with a \
receipt; none waits for another. A time-stamp authority answers at once. Calendars of OpenTimestamps put it into Bitcoin within \
hours, free of charge; that is asked about again by itself where `hermit grants allow` or your answer to a card covers it. A \
transaction of your own costs a fee, which its card names, each time.

Nothing is set until you set it: `hermit anchor clocks set --help` names clocks.")]
pub enum AnchorVerb {
    /// Gives the newest head of the log to the clocks, after your yes.
    Now(AnchorNow),
    /// Lists anchors, the newest first, and how each stands.
    Status {
        /// How many.
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Shows an anchor at each clock.
    Show {
        /// Its number.
        number: u64,
    },
    /// Asks clocks how what is pending stands, after your yes.
    Complete {
        /// The anchor; all that are pending unless you name one.
        number: Option<u64>,
    },
    /// Shows which clocks are set; `set` changes them.
    Clocks {
        /// What to do.
        #[command(subcommand)]
        verb: Option<ClocksVerb>,
    },
    /// Asks your Bitcoin node what the wallet of this instance holds and what an anchor would cost.
    Wallet,
}

/// `hermit anchor now`.
#[derive(Debug, Args)]
pub struct AnchorNow {
    /// A clock: rfc3161, opentimestamps or op_return; all that are set and cost nothing unless you name some.
    #[arg(long = "clock", value_name = "CLOCK")]
    pub clocks: Vec<AnchorClock>,
    /// Anchors a link of this instance's identity instead, by its number.
    #[arg(long, value_name = "N")]
    pub link: Option<u64>,
}

/// `hermit anchor clocks`.
#[derive(Debug, Subcommand)]
pub enum ClocksVerb {
    /// Sets clocks; what you do not name stays as it is, and an empty word takes it away.
    Set(ClocksSet),
}

/// `hermit anchor clocks set`.
#[derive(Debug, Args)]
#[command(after_help = "\
Time-stamp authorities that many use: https://freetsa.org/tsr and http://timestamp.digicert.com. Calendars of OpenTimestamps: \
https://alice.btc.calendar.opentimestamps.org, https://bob.btc.calendar.opentimestamps.org and \
https://finney.calendar.eternitywall.com. All of them are run by others, free of charge, and see 32 bytes and your address.

With a Bitcoin node of your own, such as http://127.0.0.1:8332 with --bitcoin-cookie ~/.bitcoin/.cookie, it is looked for whether a \
block holds an anchor, and an anchor of your own can be paid. Without one, --headers-file names a file of Bitcoin's headers; \
with neither, an anchor of calendars stays pending, by the calendar's word.")]
pub struct ClocksSet {
    /// The address of a time-stamp authority (RFC 3161); several are asked in this order, until one answers.
    #[arg(long = "authority", value_name = "URL")]
    pub authorities: Option<Vec<String>>,
    /// The address of a calendar of OpenTimestamps; all of them are asked.
    #[arg(long = "calendar", value_name = "URL")]
    pub calendars: Option<Vec<String>>,
    /// The address of your own Bitcoin node, with its port.
    #[arg(long, value_name = "URL")]
    pub bitcoin_node: Option<String>,
    /// That node's cookie file.
    #[arg(long, value_name = "FILE")]
    pub bitcoin_cookie: Option<String>,
    /// Or the handle of the secret that holds `name:password` of it.
    #[arg(long, value_name = "NAME", conflicts_with = "bitcoin_cookie")]
    pub bitcoin_secret: Option<String>,
    /// A file of Bitcoin's headers, where you have no node.
    #[arg(long, value_name = "FILE")]
    pub headers_file: Option<String>,
    /// Blocks, the first among them, that must stand before a head counts as anchored; 6 unless you say another number.
    #[arg(long, value_name = "BLOCKS")]
    pub depth: Option<u32>,
    /// Hours between anchors that are made by themselves while Hermit is open; 0 for none.
    #[arg(long, value_name = "HOURS")]
    pub every_hours: Option<u32>,
}
