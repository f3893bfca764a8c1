//! Whom a machine connects to (mesh.md 5): relays that its person set, relays of paired machines that are out on the internet, and
//! paired machines that listen. What another machine tells leads to nothing that stands behind this one's walls.

use crate::mesh_settings::{DIRECT, relay};
use mesh::Peer;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

/// Relays that are connected with at once.
const RELAYS_AT_ONCE: usize = 64;
/// Machines that are dialled at once.
const DIRECT_AT_ONCE: usize = 64;

/// Whom this machine connects to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Relays, as they were told.
    pub relays: BTreeSet<String>,
    /// Those among them that only other machines told: each is dialled at a public address or not at all.
    pub only_public: BTreeSet<String>,
    /// Addresses of machines, by the 64 digits of their keys.
    pub direct: BTreeMap<String, String>,
}

/// Whom a machine connects to. `own`: relays that its person named; `listens`: where it listens itself.
pub fn reach<'p>(
    own: impl Iterator<Item = &'p String>,
    peers: impl Iterator<Item = &'p Peer>,
    listens: Option<SocketAddr>,
) -> Reach {
    let mut reach = Reach { relays: own.cloned().collect(), ..Reach::default() };
    for peer in peers {
        let direct = peer.relays.iter().find_map(|url| direct(url, listens));
        if let Some(at) = direct.filter(|_| reach.direct.len() < DIRECT_AT_ONCE) {
            reach.direct.insert(peer.node.to_string(), at.to_string());
        }
        for url in peer.relays.iter().filter(|url| is_secure(url)) {
            if !reach.relays.contains(url) && reach.relays.len() < RELAYS_AT_ONCE {
                reach.relays.insert(url.clone());
                reach.only_public.insert(url.clone());
            }
        }
    }
    reach
}

/// Whether it is the address of a relay that is spoken to in TLS.
fn is_secure(url: &str) -> bool {
    url.starts_with("wss://") && relay(url).is_ok_and(|spelled| spelled == url)
}

/// The address that a machine tells for itself, where it may be dialled from here.
fn direct(url: &str, listens: Option<SocketAddr>) -> Option<SocketAddr> {
    let at: SocketAddr = url.strip_prefix(DIRECT)?.parse().ok()?;
    let ip = at.ip().to_canonical();
    let is_broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
    let is_here = listens.is_some_and(|here| here.ip().to_canonical().is_loopback());
    let is_one = at.port() != 0 && !ip.is_unspecified() && !ip.is_multicast() && !is_broadcast;
    (is_one && (!ip.is_loopback() || is_here) && Some(at) != listens).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mesh::NodeId;
    use seal::{Digest, Signer as _};

    fn peer(relays: &[&str]) -> Peer {
        Peer {
            node: NodeId(Digest::of(relays.concat().as_bytes())),
            name: "another".to_owned(),
            relays: relays.iter().map(|url| (*url).to_owned()).collect(),
            approval_key: None,
            log_key: seal::SeedSigner::from_seed([1; 32]).public(),
        }
    }

    fn reached(own: &[&str], told: &[&str], listens: Option<&str>) -> Reach {
        let own: Vec<String> = own.iter().map(|url| (*url).to_owned()).collect();
        let peers = [peer(told)];
        reach(own.iter(), peers.iter(), listens.map(|at| at.parse().unwrap()))
    }

    #[test]
    fn relays_of_others_are_dialled_in_public_and_ones_own_anywhere() {
        let told =
            ["wss://relay.example", "ws://relay.example", "https://relay.example", "wss://me@relay.example"];
        let reach = reached(&[], &told, None);
        assert_eq!(Vec::from_iter(&reach.relays), ["wss://relay.example"]);
        assert_eq!(reach.only_public, reach.relays);
        let own = ["ws://127.0.0.1:7777", "wss://router.local"];
        let told = ["ws://127.0.0.1:7777", "wss://router.local", "ws://10.0.0.1", "wss://10.0.0.1"];
        let reach = reached(&own, &told, None);
        assert_eq!(Vec::from_iter(&reach.only_public), ["wss://10.0.0.1"], "what both name is its person's");
        assert_eq!(
            Vec::from_iter(&reach.relays),
            ["ws://127.0.0.1:7777", "wss://10.0.0.1", "wss://router.local"]
        );
        let many: Vec<String> = (0..2 * RELAYS_AT_ONCE).map(|n| format!("wss://r{n}.example")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(reached(&own, &many, None).relays.len(), RELAYS_AT_ONCE);
    }

    #[test]
    fn a_machine_is_dialled_on_a_network_and_on_this_machine_only_where_this_one_listens_there_too() {
        let dials =
            |told: &str, listens: Option<&str>| reached(&[], &[told], listens).direct.into_values().next();
        assert_eq!(dials("hermit://192.168.1.5:7447", None).as_deref(), Some("192.168.1.5:7447"));
        assert_eq!(dials("hermit://[fd00::5]:7447", None).as_deref(), Some("[fd00::5]:7447"));
        assert_eq!(dials("hermit://127.0.0.1:7447", None), None);
        assert_eq!(dials("hermit://[::ffff:127.0.0.1]:7447", Some("192.168.1.6:7447")), None);
        let both = dials("hermit://127.0.0.1:7447", Some("127.0.0.1:7448"));
        assert_eq!(both.as_deref(), Some("127.0.0.1:7447"));
        assert_eq!(dials("hermit://127.0.0.1:7448", Some("127.0.0.1:7448")), None, "that is this one");
        for told in [
            "hermit://laptop.local:7447",
            "hermit://0.0.0.0:7447",
            "hermit://255.255.255.255:7447",
            "hermit://10.0.0.1:0",
        ] {
            assert_eq!(dials(told, None), None, "{told}");
        }
        assert!(reached(&[], &["hermit://192.168.1.5:7447"], None).relays.is_empty(), "it is no relay");
    }
}
