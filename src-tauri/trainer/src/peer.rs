//! A peer of training together: it learns alone for some steps, writes down how far it came for its host to sign and
//! send, and goes on from the mean of what was counted. Each word is one call, so that a peer may be killed, go and come.

use crate::adamw::Learned;
use crate::adapter::{Numbers, by_name, flat};
use crate::checkpoint::{from_bytes, is_like, to_bytes};
use crate::run::step;
use crate::session::Session;
use crate::{Done, Problem, device};
use seal::{Digest, PublicKey, Signature};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use training::outer::{
    Compressor, MESSAGE_BYTES_MAX, OuterMessage, OuterSettings, Packed, Rounds, SignedMessage, State,
    pseudo_gradient,
};
use training::{RunSpec, Said};

/// Steps that a peer does alone in a round.
pub const STEPS_MAX: u32 = 10_000;

/// Bytes of the list of what is counted.
const COUNTED_BYTES_MAX: u64 = 1024 * 1024;

/// What is counted in a round, as the host of a peer says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedFiles {
    /// Which round it is, where its host knows: one that this peer ended before is not ended again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// How the round is ended; the same at all peers.
    pub settings: OuterSettings,
    /// The messages.
    pub messages: Vec<MessageFile>,
}

/// A message that came: who signed it, and the file of its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageFile {
    /// Who.
    pub peer: PublicKey,
    /// The signature.
    pub signature: Signature,
    /// The file.
    pub file: String,
}

/// A peer with its files.
struct Peer {
    folder: PathBuf,
    of: Digest,
    like: Numbers,
}

impl Peer {
    fn new(session: &Session) -> Done<Self> {
        let folder = session.folder().join("together");
        fs::create_dir_all(&folder).map_err(|error| Problem::of_file(&folder, error))?;
        Ok(Self { folder, of: session.spec.together(), like: session.adapter.numbers()? })
    }

