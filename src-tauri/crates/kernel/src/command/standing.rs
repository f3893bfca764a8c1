//! A person's lasting yes: given, taken back, and looked up when a request is judged (governance.md 2).
//!
//! What counts is the signed envelope. It is read and verified each time it answers for a person, so a new approval
//! key, a revocation or an erasure ends it without anything else being told.

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::state::TaskState;
use crate::store::StoreState;
use crate::tx::Tx;
use crate::writeup::{NewArtifact, Scope, Writeup};
use acts::{Action, ActionRequest, ApprovalPacket};
use governance::Refusal;
use governance::standing::{InForce, covers, in_words, verify};
use ledger::Reader;
use model::approval::{Approval, Surface};
use model::artifact::{ArtifactKind, ArtifactRef};
use model::body::{KeyPurpose, StandingAllowed, StandingRevoked, StandingUsed};
use model::event::Actor;
use model::fault::Point;
use model::principal::PrincipalType;
use model::standing::{Cover, StandingGrant, StandingRef, StandingScope};
use model::task::Origin;
use model::{ActionRequestId, GrantId, PrincipalId, Sensitive, TaskId, UnixMs};
use seal::{Digest, PublicKey};

/// A signature older than this when it comes in is not believed to be about the store as it is.
const AGE_MS_MAX: i64 = 15 * 60 * 1000;

/// A standing grant as the store's own stream tells it.
#[derive(Debug, Clone)]
pub struct StandingRecord {
    /// The signed envelope.
    pub envelope: ArtifactRef,
    /// The key that signed it.
    pub keyid: Digest,
    /// Where it holds.
    pub scope: StandingScope,
    /// Until when.
    pub expires_at: UnixMs,
    /// How often.
    pub max_uses: u32,
    /// Where it was given.
    pub surface: Surface,
    /// Who gave it.
    pub decided_by: PrincipalId,
    /// In words; `None` when they were erased.
    pub words: Option<String>,
    /// Why it was taken back, when it was.
    pub revoked: Option<String>,
}

impl StandingRecord {
    /// As its event says.
    pub(crate) fn of(b: &StandingAllowed) -> Self {
        Self {
            envelope: b.envelope.clone(),
            keyid: b.keyid,
            scope: b.scope.clone(),
            expires_at: b.expires_at,
            max_uses: b.max_uses,
            surface: b.surface,
            decided_by: b.decided_by,
            words: b.words.shown().cloned(),
            revoked: None,
        }
    }

    /// Whether it was neither taken back nor is over.
    fn is_open(&self, now: UnixMs) -> bool {
        self.revoked.is_none() && now < self.expires_at
    }

    /// What was signed, read and verified anew; none when it does not hold any more, whatever the reason.
    fn signed(
        &self,
        grant_id: GrantId,
        artifacts: &artifacts::Store,
        (log_id, key): (&str, &PublicKey),
    ) -> Option<StandingGrant> {
        let envelope = artifacts.read(&self.envelope.sha256).ok()?;
        verify(&envelope, log_id, key).ok().filter(|grant| grant.grant_id == grant_id)
    }
}

/// The standing grants that answer in the runs of a schedule as it stands, in the order in which they do, each with the uses it
/// has had; for whoever looks at a store and acts in none.
///
/// # Errors
/// When the ledger cannot be read.
pub fn in_runs_of(
    (name, version): (&str, u32),
    store: &StoreState,
    (reader, artifacts): (&Reader, &artifacts::Store),
    now: UnixMs,
) -> Result<Vec<(StandingGrant, u32)>, Error> {
    let Some((_, key)) = store.keys.get(&KeyPurpose::Approval) else { return Ok(Vec::new()) };
    let of_these = |scope: &StandingScope| match scope {
        StandingScope::Schedule { name: of, version: in_version } => of == name && *in_version == version,
        _ => false,
    };
    let mut found = Vec::new();
    for (grant_id, record) in &store.standing {
        if record.is_open(now)
            && of_these(&record.scope)
            && let Some(grant) = record.signed(*grant_id, artifacts, (reader.log_id(), key))
        {
            found.push((grant, reader.grant_uses(*grant_id)?));
        }
    }
    found.sort_by_key(|(grant, _)| (reach(grant), grant.grant_id));
    Ok(found)
}

/// A standing grant that was read and verified just now.
pub(crate) struct Held {
    grant: StandingGrant,
    envelope_sha256: Digest,
    uses: u32,
}

impl Held {
    pub(crate) const fn in_force(&self) -> InForce<'_> {
        InForce { grant: &self.grant, envelope_sha256: self.envelope_sha256, uses: self.uses }
    }
}

