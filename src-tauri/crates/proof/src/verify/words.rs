//! The verdict, and what it rests on, in sentences.

use super::{Check, blank};
use crate::Trust;
use crate::report::{Report, Verdict};
use seal::{PublicKey, sshsig};

impl Check<'_> {
    /// What holds together: is it vouched for, and by whom?
    pub(super) fn conclude(mut self, trust: &[Trust]) -> Report {
        let mut report = blank(Verdict::Valid);
        self.facts_known(&mut report);
        report.counts = self.counts;
        let keys = [
            ("log", self.keys.log),
            ("receipt", self.keys.receipt),
            ("manifest", self.keys.manifest),
            ("approval", self.keys.approval),
        ];
        let trusts = |key: &PublicKey| trust.iter().any(|t| t.names(key));
        let trusted = keys.iter().filter(|(_, key)| key.as_ref().is_some_and(&trusts));
        report.trusted = trusted.map(|(purpose, _)| (*purpose).to_owned()).collect();
        // The approval key vouches for decisions alone, not for the log they stand in; the log key for the others
        // only through a receipt.
        let vouched = report.trusted.iter().any(|purpose| match purpose.as_str() {
            "log" => self.signed_receipts > 0,
            purpose => purpose != "approval",
        });
        report.verdict = match self.keys.manifest {
            _ if !self.missing.is_empty() => {
                Verdict::Incomplete { missing: std::mem::take(&mut self.missing) }
            }
            Some(_) if vouched => Verdict::Valid,
            Some(key) if report.trusted.iter().any(|purpose| purpose == "log") => Verdict::Unverifiable {
                why: format!(
                    "consistent, the events are signed by the log key you named; but no receipt ties the manifest key {} to it, so name that one too",
                    key.keyid()
                ),
            },
            Some(key) => Verdict::Unverifiable { why: unvouched(&key, trust) },
            None => Verdict::Unverifiable {
                why: "consistent, and signed by nobody: the store has no keys (hash_chained)".to_owned(),
            },
        };
        self.proven(&mut report);
        self.asserted(&mut report, vouched);
        self.withheld(&mut report);
        report
    }

    /// What is known of the bundle, as far as the check came.
    pub(super) fn facts_known(&self, report: &mut Report) {
        report.keys = crate::export::keyids(self.keys);
        if let Some(predicate) = &self.predicate {
            report.task_id = Some(predicate.task_id);
            report.log_id = Some(predicate.log_id.clone());
            report.task_size = Some(predicate.task_size);
            report.task_root = Some(predicate.task_root);
            report.exported_at_ms = Some(predicate.exported_at_ms);
        }
    }

    fn proven(&self, report: &mut Report) {
        let (counts, proven) = (&self.counts, &mut report.proven);
        let Some(predicate) = &self.predicate else { return };
        let task = predicate.task_id;
        match (&self.heads, predicate.receipt_id) {
            (Some(heads), None) => proven.push(format!(
                "all {} events of {task} are here, unchanged and in order: chain, number and root are those that the log key signed",
                heads.task.size
            )),
            (Some(heads), Some(receipt)) => proven.push(format!(
                "{receipt} was recorded in {task}: {} of its {} events are shown, each with its place under the root that the log key signed",
                counts.events, heads.task.size
            )),
            (None, None) => proven.push(format!("the {} events of {task} form one unbroken chain", counts.events)),
            (None, Some(receipt)) => proven.push(format!("the event shown records exactly the bytes of {receipt}")),
        }
        if let Some(heads) = &self.heads {
            proven.push(format!(
                "the task's checkpoint is note {} of {} in the store's one log",
                heads.task_index + 1,
                heads.global.size
            ));
            if counts.receipts > 0 {
                proven.push(format!(
                    "{} receipts are signed by the receipt key, and the log recorded those very bytes",
                    counts.receipts
                ));
            }
            if counts.gate_entries > 0 {
                proven.push(format!("{} entries of the gate stand in its signed tree", counts.gate_entries));
            }
        }
        if counts.decisions > 0 {
            proven.push(format!(
                "{} decisions are signed by the approval key, each for exactly the packet, scope and nonce that were asked",
                counts.decisions
            ));
        }
        let opened = counts.disclosed + counts.artifacts;
        if opened > 0 {
            proven.push(format!(
                "{} disclosed values and {} artifacts have the bytes that were hashed when they came to be",
                counts.disclosed, counts.artifacts
            ));
        }
    }

    fn asserted(&self, report: &mut Report, vouched: bool) {
        let asserted = &mut report.asserted;
        asserted.push("when things happened: the times are those of the machine's own clock".to_owned());
        asserted.push("that what it says is true: it shows integrity, order and authority".to_owned());
        match &self.heads {
            Some(heads) if heads.cosigned => asserted.push(
                "that nothing was rewritten before the export: others have signed the log's head, but their keys were not given".to_owned(),
            ),
            _ => asserted.push(
                "that nothing was rewritten before the export: no witness has signed, so the machine's owner could have done it".to_owned(),
            ),
        }
        if self.counts.decisions > 0 && !report.trusted.iter().any(|purpose| purpose == "approval") {
            asserted.push("whose the approval key is: it is the one that the log names".to_owned());
        }
        if self.signed && !vouched {
            asserted.push("whose the keys are: they came with the bundle".to_owned());
        }
        if self.has(crate::layout::PROV) {
            asserted.push("prov.json: it is derived from the events and binds nobody".to_owned());
        }
    }

    fn withheld(&mut self, report: &mut Report) {
        let counts = &self.counts;
        let not_shown = &mut report.not_shown;
        if let Some(predicate) = self.predicate.as_ref().filter(|p| p.receipt_id.is_some()) {
            let others = predicate.task_size.saturating_sub(counts.events);
            not_shown.push(format!(
                "the task's other {others} events; that they exist is signed, what they say is not shown"
            ));
        }
        if counts.redacted > 0 {
            not_shown.push(format!(
                "{} sensitive values, withheld or erased; their digests are here",
                counts.redacted
            ));
        }
        if counts.artifacts_left_out > 0 {
            not_shown.push(format!(
                "the content of {} artifacts; their digests are here",
                counts.artifacts_left_out
            ));
        }
        if self.facts.unknown > 0 {
            not_shown
                .push(format!("what {} events of types unknown to this program mean", self.facts.unknown));
        }
        not_shown.append(&mut self.not_shown);
    }
}

fn unvouched(key: &PublicKey, trust: &[Trust]) -> String {
    let signer = format!("consistent, signed by {} ({})", key.keyid(), sshsig::fingerprint(key));
    if trust.is_empty() {
        return format!("{signer}; name a key you trust to have more");
    }
    let named: Vec<String> = trust.iter().map(ToString::to_string).collect();
    format!("{signer}, and the key you named ({}) does not vouch for it", named.join(", "))
}
