//! Passkeys: enrolled under the approval key, used for a yes, revoked (schedule.md 4).
//!
//! What counts is what the approval key signed. It is read and verified each time a passkey answers, so a new approval key, a
//! revocation or an erasure ends the passkey without anything else being told.

use super::approve::{Answered, By, TRIES};
use super::dual::{self, SignedYes};
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::passkey_registry::PasskeyRecord;
use crate::writeup::{NewArtifact, Scope, Writeup};
use acts::{Action, ApprovalPacket, Register};
use governance::Refusal;
use governance::approval::{COUNTER, Passkey, passkey, verify_by_passkey};
use model::approval::ApprovalStatus;
use model::artifact::{ArtifactKind, ArtifactRef};
use model::body::{KeyPurpose, PasskeyEnrolled, PasskeyRefused, PasskeyRevoked, PasskeyUsed};
use model::event::Actor;
use model::fault::Point;
use model::passkey::{MESH_ORIGIN, PasskeyEnrolment, SECURITY_KEY_ORIGIN};
use model::principal::PrincipalType;
use model::{ApprovalId, Digest, Sensitive, TaskId, UnixMs};
use seal::PublicKey;
use seal::webauthn::{Signed, base64url};

/// An enrolment older than this when it comes in is not believed to be about the store as it is.
const AGE_MS_MAX: i64 = 15 * 60 * 1000;
/// Passkeys that may say yes at the same time.
const PASSKEYS_MAX: usize = 32;
/// Characters of a name.
const NAME_MAX: usize = 80;
/// Ways in which a passkey is reached, and the length of one.
const TRANSPORTS_MAX: (usize, usize) = (8, 32);

/// A passkey that was read and verified just now.
pub(super) struct Held {
    pub(super) passkey: Passkey,
    pub(super) record: PasskeyRecord,
    /// The store's own stream as it was then; the yes is committed only if it is still so.
    pub(super) seen: (TaskId, u64),
}

impl Kernel {
    /// Lets a passkey say yes, as the approval key signed; its name, the SHA-256 of its key.
    ///
    /// # Errors
    /// [`Error::Refused`] when anything about the envelope does not hold; [`Error::Conflict`] for a passkey that is known, and
    /// when there are too many; [`Error::Input`] for a name that cannot be one.
    pub fn enrol_passkey(&self, envelope: &[u8], name: &str, transports: &[String]) -> Result<Digest, Error> {
        let (keyid, key) = self.approval_key()?;
        let Passkey { enrolment, credential } = passkey(envelope, self.reader.log_id(), &key)?;
        self.person(enrolment.enrolled_by)?;
        let age = self.ports.clock.now().0.saturating_sub(enrolment.enrolled_at.0);
        if !(-AGE_MS_MAX..=AGE_MS_MAX).contains(&age) {
            let why = "this enrolment was signed at another time; enrol the passkey again";
            return Err(Error::Refused(Refusal::new("passkey_time", why)));
        }
        let name = called(name)?;
        reached(transports)?;
        let id = credential.key.keyid();
        self.is_new(id, &enrolment, keyid)?;
        let actor = Actor { actor_type: PrincipalType::User, actor_id: enrolment.enrolled_by };
        let mut w = self.store_writeup(Point::KeyRegister, actor, id.to_string(), None)?;
        let at = w.artifact(envelope, NewArtifact::audit(ArtifactKind::ApprovalDecision))?;
        w.push_keyed(
            Some(format!("passkey:{id}:{keyid}{}", again(&enrolment.origin, enrolment.enrolled_at))),
            PasskeyEnrolled {
                passkey: id,
                enrolment: at,
                keyid,
                credential_id: enrolment.credential_id,
                public_key: enrolment.public_key,
                rp_id: enrolment.rp_id,
                origin: enrolment.origin,
                counter: credential.said.counter,
                backed_up: credential.said.is_backed_up,
                transports: transports.to_vec(),
                name: Sensitive::from(name),
                enrolled_by: enrolment.enrolled_by,
                enrolled_at: enrolment.enrolled_at,
            },
        );
        self.commit(w)?;
        self.vouch_for_keys();
        Ok(id)
    }

