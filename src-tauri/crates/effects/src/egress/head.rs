//! What a client of the proxy asks for, read from the head of its request.

use super::allow;
use std::io::{self, Read};

/// Bytes of the longest head that is read.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// A request to the proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// `CONNECT`: bytes go through as they are, usually TLS.
    Tunnel { name: String, port: u16 },
    /// A plain request, as it is sent on, and how many bytes of body follow.
    Plain { name: String, port: u16, head: Vec<u8>, body: u64 },
}

/// Reads a head byte for byte up to its end; what follows stays in the stream.
pub(super) fn read(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the head of the request is too long"));
        }
        match stream.read(&mut byte)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => head.extend_from_slice(&byte),
        }
    }
    Ok(head)
}

/// What a head asks for; why it cannot be done otherwise.
pub(super) fn parse(head: &[u8]) -> Result<Asked, &'static str> {
    let text = std::str::from_utf8(head).map_err(|_| "the head of the request is no text")?;
    if text.split("\r\n").any(|line| line.contains(['\r', '\n'])) {
        return Err("a line of the head ends in a way that others read differently");
    }
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err("the request has no three words in its first line");
    };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") || text.contains('\0') {
        return Err("only HTTP/1 is spoken here");
    }
    if method == "CONNECT" {
        let (name, port) = allow::split(target).ok_or("the address asked for is no `name:port`")?;
        return Ok(Asked::Tunnel { name, port });
    }
    let rest = target.strip_prefix("http://").ok_or("only `http://` addresses and CONNECT are understood")?;
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    let port = if authority.ends_with(']') || !authority.contains(':') { ":80" } else { "" };
    let (name, port) = allow::split(&format!("{authority}{port}")).ok_or("the address names no host")?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut out = format!("{method} {slash}{path} {version}\r\nHost: {authority}\r\nConnection: close\r\n");
    let mut body = None;
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or("a line of the head is no `name: value`")?;
        match name.to_ascii_lowercase().as_str() {
            // The host that was checked is the host that is asked.
            "host" | "connection" | "keep-alive" | "te" | "upgrade" => continue,
            name if name.starts_with("proxy-") => continue,
            "transfer-encoding" => return Err("bodies are sent with `Content-Length` here"),
            "content-length" => {
                let length = value.trim().parse::<u64>().map_err(|_| "`Content-Length` is no number")?;
                if body.replace(length).is_some_and(|before| before != length) {
                    return Err("two lengths of one body");
                }
            }
            name if name.is_empty() || name.ends_with(char::is_whitespace) => {
                return Err("a line of the head is no `name: value`");
            }
            _ => {}
        }
        out.push_str(line);
        out.push_str("\r\n");
    }
    out.push_str("\r\n");
    Ok(Asked::Plain { name, port, head: out.into_bytes(), body: body.unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_request_is_sent_on_to_the_host_that_was_checked_and_to_no_other() {
        let head = b"GET http://API.example.org:8080?q=1 HTTP/1.1\r\nHost: evil.net\r\nProxy-Authorization: x\r\nX-A: b\r\n\r\n";
        let Ok(Asked::Plain { name, port, head, body }) = parse(head) else { panic!("a plain request") };
        assert_eq!((name.as_str(), port, body), ("api.example.org", 8080, 0));
        let wanted =
            "GET /?q=1 HTTP/1.1\r\nHost: API.example.org:8080\r\nConnection: close\r\nX-A: b\r\n\r\n";
        assert_eq!(String::from_utf8(head).unwrap(), wanted);
    }

    #[test]
    fn a_tunnel_names_host_and_port() {
        let asked = parse(b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!(asked, Ok(Asked::Tunnel { name: "example.org".to_owned(), port: 443 }));
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        for head in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET https://example.org/ HTTP/1.1\r\n\r\n",
            "GET http://user@example.org/ HTTP/1.1\r\n\r\n",
            "GET http:///x HTTP/1.1\r\n\r\n",
            "GET http://a/ b HTTP/1.1\r\n\r\n",
            "GET http://a/ HTTP/2\r\n\r\n",
            "CONNECT example.org HTTP/1.1\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nContent-Length : 1\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nno colon\r\n\r\n",
            "GET http://a/ HTTP/1.1\r\nX: b\nHost: c\r\n\r\n",
        ] {
            assert!(parse(head.as_bytes()).is_err(), "{head}");
        }
    }
}
