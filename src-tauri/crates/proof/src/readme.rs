//! The text that goes along: how to check without Hermit, and what a proof cannot show.

use crate::statement::Predicate;

/// `README.txt`.
pub(crate) fn text(predicate: &Predicate, signed: bool) -> String {
    let about = match predicate.receipt_id {
        Some(receipt) => format!("one receipt, {receipt}, of task {}", predicate.task_id),
        None => format!("task {}, whole: {} events", predicate.task_id, predicate.task_size),
    };
    let mut text = format!(
        "{} - a proof of {about}\nstore {}, checkpoint at {} ms since 1970 (the store's own clock)\n\n",
        predicate.bundle, predicate.log_id, predicate.exported_at_ms
    );
    text.push_str("CHECK IT (in this directory; unzip first)\n\n");
    text.push_str("  sha256sum -c SHA256SUMS\n");
    if signed {
        text.push_str(SIGNED);
    }
    text.push_str(
        "  hermit-verify THIS-FILE --trust KEY\n\nKEY is one you already have from its owner: a PEM file, a verifier key\n\
         or a fingerprint. A key that came with the bundle only shows that the bundle is of one piece.\n\n",
    );
    // One receipt is meant to be small, and its files are few.
    if predicate.receipt_id.is_none() {
        text.push_str("WHAT IS WHERE\n\n");
        text.push_str(WHERE);
        text.push_str(if signed { KEYS } else { "\n" });
    }
    text.push_str("WHAT THIS CANNOT SHOW\n\n");
    if !signed {
        text.push_str("- Nobody signed this: the store has no keys. Digests and links show only that it is of one piece.\n");
    }
    text.push_str(LIMITS);
    text
}

const SIGNED: &str = "  openssl pkeyutl -verify -rawin -pubin -inkey keys/manifest.pub.pem -in SHA256SUMS -sigfile SHA256SUMS.ed25519
  ssh-keygen -Y verify -f keys/allowed_signers -I manifest -n hermit-proof@v1 -s SHA256SUMS.sshsig < SHA256SUMS
";

const WHERE: &str = "task/events        what happened: canonical JSON (RFC 8785), linked by prev_event_hash, leaves of a tree (RFC 6962)
receipts/          what was meant, allowed, done, changed (in-toto Statement in a DSSE envelope)
gate/              what the gate let through, with its place in the gate's tree
disclosures/       [salt, pointer, value] whose SHA-256 stands as {\"$sd\": ...}; no file: the value is withheld or erased
artifacts/         content by its SHA-256
statement          what this bundle is about; prov.json is derived from the events and binds nobody
";

const KEYS: &str = "*/checkpoint       signed tree heads (C2SP signed-note, tlog-checkpoint); the size says that nothing was left out
*.tlog-proof       a place in a tree (C2SP tlog-proof)
keys/              key id = SHA-256 of the SPKI DER

";

const LIMITS: &str = "- It shows integrity, order and authority. It does not show that a claim in it is true.
- Without a witness outside the machine, its owner could have rewritten everything before this export.
- Times are those of the machine's own clock.
- What is withheld is covered by its digest and cannot be read from it.
";
