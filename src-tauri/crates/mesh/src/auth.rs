//! Who this node is, told to a relay that asks (NIP-42).
//!
//! Only relays at which it reads are told, which are those that its person set: each challenge once, none while the answer to another
//! is awaited, and a few in all while a connection stands. A relay that asks without end gets no end of signatures.

use crate::direct::PROOF_KIND;
use crate::frame;
use crate::node::Node;
use crate::port::{Telling, Way};
use crate::sealed::Sealing;
use seal::Digest;

/// Challenges of one connection that are answered.
const PROOFS_MAX: u32 = 4;
/// The longest challenge that is answered, in bytes.
const CHALLENGE_BYTES_MAX: usize = 256;

/// What a relay asked while its connection stands.
#[derive(Debug, Default)]
pub(crate) struct AskedWho {
    /// What is to be signed.
    challenge: Option<String>,
    /// What was signed last.
    answered: Option<String>,
    /// The event that was sent, of which the relay has not said whether it believes it.
    proof: Option<Digest>,
    times: u32,
}

impl<S: Sealing> Node<S> {
    /// A relay asks who is there.
    pub(crate) fn asked_who(&mut self, way: &Way, challenge: String) {
        let fits = !challenge.is_empty() && challenge.len() <= CHALLENGE_BYTES_MAX;
        if !fits || !matches!(way, Way::Relay(_)) || !self.is_up(way) {
            self.unread(way);
            return;
        }
        let asked = self.asked.entry(way.clone()).or_default();
        if asked.answered.as_ref() != Some(&challenge) {
            asked.challenge = Some(challenge);
            self.tell_who(way);
        }
    }

    /// Tells every relay that asked before this node knew where it reads.
    pub(crate) fn tell_who_asked(&mut self) {
        let ways: Vec<Way> = self.asked.keys().cloned().collect();
        ways.iter().for_each(|way| self.tell_who(way));
    }

    fn tell_who(&mut self, way: &Way) {
        let Way::Relay(url) = way else { return };
        if !self.reads_at(way) {
            return;
        }
        let Some(asked) = self.asked.get_mut(way).filter(|asked| asked.proof.is_none()) else { return };
        let Some(challenge) = asked.challenge.take() else { return };
        asked.times = asked.times.saturating_add(1);
        if asked.times > PROOFS_MAX {
            if asked.times == PROOFS_MAX + 1 {
                let why = "it asks too often who this machine is, and is not told any more".to_owned();
                self.step.tell.push(Telling::Refused { way: way.clone(), why });
            }
            return;
        }
        let tag = |name: &str, value: &str| vec![name.to_owned(), value.to_owned()];
        let tags = vec![tag("relay", url), tag("challenge", &challenge)];
        let Ok(event) = self.sealing.sign_open(PROOF_KIND, tags, "", self.now) else { return };
        (asked.proof, asked.answered) = (Some(event.id), Some(challenge));
        self.step.write.push((way.clone(), frame::proof(&event)));
    }

    /// Whether what a relay says of an event is what it says of who is there. Where it believes that, all that it refused before is said
    /// to it again.
    pub(crate) fn told_who(&mut self, way: &Way, id: Digest, accepted: bool) -> bool {
        let Some(asked) = self.asked.get_mut(way).filter(|asked| asked.proof == Some(id)) else {
            return false;
        };
        asked.proof = None;
        if accepted {
            // What it asked meanwhile it asked before it knew.
            asked.challenge = None;
            self.begin_at(way);
        } else {
            self.tell_who(way);
        }
        true
    }
}
