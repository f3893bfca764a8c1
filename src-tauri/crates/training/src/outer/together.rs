//! Training together between machines: what one says to another, and how the rounds stand at each of them. One leads; the others
//! send it how far they came, and it tells all which of that is counted.

use super::message::{OuterHead, OuterMessage};
use super::rounds::OuterSettings;
use crate::Error;
use seal::{Digest, PublicKey, Signature};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Bytes of what one machine says to another at once: what goes in sealed letters.
pub const PARCEL_BYTES_MAX: usize = 15 * 18 * 1024;
/// Machines that learn together, with the one that leads.
pub const MACHINES_MAX: usize = 16;
/// Rounds that they learn.
pub const ROUNDS_MAX: u32 = 256;
/// Steps that each does alone in a round.
pub const ROUND_STEPS_MAX: u32 = 10_000;
/// Seconds that a round waits for machines that sent nothing: a week.
pub const PATIENCE_S_MAX: u32 = 7 * 24 * 3600;

/// Bytes of the first line, which says what it is.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Bytes of the name of a run.
const NAME_BYTES_MAX: usize = 64;

/// What all that learn together have in common.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The digest of the model.
    pub base_sha256: Digest,
    /// Rank of the adapter.
    pub rank: u32,
    /// Its weight, divided by the rank.
    pub alpha: f32,
    /// Whether the layers between the attentions get one as well.
    pub feed_forward: bool,
    /// What the adapter begins as.
    pub seed: u64,
    /// Rounds.
    pub rounds: u32,
    /// Steps that each does alone in a round.
    pub steps: u32,
    /// Places of a hundred that each sends in a round.
    pub percent: u32,
    /// Seconds that a round waits for machines that sent nothing, once enough did.
    pub patience_s: u32,
    /// How a round is ended.
    pub settings: OuterSettings,
}

impl Terms {
    /// Whether it can be done.
    ///
    /// # Errors
    /// What stands against it, in words.
    pub fn check(&self) -> Result<(), Error> {
        let counts = [
            ("the number of rounds", self.rounds, ROUNDS_MAX),
            ("the number of steps of a round", self.steps, ROUND_STEPS_MAX),
            ("the share of places that is sent", self.percent, 100),
            ("the number of seconds that a round waits", self.patience_s, PATIENCE_S_MAX),
        ];
        for (what, number, most) in counts {
            if number == 0 || number > most {
                return Err(Error::Run(format!("{what} is between 1 and {most}, not {number}")));
            }
        }
        if !self.alpha.is_finite() {
            return Err(Error::Run("alpha is no number".to_owned()));
        }
        if self.settings.peers_min > MACHINES_MAX {
            return Err(Error::Run(format!("at most {MACHINES_MAX} machines learn together")));
        }
        self.settings.check()
    }
}

/// Whether a text can name a run.
#[must_use]
pub fn is_name(name: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&name.len())
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.'))
        && name.trim() == name
}

/// A message of a round: who signed it, and which bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    /// Who.
    pub peer: PublicKey,
    /// The signature.
    pub signature: Signature,
    /// The digest of the bytes.
    pub sha256: Digest,
}

/// What a machine says to another. Each names the run by its id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum ParcelHead {
    /// The receiver is asked whether it learns together with the sender, who leads.
    Invited {
        /// The run.
        id: Digest,
        /// Its name.
        name: String,
        /// What all have in common.
        terms: Terms,
    },
    /// The sender takes part from this round on, and has what was counted before.
    Joins {
        /// The run.
        id: Digest,
        /// The round.
        round: u32,
    },
    /// The sender takes no part for now.
    Leaves {
        /// The run.
        id: Digest,
    },
    /// How far a machine came in a round; the bytes follow.
    Sent {
        /// The run.
        id: Digest,
        /// The round.
        round: u32,
        /// Whose, and which bytes.
        sent: Sent,
    },
    /// What is counted in a round, as its leader says.
    Counted {
        /// The run.
        id: Digest,
        /// The round.
        round: u32,
        /// The messages.
        all: Vec<Sent>,
    },
}

