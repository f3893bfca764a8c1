//! Names of the files of a bundle, and what none of them may be (proof.md 6).

use model::ReceiptId;
use model::anchor::AnchorClock;
use seal::Digest;

/// Name and version of the bundle format.
pub const FORMAT: &str = "hermit-proof/1";

pub(crate) const README: &str = "README.txt";
pub(crate) const SUMS: &str = "SHA256SUMS";
pub(crate) const SUMS_ED25519: &str = "SHA256SUMS.ed25519";
pub(crate) const SUMS_SSHSIG: &str = "SHA256SUMS.sshsig";
pub(crate) const KEY_RECEIPT: &str = "keys/receipt.pub.pem";
pub(crate) const KEY_MANIFEST: &str = "keys/manifest.pub.pem";
pub(crate) const KEY_LOG: &str = "keys/log.pub.pem";
pub(crate) const KEY_APPROVAL: &str = "keys/approval.pub.pem";
pub(crate) const KEY_VKEYS: &str = "keys/log.vkey";
pub(crate) const KEY_ALLOWED: &str = "keys/allowed_signers";
pub(crate) const LOG_CHECKPOINT: &str = "log/checkpoint";
/// The checkpoint of the global log that the receiver holds already.
pub(crate) const LOG_PREVIOUS: &str = "log/checkpoint.prev";
/// Hashes that lead from that one to the one in the bundle.
pub(crate) const LOG_CONSISTENCY: &str = "log/consistency.txt";
pub(crate) const LOG_POLICY: &str = "log/policy";
pub(crate) const TASK_EVENTS: &str = "task/events.jsonl";
pub(crate) const TASK_CHECKPOINT: &str = "task/checkpoint";
pub(crate) const TASK_CHECKPOINT_PROOF: &str = "task/checkpoint.tlog-proof";
pub(crate) const GATE_ENTRIES: &str = "gate/entries.jsonl";
pub(crate) const GATE_CHECKPOINT: &str = "gate/checkpoint";
pub(crate) const GATE_CHECKPOINT_PROOF: &str = "gate/checkpoint.tlog-proof";
/// The event that states roots of conversations and memory, and its place in the store's own stream.
pub(crate) const STATE_ROOTED: &str = "state/rooted.json";
pub(crate) const STATE_ROOTED_PROOF: &str = "state/rooted.tlog-proof";
/// The place of that stream's head in the global log.
pub(crate) const STATE_CHECKPOINT_PROOF: &str = "state/checkpoint.tlog-proof";
/// Roots, a line each, with their leaves and their places under the root over all.
pub(crate) const STATE_SUBJECTS: &str = "state/subjects.jsonl";
/// How the key of the instance and the key of its log vouch for each other.
pub(crate) const IDENTITY_KEY: &str = "identity/key.json";
/// What the instance said of itself, a signed link a line, from genesis on.
pub(crate) const IDENTITY_LINKS: &str = "identity/links.jsonl";
/// The folder of anchors.
pub(crate) const ANCHORS: &str = "anchors/";
pub(crate) const STATEMENT: &str = "statement.dsse.json";
/// The statement of a store without keys, which nobody signed.
pub(crate) const STATEMENT_BARE: &str = "statement.json";
pub(crate) const PROV: &str = "prov.json";

/// Disclosures of one receipt alone, a line each; elsewhere each has a file.
pub(crate) const DISCLOSED: &str = "disclosures.jsonl";

/// Who signs `SHA256SUMS`, as `allowed_signers` names it.
pub(crate) const MANIFEST_PRINCIPAL: &str = "manifest";

/// More files than this are refused before any is opened.
pub(crate) const FILES_MAX: usize = 4_000_000;
/// No name of ours is longer.
pub(crate) const NAME_BYTES_MAX: usize = 128;
/// A file that must be in memory whole, other than an artifact, is at most this long.
pub(crate) const WHOLE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// A record of authority, which is read whole and understood, is at most this long.
pub(crate) const RECORD_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// A key, a note or a proof is at most this long.
pub(crate) const SMALL_BYTES_MAX: u64 = 1024 * 1024;
/// An event, a gate entry or a disclosure is at most this long; a line that is longer is not read on.
pub(crate) const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Anchors that go along, and that are read.
pub(crate) const ANCHORS_MAX: usize = 8;

