//! Who the instance is and what clocks stamped, as a proof carries it: out of the store's own stream, each proof as it came
//! (mesh.md 2 and 3).

use crate::fold;
use ledger::Reader;
use model::anchor::{AnchorClock, AnchorSubject};
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
    anchors: BTreeMap<u64, One>,
}

#[derive(Debug)]
struct One {
    requested: Requested,
    clocks: BTreeMap<AnchorClock, AtClock>,
}

/// How an anchor stands at a clock.
#[derive(Debug, Default)]
struct AtClock {
    /// The newest proof.
    proof: Option<Digest>,
    /// Once its time was proven.
    not_after: Option<UnixMs>,
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
            Body::AnchorRequested(b) => {
                let requested = Requested {
                    digest: b.digest,
                    number: b.number,
                    requested_at: b.requested_at,
                    subject: b.subject.clone(),
                };
                self.anchors.insert(b.number, One { requested, clocks: BTreeMap::new() });
            }
            Body::AnchorStamped(b) => self.at(b.number, b.clock, |at| {
                if let (Some(proof), None) = (&b.proof, at.not_after) {
                    at.proof = Some(proof.sha256);
                }
            }),
            Body::AnchorCompleted(b) => self.at(b.number, b.clock, |at| {
                *at = AtClock { proof: Some(b.proof.sha256), not_after: Some(b.not_after) };
            }),
            // The proof leads to a block that is none of the chain any more.
            Body::AnchorWithdrawn(b) => self.at(b.number, b.clock, |at| *at = AtClock::default()),
            Body::AnchorFailed(b) => self.at(b.number, b.clock, |at| {
                if at.not_after.is_none() {
                    at.proof = None;
                }
            }),
            _ => {}
        }
    }

    fn at(&mut self, number: u64, clock: AnchorClock, change: impl FnOnce(&mut AtClock)) {
        if let Some(one) = self.anchors.get_mut(&number) {
            change(one.clocks.entry(clock).or_default());
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
        let covers = |one: &One| match (covered, &one.requested.subject) {
            (Some(at), AnchorSubject::Head { size, .. }) => at.index < *size && *size <= at.notes,
            _ => false,
        };
        let mut chosen = BTreeSet::new();
        for clock in AnchorClock::ALL {
            let proven = self.anchors.iter().filter(|(_, one)| covers(one));
            let proven =
                proven.filter_map(|(number, one)| Some((one.clocks.get(clock)?.not_after?, *number)));
            chosen.extend(proven.min().map(|(_, number)| number));
        }
        let waits = |one: &One| {
            let mut clocks = one.clocks.values();
            clocks.clone().all(|at| at.not_after.is_none()) && clocks.any(|at| at.proof.is_some())
        };
        let waiting = self.anchors.iter().rev().find(|(_, one)| covers(one) && waits(one));
        chosen.extend(waiting.map(|(number, _)| *number));
        let mut links: BTreeMap<u64, (UnixMs, u64)> = BTreeMap::new();
        for (number, one) in &self.anchors {
            let AnchorSubject::Link { number: link } = one.requested.subject else { continue };
            let Some(first) = one.clocks.values().filter_map(|at| at.not_after).min() else { continue };
            let found = links.entry(link).or_insert((first, *number));
            *found = (*found).min((first, *number));
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
            let Some(one) = self.anchors.get(&number) else { continue };
            let note = match &one.requested.subject {
                AnchorSubject::Head { size, note_sha256, .. } => {
                    let made = reader.global_checkpoint_of(*size, *note_sha256);
                    made.map_err(|e| e.to_string())?.map(|made| made.note)
                }
                AnchorSubject::Link { .. } => None,
            };
            let mut proofs = Vec::new();
            for (clock, at) in &one.clocks {
                let Some(digest) = &at.proof else { continue };
                match kept.read(digest) {
                    Ok(bytes) => proofs.push((*clock, bytes)),
                    Err(artifacts::Error::Missing { .. }) => {}
                    Err(e) => return Err(e.to_string()),
                }
            }
            let task_index = note.as_ref().and(covered).map(|at| at.index);
            all.push(AnchorFiles { requested: one.requested.clone(), note, task_index, proofs });
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(number: u64, subject: AnchorSubject, clocks: &[(AnchorClock, Option<i64>)]) -> (u64, One) {
        let digest = Digest::of(&number.to_le_bytes());
        let requested = Requested { digest, number, requested_at: UnixMs(1), subject };
        let at = |(clock, not_after): &(AnchorClock, Option<i64>)| {
            (*clock, AtClock { proof: Some(digest), not_after: not_after.map(UnixMs) })
        };
        (number, One { requested, clocks: clocks.iter().map(at).collect() })
    }

    fn head(size: u64) -> AnchorSubject {
        let (root, note_sha256) = (Digest::ZERO, Digest::ZERO);
        AnchorSubject::Head { origin: "hermit.local/x".to_owned(), size, root, note_sha256 }
    }

    fn said(event_type: &str, rest: serde_json::Value) -> Body {
        let mut payload = serde_json::json!({ "number": 1, "clock": "opentimestamps" });
        payload.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        Body::read(event_type, 1, payload).unwrap()
    }

    #[test]
    fn the_newest_proof_of_a_clock_counts_until_the_chain_goes_another_way() {
        let (first, second) = (Digest::of(b"1"), Digest::of(b"2"));
        let artifact = |sha256: Digest| serde_json::json!({ "artifact_id": "art_01900000000070008000000000000063", "sha256": sha256 });
        let act = "act_01900000000070008000000000000064";
        let stamp = |proof: serde_json::Value| {
            let at = ["calendar.example:443"];
            let rest =
                serde_json::json!({ "at": at, "proof": proof, "action_request_id": act, "stamped_at": 1 });
            said("anchor.stamped", rest)
        };
        let complete = serde_json::json!({ "proof": artifact(second), "not_after": 9, "block": null, "completed_at": 2 });
        let block = serde_json::json!({ "height": 1, "hash": "00", "time": 9, "depth": 1 });
        let mut told = Stamped::default();
        told.anchors.extend([anchor(1, head(8), &[])]);
        let at = |told: &Stamped| {
            let at = told.anchors[&1].clocks.get(&AnchorClock::OpenTimestamps);
            at.map_or((None, None), |at| (at.proof, at.not_after.map(|at| at.0)))
        };
        for (body, is_now) in [
            (stamp(serde_json::Value::Null), (None, None)),
            (stamp(artifact(first)), (Some(first), None)),
            (said("anchor.completed", complete.clone()), (Some(second), Some(9))),
            (stamp(artifact(first)), (Some(second), Some(9))),
            (
                said("anchor.failed", serde_json::json!({ "why": "busy", "failed_at": 3 })),
                (Some(second), Some(9)),
            ),
            (
                said("anchor.withdrawn", serde_json::json!({ "block": block, "withdrawn_at": 4 })),
                (None, None),
            ),
            (said("anchor.completed", complete), (Some(second), Some(9))),
        ] {
            told.take(&body);
            assert_eq!(at(&told), is_now, "{}", body.event_type());
        }
    }

    #[test]
    fn of_each_clock_the_earliest_that_covers_goes_along_and_the_newest_that_waits() {
        use AnchorClock::{OpReturn, OpenTimestamps, Rfc3161};
        let mut told = Stamped::default();
        told.anchors.extend([
            // Too early to cover the task, and beyond what the proof's log has.
            anchor(1, head(7), &[(Rfc3161, Some(10))]),
            anchor(9, head(99), &[(OpReturn, Some(5))]),
            anchor(2, head(8), &[(Rfc3161, Some(30)), (OpenTimestamps, None)]),
            anchor(3, head(9), &[(Rfc3161, Some(20))]),
            anchor(4, head(9), &[(OpenTimestamps, Some(90))]),
            anchor(5, head(9), &[(OpenTimestamps, None)]),
            anchor(6, head(10), &[(OpenTimestamps, None)]),
            anchor(7, head(10), &[]),
        ]);
        let covered = Some(Covered { index: 7, notes: 20 });
        assert_eq!(told.chosen(covered), BTreeSet::from([3, 4, 6]));
        assert_eq!(told.chosen(None), BTreeSet::new());
        // Of links the earliest of each, the newest links first, and no more than go along.
        for n in 0..10 {
            let link = AnchorSubject::Link { number: n + 1 };
            told.anchors.extend([
                anchor(20 + 2 * n, link.clone(), &[(Rfc3161, Some(100))]),
                anchor(21 + 2 * n, link, &[(Rfc3161, Some(50))]),
            ]);
        }
        assert_eq!(told.chosen(covered), BTreeSet::from([3, 4, 6, 31, 33, 35, 37, 39]));
    }
}
