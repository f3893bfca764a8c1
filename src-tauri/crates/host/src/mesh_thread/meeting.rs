//! A pairing that is under way: at relays, and by sockets that proved nothing and may speak of nothing else. It is forgotten when the
//! process ends; what came of it is on record.

use super::engine::{Drawn, Engine};
use super::fault::Fault;
use super::places::places;
use super::ways::Ways;
use crate::mesh_settings::DIRECT;
use mesh::frame::{self, Frame};
use mesh::pairing::{
    CODE_FOR_MS, Ended, Introduction, PAIRING_KIND, Pairing, Progress, TRIES_MAX, draw_code,
};
use mesh::sealed::Sealing as _;
use mesh::{Command, GroupSecret, NodeId, Peer};
use model::UnixMs;
use model::body::KeyPurpose;
use seal::Digest;
use socket::At;
use std::collections::{BTreeMap, BTreeSet};
use wire::mesh::{Code, PairingState};
use words::mesh::MeshPairingState;

/// How often what was said is said again, in milliseconds.
const AGAIN_MS: i64 = 3_000;
/// How often a machine is dialled again where nobody answered, in milliseconds.
const DIAL_MS: i64 = 5_000;
/// After how long it is said that nobody answered yet, in milliseconds.
const UNHEARD_MS: i64 = 30_000;
const UNHEARD: &str = "Nobody who shows this code has answered yet. Check its first four letters, and that both machines meet at \
                       the same place.";
/// For how long the machine that showed a code still answers once it came to an end, in milliseconds.
const ANSWERS_MS: i64 = 60_000;
/// The frame that ends the subscription of a pairing.
const CLOSE: &[u8] = br#"["CLOSE","hermit-mesh-pairing"]"#;

/// A pairing that was begun.
pub struct Meeting {
    pairing: Pairing,
    is_inviter: bool,
    code: Option<String>,
    until: UnixMs,
    /// Relays at which both meet.
    pub(super) relays: BTreeSet<String>,
    /// Machines that are dialled, and their sockets.
    places: BTreeMap<String, Option<u64>>,
    /// The group that is told.
    group: Option<GroupSecret>,
    /// What came of it and is not on record yet.
    ended: Option<(Peer, Option<GroupSecret>)>,
    state: MeshPairingState,
    with: Option<(NodeId, String)>,
    /// Who refused it and why.
    says: Option<String>,
    /// When it is looked at again.
    pub(super) next: UnixMs,
    /// When machines are dialled again where nobody answered.
    dial_at: UnixMs,
    /// Whether a machine that was dialled did not answer.
    is_deaf: bool,
}

/// How a pairing stands that nobody began.
pub fn no_pairing() -> PairingState {
    PairingState {
        state: MeshPairingState::None,
        code: None,
        until: None,
        node: None,
        name: None,
        tries_left: None,
        says: None,
    }
}

fn conflict(why: &str, hint: &str) -> wire::Error {
    wire::Error::new(wire::Code::Conflict, why).hint(hint)
}

impl Meeting {
    fn new(pairing: Pairing, code: Option<String>, now: UnixMs) -> Self {
        Self {
            pairing,
            is_inviter: code.is_some(),
            code,
            until: now.plus_ms(CODE_FOR_MS),
            relays: BTreeSet::new(),
            places: BTreeMap::new(),
            group: None,
            ended: None,
            state: MeshPairingState::Waiting,
            with: None,
            says: None,
            next: now,
            dial_at: now,
            is_deaf: false,
        }
    }

    fn is_waiting(&self) -> bool {
        self.state == MeshPairingState::Waiting
    }

    /// Whether its time is up. A clock that was set back makes it no longer than twice what a code counts.
    fn is_late(&self, now: UnixMs) -> bool {
        now > self.until || self.until.0.saturating_sub(now.0) > 2 * CODE_FOR_MS
    }

    /// Whether sockets that proved nothing may speak of it.
    pub(super) fn lets_in(&self) -> bool {
        self.is_inviter
    }

    /// What there is to say of it: why it was refused, or that nobody answered yet.
    fn said(&self, now: UnixMs) -> Option<String> {
        if !self.is_waiting() || self.is_inviter {
            return self.says.clone();
        }
        if self.pairing.is_answered() {
            return None;
        }
        if self.relays.is_empty() && self.is_deaf {
            let at: Vec<&str> = self.places.keys().map(String::as_str).collect();
            let at = at.join(", ");
            return Some(format!("Nobody who shows a code answers at {at}. It is tried again."));
        }
        let is_long = now > self.until.plus_ms(UNHEARD_MS - CODE_FOR_MS);
        is_long.then(|| UNHEARD.to_owned())
    }