    /// Revokes a passkey: it says yes no more. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`], and [`Error::Conflict`] when it was revoked already.
    pub fn revoke_passkey(&self, id: Digest, reason: &str) -> Result<(), Error> {
        let record = lock(&self.store).passkeys.get(id).cloned();
        let record = record.ok_or_else(|| Error::NotFound { kind: "passkey", id: id.to_string() })?;
        if record.revoked_at.is_some() {
            return Err(Error::Conflict("this passkey is revoked already".to_owned()));
        }
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::KeyRevoke, actor, id.to_string(), None)?;
        let revoked_at = w.now;
        w.push_keyed(
            Some(format!(
                "passkey.revoke:{id}:{}{}",
                record.keyid,
                again(&record.origin, record.enrolled_at)
            )),
            PasskeyRevoked { passkey: id, revoked_at, reason: Sensitive::from(reason.to_owned()) },
        );
        self.commit(w)?;
        self.vouch_for_keys();
        Ok(())
    }

    /// A yes that a passkey signed, once.
    ///
    /// # Errors
    /// [`Error::Refused`] when anything about it does not hold; the approval stays as it is.
    pub fn decide_approval_by_passkey(
        &self,
        task_id: TaskId,
        approval_id: ApprovalId,
        signed: &[u8],
    ) -> Result<Answered, Error> {
        for _ in 1..TRIES {
            match self.decide_once_by_passkey(task_id, approval_id, signed) {
                Err(Error::Ledger(ledger::Error::Moved { .. })) => {}
                other => return other,
            }
        }
        self.decide_once_by_passkey(task_id, approval_id, signed)
    }

    fn decide_once_by_passkey(
        &self,
        task_id: TaskId,
        approval_id: ApprovalId,
        signed: &[u8],
    ) -> Result<Answered, Error> {
        let cell = self.cell(task_id)?;
        let state = self.lock_task(&cell)?;
        let (approval, packet) = match self.asked(&state, approval_id)? {
            Ok(asked) => asked,
            Err(late) => return Ok(late),
        };
        if let Some(again) = dual::again(&state, (task_id, approval_id), signed) {
            return Ok(again);
        }
        let Held { passkey, record, seen } = self.held_passkey(signed)?;
        if record.origin == MESH_ORIGIN && puts_another_in_place(&packet)? {
            let why =
                "whether another Hermit takes the place of this one is answered here, not at another machine";
            return Err(self.refused_passkey(&record, approval_id, Refusal::new("passkey_elsewhere", why)));
        }
        let now = self.now_of(&state);
        let (decision, said) = match verify_by_passkey(
            signed,
            (&approval, packet.as_slice()),
            (&passkey, record.counter),
            now,
        ) {
            Err(refusal) => return Err(self.refused_passkey(&record, approval_id, refusal)),
            Ok(found) => found,
        };
        let actor = self.decider(&decision)?;
        let counts = self.counts(&state, approval_id, record.passkey)?;
        let mut tx = self.tx(&cell, state, Point::ApprovalGrant, actor);
        let made_of = [approval.approval_packet_ref];
        let at = tx.artifact(signed, NewArtifact::audit(ArtifactKind::ApprovalDecision).from(made_of))?;
        // Whoever has the task has what lets the passkey say yes.
        let bytes = self.artifacts.read(&record.enrolment.sha256)?;
        let new = NewArtifact::audit(ArtifactKind::ApprovalDecision);
        let enrolment = tx.artifact_of(record.enrolment.sha256, bytes.len() as u64, new);
        let (keyid, passkey) = (record.passkey, Some(enrolment));
        let yes = SignedYes { decision: &decision, envelope: at.clone(), keyid, passkey };
        let status = counts.push(&mut tx, yes);
        if status == ApprovalStatus::Granted {
            let elsewhere = at_machine(record.name.as_deref());
            let by = match record.origin.as_str() {
                SECURITY_KEY_ORIGIN => By::With("a security key"),
                MESH_ORIGIN => By::Elsewhere(&elsewhere),
                _ => By::With("a passkey"),
            };
            self.resolution_receipt(&mut tx, &approval, &decision, Some(at), by)?;
        }
        let used_at = tx.now();
        let (passkey, counter, backed_up) = (record.passkey, said.counter, said.is_backed_up);
        let used = PasskeyUsed { passkey, approval_id, counter, backed_up, used_at };
        push_used(tx.writeup(), seen, used);
        tx.commit()?;
        Ok(Answered::Accepted { status, task_id })
    }

    /// The passkey that signed, read and verified anew.
    pub(super) fn held_passkey(&self, signed: &[u8]) -> Result<Held, Error> {
        let no = |code, why: &str| Error::Refused(Refusal::new(code, why));
        let unreadable = |e: seal::Error| Refusal::new("decision_unreadable", e.to_string());
        let credential_id = base64url(&Signed::parse(signed).map_err(unreadable)?.webauthn.credential_id);
        let (keyid, key) = self.approval_key()?;
        let (record, seen) = {
            let store = lock(&self.store);
            let record = store.passkeys.called(&credential_id, keyid).cloned();
            (record, (store.system_task()?, store.seq))
        };
        let unknown = || no("passkey_unknown", "this passkey is not enrolled here");
        let record = record.ok_or_else(unknown)?;
        if record.revoked_at.is_some() {
            return Err(no(
                "passkey_revoked",
                "this passkey is revoked; use another one, or the approval key",
            ));
        }
        if record.keyid != keyid {
            let why = "the approval key was replaced since this passkey was enrolled; enrol it again";
            return Err(no("passkey_enrolment", why));
        }
        let passkey = self.enrolled_passkey(&record.enrolment, &key)?;
        if passkey.credential.key.keyid() != record.passkey {
            return Err(unknown());
        }
        Ok(Held { passkey, record, seen })
    }

    /// The refusal, which is on record where it may mean a copy of the passkey.
    fn refused_passkey(&self, record: &PasskeyRecord, approval_id: ApprovalId, refusal: Refusal) -> Error {
        if refusal.code != COUNTER {
            return Error::Refused(refusal);
        }
        let noted = self.actor(PrincipalType::System).and_then(|actor| {
            let mut w = self.store_writeup(Point::ApprovalDeny, actor, approval_id.to_string(), None)?;
            w.push(PasskeyRefused { passkey: record.passkey, approval_id, counter: record.counter });
            self.commit(w)
        });
        match noted {
            Ok(_) => Error::Refused(refusal),
            Err(error) => error,
        }
    }

    /// What lets a passkey say yes, read and verified anew.
    pub(crate) fn enrolled_passkey(
        &self,
        enrolment: &ArtifactRef,
        key: &PublicKey,
    ) -> Result<Passkey, Error> {
        Ok(passkey(&self.artifacts.read(&enrolment.sha256)?, self.reader.log_id(), key)?)
    }

    /// The approval key in force.
    pub(crate) fn approval_key(&self) -> Result<(Digest, PublicKey), Error> {
        lock(&self.store).keys.get(&KeyPurpose::Approval).copied().ok_or(Error::KeyLocked("approval"))
    }

    /// Whether a passkey may say yes at this origin.
    pub(super) fn has_passkey_at(&self, origin: &str) -> bool {
        let store = lock(&self.store);
        let key = store.keys.get(&KeyPurpose::Approval);
        key.is_some_and(|(keyid, _)| store.passkeys.in_force(*keyid).any(|one| one.origin == origin))
    }

    /// Whether there is room for it, and neither it nor its identifier is known under this approval key.
    fn is_new(&self, id: Digest, new: &PasskeyEnrolment, keyid: Digest) -> Result<(), Error> {
        let store = lock(&self.store);
        // The key of a machine stays with it, and counts on: what a person took away they may give again.
        let is_again = |known: &PasskeyRecord| {
            known.revoked_at.is_some() && known.origin == MESH_ORIGIN && new.origin == MESH_ORIGIN
        };
        let is_known = store.passkeys.get(id).is_some_and(|known| known.keyid == keyid && !is_again(known))
            || store.passkeys.in_force(keyid).any(|known| known.credential_id == new.credential_id);
        if is_known {
            return Err(Error::Conflict("this passkey was enrolled already; make a new one".to_owned()));
        }
        if store.passkeys.in_force(keyid).count() >= PASSKEYS_MAX {
            let why = format!("there are {PASSKEYS_MAX} passkeys already; revoke one that you do not use");
            return Err(Error::Conflict(why));
        }
        Ok(())
    }
}

