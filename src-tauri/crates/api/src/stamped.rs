//! Who the instance is and what clocks stamped, as a proof carries it: out of the store's own stream, each proof as it came
//! (mesh.md 2 and 3).

use crate::fold;
use kernel::anchor_registry::{AnchorRecord, AnchorRegistry, ClockRecord};
use ledger::Reader;
use model::anchor::{AnchorClock, AnchorState, AnchorSubject};
use model::body::InstanceKeyRegistered;
use model::{Body, Digest, UnixMs};
use proof::{AnchorFiles, IdentityFiles, Requested};
use std::collections::{BTreeMap, BTreeSet};

/// Anchors that go along with one proof.
const ALONG: usize = 8;

/// What the store's own stream tells of its instance and its anchors.
#[derive(Debug, Default)]
pub(crate) struct Stamped {
    /// The first key that was registered: the chain leads on from it.
    key: Option<InstanceKeyRegistered>,
    /// Digests of the signed links by number.
    links: BTreeMap<u64, Digest>,
    /// As the kernel folds them.
    anchors: AnchorRegistry,
}

/// The newest proof of a clock that goes along: none once the clock was given up, or its block is in the chain no more.
fn proof_of(at: &ClockRecord) -> Option<Digest> {
    let holds = matches!(at.state, AnchorState::Pending | AnchorState::Anchored);
    at.proof.as_ref().filter(|_| holds).map(|proof| proof.sha256)
}

/// Which heads a proof of a task is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Covered {
    /// The first place of the task's head among the notes of the log.
    pub index: u64,
    /// How many notes the log has in the proof.
    pub notes: u64,
}

impl Stamped {
    /// Reads the stream.
    pub(crate) fn read(reader: &Reader) -> Result<Self, String> {
        let mut told = Self::default();
        let first = reader.log(0, 1).map_err(|e| e.to_string())?.into_iter().next();
        if let Some(first) = first {
            fold::walk(reader, first.task_id, &mut |_, _, body| {
                told.take(body);
                Ok(())
            })
            .map_err(|e| e.to_string())?;
        }
        Ok(told)
    }

    fn take(&mut self, body: &Body) {
        match body {
            Body::InstanceKeyRegistered(b) if self.key.is_none() => self.key = Some(b.clone()),
            Body::IdentityLinked(b) => {
                self.links.insert(b.number, b.link.sha256);
            }
            other => self.anchors.apply(other),
        }
    }

    /// The key and the links, where there is a link.
    pub(crate) fn identity(&self, kept: &artifacts::Store) -> Result<Option<IdentityFiles>, String> {
        let (Some(key), false) = (&self.key, self.links.is_empty()) else { return Ok(None) };
        let key = serde_json::json!({
            "signature_by_instance": key.signature_by_instance,
            "signature_by_log": key.signature_by_log,
            "statement": key.statement,
        });
        let key = seal::canon::canonical_value(&key).map_err(|e| e.to_string())?;
        let links = self.links.values().map(|digest| kept.read(digest).map_err(|e| e.to_string()));
        Ok(Some(IdentityFiles { key, links: links.collect::<Result<_, _>>()? }))
    }

