//! What a client of the proxy asks for, read from the head of its request.

use super::allow;
use super::body::Framing;
use std::io::{self, Read};

/// Bytes of the longest head that is read.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// A request to the proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// `CONNECT`: bytes go through as they are, usually TLS.
    Tunnel { name: String, port: u16 },
    /// A plain request, as it is sent on, and where the body behind it ends.
    Plain { name: String, port: u16, head: Vec<u8>, body: Framing },
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
    let mut lines = lines_of(head)?.split("\r\n");
    let (method, target, version) = words(lines.next().unwrap_or_default())?;
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
    let first = format!("{method} {slash}{path} {version}\r\nHost: {authority}\r\n");
    let (head, body) = sent_on(first, lines)?;
    Ok(Asked::Plain { name, port, head, body })
}

/// A request inside TLS, as it is sent on, and where its body ends; it asks the host that the tunnel leads to.
pub(super) fn within(head: &[u8], name: &str, port: u16) -> Result<(Vec<u8>, Framing), String> {
    let text = lines_of(head)?;
    let mut lines = text.split("\r\n");
    let (method, target, version) = words(lines.next().unwrap_or_default())?;
    if !target.starts_with('/') {
        return Err("inside TLS an address is a path".to_owned());
    }
    let pairs = lines.clone().filter_map(|line| line.split_once(':'));
    let mut hosts = pairs.filter(|(key, _)| key.eq_ignore_ascii_case("host"));
    let (Some((_, host)), None) = (hosts.next(), hosts.next()) else {
        return Err("one line says which `Host` is asked".to_owned());
    };
    let host = host.trim();
    let with_port = [host.to_owned(), format!("{host}:443")];
    if !with_port
        .iter()
        .filter_map(|host| allow::split(host))
        .any(|(is, at)| (is.as_str(), at) == (name, port))
    {
        return Err(format!("the connection leads to `{name}:{port}`, and `{host}` is asked for in it"));
    }
    Ok(sent_on(format!("{method} {target} {version}\r\nHost: {host}\r\n"), lines)?)
}

/// The text of a head, when no two readers could part its lines differently.
fn lines_of(head: &[u8]) -> Result<&str, &'static str> {
    let text = std::str::from_utf8(head).map_err(|_| "the head of the request is no text")?;
    if text.split("\r\n").any(|line| line.contains(['\r', '\n'])) {
        return Err("a line of the head ends in a way that others read differently");
    }
    if text.contains('\0') { Err("only HTTP/1 is spoken here") } else { Ok(text) }
}

fn words(first: &str) -> Result<(&str, &str, &str), &'static str> {
    let mut words = first.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err("the request has no three words in its first line");
    };
    match version {
        "HTTP/1.1" | "HTTP/1.0" => Ok((method, target, version)),
        _ => Err("only HTTP/1 is spoken here"),
    }
}

/// The head that goes out, beginning with `first`, and where its body ends. One request goes over one connection, and
/// its answer comes as it is: what is squeezed cannot be looked through for values.
fn sent_on<'h>(
    first: String,
    lines: impl Iterator<Item = &'h str>,
) -> Result<(Vec<u8>, Framing), &'static str> {
    let mut out = format!("{first}Connection: close\r\n");
    let mut body = None;
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or("a line of the head is no `name: value`")?;
        match name.to_ascii_lowercase().as_str() {
            // The host that was checked is the host that is asked.
            "host" | "connection" | "keep-alive" | "te" | "upgrade" | "expect" | "accept-encoding" => {
                continue;
            }
            name if name.starts_with("proxy-") => continue,
            "transfer-encoding" if !value.trim().eq_ignore_ascii_case("chunked") => {
                return Err("bodies come in chunks or with `Content-Length` here");
            }
            key @ ("transfer-encoding" | "content-length") => {
                let framing = match key {
                    "transfer-encoding" => Framing::Chunked,
                    _ => Framing::Length(value.trim().parse().map_err(|_| "`Content-Length` is no number")?),
                };
                if body.replace(framing).is_some_and(|before| before != framing) {
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
    Ok((out.into_bytes(), body.unwrap_or(Framing::Length(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_request_is_sent_on_to_the_host_that_was_checked_and_to_no_other() {
        let head = b"GET http://API.example.org:8080?q=1 HTTP/1.1\r\nHost: evil.net\r\nProxy-Authorization: x\r\nX-A: b\r\n\r\n";
        let Ok(Asked::Plain { name, port, head, body }) = parse(head) else { panic!("a plain request") };
        assert_eq!((name.as_str(), port, body), ("api.example.org", 8080, Framing::Length(0)));
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
    fn a_request_inside_tls_asks_the_host_it_leads_to_and_no_other_that_is_served_there() {
        let asked = |host: &str| format!("GET /a?b HTTP/1.1\r\n{host}Accept: c\r\n\r\n").into_bytes();
        let wanted = "GET /a?b HTTP/1.1\r\nHost: API.example.org\r\nConnection: close\r\nAccept: c\r\n\r\n";
        let head = within(&asked("Host: API.example.org\r\n"), "api.example.org", 443);
        assert_eq!(head, Ok((wanted.as_bytes().to_vec(), Framing::Length(0))));
        assert!(within(&asked("Host: api.example.org:8443\r\n"), "api.example.org", 8443).is_ok());
        for host in [
            "",
            "Host: evil.net\r\n",
            "Host: api.example.org:444\r\n",
            "Host: api.example.org\r\nhost: evil.net\r\n",
            "Host: api.example.org, evil.net\r\n",
        ] {
            assert!(within(&asked(host), "api.example.org", 443).is_err(), "{host}");
        }
        let elsewhere = b"GET https://evil.net/ HTTP/1.1\r\nHost: api.example.org\r\n\r\n";
        assert!(within(elsewhere, "api.example.org", 443).is_err());
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
            "POST http://a/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nContent-Length : 1\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nno colon\r\n\r\n",
            "GET http://a/ HTTP/1.1\r\nX: b\nHost: c\r\n\r\n",
        ] {
            assert!(parse(head.as_bytes()).is_err(), "{head}");
        }
    }
}