const FIXED: [&str; 30] = [
    README,
    SUMS,
    SUMS_ED25519,
    SUMS_SSHSIG,
    KEY_RECEIPT,
    KEY_MANIFEST,
    KEY_LOG,
    KEY_APPROVAL,
    KEY_VKEYS,
    KEY_ALLOWED,
    LOG_CHECKPOINT,
    LOG_PREVIOUS,
    LOG_CONSISTENCY,
    DISCLOSED,
    LOG_POLICY,
    TASK_EVENTS,
    TASK_CHECKPOINT,
    TASK_CHECKPOINT_PROOF,
    GATE_ENTRIES,
    GATE_CHECKPOINT,
    GATE_CHECKPOINT_PROOF,
    STATE_ROOTED,
    STATE_ROOTED_PROOF,
    STATE_CHECKPOINT_PROOF,
    STATE_SUBJECTS,
    IDENTITY_KEY,
    IDENTITY_LINKS,
    STATEMENT,
    STATEMENT_BARE,
    PROV,
];

/// What a file of one anchor holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnchorFile {
    /// What was to be stamped.
    Requested,
    /// The head that was, as a signed note.
    Checkpoint,
    /// The way from it to the log's checkpoint.
    Consistency,
    /// The place of the task's checkpoint under it.
    Place,
    /// What a clock gave.
    Proof(AnchorClock),
}

impl AnchorFile {
    /// Each of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::Requested,
        Self::Checkpoint,
        Self::Consistency,
        Self::Place,
        Self::Proof(AnchorClock::Rfc3161),
        Self::Proof(AnchorClock::OpenTimestamps),
        Self::Proof(AnchorClock::OpReturn),
    ];

    /// What stands behind the anchor's number.
    const fn ending(self) -> &'static str {
        match self {
            Self::Requested => "json",
            Self::Checkpoint => "checkpoint",
            Self::Consistency => "consistency",
            Self::Place => "tlog-proof",
            Self::Proof(AnchorClock::Rfc3161) => "rfc3161.tsr",
            Self::Proof(AnchorClock::OpenTimestamps) => "opentimestamps.ots",
            Self::Proof(AnchorClock::OpReturn) => "op_return.json",
        }
    }
}

/// A file whose name carries what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// `task/events/<seq>.json`.
    Event(u64),
    /// `task/proofs.tlog-proof/<seq>`.
    EventProof(u64),
    /// `gate/proofs.tlog-proof/<number>`.
    GateProof(u64),
    /// `receipts/<id>.dsse.json`.
    Receipt(ReceiptId),
    /// `receipts/<id>.json`, of a store without keys.
    BareReceipt(ReceiptId),
    /// `keys/rotations/<n>.note`, from 1, in the order in which keys followed each other.
    Rotation(u64),
    /// `keys/revocations/<n>.note`, from 1.
    Revocation(u64),
    /// `disclosures/<digest>.json`.
    Disclosure(Digest),
    /// `artifacts/sha256/<aa>/<hex>`.
    Artifact(Digest),
    /// `anchors/<n>.<what>`.
    Anchor(u64, AnchorFile),
}

