//! Heads of HTTP/1 messages, read strictly: what two readers could take for different things is refused.

use super::allow;
use super::body::Framing;
use std::io::{self, Read};

/// Bytes of the longest head that is read.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// A request to the proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// `CONNECT`: bytes go through, usually TLS.
    Tunnel { name: String, port: u16 },
    /// A plain request.
    Plain { name: String, port: u16, request: Request },
}

/// The head of one request, as it is sent on, and where the body behind it ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    version: String,
    host: String,
    pub(super) fields: Vec<(String, String)>,
    pub(super) body: Framing,
}

/// The head of one answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    first: String,
    pub(super) status: u16,
    fields: Vec<(String, String)>,
    /// Where its body ends; none: with the connection.
    pub(super) body: Option<Framing>,
}

impl Request {
    /// Without what asks for a part of an answer: a value that is cut could not be told any more.
    pub(super) fn whole(mut self) -> Self {
        let parts = ["range", "if-range", "request-range", "a-im"];
        self.fields.retain(|(name, _)| !parts.contains(&name.to_ascii_lowercase().as_str()));
        self
    }

    /// As it is sent. One request goes over one connection.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let Self { method, target, version, host, .. } = self;
        let first = format!("{method} {target} {version}\r\nHost: {host}\r\nConnection: close\r\n");
        written(first, &self.fields)
    }
}

impl Answer {
    /// As it is given on.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        written(format!("{}\r\nConnection: close\r\n", self.first), &self.fields)
    }

    /// Why it cannot be looked through for values.
    pub(super) fn veiled(&self) -> Option<&'static str> {
        let squeezed = self.fields.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("content-encoding") && !value.eq_ignore_ascii_case("identity")
        });
        match self.status {
            101 => Some("it goes over to another protocol"),
            206 => Some("it is a part of an answer, and the whole was asked for"),
            _ if squeezed => Some("it is compressed, although nobody asked for that"),
            _ => None,
        }
    }
}

fn written(mut out: String, fields: &[(String, String)]) -> Vec<u8> {
    for (name, value) in fields {
        out.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
    }
    out.push_str("\r\n");
    out.into_bytes()
}

/// Reads a head byte for byte up to its end; what follows stays in the stream.
pub(super) fn read(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the head is too long"));
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
    let mut lines = lines_of(head)?;
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
    let (fields, body) = fields(lines)?;
    let request = request(method, &format!("{slash}{path}"), version, authority, (fields, body))?;
    Ok(Asked::Plain { name, port, request })
}

/// A request inside a tunnel, in TLS or (at this port where it names none) without; it asks the host that the tunnel leads to.
pub(super) fn within(head: &[u8], name: &str, port: u16, usual: u16) -> Result<Request, String> {
    let mut lines = lines_of(head)?;
    let (method, target, version) = words(lines.next().unwrap_or_default())?;
    if !target.starts_with('/') {
        return Err("inside a tunnel an address is a path".to_owned());
    }
    let (fields, body) = fields(lines)?;
    let mut hosts = fields.iter().filter(|(key, _)| key.eq_ignore_ascii_case("host"));
    let (Some((_, host)), None) = (hosts.next(), hosts.next()) else {
        return Err("one line says which `Host` is asked".to_owned());
    };
    let host = host.clone();
    let with_port = [host.clone(), format!("{host}:{usual}")];
    if !with_port
        .iter()
        .filter_map(|host| allow::split(host))
        .any(|(is, at)| (is.as_str(), at) == (name, port))
    {
        return Err(format!("the connection leads to `{name}:{port}`, and `{host}` is asked for in it"));
    }
    Ok(request(method, target, version, &host, (fields, body))?)
}

/// The head of an answer to this method.
pub(super) fn answered(head: &[u8], method: &str) -> Result<Answer, &'static str> {
    let mut lines = lines_of(head)?;
    let first = lines.next().unwrap_or_default();
    let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)).unwrap_or_default();
    let status: u16 = digits(status).and_then(|n| n.try_into().ok()).ok_or("the answer has no status")?;
    let (mut fields, body) = fields(lines)?;
    let bare = method == "HEAD" || matches!(status, 100..=199 | 204 | 304);
    let closes = |name: &str| ["connection", "keep-alive", "upgrade", "trailer"].contains(&name);
    fields.retain(|(name, _)| !closes(&name.to_ascii_lowercase()));
    Ok(Answer {
        first: first.to_owned(),
        status,
        fields,
        body: if bare { Some(Framing::Length(0)) } else { body },
    })
}