    /// The anchors that go along: of each clock the earliest that covers the task's head, the newest of those that wait, and
    /// of links the newest ones.
    fn chosen(&self, covered: Option<Covered>) -> BTreeSet<u64> {
        let covers = |one: &AnchorRecord| match (covered, &one.subject) {
            (Some(at), AnchorSubject::Head { size, .. }) => at.index < *size && *size <= at.notes,
            _ => false,
        };
        let mut chosen = BTreeSet::new();
        for clock in AnchorClock::ALL {
            let proven = self.anchors.all().filter(|one| covers(one));
            let proven = proven.filter_map(|one| Some((one.clocks.get(clock)?.not_after?, one.number)));
            chosen.extend(proven.min().map(|(_, number)| number));
        }
        let waits = |one: &AnchorRecord| {
            let mut clocks = one.clocks.values();
            clocks.clone().all(|at| at.not_after.is_none()) && clocks.any(|at| proof_of(at).is_some())
        };
        let waiting = self.anchors.all().rev().find(|one| covers(one) && waits(one));
        chosen.extend(waiting.map(|one| one.number));
        let mut links: BTreeMap<u64, (UnixMs, u64)> = BTreeMap::new();
        for one in self.anchors.all() {
            let AnchorSubject::Link { number: link } = one.subject else { continue };
            let Some(first) = one.not_after() else { continue };
            let found = links.entry(link).or_insert((first, one.number));
            *found = (*found).min((first, one.number));
        }
        for (_, number) in links.into_values().rev() {
            if chosen.len() < ALONG {
                chosen.insert(number);
            }
        }
        chosen
    }