impl Named {
    /// The name.
    pub(crate) fn path(self) -> String {
        match self {
            Self::Event(seq) => format!("task/events/{seq}.json"),
            Self::EventProof(seq) => format!("task/proofs.tlog-proof/{seq}"),
            Self::GateProof(number) => format!("gate/proofs.tlog-proof/{number}"),
            Self::Receipt(id) => format!("receipts/{id}.dsse.json"),
            Self::BareReceipt(id) => format!("receipts/{id}.json"),
            Self::Rotation(n) => format!("keys/rotations/{n}.note"),
            Self::Revocation(n) => format!("keys/revocations/{n}.note"),
            Self::Disclosure(digest) => format!("disclosures/{digest}.json"),
            Self::Anchor(n, file) => format!("{ANCHORS}{n}.{}", file.ending()),
            Self::Artifact(digest) => {
                let hex = digest.to_string();
                format!("artifacts/sha256/{}/{hex}", hex.get(..2).unwrap_or_default())
            }
        }
    }

    /// Reads a name; only the one spelling of [`Self::path`].
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/')?;
        let number = |text: &str| text.parse::<u64>().ok().filter(|n| *n > 0);
        let json = name.strip_suffix(".json");
        let read = match folder {
            "task/events" => json.and_then(number).map(Self::Event),
            "task/proofs.tlog-proof" => number(name).map(Self::EventProof),
            "gate/proofs.tlog-proof" => number(name).map(Self::GateProof),
            "receipts" => json.and_then(|stem| match stem.strip_suffix(".dsse") {
                Some(id) => id.parse().ok().map(Self::Receipt),
                None => stem.parse().ok().map(Self::BareReceipt),
            }),
            "keys/rotations" => name.strip_suffix(".note").and_then(number).map(Self::Rotation),
            "keys/revocations" => name.strip_suffix(".note").and_then(number).map(Self::Revocation),
            "disclosures" => json.and_then(|hex| hex.parse().ok()).map(Self::Disclosure),
            "anchors" => name.split_once('.').and_then(|(n, ending)| {
                let file = AnchorFile::ALL.into_iter().find(|file| file.ending() == ending)?;
                Some(Self::Anchor(number(n)?, file))
            }),
            _ => folder.starts_with("artifacts/").then(|| name.parse().ok().map(Self::Artifact)).flatten(),
        };
        read.filter(|named| named.path() == path)
    }
}

/// Whether a bundle may hold a file of this name.
pub(crate) fn is_known(path: &str) -> bool {
    !path.is_empty() && (FIXED.contains(&path) || Named::parse(path).is_some())
}

/// Whether `SHA256SUMS` lists a file of this name: all but itself and its signatures.
pub(crate) fn is_summed(path: &str) -> bool {
    !matches!(path, SUMS | SUMS_ED25519 | SUMS_SSHSIG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_spelling_and_leads_nowhere_else() {
        let digest = Digest::of(b"x");
        for named in [
            Named::Event(7),
            Named::EventProof(1),
            Named::GateProof(20),
            Named::Rotation(3),
            Named::Revocation(1),
            Named::Disclosure(digest),
            Named::Artifact(digest),
        ]
        .into_iter()
        .chain(AnchorFile::ALL.map(|file| Named::Anchor(12, file)))
        {
            assert_eq!(Named::parse(&named.path()), Some(named));
            assert!(is_known(&named.path()));
        }
        let hex = digest.to_string();
        let odd = [
            "",
            "/",
            "..",
            "../README.txt",
            "/README.txt",
            "README.TXT",
            "task/events/07.json",
            "task/events/0.json",
            "task/events/+7.json",
            "task/../README.txt",
            "task//checkpoint",
            "gate/proofs.tlog-proof/1.json",
            "receipts/x.json",
            "disclosures/x.json",
            "anchors/01.json",
            "anchors/0.json",
            "anchors/1.tsr",
            "anchors/1.rfc3161",
            "anchors/1",
            "anchors/sub/1.json",
            "identity/key.pem",
            "notes.txt",
            "C:\\x",
            "task\\checkpoint",
            "task/checkpoint/",
        ];
        for path in odd.iter().map(|p| (*p).to_owned()).chain([
            format!("artifacts/sha256/zz/{hex}"),
            format!("artifacts/{hex}"),
            format!("disclosures/{}.json", hex.to_uppercase()),
        ]) {
            assert!(!is_known(&path), "`{path}` should be unknown");
        }
    }
}
