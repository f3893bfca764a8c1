//! Pairing by a short code that one machine shows and a person types at the other.
//!
//! The first four letters of the code say where both meet; the last six are a secret of 30 bits that neither sends. SPAKE2 turns it
//! into a key, so that whoever listens learns nothing to guess from, and whoever stands in between has one guess in each run. Each
//! side ends after three runs that failed: at most six guesses of a billion for one code. The machine at which a code was typed wrong
//! begins no run again by itself: a slip costs one of the three.

mod keys;

use crate::code::{DOMAIN, Drawn, halves};
pub use crate::code::{MEETING_LETTERS, SECRET_LETTERS, draw_code};
use crate::sealed::{self, Sealing};
use crate::{Chance, Error, GroupSecret, NodeId, Peer, frame};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keys::Keys;
use model::UnixMs;
use seal::keys::PublicKey;
use seal::{Digest, canon};
use serde::{Deserialize, Serialize};
use spake2::{Ed25519Group, Identity, Password, Spake2};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// The kind of an event in which a pairing speaks: ephemeral, so that no relay keeps it.
pub const PAIRING_KIND: u16 = 24_179;
/// For how long a code counts, in milliseconds.
pub const CODE_FOR_MS: i64 = 10 * 60_000;
/// Runs that fail before a pairing ends.
pub const TRIES_MAX: u32 = 3;
/// After how long a run is begun anew in which the other machine answered once and then no more, in milliseconds. It counts as one
/// that failed: whoever answered may have been somebody in between, who had a guess.
const RUN_MS: i64 = 30_000;
/// Runs that one code answers; more are a flood.
const RUNS_MAX: usize = 64;
/// The name of the subscription.
const SUBSCRIPTION: &str = "hermit-mesh-pairing";
/// The longest content of an event of a pairing, in bytes.
const CONTENT_BYTES_MAX: usize = 16 * 1024;

/// What one machine tells the other of itself, under the key of the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Introduction {
    /// As its person calls it.
    pub name: String,
    /// Where it reads.
    pub relays: Vec<String>,
    /// The key of its log.
    pub log_key: PublicKey,
    /// Its approval key, for a person to register or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_key: Option<PublicKey>,
    /// Its group; only the machine that shows the code tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupSecret>,
}

/// What is said in a pairing.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Spoken {
    /// The machine at which the code was typed begins a run.
    Begin { element: String },
    /// The machine that shows the code answers it.
    Reply { run: Digest, element: String },
    /// The first introduces itself, under the key.
    Joins { run: Digest, sealed: String },
    /// So does the second.
    Invites { run: Digest, sealed: String },
    /// The key was another one: the code was mistyped, or somebody guessed. How often it may be typed still.
    Wrong { run: Digest, left: u32 },
    /// The code was right, and the one or the other does not pair: why, under the key.
    Refuses { run: Digest, sealed: String },
}

/// How a pairing ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Both know each other.
    Paired {
        /// The other machine.
        peer: Peer,
        /// Its group, where it told one.
        group: Option<GroupSecret>,
    },
    /// The code that was typed is another one than is shown; at the machine that shows it, for the third time.
    WrongCode,
    /// The other machine knew the code and does not pair, and says why.
    Refused(String),
    /// Somebody answered three times and went no further.
    Silent,
    /// The code is too old.
    Expired,
}

/// What a pairing does next.
#[derive(Debug, Default)]
pub struct Progress {
    /// Frames to be written to each relay at which both meet.
    pub write: Vec<Vec<u8>>,
    /// The end; the machine that shows the code goes on answering until the code expires, for the other may not have heard it.
    pub ended: Option<Ended>,
}

enum Side {
    /// Shows the code.
    Inviter {
        runs: BTreeMap<Digest, (Keys, String)>,
        answered: Option<(Keys, Vec<u8>)>,
        /// Runs with another key, at most as many as may fail, and what was said of each.
        wrong: BTreeMap<Digest, Vec<u8>>,
    },
    /// Was given it.
    Joiner {
        run: Digest,
        element: String,
        half: Option<Spake2<Ed25519Group>>,
        keys: Option<Keys>,
        said: Vec<u8>,
    },
}

/// A pairing that is under way. It is forgotten when the program ends: a code is typed again then.
pub struct Pairing {
    me: NodeId,
    about: Introduction,
    channel: String,
    secret: Zeroizing<String>,
    until: UnixMs,
    run_until: UnixMs,
    failed: u32,
    is_over: bool,
    side: Side,
}

impl std::fmt::Debug for Pairing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pairing").field("channel", &self.channel).finish_non_exhaustive()
    }
}

