//! A yes that a passkey signed: let by the approval key, of a person who was verified, at its origin, counted on.

use super::Check;
use crate::container::Stop;
use crate::facts::DecisionFact;
use model::approval::{Choice, DECISION_PAYLOAD_TYPE, Surface};
use model::passkey::{
    MESH_ORIGIN, PASSKEY_FORMAT, PASSKEY_PAYLOAD_TYPE, PasskeyEnrolment, SECURITY_KEY_ORIGIN,
};
use seal::Digest;
use seal::webauthn::{self, Enrolled, PasskeyKey, Said, Signed};

/// What is known of a passkey that said yes.
pub(super) struct Seen {
    origin: String,
    /// What its authenticator said last.
    said: Said,
    decisions: u64,
}

impl Seen {
    /// What is proven of its decisions, and what the authenticator said of presence, verification and copies.
    pub(super) fn in_words(&self) -> String {
        let decisions = match self.decisions {
            1 => "1 decision of a person is".to_owned(),
            many => format!("{many} decisions of a person are"),
        };
        let exactly = "for exactly the packet, scope and nonce that were asked";
        if self.origin == MESH_ORIGIN {
            return format!(
                "{decisions} signed by the approval key of another machine, which the approval key lets say yes, {exactly}: that machine says that whoever answered opened the key for it"
            );
        }
        let copies = match (self.said.is_backup_eligible, self.said.is_backed_up) {
            (false, _) => "stays on its device",
            (true, false) => "may be copied to other devices of its owner",
            (true, true) => "was copied to other devices of its owner",
        };
        let by = match self.origin.as_str() {
            SECURITY_KEY_ORIGIN => {
                "a security key that the approval key lets say yes, asked by no page".to_owned()
            }
            origin => format!("a passkey that the approval key lets say yes, at {origin}"),
        };
        format!(
            "{decisions} signed by {by}, {exactly}: its authenticator says that somebody was present and verified, and that the passkey {copies}"
        )
    }
}

impl Check<'_> {
    pub(super) fn decision_by_passkey(
        &mut self,
        place: &str,
        fact: &DecisionFact,
        enrolment: Digest,
        bytes: &[u8],
    ) -> Result<(), Stop> {
        let Some((key, enrolment)) = self.enrolment(fact, enrolment)? else { return Ok(()) };
        let refused = |why: &dyn std::fmt::Display| Stop::at(place, why);
        let signed = Signed::parse(bytes).map_err(|e| refused(&e))?;
        if signed.payload_type != DECISION_PAYLOAD_TYPE {
            return Err(refused(&format!(
                "its payload is `{}`, not `{DECISION_PAYLOAD_TYPE}`",
                signed.payload_type
            )));
        }
        let id = webauthn::base64url_decode(&enrolment.credential_id).map_err(|e| refused(&e))?;
        let (rp_id, origin) = (enrolment.rp_id.as_str(), enrolment.origin.as_str());
        let passkey = Enrolled { credential_id: &id, key: &key, rp_id, origin };
        let said = signed.verify(&passkey).map_err(|fault| refused(&fault))?;
        let made = webauthn::base64url_decode(&enrolment.authenticator_data).map_err(|e| refused(&e))?;
        let made = webauthn::said(&made, rp_id).map_err(|fault| refused(&fault))?;
        let name = key.keyid();
        let last = self.passkeys.get(&name).map_or(made.counter, |seen| seen.said.counter);
        if !webauthn::follows(last, said.counter) {
            return Err(refused(
                &"the passkey has not counted on since it was last used: there may be a copy of it",
            ));
        }
        let decision = self.decided(place, fact, &signed.payload)?;
        let fits = decision.choice == Choice::Once
            && decision.decided_by == enrolment.enrolled_by
            && enrolment.enrolled_at <= decision.decided_at;
        if !fits {
            let why = "a passkey says yes once, for whom it was enrolled, and not before";
            return Err(Stop::at(place, why));
        }
        if (enrolment.origin == MESH_ORIGIN) != (decision.surface == Surface::Mesh) {
            return Err(Stop::at(place, format!("its passkey says no yes from `{}`", decision.surface)));
        }
        self.counts.by_passkey += 1;
        let seen = self.passkeys.entry(name).or_insert(Seen { origin: enrolment.origin, said, decisions: 0 });
        (seen.said, seen.decisions) = (said, seen.decisions + 1);
        Ok(())
    }

    /// What lets the passkey say yes, signed by an approval key of this bundle; none where it is not here.
    fn enrolment(
        &mut self,
        fact: &DecisionFact,
        digest: Digest,
    ) -> Result<Option<(PasskeyKey, PasskeyEnrolment)>, Stop> {
        let of = fact.approval_id;
        let words = (
            format!("what lets the passkey say yes that decided {of}, only its digest"),
            format!("the key that let the passkey decide {of} is not in this bundle"),
        );
        let found = self.by_approval_key::<PasskeyEnrolment>(digest, PASSKEY_PAYLOAD_TYPE, words)?;
        let Some((place, enrolment)) = found else { return Ok(None) };
        if enrolment.format != PASSKEY_FORMAT {
            return Err(Stop::at(place, format!("it is of another version: `{}`", enrolment.format)));
        }
        if self.predicate.as_ref().is_none_or(|predicate| predicate.log_id != enrolment.log_id) {
            return Err(Stop::at(place, "it was enrolled for another store"));
        }
        if !enrolment.surface.may_grant() {
            return Err(Stop::at(place, format!("a yes cannot come from `{}`", enrolment.surface)));
        }
        let key = PasskeyKey::from_base64(&enrolment.public_key).map_err(|e| Stop::at(&place, e))?;
        if fact.granted.as_ref().is_none_or(|granted| granted.keyid != key.keyid()) {
            return Err(Stop::at(place, format!("it is not the passkey that event {} names", fact.seq)));
        }
        Ok(Some((key, enrolment)))
    }
}
