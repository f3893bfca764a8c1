//! What the node has of the network: where this machine listens, whom it connects to, which ways are open, and what it tells of itself.

use super::engine::Engine;
use super::fault::Fault;
use super::meeting::Meeting;
use super::reach::reach;
use super::ways::Ways;
use crate::mesh_settings::{DIRECT, MeshSettings};
use ledger::CheckpointKind;
use mesh::carry::Packed;
use mesh::{Capabilities, Command, Happened, NodeId, Way};
use socket::{At, Came};
use std::collections::BTreeSet;

/// By how much a machine has to be busier or less busy before it says so, in per cent.
const LOAD_STEP: u8 = 10;

impl<W: Ways> Engine<W> {
    pub(super) fn listen(&mut self) {
        self.deaf = self.parts.ways.listen(self.parts.settings.listen).err();
        if let Some(why) = &self.deaf {
            tracing::warn!(why, "paired machines cannot reach this one directly; it is tried again");
        }
    }

    /// Other settings, from now on.
    ///
    /// # Errors
    /// When it cannot listen where it is to.
    pub fn take(&mut self, settings: MeshSettings) -> Result<(), wire::Error> {
        let is_elsewhere = settings.listen != self.parts.settings.listen || self.deaf.is_some();
        self.parts.settings = settings;
        self.ready().map_err(Fault::into_wire)?;
        if is_elsewhere {
            self.listen();
        }
        self.tell();
        self.connect();
        match (&self.deaf, self.parts.settings.listen) {
            (Some(why), Some(at)) => {
                let why = format!("nothing can listen at `{at}`: {why}");
                Err(wire::Error::new(wire::Code::Usage, why)
                    .hint("name an address that this machine has, and a port that no other program has"))
            }
            _ => Ok(()),
        }
    }

    /// Has the node tell everybody that it is here, with the newest head of the log, or no more, as its person set it.
    fn publicise(&mut self) {
        let is_on = self.parts.settings.public;
        let newest =
            || self.parts.kernel.reader().last_checkpoint(CheckpointKind::Global, None).ok().flatten();
        let head = is_on.then(newest).flatten().and_then(|head| String::from_utf8(head.note).ok());
        if self.node.is_none() || self.public == (is_on, head.clone()) {
            return;
        }
        if self.say(vec![Command::Public { is_on, head: head.clone() }], None, false).is_ok() {
            self.public = (is_on, head);
        }
    }

    /// Tells the group what this machine can do, where that is another than before.
    pub(super) fn tell(&mut self) {
        self.tell_group();
        self.publicise();
    }

    fn tell_group(&mut self) {
        let settings = &self.parts.settings;
        let tools = self.parts.kernel.tool_registry().0.into_iter();
        let tools = tools.filter(|(_, server)| server.disabled.is_none() && server.latest().is_some());
        let can = Capabilities {
            tools: fit(tools.map(|(name, _)| name)),
            models: fit(self.parts.terms.models(settings).into_iter()),
            folders: settings.folders.keys().cloned().collect(),
        };
        let (load, relays) = (self.parts.drives.busy_percent(), settings.told());
        let is_same = self.told.as_ref().is_some_and(|(before, busy, read)| {
            *before == can && *read == relays && busy.abs_diff(load) < LOAD_STEP
        });
        if is_same || self.node.is_none() {
            return;
        }
        let tell = Command::Tell { can: can.clone(), load, relays: relays.clone() };
        if self.say(vec![tell], None, false).is_ok() {
            self.told = Some((can, load, relays));
        }
    }

    /// Connects to whom it is to, as things stand.
    pub(super) fn connect(&mut self) {
        let Some(node) = &self.node else { return };
        let settings = &self.parts.settings;
        let met = self.meeting.iter().flat_map(|meeting| &meeting.relays);
        let found = reach(settings.relays.iter().chain(met), node.state().peers(), settings.listen);
        let paired: BTreeSet<String> = node.state().peers().map(|peer| peer.node.to_string()).collect();
        self.parts.ways.accept_guests(self.meeting.as_ref().is_some_and(Meeting::lets_in));
        self.parts.ways.admit(&paired);
        self.parts.ways.keep(&found);
        self.direct = found.direct;
        self.know_ways();
    }

    /// Tells the node which ways are open. At a relay where a pairing meets and nobody reads it says nothing.
    pub(super) fn know_ways(&mut self) {
        let Some(node) = &self.node else { return };
        let relays = node.relays();
        let is_its = |way: &Way| {
            matches!(way, Way::Direct(_)) || matches!(way, Way::Relay(url) if relays.contains(url))
        };
        let stands = self.parts.ways.stands();
        let open = stands.iter().filter(|(_, is_open, _)| *is_open).filter_map(|(at, ..)| way_of(at));
        let open: BTreeSet<Way> = open.filter(is_its).collect();
        let shut: Vec<Way> = self.up.difference(&open).cloned().collect();
        let opened: Vec<Way> = open.difference(&self.up).cloned().collect();
        for way in shut {
            self.up.remove(&way);
            self.hears_of(Happened::Down(way));
        }
        for way in opened {
            self.up.insert(way.clone());
            self.hears_of(Happened::Up(way));
        }
    }

