//! The history of acts, put before other rules (governance.md 1).
//!
//! Everything a question of policy was made of is in the log or named by it: the request, the context the proposer
//! had, the step's contract, the profile. So another rule can be asked the same question.

use crate::convert::text;
use crate::stands::Flow;
use crate::{Host, Wire as _, fold};
use acts::ActionRequest;
use governance::standing::InForce;
use governance::{PolicyEngine, Question};
use ledger::Reader;
use model::action::ActionClass;
use model::artifact::{ArtifactKind, ArtifactRef};
use model::context::ContextPack;
use model::policy::{PolicyResult, Profile, Verdict};
use model::receipt::SandboxLevel;
use model::standing::{StandingGrant, StandingScope};
use model::task::StepContract;
use model::{
    ActionRequestId, ApprovalId, ArtifactId, AttemptId, Body, Digest, Event, StepId, TaskId, UnixMs,
};
use std::collections::BTreeMap;
use wire::grants::{Past, Rehearsed};
use wire::policy::{Backtested, Changed, Turn};
use wire::{Code, Error};
use words::policy::ApprovalStatus;

/// Events read at once.
const STRIDE: usize = 1_000;
/// The rule that denies a command on a machine without walls; it tells how the machine was.
const NO_WALLS: &str = "walls.confined";

/// A question that policy was asked, and what became of it.
pub(crate) struct Asked {
    pub(crate) task_id: TaskId,
    pub(crate) at: UnixMs,
    request: ArtifactRef,
    result: ArtifactRef,
    pub(crate) summary: model::Sensitive<String>,
    pack: Option<Digest>,
    contract: Option<Digest>,
    /// Whether a person answered, and how.
    pub(crate) answered: Option<ApprovalStatus>,
}

/// Every question of the log, the oldest first; of one act the last one that policy was asked.
#[derive(Default)]
pub(crate) struct History {
    asked: BTreeMap<ActionRequestId, Asked>,
    order: Vec<ActionRequestId>,
    requests: BTreeMap<ActionRequestId, (ArtifactRef, model::Sensitive<String>)>,
    packs: BTreeMap<AttemptId, Digest>,
    contracts: BTreeMap<StepId, Digest>,
    contract_bytes: BTreeMap<ArtifactId, Digest>,
    approvals: BTreeMap<ApprovalId, ActionRequestId>,
    /// The schedule that began a task, where one did.
    schedules: BTreeMap<TaskId, String>,
}

impl History {
    /// Reads the whole log.
    pub(crate) fn read(host: &dyn Host, reader: &Reader) -> Result<Self, Error> {
        let total = reader.log_head().wire()?;
        let mut history = Self::default();
        let mut after = 0;
        loop {
            let events = reader.log(after, STRIDE).wire()?;
            let Some(last) = events.last() else { return Ok(history) };
            after = last.log_seq;
            for stored in &events {
                history.take(reader, &stored.event().wire()?)?;
            }
            if host.progress("reading history", after, total) == Flow::Stop {
                return Err(Error::new(Code::Cancelled, "stopped before all of history was judged"));
            }
        }
    }

    /// Reads what these tasks asked, and nothing else of the log.
    pub(crate) fn of(reader: &Reader, tasks: impl IntoIterator<Item = TaskId>) -> Result<Self, Error> {
        let mut history = Self::default();
        for task in tasks {
            let mut after = 0;
            loop {
                let events = reader.events(task, after, STRIDE).wire()?;
                let Some(last) = events.last() else { break };
                after = last.task_seq;
                for stored in &events {
                    history.take(reader, &stored.event().wire()?)?;
                }
            }
        }
        Ok(history)
    }

    fn take(&mut self, reader: &Reader, event: &Event) -> Result<(), Error> {
        let speaks = matches!(
            event.event_type.as_str(),
            "artifact.created"
                | "task.created"
                | "step.created"
                | "attempt.context_compiled"
                | "action.requested"
                | "policy.evaluated"
                | "approval.requested"
                | "approval.granted"
                | "approval.denied"
        );
        if !speaks {
            return Ok(());
        }
        match fold::body(reader, event)? {
            Body::ArtifactCreated(b) if b.artifact.kind == ArtifactKind::StepContract => {
                self.contract_bytes.insert(b.artifact.artifact_id, b.artifact.content_hash);
            }
            Body::TaskCreated(b) => {
                self.schedules.extend(b.task.scheduled_by.map(|by| (b.task.task_id, by.name)));
            }
            Body::StepCreated(b) => {
                if let Some(digest) = self.contract_bytes.get(&b.step.contract_ref) {
                    self.contracts.insert(b.step.step_id, *digest);
                }
            }
            Body::ContextCompiled(b) => drop(self.packs.insert(b.about_attempt_id, b.pack.sha256)),
            Body::ActionRequested(b) => {
                self.requests.insert(b.action_request_id, (b.request, b.summary));
            }
            Body::PolicyEvaluated(b) => self.put(event, b.action_request_id, b.result),
            Body::ApprovalRequested(b) => {
                self.approvals.insert(b.approval.approval_id, b.action_request_id);
            }
            Body::ApprovalGranted(b) => self.answer(b.approval_id, ApprovalStatus::Granted),
            Body::ApprovalDenied(b) => self.answer(b.approval_id, ApprovalStatus::Denied),
            _ => {}
        }
        Ok(())
    }