/// Adds what says so in the store's own stream; the commit fails when that stream has moved since, so that neither a
/// revocation nor another count is overtaken.
fn push_used(w: &mut Writeup<'_>, seen: (TaskId, u64), used: PasskeyUsed) {
    let before = w.scope;
    w.scope = Scope { task_id: seen.0, step_id: None, attempt_id: None, workspace_id: None };
    w.push(used);
    w.scope = before;
    w.batch.expect.push(seen);
}

/// What tells one enrolment of a machine's key from another, which may follow.
fn again(origin: &str, enrolled_at: UnixMs) -> String {
    if origin == MESH_ORIGIN { format!(":{}", enrolled_at.0) } else { String::new() }
}

/// Where a person was who answered at another machine; without a name where that was erased.
pub(super) fn at_machine(name: Option<&str>) -> String {
    name.map_or_else(|| "at another machine".to_owned(), |name| format!("at another machine ({name})"))
}

/// What a person calls a passkey.
fn called(name: &str) -> Result<String, Error> {
    let name = name.trim();
    let fits = (1..=NAME_MAX).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if fits {
        Ok(name.to_owned())
    } else {
        Err(Error::Input(format!("give the passkey a name of 1 to {NAME_MAX} characters, in one line")))
    }
}

/// Whether a browser can have told these ways.
fn reached(transports: &[String]) -> Result<(), Error> {
    let (most, longest) = TRANSPORTS_MAX;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let fits = |way: &String| (1..=longest).contains(&way.len()) && way.bytes().all(plain);
    if transports.len() <= most && transports.iter().all(fits) {
        Ok(())
    } else {
        Err(Error::Input("the ways in which the passkey is reached cannot be read".to_owned()))
    }
}

/// Whether a question is about adopting a change of Hermit itself (successor.md 5): another machine's yes is no person's card here.
pub(super) fn puts_another_in_place(packet: &[u8]) -> Result<bool, Error> {
    let packet: ApprovalPacket = seal::canon::from_canonical(packet)?;
    Ok(matches!(packet.action_request.action, Action::Register(Register::Adopt { .. })))
}
