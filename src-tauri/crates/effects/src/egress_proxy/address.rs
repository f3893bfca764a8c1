//! Which addresses a command may reach without their being named: those of the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is nobody's business, or none when it is public.
pub(super) fn refused(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(v4) => refused_v4(v4),
        IpAddr::V6(v6) => refused_v6(v6),
    }
}

fn refused_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, _] = address.octets();
    Some(match (a, b, c) {
        (127, ..) => "loopback",
        (169, 254, _) => "link-local, where machines keep their metadata",
        (10, ..) | (172, 16..=31, _) | (192, 168, _) => "private",
        (100, 64..=127, _) => "shared by a provider's customers",
        (0, ..) => "this network",
        (192, 0, 0 | 2) | (198, 18 | 19, _) | (198, 51, 100) | (203, 0, 113) => "reserved",
        (192, 88, 99) => "a relay",
        (224..=239, ..) => "multicast",
        (240.., ..) => "reserved or broadcast",
        _ => return None,
    })
}

fn refused_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(inner) = embedded(address) {
        return refused_v4(inner).or(Some("another address in disguise"));
    }
    let [first, second, ..] = address.segments();
    Some(match first {
        0 if address.is_loopback() => "loopback",
        0 => "reserved",
        0xfc00..=0xfdff => "private",
        0xfe80..=0xfebf => "link-local",
        0xfec0..=0xfeff => "site-local",
        0xff00.. => "multicast",
        0x2001 if second < 0x0200 || second == 0x0db8 => "reserved",
        0x0100 => "discarded",
        // Only this eighth is given out to the public.
        0x2000..=0x3fff => return None,
        _ => "reserved",
    })
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, NAT64, 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match s {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => Some(v4(high, low)),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => Some(v4(high, low)),
        [0x0064, 0xff9b, _, _, _, _, high, low] | [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_are_open() {
        let closed = [
            "127.0.0.1",
            "127.8.8.8",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "198.18.0.1",
            "240.0.0.1",
            "::",
            "::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "100::1",
            "4000::1",
        ];
        for text in closed {
            assert!(refused(text.parse().unwrap()).is_some(), "{text}");
        }
        for text in ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"] {
            assert_eq!(refused(text.parse().unwrap()), None, "{text}");
        }
    }
}
