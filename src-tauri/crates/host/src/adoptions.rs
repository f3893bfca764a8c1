//! What a host does with changes of Hermit that a person adopted, once they are on record: the standard model becomes another, and a
//! program is pointed at, which the next start follows (successor.md 5). It is looked at when a store is taken and when work goes on,
//! and done again until it is so.

use crate::clock::Due;
use crate::programs::{Pointer, is_from_elsewhere, own_digest};
use crate::{Config, Error, Home, Local};
use kernel::Kernel;
use kernel::adoption_registry::{AdoptedRecord, AdoptionRegistry};
use model::UnixMs;
use model::adoption::{AdoptChange, PatchKind};
use model::identity::Link;
use std::sync::{Arc, Mutex, PoisonError};

/// How long what could not be done is left alone.
const RETRY_MS: i64 = 60_000;
/// Why a program is not started that came with a store's folder.
const ELSEWHERE: &str = "it was adopted at another machine, or for a store in another folder";

/// Follows adopted changes while a host is open: taken up when its clock is woken.
pub(crate) struct Adoptions {
    home: Home,
    kernel: Arc<Kernel>,
    /// What was followed last; nothing is done until that is another.
    followed: Mutex<Option<AdoptionRegistry>>,
    not_before: Mutex<Option<UnixMs>>,
}

impl Adoptions {
    pub(crate) fn new(home: Home, kernel: Arc<Kernel>) -> Self {
        Self { home, kernel, followed: Mutex::default(), not_before: Mutex::default() }
    }

    fn is_new(&self) -> bool {
        let followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.kernel.adoption_registry();
        followed.as_ref().map_or(!now.adopted.is_empty(), |followed| *followed != now)
    }
}

impl Due for Adoptions {
    fn next_due(&self, _: UnixMs) -> Option<UnixMs> {
        let now = self.kernel.ports().clock.now();
        let held = *self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back does not hold it longer than that.
        let held = held.map(|until| until.min(now.plus_ms(RETRY_MS)));
        self.is_new().then(|| held.map_or(now, |until| now.max(until)))
    }

    fn take_up(&self) {
        if !self.is_new() {
            return;
        }
        let seen = self.kernel.adoption_registry();
        let mut held = self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
        match follow(&self.home, &self.kernel) {
            Ok(()) => {
                *self.followed.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
                *held = None;
            }
            Err(error) => {
                tracing::warn!(%error, "an adopted change could not be followed; it is tried again");
                *held = Some(self.kernel.ports().clock.now().plus_ms(RETRY_MS));
            }
        }
    }
}

impl Local {
    /// Follows adopted changes as they are on record, where this process owns the store. What fails is in the log, and is done with
    /// the next start.
    pub(crate) fn follow_adoptions(&self) {
        let Ok(kernel) = self.owned_kernel() else { return };
        // A program that is only asked whether it is healthy changes nothing.
        if crate::launch::is_asked() {
            return;
        }
        if let Err(error) = follow(self.home(), kernel) {
            tracing::warn!(%error, "an adopted change could not be followed; the next start tries again");
        }
    }

    /// Has the key of the instance hand over where this is an adopted program, unless that was done. What fails is in the log.
    pub(crate) fn hand_over_adopted(&self) {
        let Ok(kernel) = self.owned_kernel() else { return };
        if crate::launch::is_asked() {
            return;
        }
        if let Err(error) = self.hand_over(kernel) {
            tracing::warn!(%error, "no key has signed that the adopted program is at work; the next start tries again");
        }
    }

    /// Where this is the adopted program and its keys are open: the key of the instance from before and a new one sign, once, that it
    /// is at work.
    fn hand_over(&self, kernel: &Kernel) -> Result<(), Error> {
        let Some(program) = kernel.program_now()? else { return Ok(()) };
        if own_digest().map_err(said)? != program || self.keys().keys().is_none() {
            return Ok(());
        }
        let registry = kernel.identity();
        let graph = registry.graph(kernel.artifacts())?;
        let names = |link: &Link| matches!(link, Link::Handover(by) if by.successor_sha256 == Some(program));
        if registry.links.is_empty() || graph.links.iter().any(|one| names(&one.link)) {
            return Ok(());
        }
        self.hand_over_to(program)?;
        tracing::info!(%program, "the keys of this store have handed over to the adopted program");
        Ok(())
    }
}

fn said(why: String) -> Error {
    Error::Said(wire::Error::new(wire::Code::Unavailable, why))
}