    /// As surfaces show it.
    pub fn shown(&self, now: UnixMs) -> PairingState {
        let waits = self.is_waiting();
        let is_left = (waits && self.is_inviter) || self.state == MeshPairingState::WrongCode;
        let left = self.pairing.tries_left();
        PairingState {
            tries_left: Some(left).filter(|left| is_left && *left < TRIES_MAX),
            says: self.said(now),
            state: self.state,
            code: self.code.clone().filter(|_| waits),
            until: Some(self.until.0).filter(|_| waits),
            node: self.with.as_ref().map(|(node, _)| node.to_string()),
            name: self.with.as_ref().map(|(_, name)| name.clone()),
        }
    }
}

impl<W: Ways> Engine<W> {
    /// What this machine tells another of itself.
    fn introduction(&self, group: Option<GroupSecret>) -> Result<Introduction, wire::Error> {
        let keys = &self.parts.kernel.ports().keys;
        let locked = || wire::Error::new(wire::Code::KeyLocked, "the log key of this machine is locked");
        let log_key = keys.log().ok_or_else(locked)?.public();
        let approval_key =
            self.parts.kernel.store_state().keys.get(&KeyPurpose::Approval).map(|(_, key)| *key);
        let settings = &self.parts.settings;
        Ok(Introduction {
            name: settings.machine_name(),
            relays: settings.told(),
            log_key,
            approval_key,
            group,
        })
    }

    /// The node, and its group: one that is drawn now, where this machine is in none yet.
    fn speaker(&mut self, chance: &mut Drawn) -> Result<(NodeId, GroupSecret), wire::Error> {
        self.ready().map_err(Fault::into_wire)?;
        let (Some(node), Some(sealing)) = (&self.node, self.parts.proof.sealing()) else {
            return Err(self.is_still().into_wire());
        };
        let group = node.own_group().unwrap_or_else(|| GroupSecret {
            epoch: 1,
            secret: Digest(sealing.draw_group(chance)),
            without: BTreeSet::new(),
            through: BTreeSet::new(),
        });
        Ok((sealing.node(), group))
    }

    /// Shows a code; one that was shown before counts no more.
    ///
    /// # Errors
    /// Where nobody could meet this machine, or the mesh stands still.
    pub fn invite(&mut self) -> Result<Code, wire::Error> {
        let at = self.parts.settings.told();
        if at.is_empty() {
            return Err(conflict(
                "there is no place where another machine could meet this one",
                "name a relay with `hermit mesh on --relay`, or an address of this machine with `--listen`",
            ));
        }
        let (now, mut chance) = (self.now(), self.chance());
        let (me, group) = self.speaker(&mut chance)?;
        let code = draw_code(&mut chance);
        let about = self.introduction(Some(group.clone()))?;
        let pairing = Pairing::invite(me, about, &code, now).map_err(|e| Fault::Node(e).into_wire())?;
        let relays = self.parts.settings.relays.iter().cloned().collect();
        let meeting =
            Meeting { relays, group: Some(group), ..Meeting::new(pairing, Some(code.clone()), now) };
        let until = meeting.until.0;
        self.begin(meeting);
        let bare = |place: String| place.strip_prefix(DIRECT).map(str::to_owned).unwrap_or(place);
        Ok(Code { code, until, at: at.into_iter().map(bare).collect() })
    }

    /// Begins a pairing with the machine that shows a code.
    ///
    /// # Errors
    /// For what is no code or no place, or where the mesh stands still.
    pub fn join(&mut self, code: &str, at: &[String]) -> Result<PairingState, wire::Error> {
        let (mut relays, machines) = places(at)?;
        if relays.is_empty() && machines.is_empty() {
            relays.extend(self.parts.settings.relays.iter().cloned());
        }
        if relays.is_empty() && machines.is_empty() {
            return Err(conflict(
                "it is not said where both machines meet",
                "name the relay or the address that the other machine shows with its code",
            ));
        }
        let (now, mut chance) = (self.now(), self.chance());
        let (me, _) = self.speaker(&mut chance)?;
        let about = self.introduction(None)?;
        let pairing = Pairing::join(me, about, code, now, &mut chance);
        let usage = |e: mesh::Error| wire::Error::new(wire::Code::Usage, e.to_string());
        let places = machines.into_iter().map(|place| (place, None)).collect();
        let meeting = Meeting { relays, places, ..Meeting::new(pairing.map_err(usage)?, None, now) };
        self.begin(meeting);
        let is_nowhere =
            |meeting: &Meeting| meeting.relays.is_empty() && meeting.places.values().all(Option::is_none);
        if self.meeting.as_ref().is_some_and(is_nowhere) {
            self.part();
            return Err(wire::Error::new(wire::Code::Unavailable, "nobody answers there who shows a code")
                .hint("see that the other machine shows its code now, and at which address"));
        }
        Ok(self.pairing())
    }