    /// A way opened, or shut.
    pub(super) fn changed(&mut self, at: &At, says: Option<String>) {
        let Some(way) = way_of(at) else { return };
        if self.up.remove(&way) {
            self.hears_of(Happened::Down(way.clone()));
        }
        match says {
            Some(says) => self.says.insert(way, says),
            None => self.says.remove(&way),
        };
        self.know_ways();
    }

    /// Something came by a way.
    pub fn hears(&mut self, came: Came) {
        match came {
            Came::Open(at) => {
                self.changed(&at, None);
                self.meet_at(&at);
                self.meet();
            }
            Came::Shut(at, why) => self.changed(&at, Some(why)),
            Came::Bytes(at, bytes) => {
                let is_relay = matches!(at, At::Relay(_));
                if is_relay && self.hear_pairing(&bytes, None) {
                    return;
                }
                if let Some(way) = way_of(&at) {
                    self.hears_of(Happened::Received { way, bytes });
                }
            }
            Came::Guest(guest, bytes) => {
                self.hear_pairing(&bytes, Some(guest));
            }
        }
    }

    /// Everything that waits for a machine, or for any, as a file to carry.
    ///
    /// # Errors
    /// When something cannot be sealed, or the mesh stands still.
    pub fn export(&mut self, only: Option<NodeId>) -> Result<Packed, wire::Error> {
        self.ready().map_err(Fault::into_wire)?;
        let (now, mut chance) = (self.now(), self.chance());
        let Some(node) = &self.node else { return Err(self.is_still().into_wire()) };
        if let Some(only) = only.filter(|only| !node.state().is_peer(*only)) {
            return Err(Fault::Node(mesh::Error::NotPaired(only)).into_wire());
        }
        node.export(only, now, &mut chance).map_err(|e| Fault::Node(e).into_wire())
    }

    /// The mesh as it is now.
    pub fn shown(&self) -> api::MeshLive {
        // As the node was told it: a relay at which only a pairing meets is none of its ways.
        let is_reached = self.node.is_some() && !self.up.is_empty();
        let mut live = api::MeshLive { is_reached, ..api::MeshLive::default() };
        for (at, is_open, why) in self.parts.ways.stands() {
            let (place, node) = match &at {
                At::Relay(url) => (url.clone(), None),
                At::Direct(node) => {
                    let place = self.direct.get(node).map(|at| format!("{DIRECT}{at}"));
                    (place.unwrap_or_default(), node.parse::<NodeId>().ok())
                }
            };
            let said = way_of(&at).and_then(|way| self.says.get(&way).cloned());
            live.ways.push(api::MeshWay { at: place, node, is_open, says: said.or(why) });
        }
        let listens = self.parts.settings.listen.map(|at| format!("{DIRECT}{at}"));
        let wrong = [(listens, &self.deaf), (Some(self.parts.settings.machine_name()), &self.still)];
        for (at, why) in wrong {
            if let (Some(at), Some(why)) = (at, why) {
                live.ways.push(api::MeshWay { at, node: None, is_open: false, says: Some(why.clone()) });
            }
        }
        for (node, told) in self.node.iter().flat_map(|node| node.here()) {
            let presence = api::Presence { until: told.until, can: told.can.clone(), load: told.load };
            live.here.insert(node, presence);
        }
        live.public = self.node.iter().flat_map(|node| node.public()).collect();
        live
    }
}

/// Names that can be told.
fn fit(names: impl Iterator<Item = String>) -> BTreeSet<String> {
    let is_fit = |name: &String| {
        let one = Capabilities { tools: BTreeSet::from([name.clone()]), ..Capabilities::default() };
        one.is_fit()
    };
    names.filter(is_fit).take(mesh::CAPABILITIES_MAX).collect()
}

/// The way of a socket.
pub(super) fn way_of(at: &At) -> Option<Way> {
    match at {
        At::Relay(url) => Some(Way::Relay(url.clone())),
        At::Direct(node) => node.parse().ok().map(Way::Direct),
    }
}

pub(super) fn at_of(way: &Way) -> Option<At> {
    match way {
        Way::Relay(url) => Some(At::Relay(url.clone())),
        Way::Direct(node) => Some(At::Direct(node.to_string())),
        Way::Carried => None,
    }
}