fn identities(channel: &str) -> (Identity, Identity) {
    let of = |side: &str| Identity::new(format!("{DOMAIN}\n{side}\n{channel}").as_bytes());
    (of("inviter"), of("joiner"))
}

impl Pairing {
    /// Begins at the machine that shows the code.
    ///
    /// # Errors
    /// When the text is no code.
    pub fn invite(me: NodeId, about: Introduction, code: &str, now: UnixMs) -> Result<Self, Error> {
        let side = Side::Inviter { runs: BTreeMap::new(), answered: None, wrong: BTreeMap::new() };
        Self::new(me, about, code, now, side)
    }

    /// Begins at the machine at which the code was typed.
    ///
    /// # Errors
    /// When the text is no code.
    pub fn join(
        me: NodeId,
        about: Introduction,
        code: &str,
        now: UnixMs,
        chance: &mut dyn Chance,
    ) -> Result<Self, Error> {
        let side = Side::Joiner {
            run: Digest::ZERO,
            element: String::new(),
            half: None,
            keys: None,
            said: Vec::new(),
        };
        let mut pairing = Self::new(me, Introduction { group: None, ..about }, code, now, side)?;
        pairing.begin_run(now, chance)?;
        Ok(pairing)
    }

    fn new(me: NodeId, about: Introduction, code: &str, now: UnixMs, side: Side) -> Result<Self, Error> {
        let (channel, secret) = halves(code).ok_or(Error::Refused("this is no code: it has ten letters"))?;
        let until = now.plus_ms(CODE_FOR_MS);
        Ok(Self { me, about, channel, secret, until, run_until: until, failed: 0, is_over: false, side })
    }

    /// The frame that subscribes to what is said at the place where both meet.
    pub fn subscription(&self) -> Vec<u8> {
        let filter = serde_json::json!({ "kinds": [PAIRING_KIND], "#t": [self.channel] });
        serde_json::to_vec(&("REQ", SUBSCRIPTION, filter)).unwrap_or_default()
    }

    /// Says again what was said last, for a way that opened since, and sees whether time ran out.
    pub fn tick(&mut self, now: UnixMs, chance: &mut dyn Chance) -> Progress {
        if self.is_over {
            return Progress::default();
        }
        if self.is_late(now) {
            return self.end(Ended::Expired);
        }
        if now > self.run_until && self.is_answered() {
            return self.run_failed(now, chance);
        }
        match &self.side {
            Side::Joiner { said, .. } => Progress { write: vec![said.clone()], ended: None },
            Side::Inviter { .. } => Progress::default(),
        }
    }

    /// Takes a frame in. Whatever is not of this pairing changes nothing.
    pub fn received(
        &mut self,
        bytes: &[u8],
        sealing: &dyn Sealing,
        now: UnixMs,
        chance: &mut dyn Chance,
    ) -> Progress {
        let Some(frame::Frame::Event(event)) = frame::read(bytes) else {
            return Progress::default();
        };
        let is_here = event.tags.iter().any(|tag| tag.as_slice() == ["t", self.channel.as_str()]);
        if !is_here || event.content.len() > CONTENT_BYTES_MAX || !sealed::is_event(&event, PAIRING_KIND) {
            return Progress::default();
        }
        let Ok(spoken) = canon::from_canonical::<Spoken>(event.content.as_bytes()) else {
            return Progress::default();
        };
        let still_answers = match &self.side {
            Side::Inviter { answered, wrong, .. } => answered.is_some() || !wrong.is_empty(),
            Side::Joiner { .. } => false,
        };
        if self.is_late(now) {
            return if self.is_over { Progress::default() } else { self.end(Ended::Expired) };
        }
        if self.is_over && !still_answers {
            return Progress::default();
        }
        match spoken {
            Spoken::Begin { element } => self.answer_run(&element, now, chance),
            Spoken::Joins { run, sealed } => self.take_joiner(run, &sealed, sealing, now, chance),
            Spoken::Reply { run, element } => self.take_reply(run, &element, sealing, now, chance),
            Spoken::Invites { run, sealed } => self.take_inviter(run, &sealed, sealing),
            Spoken::Wrong { run: wrong, left } => match self.side {
                Side::Joiner { run, keys: Some(_), .. } if run == wrong => {
                    self.failed = TRIES_MAX.saturating_sub(left).max(1);
                    self.end(Ended::WrongCode)
                }
                _ => Progress::default(),
            },
            Spoken::Refuses { run, sealed } => self.take_refusal(run, &sealed),
        }
    }