impl Kernel {
    /// A standing grant that a person signed by itself, outside any question.
    ///
    /// # Errors
    /// [`Error::Refused`] when anything about the envelope does not hold; nothing is allowed then.
    pub fn allow_standing(&self, envelope: &[u8]) -> Result<GrantId, Error> {
        let grant = self.signed_standing(envelope)?;
        if grant.override_reason.is_some() {
            return Err(Error::Refused(Refusal::new(
                "override_act",
                "an override is about an act that policy has denied; hand it in with that",
            )));
        }
        if grant.given_at.is_some() {
            return Err(Error::Refused(Refusal::new(
                "standing_given_at",
                "this standing grant belongs to the answer of a question; hand both in together",
            )));
        }
        let actor = Actor { actor_type: PrincipalType::User, actor_id: grant.decided_by };
        let mut w = self.store_writeup(Point::ApprovalGrant, actor, grant.grant_id.to_string(), None)?;
        self.push_standing(&mut w, &grant, envelope)?;
        self.commit(w)?;
        Ok(grant.grant_id)
    }

    /// The standing grant that a person signed together with the answer to a question.
    pub(crate) fn standing_with(
        &self,
        envelope: &[u8],
        approval: &Approval,
        packet: &[u8],
    ) -> Result<StandingGrant, Error> {
        let no = |why: &str| Error::Refused(Refusal::new("standing_other", why));
        let grant = self.signed_standing(envelope)?;
        let here = grant.given_at.as_ref().is_some_and(|at| {
            at.approval_id == approval.approval_id && at.packet_sha256 == approval.approval_packet_sha256
        });
        if !here || grant.override_reason.is_some() {
            return Err(no("this standing grant was given at another question"));
        }
        let packet: ApprovalPacket = seal::canon::from_canonical(packet)?;
        if packet.policy_result.needs_two() {
            return Err(no("two different keys have to allow this each time; nothing lasting comes of it"));
        }
        covers(&grant, &packet.action_request)
            .map_err(|why| no(&format!("this standing grant does not cover what was asked: {why}")))?;
        Ok(grant)
    }

    /// Checks a signed standing grant that comes in: a person's, for this store, new, signed now.
    pub(crate) fn signed_standing(&self, envelope: &[u8]) -> Result<StandingGrant, Error> {
        let no = |code, why: String| Error::Refused(Refusal::new(code, why));
        let (_, key) = self.approval_key()?;
        let grant = verify(envelope, self.reader.log_id(), &key)?;
        self.person(grant.decided_by)?;
        let age = self.ports.clock.now().0.saturating_sub(grant.issued_at.0);
        if !(-AGE_MS_MAX..=AGE_MS_MAX).contains(&age) {
            return Err(no("standing_time", "it was signed at another time; sign it again".to_owned()));
        }
        let known = lock(&self.store).standing.contains_key(&grant.grant_id);
        if known || self.reader.grant_uses(grant.grant_id)? > 0 {
            return Err(no("standing_known", format!("`{}` was given already", grant.grant_id)));
        }
        Ok(grant)
    }

    /// Adds the events that say so, in the store's own stream, to whatever commit this is.
    pub(crate) fn push_standing(
        &self,
        w: &mut Writeup<'_>,
        grant: &StandingGrant,
        envelope: &[u8],
    ) -> Result<(), Error> {
        let before = w.scope;
        let task_id = lock(&self.store).system_task()?;
        w.scope = Scope { task_id, step_id: None, attempt_id: None, workspace_id: None };
        let at = w.artifact(envelope, NewArtifact::audit(ArtifactKind::ApprovalDecision));
        let keyid = lock(&self.store).keys.get(&KeyPurpose::Approval).map(|(keyid, _)| *keyid);
        let pushed = at.map(|envelope| {
            w.push_keyed(
                Some(format!("standing:{}", grant.grant_id)),
                StandingAllowed {
                    grant_id: grant.grant_id,
                    envelope,
                    keyid: keyid.unwrap_or(Digest::ZERO),
                    surface: grant.surface,
                    decided_by: grant.decided_by,
                    scope: grant.scope.clone(),
                    expires_at: grant.expires_at,
                    max_uses: grant.max_uses,
                    words: Sensitive::from(in_words(grant)),
                },
            );
        });
        w.scope = before;
        pushed
    }