    fn begin(&mut self, meeting: Meeting) {
        self.part();
        self.meeting = Some(meeting);
        self.connect();
        for (at, is_open, _) in self.parts.ways.stands() {
            if is_open {
                self.meet_at(&at);
            }
        }
        self.meet();
    }

    /// Leaves the places where both met.
    fn part(&mut self) {
        let Some(meeting) = self.meeting.take() else { return };
        leave(&self.parts.ways, meeting.relays, meeting.places);
    }

    /// A relay opened: where both meet there, it is listened to.
    pub(super) fn meet_at(&mut self, at: &At) {
        let (At::Relay(url), Some(meeting)) = (at, &mut self.meeting) else { return };
        if meeting.relays.contains(url) {
            meeting.next = UnixMs(0);
            let frame = meeting.pairing.subscription();
            self.parts.ways.write(at, frame);
        }
    }

    /// How the pairing stands that was begun last.
    pub fn pairing(&self) -> PairingState {
        let now = self.now();
        self.meeting.as_ref().map_or_else(no_pairing, |meeting| meeting.shown(now))
    }

    /// Does what is due of a pairing.
    pub(super) fn meet(&mut self) {
        let (now, mut chance) = (self.now(), self.chance());
        let Some(meeting) = &mut self.meeting else { return };
        // A clock that was set back holds nothing up.
        if meeting.next > now && meeting.next <= now.plus_ms(CODE_FOR_MS) {
            return;
        }
        meeting.next = now.plus_ms(AGAIN_MS);
        if !meeting.is_waiting() {
            self.has_met(now);
            return;
        }
        if meeting.is_late(now) && meeting.ended.take().is_some() {
            tracing::warn!("a pairing could not be put on record while its code counted");
            self.end(MeshPairingState::Expired);
            return;
        }
        let progress = meeting.pairing.tick(now, &mut chance);
        self.dial();
        self.went(progress, None);
    }

    /// A pairing that came to its end is let go of, once nobody may have missed its last words.
    fn has_met(&mut self, now: UnixMs) {
        let Some(meeting) = &mut self.meeting else { return };
        if meeting.relays.is_empty() && meeting.places.is_empty() && !meeting.is_inviter {
            meeting.next = now.plus_ms(CODE_FOR_MS);
            return;
        }
        if meeting.is_late(now) {
            meeting.is_inviter = false;
            let (relays, places) = (std::mem::take(&mut meeting.relays), std::mem::take(&mut meeting.places));
            leave(&self.parts.ways, relays, places);
            self.connect();
        }
    }

    /// Dials the machines that a person named, as long as nobody answers there.
    fn dial(&mut self) {
        let now = self.now();
        let Some(meeting) = self.meeting.as_mut().filter(|meeting| meeting.is_waiting()) else { return };
        let may_dial = meeting.dial_at <= now || meeting.dial_at > now.plus_ms(DIAL_MS);
        for (place, guest) in &mut meeting.places {
            let said = meeting.pairing.subscription();
            // What says nothing of a pairing is not heard there; it shows whether the socket stands.
            if guest.is_some_and(|guest| self.parts.ways.write_guest(guest, said)) {
                continue;
            }
            meeting.is_deaf |= guest.take().is_some();
            if may_dial {
                meeting.dial_at = now.plus_ms(DIAL_MS);
                let dialled = self.parts.ways.dial_guest(place);
                *guest = dialled.inspect_err(|why| tracing::info!(%why, "no machine is dialled")).ok();
            }
        }
    }

    /// A frame that may be one of a pairing; whether it was.
    pub(super) fn hear_pairing(&mut self, bytes: &[u8], guest: Option<u64>) -> bool {
        let Some(meeting) = &mut self.meeting else { return false };
        let is_of_one = matches!(frame::read(bytes), Some(Frame::Event(event)) if event.kind == PAIRING_KIND);
        let Some(sealing) = self.parts.proof.sealing().filter(|_| is_of_one) else { return is_of_one };
        let now = self.parts.kernel.ports().clock.now();
        let mut chance = Drawn(std::sync::Arc::clone(&self.parts.kernel.ports().entropy));
        let progress = meeting.pairing.received(bytes, &*sealing, now, &mut chance);
        self.went(progress, guest);
        true
    }

