//! The first message of TLS: whom it is for.
//!
//! A server at one address may speak for many names. A tunnel to a name that was allowed says that very name to the
//! server, in the open, or goes nowhere.

use super::allow::plain;
use std::io::{self, Read};

/// Bytes of the longest first message.
const HELLO_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the first line of SSH (RFC 4253 4.2).
const SSH_LINE_BYTES_MAX: usize = 255;
/// Types of extensions: the server's name, and a first message encrypted inside this one.
const SERVER_NAME: u16 = 0;
const ENCRYPTED_HELLO: u16 = 0xfe0d;

/// What is read at the beginning of a tunnel, to be sent on as it is; why it goes nowhere otherwise.
pub(super) fn to(name: &str, stream: &mut impl Read) -> Result<Vec<u8>, String> {
    let mut read = Vec::new();
    let failed = |e: io::Error| format!("a tunnel to `{name}` begins with TLS or SSH: {e}");
    take(stream, 5, &mut read).map_err(failed)?;
    if read.starts_with(b"SSH-") {
        return ssh(name, stream, read);
    }
    let (mut message, mut at) = (Vec::new(), 0);
    loop {
        let [0x16, 3, _, high, low] = *read.get(at..at + 5).unwrap_or_default() else {
            return Err(format!("a tunnel to `{name}` carries TLS or SSH, and nothing else"));
        };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length == 0 || read.len() + length > HELLO_BYTES_MAX {
            return Err(format!("the first message of TLS to `{name}` is too long"));
        }
        take(stream, length, &mut read).map_err(failed)?;
        message.extend_from_slice(read.get(at + 5..).unwrap_or_default());
        if let Some(names) = server_names(&message) {
            return match names {
                Ok(said) if plain(&said) == name => Ok(read),
                Ok(said) => {
                    Err(format!("the connection leads to `{name}`, and TLS inside it asks for `{said}`"))
                }
                Err(why) => Err(format!("TLS to `{name}` {why}")),
            };
        }
        at = read.len();
        take(stream, 5, &mut read).map_err(failed)?;
    }
}

/// The first line of SSH, whose server is nobody but itself; and no request that begins like it.
fn ssh(name: &str, stream: &mut impl Read, mut read: Vec<u8>) -> Result<Vec<u8>, String> {
    while !read.ends_with(b"\n") && read.len() < SSH_LINE_BYTES_MAX {
        take(stream, 1, &mut read).map_err(|e| format!("SSH to `{name}` does not begin: {e}"))?;
    }
    if !read.ends_with(b"\n") || read.windows(4).any(|part| part.eq_ignore_ascii_case(b"http")) {
        return Err(format!("a tunnel to `{name}` carries TLS or SSH, and nothing else"));
    }
    Ok(read)
}

fn take(stream: &mut impl Read, bytes: usize, into: &mut Vec<u8>) -> io::Result<()> {
    let from = into.len();
    into.resize(from + bytes, 0);
    stream.read_exact(into.get_mut(from..).unwrap_or_default())
}

/// The one name a first message is for; none while the message is not whole.
fn server_names(message: &[u8]) -> Option<Result<String, &'static str>> {
    let mut rest = Bytes(message);
    let (kind, body) = (rest.number(1)?, rest.counted(3));
    if kind != 1 {
        return Some(Err("does not begin with its first message"));
    }
    Some(named(Bytes(body?)).unwrap_or(Err("begins with a message that cannot be read")))
}

