//! Where a person's yes is signed. The key is opened for a decision and let go; for low and moderate risk it may stay
//! open in this process for as long as governance allows.

use crate::chance::{Deadline, OsEntropy, SystemClock};
use crate::keys::APPROVAL_FILE;
use crate::{Error, Home};
use acts::ApprovalPacket;
use kernel::command::mesh::approvals::MeshQuestion;
use kernel::command::person::{Matter, Signed};
use keychain::ApprovalKey;
use mesh::SignedDecision;
use model::approval::{Choice, Surface};
use model::passkey::PasskeyEnrolment;
use model::policy::RiskBand;
use model::standing::StandingGrant;
use model::{Clock as _, GrantId, PrincipalId};
use seal::{Digest, SeedSigner};
use std::time::Duration;

/// How long the key stays open at most.
const OPEN_MAX: Duration = Duration::from_millis(model::limits::APPROVAL_KEY_OPEN_MS_MAX.unsigned_abs());

/// Signs for one person on one surface.
pub struct ApprovalSession {
    home: Home,
    surface: Surface,
    open: Option<(SeedSigner, Deadline)>,
}

impl ApprovalSession {
    /// A seat for whoever sits at the controlling terminal.
    pub fn at_terminal(home: Home) -> Self {
        Self::new(home, Surface::Terminal)
    }

    /// A seat for whoever sits before the app's approval window.
    pub fn at_window(home: Home) -> Self {
        Self::new(home, Surface::ApprovalWindow)
    }

    /// A seat over the store's approval key; nothing is opened yet.
    pub fn new(home: Home, surface: Surface) -> Self {
        Self { home, surface, open: None }
    }

    /// Whether there is a key at all.
    pub fn has_key(&self) -> bool {
        self.home.path(APPROVAL_FILE).exists()
    }

    /// Whether this decision needs the passphrase: always at high and critical risk, else when the key is not open.
    ///
    /// # Errors
    /// [`Error::Signing`] when the bytes are no packet.
    pub fn needs_passphrase(&mut self, packet: &[u8]) -> Result<bool, Error> {
        let packet = read(packet)?;
        self.forget_old();
        Ok(is_grave(packet.risk_band) || self.open.is_none())
    }

    /// Opens the key. At high and critical risk it is closed again by the next [`Self::sign`].
    ///
    /// # Errors
    /// [`Error::Keys`], among them a wrong passphrase.
    pub fn unlock(&mut self, passphrase: &[u8]) -> Result<(), Error> {
        let signer = ApprovalKey::open(&self.home.path(APPROVAL_FILE), passphrase)?;
        self.open = Some((signer, Deadline::after(OPEN_MAX)));
        Ok(())
    }

    /// The signed envelope of an answer to exactly these packet bytes.
    ///
    /// # Errors
    /// [`Error::Signing`] when the key is not open or the bytes are no packet.
    pub fn sign(
        &mut self,
        packet: &[u8],
        allow: bool,
        person: &str,
        feedback: Option<String>,
    ) -> Result<Vec<u8>, Error> {
        self.forget_old();
        let signing = |why: String| Error::Signing(why);
        let grave = is_grave(read(packet)?.risk_band);
        let person: PrincipalId = person.parse().map_err(|e: model::Error| signing(e.to_string()))?;
        let choice = if allow { Choice::Once } else { Choice::Deny };
        let decision =
            governance::approval::answer(packet, choice, self.surface, person, SystemClock.now(), feedback)
                .map_err(|refusal| signing(refusal.reason))?;
        let (signer, _) =
            self.open.as_ref().ok_or_else(|| signing("the approval key is not open".to_owned()))?;
        let envelope = governance::approval::sign(&decision, signer).map_err(|e| signing(e.to_string()))?;
        if grave {
            self.open = None;
        }
        Ok(envelope)
    }