    /// What a pairing says, and what came of it.
    fn went(&mut self, progress: Progress, guest: Option<u64>) {
        let Some(meeting) = &mut self.meeting else { return };
        let mut write = progress.write;
        match progress.ended {
            Some(Ended::Paired { peer, group }) if meeting.is_waiting() => {
                meeting.ended = Some((peer, group));
            }
            Some(Ended::WrongCode) => self.end(MeshPairingState::WrongCode),
            Some(Ended::Expired) => self.end(MeshPairingState::Expired),
            Some(Ended::Refused(why)) => self.is_refused(&why),
            Some(Ended::Silent) => self.refuse(
                "Somebody answered three times and then said nothing more. Show a new code, and type that."
                    .to_owned(),
            ),
            Some(Ended::Paired { .. }) | None => {}
        }
        if let Some(refusal) = self.keep_pairing() {
            // Whoever is refused is told nothing else.
            write = vec![refusal];
        }
        let Some(meeting) = &self.meeting else { return };
        // What is not on record is not said.
        if meeting.ended.is_some() {
            return;
        }
        for frame in write {
            if let Some(guest) = guest {
                self.parts.ways.write_guest(guest, frame);
                continue;
            }
            for url in &meeting.relays {
                self.parts.ways.write(&At::Relay(url.clone()), frame.clone());
            }
            for guest in meeting.places.values().flatten() {
                self.parts.ways.write_guest(*guest, frame.clone());
            }
        }
    }

    /// Nobody is waited for any more.
    fn end(&mut self, state: MeshPairingState) {
        let now = self.now();
        let Some(meeting) = &mut self.meeting else { return };
        if !meeting.is_waiting() {
            return;
        }
        meeting.state = state;
        let answers = state != MeshPairingState::Expired && meeting.is_inviter;
        meeting.until = if answers { now.plus_ms(ANSWERS_MS) } else { now.plus_ms(-1) };
        meeting.next = if answers { meeting.until } else { now };
    }

    /// It came to nothing, since one of both refuses it.
    fn refuse(&mut self, says: String) {
        if let Some(meeting) = &mut self.meeting {
            (meeting.says, meeting.ended) = (Some(says), None);
        }
        self.end(MeshPairingState::Refused);
    }

    /// The other machine says that it does not pair. Where this one has it on record by then, it says that too.
    fn is_refused(&mut self, why: &str) {
        let Some(meeting) = &mut self.meeting else { return };
        match meeting.state {
            MeshPairingState::Paired => {
                let name = meeting.with.as_ref().map_or("The other machine", |(_, name)| name.as_str());
                let says = format!(
                    "{name} refused it: {why}. This machine lists it as paired, but it will not answer. Withdraw it here, or \
                     fix that and pair both again."
                );
                (meeting.says, meeting.state) = (Some(says), MeshPairingState::Refused);
            }
            MeshPairingState::Waiting => {
                self.refuse(format!("The machine that shows the code refused it: {why}."));
            }
            // By two relays it comes twice.
            _ => {}
        }
    }

    /// Has on record what a pairing came to; the frame by which the other machine is told that this one refuses it. What fails
    /// is tried again as long as the code counts.
    fn keep_pairing(&mut self) -> Option<Vec<u8>> {
        let (peer, given) = self.meeting.as_ref()?.ended.clone()?;
        if let Err(error) = self.ready() {
            tracing::warn!(%error, "a pairing is not on record; it is tried again");
            return None;
        }
        let meeting = self.meeting.as_ref()?;
        let is_first = self.node.as_ref().is_some_and(|node| node.own_group().is_none());
        // The group that was told is this machine's from now on, where it had none.
        let group = if meeting.is_inviter { meeting.group.clone().filter(|_| is_first) } else { given };
        let with = (peer.node, peer.name.clone());
        let kept = self.say(vec![Command::Pair { peer, group }], None, true);
        let (now, mut chance) = (self.now(), self.chance());
        let meeting = self.meeting.as_mut()?;
        match kept {
            Ok(()) => {
                (meeting.ended, meeting.with) = (None, Some(with));
                self.end(MeshPairingState::Paired);
                self.tell();
            }
            Err(Fault::Node(error)) => {
                tracing::warn!(%error, "a pairing is refused here");
                // It is read at both machines.
                let why = match error {
                    mesh::Error::TooLarge => "it has as many machines as it may have",
                    _ => "a key that was withdrawn is not paired again, and no machine is paired with itself",
                };
                let told = meeting.pairing.refuse(why, now, &mut chance);
                let says = format!("This machine refused {}: {why}.", with.1);
                meeting.with = Some(with);
                self.refuse(says);
                return told;
            }
            Err(error) => tracing::warn!(%error, "a pairing is not on record; it is tried again"),
        }
        None
    }
}

/// Listens no more at relays where both met, and ends sockets that were dialled for it.
fn leave<W: Ways>(ways: &W, relays: BTreeSet<String>, places: BTreeMap<String, Option<u64>>) {
    for url in relays {
        ways.write(&At::Relay(url), CLOSE.to_vec());
    }
    places.into_values().flatten().for_each(|guest| ways.hang_up_guest(guest));
}
