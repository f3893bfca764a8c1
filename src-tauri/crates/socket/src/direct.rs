//! Sockets between two machines: each proves its key over what the other gave, before anything else is read.
//!
//! Whoever dialled proves itself first. Whoever was dialled answers only a node that is kept: a stranger learns neither its
//! key nor a signature. Both sign the place that was dialled, each as it sees it of its own end: somebody at another place who hands
//! everything on between two machines has proofs that neither takes. Who has that very place, and hands on, is seen by nobody here; what
//! is said is sealed all the same.

use crate::address::one_place;
use crate::line::stand;
use crate::shared::{Accepted, Shared};
use crate::talk::{Heard, Talk};
use crate::wake::Handle;
use crate::{At, Came, lock};
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long both sides may take to agree on a WebSocket and prove their keys.
const PROOF: Duration = Duration::from_secs(10);
/// Bytes of what is to be signed.
const CHALLENGE_BYTES_MAX: usize = 256;
/// Sockets that came here: in all, of those that proved nothing yet, and of those that came from one place. Machines of one network
/// are one place where their addresses are of the newer kind, so that whoever proved its key takes nobody's.
const ACCEPTED_MAX: usize = 64;
const UNPROVEN_MAX: usize = 32;
const FROM_ONE_MAX: usize = 4;
/// For how long a guest is heard, and how much of it.
const GUEST_FOR: Duration = Duration::from_secs(11 * 60);
const GUEST_FRAMES_MAX: usize = 4_096;

/// A frame as far as it is read here.
enum Said {
    /// What is to be signed.
    Challenge(String),
    /// A proof.
    Proof(Vec<u8>),
    /// Anything else.
    Other(Vec<u8>),
}

fn read(frame: Vec<u8>) -> Said {
    let parts: Vec<Value> = serde_json::from_slice(&frame).unwrap_or_default();
    match parts.as_slice() {
        [Value::String(word), Value::String(challenge)] if word == "AUTH" => {
            Said::Challenge(challenge.clone())
        }
        [Value::String(word), Value::Object(_)] if word == "AUTH" => Said::Proof(frame),
        _ => Said::Other(frame),
    }
}

/// Gives the other side something to sign; what it is.
fn challenge(shared: &Shared, talk: &mut Talk) -> Result<String, &'static str> {
    let challenge = shared.proves.challenge();
    if talk.write(json!(["AUTH", challenge]).to_string().into_bytes()) {
        Ok(challenge)
    } else {
        Err("it hung up")
    }
}

/// A place as both sides of a connection write it, in whatever form the system has it.
fn spelled(at: SocketAddr) -> String {
    SocketAddr::new(at.ip().to_canonical(), at.port()).to_string()
}

fn answer(shared: &Shared, talk: &mut Talk, challenge: &str, place: &str) -> Result<(), &'static str> {
    let fits = !challenge.is_empty() && challenge.len() <= CHALLENGE_BYTES_MAX;
    let proof = if fits { shared.proves.answer(challenge, place) } else { None };
    let proof = proof.ok_or("this machine cannot prove its key for what it was given")?;
    if talk.write(proof) { Ok(()) } else { Err("it hung up") }
}

/// Proves this node to one that was dialled, and has it prove itself.
pub(crate) fn prove(
    shared: &Shared,
    talk: &mut Talk,
    handle: &Handle,
    node: &str,
) -> Result<(), &'static str> {
    let until = Instant::now() + PROOF;
    let place = spelled(talk.tcp().peer_addr().map_err(|_| "it hung up")?);
    let own = challenge(shared, talk)?;
    let mut is_answered = false;
    loop {
        match talk.hear(handle, until) {
            Heard::Text(frame) => match read(frame) {
                Said::Challenge(theirs) if !is_answered => {
                    answer(shared, talk, &theirs, &place)?;
                    is_answered = true;
                }
                Said::Proof(proof) => {
                    let proven = shared.proves.check(&own, &place, &proof);
                    let is_node = proven.is_some_and(|proven| proven == node);
                    return if is_node { Ok(()) } else { Err("another machine answers there") };
                }
                Said::Challenge(_) | Said::Other(_) => return Err("it does not prove which machine it is"),
            },
            Heard::End(why) => return Err(why),
            Heard::Nothing | Heard::Other => return Err("it did not prove in time which machine it is"),
        }
    }
}

/// A place among the sockets that came here, until it is dropped.
struct Seat {
    shared: Arc<Shared>,
    number: u64,
    handle: Arc<Handle>,
}

