//! What only a person may decide: signed at a terminal with the approval key, and recorded beside what came of it.
//!
//! The text names what is decided by its digest and the store by its log, so that a signature given for one thing is
//! no signature for another.

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::sender::Sender;
use governance::Refusal;
use model::UnixMs;
use model::body::{KeyPurpose, PersonDecided};
use model::fault::Point;
use model::task::Origin;
use seal::{Digest, PublicKey, Signature, Signer};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A decision older than this when it comes in is not believed to be about the store as it is.
const AGE_MS_MAX: i64 = 15 * 60 * 1000;

model::names! {
    /// What a person decides.
    pub enum Matter ("matter") {
        /// Values and content are erased, for good.
        Erase = "erase",
        /// A store that is not consistent with its pin goes on.
        AcceptPin = "accept_pin",
        /// A broken chain is anchored anew.
        Reanchor = "reanchor",
        /// Hermit works again after a halt.
        Boot = "boot",
        /// An outcome that nobody knew is settled.
        Settle = "settle",
        /// A schedule or a gateway that is paused goes on.
        Resume = "resume",
        /// What this machine is in the mesh, and whom it believes there, changes: a command with its parameters.
        Mesh = "mesh",
        /// A change of Hermit that touches what keeps it in check is adopted: one for each such part.
        Successor = "successor",
    }
}

/// What is signed: canonical JSON of codes and digests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// `hermit-person/1`.
    pub format: String,
    /// The store.
    pub log_id: String,
    /// What is decided.
    pub matter: String,
    /// SHA-256 of what exactly.
    pub subject_sha256: Digest,
    /// When.
    pub decided_at: UnixMs,
}

const FORMAT: &str = "hermit-person/1";

/// A decision with the signature of the approval key.
#[derive(Debug, Clone)]
pub struct Signed {
    /// The canonical bytes of the [`Decision`].
    pub text: Vec<u8>,
    /// Over exactly those bytes.
    pub signature: Signature,
    /// Whose.
    pub key: PublicKey,
}

impl Signed {
    /// Signs a decision about `subject_sha256` in the store `log_id`.
    ///
    /// # Errors
    /// [`Error::Seal`] when the key refuses.
    pub fn of(
        log_id: &str,
        matter: Matter,
        subject_sha256: Digest,
        now: UnixMs,
        key: &dyn Signer,
    ) -> Result<Self, Error> {
        let decision = Decision {
            format: FORMAT.to_owned(),
            log_id: log_id.to_owned(),
            matter: matter.to_string(),
            subject_sha256,
            decided_at: now,
        };
        let text = seal::canon::to_canonical(&decision)?;
        let signature = key.sign(&text)?;
        Ok(Self { text, signature, key: key.public() })
    }
}

/// What the resuming of a schedule or a gateway is about: `stands` differs from pause to pause, so that it resumes no other.
pub fn resume_subject(noun: &str, name: &str, stands: (u32, u32)) -> Digest {
    Digest::of(format!("resume\n{noun}\n{name}\n{}\n{}", stands.0, stands.1).as_bytes())
}

/// What a change of the mesh is about: a command, and its parameters without what was signed for them.
///
/// # Errors
/// [`Error::Seal`] when the parameters have no canonical form.
pub fn mesh_subject(command: &str, params: &Value) -> Result<Digest, Error> {
    let mut params = params.clone();
    if let Some(fields) = params.as_object_mut() {
        fields.remove("signed");
    }
    let about = seal::canon::to_canonical(&json!({ "command": command, "params": params }))?;
    Ok(Digest::of(&about))
}

impl Kernel {
    /// Takes in that a person changes the mesh by `subject` ([`mesh_subject`]): one who is there, or who signed exactly this. What
    /// was signed is on record, and good once: whoever reads it there changes nothing by it again.
    ///
    /// # Errors
    /// [`Error::Refused`] when it is neither, and when it was used before.
    pub fn person_changes_mesh(
        &self,
        (by, what): (impl Into<Sender>, &str),
        subject: Digest,
        signed: Option<&Signed>,
    ) -> Result<(), Error> {
        let (sender, decided) = self.said_by_person((by.into(), what), (Matter::Mesh, subject), signed)?;
        let Some(decided) = decided else { return Ok(()) };
        let once = format!("person:{}", decided.decision_sha256);
        let actor = self.principal_of(sender)?;
        let mut w = self.store_writeup(Point::DecisionRecord, actor, once.clone(), None)?;
        w.push_keyed(Some(once), decided);
        match self.commit(w) {
            Err(Error::Ledger(ledger::Error::Duplicate { .. })) => Err(Error::Refused(Refusal::new(
                "not_a_persons_decision",
                "what was signed was used before; sign it again",
            ))),
            came => came.map(drop),
        }
    }

    /// Who says what only a person says: one who is there, or who signed exactly this, and then the record of that.
    ///
    /// # Errors
    /// [`Error::Refused`] when it is neither.
    pub(crate) fn said_by_person(
        &self,
        (by, what): (Sender, &str),
        (matter, subject): (Matter, Digest),
        signed: Option<&Signed>,
    ) -> Result<(Sender, Option<PersonDecided>), Error> {
        match signed {
            Some(signed) => {
                let decided = self.decided(matter, subject, signed)?;
                Ok((Sender { by: Origin::Person, ..by }, Some(decided)))
            }
            None => by.is_a_person(what).map(|()| (by, None)),
        }
    }

    /// The record of a decision, once it is a person's: signed by the approval key in force, about exactly this, now.
    ///
    /// # Errors
    /// [`Error::Refused`] when it is not.
    pub(crate) fn decided(
        &self,
        matter: Matter,
        subject: Digest,
        signed: &Signed,
    ) -> Result<PersonDecided, Error> {
        let no =
            |why: &str| Error::Refused(Refusal { code: "not_a_persons_decision", reason: why.to_owned() });
        let in_force = lock(&self.store).keys.get(&KeyPurpose::Approval).map(|(_, key)| *key);
        if in_force != Some(signed.key) {
            return Err(no("only a person with the approval key in force can decide this"));
        }
        signed.key.verify(&signed.text, &signed.signature).map_err(|_| no("the signature does not hold"))?;
        let decision: Decision = seal::canon::from_canonical(&signed.text)?;
        let age = self.ports.clock.now().0 - decision.decided_at.0;
        let fits = decision.format == FORMAT
            && decision.log_id == self.reader.log_id()
            && decision.matter == matter.as_str()
            && decision.subject_sha256 == subject;
        if !fits {
            return Err(no("what was signed is about something else"));
        }
        if !(-AGE_MS_MAX..=AGE_MS_MAX).contains(&age) {
            return Err(no("it was signed at another time; sign it again"));
        }
        Ok(PersonDecided {
            decision_sha256: Digest::of(&signed.text),
            decision: String::from_utf8(signed.text.clone()).map_err(|_| no("it is not text"))?,
            keyid: signed.key.keyid(),
            signature: signed.signature.to_string(),
        })
    }
}
