//! Where two machines meet for a pairing, as a person names it.

use crate::mesh_settings::{DIRECT, relay};
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// Places that a person names for one pairing.
const PLACES_MAX: usize = 8;

/// Where both meet, as a person named it: relays, and addresses of machines.
pub(super) fn places(at: &[String]) -> Result<(BTreeSet<String>, Vec<String>), wire::Error> {
    let usage = |why: String| wire::Error::new(wire::Code::Usage, why);
    if at.len() > PLACES_MAX {
        return Err(usage(format!("two machines meet at {PLACES_MAX} places at most")));
    }
    let (mut relays, mut machines) = (BTreeSet::new(), Vec::new());
    for place in at.iter().map(|place| place.trim()).filter(|place| !place.is_empty()) {
        let bare = place.strip_prefix(DIRECT).unwrap_or(place);
        if let Ok(address) = bare.parse::<SocketAddr>() {
            machines.push(address.to_string());
        } else {
            let none = |why: String| {
                usage(format!("{why}; a machine of the same network is reached at `ADDRESS:PORT`"))
            };
            relays.insert(relay(place).map_err(none)?);
        }
    }
    Ok((relays, machines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_relays_and_addresses_and_nothing_else() {
        let named = |at: &[&str]| places(&at.iter().map(|place| (*place).to_owned()).collect::<Vec<_>>());
        let (relays, machines) =
            named(&["wss://relay.example/", " 192.168.1.5:7447 ", "", "hermit://[::1]:7"]).unwrap();
        assert_eq!(Vec::from_iter(relays), ["wss://relay.example"]);
        assert_eq!(machines, ["192.168.1.5:7447", "[::1]:7"]);
        for place in ["laptop:7447", "https://relay.example", "192.168.1.5"] {
            assert!(named(&[place]).is_err(), "{place}");
        }
        assert!(named(&["wss://relay.example"; PLACES_MAX + 1]).is_err());
    }
}