impl ParcelHead {
    /// The run that it is about.
    #[must_use]
    pub const fn id(&self) -> Digest {
        match self {
            Self::Invited { id, .. }
            | Self::Joins { id, .. }
            | Self::Leaves { id }
            | Self::Sent { id, .. }
            | Self::Counted { id, .. } => *id,
        }
    }

    /// The round that it is about, where it is about one.
    #[must_use]
    pub const fn round(&self) -> Option<u32> {
        match self {
            Self::Sent { round, .. } | Self::Counted { round, .. } => Some(*round),
            Self::Invited { .. } | Self::Joins { .. } | Self::Leaves { .. } => None,
        }
    }
}

/// What goes from one machine to another: a line that says what it is, and bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Parcel {
    /// What it is.
    pub head: ParcelHead,
    /// The bytes of a message; nothing else has any.
    pub body: Vec<u8>,
}

impl Parcel {
    /// One without bytes.
    #[must_use]
    pub const fn of(head: ParcelHead) -> Self {
        Self { head, body: Vec::new() }
    }

    /// Its bytes.
    ///
    /// # Errors
    /// There are more than go to another machine.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = serde_json::to_vec(&self.head).map_err(|error| Error::Peer(error.to_string()))?;
        bytes.push(b'\n');
        bytes.extend(&self.body);
        if bytes.len() > PARCEL_BYTES_MAX {
            return Err(Error::Run(format!(
                "what is to be sent has {} bytes, and {PARCEL_BYTES_MAX} go to another machine: send fewer of a hundred places, or \
                 take a lower rank",
                bytes.len()
            )));
        }
        Ok(bytes)
    }

    /// Reads them.
    ///
    /// # Errors
    /// They are none, or say what nobody may.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let no = |words: &str| Error::Peer(words.to_owned());
        if bytes.len() > PARCEL_BYTES_MAX {
            return Err(no("it is longer than what goes to another machine"));
        }
        let end = bytes.iter().take(HEAD_BYTES_MAX).position(|byte| *byte == b'\n');
        let (head, body) =
            end.and_then(|end| bytes.split_at_checked(end)).ok_or_else(|| no("it has no head"))?;
        let head: ParcelHead =
            serde_json::from_slice(head).map_err(|error| Error::Peer(error.to_string()))?;
        let body = body.get(1..).unwrap_or_default();
        match &head {
            ParcelHead::Invited { name, terms, .. } => {
                if !is_name(name) {
                    return Err(no("its run has no name"));
                }
                terms.check()?;
            }
            ParcelHead::Counted { all, .. } if all.len() > MACHINES_MAX => {
                return Err(no("it counts more than there are machines"));
            }
            ParcelHead::Sent { sent, .. } if Digest::of(body) != sent.sha256 => {
                return Err(no("its bytes are others than it says"));
            }
            _ => {}
        }
        if !body.is_empty() && !matches!(head, ParcelHead::Sent { .. }) {
            return Err(no("there is more than it says"));
        }
        Ok(Self { head, body: body.to_vec() })
    }
}

/// How the rounds stand at a machine. What it says is kept by whoever holds it, so that it goes on after a death.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Course {
    /// The round that is learned.
    pub round: u32,
    /// What came in it, of each one.
    pub heard: Vec<Sent>,
    /// What is counted in it, once that is fixed: it changes no more.
    pub counted: Option<Vec<Sent>>,
    /// What was counted in each round before.
    pub past: Vec<Vec<Sent>>,
    /// Whether this machine's own message of the round is on its way.
    pub is_sent: bool,
    /// Bytes that were sent to other machines.
    pub sent_bytes: u64,
    /// Bytes that plain averaging would have sent in the place of the messages among them.
    pub plain_bytes: u64,
}

