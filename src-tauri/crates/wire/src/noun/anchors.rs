//! Anchors: clocks elsewhere that stamped a head of the log (mesh.md 3).
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
pub use crate::task::Submitted;
use words::identity::{AnchorClock, AnchorState};

params! {
    /// All of them, the newest first.
    List { cursor: Option<String>, limit: Option<u32> }
    /// One of them.
    Show { number: u64 }
    /// The newest head of the log, or a link of the identity, is to be stamped.
    Stamp {
        /// Which clocks; all that are set when it is empty.
        clocks: Vec<AnchorClock>,
        /// The number of a link of the identity; the newest head when it is not said.
        link: Option<u64>,
        /// The surface: `cli` (the standard) or `app`.
        channel: Option<String>,
    }
    /// What is pending is to be asked about again.
    Complete {
        /// The anchor; all that are pending when it is not said.
        number: Option<u64>,
        /// The surface: `cli` (the standard) or `app`.
        channel: Option<String>,
    }
    /// Which clocks there are.
    Clocks {}
    /// Which clocks are asked. What is not said stays as it is.
    SetClocks {
        /// Addresses of time-stamp authorities.
        authorities: Option<Vec<String>>,
        /// Addresses of calendars.
        calendars: Option<Vec<String>>,
        /// The address of a Bitcoin node of one's own; an empty one for none.
        bitcoin_node: Option<String>,
        /// Its cookie file on this machine; an empty one for none.
        bitcoin_cookie: Option<String>,
        /// The handle of the secret with its `name:password`; an empty one for none.
        bitcoin_secret: Option<String>,
        /// A file of Bitcoin's headers on this machine, where there is no node; an empty one for none.
        headers_file: Option<String>,
        /// Blocks, the first among them, that must stand before a head counts as anchored.
        depth: Option<u32>,
        /// Hours between anchors that are made by themselves; 0 for none.
        every_hours: Option<u32>,
    }
    /// What an anchor of one's own would cost.
    Wallet {}
}

answers! {
    /// Anchors.
    Anchors { anchors: Vec<Anchor>, next: Option<String> }
    /// One anchor.
    Anchor {
        number: u64,
        digest: String,
        /// `head` or `link`.
        of: String,
        /// Notes in the head, or the number of the link.
        size: u64,
        requested_at: i64,
        clocks: Vec<AtClock>,
        /// The latest time at which it is proven that it was there; none yet.
        not_after: Option<i64>,
    }
    /// An anchor at one clock.
    AtClock {
        clock: AnchorClock,
        state: AnchorState,
        /// Who was asked.
        at: Vec<String>,
        /// Why it failed, or what it waits for.
        says: Option<String>,
        not_after: Option<i64>,
        block_height: Option<u64>,
        block_hash: Option<String>,
        depth: Option<u64>,
        /// The act that asked the clock.
        task_id: Option<String>,
        proof_sha256: Option<String>,
    }
    /// Which clocks are asked.
    ClockSettings {
        authorities: Vec<String>,
        calendars: Vec<String>,
        bitcoin_node: Option<String>,
        depth: u32,
        every_hours: u32,
    }
    /// What one's own wallet holds and an anchor would cost, in satoshi.
    WalletState {
        address: Option<String>,
        /// Spendable.
        balance: Option<u64>,
        /// What the next anchor would cost.
        fee: Option<u64>,
        /// Why it cannot be told.
        says: Option<String>,
    }
}
