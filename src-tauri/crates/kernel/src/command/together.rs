//! Training together with other machines, on record: that a person takes part in it, and what it came to; and the signature under how
//! far this machine came (successor.md 6, HV-3.8-3).

use crate::Error;
use crate::kernel::Kernel;
use crate::sender::Sender;
use model::decision::DecisionClass;
use model::principal::PrincipalType;
use seal::{PublicKey, Signature};
use training::outer::OuterHead;

impl Kernel {
    /// Puts on record that a person has this machine learn together with others, in words: with which, and from what. Without a sender
    /// it is what came of it, which this machine says itself.
    ///
    /// # Errors
    /// [`Error::Secret`] when the words hold one.
    pub fn record_together(&self, says: &str, why: &str, by: Option<Sender>) -> Result<(), Error> {
        let actor = match by {
            Some(sender) => self.principal_of(sender)?,
            None => self.actor(PrincipalType::System)?,
        };
        let words = (says.to_owned(), why.to_owned());
        self.record_decision(actor, "training:together".to_owned(), DecisionClass::Publishing, words)
    }

    /// Signs how far this machine came in a round, with the key of its log, and nothing else: the bytes begin as no other text does that
    /// this key signs.
    ///
    /// # Errors
    /// [`Error::Input`] for what is no such message; [`Error::KeyLocked`].
    pub fn sign_round(&self, message: &[u8]) -> Result<(PublicKey, Signature), Error> {
        OuterHead::of(message).map_err(|error| Error::Input(error.to_string()))?;
        let key = self.ports.keys.log().ok_or(Error::KeyLocked("log"))?;
        Ok((key.public(), key.sign(message)?))
    }
}
