//! Who this instance is: SOUL.md, its key, and the chain of what it said of itself (mesh.md 2).
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
pub use crate::task::Submitted;
use words::identity::{HandoverReason, TrustFinding};

params! {
    /// This instance.
    Show {
        /// An older version of SOUL.md; the newest when it is not said.
        version: Option<u32>,
    }
    /// SOUL.md as it is to be from now on.
    Write {
        text: String,
        /// The version that it takes the place of; refused where that is not the newest. 0 for the first.
        replaces: u32,
    }
    /// An attestation of SOUL.md as it is.
    Attest {}
    /// The chain of this instance at relays, where anybody reads it.
    Publish {
        /// Addresses of relays; those that are set for the mesh when it is empty.
        relays: Vec<String>,
        /// The surface: `cli` (the standard) or `app`.
        channel: Option<String>,
    }
    /// A chain that is followed.
    Verify {
        /// A proof, or a file of signed links, a line each; the chain of this store when it is not said.
        path: Option<String>,
    }
    /// A chain that is written to a file: a line for each link, behind one for the key.
    Export { path: String }
}

answers! {
    /// Who this instance is.
    Identity {
        instance_id: String,
        /// The newest version of SOUL.md; 0 where there is none.
        version: u32,
        /// The version that is shown.
        shown: u32,
        /// Its text; none where there is none, or it was erased.
        soul: Option<String>,
        soul_sha256: Option<String>,
        /// When it was written.
        written_at: Option<i64>,
        versions: Vec<SoulVersion>,
        /// The key, 32 bytes in hex; none before the first attestation.
        instance_pubkey: Option<String>,
        /// The same as Nostr spells it.
        npub: Option<String>,
        /// The address of that key on Bitcoin's main chain.
        address: Option<String>,
        /// Whether the newest version is attested.
        attested: bool,
        /// Waits for a person's yes.
        asked: Option<String>,
        graph: TrustGraph,
    }
    /// One version of SOUL.md.
    SoulVersion { version: u32, soul_sha256: String, written_at: i64, task_id: Option<String>, attested: bool }
    /// An attestation was made.
    Attested { number: u64, link_sha256: String, version: u32 }
    /// What follows a chain back to genesis found.
    TrustGraph {
        instance_id: Option<String>,
        /// Whether every link is signed by the key in force and names the one before it, back to one genesis.
        unbroken: bool,
        /// The key in force at the end.
        key_in_force: Option<String>,
        /// The log's key that vouches for the first key, and it for that.
        log_key: Option<String>,
        links: Vec<TrustLink>,
        findings: Vec<Finding>,
    }
    /// One link.
    TrustLink {
        number: u64,
        link_sha256: String,
        /// `attestation`, `handover` or `revocation`.
        kind: String,
        previous: Option<String>,
        /// The version of SOUL.md, of an attestation.
        version: Option<u32>,
        soul_sha256: Option<String>,
        /// Who signed, in order.
        signed_by: Vec<String>,
        reason: Option<HandoverReason>,
        /// The key that is not to be believed, of a revocation.
        revoked: Option<String>,
        made_at: i64,
        /// Heads of the log that it names: size and root.
        log_size: Option<u64>,
        /// Where it was published; none where it was not.
        published: Vec<String>,
    }
    /// Something that is wrong with a chain.
    Finding { what: TrustFinding, number: Option<u64>, says: String }
    /// A chain was written.
    Exported { path: String, links: u64 }
}