fn named(mut hello: Bytes<'_>) -> Option<Result<String, &'static str>> {
    // Version and chance, session, ciphers, compressions.
    hello.some(34)?;
    hello.counted(1)?;
    hello.counted(2)?;
    hello.counted(1)?;
    let mut extensions = Bytes(hello.counted(2)?);
    let mut names = Vec::new();
    while !extensions.0.is_empty() {
        let kind = u16::try_from(extensions.number(2)?).ok()?;
        let content = extensions.counted(2)?;
        match kind {
            ENCRYPTED_HELLO => return Some(Err("hides whom it asks for; switch off encrypted client hello")),
            SERVER_NAME => {
                let mut list = Bytes(Bytes(content).counted(2)?);
                while !list.0.is_empty() {
                    list.number(1)?;
                    names.push(String::from_utf8(list.counted(2)?.to_vec()).ok()?);
                }
            }
            _ => {}
        }
    }
    match names.as_slice() {
        [name] => Some(Ok(name.clone())),
        _ => Some(Err("does not say whom it asks for (SNI)")),
    }
}

/// Bytes that are read from the front.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn some(&mut self, count: usize) -> Option<&'b [u8]> {
        let (some, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(some)
    }

    fn number(&mut self, bytes: usize) -> Option<usize> {
        Some(self.some(bytes)?.iter().fold(0, |n, byte| n << 8 | usize::from(*byte)))
    }

    /// What is counted by a number of so many bytes.
    fn counted(&mut self, bytes: usize) -> Option<&'b [u8]> {
        let count = self.number(bytes)?;
        self.some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, ClientConnection, RootCertStore};
    use std::sync::Arc;

    /// What a real client says first.
    fn hello(name: &'static str, sni: bool) -> Vec<u8> {
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
        let mut config = config.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
        config.enable_sni = sni;
        let name = ServerName::try_from(name).unwrap();
        let mut bytes = Vec::new();
        ClientConnection::new(Arc::new(config), name).unwrap().write_tls(&mut bytes).unwrap();
        bytes
    }

    /// The same message, in records of so many bytes.
    fn parted(hello: &[u8], size: usize) -> Vec<u8> {
        let records = hello[5..].chunks(size);
        records
            .flat_map(|part| [&[0x16, 3, 1, 0, u8::try_from(part.len()).unwrap()], part].concat())
            .collect()
    }

    #[test]
    fn a_tunnel_goes_where_tls_inside_it_says_it_goes() {
        let plain = hello("api.example.org", true);
        for bytes in [plain.clone(), parted(&plain, 1), parted(&plain, 100)] {
            let more = [&bytes[..], b"more"].concat();
            let mut stream = &more[..];
            assert_eq!(to("api.example.org", &mut stream), Ok(bytes), "what was read goes on as it is");
            assert_eq!(stream, b"more");
            assert!(
                to("other.example.org", &mut &more[..]).unwrap_err().contains("asks for `api.example.org`")
            );
        }
        assert!(to("api.example.org", &mut &hello("API.example.org", true)[..]).is_ok());
        assert!(to("api.example.org", &mut &b"SSH-2.0-x\r\n"[..]).is_ok());
    }

    #[test]
    fn what_does_not_say_where_it_goes_goes_nowhere() {
        let silent = hello("api.example.org", false);
        assert!(to("api.example.org", &mut &silent[..]).unwrap_err().contains("(SNI)"));
        // The last extension becomes an encrypted hello: its kind is all that tells.
        let mut hidden = hello("api.example.org", true);
        let at = hidden.windows(4).position(|part| part == [0, 0, 0, 0x14]).unwrap();
        hidden[at..at + 2].copy_from_slice(&ENCRYPTED_HELLO.to_be_bytes());
        assert!(to("api.example.org", &mut &hidden[..]).unwrap_err().contains("hides"));
        for other in [
            "SSH-x / HTTP/1.1\r\nHost: evil.net\r\n\r\n",
            "SSH-2.0-x",
            "GET / HTTP/1.1\r\nHost: evil.net\r\n\r\n",
            "\u{16}\u{3}\u{1}\0\0\0\0\0",
            "raw",
            "",
        ] {
            assert!(to("api.example.org", &mut other.as_bytes()).is_err(), "{other}");
        }
        let endless = [&[0x16, 3, 1, 0x40, 0][..], &[1, 0xff, 0xff, 0xff], &[0; 0x3ffc]].concat().repeat(9);
        assert!(to("api.example.org", &mut &endless[..]).unwrap_err().contains("too long"));
    }
}