    /// What goes along with a proof of a task whose head is at these places.
    pub(crate) fn anchors(
        &self,
        reader: &Reader,
        kept: &artifacts::Store,
        covered: Option<Covered>,
    ) -> Result<Vec<AnchorFiles>, String> {
        let mut all = Vec::new();
        for number in self.chosen(covered) {
            let Some(one) = self.anchors.get(number) else { continue };
            let note = match &one.subject {
                AnchorSubject::Head { size, note_sha256, .. } => {
                    let made = reader.global_checkpoint_of(*size, *note_sha256);
                    made.map_err(|e| e.to_string())?.map(|made| made.note)
                }
                AnchorSubject::Link { .. } => None,
            };
            let mut proofs = Vec::new();
            for (clock, at) in &one.clocks {
                let Some(digest) = proof_of(at) else { continue };
                match kept.read(&digest) {
                    Ok(bytes) => proofs.push((*clock, bytes)),
                    Err(artifacts::Error::Missing { .. }) => {}
                    Err(e) => return Err(e.to_string()),
                }
            }
            let task_index = note.as_ref().and(covered).map(|at| at.index);
            let (digest, subject) = (one.digest, one.subject.clone());
            let requested = Requested { digest, number, requested_at: one.requested_at, subject };
            all.push(AnchorFiles { requested, note, task_index, proofs });
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::anchor::AnchorClock::{OpReturn, OpenTimestamps, Rfc3161};
    use model::body::AnchorRequested;
    use serde_json::{Value, json};

    fn head(size: u64) -> AnchorSubject {
        let (root, note_sha256) = (Digest::ZERO, Digest::ZERO);
        AnchorSubject::Head { origin: "hermit.local/x".to_owned(), size, root, note_sha256 }
    }

    fn said(number: u64, clock: AnchorClock, event_type: &str, rest: &Value) -> Body {
        let mut payload = json!({ "number": number, "clock": clock });
        payload.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        Body::read(event_type, 1, payload).unwrap()
    }

    fn artifact(sha256: Digest) -> Value {
        json!({ "artifact_id": "art_01900000000070008000000000000063", "sha256": sha256 })
    }

    fn stamp(proof: &Value) -> Value {
        let act = "act_01900000000070008000000000000064";
        json!({ "at": ["calendar.example:443"], "proof": proof, "action_request_id": act, "stamped_at": 1 })
    }

    fn complete(proof: Digest, not_after: i64) -> Value {
        json!({ "proof": artifact(proof), "not_after": not_after, "block": null, "completed_at": 2 })
    }

    /// An anchor at these clocks, each of which has it: proven by this time, or not yet.
    fn anchor(
        told: &mut Stamped,
        number: u64,
        subject: AnchorSubject,
        clocks: &[(AnchorClock, Option<i64>)],
    ) {
        let digest = Digest::of(&number.to_le_bytes());
        let at = clocks.iter().map(|(clock, _)| *clock).collect();
        let requested = AnchorRequested { number, digest, subject, clocks: at, requested_at: UnixMs(1) };
        told.take(&Body::AnchorRequested(requested));
        for (clock, not_after) in clocks {
            told.take(&said(number, *clock, "anchor.stamped", &stamp(&artifact(digest))));
            if let Some(not_after) = not_after {
                told.take(&said(number, *clock, "anchor.completed", &complete(digest, *not_after)));
            }
        }
    }

    #[test]
    fn the_newest_proof_of_a_clock_counts_until_it_is_given_up_or_the_chain_goes_another_way() {
        let (first, second) = (Digest::of(b"1"), Digest::of(b"2"));
        let mut told = Stamped::default();
        let requested = AnchorRequested {
            number: 1,
            digest: Digest::ZERO,
            subject: head(8),
            clocks: vec![OpenTimestamps],
            requested_at: UnixMs(1),
        };
        told.take(&Body::AnchorRequested(requested));
        let at = |told: &Stamped| {
            let at = &told.anchors.get(1).unwrap().clocks[&OpenTimestamps];
            (proof_of(at), at.not_after.map(|at| at.0))
        };
        let busy = |failed_at: i64| {
            ("anchor.failed", json!({ "why": { "$plain": "busy" }, "failed_at": failed_at }))
        };
        let block = json!({ "height": 1, "hash": "00", "time": 9, "depth": 1 });
        let withdrawn = json!({ "block": block, "withdrawn_at": 4 });
        for ((event_type, rest), is_now) in [
            (("anchor.stamped", stamp(&Value::Null)), (None, None)),
            (("anchor.stamped", stamp(&artifact(first))), (Some(first), None)),
            // A calendar that does not answer takes nothing from what it gave.
            (busy(3), (Some(first), None)),
            (("anchor.completed", complete(second, 9)), (Some(second), Some(9))),
            (busy(i64::MAX), (Some(second), Some(9))),
            (("anchor.withdrawn", withdrawn), (None, None)),
            (("anchor.completed", complete(second, 9)), (Some(second), Some(9))),
            (("anchor.stamped", stamp(&artifact(first))), (Some(first), None)),
            (busy(i64::MAX), (None, None)),
        ] {
            told.take(&said(1, OpenTimestamps, event_type, &rest));
            assert_eq!(at(&told), is_now, "{event_type}");
        }
    }

    #[test]
    fn of_each_clock_the_earliest_that_covers_goes_along_and_the_newest_that_waits() {
        let mut told = Stamped::default();
        // Too early to cover the task, and beyond what the proof's log has.
        anchor(&mut told, 1, head(7), &[(Rfc3161, Some(10))]);
        anchor(&mut told, 9, head(99), &[(OpReturn, Some(5))]);
        anchor(&mut told, 2, head(8), &[(Rfc3161, Some(30)), (OpenTimestamps, None)]);
        anchor(&mut told, 3, head(9), &[(Rfc3161, Some(20))]);
        anchor(&mut told, 4, head(9), &[(OpenTimestamps, Some(90))]);
        anchor(&mut told, 5, head(9), &[(OpenTimestamps, None)]);
        anchor(&mut told, 6, head(10), &[(OpenTimestamps, None)]);
        anchor(&mut told, 7, head(10), &[]);
        let covered = Some(Covered { index: 7, notes: 20 });
        assert_eq!(told.chosen(covered), BTreeSet::from([3, 4, 6]));
        assert_eq!(told.chosen(None), BTreeSet::new());
        // Of links the earliest of each, the newest links first, and no more than go along.
        for n in 0..10 {
            let link = AnchorSubject::Link { number: n + 1 };
            anchor(&mut told, 20 + 2 * n, link.clone(), &[(Rfc3161, Some(100))]);
            anchor(&mut told, 21 + 2 * n, link, &[(Rfc3161, Some(50))]);
        }
        assert_eq!(told.chosen(covered), BTreeSet::from([3, 4, 6, 31, 33, 35, 37, 39]));
    }
}
