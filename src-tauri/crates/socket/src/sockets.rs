//! What whoever uses the room sees of it.

use crate::address::Whom;
use crate::direct::hear_guest;
use crate::line::Line;
use crate::link::Terms;
use crate::listener::Listener;
use crate::shared::Shared;
use crate::talk::Talk;
use crate::wake::Handle;
use crate::{At, Came, FRAME_BYTES_MAX, Fault, GUEST_FRAME_BYTES_MAX, Proves, lock};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use ureq::tls::Certificate;
use url::Url;

/// Relays that are kept connected, and nodes that are dialled. The first of those that are named are.
const RELAYS_MAX: usize = 64;
const NODES_MAX: usize = 64;
/// How long it is waited for threads to end.
const END: Duration = Duration::from_millis(1900);

/// Connections to relays and to other nodes. What comes goes into the channel that is given at the beginning; where it is full,
/// nothing more is read.
pub struct Sockets {
    shared: Arc<Shared>,
}

impl Sockets {
    /// No connection and no thread, until something is set.
    pub fn begin(
        came: SyncSender<Came>,
        proves: Arc<dyn Proves>,
        authorities: Vec<Certificate<'static>>,
    ) -> Self {
        Self { shared: Arc::new(Shared::new(came, proves, authorities)) }
    }

    /// Keeps these relays and these nodes (where: `host:port`) connected, and drops what is not named.
    pub fn keep(&self, relays: &BTreeSet<String>, direct: &BTreeMap<String, String>) {
        let mut begun = Vec::new();
        let mut state = lock(&self.shared.state);
        let relays: BTreeSet<&String> = relays.iter().take(RELAYS_MAX).collect();
        state.relays.retain(|url, line| relays.contains(url) || dropped(line));
        for named in relays {
            if !state.relays.contains_key(named)
                && let (Some(url), Ok(line)) = (relay_url(named), Line::new())
            {
                let line = Arc::new(line);
                state.relays.insert(named.clone(), Arc::clone(&line));
                begun.push((line, url, named.clone(), true));
            }
        }
        let direct: BTreeMap<&String, &String> = direct.iter().take(NODES_MAX).collect();
        state.direct.retain(|node, (at, line)| direct.get(node) == Some(&&*at) || dropped(line));
        for (node, at) in direct {
            if !state.direct.contains_key(node)
                && let (Some(url), Ok(line)) = (node_url(at), Line::new())
            {
                let line = Arc::new(line);
                state.direct.insert(node.clone(), (at.clone(), Arc::clone(&line)));
                begun.push((line, url, node.clone(), false));
            }
        }
        state.end_strangers();
        drop(state);
        for (line, url, named, is_relay) in begun {
            self.shared.spawn(move |shared| match is_relay {
                true => line.to_relay(shared, &url, &named),
                false => line.to_node(shared, &url, &named),
            });
        }
    }

    /// Of the relays that are kept, those that another machine named: they are connected to only at addresses that everybody
    /// reaches. To be set before [`Self::keep`].
    pub fn only_public(&self, relays: &BTreeSet<String>) {
        lock(&self.shared.state).only_public.clone_from(relays);
    }

    /// Listens at an address, or nowhere; where it listens. What came there before goes on.
    ///
    /// # Errors
    /// When it cannot listen there; then it listens nowhere.
    pub fn listen(&self, at: Option<SocketAddr>) -> Result<Option<SocketAddr>, Fault> {
        let former = {
            let mut state = lock(&self.shared.state);
            let same = state.listener.as_ref().filter(|listener| Some(listener.asked()) == at);
            if let Some(address) = same.map(Listener::address) {
                return Ok(Some(address));
            }
            state.listener.take()
        };
        drop(former);
        let Some(at) = at else { return Ok(None) };
        let listener = Listener::begin(&self.shared, at)
            .map_err(|error| Fault::new(format!("`{at}`: {}", error.kind())))?;
        let address = listener.address();
        lock(&self.shared.state).listener = Some(listener);
        Ok(Some(address))
    }

    /// Whether who proved nothing may speak here. Guests that came here end where it may not.
    pub fn accept_guests(&self, are_welcome: bool) {
        let mut state = lock(&self.shared.state);
        state.are_guests_welcome = are_welcome;
        if !are_welcome {
            let came_here = state.guests.values().filter(|guest| !guest.is_dialled);
            came_here.for_each(|guest| guest.handle.end());
        }
    }

    /// Whose sockets are kept, beside those of the nodes that are dialled.
    pub fn admit(&self, nodes: &BTreeSet<String>) {
        let mut state = lock(&self.shared.state);
        state.admitted.clone_from(nodes);
        state.end_strangers();
    }