    fn read(&self, name: &str, groups: &[&'static str]) -> Done<Option<(u32, Vec<Numbers>)>> {
        let path = self.folder.join(name);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = fs::read(&path).map_err(|error| Problem::of_file(&path, error))?;
        let (round, found) =
            from_bytes(&bytes, self.of, groups).map_err(|problem| Problem::of_file(&path, problem))?;
        if found.iter().any(|numbers| !is_like(numbers, &self.like)) {
            return Err(Problem::of_file(&path, "it is of another adapter"));
        }
        Ok(Some((round, found)))
    }

    fn write(&self, name: &str, round: u32, groups: Vec<(&'static str, Numbers)>) -> Done<()> {
        let path = self.folder.join(name);
        let bytes = to_bytes(self.of, round, &groups)?;
        disk::replace(&path, &bytes).map_err(|error| Problem::of_file(&path, error))
    }

    /// The state of the round: what the last one ended with, or what all begin with.
    fn state(&self) -> Done<State> {
        let Some((round, found)) = self.read("state.safetensors", &["numbers", "velocity"])? else {
            return Ok(State::first(flat(&self.like)));
        };
        let [numbers, velocity] = found.as_slice() else { return Err(Problem::new("a state has two parts")) };
        Ok(State { round, parameters: flat(numbers), velocity: flat(velocity) })
    }

    fn keep_state(&self, state: &State) -> Done<()> {
        let numbers = by_name(&self.like, &state.parameters)?;
        let velocity = by_name(&self.like, &state.velocity)?;
        self.write("state.safetensors", state.round, vec![("numbers", numbers), ("velocity", velocity)])
    }

    /// Means of gradients and what was not sent, as they are before a round.
    fn own(&self) -> Done<(u32, Numbers, Numbers, Numbers)> {
        let none: Numbers =
            self.like.iter().map(|(name, own)| (name.clone(), vec![0.0; own.len()])).collect();
        let Some((steps, mut found)) = self.read("peer.safetensors", &["first", "second", "left"])? else {
            return Ok((0, none.clone(), none.clone(), none));
        };
        let mut next = || found.pop().unwrap_or_default();
        let (left, second, first) = (next(), next(), next());
        Ok((steps, first, second, left))
    }

    fn message(&self, round: u32) -> PathBuf {
        self.folder.join(format!("round-{round:06}.bin"))
    }
}

/// Learns alone from the state of the round, and writes how far that came. Said again for the same round it does the
/// same again: what a peer keeps moves on only where a round ends.
///
/// # Errors
/// It cannot be done; in words.
pub fn learn(spec: &RunSpec, steps: u32, keep_percent: u32, say: &mut dyn FnMut(&Said)) -> Done<()> {
    if steps == 0 || steps > STEPS_MAX || keep_percent == 0 || keep_percent > 100 {
        return Err(Problem::new(format!(
            "a peer does between 1 and {STEPS_MAX} steps, and sends between 1 and 100 of a hundred places"
        )));
    }
    let session = Session::open(spec, say)?;
    say(&Said::RunsOn { on: device::ran_on(spec) });
    let peer = Peer::new(&session)?;
    let state = peer.state()?;
    let (done, first, second, left) = peer.own()?;
    let mut learned = Learned { step: done, numbers: by_name(&peer.like, &state.parameters)?, first, second };
    session.adapter.set(&learned.numbers)?;
    for _ in 0..steps {
        let begun = Instant::now();
        let loss = step(&session, &mut learned)?;
        let examples_per_s = spec.batch as f32 / begun.elapsed().as_secs_f32().max(f32::EPSILON);
        say(&Said::Progress { step: learned.step, loss, examples_per_s, memory: crate::memory::peak() });
    }
    let way = pseudo_gradient(&state.parameters, &flat(&learned.numbers))?;
    let mut compressor = Compressor::from_left(flat(&left))?;
    let keep = (way.len() * keep_percent as usize).div_ceil(100);
    let packed = compressor.pack(&way, keep)?;
    let message = OuterMessage { run: peer.of, round: state.round, state: state.digest(), steps, packed };
    let bytes = message.to_sign();
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(Problem::new(format!(
            "what is to be sent has {} bytes, and {MESSAGE_BYTES_MAX} are taken: send fewer of a hundred places",
            bytes.len()
        )));
    }
    let left = by_name(&peer.like, compressor.left())?;
    let groups = vec![("first", learned.first), ("second", learned.second), ("left", left)];
    peer.write("peer-next.safetensors", learned.step, groups)?;
    let path = peer.message(state.round);
    disk::replace(&path, &bytes).map_err(|error| Problem::of_file(&path, error))?;
    say(&Said::Round {
        round: state.round,
        file: path.to_string_lossy().into_owned(),
        bytes: bytes.len() as u64,
        whole: way.len() as u64 * 4,
    });
    Ok(())
}

/// Ends the round with what is counted. What this peer wrote and is not among it goes back to what it has to send.
///
/// # Errors
/// A message does not hold, or they are too few; the round then goes on.
pub fn end_round(spec: &RunSpec, counted: &Path, say: &mut dyn FnMut(&Said)) -> Done<()> {
    let session = Session::open(spec, say)?;
    let peer = Peer::new(&session)?;
    let state = peer.state()?;
    let list: CountedFiles = serde_json::from_slice(&bounded(counted, COUNTED_BYTES_MAX)?)
        .map_err(|error| Problem::of_file(counted, error))?;
    if list.round.and_then(|round| round.checked_add(1)) == Some(state.round) {
        return written(spec, (&session, &peer), &state, say);
    }
    let peers: BTreeSet<PublicKey> = list.messages.iter().map(|message| message.peer).collect();
    let mut rounds = Rounds::new(peer.of, list.settings, state.clone(), peers)?;
    let own = peer.message(state.round);
    let own = if own.exists() { Some(bounded(&own, MESSAGE_BYTES_MAX as u64)?) } else { None };
    let mut is_counted = false;
    for message in &list.messages {
        let bytes = bounded(Path::new(&message.file), MESSAGE_BYTES_MAX as u64)?;
        is_counted |= own.as_ref() == Some(&bytes);
        rounds.take(&SignedMessage { peer: message.peer, bytes, signature: message.signature })?;
    }
    let all = rounds.heard();
    let next = rounds.end(&all)?.clone();
    settle(&peer, own.as_deref(), is_counted)?;
    peer.keep_state(&next)?;
    // The message before this one was needed until the state behind it was written.
    if let Some(old) = state.round.checked_sub(1).map(|round| peer.message(round)) {
        let _ = fs::remove_file(old);
    }
    written(spec, (&session, &peer), &next, say)
}

/// Writes the adapter that a round ended with as one that can be measured and exported.
fn written(
    spec: &RunSpec,
    (session, peer): (&Session, &Peer),
    next: &State,
    say: &mut dyn FnMut(&Said),
) -> Done<()> {
    let numbers = by_name(&peer.like, &next.parameters)?;
    session.adapter.set(&numbers)?;
    let learned = Learned { step: next.round, ..Learned::new(numbers) };
    let (path, sha256) = crate::checkpoint::write(&session.folder(), spec.lineage(), &learned)?;
    say(&Said::Checkpoint { step: next.round, file: path.to_string_lossy().into_owned(), sha256 });
    Ok(())
}

/// What the peer keeps moves on to what it had after its last steps, once.
fn settle(peer: &Peer, own: Option<&[u8]>, is_counted: bool) -> Done<()> {
    let Some(own) = own else { return Ok(()) };
    let Some((steps, found)) = peer.read("peer-next.safetensors", &["first", "second", "left"])? else {
        return Ok(());
    };
    let [first, second, left] = found.as_slice() else {
        return Err(Problem::new("a peer keeps three parts"));
    };
    let mut compressor = Compressor::from_left(flat(left))?;
    if !is_counted {
        let length =
            u32::try_from(flat(&peer.like).len()).map_err(|_| Problem::new("the adapter is too long"))?;
        let packed: Packed = OuterMessage::from_bytes(own, length)?.packed;
        compressor.take_back(&packed);
    }
    let left = by_name(&peer.like, compressor.left())?;
    peer.write(
        "peer.safetensors",
        steps,
        vec![("first", first.clone()), ("second", second.clone()), ("left", left)],
    )
}

fn bounded(path: &Path, most: u64) -> Done<Vec<u8>> {
    let length = fs::metadata(path).map_err(|error| Problem::of_file(path, error))?.len();
    if length > most {
        return Err(Problem::of_file(path, format!("it is longer than {most} bytes")));
    }
    fs::read(path).map_err(|error| Problem::of_file(path, error))
}
