//! Where an address leads: which host it names, and whether that is this machine or one that everybody reaches.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use url::{Host, Url};

/// Whether a host is this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// `host` and port of an address.
pub fn host_of(url: &Url) -> (String, u16) {
    (url.host_str().unwrap_or_default().to_owned(), url.port_or_known_default().unwrap_or(443))
}

/// Which addresses a connection may lead to. It is asked of the very address that is connected to, so that a name that
/// leads elsewhere the second time it is looked up changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whom {
    /// Any.
    Anybody,
    /// Those that everybody reaches.
    Public,
    /// Any but this machine.
    Others,
}

impl Whom {
    pub(crate) fn takes(self, address: IpAddr) -> bool {
        match self {
            Self::Anybody => true,
            Self::Public => is_public(address),
            Self::Others => !is_here(address),
        }
    }
}

fn is_here(address: IpAddr) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified()
}

/// Whether an address is one that everybody reaches: not this machine, not a network of one's own.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_reserved = match (a, b, c) {
        (0 | 10 | 127 | 240..=255, _, _) => true,
        // Shared by those behind one carrier.
        (100, 64..=127, _) => true,
        (192, 0, 0) | (198, 18 | 19, _) => true,
        _ => false,
    };
    !(is_reserved
        || address.is_private()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match a {
        // What leads on to an address of the older kind.
        0x64 if b == 0xff9b => [c, d, e, f] == [0; 4] && v4(g, h),
        0x2002 => v4(b, c),
        0x2001 => b >= 0x0200 && b != 0x0db8,
        // The only ones that were given out so far.
        _ => (0x2000..0x4000).contains(&a),
    }
}

/// The address that one household or machine has: of the newer kind it has whole networks.
pub(crate) fn one_place(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_some_reach_is_not_public_in_whatever_form_it_is_written() {
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
        ] {
            assert!(!Whom::Public.takes(text.parse().unwrap()), "{text}");
        }
        for text in ["8.8.8.8", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2001:4860:4860::8888"]
        {
            assert!(Whom::Public.takes(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn this_machine_is_found_in_whatever_form_it_is_written() {
        for text in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"] {
            assert!(!Whom::Others.takes(text.parse().unwrap()), "{text}");
        }
        assert!(Whom::Others.takes("192.168.1.1".parse().unwrap()));
        assert!(Whom::Anybody.takes("127.0.0.1".parse().unwrap()));
    }
}