/// The lines of a head before its end, when no two readers could part them differently.
fn lines_of(head: &[u8]) -> Result<impl Iterator<Item = &str>, &'static str> {
    let text = std::str::from_utf8(head).map_err(|_| "the head is no text")?;
    let text = text.strip_suffix("\r\n\r\n").ok_or("the head does not end")?;
    if text.split("\r\n").any(|line| line.contains(['\r', '\n'])) {
        return Err("a line of the head ends in a way that others read differently");
    }
    if text.contains(|c: char| c.is_ascii_control() && !matches!(c, '\r' | '\n' | '\t')) {
        return Err("only HTTP/1 is spoken here");
    }
    Ok(text.split("\r\n"))
}

fn words(first: &str) -> Result<(&str, &str, &str), &'static str> {
    let mut words = first.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err("the request has no three words in its first line");
    };
    if !is_token(method) {
        return Err("the request has no method");
    }
    match version {
        "HTTP/1.1" | "HTTP/1.0" => Ok((method, target, version)),
        _ => Err("only HTTP/1 is spoken here"),
    }
}

/// A name of a field or a method (RFC 9110 5.6.2).
fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// A number of digits alone.
fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

type Fields = (Vec<(String, String)>, Option<Framing>);

/// The fields of a head, and where the body behind it ends when one of them says so.
fn fields<'h>(lines: impl Iterator<Item = &'h str>) -> Result<Fields, &'static str> {
    let (mut all, mut body) = (Vec::new(), None);
    for line in lines {
        // A line that begins with a blank once went on with the one before it, and is read by everybody differently now.
        let (name, value) = line.split_once(':').ok_or("a line of the head is no `name: value`")?;
        if !is_token(name) {
            return Err("a line of the head is no `name: value`");
        }
        let value = value.trim_matches([' ', '\t']);
        let framing = match name.to_ascii_lowercase().as_str() {
            "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => Some(Framing::Chunked),
            "transfer-encoding" => return Err("bodies come in chunks or with `Content-Length` here"),
            "content-length" => Some(Framing::Length(digits(value).ok_or("`Content-Length` is no number")?)),
            _ => None,
        };
        if let Some(framing) = framing {
            if body.replace(framing).is_some_and(|before| before != framing) {
                return Err("two lengths of one body");
            }
            if all.iter().any(|(known, _): &(String, String)| known.eq_ignore_ascii_case(name)) {
                continue;
            }
        }
        all.push((name.to_owned(), value.to_owned()));
    }
    Ok((all, body))
}