    /// How often the code may be typed wrong still, as far as this machine knows.
    pub const fn tries_left(&self) -> u32 {
        TRIES_MAX.saturating_sub(self.failed)
    }

    /// Whether somebody who shows the code has answered, at the machine at which it was typed.
    pub const fn is_answered(&self) -> bool {
        matches!(self.side, Side::Joiner { keys: Some(_), .. })
    }

    /// The frame that tells the other machine why this one does not pair, where it knows the code.
    pub fn refuse(&mut self, why: &str, now: UnixMs, chance: &mut dyn Chance) -> Option<Vec<u8>> {
        let (keys, side) = match &self.side {
            Side::Inviter { answered: Some((keys, _)), .. } => (keys, "inviter"),
            Side::Joiner { keys: Some(keys), .. } => (keys, "joiner"),
            _ => return None,
        };
        let (run, sealed) = (keys.run, keys.refuse(side, why, chance).ok()?);
        let frame = self.say(&Spoken::Refuses { run, sealed }, now, chance).ok()?;
        if let Side::Inviter { answered: Some((_, said)), .. } = &mut self.side {
            said.clone_from(&frame);
        }
        self.is_over = true;
        Some(frame)
    }

    /// The other machine does not pair, which it alone can say under the key.
    fn take_refusal(&mut self, run: Digest, sealed: &str) -> Progress {
        let why = match &self.side {
            Side::Inviter { answered: Some((keys, _)), .. } if keys.run == run => {
                keys.refused("joiner", sealed)
            }
            Side::Joiner { keys: Some(keys), .. } if keys.run == run => keys.refused("inviter", sealed),
            _ => None,
        };
        why.map_or_else(Progress::default, |why| self.end(Ended::Refused(why)))
    }

    /// Whether the code counts no more. A clock that was set back makes it count for twice its time at most.
    fn is_late(&self, now: UnixMs) -> bool {
        now > self.until || self.until.0.saturating_sub(now.0) > 2 * CODE_FOR_MS
    }

    fn end(&mut self, ended: Ended) -> Progress {
        self.is_over = true;
        Progress { write: Vec::new(), ended: Some(ended) }
    }

    fn run_failed(&mut self, now: UnixMs, chance: &mut dyn Chance) -> Progress {
        self.failed += 1;
        if self.failed >= TRIES_MAX {
            return self.end(Ended::Silent);
        }
        match (self.begin_run(now, chance), &self.side) {
            (Ok(()), Side::Joiner { said, .. }) => Progress { write: vec![said.clone()], ended: None },
            _ => Progress::default(),
        }
    }

    fn begin_run(&mut self, now: UnixMs, chance: &mut dyn Chance) -> Result<(), Error> {
        let (a, b) = identities(&self.channel);
        let password = Password::new(self.secret.as_bytes());
        let (half, element) = Spake2::<Ed25519Group>::start_b_with_rng(&password, &a, &b, Drawn(chance));
        let element = STANDARD.encode(element);
        let run = Digest::of(element.as_bytes());
        let said = self.say(&Spoken::Begin { element: element.clone() }, now, chance)?;
        self.run_until = now.plus_ms(RUN_MS);
        self.side = Side::Joiner { run, element, half: Some(half), keys: None, said };
        Ok(())
    }

    fn say(&self, spoken: &Spoken, now: UnixMs, chance: &mut dyn Chance) -> Result<Vec<u8>, Error> {
        let content = crate::node::text(spoken)?;
        let event = sealed::signed_once(PAIRING_KIND, ["t", &self.channel], &content, now, chance)?;
        Ok(frame::event(&event))
    }

    /// The machine that shows the code answers the beginning of a run.
    fn answer_run(&mut self, joiner: &str, now: UnixMs, chance: &mut dyn Chance) -> Progress {
        let run = Digest::of(joiner.as_bytes());
        let Side::Inviter { runs, answered, .. } = &mut self.side else {
            return Progress::default();
        };
        if self.is_over || answered.is_some() || (runs.len() >= RUNS_MAX && !runs.contains_key(&run)) {
            return Progress::default();
        }
        let element = match runs.get(&run) {
            Some((_, own)) => own.clone(),
            None => {
                let Ok(element) = STANDARD.decode(joiner) else {
                    return Progress::default();
                };
                let (a, b) = identities(&self.channel);
                let password = Password::new(self.secret.as_bytes());
                let (half, own) = Spake2::<Ed25519Group>::start_a_with_rng(&password, &a, &b, Drawn(chance));
                let own = STANDARD.encode(own);
                let shared = half.finish(&element).ok().map(Zeroizing::new);
                let keys = shared.and_then(|shared| Keys::derive(&self.channel, run, joiner, &own, &shared));
                let Some(keys) = keys else {
                    return Progress::default();
                };
                runs.insert(run, (keys, own.clone()));
                own
            }
        };
        let write = self.say(&Spoken::Reply { run, element }, now, chance);
        Progress { write: write.into_iter().collect(), ended: None }
    }