    /// The signed envelope of a standing grant: what it covers, where and for how long is the draft's; who, when and
    /// on which surface is this seat's. Its sentence is [`governance::standing::in_words`] of exactly what is signed.
    ///
    /// # Errors
    /// [`Error::Signing`] when the key is not open, or such a grant cannot be given.
    pub fn sign_standing(&mut self, draft: &StandingGrant) -> Result<Vec<u8>, Error> {
        self.forget_old();
        let signing = |why: String| Error::Signing(why);
        let now = SystemClock.now();
        let grant = StandingGrant {
            grant_id: GrantId::fresh(&SystemClock, &OsEntropy),
            issued_at: now,
            expires_at: now.plus_ms(draft.expires_at.0.saturating_sub(draft.issued_at.0)),
            surface: self.surface,
            ..draft.clone()
        };
        governance::standing::sound(&grant).map_err(|refusal| signing(refusal.reason))?;
        let (signer, _) =
            self.open.as_ref().ok_or_else(|| signing("the approval key is not open".to_owned()))?;
        governance::standing::sign(&grant, signer).map_err(|e| signing(e.to_string()))
    }

    /// The signed envelope by which a passkey may say yes: when and on which surface is this seat's, everything else the
    /// draft's.
    ///
    /// # Errors
    /// [`Error::Signing`] when the key is not open.
    pub fn sign_passkey(&self, draft: &PasskeyEnrolment) -> Result<Vec<u8>, Error> {
        let signing = |why: String| Error::Signing(why);
        let enrolment =
            PasskeyEnrolment { surface: self.surface, enrolled_at: SystemClock.now(), ..draft.clone() };
        let (key, _) =
            self.open.as_ref().ok_or_else(|| signing("the approval key is not open".to_owned()))?;
        governance::approval::sign_passkey(&enrolment, key).map_err(|e| signing(e.to_string()))
    }

    /// The signed answer to what another machine asks, to exactly these packet bytes.
    ///
    /// # Errors
    /// [`Error::Signing`] when the key is not open; when the bytes are no packet, or another one.
    pub fn sign_answer(
        &self,
        question: &MeshQuestion,
        packet: &[u8],
        allow: bool,
    ) -> Result<SignedDecision, Error> {
        let closed = || Error::Signing("the approval key is not open".to_owned());
        let (key, _) = self.open.as_ref().ok_or_else(closed)?;
        Ok(question.answer(packet, allow, SystemClock.now(), key)?)
    }

    fn decided(&self, log_id: &str, matter: Matter, subject: Digest) -> Result<Signed, Error> {
        let closed = || Error::Signing("the approval key is not open".to_owned());
        let (key, _) = self.open.as_ref().ok_or_else(closed)?;
        Ok(Signed::of(log_id, matter, subject, SystemClock.now(), key)?)
    }

    /// Where the person is who signs here.
    pub const fn surface(&self) -> Surface {
        self.surface
    }

    /// Lets go of the key.
    pub fn close(&mut self) {
        self.open = None;
    }

    fn forget_old(&mut self) {
        if self.open.as_ref().is_some_and(|(_, until)| until.left().is_zero()) {
            self.open = None;
        }
    }
}

/// Every line of the card of a packet, as the host tells it.
pub fn card_lines(packet: &ApprovalPacket) -> Vec<wire::approvals::Line> {
    governance::approval::card(packet).lines.into_iter().map(api::card_line).collect()
}

/// Every value that a signature of these bytes covers, as `pointer = value`.
///
/// # Errors
/// Why the bytes are no packet.
pub fn signed_values(packet: &[u8]) -> Result<Vec<String>, String> {
    let all = governance::approval::values(packet, "", 0, usize::MAX);
    all.map(|found| found.lines).map_err(|refusal| refusal.reason)
}

/// The yes of a person at a page of this host, who gave the passphrase with it. The key is open for this one signature:
/// the seat falls at the end of it.
pub(crate) fn sign_at_page(
    home: &Home,
    packet: &[u8],
    person: &str,
    passphrase: &[u8],
) -> Result<Vec<u8>, wire::Error> {
    let mut seat = at_page(home, passphrase)?;
    seat.sign(packet, true, person, None).map_err(Error::to_wire)
}