    /// Connects as a guest to a machine that lets guests in (`host:port`), for as long as it hears guests; the guest's number. It is
    /// not waited for here: what is written until it answers is kept for it, and where it never does the guest is gone.
    ///
    /// # Errors
    /// For what is no such place, or when this machine is a guest at too many.
    pub fn dial_guest(&self, at: &str) -> Result<u64, Fault> {
        let url = node_url(at).ok_or_else(|| Fault::new(format!("`{at}` is no host with a port")))?;
        let in_words = |error: std::io::Error| Fault::new(error.kind().to_string());
        let handle = Arc::new(Handle::new().map_err(in_words)?);
        let number = lock(&self.shared.state).take_guest(&handle, true);
        let number = number.ok_or_else(|| Fault::new("this machine is a guest at too many"))?;
        let is_begun = self.shared.spawn(move |shared| {
            let reached = |tcp: &TcpStream| handle.reached(tcp);
            let terms = Terms { whom: Whom::Anybody, by_proxy: false, reached: &reached };
            match Talk::dial(&url, &shared.authorities, &terms, GUEST_FRAME_BYTES_MAX) {
                Ok(mut talk) => hear_guest(shared, &mut talk, &handle, number),
                Err(_) => drop(lock(&shared.state).guests.remove(&number)),
            }
        });
        if !is_begun {
            lock(&self.shared.state).guests.remove(&number);
            return Err(Fault::new("the system has no thread left"));
        }
        Ok(number)
    }

    /// Ends what a guest says, whoever dialled.
    pub fn hang_up_guest(&self, guest: u64) {
        if let Some(guest) = lock(&self.shared.state).guests.get(&guest) {
            guest.handle.end();
        }
    }

    /// Puts a frame of text to those that wait for a connection; not where it does not stand, too many wait, or nobody would read
    /// it.
    pub fn write(&self, at: &At, bytes: Vec<u8>) -> bool {
        let is_read = bytes.len() <= FRAME_BYTES_MAX && str::from_utf8(&bytes).is_ok();
        is_read && lock(&self.shared.state).open.get(at).is_some_and(|open| open.handle.push(bytes))
    }

    /// The same for a guest.
    pub fn write_guest(&self, guest: u64, bytes: Vec<u8>) -> bool {
        let is_read = bytes.len() <= GUEST_FRAME_BYTES_MAX && str::from_utf8(&bytes).is_ok();
        is_read && lock(&self.shared.state).guests.get(&guest).is_some_and(|guest| guest.handle.push(bytes))
    }

    /// Every relay and node that is kept connected or connected itself: whether it stands, and why not.
    pub fn stands(&self) -> Vec<(At, bool, Option<String>)> {
        let state = lock(&self.shared.state);
        let relays = state.relays.iter().map(|(url, line)| (At::Relay(url.clone()), line.why()));
        let nodes = state.direct.iter().map(|(node, (_, line))| (At::Direct(node.clone()), line.why()));
        let mut all: BTreeMap<At, (bool, Option<String>)> =
            relays.chain(nodes).map(|(at, why)| (at, (false, why))).collect();
        all.extend(state.open.keys().map(|at| (at.clone(), (true, None))));
        all.into_iter().map(|(at, (stands, why))| (at, stands, why)).collect()
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        self.shared.end(END);
    }
}

/// Ends a line that is not named any more.
fn dropped(line: &Line) -> bool {
    line.end();
    false
}

/// The address of a relay; none where it is none.
fn relay_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let is_bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    (matches!(url.scheme(), "ws" | "wss") && url.has_host() && is_bare).then_some(url)
}

/// The address of a node.
fn node_url(at: &str) -> Option<Url> {
    let url = relay_url(&format!("ws://{at}"))?;
    let has_port = at.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let is_only_a_place = url.path() == "/" && url.query().is_none() && !at.contains('/');
    (has_port && is_only_a_place).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_what_can_be_dialled_and_nothing_more() {
        assert!(
            relay_url("wss://relay.example/path").is_some() && relay_url("ws://127.0.0.1:7777").is_some()
        );
        for text in ["https://relay.example", "wss://", "wss://user@relay.example", "relay.example", ""] {
            assert!(relay_url(text).is_none(), "{text}");
        }
        assert!(node_url("192.168.1.2:7000").is_some() && node_url("[fe80::1]:7000").is_some());
        for text in [
            "",
            "host",
            "[fe80::1]",
            "host:7000/path",
            "user@host:7000",
            "host:7000?x",
            "host:notaport",
            "a b:1",
        ] {
            assert!(node_url(text).is_none(), "{text}");
        }
    }
}