impl Course {
    /// Takes a message of the round, of whoever has this key; whether it is new. `own` is this machine's own message: what counts with
    /// it is of the same run, round, state and size.
    ///
    /// # Errors
    /// It is of somebody else, does not fit to `own`, is forged, or the second of one machine.
    pub fn hear(&mut self, own: &[u8], key: &PublicKey, sent: &Sent, bytes: &[u8]) -> Result<bool, Error> {
        let no = |words: &str| Err(Error::Peer(words.to_owned()));
        if sent.peer != *key {
            return no("it is signed by another key than that of its machine");
        }
        if let Some(known) = self.heard.iter().find(|known| known.peer == sent.peer) {
            return if known.sha256 == sent.sha256 {
                Ok(false)
            } else {
                no("its peer sent another one in this round")
            };
        }
        if self.counted.is_some() {
            return no("it came after the round was counted");
        }
        if self.heard.len() >= MACHINES_MAX {
            return no("more came than there are machines");
        }
        if Digest::of(bytes) != sent.sha256 {
            return no("its bytes are others than it says");
        }
        sent.peer
            .verify(bytes, &sent.signature)
            .map_err(|error| Error::Peer(format!("its signature does not hold: {error}")))?;
        let (mine, theirs) = (OuterHead::of(own)?, OuterHead::of(bytes)?);
        if mine.round != self.round || theirs != mine {
            return no("it is of another run or round, or began with another state");
        }
        // Whether the program takes it is known before anybody is told to count it.
        let message = OuterMessage::from_bytes(bytes, mine.length)?;
        if message.steps == 0 || message.steps > ROUND_STEPS_MAX {
            return no("it says a number of steps that nobody does alone");
        }
        self.heard.push(*sent);
        Ok(true)
    }

    /// Whether the round is over for its leader: all that are here sent something, or enough did and the others were waited for.
    #[must_use]
    pub fn is_over(&self, here: usize, least: usize, waited_s: u64, terms: &Terms) -> bool {
        let came = self.heard.len();
        came >= least.max(1) && (came >= here || waited_s >= u64::from(terms.patience_s))
    }

    /// Fixes what is counted: all that came.
    pub fn count(&mut self) {
        let mut all = self.heard.clone();
        all.sort_by_key(|sent| sent.peer);
        self.counted.get_or_insert(all);
    }

    /// Takes what the leader counts, of this round.
    ///
    /// # Errors
    /// A machine is in it twice, or another list was fixed before.
    pub fn fix(&mut self, all: &[Sent]) -> Result<(), Error> {
        let peers: BTreeSet<&PublicKey> = all.iter().map(|sent| &sent.peer).collect();
        if all.is_empty() || peers.len() != all.len() || all.len() > MACHINES_MAX {
            return Err(Error::Peer("what is counted names a machine twice, or none".to_owned()));
        }
        match &self.counted {
            Some(known) if known != all => {
                Err(Error::Peer("something else was counted in this round before".to_owned()))
            }
            _ => {
                self.counted = Some(all.to_vec());
                Ok(())
            }
        }
    }

    /// The round is over, and the next begins.
    pub fn end(&mut self) {
        self.past.push(self.counted.take().unwrap_or_default());
        self.heard.clear();
        self.is_sent = false;
        self.round = self.round.saturating_add(1);
    }

    /// What a machine lacks that has what was counted before a round: each round with its messages, the first one first.
    pub fn since(&self, round: u32) -> impl Iterator<Item = (u32, &[Sent])> {
        (0_u32..).zip(&self.past).filter(move |(at, _)| *at >= round).map(|(at, all)| (at, all.as_slice()))
    }

    /// Counts what is sent: all its bytes, and what plain averaging would have sent for a message in it.
    pub fn is_sending(&mut self, bytes: usize, message: Option<&[u8]>) {
        let whole =
            message.and_then(|bytes| OuterHead::of(bytes).ok()).map_or(0, |head| u64::from(head.length) * 4);
        self.sent_bytes = self.sent_bytes.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        self.plain_bytes = self.plain_bytes.saturating_add(whole);
    }
}