    /// The machine at which the code was typed has the key, and introduces itself first: a wrong guess is counted at the other.
    fn take_reply(
        &mut self,
        of: Digest,
        inviter: &str,
        sealing: &dyn Sealing,
        now: UnixMs,
        chance: &mut dyn Chance,
    ) -> Progress {
        let channel = self.channel.clone();
        let Side::Joiner { run, element, half, keys, .. } = &mut self.side else {
            return Progress::default();
        };
        let decoded = STANDARD.decode(inviter).ok();
        let (true, Some(theirs), Some(own)) = (*run == of, decoded, half.take()) else {
            return Progress::default();
        };
        let shared = own.finish(&theirs).ok().map(Zeroizing::new);
        let Some(made) = shared.and_then(|shared| Keys::derive(&channel, of, element, inviter, &shared))
        else {
            return self.run_failed(now, chance);
        };
        let sealed = made.seal("joiner", self.about.clone(), sealing, now, chance);
        *keys = Some(made);
        self.run_until = now.plus_ms(RUN_MS);
        let spoken = sealed.and_then(|sealed| self.say(&Spoken::Joins { run: of, sealed }, now, chance));
        let Ok(frame) = spoken else {
            return Progress::default();
        };
        if let Side::Joiner { said, .. } = &mut self.side {
            said.clone_from(&frame);
        }
        Progress { write: vec![frame], ended: None }
    }

    /// The machine that shows the code sees whether the other has the same key.
    fn take_joiner(
        &mut self,
        run: Digest,
        sealed: &str,
        sealing: &dyn Sealing,
        now: UnixMs,
        chance: &mut dyn Chance,
    ) -> Progress {
        let Side::Inviter { runs, answered, wrong } = &mut self.side else {
            return Progress::default();
        };
        let said = match answered {
            Some((keys, frame)) => Some(frame).filter(|_| keys.run == run),
            None => wrong.get_mut(&run),
        };
        if let Some(frame) = said {
            // The other did not hear it: it is said again.
            return Progress { write: vec![frame.clone()], ended: None };
        }
        if self.is_over || answered.is_some() {
            return Progress::default();
        }
        // Each run has one guess.
        let Some((keys, _)) = runs.remove(&run) else {
            return Progress::default();
        };
        let Some((node, about)) = keys.open("joiner", sealed, sealing) else {
            return self.was_wrong(run, now, chance);
        };
        let sealed = keys.seal("inviter", self.about.clone(), sealing, now, chance);
        let spoken = sealed.and_then(|sealed| self.say(&Spoken::Invites { run, sealed }, now, chance));
        let Ok(frame) = spoken else {
            return Progress::default();
        };
        if let Side::Inviter { answered, .. } = &mut self.side {
            *answered = Some((keys, frame.clone()));
        }
        // Only the machine that shows the code tells a group, whatever the other says.
        let ended = self.end(paired(node, Introduction { group: None, ..about }));
        Progress { write: vec![frame], ..ended }
    }

    /// A code was typed that is another one than is shown.
    fn was_wrong(&mut self, run: Digest, now: UnixMs, chance: &mut dyn Chance) -> Progress {
        self.failed += 1;
        let said = self.say(&Spoken::Wrong { run, left: self.tries_left() }, now, chance).ok();
        if let (Side::Inviter { wrong, .. }, Some(frame)) = (&mut self.side, &said) {
            wrong.insert(run, frame.clone());
        }
        let ended = (self.failed >= TRIES_MAX).then_some(Ended::WrongCode);
        self.is_over = ended.is_some();
        Progress { write: said.into_iter().collect(), ended }
    }

    fn take_inviter(&mut self, of: Digest, sealed: &str, sealing: &dyn Sealing) -> Progress {
        let Side::Joiner { run, keys: Some(keys), .. } = &self.side else {
            return Progress::default();
        };
        let opened = keys.open("inviter", sealed, sealing).filter(|_| *run == of);
        match opened {
            Some((node, about)) if node != self.me => self.end(paired(node, about)),
            _ => Progress::default(),
        }
    }
}

fn paired(node: NodeId, about: Introduction) -> Ended {
    let Introduction { name, relays, log_key, approval_key, group } = about;
    Ended::Paired { peer: Peer { node, name, relays, log_key, approval_key }, group }
}