/// A request that goes out. Its answer comes as it is: what is compressed cannot be looked through for values.
fn request(
    method: &str,
    target: &str,
    version: &str,
    host: &str,
    (mut fields, body): Fields,
) -> Result<Request, &'static str> {
    if ["TRACE", "TRACK"].iter().any(|echo| method.eq_ignore_ascii_case(echo)) {
        return Err("requests that are answered with themselves are not sent");
    }
    let dropped = |name: &str| {
        // The host that was checked is the host that is asked.
        ["host", "connection", "keep-alive", "te", "trailer", "upgrade", "expect", "accept-encoding"]
            .contains(&name)
            || name.starts_with("proxy-")
    };
    fields.retain(|(name, _)| !dropped(&name.to_ascii_lowercase()));
    Ok(Request {
        method: method.to_owned(),
        target: target.to_owned(),
        version: version.to_owned(),
        host: host.to_owned(),
        fields,
        body: body.unwrap_or(Framing::Length(0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_request_is_sent_on_to_the_host_that_was_checked_and_to_no_other() {
        let head = b"GET http://API.example.org:8080?q=1 HTTP/1.1\r\nHost: evil.net\r\nProxy-Authorization: x\r\nX-A:b\r\n\r\n";
        let Ok(Asked::Plain { name, port, request }) = parse(head) else { panic!("a plain request") };
        assert_eq!((name.as_str(), port, request.body), ("api.example.org", 8080, Framing::Length(0)));
        let wanted =
            "GET /?q=1 HTTP/1.1\r\nHost: API.example.org:8080\r\nConnection: close\r\nX-A: b\r\n\r\n";
        assert_eq!(String::from_utf8(request.to_bytes()).unwrap(), wanted);
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
        let head = within(&asked("Host: API.example.org\r\n"), "api.example.org", 443, 443).unwrap();
        assert_eq!((head.to_bytes(), head.body), (wanted.as_bytes().to_vec(), Framing::Length(0)));
        assert!(within(&asked("Host: api.example.org:8443\r\n"), "api.example.org", 8443, 443).is_ok());
        for host in [
            "",
            "Host: evil.net\r\n",
            "Host: api.example.org:444\r\n",
            "Host: api.example.org\r\nhost: evil.net\r\n",
            "Host: api.example.org, evil.net\r\n",
            " Host: api.example.org\r\n",
            "X: y\r\n Host: evil.net\r\nHost: api.example.org\r\n",
        ] {
            assert!(within(&asked(host), "api.example.org", 443, 443).is_err(), "{host}");
        }
        let elsewhere = b"GET https://evil.net/ HTTP/1.1\r\nHost: api.example.org\r\n\r\n";
        assert!(within(elsewhere, "api.example.org", 443, 443).is_err());
        let here = asked("Host: localhost\r\n");
        assert!(within(&here, "localhost", 80, 80).is_ok() && within(&here, "localhost", 80, 443).is_err());
    }

    #[test]
    fn what_asks_for_a_part_is_dropped_where_answers_are_looked_through() {
        let head = b"GET http://a/ HTTP/1.1\r\nRange: bytes=0-9\r\nIF-RANGE: x\r\nrequest-range: y\r\nX-A: b\r\n\r\n";
        let Ok(Asked::Plain { request, .. }) = parse(head) else { panic!("a plain request") };
        assert_eq!(request.fields.len(), 4);
        assert_eq!(request.whole().fields, [("X-A".to_owned(), "b".to_owned())]);
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
            "G(T http://a/ HTTP/1.1\r\n\r\n",
            "TRACE http://a/ HTTP/1.1\r\n\r\n",
            "CONNECT example.org HTTP/1.1\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nTransfer-Encoding: \x0bchunked\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\n Transfer-Encoding: chunked\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nX-A: b\r\n\tTransfer-Encoding: chunked\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nContent-Length: +0\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nContent-Length: 0x1\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nContent-Length:\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nContent-Length : 1\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nX A: 1\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\n: 1\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nno colon\r\n\r\n",
            "GET http://a/ HTTP/1.1\r\nX: b\nHost: c\r\n\r\n",
        ] {
            assert!(parse(head.as_bytes()).is_err(), "{head}");
        }
    }

    #[test]
    fn an_answer_says_where_it_ends_and_whether_it_can_be_looked_through() {
        let answer = |head: &str, method: &str| answered(format!("{head}\r\n\r\n").as_bytes(), method);
        for (head, method, body) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3", "GET", Some(Framing::Length(3))),
            ("HTTP/1.0 200 OK", "GET", None),
            ("HTTP/1.1 200\r\nTransfer-Encoding: chunked", "POST", Some(Framing::Chunked)),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3", "HEAD", Some(Framing::Length(0))),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 3", "GET", Some(Framing::Length(0))),
        ] {
            assert_eq!(answer(head, method).map(|a| (a.body, a.veiled())), Ok((body, None)), "{head}");
        }
        for veiled in ["HTTP/1.1 206 Part", "HTTP/1.1 101 Switch", "HTTP/1.1 200 OK\r\nContent-Encoding: br"]
        {
            assert!(answer(veiled, "GET").unwrap().veiled().is_some(), "{veiled}");
        }
        for broken in ["HTTP/2 200 OK", "HTTP/1.1 2x0 OK", "HTTP/1.1 200 OK\r\n folded: 1", "220 ready"] {
            assert!(answer(broken, "GET").is_err(), "{broken}");
        }
    }
}