    fn put(&mut self, event: &Event, id: ActionRequestId, result: ArtifactRef) {
        let Some((request, summary)) = self.requests.get(&id).cloned() else { return };
        let asked = Asked {
            task_id: event.task_id,
            at: event.occurred_at,
            request,
            result,
            summary,
            pack: event.attempt_id.and_then(|attempt| self.packs.get(&attempt).copied()),
            contract: event.step_id.and_then(|step| self.contracts.get(&step).copied()),
            answered: None,
        };
        if self.asked.insert(id, asked).is_none() {
            self.order.push(id);
        }
    }

    fn answer(&mut self, approval: ApprovalId, how: ApprovalStatus) {
        let asked = self.approvals.get(&approval).and_then(|id| self.asked.get_mut(id));
        if let Some(asked) = asked {
            asked.answered = Some(how);
        }
    }

    /// Every question of the log with its request and what policy said, the oldest first; what is gone is left out.
    pub(crate) fn all<'h>(
        &'h self,
        store: &'h artifacts::Store,
    ) -> impl Iterator<Item = (&'h Asked, ActionRequest, PolicyResult)> + 'h {
        let asked = self.order.iter().filter_map(|id| self.asked.get(id));
        asked.filter_map(|asked| {
            let request = object(store, asked.request.sha256).ok()?;
            Some((asked, request, object(store, asked.result.sha256).ok()?))
        })
    }

    /// Every question, the oldest first of those that were read first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (ActionRequestId, &Asked)> {
        self.order.iter().filter_map(|id| Some((*id, self.asked.get(id)?)))
    }

    /// Every question since a time.
    pub(crate) fn since(&self, since: i64) -> impl Iterator<Item = &Asked> {
        self.asked.values().filter(move |asked| asked.at.0 >= since)
    }

    /// One question of the log.
    pub(crate) fn find(&self, id: ActionRequestId) -> Option<&Asked> {
        self.asked.get(&id)
    }
}

/// What policy said, and what the engine says to the same question.
pub(crate) struct Again {
    pub(crate) was: PolicyResult,
    pub(crate) would: PolicyResult,
    /// Whether it is what a person chose of another act: no standing grant answers that.
    pub(crate) is_part: bool,
}

impl Asked {
    /// Asks again, under the act's own profile or another one, as if these standing grants had been in force.
    ///
    /// # Errors
    /// When what the question was made of is not there any more.
    pub(crate) fn again(
        &self,
        store: &artifacts::Store,
        engine: &PolicyEngine,
        profile: Option<Profile>,
        standing: &[StandingGrant],
    ) -> Result<Again, Error> {
        let was: PolicyResult = object(store, self.result.sha256)?;
        let request: ActionRequest = object(store, self.request.sha256)?;
        let untrusted = match self.pack {
            Some(pack) => knowledge::pack::holds_untrusted(&object::<ContextPack>(store, pack)?),
            None => false,
        };
        let steps_allowed: Vec<ActionClass> = match self.contract {
            Some(contract) => object::<StepContract>(store, contract)?.allowed_action_classes,
            None => Vec::new(),
        };
        let without_walls = was.determining_rules.iter().any(|rule| rule == NO_WALLS);
        let is_part = request.instead_of.as_ref().is_some_and(|instead| instead.mode == governance::PART);
        let then = |grant: &StandingGrant| StandingGrant {
            issued_at: was.evaluated_at,
            expires_at: was.evaluated_at.plus_ms(1),
            ..grant.clone()
        };
        let standing: Vec<StandingGrant> = standing.iter().filter(|_| !is_part).map(then).collect();
        let held: Vec<InForce<'_>> =
            standing.iter().map(|grant| InForce { grant, envelope_sha256: Digest::ZERO, uses: 0 }).collect();
        let would = engine.evaluate(&Question {
            request: &request,
            request_sha256: self.request.sha256,
            profile: profile.unwrap_or(was.policy_profile),
            sandbox: match without_walls {
                true => SandboxLevel::Unconfined,
                false => SandboxLevel::NamespacesLandlock,
            },
            allow_unconfined: false,
            approved_packet: None,
            packet: None,
            untrusted_in_context: untrusted,
            steps_allowed: &steps_allowed,
            standing: &held,
            policy_result_id: was.policy_result_id,
            now: was.evaluated_at,
        });
        Ok(Again { was, would, is_part })
    }
}