impl Seat {
    fn take(shared: &Arc<Shared>, from: IpAddr) -> Option<Self> {
        let handle = Arc::new(Handle::new().ok()?);
        let from = one_place(from);
        let mut state = lock(&shared.state);
        let (all, places) = (state.accepted.len(), || state.accepted.values());
        let unproven = places().filter(|accepted| !accepted.is_proven).count();
        let same = places().filter(|accepted| !accepted.is_proven && accepted.from == from).count();
        if shared.is_over() || all >= ACCEPTED_MAX || unproven >= UNPROVEN_MAX || same >= FROM_ONE_MAX {
            return None;
        }
        let number = state.number();
        let accepted = Accepted { from, handle: Arc::clone(&handle), is_proven: false };
        state.accepted.insert(number, accepted);
        Some(Self { shared: Arc::clone(shared), number, handle })
    }

    fn prove(&self) {
        if let Some(accepted) = lock(&self.shared.state).accepted.get_mut(&self.number) {
            accepted.is_proven = true;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        lock(&self.shared.state).accepted.remove(&self.number);
    }
}

/// Takes up a connection that came here, where there is room for it.
pub(crate) fn take(shared: &Arc<Shared>, tcp: TcpStream, from: IpAddr) {
    let Some(seat) = Seat::take(shared, from) else { return };
    let until = Instant::now() + PROOF;
    shared.spawn(move |shared| {
        let handle = Arc::clone(&seat.handle);
        let (true, Ok(place)) = (handle.reached(&tcp), tcp.local_addr().map(spelled)) else { return };
        let Some(mut talk) = Talk::accept(tcp, until) else { return };
        match meet(shared, &mut talk, &handle, (place.as_str(), until)) {
            Met::Node(node, theirs) => {
                seat.prove();
                talk.trust();
                serve(shared, &mut talk, &handle, &node, (theirs.as_str(), place.as_str()));
            }
            Met::Guest(first) => guest(shared, &mut talk, &handle, first),
            Met::Nobody => {}
        }
    });
}

/// Who came here.
enum Met {
    /// A node that is kept and proved its key, and what it gave to be signed.
    Node(String, String),
    /// Somebody who speaks without proof while that is welcome: the first frame.
    Guest(Vec<u8>),
    /// Nobody who is heard.
    Nobody,
}

fn meet(shared: &Shared, talk: &mut Talk, handle: &Handle, (place, until): (&str, Instant)) -> Met {
    let Ok(own) = challenge(shared, talk) else { return Met::Nobody };
    let mut theirs = None;
    while let Heard::Text(frame) = talk.hear(handle, until) {
        match (read(frame), theirs.take()) {
            (Said::Challenge(given), None) if given.len() <= CHALLENGE_BYTES_MAX => theirs = Some(given),
            (Said::Proof(proof), Some(theirs)) => {
                let node = shared.proves.check(&own, place, &proof);
                let node = node.filter(|node| lock(&shared.state).admits(node));
                return node.map_or(Met::Nobody, |node| Met::Node(node, theirs));
            }
            (Said::Other(frame), None) => return Met::Guest(frame),
            _ => return Met::Nobody,
        }
    }
    Met::Nobody
}

/// A node that proved its key. It is answered where its socket is the one that stands from now on.
fn serve(shared: &Shared, talk: &mut Talk, handle: &Arc<Handle>, node: &str, (theirs, place): (&str, &str)) {
    let at = At::Direct(node.to_owned());
    if !shared.has_better(&at, false) && answer(shared, talk, theirs, place).is_ok() {
        stand(shared, &at, talk, handle, false);
    }
}

/// Hears a guest that came here.
fn guest(shared: &Shared, talk: &mut Talk, handle: &Arc<Handle>, first: Vec<u8>) {
    let Some(number) = lock(&shared.state).take_guest(handle, false) else { return };
    let is_heard = shared.give(Came::Guest(number, first), || !handle.is_over());
    if is_heard {
        hear_guest(shared, talk, handle, number);
    } else {
        lock(&shared.state).guests.remove(&number);
    }
}

/// Gives on what is said without proof, and not what asks for one.
pub(crate) fn hear_guest(shared: &Shared, talk: &mut Talk, handle: &Handle, number: u64) {
    let mut frames = 0;
    talk.speak(shared, handle, Some(Instant::now() + GUEST_FOR), |frame| {
        frames += 1;
        match read(frame) {
            _ if frames > GUEST_FRAMES_MAX => false,
            Said::Other(frame) => shared.give(Came::Guest(number, frame), || !handle.is_over()),
            Said::Challenge(_) | Said::Proof(_) => true,
        }
    });
    lock(&shared.state).guests.remove(&number);
}