/// As [`sign_at_page`], what that person allows from now on or overrides.
pub(crate) fn sign_standing_at_page(
    home: &Home,
    draft: &StandingGrant,
    passphrase: &[u8],
) -> Result<Vec<u8>, wire::Error> {
    at_page(home, passphrase)?.sign_standing(draft).map_err(Error::to_wire)
}

/// As [`sign_at_page`], that a passkey may say yes for that person.
pub(crate) fn sign_passkey_at_page(
    home: &Home,
    draft: &PasskeyEnrolment,
    passphrase: &[u8],
) -> Result<Vec<u8>, wire::Error> {
    at_page(home, passphrase)?.sign_passkey(draft).map_err(Error::to_wire)
}

/// As [`sign_at_page`], what that person answers another machine.
pub(crate) fn sign_answer_at_page(
    home: &Home,
    (question, packet): (&MeshQuestion, &[u8]),
    allow: bool,
    passphrase: &[u8],
) -> Result<SignedDecision, wire::Error> {
    at_page(home, passphrase)?.sign_answer(question, packet, allow).map_err(Error::to_wire)
}

/// As [`sign_at_page`], what only a person decides in the store `log_id`.
pub(crate) fn decide_at_page(
    home: &Home,
    log_id: &str,
    matter: Matter,
    subject: Digest,
    passphrase: &[u8],
) -> Result<Signed, wire::Error> {
    let seat = at_page(home, passphrase)?;
    seat.decided(log_id, matter, subject).map_err(Error::to_wire)
}

/// The same at a terminal.
pub(crate) fn sign_decision(
    home: &Home,
    log_id: &str,
    matter: Matter,
    subject: Digest,
    passphrase: &[u8],
) -> Result<Signed, Error> {
    let mut seat = ApprovalSession::at_terminal(home.clone());
    seat.unlock(passphrase)?;
    seat.decided(log_id, matter, subject)
}

/// A seat whose key was opened by what a person typed on a page.
fn at_page(home: &Home, passphrase: &[u8]) -> Result<ApprovalSession, wire::Error> {
    let mut seat = ApprovalSession::new(home.clone(), Surface::Browser);
    if !seat.has_key() {
        return Err(wire::Error::new(wire::Code::KeyLocked, "this store has no approval key")
            .hint("make it at a terminal: `hermit keys init`"));
    }
    seat.unlock(passphrase).map_err(|error| match error {
        // Whoever reads this is told nothing of this machine.
        Error::Keys(error @ keychain::Error::WrongPassphrase { .. }) => {
            wire::Error::new(wire::Code::KeyLocked, error.to_string()).hint(crate::error::TYPE_AGAIN)
        }
        other => {
            tracing::warn!(error = %other, "the approval key cannot be opened");
            wire::Error::new(wire::Code::Unavailable, "the approval key cannot be opened here")
                .hint("`hermit doctor` on the machine itself says why")
        }
    })?;
    Ok(seat)
}

/// Whether a decision opens the key for itself alone and wants a typed word.
fn is_grave(risk: RiskBand) -> bool {
    matches!(risk, RiskBand::High | RiskBand::Critical)
}

fn read(packet: &[u8]) -> Result<ApprovalPacket, Error> {
    serde_json::from_slice(packet).map_err(|e| Error::Signing(format!("this is no approval packet: {e}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn an_open_key_is_forgotten_when_its_time_is_over_on_either_clock() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::find(Some(folder.path())).expect("a home");
        let (elapsed, hour) = (Duration::ZERO, Duration::from_secs(3_600));
        for (steady, wall, stays) in [(hour, hour, true), (elapsed, hour, false), (hour, elapsed, false)] {
            let mut seat = ApprovalSession::at_terminal(home.clone());
            seat.open = Some((SeedSigner::from_seed([7; 32]), Deadline::of(steady, wall)));
            seat.forget_old();
            assert_eq!(
                seat.open.is_some(),
                stays,
                "{steady:?} left on the steady clock, {wall:?} on the other"
            );
        }
        assert!(Deadline::after(OPEN_MAX).left() <= Duration::from_secs(15 * 60));
    }
}