    /// Takes a standing grant back. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`], and [`Error::Conflict`] when it was taken back already.
    pub fn revoke_standing(&self, grant_id: GrantId, reason: &str) -> Result<(), Error> {
        let record = lock(&self.store).standing.get(&grant_id).cloned();
        let record =
            record.ok_or_else(|| Error::NotFound { kind: "standing grant", id: grant_id.to_string() })?;
        if record.revoked.is_some() {
            return Err(Error::Conflict(format!("standing grant `{grant_id}` is revoked already")));
        }
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::DecisionRecord, actor, grant_id.to_string(), None)?;
        w.push_keyed(
            Some(format!("standing.revoke:{grant_id}")),
            StandingRevoked { grant_id, reason: Sensitive::from(reason.to_owned()) },
        );
        self.commit(w)?;
        Ok(())
    }

    /// Standing grants that may answer for a person in this task, the narrowest scope first. They answer only where a
    /// person gave the task: not for another program or a service. In a run of a schedule only those answer that name that
    /// schedule, as it stands. A message that goes out is a task of a service: those that name its chat answer in it. Anchors,
    /// whoever asks for them, are answered for by those that name their clock.
    pub(crate) fn standing_for(
        &self,
        state: &TaskState,
        request: &ActionRequest,
    ) -> Result<Vec<Held>, Error> {
        let is_message =
            matches!(request.action, Action::Message(_)) && state.task.origin() == Origin::Service;
        let is_anchor = matches!(request.action, Action::Anchor(_));
        let is_own = is_message || is_anchor;
        let schedule = state.task.scheduled_by.as_ref().filter(|_| state.task.origin() == Origin::Scheduler);
        if state.task.origin() != Origin::Person && schedule.is_none() && !is_own {
            return Ok(Vec::new());
        }
        let registry = self.schedule_registry();
        let here = |scope: &StandingScope| match (scope, schedule) {
            (scope, _) if is_own => matches!(scope, StandingScope::User),
            (StandingScope::Schedule { name, version }, Some(by)) => {
                let stands = registry.standing(name).is_some_and(|record| record.version == *version);
                stands && (&by.name, by.version) == (name, *version)
            }
            (StandingScope::Schedule { .. }, None) | (_, Some(_)) => false,
            (StandingScope::User, None) => true,
            (StandingScope::Project { workspace_id }, None) => {
                state.task.workspace_hint == Some(*workspace_id)
            }
            (StandingScope::Task { task_id }, None) => state.task.task_id == *task_id,
        };
        let now = self.ports.clock.now();
        let records: Vec<(GrantId, StandingRecord)> = {
            let store = lock(&self.store);
            let open = |r: &StandingRecord| r.is_open(now) && here(&r.scope);
            store.standing.iter().filter(|(_, r)| open(r)).map(|(id, r)| (*id, r.clone())).collect()
        };
        let mut held = Vec::new();
        for (grant_id, record) in records {
            held.extend(self.held(grant_id, &record)?);
        }
        held.retain(|one| match one.grant.cover {
            Cover::Chat { .. } => is_message,
            Cover::Anchor { .. } => is_anchor,
            _ => !is_own,
        });
        held.sort_by_key(|one| (reach(&one.grant), one.grant.grant_id));
        Ok(held)
    }

    /// How many messages to a chat standing grants answer for by now, without a question to the person.
    pub(super) fn messages_left(&self, gateway: &str, version: u32, chat: &str) -> Result<u32, Error> {
        self.uses_left(|cover| {
            matches!(cover, Cover::Chat { gateway: named, version: at, chat: to }
                if (named.as_str(), *at, to.as_str()) == (gateway, version, chat))
        })
    }

    /// How many further askings of this clock standing grants answer for by now, without a question to the person.
    pub(super) fn anchors_left(&self, asked: &acts::Anchor) -> Result<u32, Error> {
        if asked.costs() {
            return Ok(0);
        }
        let asked_hosts = asked.hosts().unwrap_or_default();
        self.uses_left(|cover| {
            matches!(cover, Cover::Anchor { clock, hosts }
                if *clock == asked.clock && asked_hosts.iter().all(|host| hosts.contains(host)))
        })
    }

    /// How many further uses the person's grants that are in force everywhere have, of those with such a cover.
    fn uses_left(&self, is_meant: impl Fn(&Cover) -> bool) -> Result<u32, Error> {
        let now = self.ports.clock.now();
        let records: Vec<(GrantId, StandingRecord)> = {
            let store = lock(&self.store);
            let open = |r: &StandingRecord| r.is_open(now) && matches!(r.scope, StandingScope::User);
            store.standing.iter().filter(|(_, r)| open(r)).map(|(id, r)| (*id, r.clone())).collect()
        };
        let mut left = 0_u32;
        for (grant_id, record) in records {
            if let Some(held) = self.held(grant_id, &record)?.filter(|held| is_meant(&held.grant.cover)) {
                left = left.saturating_add(held.grant.max_uses.saturating_sub(held.uses));
            }
        }
        Ok(left)
    }

    /// Reads one anew; nothing when it does not hold any more, whatever the reason.
    fn held(&self, grant_id: GrantId, record: &StandingRecord) -> Result<Option<Held>, Error> {
        let Some((_, key)) = lock(&self.store).keys.get(&KeyPurpose::Approval).cloned() else {
            return Ok(None);
        };
        let Some(grant) = record.signed(grant_id, &self.artifacts, (self.reader.log_id(), &key)) else {
            return Ok(None);
        };
        let uses = self.reader.grant_uses(grant_id)?;
        Ok(Some(Held { grant, envelope_sha256: record.envelope.sha256, uses }))
    }

    /// The standing grant that policy named, as it is now.
    ///
    /// # Errors
    /// [`Error::Refused`] when it was taken back meanwhile.
    pub(crate) fn standing_named(&self, named: &StandingRef) -> Result<Held, Error> {
        let record = lock(&self.store).standing.get(&named.grant_id).cloned();
        let held = match record.filter(|r| r.revoked.is_none()) {
            Some(record) => self.held(named.grant_id, &record)?,
            None => None,
        };
        held.ok_or_else(|| {
            let why = format!("standing grant `{}` does not hold any more", named.grant_id);
            Error::Refused(Refusal::new("standing_gone", why))
        })
    }

    /// Whether what policy named holds still, so that a yes which rests on it can be used.
    pub(crate) fn still_holds(&self, named: &StandingRef, now: UnixMs) -> bool {
        self.standing_named(named)
            .is_ok_and(|held| held.uses < held.grant.max_uses && now < held.grant.expires_at)
    }

    /// Whether it answers once more, beside the uses of it that this transaction counts already.
    pub(crate) fn answers_again(&self, tx: &Tx<'_>, named: &StandingRef) -> bool {
        let uses = |held: &Held| held.uses.saturating_add(tx.uses_of(named.grant_id));
        self.standing_named(named).is_ok_and(|held| uses(&held) < held.grant.max_uses)
    }

    /// Counts one use of it with the dispatch, in the task's own stream, the envelope beside it: whoever has the task
    /// has what a person signed. The commit fails when the store's stream has moved since, so a revocation is never
    /// overtaken.
    pub(crate) fn use_standing(
        &self,
        tx: &mut Tx<'_>,
        held: &Held,
        action_request_id: ActionRequestId,
    ) -> Result<(), Error> {
        let bytes = self.artifacts.read(&held.envelope_sha256)?;
        let new = NewArtifact::audit(ArtifactKind::ApprovalDecision);
        let envelope = tx.artifact_of(held.envelope_sha256, bytes.len() as u64, new);
        let StandingGrant { grant_id, max_uses, .. } = held.grant;
        let use_no = held.uses.saturating_add(tx.uses_of(grant_id)).saturating_add(1);
        tx.push(StandingUsed { grant_id, action_request_id, envelope, use_no, max_uses });
        tx.writeup().batch.consume.push((grant_id, max_uses));
        let (system, seq) = {
            let store = lock(&self.store);
            (store.system_task()?, store.seq)
        };
        tx.writeup().batch.expect.push((system, seq));
        Ok(())
    }

    /// Whether the standing grant behind a grant was taken back.
    pub(crate) fn is_standing_revoked(&self, named: Option<&StandingRef>) -> bool {
        let store = lock(&self.store);
        let gone = |at: &StandingRef| store.standing.get(&at.grant_id).is_none_or(|r| r.revoked.is_some());
        named.is_some_and(gone)
    }
}

/// How far one reaches: the narrower answers first.
const fn reach(grant: &StandingGrant) -> (u8, u8) {
    let scope = match grant.scope {
        StandingScope::Task { .. } | StandingScope::Schedule { .. } => 0,
        StandingScope::Project { .. } => 1,
        StandingScope::User => 2,
    };
    let cover = match grant.cover {
        Cover::Command { whole: true, .. } | Cover::Act { .. } => 0,
        Cover::Command { whole: false, .. }
        | Cover::Paths { .. }
        | Cover::Host { .. }
        | Cover::Chat { .. }
        | Cover::Anchor { .. } => 1,
    };
    (scope, cover)
}

/// Whether a failed commit means that a standing grant does not answer any more, so that the request is judged anew.
pub(crate) fn is_overtaken(error: &Error, system: Option<TaskId>) -> bool {
    match error {
        Error::Ledger(ledger::Error::GrantSpent { .. }) => true,
        Error::Ledger(ledger::Error::Moved { task, .. }) => Some(*task) == system,
        Error::Refused(refusal) => refusal.code.starts_with("standing_"),
        _ => false,
    }
}