/// Makes settings and the pointer what the store says.
fn follow(home: &Home, kernel: &Kernel) -> Result<(), Error> {
    follow_program(home, kernel)?;
    follow_model(home, kernel)
}

/// A program that did not start is at work no more; the one that is adopted is pointed at.
fn follow_program(home: &Home, kernel: &Kernel) -> Result<(), Error> {
    let pointer = Pointer::read(home)?;
    if let Some((pointer, why)) = pointer.as_ref().and_then(|one| Some((one, one.failed.as_ref()?))) {
        match kernel.adoption_failed(&pointer.trial_id, why) {
            Ok(()) => tracing::warn!(trial = %pointer.trial_id, %why, "the adopted program did not start"),
            // It was taken back meanwhile, or this is another store's.
            Err(kernel::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let registry = kernel.adoption_registry();
    let Some(record) = registry.in_force(Some(PatchKind::Code)) else { return Pointer::clear(home) };
    let Some(program) = kernel.adopted_change(record)?.program else { return Pointer::clear(home) };
    if is_from_elsewhere(home, program.sha256) {
        kernel.adoption_failed(&record.trial_id, ELSEWHERE)?;
        return follow_program(home, kernel);
    }
    let is_pointed_at = |one: &Pointer| {
        one.trial_id == record.trial_id
            && (one.sha256, one.bytes) == (program.sha256, program.bytes)
            && one.failed.is_none()
    };
    if pointer.as_ref().is_some_and(is_pointed_at) {
        return Ok(());
    }
    let (trial_id, sha256, bytes) = (record.trial_id.clone(), program.sha256, program.bytes);
    Pointer { trial_id, sha256, bytes, healthy: false, failed: None }.keep(home)
}

/// The standard model is that of the change which is at work; on a way back, what was before it.
fn follow_model(home: &Home, kernel: &Kernel) -> Result<(), Error> {
    let registry = kernel.adoption_registry();
    let of_models = |one: &&AdoptedRecord| one.kind == PatchKind::Model;
    let models: Vec<&AdoptedRecord> = registry.adopted.iter().filter(of_models).collect();
    let at_work = registry.in_force(Some(PatchKind::Model));
    let wanted = at_work.map(|one| one.trial_id.as_str());
    if Config::load(home)?.adopted_model.as_deref() == wanted {
        return Ok(());
    }
    let model_of = |record: &AdoptedRecord| kernel.adopted_change(record).map(standard_model);
    let mut steps: Vec<(Option<String>, Option<String>)> = Vec::new();
    let has = Config::load(home)?.adopted_model;
    // From what it has back to the newest that is not taken back, one by one, and then on to what is wanted.
    let mut at = has.as_deref().and_then(|has| models.iter().position(|one| one.trial_id == has));
    while let Some(place) = at {
        let back = models.get(place).copied().filter(|one| one.returned.is_some());
        let Some(record) = back else { break };
        at = place.checked_sub(1);
        let before = at.and_then(|place| models.get(place)).map(|one| one.trial_id.clone());
        steps.push((model_of(record)?.1, before));
    }
    let reached = at.and_then(|place| models.get(place)).map(|one| one.trial_id.as_str());
    if let Some(record) = at_work.filter(|record| reached != Some(record.trial_id.as_str())) {
        steps.push((model_of(record)?.0, Some(record.trial_id.clone())));
    }
    Config::change(home, |config| {
        if let Some((model, adopted)) = steps.last().cloned() {
            // A model that learned from what was recalled since is the standard one on no way.
            config.default_model =
                model.filter(|address| !crate::trainer::is_recalled(home, kernel, address));
            config.default_secret = None;
            config.adopted_model = adopted;
        } else {
            config.adopted_model = wanted.map(str::to_owned);
        }
        Ok(())
    })
}

/// The model that a change makes the standard one, and the one from before.
fn standard_model(change: AdoptChange) -> (Option<String>, Option<String>) {
    change.pieces.into_iter().next().map_or((None, None), |piece| (piece.text, piece.was))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use ::successor::{Budget, Evidence, Patch, Verdict};
    use kernel::command::adopting::AskedAdoption;
    use kernel::command::submit::Submitted;
    use kernel::command::successor::BegunTrial;
    use model::Digest;
    use model::ingress::Channel;
    use serde_json::json;
    use testkit::{World, done, write};

    const BUDGET: Budget = Budget {
        wall_ms: 60_000,
        cpu_ms: 60_000,
        memory_bytes: 1 << 30,
        disk_bytes: 1 << 30,
        processes: 32,
        tokens: 0,
    };

    fn yes(world: &World, submitted: &Submitted) {
        let approval = world.drive_to_approval(submitted.task_id);
        world.person.allow(world.kernel(), submitted.task_id, approval).unwrap();
        world.drive(submitted.task_id);
    }

    /// A change that makes this the standard model, judged better, and adopted.
    fn adopted(world: &World, address: &str) -> String {
        let played = world.script(&format!("for {address}"), vec![write("a.txt", address), done("written")]);
        world.drive_allowing(played);
        let change = json!({ "kind": "model", "address": address });
        let patch = json!({ "says": "faster", "sources": ["this test"], "change": change });
        let patch: Patch = serde_json::from_value(patch).unwrap();
        let (tasks, about) = (vec![played], "faster".to_owned());
        let begun =
            BegunTrial { patch: patch.clone(), about, tasks, left_out: Vec::new(), seed: 7, budget: BUDGET };
        let trial_id = world.kernel().begin_trial(&begun).unwrap();
        let evidence = ["parent", "successor"].map(|arm| {
            let case_sha256 = Digest::of(b"the case").to_string();
            let left = json!({ "case_sha256": case_sha256, "arm": arm, "tasks": [], "probes": [] });
            serde_json::from_value::<Evidence>(left).unwrap().bytes().unwrap()
        });
        let of = evidence.each_ref().map(|bytes| Digest::of(bytes).to_string());
        let verdict: Verdict = serde_json::from_value(json!({
            "trial_id": trial_id, "patch_sha256": Digest::of(&patch.bytes().unwrap()).to_string(), "kind": "model",
            "outcome": "better", "reasons": [], "measures": [], "planted": [{ "name": "bad", "refused": true }],
            "used": { "wall_ms": 1, "cpu_ms": 1, "memory_bytes": 1, "disk_bytes": 1, "tokens": 0 },
            "evaluator_sha256": world.adopting.evaluator.to_string(), "seed": 7, "evidence_sha256": of, "constitutional": [],
        }))
        .unwrap();
        world.kernel().end_trial(&verdict, &evidence).unwrap();
        let asked = AskedAdoption {
            trial_id: &trial_id,
            reviews: &[],
            although_same: false,
            signed: &[],
            looked: &[],
        };
        let submitted = world.kernel().propose_adoption(&asked, (Channel::App, format!("adopt {address}")));
        yes(world, &submitted.unwrap());
        trial_id
    }

    fn back(world: &World, key: &str) {
        let by = (Channel::App, key.to_owned());
        yes(world, &world.kernel().propose_return(Some(PatchKind::Model), "", by).unwrap());
    }

    /// Follows, and says so to the kernel's next look at the standard model.
    fn model(world: &World, home: &Home) -> Option<String> {
        follow(home, world.kernel()).unwrap();
        let model = Config::load(home).unwrap().default_model;
        world.adopting.model.lock().unwrap().clone_from(&model);
        model
    }

    #[test]
    fn the_standard_model_follows_what_is_adopted_and_each_way_back_also_where_two_came_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::find(Some(dir.path())).unwrap();
        let world = World::new(6_811);
        assert_eq!(model(&world, &home), None);
        let first = adopted(&world, "openai:http://127.0.0.1:1/v1#a");
        assert_eq!(model(&world, &home).as_deref(), Some("openai:http://127.0.0.1:1/v1#a"));
        assert_eq!(Config::load(&home).unwrap().adopted_model, Some(first));
        // What a person sets since is theirs: what is followed once is not followed again.
        Config::change(&home, |config| {
            config.default_model = Some("openai:http://127.0.0.1:1/v1#mine".to_owned());
            Ok(())
        })
        .unwrap();
        assert_eq!(model(&world, &home).as_deref(), Some("openai:http://127.0.0.1:1/v1#mine"));
        adopted(&world, "openai:http://127.0.0.1:1/v1#b");
        assert_eq!(model(&world, &home).as_deref(), Some("openai:http://127.0.0.1:1/v1#b"));
        back(&world, "one");
        back(&world, "two");
        assert_eq!(model(&world, &home), None, "what was before both");
        assert_eq!(Config::load(&home).unwrap().adopted_model, None);
        assert_eq!(Pointer::read(&home).unwrap(), None, "no program is pointed at");
    }
}