/// A stored object, whose bytes are those of its digest.
pub(crate) fn object<T: serde::de::DeserializeOwned>(
    store: &artifacts::Store,
    digest: Digest,
) -> Result<T, Error> {
    let bytes = store.read(&digest).wire()?;
    serde_json::from_slice(&bytes).map_err(crate::failed)
}

/// What history is put before.
pub(crate) struct Before<'e> {
    /// The rules in force, whose answers are compared; without them, what was answered then.
    pub(crate) now: Option<&'e PolicyEngine>,
    /// Other rules.
    pub(crate) engine: &'e PolicyEngine,
    /// Another profile for all of it.
    pub(crate) profile: Option<Profile>,
    /// Only what was asked since.
    pub(crate) since: Option<i64>,
}

impl Before<'_> {
    /// What is said to a question, and what would be.
    fn ask(&self, asked: &Asked, store: &artifacts::Store) -> Result<Again, Error> {
        let mut again = asked.again(store, self.engine, self.profile, &[])?;
        if let Some(now) = self.now {
            again.was = asked.again(store, now, self.profile, &[])?.would;
        }
        Ok(again)
    }
}

/// All of it, counted.
pub(crate) fn count(
    history: &History,
    store: &artifacts::Store,
    before: &Before<'_>,
    rows_max: usize,
) -> Backtested {
    let mut found = Backtested { judged: 0, changed: 0, unreadable: 0, counts: Vec::new(), rows: Vec::new() };
    let mut turns: BTreeMap<(Verdict, Verdict), Turn> = BTreeMap::new();
    for id in history.order.iter().rev() {
        let Some(asked) =
            history.find(*id).filter(|asked| before.since.is_none_or(|since| asked.at.0 >= since))
        else {
            continue;
        };
        let Ok(again) = before.ask(asked, store) else {
            found.unreadable = found.unreadable.saturating_add(1);
            continue;
        };
        found.judged = found.judged.saturating_add(1);
        let (was, would) = (again.was.verdict, again.would.verdict);
        let turn =
            turns.entry((was, would)).or_insert_with(|| Turn { was, would, acts: 0, allowed: 0, refused: 0 });
        turn.acts = turn.acts.saturating_add(1);
        turn.allowed =
            turn.allowed.saturating_add(u64::from(asked.answered == Some(ApprovalStatus::Granted)));
        turn.refused = turn.refused.saturating_add(u64::from(asked.answered == Some(ApprovalStatus::Denied)));
        if was == would {
            continue;
        }
        found.changed = found.changed.saturating_add(1);
        if found.rows.len() < rows_max {
            found.rows.push(Changed {
                action_request_id: id.to_string(),
                task_id: asked.task_id.to_string(),
                at: asked.at.0,
                class: again.was.action_classes.first().copied(),
                summary: text(&asked.summary),
                was,
                would,
                rules: again.would.determining_rules,
                answered: asked.answered,
            });
        }
    }
    found.counts = turns.into_values().collect();
    found
}

/// The questions of the past that a standing grant would have answered.
pub(crate) fn rehearse(
    history: &History,
    store: &artifacts::Store,
    engine: &PolicyEngine,
    grant: &StandingGrant,
    rows_max: usize,
) -> Rehearsed {
    let mut found = Rehearsed { answered: 0, refused: 0, questions: 0, rows: Vec::new() };
    for id in history.order.iter().rev() {
        let Some(asked) = history.find(*id) else { continue };
        // A request does not say which schedule began its task.
        let elsewhere = matches!(&grant.scope, StandingScope::Schedule { name, .. } if history.schedules.get(&asked.task_id) != Some(name));
        if elsewhere {
            continue;
        }
        // What was answered by another standing grant is no question that a person was asked.
        let Ok(again) = asked.again(store, engine, None, std::slice::from_ref(grant)) else { continue };
        if again.was.verdict != Verdict::RequireApproval {
            continue;
        }
        found.questions = found.questions.saturating_add(1);
        if again.would.standing.is_none() {
            continue;
        }
        found.answered = found.answered.saturating_add(1);
        found.refused =
            found.refused.saturating_add(u64::from(asked.answered == Some(ApprovalStatus::Denied)));
        if found.rows.len() < rows_max {
            found.rows.push(Past {
                action_request_id: id.to_string(),
                task_id: asked.task_id.to_string(),
                at: asked.at.0,
                summary: text(&asked.summary),
                answered: asked.answered,
            });
        }
    }
    found
}
