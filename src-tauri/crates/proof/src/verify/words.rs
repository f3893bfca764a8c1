//! The verdict, and what it rests on, in sentences.

use super::rotations::Leads;
use super::{Check, blank};
use crate::Trust;
use crate::layout as l;
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
        let (mut through, mut revoked) = (Vec::new(), None);
        for (purpose, key) in keys.iter().filter_map(|(purpose, key)| Some((*purpose, (*key)?))) {
            match self.leads(purpose, trust) {
                Leads::Itself => report.vouching.push(key),
                Leads::Through(named, steps) => {
                    report.vouching.push(named);
                    through.push(followed(purpose, &key, &named, steps));
                }
                Leads::Revoked(key) => {
                    revoked = Some(key);
                    continue;
                }
                Leads::Nowhere => continue,
            }
            report.trusted.push(purpose.to_owned());
        }
        // The approval key vouches for decisions alone, not for the log they stand in; the log key for the others
        // only through a receipt; the receipt key for the others only through a statement.
        let vouched = report.trusted.iter().any(|purpose| match purpose.as_str() {
            "log" => self.signed_receipts > 0,
            "receipt" => !self.single,
            purpose => purpose != "approval",
        });
        report.verdict = match self.keys.manifest {
            _ if !self.missing.is_empty() => {
                Verdict::Incomplete { missing: std::mem::take(&mut self.missing) }
            }
            Some(_) if vouched => Verdict::Valid,
            Some(_) if revoked.is_some() => Verdict::Unverifiable { why: no_longer(revoked) },
            Some(key) => Verdict::Unverifiable { why: self.unvouched(&key, &report.trusted, trust) },
            None => Verdict::Unverifiable {
                why: "consistent, and signed by nobody: the store has no keys (hash_chained)".to_owned(),
            },
        };
        if report.verdict == Verdict::Valid {
            report.unvouched = self.unbound(&report.trusted);
        }
        let seen = self.witnesses(&mut report, trust);
        self.proven(&mut report);
        report.proven.append(&mut through);
        self.asserted(&mut report, vouched, seen);
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
            report.exported_at_ms = Some(predicate.exported_at_ms).filter(|at| *at != 0);
        }
        report.identity = self.identity_found();
        report.anchors = self.anchors_found();
        report.proven_not_after = self.proven_not_after().map(|at| at.0);
    }

    /// Why a bundle of one piece is not valid: nobody the caller trusts stands behind all of it.
    fn unvouched(&self, manifest: &PublicKey, trusted: &[String], trust: &[Trust]) -> String {
        let signer =
            format!("consistent, signed by {} ({})", manifest.keyid(), sshsig::fingerprint(manifest));
        let is_trusted = |purpose: &str| trusted.iter().any(|t| t == purpose);
        if is_trusted("log") {
            return format!(
                "consistent, the events are signed by the log key you named; but no receipt ties the manifest key {} to it, so name that one too",
                manifest.keyid()
            );
        }
        if is_trusted("receipt")
            && let Some(log) = self.keys.log
        {
            return format!(
                "consistent, and the receipt itself is signed by the key you named; but that it stands in a log is signed by the log key {}, so name that one too",
                log.keyid()
            );
        }
        if trust.is_empty() {
            return format!("{signer}; name a key you trust to have more");
        }
        let named: Vec<String> = trust.iter().map(ToString::to_string).collect();
        format!("{signer}, and the key you named ({}) did not sign it", named.join(", "))
    }

    /// Files of one receipt alone that nothing binds to the log: where the receipt does not name the manifest key,
    /// anybody could have signed the list of files anew.
    fn unbound(&self, trusted: &[String]) -> Vec<String> {
        if !self.single || self.has_named_manifest || trusted.iter().any(|purpose| purpose == "manifest") {
            return Vec::new();
        }
        let fixed = [l::README, l::SUMS, l::SUMS_ED25519, l::SUMS_SSHSIG, l::KEY_ALLOWED, l::KEY_MANIFEST];
        let person = Some(l::KEY_APPROVAL).filter(|_| self.counts.decisions + self.counts.standing == 0);
        let all = fixed.into_iter().chain(person).chain([l::LOG_POLICY]);
        all.filter(|name| self.has(name)).map(str::to_owned).collect()
    }

    fn proven(&self, report: &mut Report) {
        let proven = &mut report.proven;
        let Some(predicate) = &self.predicate else { return };
        let (task, shown) = (predicate.task_id, self.counts.events);
        proven.push(match (&self.heads, predicate.receipt_id, predicate.span) {
            (Some(heads), None, None) => format!(
                "{} of {task} is here, unchanged and in order: chain, number and root are those that the log key signed, so nothing was left out",
                all(heads.task.size, "event")
            ),
            (Some(heads), None, Some([first, last])) => format!(
                "events {first} to {last} of the {} of {task} are here, unchanged and in order, each with its place under the root that the log key signed",
                heads.task.size
            ),
            (Some(heads), Some(receipt), _) => format!(
                "{receipt} was recorded in {task}: {shown} of its {} shown, with its place under the root that the log key signed",
                count(heads.task.size, "event")
            ),
            (None, None, _) => format!("{} of {task} form one unbroken chain", count(shown, "event")),
            (None, Some(receipt), _) => format!("the event shown records exactly the bytes of {receipt}"),
        });
        self.proven_by_log(proven);
        proven.extend(self.roots.iter().map(super::state::Rooted::in_words));
        proven.extend(self.instance_in_words());
        proven.extend(self.clocks_in_words());
        let by_key = self.counts.decisions.saturating_sub(self.counts.by_passkey);
        if by_key > 0 {
            proven.push(format!(
                "{} signed by the approval key, for exactly the packet, scope and nonce that were asked",
                are(by_key, "decision of a person", "decisions of a person")
            ));
        }
        proven.extend(self.passkeys.values().map(super::passkeys::Seen::in_words));
        if self.counts.standing > 0 {
            proven.push(format!(
                "{} signed by the approval key, and in force at every use of it that is here",
                are(self.counts.standing, "standing grant of a person", "standing grants of a person")
            ));
        }
        let (values, contents) = (self.counts.disclosed, self.counts.artifacts);
        if values + contents > 0 {
            proven.push(format!(
                "what can be read of {} and {} is what was hashed when it was recorded",
                count(values, "sensitive value"),
                count(contents, "artifact")
            ));
        }
    }

    fn proven_by_log(&self, proven: &mut Vec<String>) {
        let Some(heads) = &self.heads else { return };
        proven.push(format!(
            "the task's checkpoint is note {} of {} in the store's one log",
            heads.task_index + 1,
            heads.global.size
        ));
        match self.past {
            Some(past) if past.held && past.size == heads.global.size => {
                proven.push("that log is where the checkpoint you hold says it is".to_owned());
            }
            Some(past) => {
                let whose = if past.held { "the checkpoint you hold" } else { "log/checkpoint.prev" };
                proven.push(format!(
                    "since {whose} the log was only appended to: its first {} are still the first of these {}",
                    count(past.size, "note"),
                    heads.global.size
                ));
            }
            None => {}
        }
        if self.counts.receipts > 0 {
            proven.push(format!(
                "{} signed by the receipt key, and the log recorded those very bytes",
                are(self.counts.receipts, "receipt", "receipts")
            ));
        }
        if self.single && self.counts.gate_entries > 0 {
            proven.push("the gate's entry is the one that the receipt names: it let this pass".to_owned());
        } else if self.counts.gate_entries > 0 {
            let entries = self.counts.gate_entries;
            let stand = if entries == 1 { "entry of the gate stands" } else { "entries of the gate stand" };
            proven.push(format!("{entries} {stand} in the gate's signed tree"));
        }
    }

    /// What witnesses have said, by the bundle's own policy and by the receiver's keys. Whether one that the receiver
    /// trusts has cosigned.
    fn witnesses(&self, report: &mut Report, trust: &[Trust]) -> bool {
        let Some(heads) = &self.heads else { return false };
        if let Some(found) = &heads.witnessed {
            let met = if found.is_met { "that is what it asks for" } else { "it asks for more" };
            report.proven.push(format!(
                "{} of the {} witnesses that the bundle's policy names have cosigned the log's head: {met}",
                found.signed.len(),
                found.all
            ));
        }
        let mut seen = false;
        for key in trust.iter().filter_map(|t| match t {
            Trust::Witness(key) => Some(key),
            _ => None,
        }) {
            match key.cosigned(&heads.note) {
                Ok(Some(time)) => {
                    seen = true;
                    report.proven.push(format!(
                        "the witness {}, whose key you named, has seen this log only grow, up to this very head, at {time} (seconds since 1970, by its clock)",
                        key.name()
                    ));
                }
                _ => report
                    .not_shown
                    .push(format!("a cosignature by the witness {}, whose key you named", key.name())),
            }
        }
        seen
    }

    fn asserted(&self, report: &mut Report, vouched: bool, seen: bool) {
        let asserted = &mut report.asserted;
        asserted.push(
            "that what it says is true: a proof shows integrity, order and authority, not truth".to_owned(),
        );
        asserted.push(self.interval_in_words().unwrap_or_else(|| {
            "when things happened: the times are those of the machine's own clock".to_owned()
        }));
        asserted.push(
            match &self.heads {
                _ if seen => {
                    "that nothing was rewritten before that witness first saw the log: it was not there to see"
                }
                _ if self.proven_not_after().is_some() => {
                    "that nothing was rewritten before the time that is proven: a clock shows only what existed then"
                }
                Some(heads) if heads.note.signatures.len() > 1 => {
                    "that nothing was rewritten before the export: witnesses have cosigned, but you named none of their keys; name one with --trust"
                }
                _ => {
                    "that nothing was rewritten before the export: no witness has signed, so the machine's owner could have rebuilt all of it"
                }
            }
            .to_owned(),
        );
        if self.graph.is_some() {
            asserted.push(
                "whose the keys of the instance are: its links show only how they followed each other"
                    .to_owned(),
            );
        }
        self.trusted_clocks(asserted);
        if self.counts.decisions + self.counts.standing > 0
            && !report.trusted.iter().any(|purpose| purpose == "approval")
        {
            asserted.push("whose the approval key is: it is the one that the log names".to_owned());
        }
        if self.counts.by_passkey > 0 {
            asserted.push(
                "what kind of authenticator holds a passkey: no statement of its maker was asked for"
                    .to_owned(),
            );
        }
        if self.signed && !vouched {
            asserted.push("whose the keys are: they came with the bundle".to_owned());
        }
        if self.has(l::PROV) {
            asserted.push("README.txt and prov.json: they are made from the rest and bind nobody".to_owned());
        } else {
            asserted.push("README.txt: it is made from the rest and binds nobody".to_owned());
        }
        asserted.extend(self.claimed());
    }

    /// What was said at the ends of runs, and how far it was compared with the log.
    fn claimed(&self) -> Option<String> {
        if self.facts.claims == 0 {
            return None;
        }
        let acts = match self.counts.receipts {
            0 => "no receipt here says that anything was done",
            _ => "what was done is what the receipts say",
        };
        let [by_receipt, by_evidence, by_absence, none] = self.facts.answers;
        let cited = match self.facts.cited {
            0 => String::new(),
            cited => format!("; {cited} of the bound by what the model cited"),
        };
        let near = match self.facts.near.min(none) {
            0 => String::new(),
            near => format!("{near} to compare, "),
        };
        let open = none.saturating_sub(self.facts.near);
        let bound = match by_receipt + by_evidence + by_absence + none {
            0 => String::new(),
            all => format!(
                "; Hermit compared {} of it with its log: {by_receipt} bound to receipts, {by_evidence} to what was seen, \
                 {by_absence} to no receipt that says otherwise, {near}{open} UNVERIFIED{cited}",
                count(all, "claim")
            ),
        };
        Some(format!(
            "what was said at {} of a run: a model's own words, unverified; {acts}{bound}",
            count(self.facts.claims, "end")
        ))
    }

    fn withheld(&mut self, report: &mut Report) {
        let counts = &self.counts;
        let not_shown = &mut report.not_shown;
        if let Some(predicate) = self.predicate.as_ref().filter(|p| !p.is_whole()) {
            let others = predicate.task_size.saturating_sub(counts.events);
            if self.signed && others > 0 {
                not_shown.push(format!(
                    "what the task's other {} say; that they exist is signed",
                    count(others, "event")
                ));
            }
        }
        if counts.by_passkey > 0 {
            not_shown.push(
                "whether a passkey was revoked before it signed: the store's own stream says so, and Hermit records no yes of one that was"
                    .to_owned(),
            );
        }
        if counts.redacted > 0 {
            let profile = self.predicate.as_ref().and_then(|p| p.redacted.as_deref());
            let why = profile.map_or_else(
                || "withheld from this bundle, or erased from the store before".to_owned(),
                |profile| format!("withheld (`--redact {profile}`), or erased from the store before"),
            );
            not_shown.push(format!(
                "{}: {why}; each still has its digest in what was signed, so none can be put back changed",
                count(counts.redacted, "sensitive value")
            ));
        }
        if counts.artifacts_left_out > 0 {
            not_shown.push(format!(
                "the content of {}; the digests are here",
                count(counts.artifacts_left_out, "artifact")
            ));
        }
        if self.facts.unknown > 0 {
            not_shown.push(format!(
                "what {} of types unknown to this program mean",
                count(self.facts.unknown, "event")
            ));
        }
        if !report.unvouched.is_empty() {
            not_shown.push(
                "what the sender may have left out: the list of files is not signed by a key you trust"
                    .to_owned(),
            );
        }
        self.silent_clocks(not_shown);
        not_shown.append(&mut self.not_shown);
    }
}

/// How a key that the receiver named leads to the one in force.
fn followed(purpose: &str, key: &PublicKey, named: &PublicKey, steps: usize) -> String {
    let how = match steps {
        1 => "once: one succession, signed by the old key and by the new one".to_owned(),
        _ => format!("in several steps: {steps} successions, each signed by the old key and by the new one"),
    };
    format!("the {purpose} key {} followed the one you named ({}), {how}", key.keyid(), named.keyid())
}

/// Why a key that was named does not count any more.
fn no_longer(revoked: Option<PublicKey>) -> String {
    let keyid = revoked.map(|key| key.keyid().to_string()).unwrap_or_default();
    format!(
        "consistent, but the key you named leads here only through {keyid}, which its owner has revoked; ask the owner for the key in force, by another way"
    )
}

/// `1 event`, `2 events`.
fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// `the 1 event`, `all 2 events`, with a verb in the singular to come.
fn all(number: u64, what: &str) -> String {
    if number == 1 { format!("the one {what}") } else { format!("every one of the {number} {what}s") }
}

/// `1 receipt is`, `2 receipts are`.
fn are(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one} is") } else { format!("{number} {many} are") }
}
