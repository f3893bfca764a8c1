//! The text that goes along: how to check without Hermit, what is proven, and what a proof cannot show.

use crate::export::Along;
use crate::layout::{AnchorFile, Named};
use crate::statement::Predicate;
use crate::time;
use model::anchor::AnchorClock;

/// `README.txt`.
pub(crate) fn text(predicate: &Predicate, signed: bool, along: &[Along]) -> String {
    let mut text = match predicate.receipt_id {
        // One receipt is meant to be small.
        Some(receipt) if signed => short(predicate, &receipt.to_string()),
        receipt => long(predicate, receipt.map(|id| id.to_string()), signed),
    };
    if !along.is_empty() {
        text.push_str(CLOCKS);
        along.iter().for_each(|one| text.push_str(&clocks(one)));
        text.push_str(NO_CLOCK);
    }
    text
}

/// How to check one anchor with tools that nobody here wrote.
fn clocks(one: &Along) -> String {
    let name = |file| Named::Anchor(one.number, file).path();
    let mut text = String::new();
    if one.is_head {
        text.push_str(&format!("  sed '/^$/,$d' {} | sha256sum\n", name(AnchorFile::Checkpoint)));
    }
    for clock in &one.clocks {
        let file = name(AnchorFile::Proof(*clock));
        text.push_str(&match clock {
            AnchorClock::Rfc3161 => {
                format!("  openssl ts -verify -digest {} -in {file} -CAfile CA.pem\n", one.digest)
            }
            AnchorClock::OpenTimestamps => format!("  ots verify -d {} {file}\n", one.digest),
            AnchorClock::OpReturn => {
                format!(
                    "  bitcoin-cli verifytxoutproof \"$(jq -r .tx_out_proof {file})\"\n  bitcoin-cli decoderawtransaction \"$(jq -r .raw_tx {file})\" \
                     | grep 4845524d495431{}\n",
                    one.digest
                )
            }
        });
    }
    text
}

fn short(predicate: &Predicate, receipt: &str) -> String {
    format!(
        "{} - {receipt}\nof {}\n\n  sha256sum -c --strict SHA256SUMS\n{SIGNED}  hermit-verify . --trust KEY\n\n\
         KEY: one you have from its owner; those in here show only that all is of one piece.\n\
         This text binds nobody: what hermit-verify says counts.\n\
         PROVEN: what was recorded, unchanged, and by whose authority. NEVER: that it is true, that clocks were\n\
         right, or, without a witness elsewhere, that the owner did not make it all anew before the export.\n",
        predicate.bundle, predicate.task_id
    )
}

fn long(predicate: &Predicate, receipt: Option<String>, signed: bool) -> String {
    let about = match (receipt, predicate.span) {
        (Some(receipt), _) => format!("one receipt, {receipt}, of task {}", predicate.task_id),
        (None, Some([first, last])) => {
            format!("events {first} to {last} of the {} of task {}", predicate.task_size, predicate.task_id)
        }
        (None, None) => format!("task {}, whole: {} events", predicate.task_id, predicate.task_size),
    };
    let mut text = format!(
        "{} - a proof of {about}\nstore {}, checkpoint at {} (the store's own clock)\n",
        predicate.bundle,
        predicate.log_id,
        time::at(predicate.exported_at_ms)
    );
    if let Some(redacted) = &predicate.redacted {
        text.push_str(&format!("redacted: {redacted} (only the digests of those values are here)\n"));
    }
    text.push_str("\nCHECK IT (in this directory; unzip first)\n\n  sha256sum -c --strict SHA256SUMS\n");
    if signed {
        text.push_str(SIGNED);
    }
    text.push_str("  hermit-verify . --trust KEY\n\n");
    text.push_str(TRUST);
    text.push_str("WHAT IS WHERE\n\n");
    text.push_str(WHERE);
    text.push_str(if signed { KEYS } else { "\n" });
    text.push_str(if signed { PROVEN } else { UNSIGNED });
    text.push_str(LIMITS);
    text
}

const SIGNED: &str = "  openssl pkeyutl -verify -rawin -pubin -inkey keys/manifest.pub.pem -in SHA256SUMS -sigfile SHA256SUMS.ed25519
  ssh-keygen -Y verify -f keys/allowed_signers -I manifest -n hermit-proof@v1 -s SHA256SUMS.sshsig < SHA256SUMS
";

const TRUST: &str =
    "The first lines show that nothing changed since somebody signed the list. WHO signed you only learn by
comparing a key with one you already have from its owner: that is KEY (a PEM file, a verifier key, or a
fingerprint). A key that came with the bundle shows no more than that the bundle is of one piece.

";

const WHERE: &str = "task/              what happened: canonical JSON (RFC 8785), linked by prev_event_hash, leaves of a tree (RFC 6962)
receipts/          what was meant, allowed, done, changed (in-toto Statement in a DSSE envelope)
gate/              what the gate let through, with its place in the gate's tree
disclosures/       [salt, pointer, value] whose SHA-256 stands as {\"$sd\": ...}; no file: the value is withheld or erased
artifacts/         content by its SHA-256
state/             roots over the messages of the conversation and over the memory in force, as hashes of the events that
                   said each (leaves: SHA-256 of 0x00 and the event), stated by an event of the store's own stream
identity/          who the instance is: its key, and a signed link for each thing it said of itself (BIP-340)
anchors/           heads of the log, or links, that clocks outside have stamped
statement          what this bundle is about; prov.json is derived from the events and, like this text, binds nobody
";

const KEYS: &str = "*/checkpoint       signed tree heads (C2SP signed-note, tlog-checkpoint); the size says that nothing was left out
*.tlog-proof       a place in a tree (C2SP tlog-proof)
log/checkpoint.prev, consistency.txt   an older head, and the hashes that lead from it to this one
keys/              key id = SHA-256 of the SPKI DER; one key for each purpose

";

const PROVEN: &str = "PROVEN, to whoever trusts the keys

- Each event is as it was written, in its place, and none is missing: the log key signed their number and root.
- Each receipt is signed, and the log recorded its very bytes.
- A yes of a person is signed by that person's own key, for exactly what was shown.
- What can be read is what was hashed then; what is redacted cannot be put back changed.

";

const UNSIGNED: &str = "PROVEN: nothing against its owner

- Nobody signed this: the store has no keys. Digests and links show only that it is of one piece.

";

const CLOCKS: &str = "
STAMPED BY CLOCKS OUTSIDE: what a digest is of existed before the clock's time (CA.pem: the authority's root, from elsewhere)

";

const NO_CLOCK: &str = "  hermit-verify . --trust KEY --trust-authority CA.pem --bitcoin-headers HEADERS

A clock shows that this existed then, in this form. It never shows that it is younger than any time, that it is true, or that
nothing was rewritten before. What is pending shows nothing yet. Whom you have to believe is said with each.
";

const LIMITS: &str = "ONLY ASSERTED, AND WHAT NO PROOF CAN SHOW

- A proof shows integrity, order and authority. It does not show that a claim in it is true.
- Without a witness outside the machine, its owner could have rewritten everything before this export.
- Times are those of the machine's own clock.
- What a model wrote (answers, summaries at the end of a run) is UNVERIFIED: its own words. What was done stands in
  receipts/; where no receipt tells of it, nothing here shows that it was done. Hermit compares each sentence of a last
  answer with its log (artifact `answer.check`): bound to receipts, to what was seen, or UNVERIFIED.
- What is withheld is covered by its digest and cannot be read from it.
";
