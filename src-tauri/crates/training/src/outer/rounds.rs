//! Rounds: who belongs to a run, what came in the round, and the state after it. A peer may come or go at any time.

use super::compress::PARAMETERS_MAX;
use super::message::{OuterMessage, SignedMessage};
use super::robust::{Robust, robust_mean};
use crate::Error;
use seal::{Digest, Hasher, PublicKey};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Peers of a run.
pub const PEERS_MAX: usize = 256;

/// Steps that a peer may say it did alone.
const STEPS_MAX: u32 = 100_000;

/// How rounds are ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OuterSettings {
    /// How the mean is made.
    pub robust: Robust,
    /// Messages without which a round is not ended.
    pub peers_min: usize,
    /// How far the state goes with the mean.
    pub rate: f32,
    /// How much of its last way it keeps (Nesterov).
    pub momentum: f32,
}

impl Default for OuterSettings {
    fn default() -> Self {
        Self { robust: Robust::default(), peers_min: 3, rate: 0.7, momentum: 0.6 }
    }
}

impl OuterSettings {
    pub(super) fn check(&self) -> Result<(), Error> {
        let is_share = |number: f32| number.is_finite() && (0.0..=1.0).contains(&number);
        let momentum = is_share(self.momentum) && self.momentum < 1.0;
        if !(is_share(self.rate) && self.rate > 0.0 && momentum && self.robust.trim_percent < 50) {
            return Err(Error::Peer(
                "rate, momentum or the share that is left out is outside its bounds".to_owned(),
            ));
        }
        if self.peers_min == 0 || self.peers_min > PEERS_MAX {
            return Err(Error::Peer(format!("a round is ended with between 1 and {PEERS_MAX} messages")));
        }
        Ok(())
    }
}

/// The adapter that all begin a round with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The round that begins with it.
    pub round: u32,
    /// Its numbers.
    pub parameters: Vec<f32>,
    /// Its last way.
    pub velocity: Vec<f32>,
}

impl State {
    /// The state of the first round.
    #[must_use]
    pub fn first(parameters: Vec<f32>) -> Self {
        let velocity = vec![0.0; parameters.len()];
        Self { round: 0, parameters, velocity }
    }

    /// Its digest, which each message of the round names.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new();
        hasher.update(b"hermit/outer-state/1\n");
        hasher.update(self.round.to_be_bytes());
        for number in self.parameters.iter().chain(&self.velocity) {
            hasher.update(number.to_bits().to_be_bytes());
        }
        hasher.finish()
    }

    fn check(&self) -> Result<(), Error> {
        let length = self.parameters.len();
        if length == 0 || length > PARAMETERS_MAX || self.velocity.len() != length {
            return Err(Error::Peer("a state has no length, or two".to_owned()));
        }
        if self.parameters.iter().chain(&self.velocity).all(|number| number.is_finite()) {
            Ok(())
        } else {
            Err(Error::Peer("a state has a place that is no number".to_owned()))
        }
    }
}

/// What became of a message that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// It counts in this round.
    Now,
    /// It came before.
    Known,
}

/// A run as one peer sees it.
#[derive(Debug, Clone)]
pub struct Rounds {
    run: Digest,
    settings: OuterSettings,
    state: State,
    digest: Digest,
    peers: BTreeSet<PublicKey>,
    heard: BTreeMap<PublicKey, (Digest, OuterMessage)>,
}

impl Rounds {
    /// A run at the state it is in: the first one, or the one in which this peer came.
    ///
    /// # Errors
    /// State, settings or peers are outside their bounds.
    pub fn new(
        run: Digest,
        settings: OuterSettings,
        state: State,
        peers: BTreeSet<PublicKey>,
    ) -> Result<Self, Error> {
        settings.check()?;
        state.check()?;
        if peers.len() > PEERS_MAX {
            return Err(Error::Peer(format!("a run has at most {PEERS_MAX} peers")));
        }
        let digest = state.digest();
        Ok(Self { run, settings, state, digest, peers, heard: BTreeMap::new() })
    }

    /// The state that the round began with.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The run.
    #[must_use]
    pub const fn run(&self) -> Digest {
        self.run
    }

    /// Digests of the messages that came in the round: what whoever ends it tells the others to count.
    #[must_use]
    pub fn heard(&self) -> BTreeSet<Digest> {
        self.heard.values().map(|(digest, _)| *digest).collect()
    }

    /// A peer comes, in the middle of a round or not.
    ///
    /// # Errors
    /// There are too many.
    pub fn join(&mut self, peer: PublicKey) -> Result<(), Error> {
        if self.peers.len() >= PEERS_MAX && !self.peers.contains(&peer) {
            return Err(Error::Peer(format!("a run has at most {PEERS_MAX} peers")));
        }
        self.peers.insert(peer);
        Ok(())
    }

    /// A peer goes. What it sent in this round still counts.
    pub fn leave(&mut self, peer: &PublicKey) {
        self.peers.remove(peer);
    }

    /// Takes a message of this round.
    ///
    /// # Errors
    /// Its signature does not hold, its peer does not belong to the run or sent another one in this round, or it is of
    /// another run, round, state or size.
    pub fn take(&mut self, signed: &SignedMessage) -> Result<Counted, Error> {
        let no = |words: &str| Err(Error::Peer(words.to_owned()));
        if !self.peers.contains(&signed.peer) {
            return no("its peer does not belong to the run");
        }
        if let Some((digest, _)) = self.heard.get(&signed.peer) {
            return if *digest == signed.digest() {
                Ok(Counted::Known)
            } else {
                no("its peer sent another one in this round")
            };
        }
        let length = u32::try_from(self.state.parameters.len()).unwrap_or(u32::MAX);
        let message = signed.open(length)?;
        if message.run != self.run {
            return no("it is of another run");
        }
        if message.round != self.state.round || message.state != self.digest {
            return no("it is of another round, or began with another state");
        }
        if message.steps == 0 || message.steps > STEPS_MAX {
            return no("it says a number of steps that nobody does alone");
        }
        self.heard.insert(signed.peer, (signed.digest(), message));
        Ok(Counted::Now)
    }

    /// Ends the round with the messages that are counted, and begins the next one.
    ///
    /// # Errors
    /// One of them did not come, or they are too few; the round then goes on.
    pub fn end(&mut self, counted: &BTreeSet<Digest>) -> Result<&State, Error> {
        let of: Vec<&OuterMessage> = self
            .heard
            .values()
            .filter(|(digest, _)| counted.contains(digest))
            .map(|(_, message)| message)
            .collect();
        if of.len() != counted.len() {
            return Err(Error::Peer("one of those that are counted did not come".to_owned()));
        }
        if of.len() < self.settings.peers_min {
            return Err(Error::Peer(format!(
                "{} messages came, and {} are needed",
                of.len(),
                self.settings.peers_min
            )));
        }
        let length = u32::try_from(self.state.parameters.len()).unwrap_or(u32::MAX);
        let packed: Vec<_> = of.iter().map(|message| &message.packed).collect();
        let mean = robust_mean(&packed, length, self.settings.robust)?;
        let (rate, momentum) = (self.settings.rate, self.settings.momentum);
        let mut next = self.state.clone();
        for ((at, way), mean) in next.parameters.iter_mut().zip(&mut next.velocity).zip(mean) {
            *way = momentum * *way + mean;
            *at -= rate * (mean + momentum * *way);
        }
        next.round =
            next.round.checked_add(1).ok_or_else(|| Error::Peer("there is no next round".to_owned()))?;
        next.check()?;
        self.digest = next.digest();
        self.state = next;
        self.heard.clear();
        Ok(&self.state)
    }
}
